#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds a project of twenty models with headrace_add_model, changes one thing at a time and counts reruns.

    twenty_models.py PROGRAM
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNT = 20
SOURCES = [ROOT / folder / "model.pt2" for folder in (
    "examples/models/kws_dscnn", "examples/models/kws_dscnn_int8", "tests/fixtures/conv_bn_relu",
    "tests/fixtures/quantized_cnn", "tests/fixtures/multi_output")]
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(twenty LANGUAGES CXX)
include("{script}")
add_executable(image main.cpp)
foreach(i RANGE 1 {count})
  headrace_add_model(image MODEL "the models/m${{i}}.pt2")
endforeach()
"""
# Takes the place of the program, and logs each call.
COUNTER = """#!/bin/sh
echo "$@" >> '{log}'
exec '{program}' "$@"
"""

failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


class Project:
    def __init__(self, folder, program, generator):
        self.folder, self.generator = folder, generator
        self.models = folder / "the models"
        self.models.mkdir(parents=True)
        for i in range(1, COUNT + 1):
            shutil.copyfile(SOURCES[i % len(SOURCES)], self.models / f"m{i}.pt2")
        script = ROOT / "examples/cmake/headraceModel.cmake"
        (folder / "CMakeLists.txt").write_text(PROJECT.format(script=script, count=COUNT))
        names = [f"m{i}" for i in range(1, COUNT + 1)]
        (folder / "main.cpp").write_text(
            "#include <cstdio>\n" + "".join(f'#include "{n}_model.h"\n' for n in names) +
            "int main() { std::printf(\"%zu\\n\", " + " + ".join(f"{n}_model_size" for n in names) + "); }\n")
        self.log = folder / "calls"
        self.program = folder / "headrace"
        self.program.write_text(COUNTER.format(log=self.log, program=program))
        self.program.chmod(0o755)
        self.run("cmake", "-S", folder, "-B", folder / "build", "-G", generator, "-DCMAKE_BUILD_TYPE=Debug",
                 f"-DHEADRACE_PROGRAM={self.program}")

    def run(self, *command):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def build(self):
        """Returns the models that were lowered, and how many were embedded again."""
        self.log.unlink(missing_ok=True)
        self.run("cmake", "--build", self.folder / "build", "-j", "2")
        calls = self.log.read_text() if self.log.exists() else ""
        lowered = re.findall(r"^lower .*/the models/(m\d+)\.pt2", calls, re.M)
        return sorted(lowered), len(re.findall("^embed", calls, re.M))

    def image(self):
        image = self.folder / "build" / "image"
        return image.stat().st_mtime_ns, int(self.run(image))


def check(project):
    say = project.generator
    everything = sorted(f"m{i}" for i in range(1, COUNT + 1))
    expect(project.build() == (everything, COUNT), f"{say}: the first build does not lower each model once")
    first = project.image()
    flatbuffers = sum(p.stat().st_size for p in (project.folder / "build/headrace_models").glob("m*/m*.tosa"))
    expect(first[1] == flatbuffers, f"{say}: the image holds {first[1]} bytes of models, {flatbuffers} were lowered")
    expect(project.build() == ([], 0), f"{say}: something is lowered though nothing changed")

    replaced = project.models / "m7.pt2"
    shutil.copyfile(SOURCES[(7 + 1) % len(SOURCES)], replaced)
    expect(project.build() == (["m7"], 1), f"{say}: a change of m7 does not lower m7 alone")
    second = project.image()
    expect(second[1] != first[1], f"{say}: the image has the old model")

    os.utime(project.program)
    lowered, embedded = project.build()
    expect(lowered == everything, f"{say}: a new program lowers {len(lowered)} models, not all")
    if say == "Ninja":
        os.utime(replaced)
        expect(project.build() == (["m7"], 0), "Ninja: the same flatbuffer is embedded again")
        expect(project.image() == second, "Ninja: the image is linked again though no flatbuffer changed")
    expect(project.build() == ([], 0), f"{say}: something is lowered once more after all was")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    generators = [g for g, tool in (("Ninja", "ninja"), ("Unix Makefiles", "make")) if shutil.which(tool)]
    for generator in generators:
        with tempfile.TemporaryDirectory() as folder:
            check(Project(pathlib.Path(folder) / "a project", program, generator))
    print("\n".join(failures + [f"{COUNT} models, {', '.join(generators)}: {len(failures)} failures"]))
    return 1 if failures or not generators else 0


if __name__ == "__main__":
    sys.exit(main())
