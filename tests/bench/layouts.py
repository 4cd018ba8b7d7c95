#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the savings of the layout passes: transposes, the bytes that they move, nodes, and cycles on an
NPU.

    layouts.py PROGRAM [--vela VELA] [--accelerator ethos-u55-128] [MODEL.pt2 …]

Each model is lowered by the whole pipeline and by the same passes without those of passes/layout; the default
is the bundled models. VELA, Arm's compiler, computes cycles of quantized models; the default is the one next
to this Python, if there is one. Exit status 1 if any of these is larger with the passes than without.
"""
import argparse
import csv
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYOUT_PASSES = {name for header in (ROOT / "include" / "headrace" / "passes" / "layout").glob("*.hpp")
                 for name in re.findall(r"^HEADRACE_COMPILED_PASS\((\w+)\)", header.read_text(), re.M)}
BITS = {"int4": 4, "bool": 8, "int8": 8, "uint8": 8, "int16": 16, "float16": 16, "bfloat16": 16, "int32": 32, "float32": 32,
        "int48": 48}
TRANSPOSE = re.compile(r": (\w+)\[([\d, ]*)\][^=]*= tosa\.TRANSPOSE\(")


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr[:500]}")
    return done.stdout


def measure(program, flatbuffer):
    """Returns the number of transposes, the bytes that they write, and the number of nodes."""
    listed = run(program, "show", flatbuffer)
    moved = [math.prod(int(d) for d in shape.split(",") if d.strip()) * BITS[dtype] // 8
             for dtype, shape in TRANSPOSE.findall(listed)]
    return [len(moved), sum(moved), len(listed.splitlines())]


def cycles_of(vela, accelerator, flatbuffer, folder):
    out = folder / "vela"
    run(vela, flatbuffer, "--accelerator-config", accelerator, "--output-format", "raw", "--output-dir", out)
    with open(next(out.glob("*_summary_*.csv"))) as f:
        return int(float(next(csv.DictReader(f))["cycles_total"]))


def rows_of(given, model, folder):
    """Returns the figures with the passes and without."""
    report, on, off = folder / "report.json", folder / "on.tosa", folder / "off.tosa"
    run(given.program, "lower", model, "-o", on, "--report", report)
    told = json.loads(report.read_text())
    if "FP" not in told["target"]:  # quantized models are lowered for the accelerator
        npu = "+u85" if given.accelerator.startswith("ethos-u85") else "+u55"
        run(given.program, "lower", model, "-o", on, "--report", report, "--target", told["target"] + npu)
        told = json.loads(report.read_text())
    rest = [p["name"] for p in told["passes"] if p["name"] not in LAYOUT_PASSES]
    run(given.program, "opt", model, "--target", told["target"], "--passes", ",".join(rest), "-o", off)
    rows = [measure(given.program, f) for f in (on, off)]
    if given.vela and "FP" not in told["target"]:
        for row, flatbuffer in zip(rows, (on, off)):
            row.append(cycles_of(given.vela, given.accelerator, flatbuffer, folder))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path, nargs="*")
    parser.add_argument("--vela", type=pathlib.Path)
    parser.add_argument("--accelerator", default="ethos-u55-128")
    given = parser.parse_args()
    given.program = given.program.resolve()
    beside = pathlib.Path(sys.executable).parent / "vela"
    given.vela = given.vela or (beside if beside.exists() else None)
    models = given.models or [ROOT / "examples" / "models" / "kws_dscnn" / "model.pt2",
                              ROOT / "examples" / "models" / "kws_dscnn_int8" / "model.pt2",
                              *(ROOT / "tests" / "fixtures" / name / "model.pt2" for name in
                                ("conv_bn_relu", "depthwise_residual", "upsample_concat", "attention",
                                 "quantized_cnn", "quantized_attention"))]
    print("| model | transposes, off | on | bytes moved, off | on | nodes, off | on | cycles, off | on |")
    print("| --- " + "| --: " * 8 + "|")
    worse = False
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            on, off = rows_of(given, model, pathlib.Path(folder))
            pairs = [f"{b:,} | {a:,}" for a, b in zip(on, off)] + ["|"] * (4 - len(on))
            print(f"| {model.parent.name} | {' | '.join(pairs)} |", flush=True)
            worse = worse or any(a > b for a, b in zip(on, off))
    if worse:
        print("the layout passes leave more than there was")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
