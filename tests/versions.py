#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs three models with each version of ExecuTorch, Vela and the TOSA reference model that the package index has, each
in an environment of its own. A person runs it before a release; it needs a network.

    versions.py PROGRAM [--compiler g++] [--wheels FOLDER] [--torch PYTHON] [--only executorch] [--write PAGE]

The models are tests/fixtures/quantized_cnn, lowered to int8, quantized_int16, and conv_bn_relu in floats. ExecuTorch must
load and execute their .pte files, the reference model their flatbuffers, and the results must be those of `headrace run`:
equal integers, near floats. Vela must compile the flatbuffers of integers for Ethos-U55 and U85. ExecuTorch before 1.5 has
its runtime only in bindings to PyTorch: --torch is a Python that has a PyTorch which these fit; it may be given twice. --wheels is a folder of
wheels that are taken instead of the index's. --write puts the table into a page. Exit status 1 if a version fails that the
contract allows (include/headrace/contract/tool_versions.hpp).
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = {"int8": ("quantized_cnn", "TOSA-1.0+INT"), "int16": ("quantized_int16", "TOSA-1.0+INT+int16"),
          "float": ("conv_bn_relu", "TOSA-1.0+FP")}
NPUS = {"ethos-u55-128": "u55", "ethos-u85-256": "u85"}
OLDEST = {"executorch": (1, 3), "ethos-u-vela": (5, 0), "tosa-tools": (2026, 1)}
NEEDED = {"executorch": ["numpy"], "ethos-u-vela": ["numpy", "flatbuffers"], "tosa-tools": ["numpy", "ml_dtypes"]}
BEGIN, END = "<!-- versions -->", "<!-- end of versions -->"
BINDINGS = """
import glob, importlib.util, json, sys
import numpy, torch
package, file, outputs, *inputs = sys.argv[1:]
sys.path.append(package)
found = glob.glob(package + "/executorch/extension/pybindings/_portable_lib*.so")[0]
spec = importlib.util.spec_from_file_location("executorch.extension.pybindings._portable_lib", found)
library = importlib.util.module_from_spec(spec)
spec.loader.exec_module(library)
torch.ops.load_library(package + "/executorch/kernels/quantized/libquantized_ops_aot_lib.so")  # registers kernels
results = library._load_for_executorch(file).forward([torch.from_numpy(numpy.load(x)) for x in inputs])
for i, y in enumerate(results):
    numpy.save(f"{outputs}{i}.npy", y.numpy())
"""


class Failure(Exception):
    pass


def execute(*command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=900, **more)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Failure(said[-1][:200] if said else f"status {done.returncode}")
    return done.stdout


def versions_of(package):
    """The released versions from the oldest wanted on, in order."""
    told = execute(sys.executable, "-m", "pip", "index", "versions", package)
    all_of = re.search(r"Available versions: (.*)", told).group(1).split(", ")
    numbers = [tuple(int(n) for n in v.split(".")) for v in all_of if re.fullmatch(r"[\d.]+", v)]
    return [".".join(map(str, n)) for n in sorted(n for n in numbers if n[:2] >= OLDEST[package])]


