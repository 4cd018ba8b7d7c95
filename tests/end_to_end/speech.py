#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the built program's messages to people: what it did, suggestions for misspelt words, what an input
takes, and where outputs go.

    speech.py PROGRAM
"""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import calls
from calls import MALFORMED, OK, UNSUPPORTED, USAGE, expect, on_terminal, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "fixtures" / "conv_bn_relu" / "model.pt2"
INPUT = MODEL.parent / "in0.npy"
REFUSED = ROOT / "tests" / "fixtures" / "buffer_update" / "model.pt2"
INT8 = ROOT / "examples" / "models" / "kws_dscnn_int8"
COMMANDS = ("lower", "unpack", "show", "opt", "plan", "contract", "run", "quantize", "compare", "embed")


def call(*arguments, **promised):
    return calls.call(*arguments, **promised)


def npy(path, kind, shape, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)
    return path


def npy_parts(path):
    """Returns dtype, shape and bytes of a file of version 1."""
    data = path.read_bytes()
    size = struct.unpack("<H", data[8:10])[0]
    header = data[10:10 + size].decode()
    return re.search(r"'descr': '(.*?)'", header)[1], re.search(r"'shape': \((.*?)\)", header)[1], data[10 + size:]


def check_help(program, folder):
    examples = {}
    for command in COMMANDS:
        text = call(program, command, "--help", says="Examples:").stdout.split("Examples:")[1]
        examples[command] = re.findall(r"^ +headrace (\w+)", text, re.M)
        expect(set(examples[command]) == {command}, f"{command} --help has examples of {examples[command]}")
    expect("completions" not in call(program, "--help").stdout, "--help lists what is for packages")


def check_suggestions(program, folder):
    for wrong, meant in (("lowr", "lower"), ("Lower", "lower"), ("quantise", "quantize"), ("shwo", "show")):
        call(program, wrong, status=USAGE, says=f"did you mean {meant}?")
    call(program, "frobnicate", status=USAGE, says="no command 'frobnicate'")
    call(program, status=USAGE, says="lower, unpack")
    call(program, "--versoin", status=USAGE, says="did you mean --version?")
    call(program, "lower", MODEL, "-o", "x.tosa", "--traget", "INT", status=USAGE, says="did you mean --target?")
    call(program, "lower", MODEL, "-o", "x.tosa", "--traget=INT", status=USAGE, says="did you mean --target?")
    call(program, "run", MODEL, "--inn", INPUT, status=USAGE, says="did you mean --in?")
    call(program, "lower", MODEL, status=USAGE, says="headrace lower --help")
    call(program, "show", "--pipeline", "--op", "sillu", status=USAGE, says="did you mean silu?")
    call(program, "show", "--pipeline", "--pass", "remove_nop", status=USAGE, says="did you mean remove_noop?")
    call(program, "show", MODEL, "--around", "conv2", status=USAGE, says="did you mean conv2d?")
    out = folder / "out.tosa"
    call(program, "lower", MODEL, "-o", out, "--target", "TOSA-1.0+FP+bf61", status=USAGE, says="did you mean bf16?")
    call(program, "lower", MODEL, "-o", out, "--target", "FPP", status=USAGE, says="did you mean FP?")
    expect(not out.exists(), "bad usage left a file")


def check_targets(program, folder):
    for short, whole in (("FP", "TOSA-1.0+FP"), ("fp+BF16", "TOSA-1.0+FP+bf16"), ("+FP", "TOSA-1.0+FP"),
                         ("INT+FP", "TOSA-1.0+INT+FP"), ("FP+int", "TOSA-1.0+INT+FP")):
        one, two = folder / "one.tosa", folder / "two.tosa"
        call(program, "lower", MODEL, "-o", one, "--target", short)
        call(program, "lower", MODEL, "-o", two, "--target", whole)
        expect(one.read_bytes() == two.read_bytes(), f"--target {short} is another one than {whole}")
    call(program, "lower", INT8 / "model.pt2", "-o", folder / "int.tosa", "--target", "INT")
    call(program, "opt", MODEL, "--passes", "decompose_gelu", "--target", "FP")


def check_success(program, folder):
    """One line on standard error says what was done; -q silences it."""
    out = folder / "out.tosa"
    done = call(program, "lower", MODEL, "-o", out)
    expect(done.stdout == "" and re.fullmatch(
        r".*model\.pt2 -> .*out\.tosa: TOSA-1\.0\+FP, \d+ nodes became \d+, (no|\d+) transposes?( \(.*\))?, "
        r"[\d.]+ k?B(ytes)? in [\d.]+ s\n", done.stderr), f"lower says {done.stderr!r}")
    expect("\x1b" not in done.stderr, "colours where there is no terminal")
    done = call(program, "lower", MODEL, "-o", out, "-q", "--verify")
    expect(done.stdout + done.stderr == "", f"lower -q says {done.stderr!r}")
    told = folder / "report.json"
    done = call(program, "lower", MODEL, "-o", out, "--verify", "--report", told)
    expect(re.search(r"^verified after \d+ passes: the largest relative difference is [\d.e-]+", done.stderr, re.M),
           f"--verify says {done.stderr!r}")
    verified = json.loads(told.read_text())["verified"]
    ran = {p["name"] for p in json.loads(told.read_text())["passes"] if p["ran"]}
    expect(verified and all(v["pass"] in ran and 0 <= v["difference"] <= 1e-3 for v in verified),
           f"--report has of --verify {verified}")
    done = call(program, "opt", MODEL, "--passes", "decompose_batch_norm", "-o", folder / "x.hr")
    expect(re.search(r"\d+ nodes became \d+ in 1 pass$", done.stderr.strip()), f"opt says {done.stderr!r}")
    done = call(program, "lower", "--partition", MODEL, "-o", folder / "package", "-q")
    expect(done.stdout + done.stderr == "", f"lower --partition -q says {done.stdout + done.stderr!r}")


def check_colours(program, folder):
    command = [program, "lower", folder / "missing.pt2", "-o", folder / "x.tosa"]
    plain = {k: v for k, v in (("NO_COLOR", ""),)}
    expect(b"\x1b[" in on_terminal(command, **plain), "no colour on a terminal")
    expect(b"\x1b" not in on_terminal(command, NO_COLOR="1"), "colours in spite of NO_COLOR")
    expect(b"\x1b" not in on_terminal(command, NO_COLOR="", TERM="dumb"), "colours on a terminal that has none")


def check_refusals(program, folder):
    """Equal refusals are one line with a count."""
    source = folder / "many.hr"
    call(program, "show", MODEL, "-o", source)
    lines = source.read_text().splitlines()
    # One op that is refused twenty times.
    out = next(k for k, line in enumerate(lines) if line.lstrip().startswith("output"))
    result = re.search(r"%(\w+)", lines[out])[1]
    made = [line for line in lines if re.match(rf"\s*%{result}\b", line)][0]
    shape = re.search(r"float32\[[^\]]*\]", made)[0]
    many = []
    for i in range(20):
        source_value = result if i == 0 else f"many_{i - 1}"
        many.append(f"%many_{i}: {shape} = builtin.opaque(target=\"my.op\", operands=[%{source_value}])")
    lines[out] = re.sub(rf"%{result}\b", "%many_19", lines[out])
    source.write_text("\n".join(lines[:out] + many + lines[out:]) + "\n")
    done = subprocess.run([program, "lower", source, "-o", folder / "x.tosa"], capture_output=True, text=True)
    expect(done.returncode == UNSUPPORTED and done.stderr.count("error: ") == 1 and
           "many_0, many_1, many_2 and 17 more (my.op): " in done.stderr and
           "20 nodes cannot be lowered" in done.stderr, f"20 refusals: {done.stderr}")


def check_source_lines(program, folder):
    """A message about a node begins with the line of the model's source, if the export has it."""
    for name in ("sources", "sources_strict"):
        traced = ROOT / "tests" / "fixtures" / name / "model.pt2"
        told = folder / f"{name}.json"
        done = subprocess.run([program, "lower", traced, "-o", folder / "x.tosa", "--target", "INT"],
                              capture_output=True, text=True)
        expect(done.returncode == UNSUPPORTED and
               re.search(r"^error: net\.py:\d+: \w+( and|, .* and)? ?.*\(aten\.\S+\): ", done.stderr, re.M),
               f"{name}: a refusal has no line: {done.stderr}")
        call(program, "lower", traced, "-o", folder / "x.tosa", "--report", told)
        # An op of the export is unknown: nodes that stay on the host are noted with their lines, in packages
        # as well.
        package = folder / name
        source = folder / f"{name}.hr"
        call(program, "show", traced, "-o", source)
        text = source.read_text()
        expect('source="File \\"net.py\\", line 14, in forward' in text, f"{name}: the text has no line")
        source.write_text(re.sub(r"aten\.relu\.default\(%(\w+)\)",
                                 r'builtin.opaque(target="my.op", operands=[%\1])', text))
        done = call(program, "lower", source, "-o", package, "--partition", "--report", told)
        expect("net.py:14: relu (" in done.stdout + done.stderr, f"{name}: a note has no line: {done.stderr}")
        notes = json.loads(told.read_text())["methods"]["forward"]["host_nodes"]
        expect([n["source"] for n in notes] == ["net.py:14"], f"{name}: --report has {notes}")
        call(program, "show", package, says="net.py:14: host node relu (")


