#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a model one of a step, lowers that to a C++ type, and lets it take a stream by `push`, a few numbers at a time:
on the host, or on QEMU's board for a Cortex-M core. Its outputs must be due from the step that `stream` says, and be
those that `headrace run` gives step by step, to the bit for integers, and near for floats. Exit status 1 if not.

    push.py MODEL.pt2 --axis x:2 --step 160
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE / "board"))
import board  # noqa: E402
import run  # noqa: E402


def reference(program, folder, io, report, xs, is_quantized):
    """What `headrace run` gives for each step."""
    first = {s["name"]: s["first_value"] for s in report["states"]}
    # States of a step that was quantized afterwards are real numbers there.
    kind = {t["state"]: np.float32 if is_quantized else run.TYPES[t["dtype"]] for t in io["inputs"] if "state" in t}
    states = {t["state"]: run.as_stored(np.full(t["shape"], first[t["state"]], kind[t["state"]]), t)
              for t in io["inputs"] if "state" in t}
    steps = []
    for x in xs:
        files = []
        for i, t in enumerate(io["inputs"]):
            np.save(folder / f"x{i}.npy", states[t["state"]] if "state" in t else x)
            files += ["--in", folder / f"x{i}.npy"]
        outs = [folder / f"y{i}.npy" for i in range(len(io["outputs"]))]
        run.execute(program, "run", folder / "step.tosa", *files, *(a for o in outs for a in ("--out", o)))
        made = [np.load(o) for o in outs]
        states.update({t["state"]: y for t, y in zip(io["outputs"], made) if "state" in t})
        steps.append([y for t, y in zip(io["outputs"], made) if "state" not in t])
    return steps


def main_text(numbers, steps, first):
    text = '#include "m.hpp"\n#include <cstring>\nalignas(16) static std::byte arena[m::model::arena_bytes];\n'
    text += "using number = m::model::inputs::get<0>::element_type;\n" + run.array_text("numbers", numbers)
    compared = ""
    for i in range(len(steps[0])):
        y = np.stack([s[i] for s in steps[first:]])
        text += run.array_text(f"y{i}", y)
        size = y[0].size
        compared += f"        const auto got{i} = model.output<{i}>();\n        for (std::size_t k = 0; k != {size}; ++k) {{\n"
        compared += f"            m::model::outputs::get<{i}>::element_type e;\n"
        compared += f"            std::memcpy(&e, &y{i}[static_cast<std::size_t>(due) * {size} + k], sizeof e);\n"
        near = "const float d = got{0}[k] - e; wrong += !(d < 1e-3F && d > -1e-3F);"
        compared += "            " + (near if y.dtype.kind == "f" else "wrong += got{0}[k] != e;").format(i) + "\n        }\n"
    text += "int main() {\n    static m::model model(arena);\n    int wrong = 0, due = 0;\n    const auto compare = [&] {\n"
    text += compared + "        ++due;\n    };\n"
    text += f"    const std::size_t count = {numbers.size};\n    std::size_t at = 0, take = 1;\n"
    text += "    static number some[count];\n    std::memcpy(some, numbers, sizeof some);\n    while (at != count) {\n"
    text += "        take = take % 1021 * 7 + 1;\n        if (take > count - at) take = count - at;\n"
    text += "        const int before = due;\n        if (model.push({some + at, take}, compare) != (due != before)) ++wrong;\n"
    text += "        at += take;\n    }\n"
    return text + f"    return wrong != 0 ? 1 : due != {len(steps) - first} ? 2 : 0;\n}}\n"


def check(options, folder):
    run.execute(options.headrace, "stream", options.model, "--axis", options.axis, "--step", options.step,
                *(["--window", options.window] if options.window else []),
                "-o", folder / "step.pt2", "--report", folder / "report.json", "-q")
    report = json.loads((folder / "report.json").read_text())
    if options.quantize:
        run.execute(options.headrace, "lower", folder / "step.pt2", "-o", folder / "step.tosa", "--state", "io", "--io",
                    folder / "io.json", "-q")
        taken = json.loads((folder / "io.json").read_text())["inputs"][0]
        np.save(folder / "samples.npy", np.random.default_rng(2).standard_normal([64, *taken["shape"]]).astype(np.float32))
        run.execute(options.headrace, "quantize", folder / "step.pt2", "--samples", folder / "samples.npy", "-o",
                    folder / "quantized.pt2", "-q")
        (folder / "quantized.pt2").rename(folder / "step.pt2")
    run.execute(options.headrace, "lower", folder / "step.pt2", "-o", folder / "m.hpp", "--core",
                options.core or "host", "--state", "variable", "-q")
    taken, first = report["inputs"][0], report["first_exact_step"]
    count = first + options.due
    run.execute(options.headrace, "lower", folder / "step.pt2", "-o", folder / "step.tosa", "--state", "io", "--io",
                folder / "io.json", "-q")
    io = json.loads((folder / "io.json").read_text())
    generator = np.random.default_rng(1)
    xs = [run.random_input(io["inputs"][0], generator) for _ in range(count)]
    numbers = np.ascontiguousarray(np.moveaxis(np.concatenate(xs, taken["axis"]), taken["axis"], 0))
    steps = reference(options.headrace, folder, io, report, xs, options.quantize)
    (folder / "main.cpp").write_text(main_text(numbers, steps, first))
    if options.core:
        core = run.BOARDS[options.core]
        board.build(core, [folder / "main.cpp"], ["-O2", f"-I{folder}"], str(folder / "m.elf"))
        status, text = board.run(core, str(folder / "m.elf"))
    else:
        run.execute("g++", "-std=c++20", "-O1", "-Wall", "-Wextra", f"-I{HERE.parents[1] / 'include'}", f"-I{folder}",
                    folder / "main.cpp", "-o", folder / "m")
        status, text = subprocess.run([folder / "m"]).returncode, ""
    print(f"{count} steps, {options.due} due: {'equal' if status == 0 else f'status {status} {text}'}")
    return 1 if status else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--axis", required=True)
    parser.add_argument("--step", required=True)
    parser.add_argument("--window")
    parser.add_argument("--quantize", action="store_true", help="the step, by random numbers")
    parser.add_argument("--core", choices=sorted(run.BOARDS), help="of QEMU's board; none: the host")
    parser.add_argument("--due", type=int, default=5, help="steps whose outputs are compared")
    parser.add_argument("--headrace", default="headrace")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            return check(options, pathlib.Path(folder))
        except run.Failure as e:
            print(e)
            return 1


if __name__ == "__main__":
    raise SystemExit(main())
