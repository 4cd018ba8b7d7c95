#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks which shared libraries the program loads: each delays every start of it, and libcrypto by 1 ms.

    shared_libraries.py READELF PROGRAM
"""
import re
import subprocess
import sys

EXPECTED = {"libsimdjson", "libfmt", "libdeflate", "libstdc++", "libm", "libgcc_s", "libc"}


def main():
    readelf, program = sys.argv[1:]
    said = subprocess.run([readelf, "--dynamic", "--wide", program], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[([^]]+?)\.so", said))
    other = sorted(name for name in needed if not name.startswith("ld-linux") and name not in EXPECTED)
    for name in other:
        print(f"{program} loads {name}: is it worth that? If so, add it here")
    print(f"{len(needed)} shared libraries, {len(other)} unexpected")
    return 1 if other or not needed else 0


if __name__ == "__main__":
    sys.exit(main())
