#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares our op tables with PyTorch's schemas.

    dump_ops > ops.tsv
    schemas.py ops.tsv [FILE.py ...]

Needs torch. Its own schemas are found in the running process; further ones are read, not executed, from the
`lib.define("...")` calls of the given files, such as ExecuTorch's backends/cortex_m/ops/operators.py and
exir/passes/dim_order_ops_registry.py. Ops of which no schema is known are listed. Exit status 1 if anything differs.
"""

import ast
import re
import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  (registers quantized_decomposed)

VARIADIC = -1
LEFT_OUT = {"Layout", "Device", "Generator"}
KINDS = {
    "Tensor": "tensor",
    "List[Tensor]": "tensors",
    "List[Optional[Tensor]]": "optional_tensors",
    "int": "integer",
    "SymInt": "integer",
    "List[int]": "integers",
    "List[SymInt]": "integers",
    "float": "floating",
    "List[float]": "floatings",
    "bool": "boolean",
    "number": "number",
    "str": "text",
    "ScalarType": "element_type",
    "MemoryFormat": "format",
}
# c10's numbers, which the defaults are in, and the numbers of torch.export's schema, which we use.
FORMATS = {0: 1, 1: 4, 2: 2, 3: 3}
DTYPES = {0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64"}


def read_dump(path):
    ops = {}
    for line in open(path, encoding="utf-8"):
        parts = line.rstrip("\n").split("\t")
        results, fields = ops.setdefault(parts[0], (int(parts[1]), []))
        if len(parts) > 2:
            fields.append(tuple(parts[2:]))
    return ops


def read_library(path):
    """The schemas of `lib = Library("name", ...)` and `lib.define("...")`."""
    schemas = {}
    namespace = None
    for node in ast.walk(ast.parse(open(path, encoding="utf-8").read())):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called == "Library" and len(node.args) > 1 and node.args[1].value == "DEF":
            namespace = node.args[0].value
        elif called == "define":
            schema = torch._C.parse_schema(f"{namespace}::{node.args[0].value}")
            schemas[f"{namespace}.{schema.name.split('::')[1]}.{schema.overload_name or 'default'}"] = schema
    return schemas


def find_schema(name, libraries):
    if name in libraries:
        return libraries[name]
    namespace, *rest = name.split(".")
    if len(rest) != 2:
        return None
    found = getattr(getattr(torch.ops, namespace), rest[0], None)
    found = getattr(found, rest[1], None)
    return found and found._schema


def expected_default(kind, value, count):
    if value is None:
        return "None"
    if kind == "integers":
        values = value if isinstance(value, list) else [value] * count
        return "[" + ",".join(map(str, values)) + "]"
    if kind == "format":
        return str(FORMATS[value])
    if kind == "element_type":
        return DTYPES[value]
    if kind in ("tensors", "optional_tensors", "floatings"):
        return None
    return str(value)


def same_default(kind, ours, theirs):
    if theirs is None or ours == theirs:
        return True
    # 1 and 1.0 are different Python numbers, so a number must also be written alike.
    is_float = [re.search(r"[.eni]", text) is not None for text in (ours, theirs)]
    try:
        return float(ours) == float(theirs) and (kind != "number" or is_float[0] == is_float[1])
    except ValueError:
        return False


def compare(name, results, fields, schema):
    returned = [str(r.real_type) for r in schema.returns]
    wanted = VARIADIC if returned == ["List[Tensor]"] else len(returned)
    if results != wanted:
        yield f"{results} results, schema: {wanted}"

    kept = [
        a for a in schema.arguments
        if re.sub(r"Optional\[(.+)\]", r"\1", str(a.real_type)) not in LEFT_OUT and a.name != "pin_memory"
    ]
    names = [f[0] for f in fields]
    if names != [a.name for a in kept]:
        yield f"fields {names}, schema: {[a.name for a in kept]}"
        return
    for (field, kind, optional, default), argument in zip(fields, kept):
        real = str(argument.real_type)
        wants_optional = real.startswith("Optional[")
        real = real[len("Optional["):-1] if wants_optional else real
        if kind != KINDS.get(real):
            yield f"{field}: {kind}, schema: {real}"
        if (optional == "1") != wants_optional:
            yield f"{field}: optional {optional}, schema: {argument.real_type}"
        if argument.has_default_value():
            theirs = expected_default(kind, argument.default_value, argument.N or 1)
            if not same_default(kind, default, theirs):
                yield f"{field}: default {default}, schema: {theirs}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ops = read_dump(sys.argv[1])
    libraries = {}
    for path in sys.argv[2:]:
        libraries.update(read_library(path))

    unknown = []
    differences = 0
    for name, (results, fields) in ops.items():
        schema = find_schema(name, libraries)
        if schema is None:
            unknown.append(name)
            continue
        for difference in compare(name, results, fields, schema):
            differences += 1
            print(f"{name}: {difference}")
    print(f"{len(ops) - len(unknown)} of {len(ops)} ops compared, {differences} differences")
    if unknown:
        print("no schema:", ", ".join(unknown))
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
