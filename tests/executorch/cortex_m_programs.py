#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Executes programs of random kernels for Cortex-M in ExecuTorch's own runtime, with the kernels beside this
file, which are written after examples/docs/cortex_m.md alone. Their results must be, to the bit, those of
Headrace's kernels before the program is written and of `headrace run` for the file. The sizes of scratch
buffers must be those of the library in ExecuTorch's wheel, if this Python can load it.

    cortex_m_programs.py WRITER COMPILER [--cases N] [--op NAME] [--keep FOLDER] [--runner R]

WRITER is headrace_cortex_m_programs, which writes the programs; COMPILER compiles the runner. `--cases` sets
how many programs are written for each op and kind of core.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy  # noqa: F401
except ImportError:
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
from cortex_m_scratch import differing_buffers  # noqa: E402
from pte import CORTEX_M, runner_in  # noqa: E402
from random_programs import Runtime, check  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("writer")
    parser.add_argument("compiler")
    parser.add_argument("--cases", type=int, default=4)
    parser.add_argument("--op", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--runner")
    given = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runner = given.runner or runner_in(folder, given.compiler, CORTEX_M)
        if not runner:
            print("ExecuTorch's runtime is not installed")
            return 77
        for core in ("scalar", "dsp", "mve"):
            os.environ["HEADRACE_CORE"] = core
            written = folder / core
            written.mkdir()
            wanted = [given.op] if given.op else []
            subprocess.run([given.writer, written, core, str(given.cases), *wanted], check=True)
            runtime = Runtime(runner, written)
            total, faults = check(runtime, written, given.keep / core if given.keep else None)
            runtime.end()
            listed = "".join(path.read_text() for path in written.glob("*.txt"))
            buffers, others = differing_buffers(listed, core)
            for other in others[:10]:
                print(other)
            print(f"{core}: {total} programs in ExecuTorch's runtime, {faults} differences; "
                  f"{buffers} buffers, {len(others)} of another size than the wheel's library says")
            bad += faults + len(others)
    return int(bad != 0)


if __name__ == "__main__":
    sys.exit(main())
