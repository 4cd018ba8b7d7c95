#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks programs that write buffers back, reproducers, and ops that no dialect knows, on the command line.

    states.py PROGRAM
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from calls import UNSUPPORTED, USAGE, call, expect, report

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
BUFFERS = FIXTURES / "buffer_update" / "model.pt2"
# Exports that were not decomposed write to a buffer in place, here through a view.
IN_PLACE = """headrace 1
%x: float32[2] = input
%n: float32[2] = constant [1.0, 2.0]
%row: float32[2] = aten.view.default(%n, size=[2])
%add_: float32[2] = aten.add_.Tensor(%row, %x)
%y: float32[2] = aten.mul.Tensor(%add_, %x)
output y=%y
"""


def run(program, model, *inputs, outputs, folder):
    """Returns the model's results for some arrays."""
    files = [folder / f"in{i}.npy" for i, _ in enumerate(inputs)]
    for file, array in zip(files, inputs):
        np.save(file, np.asarray(array, np.float32))
    given = [folder / f"out{i}.npy" for i in range(outputs)]
    call(program, "run", model, "--in", *files, "--out", *given)
    return [np.load(f).tolist() for f in given]


def check_io(program, folder):
    call(program, "lower", BUFFERS, "-o", folder / "x.tosa", status=UNSUPPORTED, says="--state io")
    call(program, "lower", BUFFERS, "-o", folder / "x.tosa", "--state", "io", "--io", folder / "x.json", "--verify")
    io = json.loads((folder / "x.json").read_text())
    states = [[t.get("state") for t in io[side]] for side in ("inputs", "outputs")]
    expect(states == [[None, "count"], [None, "count"]], f"the description has the states {states}")
    # The new state is passed as the old one.
    state = [0, 0]
    for step in range(1, 4):
        result, state = run(program, folder / "x.tosa", [1, 2], state, outputs=2, folder=folder)
        expect(state == [step, 2 * step] and result == [2 * step, 4 * step], f"step {step}: {result}, state {state}")
    (folder / "y.hr").write_text(IN_PLACE)
    call(program, "lower", folder / "y.hr", "-o", folder / "y.tosa", status=UNSUPPORTED,
         says="add_ (aten.add_.Tensor): it writes to the buffer n in place")
    # Detaching a view of a buffer in place does not change the buffer.
    (folder / "z.hr").write_text(IN_PLACE.replace("aten.add_.Tensor(%row, %x)", "aten.detach_.default(%row)"))
    call(program, "lower", folder / "z.hr", "-o", folder / "z.tosa")
    call(program, "lower", folder / "y.hr", "-o", folder / "y.tosa", "--state", "io", "--io", folder / "y.json")
    got = run(program, folder / "y.tosa", [10, 20], [1, 2], outputs=2, folder=folder)
    expect(got == [[110, 440], [11, 22]], f"a write in place: {got}")
    expect(json.loads((folder / "y.json").read_text())["outputs"][1]["name"] == "new_n", "the new state's name")


def check_variables(program, folder):
    target = ["--target", "TOSA-1.0+FP+var", "--state", "variable"]
    call(program, "lower", BUFFERS, "-o", folder / "x.tosa", "--state", "variable", status=UNSUPPORTED, says="+var")
    call(program, "lower", BUFFERS, "-o", folder / "x.tosa", "--io", folder / "x.json", *target)
    text = call(program, "show", folder / "x.tosa", "--full").stdout
    for op in ("tosa.VARIABLE(", "tosa.VARIABLE_READ(", "tosa.VARIABLE_WRITE("):
        expect(text.count(op) == 1, f"not one {op} in {text}")
    io = json.loads((folder / "x.json").read_text())
    expect(len(io["inputs"]) == len(io["outputs"]) == 1, f"inputs and outputs with variables: {io}")
    integers = IN_PLACE.replace("float32", "int32").replace("1.0, 2.0", "1, 2")
    (folder / "y.hr").write_text(integers)
    call(program, "lower", folder / "y.hr", "-o", folder / "y.tosa", "--target", "TOSA-1.0+FP+INT+var", "--state",
         "variable", status=UNSUPPORTED, says="--state io")
    check_reference_model(folder)


