#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the program's cost per node, in networks of 1,000 to 100,000 nodes of four kinds.

    scale.py PROGRAM [--sizes 1000,10000,100000] [--passes 3] [--kinds chain,…]

One row for each network and command: processor time per node, the same without the time for an empty model,
memory per node beyond that of an empty model, and the ratio of each to the first size. Times are medians of
several runs. Rows of `lower` also list the stages and the passes with the largest shares. `lower --partition`
gets chains in which every third node is unsupported, `lower --batch` a folder of four models.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import networks


def run(command):
    """Returns seconds of processor time, and the peak of resident memory in KB."""
    # The program explains each node that stays on the host.
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # The memory that wait4 reports includes that of this interpreter, from which the process was forked.
    peak, ended = 0, 0
    while not ended:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            peak = max([peak, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))])
        except OSError:
            pass
        time.sleep(0.001)
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return used.ru_utime + used.ru_stime, peak


def save(kind, nodes, path, **options):
    net, result = networks.KINDS[kind](nodes, **options)
    net.save(result, path)
    return len(net.nodes)


def shares(report, passes):
    """Returns the stages, and the passes that took most, as shares of the total."""
    whole = sum(report["ms"].values()) or 1
    rows = [*report["ms"].items()]
    most = sorted(report["passes"], key=lambda p: -p.get("ms", 0))[:passes]
    rows += [(p["name"], p.get("ms", 0)) for p in most]
    return ", ".join(f"{name} {100 * ms / whole:.0f}%" for name, ms in rows)


def measured(command, nodes):
    """Returns the median of the processor times and the largest peak; small networks are run more often."""
    runs = [run(command) for _ in range(min(25, max(3, 25000 // nodes)))]
    return statistics.median(seconds for seconds, _ in runs), max(peak for _, peak in runs)


class Table:
    def __init__(self, program, folder, passes):
        self.program, self.folder, self.passes = program, folder, passes
        self.first = {}
        save("chain", 1, folder / "empty.pt2")
        self.empty = measured([program, "lower", folder / "empty.pt2", "-o", folder / "out.tosa"], 1)
        print(f"{'command':17} {'network':9} {'nodes':>6} {'us/node':>8} {'ratio':>5} {'no start':>8} {'ratio':>5} "
              f"{'KB/node':>7} {'ratio':>5}  shares")

    def row(self, command, kind, nodes, used, text=""):
        seconds, peak = used
        cost = [1e6 * seconds / nodes, 1e6 * (seconds - self.empty[0]) / nodes, (peak - self.empty[1]) / nodes]
        first = self.first.setdefault((command, kind), cost)
        cells = " ".join(f"{each:{width}.2f} {each / at_first:5.2f}"
                         for each, at_first, width in zip(cost, first, (8, 8, 7)))
        print(f"{command:17} {kind:9} {nodes:6} {cells}  {text}", flush=True)

    def lower(self, kind, size):
        model, report = self.folder / "model.pt2", self.folder / "report.json"
        nodes = save(kind, size, model)
        command = [self.program, "lower", model, "-o", self.folder / "out.tosa"]
        used = measured(command, nodes)
        run([*command, "--report", report])
        self.row("lower", kind, nodes, used, shares(json.loads(report.read_text()), self.passes))

    def partition(self, size):
        model = self.folder / "model.pt2"
        nodes = save("chain", size, model, unsupported=True)
        self.row("lower --partition", "chain", nodes,
                 measured([self.program, "lower", model, "--partition", "-o", self.folder / "out.package"], nodes))

    def batch(self, kind, size):
        models = self.folder / "models"
        models.mkdir(exist_ok=True)
        nodes = sum(save(kind, size // 4, models / f"{k}.pt2") for k in range(4))
        self.row("lower --batch", kind, nodes,
                 measured([self.program, "lower", "--batch", models, "-o", self.folder / "lowered"], nodes))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--kinds", default=",".join(networks.KINDS))
    parser.add_argument("--passes", type=int, default=3, help="how many passes are named")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        table = Table(given.program.resolve(), pathlib.Path(folder), given.passes)
        for kind in given.kinds.split(","):
            for size in sizes:
                table.lower(kind, size)
            for size in sizes:
                table.batch(kind, size)
        for size in sizes:
            table.partition(size)


if __name__ == "__main__":
    main()
