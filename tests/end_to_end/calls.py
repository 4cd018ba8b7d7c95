# SPDX-License-Identifier: MIT
"""Calls of the built program and what they promise, for the tests in this folder."""
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


def report():
    """Prints the failures; the exit status."""
    print("\n".join(failures + [f"{len(failures)} failures"]))
    return 1 if failures else 0
