#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fixes the dynamic sizes of exports, and compares the results with PyTorch's.

    dynamic_sizes.py PROGRAM

Exit status 77 without NumPy.
"""
import pathlib
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

from calls import UNSUPPORTED, USAGE, call, expect, report

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
# Sizes by axis of each set of inputs, and equivalent ways to state them.
SIZES = {"attention": [(["x:0=1", "x:1=5"], ["batch=1", "x:1=5"]), (["x:0=3", "x:1=16"], ["batch=3", "x:1=16"])],
         "patches": [(["x:0=1", "x:2=8", "x:3=20"], ["batch=1", "x:2=8", "x:3=20"])]}


def dims(sizes):
    return [word for size in sizes for word in ("--dim", size)]


def check(program, name, folder):
    model = FIXTURES / "dynamic" / name / "model.pt2"
    for k, spellings in enumerate(SIZES[name]):
        given, expected = model.parent / f"in0_{k}.npy", np.load(model.parent / f"out0_{k}.npy")
        files = []
        for i, sizes in enumerate(spellings):
            lowered, got = folder / f"{name}_{k}_{i}.tosa", folder / f"{name}_{k}_{i}.npy"
            call(program, "lower", model, *dims(sizes), "-o", lowered, "--target", "TOSA-1.0+FP+INT")
            for command in ([model, *dims(sizes)], [lowered]):
                call(program, "run", *command, "--in", given, "--out", got)
                y = np.load(got)
                expect(y.shape == expected.shape and np.abs(y - expected).max() < 1e-5,
                       f"{name}: {pathlib.Path(command[0]).name} computes something else than PyTorch for {sizes}")
            files.append(lowered.read_bytes())
        expect(len(set(files)) == 1, f"{name}: other words for the same sizes give another file")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in SIZES:
            check(program, name, folder)
        model, out = FIXTURES / "dynamic" / "attention" / "model.pt2", folder / "refused.tosa"
        for sizes, words in (([], "x:0"), (["x:0=1"], "x:1) is 2 to 16"), (["x:0=9", "x:1=4"], "out of range"),
                             (["x:0=1", "x:1=4", "y:0=3"], "no dynamic size 'y:0'; it has x:0, x:1")):
            call(program, "lower", model, *dims(sizes), "-o", out, status=UNSUPPORTED, says=words)
        call(program, "lower", FIXTURES / "dynamic" / "patches" / "model.pt2", *dims(["batch=1", "x:2=18", "x:3=8"]),
             "-o", out, status=UNSUPPORTED, says="x:2 cannot be 18, but 16 or 20")
        for wrong in ("x:0", "=3", "x:0=", "x:0=0", "x:0=-1", "x:0=2x"):
            call(program, "lower", model, "--dim", wrong, "-o", out, status=USAGE, says="NAME=SIZE")
        static = FIXTURES / "conv_bn_relu" / "model.pt2"
        call(program, "lower", static, "--dim", "batch=1", "-o", out, status=UNSUPPORTED, says="fixed")
        expect(not out.exists(), "a refusal left a file")
        shown = call(program, "show", model)
        expect("shown as 6" in shown.stderr and "[2,6,8]" in shown.stdout.replace(" ", ""),
               f"show does not take the example's sizes: {shown.stderr}{shown.stdout[:300]}")
        quantized = folder / "quantized.pt2"
        call(program, "quantize", model, *dims(["x:0=1", "x:1=5"]), "--samples", model.parent / "in0_0.npy",
             "-o", quantized)
        call(program, "run", quantized, "--in", model.parent / "in0_0.npy")
    return report()


if __name__ == "__main__":
    sys.exit(main())
