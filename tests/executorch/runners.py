#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the programs that execute files with ExecuTorch's runtime, for the tests that need them:

    runners.py COMPILER FOLDER

Exit status 77 if the runtime is not installed.
"""
import concurrent.futures
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
from calls import report  # noqa: E402
from pte import CORTEX_M, runner_in  # noqa: E402


def main():
    compiler, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        made = list(pool.map(lambda kernels: runner_in(folder, compiler, kernels), ((), CORTEX_M)))
    return report() or (0 if all(made) else 77)


if __name__ == "__main__":
    sys.exit(main())
