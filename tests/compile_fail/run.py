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
import functools
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
        "rewrite_calls_unknown_op", "match_node_with_too_many_operands"),
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
                                                        "field_name_missing", "field_name_too_many",
                                                        "rewrite_calls_misspelt_op", "match_node_of_misspelt_op"),
    "op: an enumeration in args has no enumerator_names": ("rule_of_unnamed_enumeration",),
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
# Declarations that must be in Headrace's namespace, or around it, and headers that define a macro of others otherwise.
APART = re.compile(r"^((namespace|struct|template (class|struct|const op_info)) headrace\b|#include <headrace/on_device/)",
                   re.M)
# The lines before an error that belong to it.
LEADS_TO_ERROR = re.compile(r"^In file included from |^ +from |: In |: +(recursively )?required |: At global scope")
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


def namespaced(cases, suffix):
    """Returns the text of a unit of all these files, each in a namespace, after their includes."""
    includes, bodies = {}, []
    for case in cases:
        lines = read(os.path.join(HERE, case + suffix)).splitlines()
        includes |= dict.fromkeys(line for line in lines if line.startswith("#include"))
        body = "\n".join("" if line.startswith("#include") else line for line in lines)
        bodies.append(f'namespace {case} {{\n#line 1 "{case}{suffix}"\n{body}\n}}\n')
    return "\n".join([*includes, *bodies])


