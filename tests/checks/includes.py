#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the headers of include/headrace against the rules of the project, and prints each breach.

    includes.py                     layers, foreign libraries, umbrellas, first lines, guards, width
    includes.py --self-contained    also compiles each header alone (slow)
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = ROOT / "include"
TOP = BASE / "headrace"

# A header may include its own folder and those before it.
LAYERS = [
    "on_device", "base", "op", "dialect", "ir", "infer", "target", "pass", "match", "passes", "memory", "partition", "eval", "quantization", "io",
    "contract", "firmware", "lowering", "compiled",
]
# Which folders may include which foreign headers.
FOREIGN = [
    (re.compile(r"boost/(graph/|pending/)"), set(LAYERS[LAYERS.index("ir") :])),
    (re.compile(r"flatbuffers/|simdjson|zip\.h|libdeflate"), {"io"}),
]
UMBRELLA = TOP / "headrace.hpp"
# Written by another tool, whose style is its own.
GENERATED = {"io/tosa_generated.hpp", "io/pte_generated.hpp", "io/ptd_generated.hpp"}
# Not part of an umbrella although they lie in its folder, and why.
NOT_IN_UMBRELLA = {
    "passes/device/fuse_layers.hpp": "of another pipeline, passes/device_lowering.hpp",
    "passes/device/layers.hpp": "of another pipeline",
    "passes/device/fold_padding.hpp": "of another pipeline",
    "passes/device/outline_layers.hpp": "of another pipeline",
    "passes/device/split_expansions.hpp": "of another pipeline",
    "passes/device_lowering.hpp": "another pipeline",
    "passes/executorch/convolve_slices.hpp": "of another pipeline, passes/executorch_lowering.hpp",
    "passes/executorch/fit_kernels.hpp": "of another pipeline",
    "passes/executorch/saturate_quantization.hpp": "of another pipeline, passes/executorch_lowering.hpp",
    "passes/executorch/scans_to_loops.hpp": "of another pipeline",
    "passes/executorch/select_kernels.hpp": "of another pipeline",
    "passes/executorch/spell_kernel_ops.hpp": "of another pipeline",
    "passes/executorch/store_empty_results.hpp": "of another pipeline",
    "passes/executorch_lowering.hpp": "another pipeline",
    "pass/fused_sweeps.hpp": "an option of programs that retrace: it compiles the handlers of a pipeline",
    "io/dot.hpp": "Boost's Graphviz writer is slow to compile, and needs RTTI",
    "io/dot_definition.hpp": "see io/dot.hpp",
}
WIDTH = 110
WARNINGS = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def guard_of(header):
    return re.sub(r"[/.]", "_", str(header.relative_to(BASE))).upper()


def layer_of(path):
    """The folder of a header, or None for what lies beside the folders: version.hpp and the umbrella."""
    parts = pathlib.PurePosixPath(path).parts
    return parts[1] if len(parts) > 2 else None


def check_includes(header, text):
    own = layer_of(header.relative_to(BASE).as_posix())
    for name in INCLUDE.findall(text):
        if name.startswith("headrace/"):
            if not (BASE / name).exists():
                yield f"includes {name}, which is not there"
            if header == UMBRELLA:
                continue
            other = layer_of(name)
            if other is None and name != "headrace/version.hpp":
                yield f"includes the umbrella {name}"
            elif other is not None and own is None:
                yield f"includes {name}, though it lies beside the folders"
            elif other is not None and other not in LAYERS:
                yield f"includes {name} of an unknown folder"
            elif other is not None and own in LAYERS and LAYERS.index(other) > LAYERS.index(own):
                yield f"includes {name}: {other}/ is below {own}/"
        for pattern, allowed in FOREIGN:
            if pattern.match(name) and own not in allowed:
                yield f"includes {name}: only {', '.join(sorted(allowed))} may"


def check_text(header, text):
    lines = text.splitlines()
    if lines[:1] != ["// SPDX-License-Identifier: MIT"]:
        yield "line 1 is not the licence"
    if not re.match(r"// (Defines|Declares|Includes) ", lines[1] if len(lines) > 1 else ""):
        yield "line 2 does not begin with '// Defines', '// Declares' or '// Includes'"
    guard = guard_of(header)
    directives = [line for line in lines if line.startswith("#")]
    if directives[:2] != [f"#ifndef {guard}", f"#define {guard}"] or directives[-1] != "#endif":
        yield f"the include guard is not {guard}"
    wide = [number for number, line in enumerate(lines, 1) if len(line) > WIDTH]
    if wide:
        yield f"more than {WIDTH} columns in line {', '.join(map(str, wide))}"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip() or "\t" in line:
            yield f"line {number} has a tab or ends in a space"
    if not text.endswith("\n") or text.endswith("\n\n"):
        yield "does not end in one newline"


def closure(header):
    """All headers of the project that a header brings, itself included."""
    seen, pending = set(), [header]
    while pending:
        at = pending.pop()
        if at not in seen and at.exists():
            seen.add(at)
            names = INCLUDE.findall(at.read_text())
            pending += [BASE / name for name in names if name.startswith("headrace/")]
    return seen


def check_umbrellas():
    """A folder's umbrella is the header that has the folder's name, in it or beside it; of passes/, definitions.hpp."""
    for folder in sorted(p for p in TOP.rglob("*") if p.is_dir()):
        for umbrella in (folder / f"{folder.name}.hpp", folder.with_suffix(".hpp"), TOP / "passes" / "definitions.hpp"):
            if folder not in (umbrella.parent, umbrella.with_suffix("")):
                continue
            if not umbrella.exists() or "// Includes " not in umbrella.read_text():
                continue
            brought = closure(umbrella)
            for header in sorted(folder.rglob("*.hpp")):
                if header not in brought and str(header.relative_to(TOP)) not in NOT_IN_UMBRELLA:
                    yield f"{umbrella.relative_to(ROOT)}: lacks {header.relative_to(BASE)}"


def check_self_contained(headers, compiler, jobs):
    def compile_alone(header):
        unit = f"#include <{header.relative_to(BASE)}>\n#include <{header.relative_to(BASE)}>\n"
        includes = f"-I{BASE} -isystem /usr/include/eigen3"
        command = f"{compiler} {includes} -std=c++20 -fsyntax-only {WARNINGS} -x c++ -".split()
        run = subprocess.run(command, input=unit, capture_output=True, text=True)
        return header, run.returncode, run.stderr

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for header, status, output in pool.map(compile_alone, headers):
            if status != 0:
                first = next((line for line in output.splitlines() if "error:" in line), output[:200])
                yield f"{header.relative_to(ROOT)}: does not compile alone: {first}"


def main():
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("--self-contained", action="store_true")
    parser.add_argument("--compiler", default="g++", help="the command, with flags if need be")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="just the headers whose path has this in it")
    options = parser.parse_args()

    headers = [h for h in sorted(TOP.rglob("*.hpp")) if options.only in str(h.relative_to(BASE))]
    breaches = []
    for header in headers:
        text = header.read_text()
        found = list(check_includes(header, text))
        if str(header.relative_to(TOP)) not in GENERATED:
            found += check_text(header, text)
        breaches += [f"{header.relative_to(ROOT)}: {breach}" for breach in found]
    breaches += check_umbrellas()
    if options.self_contained:
        breaches += check_self_contained(headers, options.compiler, options.jobs)
    print("\n".join(breaches + [f"{len(headers)} headers, {len(breaches)} breaches"]))
    return 1 if breaches or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
