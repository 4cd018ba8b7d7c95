#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantizes networks whose inputs are a camera's bytes or a microphone's samples: integers are taken as they are, the
result is as close to the float model as with float inputs, and every output computes the same.

    device_inputs.py PROGRAM [COMPILER]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect, report
from pte import runner_in

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/fixtures"
MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
NORMALIZED = "uint8/255-[0.485,0.456,0.406]/[0.229,0.224,0.225]"
TYPES = {"INT8": np.int8, "INT16": np.int16, "UINT8": np.uint8}


def images(shape, count, seed=0):
    """Smooth images of bytes, of other brightness each."""
    generator = np.random.default_rng(seed)
    coarse = generator.uniform(0, 255, [count, shape[1], 4, 4])
    fine = np.kron(coarse, np.ones((shape[2] // 4 + 1, shape[3] // 4 + 1)))[:, :, :shape[2], :shape[3]]
    return np.clip(fine * generator.uniform(0.5, 1, [count, 1, 1, 1]) + generator.normal(0, 12, fine.shape), 0,
                   255).astype(np.uint8)


def sounds(shape, count, seed=0):
    generator = np.random.default_rng(seed)
    at = np.arange(shape[-1]) * generator.uniform(0.02, 1.5, [count, 1, 1])
    waves = np.sin(at) * generator.uniform(2000, 30000, [count, 1, 1]) + generator.normal(0, 500, [count, *shape[1:]])
    return np.clip(waves, -32768, 32767).astype(np.int16)


def as_normalized(bytes_):
    return ((bytes_.astype(np.float32) / 255 - MEAN[:, None, None]) / STD[:, None, None]).astype(np.float32)


def as_wave(samples):
    return samples.astype(np.float32) * np.float32(2.0 ** -15)


# Fixture, SPEC, what the float model takes of the integers, integers, options of quantize, target.
CASES = (("camera", NORMALIZED, as_normalized, images, (), "INT"),
         ("camera_bytes", None, lambda x: x, images, (), "INT"),
         ("conv_bn_relu", NORMALIZED, as_normalized, images, (), "INT"),
         ("sound", "int16*3.0517578125e-5", as_wave, sounds, (), "INT+int16"),
         ("sound", "int16*3.0517578125e-5", as_wave, sounds, ("--activations", "int16"), "INT+int16"))


def decibels(expected, got):
    return 10 * np.log10((expected ** 2).sum() / max(((expected - got) ** 2).sum(), 1e-30))


class Case:
    def __init__(self, program, compiler, runner, folder, name, spec, real, made, options, target):
        self.program, self.folder, self.target, self.real = program, folder, target, real
        self.compiler, self.runner = compiler, runner
        self.model = FIXTURES / name / "model.pt2"
        tensor = json.loads((FIXTURES / name / "meta.json").read_text())["inputs"][0]
        self.title = f"{name} {' '.join(options)}"
        self.calibration, self.tests = made(tensor["shape"], 32), made(tensor["shape"], 8, seed=1)
        self.input = ("--input", f"{tensor['name']}={spec}") if spec else ()
        self.options = options
        self.quantized = folder / "int.pt2"

    def expect(self, condition, what):
        expect(condition, f"{self.title}: {what}")

    def quantize(self, samples, out, *options):
        np.save(self.folder / "samples.npy", samples)
        call(self.program, "quantize", self.model, "--samples", self.folder / "samples.npy", "-o", out, *self.options,
             *options)

    def run(self, model, x):
        np.save(self.folder / "x.npy", x)
        call(self.program, "run", model, "--in", self.folder / "x.npy", "--out", self.folder / "y.npy")
        return np.load(self.folder / "y.npy")

    def all_of(self, model, inputs):
        return np.stack([self.run(model, x[None]) for x in inputs])

    def check_accuracy(self):
        self.quantize(self.calibration, self.quantized, *self.input)
        expected = self.all_of(self.model, self.real(self.tests))
        got = decibels(expected, self.all_of(self.quantized, self.tests))
        if not self.input:
            self.expect(got > 25, f"{got:.1f} dB")
            return
        self.quantize(self.real(self.calibration), self.folder / "float.pt2")
        of_floats = decibels(expected, self.all_of(self.folder / "float.pt2", self.real(self.tests)))
        print(f"{self.title}: {got:.2f} dB, with float input {of_floats:.2f} dB")
        self.expect(got > of_floats - 0.5, f"{got:.2f} dB, with float input {of_floats:.2f} dB")

    def check_flatbuffer(self):
        flat, io = self.folder / "int.tosa", self.folder / "io.json"
        for target in (self.target, self.target + "+u55"):
            call(self.program, "lower", self.quantized, "-o", flat, "--io", io, "--target", target, "--verify")
        call(self.program, "lower", self.quantized, "-o", flat, "--io", io, "--target", self.target)
        self.described = json.loads(io.read_text())
        taken = self.described["inputs"][0]
        self.expect(TYPES.get(taken["dtype"]) == self.tests.dtype.type, f"--io tells {taken}")
        if self.input:
            told = taken["quantization"]
            real = (self.tests - np.reshape(told["zero_point"], [-1] + [1] * (self.tests.ndim - 2))) * np.reshape(
                told["scale"], [-1] + [1] * (self.tests.ndim - 2))
            self.expect(told["raw"] and np.allclose(real, self.real(self.tests), atol=1e-5), f"--io tells {told}")
        self.y = [self.run(flat, x[None]) for x in self.tests]
        for x, y in zip(self.tests, self.y):
            np.save(self.folder / "x.npy", x[None])
            call(self.program, "run", flat, "--io", io, "--in", self.folder / "x.npy", "--out", self.folder / "y.npy")
            self.check_same(np.load(self.folder / "y.npy"), y, "run --io")
        call(self.program, "compare", self.quantized, flat, "--in", self.folder / "x.npy")
        self.check_reference_model(flat)

    def check_same(self, got, wanted, what):
        scale = self.described["outputs"][0]["quantization"]
        if got.dtype == np.float32 and wanted.dtype != np.float32:
            wanted = (wanted.astype(np.float32) - scale["zero_point"]) * np.float32(scale["scale"])
        self.expect(got.shape == wanted.shape and np.allclose(got, wanted, rtol=0, atol=1e-5), f"{what} gives others")

    def check_reference_model(self, flat):
        try:
            import tosa_reference_model as reference
        except ImportError:
            return
        for x, y in zip(self.tests, self.y):
            given = x[None] if x.dtype != np.uint8 else x[None].view(np.int8)
            got, status = reference.run(flat.read_bytes(), [np.ascontiguousarray(given)], verbosity="NONE",
                                        initialize_variable_tensor_from_numpy=1)
            self.expect(status == reference.GraphStatus.TOSA_VALID, f"the reference model says {status}")
            self.expect(np.array_equal(got[0], y), "the reference model computes others")

    def check_header(self):
        call(self.program, "lower", self.quantized, "-o", self.folder / "m.hpp", "--core", "host")
        built = subprocess.run([self.compiler, "-std=c++20", "-O1", f"-I{ROOT}/include", '-DHEADER="m.hpp"', "-DMODEL=m",
                                f"-I{self.folder}", ROOT / "tests/on_device/host/main.cpp", "-o", self.folder / "m"],
                               capture_output=True, text=True)
        self.expect(built.returncode == 0, built.stderr[:300])
        for x, y in zip(self.tests, self.y):
            x.tofile(self.folder / "x.bin")
            subprocess.run([self.folder / "m", self.folder / "x.bin", self.folder / "y.bin"], check=False)
            got = np.fromfile(self.folder / "y.bin", y.dtype)
            self.expect(np.array_equal(got, y.ravel()), "the C++ type computes others")

    def check_pte(self):
        for options in ((), ("--core", "cortex-m4"), ("--io-type", "int8")):
            if "--io-type" in options and "int16" in self.options:
                continue
            made = self.folder / "m.pte"
            call(self.program, "lower", self.quantized, "-o", made, *options, "--io", self.folder / "pte.json")
            taken = json.loads((self.folder / "pte.json").read_text())["inputs"][0]
            self.expect(TYPES.get(taken["dtype"]) == self.tests.dtype.type, f"{options}: --io tells {taken}")
            y = self.run(made, self.tests[:1])
            if not options:
                step = self.described["outputs"][0]["quantization"]
                wanted = (self.y[0].astype(np.float32) - step["zero_point"]) * np.float32(step["scale"])
                self.expect(np.allclose(y, wanted, rtol=0, atol=1.01 * step["scale"]), "the .pte computes others")
                self.check_runtime(made, y)

    def check_runtime(self, made, y):
        """ExecuTorch's own runtime takes the integers and computes the same, up to one step."""
        if self.runner is None:
            return
        np.save(self.folder / "x.npy", self.tests[:1])
        out = self.folder / "runtime.npy"
        done = subprocess.run([self.runner, made, "forward", self.folder / "x.npy", "--", out], capture_output=True,
                              text=True)
        self.expect(done.returncode == 0, f"ExecuTorch's runtime says {done.stderr[-300:]}")
        if done.returncode == 0:
            step = self.described["outputs"][0]["quantization"]["scale"]
            self.expect(np.allclose(np.load(out), y, rtol=0, atol=1.01 * step), "ExecuTorch's runtime computes others")

    def check_vela(self):
        vela = pathlib.Path(sys.executable).parent / "vela"
        if not vela.exists():
            return
        for accelerator in ("ethos-u55-128", "ethos-u85-256"):
            told = self.folder / "report.json"
            call(self.program, "lower", self.quantized, "-o", self.folder / "npu.tosa", "--cost", accelerator, "--vela",
                 vela, "--report", told)
            if told.exists():
                cost = json.loads(told.read_text())["cost"]
                self.expect(cost["on_cpu"] == 0, f"{accelerator}: {cost['on_cpu']} operators on the CPU")


def check_refusals(program, folder):
    model, samples, out = FIXTURES / "camera/model.pt2", folder / "s.npy", folder / "no.pt2"
    np.save(samples, np.full([1, 3, 17, 17], 300, np.int16))
    arguments = ("quantize", model, "--samples", samples, "-o", out, "--input")
    call(program, *arguments, "image=uint8/255", status=MALFORMED, says="which is no uint8")
    call(program, *arguments, "image=uint8/0", status=USAGE, says="a division by 0")
    call(program, *arguments, "picture=uint8", status=UNSUPPORTED, says="its inputs are image")
    call(program, *arguments, "image=uint8*[1,2]", status=UNSUPPORTED, says="has 3 channels, not 2")
    expect(not out.exists(), "a refusal left a file")


def main():
    program, compiler = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "c++"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runner = runner_in(folder, compiler)
        for case in CASES:
            c = Case(program, compiler, runner, folder, *case)
            c.check_accuracy()
            c.check_flatbuffer()
            c.check_header()
            c.check_pte()
            c.check_vela()
        check_refusals(program, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
