#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks `lower -o model.pte`: the file's results are right in `run` and in ExecuTorch's own runtime, if that
is installed (tests/setup.sh installs it).

    pte.py PROGRAM COMPILER [EXAMPLE]

EXAMPLE is the built examples/own_backend.cpp.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

import peer_pte
from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = [p.parent for folder in ("tests/fixtures", "examples/models", "tests/fixtures/partition")
          for p in sorted((ROOT / folder).glob("*/model.pt2"))]
REFUSED = {"dynamic_shape": "dynamic size"}


# The runner, and the sources that restore the flatbuffer of a TOSA delegate.
RUNNER = [ROOT / "tests" / "executorch" / f"{name}.cpp" for name in ("runner", "delegated_tosa", "vector_unit")]
RESTORING = [ROOT / "include" / "headrace" / "io" / name for name in ("pte/tosa_delegates.cpp", "tosa/delegate.cpp")]
# Kernels of cortex_m, which no library of the wheel has.
CORTEX_M = [ROOT / "tests" / "executorch" / f"cortex_m_{name}.cpp" for name in ("elementwise", "windows")]


def runner_name(kernels):
    return "runner_cortex_m" if kernels else "runner"


def runner_in(folder, compiler, kernels=()):
    """Returns the program that executes files with ExecuTorch's runtime; None without it. `kernels` are sources
    that register kernels. What runners.py has written into the folder HEADRACE_RUNNERS is taken."""
    made = pathlib.Path(os.environ.get("HEADRACE_RUNNERS", folder), runner_name(kernels))
    if made.exists():
        return made
    package = pathlib.Path(sysconfig.get_path("purelib")) / "executorch"
    if not (package / "lib" / "libexecutorch_kernels_quantized.so").exists():
        return None
    libraries = ["", "_kernels_optimized", "_kernels_quantized", "_threadpool"]
    command = [compiler, "-std=c++20", f"-I{ROOT}/include", "-DC10_USING_CUSTOM_GENERATED_MACROS", "-DET_EVENT_TRACER_ENABLED",
               "-isystem", f"{package}/include", "-isystem",
               f"{package}/include/executorch/runtime/core/portable_type/c10",
               *RUNNER, *kernels, *RESTORING, "-o", folder / runner_name(kernels), "-Wl,--no-as-needed", f"-L{package}/lib",
               *(f"-lexecutorch{name}" for name in libraries), f"-Wl,-rpath,{package}/lib"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    expect(done.returncode == 0, f"the runner cannot be compiled: {done.stderr[:500]}")
    return folder / runner_name(kernels) if done.returncode == 0 else None


def step_of(array):
    """Returns the smallest distance between two numbers: the scale, if the output is quantized."""
    numbers = np.unique(array.astype(np.float64))
    return np.diff(numbers).min() if len(numbers) > 1 else 0


def check_outputs(model, outputs, what):
    meta = json.loads((model / "meta.json").read_text())
    for i, path in enumerate(outputs):
        if not path.exists():
            continue  # the reason has been printed
        got, expected = np.load(path), np.load(model / f"out{i}.npy")
        granted = meta.get("qtol", 0) * step_of(expected) if meta.get("kind") != "FP" else 0
        granted = granted * 1.0001 + meta.get("atol", 0) + meta.get("rtol", 0) * np.abs(expected.astype(np.float64))
        same = got.shape == expected.shape and got.dtype == expected.dtype
        same = same and (np.abs(got.astype(np.float64) - expected) <= granted).all()
        expect(same, f"{model.name}: output {i} of {what} is wrong")


def check_description(model, io):
    """Types and shapes are those of the exported program; states are not described."""
    sides = json.loads(io.read_text())
    for side, prefix in (("inputs", "in"), ("outputs", "out")):
        arrays = [np.load(model / f"{prefix}{i}.npy") for i in range(len(list(model.glob(f"{prefix}*.npy"))))]
        expected = [(str(a.dtype).upper().replace("FLOAT", "FP"), list(a.shape)) for a in arrays]
        told = [(t["dtype"], t["shape"]) for t in sides[side]]
        expect(told == expected, f"{model.name}: --io has {side} {told}, not {expected}")


def check_model(program, runner, model, folder, options):
    """True if there is a file: it is then named after the model."""
    name = model.name
    file = folder / f"{name}.pte"
    file.unlink(missing_ok=True)
    if name in REFUSED:
        call(program, "lower", model / "model.pt2", "-o", file, *options, status=UNSUPPORTED, says=REFUSED[name])
        expect(not file.exists(), f"{name}: refused, but there is a file")
        return False
    call(program, "lower", model / "model.pt2", "-o", file, "--io", folder / "io.json", *options)
    check_description(model, folder / "io.json")
    inputs = sorted(model.glob("in*.npy"))
    count = len(list(model.glob("out*.npy")))
    outputs = [folder / f"{name}.{i}.npy" for i in range(count)]
    given = [a for x in inputs for a in ("--in", x)]
    call(program, "run", file, *given, *(a for x in outputs for a in ("--out", x)))
    check_outputs(model, outputs, "`run`")
    if runner:
        outputs = [folder / f"{name}.runtime.{i}.npy" for i in range(count)]
        done = subprocess.run([runner, file, "forward", *inputs, "--", *outputs], capture_output=True, text=True)
        expect(done.returncode == 0, f"{name}: ExecuTorch's runtime: {done.stderr[-500:]}")
        check_outputs(model, outputs, "ExecuTorch's runtime")
    return True


def check_delegates(program, model, folder):
    """Checks the report, and that each flatbuffer can be restored, equal to that of a package."""
    file, report_file, package = folder / f"{model.name}.pte", folder / "report.json", folder / "package"
    call(program, "lower", model / "model.pt2", "-o", file, "--delegate", "tosa", "--report", report_file)
    packaged = model.name != "buffer_update"  # packages have no state
    if packaged:
        call(program, "lower", model / "model.pt2", "-o", package, "--partition")
    told = json.loads(report_file.read_text())
    method = told["methods"]["forward"]
    expect(told["bytes"] == file.stat().st_size, f"{model.name}: the report has another size than the file")
    expect(len(method["delegates"]) > 0, f"{model.name}: nothing is delegated")
    expect(all(n["reason"] for n in method["host_nodes"]), f"{model.name}: nodes on the host without a reason")
    for i in range(len(method["delegates"])):
        ours, theirs = folder / "ours.tosa", folder / "theirs.tosa"
        call(program, "unpack", file, "--delegate", i, "-o", ours)
        if not packaged:
            continue
        call(program, "unpack", package, "--delegate", i, "-o", theirs)
        expect(ours.read_bytes() == theirs.read_bytes(), f"{model.name}: flatbuffer {i} does not come back")
    call(program, "unpack", file, "--delegate", len(method["delegates"]), "-o", folder / "none.tosa",
         status=USAGE, says="the first is 0")
    shutil.rmtree(package, ignore_errors=True)


def check_verified(program, folder):
    """Executes files while they are lowered: the machine, and how far its layers are off, are in the message."""
    quantized = ROOT / "examples/models/kws_dscnn_int8/model.pt2"
    file = folder / "verified.pte"
    portable = "verified, as ExecuTorch's portable kernels compute it; "
    cmsis = "as ExecuTorch's runtime with CMSIS-NN's kernels computes it; "
    off = " at most 1 quantization step off what floats give for equal inputs"
    for model in quantized, ROOT / "tests/fixtures/buffer_update/model.pt2", ROOT / "tests/fixtures/control_flow/model.pt2":
        call(program, "lower", model, "-o", file, "--verify", says=portable)
        call(program, "lower", model, "-o", file, "--verify", "--in", model.parent / "in0.npy", says=portable)
        call(program, "lower", model, "-o", file, "--verify", "--delegate", "tosa",
             says="verified, delegates as TOSA defines them, the rest as ExecuTorch's portable kernels compute it; ")
    for core in "cortex-m0plus", "cortex-m4", "cortex-m55":
        for kind in [], ["--io-type", "int8"]:
            told = call(program, "lower", quantized, "-o", file, "--core", core, "--verify", *kind, "--in",
                        quantized.parent / "in0.npy", says="verified, " + cmsis).stderr
            expect(off in told, f"--verify for {core} says {told!r}")
    told = call(program, "lower", "--method", f"a={quantized}", "--method", f"b={quantized}", "-o", file, "--core",
                "cortex-m4", "--verify", says="a: verified, " + cmsis).stderr
    expect("b: verified, " + cmsis in told, f"--verify of two methods says {told!r}")
    call(program, "run", file, "--method", "a", "--in", ROOT / "tests/fixtures/rnn/in0.npy", status=MALFORMED,
         says=" for input 0, which has")
    call(program, "lower", "--method", f"a={quantized}", "--method", f"b={ROOT / 'tests/fixtures/conv_bn_relu/model.pt2'}",
         "-o", file, "--core", "cortex-m4", "--io-type", "int8", status=UNSUPPORTED, says="error: method b: x (builtin.")
    call(program, "lower", "--method", f"a={quantized}", "--method", f"b={quantized}", "-o", file, "--verify", "--in",
         quantized.parent / "in0.npy", status=USAGE, says="--in is for one method")
    made = folder / "verified.json"
    call(program, "lower", quantized, "-o", file, "--core", "cortex-m4", "--verify", "--report", made)
    told = json.loads(made.read_text())["methods"]["forward"]
    expect(told["verified"][0]["pass"] == "select_integer_kernels" and told["layer_steps_off"] == 1,
           f"the report says {told['verified']}, {told['layer_steps_off']}")
    file.unlink()
    call(program, "lower", quantized, "-o", file, "--verify", "--in", quantized, status=MALFORMED)
    expect(not file.exists(), "a file is written although --verify could not execute the model")


def check_ignored(program, folder):
    """Options that mean nothing for the output are bad usage."""
    model, file = ROOT / "tests/fixtures/quantized_cnn/model.pt2", folder / "ignored.pte"
    for output, options, says in (
            (file, ["--core", ""], "--core: give the name of a processor"),
            (folder / "m.hpp", ["--core", "cortex-m4", "--delegate", "tosa"], "--delegate is for .pte files"),
            (file, ["--name", "kws"], "--name is for a C++ type"),
            (file, ["--state", "io"], "--state is for flatbuffers and C++ types"),
            (file, ["--in", model.parent / "in0.npy"], "--in is for --verify")):
        call(program, "lower", model, "-o", output, *options, status=USAGE, says=says)
        expect(not output.exists(), f"{output.name} is written although {options} means nothing for it")


def check_quantized_here(program, folder):
    """Names of a quantizer's nodes are unique: --verify finds the right layers, and messages and reports name them."""
    model = ROOT / "tests/end_to_end/quantize_network"
    quantized, file, other = folder / "quantized.pt2", folder / "here.pte", folder / "there.pte"
    call(program, "quantize", model / "model.pt2", "--samples", model / "calib.npy", "-o", quantized)
    for options in ["--core", "cortex-m4"], ["--delegate", "tosa"]:
        here = ["lower", model / "model.pt2", "--quantize", model / "calib.npy", "-o", file, *options]
        call(program, *here, "--report", folder / "here.json")
        first = file.read_bytes()
        said = call(program, *here, "--verify", says=" layers are at most 1 quantization step off"
                    if "--core" in options else "verified, delegates as TOSA defines them").stderr
        expect(file.read_bytes() == first, f"--verify changes the file, {said}")
        if "--delegate" in options:
            continue
        there = call(program, "lower", quantized, "-o", other, *options, "--verify", "--report",
                     folder / "there.json").stderr
        expect(other.read_bytes() == first, "a model that was quantized before gives another file")
        expect(said.splitlines()[0] == there.splitlines()[0], f"--verify says {said!r}, and then {there!r}")
        nodes = [json.loads((folder / name).read_text())["methods"]["forward"]["nodes"]
                 for name in ("here.json", "there.json")]
        expect(nodes[0] == nodes[1], f"nodes in the reports are {nodes}")


def check_integer_interface(program, runner, folder):
    """`--io-type int8`: the caller quantizes, as the description of a TOSA flatbuffer of the model says."""
    model, file = ROOT / "tests" / "fixtures" / "quantized_cnn", folder / "integers.pte"
    call(program, "lower", model / "model.pt2", "-o", folder / "x.tosa", "--io", folder / "io.json")
    io = json.loads((folder / "io.json").read_text())
    taken, given = (io[k][0]["quantization"] for k in ("inputs", "outputs"))
    x = np.load(model / "in0.npy")
    numbers = np.clip(np.rint(x / taken["scale"]) + taken["zero_point"], taken["qmin"], taken["qmax"])
    np.save(folder / "x.npy", numbers.astype(np.int8))
    y = folder / "y.npy"
    for options in ((), ("--delegate", "tosa")):
        call(program, "lower", model / "model.pt2", "-o", file, "--io-type", "int8", *options)
        commands = {"`run`": [program, "run", file, "--in", folder / "x.npy", "--out", y]}
        if runner:
            commands["ExecuTorch's runtime"] = [runner, file, "forward", folder / "x.npy", "--", y]
        for what, command in commands.items():
            call(*command)
            got = np.load(y)
            expect(got.dtype == np.int8, f"--io-type int8: {what} gives {got.dtype}")
            np.save(y, ((got.astype(np.float64) - given["zero_point"]) * given["scale"]).astype(np.float32))
            check_outputs(model, [y], f"{what} with integers")


def check_shared_constants(program, runner, folder):
    """Methods share the constants of host and delegates."""
    parts = [ROOT / "tests" / "fixtures" / "partition" / f"two_methods.{m}" for m in ("encode", "decode")]
    sizes = []
    for part in parts:
        call(program, "lower", part / "model.pt2", "-o", folder / "one.pte", "--delegate", "tosa", "--report",
             folder / "report.json")
        sizes.append(json.loads((folder / "report.json").read_text())["constant_bytes"])
    both = folder / "both.pte"
    call(program, "lower", *(a for p in parts for a in ("--method", f"{p.suffix[1:]}={p / 'model.pt2'}")), "-o", both,
         "--partition", "--report", folder / "report.json")
    together = json.loads((folder / "report.json").read_text())["constant_bytes"]
    expect(max(sizes) <= together < sum(sizes), f"constants of two methods: {sizes}, together {together}")
    call(program, "plan", both, says="method decode")
    call(program, "unpack", both, "-o", folder / "x.tosa", status=USAGE, says="decode, encode")
    call(program, "unpack", both, "--method", "encode", "-o", folder / "x.tosa")
    call(program, "show", both, "--method", "encode", says="delegate.call_delegate")
    for part in parts:
        count = len(list(part.glob("out*.npy")))
        inputs = sorted(part.glob("in*.npy"))
        outputs = [folder / f"both.{i}.npy" for i in range(count)]
        call(program, "run", both, "--method", part.suffix[1:], "--in", *inputs, "--out", *outputs)
        check_outputs(part, outputs, "a method")
        if runner:
            done = subprocess.run([runner, both, part.suffix[1:], *inputs, "--", *outputs], capture_output=True,
                                  text=True)
            expect(done.returncode == 0, f"{part.name}: ExecuTorch's runtime: {done.stderr[-500:]}")
            check_outputs(part, outputs, "a method in ExecuTorch's runtime")


def check_damage(program, folder):
    """A file that is damaged at its delegates or constants."""
    model = ROOT / "tests" / "fixtures" / "conv_bn_relu" / "model.pt2"
    whole, damaged = folder / "whole.pte", folder / "damaged.pte"
    call(program, "lower", model, "-o", whole, "--delegate", "tosa")
    content = whole.read_bytes()
    at = content.index(b"HRTOSA02")
    base = int.from_bytes(content[24:32], "little")
    for place, said in ((at, "the mark is missing"), (at + 9, "not those that were written"),
                        (base + 1, "not those that were written")):
        changed = bytearray(content)
        changed[place] ^= 1
        damaged.write_bytes(changed)
        for command in (("run",), ("show",), ("unpack", "-o", folder / "none.tosa")):
            call(program, command[0], damaged, *command[1:], status=MALFORMED, says=said)
    expect(not (folder / "none.tosa").exists(), "a damaged file, but a flatbuffer of it")
    call(program, "lower", model, "-o", folder / "x.tosa", "--delegate", "tosa", status=USAGE, says=".pte")
    call(program, "lower", model, "-o", damaged, "--delegate", "tpu", status=USAGE, says="tosa")
    call(program, "lower", model, "-o", whole)
    call(program, "unpack", whole, "-o", folder / "x.tosa", status=UNSUPPORTED, says="no delegate")


def check_methods(program, folder):
    model = ROOT / "examples" / "models" / "kws_dscnn" / "model.pt2"
    one, two = folder / "one.pte", folder / "two.pte"
    call(program, "lower", model, "-o", one)
    call(program, "lower", "--method", f"a={model}", "--method", f"b={model}", "-o", two, "--report",
         folder / "report.json")
    sizes = json.loads((folder / "report.json").read_text())
    expect(sizes["bytes"] == two.stat().st_size, "the report has another size than the file")
    expect(two.stat().st_size < one.stat().st_size + sizes["constant_bytes"], "constants are in the file twice")
    call(program, "show", two, says="method b:")
    call(program, "show", two, "--method", "a", says="aten::convolution.out")
    call(program, "run", two, status=USAGE, says="a, b")
    call(program, "run", two, "--method", "c", status=USAGE, says="a, b")
    call(program, "lower", "--method", f"a={model}", "--method", f"a={model}", "-o", two, status=USAGE)
    call(program, "lower", model, "-o", two, "--target", "TOSA-1.0+FP", status=USAGE, says="--target")
    again = folder / "again.pte"
    call(program, "lower", model, "-o", again)
    expect(again.read_bytes() == one.read_bytes(), "the same model gives other bytes")
    cut = folder / "cut.pte"
    cut.write_bytes(one.read_bytes()[:-1])
    call(program, "show", cut, status=MALFORMED, says="ends past the end")
    cut.write_bytes(one.read_bytes()[:200])
    call(program, "run", cut, status=MALFORMED, says="cut off")


def check_state(program, runner, folder):
    """A written buffer counts from one execution to the next."""
    model, file = ROOT / "tests/fixtures/buffer_update", folder / "state.pte"
    for options in ((), ("--delegate", "tosa")):
        call(program, "lower", model / "model.pt2", "-o", file, *options)
        if not runner:
            continue
        for runs in (1, 2, 3):
            done = subprocess.run([runner, file, "forward", model / "in0.npy", "--", folder / "state.npy"],
                                  capture_output=True, text=True, env=dict(os.environ, HEADRACE_RUNS=str(runs)))
            expect(done.returncode == 0, f"state: {done.stderr[-500:]}")
            expect(np.allclose(np.load(folder / "state.npy"), runs * np.load(model / "out0.npy")),
                   f"the state is wrong after {runs} executions")
    # Its graph lacks the state's first value, and other things that only the file has.
    for command in (["lower", file, "-o", folder / "again.pte"],
                    ["opt", file, "--passes", "remove_noop", "-o", folder / "again.hr"],
                    ["reduce", file, "--crash", "-o", folder / "again.hr"]):
        call(program, *command, status=UNSUPPORTED, says="it is lowered already")


def run_both(program, runner, file, x, folder, *options):
    """Returns the results of `run` and the runtime for a file with one input and one output."""
    np.save(folder / "x.npy", x)
    commands = [[program, "run", file, "--in", folder / "x.npy", "--out", folder / "ours.npy", *options]]
    if runner:
        commands.append([runner, file, "forward", folder / "x.npy", "--", folder / "theirs.npy"])
    made = []
    for command in commands:
        call(*command)
        made.append(np.load(command[-1 - len(options)] if command[0] == program else command[-1]))
    return made


def check_peer(program, runner, folder):
    """Files as ExecuTorch's exporter writes them: jumps, numbers, moves, views."""
    x, file = np.random.RandomState(1).rand(3, 4).astype(np.float32), folder / "peer.pte"
    if not peer_pte.cond().write(file):
        print("flatc is not installed: other exporters' files are left out")
        return
    for name, given, expected in (("cond", x[0], np.exp(x[0])), ("cond", -x[0], x[0]), ("map_rows", x, np.exp(x)),
                                  ("while_loop", x[0], 6 * x[0]), ("views", x.reshape(2, 6), np.exp(x).reshape(12))):
        getattr(peer_pte, name)().write(file)
        for made in run_both(program, runner, file, given, folder):
            expect(np.allclose(made, expected), f"{name}: {made} instead of {expected}")
        call(program, "plan", file)
        call(program, "show", file, says="method forward")
    peer_pte.while_loop(0).write(file)
    for made in run_both(program, runner, file, x[0], folder):
        expect(np.allclose(made, x[0]), f"a loop that is never entered: {made}")
    (folder / "ours.npy").unlink()
    for name, status, said in (("endless", MALFORMED, "may never end"),
                               ("into_a_loop", UNSUPPORTED, "into or out of a branch")):
        getattr(peer_pte, name)().write(file)
        call(program, "run", file, "--in", folder / "x.npy", "--out", folder / "ours.npy", status=status, says=said)
        expect(not (folder / "ours.npy").exists(), f"{name}: refused, but there is an output")


def check_external_data(program, runner, folder):
    """Constants in a .ptd file."""
    file, data, x = folder / "outside.pte", folder / "outside.ptd", np.arange(4, dtype=np.float32)
    if not peer_pte.external().write(file):
        return
    w = np.array([10, 20, 30, 40], np.float32)
    call(program, "run", file, status=MALFORMED, says="layer.weight")
    call(program, "run", file, status=MALFORMED, says="--data")
    peer_pte.write_data(data, {"other": x, "layer.weight": w})
    for made in run_both(program, runner, file, x, folder):
        expect((made == x + w).all(), f"external data: {made}")
    whole = data.read_bytes()
    elsewhere = folder / "elsewhere.bin"
    data.rename(elsewhere)
    expect((run_both(program, None, file, x, folder, "--data", elsewhere)[0] == x + w).all(), "--data")
    call(program, "show", file, "--data", elsewhere, says="10, 20, 30, 40")
    call(program, "plan", file, "--data", elsewhere)
    call(program, "run", file, "--data", folder / "none.ptd", status=MALFORMED, says="none.ptd")
    call(program, "run", file, "--data", file, status=MALFORMED, says="FT01")
    for tensors, said in (({"other": x}, "no tensor 'layer.weight'"), ({"layer.weight": x[:2]}, "type or shape"),
                          ({"layer.weight": x.astype(np.int32)}, "type or shape")):
        peer_pte.write_data(data, tensors)
        call(program, "run", file, status=MALFORMED, says=said)
    for size in range(0, len(whole), 7):
        data.write_bytes(whole[:size])
        call(program, "run", file, status=MALFORMED, says="outside")


# Graphs, the shapes and dtypes of their inputs, and the numbers of their outputs.
SCANS = {
    "map": ("""headrace 1
%x: float32[3, 4] = input
%w: float32[4] = input
%m: float32[3, 4], %s: float32[3] = higher_order.map_impl({
    %row: float32[4] = input
    %w: float32[4] = input
    %e: float32[4] = aten.mul.Tensor(%row, %w)
    %t: float32[] = aten.sum.default(%e)
    output %e, %t
}, xs=[%x], operands=[%w])
output %m, %s
""", [((3, 4), "float32"), ((4,), "float32")], 2),
    "scan": ("""headrace 1
%x: float32[5, 4] = input
%z: int64[5] = input
%init: float32[4] = constant [1.0, 2.0, 3.0, 4.0]
%zero: int64[] = constant [0]
%last: float32[4], %n: int64[], %all: float32[5, 4], %counts: int64[5] = higher_order.scan({
    %h: float32[4] = input
    %k: int64[] = input
    %row: float32[4] = input
    %one: int64[] = input
    %next: float32[4] = aten.add.Tensor(%h, %row)
    %y: float32[4] = aten.tanh.default(%next)
    %k2: int64[] = aten.add.Tensor(%k, %one)
    output %next, %k2, %y, %k
}, init=[%init, %zero], xs=[%x, %z], additional_inputs=[])
output %last, %n, %all, %counts
""", [((5, 4), "float32"), ((5,), "int64")], 4),
    "nested": ("""headrace 1
%x: float32[3, 5, 2] = input
%init: float32[2] = constant [0.0, 0.5]
%sums: float32[3, 2], %all: float32[3, 5, 2] = higher_order.map_impl({
    %rows: float32[5, 2] = input
    %first: float32[2] = input
    %last: float32[2], %ys: float32[5, 2] = higher_order.scan({
        %h: float32[2] = input
        %row: float32[2] = input
        %next: float32[2] = aten.add.Tensor(%h, %row)
        %y: float32[2] = aten.sigmoid.default(%next)
        output %next, %y
    }, init=[%first], xs=[%rows], additional_inputs=[])
    output %last, %ys
}, xs=[%x], operands=[%init])
output %sums, %all
""", [((3, 5, 2), "float32")], 2),
}


def check_scans(program, runner, folder):
    """map and scan become loops: the results do not change."""
    random = np.random.RandomState(2)
    for name, (text, inputs, count) in SCANS.items():
        graph, file, given, made = folder / f"{name}.hr", folder / f"{name}.pte", [], {}
        graph.write_text(text)
        for i, (shape, dtype) in enumerate(inputs):
            given.append(folder / f"given{i}.npy")
            np.save(given[-1], (3 * random.randn(*shape)).astype(dtype))
        call(program, "lower", graph, "-o", file)
        commands = {"text": [program, "run", graph], "`run`": [program, "run", file]}
        if runner:
            commands["runtime"] = [runner, file, "forward"]
        for what, command in commands.items():
            outputs = [folder / f"made{i}.npy" for i in range(count)]
            is_runner = command[0] == runner
            call(*command, *([] if is_runner else ["--in"]), *given, "--" if is_runner else "--out", *outputs)
            made[what] = [np.load(o) for o in outputs]
            for i, (got, expected) in enumerate(zip(made[what], made["text"])):
                expect(got.dtype == expected.dtype and np.allclose(got, expected, atol=1e-6),
                       f"{name}: output {i} of {what} is wrong")


# Takes the place of Vela: has the same inputs and outputs.
VELA = """#!{python}
import pathlib, sys
sys.path.insert(0, {folder!r})
from embed import write_vela
model, rest = pathlib.Path(sys.argv[1]), sys.argv[2:]
assert model.read_bytes()[4:8] == b"TOSA"
assert rest[:4] == ["--accelerator-config", "ethos-u55-128", "--output-format", "raw"], rest
print("CPU operators = {left} ({left}.0%)")
write_vela(pathlib.Path(rest[5]) / (model.stem + "_vela.npz"))
sys.exit({ended})
"""


def blocks_of(blob):
    """Returns the names and data of an Ethos-U blob."""
    at, blocks = 0, []
    while at < len(blob):
        name, size = blob[at:at + 16].rstrip(b"\0").decode(), int.from_bytes(blob[at + 16:at + 20], "little")
        expect(blob[at + 20:at + 32] == bytes(12), f"block {name}: its head is not zero behind the size")
        blocks.append((name, blob[at + 32:at + 32 + size]))
        at += 32 + -(-size // 16) * 16
    expect(at == len(blob), "the last block ends past the end of the blob")
    return blocks


def check_vela(program, folder):
    """Delegates for an NPU are Vela's output in the backend's blocks."""
    model, file, vela = ROOT / "tests/fixtures/quantized_cnn/model.pt2", folder / "npu.pte", folder / "vela"

    def lower(left=0, ended=0, **expected):
        vela.write_text(VELA.format(python=sys.executable, folder=str(ROOT / "tests/end_to_end"), left=left,
                                    ended=ended))
        vela.chmod(0o755)
        file.unlink(missing_ok=True)
        return call(program, "lower", model, "-o", file, "--delegate", "ethos-u55-128", "--vela", vela, "--report",
                    folder / "report.json", **expected)

    lower()
    method = json.loads((folder / "report.json").read_text())["methods"]["forward"]
    expect({d["backend"] for d in method["delegates"]} == {"EthosUBackend"}, f"delegates: {method['delegates']}")
    content = file.read_bytes()
    begin = content.index(b"vela_bin_stream")
    expect(begin % 16 == 0, "the blob is not aligned")
    end = content.index(b"vela_end_stream")
    blocks = blocks_of(content[begin:end + 32])
    expect([name for name, _ in blocks] == ["vela_bin_stream", "cmd_data", "weight_data", "scratch_size", "inputs",
                                            "outputs", "vela_end_stream"], f"blocks: {[n for n, _ in blocks]}")
    data = dict(blocks)
    expect(data["cmd_data"].startswith(b"COP1") and data["weight_data"] == b"abcde", "commands or weights differ")
    expect(len(data["inputs"]) == 40 and data["inputs"][0] == 1, "not one input of nine numbers")
    call(program, "show", file, says="delegate of EthosUBackend")
    call(program, "run", file, status=UNSUPPORTED, says="error: run does not execute delegates of EthosUBackend\n")
    call(program, "unpack", file, "--delegate", 0, "-o", folder / "x.tosa", status=UNSUPPORTED, says="EthosUBackend")
    call(program, "lower", model, "-o", file, "--delegate", "ethos-u55-128", "--vela", vela, "--kernels", "cortex_m",
         "--io", folder / "io.json")
    call(program, "show", file, says="delegate of EthosUBackend")
    lower(left=3, status=UNSUPPORTED, says="to the CPU")
    expect(not file.exists(), "Vela has failed, but there is a file")
    lower(ended=1, status=UNSUPPORTED, says="Vela exited with status 1")
    vela.write_text(f"#!{sys.executable}\nraise KeyError(5)\n")
    call(program, "lower", model, "-o", file, "--delegate", "ethos-u55-128", "--vela", vela, status=UNSUPPORTED,
         says="an error of its own, which says nothing about the model: 'KeyError: 5'")
    call(program, "lower", model, "-o", file, "--delegate", "ethos-u55-128", "--vela", folder / "none",
         status=UNSUPPORTED, says="cannot run Vela")
    call(program, "lower", model, "-o", file, "--delegate", "tosa", "--vela", vela, status=USAGE, says="Ethos-U")


def check_kernel_report(program, folder):
    """The report says where each node is computed, and the program prints the sum of it."""
    file, report_file = folder / "kernels.pte", folder / "report.json"

    def lower(model):
        printed = call(program, "lower", model / "model.pt2", "-o", file, "--kernels", "cortex_m", "--report", report_file)
        return printed.stdout, json.loads(report_file.read_text())["methods"]["forward"]

    text, told = lower(ROOT / "examples" / "models" / "kws_dscnn_int8")
    expect(f"100 % of 2.66 M MACs in integers, {told['planned_bytes']:,} bytes planned" in text, f"it prints {text}")
    expect(told["integer_share"] == 1 and told["macs"]["cortex_m"] == told["macs"]["total"] == told["integer_macs"],
           f"not all multiplications are in integers: {told['macs']}")
    nodes = {n["node"]: n for n in told["nodes"]}
    expect(nodes["conv2d"]["runs_on"] == "cortex_m" and nodes["conv2d"]["macs"] > 0 and "reason" not in nodes["conv2d"],
           f"the convolution: {nodes['conv2d']}")
    expect(any("conv2d" in k for k in nodes["conv2d"]["kernels"]), f"the convolution: {nodes['conv2d']}")
    text, told = lower(ROOT / "tests" / "fixtures" / "quantized_int16")
    expect("linear (aten.linear.default): the kernels for Cortex-M take integers of 8 bits" in text, f"it prints {text}")
    linear = next(n for n in told["nodes"] if n["node"] == "linear")
    expect(linear["runs_on"] == "portable" and not linear["in_integers"] and "8 bits" in linear["reason"],
           f"a product of int16: {linear}")
    expect(told["integer_share"] == 0, "products of int16 count as integers")


def check_own_backend(program, runner, example, folder):
    """A file with delegates of another backend, which reads its compile spec and named data in the runtime."""
    file, x = folder / "own.pte", np.random.RandomState(3).randn(2, 3).astype(np.float32)
    printed = call(example, file, says="delegate of vector_unit")
    for line in ("precision=float32", "24 bytes in segment"):
        expect(line in printed.stdout, f"own backend: the example does not print '{line}'")
    call(program, "show", file, says="delegate of vector_unit(")
    call(program, "plan", file)
    call(program, "unpack", file, "--delegate", 0, "-o", folder / "x.tosa", status=UNSUPPORTED, says="vector_unit")
    if not runner:
        return
    np.save(folder / "x.npy", x)
    call(runner, file, "forward", folder / "x.npy", "--", folder / "y.npy")
    weight, bias = np.array([[1, 2, 3], [0.5, -1, 4]]), np.array([[0.5, 0.25, 0], [-0.5, 1, -2]])
    expected = np.tanh(x * weight + bias) * weight
    expect(np.allclose(np.load(folder / "y.npy"), expected, atol=1e-5), "own backend: the runtime's result is wrong")
    damaged = folder / "damaged.pte"
    for part in (b"float32", b"vector_unit.1"):  # the compile spec, and the first key
        damaged.write_bytes(file.read_bytes().replace(part, b"X" + part[1:], 1))
        done = subprocess.run([runner, damaged, "forward", folder / "x.npy", "--", folder / "y.npy"],
                              capture_output=True)
        expect(done.returncode != 0, f"own backend: the runtime does not miss {part}")


def main():
    program, compiler = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runner = runner_in(folder, compiler)
        print("ExecuTorch's runtime:", "there" if runner else "not installed, left out")
        os.environ["HEADRACE"] = program
        for model in MODELS:
            check_model(program, runner, model, folder, ())
            delegated = check_model(program, runner, model, folder, ("--delegate", "tosa"))
            if delegated:
                check_delegates(program, model, folder)
        check_methods(program, folder)
        check_verified(program, folder)
        check_quantized_here(program, folder)
        check_ignored(program, folder)
        check_integer_interface(program, runner, folder)
        check_shared_constants(program, runner, folder)
        check_damage(program, folder)
        check_state(program, runner, folder)
        check_vela(program, folder)
        check_kernel_report(program, folder)
        if len(sys.argv) > 3:
            check_own_backend(program, runner, sys.argv[3], folder)
        check_peer(program, runner, folder)
        check_external_data(program, runner, folder)
        check_scans(program, runner, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
