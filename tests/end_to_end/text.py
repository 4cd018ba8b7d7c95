#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks graphs as text on the command line: every command reads the output of `show -o` and `opt -o` like
the model.

    text.py PROGRAM
"""
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from calls import MALFORMED, OK, UNSUPPORTED, USAGE, call, expect, report

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
MODELS = ["conv_bn_relu", "control_flow", "integer_ops", "quantized_cnn", "multi_output"]


def outputs_of(program, model, fixture, folder):
    """Returns the bytes of the outputs for the fixture's inputs."""
    inputs = sorted(fixture.glob("in*.npy"))
    files = [folder / f"out{i}.npy" for i, _ in enumerate(sorted(fixture.glob("out*.npy")))]
    call(program, "run", model, "--in", *inputs, "--out", *files)
    return [f.read_bytes() for f in files]


def check_round_trip(program, folder, name):
    model, fixture = FIXTURES / name / "model.pt2", FIXTURES / name
    text, again = folder / "x.hr", folder / "y.hr"
    call(program, "show", model, "-o", text)
    call(program, "show", text, "-o", again)
    expect(text.read_text() == again.read_text(), f"{name}: the text is another when it was read")
    listing = call(program, "show", model).stdout
    expect(call(program, "show", text).stdout == listing, f"{name}: `show` of the text is another")
    expect(outputs_of(program, text, fixture, folder) == outputs_of(program, model, fixture, folder),
           f"{name}: `run` of the text gives something else")
    target = ["--target", "TOSA-1.0+INT+FP+cf"]
    call(program, "lower", model, "-o", folder / "a.tosa", "--io", folder / "a.json", *target)
    call(program, "lower", text, "-o", folder / "b.tosa", "--io", folder / "b.json", *target)
    for a, b in (("a.tosa", "b.tosa"), ("a.json", "b.json")):
        expect((folder / a).read_bytes() == (folder / b).read_bytes(), f"{name}: `lower` of the text gives another {b}")
    call(program, "show", folder / "a.tosa", "-o", folder / "t.hr", "--inline", 10**6)
    expect(not (folder / "t.hr.data").exists(), f"{name}: a data file in spite of --inline")
    expect(call(program, "show", folder / "t.hr").stdout == call(program, "show", folder / "a.tosa").stdout,
           f"{name}: `show` of the flatbuffer's text is another")
    passes = "canonicalize_variants,functionalize,decompose_batch_norm,fold_constants"
    step = call(program, "opt", model, "--passes", passes).stdout
    expect(call(program, "opt", text, "--passes", passes).stdout == step, f"{name}: `opt` of the text gives another graph")
    call(program, "opt", model, "--passes", passes, "-o", folder / "z.hr")
    expect(call(program, "show", "--full", folder / "z.hr").stdout == step, f"{name}: `opt -o` writes another graph")


def check_packages(program, folder):
    call(program, "lower", "--partition", FIXTURES / "partition" / "diamond" / "model.pt2", "-o", folder / "package")
    call(program, "show", folder / "package", "-o", folder / "host.hr")
    expect("delegate.call_delegate(" in (folder / "host.hr").read_text(), "the host graph's text has no delegate")
    expect(call(program, "run", folder / "host.hr").stdout == call(program, "run", folder / "package").stdout,
           "the host graph's text runs differently")


def check_messages(program, folder):
    call(program, "show", FIXTURES / "conv_bn_relu" / "model.pt2", "-o", folder / "x.hr")
    text = (folder / "x.hr").read_text()
    call(program, "show", folder / "x.hr", "-o", folder / "x.hr", status=USAGE, says="is the model itself")
    call(program, "show", folder / "x.hr", "--inline", 3, status=USAGE, says="--output")
    (folder / "y.hr").write_text(text)
    call(program, "run", folder / "y.hr", status=MALFORMED, says="y.hr.data: no such file, and it has the constant's")
    shutil.copy(folder / "x.hr.data", folder / "y.hr.data")
    call(program, "run", folder / "y.hr")
    line = next(i for i, line in enumerate(text.splitlines(), 1) if "aten.conv2d" in line)
    (folder / "y.hr").write_text(text.replace("aten.conv2d.default", "aten.conv9d.default", 1))
    call(program, "run", folder / "y.hr", status=MALFORMED, says=f"y.hr:{line}:")
    # Types are compared with inferred ones.
    (folder / "y.hr").write_text(re.sub(r"(%conv2d: float32\[)\d+", r"\g<1>77", text))
    call(program, "run", folder / "y.hr", status=MALFORMED, says="inference gives")
    (folder / "y.hr").write_text(re.sub(r"(%conv2d: )float32\[[^]]*\]", r"\g<1>?", text))
    expect(call(program, "run", folder / "y.hr").stdout == call(program, "run", folder / "x.hr").stdout,
           "a type that is missing is not inferred")
    # A refused node whose text has no origin is named as in the text.
    (folder / "z.hr").write_text("headrace 1\n%x: float32[2, 0] = input\n%y: ?, %m: ?, %r: ? = "
                                 "aten.native_layer_norm.default(%x, normalized_shape=[0], eps=1e-05)\noutput %y\n")
    call(program, "lower", folder / "z.hr", "-o", folder / "z.tosa", status=UNSUPPORTED,
         says="error: y (aten.native_layer_norm.default): ")
    (folder / "z.hr").write_text("something else")
    call(program, "run", folder / "z.hr", status=MALFORMED, says="z.hr:1:1: expected 'headrace 1'")


def check_broken(program, folder):
    """Whatever a text has become, the program ends by itself, with a message if it refuses it."""
    call(program, "show", FIXTURES / "control_flow" / "model.pt2", "-o", folder / "x.hr", "--inline", 10**6)
    text = (folder / "x.hr").read_bytes()
    pieces = [b"{", b"}", b"[", b"-1", b"9223372036854775807", b"none", b"%x", b'"', b"", b"1e999", b"int4", b"@0"]
    r = random.Random(1)
    for _ in range(120):
        first = r.randrange(len(text))
        last = min(len(text), first + r.choice([0, 1, 5, 100, len(text)]))
        broken = text[:first] + r.choice([*pieces, text[last // 2:last // 2 + 50]]) + text[last:]
        (folder / "y.hr").write_bytes(broken)
        done = subprocess.run([program, "lower", folder / "y.hr", "-o", folder / "y.tosa"], capture_output=True,
                              timeout=60)
        expect(0 <= done.returncode < 4 and (done.returncode == OK or done.stderr.startswith(b"error: ")),
               f"a broken text: exit status {done.returncode}: {broken[max(0, first - 40):first + 40]!r}")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        def folder(of):
            made = pathlib.Path(name) / of
            made.mkdir()
            return made
        for model in MODELS:
            check_round_trip(program, folder(model), model)
        check_packages(program, folder("packages"))
        check_messages(program, folder("messages"))
        check_broken(program, folder("broken"))
    return report()


if __name__ == "__main__":
    sys.exit(main())
