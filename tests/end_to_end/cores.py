#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what the program says and writes for microcontrollers: `show`, `contract` and `lower` with `--core`.

    cores.py PROGRAM [COMPILER…]     a compiler checks the contract as well
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
KWS = ROOT / "examples" / "models" / "kws_dscnn_int8" / "model.pt2"
FLOAT = ROOT / "tests" / "fixtures" / "conv_bn_relu" / "model.pt2"
STATES = ROOT / "tests" / "fixtures" / "buffer_update" / "model.pt2"
CORE = ("--core", "cortex-m4")


def constant(header, name):
    """A number of a generated header."""
    return int(re.search(rf" {name} = (\d+);", header)[1])


def described(program, folder, model, *options):
    """The report of `show --core` as JSON."""
    path = folder / "report.json"
    call(program, "show", model, *options, "-o", path)
    return json.loads(path.read_text())


def check_report(program, folder):
    """The text, the JSON and the header's comments say the same."""
    header = folder / "kws.hpp"
    done = call(program, "lower", KWS, "-o", header, *CORE)
    written = header.read_text()
    told = described(program, folder, KWS, *CORE)
    expect(told["core"] == "cortex-m4" and told["macs"] == 2656768, f"the report is of {told['core']}, {told['macs']} MACs")
    expect(f"an arena of {told['arena']} bytes (at least {told['lower_bound']}), {told['constants']} bytes of constants" in done.stderr,
           f"`lower` has other figures: {done.stderr}")
    expect(constant(written, "constant_bytes") == told["constants"], "the header has other constants")
    expect(written.count("hr::layer<") == len(told["layers"]), "the report has not the header's layers")
    at_peak = [t for t in told["tensors"] if t["first"] <= told["fullest_layer"] <= t["last"]]
    expect(sum(t["bytes"] for t in at_peak) == told["lower_bound"], "the tensors at the peak are not the lower bound")
    expect(max(t["offset"] + t["bytes"] for t in told["tensors"]) == told["arena"], "the tensors do not end with the arena")
    expect(sum(layer["macs"] for layer in told["layers"]) == told["macs"], "the layers' MACs are not the model's")
    text = call(program, "show", KWS, *CORE, says=f"{told['arena']:,} bytes; no plan needs less than").stdout
    for layer in told["layers"]:
        expect(f"  {layer['name']} " in text and layer.get("because", "") in text, f"the text lacks {layer}")
    expect("measures them" in text.splitlines()[-1], "the text does not say how to measure code and stack")
    shown = call(program, "show", header).stdout
    expect(shown == text[:text.rstrip("\n").rfind("\n") + 1], f"the header's report is not the model's: {shown[:300]}")
    source = folder / "kws.cpp"
    call(program, "lower", KWS, "-o", source, *CORE, "-q")
    expect(call(program, "show", source).stdout == shown, "the report of the C function is another")


def check_reasons(program, folder):
    """A layer that no fast kernel computes says why; on a core without fast kernels there is nothing to say."""
    told = described(program, folder, FLOAT, *CORE)
    reasons = {layer.get("because") for layer in told["layers"] if layer["op"] == "conv2d"}
    expect(reasons == {"the input is not int8"}, f"float convolutions: {reasons}")
    told = described(program, folder, KWS, "--core", "cortex-m3")
    expect(not any("because" in layer for layer in told["layers"]), "a Cortex-M3 has faster kernels")


def check_usage(program, folder):
    call(program, "show", KWS, "--core", "cortex-m9", status=USAGE, says="the cores are host, cortex-m0")
    call(program, "show", KWS, *CORE, "--summary", status=USAGE)
    call(program, "show", KWS, *CORE, "-o", folder / "x.hr", status=USAGE, says=".json")
    call(program, "show", KWS, "--state", "variable", status=USAGE)
    call(program, "lower", KWS, "-o", folder / "kws.tosa")
    call(program, "show", folder / "kws.tosa", *CORE, status=USAGE, says="give the .pt2 file")
    call(program, "show", STATES, *CORE, status=UNSUPPORTED, says="--state variable")
    call(program, "show", STATES, *CORE, "--state", "variable", says="in the model beside the arena")
    header = folder / "kws.hpp"
    for option in ("--report", "--io"):
        call(program, "lower", KWS, "-o", header, *CORE, option, folder / "x.json", status=USAGE, says="`headrace show MODEL --core CORE`")
    call(program, "lower", KWS, "-o", header, *CORE)
    for options in (CORE, ("--summary",), ("--html", folder / "x.html"), ("-o", folder / "x.hr")):
        call(program, "show", header, *options, status=USAGE, says="with the model that the header was made of")
    call(program, "contract", KWS, "-o", folder / "contract.hpp")
    call(program, "show", folder / "contract.hpp", status=MALFORMED, says="`headrace show MODEL --core CORE`")
    (folder / "evil.hpp").write_bytes(b"// a.hpp: b for c, by headrace 0\n// \x1b[31m\xff\n")
    expect("\x1b" not in call(program, "show", folder / "evil.hpp").stdout, "a header commands the terminal")


