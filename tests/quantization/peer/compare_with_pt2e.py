# SPDX-License-Identifier: MIT
"""Compares `headrace quantize` with PyTorch's PT2E and ExecuTorch's quantizer for TOSA, on attention with
every form of masks and on twelve tiny transformers: the SQNR of the outputs, at valid positions.

    python compare_with_pt2e.py HEADRACE [--only NAME…] [--lower]

Needs torch 2.15, torchao 0.18 and executorch 1.5 with its Arm backend. The exit status is 1 unless each SQNR
is at least PT2E's - 0.5 dB; if PT2E cannot quantize a model, Headrace's must be 12 dB or more. With --lower
each quantized model is also lowered to TOSA INT, and its results are compared with those of the quantized
program.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
from torch.export import export

from attention_masks import FORMS, samples_of
from tiny_transformers import KINDS

CALIBRATION, TESTS = 24, 8


def sqnr(expected, got):
    noise = sum(((e - g) ** 2).sum() for e, g in zip(expected, got))
    return 10 * np.log10(sum((e ** 2).sum() for e in expected) / max(noise, 1e-30))


def by_pt2e(program, samples, tests):
    from executorch.backends.arm.quantizer import TOSAQuantizer, get_symmetric_quantization_config
    from executorch.backends.arm.tosa.specification import TosaSpecification
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    quantizer = TOSAQuantizer(TosaSpecification.create_from_string("TOSA-1.0+INT"))
    quantizer.set_global(get_symmetric_quantization_config())
    prepared = prepare_pt2e(program.module(check_guards=False), quantizer)
    for sample in samples:
        prepared(*sample)
    quantized = convert_pt2e(prepared)
    with torch.no_grad():
        return [quantized(*t) for t in tests]


def by_headrace(program, samples, tests, tool, folder, lower):
    def run(*words):
        done = subprocess.run([tool, *words], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[0])
        return done.stderr

    model, quantized = f"{folder}/model.pt2", f"{folder}/int8.pt2"
    torch.export.save(program, model)
    directories = []
    for i in range(len(samples[0])):
        directories.append(f"{folder}/calibration{i}")
        os.makedirs(directories[-1])
        for k, sample in enumerate(samples):
            np.save(f"{directories[-1]}/{k:03}.npy", sample[i].numpy())
    said = run("quantize", "-q", model, "-o", quantized, "--samples", *directories)
    results = []
    for test in tests:
        files = [f"{folder}/in{i}.npy" for i in range(len(test))]
        for file, tensor in zip(files, test):
            np.save(file, tensor.numpy())
        run("run", quantized, "--in", *files, "--out", f"{folder}/out.npy")
        results.append(torch.from_numpy(np.load(f"{folder}/out.npy")))
    if lower:
        run("lower", "-q", quantized, "-o", f"{folder}/m.tosa", "--target", "TOSA-1.0+INT", "--verify", "--in", *files)
    return results, said


def compare(name, model, samples, tests, valid, options):
    with torch.no_grad():
        expected = [model(*t) for t in tests]
    program = export(model, samples[0])

    def at_valid(results):
        pairs = zip(tests, results)
        return [r[0][valid(t)].numpy().astype(np.float64) for t, r in pairs]

    wanted = at_valid(expected)
    if name not in options.known:
        try:
            options.known[name] = float(sqnr(wanted, at_valid(by_pt2e(program, samples, tests))))
        except Exception as e:  # any error of theirs
            options.known[name] = f"fails ({str(e).strip().splitlines()[0][:40]})"
    peer = options.known[name]
    peer_text = peer if isinstance(peer, str) else f"{peer:6.2f}"
    peer = 12.5 if isinstance(peer, str) else -np.inf if np.isnan(peer) else peer
    with tempfile.TemporaryDirectory() as folder:
        try:
            results, said = by_headrace(program, samples, tests, options.headrace, folder, options.lower)
            own = sqnr(wanted, at_valid(results))
            text = f"{own:6.2f}"
        except RuntimeError as e:
            own, text, said = -np.inf, str(e)[:100], ""
    good = own >= peer - 0.5
    print(f"{name:20} PT2E {peer_text}  Headrace {text}  {'' if good else 'WORSE'}", flush=True)
    if said and options.verbose:
        print(said)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headrace")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--lower", action="store_true")
    parser.add_argument("--peer", default="", help="file that keeps PT2E's figures, which take minutes")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.known = {}
    if os.path.exists(options.peer):
        with open(options.peer, encoding="utf-8") as f:
            options.known = json.load(f)
    worse = 0
    for name, make in FORMS.items():
        if options.only and name not in options.only:
            continue
        torch.manual_seed(7)
        form = make()
        samples, tests = samples_of(form, CALIBRATION), samples_of(form, TESTS)
        # A query in the padding may attend to nothing.
        valid = (lambda t: (slice(None), t[1].bool())) if form.get("queries") else (lambda t: slice(None))
        worse += not compare(name, form["model"].eval(), samples, tests, valid, options)
    for name, (kind, sample, valid) in KINDS.items():
        if options.only and name not in options.only:
            continue
        torch.manual_seed(11)
        model = kind().eval()
        samples = [sample() for _ in range(CALIBRATION)]
        tests = [sample() for _ in range(TESTS)]
        worse += not compare(name, model, samples, tests, valid, options)
    if options.peer:
        with open(options.peer, "w", encoding="utf-8") as f:
            json.dump(options.known, f, indent=1)
    print(f"{worse} are worse than PT2E - 0.5 dB")
    return worse != 0


if __name__ == "__main__":
    sys.exit(main())
