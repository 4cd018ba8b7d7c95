#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks `show --support`, and that the page of operator support agrees with its output.

    support.py PROGRAM [--write]      --write: writes the page's table
"""
import difflib
import pathlib
import re
import sys

from calls import USAGE, call, expect, report

PAGE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "docs" / "support.md"


def row(table, op):
    """Returns the cells of an op by the table's header."""
    header = table.splitlines()[0]
    at = [m.start() for m in re.finditer(r"\S+", header)]
    (line,) = [line for line in table.splitlines() if line.startswith(op + " ")]
    cells = [line[begin:end].strip() for begin, end in zip(at, at[1:] + [None])]
    return dict(zip(header.split(), cells))


def check_table(table):
    add = row(table, "aten.add.Tensor")
    expect(add["float32"] == "0-6" and add["int32"] == "0-6" and add["quantized"].startswith("0-6"), f"add: {add}")
    conv = row(table, "aten.conv2d.default")
    expect(conv["float32"].startswith("4") and conv["quantized"].startswith("4") and conv["bool"] == "", f"conv2d: {conv}")
    pool = row(table, "aten.max_pool2d_with_indices.default")
    expect(pool["float32"] == "4 *", f"a pooling whose indices are refused: {pool}")
    lowered = sum(re.search(r"\d", line[len(line.split()[0]):]) is not None for line in table.splitlines()[1:])
    expect(lowered > 350, f"only {lowered} ops are lowered for some elements")


def main(program, write):
    table = call(program, "show", "--support").stdout
    check_table(table)
    text = PAGE.read_text()
    wanted = re.sub(r"```text\n.*?```", lambda _: f"```text\n{table}```", text, flags=re.S)
    if write:
        PAGE.write_text(wanted)
    elif text != wanted:
        expect(False, "the page of operator support is stale (--write): " +
               "\n".join(list(difflib.unified_diff(text.splitlines(), wanted.splitlines(), lineterm="", n=0))[:20]))
    told = call(program, "show", "--support", "--op", "aten.cumsum.default", "--target", "INT").stdout
    expect("float32" in told and "refused" in told, f"INT takes floats: {told}")
    call(program, "show", "--support", "--op", "aten.cumsun.default", status=USAGE, says="did you mean aten.cumsum.default?")
    call(program, "show", "--support", "--pipeline", status=USAGE)
    call(program, "show", "--target", "INT", status=USAGE)
    return report()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--write" in sys.argv))
