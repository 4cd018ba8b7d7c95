#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests memory maps: `plan --memory`, and headers, .pte files and Vela's configuration over the banks of a board.

    banks.py PROGRAM [COMPILER…]
"""
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect, report
from pte import runner_in

ROOT = pathlib.Path(__file__).resolve().parents[2]
KWS = ROOT / "examples" / "models" / "kws_dscnn_int8" / "model.pt2"
STATES = ROOT / "tests" / "fixtures" / "buffer_update" / "model.pt2"
SMALL = {"stack": "1K", "banks": [
    {"name": "dtcm", "size": "6K", "bytes_per_cycle": 8, "holds": ["arena", "state", "stack", "constants"]},
    {"name": "sram", "size": "64K", "bytes_per_cycle": 4, "holds": ["arena", "state"]},
    {"name": "flash", "size": "256K", "alignment": 32, "bytes_per_cycle": 1, "holds": ["constants"]}]}


def write_map(folder, text, name="map.json"):
    path = folder / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def overlap(a, b):
    return a["offset"] < b["offset"] + b["bytes"] and b["offset"] < a["offset"] + a["bytes"]


def at_once(a, b, concurrent):
    if a["use"] != "arena" or b["use"] != "arena":
        return True
    if a["model"] != b["model"]:
        return concurrent
    return a["first"] <= b["last"] and b["first"] <= a["last"]


def faults_of(plan):
    """What is wrong with a plan, by its JSON alone."""
    banks = {b["name"]: b for b in plan["banks"]}
    faults = []
    for t in plan["tensors"]:
        bank = banks[t["bank"]]
        if t["bytes"] and (t["offset"] % bank["alignment"] or t["offset"] + t["bytes"] > bank["size"]):
            faults.append(t)
    for a, b in itertools.combinations([t for t in plan["tensors"] if t["bytes"]], 2):
        if a["bank"] == b["bank"] and overlap(a, b) and at_once(a, b, plan["concurrent"]):
            faults.append((a, b))
    return faults


def check_plans(program, folder):
    flatbuffer, out = folder / "kws.tosa", folder / "plan.json"
    call(program, "lower", KWS, "-o", flatbuffer, "-q")
    small = write_map(folder, SMALL)
    for memory in (small, "corstone-300", "stm32h743", "nrf52840", "one-sram"):
        call(program, "plan", flatbuffer, "--memory", memory, "-o", out)
        plan = json.loads(out.read_text())
        expect(not faults_of(plan), f"{memory}: {faults_of(plan)[:2]}")
        for bank in plan["banks"]:
            expect(bank["used"] >= bank["lower_bound"] and bank["gap"] <= 0.05, f"{memory}: {bank}")
        call(program, "plan", flatbuffer, "--memory", memory, "--check", out, says="are valid")
    text = call(program, "plan", flatbuffer, "--memory", small).stdout
    expect("bank                 size         used  lower bound     gap  holds" in text and "dtcm" in text, text[:300])
    moved = json.loads(out.read_text())
    for t in moved["tensors"]:
        t["offset"] = 0
    out.write_text(json.dumps(moved))
    call(program, "plan", flatbuffer, "--memory", "one-sram", "--check", out, status=UNSUPPORTED,
         says="two that are live at the same time overlap")
    return flatbuffer


def check_models(program, folder, flatbuffer):
    """Two models share one arena, the larger's, unless they run at once."""
    out = folder / "plan.json"
    used = []
    for options in ((flatbuffer,), (flatbuffer, STATES), (flatbuffer, flatbuffer), (flatbuffer, flatbuffer, "--concurrent")):
        call(program, "plan", *options, "--memory", "corstone-300", "-o", out)
        plan = json.loads(out.read_text())
        expect(not faults_of(plan), f"{options}: {faults_of(plan)[:2]}")
        used.append(next(b["used"] for b in plan["banks"] if b["name"] == "sram"))
    expect(used[0] == used[1] == used[2] and used[3] == 2 * used[0], f"arenas of {used} bytes")
    page = folder / "banks.html"
    call(program, "plan", flatbuffer, STATES, "--memory", "corstone-300", "--page", page)
    expect('\\"banks\\":' in page.read_text() or '"banks":' in page.read_text(), "the page has no banks")


