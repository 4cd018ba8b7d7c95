#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that headers define nothing twice in a program of several units: an object that includes them must define
only what the linker merges, and its main function.

    defined_once.py NM OBJECT…
"""

import subprocess
import sys

STRONG = set("TDBRCGS")


def main(nm, *objects):
    done = subprocess.run([nm, "-g", "-C", "--defined-only", *objects], capture_output=True, text=True, check=True)
    faults = []
    for line in done.stdout.splitlines():
        parts = line.split(" ", 2)  # address, kind, name
        if len(parts) == 3 and parts[1] in STRONG and parts[2] != "main":
            faults.append(f"{parts[2]} is not inline: two units that include its header do not link")
    print("\n".join(faults) or f"{len(done.stdout.splitlines())} symbols, all but main are merged")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
