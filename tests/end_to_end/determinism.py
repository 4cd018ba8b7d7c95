#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lowers every fixture twice, and with other builds of the program as well, and demands the same bytes.

    determinism.py PROGRAM [OTHER…]      others that are not there are left out
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def lower(program, model, output):
    done = subprocess.run([program, "lower", model, "-o", output], capture_output=True, timeout=600)
    return output.read_bytes() if output.exists() else done.stderr


def main():
    programs = [sys.argv[1], sys.argv[1]]
    programs += [p for p in sys.argv[2:] if pathlib.Path(p).exists() and not pathlib.Path(p).samefile(sys.argv[1])]
    models = sorted(ROOT.glob("tests/fixtures/*/model.pt2")) + sorted(ROOT.glob("examples/models/*/model.pt2"))
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        for model in models:
            results = []
            for i, program in enumerate(programs):
                output = pathlib.Path(name) / f"{model.parent.name}_{i}.tosa"
                results.append(lower(program, model, output))
            for program, result in zip(programs[1:], results[1:]):
                if result != results[0]:
                    failures += 1
                    print(f"{model.parent.name}: {program} gives other bytes than {programs[0]}")
    print(f"{len(models)} models, {len(programs)} runs each, {failures} failures")
    return 1 if failures or not models else 0


if __name__ == "__main__":
    sys.exit(main())
