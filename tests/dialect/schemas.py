#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the field tables and the traits of our ops with PyTorch's schemas.

    schemas.py DUMP_OPS

DUMP_OPS is the program built from dump_ops.cpp. The schemas are in schemas.txt, which dump_schemas.py writes
with torch. Every op of the dialects in CHECKED must have one. Exit status 1 if anything differs.
"""

import os
import re
import subprocess
import sys

SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schemas.txt")
CHECKED = ("aten", "quantized_decomposed")
VARIADIC = -1
LEFT_OUT = {"Layout", "Device", "Generator"}
KINDS = {
    "Tensor": "tensor",
    "Tensor[]": "tensors",
    "Tensor?[]": "optional_tensors",
    "int": "integer",
    "SymInt": "integer",
    "int[]": "integers",
    "SymInt[]": "integers",
    "float": "floating",
    "float[]": "floatings",
    "bool": "boolean",
    "Scalar": "number",
    "Scalar[]": "floatings",
    "str": "text",
    "ScalarType": "element_type",
    "MemoryFormat": "format",
}
# c10's numbering, which the defaults use, and that of torch.export's schema, which we use.
FORMATS = {0: 1, 1: 4, 2: 2, 3: 3}
DTYPES = {0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64"}
ALIAS = re.compile(r"\(([a-z])(!?)(?: -> \*)?\)")


class Argument:
    """`Tensor(a!) self`, `int[2]? dim=None`: alias is "", "a" or "a!"."""

    def __init__(self, text):
        found = ALIAS.search(text)
        self.alias = found[1] + found[2] if found else ""
        self.type, rest = ALIAS.sub("", text).split(" ", 1)
        self.name, _, default = rest.partition("=")
        self.default = default if "=" in rest else None
        self.count = int((re.search(r"\[(\d+)\]", self.type) or [0, 1])[1])
        self.type = re.sub(r"\[\d+\]", "[]", self.type)
        self.optional = self.type.endswith("?")
        self.type = self.type.removesuffix("?")


def split(text):
    """Splits at commas that are outside brackets and quotes."""
    parts, depth, quoted, part = [], 0, False, ""
    for c in text:
        quoted ^= c == '"'
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0 and not quoted:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + [part.strip()] if part.strip() else parts


def read_schemas():
    schemas, outs, dtypes = {}, set(), {}
    for line in open(SCHEMAS, encoding="utf-8"):
        words = line.split()
        if words[0] == "#":
            continue
        if words[0] == "out":
            outs.add(words[1])
        elif words[0] == "dtype":
            dtypes[words[1]] = words[2:]
        else:
            head, tail = line.split("(", 1)
            arguments, returns = tail.rstrip("\n").rsplit(" -> ", 1) if ") -> (" not in tail else (
                tail.rstrip("\n").rsplit(") -> (", 1)[0] + ")", "(" + tail.rstrip("\n").rsplit(") -> (", 1)[1])
            name = head.replace("::", ".")
            name += "" if name.count(".") == 2 else ".default"
            taken = [Argument(a) for a in split(arguments.strip()[:-1]) if a != "*"]
            schemas[name] = taken, split(returns[1:-1]) if returns.startswith("(") else [returns]
    return schemas, outs, dtypes


def read_dump(program):
    ops, traits = {}, {}
    for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
        parts = line.split("\t")
        if parts[1] == "traits":
            traits[parts[0]] = parts[2], parts[3], set(parts[4].split())
            continue
        results, fields = ops.setdefault(parts[0], (int(parts[1]), []))
        if len(parts) > 2:
            fields.append(tuple(parts[2:]))
    return ops, traits


def same_default(kind, ours, argument):
    theirs = argument.default
    if theirs == "None":
        return ours == "None"
    if kind in ("tensors", "optional_tensors", "floatings"):
        return True
    if kind == "integers":
        return ours == (theirs.replace(" ", "") if theirs[0] == "[" else
                        "[" + ",".join([theirs] * argument.count) + "]")
    if kind == "format":
        return ours == str(FORMATS[int(theirs)])
    if kind == "element_type":
        return ours == DTYPES[int(theirs)]
    theirs = theirs.strip("\"'")
    if ours == theirs:
        return True
    # 1 and 1.0 are different Python numbers, so numbers must also be written alike.
    is_float = [re.search(r"[.eni]", text) is not None for text in (ours, theirs)]
    try:
        return float(ours) == float(theirs) and (kind != "number" or is_float[0] == is_float[1])
    except ValueError:
        return False


def compare_fields(results, fields, arguments, returns):
    wanted = VARIADIC if re.fullmatch(r"Tensor(\(a\))?\[\]", returns[0] if returns else "") else len(returns)
    if results != wanted:
        yield f"{results} results, schema: {wanted}"
    kept = [a for a in arguments if a.type not in LEFT_OUT and a.name != "pin_memory"]
    names = [f[0] for f in fields]
    if names != [a.name for a in kept]:
        yield f"fields {names}, schema: {[a.name for a in kept]}"
        return
    for (field, kind, optional, default), argument in zip(fields, kept):
        if kind != KINDS.get(argument.type):
            yield f"{field}: {kind}, schema: {argument.type}"
        if (optional == "1") != argument.optional:
            yield f"{field}: optional {optional}, schema: {argument.type}{'?' * argument.optional}"
        if argument.default is not None and not same_default(kind, default, argument):
            yield f"{field}: default {default}, schema: {argument.default}"


def compare_traits(name, base, out, traits, arguments, outs):
    alias = arguments[0].alias if arguments else ""
    if ("in_place" in traits) != alias.endswith("!"):
        yield f"in_place: {'in_place' in traits}, schema: {alias or 'no alias'}"
    if ("aliasing" in traits) != (alias != "" and not alias.endswith("!")):
        yield f"aliasing: {'aliasing' in traits}, schema: {alias or 'no alias'}"
    if out and name.startswith("aten.") and out not in outs:
        yield f"no out-variant {out} is registered"
    # PyTorch names in-place ops and copies of views after their bases.
    for trait, suffix in (("in_place", "_"), ("copied_view", "_copy")):
        if trait in traits and base and name.split(".")[1] != base.split(".")[1] + suffix:
            yield f"{trait} of {base}, which has another name"


def compare_dtypes(traits, of_int, of_float):
    if "int_to_float" in traits and (of_int, of_float) != ("float32", "float32"):
        yield f"int_to_float, but gives {of_int} and {of_float}"
    if "predicate" in traits and (of_int, of_float) != ("bool", "bool"):
        yield f"predicate, but gives {of_int} and {of_float}"
    if "like_self" in traits and (of_int not in ("int32", "-") or of_float != "float32"):
        yield f"like_self, but gives {of_int} and {of_float}"
    promotes = traits & {"unary", "binary"} and not traits & {"int_to_float", "predicate"}
    if promotes and (of_int not in ("int32", "-") or of_float not in ("float32", "-")):
        yield f"elementwise without a trait of its dtype, but gives {of_int} and {of_float}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    schemas, outs, dtypes = read_schemas()
    ops, all_traits = read_dump(sys.argv[1])
    differences, compared, confirmed = 0, 0, 0
    for name, (results, fields) in ops.items():
        if name.split(".")[0] not in CHECKED:
            continue
        found = []
        if name not in schemas:
            found.append("schemas.txt has no schema; run dump_schemas.py")
        else:
            compared += 1
            base, out, traits = all_traits[name]
            found += compare_fields(results, fields, *schemas[name])
            found += compare_traits(name, base, out, traits, schemas[name][0], outs)
            if name in dtypes:
                confirmed += 1
                found += compare_dtypes(traits, *dtypes[name])
        for difference in found:
            print(f"{name}: {difference}")
        differences += len(found)
    print(f"{compared} schemas and {confirmed} results compared, {differences} differences")
    sys.exit(1 if differences or compared < 400 or confirmed < 100 else 0)


if __name__ == "__main__":
    main()
