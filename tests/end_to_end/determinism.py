#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lowers every fixture twice, and with other builds of the program as well, and requires identical bytes:
each alone, and all in one batch.

    determinism.py PROGRAM [OTHER…]      missing builds are skipped
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def lower(program, model, output):
    done = subprocess.run([program, "lower", model, "-o", output], capture_output=True, timeout=600)
    return output.read_bytes() if output.exists() else done.stderr


def lower_batch(program, models, folder):
    """Returns the output of `lower` for each model, from one call for all."""
    source, output = folder / "models", folder / "out"
    for model in models:
        (source / model.parent.name).mkdir(parents=True)
        (source / model.parent.name / "model.pt2").symlink_to(model)
    subprocess.run([program, "lower", "--batch", source, "-o", output, "-j", "3"], capture_output=True, timeout=1800)
    made = [output / model.parent.name / "model.tosa" for model in models]
    return [path.read_bytes() if path.exists() else None for path in made]


def main():
    programs = [sys.argv[1], sys.argv[1]]
    programs += [p for p in sys.argv[2:] if pathlib.Path(p).exists() and not pathlib.Path(p).samefile(sys.argv[1])]
    models = sorted(ROOT.glob("tests/fixtures/*/model.pt2")) + sorted(ROOT.glob("examples/models/*/model.pt2"))
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        batches = [lower_batch(program, models, folder / f"batch_{i}") for i, program in enumerate(programs)]
        for k, model in enumerate(models):
            results = []
            for i, program in enumerate(programs):
                output = folder / f"{model.parent.name}_{i}.tosa"
                results.append(lower(program, model, output))
                if batches[i][k] != (results[i] if output.exists() else None):
                    failures += 1
                    print(f"{model.parent.name}: {program} gives other bytes in a batch than alone")
            for program, result in zip(programs[1:], results[1:]):
                if result != results[0]:
                    failures += 1
                    print(f"{model.parent.name}: {program} gives other bytes than {programs[0]}")
    print(f"{len(models)} models, {len(programs)} runs each, {failures} failures")
    return 1 if failures or not models else 0


if __name__ == "__main__":
    sys.exit(main())