def check_inputs(program, folder):
    """`run` does not silently take numbers of another dtype."""
    flatbuffer, io = folder / "model.tosa", folder / "io.json"
    call(program, "lower", INT8 / "model.pt2", "-o", flatbuffer, "--io", io)
    reals, out = INT8 / "in0.npy", folder / "out.npy"
    call(program, "run", flatbuffer, "--in", reals, status=MALFORMED, says="holds float32 numbers; input x takes int8")
    q = json.loads(io.read_text())["inputs"][0]["quantization"]
    # With the description: floats in, floats out, like the exported program.
    call(program, "run", flatbuffer, "--io", io, "--in", reals, "--out", out)
    kind, shape, data = npy_parts(out)
    expected_kind, expected_shape, expected = npy_parts(INT8 / "out0.npy")
    expect((kind, shape) == (expected_kind, expected_shape) == ("<f4", "1, 12"), f"run --io gives {kind} ({shape})")
    step = json.loads(io.read_text())["outputs"][0]["quantization"]["scale"]
    got, wanted = (struct.unpack(f"<{len(d) // 4}f", d) for d in (data, expected))
    expect(max(abs(a - b) for a, b in zip(got, wanted)) <= 2.01 * step, f"run --io gives {got}, not {wanted}")
    # Quantized values are taken unchanged, with and without it.
    _, shape, data = npy_parts(reals)
    numbers = struct.unpack(f"<{len(data) // 4}f", data)
    integers = [max(q["qmin"], min(q["qmax"], round(x / q["scale"]) + q["zero_point"])) for x in numbers]
    shape = [int(s) for s in shape.split(",") if s.strip()]
    codes = npy(folder / "codes.npy", "|i1", shape, struct.pack(f"{len(integers)}b", *integers))
    plain = folder / "plain.npy"
    call(program, "run", flatbuffer, "--in", codes, "--out", plain)
    expect(npy_parts(plain)[0] == "|i1", "without --io, outputs are the file's own")
    call(program, "run", flatbuffer, "--io", io, "--in", codes, "--out", out)
    expect(npy_parts(out)[0] == "<f4", "with --io, outputs are floats")
    # Integers of another dtype fit, or are refused with the input's quantization.
    wide = npy(folder / "wide.npy", "<i4", shape, struct.pack(f"<{len(integers)}i", *integers))
    call(program, "run", flatbuffer, "--in", wide)
    wide = npy(folder / "wide.npy", "<i4", shape, struct.pack(f"<{len(integers)}i", *[300] * len(integers)))
    call(program, "run", flatbuffer, "--io", io, "--in", wide, status=MALFORMED,
         says=f"holds 300; input x takes int8 quantized values (scale {q['scale']:.6g}, zero point {q['zero_point']})")
    call(program, "run", INT8 / "model.pt2", "--in", codes, status=MALFORMED,
         says=f"quantizes itself (scale {q['scale']:.6g}, zero point {q['zero_point']})")
    call(program, "run", MODEL, "--in", codes, status=MALFORMED, says="shape")
    # A package has the quantization of its integers.
    package = folder / "package"
    call(program, "lower", "--method", f"forward={INT8 / 'model.pt2'}", "-o", package)
    by_package = folder / "by_package.npy"
    call(program, "run", package, "--in", reals, "--out", by_package)
    expect(npy_parts(by_package)[0] == "<f4", "a package gives no floats for floats")
    call(program, "run", flatbuffer, "--io", io, "--in", reals, "--out", out)
    expect(by_package.read_bytes() == out.read_bytes(), "a package's description says something else than --io")
    # Images are given as exported, even if the flatbuffer is channels-last.
    call(program, "lower", MODEL, "-o", flatbuffer, "--io", io, "--io-layout", "nhwc")
    call(program, "run", flatbuffer, "--io", io, "--in", INPUT, "--out", out)
    call(program, "run", flatbuffer, "--in", INPUT, status=MALFORMED, says="which has [1, 16, 16, 3]")
    call(program, "run", MODEL, "--in", INPUT, "--out", plain)
    a, b = (struct.unpack(f"<{len(npy_parts(p)[2]) // 4}f", npy_parts(p)[2]) for p in (out, plain))
    expect(all(abs(x - y) < 1e-4 for x, y in zip(a, b)), "run --io of NHWC gives other numbers")
    # A description of another model, and broken ones.
    call(program, "run", flatbuffer, "--io", INT8 / "meta.json", "--in", INPUT, status=MALFORMED, says="meta.json")
    call(program, "lower", INT8 / "model.pt2", "-o", folder / "other.tosa", "--io", folder / "other.json")
    call(program, "run", flatbuffer, "--io", folder / "other.json", "--in", INPUT, status=MALFORMED, says="other.json")
    sound = (folder / "other.json").read_text()
    for wrong in ('"scale": 0', '"scale": -1.5', '"scale": 1e999', '"qmin": 200', '"qmax": -300', '"zero_point": 4000'):
        key = wrong.split(":")[0]
        (folder / "broken.json").write_text(re.sub(rf"{key}: [-\d.e]+", wrong, sound, count=1))
        call(program, "run", folder / "other.tosa", "--io", folder / "broken.json", "--in", reals, status=MALFORMED,
             says="broken.json")
    call(program, "run", MODEL, "--in", INPUT, INPUT, status=USAGE, says="1 input")
    call(program, "run", MODEL, "--in", INPUT, "--out", out, plain, status=USAGE, says="1 output")


