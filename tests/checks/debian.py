#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the Debian packages of a build and checks their contents, their dependencies, that the packaged
program runs, and, with --lintian, lintian's findings, which takes a minute.

    debian.py BUILD [--lintian]      exit status 77 if Debian's tools are missing
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LIBRARIES = ("passes", "eval", "quantization", "banks", "io", "run", "lowering", "stream", "compare", "show", "opt",
             "reduce")
HELD = {
    "headrace": [
        "usr/bin/headrace",
        "usr/share/doc/headrace/copyright",
        "usr/lib/cmake/headrace/headrace-programTargets.cmake",
    ],
    "libheadrace-dev": [
        "usr/bin/headrace-filecheck",
        "usr/share/man/man1/headrace-filecheck.1.gz",
        "usr/include/headrace/headrace.hpp",
        "usr/include/headrace/passes/declared_passes.hpp",
        *(f"usr/lib/libheadrace_{name}.a" for name in LIBRARIES),
        "usr/lib/cmake/headrace/headraceConfig.cmake",
        "usr/share/pkgconfig/headrace.pc",
        "usr/lib/pkgconfig/headrace-compiled.pc",
        "usr/share/doc/libheadrace-dev/copyright",
    ],
    "headrace-doc": [
        "usr/share/doc/headrace/README.md",
        "usr/share/doc/headrace/CHANGELOG.md",
        "usr/share/doc/headrace/examples/readme.cpp",
        "usr/share/doc/headrace/examples/docs/index.md",
    ],
}
NEEDED = {
    "headrace": ["libc6", "libsimdjson", "libfmt"],
    "libheadrace-dev": ["libboost-dev", "python3"],
    "headrace-doc": [],
}
# examples/docs/install.md explains why.
EXPLAINED = ("pkg-config-unavailable-for-cross-compilation",)


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


def check(package, file, folder, ask_lintian):
    tree = folder / package
    output("dpkg-deb", "-x", file, tree)
    for path in HELD[package]:
        if not (tree / path).exists():
            yield f"{package} has no {path}"
    depends = output("dpkg-deb", "-f", file, "Depends")
    for needed in NEEDED[package]:
        if needed not in depends:
            yield f"{package} does not depend on {needed}: {depends}"
    if package == "headrace" and "headrace" not in output(tree / "usr/bin/headrace", "--version"):
        yield "the program of the package does not say its version"
    if ask_lintian:
        said = subprocess.run(["lintian", file], capture_output=True, text=True, check=False).stdout
        for line in said.splitlines():
            if line.startswith(("E:", "W:")) and not any(tag in line for tag in EXPLAINED):
                yield f"lintian: {line}"


def main(build, *options):
    if not shutil.which("dpkg-shlibdeps") or not shutil.which("cpack"):
        print("skipped: no dpkg-shlibdeps or cpack")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        output("cpack", "--config", f"{build}/CPackConfig.cmake", "-B", folder / "packages")
        found = {path.name.split("_")[0]: path for path in (folder / "packages").glob("*.deb")}
        faults = [] if sorted(found) == sorted(HELD) else [f"packages: {sorted(found)}"]
        for package, file in found.items():
            faults += check(package, file, folder, "--lintian" in options)
        sizes = ", ".join(f"{package} {file.stat().st_size / 1e6:.1f} MB" for package, file in sorted(found.items()))
    print("\n".join(faults + [sizes]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
