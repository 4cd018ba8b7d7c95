# SPDX-License-Identifier: MIT
"""Calls of the built program and their promises, for the tests in this folder."""
import os
import pty
import subprocess

OK, UNSUPPORTED, USAGE, MALFORMED = range(4)

failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def call(program, *arguments, status=OK, says=""):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    shown = " ".join(str(a) for a in arguments)
    expect(done.returncode == status, f"`{shown}`: exit status {done.returncode}, not {status}: {done.stderr[:300]}")
    expect(says in done.stdout + done.stderr, f"`{shown}` does not say '{says}': {(done.stdout + done.stderr)[:300]}")
    if status != OK:
        expect(done.stderr.startswith("error: "), f"`{shown}`: stderr is not 'error: …': {done.stderr[:100]}")
        expect(done.stdout == "", f"`{shown}`: an error, but something on stdout")
    return done


def on_terminal(command, **environment):
    """Returns what a command prints to a terminal."""
    reader, writer = pty.openpty()
    child = subprocess.Popen(command, stdout=writer, stderr=writer, env={**os.environ, "TERM": "xterm", **environment})
    os.close(writer)
    text = b""
    try:
        while part := os.read(reader, 4096):
            text += part
    except OSError:  # the other end is closed
        pass
    os.close(reader)
    child.wait(timeout=300)
    return text


def report():
    """Prints the failures; returns the exit status."""
    print("\n".join(failures + [f"{len(failures)} failures"]))
    return 1 if failures else 0