def check_reference_model(folder):
    """The reference model of TOSA accepts variables; their values do not outlive a run of it."""
    model = pathlib.Path(sys.prefix) / "bin" / "tosa_reference_model"
    if not model.exists():
        return
    np.save(folder / "in.npy", np.asarray([1, 2], np.float32))
    done = subprocess.run([model, "--test_desc", "-", "--version"], capture_output=True, text=True, timeout=60)
    names = json.loads((folder / "x.json").read_text())
    description = {"tosa_file": "x.tosa", "ifm_name": [names["inputs"][0]["name"]], "ifm_file": ["in.npy"],
                   "ofm_name": [names["outputs"][0]["name"]], "ofm_file": ["out.npy"], "variable_name": [],
                   "variable_file": [], "expected_failure": False}
    (folder / "desc.json").write_text(json.dumps(description))
    done = subprocess.run([model, "--test_desc", folder / "desc.json"], capture_output=True, text=True, timeout=60)
    made = folder / "out.npy"
    expect(done.returncode == 0 and made.exists() and np.load(made).tolist() == [2, 4],
           f"the reference model: {done.returncode} {(done.stdout + done.stderr)[:500]}")


def check_quantized(program, folder):
    """A state of a quantized model stays what the float model has, and its range is that of several executions."""
    samples, quantized, old, text = (folder / name for name in ("s.npy", "q.pt2", "old.hr", "y.hr"))
    np.save(samples, np.asarray([[1, 2], [0.5, 2.5], [1.5, 1.5], [1, 2]], np.float32))
    text.write_text(IN_PLACE)
    call(program, "opt", text, "--passes", "remove_dead_code", "-o", folder / "y.pt2")
    for model, first in ((BUFFERS, [0, 0]), (folder / "y.pt2", [1, 2])):
        call(program, "quantize", model, "--samples", samples, "-o", quantized)
        for options in ((), ("--core", "cortex-m4"), ("--delegate", "tosa")):
            call(program, "lower", quantized, "-o", folder / "q.pte", *options, "--verify")
            expected, got = (run(program, m, [1, 2], outputs=1, folder=folder)[0] for m in (model, folder / "q.pte"))
            expect(np.allclose(expected, got, atol=0.15), f"{model.name} {options}: {got}, not {expected}")
        io = ["--io", folder / "x.json"]
        states, files = {"float": first, "int8": first}, {"float": folder / "f.tosa", "int8": folder / "q.tosa"}
        call(program, "lower", model, "-o", files["float"], "--state", "io")
        call(program, "lower", quantized, "-o", files["int8"], "--state", "io", *io, "--verify")
        described = json.loads((folder / "x.json").read_text())
        expect(described["inputs"][1]["quantization"] == described["outputs"][1]["quantization"],
               "the old and the next value of a state have different scales")
        for step in range(3):
            results = {}
            for kind, file in files.items():
                given = [folder / "in0.npy", folder / "in1.npy"]
                np.save(given[0], np.asarray([1, 2], np.float32))
                np.save(given[1], np.asarray(states[kind], np.float32))
                made = [folder / "out0.npy", folder / "out1.npy"]
                call(program, "run", file, "--in", *given, "--out", *made, *(io if kind == "int8" else ()))
                results[kind], states[kind] = np.load(made[0]), np.load(made[1])
            begins_with = results["int8"] if step == 0 else begins_with
            expect(np.allclose(*results.values(), atol=0.15) and np.allclose(*states.values(), atol=0.1),
                   f"{model.name}, step {step}: {results}, states {states}")
        # A variable begins with the quantized first value.
        call(program, "lower", quantized, "-o", files["int8"], "--state", "variable", "--target", "TOSA-1.0+INT+var", *io)
        np.save(folder / "in0.npy", np.asarray([1, 2], np.float32))
        call(program, "run", files["int8"], "--in", folder / "in0.npy", "--out", folder / "out0.npy", *io)
        expect(np.array_equal(np.load(folder / "out0.npy"), begins_with), f"{model.name}: a variable begins with another value")
    # A buffer that was quantized as a constant cannot hold its next value.
    old.write_text("""headrace 1
user_outputs 1
writes buffer "n" from 1 tensor "n"
%x: float32[2] = input
%n: int8[2] = constant [1, 2]
%r: float32[2] = quantized_decomposed.dequantize_per_tensor.default(%n, scale=0.5, quant_min=-128, quant_max=127, dtype=int8)
%s: float32[2] = aten.add.Tensor(%r, %x)
output %s, %s
""")
    for options in (("-o", folder / "q.pte"), ("-o", folder / "q.tosa", "--state", "io")):
        call(program, "lower", old, *options, status=UNSUPPORTED,
             says="n: the buffer is int8[2] and its next value float32[2]")


