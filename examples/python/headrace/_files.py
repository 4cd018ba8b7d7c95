# SPDX-License-Identifier: MIT
"""What functions take, as files that the program reads: models, arrays and options."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    import numpy
    import torch

    Array = Union[numpy.ndarray[Any, Any], torch.Tensor]

Path = Union[str, "os.PathLike[str]"]
Model = Union[Path, bytes, "torch.export.ExportedProgram"]
"""A file, the bytes of one, or an exported program."""
Samples = Union[Path, "Array"]
"""A .npy file, a directory of such files, or an array."""
Option = Union[str, float, bool, Path, None]


def suffix_of(data: bytes) -> str:
    """What a file of these bytes is called."""
    if data[:2] == b"PK":
        return ".pt2"
    if data[4:8] == b"TOSA":
        return ".tosa"
    if data[4:6] == b"ET":
        return ".pte"
    if data[:8] == b"headrace" or data[:2] == b"//":
        return ".hr"
    raise ValueError("these bytes are not a .pt2 archive, TOSA flatbuffer, .pte file or graph as text")


def model_file(model: Model, folder: pathlib.Path, name: str = "model") -> pathlib.Path:
    """The file of a model. A model that is not a file is written into the folder."""
    if isinstance(model, (str, os.PathLike)):
        return pathlib.Path(model)
    if isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
        path = folder / (name + suffix_of(data))
        path.write_bytes(data)
        return path
    if hasattr(model, "graph_signature") and hasattr(model, "graph_module"):
        from torch.export import save  # only now: whoever has such a program has PyTorch

        path = folder / (name + ".pt2")
        save(model, path)
        return path
    raise TypeError(f"a model is a path, bytes or a torch.export.ExportedProgram, not {type(model).__name__}")


def array_file(array: Samples, folder: pathlib.Path, name: str) -> pathlib.Path:
    """The .npy file, or the directory of such files, of an array."""
    if isinstance(array, (str, os.PathLike)):
        return pathlib.Path(array)
    import numpy

    # A tensor of PyTorch may require gradients, or be on another device.
    detach = getattr(array, "detach", None)
    held = detach().cpu().numpy() if detach else array
    path = folder / (name + ".npy")
    numpy.save(path, numpy.ascontiguousarray(held).reshape(numpy.shape(held)), allow_pickle=False)
    return path


def array_files(arrays: Samples | Sequence[Samples], folder: pathlib.Path) -> list[pathlib.Path]:
    """The same for one array, or a list or tuple of one for each input."""
    each: Iterable[Samples] = arrays if isinstance(arrays, (list, tuple)) else [arrays]
    return [array_file(array, folder, f"array_{i}") for i, array in enumerate(each)]


def option_list(options: dict[str, Option]) -> list[str]:
    """int16_share=0.2 as --int16-share 0.2; True is an option without a value, False and None leave it out."""
    found: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        found.append("--" + name.replace("_", "-"))
        if value is not True:
            found.append(os.fspath(value) if isinstance(value, (str, os.PathLike)) else str(value))
    return found
