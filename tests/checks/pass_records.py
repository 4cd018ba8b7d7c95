#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the tests' records of the passes of the standard pipeline, which test executables write as they run.

    pass_records.py drivers RECORDS...      each pass has rewritten something in a test that compares results, in
                                            both drivers, unless it is a pass over the whole graph
    pass_records.py emissions RECORDS...    each op that a pass declares for its code was emitted by it
    --table                                 prints a line for each pass, not only for those with a fault

Exit status 1 if anything is missing. A record is a line:

    runs PASS DRIVERS...      the pass is part of the standard pipeline
    sum PASSES OPS            the number of passes, and of the ops that they declare in all
    extends PASS PASS         the first consists of the second and others, and emits their ops
    declares PASS OP
    emitted PASS OP
    rewrote PASS DRIVER
"""

import argparse
import collections
import pathlib
import sys


# Passes whose tests do not compare results of one graph before and after, and how these work instead.
TESTED_OTHERWISE = {
    "functionalize": "compares with a program that writes nothing in place",
    "inline_regions": "compares with the program that has no region",
    "lay_out_interface": "permutes the inputs and outputs that it compares",
    "lower_quantized_control_flow": "runs as a part of lower_quantized",
    "merge_equal_constants": "counts constants",
    "quantize_interface": "gives integers where the program took floats",
    "remove_dead_code": "counts nodes",
    "require_integer_kernels": "rewrites nothing: it refuses",
}


class Records:
    def __init__(self, files):
        self.lists = collections.defaultdict(lambda: collections.defaultdict(set))
        self.sum = None
        for file in files:
            for line in file.read_text(encoding="utf-8").splitlines():
                kind, name, *rest = line.split(" ")
                if kind == "sum":
                    self.sum = int(name), int(rest[0])
                self.lists[kind][name].update(rest)

    def of(self, kind, name):
        return self.lists[kind].get(name, set())

    def emitted(self, name):
        return self.of("emitted", name).union(*(self.emitted(part) for part in self.of("extends", name)))

    def passes(self):
        return sorted(self.lists["runs"])


def drivers(records, table):
    """Returns passes, with the drivers in which no test has seen them rewrite anything."""
    for name in records.passes():
        wanted, seen = records.of("runs", name), records.of("rewrote", name)
        if table:
            print(f"{name}: {' '.join(sorted(seen)) or 'nothing'}")
        if not wanted <= seen and name not in TESTED_OTHERWISE:
            yield f"{name}: no test demands that it rewrites something: {', '.join(sorted(wanted - seen))}"


def emissions(records, table):
    """Returns passes, with the ops that they declare but never emit."""
    declared = emitted = 0
    for name in records.passes():
        ops = records.of("declares", name)
        missing = ops - records.emitted(name)
        declared, emitted = declared + len(ops), emitted + len(ops - missing)
        if table and ops:
            print(f"{name}: {len(ops)} declared, {len(ops - missing)} emitted")
        if missing:
            yield f"{name}: declared, never emitted: {', '.join(sorted(missing))}"
    count, ops = records.sum
    print(f"{declared} declared, {emitted} emitted, {declared - emitted} never; {count} passes declare {ops} in all")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("check", choices=["drivers", "emissions"])
    parser.add_argument("records", nargs="+", type=pathlib.Path)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    records = Records(options.records)
    if not records.passes() or records.sum is None:
        sys.exit("no test has recorded the passes of the standard pipeline")
    check = drivers if options.check == "drivers" else emissions
    faults = list(check(records, options.table))
    print("\n".join(faults + [f"{len(records.passes())} passes, {len(faults)} with a fault"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
