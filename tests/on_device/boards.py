#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Executes kernels and models on QEMU's boards with a Cortex-M3, -M4 and -M55. Kernels must give what TOSA says,
models what `headrace run` gives, with at most 2 % more than the figures of baseline.json; --update writes them anew.
Exit status 77 if there is no compiler or no QEMU."""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "board"))
import board  # noqa: E402

SOURCE = HERE.parents[1]
KERNELS = ["conv2d.cpp", "elementwise.cpp", "matmul_pooling.cpp"]
MODELS = {"kws_dscnn_int8": SOURCE / "examples/models/kws_dscnn_int8",
          "quantized_attention": SOURCE / "tests/fixtures/quantized_attention",
          "rnn": SOURCE / "tests/fixtures/rnn"}
CORES = {"cortex-m3": "m3", "cortex-m4": "m4", "cortex-m55": "m55"}


def check_kernels(work):
    wrong = 0
    for name in KERNELS:
        for core in CORES.values():
            elf = work / f"{name}.{core}.elf"
            try:
                board.build(core, [HERE / "board" / name], ["-O2"], str(elf))
                status, text = board.run(core, str(elf))
            except subprocess.CalledProcessError:
                status, text = 1, "the compiler failed"
            if status != 0:
                wrong += 1
                print(f"{name} on {core}: status {status}: {text.strip()[-500:]}")
    return wrong


def check_self_test(program, work):
    """A model tests itself by the sample in its header, gives the same as a C function, and has its weights once in an
    image, whatever namespaces it is in."""
    wrong = 0
    model = MODELS["kws_dscnn_int8"] / "model.pt2"
    for name, core in CORES.items():
        folder = work / f"self_test_{core}"
        folder.mkdir(exist_ok=True)
        for output in ("kws.hpp", "again.hpp", "kws_c.cpp"):
            subprocess.run([program, "lower", model, "-o", folder / output, "--core", name, "-q"], check=True)
        shared = re.search(r"constexpr auto& (\w+) =", (folder / "kws.hpp").read_text()).group(1)
        (folder / "main.cpp").write_text(
            '#include "kws.hpp"\n#include "again.hpp"\n#include "kws_c.h"\n'
            f"static_assert(&kws::constants::{shared} == &again::constants::{shared});\n"
            "alignas(16) static std::byte arena[kws::model::arena_bytes], other[KWS_C_ARENA_BYTES];\n"
            "int main() {\n    static kws::model m(arena);\n    if (!m.self_test()) return 2;\n"
            "    static std::int8_t x[KWS_C_X_COUNT] = {1, 2, 3}, y[KWS_C_DEQUANTIZE_PER_TENSOR_22_COUNT];\n"
            "    std::size_t i = 0;\n    for (auto& v : m.input<0>()) v = x[i++];\n    m.run();\n"
            "    if (kws_c_run(other + 1, x, y) != 1 || kws_c_run(other, x, y) != 0) return 3;\n"
            "    i = 0;\n    for (const auto v : m.output<0>()) if (v != y[i++]) return 4;\n    return 0;\n}\n")
        try:
            elf = str(folder / "m.elf")
            board.build(core, [folder / "main.cpp", folder / "kws_c.cpp"], ["-O2", f"-I{folder}"], elf)
            status, text = board.run(core, elf)
        except subprocess.CalledProcessError:
            status, text = 1, "the compiler failed"
        if status != 0:
            wrong += 1
            print(f"self-test on {name}: status {status}: {text.strip()[-500:]}")
    return wrong


def check_push(program):
    """A step of a model takes its stream as it comes."""
    wrong = 0
    model = MODELS["kws_dscnn_int8"] / "model.pt2"
    for core in CORES:
        done = subprocess.run([sys.executable, HERE / "push.py", model, "--axis", "2", "--step", "2", "--core", core,
                               "--headrace", program], capture_output=True, text=True)
        if done.returncode != 0:
            wrong += 1
            print(f"push on {core}: {done.stdout}{done.stderr[-500:]}")
    return wrong


def check_models(program, work, baseline, update):
    wrong = 0
    for model, folder in MODELS.items():
        for core in CORES:
            key = f"{model} {core}"
            inputs = [a for i in sorted(folder.glob("in*.npy")) for a in ("--in", i)]
            done = subprocess.run([sys.executable, HERE / "run.py", folder / "model.pt2", "--core", core, "--headrace", program,
                                   "--work", work / key.replace(" ", "_"), *inputs], capture_output=True, text=True)
            if done.returncode != 0:
                wrong += 1
                print(f"{key}: {done.stdout}{done.stderr}".strip())
                continue
            found = json.loads(done.stdout)
            del found["core"], found["equal"]
            print(f"{key}: {json.dumps(found)}")
            if update:
                baseline[key] = found
                continue
            for figure, most in baseline.get(key, dict.fromkeys(found, 0)).items():
                if found[figure] > most * 1.02:
                    wrong += 1
                    print(f"{key}: {figure} {found[figure]}, where the baseline has {most}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if not shutil.which("arm-none-eabi-g++") or not shutil.which("qemu-system-arm"):
        print("there is no arm-none-eabi-g++ or no qemu-system-arm")
        return 77
    options.work.mkdir(parents=True, exist_ok=True)
    path = HERE / "baseline.json"
    baseline = json.loads(path.read_text()) if path.exists() else {}
    wrong = check_kernels(options.work)
    wrong += check_self_test(options.program.resolve(), options.work.resolve())
    wrong += check_push(options.program.resolve())
    wrong += check_models(options.program.resolve(), options.work.resolve(), baseline, options.update)
    if options.update:
        path.write_text(json.dumps(baseline, indent=2) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
