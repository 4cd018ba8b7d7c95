#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lowers a model to a C++ type, builds it for a Cortex-M core, executes it once on QEMU's board for that core, and
prints one JSON object: the `core`, `equal` (the outputs are those of `headrace run`, to the bit for integers, and near
for floats), `instructions` of the inference (g++ 12 -O3 unless --flags say otherwise), and bytes: the `arena`, `code`,
`constants` in flash, and the `stack` that the inference used. Exit status 1 if the outputs differ."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "board"))
import board  # noqa: E402

TYPES = {"BOOL": np.bool_, "INT4": np.int8, "INT8": np.int8, "UINT8": np.uint8, "INT16": np.int16, "UINT16": np.uint16,
         "INT32": np.int32, "INT48": np.int64, "FP32": np.float32, "FP16": np.float16,
         "BF16": np.dtype("V2")}  # NumPy has no such type, and .npy files have two bytes
# The part of a float by which it may differ, what is added to its size, and its type on a board.
FLOATS = {"FP32": (1e-4, 1e-3, "float"), "FP16": (1 / 256, 0.1, "headrace::on_device::half_float"),
          "BF16": (1 / 32, 0.1, "headrace::on_device::brain_float")}
BOARDS = {"cortex-m0": "m0", "cortex-m0plus": "m0", "cortex-m3": "m3", "cortex-m4": "m4", "cortex-m7": "m4",
          "cortex-m33": "m4", "cortex-m55": "m55", "cortex-m85": "m55"}


class Failure(Exception):
    pass


def execute(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{pathlib.Path(str(command[0])).name}: {(done.stderr or done.stdout).strip()[:2000]}")
    return done.stdout


def as_bf16(x):
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16).view("V2")


def as_numbers(y):
    """Elements as numbers that can be compared."""
    return (y.view(np.uint16).astype(np.uint32) << 16).view(np.float32) if y.dtype.kind == "V" else y


def as_stored(x, tensor):
    """An array as the model takes it: quantized, and with the channels last, if the model has it so."""
    quantization = tensor.get("quantization")
    if quantization and np.issubdtype(x.dtype, np.floating):
        steps = np.round(x / quantization["scale"]) + quantization["zero_point"]
        x = np.clip(steps, quantization["qmin"], quantization["qmax"])
    if tensor.get("layout") == "NHWC" and list(x.shape) != tensor["shape"]:
        x = np.moveaxis(x, 1, -1)
    if tensor["dtype"] == "BF16" and x.dtype.kind != "V":
        x = as_bf16(x)
    return np.array(x.astype(TYPES[tensor["dtype"]]).reshape(tensor["shape"]), order="C")  # keeps rank 0


def random_input(tensor, generator):
    kind = TYPES[tensor["dtype"]]
    if tensor["dtype"] in FLOATS:
        return as_stored(generator.standard_normal(tensor["shape"]).astype(np.float32), tensor)
    if kind == np.bool_:
        return generator.integers(0, 2, tensor["shape"]).astype(kind)
    limits = np.iinfo(kind)
    return generator.integers(max(limits.min, -1000), min(limits.max, 1000), tensor["shape"]).astype(kind)


def array_text(name, x):
    size = x.dtype.itemsize
    words = x.ravel().view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[size])
    kind = {1: "std::uint8_t", 2: "std::uint16_t", 4: "std::uint32_t", 8: "std::uint64_t"}[size]
    numbers = ",".join(str(w) + ("u" if size == 4 else "ull" if size == 8 else "") for w in words) or "0"
    return f"alignas(16) const {kind} {name}[] = {{{numbers}}};\n"


