#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Quantizes trained and other networks, calibrated on samples: the result is close to the float model, can be
lowered to integers, and has the same bytes for any number of threads; invalid samples are refused with the
reason.

    quantize.py PROGRAM
"""
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import zlib

import calls
from calls import MALFORMED, OK, UNSUPPORTED, USAGE, call, expect

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests/fixtures/conv_bn_relu/model.pt2"


def samples_of(shape, count, seed=0):
    return numpy.random.default_rng(seed).standard_normal([count, *shape[1:]]).astype(numpy.float32)


def decibels(expected, got):
    return 10 * numpy.log10((expected**2).sum() / max(((expected - got) ** 2).sum(), 1e-30))


def run(program, model, x, folder):
    numpy.save(folder / "x.npy", x)
    call(program, "run", model, "--in", folder / "x.npy", "--out", folder / "y.npy")
    return numpy.load(folder / "y.npy")


def check_network(program, name, least, folder, *options):
    model = ROOT / "tests/fixtures" / name / "model.pt2"
    x = numpy.load(model.parent / "in0.npy")
    numpy.save(folder / "calib.npy", numpy.concatenate([x, samples_of(x.shape, 7 * x.shape[0])]))
    made = folder / f"{name}.pt2"
    call(program, "quantize", model, "--samples", folder / "calib.npy", "-o", made, *options, says="tensors quantized")
    target = ["--target", "TOSA-1.0+INT+int16" if "int16" in options else "TOSA-1.0+INT"]
    lowered = folder / "lowered.tosa"
    call(program, "lower", made, "-o", lowered, *target, "--verify", "--in", model.parent / "in0.npy")
    call(program, "lower", model, "--quantize", folder / "calib.npy", *options, "-o", lowered, *target)
    quality = decibels(run(program, model, x, folder), run(program, made, x, folder))
    expect(quality >= least, f"{name} {' '.join(options)}: {quality:.1f} dB, not {least}")
    first = made.read_bytes()
    for threads in (1, 3):
        call(program, "quantize", model, "--samples", folder / "calib.npy", "-o", made, *options, "-j", threads)
        expect(made.read_bytes() == first, f"{name}: other bytes with {threads} threads")


def check_verified(program, folder):
    """Layers of a model that `lower` has quantized have no names of their own, and several may be of one node."""
    for name in ("attention", "rnn", "depthwise_residual"):
        model = ROOT / "tests/fixtures" / name
        samples = sorted(model.glob("in*.npy"))
        for options in (("--core", "cortex-m4"), ("--delegate", "tosa")):
            call(program, "lower", model / "model.pt2", "--quantize", *samples, "-o", folder / "verified.pte", *options,
                 "--verify", says="verified")


def check_trained(program, folder):
    """A trained network with badly scaled channels: PT2E's parameters, and the gain of equalization."""
    network = pathlib.Path(__file__).resolve().parent / "quantize_network"
    arguments = ["quantize", network / "model.pt2", "--samples", network / "calib.npy", "-o", folder / "trained.pt2"]
    call(program, *arguments)
    shown = call(program, "show", "--full", folder / "trained.pt2").stdout
    got = []
    for line in shown.splitlines():
        if " = quantized_decomposed.quantize_per_tensor.default(" in line:
            zero = re.search("zero_point=(-?[0-9]+)", line)  # not printed if it is 0
            got.append((float(re.search("scale=([^,]+)", line)[1]), int(zero[1]) if zero else 0))
    wanted = json.loads((network / "pt2e.json").read_text())["parameters"]
    expect(len(got) == len(wanted), f"{len(got)} quantized tensors, PT2E has {len(wanted)}")
    for i, ((scale, zero), (other_scale, other_zero)) in enumerate(zip(got, wanted)):
        expect(abs(scale / other_scale - 1) < 1e-6, f"tensor {i}: scale {scale}, PT2E's is {other_scale}")
        expect(zero == other_zero, f"tensor {i}: zero point {zero}, PT2E's is {other_zero}")

    def quality():
        pairs = [[run(program, model, x[None], folder) for model in (network / "model.pt2", folder / "trained.pt2")]
                 for x in numpy.load(network / "calib.npy")[::10]]
        expected, quantized = map(numpy.concatenate, zip(*pairs))
        return decibels(expected, quantized)

    plain = quality()
    call(program, *arguments, "--equalize")
    equalized = quality()
    expect(plain < 15 and equalized > 27, f"{plain:.1f} dB, equalized {equalized:.1f} dB")
    tried = call(program, *arguments, "--best", 300, says="taken").stdout
    expect("time ran out" not in tried, "a small network takes more than five minutes")
    best, first = quality(), (folder / "trained.pt2").read_bytes()
    expect(best > equalized - 0.5, f"the best is {best:.1f} dB, equalized {equalized:.1f} dB")
    call(program, *arguments, "--equalize", "--int16-share", 0.5, says="give 16 bits")
    expect("int16[" in call(program, "show", "--full", folder / "trained.pt2").stdout, "no tensor has 16 bits")
    expect(quality() > equalized + 0.5, f"with 16 bits for a half {quality():.1f} dB, without {equalized:.1f} dB")
    call(program, "lower", folder / "trained.pt2", "-o", folder / "mixed.tosa", "--target", "TOSA-1.0+INT+int16")
    call(program, *arguments, "--best", 300, "-j", 1)
    expect((folder / "trained.pt2").read_bytes() == first, "the best has other bytes with one thread")


