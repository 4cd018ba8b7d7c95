#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that signals leave no temporary files, and what becomes of a model that shrinks while it is read.

    interrupted.py PROGRAM
"""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from calls import MALFORMED, expect, report

MODEL = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "conv_bn_relu" / "model.pt2"


def check_signals(program, folder):
    """Wherever a signal meets the program, what it was writing goes away, and the signal ends it."""
    models, r = folder / "models", random.Random(1)
    models.mkdir()
    for i in range(300):
        os.link(MODEL, models / f"{i}.pt2") if os.stat(MODEL).st_dev == os.stat(models).st_dev else shutil.copy(
            MODEL, models / f"{i}.pt2")
    ended = 0
    for i in range(12):
        out = folder / f"out{i}"
        number = r.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        command = ["lower", "--batch", models, "--io-files"] if i % 3 else ["lower", MODEL, "--partition"]
        # Not what the shell that runs this may have said of signals.
        p = subprocess.Popen([program, *map(str, command), "-o", out], stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        try:
            p.wait(timeout=r.uniform(0.005, 0.3))
        except subprocess.TimeoutExpired:
            p.send_signal(number)
            ended += p.wait(timeout=60) == -number
        left = [f for f in folder.rglob("*") if re.search(r"\.[a-z2-7]{6}$", f.name)]
        expect(not left, f"signal {number} left {left[:3]}")
        for f in out.rglob("*.tosa") if out.is_dir() else []:
            expect(f.read_bytes()[4:8] == b"TOSA", f"{f} is cut")
    expect(ended > 0, "no run was ended by a signal: nothing was tested")


def check_ignored(program, folder):
    """Under nohup, the program goes on."""
    out = folder / "out"
    models = folder / "models"
    models.mkdir()
    for i in range(30):
        shutil.copy(MODEL, models / f"{i}.pt2")
    p = subprocess.Popen([program, "lower", "--batch", models, "-o", out], stderr=subprocess.DEVNULL,
                         preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    p.send_signal(signal.SIGHUP)
    expect(p.wait(timeout=300) == 0, f"a signal that is ignored ended the program: {p.returncode}")


def check_shrinking(program, folder):
    """The first picture goes to a pipe: until it is read, the program waits, with the model mapped and its passes
    before it."""
    model, dot, out = folder / "model.pt2", folder / "dot", folder / "out.tosa"
    for size in (0, 5000):
        shutil.copy(MODEL, model)
        dot.mkdir()
        os.mkfifo(dot / "000_input.dot")
        p = subprocess.Popen([program, "lower", model, "-o", out, "--dot", dot], stderr=subprocess.PIPE, text=True)
        with open(dot / "000_input.dot") as picture:
            os.truncate(model, size)
            picture.read()
        said = p.communicate(timeout=300)[1]
        expect(p.returncode == MALFORMED, f"a model that shrank to {size} bytes: exit status {p.returncode}")
        expect(said == f"error: {model}: became shorter while it was read\n", f"it says {said!r}")
        expect(not out.exists(), "what was read of it was written")
        shutil.rmtree(dot)


def main():
    with tempfile.TemporaryDirectory() as name:
        for check in (check_signals, check_ignored, check_shrinking):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            check(sys.argv[1], folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
