#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what the built program promises on the command line: options, files, exit statuses and messages.

    command_line.py PROGRAM
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile

import calls
from calls import MALFORMED, OK, UNSUPPORTED, USAGE, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "fixtures" / "conv_bn_relu" / "model.pt2"
INPUT = MODEL.parent / "in0.npy"
REFUSED = ROOT / "tests" / "fixtures" / "buffer_update" / "model.pt2"


def call(*arguments, **promised):
    return calls.call(*arguments, **promised).stdout


def check_usage(program):
    help_text = call(program, "--help", says="lower")
    for word in ("show", "run", "Exit status", "Examples"):
        expect(word in help_text, f"--help does not mention {word}")
    version = (ROOT / "include/headrace/version.hpp").read_text().split('HEADRACE_VERSION "')[1].split('"')[0]
    call(program, "--version", says=version)
    for command in ("lower", "unpack", "show", "opt", "plan", "contract", "prove", "run"):
        call(program, command, "--help", says="Usage")
    call(program, status=USAGE)
    call(program, "no_such_command", status=USAGE)
    call(program, "lower", status=USAGE)
    call(program, "lower", MODEL, status=USAGE)
    call(program, "lower", MODEL, "-o", "x.tosa", "--no-such-option", status=USAGE)
    call(program, "lower", MODEL, "-o", "x.tosa", "--target", "TOSA-9.9", status=USAGE)
    # Options of .pte files for other outputs.
    for output in ("x.tosa", "x.hpp", "x"):
        call(program, "lower", MODEL, "-o", output, "--io-type", "float", status=USAGE, says="--io-type is for .pte files")
        call(program, "lower", MODEL, "-o", output, "--kernels", "portable", status=USAGE, says="--kernels is for .pte")
    call(program, "lower", MODEL, "-o", "package", "--partition", "--io-type", "int8", status=USAGE, says="--io-type")
    call(program, "lower", MODEL, "-o", "x.tosa", "--core", "cortex-m4", status=USAGE, says=".hpp, .cpp or .pte")
    call(program, "lower", "--batch", ROOT, "-o", "out", "--kernels", "cortex_m", status=USAGE, says="--kernels")
    call(program, "lower", MODEL, "-o", "x.pte", "--io-type", "int4", status=USAGE, says="int8")
    call(program, "lower", MODEL, "-o", "x.pte", "--kernels", "cmsis", status=USAGE, says="cortex_m")
    call(program, "lower", MODEL, "-o", "x.pte", "--io", "x.pte", status=USAGE, says="twice")


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
    call(program, "run", MODEL, "--in", INPUT, INPUT, status=USAGE, says="1 input,")
    expect(not list(folder.glob("*out*")), f"an error left {[p.name for p in folder.glob('*out*')]}")
    # Existing outputs are kept if an attempt fails.
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


def check_refusals(program, folder):
    """--verify cannot execute an unknown op: all refused nodes are named, as without it."""
    text = folder / "two.hr"
    text.write_text("""headrace 1
%x: float32[2] = input
%a: float32[2] = opaque my.first(self=%x)
%b: float32[2] = opaque my.second(self=%a)
output %b
""")
    out = folder / "two.tosa"
    told, verified = (calls.call(program, "lower", text, "-o", out, *options, status=UNSUPPORTED, says="b (my.second)").stderr
                      for options in ((), ("--verify",)))
    expect("a (my.first)" in told and told == verified, f"--verify tells other refusals: {verified}")


def check_verified(program, folder):
    """Each command that executes for --verify says on standard error that all is well, unless it is quiet."""
    passes = ("--passes", "canonicalize_convolutions,decompose_batch_norm")
    for command in (("lower", MODEL, "-o", folder / "x.tosa"), ("lower", MODEL, "-o", folder / "x.pte"),
                    ("lower", MODEL, "-o", folder / "x.hpp", "--core", "cortex-m4"),
                    ("opt", MODEL, *passes, "-o", folder / "x.hr"), ("opt", MODEL, *passes), ("plan", MODEL)):
        done = calls.call(program, *command, "--verify")
        expect(re.search(r"^verified\b", done.stderr, re.M) and "verified" not in done.stdout,
               f"{command[0]} --verify does not say on standard error that all is well: {done.stderr}")
        if command[0] != "plan":
            expect(calls.call(program, *command, "--verify", "-q").stderr == "", f"{command[0]} -q is not quiet")
    two = ("--method", f"a={MODEL}", "--method", f"b={MODEL}", "-o", folder / "two.hpp", "--core", "cortex-m4")
    calls.call(program, "lower", *two, "--verify", says="two::b: verified after ")