def check_errors(program, folder, flatbuffer):
    tiny = write_map(folder, {"banks": [{"name": "ram", "size": "4K", "holds": ["arena", "constants"]}]}, "tiny.json")
    call(program, "plan", flatbuffer, "--memory", tiny, status=UNSUPPORTED, says="'ram'")
    call(program, "lower", KWS, "-o", folder / "kws.hpp", "--core", "host", "--memory", tiny, status=UNSUPPORTED, says="'ram'")
    call(program, "lower", KWS, "-o", folder / "kws.pte", "--memory", tiny, status=UNSUPPORTED, says="'ram'")
    expect(not list(folder.glob("kws.[hp]*")), "a model that does not fit left a file")
    bad = write_map(folder, '{"banks": [{"name": "ram", "size": "4X", "holds": ["arena"]}]}', "bad.json")
    call(program, "plan", flatbuffer, "--memory", bad, status=MALFORMED, says="bank 0 'ram': 'size' is not a size")
    call(program, "plan", flatbuffer, "--memory", "corstone", status=MALFORMED, says="the presets are corstone-300")
    call(program, "plan", flatbuffer, flatbuffer, status=USAGE, says="--memory")
    call(program, "plan", flatbuffer, "--concurrent", status=USAGE)
    call(program, "lower", KWS, "-o", folder / "kws.tosa", "--memory", "corstone-300", status=USAGE, says="--memory is for")


HOST_MAIN = r"""
#include "kws.hpp"
#include "plain.hpp"
#include <cstdio>
#include <cstring>
int main() {
    static kws::model banked(kws::arenas);
    alignas(16) static std::byte arena[plain::model::arena_bytes];
    static plain::model one(arena);
    for (std::size_t i = 0; i != banked.input<0>().size(); ++i)
        banked.input<0>()[i] = one.input<0>()[i] = static_cast<std::int8_t>(i * 37 % 251 - 125);
    banked.run();
    one.run();
    const bool same = std::memcmp(banked.output<0>().data(), one.output<0>().data(), one.output<0>().size_bytes()) == 0;
    std::printf("%d %d\n", static_cast<int>(same), static_cast<int>(kws::model(kws::arenas).self_test()));
}
"""


def check_header(program, folder, compilers):
    """The model computes the same over two arenas, which lie in the sections that the build names."""
    plain, banked = folder / "plain.hpp", folder / "kws.hpp"
    call(program, "lower", KWS, "-o", plain, "--core", "host", "-q")
    call(program, "lower", KWS, "-o", banked, "--core", "host", "-q", "--memory", write_map(folder, SMALL))
    text = banked.read_text()
    for word in ("HEADRACE_BANK_DTCM ", "HEADRACE_BANK_SRAM ", "HEADRACE_BANK_FLASH_CONSTANTS ", "// bank dtcm: an arena of"):
        expect(word in text, f"the header lacks {word}")
    expect("HEADRACE_BANK" not in plain.read_text(), "a header without a memory map has banks")
    call(program, "lower", KWS, "-o", folder / "kws_c.cpp", "--core", "host", "--memory", write_map(folder, SMALL),
         status=UNSUPPORTED, says="a C function takes one arena")
    (folder / "main.cpp").write_text(HOST_MAIN)
    for compiler in compilers:
        sections = [f"-DHEADRACE_BANK_{name}=__attribute__((section(\".{name.lower()}\")))"
                    for name in ("DTCM", "SRAM", "DTCM_CONSTANTS", "FLASH_CONSTANTS")]
        built = subprocess.run([compiler, "-std=c++20", "-O1", f"-I{ROOT}/include", f"-I{folder}", *sections,
                                folder / "main.cpp", "-o", folder / "main"], capture_output=True, text=True)
        expect(built.returncode == 0, f"{compiler}: {built.stderr[:800]}")
        if built.returncode != 0:
            continue
        done = subprocess.run([folder / "main"], capture_output=True, text=True)
        expect(done.stdout == "1 1\n", f"{compiler}: {done.stdout}")
        listed = subprocess.run(["objdump", "-h", folder / "main"], capture_output=True, text=True).stdout
        for name in (".dtcm", ".sram", ".flash_constants"):
            expect(name in listed, f"{compiler}: there is no section {name}")