def check_c_function(program, folder):
    """No C function of a model with a state; and both of its files or none."""
    call(program, "lower", STATES, "-o", folder / "state.cpp", *CORE, "--state", "variable", status=UNSUPPORTED,
         says="the model has a state, for which a C function has no place")
    expect(not list(folder.glob("state.*")), "a refused C function left a file")
    (folder / "taken.cpp").mkdir()
    call(program, "lower", KWS, "-o", folder / "taken.cpp", *CORE, status=USAGE, says="cannot write")
    expect(not (folder / "taken.h").exists(), "the header is there without its source")
    (folder / "beside.h").mkdir()
    call(program, "lower", KWS, "-o", folder / "beside.cpp", *CORE, status=USAGE, says="cannot write")
    expect(not (folder / "beside.cpp").exists(), "the source is there without its header")


def check_methods(program, folder, compilers):
    """Two methods are namespaces of one header, and equal weights are in it once."""
    header = folder / "two.hpp"
    call(program, "lower", "--method", f"first={KWS}", "--method", f"second={KWS}", "-o", header, *CORE)
    text = header.read_text()
    expect("namespace two::first {" in text and "namespace two::second {" in text, "a method has no namespace")
    (folder / "use.cpp").write_text('#include "two.hpp"\nstatic_assert(two::first::model::macs == two::second::model::macs &&'
                                    " &two::first::constants::conv2d_weight[0] == &two::second::constants::conv2d_weight[0]);\n")
    for compiler in compilers:
        built = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT}/include", folder / "use.cpp"],
                               capture_output=True, text=True)
        expect(built.returncode == 0, f"{compiler}: {built.stderr[:500]}")
    call(program, "lower", "--method", f"first={KWS}", "-o", folder / "two.cpp", *CORE, status=USAGE,
         says="a C function is of one model")
    call(program, "lower", "--method", f"not-one={KWS}", "-o", header, *CORE, status=USAGE, says="not-one")


def check_contract(program, folder, compilers):
    told = described(program, folder, KWS, *CORE)
    plain, header = folder / "plain.hpp", folder / "kws.hpp"
    call(program, "contract", KWS, "-o", plain, "--name", "kws")
    call(program, "contract", KWS, "-o", header, "--name", "kws", *CORE)
    for line in plain.read_text().splitlines():
        expect(line in header.read_text(), f"the contract with a core lacks {line}")
    measured = folder / "measured.json"
    figures = {"core": "cortex-m4", "equal": True, "instructions": 3000000, "arena": told["arena"], "code": 7000,
               "constants": told["constants"], "stack": 1468}
    measured.write_text(json.dumps(figures))
    full = folder / "full.hpp"
    call(program, "contract", KWS, "-o", full, "--name", "full", *CORE, "--measured", measured)
    needed = told["arena"] + told["states"]
    source = folder / "checks.cpp"
    source.write_text(
        '#include "kws.hpp"\n#include "full.hpp"\n'
        "template <unsigned Memory, unsigned Flash>\nstruct board : headrace::core_target<\"cortex-m4\"> {\n"
        "    static constexpr std::uint64_t memory = Memory, flash = Flash;\n};\n"
        f"static_assert(headrace::fits<board<{needed}, {told['constants']}>, kws>);\n"
        f"static_assert(!std::is_same_v<headrace::misfit<board<{needed - 1}, {told['constants']}>, kws>, headrace::no_fault>);\n"
        f"static_assert(headrace::fits<board<{needed + 1468}, {told['constants'] + 7000}>, full>);\n"
        f"static_assert(!std::is_same_v<headrace::misfit<board<{needed + 1467}, {told['constants'] + 7000}>, full>, headrace::no_fault>);\n"
        "static_assert(full::on_device::instructions == 3000000 && headrace::fits<headrace::ethos_u85, kws>);\n")
    for compiler in compilers:
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include", source],
                              capture_output=True, text=True)
        expect(done.returncode == 0, f"the contract with {compiler}: {done.stderr[:1000]}")
    for changed in ({"core": "cortex-m3"}, {"arena": 1}, {"constants": 1}, {"equal": False}, {"stack": None}):
        measured.write_text(json.dumps({**figures, **changed}))
        call(program, "contract", KWS, "-o", folder / "no.hpp", *CORE, "--measured", measured, status=MALFORMED, says="measured.json")
    call(program, "contract", KWS, "-o", folder / "no.hpp", "--measured", measured, status=USAGE)
    call(program, "contract", KWS, "-o", folder / "no.hpp", "--core", "m4", status=USAGE, says="the cores are")
    call(program, "contract", KWS, "-o", folder / "no.hpp", *CORE, "--exported-only", status=USAGE)
    call(program, "contract", KWS, "-o", folder / "no.hpp", *CORE, "--io-layout", "nhwc", status=USAGE)
    expect(not (folder / "no.hpp").exists(), "an error left a contract")


def check_page(program, folder):
    page = folder / "kws.html"
    done = subprocess.run([program, "show", KWS, "--html", page, *CORE], capture_output=True, text=True)
    if "built without the page" in done.stderr:
        return
    expect(done.returncode == 0, f"no page: {done.stderr}")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)[1])
    expect(data["core"] == described(program, folder, KWS, *CORE), "the page has another report")


def main():
    program = sys.argv[1]
    compilers = [c for c in sys.argv[2:] if c != "none"]
    with tempfile.TemporaryDirectory() as name:
        for check in (check_report, check_reasons, check_usage, check_c_function, check_methods, check_contract,
                      check_page):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            check(program, folder, *([compilers] if check in (check_contract, check_methods) else []))
    return report()


if __name__ == "__main__":
    sys.exit(main())
