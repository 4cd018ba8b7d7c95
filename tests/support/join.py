#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes one unit of several files of tests: compilers read headers and make templates once for all of them.

    join.py OUTPUT FILE…      each file in a namespace of its own, behind the includes of all
    join.py --plan FILE…      prints which files make a unit, a line for each, separated by commas

A file stays apart that adds to a namespace of a library, includes something under a condition, or has a macro. Units
have about 1,600 lines: more would take a compiler over a gigabyte.
"""

import os
import pathlib
import re
import sys

LINES = 1600
APART = re.compile(r"^(namespace (headrace|std|Catch)\b|(template <.*> *)?struct (headrace|std)::|#\s*(if|define|undef)|"
                   r"extern )", re.M)
# They bring a `program` into namespace headrace, where headrace/io/program.hpp has another.
WITH_PROGRAM = re.compile(r'#include ".*(pass_test|kernel_runs|npu_test|u55_test|quantized_test|functions)\.hpp"')
INCLUDE = re.compile(r'#include ([<"])([^>"]+)[>"](.*)')


def joined(files):
    """The text of the unit."""
    includes, bodies = {}, []
    for file in map(pathlib.Path, files):
        body = []
        for line in file.read_text().splitlines():
            include = INCLUDE.match(line)
            if include and include[1] == '"':
                line = f'#include "{os.path.normpath(file.parent / include[2])}"{include[3]}'
            if include:
                includes[line] = None
            body.append("" if include else line)
        name = re.sub(r"\W", "_", f"{file.parent.name}_{file.stem}")
        bodies.append(f'namespace test_of_{name} {{\n#line 1 "{file}"\n' + "\n".join(body) + "\n}\n")
    return "\n".join(["// Written by tests/support/join.py.", *includes, *bodies])


def plan(files):
    """Lists of the files of each unit."""
    texts = {file: pathlib.Path(file).read_text() for file in sorted(files)}
    units = [[file] for file, text in texts.items() if APART.search(text)]
    for with_program in (False, True):
        group = [f for f, text in texts.items()
                 if [f] not in units and bool(WITH_PROGRAM.search(text)) == with_program]
        total = sum(texts[f].count("\n") for f in group)
        most, lines, at = total / max(1, round(total / LINES)), 0, -1
        for file in group:
            if lines // most != at:  # the unit that its first line falls into
                at = lines // most
                units.append([])
            units[-1].append(file)
            lines += texts[file].count("\n")
    return units


def main(arguments):
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    if arguments[0] == "--plan":
        print("\n".join(",".join(unit) for unit in plan(arguments[1:])))
        return
    pathlib.Path(arguments[0]).write_text(joined(arguments[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