def check_pte(program, folder, compilers):
    """Each bank that may hold an arena is a memory of the method; ExecuTorch's runtime executes it."""
    banked, told = folder / "banked.pte", folder / "report.json"
    banks = [SMALL["banks"][0], {**SMALL["banks"][1], "size": "256K"}, SMALL["banks"][2]]  # the kernels compute with floats
    call(program, "lower", KWS, "-o", banked, "-q", "--memory", write_map(folder, {**SMALL, "banks": banks}), "--report", told,
         "--kernels", "portable")
    method = json.loads(told.read_text())["methods"]["forward"]
    expect(len(method["memories"]) == 2 and all(m > 0 for m in method["memories"]), f"memories of {method}")
    expect(method["planned_bytes"] == sum(method["memories"]), f"{method}")
    single = folder / "single.pte"
    call(program, "lower", KWS, "-o", single, "-q", "--kernels", "portable")
    x = numpy.random.default_rng(1).standard_normal((1, 1, 49, 10)).astype(numpy.float32)
    numpy.save(folder / "x.npy", x)
    outputs = []
    for name in (banked, single):
        call(program, "run", name, "--in", folder / "x.npy", "--out", folder / "y.npy")
        outputs.append(numpy.load(folder / "y.npy"))
    expect(numpy.array_equal(*outputs), "the program over two memories computes something else")
    runner = runner_in(folder, compilers[0]) if compilers else None
    if runner:
        done = subprocess.run([runner, banked, "forward", folder / "x.npy", "--", folder / "y.npy"], capture_output=True, text=True)
        expect(done.returncode == 0, f"ExecuTorch's runtime: {done.stderr[-500:]}")
        # Quantized kernels of the runtime may round a half another way.
        expect(numpy.allclose(numpy.load(folder / "y.npy"), outputs[0], atol=0.5), "ExecuTorch's runtime computes something else")


def check_vela(program, folder, flatbuffer):
    """Vela takes the configuration, and a bank that is too small is an error."""
    vela = pathlib.Path(sys.executable).parent / "vela"
    if not vela.exists():
        return
    file, told = folder / "npu.pte", folder / "report.json"
    for accelerator in ("ethos-u55-128", "ethos-u85-256"):
        for memory in ("corstone-300", "one-sram"):
            call(program, "lower", KWS, "-o", file, "--delegate", accelerator, "--vela", vela, "--memory", memory, "-q")
    cycles = []
    for speed in (0.25, 4):
        memory = write_map(folder, {"banks": [
            {"name": "sram", "size": "1M", "bytes_per_cycle": 8, "latency": 32, "holds": ["arena", "state"]},
            {"name": "flash", "size": "8M", "bytes_per_cycle": speed, "latency": 64, "holds": ["constants"]}]})
        call(program, "lower", KWS, "-o", flatbuffer, "--cost", "ethos-u55-128", "--vela", vela, "--memory", memory,
             "--report", told, "-q")
        cycles.append(json.loads(told.read_text())["cost"]["cycles"])
    expect(cycles[0] > cycles[1], f"a slower flash costs {cycles} cycles")
    tiny = write_map(folder, {"banks": [{"name": "sram", "size": "4K", "holds": ["arena"]},
                                        {"name": "flash", "size": "8M", "holds": ["constants"]}]})
    call(program, "lower", KWS, "-o", folder / "no.pte", "--delegate", "ethos-u55-128", "--vela", vela, "--memory", tiny,
         status=UNSUPPORTED, says="bank 'sram' lacks")


def main():
    program, compilers = sys.argv[1], [c for c in sys.argv[2:] if c != "none"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        flatbuffer = check_plans(program, folder)
        check_models(program, folder, flatbuffer)
        check_errors(program, folder, flatbuffer)
        check_header(program, folder, compilers)
        check_pte(program, folder, compilers)
        check_vela(program, folder, flatbuffer)
    return report()


if __name__ == "__main__":
    sys.exit(main())
