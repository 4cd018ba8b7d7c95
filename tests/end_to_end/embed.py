#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks `headrace embed`: its files, compiled and run, give back what was embedded.

    embed.py PROGRAM COMPILER…      C++ compilers
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "tests" / "fixtures" / "quantized_cnn" / "model.pt2"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Werror"]

# Prints what the header declares: the sizes, then a line for each tensor, then the bytes.
READER = r"""
#include <stdio.h>
#include "%(name)s_model.h"
#include "%(name)s_model.h"
static void print(const struct headrace_tensor* t) {
    uint32_t d;
    printf("%%s|%%s|%%lu|%%.8e|%%ld|%%ld|%%ld", t->name, t->dtype, (unsigned long)t->bytes, (double)t->scale,
           (long)t->zero_point, (long)t->qmin, (long)t->qmax);
    for (d = 0; d != t->rank; ++d) printf("|%%ld", (long)t->shape[d]);
    printf("|at %%lu|%%.17g%%c", (unsigned long)t->arena_offset, t->exact_scale, 0);
}
int main(void) {
    size_t i;
    printf("%%lu %%lu %%d%%c", (unsigned long)%(name)s_model_size, (unsigned long)sizeof(%(name)s_model),
           (int)((uintptr_t)%(name)s_model %% 16), 0);
    for (i = 0; i != %(name)s_io.input_count; ++i) print(&%(name)s_io.inputs[i]);
    for (i = 0; i != %(name)s_io.output_count; ++i) print(&%(name)s_io.outputs[i]);
    fwrite(%(name)s_model, 1, %(name)s_model_size, stdout);
    return 0;
}
"""


def printed_by(folder, name, compiler):
    """Returns the parts of the reader's output, the last of which are the bytes."""
    (folder / "reader.c").write_text(READER % {"name": name})
    done = subprocess.run([*compiler, *STRICT, f"{name}_model.c", "reader.c", "-o", "reader"], cwd=folder,
                          capture_output=True, text=True)
    expect(done.returncode == 0, f"{compiler}: {done.stderr[:500]}")
    return subprocess.run([folder / "reader"], capture_output=True).stdout if done.returncode == 0 else b""


def description(tensor, width, offset=0):
    q = tensor.get("quantization", {"scale": 0, "zero_point": 0, "qmin": 0, "qmax": 0})
    count = width
    for size in tensor["shape"]:
        count *= size
    scale = struct.unpack("f", struct.pack("f", q["scale"]))[0]
    numbers = [q["zero_point"], q["qmin"], q["qmax"], *tensor["shape"]]
    return "|".join([tensor["name"], tensor["dtype"], str(count), f"{scale:.8e}", *map(str, numbers), f"at {offset}",
                     f"{q['scale']:.17g}"])


def check_reads(folder, name, compilers, content, tensors):
    wanted = [f"{len(content)} {len(content)} 0", *tensors]
    for compiler in compilers:
        printed = printed_by(folder, name, compiler)
        texts, data = printed[:-len(content)].split(b"\0")[:-1], printed[-len(content):]
        expect([t.decode() for t in texts] == wanted, f"{compiler}: {texts}, not {wanted}")
        expect(data == content, f"{compiler}: the bytes are not those of the file")


def check_flatbuffer(program, folder, compilers):
    # The path is relative to the compiler's folder, and has characters that are special in C and assembler
    # strings.
    model, io = folder / 'a "model"\\n??( é.tosa', folder / "io.json"
    call(program, "lower", MODEL, "-o", model, "--io", io)
    described = json.loads(io.read_text())
    subprocess.run([program, "embed", model.name, "--io", io, "--name", "m1"], cwd=folder, check=True)
    tensors = [description(t, 1) for t in described["inputs"] + described["outputs"]]
    check_reads(folder, "m1", compilers, model.read_bytes(), tensors)
    first = (folder / "m1_model.c").read_bytes()
    subprocess.run([program, "embed", model.name, "--io", io, "--name", "m1"], cwd=folder, check=True)
    expect((folder / "m1_model.c").read_bytes() == first, "embed: the same file gives another source")

    # Names are the user's, and must not be compiled.
    hostile = {"inputs": [{"name": '"};??/\n*/ int x; é\\', "dtype": "INT4", "shape": [3, 1]},
                          {"name": "", "dtype": "BOOL", "shape": []}], "outputs": []}
    io.write_text(json.dumps(hostile))
    call(program, "embed", model, "--io", io, "--name", "m2", "-o", folder)
    texts = [description(t, 1) for t in hostile["inputs"]]
    texts[0] = texts[0].replace("|3|0.", "|2|0.")  # three of four bits
    check_reads(folder, "m2", compilers, model.read_bytes(), texts)


