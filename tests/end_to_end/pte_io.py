#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the description of a `.pte` file's inputs and outputs (`--io`), and the options that say what a file
takes and gives and what computes it (`--io-type`, `--io-layout`, `--kernels`, `--core`).

    pte_io.py PROGRAM
"""
import json
import pathlib
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
QUANTIZED = FIXTURES / "quantized_cnn" / "model.pt2"
FLOAT = FIXTURES / "conv_bn_relu" / "model.pt2"
FORMER = "warning: --io {0}: write --io-type {0}"


def described(path):
    return json.loads(path.read_text())


def as_exported(io):
    """Returns the description with the types of the export, which flatbuffers narrow and `.pte` files do not."""
    for t in io["inputs"] + io["outputs"]:
        t["dtype"] = t.pop("exported_dtype", t["dtype"])
    return io


def check_integers(program, folder):
    """Integers are described as those of a flatbuffer are: the same names, and scales with all their digits."""
    io, of_flatbuffer, file = folder / "io.json", folder / "tosa.json", folder / "model.pte"
    for model in (QUANTIZED, FIXTURES / "quantized_mobile" / "model.pt2", FIXTURES / "quantized_int16" / "model.pt2"):
        call(program, "lower", model, "-o", folder / "model.tosa", "--io", of_flatbuffer)
        for options in ((), ("--delegate", "tosa")):
            call(program, "lower", model, "-o", file, "--io-type", "int8", "--io", io, *options)
            expect(described(io) == as_exported(described(of_flatbuffer)), f"{model}, {options}: not as a flatbuffer's")
    scale = described(io)["inputs"][0]["quantization"]["scale"]
    expect(scale != float(np.float32(scale)), f"the test needs a scale that no float32 holds, not {scale}")
    call(program, "lower", QUANTIZED, "-o", file, "--io", io)
    tensors = [t for side in described(io).values() for t in side]
    expect(all(t["dtype"] == "FP32" and "quantization" not in t for t in tensors), f"floats as {tensors}")
    call(program, "lower", FLOAT, "-o", folder / "none.pte", "--io-type", "int8", "--io", folder / "none.json",
         status=UNSUPPORTED, says="not quantized")
    expect(not list(folder.glob("none*")), "a refused model, but there are files")


def check_run(program, folder):
    """With its description, a program of integers takes and gives what the exported program does."""
    io, file, y = folder / "io.json", folder / "model.pte", folder / "y.npy"
    x, expected = QUANTIZED.parent / "in0.npy", np.load(QUANTIZED.parent / "out0.npy")
    call(program, "lower", QUANTIZED, "-o", file, "--io-type", "int8", "--io", io)
    call(program, "run", file, "--io", io, "--in", x, "--out", y)
    step = described(io)["outputs"][0]["quantization"]["scale"]
    got = np.load(y)
    expect(got.dtype == np.float32 and np.abs(got - expected).max() <= 1.0001 * step, "`run --io` is wrong")
    call(program, "run", file, "--in", x, status=MALFORMED, says="int8")


def check_methods(program, folder):
    """Methods are described by name; `run` takes the method's part."""
    parts = {m: FIXTURES / "partition" / f"two_methods.{m}" for m in ("encode", "decode")}
    given = [a for name, part in parts.items() for a in ("--method", f"{name}={part / 'model.pt2'}")]
    io, file = folder / "io.json", folder / "both.pte"
    for options in ((), ("--delegate", "tosa"), ("--partition", "--kernels", "cortex_m", "--io-type", "float")):
        call(program, "lower", *given, "-o", file, "--io", io, *options)
        methods = described(io)["methods"]
        expect(list(methods) == ["decode", "encode"], f"methods {list(methods)}")
        for name, part in parts.items():
            call(program, "lower", part / "model.pt2", "-o", folder / "one.pte", "--io", folder / "one.json")
            expect(methods[name] == described(folder / "one.json"), f"{name} is described differently by itself")
            call(program, "run", file, "--method", name, "--io", io)
    call(program, "run", folder / "one.pte", "--io", io, status=MALFORMED, says="the methods decode, encode")
    call(program, "lower", *given[:2], "-o", file, "--io", io)
    call(program, "run", file, "--io", io)
    call(program, "run", file, "--method", "encode", "--io", io)
    call(program, "lower", *given[2:], "-o", folder / "decode.pte", "--io", folder / "decode.json")
    call(program, "run", file, "--method", "encode", "--io", folder / "decode.json", status=MALFORMED,
         says="the methods decode, not encode")


def outputs_of(program, file, y, *options):
    call(program, "run", file, "--out", y, *options)
    return np.load(y)


