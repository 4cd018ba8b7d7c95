#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks packages with the built program: several methods that share constants, and models that are partitioned.

    packages.py PROGRAM [TWO_METHODS…]

TWO_METHODS are further folders `X.encode`, `X.decode`, … with the models of methods that share constants.
"""
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

from calls import MALFORMED, OK, UNSUPPORTED, USAGE, call, expect, failures, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"


def dynamic(*suffixes):
    """Returns the nodes of the network with that name in make_partition_fixtures.py."""
    return [kind + s for s in suffixes for kind in ("choose_qparams", "quantize_per_tensor", "dequantize_per_tensor")]


# The fewest possible delegates, and the nodes that must stay on the host.
PARTITIONED = {
    "chain": (2, dynamic("", "_1")),
    "diamond": (2, dynamic("", "_1", "_2")),
    "branch": (4, ["cond", "choose_qparams", "quantize_per_tensor", "dequantize_per_tensor"]),
    "quantized": (2, ["choose_qparams", "quantize_per_tensor_2", "dequantize_per_tensor_3"]),
    "shared_weights": (2, ["dequantize_per_tensor_1", "choose_qparams", "quantize_per_tensor_3",
                           "dequantize_per_tensor_5"]),
    "towers": (3, dynamic("", "_1", "_2", "_3")),
}
# The number of these delegates in the branches of a condition that stays on the host.
IN_BRANCHES = {"branch": 2}
# These nodes compute nothing, so no delegate is needed for one of them alone.
MOVING = ("permute", "view", "reshape", "flatten", "quantize_per_tensor", "dequantize_per_tensor")

def size_of(folder):
    return sum(p.stat().st_size for p in folder.iterdir())


def outputs(program, model, inputs, count, folder, *options):
    files = [folder / f"got{i}.npy" for i in range(count)]
    call(program, "run", model, *options, "--in", *inputs, "--out", *files)
    return [np.load(f) for f in files if f.exists()]


def same(a, b):
    return len(a) == len(b) and all(x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
                                    for x, y in zip(a, b))


def inputs_of(case):
    return sorted(case.glob("in*.npy"), key=lambda p: int(p.stem[2:]))


def check_two_methods(program, folder, models):
    """Each distinct constant is stored once, the package is smaller, and each method has the flatbuffer that
    it has alone."""
    package = folder / "package"
    methods = [f"--method={name}={model}" for name, model in models.items()]
    call(program, "lower", *methods, "-o", package, "--report", folder / "report.json")
    manifest = json.loads((package / "manifest.json").read_text())
    data = (package / "constants.bin").read_bytes()
    held = [data[offset:offset + size] for _, offset, size in manifest["data"]]
    expect(len(set(held)) == len(held), f"{package}: a constant is stored twice")
    expect(sum(map(len, held)) == len(data), f"{package}: {len(data)} bytes of data for {sum(map(len, held))}")
    told = json.loads((folder / "report.json").read_text())
    expect(told["constants"] == {"count": len(held), "bytes": len(data)}, f"--report says {told['constants']}")
    apart = 0
    for name, model in models.items():
        alone, restored = folder / f"{name}.tosa", folder / f"{name}.restored.tosa"
        call(program, "lower", model, "-o", alone, "--io", folder / "io.json")
        call(program, "unpack", package, "--method", name, "-o", restored)
        expect(alone.read_bytes() == restored.read_bytes(), f"{name}: unpack gives other bytes than lower")
        expect(json.loads((folder / "io.json").read_text()) == manifest["methods"][name]["io"], f"{name}: its io")
        apart += alone.stat().st_size
        call(program, "run", package, "--method", name, says="output 0")
        expect(call(program, "run", package, "--method", name).stdout == call(program, "run", alone).stdout,
               f"{name}: the package runs differently")
        call(program, "show", package, "--method", name, says=f"method {name}")
    return size_of(package), apart


def check_shared_convolution(program, folder):
    """Two methods share a convolution whose neighbours want different layouts: its weights are stored once,
    and each method is lowered as it is alone, so that it costs no additional cycle."""
    numbers = ", ".join(f"{(i * 37 % 101 - 50) / 64}" for i in range(4 * 2 * 3 * 3))
    shared = (f"%w: float32[4, 2, 3, 3] = constant [{numbers}]\n%b: float32[4] = constant [1.0, 2.0, 3.0, 4.0]\n")
    texts = {
        "planes": "%x: float32[1, 2, 6, 6] = input\n" + shared +
                  "%conv: ? = aten.conv2d.default(%x, %w, %b, padding=[1, 1]) {origin}\n%y: ? = aten.relu.default(%conv) {origin}\n",
        "pixels": "%x: float32[1, 6, 6, 2] = input\n" + shared +
                  "%planes: ? = aten.permute.default(%x, dims=[0, 3, 1, 2]) {origin}\n"
                  "%conv: ? = aten.conv2d.default(%planes, %w, %b, padding=[1, 1]) {origin}\n"
                  "%rows: ? = aten.permute.default(%conv, dims=[0, 2, 3, 1]) {origin}\n"
                  "%y: ? = aten.view.default(%rows, size=[36, 4]) {origin}\n"}
    methods = []
    for name, text in texts.items():
        (folder / f"{name}.hr").write_text(f"headrace 1\n{text}output y=%y\n")
        methods += ["--method", f"{name}={folder / name}.hr"]
    package = folder / "shared"
    call(program, "lower", *methods, "-o", package)
    manifest = json.loads((package / "manifest.json").read_text())
    weights = [i for i, (_, _, size) in enumerate(manifest["data"]) if size == 4 * 2 * 3 * 3 * 4]
    expect(len(weights) == 1, f"shared: the weights are stored {len(weights)} times")
    expect(all(weights[0] in d["data"] for d in manifest["delegates"]), "shared: a method does not use the weights")
    left = {}
    for name in texts:
        alone, restored = folder / f"{name}.tosa", folder / f"{name}.restored.tosa"
        call(program, "lower", folder / f"{name}.hr", "-o", alone, "--report", folder / "alone.json")
        left[name] = json.loads((folder / "alone.json").read_text())["transposes"]
        call(program, "unpack", package, "--method", name, "-o", restored)
        expect(alone.read_bytes() == restored.read_bytes(), f"shared: {name} is lowered differently in a package")
    expect(left["pixels"]["after"] == 0 and left["planes"]["after"] != 0, f"shared: the layouts do not differ: {left}")
    expect(left["pixels"]["before_layout"] > 0, f"shared: no transposes before the layout passes: {left}")
    # Equal delegates are stored once.
    both = folder / "equal"
    model = FIXTURES / "conv_bn_relu" / "model.pt2"
    call(program, "lower", "--method", f"a={model}", "--method", f"b={model}", "-o", both)
    manifest = json.loads((both / "manifest.json").read_text())
    expect(len(manifest["delegates"]) == 1, f"equal: {len(manifest['delegates'])} delegates of two equal methods")
    expect(len(list(both.glob("*.delegate"))) == 1, "equal: the delegate is stored twice")
    for name in ("a", "b"):
        call(program, "run", both, "--method", name, says="output 0")


def nodes_of(listing):
    """Returns, for each node of a listing's graph in order, its name, its op, and the names of its
    operands."""
    for line in listing.splitlines():
        left, _, right = line.partition(" = ")
        if left.startswith("%"):
            op, _, arguments = right.partition("(")
            yield re.findall(r"%(\w+)", left), op, re.findall(r"%(\w+)", arguments)


def fewest_delegates(listing, host):
    """Returns the max number of delegates on a path: nodes connected by a path through the host are in
    different delegates."""
    inside, behind = {}, {}  # by value: max delegates on a path to it, the last of them still open, or left
    for results, op, operands in nodes_of(listing):
        at = max((inside.get(o, 0) for o in operands), default=0)
        left = max((behind.get(o, 0) for o in operands), default=0)
        kind = op.split(".")[1] if "." in op else op
        if op == "higher_order.cond" and "cond" in host or any(r in host for r in results):
            at, left = 0, max(at, left)
        elif operands and kind not in MOVING:
            at = max(at, left + 1)
        for r in results:
            inside[r], behind[r] = at, left
    return max(inside.values())


def check_order(listing, name):
    """Checks that each node of the host graph comes after its operands: there is no cycle."""
    known = set()
    for results, op, operands in nodes_of(listing):
        expect(set(operands) <= known, f"{name}: {op} uses {set(operands) - known} before they are there")
        known.update(results)
    expect(len(known) > 2, f"{name}: no host graph is shown")


def check_partition(program, folder):
    for name, (delegates, host) in PARTITIONED.items():
        case = FIXTURES / "partition" / name
        package = folder / name
        says = f"forward: {delegates} delegates, {len(host)} node"
        call(program, "lower", "--partition", case / "model.pt2", "-o", package, "--report", folder / "r.json",
             says=says)
        told = json.loads((folder / "r.json").read_text())["methods"]["forward"]
        expect([n["node"] for n in told["host_nodes"]] == host, f"{name}: on the host are {told['host_nodes']}")
        expect(all(n["reason"] for n in told["host_nodes"]), f"{name}: a host node has no reason")
        meta = json.loads((case / "meta.json").read_text())
        count = len(meta["outputs"])
        inputs = inputs_of(case)
        original = outputs(program, case / "model.pt2", inputs, count, folder)
        got = outputs(program, package, inputs, count, folder)
        expect(len(got) == len(original) and all(
            a.dtype == b.dtype and np.allclose(a, b, rtol=1e-4, atol=1e-4) for a, b in zip(original, got)),
            f"{name}: the package gives other outputs than the original")
        expected = [np.load(case / o["file"]) for o in meta["outputs"]]
        expect(all(np.allclose(a, b, rtol=1e-3, atol=1e-3) for a, b in zip(expected, got)),
               f"{name}: other outputs than PyTorch's")
        shown = call(program, "show", package, says="delegate.call_delegate").stdout
        check_order(shown, name)
        original_graph = call(program, "show", case / "model.pt2").stdout
        outer = delegates - IN_BRANCHES.get(name, 0)
        expect(outer == fewest_delegates(original_graph, host), f"{name}: not the fewest delegates")
        expect(all(f"host node {n} (" in shown for n in host), f"{name}: show does not name the host nodes")
        planned = folder / f"{name}.planned"
        call(program, "lower", "--partition", "--plan-memory", case / "model.pt2", "-o", planned)
        expect(same(got, outputs(program, planned, inputs, count, folder)), f"{name}: out-variants give other outputs")
        in_buffers = call(program, "show", planned, says="memory.alloc(").stdout
        expect(in_buffers.count("memory.alloc(") == len(re.findall(r"memory\.alloc\(.*memory=0, offset=\d+\)", in_buffers)),
               f"{name}: a buffer has no place")
        for folder_of_package in (package, planned):
            told = call(program, "plan", folder_of_package, "--verify", says="host memory: peak").stdout
            expect(told.count("lower bound") == 1 + delegates, f"{name}: a delegate has no plan")
        for i in range(delegates):
            part = folder / f"{name}{i}.tosa"
            call(program, "unpack", package, "--delegate", i, "-o", part)
            call(program, "run", part, says="output 0")
        call(program, "unpack", package, "-o", folder / "x.tosa", status=USAGE, says="--delegate")
        call(program, "unpack", package, "--delegate", 99, "-o", folder / "x.tosa", status=USAGE)
    # A model that can be lowered as a whole is one delegate; several methods can be partitioned, too.
    whole = FIXTURES / "conv_bn_relu" / "model.pt2"
    call(program, "lower", "--partition", whole, "-o", folder / "whole", says="forward: 1 delegate, 0 nodes")
    call(program, "lower", "--partition", "--method", f"a={whole}", "--method",
         f"b={FIXTURES / 'partition' / 'chain' / 'model.pt2'}", "-o", folder / "both", says="b: 2 delegates")
    one = outputs(program, folder / "both", inputs_of(whole.parent), 1, folder, "--method", "a")
    expect(same(one, outputs(program, folder / "whole", inputs_of(whole.parent), 1, folder)), "both: method a")


def check_usage(program, folder):
    model = FIXTURES / "conv_bn_relu" / "model.pt2"
    refused = FIXTURES / "partition" / "chain" / "model.pt2"
    out = folder / "out"
    call(program, "lower", "-o", out, status=USAGE)
    call(program, "lower", "--partition", "-o", out, status=USAGE)
    call(program, "lower", "--plan-memory", model, "-o", out, status=USAGE, says="--partition")
    call(program, "lower", model, "--method", f"a={model}", "-o", out, status=USAGE)
    for wrong in ("a", "a=", f"={model}", f"../a={model}", f".a={model}", f"a b={model}"):
        call(program, "lower", "--method", wrong, "-o", out, status=USAGE, says="NAME=MODEL")
    call(program, "lower", "--method", f"a={model}", "--method", f"a={model}", "-o", out, status=USAGE)
    call(program, "lower", "--method", f"a={model}", "-o", out, "--verify", status=USAGE)
    call(program, "lower", "--method", f"a={model}", "-o", out, "--target", "TOSA-9", status=USAGE)
    call(program, "lower", "--method", f"a={folder / 'none.pt2'}", "-o", out, status=MALFORMED)
    call(program, "lower", "--method", f"a={model}", "--method", f"b={refused}", "-o", out, status=UNSUPPORTED,
         says="choose_qparams")
    buffers = FIXTURES / "buffer_update" / "model.pt2"
    call(program, "lower", "--method", f"a={buffers}", "-o", out, status=UNSUPPORTED, says="writes it back")
    call(program, "lower", "--partition", buffers, "-o", out, status=UNSUPPORTED, says="writes it back")
    expect(not list(folder.iterdir()), f"an error left {[p.name for p in folder.iterdir()]}")
    call(program, "lower", "--method", f"a={model}", "-o", folder / "no" / "such" / "out", status=USAGE)
    # A package replaces an older one, and nothing else.
    for _ in range(2):
        call(program, "lower", "--method", f"a={model}", "-o", out)
    expect([p.name for p in folder.iterdir()] == ["out"], f"left behind: {[p.name for p in folder.iterdir()]}")
    call(program, "unpack", out, "--method", "b", "-o", folder / "x.tosa", status=USAGE, says="no method 'b'")
    call(program, "run", out, "--method", "b", status=USAGE, says="it has: a")
    call(program, "unpack", folder, "-o", folder / "x.tosa", status=MALFORMED)
    # --method is required if there are several methods, and only then.
    several = folder / "several"
    call(program, "lower", "--method", f"a={model}", "--method", f"b={model}", "-o", several)
    for command in (["run"], ["show", "--dot"], ["unpack", "-o", folder / "x.tosa"]):
        call(program, command[0], several, *command[1:], status=USAGE, says="name one of: a, b")
    for command in ("run", "show", "plan"):
        call(program, command, model, "--method", "a", status=USAGE, says="is not a package")
    shutil.rmtree(several)
    precious = folder / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    call(program, "lower", "--method", f"a={model}", "-o", precious, status=USAGE, says="cannot write")
    call(program, "lower", "--method", f"a={model}", "-o", precious / "file", status=USAGE, says="cannot write")
    expect((precious / "file").read_text() == "mine", "lower overwrote what was no package")
    expect(sorted(p.name for p in folder.iterdir()) == ["out", "precious"], "something was left behind")


def damaged(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if not data:
            break
        at = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at:at + rng.randrange(1, 20)]
        elif kind == 2:
            data[at:at] = data[max(0, at - rng.randrange(1, 30)):at]
        else:
            data[at:at + 1] = rng.choice((b"0", b"-1", b"99999999999", b"null", b"{}", b"[]", b"1e9", b"\"\""))
    return bytes(data)


def check_hostile(program, folder):
    """No damaged file crashes the program, hangs it, or yields a flatbuffer that differs from the
    original."""
    rng = random.Random(3)
    case = FIXTURES / "partition" / "branch"
    good = folder / "good"
    call(program, "lower", "--partition", case / "model.pt2", "-o", good)
    call(program, "unpack", good, "--delegate", 0, "-o", folder / "good.tosa")
    original = (folder / "good.tosa").read_bytes()
    bad = folder / "bad"
    shutil.copytree(good, bad)
    for name in sorted(p.name for p in good.iterdir()):
        content = (good / name).read_bytes()
        for _ in range(40):
            (bad / name).write_bytes(damaged(content, rng))
            out = folder / "bad.tosa"
            for command in (["run", bad, "--in", case / "in0.npy"], ["unpack", bad, "--delegate", 0, "-o", out],
                            ["show", bad]):
                try:
                    done = subprocess.run([program, *map(str, command)], capture_output=True, timeout=60)
                except subprocess.TimeoutExpired:
                    failures.append(f"{name}, damaged: {command[0]} hangs")
                    continue
                expect(done.returncode in (OK, UNSUPPORTED, MALFORMED),
                       f"{name}, damaged: {command[0]} gives {done.returncode}: {done.stderr[:200]!r}")
            if out.exists():
                expect(name.endswith(".json") or out.read_bytes() == original, f"{name}, damaged: other bytes")
                out.unlink()
        (bad / name).unlink()
        call(program, "run", bad, status=MALFORMED)
        (bad / name).write_bytes(content)
    # Names that point outside the package.
    manifest = (good / "manifest.json").read_text()
    for name in ("../good/forward_0.delegate", "/etc/passwd", "", ".hidden"):
        (bad / "manifest.json").write_text(manifest.replace("forward_0.delegate", name))
        call(program, "run", bad, status=MALFORMED, says="cannot be the name of a file")


def two_methods(folders):
    pairs = {}
    for folder in map(pathlib.Path, folders):
        stem, method = folder.name.rsplit(".", 1)
        pairs.setdefault(folder.parent / stem, {})[method] = folder / "model.pt2"
    return pairs


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_usage, check_partition, check_shared_convolution, check_hostile):
            (folder / check.__name__).mkdir()
            check(program, folder / check.__name__)
        given = [*FIXTURES.glob("partition/two_methods.*"), *sys.argv[2:]]
        for i, (pair, models) in enumerate(two_methods(given).items()):
            (folder / str(i)).mkdir()
            size, apart = check_two_methods(program, folder / str(i), models)
            print(f"{pair}: {size} bytes, {apart} apart, {size / apart:.3f}")
            expect(size < 0.9 * apart, f"{pair}: {size} bytes, {apart} apart")
    return report()


if __name__ == "__main__":
    sys.exit(main())
