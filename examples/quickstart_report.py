#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What quickstart.sh prints: the report of a lowering, or two float32 .npy files compared. Needs only Python."""
import json
import pathlib
import struct
import sys


def floats(path):
    """The elements of a row-major float32 .npy file."""
    blob = pathlib.Path(path).read_bytes()
    start = 10 + struct.unpack("<H", blob[8:10])[0]
    assert b"'<f4'" in blob[:start], f"{path} has no float32"
    return struct.unpack(f"<{(len(blob) - start) // 4}f", blob[start:])


def summarize(folder):
    report = json.loads((folder / "report.json").read_text())
    flatbuffer = (folder / "kws_dscnn.tosa").read_bytes()
    nodes, turned, ms = report["nodes"], report["transposes"], report["ms"]
    if (folder / "verified.tosa").read_bytes() != flatbuffer:
        sys.exit("error: --verify changed the result")
    print(f"  target      {report['target']}, {len(flatbuffer) / 1024:.0f} KiB, the same result after each pass")
    print(f"  nodes       {nodes['in']} of ATen became {nodes['out']} of TOSA")
    print(f"  transposes  {turned['before']} before, {turned['after']} after")
    print(f"  passes      {report['passes_run']} run, {report['passes_skipped']} skipped: nothing for them to do")
    for tensor in [t for side in json.loads((folder / "io.json").read_text()).values() for t in side]:
        if (q := tensor.get("quantization")) is not None:
            print(f"  {tensor['name']}: {tensor['dtype']}, scale {q['scale']:.3g}, zero point {q['zero_point']}")
    print(f"  time        {sum(ms.values()):.1f} ms: " + ", ".join(f"{stage} {t:.1f}" for stage, t in ms.items()))


def compare(expected, got):
    worst = max(abs(a - b) for a, b in zip(expected, got, strict=True))
    print(f"  PyTorch     " + " ".join(f"{x:.4f}" for x in expected[:6]) + " …")
    print(f"  TOSA        " + " ".join(f"{x:.4f}" for x in got[:6]) + f" …   largest difference {worst:.1e}")
    if worst > 1e-4:
        sys.exit("error: the outputs differ")


if len(sys.argv) == 2:
    summarize(pathlib.Path(sys.argv[1]))
else:
    compare(floats(sys.argv[2]), floats(sys.argv[3]))
