#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes schemas.txt: PyTorch's schemas of the ops that our dialects declare.

    dump_schemas.py > schemas.txt

Needs torch; schemas.py, the test that reads the file, does not. There are three kinds of lines:

    aten::relu_(Tensor(a!) self) -> Tensor(a!)      a schema, as PyTorch prints it
    out aten.relu.out                               a registered out-variant
    dtype aten.sin.default float32 bool             for an op of tensors alone, its result dtype for int32 operands of
                                                    one shape, "-" if it refuses them, then for float32 operands
"""

import os
import re

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  (registers quantized_decomposed)

DIALECTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../include/headrace/dialect")


def declared(name):
    """Yields the name and the declaration of each op in a dialect's header."""
    with open(os.path.join(DIALECTS, name + ".hpp"), encoding="utf-8") as f:
        for found in re.finditer(r'^struct \w+\s*:\s*op<dialect, "([^"]+)"([^{]*)\{', f.read(), re.M):
            yield found[1], found[2]


def overload(name):
    namespace, base, variant = name.split(".")
    packet = getattr(getattr(torch.ops, namespace), base, None)
    return getattr(packet, variant, None)


def out_name(name, text):
    said = re.search(r'out_named<"([^"]+)">', text)
    if said:
        return said[1]
    if re.search(r"\bhas_out\b", text):
        return name[: -len("default")] + "out" if name.endswith(".default") else name + "_out"
    return None


def result_dtype(op, dtype):
    """Returns the result dtype of an op all of whose required arguments are tensors and that has one result;
    else None."""
    schema = op._schema
    required = [a for a in schema.arguments if not a.has_default_value()]
    kinds = {str(a.type) for a in required}
    if kinds != {"Tensor"} or [str(r.type) for r in schema.returns] != ["Tensor"] or schema.is_mutable:
        return None
    try:
        made = op(*(torch.empty((2, 3), dtype=dtype, device="meta") for _ in required))
    except (AssertionError, RuntimeError, IndexError, TypeError, ValueError):
        return "-"
    return str(made.dtype).removeprefix("torch.") if made.shape == (2, 3) else "-"


def main():
    schemas, outs, dtypes = [], [], []
    for dialect in ("aten", "quantized_decomposed"):
        for name, text in declared(dialect):
            op = overload(name)
            if op is None:
                raise SystemExit(f"{name}: torch {torch.__version__} has no such op")
            schemas.append(str(op._schema))
            out = out_name(name, text)
            if out is not None and overload(out) is not None:
                outs.append("out " + out)
            of_int, of_float = result_dtype(op, torch.int32), result_dtype(op, torch.float32)
            if of_int is not None and (of_int, of_float) != ("-", "-"):
                dtypes.append(f"dtype {name} {of_int} {of_float}")
    print(f"# Made by dump_schemas.py with torch {torch.__version__.split('+')[0]}.")
    print("\n".join(sorted(schemas) + sorted(outs) + sorted(dtypes)))


if __name__ == "__main__":
    main()