def check_layout(program, folder):
    """Images are NHWC where a flatbuffer's are, and the numbers those of the program that takes NCHW."""
    image = FIXTURES / "depthwise_residual"  # takes an image, and gives one
    quantized = folder / "quantized.pt2"
    call(program, "quantize", image / "model.pt2", "--samples", image / "in0.npy", "-o", quantized)
    models = [(QUANTIZED, QUANTIZED.parent), (quantized, image), (image / "model.pt2", image)]
    integers, kernels, delegates = ("--io-type", "int8"), ("--core", "cortex-m55"), ("--delegate", "tosa")
    last, first, io, y = folder / "last.pte", folder / "first.pte", folder / "io.json", folder / "y.npy"
    for model, given in models:
        x = np.load(given / "in0.npy")
        np.save(folder / "x.npy", np.ascontiguousarray(x.transpose(0, 2, 3, 1)))
        is_float = model.parent == image
        for options in ((), kernels, delegates) if is_float else (
                (), kernels, delegates, integers, integers + kernels, integers + delegates):
            what = f"{model.name} of {given.name}, {options}"
            call(program, "lower", model, "-o", first, "--io", folder / "first.json", *options)
            call(program, "lower", model, "-o", last, "--io-layout", "nchw", *options)
            expect(first.read_bytes() == last.read_bytes(), f"{what}: --io-layout nchw gives other bytes")
            call(program, "lower", model, "-o", last, "--io", io, "--io-layout", "nhwc", *options)
            if is_float or "--io-type" in options:
                call(program, "lower", model, "-o", folder / "model.tosa", "--io", folder / "tosa.json",
                     "--io-layout", "nhwc")
                expect(described(io) == as_exported(described(folder / "tosa.json")), f"{what}: not as a flatbuffer's")
            inputs = described(io)["inputs"]
            expect([(t["layout"], t["shape"][3]) for t in inputs] == [("NHWC", x.shape[1])], f"{what}: {inputs}")
            wanted = outputs_of(program, first, y, "--io", folder / "first.json", "--in", given / "in0.npy")
            got = outputs_of(program, last, y, "--io", io, "--in", given / "in0.npy")
            expect(np.array_equal(got, wanted), f"{what}: other numbers than from NCHW")
            # Without the description, a file takes and gives what it has.
            got = outputs_of(program, last, y, "--in", folder / "x.npy") if "--io-type" not in options else None
            if got is not None:
                got = got.transpose(0, 3, 1, 2) if got.ndim == 4 else got
                expect(np.array_equal(got, wanted), f"{what}: other numbers from NHWC")
                call(program, "run", last, "--in", given / "in0.npy", "--out", y, status=MALFORMED, says="shape")
            text = call(program, "show", "--full", last).stdout
            moves = "cortex_m.transpose" in text or "permute_copy" in text
            expect("--core" not in options or is_float or not moves, f"{what}: a transpose is left")
            call(program, "lower", model, "-o", last, "--io-layout", "nhwc", "--verify", "--in", given / "in0.npy",
                 *options, says="verified")


def check_former_spelling(program, folder):
    """`--io int8` is `--io-type int8`, with a warning."""
    old, new = folder / "old.pte", folder / "new.pte"
    for kind in ("int8", "float"):
        call(program, "lower", QUANTIZED, "-o", new, "--io-type", kind)
        for quiet in ((), ("-q",)):
            said = call(program, "lower", QUANTIZED, "-o", old, "--io", kind, *quiet).stderr
            expect(said.count("warning:") == 1 and FORMER.format(kind) in said, f"--io {kind} {quiet} says {said!r}")
            expect(old.read_bytes() == new.read_bytes(), f"--io {kind} and --io-type {kind} give other bytes")
        expect("warning" not in call(program, "lower", QUANTIZED, "-o", new, "--io-type", kind).stderr, "a warning")
        call(program, "lower", QUANTIZED, "-o", new, "--io", kind, "--io-type", kind, status=USAGE, says="--io-type")
        call(program, "lower", QUANTIZED, "-o", folder / "x.tosa", "--io", folder / kind)
        expect((folder / kind).exists(), f"--io {folder / kind} is a file")
    call(program, "lower", QUANTIZED, "-o", new, "--io-type", "int8", "--io", folder / "float")


def check_kernels(program, folder):
    """Cores name their kernels; portable ones run on all, and are what is written without a core."""
    default, portable, file = folder / "default.pte", folder / "portable.pte", folder / "model.pte"
    call(program, "lower", QUANTIZED, "-o", default)
    for options in ((), ("--core", "cortex-m4")):
        call(program, "lower", QUANTIZED, "-o", portable, "--kernels", "portable", *options)
        expect(portable.read_bytes() == default.read_bytes(), f"--kernels portable {options} is not the default")
    alone, named = folder / "alone.pte", folder / "named.pte"
    call(program, "lower", QUANTIZED, "-o", alone, "--kernels", "cortex_m")
    for options in (("--core", "cortex-m55"), ("--core", "cortex-m55", "--kernels", "cortex_m")):
        call(program, "lower", QUANTIZED, "-o", named, *options)
        expect(alone.read_bytes() == named.read_bytes(), f"--kernels cortex_m is not {options}")
    for core in ("cortex-m0", "cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m85"):
        call(program, "lower", QUANTIZED, "-o", file, "--core", core, "--io-type", "int8", "--delegate", "tosa")
    for core in ("host", "cortex-a53", "m4"):
        for options in ((), ("--kernels", "cortex_m"), ("--kernels", "portable")):
            call(program, "lower", QUANTIZED, "-o", folder / "none.pte", "--core", core, *options, status=USAGE,
                 says="the cores are cortex-m0, ")
    for options in (("--arena", 1000), ("--flash", 1000)):
        call(program, "lower", QUANTIZED, "-o", folder / "none.pte", "--core", "cortex-m4", *options, status=USAGE,
             says=".hpp")
    expect(not (folder / "none.pte").exists(), "bad usage, but there is a file")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        for check in (check_integers, check_run, check_methods, check_layout, check_former_spelling, check_kernels):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            check(program, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
