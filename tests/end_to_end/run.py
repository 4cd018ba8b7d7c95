#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lowers every fixture with the built program and checks the result on the TOSA reference model.

    run.py PROGRAM [--only NAME]

The expected outputs of each fixture are PyTorch's. They are compared with the reference model's results for
the flatbuffer, and with the results of `headrace run` for the .pt2 and for the flatbuffer. Fixtures that TOSA
cannot express must be refused, with the right exit status and message, and leave no file. Exit status 77
without the reference model.
"""
import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures"
MODELS = HERE.parent.parent / "examples" / "models"
# Exit status, and a part of the message.
REFUSED = {
    "buffer_update": (1, "writes it back"),
    "dynamic_shape": (1, "dynamic size"),
}
# Targets for fixtures whose own target is insufficient: arithmetic on integers that are not indices, and casts
# of unsigned bytes, need TOSA's INT profile.
TARGETS = {"integer_ops": "TOSA-1.0+INT+FP", "camera_bytes": "TOSA-1.0+INT+FP"}
# Fixtures that another target must refuse, with the same requirements.
REFUSED_BY_TARGET = {"control_flow": ("TOSA-1.0+FP", 1, "cond"), "integer_ops": ("TOSA-1.0+FP", 1, "INT")}
# Fixtures that need no transpose if images are channels-last at the interface.
NO_TRANSPOSE = ("conv_bn_relu", "depthwise_residual", "kws_dscnn", "kws_dscnn_int8", "upsample_concat")


class Failure(Exception):
    pass


def call(*command, status=0, says=""):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=600)
    text = done.stdout + done.stderr
    if done.returncode != status:
        raise Failure(f"exit status {done.returncode}, not {status}: {text.strip()[-500:]}")
    if says not in text:
        raise Failure(f"does not say '{says}': {text.strip()[-500:]}")
    return done.stdout


def refused(program, model, output, status, says, *arguments):
    call(program, "lower", model, "-o", output, *arguments, status=status, says=says)
    left = [p.name for p in output.parent.iterdir()]
    if left:
        raise Failure(f"a refusal left {', '.join(left)}")


def compare(what, got, expected, meta, steps=()):
    """Returns the largest difference; raises if one is too large. NaN equals NaN. `steps` are the outputs'
    quantization steps, of which meta allows `qtol`."""
    if len(got) != len(expected):
        raise Failure(f"{what}: {len(got)} outputs, not {len(expected)}")
    worst = 0.0
    for i, (g, e) in enumerate(zip(got, expected)):
        if g.shape != e.shape:
            raise Failure(f"{what}: output {i} has shape {g.shape}, not {e.shape}")
        g, e = g.astype(np.float64), e.astype(np.float64)
        difference = np.where((g == e) | (np.isnan(g) & np.isnan(e)), 0.0, np.abs(g - e))
        granted = meta.get("qtol", 0) * steps[i] * 1.0001 if steps else 0
        if not (difference <= meta["atol"] + meta["rtol"] * np.abs(e) + granted).all():
            raise Failure(f"{what}: output {i} is off by {difference.max():.3g}")
        worst = max(worst, float(difference.max(initial=0.0)))
    return worst


def execute(program, model, inputs, count, folder):
    """Returns the outputs of the program's own evaluation."""
    given, wanted = [], []
    for i, x in enumerate(inputs):
        np.save(folder / f"given{i}.npy", x)
        given.append(folder / f"given{i}.npy")
    wanted = [folder / f"got{i}.npy" for i in range(count)]
    call(program, "run", model, *(["--in", *given] if given else []), "--out", *wanted)
    return [np.load(p) for p in wanted]


@contextlib.contextmanager
def quiet():
    """Silences the reference model's warning about other minor versions of flatbuffers, which bypasses
    sys.stdout."""
    sys.stdout.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    saved = [(fd, os.dup(fd)) for fd in (1, 2)]
    for fd, _ in saved:
        os.dup2(nowhere, fd)
    try:
        yield
    finally:
        for fd, copy in saved:
            os.dup2(copy, fd)
            os.close(copy)
        os.close(nowhere)


def reference(flatbuffer, inputs, io):
    types = {"FP32": np.float32, "INT32": np.int32, "BOOL": np.bool_, "INT8": np.int8, "INT16": np.int16,
             "UINT8": np.uint8}
    passed = [np.ascontiguousarray(x.astype(types[i["dtype"]])) for x, i in zip(inputs, io)]
    with quiet():
        got, status = tosa_reference_model.run(flatbuffer, passed, verbosity="NONE",
                                               initialize_variable_tensor_from_numpy=1)
    if status != tosa_reference_model.GraphStatus.TOSA_VALID:
        raise Failure(f"the reference model says {status}")
    return got