def check_places(program, folder):
    """Links are followed, `-` is standard output, and the extension decides the format."""
    real, link, plain = folder / "real.tosa", folder / "link.tosa", folder / "plain.tosa"
    call(program, "lower", MODEL, "-o", plain)
    flatbuffer = plain.read_bytes()
    link.symlink_to("real.tosa")
    for _ in range(2):  # a file that does not exist yet, and one that does
        call(program, "lower", MODEL, "-o", link)
        expect(link.is_symlink() and real.read_bytes() == flatbuffer, "the link was replaced, not followed")
    for name in ("-", "/dev/stdout"):
        done = subprocess.run([program, "lower", MODEL, "-o", name], capture_output=True, cwd=folder)
        expect(done.returncode == OK and done.stdout == flatbuffer, f"-o {name} does not write to standard output")
    with open(folder / "appended", "wb") as file:
        file.write(b"before")
        file.flush()
        subprocess.run([program, "lower", MODEL, "-o", "-"], stdout=file, stderr=subprocess.DEVNULL, check=True)
    expect((folder / "appended").read_bytes() == b"before" + flatbuffer, "-o - does not go on where the file stands")
    done = subprocess.run([program, "lower", MODEL, "-o", plain, "--io", "-", "-q"], capture_output=True, cwd=folder)
    expect("inputs" in json.loads(done.stdout), "--io - does not write to standard output")
    call(program, "lower", MODEL, "-o", "-", "--io", "-", status=USAGE, says="twice")
    expect(not (folder / "-").exists(), "a file called - was made")
    fifo = folder / "pipe.tosa"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as reader:
        call(program, "lower", MODEL, "-o", fifo)
        expect(reader.stdout.read() == flatbuffer, "a pipe does not get the flatbuffer")
    expect(fifo.is_fifo(), "a pipe was replaced")
    for command in (("opt", MODEL, "--passes", "decompose_gelu"), ("show", MODEL), ("lower", MODEL), ("plan", MODEL),
                    ("contract", MODEL), ("run", MODEL)):
        wrong = folder / "x.foo"
        option = "--out" if command[0] == "run" else "-o"
        call(program, *command, option, wrong, status=USAGE, says=".foo")
        expect(not wrong.exists(), f"{command[0]} wrote x.foo")
    call(program, "show", MODEL, "-o", folder / "x.txt")
    expect((folder / "x.txt").read_text() == call(program, "show", MODEL, "--full").stdout, "x.txt is no full listing")
    call(program, "lower", MODEL, "-o", folder / "model")  # no extension: a flatbuffer
    expect((folder / "model").read_bytes() == flatbuffer, "a name without extension is no flatbuffer")


