#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lowers every case of a corpus to a C++ type, builds it for the host, and compares its outputs with `headrace run` of
the case's TOSA flatbuffer: integers must be equal, floats close; those of 16 bits as close as the case's own
tolerances. `--as float16` or `--as bfloat16` turns the float32 of each model into that type first, and allows what its
rounding explains. Prints a line for each case that differs or cannot be written, and the counts. Exit status 1 if a
case differs."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from run import TYPES, as_numbers, as_stored, random_input  # noqa: E402

ROOT = HERE.parents[1]


def run(command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)


def samples(io, case):
    """The case's inputs as the flatbuffer takes them; random numbers where it has none."""
    meta = json.loads((case / "meta.json").read_text()) if (case / "meta.json").exists() else {}
    given = [case / f"in{i}.npy" for i, m in enumerate(meta.get("inputs", [])) if "const" not in m]
    generator = np.random.default_rng(1)
    for i, tensor in enumerate(io["inputs"]):
        has_sample = i < len(given) and given[i].exists()
        yield as_stored(np.load(given[i]), tensor) if has_sample else random_input(tensor, generator)


def with_floats(program, model, kind, folder):
    """The model with floats of another type, as text."""
    text = folder / "model.hr"
    if run([program, "show", model, "-o", text, "--inline", 1 << 30]).returncode == 0:
        text.write_text(re.sub(r"\bfloat32\b", kind, text.read_text()))
    return text


def far_of_16_bits(y, z, meta, kind):
    """Which numbers differ by more than the case allows; by more than rounding explains where `kind` was put in."""
    if not kind:
        return ~np.isclose(z, y, atol=meta.get("atol", 1e-3), rtol=meta.get("rtol", 1e-3), equal_nan=True)
    part = 1 / 256 if kind == "float16" else 1 / 32
    return ~np.isclose(z, y, atol=part * np.max(np.abs(y[np.isfinite(y)]), initial=0), rtol=part, equal_nan=True)


def check(program, case, folder, compiler, flags, kind):
    folder.mkdir(parents=True, exist_ok=True)
    model = with_floats(program, case / "model.pt2", kind, folder) if kind else case / "model.pt2"
    meta = json.loads((case / "meta.json").read_text()) if (case / "meta.json").exists() else {}
    target = ["--target", meta["tosa_spec"]] if "tosa_spec" in meta else []
    if target and kind == "bfloat16" and "+bf16" not in target[1]:
        target[1] += "+bf16"
    tosa = [program, "lower", model, "-o", folder / "m.tosa", "--io", folder / "io.json", "-q"]
    states = []
    lowered = run([*tosa, *target])
    if "--state variable" in lowered.stderr:
        states = ["--state", "variable"]
        lowered = run([*tosa, *states, "--target", "INT+FP+var"])
    if lowered.returncode != 0:
        return "not TOSA", ""
    written = run([program, "lower", model, "-o", folder / "m.hpp", "--core", "host", *states])
    if written.returncode != 0:
        return "not written", written.stderr.strip().splitlines()[0]
    io = json.loads((folder / "io.json").read_text())
    xs = list(samples(io, case))
    ins, raws = [], []
    for i, x in enumerate(xs):
        np.save(folder / f"x{i}.npy", x)
        x.tofile(folder / f"x{i}.bin")
        ins += ["--in", folder / f"x{i}.npy"]
        raws.append(folder / f"x{i}.bin")
    outs = [folder / f"y{i}.npy" for i in range(len(io["outputs"]))]
    reference = run([program, "run", folder / "m.tosa", *ins, *[a for o in outs for a in ("--out", o)]])
    if reference.returncode != 0:
        return "not run", reference.stderr.strip().splitlines()[0]
    built = run([compiler, "-std=c++20", *flags, "-Wall", "-Wextra", f"-I{ROOT}/include", '-DHEADER="m.hpp"', "-DMODEL=m", f"-I{folder}", ROOT / "tests/on_device/host/main.cpp", "-o", folder / "m"])
    if built.returncode != 0:
        errors = [line for line in built.stderr.splitlines() if "error" in line]
        return "not built", errors[0] if errors else built.stderr[:200]
    got = [folder / f"y{i}.bin" for i in range(len(outs))]
    executed = run([folder / "m", *raws, *got])
    if executed.returncode != 0 or executed.stderr:
        return "stopped", f"{executed.returncode} {executed.stderr[:300]}"
    worst = 0.0
    for i, tensor in enumerate(io["outputs"]):
        y, z = as_numbers(np.load(outs[i])).ravel(), as_numbers(np.fromfile(got[i], TYPES[tensor["dtype"]]))
        if tensor["dtype"] in ("FP16", "BF16") or (kind and tensor["dtype"] == "FP32"):
            y, z = y.astype(np.float32), z.astype(np.float32)
            far = far_of_16_bits(y, z, meta, kind)
            if np.any(far):
                return "differs", f"output {i}: {np.count_nonzero(far)} of {y.size}, by up to {np.max(np.abs(y - z)[far]):.2g}"
        elif tensor["dtype"] != "FP32":
            different = np.count_nonzero(y.astype(np.int64) != z.astype(np.int64))
            if different:
                return "differs", f"output {i}: {different} of {y.size}"
        elif y.size:
            same = (y == z) | (np.isnan(y) & np.isnan(z))
            with np.errstate(invalid="ignore"):
                error = np.abs(y.astype(np.float64) - z) / (np.abs(y) + np.max(np.abs(y[np.isfinite(y)]), initial=1e-6) * 1e-2)
            worst = max(worst, float(np.max(np.where(same, 0, np.where(np.isfinite(error), error, np.inf)))))
    if worst > 1e-4:
        return "differs", f"relative error {worst:.2g}"
    return "equal", f"{worst:.2g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("corpus", type=pathlib.Path, nargs="+")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="-O1")
    parser.add_argument("--only", default="")
    parser.add_argument("--as", dest="kind", choices=("float16", "bfloat16"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    cases = [c for corpus in options.corpus for c in sorted(corpus.glob("*")) if (c / "model.pt2").exists() and options.only in c.name]
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda c: (c, check(options.program, c, options.work.resolve() / c.name, options.compiler, options.flags.split(), options.kind)), cases)
        for case, (verdict, detail) in results:
            counts[verdict] += 1
            if verdict != "equal":
                print(f"{case.name}: {verdict}: {detail}", flush=True)
    print(", ".join(f"{n} {v}" for v, n in sorted(counts.items())))
    return 1 if counts["differs"] + counts["stopped"] + counts["not built"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