def observed_text(xs, dump, times):
    """Two more inferences: one whose tensors are written to a file, and one whose layers are timed."""
    text = ""
    inputs = "".join(f"    std::memcpy(model.input<{i}>().data(), x{i}, model.input<{i}>().size_bytes());\n" for i in range(len(xs)))
    if dump:
        text += f"    model.reset();\n{inputs}    const int file = board::open_file({json.dumps(str(dump))});\n"
        text += "    model.run(headrace::on_device::dump([file](const void* p, std::size_t n) { board::write_file(file, p, n); }));\n"
        text += "    board::close_file(file);\n"
    if times:
        text += f"    model.reset();\n{inputs}    board::start_ticks();\n    std::uint32_t begin = board::ticks();\n"
        text += "    model.run([&](const headrace::on_device::observed& x) {\n        const std::int64_t taken = board::ticks() - begin;\n"
        text += '        board::print("layer "), board::print(taken * board::instructions_in_100_ticks / 100);\n'
        text += '        board::print(" "), board::print(x.name), board::print("\\n");\n'
        text += "        begin = board::ticks();\n    });\n"
    return text


def main_text(xs, ys, kinds, has_banks, dump=None, times=None):
    """A program that copies the inputs in, runs, prints the figures and which outputs differ."""
    text = '#include "m.hpp"\n#include "board.hpp"\n#include <cstring>\n#include <headrace/on_device/dump.hpp>\n'
    if not has_banks:
        text += "alignas(16) static std::byte arena[m::model::arena_bytes + 1];\n"
    text += "".join(array_text(f"x{i}", x) for i, x in enumerate(xs))
    text += "".join(array_text(f"y{i}", y) for i, y in enumerate(ys))
    text += f"int main() {{\n    static m::model model({'m::arenas' if has_banks else 'arena'});\n"
    for i in range(len(xs)):
        text += f"    std::memcpy(model.input<{i}>().data(), x{i}, model.input<{i}>().size_bytes());\n"
    text += "    board::paint_stack();\n    const auto executed = board::instructions([] { model.run(); });\n"
    text += '    board::print("stack ");\n    board::print(std::int64_t{board::stack_used()});\n'
    text += '    board::print("\\ninstructions ");\n    board::print(executed);\n'
    for i, y in enumerate(ys):
        if kinds[i] in FLOATS:
            part, least, kind = FLOATS[kinds[i]]
            text += (f"    {{\n        int bad = 0;\n        const auto got = model.output<{i}>();\n"
                     f"        for (int i = 0; i != {y.size}; ++i) {{\n            {kind} element;\n"
                     f"            std::memcpy(&element, &y{i}[i], sizeof element);\n            const float a = got[static_cast<unsigned>(i)], b = element;\n"
                     f"            const float d = a < b ? b - a : a - b, magnitude = b < 0 ? -b : b;\n"
                     f"            bad += !(d <= {part}F * (magnitude + {least}F)) && std::memcmp(&a, &b, 4) != 0;\n        }}\n")
        else:
            text += (f"    {{\n        const int bad = std::memcmp(model.output<{i}>().data(), y{i}, sizeof y{i}) != 0;\n")
        text += f'        board::print("\\ndiffers ");\n        board::print(std::int64_t{{bad}});\n    }}\n'
    return text + '    board::print("\\n");\n' + observed_text(xs, dump, times) + "}\n"