def check_show(program, folder):
    flatbuffer = folder / "k.tosa"
    call(program, "lower", INT8 / "model.pt2", "-o", flatbuffer)
    full = call(program, "show", INT8 / "model.pt2", "--full").stdout
    short = call(program, "show", INT8 / "model.pt2").stdout
    lines = short.splitlines()
    expect(len(lines) < 0.5 * len(full.splitlines()), f"show has {len(lines)} lines")
    expect("dequantize_per_tensor.default" not in short and "dequantize_per_channel.default" not in short,
           "show lists dequantize nodes")
    expect(re.search(r"^%\w+: int8<[\d.e-]+, -?\d+>\[1, 64, 25, 5\] = aten\.\w+\.default\(", short, re.M),
           "show puts no scale into types")
    expect(re.search(r": int8<[\d.e-]+\.\.[\d.e-]+, axis 0>\[64, 1, 10, 4\] = constant", short),
           "show puts no scales per channel into types")
    # Every used name is listed before.
    for text in (short, call(program, "show", flatbuffer).stdout):
        known = set()
        for line in text.splitlines():
            results, _, rest = line.rpartition(" = ")
            used = set(re.findall(r"%([\w.]+)", rest or line))
            expect(used <= known or line.startswith("output"), f"show uses {used - known} before it lists them: {line}")
            known.update(re.findall(r"%([\w.]+):", results))
    lowered = call(program, "show", flatbuffer).stdout
    expect("CONST_SHAPE" not in lowered and re.search(r"RESHAPE\(%x, \[1, 49, 10, 1\]\)", lowered),
           "show does not put shapes where they are used")
    expect(re.search(r"^%conv2d: .* = tosa.CONV2D\(%conv2d.reshape, %conv2d.weight,", lowered, re.M),
           "values of a TOSA file are not called as the nodes that they were exported as")
    near = call(program, "show", flatbuffer, "--around", "conv2d").stdout.splitlines()
    expect(any("tosa.CONV2D" in line for line in near) and any("RESCALE" in line for line in near) and
           len(near) < 8 and all(line in lowered.splitlines() for line in near), f"--around: {near}")
    further = call(program, "show", flatbuffer, "--around", "%conv2d", "--depth", 3).stdout.splitlines()
    expect(set(near) < set(further), "--depth 3 shows no more than 1")
    alone = call(program, "show", flatbuffer, "--around", "conv2d", "--depth", 0).stdout.splitlines()
    expect(len(alone) == 1 and "CONV2D" in alone[0], f"--depth 0: {alone}")
    call(program, "show", MODEL, "--depth", 2, status=USAGE, says="--around")
    call(program, "show", flatbuffer, "--method", "y", status=USAGE, says="--method")


