#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every pass of include/headrace/passes is named by a test, not only included.

    pass_tests.py           prints the passes that no test names; exit status 1 if there are any
    pass_tests.py --list    prints each pass and the tests that name it
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSES = ROOT / "include" / "headrace" / "passes"
TESTS = ROOT / "tests" / "passes"
# A struct whose bases, maybe after others, name headrace::pass, or passes that it widens.
PASS = re.compile(r"^\s*struct\s+(\w+)\s*(?:final\s*)?:(?!:)([^;{]*)\{", re.M)
BASE = re.compile(r"(?<![\w:])(?:headrace::)?(?:pass|extends\s*<[^{;]*>)(?!\w|::)")
NOT_CODE = re.compile(r"//.*|^\s*#\s*include.*", re.M)


def code_of(path):
    return NOT_CODE.sub("", path.read_text(encoding="utf-8"))


def passes():
    """Names of all passes, with the header of each."""
    for header in sorted(PASSES.rglob("*.hpp")):
        for name, bases in PASS.findall(code_of(header)):
            if BASE.search(bases):
                yield name, header.relative_to(ROOT)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    words = {test: set(re.findall(r"\w+", code_of(test))) for test in sorted(TESTS.rglob("*.cpp"))}
    missing = count = 0
    for name, header in passes():
        count += 1
        tests = [str(test.relative_to(TESTS)) for test, names in words.items() if name in names]
        if options.list:
            print(f"{name}: {', '.join(tests)}")
        if not tests:
            missing += 1
            print(f"{header}: no test under tests/passes names {name}")
    if count == 0:
        sys.exit(f"no pass found in {PASSES}")
    print(f"{count} passes, {missing} without a test")
    sys.exit(missing != 0)


if __name__ == "__main__":
    main()
