#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the ERROR_IFs of TOSA 1.0 that Headrace checks with the TOSA reference model:

    tosa_rules.py PROGRAM

For each operator there are small valid graphs, as text: PROGRAM and the reference model must accept them.
Each has faults, one at a time, which both must refuse. A fault is a changed text, or a changed number in the
flatbuffer that PROGRAM has written from the valid graph: in an attribute, in a tensor's shape, or in the
elements of a constant.
"""
import os
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import tosa_reference_model
    from tosa.DType import DType
    from tosa.TosaGraph import TosaGraph
except ImportError:
    print("skipped: no TOSA reference model")
    sys.exit(77)

PROGRAM = sys.argv[1]
ZERO8 = "%z: int8[1] = constant [0]"
ZERO16 = "%z: int16[1] = constant [0]"
ONE = "%m: int32[1] = constant [1073741824]\n%s: int8[1] = constant [30]"


def rescale(x, zero_in, y, zero_out, flags=""):
    """Returns a RESCALE by one with these dtypes, zero points and flags."""
    return (f"%x: {x}[4] = input\n{ONE}\n%zi: {x}[1] = constant [{zero_in}]\n%zo: {y}[1] = constant [{zero_out}]\n"
            f"%y: {y}[4] = tosa.RESCALE(%x, %m, %s, %zi, %zo{flags})\noutput %y")


def rescale48(x, shape, y="int32", flags=""):
    """Returns a RESCALE of INT48, which Python cannot pass to or get from the reference model."""
    return (f"%m: int16[1] = constant [16384]\n%s: int8[1] = constant [14]\n%z48: int48[1] = constant [0]\n"
            f"%zo: {y}[1] = constant [0]\n"
            f"%y: {y}{shape} = tosa.RESCALE({x}, %m, %s, %z48, %zo, scale32=false{flags})\noutput %y")


def rescaled_products(y, flags=""):
    """Returns a RESCALE of the INT48 result of a MATMUL of INT16."""
    return matmul("int16", y="p") + "\n" + rescale48("%p", "[2, 3, 5]", y, flags)


def convolution(op, x, w, zero_x, zero_w, shapes, rest):
    """Returns CONV2D and similar operators: `shapes` are those of input, weight, bias and result."""
    acc = {"int8": "int32", "int16": "int48", "float32": "float32"}[x]
    bias = "constant [" + ", ".join(["0"] * int(shapes[2][1:-1])) + "]" if acc == "int48" else "input"
    y, end = ("p", rescale48("%p", shapes[3])) if acc == "int48" else ("y", "output %y")
    return (f"%x: {x}{shapes[0]} = input\n%w: {w}{shapes[1]} = input\n%b: {acc}{shapes[2]} = {bias}\n"
            f"%zx: {x}[1] = constant [{zero_x}]\n%zw: {w}[1] = constant [{zero_w}]\n"
            f"%{y}: {acc}{shapes[3]} = tosa.{op}(%x, %w, %b, %zx, %zw, {rest}, acc_type={acc})\n{end}")


def conv2d(x="int8", w="int8", zero_x=0, zero_w=0):
    return convolution("CONV2D", x, w, zero_x, zero_w, ("[1, 5, 5, 3]", "[2, 3, 3, 3]", "[2]", "[1, 3, 3, 2]"),
                       "pad=[0, 0, 0, 0], stride=[1, 1], dilation=[1, 1]")


def depthwise(x="int8", zero_x=0):
    return convolution("DEPTHWISE_CONV2D", x, "int8" if x != "float32" else x, zero_x, 0,
                       ("[1, 5, 5, 3]", "[3, 3, 3, 1]", "[3]", "[1, 3, 3, 3]"),
                       "pad=[0, 0, 0, 0], stride=[1, 1], dilation=[1, 1]")


def conv3d(x="int8", zero_x=0):
    return convolution("CONV3D", x, "int8" if x != "float32" else x, zero_x, 0,
                       ("[1, 3, 5, 5, 3]", "[2, 1, 3, 3, 3]", "[2]", "[1, 3, 3, 3, 2]"),
                       "pad=[0, 0, 0, 0, 0, 0], stride=[1, 1, 1], dilation=[1, 1, 1]")


def transposed(x="int8", zero_x=0, zero_w=0):
    return convolution("TRANSPOSE_CONV2D", x, "int8" if x != "float32" else x, zero_x, zero_w,
                       ("[1, 4, 4, 3]", "[2, 3, 3, 3]", "[2]", "[1, 9, 9, 2]"),
                       "out_pad=[0, 0, 0, 0], stride=[2, 2]")


def matmul(t, zero_a=0, zero_b=0, y=None):
    acc = {"int8": "int32", "int16": "int48", "float32": "float32"}[t]
    end = "" if y else "output %y"
    if acc == "int48" and not y:
        y, end = "p", rescale48("%p", "[2, 3, 5]")
    return (f"%a: {t}[2, 3, 4] = input\n%b: {t}[2, 4, 5] = input\n%za: {t}[1] = constant [{zero_a}]\n"
            f"%zb: {t}[1] = constant [{zero_b}]\n%{y or 'y'}: {acc}[2, 3, 5] = tosa.MATMUL(%a, %b, %za, %zb, "
            f"output_type={acc})\n{end}")


def average(t, zero_in=0, zero_out=0):
    acc = "float32" if t == "float32" else "int32"
    return (f"%x: {t}[1, 6, 6, 3] = input\n%zi: {t}[1] = constant [{zero_in}]\n%zo: {t}[1] = constant [{zero_out}]\n"
            f"%y: {t}[1, 3, 3, 3] = tosa.AVG_POOL2D(%x, %zi, %zo, kernel=[2, 2], stride=[2, 2], pad=[0, 0, 0, 0], "
            f"acc_type={acc})\noutput %y")


def negate(t, zero_in=0, zero_out=0):
    return (f"%x: {t}[4] = input\n%zi: {t}[1] = constant [{zero_in}]\n%zo: {t}[1] = constant [{zero_out}]\n"
            f"%y: {t}[4] = tosa.NEGATE(%x, %zi, %zo)\noutput %y")


def unary(op, attributes, before, after, t="float32"):
    return f"%x: {t}{before} = input\n%y: {t}{after} = tosa.{op}(%x, {attributes})\noutput %y"


def shaped(op, before, after, **shapes):
    """Returns an operator with one tensor and CONST_SHAPEs."""
    text = f"%x: float32{before} = input\n"
    for name, values in shapes.items():
        text += f"%{name}: shape[{len(values)}] = tosa.CONST_SHAPE(values={values})\n"
    operands = ", ".join(f"%{name}" for name in shapes)
    extra = ""
    if op == "PAD":
        text += "%c: float32[1] = constant [0.0]\n"
        extra = ", %c"
    if op == "RESIZE":
        extra = ", mode=bilinear"
    return f"{text}%y: float32{after} = tosa.{op}(%x, {operands}{extra})\noutput %y"


def binary(op, a, b, y, t="float32", result=None):
    return (f"%a: {t}{a} = input\n%b: {t}{b} = input\n%y: {result or t}{y} = tosa.{op}(%a, %b)\noutput %y")


def control(kind, condition="bool[1]", taken="[3]"):
    """Returns COND_IF and WHILE_LOOP of one float32[3]; a region may take another shape."""
    region = f"%p: float32{taken} = input"
    if kind == "COND_IF":
        return (f"%c: {condition} = input\n%x: float32[3] = input\n%y: float32{taken} = tosa.COND_IF(%c, [%x], "
                f"then_graph={{ {region} %q: float32{taken} = tosa.ABS(%p) output %q }}, "
                f"else_graph={{ {region} %q: float32{taken} = tosa.CEIL(%p) output %q }})\noutput %y")
    stop = "%n: float32[1] = tosa.REDUCE_MAX(%p, axis=0)"
    return (f"%x: float32[3] = input\n%y: float32[3] = tosa.WHILE_LOOP([%x], "
            f"cond_graph={{ {region} %k: float32[1] = constant [1.0] {stop} "
            f"%g: bool[1] = tosa.GREATER(%n, %k) output {'%g' if condition == 'bool[1]' else '%n'} }}, "
            f"body_graph={{ {region} %q: float32{taken} = tosa.FLOOR(%p) output %q }})\noutput %y")


# Faults in the flatbuffer: a field of the attribute table by its slot, an element of a tensor's shape by the
# tensor's name, a number in a CONST_SHAPE, or the bytes of a CLAMP's bound.
def attribute(slot, value, index=None):
    return ("attribute", slot, index, value)


def shape_of(tensor, axis, value):
    return ("shape", tensor, axis, value)


def number_of(shape, index, value):
    return ("number", shape, index, value)


INT16 = "TOSA-1.0+INT+int16"
BOTH = "TOSA-1.0+INT+FP"
pool_faults = [attribute(0, 0, 0), attribute(1, 0, 0), attribute(1, 0, 1), attribute(2, -1, 0), attribute(2, 2, 0),
               attribute(2, 1, 0), shape_of("y", 1, 4), shape_of("y", 3, 2)]
conv_faults = [attribute(0, -1, 0), attribute(1, 0, 0), attribute(2, 0, 1), attribute(0, 1, 1), shape_of("y", 1, 2),
               shape_of("y", -1, 5), shape_of("b", 0, 7), shape_of("x", -1, 4)]
reduce_faults = [attribute(0, 3), attribute(0, -1), shape_of("y", 1, 2)]

# (target, valid texts, faulty texts, faults of the first valid one)
CASES = {
    "RESCALE": (INT16,
                [rescale("int8", 5, "int8", -5), rescale("int16", 0, "int8", 7), rescale("int8", 7, "int32", 0),
                 rescale("int32", 0, "int16", 0), rescale("int8", -128, "int16", 0, ", input_unsigned=true"),
                 rescale("int8", 3, "int8", 0, ", output_unsigned=true"),
                 rescale("int16", -32768, "int8", 0, ", input_unsigned=true"),
                 rescale("int8", 0, "int16", -32768, ", output_unsigned=true"),
                 rescale("int16", 0, "int16", 0, ", output_unsigned=true"), rescaled_products("int16")],
                [rescale("int16", 5, "int8", 0), rescale("int8", 0, "int16", 5), rescale("int32", 5, "int8", 0),
                 rescale("int8", 0, "int32", 5), rescale("int16", 5, "int32", 0),
                 rescale("int16", 5, "int8", 0, ", input_unsigned=true"),
                 rescale("int8", 0, "int16", 5, ", output_unsigned=true"),
                 rescale("int8", 0, "int32", 0, ", input_unsigned=true"),
                 rescale("int32", 0, "int8", 0, ", output_unsigned=true"),
                 rescale("int32", 0, "int8", 0, ", input_unsigned=true"),
                 rescale("int8", 0, "int32", 0, ", output_unsigned=true"),
                 rescaled_products("int16", ", output_unsigned=true"),
                 rescaled_products("int16", ", input_unsigned=true")],
                [shape_of("y", 0, 3), shape_of("m", 0, 2)]),
    "CONV2D": (INT16 + "+FP", [conv2d(zero_x=5, zero_w=-3), conv2d("int16"), conv2d("float32", "float32")],
               [conv2d("int16", zero_x=5), conv2d("float32", "float32", zero_x="5.0"),
                conv2d("float32", "float32", zero_w="5.0")], conv_faults),
    "DEPTHWISE_CONV2D": (INT16, [depthwise(zero_x=5), depthwise("int16")], [depthwise("int16", 5)], conv_faults),
    "CONV3D": (INT16, [conv3d(zero_x=5), conv3d("int16")], [conv3d("int16", 5)],
               [attribute(0, -1, 0), attribute(1, 0, 0), attribute(2, 0, 1), shape_of("y", 1, 2)]),
    "TRANSPOSE_CONV2D": (INT16 + "+FP", [transposed(zero_x=5, zero_w=2), transposed("int16"), transposed("float32")],
                         [transposed("int16", 5), transposed("float32", "5.0")],
                         [attribute(0, -3, 0), attribute(1, 0, 0), shape_of("y", 1, 8), shape_of("b", 0, 5)]),
    "MATMUL": (INT16 + "+FP", [matmul("int8", 5, -5), matmul("int16"), matmul("float32")],
               [matmul("int16", 5), matmul("int16", 0, 5), matmul("float32", "5.0")],
               [shape_of("y", 1, 4), shape_of("b", 1, 3), shape_of("b", 0, 1)]),
    "AVG_POOL2D": (INT16 + "+FP", [average("int8", 5, -7), average("int16"), average("float32")],
                   [average("int16", 5), average("int16", 0, 5), average("float32", "5.0")], pool_faults),
    "MAX_POOL2D": (BOTH, [unary("MAX_POOL2D", "kernel=[2, 2], stride=[2, 2], pad=[0, 0, 0, 0]", "[1, 6, 6, 3]",
                                "[1, 3, 3, 3]")], [], pool_faults),
    "NEGATE": (BOTH, [negate("int8", 5, -7), negate("int16"), negate("int32"), negate("float32")],
               [negate("int16", 5), negate("int16", 0, 5), negate("int32", 5), negate("float32", "5.0")],
               [shape_of("y", 0, 3)]),
    "CLAMP": (BOTH, [unary("CLAMP", "min_val=-1.0, max_val=2.0", "[4]", "[4]"),
                     unary("CLAMP", "min_val=3, max_val=3", "[4]", "[4]", "int8")], [],
              [("bound", 0, struct.pack("<f", 3.0)), ("bound", 0, struct.pack("<f", float("nan"))),
               shape_of("y", 0, 3)]),
    "ARGMAX": (BOTH, ["%x: float32[2, 3, 4] = input\n%y: int32[2, 4] = tosa.ARGMAX(%x, axis=1)\noutput %y"], [],
               [attribute(0, 3), attribute(0, -1), shape_of("y", 1, 3)]),
    "CONCAT": (BOTH, ["%a: float32[2, 3] = input\n%b: float32[2, 4] = input\n"
                      "%y: float32[2, 7] = tosa.CONCAT([%a, %b], axis=1)\noutput %y"], [],
               [attribute(0, 2), attribute(0, -1), shape_of("y", 1, 8), shape_of("b", 0, 3)]),
    "REVERSE": (BOTH, [unary("REVERSE", "axis=1", "[2, 3]", "[2, 3]")], [],
                [attribute(0, 2), attribute(0, -1), shape_of("y", 1, 2)]),
    "TRANSPOSE": (BOTH, [unary("TRANSPOSE", "perms=[2, 0, 1]", "[2, 3, 4]", "[4, 2, 3]")], [],
                  [attribute(0, 3, 0), attribute(0, -1, 0), attribute(0, 1, 0), shape_of("y", 0, 2)]),
    "PAD": (BOTH, [shaped("PAD", "[2, 3]", "[3, 7]", p=[1, 0, 2, 2])], [],
            [number_of("p", 0, -1), shape_of("y", 0, 4)]),
    "RESHAPE": (BOTH, [shaped("RESHAPE", "[2, 3]", "[3, 2]", p=[3, 2])], [],
                [number_of("p", 0, 4), number_of("p", 0, -1), shape_of("y", 0, 2)]),
    "SLICE": (BOTH, [shaped("SLICE", "[4, 5]", "[2, 3]", p=[1, 1], q=[2, 3])], [],
              [number_of("p", 0, -1), number_of("p", 0, 3), number_of("q", 0, 0), number_of("q", 1, 5),
               shape_of("y", 0, 1)]),
    "TILE": (BOTH, [shaped("TILE", "[4, 5]", "[8, 5]", p=[2, 1])], [],
             [number_of("p", 0, 3), shape_of("y", 1, 10)]),
    "RESIZE": (BOTH, [shaped("RESIZE", "[1, 4, 4, 2]", "[1, 8, 8, 2]", p=[4, 2, 4, 2], q=[-1, -1], r=[1, 1])], [],
               [number_of("p", 0, 0), number_of("p", 1, 0), number_of("p", 0, 2049), number_of("p", 1, 64),
                number_of("q", 0, -5), number_of("q", 0, 64), number_of("r", 0, -65), number_of("r", 0, 4),
                number_of("r", 0, 2), shape_of("y", 1, 9)]),
    "GATHER": (BOTH, ["%v: float32[2, 5, 3] = input\n%i: int32[2, 4] = constant [0, 1, 2, 3, 4, 3, 2, 1]\n"
                      "%y: float32[2, 4, 3] = tosa.GATHER(%v, %i)\noutput %y"], [],
               [shape_of("y", 1, 5), shape_of("y", 2, 2), shape_of("v", 0, 1)]),
    "SCATTER": (BOTH, ["%v: float32[2, 5, 3] = input\n%i: int32[2, 2] = constant [0, 1, 2, 3]\n"
                       "%x: float32[2, 2, 3] = input\n%y: float32[2, 5, 3] = tosa.SCATTER(%v, %i, %x)\noutput %y"],
                [], [shape_of("x", 2, 2), shape_of("v", 0, 1)]),
    "TABLE": (BOTH, ["%x: int8[4] = input\n%t: int8[256] = constant " + str([i - 128 for i in range(256)]) +
                     "\n%y: int8[4] = tosa.TABLE(%x, %t)\noutput %y"], [], [shape_of("t", 0, 255)]),
    "SELECT": (BOTH, ["%c: bool[2, 3] = input\n%a: float32[2, 3] = input\n%b: float32[1, 3] = input\n"
                      "%y: float32[2, 3] = tosa.SELECT(%c, %a, %b)\noutput %y"], [],
               [shape_of("b", 1, 2), shape_of("c", 0, 3), shape_of("y", 0, 1)]),
    "COND_IF": (BOTH + "+cf", [control("COND_IF")], [], []),
    "WHILE_LOOP": (BOTH + "+cf", [control("WHILE_LOOP")], [control("WHILE_LOOP", "float32[1]")], []),
}
for op in ("REDUCE_SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PRODUCT"):
    CASES[op] = (BOTH, [unary(op, "axis=1", "[2, 3, 4]", "[2, 1, 4]")], [], reduce_faults)
for op in ("REDUCE_ALL", "REDUCE_ANY"):
    CASES[op] = (BOTH, [unary(op, "axis=1", "[2, 3, 4]", "[2, 1, 4]", "bool")], [], reduce_faults)
for op in ("ADD", "SUB", "MAXIMUM", "MINIMUM", "POW", "GREATER", "GREATER_EQUAL", "EQUAL"):
    result = "bool" if op in ("GREATER", "GREATER_EQUAL", "EQUAL") else None
    CASES[op] = (BOTH, [binary(op, "[2, 3]", "[1, 3]", "[2, 3]", result=result)], [],
                 [shape_of("b", 1, 2), shape_of("b", 0, 3), shape_of("y", 0, 1)])
for op, t in (("BITWISE_AND", "int8"), ("BITWISE_OR", "int16"), ("BITWISE_XOR", "int32"), ("LOGICAL_AND", "bool"),
              ("LOGICAL_OR", "bool"), ("LOGICAL_XOR", "bool"), ("INTDIV", "int32"), ("LOGICAL_LEFT_SHIFT", "int32"),
              ("LOGICAL_RIGHT_SHIFT", "int32")):
    CASES[op] = (BOTH, [binary(op, "[2, 3]", "[1, 3]", "[2, 3]", t)], [], [shape_of("b", 1, 2), shape_of("y", 0, 1)])
for op in ("ABS", "CEIL", "FLOOR", "EXP", "LOG", "ERF", "SIGMOID", "TANH", "RECIPROCAL", "RSQRT", "SIN", "COS"):
    CASES[op] = (BOTH, [f"%x: float32[2, 3] = input\n%y: float32[2, 3] = tosa.{op}(%x)\noutput %y"], [],
                 [shape_of("y", 0, 3)])


def break_file(blob, op_name, fault):
    """Returns a copy of the flatbuffer with the fault."""
    from tosa.Op import Op
    blob = bytearray(blob)
    block = TosaGraph.GetRootAs(blob, 0).Regions(0).Blocks(0)
    if fault[0] == "shape":
        for t in (block.Tensors(i) for i in range(block.TensorsLength())):
            if t.Name().decode() == fault[1]:
                axis = fault[2] % t.ShapeLength()
                struct.pack_into("<i", blob, t._tab.Vector(t._tab.Offset(6)) + 4 * axis, fault[3])
                return bytes(blob)
    if fault[0] == "number":
        for s in (block.Shapes(i) for i in range(block.ShapesLength())):
            if s.Name().decode() == fault[1]:
                struct.pack_into("<q", blob, s._tab.Vector(s._tab.Offset(8)) + 8 * fault[2], fault[3])
                return bytes(blob)
    for o in (block.Operators(i) for i in range(block.OperatorsLength())):
        if o.Op() != getattr(Op, op_name):
            continue
        table = o.Attribute()
        at = table.Offset(4 + 2 * fault[1])
        assert at != 0, f"{op_name} has no field {fault[1]}"
        if fault[0] == "bound":
            start = table.Vector(at)
            blob[start:start + len(fault[2])] = fault[2]
        elif fault[2] is None:
            struct.pack_into("<i", blob, table.Pos + at, fault[3])
        else:
            struct.pack_into("<i", blob, table.Vector(at) + 4 * fault[2], fault[3])
        return bytes(blob)
    raise AssertionError(f"no place for {fault} in {op_name}")


def inputs_of(blob):
    """Returns a tensor of ones for each input."""
    types = {DType.BOOL: np.bool_, DType.INT8: np.int8, DType.INT16: np.int16, DType.INT32: np.int32,
             DType.INT48: np.int64, DType.FP32: np.float32}
    block = TosaGraph.GetRootAs(blob, 0).Regions(0).Blocks(0)
    tensors = {t.Name(): t for t in (block.Tensors(i) for i in range(block.TensorsLength()))}
    given = (tensors[block.Inputs(i)] for i in range(block.InputsLength()))
    return [np.ones([t.Shape(k) for k in range(t.ShapeLength())], types[t.Type()]) for t in given]


def model_takes(path):
    """True if the reference model takes the file. Runs it in a separate process: it aborts if it finds a
    fault."""
    with open(path, "rb") as f:
        blob = f.read()
    child = os.fork()
    if child == 0:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        os.environ["PATH"] = ""  # disables the debugger that the model would start for each fault
        taken = False
        try:
            _, status = tosa_reference_model.run(blob, inputs_of(blob), verbosity="NONE")
            taken = status == tosa_reference_model.GraphStatus.TOSA_VALID
        finally:
            os._exit(0 if taken else 1)
    return os.waitpid(child, 0)[1] == 0


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)


def headrace_takes(path, work):
    """True if PROGRAM shows the flatbuffer as text and lowers that again: both check it."""
    text = os.path.join(work, "read.hr")
    if run("show", path, "-o", text).returncode != 0:
        return False
    return run("lower", text, "-o", os.path.join(work, "again.tosa"), "--target", TARGETS[path]).returncode == 0


TARGETS = {}


def check(work, name, target, text, op, fault=None):
    """Returns what is wrong with a case; empty if nothing is."""
    os.makedirs(work)
    source, file = os.path.join(work, "case.hr"), os.path.join(work, "case.tosa")
    with open(source, "w", encoding="utf-8") as f:
        f.write(f'headrace 1\ntarget "{target}"\n{text}\n')
    written = run("opt", source, "--passes", "remove_dead_code", "-o", file)
    if written.returncode != 0:
        return f"{name}: not written: {written.stderr.strip()}"
    if fault is not None:
        with open(file, "rb") as f:
            blob = break_file(f.read(), op, fault)
        with open(file, "wb") as f:
            f.write(blob)
    wanted = not name.endswith("faulty")
    TARGETS[file] = target
    says = {"the reference model": model_takes(file), "the program": headrace_takes(file, work)}
    wrong = [who for who, takes in says.items() if takes != wanted]
    return "" if not wrong else f"{name}: {' and '.join(wrong)} {'refused' if wanted else 'took'} it:\n{text}\n{fault}"


def main():
    jobs = []
    for op, (target, valid, faulty, faults) in CASES.items():
        for text in valid:
            jobs.append((f"{op} valid", target, text, op))
        for text in faulty:
            jobs.append((f"{op} faulty", target, text, op))
        for fault in faults:
            jobs.append((f"{op} faulty", target, valid[0], op, fault))
    with tempfile.TemporaryDirectory() as work:
        found = [check(os.path.join(work, str(i)), *job) for i, job in enumerate(jobs)]
    wrong = [text for text in found if text]
    print("\n".join(wrong))
    print(f"{len(jobs) - len(wrong)} of {len(jobs)} cases are judged alike")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
