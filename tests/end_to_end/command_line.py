#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what the built program promises on the command line: options, files, exit statuses and messages.

    command_line.py PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "fixtures" / "conv_bn_relu" / "model.pt2"
INPUT = MODEL.parent / "in0.npy"
REFUSED = ROOT / "tests" / "fixtures" / "buffer_update" / "model.pt2"
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
    return done.stdout


def check_usage(program):
    help_text = call(program, "--help", says="lower")
    for word in ("show", "run", "Exit status", "Examples"):
        expect(word in help_text, f"--help does not mention {word}")
    version = (ROOT / "include/headrace/version.hpp").read_text().split('HEADRACE_VERSION "')[1].split('"')[0]
    call(program, "--version", says=version)
    for command in ("lower", "show", "opt", "run"):
        call(program, command, "--help", says="Usage")
    call(program, status=USAGE)
    call(program, "no_such_command", status=USAGE)
    call(program, "lower", status=USAGE)
    call(program, "lower", MODEL, status=USAGE)
    call(program, "lower", MODEL, "-o", "x.tosa", "--no-such-option", status=USAGE)
    call(program, "lower", MODEL, "-o", "x.tosa", "--target", "TOSA-9.9", status=USAGE)


def check_files(program, folder):
    out = folder / "out.tosa"
    call(program, "lower", folder / "missing.pt2", "-o", out, status=MALFORMED, says="missing.pt2")
    (folder / "text.pt2").write_text("this is no archive")
    (folder / "empty.pt2").write_bytes(b"")
    (folder / "cut.pt2").write_bytes(MODEL.read_bytes()[:5000])
    for name in ("text.pt2", "empty.pt2", "cut.pt2"):
        call(program, "lower", folder / name, "-o", out, status=MALFORMED, says=name)
        call(program, "show", folder / name, status=MALFORMED)
    call(program, "lower", folder, "-o", out, status=MALFORMED)
    call(program, "lower", REFUSED, "-o", out, status=UNSUPPORTED)
    call(program, "lower", MODEL, "-o", folder / "no" / "such" / "out.tosa", status=USAGE, says="cannot write")
    call(program, "lower", MODEL, "-o", out, "--io", folder / "no" / "io.json", status=USAGE, says="cannot write")
    call(program, "run", MODEL, "--in", folder / "missing.npy", status=MALFORMED)
    call(program, "run", MODEL, "--in", INPUT, INPUT, status=MALFORMED, says="1 inputs")
    expect(not list(folder.glob("*out*")), f"an error left {[p.name for p in folder.glob('*out*')]}")
    # What was there before an attempt that fails is there afterwards.
    out.write_bytes(b"before")
    call(program, "lower", REFUSED, "-o", out, status=UNSUPPORTED)
    expect(out.read_bytes() == b"before", "a failed run changed the file that was there")


def check_outputs(program, folder):
    out, io, report, dot = (folder / name for name in ("out.tosa", "io.json", "report.json", "dot"))
    call(program, "lower", MODEL, "-o", out, "--io", io, "--report", report, "--dot", dot, "--verify", "--in", INPUT)
    expect(out.read_bytes()[4:8] == b"TOSA", "the flatbuffer has no TOSA identifier")
    entries = json.loads(io.read_text())
    expect([(i["name"], i["dtype"], i["shape"]) for i in entries["inputs"]] == [("x", "FP32", [1, 3, 16, 16])],
           f"--io says {entries['inputs']}")
    told = json.loads(report.read_text())
    ran = [p for p in told["passes"] if p["ran"]]
    expect(told["passes_run"] == len(ran) and told["passes_skipped"] == len(told["passes"]) - len(ran),
           "--report: the numbers of passes run and skipped are not those of its list")
    expect(all(p["reason"] for p in told["passes"] if not p["ran"]), "--report: a skipped pass has no reason")
    expect({"read", "lower", "emit"} <= set(told["ms"]), "--report: a stage has no time")
    drawn = sorted(p.name for p in dot.iterdir())
    expect(len(drawn) > 2 and drawn[0] == "000_input.dot", f"--dot drew {drawn}")
    expect(all(p.read_text().startswith("digraph") for p in dot.iterdir()), "--dot wrote something else than graphs")
    call(program, "show", MODEL, says="aten.conv2d")
    call(program, "show", MODEL, "--dot", says="digraph")
    call(program, "show", out, says="tosa.CONV2D")
    call(program, "show", "--pipeline", says="legalize_convolution")
    call(program, "show", "--pipeline", "--dot", says="digraph")
    call(program, "run", out, "--in", INPUT, says="output 0: float32[1, 5]")
    call(program, "run", MODEL, says="output 0")


def check_passes(program, folder):
    listed = [line.split()[0] for line in call(program, "opt", "--passes", "help").splitlines()]
    expect(len(listed) == len(set(listed)), "a pass is listed twice")
    described = call(program, "show", "--pipeline").split()
    expect(set(listed) <= set(described) and "decompose_batch_norm" in listed, "opt lists other passes than show")
    chosen = "canonicalize_convolutions,decompose_batch_norm"
    shown = call(program, "show", MODEL)
    printed = call(program, "opt", MODEL, "--passes", chosen, "--check")
    expect("batch_norm.default" in shown and "batch_norm.default" not in printed, "opt does not run its passes")
    expect(call(program, "opt", MODEL, "--passes", chosen, "--retrace") == printed, "retracing gives another graph")
    listing, flatbuffer, picture = folder / "out.txt", folder / "out.tosa", folder / "out.dot"
    call(program, "opt", MODEL, "--passes", chosen, "-o", listing)
    expect(listing.read_text() == printed, "opt writes another listing than it prints")
    call(program, "opt", MODEL, "--passes", chosen, "-o", picture)
    expect(picture.read_text().startswith("digraph"), "opt writes no picture")
    call(program, "opt", MODEL, "--passes", chosen, "-o", flatbuffer, status=UNSUPPORTED)
    expect(not flatbuffer.exists(), "opt leaves a flatbuffer that is none")
    call(program, "opt", MODEL, "--passes", ",".join(listed), "-o", flatbuffer)
    call(program, "run", flatbuffer, says="output 0")
    call(program, "opt", MODEL, "--passes", "decompose_bach_norm", status=USAGE, says="did you mean decompose_batch_norm")
    call(program, "opt", MODEL, status=USAGE)
    call(program, "opt", "--passes", chosen, status=USAGE)
    call(program, "opt", folder / "missing.pt2", "--passes", chosen, status=MALFORMED)
    call(program, "opt", MODEL, "--passes", chosen, "--target", "TOSA-9.9", status=USAGE)


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        check_usage(program)
        for check in (check_files, check_outputs, check_passes):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            check(program, folder)
    print("\n".join(failures + [f"{len(failures)} failures"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