def check_dynamic_quantization(program, folder):
    """Nodes that compute scales while the program runs are refused with what to do instead."""
    text = folder / "dynamic.hr"
    text.write_text("""headrace 1
%x: float32[4, 4] = input
%a: int8[4, 4] = input
%s: float64[1], %z: int64[1] = quantized_decomposed.choose_qparams.tensor(%x, quant_min=-128, quant_max=127, eps=0.1, dtype=int8)
%q: int8[4, 4] = quantized_decomposed.quantize_per_tensor.tensor(%x, %s, %z, quant_min=-128, quant_max=127, dtype=int8)
%m: int32[4, 4] = opaque aten._int_mm.default(self=%q, mat2=%a)
output %m
""")
    told = calls.call(program, "lower", text, "-o", folder / "dynamic.tosa", status=UNSUPPORTED,
                      says="quantize statically, by calibration").stderr
    expect(told.count("chooses scales while the program runs") == 2 and told.count("headrace quantize") == 2,
           f"dynamic quantization is refused without what to do: {told}")


def check_io_hint(program, folder):
    """`--io int8` is a file of that name; `--io-type` may have been meant."""
    done = subprocess.run([program, "lower", MODEL, "-o", folder / "hint.tosa", "--io", "int8"], cwd=folder,
                          capture_output=True, text=True, check=True, timeout=300)
    expect("note: --io int8 writes the description" in done.stderr, f"no hint: {done.stderr}")
    expect((folder / "int8").exists(), "the description is not where it was asked for")
    done = calls.call(program, "lower", MODEL, "-o", folder / "hint.tosa", "--io", folder / "int8.json")
    expect("note: --io" not in done.stderr, f"a hint without need: {done.stderr}")


def check_stages(program, folder):
    """The texts that --ir writes can be read, and the last is lowered to the same flatbuffer."""
    out, again, stages, some = (folder / name for name in ("out.tosa", "again.tosa", "stages", "some"))
    call(program, "lower", MODEL, "-o", out, "--ir", stages)
    texts = sorted(p.name for p in stages.glob("*.hr"))
    expect(len(texts) > 4 and texts[0] == "000_input.hr", f"--ir wrote {texts}")
    for text in (texts[2], texts[-1]):
        call(program, "lower", stages / text, "-o", again)
        expect(again.read_bytes() == out.read_bytes(), f"{text} becomes another flatbuffer")
    first, second = (re.fullmatch(r"\d+_(\w+)\.hr", name)[1] for name in (texts[1], texts[-1]))
    call(program, "lower", MODEL, "-o", out, "--ir", some, "--ir-around", f"{first},{second}")
    expect(sorted(p.name for p in some.glob("*.hr")) == [*texts[:2], *texts[-2:]],
           f"--ir-around kept {sorted(p.name for p in some.glob('*.hr'))} of {texts}")
    kept = {p.name.removesuffix(".data") for p in some.glob("*.data")}
    expect(kept <= {p.name for p in some.glob("*.hr")}, f"data without a text: {kept}")
    call(program, "lower", MODEL, "-o", out, "--ir", some, "--ir-around", "decompose_gel", status=USAGE,
         says="decompose_gelu")
    call(program, "lower", MODEL, "-o", out, "--ir-around", first, status=USAGE, says="--ir")


def meetings(text):
    """Parses the end of show --pipeline: for each op the passes that can meet it, and whether they remove
    it."""
    met = {}
    for ops, passes in re.findall(r"^\d+ ops?: (.*)\n((?: {4,}.*\n?)+)", text, re.M):
        found = re.findall(r"^ +(\d+)([- ]) (\w+)$", passes, re.M)
        for op in ops.split():
            expect(op not in met, f"show --pipeline has {op} in two groups")
            met[op] = [(int(number), name, mark == "-") for number, mark, name in found]
    return met


