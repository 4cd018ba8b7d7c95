#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes one unit of several files of tests: compilers read headers and make templates once for all of them.

    join.py OUTPUT FILE…      each file in a namespace of its own, behind the includes of all
    join.py --apart FILE…     prints those that must be compiled alone, separated by semicolons

A file stays apart that reopens a namespace of a library, includes something under a condition, or has a macro.
"""

import os
import pathlib
import re
import sys

APART = re.compile(r"^(namespace (headrace|std|Catch)\b|template <.*> *struct (headrace|std)::|#\s*(if|define|undef)|extern )",
                   re.M)
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


def main(arguments):
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    if arguments[0] == "--apart":
        print(";".join(file for file in arguments[1:] if APART.search(pathlib.Path(file).read_text())), end="")
        return
    pathlib.Path(arguments[0]).write_text(joined(arguments[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
