#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every command on files that once broke the program, and on ordinary files that did.

    regressions.py PROGRAM [FOLDER] [--limit SECONDS] [--megabytes N]

Each run must end by itself, within the limits, with exit status 0 to 3; a refusal must give a reason, on a
line that begins with `error: ` and has no control character. The files in FOLDER/ordinary are valid: they
must be lowered, and --verify must find the result right. Exit status 1 if any of this fails.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

FOLDER = pathlib.Path(__file__).resolve().parent / "regressions"
FLOATS, NPU = "TOSA-1.0+FP", "TOSA-1.0+INT+u55"


def commands(path, out):
    yield "lower", path, "--target", FLOATS, "-o", out
    yield "lower", path, "--target", NPU, "-o", out
    yield "lower", path, "-o", out, "--verify"
    yield "lower", path, "-o", out, "--partition"
    yield "run", path
    yield "show", path


def run(command, limit, megabytes):
    """Returns (status, stderr, complaint or None). Memory is measured, not limited: sanitizers reserve a
    lot."""
    with tempfile.TemporaryFile() as errors:
        p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        late = threading.Event()

        def kill():
            late.set()
            os.kill(p.pid, signal.SIGKILL)

        timer = threading.Timer(limit, kill)
        timer.start()
        _, status, usage = os.wait4(p.pid, 0)
        timer.cancel()
        p.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().decode(errors="backslashreplace")
    if late.is_set():
        return None, said, f"no end after {limit} s"
    if not 0 <= p.returncode <= 3:
        return p.returncode, said, f"exit status {p.returncode}: {said[-300:]}"
    if p.returncode != 0 and not any(line.startswith("error: ") for line in said.splitlines()):
        return p.returncode, said, f"refused without an error: {said[:300]}"
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", said):
        return p.returncode, said, f"writes control characters to the terminal: {said[:300]!r}"
    if usage.ru_maxrss > megabytes * 1024:
        return p.returncode, said, f"took {usage.ru_maxrss // 1024} MB"
    return p.returncode, said, None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("folder", nargs="?", type=pathlib.Path, default=FOLDER)
    p.add_argument("--limit", type=float, default=20)
    p.add_argument("--megabytes", type=int, default=1024)
    a = p.parse_args()
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        for path in sorted(a.folder.rglob("*.pt2")):
            for arguments in commands(str(path), out):
                count += 1
                status, said, complaint = run([a.program, *arguments], a.limit, a.megabytes)
                if complaint is None and path.parent.name == "ordinary" and NPU not in arguments and status != 0:
                    complaint = f"is valid, but: {said[:300]}"
                if complaint:
                    failures.append(f"{path.name}, {' '.join(arguments[:1] + arguments[2:])}: {complaint}")
                if os.path.isdir(out):
                    shutil.rmtree(out)
                elif os.path.exists(out):
                    os.remove(out)
    print("\n".join(failures + [f"{count} runs, {len(failures)} failures"]))
    return 1 if failures or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