class Environment:
    """A virtual environment with one version of a package, without what the package needs for exporting."""

    def __init__(self, folder, package, version, wheels):
        self.folder = folder
        execute(sys.executable, "-m", "venv", folder)
        self.python = folder / "bin" / "python"
        source = ["--find-links", wheels] if wheels else []
        execute(self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *NEEDED[package])
        execute(self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", *source, f"{package}=={version}")
        self.packages = next((folder / "lib").glob("python3.*/site-packages"))


class Lowered:
    """A model's files and what `headrace run` gives for them."""

    def __init__(self, program, folder, kind):
        name, target = MODELS[kind]
        fixture = ROOT / "tests" / "fixtures" / name
        self.kind, self.folder = kind, folder
        self.program = program
        model = fixture / "model.pt2"
        self.tosa, self.pte = folder / f"{kind}.tosa", folder / f"{kind}.pte"
        execute(program, "lower", model, "-o", self.tosa, "--io", folder / f"{kind}.json", "--target", target, "-q")
        execute(program, "lower", model, "-o", self.pte, "-q")
        self.npus = {}
        for npu, feature in NPUS.items() if kind != "float" else ():
            try:
                execute(program, "lower", model, "-o", folder / f"{kind}.{feature}.tosa", "--target",
                        f"INT+{feature}" if kind == "int8" else f"INT+int16+{feature}", "-q")
                self.npus[npu] = feature
            except Failure:
                pass  # this NPU does not have the model's operators
        self.inputs = [fixture / f"in{i}.npy" for i in range(len(list(fixture.glob("in*.npy"))))]
        self.outputs = len(list(fixture.glob("out*.npy")))
        self.io = json.loads((folder / f"{kind}.json").read_text())

    def expected(self, file, inputs, name):
        outs = [self.folder / f"{name}{i}.npy" for i in range(self.outputs)]
        execute(self.program, "run", file, *(a for x in inputs for a in ("--in", x)), *(a for y in outs for a in ("--out", y)))
        return outs


def same(numpy_python, got, expected):
    """Returns "equal" or, for floats, "near"; fails on others."""
    text = ("import sys, numpy\nsaid = 'equal'\nfor a, b in zip(sys.argv[1::2], sys.argv[2::2]):\n    a, b = numpy.load(a), numpy.load(b)\n"
            "    near = numpy.allclose(a, b, 1e-3, 1e-4) if b.dtype.kind == 'f' else numpy.array_equal(a, b)\n"
            "    if a.size != b.size or not near: sys.exit('other results')\n"
            "    said = said if numpy.array_equal(a, b) else 'near'\nprint(said)\n")
    return execute(numpy_python, "-c", text, *(p for pair in zip(got, expected) for p in pair)).strip()


def run_pte(model, environment, options):
    expected = model.expected(model.pte, model.inputs, f"{model.kind}_pte_")
    got = [environment.folder / f"{model.kind}{i}.npy" for i in range(model.outputs)]
    if (environment.packages / "executorch/lib/libexecutorch_kernels_quantized.so").exists():
        runner = environment.folder / "runner"
        if not runner.exists():
            text = ("import pathlib, sys\nsys.path.insert(0, sys.argv[1])\nfrom pte import runner_in\n"
                    "sys.exit(0 if runner_in(pathlib.Path(sys.argv[2]), sys.argv[3]) else 1)\n")
            execute(environment.python, "-c", text, ROOT / "tests/end_to_end", environment.folder, options.compiler)
        execute(runner, model.pte, "forward", *model.inputs, "--", *got)
    else:
        if not options.torch:
            return "not run: it needs PyTorch"
        for python in options.torch:
            try:
                execute(python, "-c", BINDINGS, environment.packages, model.pte, environment.folder / model.kind, *model.inputs)
                break
            except Failure:
                if python == options.torch[-1]:
                    raise
    return same(environment.python, got, expected)


def run_vela(model, environment, options):
    if model.kind == "float":
        return "no floats"
    for npu, feature in model.npus.items():
        out = environment.folder / f"{model.kind}_{feature}"
        execute(environment.folder / "bin" / "vela", model.folder / f"{model.kind}.{feature}.tosa", "--accelerator-config", npu,
                "--output-dir", out, "--output-format", "raw")
        if not list(out.glob("*_vela.npz")):
            raise Failure(f"nothing for {npu}")
    return "compiled for " + " and ".join(feature.upper() for feature in model.npus.values())


REFERENCE = """
import sys
import numpy, tosa_reference_model as reference
file, outputs, *inputs = sys.argv[1:]
results, status = reference.run(open(file, "rb").read(), [numpy.load(x) for x in inputs], verbosity="NONE")
if status != reference.GraphStatus.TOSA_VALID:
    sys.exit(f"status {status}")
for i, y in enumerate(results):
    numpy.save(f"{outputs}{i}.npy", y)
"""


def run_tosa(model, environment, options):
    text = ("import json, sys, numpy\nio = json.load(open(sys.argv[1]))\nkinds = {'INT8': numpy.int8, 'INT16': numpy.int16, "
            "'INT32': numpy.int32, 'FP32': numpy.float32}\nfor i, t in enumerate(io['inputs']):\n    x = numpy.random.default_rng(i)\n"
            "    x = x.standard_normal(t['shape']) * (1 if t['dtype'] == 'FP32' else 40)\n"
            "    numpy.save(f'{sys.argv[2]}{i}.npy', x.astype(kinds[t['dtype']]))\n")
    execute(environment.python, "-c", text, model.folder / f"{model.kind}.json", environment.folder / f"{model.kind}_x")
    inputs = [environment.folder / f"{model.kind}_x{i}.npy" for i in range(len(model.io["inputs"]))]
    expected = model.expected(model.tosa, inputs, f"{model.kind}_tosa_")
    execute(environment.python, "-c", REFERENCE, model.tosa, environment.folder / f"{model.kind}_y", *inputs)
    return same(environment.python, [environment.folder / f"{model.kind}_y{i}.npy" for i in range(model.outputs)], expected)


RUNS = {"executorch": run_pte, "ethos-u-vela": run_vela, "tosa-tools": run_tosa}


def allowed_versions():
    """From the contract: the oldest and the newest version of each tool."""
    text = (ROOT / "include/headrace/contract/tool_versions.hpp").read_text()
    names = {"executorch": "executorch", "vela": "ethos-u-vela", "tosa_tools": "tosa-tools"}
    found = re.findall(r"version_range tested_(\w+)\{\{(\d+), (\d+)\}, \{(\d+), (\d+)\}\}", text)
    return {names[n]: ((int(a), int(b)), (int(c), int(d))) for n, a, b, c, d in found}


def table_of(rows):
    lines = ["| | " + " | ".join(MODELS) + " |", "| --- |" + " --- |" * len(MODELS)]
    return lines + [f"| {package} {version} | " + " | ".join(cells) + " |" for package, version, cells in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--wheels", type=pathlib.Path)
    parser.add_argument("--torch", action="append", help="a Python with PyTorch, for ExecuTorch before 1.5; the first that fits counts")
    parser.add_argument("--only", choices=RUNS, action="append")
    parser.add_argument("--write", type=pathlib.Path, help="the page whose table is replaced")
    options = parser.parse_args()
    options.program = options.program.resolve()
    allowed, rows, bad = allowed_versions(), [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        models = [Lowered(options.program, folder, kind) for kind in MODELS]
        for package in options.only or RUNS:
            for version in versions_of(package):
                cells = []
                number = tuple(map(int, version.split(".")[:2]))
                is_allowed = allowed[package][0] <= number <= allowed[package][1]
                try:
                    environment = Environment(folder / f"{package}-{version}", package, version, options.wheels)
                except Failure as e:
                    cells = [f"not installed: {e}"] * len(models)
                for model in models if not cells else []:
                    try:
                        cells.append(RUNS[package](model, environment, options))
                    except (Failure, subprocess.TimeoutExpired) as e:
                        cells.append(f"**fails**: {e}".replace("|", "/"))
                        bad += is_allowed
                rows.append((package, version, cells))
                print(package, version, *cells, sep="; ", flush=True)
    if options.write:
        page = options.write.read_text()
        start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
        options.write.write_text(page[:start] + "\n" + "\n".join(table_of(rows)) + "\n" + page[end:])
    print(f"{bad} failures of versions that the contract allows")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
