#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks exports with numbers computed at run time, masks, Python numbers among the outputs, dead nodes and
writes to inputs: the program shows all of them, executes and lowers those that it can, and says what the
others need.

    reading.py PROGRAM
"""
import pathlib
import sys
import tempfile

import numpy as np
from calls import UNSUPPORTED, call, expect, report

READING = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "reading"
# The notes and warnings for programs that are executed.
SOUND = {"indexed_by_tensors": "", "indexed_from_the_end": "", "indexed_range": "", "masked": "", "repeated": "",
         "python_outputs": "output 0 is the number 3, not a tensor; it is left out", "dead": "", "keywords": "",
         "rounded_ties": ""}
FLOAT64 = {"keywords"}  # which TOSA lacks
REFUSED = {"masked_by_input": "index (aten.index.Tensor): 'index': it depends on the size 'u0'",
           "written_selection": "select (aten.select.int): it is written in place where an element of a tensor says"}
WRITES_INPUT = "warning: {}: the program writes its input x in place"


def variants(name):
    return [f for f in (READING / name, READING / (name + "_decomposed")) if f.exists()]


def files(case, what):
    return sorted(case.glob(what + "*.npy"), key=lambda f: int(f.stem[len(what):]))


def agrees(case, got):
    wanted = [np.load(f) for f in files(case, "out")]
    arrays = [np.load(f) for f in got]
    expect(len(wanted) == len(arrays), f"{case.name}: {len(arrays)} outputs, not {len(wanted)}")
    for i, (a, w) in enumerate(zip(arrays, wanted)):
        expect(a.shape == w.shape and np.allclose(a, w, rtol=1e-5, atol=1e-5), f"{case.name}: output {i} is {a}, not {w}")
        expect(a.dtype == w.dtype or w.dtype == np.int64, f"{case.name}: output {i} is {a.dtype}, not {w.dtype}")


def executed(program, case, model, folder, *options, says=""):
    got = [folder / f"got{i}.npy" for i, _ in enumerate(files(case, "out"))]
    call(program, "run", model, *options, "--in", *files(case, "in"), "--out", *got, says=says)
    agrees(case, got)


def check_sound(program, folder):
    for name, note in SOUND.items():
        for case in variants(name):
            model = case / "model.pt2"
            call(program, "show", model, says=note)
            executed(program, case, model, folder, says=note)
            if name not in FLOAT64:
                call(program, "lower", model, "-o", folder / "m.tosa", "--io", folder / "m.json", "--verify", "--in",
                     *files(case, "in"), says=note)
                executed(program, case, folder / "m.tosa", folder, "--io", folder / "m.json")
            call(program, "lower", model, "-o", folder / "m.pte")
            executed(program, case, folder / "m.pte", folder)
            # The reader reads the written file as the same program.
            call(program, "opt", model, "--passes", "remove_noop", "-o", folder / "m.pt2")
            executed(program, case, folder / "m.pt2", folder)


def check_refused(program, folder):
    for name, reason in REFUSED.items():
        for case in variants(name):
            model = case / "model.pt2"
            call(program, "show", model)
            for command in (["run", model], ["lower", model, "-o", folder / "m.tosa"],
                            ["lower", model, "-o", folder / "m.pte"]):
                call(program, *command, status=UNSUPPORTED, says=reason)


def check_written(program, folder):
    for case in variants("writes_input") + variants("writes_buffer"):
        model, of_input = case / "model.pt2", case.name.startswith("writes_input")
        executed(program, case, model, folder)
        if of_input:
            call(program, "lower", model, "-o", folder / "m.tosa", "--verify", says=WRITES_INPUT.format(model))
            executed(program, case, folder / "m.tosa", folder)
        else:
            call(program, "lower", model, "-o", folder / "m.tosa", status=UNSUPPORTED, says="--state io")
        call(program, "lower", model, "-o", folder / "m.tosa", "--state", "io", "--verify")
        call(program, "lower", model, "-o", folder / "m.pte", says=WRITES_INPUT.format(model) if of_input else "")
        executed(program, case, folder / "m.pte", folder)
        call(program, "opt", model, "--passes", "remove_noop", "-o", folder / "m.pt2")
        executed(program, case, folder / "m.pt2", folder)


ARGMAX = """headrace 1
%x: float32[2, 3] = input
%i: int64[2] = aten.argmax.default(%x, dim=1)
output i=%i
"""
BRAIN = """headrace 1
%x: bfloat16[2] = input
%y: bfloat16[2] = aten.add.Tensor(%x, %x)
output y=%y
"""
TRAINED = """headrace 1
%x: float32[2] = input
%y: float32[2] = aten.dropout.default(%x, p=0.5, train=true)
output y=%y
"""


def check_types(program, folder):
    (folder / "i.hr").write_text(ARGMAX)
    call(program, "lower", folder / "i.hr", "-o", folder / "i.tosa", "--io", folder / "i.json")
    np.save(folder / "x.npy", np.float32([[1, 3, 2], [6, 5, 4]]))
    for options, dtype in ([], np.int32), (["--io", folder / "i.json"], np.int64):
        call(program, "run", folder / "i.tosa", *options, "--in", folder / "x.npy", "--out", folder / "y.npy")
        indices = np.load(folder / "y.npy")
        expect(indices.dtype == dtype and indices.tolist() == [1, 0], f"{options}: {indices.dtype} {indices}")
    (folder / "b.hr").write_text(BRAIN)
    call(program, "lower", folder / "b.hr", "-o", folder / "b.tosa", says="TOSA-1.0+FP+bf16")
    call(program, "lower", folder / "b.hr", "-o", folder / "b.tosa", "--target", "FP", status=UNSUPPORTED,
         says="add +bf16 to it")
    np.save(folder / "x.npy", np.array([0x3fc0, 0xc000], np.uint16).view("V2"))  # 1.5 and -2
    call(program, "run", folder / "b.hr", "--in", folder / "x.npy", "--out", folder / "y.npy")
    got = np.load(folder / "y.npy").view(np.uint16).tolist()
    expect(got == [0x4040, 0xc080], f"bfloat16: {got}")
    (folder / "t.hr").write_text(TRAINED)
    call(program, "run", folder / "t.hr", says="warning: y (aten.dropout.default): it is in training mode")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_sound, check_refused, check_written, check_types):
            check(sys.argv[1], pathlib.Path(folder))
    return report()


if __name__ == "__main__":
    sys.exit(main())
