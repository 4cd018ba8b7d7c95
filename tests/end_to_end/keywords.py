#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes a keyword spotter of raw samples from float to each format: its front end in int16, with 32 bits for what the
logarithm reads, its network in int8. All integers are equal, on the reference model and in ExecuTorch's runtime too, and
so are those of the stream.

    keywords.py PROGRAM [COMPILER]     exit status 77 without the reference model
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    sys.exit(77)

import pte
import run as whole
from calls import call, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests/fixtures/speech_keywords/model.pt2"
CONFIG = {"rules": [{"name": "x", "activations": "int16"}, {"module": "front", "activations": "int16"}]}
MAIN = """#include "kws.hpp"
alignas(16) static std::byte arena[kws::model::arena_bytes];
int main() { return kws::model{arena}.self_test() ? 0 : 1; }
"""


def sound(seed, size=2560):
    """Noise, and three tones that begin at different times."""
    g = numpy.random.default_rng(seed)
    seconds = numpy.arange(size) / 16000
    x = g.uniform(0.002, 0.05) * g.standard_normal(size)
    for _ in range(3):
        tone = numpy.sin(2 * numpy.pi * 80 * 2 ** g.uniform(0, 6) * seconds + g.uniform(0, 6.28))
        x += g.uniform(0.02, 0.3) * tone * (seconds > g.uniform(0, 0.1))
    return numpy.clip(x, -1, 1).astype(numpy.float32)[None]


def execute(program, model, x, folder, *options):
    numpy.save(folder / "x.npy", x)
    call(program, "run", model, "--in", folder / "x.npy", "--out", folder / "y.npy", *options)
    return numpy.load(folder / "y.npy")


def check_quality(program, quantized, folder):
    signal = error = 0.0
    for seed in range(100, 104):
        expected = execute(program, MODEL, sound(seed), folder)
        signal += (expected**2).sum()
        error += ((expected - execute(program, quantized, sound(seed), folder)) ** 2).sum()
    quality = 10 * numpy.log10(signal / error)
    expect(quality > 38, f"{quality:.1f} dB")


def check_integers(program, quantized, folder):
    """The plain target, Ethos-U55 and the reference model agree; floats may round a number near a tie otherwise."""
    x = sound(100)
    reals = execute(program, quantized, x, folder)
    found = []
    for target in ("INT+int16", "INT+int16+u55", "INT+int16+u85"):
        made, io = folder / "kws.tosa", folder / "io.json"
        call(program, "lower", quantized, "-o", made, "--io", io, "--target", target)
        found.append(execute(program, made, x, folder, "--io", io))
        sides = json.loads(io.read_text())
        given = whole.quantized(x, sides["inputs"][0])
        (codes,) = whole.reference(made.read_bytes(), [whole.to_layout(given, sides["inputs"][0])], sides["inputs"])
        expected = whole.dequantized(whole.from_layout(codes, sides["outputs"][0]), sides["outputs"][0])
        expect(numpy.allclose(found[-1], expected, atol=1e-7), f"{target}: the reference model computes otherwise")
    step = sides["outputs"][0]["quantization"]["scale"]
    expect(all((f == found[0]).all() for f in found), "targets compute otherwise than the plain one")
    expect(abs(found[0] - reals).max() < 1.5 * step, "integers differ from the quantized program by more than a step")


def check_executorch(program, quantized, folder, compiler):
    file = folder / "kws.pte"
    call(program, "lower", quantized, "-o", file)
    x = sound(101)
    expected = execute(program, quantized, x, folder)
    expect((execute(program, file, x, folder) == expected).all(), ".pte: `run` computes otherwise")
    runner = pte.runner_in(folder, compiler) if compiler else None
    if not runner:
        return
    numpy.save(folder / "x.npy", x)
    done = subprocess.run([runner, file, "forward", folder / "x.npy", "--", folder / "y.npy"], capture_output=True, text=True)
    expect(done.returncode == 0, f"ExecuTorch's runtime: {done.stderr[-500:]}")
    expect((numpy.load(folder / "y.npy") == expected).all(), "ExecuTorch's runtime computes otherwise")


def check_type(program, quantized, folder, compiler):
    call(program, "lower", quantized, "-o", folder / "kws.hpp", "--core", "host")
    if not compiler:
        return
    (folder / "main.cpp").write_text(MAIN)
    command = [compiler, "-std=c++20", "-O1", f"-I{ROOT / 'include'}", folder / "main.cpp", "-o", folder / "kws"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    expect(done.returncode == 0, f"the header does not compile: {done.stderr[:500]}")
    if done.returncode == 0:
        expect(subprocess.run([folder / "kws"]).returncode == 0, "the C++ type computes otherwise")


def check_rest(program, quantized, folder):
    call(program, "stream", quantized, "--axis", "x:1", "--step", "160", "-o", folder / "step.pt2", "--verify",
         says=" 0 not equal to the last bit")
    call(program, "lower", folder / "step.pt2", "-o", folder / "step.tosa", "--state", "io", "--target", "INT+int16+u55")
    vela = shutil.which("vela", path=str(pathlib.Path(sys.executable).parent))
    if vela:
        call(program, "lower", quantized, "-o", folder / "kws.tosa", "--target", "INT+int16+u55", "--cost",
             "ethos-u55-128", "--vela", vela, says=" 0 on the CPU")


def main(program, compiler=None):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        numpy.save(folder / "calib.npy", numpy.stack([sound(i) for i in range(32)]))
        (folder / "config.json").write_text(json.dumps(CONFIG))
        quantized = folder / "kws_quantized.pt2"
        call(program, "quantize", MODEL, "--samples", folder / "calib.npy", "--config", folder / "config.json", "-o", quantized)
        check_quality(program, quantized, folder)
        check_integers(program, quantized, folder)
        check_executorch(program, quantized, folder, compiler)
        check_type(program, quantized, folder, compiler)
        check_rest(program, quantized, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
