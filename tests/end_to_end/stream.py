#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes models streams by the program: a recurrence, an image whose rows come one by one, a quantized keyword
spotter; lowers a step to each format; and executes a step's flatbuffer on a whole window.

    stream.py PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import calls
from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECURRENT = ROOT / "tests/fixtures/rnn/model.pt2"
IMAGE = ROOT / "tests/fixtures/depthwise_residual/model.pt2"
SPOTTER = ROOT / "examples/models/kws_dscnn_int8/model.pt2"


def run(program, model, arrays, outputs, folder):
    files = [folder / f"in{i}.npy" for i in range(len(arrays))]
    for file, array in zip(files, arrays):
        numpy.save(file, array)
    made = [folder / f"out{i}.npy" for i in range(outputs)]
    call(program, "run", model, "--in", *files, "--out", *made)
    return [numpy.load(file) for file in made]


def check_rows(program, folder):
    """Feeds an image row by row to the flatbuffer of a step."""
    step, report = folder / "step.pt2", folder / "report.json"
    call(program, "stream", IMAGE, "--axis", "x:2", "--step", "1", "-o", step, "--verify", "--report", report)
    facts = json.loads(report.read_text())
    call(program, "lower", step, "--state", "io", "-o", folder / "step.tosa", "--io", folder / "io.json")
    io = json.loads((folder / "io.json").read_text())
    x = numpy.random.default_rng(1).standard_normal((1, 6, 7, 7)).astype(numpy.float32)
    whole = run(program, IMAGE, [x], 1, folder)[0]
    states = {i["state"]: numpy.zeros(i["shape"], numpy.float32) for i in io["inputs"] if "state" in i}
    rows = []
    for row in range(7):
        given = [states[i["state"]] if "state" in i else x[:, :, row:row + 1] for i in io["inputs"]]
        made = run(program, folder / "step.tosa", given, len(io["outputs"]), folder)
        for output, value in zip(io["outputs"], made):
            if "state" in output:
                states[output["state"]] = value
        rows.append(made[0])
    delay = facts["outputs"][0]["delay"]
    first = max(facts["outputs"][0]["exact_from"], delay)
    made = numpy.concatenate(rows, 2)[:, :, first:]
    expected = whole[:, :, first - delay:][:, :, :made.shape[2]]
    expect(made.shape[2] > 0 and numpy.allclose(made, expected, atol=1e-5), "rows differ from the image's")


def check_formats(program, folder):
    for name, model, axis in (("rnn", RECURRENT, "x:1"), ("spotter", SPOTTER, "2")):
        stream = ("--stream", axis, "--step", "2" if name == "spotter" else "1")
        call(program, "lower", model, *stream, "-o", folder / f"{name}.pte")
        call(program, "run", folder / f"{name}.pte")
        call(program, "lower", model, *stream, "--state", "io", "-o", folder / f"{name}.tosa")
    call(program, "lower", SPOTTER, "--stream", "2", "--step", "2", "--state", "variable", "--core", "cortex-m4",
         "-o", folder / "spotter.hpp")


def check_inputs(program, folder):
    """Verifies by given samples, which are as long as they are."""
    x = numpy.random.default_rng(1).standard_normal((1, 6, 30, 7)).astype(numpy.float32)
    numpy.save(folder / "long.npy", x)
    numpy.save(folder / "short.npy", x[:, :, :5])
    command = ("stream", IMAGE, "--axis", "x:2", "--step", "1", "-o", folder / "step.pt2")
    call(program, *command, "--verify", "--in", folder / "long.npy", says="verified: ")
    call(program, *command, "--verify", "--in", folder / "short.npy", status=MALFORMED, says="at least a window of 7")
    call(program, *command, "--in", folder / "long.npy", status=USAGE)


def check_push(program):
    """The C++ type takes numbers as they come, and says when outputs are due."""
    for model, axis, step, *more in ((SPOTTER, "2", "2"), (IMAGE, "x:3", "1"), (RECURRENT, "x:1", "1", "--quantize")):
        command = [sys.executable, ROOT / "tests/on_device/push.py", model, "--axis", axis, "--step", step, *more]
        done = subprocess.run([*command, "--headrace", program], capture_output=True, text=True)
        expect(done.returncode == 0, f"push of {model}: {done.stdout}{done.stderr[-500:]}")


def check_refusals(program, folder):
    out = folder / "no.pt2"
    message = call(program, "stream", SPOTTER, "--axis", "2", "--step", "1", "-o", out, status=UNSUPPORTED)
    expect("multiple of 2" in message.stderr, message.stderr)
    call(program, "stream", RECURRENT, "--axis", "x", "--step", "1", "-o", out, status=USAGE)
    call(program, "lower", RECURRENT, "--stream", "x", "--step", "1", "-o", folder / "no.tosa", status=USAGE)
    message = call(program, "stream", RECURRENT, "--axis", "x:2", "--step", "1", "-o", out, status=UNSUPPORTED)
    expect("time axis" in message.stderr or "all of the axis" in message.stderr, message.stderr)
    expect(not out.exists(), "a refused model was written")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_rows(program, folder)
        check_formats(program, folder)
        check_inputs(program, folder)
        check_push(program)
        check_refusals(program, folder)
    return calls.report()


if __name__ == "__main__":
    try:
        import numpy
    except ImportError:
        print("skipped: needs numpy")
        sys.exit(77)
    sys.exit(main())