def check_masks(program, folder):
    """Attention in several forms of masks: scores keep their range, and masked keys have no influence."""
    for form in sorted(p for p in (pathlib.Path(__file__).resolve().parent / "masked_attention").iterdir()):
        files = sorted(form.glob("in*.npy"))
        samples, expected = [numpy.load(f) for f in files], numpy.load(form / "out0.npy")
        made = folder / "masked.pt2"
        said = call(program, "quantize", form / "model.pt2", "--samples", *files, "-o", made).stderr
        expect("outside of the quantized range" not in said, f"{form.name}: an infinity is lost: {said}")

        def result(inputs):
            given = [folder / f"in{i}.npy" for i in range(len(inputs))]
            for file, array in zip(given, inputs):
                numpy.save(file, array)
            call(program, "run", made, "--in", *given, "--out", folder / "y.npy")
            return numpy.load(folder / "y.npy")

        got = [result([s[i] for s in samples]) for i in range(4)]
        quality = decibels(expected[:4], numpy.stack(got))
        expect(quality >= 24, f"{form.name}: {quality:.1f} dB, not 24")
        first = [folder / f"in{i}.npy" for i in range(len(samples))]
        target = ["--target", "TOSA-1.0+INT", "-o", folder / "masked.tosa"]
        call(program, "lower", made, *target, "--verify", "--in", *first)
        if len(samples) == 1 or samples[1].ndim == 3:
            continue  # not one number per key
        mask = samples[1][0].reshape(-1).astype(bool)
        missing = mask if form.name.startswith("mha") else ~mask
        expect(missing.any(), f"{form.name}: no key is masked")
        other = samples[0][0].copy()
        other[:, missing] = samples[0][5][:, missing]
        changed = result([other, samples[1][0]])
        same = numpy.array_equal(changed[..., ~missing, :], got[0][..., ~missing, :])
        expect(same, f"{form.name}: a masked key changes the output")


FILLED = """headrace 1
%x: float32[1, 4] = input
%mask: bool[1, 4] = aten.gt.Scalar(%x, other=0.5)
%filled: float32[1, 4] = aten.masked_fill.Scalar(%x, %mask, value=-inf)
%y: float32[1, 4] = aten.mul.Scalar(%filled, other=2)
output %y
"""


def check_lost(program, folder):
    """An infinity that no quantized range holds is an error, and nothing is written."""
    text, samples, out = folder / "filled.hr", folder / "filled.npy", folder / "lost.pt2"
    numpy.save(samples, numpy.float32([[[0.1, 0.2, 0.9, -1]], [[0.3, -0.2, 0.7, -0.5]]]))
    for number, status in (("-inf", UNSUPPORTED), ("-8", OK)):
        text.write_text(FILLED.replace("-inf", number))
        done = call(program, "quantize", text, "--samples", samples, "-o", out, status=status)
        expect(out.exists() == (status == OK), f"filled with {number}: the output exists: {out.exists()}")
        says = re.search(r"error: [\w.]+: [^;]*-inf is outside of the quantized range \[", done.stderr)
        expect(bool(says) == (status != OK), f"filled with {number}: {done.stderr}")


