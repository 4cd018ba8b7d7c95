#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs headrace-filecheck on the tests of the passes, and on cases that must fail.

    pass_texts.py PROGRAM [NPU_OPT]      NPU_OPT is a program made by opt_main, for examples/npu/tests
"""
import pathlib
import subprocess
import sys
import tempfile

from calls import expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRAPH = """headrace 1
%x: float32[4] = input
%c: float32[4] = tosa.CLAMP(%x, min_val=-3.0, max_val=5.0)
%y: float32[4] = tosa.CLAMP(%c, min_val=-1.0, max_val=9.0)
output %y
"""
# Lines before GRAPH, and what is said of them.
FAULTS = {
    "// RUN: --passes fuse_clamps\n// CHECK: min_val=-3.0\n": "CHECK: min_val=-3.0",
    "// RUN: --passes fuse_clamps\n// CHECK: %x\n// CHECK-NOT: CLAMP\n": "CHECK-NOT: CLAMP\n  is there",
    "// RUN: --passes fuse_clamps\n// CHECK: input\n// CHECK-NEXT: output\n": "CHECK-NEXT: output",
    "// RUN: --passes fuse_clamps\n// REFUSED: never\n": "exit status 0, not 1",
    "// RUN: --passes fuse_clamp\n// CHECK: %x\n": "exit status 2, not 0: error: no pass is called 'fuse_clamp'",
    "// RUN: --passes fuse_clamps\n": "a case needs one RUN, and CHECK or REFUSED",
    "// RUN: --passes fuse_clamps\n// CHECKNEXT: %x\n": "",
    "// RUN: --passes fuse_clamps\n// CHECK-LAST: %x\n// CHECK: %x\n": "there is no directive CHECK-LAST",
    "// RUN: --passes fuse_clamps\n// CHECK: {{(}}\n": "a regular expression is wrong",
}


def check(program, *paths, status=0, says=""):
    command = [ROOT / "examples/cli/headrace-filecheck", "--program", program, *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    expect(done.returncode == status and says in done.stdout + done.stderr,
           f"{paths[0]}: exit status {done.returncode}, not {status}, or no '{says}':\n{done.stdout}{done.stderr}")


def main():
    program = sys.argv[1]
    check(program, ROOT / "tests" / "passes", says=", 0 failed")
    if sys.argv[2:]:
        check(sys.argv[2], ROOT / "examples/npu/tests/passes.hr", says="4 cases of 1 files, 0 failed")
    with tempfile.TemporaryDirectory() as name:
        case = pathlib.Path(name) / "case.hr"
        for lines, says in FAULTS.items():
            case.write_text(lines + GRAPH)
            check(program, case, status=1, says=says)
        case.write_text("// RUN: --passes fuse_clamps\n// CHECK: [[A:%[a-z]+]]: {{.*}} CLAMP\n// CHECK: output [[A]]\n" +
                        GRAPH.replace("tosa.", "tosa."))
        check(program, case, status=1, says="CHECK")  # the line says tosa.CLAMP
        case.write_text("// RUN: --passes fuse_clamps\n// CHECK: [[A:%[a-z]+]]: {{.*CLAMP}}\n// CHECK: output [[A]]\n" +
                        GRAPH)
        check(program, case, says="1 cases of 1 files, 0 failed")
        check("/no/such/program", case, status=2, says="cannot run /no/such/program")
        case.unlink()
        check(program, name, status=2, says="there are no .hr files")
        check(program, case, status=2, says="case.hr")
    return report()


if __name__ == "__main__":
    sys.exit(main())