def check_pipeline(program, folder):
    """Which passes can meet which ops: equal in each form, and consistent."""
    text = call(program, "show", "--pipeline")
    targets = dict(re.findall(r"^ *\d+ (\w+)\n(?: {6}(?!targets ).*\n)+ {6}targets +(.*)$", text, re.M))
    met = meetings(text)
    expect(len(met) > 400, f"show --pipeline knows {len(met)} ops")
    for op, passes in met.items():
        expect(all(op in targets[name].split() for _, name, _ in passes), f"{op}: a pass meets what it does not target")
        expect([n for n, _, _ in passes] == sorted({n for n, _, _ in passes}), f"{op}: its passes are in no order")
    # An op that is always removed is met again only if a pass in between may make it.
    silu = met["aten.silu.default"]
    expect(len(silu) == 1 and silu[0][2], f"silu is met by {silu}")
    expect(met["aten.silu_.default"][-1][1] == "canonicalize_variants", f"silu_ is met by {met['aten.silu_.default']}")
    expect(not any(removes for _, _, removes in met["tosa.TRANSPOSE"]), "a pass removes all TRANSPOSEs")
    expect(met["builtin.constant"] == [], f"a constant is met by {met['builtin.constant']}")

    of_op = call(program, "show", "--pipeline", "--op", "silu",
                 says="aten.silu.default: a source op, proven to end in TOSA")
    expect(f"{silu[0][0]} {silu[0][1]} removes it" in of_op, "--op silu does not say which pass removes it")
    way = re.findall(r"^ +\d+[- ] (\w+) +\S", of_op, re.M)
    expect(way and way[0] == silu[0][1] and "legalize_unary" in way, f"--op silu goes through {way}")
    expect("tosa.SIGMOID" in of_op.split("can leave the pipeline:")[1], "--op silu does not end in SIGMOID")
    expect("aten" not in of_op.split("can leave the pipeline:")[1], "--op silu ends in ATen")
    call(program, "show", "--pipeline", "--op", "tosa.MATMUL", says="made by passes, and can leave the pipeline")
    of_pass = call(program, "show", "--pipeline", "--pass", silu[0][1], says="canonicalize_variants: ")
    expect("removes" in of_pass and "legalize_unary: " in of_pass, "--pass does not show its neighbours")
    call(program, "show", "--pipeline", "--op", "add", status=USAGE, says="aten.add.Scalar, aten.add.Tensor")
    call(program, "show", "--pipeline", "--op", "no_such_op", status=USAGE, says="has no op")
    call(program, "show", "--pipeline", "--pass", "noop", status=USAGE, says="did you mean remove_noop")
    call(program, "show", "--pipeline", "--op", "silu", "--pass", "remove_noop", status=USAGE)
    call(program, "show", MODEL, "--op", "silu", status=USAGE, says="--pipeline")

    for options in ([], ["--op", "silu"], ["--pass", "fuse_clamps"]):
        picture = call(program, "show", "--pipeline", "--dot", *options)
        expect(picture.startswith("digraph"), f"--dot {options}: no picture")
        nodes = set(re.findall(r"^  (\w+) \[", picture, re.M))
        ends = {end for edge in re.findall(r"(\w+(?: -> \w+)+)", picture) for end in edge.split(" -> ")}
        expect(ends <= nodes, f"--dot {options}: edges of {sorted(ends - nodes)[:5]}, which are not drawn")
        if shutil.which("dot"):
            done = subprocess.run(["dot", "-Tplain"], input=picture, capture_output=True, text=True, timeout=300)
            expect(done.returncode == 0, f"--dot {options}: {done.stderr[:200]}")
    drawn = len(re.findall(r"^  g\d+ \[", call(program, "show", "--pipeline", "--dot"), re.M))
    groups = {tuple(passes) for passes in met.values() if passes}
    expect(drawn == len(groups), f"--dot draws {drawn} groups of ops, not {len(groups)}")


def check_passes(program, folder):
    listed = [line.split()[0] for line in call(program, "opt", "--passes", "help").splitlines()]
    expect(len(listed) == len(set(listed)), "a pass is listed twice")
    for_host = [listed.pop(listed.index(name)) for name in ("to_out_variants", "plan_memory")]
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
    call(program, "opt", MODEL, "--passes", ",".join(for_host), status=UNSUPPORTED, says="aten.conv2d.default")
    planned = call(program, "opt", MODEL, "--passes", chosen + ",plan_memory")
    expect(planned == printed, "a plan without buffers changes the graph")
    call(program, "opt", MODEL, "--passes", "decompose_bach_norm", status=USAGE, says="did you mean decompose_batch_norm")
    call(program, "opt", MODEL, status=USAGE)
    call(program, "opt", "--passes", chosen, status=USAGE)
    call(program, "opt", folder / "missing.pt2", "--passes", chosen, status=MALFORMED)
    call(program, "opt", MODEL, "--passes", chosen, "--target", "TOSA-9.9", status=USAGE)