def check_summary(program, folder):
    flatbuffer = folder / "k.tosa"
    call(program, "lower", INT8 / "model.pt2", "-o", flatbuffer)
    counted = {}
    for name, model in (("exported", INT8 / "model.pt2"), ("lowered", flatbuffer)):
        text = call(program, "show", model, "--summary").stdout
        for line in text.splitlines()[:4]:
            key, _, number = line.partition("  ")
            counted[name, key] = number.strip()
        expect("inputs\n  x: " in text and "\noutputs\n" in text and "\nops\n" in text, f"--summary: {text}")
    # The keyword spotter: 9 convolutions and a fully connected layer.
    macs = 64 * 125 * 40 + 4 * (64 * 125 * 9 + 64 * 125 * 64) + 64 * 12
    for name in ("exported", "lowered"):
        expect(counted[name, "MACs"] == f"{macs:,}", f"{name}: {counted[name, 'MACs']} MACs, not {macs:,}")
    expect(counted["exported", "parameters"].split()[0] == counted["lowered", "parameters"].split()[0] == "22,604",
           f"parameters: {counted}")
    peak = re.search(r"peak (\d+) bytes", call(program, "plan", flatbuffer).stdout)[1]
    expect(f"({int(peak):,} bytes)" in counted["lowered", "peak memory"], f"{counted}, and `plan` says {peak}")
    text = call(program, "show", INT8 / "model.pt2", "--summary").stdout
    expect(re.search(r"x: float32\[1, 1, 49, 10\], in the model int8<0\.025648, 2>", text), f"--summary: {text[:400]}")


