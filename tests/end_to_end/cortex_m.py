#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lowers quantized models to ExecuTorch's kernels for Cortex-M, for a core without vectors, one with DSP and one
with Helium. ExecuTorch's own runtime, with the kernels in tests/executorch, which are written after
examples/docs/cortex_m.md alone, and `headrace run` must give the same bits, close to the exported program's
numbers; nothing between dequantize and quantize may be float but what is named here.

    cortex_m.py PROGRAM COMPILER
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

from calls import call, expect, report
from cortex_m_scratch import differing_buffers, nodes_of, split
from pte import CORTEX_M, runner_in, step_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORES = {"cortex-m0plus": "scalar", "cortex-m4": "dsp", "cortex-m55": "mve"}
EXPORTED = [ROOT / "tests/fixtures" / name for name in ("quantized_attention", "quantized_cnn", "quantized_mobile")]
EXPORTED.append(ROOT / "examples/models/kws_dscnn_int8")
# Float models, which `headrace quantize` quantizes first.
FLOATS = [ROOT / "tests/fixtures" / name for name in ("attention", "conv_bn_relu", "depthwise_residual", "multi_output",
                                                      "rnn", "sources", "upsample_concat")]
FLOATS.append(ROOT / "examples/models/kws_dscnn")
STEPS = 2  # of quantization between the exported program's outputs and the kernels'
# By model: the kernels that may be float between dequantize and quantize.
FLOAT_KERNELS = {}


def float_islands(text):
    """Returns the kernels that compute with floats what comes from integers and becomes integers again."""
    made = {}  # by name: whether it comes from integers, and the float kernels since
    islands = set()
    for results, op, arguments in nodes_of(text):
        operands = [made[v] for v in re.findall(r"%[\w.]+", arguments) if v in made]
        from_integers = any(i for i, _ in operands)
        kernels = set().union(*(k for _, k in operands))
        if "quantize_" in op and "dequantize_" not in op:
            islands |= kernels if from_integers else set()
            continue
        for name, dtype, _ in results:
            if "dequantize_" in op:
                made[name] = (True, set())
            elif dtype.startswith("float"):
                moves = op in ("input", "constant", "executorch.reshape")
                made[name] = (from_integers, kernels if moves else kernels | {op})
    return islands


def check_text(name, core, text):
    islands = float_islands(text) - FLOAT_KERNELS.get(name, set())
    expect(not islands, f"{name}, {core}: float between dequantize and quantize: {', '.join(sorted(islands))}")
    expect("cortex_m." in text, f"{name}, {core}: no kernel for Cortex-M")
    buffers, others = differing_buffers(text, CORES[core])
    for other in others:
        expect(False, f"{name}, {core}: {other}")
    return buffers


def check_outputs(name, core, expected, got):
    for i, (e, g) in enumerate(zip(expected, got)):
        if not g.exists() or not e.exists():
            continue  # the reason has been told
        a, b = np.load(e), np.load(g)
        if a.shape != b.shape or a.dtype != b.dtype:
            expect(False, f"{name}, {core}: output {i} is {b.dtype}{list(b.shape)}, not {a.dtype}{list(a.shape)}")
            continue
        away = np.abs(a.astype(np.float64) - b).max(initial=0)
        expect(away <= STEPS * 1.0001 * step_of(a) + 1e-6,
               f"{name}, {core}: output {i} is {away / max(step_of(a), 1e-30):.1f} steps away")


