#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets each compiler compute a whole inference: a static_assert compares a model's outputs with those of
`headrace run`. Exit status 1 if a compiler says otherwise."""

import argparse
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import run  # noqa: E402

FLAGS = {"g++": ["-fconstexpr-ops-limit=2000000000", "-fconstexpr-loop-limit=100000000"],
         "clang++": ["-fconstexpr-steps=2000000000"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("compilers", nargs="+")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    work = options.work
    work.mkdir(parents=True, exist_ok=True)
    run.execute(options.program, "lower", options.model, "-o", work / "m.tosa", "--io", work / "io.json", "-q")
    run.execute(options.program, "lower", options.model, "-o", work / "m.hpp", "--core", "host", "-q")
    io = json.loads((work / "io.json").read_text())
    x = run.random_input(io["inputs"][0], np.random.default_rng(1))
    np.save(work / "x.npy", x)
    run.execute(options.program, "run", work / "m.tosa", "--in", work / "x.npy", "--out", work / "y.npy")
    y = np.load(work / "y.npy")

    def numbers(a):
        return "{" + ",".join(str(int(n)) for n in a.ravel()) + "}"

    (work / "main.cpp").write_text(
        '#include "m.hpp"\n'
        f"constexpr m::model::inputs::get<0>::array x{numbers(x)};\n"
        f"constexpr m::model::outputs::get<0>::array y{numbers(y)};\n"
        "static_assert(m::model::run<headrace::on_device::portable>(x) == y);\n")
    wrong = 0
    for compiler in options.compilers:
        flags = FLAGS["clang++" if "clang" in compiler else "g++"]
        began = time.monotonic()
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", *flags, f"-I{HERE.parents[1] / 'include'}", f"-I{work}",
                               work / "main.cpp"], capture_output=True, text=True)
        print(f"{compiler}: {'equal' if done.returncode == 0 else done.stderr[:2000]} in {time.monotonic() - began:.1f} s")
        wrong += done.returncode != 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
