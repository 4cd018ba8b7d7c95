#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what a process of the program costs: its start, and lowering a small model.

    start_time.py PROGRAM MODEL.pt2 [--floor FLOOR] [--against OTHER_PROGRAM] [--runs 200]

FLOOR is build/tests/headrace_bench_floor, which only reads the archive, parses the model and copies the weights.
The commands take turns, so that all of them meet the same load of the machine. Figures are milliseconds of processor
time, user and system together, and of wall time: the smallest and the median.
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time


def run(command, discard):
    """Returns seconds of processor time and of wall time."""
    actions = [(os.POSIX_SPAWN_DUP2, discard, 1), (os.POSIX_SPAWN_DUP2, discard, 2)]
    began = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - began
    if status != 0:
        sys.exit(f"{' '.join(command)}: exit status {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, wall


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("program", type=pathlib.Path)
    options.add_argument("model", type=pathlib.Path)
    options.add_argument("--floor", type=pathlib.Path)
    options.add_argument("--against", type=pathlib.Path)
    options.add_argument("--runs", type=int, default=200)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model, out = str(given.model), f"{folder}/out"
        commands = {"/bin/true": ["/bin/true"]}
        for label, program in (("", given.program), ("other: ", given.against)):
            if program is None:
                continue
            commands[f"{label}--version"] = [str(program), "--version"]
            commands[f"{label}--help"] = [str(program), "--help"]
            commands[f"{label}lower"] = [str(program), "lower", model, "-o", out]
        if given.floor is not None:
            commands["floor"] = [str(given.floor), model, out]
        used = {name: [] for name in commands}
        discard = os.open(os.devnull, os.O_WRONLY)
        for _ in range(given.runs):
            for name, command in commands.items():
                used[name].append(run(command, discard))
    print(f"{'':<20} {'processor':>9} {'median':>7} {'wall':>7} {'median':>7}")
    for name, runs in used.items():
        figures = [1000 * take(times) for times in zip(*runs) for take in (min, statistics.median)]
        print(f"{name:<20} {figures[0]:9.2f} {figures[1]:7.2f} {figures[2]:7.2f} {figures[3]:7.2f}")


if __name__ == "__main__":
    main()