def check_model(program, runner, name, model, inputs, folder):
    """Returns how many buffers were compared with CMSIS-NN's sizes."""
    given = [a for x in inputs for a in ("--in", x)]
    count = len(split(call(program, "show", model).stdout.rsplit("output ", 1)[-1]))
    expected = [folder / f"{name}.want{i}.npy" for i in range(count)]
    call(program, "run", model, *given, *(a for x in expected for a in ("--out", x)))
    buffers = 0
    for core, kind in CORES.items():
        file = folder / f"{name}.{kind}.pte"
        call(program, "lower", model, "-o", file, "--kernels", "cortex_m", "--core", core)
        if not file.exists():
            continue
        ran, real = ([folder / f"{name}.{kind}.{who}{i}.npy" for i in range(count)] for who in ("run", "runtime"))
        call(program, "run", file, *given, *(a for x in ran for a in ("--out", x)))
        call(program, "plan", file, "--verify")
        check_outputs(name, core, expected, ran)
        buffers += check_text(name, core, call(program, "show", "--full", file).stdout)
        if not runner:
            continue
        done = subprocess.run([runner, file, "forward", *inputs, "--", *real], capture_output=True, text=True,
                              env={**os.environ, "HEADRACE_CORE": kind})
        said = [line for line in done.stderr.splitlines() if "refuses" in line] or [done.stderr[-300:]]
        expect(done.returncode == 0, f"{name}, {core}: ExecuTorch's runtime: {' | '.join(said)}")
        for i, (a, b) in enumerate(zip(ran, real)):
            same = done.returncode != 0 or (a.exists() and np.array_equal(np.load(a), np.load(b)))
            expect(same, f"{name}, {core}: output {i} of ExecuTorch's runtime is not that of `run`")
    return buffers


def check_other_core(program, runner, folder):
    """The kernels of one kind of core refuse the buffers of another."""
    model, file = ROOT / "examples/models/kws_dscnn_int8", folder / "other.pte"
    for core, kind in (("cortex-m55", "dsp"), ("cortex-m4", "mve"), ("cortex-m4", "scalar")):
        call(program, "lower", model / "model.pt2", "-o", file, "--kernels", "cortex_m", "--core", core)
        done = subprocess.run([runner, file, "forward", model / "in0.npy", "--", folder / "y.npy"], text=True,
                              capture_output=True, env={**os.environ, "HEADRACE_CORE": kind})
        expect(done.returncode != 0 and "refuses its call" in done.stderr, f"a program for {core} runs on {kind}")


def check_state(program, runner, folder):
    """The state of a quantized model is right from one execution to the next, by whatever kernels, and also if the
    model writes it in place."""
    model = ROOT / "tests/fixtures/buffer_update/model.pt2"
    file, samples, text = (folder / f"s.{ending}" for ending in ("pte", "npy", "hr"))
    np.save(samples, np.asarray([[1, 2], [0.5, 2.5], [1.5, 1.5], [1, 2]], np.float32))
    np.save(folder / "x.npy", np.asarray([1, 2], np.float32))
    text.write_text("headrace 1\n%x: float32[2] = input\n%n: float32[2] = constant [0.0, 0.0]\n"
                    "%s: float32[2] = aten.add_.Tensor(%n, %x)\n%y: float32[2] = aten.add.Tensor(%s, %s)\noutput %y\n")
    for source in (model, text):
        for options in ((), ("--core", "cortex-m4"), ("--core", "cortex-m55"), ("--delegate", "tosa")):
            call(program, "lower", source, "--quantize", samples, "-o", file, *options)
            for runs in (1, 2, 3):
                done = subprocess.run([runner, file, "forward", folder / "x.npy", "--", folder / "y.npy"], text=True,
                                      capture_output=True,
                                      env={**os.environ, "HEADRACE": program, "HEADRACE_RUNS": str(runs)})
                expect(done.returncode == 0, f"a state, {source.name} {options}: {done.stderr[-300:]}")
                got = np.load(folder / "y.npy") if done.returncode == 0 else np.zeros(2)
                expect(np.allclose(got, [2 * runs, 4 * runs], atol=0.2),
                       f"{source.name} {options}: {got} after {runs} executions")


