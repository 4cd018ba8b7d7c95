#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reduces networks of more than 500 nodes with seeded failures by `headrace reduce`: by commands, by a lowering that
is refused, by one that changes the result; and checks what it says if there is nothing to reduce.

    reduce.py PROGRAM [--times]     prints how long each takes
"""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import calls
from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect

MODEL = pathlib.Path(__file__).resolve().parents[2] / "tests/fixtures/conv_bn_relu/model.pt2"
BLOCKS = 102
SECONDS = 60


def network(inserted, at=61):
    """Returns the text of residual blocks of five nodes. Before one of them, `inserted` makes %seeded of %x."""
    lines = ["headrace 1", "%x0: float32[1, 8, 12, 12] = input",
             "%w: float32[8, 8, 3, 3] = constant [0.0001] strides [0, 0, 0, 0]",
             "%b: float32[8] = constant [0.000001] strides [0]"]
    last = "%x0"
    for i in range(BLOCKS):
        if i == at:
            lines += re.sub(r"%x\b", last, inserted).splitlines()
            last = "%seeded"
        lines += [f"%c{i}: ? = aten.conv2d.default({last}, %w, %b, padding=[1, 1])",
                  f"%r{i}: ? = aten.relu.default(%c{i})",
                  f"%d{i}: ? = aten.conv2d.default(%r{i}, %w, %b, padding=[1, 1])",
                  f"%a{i}: ? = aten.add.Tensor(%d{i}, {last})",
                  f"%y{i}: ? = aten.hardtanh.default(%a{i})"]
        last = f"%y{i}"
    return "\n".join([*lines, f"output y={last}", ""])


# A softmax of a reshaped value, an index beyond a table, two ops that meet, an op that TOSA does not have, and a batch
# norm that cancels what a bias of 1e6 adds, which rounds otherwise when it is taken apart.
FAILURES = {
    "shape": ("%f: ? = aten.flatten.using_ints(%x, 2)\n%g: ? = aten.softmax.int(%f, -1)\n"
              "%seeded: ? = aten.view.default(%g, [1, 8, 12, 12])",
              ["--test", "grep -q 'softmax.int(' {} && grep -q 'flatten.using_ints(' {}"], ".hr"),
    "index": ("%i: int64[2] = constant [3, 9]\n%t: float32[4, 12] = constant [0.5] strides [0, 0]\n"
              "%e: ? = aten.embedding.default(%t, %i)\n%m: ? = aten.mean.dim(%e, [0])\n"
              "%seeded: ? = aten.mul.Tensor(%x, %m)",
              ["--test", "! PROGRAM run {}"], ".pt2"),
    "meeting": ("%p: ? = aten.sigmoid.default(%x)\n%q: ? = aten.tanh.default(%x)\n"
                "%seeded: ? = aten.maximum.default(%p, %q)",
                ["--test", "PROGRAM show {} --full > {}.txt; "
                           "grep -q sigmoid {}.txt && grep -q 'maximum.*(%p, %q)' {}.txt"], ".pt2"),
    "refused": ("%o: ? = aten.bernoulli.p(%x, 0.5)\n%seeded: ? = aten.relu.default(%o)", ["--crash"], ".pt2"),
    "differs": ("%h: float32[8] = constant [1000000.0] strides [0]\n%one: float32[8] = constant [1.0] strides [0]\n"
                "%z: float32[8] = constant [0.0] strides [0]\n"
                "%n: ? = aten.conv2d.default(%x, %w, %h, padding=[1, 1])\n"
                "%seeded: ? = aten.batch_norm.default(%n, %one, %z, %h, %one, momentum=0.1, eps=1e-05)",
                ["--differs"], ".pt2"),
}


def computed(program, model):
    """Returns the lines of the ops of a model."""
    text = subprocess.run([program, "show", model, "--full"], capture_output=True, text=True, check=True).stdout
    return [line for line in text.splitlines() if re.search(r"(aten|opaque)", line)]


def check_failures(program, folder, prints):
    for name, (inserted, options, extension) in FAILURES.items():
        model, small = folder / f"{name}.hr", folder / f"{name}_small{extension}"
        model.write_text(network(inserted))
        expect(len(computed(program, model)) > 500, f"{name}: not 500 nodes")
        options = [o.replace("PROGRAM", str(program)) for o in options]
        began = time.monotonic()
        done = call(program, "reduce", model, *options, "-o", small, says="became")
        took = time.monotonic() - began
        left = computed(program, small) if small.exists() else ["nothing"] * 99
        if prints:
            print(f"{name}: {took:.1f} s, {done.stderr.strip()}\n  " + "\n  ".join(left))
        expect(len(left) <= 5, f"{name}: {len(left)} nodes are left")
        expect(took <= SECONDS, f"{name}: {took} s")


def check_determinism(program, folder):
    made = []
    for i in range(2):
        small = folder / f"again{i}.pt2"
        call(program, "reduce", folder / "refused.hr", "--crash", "-o", small, "-q")
        made.append(small.read_bytes())
    expect(made[0] == made[1], "two reductions differ")


def check_messages(program, folder):
    small = folder / "none.pt2"
    call(program, "reduce", MODEL, "-o", small, status=USAGE, says="--test COMMAND, --crash and --differs")
    call(program, "reduce", MODEL, "-o", small, "--crash", "--differs", status=USAGE)
    call(program, "reduce", MODEL, "-o", small, "--test", "true", "--target", "FP", status=USAGE, says="--target")
    call(program, "reduce", MODEL, "-o", folder / "none.tosa", "--test", "true", status=USAGE, says=".pt2 or .hr")
    call(program, "reduce", MODEL, "-o", MODEL, "--test", "true", status=USAGE, says="the model itself")
    call(program, "reduce", folder / "missing.pt2", "-o", small, "--test", "true", status=MALFORMED, says="missing.pt2")
    call(program, "reduce", MODEL, "-o", small, "--test", "false", status=UNSUPPORTED, says="exits with status 1")
    call(program, "reduce", MODEL, "-o", small, "--test", "no_such_command", status=UNSUPPORTED, says="not found")
    slow = ("--test", "sleep 9 #", "--timeout", "0.1")
    call(program, "reduce", MODEL, "-o", small, *slow, status=UNSUPPORTED, says="0.1 s")
    call(program, "reduce", MODEL, "-o", small, "--test", "kill -9 $$", status=UNSUPPORTED, says="signal 9")
    for option in ("--crash", "--differs"):
        call(program, "reduce", MODEL, "-o", small, option, status=UNSUPPORTED, says="does not fail")
    options = ("--differs", "--target", "INT")  # of a float model
    call(program, "reduce", MODEL, "-o", small, *options, status=UNSUPPORTED, says="--crash is for")
    nested = MODEL.parents[1] / "control_flow/model.pt2"
    call(program, "reduce", nested, "-o", small, "--test", "true", status=UNSUPPORTED, says="with -o NAME.hr")
    call(program, "reduce", nested, "-o", folder / "nested.hr", "--test", "grep -q cond {}", says="became 1")
    expect(not small.exists(), "a reduction that fails writes a file")


def check_interruption(program, folder):
    """A signal leaves the smallest model so far, and no process and no file of the tests."""
    small = folder / "interrupted.hr"
    command = [program, "reduce", folder / "refused.hr", "-o", small, "--test", "sleep 0.05; grep -q bernoulli {}"]
    environment = {"TMPDIR": str(folder / "tmp"), "PATH": "/usr/bin:/bin"}
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)
    limit = time.monotonic() + 30
    while not small.exists() and time.monotonic() < limit:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    expect(child.wait(30) == -signal.SIGINT, "reduce does not end by the signal")
    expect("bernoulli" in small.read_text(), "what an interrupted reduction leaves does not fail")
    expect(len(computed(program, small)) < 510, "an interrupted reduction leaves the whole model")
    expect(not list((folder / "tmp").iterdir()), "an interrupted reduction leaves temporary files")


def main(program, *options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tmp").mkdir()
        check_failures(program, folder, "--times" in options)
        check_determinism(program, folder)
        check_messages(program, folder)
        check_interruption(program, folder)
    return calls.report()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
