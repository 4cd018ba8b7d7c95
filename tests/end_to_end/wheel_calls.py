# SPDX-License-Identifier: MIT
"""The script that wheel.py runs in the environment with the wheel: wheel_calls.py ROOT"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys

import headrace
import numpy

MODELS = pathlib.Path(sys.argv[1]) / "examples" / "models"
FLOAT, INT8 = MODELS / "kws_dscnn" / "model.pt2", MODELS / "kws_dscnn_int8" / "model.pt2"
FIXTURES = pathlib.Path(sys.argv[1]) / "tests" / "fixtures"
x, y = (numpy.load(FLOAT.parent / file) for file in ("in0.npy", "out0.npy"))


@contextlib.contextmanager
def raises(kind, *words):
    try:
        yield
    except kind as error:
        assert all(word in str(error) for word in words), str(error)
    else:
        raise AssertionError(f"no {kind.__name__}")


def check_lowering():
    lowered = headrace.lower(FLOAT, target="TOSA-1.0+FP", verify=True)
    assert lowered[4:8] == b"TOSA" and lowered.io["inputs"] and lowered.report["passes"]
    assert headrace.lower(FLOAT.read_bytes()) == lowered, "bytes and path differ"
    assert numpy.allclose(headrace.run(lowered, x)[0], y, atol=1e-5)
    assert numpy.allclose(headrace.run(FLOAT, x)[0], y, atol=1e-5)
    program = headrace.lower(str(INT8), form="pte", delegate="tosa")
    assert program[4:6] == b"ET" and program.io["inputs"][0]["dtype"] == "FP32"
    integers = headrace.lower(str(INT8), form="pte", io_type="int8")
    assert integers.io["inputs"][0]["dtype"] == "INT8" and integers.io["inputs"][0]["quantization"]["scale"] > 0
    assert headrace.lower(FLOAT, io_layout="nhwc").io != lowered.io


def check_exported_program():
    assert "torch" not in sys.modules, "the package imports torch before it needs it"
    import torch.export

    assert headrace.lower(torch.export.ExportedProgram(FLOAT)) == headrace.lower(FLOAT)


def check_quantization():
    quantized = headrace.quantize(FLOAT, numpy.concatenate([x, 0.5 * x, -x]), observer="min-max")
    assert quantized[:2] == b"PK"
    parts = [headrace.observe(FLOAT, part, observer="min-max") for part in (numpy.concatenate([x, 0.5 * x]), -x)]
    assert headrace.quantize(FLOAT, statistics=parts, observer="min-max") == quantized
    layers = headrace.compare(FLOAT, quantized, x)
    assert json.dumps(layers).count("sqnr") > 3
    lowered = headrace.lower(FLOAT, quantize=[x], observer="min-max")
    assert lowered.report["target"] == "TOSA-1.0+INT", lowered.report["target"]
    given = headrace.run(lowered, x, io=lowered.io)[0]
    assert given.dtype == numpy.float32 and numpy.abs(given - y).max() < 0.1, given
    with raises(headrace.HeadraceError, "float32"):
        headrace.run(lowered, x)
    assert headrace.compare(FLOAT, lowered, x, io=lowered.io, through=headrace.quantize(FLOAT, x, observer="min-max"))


def check_looking():
    shown = headrace.show(FLOAT)
    assert "aten.conv2d" in shown
    assert shown._repr_html_().startswith("<iframe srcdoc=")
    assert headrace.page(FLOAT).lstrip().lower().startswith("<!doctype html>")
    assert "tosa.CONV2D" in headrace.show(headrace.lower(FLOAT))
    assert headrace.plan(headrace.lower(FLOAT))
    assert "aten.convolution" in headrace.opt(FLOAT, ["canonicalize_variants", "canonicalize_convolutions"])
    assert "struct kws" in headrace.contract(FLOAT, name="kws")
    several = headrace.run(FIXTURES / "multi_output" / "model.pt2")
    assert len(several) > 1, len(several)


def check_older_program():
    """A program without the option --html, with CLI11's message."""
    program = pathlib.Path("older")
    program.write_text("#!/bin/sh\necho 'The following argument was not expected: --html' >&2\nexit 2\n")
    program.chmod(0o755)
    os.environ["HEADRACE_PROGRAM"] = str(program.resolve())
    with raises(headrace.HeadraceError, "this headrace program writes no pages"):
        headrace.page(FLOAT)
    del os.environ["HEADRACE_PROGRAM"]


def check_errors():
    with raises(headrace.UsageError, "TOSA-9.9"):
        headrace.lower(FLOAT, target="TOSA-9.9")
    with raises(headrace.NotSupported, "error: "):
        headrace.lower(FIXTURES / "buffer_update" / "model.pt2")
    with raises(headrace.MalformedFile, "missing.pt2"):
        headrace.lower("missing.pt2")
    with raises(ValueError, "form is"):
        headrace.lower(FLOAT, form="onnx")
    with raises(ValueError, "these bytes"):
        headrace.lower(b"this is no model")
    with raises(TypeError, "not dict"):
        headrace.lower({})


def check_program():
    version = headrace.call("--version").split()[-1]
    assert headrace.__version__ == version
    command = pathlib.Path(sys.executable).parent / "headrace"
    assert (
        subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        == version
    )
    assert subprocess.run([command, "lower"], capture_output=True, check=False).returncode == 2
    assert (pathlib.Path(headrace.__file__).parent / "py.typed").exists()
    loaded = subprocess.run(["ldd", headrace.program_path()], capture_output=True, text=True, check=True).stdout
    assert "not found" not in loaded and "headrace.libs" in loaded, loaded


for check in (
    check_program,
    check_lowering,
    check_exported_program,
    check_quantization,
    check_looking,
    check_older_program,
    check_errors,
):
    check()
    print(check.__name__)
