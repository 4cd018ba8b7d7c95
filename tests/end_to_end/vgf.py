#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `lower -o model.vgf` and `--delegate vgf` with Arm's real converter.

    vgf.py PROGRAM     exit status 77 if there is no model-converter in this Python or the path
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from calls import UNSUPPORTED, USAGE, call, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
FIXTURES = ("conv_bn_relu", "depthwise_residual", "attention")
KWS = ROOT / "examples" / "models" / "kws_dscnn_int8" / "model.pt2"
MAGIC = b"VGF1"


def find_converter():
    beside = pathlib.Path(sys.executable).parent / "model-converter"
    return str(beside) if beside.exists() else shutil.which("model-converter")


def check_without(program, folder):
    """Nothing is written if there is no converter; the message says what is missing."""
    out, io = folder / "none.vgf", folder / "none.json"
    call(program, "lower", KWS, "-o", out, "--io", io, "--model-converter", folder / "no", status=UNSUPPORTED,
         says="pip install ai-ml-sdk-model-converter")
    call(program, "lower", KWS, "-o", folder / "none.pte", "--delegate", "vgf", "--model-converter", folder / "no",
         status=UNSUPPORTED, says="cannot run Arm's model-converter")
    call(program, "lower", KWS, "-o", out, "--model-converter", "/bin/true", status=UNSUPPORTED,
         says="is it Arm's model-converter?")
    call(program, "lower", KWS, "-o", out, "--model-converter", "/bin/false", status=UNSUPPORTED, says="status 1")
    expect(not any(folder.iterdir()), f"there is no converter, but {list(folder.iterdir())}")
    call(program, "lower", KWS, "-o", folder / "x.tosa", "--model-converter", "x", status=USAGE, says="--delegate vgf")
    call(program, "lower", KWS, "-o", folder / "x.pte", "--model-converter", "x", status=USAGE, says="--delegate vgf")
    call(program, "lower", KWS, "-o", out, "--partition", status=USAGE, says=".pte")


def check_conversion(program, converter, folder):
    for model in (KWS, *(ROOT / "tests" / "fixtures" / name / "model.pt2" for name in FIXTURES)):
        vgf, flatbuffer, direct = folder / "m.vgf", folder / "m.tosa", folder / "direct.vgf"
        call(program, "lower", model, "-o", vgf, "--model-converter", converter)
        call(program, "lower", model, "-o", flatbuffer)
        subprocess.run([converter, "--input", flatbuffer, "--output", direct], check=True, capture_output=True)
        expect(vgf.read_bytes() == direct.read_bytes(), f"{model.parent.name}: not what the converter makes")
        expect(vgf.read_bytes()[:4] == MAGIC, f"{model.parent.name}: it begins with {vgf.read_bytes()[:8]}")
        pte = folder / "m.pte"
        call(program, "lower", model, "-o", pte, "--delegate", "vgf", "--model-converter", converter)
        expect(b"VgfBackend" in pte.read_bytes(), f"{model.parent.name}: the .pte file does not name the backend")
        expect(MAGIC in pte.read_bytes(), f"{model.parent.name}: the .pte file has no VGF")
        call(program, "show", pte, says="VgfBackend")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        check_without(program, pathlib.Path(name))
    converter = find_converter()
    if converter is None:
        if report():
            return 1
        print("skipped: no model-converter (pip install ai-ml-sdk-model-converter)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        check_conversion(program, converter, pathlib.Path(name))
    return report()


if __name__ == "__main__":
    sys.exit(main())