def check_pte(program, folder, compilers):
    """A program for ExecuTorch's runtime, with scales that no float holds; methods have descriptions of their own."""
    model, io = folder / "model.pte", folder / "io.json"
    call(program, "lower", MODEL, "-o", model, "--io-type", "int8", "--io", io)
    call(program, "embed", model, "--io", io, "--name", "m3", "-o", folder)
    tensors = [t for side in json.loads(io.read_text()).values() for t in side]
    scales = [t["quantization"]["scale"] for t in tensors]
    expect(any(struct.unpack("f", struct.pack("f", s))[0] != s for s in scales), f"a float holds each of {scales}")
    check_reads(folder, "m3", compilers, model.read_bytes(), [description(t, 1) for t in tensors])

    call(program, "lower", "--method", f"a={MODEL}", "--method", f"b.c={MODEL}", "-o", model, "--io", io)
    call(program, "embed", model, "--io", io, "--name", "m4", "-o", folder, status=MALFORMED, says="method 'b.c'")
    call(program, "lower", "--method", f"a={MODEL}", "--method", f"b={MODEL}", "-o", model, "--io", io)
    call(program, "embed", model, "--io", io, "--name", "m4", "-o", folder)
    reader = READER % {"name": "m4"}
    for method, side in json.loads(io.read_text())["methods"].items():
        (folder / "m4.c").write_text(reader.replace("m4_io", f"m4_{method}_io"))
        for compiler in compilers:
            done = subprocess.run([*compiler, *STRICT, "m4_model.c", "m4.c", "-o", "m4"], cwd=folder,
                                  capture_output=True, text=True)
            expect(done.returncode == 0, f"{compiler}: {done.stderr[:500]}")
            printed = subprocess.run([folder / "m4"], capture_output=True).stdout
            expect(description(side["inputs"][0], 4).encode() in printed, f"m4_{method}_io is not described")


def check_errors(program, folder):
    model, io = folder / "model.tosa", folder / "io.json"
    call(program, "lower", MODEL, "-o", model, "--io", io)
    for name in ("", "1a", "a-b", "a b", "a;", "é", "int", "a__b"):
        call(program, "embed", model, f"--name={name}", "-o", folder, status=USAGE)
    call(program, "embed", model, status=USAGE)
    call(program, "embed", "--name", "a", status=USAGE)
    call(program, "embed", model, "--name", "a", "-o", folder / "no", status=USAGE, says="cannot write")
    call(program, "embed", folder / "missing.tosa", "--name", "a", "-o", folder, status=MALFORMED, says="missing.tosa")
    codes = {"scale": 1, "zero_point": 0, "qmin": 0, "qmax": 1}
    sound = {"name": "x", "dtype": "INT8", "shape": [1], "quantization": codes}
    broken = [{"dtype": "INT9"}, {"shape": [-1]}, {"shape": [1 << 31]}, {"shape": [1 << 16] * 3}, {"shape": ["x"]},
              {"name": 1}, {"quantization": {**codes, "scale": 1e300}}, {"quantization": {"scale": 1}}]
    for change in broken:
        io.write_text(json.dumps({"inputs": [{**sound, **change}], "outputs": []}))
        call(program, "embed", model, "--io", io, "--name", "a", "-o", folder, status=MALFORMED, says="io.json")
    for text in ("", "{", "[]", "{}", '{"methods": {}}', '{"methods": {"a": {}}}'):
        io.write_text(text)
        call(program, "embed", model, "--io", io, "--name", "a", "-o", folder, status=MALFORMED, says="io.json")
    expect(not list(folder.glob("a_model*")), "embed: an error left a file")


