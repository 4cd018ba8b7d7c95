# SPDX-License-Identifier: MIT
"""Lowers PyTorch exports to TOSA 1.0 and to programs for ExecuTorch's runtime, with the program headrace.

A model is a path, the bytes of a file, or a torch.export.ExportedProgram.
"""

from importlib import metadata

from ._files import Model, Samples
from ._functions import Graph, Lowered, compare, contract, lower, observe, opt, page, plan, quantize, run, show
from ._program import HeadraceError, MalformedFile, NotSupported, UsageError, call, program_path

__all__ = [
    "Graph",
    "HeadraceError",
    "Lowered",
    "MalformedFile",
    "Model",
    "NotSupported",
    "Samples",
    "UsageError",
    "call",
    "compare",
    "contract",
    "lower",
    "observe",
    "opt",
    "page",
    "plan",
    "program_path",
    "quantize",
    "run",
    "show",
]
__version__ = metadata.version("headrace")
