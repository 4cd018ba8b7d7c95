#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds examples/firmware for a Cortex-M55, runs it in QEMU and compares its output with that of the same
program on this machine; prints flash, RAM and what each pass adds to flash: run.py SOURCE BUILD CXX"""
import pathlib
import shutil
import subprocess
import sys

MOST_FLASH = 96 * 1024
PASSES = ["decompose_silu", "decompose_hardswish", "legalize_binary", "legalize_clamp", "legalize_unary"]
SAME_ON_BOTH = ["file_bytes", "file_hash"]


def run(*command):
    # QEMU prints the firmware's output to stderr.
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def build(source, place, *options):
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    run("cmake", "-S", source / "examples/firmware", "-B", place, "-G", "Ninja", *launcher, *options)
    said = run("cmake", "--build", place)
    if "warning:" in said or "note:" in said:
        sys.exit(f"the firmware does not compile silently:\n{said}")


def sizes(elf):
    """Returns flash (code, constants and the initial values of RAM) and RAM (data, zeroed data and the
    stack)."""
    text, data, bss = map(int, run("arm-none-eabi-size", elf).splitlines()[1].split()[:3])
    return text + data, data + bss


def figures(printed):
    lines = printed.splitlines()
    if lines[-1:] != ["lowered"]:
        sys.exit(f"the firmware says:\n{printed}")
    return {name: int(number) for name, number in (line.split() for line in lines[:-1])}


def main():
    source, build_directory, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    for tool in ["arm-none-eabi-g++", "qemu-system-arm"]:
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    place = build_directory / "firmware"
    build(source, place / "target", "--toolchain", source / "examples/cmake/cortex-m55.cmake")
    build(source, place / "host", f"-DCMAKE_CXX_COMPILER={compiler}")

    elf = place / "target/firmware.elf"
    on_target = figures(run("qemu-system-arm", "-machine", "mps3-an547", "-nographic", "-monitor", "none", "-serial",
                            "none", "-semihosting-config", "enable=on,target=native", "-kernel", elf))
    on_host = figures(run(place / "host/firmware"))
    for name in SAME_ON_BOTH:
        if on_target[name] != on_host[name]:
            sys.exit(f"{name} is {on_target[name]} on the target, {on_host[name]} on this machine")

    flash, ram = sizes(elf)
    steps = [sizes(place / f"target/firmware_of_{n}_passes.elf")[0] for n in range(len(PASSES))] + [flash]
    print(f"flash {flash} of at most {MOST_FLASH} bytes, RAM {ram} bytes")
    print(f"  without a pass: graph, TOSA emitter, check, start-up, C++ library {steps[0]:7}")
    for name, before, after in zip(PASSES, steps, steps[1:]):
        print(f"  {name:65} {after - before:+7}")
    print("of the RAM are used: " + ", ".join(f"{name} {on_target[name]}" for name in
                                              ["graph_bytes", "scratch_bytes", "stack_bytes", "file_bytes"]))
    if flash > MOST_FLASH:
        sys.exit("the firmware takes too much flash")


main()
