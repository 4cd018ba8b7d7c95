#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lets each compiler compute whole inferences: a static_assert compares a model's outputs with those of
`headrace run`. Exit status 1 if a compiler says otherwise."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import run  # noqa: E402

FLAGS = {"g++": ["-fconstexpr-ops-limit=2000000000", "-fconstexpr-loop-limit=100000000"],
         "clang++": ["-fconstexpr-steps=2000000000"]}


def numbers(a):
    return "{" + ",".join(str(int(n)) for n in a.ravel()) + "}"


def check(program, model, compilers, work):
    """How many compilers do not find the outputs of `headrace run`."""
    work.mkdir(parents=True, exist_ok=True)
    run.execute(program, "lower", model, "-o", work / "m.tosa", "--io", work / "io.json", "-q")
    run.execute(program, "lower", model, "-o", work / "m.hpp", "--core", "host", "-q")
    io = json.loads((work / "io.json").read_text())
    x = run.random_input(io["inputs"][0], np.random.default_rng(1))
    np.save(work / "x.npy", x)
    run.execute(program, "run", work / "m.tosa", "--in", work / "x.npy", "--out", work / "y.npy")
    y = np.load(work / "y.npy")
    (work / "main.cpp").write_text(
        '#include "m.hpp"\n'
        f"constexpr m::model::inputs::get<0>::array x{numbers(x)};\n"
        f"constexpr m::model::outputs::get<0>::array y{numbers(y)};\n"
        "static_assert(m::model::run<headrace::on_device::portable>(x) == y);\n")
    macs = re.search(r"macs = (\d+)", (work / "m.hpp").read_text()).group(1)
    wrong = 0
    for compiler in compilers:
        flags = FLAGS["clang++" if "clang" in compiler else "g++"]
        began = time.monotonic()
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", *flags, f"-I{HERE.parents[1] / 'include'}", f"-I{work}",
                               work / "main.cpp"], capture_output=True, text=True)
        verdict = "equal" if done.returncode == 0 else done.stderr[:2000]
        print(f"{model.parent.name}, {macs} MACs, {compiler}: {verdict} in {time.monotonic() - began:.1f} s")
        wrong += done.returncode != 0
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("compilers", nargs="+")
    parser.add_argument("--model", dest="models", type=pathlib.Path, action="append", required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    wrong = sum(check(options.program, model, options.compilers, options.work / model.parent.name) for model in options.models)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
