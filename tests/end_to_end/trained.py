#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lowers networks that PyTorch quantized while it trained them (tests/fixtures/make_trained_fixtures.py). Their numbers are
PyTorch's to the last bit, the integers of TOSA a step off, and equal on the reference model.

    trained.py PROGRAM     exit status 77 without the reference model
"""
import json
import pathlib
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

import run as whole  # exits with 77 itself
from calls import UNSUPPORTED, call, expect, report

TRAINED = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "trained"
# How many steps of the output integers are off: Arm's quantizer gives a pooling the scale of what it reads, of which one
# step, at a tie, is several of the output.
CONVERTED = {"channels": 1, "tensors": 1, "arm_channels": 5}
FAKE_QUANTIZED = {"fake_quantized": 1, "fake_quantized_decomposed": 1}
OBSERVED = ("observed", "observed_decomposed")


def executed(program, model, given, folder, *options):
    call(program, "run", model, *options, "--in", given, "--out", folder / "y.npy")
    return np.load(folder / "y.npy")


def check_executed(program, folder):
    """The exported, the rewritten and the .pte program compute PyTorch's numbers."""
    for name in CONVERTED | FAKE_QUANTIZED:
        case = TRAINED / name
        call(program, "opt", case / "model.pt2", "--passes", "remove_noop", "-o", folder / "m.pt2")
        call(program, "lower", case / "model.pt2", "-o", folder / "m.pte")
        for model in case / "model.pt2", folder / "m.pt2", folder / "m.pte":
            got, wanted = executed(program, model, case / "in0.npy", folder), np.load(case / "out0.npy")
            expect(np.array_equal(got, wanted), f"{name}: {model.name} is off by {np.abs(got - wanted).max()}")


def check_integers(program, folder):
    for name, granted in (CONVERTED | FAKE_QUANTIZED).items():
        case = TRAINED / name
        made, io = folder / "m.tosa", folder / "io.json"
        for target in "INT", "INT+u55":
            call(program, "lower", case / "model.pt2", "-o", made, "--io", io, "--target", target, "--verify")
            sides = json.loads(io.read_text())
            step = sides["outputs"][0]["quantization"]["scale"]
            got = executed(program, made, case / "in0.npy", folder, "--io", io)
            off = np.abs(got - np.load(case / "out0.npy")).max() / step
            expect(off < granted + 0.01, f"{name} for {target}: {off:.2f} steps off")
            given = whole.quantized(np.load(case / "in0.npy"), sides["inputs"][0])
            np.save(folder / "x.npy", given)
            integers = executed(program, made, folder / "x.npy", folder)
            reference = whole.reference(made.read_bytes(), [given], sides["inputs"])
            expect(np.array_equal(integers, reference[0]), f"{name} for {target}: not the reference model's integers")


def check_observed(program, folder):
    """A program that was not converted is shown, and refused once for all of its nodes."""
    for name in OBSERVED:
        model = TRAINED / name / "model.pt2"
        call(program, "show", model, says="observer_on=")
        for command in ["run", model], ["lower", model, "-o", folder / "m.tosa"], ["lower", model, "-o", folder / "m.pte"]:
            done = call(program, *command, status=UNSUPPORTED, says="call convert_pt2e")
            expect(done.stderr.count("convert_pt2e") == 1, f"{name}: the reason is repeated: {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_executed, check_integers, check_observed):
            check(sys.argv[1], pathlib.Path(folder))
    return report()


if __name__ == "__main__":
    sys.exit(main())
