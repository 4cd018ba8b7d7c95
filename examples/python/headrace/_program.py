# SPDX-License-Identifier: MIT
"""The program that the package brings along."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import NoReturn


class HeadraceError(RuntimeError):
    """The program refused to do something; the text is what it said."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        """Exit status of the program."""


class NotSupported(HeadraceError):
    """The model cannot be lowered (status 1): each refused node is listed with the reason."""


class UsageError(HeadraceError):
    """An option is wrong, or an output cannot be written (status 2)."""


class MalformedFile(HeadraceError):
    """A file is unreadable or malformed (status 3)."""


KINDS = {1: NotSupported, 2: UsageError, 3: MalformedFile}


def program_path() -> pathlib.Path:
    """The program: what the variable HEADRACE_PROGRAM names, or the one in the package."""
    named = os.environ.get("HEADRACE_PROGRAM")
    own = "headrace.exe" if os.name == "nt" else "headrace"
    path = pathlib.Path(named) if named else pathlib.Path(__file__).resolve().parent / "bin" / own
    if not path.is_file():
        raise FileNotFoundError(f"no headrace program at {path}; set HEADRACE_PROGRAM to one")
    return path


def call(*arguments: str | os.PathLike[str]) -> str:
    """What the program prints when it is called with these arguments: call("show", "--pipeline").

    Raises NotSupported, UsageError or MalformedFile with the program's message.
    """
    command = [os.fspath(program_path()), *(os.fspath(argument) for argument in arguments)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False)
    if done.returncode == 0:
        return done.stdout
    if done.returncode < 0:
        raise HeadraceError(done.returncode, f"headrace was killed by signal {-done.returncode}")
    message = done.stderr.strip() or done.stdout.strip() or f"headrace: exit status {done.returncode}"
    raise KINDS.get(done.returncode, HeadraceError)(done.returncode, message)


def main() -> NoReturn:
    """Becomes the program: what the command `headrace` does."""
    path = os.fspath(program_path())
    command = [path, *sys.argv[1:]]
    if os.name == "nt":  # a process that becomes another one there has ended for those that wait for it
        sys.exit(subprocess.run(command, check=False).returncode)
    os.execv(path, command)
