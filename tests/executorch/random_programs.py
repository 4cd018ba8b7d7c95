#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Executes programs of random ops, and each op with unusual arguments, in ExecuTorch's own runtime, and
compares with the results of PyTorch's ops and of `headrace run` for the same file.

    random_programs.py WRITER COMPILER [--programs N] [--seed S] [--cases N] [--op NAME] [--keep FOLDER] [--runner R]

WRITER is headrace_runtime_programs, which writes the programs; COMPILER compiles the runner. `--programs`
sets the number of random programs, `--cases` the number of arguments tried for each op, `--op` selects a
single op, and `--keep` keeps the files of differing programs.

Integers, booleans, infinities and NaN must be equal. Floats may differ by 1e-4 of their magnitude plus 1e-4:
the runtime sums in another order, and its optimized kernels approximate exp, erf and tanh by their own vector
code. The writer omits programs whose results change by more than a third of that if each op rounds
differently, and passes no infinity or NaN to convolutions, resizing and sampling: whether 0 * inf counts
there differs between PyTorch's own kernels. float16 may differ by its own rounding.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

try:
    import numpy as np
except ImportError:
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
from pte import runner_in  # noqa: E402

SHOWN = 40  # faults
LONGEST = 60  # seconds for one program


class Runtime:
    """The runner, which is restarted after a program at which it aborts."""

    def __init__(self, runner, folder):
        self.runner, self.errors, self.process = runner, folder / "runner.errors", None

    def run(self, command):
        """Executes a program; returns the runtime's last words if it fails, else an empty text."""
        # A kernel that never ends counts as a fault.
        timer = threading.Timer(LONGEST, lambda: self.process.kill())
        timer.start()
        try:
            return self.answer(command)
        finally:
            timer.cancel()

    def answer(self, command):
        if self.process is None:
            self.sink = open(self.errors, "w+", encoding="utf-8", errors="replace")
            self.process = subprocess.Popen([self.runner, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=self.sink, text=True)
        begin = self.errors.stat().st_size
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if answer == "ok":
            return ""
        if not answer:
            self.process.wait()
            self.process = None
        with open(self.errors, encoding="utf-8", errors="replace") as log:
            log.seek(begin)
            lines = [line.strip() for line in log if "cpuinfo" not in line and line.strip()]
        return (("" if answer else "aborts: ") + " | ".join(lines[:3]))[:400] or "no reason given"

    def end(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def difference(expected, got):
    """Returns what differs between two arrays; empty if nothing does."""
    if expected.shape != got.shape or expected.dtype != got.dtype:
        return f"{got.dtype}{list(got.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if expected.dtype.kind != "f":
        same = expected == got
    else:
        share = 5e-3 if expected.dtype == np.float16 else 1e-4
        with np.errstate(all="ignore"):
            same = np.isclose(got.astype(np.float64), expected.astype(np.float64), rtol=share, atol=share,
                              equal_nan=True)
    if same.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    return f"{got[at]} instead of {expected[at]} at {list(at)}, {int((~same).sum())} of {same.size} elements"


def judge(runtime, folder, name, inputs, outputs):
    """Returns what is wrong with a program; empty if nothing is."""
    paths = [folder / f"{name}.{kind}{i}.npy" for kind, count in (("in", inputs), ("real", outputs))
             for i in range(count)]
    failed = runtime.run(" ".join(map(str, [folder / f"{name}.pte", "forward", *paths[:inputs], "--",
                                            *paths[inputs:]])))
    fault = folder / f"{name}.fault"
    if fault.exists():
        return f"`run`: {fault.read_text()}"
    if failed:
        return f"the runtime refuses it: {failed}"
    for i, path in enumerate(paths[inputs:]):
        real = np.load(path)
        for kind, what in (("want", "the runtime gives"), ("ran", "the runtime, beside `run`, gives")):
            differs = difference(np.load(folder / f"{name}.{kind}{i}.npy"), real)
            if differs:
                return f"output {i}: {what} {differs}"
    return ""


def check(runtime, folder, keep):
    """Returns the numbers of programs and of faulty ones, which it prints."""
    faults, programs = 0, (folder / "index").read_text().splitlines()
    for line in programs:
        name, inputs, outputs = line.split()
        fault = judge(runtime, folder, name, int(inputs), int(outputs))
        if not fault:
            continue
        faults += 1
        if faults <= SHOWN:
            print(f"program {name}: {fault}\n{(folder / f'{name}.txt').read_text()}")
        if keep:
            keep.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.why").write_text(fault)
            for path in folder.glob(f"{name}.*"):
                shutil.copy(path, keep)
    return len(programs), faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("writer")
    parser.add_argument("compiler")
    parser.add_argument("--programs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=0)
    parser.add_argument("--op", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--runner")
    given = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runner = given.runner or runner_in(folder, given.compiler)
        if not runner:
            print("ExecuTorch's runtime is not installed")
            return 77
        for what, count, last in (("programs", given.programs, str(given.seed)), ("ops", given.cases, given.op)):
            if count == 0:
                continue
            written = folder / what
            written.mkdir()
            subprocess.run([given.writer, written, what, str(count), *([last] if last else [])], check=True)
            runtime = Runtime(runner, written)
            total, faults = check(runtime, written, given.keep / what if given.keep else None)
            runtime.end()
            print(f"{what}: {total} programs in ExecuTorch's runtime, {faults} differences")
            bad += faults
    return int(bad != 0)


if __name__ == "__main__":
    sys.exit(main())
