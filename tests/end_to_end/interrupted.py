#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that signals leave no temporary files, and how the program handles a model that shrinks while it is
read.

    interrupted.py PROGRAM
"""
import fcntl
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

from calls import MALFORMED, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "fixtures" / "conv_bn_relu" / "model.pt2"
LARGER = ROOT / "examples" / "models" / "kws_dscnn" / "model.pt2"  # its picture does not fit into a small pipe


def check_signals(program, folder):
    """Whenever a signal arrives, the file being written is removed, and the signal ends the program."""
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
        # Resets signals that the shell running this may have ignored.
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
    """Under nohup, the program continues."""
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
    """The first picture goes to a pipe that is too small for it: until it is read, the program waits, with
    the model mapped and its passes still to run."""
    model, dot, out = folder / "model.pt2", folder / "dot", folder / "out.tosa"
    for size in (0, 5000):
        shutil.copy(LARGER, model)
        dot.mkdir()
        os.mkfifo(dot / "000_input.dot")
        pipe = os.open(dot / "000_input.dot", os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
        p = subprocess.Popen([program, "lower", model, "-o", out, "--dot", dot], stderr=subprocess.PIPE, text=True)
        while p.poll() is None and fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4) == b"\0" * 4:
            time.sleep(0.01)
        os.truncate(model, size)
        os.set_blocking(pipe, True)
        with open(pipe, "rb") as picture:
            expect(len(picture.read()) > 4096, "the picture does not fill the pipe: the program may not have waited")
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