def check_plan(program, folder):
    out = folder / "plan.json"
    for algorithm in ("greedy", "best-fit"):
        told = call(program, "plan", MODEL, "--algorithm", algorithm, "--verify", says="memory: peak ")
        peak, bound = map(int, re.search(r"peak (\d+) bytes, lower bound (\d+) bytes", told).groups())
        expect(bound <= peak <= 1.1 * bound, f"plan: peak {peak}, lower bound {bound}")
        call(program, "plan", MODEL, "--algorithm", algorithm, "--alignment", 64, "-o", out)
        memory, = json.loads(out.read_text())["memories"]
        tensors = memory["tensors"]
        expect(all(t["offset"] % 64 == 0 for t in tensors), "plan: a tensor is not aligned")
        expect(max(t["offset"] + t["bytes"] for t in tensors) == memory["peak"], "plan: the peak is not the tensors'")
        apart = all(a is b or a["last"] < b["first"] or b["last"] < a["first"] or
                    a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]
                    for a in tensors for b in tensors)
        expect(apart, "plan: two tensors overlap")
    out.unlink()
    for options in (["--algorithm", "worst"], ["--alignment", 12], ["--alignment", 0]):
        call(program, "plan", MODEL, *options, "-o", out, status=USAGE)
    call(program, "plan", MODEL, "-o", folder / "no" / "plan.json", status=USAGE)
    call(program, "plan", folder / "missing.pt2", "-o", out, status=MALFORMED)
    expect(not out.exists(), "plan: an error left a file")


def check_streams(program, folder):
    """Standard output that is full, or was closed by the caller, is an output that fails; one without reader ends the
    program silently."""
    for arguments in (("show", MODEL), ("show", MODEL, "--dot"), ("show", "--pipeline"), ("run", MODEL), ("plan", MODEL),
                      ("opt", MODEL, "--passes", "help"), ("--help",), ("--version",)):
        command = [program, *map(str, arguments)]
        shown = " ".join(command[1:])
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
        expect(done.returncode == USAGE and done.stderr.startswith("error: ") and done.stderr.count("error: ") == 1,
               f"`{shown}` on a full disk: exit status {done.returncode}, {done.stderr[:300]}")
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=300)
        os.close(writer)
        expect(done.returncode == -signal.SIGPIPE and done.stderr == "",
               f"`{shown}` to a closed pipe: exit status {done.returncode}, {done.stderr[:300]}")
        done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True, timeout=300)
        expect(done.returncode == USAGE and done.stderr.startswith("error: "),
               f"`{shown}` with its output closed: exit status {done.returncode}, {done.stderr[:300]}")
    # Both streams fail: the status alone tells.
    for arguments in ("show", MODEL), ("lower", MODEL, "-o", folder / "full.pte"), ("lower", MODEL, "--unknown"):
        command = [program, *map(str, arguments)]
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, stdout=full, stderr=full, timeout=300)
        reader, writer = os.pipe()
        os.close(reader)
        unread = subprocess.run(command, stdout=writer, stderr=writer, timeout=300)
        os.close(writer)
        expect(done.returncode == USAGE and unread.returncode in (USAGE, -signal.SIGPIPE),
               f"`{' '.join(command[1:])}` without any place to print: exit status {done.returncode}, {unread.returncode}")
    # Nothing is printed: so nothing fails, and no printed text gets into a file.
    out = folder / "out.tosa"
    done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", program, "lower", MODEL, "-o", out], timeout=300)
    expect(done.returncode == OK and out.read_bytes()[4:8] == b"TOSA", "lower fails without standard streams")
    done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", program, "lower", REFUSED, "-o", out], timeout=300)
    expect(done.returncode == UNSUPPORTED and out.read_bytes()[4:8] == b"TOSA", "a refusal went into a file")


