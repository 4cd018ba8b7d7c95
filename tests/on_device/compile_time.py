#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what it takes to compile a unit with a model as a C++ type: seconds of the processor, and memory.

    python compile_time.py --make DIR        # makes a network of 150 convolutions and 1 MB of weights: needs torch
    python compile_time.py MODEL.pt2... --headrace P

Prints a line for each model. Exit status 77 if there is no compiler."""

import argparse
import os
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from run import BOARDS, board, execute  # noqa: E402

SOURCE = HERE.parents[1]
UNIT = """#include "m.hpp"
alignas(16) static std::byte arena[m::model::arena_bytes];
auto first(const m::model::inputs::get<0>::element_type* x) {
    static m::model model(arena);
    for (auto& v : model.input<0>()) v = *x++;
    model.run();
    return model.output<0>()[0];
}
"""


def make(folder):
    import numpy as np
    import torch
    from torch import nn

    torch.manual_seed(1)
    widths = [3, *torch.randint(18, 38, (150,)).tolist()]
    layers = []
    for i, (a, b) in enumerate(zip(widths, widths[1:])):
        layers += [nn.Conv2d(a, b, 3, 2 if i % 50 == 49 else 1, padding=1), nn.ReLU()]
        nn.init.kaiming_normal_(layers[-2].weight)
    network = nn.Sequential(*layers).eval()
    folder.mkdir(parents=True, exist_ok=True)
    torch.export.save(torch.export.export(network, (torch.randn(1, 3, 24, 24),)), folder / "model.pt2")
    np.save(folder / "samples.npy", torch.randn(2, 3, 24, 24).numpy())


def compiled(command):
    """Seconds and bytes that the compiler and its children took."""
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, used = os.wait4(pid, 0)
    if status != 0:
        raise SystemExit("the compiler failed")
    # The driver is small: the memory is what the largest of its children had.
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=pathlib.Path, nargs="*", help="float ones lie beside their samples.npy")
    parser.add_argument("--make", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--headrace", default=os.environ.get("HEADRACE", str(SOURCE / "build/examples/headrace")))
    parser.add_argument("--core", default="cortex-m4", choices=sorted(BOARDS))
    parser.add_argument("--flags", default="-O2", help="of the compiler")
    parser.add_argument("--include", type=pathlib.Path, default=SOURCE / "include", help="where the headers are")
    options = parser.parse_args()
    if options.make:
        make(options.make)
        return 0
    if not shutil.which("arm-none-eabi-g++"):
        print("there is no arm-none-eabi-g++")
        return 77
    for model in options.models:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            samples = model.parent / "samples.npy"
            quantize = ["--quantize", samples] if samples.exists() else []
            execute(options.headrace, "lower", model, "-o", folder / "m.hpp", "--core", options.core, "-q", *quantize)
            text = (folder / "m.hpp").read_text()
            (folder / "unit.cpp").write_text(UNIT)
            compiler = board.compiler(BOARDS[options.core])[0]
            unit = [*compiler, *options.flags.split(), f"-I{options.include}", f"-I{folder}", "-c", folder / "unit.cpp", "-o",
                    folder / "unit.o"]
            seconds, memory = compiled([str(c) for c in unit])
            constants = int(re.search(r"constant_bytes = (\d+)", text).group(1))
            print(f"{model}: {text.count('hr::layer<')} layers, {constants:,} bytes of constants: {seconds:.1f} s, "
                  f"{memory / 1e6:.0f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