def quantized(x, io):
    """Returns what the flatbuffer takes for x: quantized values as of quantize_per_tensor if --io has a
    quantization."""
    if (q := io.get("quantization")) is None:
        return x
    codes = np.round(x.astype(np.float32) * np.float32(1 / q["scale"])) + q["zero_point"]
    return np.clip(codes, q["qmin"], q["qmax"]).astype({"INT8": np.int8, "INT16": np.int16}[io["dtype"]])


def dequantized(x, io):
    q = io.get("quantization")
    return x if q is None else (x.astype(np.float64) - q["zero_point"]) * q["scale"]


def to_layout(x, io):
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)) if io.get("layout") == "NHWC" else x


def from_layout(x, io):
    return x.transpose(0, 3, 1, 2) if io.get("layout") == "NHWC" else x


def check_transposes(report, case, layout):
    """Checks that the report explains each remaining transpose."""
    left = report["transposes"]["left"]
    if len(left) != report["transposes"]["after"]:
        raise Failure(f"--report lists {len(left)} transposes of {report['transposes']['after']}")
    for t in left:
        if not t["node"] or t["bytes"] <= 0 or " and " not in t["reason"]:
            raise Failure(f"--report explains a transpose by {t}")
    if layout == "nhwc" and left and case.name in NO_TRANSPOSE:
        raise Failure(f"--io-layout nhwc leaves {left}")


def lowered(program, case, meta, target, folder, layout):
    output, io_file, report_file = folder / "model.tosa", folder / "io.json", folder / "report.json"
    call(program, "lower", case / "model.pt2", "-o", output, "--io", io_file, "--verify", "--target", target,
         "--io-layout", layout, "--report", report_file)
    check_transposes(json.loads(report_file.read_text()), case, layout)
    io = json.loads(io_file.read_text())
    if layout == "nhwc" and not any("layout" in t for t in io["inputs"] + io["outputs"]):
        return "no images"
    tensors = [i for i in meta["inputs"] if "const" not in i]
    arrays = {i["name"]: np.load(case / i.get("file", f"in{k}.npy")) for k, i in enumerate(tensors)}
    inputs = [arrays[i["name"]] for i in io["inputs"]]
    expected = [np.load(case / f"out{k}.npy") for k in range(len(meta["outputs"]))]
    if [o["name"] for o in io["outputs"]] != [o["name"] for o in meta["outputs"]]:
        raise Failure(f"--io names the outputs {[o['name'] for o in io['outputs']]}")
    codes = [to_layout(quantized(x, i), i) for x, i in zip(inputs, io["inputs"])]
    steps = [o.get("quantization", {}).get("scale", 0) for o in io["outputs"]]

    def compare_given(what, given):
        real = [from_layout(dequantized(x, o), o) for x, o in zip(given, io["outputs"])]
        return compare(what, real, expected, meta, steps)

    worst = compare_given("the reference model", reference(output.read_bytes(), codes, io["inputs"]))
    exported = execute(program, case / "model.pt2", list(arrays.values()), len(expected), folder)
    compare("headrace run model.pt2", exported, expected, meta, steps)
    compare_given("headrace run model.tosa", execute(program, output, codes, len(expected), folder))
    return f"right, the largest difference is {worst:.2g}"


def check(program, case):
    meta = json.loads((case / "meta.json").read_text())
    said = []
    with tempfile.TemporaryDirectory() as name:
        output = pathlib.Path(name) / "model.tosa"
        if case.name in REFUSED:
            refused(program, case / "model.pt2", output, *REFUSED[case.name])
            return "refused, as it must be"
        if case.name in REFUSED_BY_TARGET:
            target, status, says = REFUSED_BY_TARGET[case.name]
            refused(program, case / "model.pt2", output, status, says, "--target", target)
            said.append(f"refused for {target}")
        profile = "INT" if meta.get("kind") == "INT" else "FP"
        target = TARGETS.get(case.name, meta.get("tosa_spec", f"TOSA-1.0+{profile}"))
        for layout in ("nchw", "nhwc"):
            said.append(f"{layout} {lowered(program, case, meta, target, pathlib.Path(name), layout)}")
    return "; ".join(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    cases = sorted(p.parent for folder in (FIXTURES, MODELS) for p in folder.glob("*/model.pt2"))
    failures = 0
    for case in cases:
        if options.only not in case.name:
            continue
        try:
            print(f"{case.name:20} {check(options.program, case)}", flush=True)
        except (Failure, OSError, RuntimeError, KeyError, subprocess.TimeoutExpired) as fault:
            failures += 1
            print(f"{case.name:20} FAILED {type(fault).__name__}: {fault}", flush=True)
    print(f"{len(cases)} models, {failures} failures")
    return 1 if failures else 0


try:
    import numpy as np
    import tosa_reference_model
except ImportError as missing:
    print(f"skipped: {missing}; tests/setup.sh makes an environment that has it")
    sys.exit(77)
if __name__ == "__main__":
    sys.exit(main())