def check_texts(program, folder):
    """The manual page and the completions are derived from the options."""
    page = call(program, "man").stdout
    for command in COMMANDS:
        expect(f".SS headrace {command}\n" in page, f"the manual page lacks {command}")
    expect("\\-\\-io\\-layout" in page and "nchw|nhwc" in page, "the manual page lacks values of options")
    if shutil.which("man"):
        shown = subprocess.run(["man", "--warnings", "-l", "-"], input=page, capture_output=True, text=True,
                               env={**os.environ, "MANPAGER": "cat", "MANWIDTH": "100"})
        expect(shown.returncode == 0 and shown.stderr == "" and "--io-layout" in shown.stdout,
               f"man: {shown.stderr[:300]}")
    for shell in ("bash", "zsh", "fish"):
        script = folder / f"complete.{shell}"
        script.write_text(call(program, "completions", shell).stdout)
        if shutil.which(shell):
            done = subprocess.run([shell, "-n", script], capture_output=True, text=True)
            expect(done.returncode == 0, f"completions for {shell}: {done.stderr[:300]}")
        flags = [line for line in script.read_text().splitlines() if "--partition" in line or "-l partition" in line]
        expect(shell == "bash" or (flags and not any("_files" in f or " -r" in f for f in flags)),
               f"completions for {shell} let a flag take a file: {flags}")
    call(program, "completions", "tcsh", status=USAGE, says="bash")

    def completed(*words):
        script = (f'headrace() {{ "{program}" "$@"; }}; . "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                  '_headrace; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", folder / "complete.bash", *words], capture_output=True,
                              text=True, cwd=folder)
        expect(done.stderr == "", f"completing {words}: {done.stderr[:300]}")
        return done.stdout.split()
    if shutil.which("bash"):
        expect(completed("headrace", "lo") == ["lower"], "bash does not complete lo")
        expect("--io-layout" in completed("headrace", "lower", "m.pt2", "--io"), "bash does not complete --io")
        expect(completed("headrace", "lower", "--io-layout", "nh") == ["nhwc"], "bash does not complete values")
        expect("complete.zsh" in completed("headrace", "show", "complete."), "bash does not complete files")
        expect(completed("headrace", "opt", "--passes", "decompose_gelu,decompose_batch_n") ==
               ["decompose_gelu,decompose_batch_norm"], "bash does not complete passes")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        for check in (check_help, check_suggestions, check_targets, check_success, check_colours, check_refusals,
                      check_source_lines,
                      check_inputs, check_places, check_show, check_summary, check_texts):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            check(program, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