def check_samples(program, folder):
    x = numpy.load(MODEL.parent / "in0.npy")
    out = folder / "out.pt2"

    def refused(array, says, name="bad.npy"):
        numpy.save(folder / name, array)
        call(program, "quantize", MODEL, "--samples", folder / name, "-o", out, status=MALFORMED, says=says)
        expect(not out.exists(), f"{says}: there is an output")

    refused(x[..., :-1], "shape")
    refused(x.astype(numpy.int32), "numbers of type int32")
    with_nan = x.copy()
    with_nan.flat[3] = numpy.nan
    refused(with_nan, "NaN as element 3")
    with_infinity = x.copy()
    with_infinity.flat[3] = -numpy.inf  # not the mask of a softmax
    refused(with_infinity, "an infinite number as element 3")
    call(program, "quantize", MODEL, "--samples", folder / "none.npy", "-o", out, status=MALFORMED, says="none.npy")
    empty = folder / "empty"
    empty.mkdir()
    call(program, "quantize", MODEL, "--samples", empty, "-o", out, status=MALFORMED, says="no .npy file")
    call(program, "quantize", MODEL, "-o", out, status=USAGE)
    many = folder / "many"
    many.mkdir()
    for i in range(3):
        numpy.save(many / f"{i}.npy", samples_of(x.shape, x.shape[0], i))
    call(program, "quantize", MODEL, "--samples", many, "-o", out)
    call(program, "quantize", out, "--samples", many, "-o", folder / "again.pt2", status=UNSUPPORTED, says="quantized already")
    numpy.save(folder / "zeros.npy", numpy.zeros_like(x))
    call(program, "quantize", MODEL, "--samples", folder / "zeros.npy", "-o", out, says="in all samples")


def check_streams(program, folder):
    """Arrays on standard input, or on pipes, give the bytes of the same arrays in files."""

    def bytes_of(array):
        file = io.BytesIO()
        numpy.save(file, array)
        return file.getvalue()

    def streamed(stream, model, status=OK, says="", *more):
        out.unlink(missing_ok=True)
        command = [program, "quantize", str(model), "--samples", "-", "-o", str(out), *more]
        done = subprocess.run(command, input=stream, capture_output=True, timeout=300, env=environment)
        shown = done.stderr.decode()
        expect(done.returncode == status, f"from a stream: exit status {done.returncode}, not {status}: {shown}")
        expect(says in shown, f"from a stream: it does not say '{says}': {shown}")
        expect(out.exists() == (status == OK), f"from a stream: output, but '{says}'")
        expect(not any(temporary.iterdir()), "a temporary file of samples is left")

    temporary, files, out = folder / "temporary", folder / "one_each", folder / "streamed.pt2"
    temporary.mkdir()
    files.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    x = numpy.load(MODEL.parent / "in0.npy")
    arrays = [samples_of(x.shape, count * x.shape[0], count) for count in (1, 3, 1, 2)]
    arrays[1] = numpy.asfortranarray(arrays[1])
    for i, array in enumerate(arrays):
        numpy.save(files / f"{i}.npy", array)
    stream = b"".join(map(bytes_of, arrays))
    for options in ((), ("--equalize", "--correct-biases", "-j", "3")):  # the second reads samples several times
        call(program, "quantize", MODEL, "--samples", files, "-o", folder / "filed.pt2", *options)
        streamed(stream, MODEL, OK, "", *options)
        expect(out.read_bytes() == (folder / "filed.pt2").read_bytes(), f"a stream gives other bytes {options}")

    with_nan = arrays[0].copy()
    with_nan.flat[3] = numpy.nan
    for broken, says in [
        (b"", "standard input: there are no samples"),
        (stream[:-5], "standard input: sample 5 for input x: ends after "),
        (stream + b"\x93NUM", "standard input: sample 7 for input x: ends within its header"),
        (stream + b"no array at all", "standard input: sample 7 for input x: is not an .npy file"),
        (stream + bytes_of(x[..., :-1]), "standard input: sample 7: shape "),
        (stream + bytes_of(with_nan) + stream, "standard input: sample 7 for input x has NaN as element 3"),
    ]:
        streamed(broken, MODEL, MALFORMED, says)

    # Several inputs: in turn on one stream, or each on a pipe of its own that one program writes to.
    model = ROOT / "tests/fixtures/tied_weights/model.pt2"
    inputs = [numpy.load(file) for file in sorted(model.parent.glob("in*.npy"))]
    rounds = [[(a * (1 + i / 4)).astype(a.dtype) for a in inputs] for i in range(3)]
    named = [folder / f"of_input{i}" for i in range(len(inputs))]
    for i, of_input in enumerate(named):
        of_input.mkdir()
        for k, arrays in enumerate(rounds):
            numpy.save(of_input / f"{k}.npy", arrays[i])
    call(program, "quantize", model, "--samples", *named, "-o", folder / "filed.pt2")
    both = b"".join(bytes_of(a) for arrays in rounds for a in arrays)
    streamed(both, model)
    expect(out.read_bytes() == (folder / "filed.pt2").read_bytes(), "a stream for two inputs gives other bytes")
    streamed(both + bytes_of(inputs[0]), model, MALFORMED, "standard input: it ends before sample 3 for input ")
    pipes = [folder / f"pipe{i}" for i in range(len(inputs))]
    for pipe in pipes:
        os.mkfifo(pipe)

    def write():
        opened = [open(pipe, "wb") for pipe in pipes]
        for arrays in rounds:
            for pipe, array in zip(opened, arrays):
                pipe.write(bytes_of(array))
                pipe.flush()
        for pipe in opened:
            pipe.close()

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    call(program, "quantize", model, "--samples", *pipes, "-o", out)
    writer.join(timeout=60)
    expect(out.read_bytes() == (folder / "filed.pt2").read_bytes(), "pipes give other bytes")


