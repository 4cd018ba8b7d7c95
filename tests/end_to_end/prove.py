#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks `headrace prove`, and what other commands say of certificates.

    prove.py PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
KWS = ROOT / "examples" / "models" / "kws_dscnn_int8" / "model.pt2"
FLOAT = ROOT / "tests" / "fixtures" / "conv_bn_relu" / "model.pt2"
SUM = """headrace 1

%x: int32[2] = input
%y: int32[2] = input
%sum: int32[2] = tosa.ADD(%x, %y)
output %sum
"""


def check_certified(program, folder):
    out = folder / "certificate.json"
    call(program, "prove", KWS, "--json", out, says="certified: no integer overflows for any input")
    made = json.loads(out.read_text())
    expect(made["certified"] and not made["unproven"], f"{made}")
    expect({k["kind"] for k in made["kinds"]} >= {"accumulator", "scaled result"}, f"{made['kinds']}")
    flatbuffer = folder / "kws.tosa"
    done = call(program, "lower", KWS, "-o", flatbuffer, "--certify")
    expect("not certified" not in done.stderr, f"lower --certify warns: {done.stderr}")
    call(program, "prove", flatbuffer, says="certified: ")
    call(program, "prove", KWS, "--error", says="error of output 0: at most ")
    call(program, "prove", flatbuffer, "--error", status=UNSUPPORTED, says="as exported")
    call(program, "prove", FLOAT, says="certified: ")


def check_refuted(program, folder):
    text = folder / "sum.hr"
    text.write_text(SUM)
    inputs = folder / "inputs"
    # Not to be certified is a result, not an error: it is on standard output.
    done = subprocess.run([program, "prove", text, "--counterexample", inputs], capture_output=True, text=True,
                          timeout=300)
    expect(done.returncode == 1, f"prove: exit status {done.returncode}")
    expect("overflows: arithmetic result of sum" in done.stdout, f"prove says {done.stdout} {done.stderr}")
    files = sorted(p.name for p in inputs.iterdir()) if inputs.exists() else []
    expect(files == ["0_in0.npy", "0_in1.npy"], f"--counterexample writes {files}")
    if files:
        given = [option for f in files for option in ("--in", inputs / f)]
        call(program, "run", text, *given)


def check_ranges(program, folder):
    """The sum fits if the inputs are small, and if one is."""
    text = folder / "sum.hr"
    text.write_text(SUM)
    call(program, "prove", text, "--range", "x=-5:1000000", "--range", "y=0:1000000", says="certified: no integer overflows")
    call(program, "prove", text, "--range", "x=0:0", says="certified: no integer overflows")
    call(program, "prove", KWS, "--range", "x=-0.5:0.5", says="certified: no integer overflows")
    for wrong in ("x", "x=1", "x=2:1", "x=a:b", "x=0:inf"):
        call(program, "prove", KWS, "--range", wrong, status=USAGE, says="give NAME=LOWEST:HIGHEST")
    call(program, "prove", KWS, "--range", "z=0:1", status=UNSUPPORTED, says="the model has no input z")
    call(program, "prove", text, "--range", "x=0.2:0.3", status=UNSUPPORTED, says="no int32 of input x is in")


def check_usage(program, folder):
    call(program, "prove", status=USAGE)
    call(program, "prove", KWS, "--json", folder / "x.txt", status=USAGE)
    call(program, "prove", KWS, "--search", "-1", status=USAGE)
    call(program, "prove", folder / "missing.pt2", status=MALFORMED)
    call(program, "lower", KWS, "-o", folder / "x.pte", "--certify", status=USAGE, says="--certify")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        for check in (check_certified, check_refuted, check_ranges, check_usage):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            check(program, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
