# SPDX-License-Identifier: MIT
"""The program's commands as functions."""

from __future__ import annotations

import html
import json
import os
import pathlib
import re
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._files import Model, Option, Samples, array_files, model_file, option_list
from ._program import HeadraceError, MalformedFile, UsageError, call

if TYPE_CHECKING:
    import numpy

PAGE_HEIGHT = 640


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="headrace_")


def _io_file(io: dict[str, Any], folder: pathlib.Path) -> pathlib.Path:
    path = folder / "io_of_model.json"
    path.write_text(json.dumps(io), encoding="utf-8")
    return path


def page(model: Model) -> str:
    """The page of `headrace show --html`: one HTML document that needs no network."""
    with _folder() as name:
        folder = pathlib.Path(name)
        out = folder / "page.html"
        try:
            call("show", model_file(model, folder), "--html", out)
        except UsageError as error:
            if "--html" in str(error):
                raise HeadraceError(error.status, f"this headrace program writes no pages: {error}") from error
            raise
        return out.read_text(encoding="utf-8")


class Graph(str):
    """A graph as text. In a notebook it is shown as the page of `headrace show --html`."""

    model: Model

    def _repr_html_(self) -> str:
        document = html.escape(page(self.model), quote=True)
        return (
            f'<iframe srcdoc="{document}" style="width: 100%; height: {PAGE_HEIGHT}px; border: 0" '
            'sandbox="allow-scripts"></iframe>'
        )


class Lowered(bytes):
    """A lowered model: the bytes of the file, and what the program said about it."""

    io: dict[str, Any]
    """Name, dtype, shape and quantization of each input and output."""
    report: dict[str, Any]
    """What each pass did, times and nodes, and each remaining transpose."""

    def _repr_html_(self) -> str:
        return show(bytes(self))._repr_html_()


def lower(
    model: Model,
    *,
    target: str | None = None,
    form: str = "tosa",
    quantize: Samples | Sequence[Samples] | None = None,
    io_layout: str | None = None,
    delegate: str | None = None,
    verify: bool = False,
    **options: Option,
) -> Lowered:
    """A model as a TOSA flatbuffer, or with form="pte" as a program for ExecuTorch's runtime.

    target    such as "TOSA-1.0+INT+u55"; by default FP, or INT for a quantized model
    quantize  samples of a float model's inputs, one array or file for each: the model is quantized first
    io_layout "nhwc": image inputs and outputs are channels-last
    delegate  for a .pte file: "tosa", or an Ethos-U such as "ethos-u55-128"
    verify    the model is executed after each pass, and the first that changes the result is an error
    options   other options of `headrace lower`, such as observer="mse" or best=60; for a .pte file io_type="int8"
              or core="cortex-m4"

    Raises NotSupported if the model cannot be lowered; the text lists each refused node.
    """
    if form not in ("tosa", "pte"):
        raise ValueError(f'form is "tosa" or "pte", not {form!r}')
    with _folder() as name:
        folder = pathlib.Path(name)
        out, io, report = folder / f"lowered.{form}", folder / "io.json", folder / "report.json"
        arguments = ["lower", str(model_file(model, folder)), "-o", str(out), "--report", str(report), "--io", str(io)]
        if form == "pte" and options.get("io") in ("int8", "float"):  # the former spelling of io_type
            options["io_type"] = options.pop("io")
        if quantize is not None:
            arguments += ["--quantize", *map(str, array_files(quantize, folder))]
        call(
            *arguments,
            *option_list(
                {"target": target, "io_layout": io_layout, "delegate": delegate, "verify": verify, **options}
            ),
        )
        made = Lowered(out.read_bytes())
        made.io = json.loads(io.read_text(encoding="utf-8"))
        made.report = json.loads(report.read_text(encoding="utf-8"))
        return made


def quantize(
    model: Model,
    samples: Samples | Sequence[Samples] | None = None,
    *,
    statistics: Sequence[str | os.PathLike[str] | bytes] = (),
    **options: Option,
) -> bytes:
    """A float model as a quantized one: a .pt2 archive, which torch.export.load and every function here read.

    samples      for each input an array of samples along axis 0, a .npy file, or a directory of such files
    statistics   instead of samples: what `observe` returned for consecutive parts of them, or files of it, in order
    options      those of `headrace quantize`: observer, activations, weights, per_tensor, equalize, smooth, best, …
    """
    with _folder() as name:
        folder = pathlib.Path(name)
        out = folder / "quantized.pt2"
        if samples is not None:
            calibration = ["--samples", *array_files(samples, folder)]
        else:
            calibration = ["--statistics", *(_bytes_file(s, folder / f"{i}.stats") for i, s in enumerate(statistics))]
        call("quantize", model_file(model, folder), "-o", out, *calibration, *option_list(dict(options)))
        return out.read_bytes()


