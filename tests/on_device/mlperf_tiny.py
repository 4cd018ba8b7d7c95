#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the four networks of MLPerf Tiny as C++ types on QEMU's boards, and prints a table in Markdown.

    python mlperf_tiny.py --make DIR         # makes three of them: needs torch
    python mlperf_tiny.py DIR --headrace P   # quantizes, lowers and measures them and examples/models/kws_dscnn_int8

The architectures are those of the benchmark, those that are made without the softmax at the end, with random weights of
a fixed seed: what a network costs does not depend on them. Batch norms see random inputs, and are folded. --layers shows
each layer in place of the table. Exit status 1 if an output is not what `headrace run` gives, 77 if there is no compiler
or no QEMU."""

import argparse
import json
import os
import pathlib
import shutil
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import run  # noqa: E402
from run import board  # noqa: E402

SOURCE = HERE.parents[1]
KEYWORDS = "ds-cnn"
# Products of convolutions and linear layers. Whatever lowering adds to that, such as a transpose by a convolution, is a
# cost, and not counted.
MACS = {KEYWORDS: 2_656_768, "resnet8": 12_501_632, "mobilenet-0.25": 7_489_664, "autoencoder": 264_192}
CORES = ["cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m55"]
BARS = {"cortex-m4": 1.3, "cortex-m55": 0.35}  # instructions for each MAC of a convolutional network
SAMPLES = 16


def make(folder):
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Same(nn.Module):
        """A convolution with a batch norm, padded as TensorFlow does: an odd element goes last."""

        def __init__(self, size, ins, outs, kernel, stride=1, groups=1, relu=True):
            super().__init__()
            out = -(-size // stride)
            both = max((out - 1) * stride + kernel - size, 0)
            first, last = both // 2, both - both // 2
            self.pad = None if first == last else (first, last, first, last)
            self.conv = nn.Conv2d(ins, outs, kernel, stride, first if self.pad is None else 0, groups=groups)
            self.norm = nn.BatchNorm2d(outs)
            self.relu = relu

        def forward(self, x):
            x = self.norm(self.conv(x if self.pad is None else F.pad(x, self.pad)))
            return F.relu(x) if self.relu else x

    class Residual(nn.Module):
        def __init__(self, size, ins, outs, stride):
            super().__init__()
            self.first = Same(size, ins, outs, 3, stride)
            self.second = Same(-(-size // stride), outs, outs, 3, relu=False)
            self.short = nn.Conv2d(ins, outs, 1, stride) if stride != 1 else nn.Identity()

        def forward(self, x):
            return F.relu(self.short(x) + self.second(self.first(x)))

    class ResNet8(nn.Sequential):
        """Image classification: CIFAR-10."""

        def __init__(self):
            super().__init__(Same(32, 3, 16, 3), Residual(32, 16, 16, 1), Residual(32, 16, 32, 2), Residual(16, 32, 64, 2),
                             nn.AvgPool2d(8), nn.Flatten(), nn.Linear(64, 10))

    class MobileNet(nn.Sequential):
        """Visual wake words: MobileNetV1 with a quarter of the channels."""

        def __init__(self):
            layers, size, ins = [Same(96, 3, 8, 3, 2)], 48, 8
            for outs, stride in [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)]:
                layers.append(Same(size, ins, ins, 3, stride, groups=ins))
                size = -(-size // stride)
                layers.append(Same(size, ins, outs, 1))
                ins = outs
            super().__init__(*layers, nn.AvgPool2d(3), nn.Flatten(), nn.Linear(256, 2))

    class Autoencoder(nn.Sequential):
        """Anomaly detection in sounds of machines."""

        def __init__(self):
            widths = [640, 128, 128, 128, 128, 8, 128, 128, 128, 128]
            layers = []
            for a, b in zip(widths, widths[1:]):
                layers += [nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU()]
            super().__init__(*layers, nn.Linear(128, 640))

    def folded(module):
        for child in module.children():
            folded(child)
        if isinstance(module, Same):
            module.conv = nn.utils.fusion.fuse_conv_bn_eval(module.conv, module.norm)
            module.norm = nn.Identity()
        if isinstance(module, Autoencoder):
            for i in range(0, len(module) - 1, 3):
                module[i] = nn.utils.fusion.fuse_linear_bn_eval(module[i], module[i + 1])
                module[i + 1] = nn.Identity()
        return module

    for name, network, shape in [("resnet8", ResNet8, (3, 32, 32)), ("mobilenet-0.25", MobileNet, (3, 96, 96)),
                                 ("autoencoder", Autoencoder, (640,))]:
        torch.manual_seed(1)
        module = network().train()
        with torch.no_grad():
            for _ in range(20):
                module(torch.randn(8, *shape))
        module = folded(module.eval())
        to = folder / name
        to.mkdir(parents=True, exist_ok=True)
        torch.export.save(torch.export.export(module, (torch.randn(1, *shape),)), to / "model.pt2")
        np.save(to / "samples.npy", torch.randn(SAMPLES, *shape).numpy())


# A program that executes one inference layer by layer, and says what each costs.
LAYERS = """#include "m.hpp"
#include "board.hpp"
namespace hr = headrace::on_device;
using plan = m::description::plan;
using core = hr::native;
constexpr int planned_end = (plan::bytes + 15) / 16 * 16;
alignas(16) static std::byte arena[m::model::arena_bytes + 1];
static std::byte states[plan::state_bytes + 1];
template <class Op>
struct about { static void print() { board::print(" other 0 -"); } };
template <hr::convolution S, class F, hr::tensor... E>
struct about<hr::conv2d<S, F, E...>> {
    static void print() {
        constexpr hr::choice c = hr::choose(S, core::id);
        board::print(" "), board::print(c.kernel[0] == 'b' ? "by_index" : c.kernel), board::print(" "), board::print(S.macs());
        board::print(S.is_depthwise ? " depthwise_" : " conv_");
        board::print(std::int64_t{S.kernel.height}), board::print("x"), board::print(std::int64_t{S.kernel.width});
        board::print("_s"), board::print(std::int64_t{S.stride.width});
        board::print("_to_"), board::print(std::int64_t{S.output.size[1]}), board::print("x");
        board::print(std::int64_t{S.output.size[2]}), board::print("x"), board::print(std::int64_t{S.output.size[3]});
        board::print("_depth_"), board::print(std::int64_t{S.depth()});
        if (*c.because) board::print(": "), board::print(c.because);
    }
};
template <class Layer>
[[gnu::noinline]] void one(auto& memory) {
    const auto executed = board::instructions([&] { hr::detail::call<Layer, core, plan>::run(memory); });
    board::print("layer "), board::print(Layer::name.text), board::print(" "), board::print(executed);
    about<typename Layer::op>::print();
    board::print("\\n");
}
template <class... L>
void all(hr::layers<L...>, auto& memory) { (one<L>(memory), ...); }
int main() {
    hr::detail::arena_memory<plan, planned_end> memory{arena, states};
    all(m::description::layers{}, memory);
}
"""


def show_layers(core, folder, flags):
    (folder / "layers.cpp").write_text(LAYERS)
    elf = str(folder / "layers.elf")
    board.build(run.BOARDS[core], [folder / "layers.cpp"], [*flags.split(), f"-I{folder}"], elf)
    print(f"\n### {folder.name}\n\n| layer | instructions | of MACs | each | kernel | |\n|---|---|---|---|---|---|")
    for line in board.run(run.BOARDS[core], elf)[1].splitlines():
        _, name, executed, kernel, macs, what = line.split(" ", 5)
        each = f"{int(executed) / int(macs):.2f}" if int(macs) else ""
        print(f"| {name} | {int(executed):,} | {int(macs):,} | {each} | {kernel} | {what} |")


def quantized(options, name, work):
    if name == KEYWORDS:
        return SOURCE / "examples/models/kws_dscnn_int8/model.pt2"
    to = work / f"{name}.pt2"
    made = options.models / name
    run.execute(options.headrace, "quantize", made / "model.pt2", "--samples", made / "samples.npy", "-o", to, "-q")
    return to


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=pathlib.Path, nargs="?", help="the folder that --make filled")
    parser.add_argument("--make", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--headrace", default=os.environ.get("HEADRACE", str(SOURCE / "build/examples/headrace")))
    parser.add_argument("--networks", nargs="+", default=list(MACS), choices=list(MACS))
    parser.add_argument("--cores", nargs="+", default=CORES, choices=sorted(run.BOARDS))
    parser.add_argument("--flags", default="-O3", help="of the compiler")
    parser.add_argument("--layers", action="store_true")
    parser.add_argument("--work", type=pathlib.Path, help="where to put what is made; default: within the models' folder")
    options = parser.parse_args()
    if options.make:
        make(options.make)
        return 0
    if not options.models:
        parser.error("a folder that --make filled is needed")
    if not shutil.which("arm-none-eabi-g++") or not shutil.which("qemu-system-arm"):
        print("there is no arm-none-eabi-g++ or no qemu-system-arm")
        return 77
    work = options.work or options.models / "measured"
    work.mkdir(parents=True, exist_ok=True)
    if not options.layers:
        print("| network | core | MACs | instructions | for each MAC | bar | arena | flash | code | constants | stack | equal |\n"
              "|---|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    wrong = 0
    for name in options.networks:
        model = quantized(options, name, work)
        for core in options.cores:
            folder = work / f"{name}_{core}"
            folder.mkdir(exist_ok=True)
            found = run.measure(argparse.Namespace(headrace=options.headrace, model=model, core=core, inputs=[], lower=[],
                                                   flags=options.flags), folder)
            wrong += not found["equal"]
            if options.layers:
                show_layers(core, folder, options.flags)
                continue
            bar = BARS.get(core, "") if name != "autoencoder" else ""
            print(f"| {name} | {core} | {MACS[name]:,} | {found['instructions']:,} | {found['instructions'] / MACS[name]:.3f} | "
                  f"{bar} | {found['arena']:,} | {found['code'] + found['constants']:,} | {found['code']:,} | "
                  f"{found['constants']:,} | {found['stack']:,} | {'yes' if found['equal'] else 'NO'} |", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