def check_config(program, folder):
    x = numpy.load(MODEL.parent / "in0.npy")
    numpy.save(folder / "calib.npy", x)
    config = folder / "config.json"
    arguments = ["quantize", MODEL, "--samples", folder / "calib.npy", "--config", config, "-o", folder / "c.pt2"]
    config.write_text('{"rules": [{"op": "aten.*", "float": true}], "observer": "min-max"}')
    call(program, *arguments)
    shown = call(program, "show", "--full", folder / "c.pt2").stdout
    expect("dequantize_per_channel" not in shown, "a rule that leaves all ops float, but weights are quantized")
    for text, says in [
        ("{", "JSON"),
        ('{"observers": "mse"}', "no setting 'observers'"),
        ('{"activations": "int7"}', "int7"),
        ('{"headroom": 0.5}', "'headroom' is not a number from 1 to 16"),
        ('{"rules": [{"float": true}]}', "one of 'op', 'name' and 'module'"),
        ('{"rules": 3}', "not a list"),
    ]:
        config.write_text(text)
        call(program, *arguments, status=MALFORMED, says=says)


def check_shards(program, folder):
    """Parts of the samples, observed one by one, give the bytes of one run over all, for each observer."""
    x = numpy.load(MODEL.parent / "in0.npy")
    # Ranges grow and shrink from sample to sample, so that the order matters.
    growing = numpy.float32([1, 3, 0.5, 4, 6, 0.2, 8]).reshape(-1, 1, 1, 1)
    samples = samples_of(x.shape, 7) * growing
    numpy.save(folder / "all.npy", samples)
    whole, parts = folder / "whole.pt2", folder / "parts.pt2"
    files = []
    for i, (begin, end) in enumerate([(0, 3), (3, 4), (4, 7)]):
        numpy.save(folder / f"shard{i}.npy", samples[begin:end])
        files.append(folder / f"shard{i}.stats")
    for observer in ("histogram", "min-max", "moving-average", "percentile", "mse"):
        options = ["--observer", observer]
        call(program, "quantize", MODEL, "--samples", folder / "all.npy", "-o", whole, *options)
        for file in files:
            call(program, "quantize", MODEL, "--samples", file.with_suffix(".npy"), "--observe", file, *options,
                 says="observed")
        call(program, "quantize", MODEL, "--statistics", *files, "-o", parts, *options, "-j", 3,
             says="9 tensors quantized")
        expect(whole.read_bytes() == parts.read_bytes(), f"{observer}: parts give other bytes than all samples")
    # The file of a min-max run keeps no activations.
    call(program, "quantize", MODEL, "--samples", folder / "all.npy", "--observe", folder / "small.stats", "-o", parts,
         "--observer", "min-max")
    expect((folder / "small.stats").stat().st_size < 4096, "extremes alone take more than 4 kB")
    call(program, "quantize", MODEL, "--samples", folder / "all.npy", "-o", whole, "--observer", "min-max")
    expect(whole.read_bytes() == parts.read_bytes(), "--observe changes what is written")
    call(program, "quantize", MODEL, "--statistics", *files[::-1], "-o", parts, "--observer", "mse")
    check_broken_shards(program, folder, files)


def parts_of(folder):
    return folder / "parts.pt2"


