#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands of README.md: those of the program on the keyword spotter, in a folder of their own, and
the quickstart in the existing build. Commands that install something are covered by other tests, which are
named here.

    readme_commands.py PROGRAM BUILD
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KWS = ROOT / "examples" / "models" / "kws_dscnn"
FILES = {"model.pt2": "model.pt2", "calib.npy": "in0.npy", "x.npy": "in0.npy"}
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.S | re.M)
# Commands, and the test that covers them.
DONE_BY = {
    "sh tests/run.sh": None,  # the command that runs the tests
    "cpack --config build/CPackConfig.cmake -B build/packages": "debian",
    "apt install ./build/packages/headrace_*.deb": "debian",
}


def commands():
    for block in BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8")):
        for line in block.splitlines():
            command = re.split(r"\s+# ", line)[0].strip()
            if command:
                yield command


def run(command, folder, environment):
    done = subprocess.run(
        shlex.split(command), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return [] if done.returncode == 0 else [f"{command}: status {done.returncode}: {done.stderr or done.stdout}"]


def main(program, build):
    tests = (ROOT / "tests" / "CMakeLists.txt").read_text(encoding="utf-8")
    faults, ran = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for there, here in FILES.items():
            shutil.copyfile(KWS / here, folder / there)
        (folder / "bin").mkdir()
        (folder / "bin" / "headrace").symlink_to(pathlib.Path(program).resolve())
        environment = {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        for command in commands():
            ran += 1
            if command.startswith("headrace "):
                faults += run(command, folder, environment)
            elif command == "sh examples/quickstart.sh":
                if pathlib.Path(build).resolve() == ROOT / "build":
                    faults += run(command, ROOT, environment)
            elif command not in DONE_BY:
                faults.append(f"no test runs this: {command}")
            elif DONE_BY[command] and f"_test({DONE_BY[command]} " not in tests:
                faults.append(f"there is no test {DONE_BY[command]}, which is to run this: {command}")
        for wanted in ("model.tosa", "io.json", "model.pte", "model_int8.tosa", "y.npy"):
            if not (folder / wanted).exists():
                faults.append(f"no command writes {wanted}")
    print("\n".join(faults) or f"{ran} commands of README.md")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