def observe(model: Model, samples: Samples | Sequence[Samples], **options: Option) -> bytes:
    """What a quantization observes of a part of the samples, on any machine, for `quantize(model, statistics=…)`.

    options   those of the quantization
    """
    with _folder() as name:
        folder = pathlib.Path(name)
        out = folder / "shard.stats"
        arguments = ["--samples", *array_files(samples, folder), "--observe", out, *option_list(dict(options))]
        call("quantize", model_file(model, folder), *arguments)
        return out.read_bytes()


def _bytes_file(data: str | os.PathLike[str] | bytes, path: pathlib.Path) -> pathlib.Path:
    if isinstance(data, (str, os.PathLike)):
        return pathlib.Path(data)
    path.write_bytes(data)
    return path


def run(
    model: Model, *inputs: Samples, method: str | None = None, io: dict[str, Any] | None = None
) -> list[numpy.ndarray[Any, Any]]:
    """The outputs of a model, executed on the CPU. Inputs are arrays or .npy files, in order.

    io   the description of a quantized file, Lowered.io: the model then takes and gives floats
    """
    import numpy

    with _folder() as name:
        folder = pathlib.Path(name)
        arguments = ["run", str(model_file(model, folder)), *option_list({"method": method})]
        if inputs:
            arguments += ["--in", *map(str, array_files(list(inputs), folder))]
        if io is not None:
            arguments += ["--io", str(_io_file(io, folder))]
        files = [folder / "out_0.npy"]
        try:
            call(*arguments, "--out", *files)
        except (MalformedFile, UsageError) as error:  # it says how many outputs there are
            count = re.search(r"the model has (\d+) outputs", str(error))
            if not count:
                raise
            files = [folder / f"out_{i}.npy" for i in range(int(count[1]))]
            call(*arguments, *(["--out", *map(str, files)] if files else []))
        return [numpy.load(file, allow_pickle=False) for file in files]


def show(model: Model, **options: Option) -> Graph:
    """A model as text, which notebooks show as a page."""
    with _folder() as name:
        shown = Graph(call("show", model_file(model, pathlib.Path(name)), *option_list(dict(options))))
        shown.model = model
        return shown


def compare(
    reference: Model,
    other: Model,
    samples: Samples | Sequence[Samples],
    *,
    io: dict[str, Any] | None = None,
    through: Model | None = None,
) -> dict[str, Any]:
    """How far each layer of a model is from the reference: what `headrace compare --json` writes."""
    with _folder() as name:
        folder = pathlib.Path(name)
        out = folder / "layers.json"
        arguments = [
            "compare",
            str(model_file(reference, folder, "reference")),
            str(model_file(other, folder, "other")),
            "--json",
            str(out),
            "--in",
            *map(str, array_files(samples, folder)),
        ]
        if io is not None:
            arguments += ["--io", str(_io_file(io, folder))]
        if through is not None:
            arguments += ["--through", str(model_file(through, folder, "through"))]
        call(*arguments)
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return found


def plan(model: Model, **options: Option) -> dict[str, Any]:
    """Where each tensor lies in memory: what `headrace plan -o` writes."""
    with _folder() as name:
        folder = pathlib.Path(name)
        out = folder / "plan.json"
        call("plan", model_file(model, folder), "-o", out, *option_list(dict(options)))
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return found


def opt(model: Model, passes: str | Sequence[str], **options: Option) -> str:
    """The graph after the named passes, as text."""
    names = passes if isinstance(passes, str) else ",".join(passes)
    with _folder() as name:
        file = model_file(model, pathlib.Path(name))
        return call("opt", file, "--passes", names, *option_list(dict(options)))


def contract(model: Model, *, name: str | None = None, **options: Option) -> str:
    """What a model consists of and needs, as a C++ header."""
    with _folder() as place:
        given = model_file(model, pathlib.Path(place))
        return call("contract", given, "-o", "-", *option_list({"name": name, **options}))