def check_broken_shards(program, folder, files):
    out, broken = folder / "refused.pt2", folder / "broken.stats"
    data = files[0].read_bytes()

    def refuse(content, says, *options, status=MALFORMED):
        broken.write_bytes(content)
        call(program, "quantize", MODEL, "--statistics", broken, *options, "-o", out, status=status, says=says)

    refuse(data, "with other options", "--observer", "min-max")
    for cut in (0, 10, 47, 48, 60, len(data) // 2, len(data) - 1):
        refuse(data[:cut], "broken.stats: ", "--observer", "mse")
    random = numpy.random.default_rng(0)
    for at in random.integers(0, len(data), 40):
        refuse(data[:at] + bytes([data[at] ^ 1 << int(random.integers(8))]) + data[at + 1:], "broken.stats: ",
               "--observer", "mse")
    # Sizes that are too large, with a checksum that is right.
    for at in (32, 40, 48 + 48):
        large = bytearray(data[:-4])
        large[at : at + 8] = (2**61 + 3).to_bytes(8, "little")
        refuse(bytes(large) + zlib.crc32(large).to_bytes(4, "little"), "broken.stats: ", "--observer", "mse")
    # Numbers that no tensor has, or that are outside of the range that the file says.
    for at, number in ((48, "nan"), (52, "inf"), (56, "nan"), (64, "nan"), (48 + 56, "nan")):
        odd = bytearray(data[:-4])
        odd[at : at + 4] = numpy.float32(number).tobytes()
        broken.write_bytes(bytes(odd) + zlib.crc32(odd).to_bytes(4, "little"))
        status = OK if at == 48 + 56 else MALFORMED
        call(program, "quantize", MODEL, "--statistics", broken, "--observer", "mse", "-o", parts_of(folder), status=status)
    narrow = bytearray(data[:-4])
    narrow[48:56] = numpy.float32([0, 1e-6]).tobytes()
    broken.write_bytes(bytes(narrow) + zlib.crc32(narrow).to_bytes(4, "little"))
    call(program, "quantize", MODEL, "--statistics", broken, "--observer", "mse", "-o", parts_of(folder))
    refuse(data.replace(b"statistics 1", b"statistics 9"), "another version", "--observer", "mse")
    other = ROOT / "tests/fixtures/depthwise_residual/model.pt2"
    call(program, "quantize", other, "--statistics", *files, "--observer", "mse", "-o", out, status=MALFORMED,
         says="another model")
    expect(not out.exists(), "a refused file of statistics left a model")
    call(program, "quantize", MODEL, "-o", out, status=USAGE, says="needs --samples, or --statistics")
    call(program, "quantize", MODEL, "--samples", folder / "all.npy", status=USAGE, says="needs -o MODEL.pt2, or --observe")
    call(program, "quantize", MODEL, "--samples", folder / "all.npy", "--observe", folder / "no" / "x.stats", status=USAGE,
         says="cannot write")
    call(program, "quantize", MODEL, "--statistics", *files, "--observer", "mse", "--correct-biases", "-o", out,
         status=UNSUPPORTED, says="need all samples at once")
    call(program, "quantize", MODEL, "--statistics", *files, "--observer", "mse", "--best", 1, "-o", out,
         status=UNSUPPORTED, says="--best")
    state = ROOT / "tests/fixtures/buffer_update/model.pt2"
    call(program, "quantize", state, "--samples", state.parent / "in0.npy", "--observe", folder / "state.stats",
         status=UNSUPPORTED, says="keeps a state")
    expect(not (folder / "state.stats").exists(), "a refused model left statistics")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_network(program, "conv_bn_relu", 25, folder)
        check_network(program, "conv_bn_relu", 25, folder, "--observer", "min-max", "--per-tensor")
        check_network(program, "conv_bn_relu", 30, folder, "--activations", "int16")
        check_network(program, "conv_bn_relu", 12, folder, "--observer", "mse", "--weights", "int4")
        check_network(program, "depthwise_residual", 20, folder)
        check_verified(program, folder)
        check_trained(program, folder)
        check_masks(program, folder)
        check_lost(program, folder)
        check_samples(program, folder)
        check_streams(program, folder)
        check_config(program, folder)
        check_shards(program, folder)
    return calls.report()


if __name__ == "__main__":
    try:
        import numpy
    except ImportError:
        print("skipped: no numpy")
        sys.exit(77)
    sys.exit(main())
