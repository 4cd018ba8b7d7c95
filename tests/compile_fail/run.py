#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that mistakes do not compile, and that the compiler reports them in a few lines.

Each case is `<what_is_wrong>.cpp` with lines `// EXPECT: text`, and `<what_is_wrong>.ok.cpp`, which differs
in exactly one line and must compile without a warning. With each given compiler, a case must fail with one
`error:` line and at most eight lines in all, or as many as `// LINES: COMPILER NUMBER` allows for a
compiler's own error; every text must be on an error line or a note. Every static_assert in the folders of
include/headrace that ASSERTING names must have a message `<entity>: <what is wrong>; <how to fix>`; those in
MANDATED must have a case.

    run.py [--include DIR] [--generated DIR] [--only NAME] g++ clang++-16

DIR of --generated is the include folder of a build, which has passes/declared_passes.hpp: build/include.
"""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FLAGS = ["-std=c++20", "-fsyntax-only", "-fdiagnostics-color=never"]
# Users of the headers alone and of headrace::compiled read the same errors: each compiler covers one of the
# two.
MODES = {"g++": [], "clang++": ["-DHEADRACE_COMPILED"]}
# Many cases include just these two. Compiled once, they leave a quarter of the time to the case.
COMMON = ('#include <headrace/pass/pipeline.hpp>', '#include "../support/toy.hpp"')
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
MAX_LINES = 8
MAX_MESSAGE = 120
MESSAGE = re.compile(r"[a-z_]+: [^A-Z].*; .*[^.]")
MANDATED = {
    "pipeline: an op can survive it": ("op_survives", "ops_survive", "op_survives_untargeted", "op_survives_aten"),
    "pass: a target has no handler": ("target_without_handler", "target_without_handler_aten"),
    "emit: op is not in the pass's `produces`": ("emission_not_produced",),
    "emit: a called function emits an op that is not in `produces`": ("called_function_emits_more",),
    "pipeline: a required order is violated": ("required_before_violated", "required_after_violated",
                                               "standard_passes_swapped"),
    "pipeline: a required pass is not in the list": ("dependency_missing", "property_missing_at_end"),
    "pipeline: a property no longer holds": ("property_invalidated",),
    "pipeline: a pass runs before ops are gone": ("pass_before_ops_are_gone",),
    "pass: a type is not one": ("struct_is_no_pass", "lambda_is_no_pass"),
    "pass: it is only declared": ("pass_only_declared",),
    "pass: a handler is not const": ("handler_not_const",),
    "pass: a handler has the wrong parameters": ("handler_takes_something_else",),
    "pass: it has handlers but no targets": ("handlers_without_targets", "applied_without_targets"),
    "emit: an op has no infer_results": ("emission_without_inference", "rewrite_without_inference",
                                         "renamed_op_without_inference", "replacement_without_inference"),
    "rule: a call or a pattern's node does not fit its op": (
        "rewrite_argument_of_wrong_type", "rewrite_with_too_many_arguments", "rewrite_with_too_few_arguments",
        "rewrite_calls_unknown_op", "rewrite_calls_misspelt_op", "match_node_with_too_many_operands"),
    "rule: it does not return a value for each result": (
        "rule_without_return", "rule_returns_metadata", "rule_gives_one_of_two_results",
        "rule_chooses_no_expression", "code_returns_metadata"),
    "rule: its callable does not take the operands": ("rule_takes_other_operands",),
    "pass: rewrites() gives no rules": ("rewrites_without_return", "rewrites_not_static"),
    "pass: one of its lists is none": ("list_names_an_op", "list_names_a_property"),
    "rule: it is for something that is not an op": ("rule_of_a_dialect",),
    "rule: its callable has captures": ("rule_with_captures", "code_with_captures"),
    "rule: its code has other parameters": ("code_without_emitter",),
    "rule: its code emits an op that is not in its list": ("code_emits_more",),
    "match: its pattern is no node of an op": ("match_pattern_is_no_node",),
    "pipeline: a pass is listed twice": ("pass_listed_twice",),
    "pipeline: an edit names a pass that is not in it": ("insertion_next_to_missing_pass",),
    "dialect: two ops have the same name": ("ops_share_a_name",),
    "pass: a handler's result cannot replace a node": ("handler_result_not_a_value",),
    "op: args must be trivially copyable": ("args_not_trivial",),
    "op: not in its dialect's list": ("op_not_in_dialect", "emitted_op_not_in_dialect"),
    "op: its field names are not the members of args": ("field_names_swapped", "field_name_misspelt",
                                                        "field_name_missing", "field_name_too_many"),
    "op: a variant's fields differ from its base's": ("variant_with_other_fields",),
    "convert_args: the ops' fields differ": ("converted_to_other_fields",),
    "op: a member of args has a type that no argument can have": ("argument_type_unknown",),
    "emit: an op does not have such members": ("emitted_members_do_not_fit",),
    "dialect: its list holds something that is not an op": ("dialect_lists_no_op",),
    "annotation: must be trivially copyable": ("annotation_not_trivial",),
    "pattern: it calls something that is not an op": ("pattern_calls_unknown_op",),
    "pattern: a call has too many or too few arguments": ("pattern_call_of_wrong_arity",),
    "pattern: an op does not take such an argument": ("pattern_argument_of_wrong_kind",),
    "pattern: a placeholder is not used": ("pattern_placeholder_unused",),
    "pattern: it returns something that no call makes": ("pattern_returns_no_call",),
    "pattern: its expression is ill-formed": ("pattern_pass_placeholder_unused",
                                           "pattern_replaced_with_unused_placeholder"),
    "match: the pattern has no node of that name": (
        "match_names_missing_node", "match_misspells_sole_use", "match_misspells_optional_node"),
    "replacement: its expression is ill-formed": ("pattern_pass_replacement_of_wrong_arity",),
    "replacement: it is not an expression and emits nothing": ("pattern_pass_without_replacement",),
    "replacement: its inputs or outputs differ from the pattern's": ("pattern_pass_replacement_does_not_fit",),
    "export_pass: a target has no call_operator": ("interpreter_target_without_hook",),
    "export_pass: nothing would call its call_operator": ("interpreter_without_targets",),
    "target: this is not a target": ("target_not_understood",),
    "pass_registry: a pass in the list cannot be default-constructed": ("registry_of_pass_with_arguments",),
}
# Declarations that must be in Headrace's namespace, or around it.
OF_HEADRACE = re.compile(r"^(namespace|struct|template (class|struct|const op_info)) headrace\b", re.M)
# The folders whose headers assert what users can get wrong.
ASSERTING = ("op", "ir", "infer", "target", "rewrite", "pass", "match", "partition", "fx", "contract")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def mode_of(compiler):
    return MODES["clang++" if "clang" in compiler else "g++"]


def compile_file(compiler, path, include, flags):
    folders = [argument for folder in include for argument in ("-I", folder)]
    done = subprocess.run([compiler, *FLAGS, *mode_of(compiler), *flags, *folders, path],
                          capture_output=True, text=True, cwd=HERE, env={**os.environ, "LC_ALL": "C"})
    return done.returncode, done.stderr.splitlines()


def precompile(compiler, include, folder):
    """Precompiles COMMON; returns the options that use it."""
    header = os.path.join(folder, f"{os.path.basename(compiler)}.hpp")
    with open(header, "w", encoding="utf-8") as f:
        f.write("\n".join(COMMON) + "\n")
    folders = [argument for place in [*include, "."] for argument in ("-I", place)]
    flags = [flag for flag in FLAGS if flag != "-fsyntax-only"]
    subprocess.run([compiler, *flags, *mode_of(compiler), *folders, "-x", "c++-header", header, "-o", header + ".gch"],
                   check=True, cwd=HERE)
    return ["-include-pch", header + ".gch"] if "clang" in compiler else ["-include", header]


def compile_case(compiler, case, text, include, common):
    """Compiles a case; returns the status and the lines that the compiler writes for one that includes as it stands."""
    uses = common and tuple(line for line in text.splitlines() if line.startswith("#include")) == COMMON
    status, output = compile_file(compiler, case + ".cpp", include, common if uses else [])
    if uses and "clang" in compiler:  # it names the precompiled header and who includes that
        output = [line for line in output if not re.search(r"included from \S*/clang\S*\.hpp:\d+:$", line)]
    return status, output


def check_case(compiler, case, include, common=()):
    """Yields the faults of a case."""
    text = read(os.path.join(HERE, case + ".cpp"))
    expected = re.findall(r"^// EXPECT: (.*)$", text, re.M)
    twin = case + ".ok.cpp"
    if not expected:
        yield "has no EXPECT line"
    lines, twin_lines = text.splitlines(), read(os.path.join(HERE, twin)).splitlines()
    differing = sum(a != b for a, b in zip(lines, twin_lines))
    if len(lines) != len(twin_lines) or differing != 1:
        yield f"{twin} must differ in exactly one line, not in {differing}"

    status, output = compile_case(compiler, case, text, include, common)
    shown = "".join("\n    " + line for line in output[:30])
    errors = [line for line in output if re.search(r"\berror:", line)]
    if status == 0:
        yield "compiles"
        return
    if len(errors) != 1:
        yield f"gives {len(errors)} errors{shown}"
    own = dict(re.findall(r"^// LINES: (\S+) (\d+)$", text, re.M))
    limit = int(own.get("clang++" if "clang" in compiler else "g++", MAX_LINES))
    if len(output) > limit:
        yield f"gives {len(output)} lines, more than {limit}{shown}"
    # Source lines that the compiler quotes do not count: the text must be in its own messages.
    said = [re.sub(r"\s*>", ">", line) for line in output if re.search(r"\b(error|note):", line)]
    for want in expected:
        if not any(re.sub(r"\s*>", ">", want) in line for line in said):
            yield f"does not say '{want}'{shown}"


def check_twin(compiler, case, include):
    """Yields the faults of the twin of a case."""
    status, output = compile_file(compiler, case + ".ok.cpp", include, WARNINGS)
    if status != 0 or output:
        yield "the twin does not compile cleanly" + "".join("\n    " + line for line in output[:12])


def join_twins(cases, path):
    """Writes a file of all these twins, each in a namespace, after their includes."""
    includes, bodies = {}, []
    for case in cases:
        lines = read(os.path.join(HERE, case + ".ok.cpp")).splitlines()
        includes |= dict.fromkeys(line for line in lines if line.startswith("#include"))
        body = "\n".join("" if line.startswith("#include") else line for line in lines)
        bodies.append(f'namespace {case} {{\n#line 1 "{case}.ok.cpp"\n{body}\n}}\n')
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join([*includes, *bodies]))


def twins_to_check(compiler, cases, include):
    """Returns the cases whose twins must be compiled alone. Parsing the headers once for all others saves
    minutes."""
    alone = [case for case in cases if OF_HEADRACE.search(read(os.path.join(HERE, case + ".ok.cpp")))]
    together = [case for case in cases if case not in alone]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "twins.cpp")
        while together:
            join_twins(together, path)
            status, output = compile_file(compiler, path, include, [*WARNINGS, "-iquote", HERE])
            if status == 0 and not output:
                break
            named = set(re.findall(r"(\w+)\.ok\.cpp", "\n".join(output)))
            faulty = [case for case in together if case in named] or together
            alone += faulty
            together = [case for case in together if case not in faulty]
    return alone


def named_messages(include):
    """Returns the messages that several static_asserts share, by the names of their macros."""
    text = read(os.path.join(include, "headrace/rewrite/messages.hpp")).replace("\\\n", "")
    return {name: "".join(re.findall(r'"([^"]*)"', said)) for name, said in re.findall(r'#define (\w+) +(".*")', text)}


def check_messages(include, cases):
    """Yields the faults of the messages of static_asserts."""
    messages, named = [], named_messages(include)
    for folder in ASSERTING:
        path = pathlib.Path(include, "headrace", folder)
        for header in sorted(path.rglob("*.hpp")):
            name = header.relative_to(path)
            text = re.sub(r"//[^\n]*", "", read(header))
            for found in re.finditer(r"\bstatic_assert\s*\(", text):
                depth, end = 1, found.end()
                while depth:
                    depth += {"(": 1, ")": -1}.get(text[end], 0)
                    end += 1
                said = re.search(r',\s*((?:"[^"]*"\s*)+|HEADRACE_\w+)\)$', text[found.start():end])
                message = said[1] if said else ""
                message = named.get(message, "".join(re.findall(r'"([^"]*)"', message)))
                messages.append(message)
                if not MESSAGE.fullmatch(message):
                    yield f"{folder}/{name}: message must be '<entity>: <what is wrong>; <how to fix>': '{message}'"
                if len(message) > MAX_MESSAGE:
                    yield f"{folder}/{name}: message has {len(message)} characters: '{message}'"
    expectations = {c: read(os.path.join(HERE, c + ".cpp")) for c in cases}
    for mandated, wanted in MANDATED.items():
        if not any(m.startswith(mandated) for m in messages):
            yield f"no static_assert says '{mandated}'"
        for case in wanted:
            if f"// EXPECT: {mandated}" not in expectations.get(case, ""):
                yield f"{case}.cpp must expect '{mandated}'"
    for message in sorted(set(messages)):
        if not any(f"// EXPECT: {message.split(';')[0]}" in text for text in expectations.values()):
            print(f"note: no case for '{message}'")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compilers", nargs="*", default=["g++", "clang++-16"])
    parser.add_argument("--include", default=os.path.join(ROOT, "include"))
    parser.add_argument("--generated", default=os.path.join(ROOT, "build", "include"))
    parser.add_argument("--only", help="a part of the names of the cases to check")
    options = parser.parse_args()
    # Short paths, as in a user's build.
    include = [os.path.relpath(folder, HERE) for folder in (options.include, options.generated)]

    cases = sorted(n[:-4] for n in os.listdir(HERE) if n.endswith(".cpp") and not n.endswith(".ok.cpp"))
    faults = [f"messages: {fault}" for fault in check_messages(options.include, cases)]
    chosen = [case for case in cases if not options.only or options.only in case]
    wanted = [(case, compiler) for case in chosen for compiler in options.compilers]

    def faults_of(check, one, *more):
        case, compiler = one
        return [f"{case} with {compiler}: {fault}" for fault in check(compiler, case, include, *more)]

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        common = dict(zip(options.compilers, pool.map(lambda c: precompile(c, include, folder), options.compilers)))
        alone = pool.map(lambda c: [(case, c) for case in twins_to_check(c, chosen, include)], options.compilers)
        found = list(pool.map(lambda one: faults_of(check_case, one, common[one[1]]), wanted))
        found += pool.map(lambda one: faults_of(check_twin, one), itertools.chain(*alone))
    faults += itertools.chain(*found)
    for fault in faults:
        print(fault)
    print(f"{len(cases)} cases, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
