# SPDX-License-Identifier: MIT
"""Compiles a C++ program for a Cortex-M core and executes it on QEMU's board for it.

board.py CORE SOURCE... [-- FLAG...]: the core is m0, m3, m4 or m55. The compiler is $CXX, or
arm-none-eabi-g++ if it is not set; clang takes g++'s headers and libraries.
"""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[2] / "include"
CORES = {
    "m0": ("mps2-an385", "-mcpu=cortex-m0plus -mfloat-abi=soft"),
    "m3": ("mps2-an385", "-mcpu=cortex-m3 -mfloat-abi=soft"),
    "m4": ("mps2-an386", "-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16"),
    "m55": ("mps3-an547", "-mcpu=cortex-m55 -mfloat-abi=hard"),
}
# The addresses of constants and data: in mps2's static RAM, and in mps3's DDR4.
MEMORY = {"mps2-an385": (0x00080000, 0x20000000), "mps2-an386": (0x00080000, 0x20000000), "mps3-an547": (0x60000000, 0x60400000)}
COMMON = ("-std=c++20 -mthumb -fno-exceptions -fno-rtti -ffunction-sections -fdata-sections "
          "-fno-threadsafe-statics")
LINK = "-nostartfiles --specs=nano.specs -Wl,--gc-sections"


def compiler(core):
    """The command that compiles a source to an object, and that links objects."""
    gcc = ["arm-none-eabi-g++", *CORES[core][1].split(), *COMMON.split()]
    chosen = os.environ.get("CXX", "arm-none-eabi-g++")
    if "clang" not in chosen:
        return [chosen, *gcc[1:]], gcc
    library = subprocess.run([*gcc, "-print-sysroot"], capture_output=True, text=True).stdout.strip()
    asked = subprocess.run([*gcc, "-E", "-x", "c++", "-v", "/dev/null"], capture_output=True, text=True)
    paths = re.search(r"search starts here:\n(.*?)End of search", asked.stderr, re.S).group(1).split()
    paths = [p for p in map(os.path.normpath, paths) if "/lib/gcc/" not in p]
    headers = [flag for p in paths for flag in ("-isystem", p)]
    return [chosen, "--target=arm-none-eabi", f"--sysroot={library}", *gcc[1:], *headers], gcc


def build(core, sources, flags, output):
    compile_, link = compiler(core)
    objects = []
    for source in [HERE / "start.cpp", *sources]:
        objects.append(f"{output}.{pathlib.Path(source).stem}.o")
        options = ["-O2"] if source == HERE / "start.cpp" else flags
        command = [*compile_, f"-I{INCLUDE}", f"-I{HERE}", *options, "-c", source, "-o", objects[-1]]
        subprocess.run(command, check=True)
    constants, data = MEMORY[CORES[core][0]]
    memory = [f"-Wl,--defsym=constants_origin={constants}", f"-Wl,--defsym=ram_origin={data}", f"-T{HERE / 'board.ld'}"]
    subprocess.run([*link, *objects, *LINK.split(), *memory, "-o", output], check=True)


def run(core, program, seconds=300):
    """The program's status and text."""
    command = ["qemu-system-arm", "-M", CORES[core][0], "-nographic", "-monitor", "none", "-serial", "none",
               "-icount", "shift=0", "-semihosting-config", "enable=on,target=native", "-kernel", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    return done.returncode, done.stdout + done.stderr


def main():
    arguments = sys.argv[1:]
    flags = arguments[arguments.index("--") + 1:] if "--" in arguments else ["-O3"]
    core, *sources = arguments[:arguments.index("--")] if "--" in arguments else arguments
    output = os.environ.get("OUT", f"{sources[0]}.{core}.elf")
    try:
        build(core, sources, flags, output)
    except subprocess.CalledProcessError:
        return 1  # the compiler has said why
    status, text = run(core, output)
    print(text, end="")
    return status


if __name__ == "__main__":
    sys.exit(main())
