#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the code in README.md is that of examples/readme.cpp, which is compiled, and that the line
marked as not compiling fails with the message shown.

    readme.py [COMPILER]      --write puts the code into README.md
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "readme.cpp"
README = ROOT / "README.md"
MARK = "// [readme]\n"
FENCE = re.compile(r"```cpp\n(.*?)```", re.S)
MOST_LINES = 25


def check_message(code, compiler):
    """Returns what is wrong with the line that must not compile; empty if nothing is."""
    bad = re.search(r"// ❌ (.*)\n// error: (.*)", code)
    if not bad:
        return "examples/readme.cpp: no line that must not compile"
    text = EXAMPLE.read_text().replace(MARK, "", 1).split(MARK)[0] + f"struct wrong : {bad[1]} {{}};\n"
    done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", ROOT / "include", "-x", "c++", "-"],
                          input=text, capture_output=True, text=True)
    if done.returncode == 0:
        return f"compiles: {bad[1]}"
    said = re.sub(r"\s*>", ">", done.stderr)
    missing = [part.strip() for part in bad[2].split("…") if part.strip() not in said]
    return f"the compiler does not say {missing}" if missing else ""


def main(arguments):
    code = EXAMPLE.read_text().split(MARK)[1]
    text = README.read_text()
    if "--write" in arguments:
        README.write_text(FENCE.sub(lambda _: f"```cpp\n{code}```", text, count=1))
        return 0
    faults = []
    shown = FENCE.search(text)
    if not shown or shown[1] != code:
        faults.append("README.md: its code is not that of examples/readme.cpp; run tests/checks/readme.py --write")
    if code.count("\n") > MOST_LINES:
        faults.append(f"examples/readme.cpp: more than {MOST_LINES} lines between the marks")
    faults.append(check_message(code, arguments[0] if arguments else "g++"))
    print("\n".join(fault for fault in faults if fault) or "README.md is current")
    return 1 if any(faults) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