def check_reproducers(program, folder):
    # A tangent differs in the last bit from sine over cosine: the comparison must notice.
    x, t, text, kept = (folder / name for name in ("x.npy", "t.npy", "x.hr", "kept.hr"))
    np.save(x, np.full(4, 123456789, np.float32))
    text.write_text("headrace 1\n%x: float32[4] = input\n%t: ? = aten.tan.default(%x)\noutput t=%t\n")
    call(program, "run", text, "--in", x, "--out", t)
    text.write_text("headrace 1\n%x: float32[4] = input\n%z: float32[4] = input\n%t: ? = aten.tan.default(%x)\n"
                    "%y: ? = aten.eq.Tensor(%t, %z)\noutput y=%y\n")
    inputs = ["--in", x, t]
    fault = "decompose_trigonometric changes the result"
    passes = ["--passes", "functionalize,decompose_trigonometric,fold_constants"]
    call(program, "opt", text, *passes, "--verify", *inputs, status=UNSUPPORTED, says="with --reproducer FILE.hr")
    call(program, "opt", text, *passes, "--verify", *inputs, "--reproducer", kept, status=UNSUPPORTED, says=fault)
    line = f"// RUN: --passes PASSES --verify --in {x} {t}\nheadrace 1\n"
    expect(kept.read_text().startswith(line.replace("PASSES", "decompose_trigonometric,fold_constants")) or
           kept.read_text().startswith(line.replace("PASSES", passes[1])), f"it begins with {kept.read_text()[:200]!r}")
    call(program, "opt", kept, status=UNSUPPORTED, says=fault)
    call(program, "opt", text, status=USAGE, says="--passes")
    kept.unlink()
    call(program, "lower", text, "-o", folder / "x.tosa", "--verify", *inputs, status=UNSUPPORTED, says="--reproducer FILE")
    call(program, "lower", text, "-o", folder / "x.tosa", "--verify", *inputs, "--reproducer", kept, status=UNSUPPORTED,
         says=f"`opt {kept}`")
    expect(re.match(r"// RUN: --passes \S*decompose_trigonometric,\S+ --verify --in \S+ \S+\nheadrace 1\ntarget",
                    kept.read_text()) is not None, f"the reproducer of `lower` begins with {kept.read_text()[:100]!r}")
    call(program, "opt", kept, status=UNSUPPORTED, says=fault)


def check_opaque(program, folder):
    text = folder / "x.hr"
    lines = ["headrace 1", "%x: float32[4] = input", "%v0: float32[4] = aten.relu.default(%x)"]
    lines += [f"%v{i + 1}: float32[4] = opaque aten.lgamma.default(self=%v{i}, out=[1, 2], k=\"a\\\"\")" for i in range(20)]
    lines += ["%y: float32[4] = aten.relu.default(%v20)", "output y=%y", ""]
    text.write_text("\n".join(lines))
    call(program, "show", text, "-o", folder / "y.hr")
    expect(text.read_text() == folder.joinpath("y.hr").read_text().replace("headrace 1\n\n", "headrace 1\n"),
           "the text of unknown ops is another when it was read")
    call(program, "show", text, says='aten.lgamma.default(self=%v0, out=[1, 2], k="a\\"")')
    done = call(program, "lower", text, "-o", folder / "x.tosa", status=UNSUPPORTED,
                says="v1, v2, v3 and 17 more (aten.lgamma.default): unknown op")
    expect(len(done.stderr.splitlines()) == 2, f"unknown ops are not told in a line: {done.stderr}")
    package = folder / "package"
    call(program, "lower", text, "-o", package, "--partition", says="17 more (aten.lgamma.default)")
    call(program, "show", package, "-o", folder / "z.hr")
    expect(folder.joinpath("z.hr").read_text().count('out=[1, 2], k="a\\""') == 20, "the package lacks arguments")
    call(program, "run", text, status=UNSUPPORTED, says="v1 (aten.lgamma.default): evaluation has no kernel")
    shutil.rmtree(package)
    # A .pt2 written from them has them.
    (folder / "o.hr").write_text("""headrace 1
%x: float32[2] = input
%y: float32[2] = opaque mine.blend.default(self=%x, others=[none, %x], sizes=[1, 2], mode="a")
output %y
""")
    call(program, "opt", folder / "o.hr", "--passes", "remove_dead_code", "-o", folder / "o.pt2")
    texts = [call(program, "show", folder / name).stdout for name in ("o.hr", "o.pt2")]
    expect(texts[0] == texts[1], f"not the same after a .pt2: {texts}")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        for check in (check_io, check_variables, check_quantized, check_reproducers, check_opaque):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            check(program, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
