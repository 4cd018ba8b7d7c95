#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares forms of a trained network layer by layer: the float program, the quantized one, and the lowered
one. The layer with badly scaled channels is named, and the figures agree with the models' outputs.

    compare.py PROGRAM
"""
import json
import pathlib
import sys
import tempfile

import calls
from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect

NETWORK = pathlib.Path(__file__).resolve().parent / "quantize_network"
MODEL = NETWORK / "model.pt2"


def layers_of(program, folder, *arguments):
    call(program, "compare", *arguments, "--json", folder / "c.json")
    return {layer["name"]: layer for layer in json.loads((folder / "c.json").read_text())["layers"]}


def output_of(layers):
    outputs = [layer for layer in layers.values() if layer["output"]]
    expect(len(outputs) == 1, f"{len(outputs)} outputs")
    return outputs[0]


def run(program, model, x, folder):
    numpy.save(folder / "x.npy", x)
    call(program, "run", model, "--in", folder / "x.npy", "--out", folder / "y.npy")
    return numpy.load(folder / "y.npy").astype(numpy.float64)


def check_forms(program, folder):
    samples = folder / "test.npy"
    numpy.save(samples, numpy.load(NETWORK / "calib.npy")[::8])
    made = {}
    for name, options in (("plain", []), ("equalized", ["--equalize"])):
        made[name] = folder / f"{name}.pt2"
        call(program, "quantize", MODEL, "--samples", NETWORK / "calib.npy", *options, "-o", made[name])
    plain = layers_of(program, folder, MODEL, made["plain"], "--in", samples)
    pairs = [[run(program, m, x[None], folder) for m in (MODEL, made["plain"])] for x in numpy.load(samples)]
    x, y = map(numpy.concatenate, zip(*pairs))
    sqnr = 10 * numpy.log10((x**2).sum() / ((x - y) ** 2).sum())
    expect(abs(output_of(plain)["sqnr_db"] - sqnr) < 0.01, f"output: {output_of(plain)['sqnr_db']} dB, not {sqnr}")
    equalized = layers_of(program, folder, MODEL, made["equalized"], "--in", samples)
    expect(output_of(equalized)["sqnr_db"] > sqnr + 10, "equalization gains nothing")

    tosa, io = folder / "m.tosa", folder / "io.json"
    call(program, "lower", made["plain"], "-o", tosa, "--io", io)
    through = ["--through", made["plain"]]
    lowered = layers_of(program, folder, MODEL, tosa, "--in", samples, *through)
    for name, layer in lowered.items():
        if name in plain and plain[name]["sqnr_db"] is not None and not layer["fitted"]:
            expect(abs(layer["sqnr_db"] - plain[name]["sqnr_db"]) < 1.5, f"{name}: {layer} and {plain[name]}")
    expect(len(lowered) > len(plain) / 2, f"{len(lowered)} layers of the flatbuffer match, {len(plain)} of the .pt2")
    quantized = layers_of(program, folder, made["plain"], tosa, "--in", samples)
    worst = min((layer["sqnr_db"] for layer in quantized.values() if layer["sqnr_db"] is not None), default=999)
    expect(worst > 30, f"lowering loses {worst} dB somewhere")
    described = layers_of(program, folder, MODEL, tosa, "--in", samples, "--io", io)
    expect(abs(output_of(described)["sqnr_db"] - sqnr) < 1.5, "with the description of inputs and outputs")
    call(program, "lower", made["plain"], "-o", folder / "m.pte")
    delegated = layers_of(program, folder, MODEL, folder / "m.pte", "--in", samples, *through)
    expect(output_of(delegated)["name"] == output_of(plain)["name"], "outputs of a .pte file")
    call(program, "lower", MODEL, "-o", folder / "float.tosa", "--target", "TOSA-1.0+FP")
    real = layers_of(program, folder, MODEL, folder / "float.tosa", "--in", samples)
    expect(all(layer["sqnr_db"] is None or layer["sqnr_db"] > 100 for layer in real.values()), "a float flatbuffer")


def check_kernels(program, folder):
    """Layers of .pte files are found without names, and the report says whose arithmetic they have."""
    model = NETWORK.parents[2] / "examples" / "models" / "kws_dscnn_int8"
    portable, cmsis = "ExecuTorch's portable kernels", "ExecuTorch's runtime with CMSIS-NN's kernels"
    file = folder / "kernels.pte"
    for options, machine, least in (([], portable, 100), (["--core", "cortex-m55"], cmsis, 25),
                                    (["--core", "cortex-m4", "--io-type", "int8"], cmsis, 25)):
        call(program, "lower", model / "model.pt2", "-o", file, *options)
        arguments = [model / "model.pt2", file, "--in", model / "in0.npy"]
        call(program, "compare", *arguments, says=f"the second model has the arithmetic of {machine}\n")
        layers = layers_of(program, folder, *arguments)
        expect(json.loads((folder / "c.json").read_text())["machine"] == machine, f"{options}: not {machine}")
        missing = {*(f"relu_{i}" for i in range(1, 9)), "relu", "avg_pool2d", "linear", "exp", "mul"} - set(layers)
        expect(not missing, f"{options}: no counterpart of {missing}")
        worst = min((layer["sqnr_db"] for layer in layers.values() if layer["sqnr_db"] is not None), default=999)
        expect(worst > least, f"{options}: a layer loses {worst} dB")


def check_output(program, folder):
    made, samples = folder / "plain.pt2", folder / "test.npy"
    arguments = ["compare", MODEL, made, "--in", samples]
    first = call(program, *arguments, "-j", 1, says="loses most").stdout
    expect(call(program, *arguments, "-j", 3).stdout == first, "other figures with three threads")
    lines = call(program, *arguments, "--top", 2, "--sort", "model", "--dot", folder / "c.dot").stdout.splitlines()
    expect(lines[0].startswith("layer") and lines[3].split()[1:3] == ["layers", "compared"], f"--top 2: {lines[:4]}")
    expect((folder / "c.dot").read_text().startswith("digraph"), "no picture")


def check_sources(program, folder):
    """Layers say which line of the model they come from, where the export has it."""
    network = NETWORK.parents[1] / "fixtures" / "sources"
    made, samples = folder / "sources.pt2", network / "in0.npy"
    call(program, "quantize", network / "model.pt2", "--samples", samples, "-o", made)
    found = layers_of(program, folder, network / "model.pt2", made, "--in", samples)
    expect(found["relu"]["source"] == "net.py:14" and "module" in found["relu"], f"no source: {found['relu']}")
    call(program, "compare", network / "model.pt2", made, "--in", samples, says="net.py:14: relu loses most")


def check_errors(program, folder):
    made, samples, tosa = folder / "plain.pt2", folder / "test.npy", folder / "m.tosa"
    call(program, "compare", MODEL, tosa, "--in", samples, status=UNSUPPORTED, says="--through")
    call(program, "compare", tosa, MODEL, "--in", samples, status=MALFORMED)
    call(program, "compare", MODEL, made, status=USAGE, says="--in")
    call(program, "compare", MODEL, made, "--in", samples, "--sort", "name", status=USAGE, says="--sort")
    call(program, "compare", MODEL, made, "--in", samples, "--json", made, status=USAGE, says="model itself")
    call(program, "compare", MODEL, made, "--in", samples, "--through", MODEL, status=UNSUPPORTED, says="not a quantized")
    call(program, "compare", MODEL, folder / "none.pt2", "--in", samples, status=MALFORMED, says="none.pt2")
    (folder / "bad.json").write_text('{"inputs": [], "outputs": []}')
    call(program, "compare", MODEL, tosa, "--in", samples, "--io", folder / "bad.json", status=MALFORMED, says="bad.json")
    whole = tosa.read_bytes()
    (folder / "short.tosa").write_bytes(whole[: len(whole) // 2])
    call(program, "compare", MODEL, folder / "short.tosa", "--in", samples, status=MALFORMED, says="short.tosa")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_forms(program, folder)
        check_output(program, folder)
        check_kernels(program, folder)
        check_sources(program, folder)
        check_errors(program, folder)
    return calls.report()


if __name__ == "__main__":
    try:
        import numpy
    except ImportError:
        print("skipped: needs numpy")
        sys.exit(77)
    sys.exit(main())