def measure(options, folder):
    dump, times = getattr(options, "dump", None), getattr(options, "times", None)
    program = options.headrace
    execute(program, "lower", options.model, "-o", folder / "m.tosa", "--io", folder / "io.json", "-q", *options.lower)
    banks = ["--memory", options.memory] if options.memory else []
    execute(program, "lower", options.model, "-o", folder / "m.hpp", "--core", options.core, "-q", *options.lower, *banks)
    io = json.loads((folder / "io.json").read_text())
    generator = np.random.default_rng(1)
    given = [np.load(path) for path in options.inputs]
    xs = [as_stored(given[i], t) if i < len(given) else random_input(t, generator) for i, t in enumerate(io["inputs"])]
    files = []
    for i, x in enumerate(xs):
        np.save(folder / f"x{i}.npy", x)
        files += ["--in", folder / f"x{i}.npy"]
    outs = [folder / f"y{i}.npy" for i in range(len(io["outputs"]))]
    execute(program, "run", folder / "m.tosa", *files, *(a for o in outs for a in ("--out", o)))
    kinds = [t["dtype"] for t in io["outputs"]]
    ys = [np.load(o).astype(TYPES[k]) for o, k in zip(outs, kinds)]
    (folder / "main.cpp").write_text(main_text(xs, ys, kinds, bool(banks), dump and dump.resolve(), times))
    core = BOARDS[options.core]
    elf = folder / "m.elf"
    try:
        board.build(core, [folder / "main.cpp"], [*options.flags.split(), f"-I{folder}"], str(elf))
    except subprocess.CalledProcessError as e:
        raise Failure("the compiler failed") from e
    status, text = board.run(core, str(elf))
    found = dict(re.findall(r"^(stack|instructions) (\d+)$", text, re.M))
    if status != 0 or len(found) != 2:
        raise Failure(f"the board stopped with status {status}: {text.strip()[:500]}")
    if times:
        rows = re.findall(r"^layer (\d+) (.*)$", text, re.M)[len(xs):]
        times.write_text("layer,instructions\n" + "".join(f"{name},{count}\n" for count, name in rows))
    header = (folder / "m.hpp").read_text()
    constants = int(re.search(r"constant_bytes = (\d+)", header).group(1))
    return {"core": options.core, "equal": not any(int(n) for n in re.findall(r"^differs (\d+)$", text, re.M)),
            "instructions": int(found["instructions"]), "arena": arena_bytes(elf),
            "code": code_bytes(elf), "constants": constants, "stack": int(found["stack"])}


def arena_bytes(elf):
    """Bytes of the arena, or of those of all banks."""
    total = 0
    for line in execute("arm-none-eabi-nm", "-SC", elf).splitlines():
        parts = line.split()
        if len(parts) == 4 and parts[3] == "arena":
            return int(parts[1], 16) - 1
        if len(parts) == 4 and parts[3].startswith("m::arena_in_"):
            total += int(parts[1], 16)
    return total


def code_bytes(elf):
    """What the image's instructions take beside those of an image without a model."""
    total = 0
    for line in execute("arm-none-eabi-nm", "-SC", elf).splitlines():
        parts = line.split(maxsplit=3)
        if len(parts) == 4 and parts[2] in "tTwW" and not re.match(r"board::|start$|fault$|_", parts[3]):
            total += int(parts[1], 16)
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--core", required=True, choices=sorted(BOARDS))
    parser.add_argument("--in", dest="inputs", action="append", default=[], help="input (.npy), in order; default: random")
    parser.add_argument("--headrace", default=os.environ.get("HEADRACE", str(HERE.parents[1] / "build/examples/headrace")))
    parser.add_argument("--flags", default="-O3", help="of the compiler")
    parser.add_argument("--memory", help="memory map, a file or a preset: an arena in each bank")
    parser.add_argument("--dump", type=pathlib.Path, help="writes the tensors, for headrace compare --board")
    parser.add_argument("--times", type=pathlib.Path,
                        help="writes the instructions of each layer (CSV), for headrace compare --cycles")
    parser.add_argument("--lower", nargs=argparse.REMAINDER, default=[], help="further options of headrace lower")
    parser.add_argument("--work", type=pathlib.Path, help="keeps what is made in this folder")
    options = parser.parse_args()
    try:
        if options.work:
            options.work.mkdir(parents=True, exist_ok=True)
            result = measure(options, options.work)
        else:
            with tempfile.TemporaryDirectory() as folder:
                result = measure(options, pathlib.Path(folder))
    except Failure as e:
        print(f"error: {e}", file=sys.stderr)
        return 2
    print(json.dumps(result))
    return 0 if result["equal"] else 1


if __name__ == "__main__":
    sys.exit(main())
