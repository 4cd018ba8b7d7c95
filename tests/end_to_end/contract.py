#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the headers that `headrace contract` writes: they compile, and agree with the other commands.

    contract.py PROGRAM [COMPILER…]      default: g++; also arm-none-eabi-g++ if it is installed
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
KWS = ROOT / "examples" / "models" / "kws_dscnn_int8" / "model.pt2"
# Models that no target takes, or not the default one.
REFUSED = {"buffer_update", "dynamic_shape"}
TARGETS = {"control_flow": "TOSA-1.0+FP+cf", "integer_ops": "TOSA-1.0+INT+FP", "quantized_int16": "TOSA-1.0+INT+int16"}
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
FIRMWARE = ["-fno-exceptions", "-fno-rtti", "-Os", "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"]


def compilers(folder, given):
    """Returns each compiler as (name, command). Those for Cortex-M see none of the host's headers except
    Boost's."""
    if given == ["none"]:
        return []
    found = [(pathlib.Path(c).name, [c, *FLAGS]) for c in given or ["g++"] if shutil.which(c)]
    if shutil.which("arm-none-eabi-g++") and os.path.isdir("/usr/include/boost"):
        headers = folder / "boost_alone"
        headers.mkdir()
        (headers / "boost").symlink_to("/usr/include/boost")
        found.append(("arm-none-eabi-g++", ["arm-none-eabi-g++", *FLAGS, *FIRMWARE, "-isystem", str(headers)]))
    return found


