#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks .pt2 files in many ways and checks that the program handles them.

    mutate.py PROGRAM FILE.pt2… [--count N] [--seed S] [--limit SECONDS] [--keep DIR] [--reader]

PROGRAM is `headrace`, run as `headrace lower X.pt2 -o X.tosa`, or with --reader a build of read_pt2.cpp, run
as `PROGRAM X.pt2`. Each run must end by itself, with exit status 0 to 3, and leave an output file only with
status 0; a refusal must give a reason. Files that break this rule go to DIR. Prints the seed; exit status 1
if there were any.
"""
import argparse
import collections
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile

NUMBERS = [-1, 0, 1, 2, 7, 8, 2**31 - 1, 2**31, 2**32, 2**63 - 1, -2**63, 2**63, 2**64, 10**30, 1.5, -0.0, 1e308, None,
           True, "Infinity", "", [], {}]


def flip_bits(blob, r):
    data = bytearray(blob)
    for _ in range(r.choice([1, 1, 2, 8, 64])):
        data[r.randrange(len(data))] ^= 1 << r.randrange(8)
    return bytes(data)


def truncate(blob, r):
    return blob[:r.randrange(len(blob))] if r.random() < 0.7 else blob[r.randrange(len(blob)):]


def overwrite(blob, r):
    """Copies a piece of the file over another one."""
    size = r.choice([1, 4, 16, 256])
    source, target = r.randrange(len(blob)), r.randrange(len(blob))
    return blob[:target] + blob[source:source + size] + blob[target + size:]


def entries_of(blob):
    with zipfile.ZipFile(io.BytesIO(blob)) as z:
        return [(i.filename, z.read(i)) for i in z.infolist()]


def archive_of(entries, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as z:
        for name, data in entries:
            z.writestr(zipfile.ZipInfo(name), data, compression)
    return out.getvalue()


def swap_entries(blob, r):
    entries = entries_of(blob)
    a, b = r.randrange(len(entries)), r.randrange(len(entries))
    entries[a], entries[b] = (entries[a][0], entries[b][1]), (entries[b][0], entries[a][1])
    return archive_of(entries)


def spoil_entries(blob, r):
    entries = entries_of(blob)
    at = r.randrange(len(entries))
    name, data = entries[at]
    kind = r.randrange(5)
    if kind == 0:
        del entries[at]
    elif kind == 1:
        entries[at] = (name, data[:r.randrange(len(data) + 1)])
    elif kind == 2:
        entries.append((name, data))
    elif kind == 3:
        entries[at] = (r.choice(["", "/", "../x", "model/models/model.json", "é" * 40, name.upper()]), data)
    return archive_of(entries, zipfile.ZIP_DEFLATED if kind == 4 else zipfile.ZIP_STORED)


def places(tree):
    """Yields every container in a JSON value with each of its keys."""
    found, stack = [], [tree]
    while stack:
        at = stack.pop()
        keys = at.keys() if isinstance(at, dict) else range(len(at)) if isinstance(at, list) else ()
        for key in keys:
            found.append((at, key))
            stack.append(at[key])
    return found


def deep(r):
    depth = r.choice([60, 1000, 100000])
    return r.choice(["[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth])


def edit_once(tree, r, strings):
    spots = places(tree)
    # Few values are strings or numbers of a graph; without this, most edits would hit metadata.
    numbers = [(c, k) for c, k in spots if isinstance(c[k], (int, float)) and not isinstance(c[k], bool)]
    texts = [(c, k) for c, k in spots if isinstance(c[k], str)]
    kind = r.randrange(7)
    if kind <= 1 and numbers:
        container, key = r.choice(numbers)
        container[key] = r.choice(NUMBERS) if kind == 0 else container[key] + r.choice([-1, 1, 2, 64])
    elif kind == 2 and texts:
        container, key = r.choice(texts)
        container[key] = r.choice(strings)
    elif kind == 3:
        container, key = r.choice(spots)
        del container[key]
    elif kind == 4:
        (a, i), (b, k) = r.choice(spots), r.choice(spots)
        a[i], b[k] = json.loads(json.dumps(b[k])), json.loads(json.dumps(a[i]))
    elif kind == 5:
        lists = [c[k] for c, k in spots if isinstance(c[k], list) and c[k]]
        chosen = r.choice(lists)
        r.choice([lambda: chosen.append(json.loads(json.dumps(r.choice(chosen)))), lambda: r.shuffle(chosen),
                  lambda: chosen.extend(chosen[:1] * 70), chosen.clear])()
    else:
        container, key = r.choice(spots)
        container[key] = "@deep@"


def edit_json(blob, r):
    entries = entries_of(blob)
    names = [i for i, (n, _) in enumerate(entries) if n.endswith(".json")]
    model = [i for i in names if "/models/" in entries[i][0]]
    at = r.choice(model) if model and r.random() < 0.8 else r.choice(names)
    name, data = entries[at]
    tree = json.loads(data)
    strings = [c[k] for c, k in places(tree) if isinstance(c[k], str)] + ["", "\0", "é", "x" * 5000, "\ud800"]
    for _ in range(r.choice([1, 1, 1, 2, 5])):
        if places(tree):
            try:
                edit_once(tree, r, strings)
            except (IndexError, ValueError, TypeError):
                pass
    text = json.dumps(tree)
    if "@deep@" in text:
        text = text.replace('"@deep@"', deep(r), 1)
    if r.random() < 0.05:
        text = re.sub(r'[{}\[\],:"]', lambda m: "" if r.random() < 0.0005 else m.group(), text)
    entries[at] = (name, text.encode("utf-8", "surrogatepass"))
    return archive_of(entries)


MUTATIONS = [(flip_bits, 2), (truncate, 1), (overwrite, 1), (swap_entries, 1), (spoil_entries, 1), (edit_json, 6)]


def run(program, path, arguments):
    """Returns (status, complaint or None) of one run."""
    out = path + ".tosa"
    command = [program, path] if arguments.reader else [program, "lower", path, "-o", out]
    try:
        p = subprocess.run(command, capture_output=True, timeout=arguments.limit)
    except subprocess.TimeoutExpired:
        return None, f"no end after {arguments.limit} s"
    left = os.path.exists(out)
    if left:
        os.remove(out)
    said = (p.stdout + p.stderr).decode(errors="replace").strip()
    if p.returncode < 0 or p.returncode > 3:
        return p.returncode, f"exit status {p.returncode}: {said[-2000:]}"
    if p.returncode and not said:
        return p.returncode, "refused without a word"
    if p.returncode and left:
        return p.returncode, "left an output file"
    return p.returncode, None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("files", nargs="+")
    p.add_argument("--count", type=int, default=200)
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    p.add_argument("--limit", type=float, default=20)
    p.add_argument("--keep", default="fuzz_failures")
    p.add_argument("--reader", action="store_true")
    a = p.parse_args()
    print(f"seed {a.seed}")
    warnings.simplefilter("ignore")  # two entries of one name are intended
    statuses, failures = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(a.count):
            r = random.Random(a.seed * 1000003 + i)  # so that a case can be reproduced without the others
            source = r.choice(a.files)
            mutate = r.choices(*zip(*MUTATIONS))[0]
            with open(source, "rb") as f:
                blob = mutate(f.read(), r)
            path = os.path.join(folder, "mutated.pt2")
            with open(path, "wb") as f:
                f.write(blob)
            status, complaint = run(a.program, path, a)
            statuses[status] += 1
            if complaint:
                failures += 1
                os.makedirs(a.keep, exist_ok=True)
                kept = os.path.join(a.keep, f"{a.seed}_{i}.pt2")
                shutil.copy(path, kept)
                print(f"{kept} ({mutate.__name__} of {source}): {complaint}")
    print(f"{a.count} files, exit statuses {dict(statuses)}, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