def compile_joined(compiler, cases, suffix, include, flags):
    """Compiles several cases as one unit."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "joined.cpp")
        with open(path, "w", encoding="utf-8") as f:
            f.write(namespaced(cases, suffix))
        return compile_file(compiler, path, include, [*flags, "-iquote", HERE])


def errors_by_case(output, cases):
    """Splits what a compiler says of joined cases: the lines of each case's only error, and None for a case that has
    none or several. The lines that lead to an error are before it, its notes behind it."""
    starts = []
    for at, line in enumerate(output):
        if re.search(r"\berror:", line):
            while at and LEADS_TO_ERROR.search(output[at - 1]):
                at -= 1
            starts.append(at)
    found = dict.fromkeys(cases, None)
    seen, quotes = set(), {}
    for begin, end in zip(starts, [*starts[1:], len(output)]):
        block = [line for line in output[begin:end] if not re.fullmatch(r"\d+ errors? generated\.", line)]
        # g++ does not quote the source again if the last message was of that place.
        at = next(i for i, line in enumerate(block) if re.search(r"\berror:", line))
        place = block[at].partition(" error:")[0]
        quote = list(itertools.takewhile(re.compile(r" +\d* \|").match, block[at + 1:]))
        if quote:
            quotes[place] = quote
        else:
            block[at + 1:at + 1] = quotes.get(place, [])
        named = set(re.findall(r"(\w+)\.cpp:\d", "\n".join(block))).intersection(cases)
        for case in named:
            found[case] = block if len(named) == 1 and case not in seen else None
        seen |= named
    return found


@functools.cache
def included_by(path, include):
    """Returns the headers that a file includes."""
    found = []
    for mark, name in re.findall(r'^#include (["<])([^">]+)[">]', read(path), re.M):
        folders = [os.path.dirname(path)] * (mark == '"') + [os.path.join(HERE, folder) for folder in include]
        found += [p for p in (os.path.realpath(os.path.join(f, name)) for f in folders) if os.path.isfile(p)][:1]
    return found


def depths(case, include):
    """Returns how many files the inclusion of each header goes through in a case."""
    found = {}

    def visit(path, depth):
        for inner in included_by(path, include):
            if inner not in found:
                found[inner] = depth
                visit(inner, depth + 1)

    visit(os.path.join(HERE, case + ".cpp"), 1)
    return found


def as_alone(case, block, depth):
    """Returns what the compiler says of a case alone: without the case's namespace, and with the lines that name a
    header's includers. Joined, others may have included it, and compilers name them only if the last message was of
    another file."""
    out, includers = [], []
    for line in block:
        if re.match(r"In file included from | +from ", line):
            includers.append(line)
            continue
        place = re.match(r"(\S+?):(?:\d+:\d+:|\s*(?:In |\s*required))", line)
        header = place and os.path.realpath(os.path.join(HERE, place[1]))
        if header in depth and (includers or not out):
            out += ["In file included from …"] * depth[header]
        includers = []
        out.append(line.replace(case + "::", ""))
    return out


def check_text(case):
    """Yields the faults of a case that no compiler is needed for."""
    lines, twin = read(os.path.join(HERE, case + ".cpp")).splitlines(), case + ".ok.cpp"
    if not any(line.startswith("// EXPECT: ") for line in lines):
        yield "has no EXPECT line"
    twin_lines = read(os.path.join(HERE, twin)).splitlines()
    differing = sum(a != b for a, b in zip(lines, twin_lines))
    if len(lines) != len(twin_lines) or differing != 1:
        yield f"{twin} must differ in exactly one line, not in {differing}"


def check_output(compiler, case, output):
    """Yields the faults of what a compiler says of a case."""
    text = read(os.path.join(HERE, case + ".cpp"))
    shown = "".join("\n    " + line for line in output[:30])
    errors = [line for line in output if re.search(r"\berror:", line)]
    if len(errors) != 1:
        yield f"gives {len(errors)} errors{shown}"
    own = dict(re.findall(r"^// LINES: (\S+) (\d+)$", text, re.M))
    limit = int(own.get("clang++" if "clang" in compiler else "g++", MAX_LINES))
    if len(output) > limit:
        yield f"gives {len(output)} lines, more than {limit}{shown}"
    # Source lines that the compiler quotes do not count: the text must be in its own messages.
    said = [re.sub(r"\s*>", ">", line) for line in output if re.search(r"\b(error|note):", line)]
    for want in re.findall(r"^// EXPECT: (.*)$", text, re.M):
        if not any(re.sub(r"\s*>", ">", want) in line for line in said):
            yield f"does not say '{want}'{shown}"


def check_case(compiler, case, include):
    """Yields the faults of a case, compiled alone."""
    status, output = compile_file(compiler, case + ".cpp", include, [])
    if status == 0:
        yield "compiles"
    else:
        yield from check_output(compiler, case, output)


def cases_to_check(compiler, cases, include):
    """Returns the cases that must be compiled alone: those that cannot be joined, and those for which the compiler does
    not say what it must when they are joined. Parsing the headers once for all others saves minutes."""
    together = [case for case in cases if not APART.search(read(os.path.join(HERE, case + ".cpp")))]
    flags = ["-ferror-limit=0"] if "clang" in compiler else []
    _, output = compile_joined(compiler, together, ".cpp", include, flags)
    found = errors_by_case(output, together)
    # clang ends with a line that counts the errors.
    last = ["1 error generated."] if "clang" in compiler else []
    good = {case for case, block in found.items() if block and
            not any(check_output(compiler, case, as_alone(case, block, depths(case, include)) + last))}
    return [case for case in cases if case not in good]


def check_twin(compiler, case, include):
    """Yields the faults of the twin of a case."""
    status, output = compile_file(compiler, case + ".ok.cpp", include, WARNINGS)
    if status != 0 or output:
        yield "the twin does not compile cleanly" + "".join("\n    " + line for line in output[:12])


def twins_to_check(compiler, cases, include):
    """Returns the cases whose twins must be compiled alone. Parsing the headers once for all others saves
    minutes."""
    alone = [case for case in cases if APART.search(read(os.path.join(HERE, case + ".ok.cpp")))]
    together = [case for case in cases if case not in alone]
    while together:
        status, output = compile_joined(compiler, together, ".ok.cpp", include, WARNINGS)
        if status == 0 and not output:
            break
        named = set(re.findall(r"(\w+)\.ok\.cpp", "\n".join(output)))
        faulty = [case for case in together if case in named] or together
        alone += faulty
        together = [case for case in together if case not in faulty]
    return alone


def named_messages(include):
    """Returns the messages that several static_asserts share, by the names of their macros."""
    headers = ("op/no_fault.hpp", "rewrite/messages.hpp")
    text = "".join(read(os.path.join(include, "headrace", header)) for header in headers).replace("\\\n", "")
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
    include = tuple(os.path.relpath(folder, HERE) for folder in (options.include, options.generated))

    cases = sorted(n[:-4] for n in os.listdir(HERE) if n.endswith(".cpp") and not n.endswith(".ok.cpp"))
    faults = [f"messages: {fault}" for fault in check_messages(options.include, cases)]
    chosen = [case for case in cases if not options.only or options.only in case]
    faults += [f"{case}: {fault}" for case in chosen for fault in check_text(case)]

    def faults_of(check, one):
        case, compiler = one
        return [f"{case} with {compiler}: {fault}" for fault in check(compiler, case, include)]

    def chosen_by(to_check, pool):
        """The cases that to_check chooses, with their compilers."""
        found = pool.map(lambda c: [(case, c) for case in to_check(c, chosen, include)], options.compilers)
        return itertools.chain(*found)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda one: faults_of(check_case, one), chosen_by(cases_to_check, pool)))
        found += pool.map(lambda one: faults_of(check_twin, one), chosen_by(twins_to_check, pool))
    faults += itertools.chain(*found)
    for fault in faults:
        print(fault)
    print(f"{len(cases)} cases, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
