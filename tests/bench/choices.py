#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the choices that passes make for an NPU against two estimates of cycles: Headrace's own and Vela's.

    choices.py PROGRAM [--vela VELA] [--npu ethos-u55-128 ...] [--jsonl FILE] MODEL.pt2 ...

Each quantized model is lowered for each NPU with all passes, and without one of those that choose between forms
of the same computation. Prints each choice that changes the program: how the predicted cycles change with it, and
how Vela's do. A choice is wrong if it costs more than 3 % by Vela, and a prediction if it ranks the two by the
wrong order where Vela's figures differ by more than that. Exit status 1 if there is either.
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOLERANCE = 0.03
PASSES = ROOT / "include" / "headrace" / "passes"
CHOICES = {name for header in [*(PASSES / "npu").glob("*.hpp"), PASSES / "layout" / "moving_ops.hpp",
                               PASSES / "u55" / "expand_moves.hpp"]
           for name in re.findall(r"^HEADRACE_COMPILED_PASS\((\w+)\)", header.read_text(), re.M)
           } - {"remove_noop_layout", "fuse_transposes", "fuse_reshapes", "expand_moves"}
TARGETS = {"ethos-u55": "TOSA-1.0+INT+int4+int16+u55", "ethos-u85": "TOSA-1.0+INT+int4+int16+u85"}


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()[-300:]}")
    return done.stdout


def predicted(program, npu, flatbuffer):
    return int(run(program, "show", flatbuffer, "--npu", npu).split("\n")[-2].split()[0])


def by_vela(vela, npu, flatbuffer):
    out = flatbuffer.with_suffix(".vela")
    run(vela, flatbuffer, "--accelerator-config", npu, "--output-format", "raw", "--output-dir", out)
    with open(next(out.glob("*_summary_*.csv"))) as f:
        return int(float(next(csv.DictReader(f))["cycles_total"]))


def choices_of(given, model, npu, folder):
    """Returns a row for each pass without which the program is another one."""
    report, whole, part = folder / "report.json", folder / "whole.tosa", folder / "part.tosa"
    target = TARGETS[npu.rsplit("-", 1)[0]]
    run(given.program, "lower", model, "-o", whole, "--target", target, "--report", report)
    told = json.loads(report.read_text())
    names = [p["name"] for p in told["passes"]]
    effective = {p["name"] for p in told["passes"] if p.get("rewrites", 1)}
    on = None
    rows = []
    for choice in sorted(CHOICES & effective):
        rest = [name for name in names if name != choice]
        run(given.program, "opt", model, "--target", told["target"], "--passes", ",".join(rest), "-o", part)
        if part.read_bytes() == whole.read_bytes():
            continue
        on = on or (predicted(given.program, npu, whole), by_vela(given.vela, npu, whole))
        try:
            off = predicted(given.program, npu, part), by_vela(given.vela, npu, part)
        except RuntimeError as error:
            print(f"{model.stem} {npu} without {choice}: {str(error)[-120:]}", file=sys.stderr)
            continue
        rows.append({"model": model.stem, "npu": npu, "choice": choice, "predicted": [off[0], on[0]], "vela": [off[1], on[1]]})
    return rows


def change(pair):
    return pair[1] / max(pair[0], 1) - 1


def verdict(row):
    mine, velas = change(row["predicted"]), change(row["vela"])
    return {"choice": velas > TOLERANCE,
            "prediction": abs(velas) > TOLERANCE and mine * velas < 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path, nargs="+")
    parser.add_argument("--vela", type=pathlib.Path, default=pathlib.Path(sys.executable).parent / "vela")
    parser.add_argument("--npu", nargs="*", default=["ethos-u55-128", "ethos-u85-256"])
    parser.add_argument("--jsonl", type=pathlib.Path, help="file to which each row is appended")
    given = parser.parse_args()
    wrong = {"choice": 0, "prediction": 0}
    tried = 0
    for model in given.models:
        for npu in given.npu:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    rows = choices_of(given, model, npu, pathlib.Path(folder))
                except RuntimeError as error:
                    print(f"{model.stem} {npu}: {error}", file=sys.stderr)
                    continue
            for row in rows:
                told = verdict(row)
                marks = "".join(f"  wrong {kind}" for kind, is_wrong in told.items() if is_wrong)
                print(f"{row['model']:28} {npu:14} {row['choice']:26} predicted {change(row['predicted']):+7.1%}"
                      f"  Vela {change(row['vela']):+7.1%}{marks}", flush=True)
                tried += 1
                for kind, is_wrong in told.items():
                    wrong[kind] += is_wrong
                if given.jsonl:
                    with open(given.jsonl, "a") as f:
                        f.write(json.dumps(row) + "\n")
    print(f"{tried} choices, {wrong['choice']} wrong, {wrong['prediction']} predicted wrongly")
    sys.exit(1 if sum(wrong.values()) else 0)


if __name__ == "__main__":
    main()
