#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks `lower -o model.pte`: what `run` makes of the file is right, and what ExecuTorch's own runtime does, where
it is installed (tests/setup.sh brings it).

    pte.py PROGRAM COMPILER
"""
import json
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = [p.parent for folder in ("tests/fixtures", "examples/models")
          for p in sorted((ROOT / folder).glob("*/model.pt2"))]
# What a program for the host cannot have yet.
REFUSED = {"buffer_update": "writes it back", "control_flow": "no kernel for this op",
           "dynamic_shape": "dynamic size"}


def runner_in(folder, compiler):
    """The program that executes files with ExecuTorch's runtime; None without it."""
    package = pathlib.Path(sysconfig.get_path("purelib")) / "executorch"
    if not (package / "lib" / "libexecutorch_kernels_quantized.so").exists():
        return None
    libraries = ["", "_kernels_optimized", "_kernels_quantized", "_threadpool"]
    command = [compiler, "-std=c++17", "-DC10_USING_CUSTOM_GENERATED_MACROS", "-DET_EVENT_TRACER_ENABLED",
               f"-I{package}/include", f"-I{package}/include/executorch/runtime/core/portable_type/c10",
               ROOT / "tests" / "executorch" / "runner.cpp", "-o", folder / "runner", "-Wl,--no-as-needed",
               f"-L{package}/lib", *(f"-lexecutorch{name}" for name in libraries), f"-Wl,-rpath,{package}/lib"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    expect(done.returncode == 0, f"the runner cannot be compiled: {done.stderr[:500]}")
    return folder / "runner" if done.returncode == 0 else None


def step_of(array):
    """The least distance between two of its numbers: the scale, if it was quantized."""
    numbers = np.unique(array.astype(np.float64))
    return np.diff(numbers).min() if len(numbers) > 1 else 0


def check_outputs(model, outputs, what):
    meta = json.loads((model / "meta.json").read_text())
    for i, path in enumerate(outputs):
        if not path.exists():
            continue  # why not has been said
        got, expected = np.load(path), np.load(model / f"out{i}.npy")
        granted = meta.get("qtol", 0) * step_of(expected) if meta.get("kind") != "FP" else 0
        granted = granted * 1.0001 + meta.get("atol", 0) + meta.get("rtol", 0) * np.abs(expected.astype(np.float64))
        same = got.shape == expected.shape and got.dtype == expected.dtype
        same = same and (np.abs(got.astype(np.float64) - expected) <= granted).all()
        expect(same, f"{model.name}: output {i} of {what} is wrong")


def check_model(program, runner, model, folder):
    name = model.name
    file = folder / f"{name}.pte"
    if name in REFUSED:
        call(program, "lower", model / "model.pt2", "-o", file, status=UNSUPPORTED, says=REFUSED[name])
        expect(not file.exists(), f"{name}: refused, but there is a file")
        return
    call(program, "lower", model / "model.pt2", "-o", file)
    inputs = sorted(model.glob("in*.npy"))
    count = len(list(model.glob("out*.npy")))
    outputs = [folder / f"{name}.{i}.npy" for i in range(count)]
    given = [a for x in inputs for a in ("--in", x)]
    call(program, "run", file, *given, *(a for x in outputs for a in ("--out", x)))
    check_outputs(model, outputs, "`run`")
    if runner:
        outputs = [folder / f"{name}.runtime.{i}.npy" for i in range(count)]
        done = subprocess.run([runner, file, "forward", *inputs, "--", *outputs], capture_output=True, text=True)
        expect(done.returncode == 0, f"{name}: ExecuTorch's runtime: {done.stderr[-500:]}")
        check_outputs(model, outputs, "ExecuTorch's runtime")


def check_methods(program, folder):
    model = ROOT / "examples" / "models" / "kws_dscnn" / "model.pt2"
    one, two = folder / "one.pte", folder / "two.pte"
    call(program, "lower", model, "-o", one)
    call(program, "lower", "--method", f"a={model}", "--method", f"b={model}", "-o", two, "--report",
         folder / "report.json")
    sizes = json.loads((folder / "report.json").read_text())
    expect(sizes["bytes"] == two.stat().st_size, "the report has another size than the file")
    expect(two.stat().st_size < one.stat().st_size + sizes["constant_bytes"], "constants are in the file twice")
    call(program, "show", two, says="method b:")
    call(program, "show", two, "--method", "a", says="aten::convolution.out")
    call(program, "run", two, status=USAGE, says="a, b")
    call(program, "run", two, "--method", "c", status=USAGE, says="a, b")
    call(program, "lower", "--method", f"a={model}", "--method", f"a={model}", "-o", two, status=USAGE)
    call(program, "lower", model, "-o", two, "--target", "TOSA-1.0+FP", status=USAGE, says="--target")
    again = folder / "again.pte"
    call(program, "lower", model, "-o", again)
    expect(again.read_bytes() == one.read_bytes(), "the same model gives other bytes")
    cut = folder / "cut.pte"
    cut.write_bytes(one.read_bytes()[:-1])
    call(program, "show", cut, status=MALFORMED, says="ends behind")
    cut.write_bytes(one.read_bytes()[:200])
    call(program, "run", cut, status=MALFORMED, says="cut off")


def main():
    program, compiler = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runner = runner_in(folder, compiler)
        print("ExecuTorch's runtime:", "there" if runner else "not installed, left out")
        for model in MODELS:
            check_model(program, runner, model, folder)
        check_methods(program, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
