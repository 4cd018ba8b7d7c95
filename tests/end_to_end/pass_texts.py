#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests of passes that are texts: graphs with the expected output of `headrace opt`, in the manner
of LLVM's FileCheck.

    pass_texts.py PROGRAM [FILE.hr…]

Without files, all of tests/passes. Lines `// -----` separate the cases of a file. A case has the lines

    // RUN: --passes a,b --target TOSA-1.0+INT      arguments of `headrace opt`
    // CHECK: TEXT           a line of the listing has it, after the last match
    // CHECK-NEXT: TEXT      the next line has it
    // CHECK-NOT: TEXT       no line up to the next match has it
    // REFUSED: TEXT         instead of CHECK: the exit status is 1, and the message has it
    // DIFFERS               the result may change; without this, it is compared

in whose texts {{…}} is a regular expression, and [[NAME:…]] one whose match later lines refer to as [[NAME]].
Each case is run in both drivers.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from calls import OK, UNSUPPORTED, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIRECTIVE = re.compile(r"\s*// (RUN|CHECK|CHECK-NEXT|CHECK-NOT|REFUSED|DIFFERS)(?:: *(.*?))?\s*$")
TOLERANCE = 1e-4


def pattern_of(text, names):
    """Returns the regular expression of a line's text; `names` are the matches of [[NAME:…]] so far."""
    out, defined = "", []
    for part in re.split(r"(\{\{.*?\}\}|\[\[\w+(?::.*?)?\]\])", text):
        named = re.fullmatch(r"\[\[(\w+)(?::(.*))?\]\]", part)
        if part.startswith("{{"):
            out += f"(?:{part[2:-2]})"
        elif named and named[2] is not None:
            out += f"(?P<{named[1]}>{named[2]})"
            defined.append(named[1])
        elif named:
            out += f"(?P={named[1]})" if named[1] in defined else re.escape(names.get(named[1], part))
        else:
            out += re.escape(part)
    return re.compile(out)


def mismatch(checks, lines):
    """Returns what is wrong with the printed lines; None if they are as expected."""
    at, names, forbidden = 0, {}, []
    for kind, text in [*checks, ("END", "")]:
        if kind == "CHECK-NOT":
            forbidden.append(text)
            continue
        wanted = pattern_of(text, names)
        stop = len(lines) if kind in ("CHECK", "END") else min(at + 1, len(lines))
        found = next((i for i in range(at, stop) if wanted.search(lines[i])), None)
        if kind == "END":
            found = len(lines)
        if found is None:
            return f"{kind}: {text}\n  is not in line {at + 1} or behind it"
        for other in forbidden:
            if any(pattern_of(other, names).search(line) for line in lines[at:found]):
                return f"CHECK-NOT: {other}\n  is there"
        forbidden = []
        if kind != "END":
            names.update(wanted.search(lines[found]).groupdict())
        at = found + 1
    return None


def numbers_of(program, path):
    done = subprocess.run([program, "run", path], capture_output=True, text=True, timeout=60)
    if done.returncode != OK:
        return done.stderr
    words = re.findall(r"[^\s,=]+", done.stdout)
    return [float(w) if re.fullmatch(r"[-+.\de]*\d[-+.\de]*|-?(inf|nan)", w) else w for w in words]


def same(a, b):
    if isinstance(a, str) or isinstance(b, str) or len(a) != len(b):
        return a == b
    return all(x == y or (isinstance(x, float) and isinstance(y, float) and
                          (abs(x - y) <= TOLERANCE * max(1, abs(x)) or x != x and y != y)) for x, y in zip(a, b))


def run_case(program, text, where, folder):
    directives = [m.groups() for m in map(DIRECTIVE.match, text.splitlines()) if m]
    kinds = [kind for kind, _ in directives]
    checks = [(kind, content) for kind, content in directives if kind.startswith("CHECK")]
    refusals = [content for kind, content in directives if kind == "REFUSED"]
    if kinds.count("RUN") != 1 or bool(checks) == bool(refusals):
        return expect(False, f"{where}: a case needs one RUN, and CHECK or REFUSED")
    model, made = folder / "case.hr", folder / "made.hr"
    model.write_text(text)
    for driver in ([], ["--retrace"]):
        command = [program, "opt", str(model), *dict(directives)["RUN"].split(), *driver]
        done = subprocess.run([*command, "--check"], capture_output=True, text=True, timeout=60)
        status = UNSUPPORTED if refusals else OK
        place = f"{where}, {' '.join(driver) or 'in place'}"
        if done.returncode != status:
            return expect(False, f"{place}: exit status {done.returncode}, not {status}: {done.stderr}")
        for refusal in refusals:
            expect(pattern_of(refusal, {}).search(done.stderr), f"{place}: '{refusal}' is not in: {done.stderr}")
        wrong = mismatch(checks, done.stdout.splitlines()) if checks else None
        expect(wrong is None, f"{place}: {wrong}\n{done.stdout}")
        if refusals or "DIFFERS" in kinds:
            continue
        subprocess.run([*command, "-q", "-o", str(made)], check=True, timeout=60)
        before, after = numbers_of(program, model), numbers_of(program, made)
        expect(same(before, after), f"{place}: it computes something else:\n{before}\n{after}")


def main():
    program = sys.argv[1]
    files = [pathlib.Path(a) for a in sys.argv[2:]] or sorted((ROOT / "tests" / "passes").rglob("*.hr"))
    cases = 0
    with tempfile.TemporaryDirectory() as name:
        for file in files:
            line = 1
            for text in re.split(r"^// -----\n", file.read_text(), flags=re.M):
                run_case(program, text, f"{file.name}:{line}", pathlib.Path(name))
                line += text.count("\n") + 1
                cases += 1
    print(f"{cases} cases of {len(files)} files")
    expect(cases >= len(files) > 0, "there are no cases")
    return report()


if __name__ == "__main__":
    sys.exit(main())