def compiled(command, source):
    done = subprocess.run([*command, "-I", ROOT / "include", source], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stderr


def tensor_checks(struct, which, tensors):
    """Returns static_asserts that inputs or outputs agree with --io."""
    yield f"static_assert({struct}::{which}.size() == {len(tensors)});"
    names = {"bool": "boolean", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
    for i, t in enumerate(tensors):
        at = f"{struct}::{which}[{i}]"
        dtype = names.get(t["dtype"].lower(), t["dtype"].lower())
        shape = ", ".join(map(str, t["shape"]))
        yield f"static_assert({at}.dtype == headrace::dtype::{dtype});"
        yield f"static_assert({at}.shape == headrace::int_list{{{shape}}});"
        yield f"static_assert({at}.name == {json.dumps(t['name'])});"
        q = t.get("quantization", {"scale": 0, "zero_point": 0})
        yield f"static_assert({at}.scale == {q['scale']!r} && {at}.zero_point == {q['zero_point']});"


def checks_of_model(program, folder, model):
    """Writes a model's contract; returns static_asserts that it agrees with the other commands."""
    name = model.parent.name
    target = ["--target", TARGETS[name]] if name in TARGETS else []
    flatbuffer, io, header = folder / "m.tosa", folder / "m.json", folder / f"{name}.hpp"
    call(program, "lower", model, "-o", flatbuffer, "--io", io, *target)
    call(program, "contract", model, "-o", header, *target)
    call(program, "contract", model, "-o", folder / "again.hpp", "--name", name, *target)
    expect(header.read_bytes() == (folder / "again.hpp").read_bytes(), f"{name}: two runs give other bytes")
    operators = re.findall(r"= tosa\.(\w+)\(", call(program, "show", "--full", flatbuffer).stdout)
    peak = re.search(r"peak (\d+) bytes", call(program, "plan", flatbuffer).stdout)[1]
    border = json.loads(io.read_text())
    used = [o for o in operators if o not in ("CONST", "CONST_SHAPE")]
    spelled = re.search(r'parse_target\("([^"]+)"', header.read_text())[1]
    return [f'#include "{header.name}"',
            f"static_assert({name}::flatbuffer_bytes == {flatbuffer.stat().st_size});",
            f"static_assert({name}::peak_memory == {peak});",
            f"static_assert({name}::nodes.size() == {len(used)});",
            f"static_assert({name}::lowered_ops::size == {len(set(used))});",
            f'static_assert(headrace::fits<headrace::tosa_target<"{spelled}">, {name}>);',
            f"static_assert(headrace::conforms<{name}, {name}>);",
            *tensor_checks(name, "inputs", border["inputs"]), *tensor_checks(name, "outputs", border["outputs"])]


def check_models(program, folder, models, tools):
    source = folder / "models.cpp"
    source.write_text("\n".join(line for model in models for line in checks_of_model(program, folder, model)) + "\n")
    for tool, command in tools:
        status, said = compiled(command, source)
        expect(status == 0, f"models with {tool}: {said[:2000]}")


def check_refusal(folder, tools, program):
    """A firmware whose pipeline lacks an op, and a board that is too small."""
    header = folder / "kws.hpp"
    call(program, "contract", KWS, "-o", header)
    expect("struct kws {" in header.read_text(), "the output does not give the struct its name")
    call(program, "contract", KWS, "-o", folder / "model.hpp")
    expect("struct model {" in (folder / "model.hpp").read_text(), "an output called model does not give its name")
    printed = call(program, "contract", KWS, "-o", "-").stdout
    expect("struct kws_dscnn_int8 {" in printed, "the model does not give a printed struct its name")
    example = folder / "kws_contract.hpp"
    call(program, "contract", KWS, "-o", example, "--name", "kws", "--core", "cortex-m4")
    expect(example.read_bytes() == (ROOT / "examples" / example.name).read_bytes(),
           "examples/kws_contract.hpp is stale: its first user says how it is written")
    cases = {
        "lowers": ("struct none { static constexpr auto supported = headrace::ops_in<headrace::aten::relu>; };\n"
                   "static_assert(headrace::lowers<none, kws>);\n", "headrace::aten::amax"),
        "memory": ("struct board : headrace::ethos_u55 { static constexpr int memory = 1024; };\n"
                   "static_assert(headrace::fits<board, kws>);\n", "headrace::has_bytes<1024>"),
        "float": ('static_assert(headrace::fits<headrace::tosa_target<"TOSA-1.0+FP">, kws>);\n',
                  "headrace::lacks<headrace::target_feature::profile_int>")}
    for case, (text, culprit) in cases.items():
        source = folder / f"{case}.cpp"
        source.write_text(f'#include "kws.hpp"\n#include <headrace/op/op_set.hpp>\n{text}')
        for tool, command in tools:
            status, said = compiled(command, source)
            errors = [line for line in said.splitlines() if re.search(r"\berror:", line)]
            expect(status != 0 and len(errors) == 1, f"{case} with {tool}: not one error: {said[:600]}")
            expect(len(said.splitlines()) <= 8, f"{case} with {tool}: {len(said.splitlines())} lines")
            expect(culprit in said, f"{case} with {tool} does not name {culprit}: {said[:600]}")


def check_usage(program, folder):
    out = folder / "out.hpp"
    refused = FIXTURES / "buffer_update" / "model.pt2"
    call(program, "contract", "--help", says="Usage")
    call(program, "contract", status=USAGE)
    call(program, "contract", KWS, status=USAGE)
    for name in ("class", "2d", "a-b", "_Reserved", "a__b", "std", "a b", "é"):
        call(program, "contract", KWS, "-o", out, "--name", name, status=USAGE, says="--name")
    call(program, "contract", KWS, "-o", out, "--target", "TOSA-9", status=USAGE)
    call(program, "contract", KWS, "-o", out, "--exported-only", "--target", "TOSA-1.0+INT", status=USAGE)
    call(program, "contract", KWS, "-o", folder / "no" / "out.hpp", status=USAGE, says="cannot write")
    call(program, "contract", folder / "missing.pt2", "-o", out, status=MALFORMED)
    call(program, "contract", refused, "-o", out, status=UNSUPPORTED)
    expect(not out.exists(), "an error left a header")


def check_exported_only(program, folder, tools):
    header = folder / "update.hpp"
    call(program, "contract", FIXTURES / "buffer_update" / "model.pt2", "-o", header, "--exported-only")
    source = folder / "update.cpp"
    source.write_text('#include "update.hpp"\nstatic_assert(!headrace::lowered_contract<update>);\n'
                      "static_assert(headrace::model_contract<update>);\n")
    for tool, command in tools:
        status, said = compiled(command, source)
        expect(status == 0, f"exported only with {tool}: {said[:600]}")


def renamed(model, into, old, new):
    """Returns a copy of an archive in which text of its model is replaced."""
    with zipfile.ZipFile(model) as source, zipfile.ZipFile(into, "w", zipfile.ZIP_STORED) as copy:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename.endswith("models/model.json"):
                data = data.replace(old.encode(), new.encode())
            copy.writestr(entry.filename, data)


def check_hostile_names(program, folder, tools):
    """Names in the model are text: they must be returned unchanged, whatever they contain."""
    name = 'x"; } }; /* */ ??/ \\u0041 \\\n#error é'
    quoted = json.dumps(name)[1:-1]
    place = folder / "1-class !"
    place.mkdir()
    model = place / "model.pt2"
    original = FIXTURES / "conv_bn_relu" / "model.pt2"
    border = folder / "border.json"
    call(program, "lower", original, "-o", folder / "m.tosa", "--io", border)
    given = json.loads(border.read_text())["inputs"][0]["name"]
    renamed(original, model, f'"{given}"', f'"{quoted}"')
    op = "torch.ops.aten.relu.default"
    header = folder / "hostile.hpp"
    call(program, "contract", model, "-o", header)
    expect("struct model_1_class {" in call(program, "contract", model, "-o", "-").stdout, "the folder gives no name")
    raw = ", ".join(f"'\\x{b:02x}'" for b in name.encode())
    source = folder / "hostile.cpp"
    source.write_text('#include "hostile.hpp"\n'
                      f"inline constexpr char wanted[] = {{{raw}, 0}};\n"
                      "static_assert(hostile::inputs[0].name == wanted);\n")
    for tool, command in tools:
        status, said = compiled(command, source)
        expect(status == 0, f"hostile names with {tool}: {said[:600]}")
    unknown = folder / 'q"*\\.pt2'
    renamed(original, unknown, f'"{op}"', '"torch.ops.my\\"*/.op??/"')
    call(program, "contract", unknown, "-o", header, status=UNSUPPORTED)
    call(program, "contract", unknown, "-o", header, "--exported-only", "--name", "model")
    source.write_text('#include "hostile.hpp"\n#include <headrace/op/op_set.hpp>\n'
                      "struct p { static constexpr auto supported = headrace::ops_in<headrace::aten::conv2d>; };\n"
                      "static_assert(headrace::ops_not_lowered<p, model>::size != 0);\n")
    expect("headrace::foreign_op<" in header.read_text(), "an op that is not known is not named")
    for tool, command in tools:
        status, said = compiled(command, source)
        expect(status == 0, f"an unknown op with {tool}: {said[:600]}")


def main():
    program = sys.argv[1]
    models = sorted(FIXTURES.glob("*/model.pt2")) + sorted((ROOT / "examples" / "models").glob("*/model.pt2"))
    models = [m for m in models if m.parent.name not in REFUSED]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tools = compilers(folder, sys.argv[2:])
        check_usage(program, folder)
        check_models(program, folder, models, tools)
        check_refusal(folder, tools, program)
        check_exported_only(program, folder, tools)
        check_hostile_names(program, folder, tools)
    print(f"{len(models)} models, {', '.join(tool for tool, _ in tools)}")
    return report()


if __name__ == "__main__":
    sys.exit(main())
