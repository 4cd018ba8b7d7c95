#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks `compare --board` and `compare --cycles`: a dump that the C++ type writes on the host, an etdump that ExecuTorch's
runtime wrote for etdump/model.pte (1.5.1, with the input of tests/fixtures/conv_bn_relu), and their damages.

    board.py PROGRAM COMPILER
"""
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from calls import MALFORMED, USAGE, call, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
KWS = ROOT / "examples/models/kws_dscnn_int8/model.pt2"
ETDUMP = pathlib.Path(__file__).resolve().parent / "etdump"
FLOATS = ROOT / "tests/fixtures/conv_bn_relu"
MAIN = """#include <cstdio>
#include <headrace/on_device/dump.hpp>
#include "m.hpp"
alignas(16) static std::byte arena[m::model::arena_bytes + 1];
int main(int, char** arguments) {
    static m::model model(arena);
    if (!model.self_test()) return 1;
    headrace::on_device::sample_numbers numbers;
    for (auto& x : model.input<0>()) x = numbers.next<headrace::on_device::element::int8>();
    std::FILE* file = std::fopen(arguments[1], "wb");
    model.run(headrace::on_device::dump([&](const void* p, std::size_t n) { std::fwrite(p, 1, n, file); }));
    return std::fclose(file);
}
"""


def records_of(dump):
    """Name and bytes of each record."""
    found, at = [], 8
    while at != len(dump):
        length, size = struct.unpack_from("<II", dump, at)
        at += 8
        found.append((dump[at:at + length].decode(), dump[at + length:at + length + size]))
        at += length + size
    return found


def file_of(records):
    return b"HRDP" + struct.pack("<I", 1) + b"".join(
        struct.pack("<II", len(name.encode()), len(data)) + name.encode() + data for name, data in records)


def compare(program, *arguments):
    return subprocess.run([program, "compare", *map(str, arguments)], capture_output=True, text=True, timeout=300)


def dump_of_type(program, compiler, model, folder, name):
    """The dump of the C++ type, built for the host."""
    call(program, "lower", model, "-o", folder / "m.hpp", "--core", "host", "-q")
    (folder / "main.cpp").write_text(MAIN)
    done = subprocess.run([compiler, "-std=c++20", "-O1", f"-I{ROOT}/include", folder / "main.cpp", "-o", folder / "m"],
                          capture_output=True, text=True)
    expect(done.returncode == 0, f"the type does not compile: {done.stderr[:500]}")
    done = subprocess.run([folder / "m", folder / name])
    expect(done.returncode == 0, f"the type fails with status {done.returncode}")
    return (folder / name).read_bytes()


def check_type(program, compiler, folder):
    dump = dump_of_type(program, compiler, KWS, folder, "dump.bin")
    records = records_of(dump)
    expect(len(records) >= 14, f"the dump has {len(records)} tensors")
    done = compare(program, KWS, "--board", folder / "dump.bin")
    expect(done.returncode == 0 and f"{len(records)} of {len(records)} tensors of the dump are equal" in done.stdout,
           f"the type's tensors differ: {done.stdout}{done.stderr}")
    call(program, "lower", KWS, "-o", folder / "m.tosa", "-q")
    done = compare(program, folder / "m.tosa", "--board", folder / "dump.bin")
    expect(done.returncode == 0, f"the type's tensors differ from the flatbuffer's: {done.stdout}{done.stderr}")
    generator = random.Random(5)
    for i in generator.sample(range(1, len(records)), 4):
        name, data = records[i]
        changed = bytearray(data)
        changed[generator.randrange(len(data))] ^= 0x11
        (folder / "bad.bin").write_bytes(file_of([*records[:i], (name, bytes(changed)), *records[i + 1:]]))
        done = compare(program, KWS, "--board", folder / "bad.bin", "--json", folder / "bad.json")
        told = json.loads((folder / "bad.json").read_text())
        expect(done.returncode == 1 and told["first"] == name, f"{name} is changed, and {told['first']} is named")
        expect(f"the first layer that differs: {name}, tosa." in done.stdout, f"{name} is not named: {done.stdout}")
    return records


def check_errors(program, records, folder):
    def refused(data, says, status=MALFORMED):
        (folder / "bad.bin").write_bytes(data)
        call(program, "compare", KWS, "--board", folder / "bad.bin", status=status, says=says)

    whole = file_of(records)
    refused(b"", "is empty")
    refused(b"HRD", "no dump of a board")
    refused(whole[:-1], f"record {len(records)} at offset")
    refused(whole[:8] + b"\r\n" + whole[8:], "bytes were lost or added")
    refused(file_of([("conv2d_99x", b"1")]), "record 1 at offset 8, conv2d_99x: the model has no tensor of that name", USAGE)
    refused(file_of([(records[0][0], records[0][1][:-1])]), "it has 489 bytes, and 490 are expected: int8 [1, 1, 49, 10]", USAGE)
    refused(file_of(records[:1] * 2), "a dump is of one inference")
    refused(file_of(records[1:]), "the dump does not have the input x", USAGE)
    call(program, "compare", KWS, status=USAGE, says="--board")
    call(program, "compare", KWS, KWS, "--board", folder / "bad.bin", status=USAGE, says="for one model")
    call(program, "compare", folder / "m.hpp", "--board", folder / "bad.bin", status=USAGE, says="lowered from")


def check_etdump(program, folder):
    model, run, x = ETDUMP / "model.pte", ETDUMP / "run.etdp", FLOATS / "in0.npy"
    done = compare(program, model, "--board", run, "--in", x)
    expect(done.returncode == 0 and "11 of 11 tensors of the dump are equal" in done.stdout,
           f"the runtime's tensors differ: {done.stdout}{done.stderr}")
    buffer = bytearray((ETDUMP / "run.bin").read_bytes())
    buffer[2096 + 4 * 77 + 3] ^= 0x40  # an element of the second instruction
    (folder / "buffer.bin").write_bytes(buffer)
    done = compare(program, model, "--board", run, "--debug-buffer", folder / "buffer.bin", "--in", x)
    expect(done.returncode == 1 and "the first layer that differs: instruction 1, aten::relu.out" in done.stdout, done.stdout)
    (folder / "buffer.bin").write_bytes(buffer[:3000])
    call(program, "compare", model, "--board", run, "--debug-buffer", folder / "buffer.bin", "--in", x, status=MALFORMED,
         says="instruction 1 ends behind the debug buffer")
    call(program, "compare", model, "--board", run, status=USAGE, says="--in")
    text, damages = run.read_bytes(), random.Random(3)
    for i in range(200):  # any bytes give a comparison or an error
        broken = bytearray(text)
        for _ in range(damages.randrange(1, 8)):
            broken[damages.randrange(12, len(broken))] = damages.randrange(256)
        (folder / "broken.etdp").write_bytes(broken[:damages.choice([len(broken), damages.randrange(len(broken))])])
        done = compare(program, model, "--board", folder / "broken.etdp", "--debug-buffer", ETDUMP / "run.bin", "--in", x)
        expect(done.returncode in (0, 1, 2, 3), f"a broken etdump, {i}: status {done.returncode}")
    done = compare(program, model, "--cycles", run)
    expect(done.returncode == 0 and "instruction 1 " in done.stdout and "ticks in 9 layers" in done.stdout, done.stdout)


def check_times(program, folder):
    times = folder / "times.csv"
    times.write_text("layer,cycles,comment\nquantize_per_tensor_1,400000,slow\nquantize_per_tensor_3,500000,\nlinear,900,\n")
    done = call(program, "compare", KWS, "--cycles", times, "--core", "cortex-m4", "--html", folder / "page.html")
    lines = done.stdout.splitlines()
    expect(lines[0].split() == ["layer", "predicted", "cycles", "measured", "ratio"], lines[0])
    expect(lines[1].startswith("quantize_per_tensor_1 ") and lines[-1].endswith("predicted are instructions on cortex-m4"), done.stdout)
    page = (folder / "page.html").read_text()
    expect('"measured":{"unit":"cycles","layers":[["quantize_per_tensor_1",400000.0]' in page, "the page has no times")
    vela = folder / "vela.csv"
    vela.write_text("TFLite_operator,NNG Operator,SRAM Usage,Op Cycles,Target,Name\nCONV_2D,Conv2D,1,200000,NPU,quantize_per_tensor_1\n")
    call(program, "compare", KWS, "--cycles", times, "--vela-csv", vela, says="2.00")
    times.write_text("layer,cycles\nx,much\n")
    call(program, "compare", KWS, "--cycles", times, status=MALFORMED, says="line 2: much is no number of cycles")


def main():
    program, compiler = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        records = check_type(program, compiler, folder)
        check_errors(program, records, folder)
        check_etdump(program, folder)
        check_times(program, folder)
    return report()


if __name__ == "__main__":
    sys.exit(main())
