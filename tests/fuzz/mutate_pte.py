#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks .pte files, and the .ptd files next to them, in many ways and checks that `show` and `run` handle
them.

    mutate_pte.py PROGRAM FILE.pte… [--count N] [--seed S] [--limit SECONDS] [--keep DIR]

Each run must end by itself, with exit status 0 to 3, and leave outputs only with status 0, complete ones; a
refusal must give a reason. Files that break this rule go to DIR. Prints the seed; exit status 1 if there were
any.
"""
import argparse
import collections
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

NUMBERS = [0, 1, 2, 3, 4, 16, 64, 2**20, 2**31 - 1, 2**31, 2**32 - 1]


def change_numbers(blob, r):
    """Changes numbers at multiples of four bytes, where those of a flatbuffer are."""
    data = bytearray(blob)
    for _ in range(r.choice([1, 1, 2, 3])):
        at = r.randrange(len(data) // 4) * 4
        number = int.from_bytes(data[at:at + 4], "little")
        number = r.choice(NUMBERS) if r.random() < 0.5 else (number + r.choice([-4, -1, 1, 2, 4])) % 2**32
        data[at:at + 4] = number.to_bytes(4, "little")
    return bytes(data)


def flip_bits(blob, r):
    data = bytearray(blob)
    for _ in range(r.choice([1, 1, 2, 8])):
        data[r.randrange(len(data))] ^= 1 << r.randrange(8)
    return bytes(data)


def truncate(blob, r):
    return blob[:r.randrange(len(blob))]


def overwrite(blob, r):
    size = 4 * r.choice([1, 2, 8, 32])
    source, target = (r.randrange(len(blob) // 4) * 4 for _ in range(2))
    return blob[:target] + blob[source:source + size] + blob[target + size:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=20)
    parser.add_argument("--keep", type=pathlib.Path)
    o = parser.parse_args()
    print("seed", o.seed)
    r, bad, seen = random.Random(o.seed), 0, collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        file, output = pathlib.Path(name) / "m.pte", pathlib.Path(name) / "out.npy"
        for i in range(o.count):
            source = o.files[i % len(o.files)]
            data = source.with_suffix(".ptd")
            file.write_bytes(source.read_bytes())
            file.with_suffix(".ptd").unlink(missing_ok=True)
            if data.exists():
                shutil.copy(data, file.with_suffix(".ptd"))
            target = file.with_suffix(".ptd") if data.exists() and r.random() < 0.5 else file
            change = r.choice([change_numbers, change_numbers, change_numbers, flip_bits, overwrite, truncate])
            target.write_bytes(change(target.read_bytes(), r))
            for command in (["show", file], ["run", file], ["run", file, "--out", output]):
                output.unlink(missing_ok=True)
                try:
                    done = subprocess.run([o.program, *command], capture_output=True, text=True, errors="replace",
                                          timeout=o.limit)
                    status, said = done.returncode, done.stderr
                except subprocess.TimeoutExpired:
                    status, said = "hang", ""
                fault = status not in (0, 1, 2, 3) or (status != 0 and not said.strip()) or "runtime error" in said
                if output.exists() and status != 0:
                    fault = True
                seen[f"{command[0]}: {status}"] += 1
                if fault:
                    bad += 1
                    print(f"{i}: {source.name} {' '.join(map(str, command))}: {status}: {said[-400:]}")
                    if o.keep:
                        o.keep.mkdir(parents=True, exist_ok=True)
                        shutil.copy(file, o.keep / f"{o.seed}_{i}.pte")
    print(dict(sorted(seen.items())))
    print(f"{o.count} files, {bad} taken badly")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
