#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds and runs tests of the toolkit's headers against the single headers of this tree.

    single_tests.py COMPILER FOLDER…      the tests of folders whose files can be compiled as one, such as op
    single_tests.py COMPILER --all        those of op ir infer target rewrite pass match memory partition, each file alone

Each header that a single header contains is replaced by one that includes that single header; headers that need other
libraries, such as the kernels with which tests execute graphs, are the real ones.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import single_include

ROOT = single_include.ROOT
FOLDERS = ["op", "ir", "infer", "target", "rewrite", "pass", "match", "memory", "partition", "fx"]
# Folders whose tests run passes with the common functions.
EXECUTING = {"rewrite", "pass", "fx"}
# Tests of features outside the single header: Boost.Hana's structs, and files of other formats.
OTHERS = {"op/hana.cpp"}
FLAGS = ["-std=c++20", "-O0", "-w", "-isystem", "/usr/include/eigen3"]
LIBRARIES = ["-ldeflate", "-lsimdjson", "-lfmt", "-lpthread"]


def write_forwarders(folder):
    """Writes a tree of headers that include the single ones; returns their number."""
    seen = set()
    for single, headers in [("headrace.hpp", single_include.OUTPUTS["headrace.hpp"][0]),
                            ("headrace_toolkit.hpp", single_include.toolkit())]:
        known = set(seen)
        for name in headers:
            single_include.Amalgamation(seen).add(name)
        for name in seen - known:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f'#include "{single}"\n')
    return len(seen)


def compile_all(compiler, sources, build):
    """Compiles the files in parallel; returns the objects."""
    paths = ["-I", build / "include", "-I", build / "single", "-I", ROOT / "include"]

    def compile_one(source):
        target = build / f"{sources.index(source)}.o"
        subprocess.run([compiler, *FLAGS, *paths, "-c", source, "-o", target], check=True)
        return target

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compile_one, sources))


def main(arguments):
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    compiler, apart = arguments[0], arguments[1] == "--all"
    folders = FOLDERS if apart else arguments[1:]
    with tempfile.TemporaryDirectory() as name:
        build = pathlib.Path(name)
        single_include.write(build / "single")
        count = write_forwarders(build / "include")
        tests = [p for f in folders for p in sorted((ROOT / "tests" / f).rglob("*.cpp"))
                 if str(p.relative_to(ROOT / "tests")) not in OTHERS]
        sources = [ROOT / "tests/support/main.cpp", *tests]
        if set(folders) & EXECUTING:
            sources.append(ROOT / "tests/support/pass_runs.cpp")
        if not apart:  # most of the time is spent reading the single header
            together = build / "tests.cpp"
            together.write_text("".join(f'#include "{source}"\n' for source in sources))
            sources = [together]
        objects = compile_all(compiler, sources, build)
        program = build / "tests"
        subprocess.run([compiler, *objects, "-o", program, *LIBRARIES], check=True)
        done = subprocess.run([program], cwd=ROOT, check=False)
    print(f"{len(tests)} files of tests, {count} headers by single ones")
    return done.returncode


if __name__ == "__main__":
    if shutil.which("c++") is None:
        raise SystemExit(77)
    sys.exit(main(sys.argv[1:]))