QUANTIZED = "scale={0}, zero_point={1}, quant_min=-128, quant_max=127, dtype=int8)"
QUANTIZE = "quantized_decomposed.quantize_per_tensor.default(%{2}, " + QUANTIZED
DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor.default(%{2}, " + QUANTIZED
IMAGE = "1, 3, 2, 4"
# By name: a graph as text, and its input.
TEXTS = {
    # Bytes of 128 and more are positive.
    "camera": (f"""headrace 1
%x: uint8[1, 2, 4, 3] = input
%p: uint8[{IMAGE}] = aten.permute.default(%x, dims=[0, 3, 1, 2])
%f: float32[{IMAGE}] = aten.to.dtype(%p, dtype=float32)
%q: int8[{IMAGE}] = {QUANTIZE.format(1.0, -128, "f")}
%d: float32[{IMAGE}] = {DEQUANTIZE.format(1.0, -128, "q")}
%c: float32[] = constant [255]
%v: float32[{IMAGE}] = aten.div.Tensor(%d, %c)
%r: float32[{IMAGE}] = aten.sqrt.default(%v)
%q2: int8[{IMAGE}] = {QUANTIZE.format(0.00392156862, -128, "r")}
%d2: float32[{IMAGE}] = {DEQUANTIZE.format(0.00392156862, -128, "q2")}
output y=%d2
""", np.linspace(0, 255, 24).astype(np.uint8).reshape(1, 2, 4, 3)),
    # The scale of an input that was always 0 in calibration.
    "dead_input": (f"""headrace 1
%x: float32[1, 4] = input
%w: int8[3, 4] = constant [1, -127, 3, 4, 5, 60, 127, 8, 9, 10, 11, 12]
%b: float32[3] = constant [0.5, -0.75, 1.5]
%q: int8[1, 4] = {QUANTIZE.format(1.1920928955078125e-07, -128, "x")}
%d: float32[1, 4] = {DEQUANTIZE.format(1.1920928955078125e-07, -128, "q")}
%dw: float32[3, 4] = {DEQUANTIZE.format(0.0005, 0, "w")}
%l: float32[1, 3] = aten.linear.default(%d, %dw, %b)
%q2: int8[1, 3] = {QUANTIZE.format(0.0125, 3, "l")}
%d2: float32[1, 3] = {DEQUANTIZE.format(0.0125, 3, "q2")}
output y=%d2
""", np.zeros((1, 4), np.float32)),
}


def check_texts(program, runner, folder):
    """Programs that no export holds are right, with these kernels and in TOSA."""
    buffers = 0
    for name, (text, x) in TEXTS.items():
        model, given, expected, got = (folder / f"{name}{end}" for end in (".hr", ".npy", ".y0.npy", ".y1.npy"))
        model.write_text(text)
        np.save(given, x)
        buffers += check_model(program, runner, name, model, [given], folder)
        call(program, "run", model, "--in", given, "--out", expected)
        for file, options in ((folder / f"{name}.tosa", ("--io", folder / "io.json")),
                              (folder / f"{name}.pte", ("--delegate", "tosa"))):
            call(program, "lower", model, "-o", file, *options, "--verify", "--in", given)
            call(program, "run", file, *(options if "--io" in options else ()), "--in", given, "--out", got)
            check_outputs(name, options[-1], [expected], [got])
            got.unlink(missing_ok=True)
    return buffers


def main():
    program, compiler = sys.argv[1:3]
    buffers = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runner = runner_in(folder, compiler, CORTEX_M)
        if not runner:
            print("ExecuTorch's runtime is not installed")
            return 77
        for model in EXPORTED:
            inputs = sorted(model.glob("in*.npy"))
            buffers += check_model(program, runner, model.name, model / "model.pt2", inputs, folder)
        for model in FLOATS:
            inputs = sorted(model.glob("in*.npy"))
            quantized = folder / f"{model.name}_quantized.pt2"
            call(program, "quantize", model / "model.pt2", "--samples", *inputs, "-o", quantized)
            if quantized.exists():
                buffers += check_model(program, runner, f"{model.name}_quantized", quantized, inputs, folder)
        buffers += check_texts(program, runner, folder)
        check_other_core(program, runner, folder)
        check_state(program, runner, folder)
    print(f"{buffers} buffers have the sizes that CMSIS-NN's functions give")
    return report()


if __name__ == "__main__":
    sys.exit(main())
