#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds and runs the tests of the toolkit's headers against single_include/headrace_toolkit.hpp in their place.

    single_tests.py COMPILER FOLDER…      folders of tests: op ir infer target pass match memory partition
    single_tests.py COMPILER --all

Each header that the single ones hold becomes one that includes them; what needs other libraries, as the kernels do by
which tests execute graphs, is the real one.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import single_include

ROOT = single_include.ROOT
FOLDERS = ["op", "ir", "infer", "target", "pass", "match", "memory", "partition"]
# Tests of what is not in the single header: Boost.Hana's structs, and files of other formats.
OTHERS = {"op/hana.cpp"}
FLAGS = ["-std=c++20", "-O0", "-w", "-isystem", "/usr/include/eigen3"]
LIBRARIES = ["-lzip", "-lsimdjson", "-lfmt", "-lpthread"]


def write_forwarders(folder):
    """A tree of headers that include the single one; returns how many."""
    seen = set()
    for headers, _ in [single_include.OUTPUTS["headrace.hpp"], (single_include.toolkit(), "")]:
        for name in headers:
            single_include.Amalgamation(seen).add(name)
    for name in seen:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#include "headrace_toolkit.hpp"\n')
    return len(seen)


def main(arguments):
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    compiler, folders = arguments[0], FOLDERS if arguments[1] == "--all" else arguments[1:]
    with tempfile.TemporaryDirectory() as name:
        build = pathlib.Path(name)
        count = write_forwarders(build / "include")
        paths = ["-I", build / "include", "-I", ROOT / "single_include", "-I", ROOT / "include"]
        sources = [p for f in folders for p in sorted((ROOT / "tests" / f).rglob("*.cpp"))
                   if str(p.relative_to(ROOT / "tests")) not in OTHERS]
        objects = []
        for source in [ROOT / "tests/support/main.cpp", ROOT / "tests/support/pass_runs.cpp", *sources]:
            objects.append(build / f"{len(objects)}.o")
            subprocess.run([compiler, *FLAGS, *paths, "-c", source, "-o", objects[-1]], check=True)
        program = build / "tests"
        subprocess.run([compiler, *objects, "-o", program, *LIBRARIES], check=True)
        done = subprocess.run([program], cwd=ROOT, check=False)
    print(f"{len(sources)} files of tests, {count} headers by single ones")
    return done.returncode


if __name__ == "__main__":
    if shutil.which("c++") is None:
        raise SystemExit(77)
    sys.exit(main(sys.argv[1:]))