def check_places(program, folder):
    """Outputs to impossible paths are bad usage, for every command."""
    nowhere, file = folder / "no" / "such", folder / "file"
    file.write_text("")
    out = folder / "out.tosa"
    call(program, "run", MODEL, "--out", nowhere / "y.npy", status=USAGE, says="cannot write")
    call(program, "lower", MODEL, "-o", out, "--dot", file / "dot", status=USAGE, says="cannot write")
    call(program, "lower", MODEL, "-o", out, "--dot", "/proc/dot", status=USAGE, says="cannot write")
    call(program, "lower", "--method", f"a={MODEL}", "-o", folder / "both.tosa", status=USAGE, says="a flatbuffer has one method")
    call(program, "lower", MODEL, "-o", "/dev/full", status=USAGE, says="cannot write")
    call(program, "lower", MODEL, "-o", file / "package", "--partition", status=USAGE, says="cannot write")
    call(program, "opt", MODEL, "--passes", "decompose_gelu", "-o", nowhere / "x.dot", status=USAGE, says="cannot write")
    call(program, "plan", MODEL, "-o", nowhere / "plan.json", status=USAGE, says="cannot write")
    call(program, "contract", MODEL, "-o", nowhere / "model.hpp", status=USAGE, says="cannot write")
    expect(not out.exists(), "a lowering that failed left its output")
    # One path for two files, or for the model and a file.
    call(program, "lower", MODEL, "--io", out, "-o", out, status=USAGE, says="twice")
    call(program, "lower", MODEL, "--io", folder / "." / "a", "--report", folder / "a", "-o", out, status=USAGE,
         says="twice")
    call(program, "run", MODEL, "--out", out, out, status=USAGE, says="twice")
    model = folder / "model.pt2"
    shutil.copy(MODEL, model)
    call(program, "lower", model, "-o", model, status=USAGE, says="the model itself")
    call(program, "lower", model, "--io", "/dev/null", "--report", "/dev/null", "-o", "/dev/null")
    # A path may have any bytes except 0.
    odd = os.fsencode(folder) + b"/m\xff\x1b[31m.pt2"
    with open(odd, "wb") as copy:
        copy.write(MODEL.read_bytes())
    report = folder / "report.json"
    done = subprocess.run([program, "lower", odd, "-o", out, "--report", report], capture_output=True, timeout=300)
    expect(done.returncode == OK, f"a path that is not UTF-8: {done.returncode}, {done.stderr[:300]}")
    expect(json.loads(report.read_text(encoding="utf-8"))["model"].endswith(".pt2"), "the report has no model")
    done = subprocess.run([program, "lower", odd + b"x", "-o", out], capture_output=True, timeout=300)
    expect(done.returncode == MALFORMED and b"\x1b" not in done.stderr and b"\xff" not in done.stderr,
           f"a path reaches the terminal as it is: {done.stderr[:300]}")


def check_names(program, folder):
    """Names from the model reach the terminal harmless, short and on one line."""
    evil = "a\x1b]0;owned\x07\nerror: forged \u009b31m\u202e" + "x" * 1_000_000
    for place in ("name", "target"):
        path = folder / f"{place}.pt2"
        with zipfile.ZipFile(MODEL) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as z:
            for entry in source.infolist():
                data = source.read(entry)
                if "/models/" in entry.filename:
                    model = json.loads(data)
                    node = model["graph_module"]["graph"]["nodes"][-1]
                    if place == "name":
                        old = node["outputs"][0]["as_tensor"]["name"]
                        model = json.loads(json.dumps(model).replace(json.dumps(old), json.dumps(evil)))
                        model["graph_module"]["graph"]["nodes"][-1]["target"] = "torch.ops.my.op.default"
                    else:
                        node["target"] = evil
                    data = json.dumps(model).encode()
                z.writestr(zipfile.ZipInfo(entry.filename), data)
        for command in (("lower", path, "-o", folder / "out.tosa"), ("run", path), ("show", path),
                        ("opt", path, "--passes", "decompose_gelu"), ("plan", path),
                        ("lower", path, "-o", folder / "package", "--partition")):
            done = subprocess.run([program, *map(str, command)], capture_output=True, timeout=300)
            said = (done.stdout + done.stderr).decode()
            shown = f"`{command[0]}`, {place}"
            expect(re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", said) is None, f"{shown}: controls in {said[:300]!r}")
            expect("\nerror: forged" not in said, f"{shown}: a forged error")
            expect(len(said) < 100_000, f"{shown}: prints {len(said)} characters")
        call(program, "lower", path, "-o", folder / "out.tosa", status=UNSUPPORTED, says="unknown op")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        check_usage(program)
        for check in (check_files, check_outputs, check_verified, check_refusals, check_dynamic_quantization,
                      check_io_hint, check_stages, check_pipeline, check_passes, check_plan, check_streams, check_places, check_names):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            check(program, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
