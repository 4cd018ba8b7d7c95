#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what a pipeline costs to compile, over generated dialects and passes.

Template instantiations are counted with clang (-ftime-trace), for which the count is deterministic: more than
3 % above compile_time_baseline.json fails, and the templates that grew most are named. Seconds and memory of
g++ are only reported: they depend on the machine.

    compile_time.py [--update] [--time] [--include DIR] [--case check/500x160]
    compile_time.py --table [--generated DIR]
        costs of users' translation units, next to headers of other libraries, as Markdown; DIR is the include folder
        of a build, which has passes/declared_passes.hpp: build/include

Cases are kind/OPSxPASSES; `check` is a pipeline's proof alone, `run` adds the code that runs it, and
`headers` is an empty file with the same includes.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BASELINE = os.path.join(HERE, "compile_time_baseline.json")
# Two sizes of each kind show what an op and a pass cost.
SIZES = {"check": [(50, 20), (500, 160)], "run": [(50, 20), (250, 140)]}
ALLOWED_GROWTH = 1.03
EVENTS = ("InstantiateClass", "InstantiateFunction")


def source(kind, ops, passes):
    """Returns a dialect whose last fifth is legal, and passes that share the other ops as targets, two or
    three each."""
    lines = ["#include <headrace/pass/pipeline.hpp>", "using namespace headrace;"]
    if kind == "headers":
        return "\n".join(lines)
    illegal = ops * 4 // 5
    lines.append("namespace bench { struct dialect;")
    for i in range(ops):
        lines.append(f'struct op{i} : op<dialect, "bench.op{i}", "self, other, axes, keep"> {{ struct args '
                     "{ value self; std::optional<value> other{}; int_list axes{}; bool keep = false; }; };")
    names = ", ".join(f"op{i}" for i in range(ops))
    lines.append(f'struct dialect : dialect_of<"bench", {names}> {{}}; }}')
    lines.append("namespace headrace { template <class Op> requires std::same_as<typename Op::dialect_type, bench::dialect> "
                 "result<void> infer_results(Op, const args<Op>& a, inference& out) "
                 "{ out.add(out.of(a.self)); return {}; } }")
    for k in range(passes):
        targets = [f"bench::op{i}" for i in range(k * illegal // passes, max((k + 1) * illegal // passes, k * illegal // passes + 1))]
        produced = [f"bench::op{illegal + (k * 3 + j) % (ops - illegal)}" for j in range(3)]
        lines.append(f"struct pass{k} : pass {{ using targets = ops<{', '.join(targets)}>; "
                     f"using produces = ops<{', '.join(produced)}>;")
        if k:
            lines.append(f"using requires_before = pass_list<pass{k - 1}>;")
        for t in targets:
            lines.append(f"value operator()(const args<{t}>& a, emit<produces>& e) const {{ return "
                         f"e.make<{produced[1]}>({{.self = e.make<{produced[0]}>({{.self = a.self}})}}); }}")
        lines.append("};")
    legal = ", ".join(f"bench::op{i}" for i in range(illegal, ops))
    lines.append(f"struct lowering : pipeline<from<bench::dialect>, to<{legal}>, "
                 f"{', '.join(f'pass{k}' for k in range(passes))}> {{}};")
    lines.append("static_assert(lowering::dead_pass_count == 0);")
    if kind == "run":
        lines.append("bool lower(graph& g, pass_context& c) { return lowering::run(g, c).has_value(); }")
    return "\n".join(lines)


def generic(name):
    """Makes `effects_of<pass7>` and `effects_of<pass8>` one template."""
    depth, out = 0, []
    for c in name:
        depth += c == "<"
        if depth == 0:
            out.append(c)
        depth -= c == ">"
    return "".join(out)


def instantiations(path, include):
    """Returns how often clang instantiated each template."""
    trace = path[:-4] + ".json"
    subprocess.run(["clang++-16", "-std=c++20", "-O0", "-c", "-ftime-trace", "-ftime-trace-granularity=0", "-I", include, path,
                    "-o", path[:-4] + ".o"], check=True)
    with open(trace, encoding="utf-8") as f:
        text = f.read()
    counts = collections.Counter()
    for event in EVENTS:
        for name in re.findall(r'"name":"%s","args":\{"detail":"((?:[^"\\]|\\.)*)"' % event, text):
            counts[generic(name)] += 1
    if not counts:
        sys.exit("error: clang's time trace has no instantiations")
    os.remove(trace)
    return counts


Cost = collections.namedtuple("Cost", "seconds megabytes")


def seconds_and_memory(path, include, flags, folder=None):
    """Returns CPU seconds, which are less affected by other work on the machine than elapsed time."""
    pid = os.fork()
    if pid == 0:
        if folder:
            os.chdir(folder)
        os.execvp("g++", ["g++", "-std=c++20", *flags, "-I", include, path])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"error: g++ fails on {path}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


# The rows of --table: name, source, flags. The rows before the first of ours are the yardsticks.
YARDSTICKS = [("Hana", "boost/hana.hpp"), ("nlohmann/json", "nlohmann/json.hpp"),
              ("Boost.Graph", "boost/graph/adjacency_list.hpp"), ("Eigen", "Eigen/Core"), ("range-v3", "range/v3/all.hpp")]
CHECK, COMPILE, LINKED = ["-fsyntax-only"], ["-O2", "-c", "-o", os.devnull], ["-DHEADRACE_COMPILED"]
SINGLE_HEADER = ["-I", "single"]  # in the folder of the measured file
WRITE_SINGLE = [sys.executable, os.path.join(ROOT, "tests", "checks", "single_include.py")]


def unit(name, folder="tests/bench/units"):
    with open(os.path.join(ROOT, folder, name), encoding="utf-8") as f:
        return f.read()


OURS = [
    ("`headrace/headrace.hpp` alone", "#include <headrace/headrace.hpp>", CHECK),
    ("the same, compiled mode", "#include <headrace/headrace.hpp>", CHECK + LINKED),
    ("the core's single header alone", '#include "headrace.hpp"', CHECK + SINGLE_HEADER),
    ("the README's first example by the single header",
     unit("readme.cpp", "examples").replace("headrace/headrace.hpp", "headrace.hpp"), CHECK + SINGLE_HEADER),
    ("`passes/passes.hpp` and the proof of the standard pipeline", unit("proof.cpp"), CHECK),
    ("the same, compiled mode", unit("proof.cpp"), CHECK + LINKED),
    ("an edited standard pipeline, `-O2`", unit("edited_pipeline.cpp"), COMPILE),
    ("the same, compiled mode", unit("edited_pipeline.cpp"), COMPILE + LINKED),
    ("`eval/evaluator.hpp`", "#include <headrace/eval/evaluator.hpp>", CHECK),
    ("a driver: read, plan, partition, run; compiled mode, `-O2`", unit("driver.cpp"), COMPILE + LINKED),
]


def print_table(include, generated):
    """Prints a line for each translation unit: CPU seconds, also as multiples of two yardsticks, and
    memory."""
    rows = [(f"`#include <{header}>`", f"#include <{header}>", CHECK) for _, header in YARDSTICKS] + OURS
    seconds = []
    print("| g++, one unit | s | x Hana | x nlohmann/json | MB |")
    print("| --- | --: | --: | --: | --: |")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "unit.cpp")
        subprocess.run([*WRITE_SINGLE, os.path.join(folder, "single")], check=True)
        for name, text, flags in rows:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text + "\n")
            others = ["-isystem", "/usr/include/eigen3", "-I", os.path.abspath(generated)]
            cost = seconds_and_memory(path, os.path.abspath(include), [*flags, *others], folder)
            seconds.append(cost.seconds)
            ratios = [f"{cost.seconds / seconds[i]:.2f}" if i < len(seconds) else "" for i in range(2)]
            print(f"| {name} | {cost.seconds:.2f} | {ratios[0]} | {ratios[1]} | {cost.megabytes:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="rewrite the baseline")
    parser.add_argument("--time", action="store_true", help="report seconds and memory of g++ as well")
    parser.add_argument("--include", default=os.path.join(ROOT, "include"))
    parser.add_argument("--generated", default=os.path.join(ROOT, "build", "include"))
    parser.add_argument("--case", help="measure only this one")
    parser.add_argument("--table", action="store_true", help="measure what users' units cost with g++")
    options = parser.parse_args()
    if options.table:
        print_table(options.include, options.generated)
        return 0
    cases = {"headers/0x0": ("headers", 0, 0)}
    cases.update({f"{kind}/{o}x{p}": (kind, o, p) for kind, sizes in SIZES.items() for o, p in sizes})

    baseline = {}
    if os.path.exists(BASELINE):
        with open(BASELINE, encoding="utf-8") as f:
            baseline = json.load(f)
    measured, faults = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for name, case in cases.items():
            if options.case and name != options.case:
                continue
            path = os.path.join(folder, name.replace("/", "_") + ".cpp")
            with open(path, "w", encoding="utf-8") as f:
                f.write(source(*case))
            counts = instantiations(path, options.include)
            total = sum(counts.values())
            measured[name] = {"total": total, "templates": dict(sorted(counts.most_common(40)))}
            line = f"{name:15} {total:8} instantiations"
            if options.time:
                for flags in (["-fsyntax-only"], ["-O2", "-c", "-o", path[:-4] + ".o"]):
                    line += " | %s %5.2f s %4.0f MB" % (flags[0], *seconds_and_memory(path, options.include, flags))
            before = baseline.get(name)
            if before:
                line += f" | {total / before['total'] - 1:+.1%}"
                if total > before["total"] * ALLOWED_GROWTH:
                    faults.append(name)
                    # Templates that are not in the baseline had few instantiations then.
                    grown = {t: n - before["templates"].get(t, 0) for t, n in counts.items()}
                    worst = sorted(grown.items(), key=lambda item: -item[1])[:8]
                    line += "".join(f"\n    {n:+6} {t}" for t, n in worst if n > 0)
            elif not options.update:
                faults.append(name)
                line += " | not in the baseline"
            print(line, flush=True)
    if options.update:
        baseline.update(measured)
        with open(BASELINE, "w", encoding="utf-8") as f:
            json.dump(baseline, f, indent=1, sort_keys=True)
            f.write("\n")
        return 0
    if faults:
        print("more instantiations than the baseline allows:", ", ".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