def array(kind, shape, data):
    """Returns the bytes of a NumPy file."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def integers(*numbers, shape=None):
    return array("<i8", (len(numbers),) if shape is None else shape, struct.pack(f"<{len(numbers)}q", *numbers))


def write_vela(path, compression=zipfile.ZIP_STORED, **changes):
    """Returns an archive like Vela's, for a model with an input of 6 bytes and an output of 2."""
    parts = {"cmd_data": array("|S20", (), b"COP1" + bytes(range(16))), "weight_data": array("|S5", (), b"abcde"),
             "weight_region": integers(0, shape=()), "scratch_region": integers(1, shape=()),
             "scratch_size": integers(64, shape=()), "scratch_fast_region": integers(2, shape=()),
             "scratch_fast_size": integers(32, shape=()), "variable_shape": array("<f8", (0,), b""),
             "input_shape": integers(1, 1, 2, 3, shape=(1, 4)), "input_elem_size": integers(1),
             "input_region": integers(1), "input_offset": integers(48), "output_shape": integers(1, 1, shape=(1, 2)),
             "output_elem_size": integers(2), "output_region": integers(1), "output_offset": integers(16)}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in {**parts, **changes}.items():
            if data is not None:
                archive.writestr(name + ".npy", data)


def check_vela(program, folder, compilers):
    file, io = folder / "npu_vela.npz", folder / "io.json"
    tensors = [{"name": "x", "dtype": "INT8", "shape": [2, 3]}, {"name": "y", "dtype": "INT16", "shape": [1]}]
    io.write_text(json.dumps({"inputs": tensors[:1], "outputs": tensors[1:]}))
    arguments = ("embed", file, "--io", io, "--name", "npu", "-o", folder)
    write_vela(file)
    call(program, *arguments)
    commands = b"COP1" + bytes(range(16))
    check_reads(folder, "npu", compilers, commands, [description(tensors[0], 1, 48), description(tensors[1], 2, 16)])
    header = (folder / "npu_model.h").read_text()
    for line in ("WEIGHTS_BYTES 5", "WEIGHTS_REGION 0", "ARENA_BYTES 64", "ARENA_REGION 1", "FAST_ARENA_BYTES 32",
                 "FAST_ARENA_REGION 2"):
        expect(f"#define NPU_{line}\n" in header, f"embed: the header of Vela's output has no {line}")
    expect("npu_weights[5];" in header, "embed: the header of Vela's output has no weights")

    for name in ("npu_model.h", "npu_model.c"):
        (folder / name).unlink()
    call(program, "embed", file, "--name", "npu", "-o", folder, status=MALFORMED, says="--io")
    no_integer = array("<f4", (), b"abcd")
    wrong = ({"cmd_data": None}, {"cmd_data": b"no array"}, {"input_offset": integers(1, 2)},
             {"output_elem_size": integers(1)}, {"scratch_size": integers(-1, shape=())}, {"scratch_size": no_integer},
             {"input_shape": integers(1, 1, 7, 3, shape=(1, 4))}, {"compression": zipfile.ZIP_DEFLATED})
    for change in wrong:
        write_vela(file, **change)
        call(program, *arguments, status=MALFORMED, says="npu_vela.npz")
    for change in ({"input_region": integers(3)}, {"variable_shape": integers(1, 8, shape=(1, 2))}):
        write_vela(file, **change)
        call(program, *arguments, status=UNSUPPORTED, says="npu_vela.npz")
    file.write_bytes(b"PK\x03\x04 and no more")
    call(program, *arguments, status=MALFORMED, says="npu_vela.npz")
    expect(not list(folder.glob("npu_model*")), "embed: an error left a file")


def main():
    program, *cxx = sys.argv[1:]
    compilers = [[c, "-x", "c++", "-std=c++20"] for c in cxx]
    compilers += [["cc", f"-std={standard}"] for standard in ("c99", "c11") if shutil.which("cc")]
    with tempfile.TemporaryDirectory() as name:
        folders = [pathlib.Path(name) / str(i) for i in range(4)]
        for folder in folders:
            folder.mkdir()
        check_flatbuffer(program, folders[0], compilers)
        check_errors(program, folders[1])
        check_vela(program, folders[2], compilers)
        check_pte(program, folders[3], compilers)
    return report()


if __name__ == "__main__":
    sys.exit(main())
