#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `headrace` with Arm's real compiler Vela: `lower --cost`, and delegates for Ethos-U.

    vela.py PROGRAM     exit status 77 if this Python has no ethos-u-vela
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

from calls import UNSUPPORTED, USAGE, call, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "models" / "kws_dscnn_int8" / "model.pt2"


def load_constants(archive):
    """Returns the number of bytes of constants in what Vela has written."""
    return numpy.load(archive)["weight_data"].dtype.itemsize


def check_cost(program, vela, folder):
    version = subprocess.run([vela, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    flatbuffer, told = folder / "kws.tosa", folder / "report.json"
    for accelerator in ("ethos-u55-128", "ethos-u85-256"):
        done = call(program, "lower", MODEL, "-o", flatbuffer, "--cost", accelerator, "--vela", vela, "--report", told)
        cost = json.loads(told.read_text())["cost"]
        out = folder / accelerator
        subprocess.run([vela, flatbuffer, "--accelerator-config", accelerator, "--output-dir", out, "--output-format",
                        "raw", "--verbose-performance"], check=True, capture_output=True)
        with open(next(out.glob("*_summary_*.csv"))) as f:
            expected = next(csv.DictReader(f))
        with open(out / "kws_per-layer.csv") as f:
            layers = list(csv.DictReader(f))
        expect(cost["cycles"] == int(float(expected["cycles_total"])), f"{accelerator}: {cost['cycles']} cycles")
        expect(abs(cost["sram_kib"] - float(expected["sram_memory_used"])) < 1e-6, f"{accelerator}: SRAM")
        constants = load_constants(out / "kws_vela.npz")
        expect(cost["flash_kib"] == constants / 1024 > 20, f"{accelerator}: {cost['flash_kib']} KiB of constants")
        expect(cost["constants_in"] == expected["weights_storage_area"], f"{accelerator}: {cost['constants_in']}")
        expect(cost["vela"] == version, f"{accelerator}: by Vela {cost['vela']}")
        expect([x["name"] for x in cost["layers"]] == [x["Name"] for x in layers], f"{accelerator}: other layers")
        expect(sum(o["cycles"] for o in cost["operators"]) == sum(int(float(x["Op Cycles"])) for x in layers),
               f"{accelerator}: the operators have other cycles than the layers")
        expect(cost["on_cpu"] == 0, f"{accelerator}: {cost['on_cpu']} operators on the CPU")
        expect(f"{accelerator}: {cost['cycles']} cycles by Vela {version}, " in done.stderr, f"{accelerator}: {done.stderr}")
        expect("note:" not in done.stderr, f"{accelerator}: {done.stderr}")
        call(program, "lower", MODEL, "-o", flatbuffer, "--cost", accelerator, "--vela", vela, "--target", "INT",
             says="note: --target does not name the NPU")
    page = folder / "page.html"
    call(program, "lower", MODEL, "-o", flatbuffer, "--cost", "ethos-u55-128", "--vela", vela, "--report", page)
    expect("Op Cycles" in page.read_text(), "the page has no cycles")
    expect(f'"vela_version":"{version}"' in page.read_text(), "the page does not say which Vela")
    # Nothing is written if Vela fails.
    none = folder / "none.tosa"
    call(program, "lower", MODEL, "-o", none, "--cost", "ethos-u55-128", "--vela", folder / "no", status=UNSUPPORTED,
         says="cannot run Vela")
    expect(not none.exists(), "there is no cost, but a file")
    call(program, "lower", MODEL, "-o", none, "--cost", "ethos-u55", status=USAGE)
    call(program, "lower", MODEL, "-o", folder / "x.pte", "--cost", "ethos-u55-128", status=USAGE, says=".tosa")
    call(program, "lower", MODEL, "-o", none, "--vela", vela, status=USAGE, says="--cost")


def check_delegates(program, vela, folder):
    """The real compiler takes the delegated parts, and its blob is where the runtime looks for it."""
    for accelerator in ("ethos-u55-128", "ethos-u85-256"):
        file, told = folder / "npu.pte", folder / "report.json"
        call(program, "lower", MODEL, "-o", file, "--delegate", accelerator, "--vela", vela, "--report", told)
        method = json.loads(told.read_text())["methods"]["forward"]
        expect({d["backend"] for d in method["delegates"]} == {"EthosUBackend"}, f"{accelerator}: {method}")
        expect(method["vela"].startswith("5."), f"{accelerator}: by Vela {method['vela']}")
        content = file.read_bytes()
        expect(content.count(b"vela_bin_stream") == len(method["delegates"]), f"{accelerator}: other blobs")
        expect(b"COP1" in content, f"{accelerator}: no commands of an NPU")


def main():
    program = sys.argv[1]
    vela = pathlib.Path(sys.executable).parent / "vela"
    if not vela.exists():
        print("ethos-u-vela is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check_cost(program, vela, pathlib.Path(folder))
        check_delegates(program, vela, pathlib.Path(folder))
    return report()


if __name__ == "__main__":
    sys.exit(main())
