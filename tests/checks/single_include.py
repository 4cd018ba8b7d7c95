#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the headers in single_include: headrace.hpp is the umbrella, contracts and all they include as one header,
headrace_passes.hpp what the passes and the standard pipeline add to it, and headrace_toolkit.hpp what the rest of the
toolkit does: patterns, rewriters, interpreters, the pass manager, partitions, memory plans.

    single_include.py            writes them
    single_include.py --check    fails if they are not what would be written
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = ROOT / "include"
FOLDER = ROOT / "single_include"
# The first is the core; the others are written without what that has, and include it.
OUTPUTS = {
    # A contract by `headrace contract` needs no other file.
    "headrace.hpp": (["headrace/headrace.hpp", "headrace/contract/contract.hpp"], "its core in one header"),
    "headrace_passes.hpp": (["headrace/passes/definitions.hpp"], "its passes and standard pipeline in one header"),
}
# Folders whose headers are the toolkit, as far as they need no library but Boost.
TOOLKIT = ["base", "op", "dialect", "ir", "infer", "target", "pass", "match", "memory", "partition"]
LIBRARIES = ("boost/", "range/", "sys/")
INCLUDE = re.compile(r"#\s*include\s*[<\"]([^>\"]+)[>\"]")
ONLY_COMPILED = "#ifdef HEADRACE_COMPILED"
ONLY_HEADERS = "#ifndef HEADRACE_COMPILED"
CONDITION_BEGIN = re.compile(r"#\s*if")
CONDITION_END = re.compile(r"#\s*endif")


def body_of(name):
    """The lines of a header between those of its include guard."""
    lines = (BASE / name).read_text().splitlines()
    guard = re.sub(r"[/.]", "_", name).upper()
    begin = lines.index(f"#define {guard}")
    if lines[begin - 1] != f"#ifndef {guard}":
        raise SystemExit(f"{name}: the include guard is not {guard}")
    end = len(lines) - 1 - lines[::-1].index("#endif")
    return header_only(lines[begin + 1 : end])


def header_only(lines):
    """The lines without what is for programs that link headrace::compiled, as far as that is includes."""
    kept, at = [], 0
    while at != len(lines):
        line = lines[at]
        at += 1
        if line not in (ONLY_COMPILED, ONLY_HEADERS):
            kept.append(line)
            continue
        end = lines.index("#endif", at)
        block, at = lines[at:end], end + 1
        if not any(INCLUDE.match(b) for b in block):
            kept += [line, *block, "#endif"]
        elif line == ONLY_HEADERS:
            kept += block
    return kept


def needs(name, seen=None):
    """The library headers that a header needs, with all that it includes."""
    seen = set() if seen is None else seen
    found = set()
    if name in seen or not (BASE / name).exists():
        return found
    seen.add(name)
    for include in INCLUDE.findall((BASE / name).read_text()):
        if include.startswith("headrace/"):
            found |= needs(include, seen)
        elif not include.startswith(LIBRARIES) and ("/" in include or include.endswith(".h")):
            found.add(include)
    return found


def toolkit():
    """The headers of the toolkit's folders that need Boost alone."""
    def order(path):  # a header that ends with its definition comes before those that the definition includes
        return not path.with_name(path.stem + "_definition.hpp").exists(), path

    names = (str(p.relative_to(BASE)) for folder in TOOLKIT
             for p in sorted((BASE / "headrace" / folder).glob("*.hpp"), key=order))
    optional = {"headrace/op/hana.hpp"}  # Boost.Hana is for those who ask for it
    return [n for n in names if not n.endswith("_definition.hpp") and n not in optional and not needs(n)]


class Amalgamation:
    """`guarded`: headers that another output has as well keep their include guards."""

    def __init__(self, seen, guarded=()):
        self.system, self.text, self.seen, self.guarded = set(), [], seen, guarded

    def add(self, name):
        if name in self.seen:
            return
        self.seen.add(name)
        own, depth, definitions = [], 0, []
        for line in body_of(name):
            depth += bool(CONDITION_BEGIN.match(line)) - bool(CONDITION_END.match(line))
            include = INCLUDE.match(line)
            if include and include[1].endswith("_definition.hpp"):
                definitions.append(include[1])  # after what it defines; own[-1] is its condition
                own.pop()
            elif definitions and line == "#endif" and depth == 0:
                pass
            elif include and include[1].startswith("headrace/"):
                if depth:
                    raise SystemExit(f"{name}: cannot inline what is under a condition: {line}")
                self.add(include[1])
            elif include and depth == 0:
                self.system.add(include[1])
            else:
                own.append(line)  # a foreign include under a condition stays there
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(own)).strip("\n")
        if text and name in self.guarded:
            guard = re.sub(r"[/.]", "_", name).upper()
            text = f"#ifndef {guard}\n#define {guard}\n\n{text}\n\n#endif"
        if text:
            self.text += [f"// ---- {name} ----", "", text, ""]
        for definition in definitions:
            self.add(definition)


def amalgamate():
    """The text of each output."""
    version = re.search(r'#define HEADRACE_VERSION "([^"]+)"', (BASE / "headrace/version.hpp").read_text())[1]
    generator = pathlib.Path(__file__).resolve().relative_to(ROOT)
    outputs = dict(OUTPUTS)
    outputs["headrace_toolkit.hpp"] = (toolkit(), "the rest of its toolkit that needs no library but Boost")
    core, users = set(), []
    for output, (headers, _) in outputs.items():
        seen = set(core)
        for name in headers:
            Amalgamation(seen).add(name)
        if output == "headrace.hpp":
            core = seen
        users.append(seen - core)
    shared = {name for name in set().union(*users) if sum(name in u for u in users) > 1}
    texts = {}
    for output, (headers, what) in outputs.items():
        first = not texts
        whole = Amalgamation(set() if first else set(core), shared)
        for name in headers:
            whole.add(name)
        guard = "HEADRACE_SINGLE_INCLUDE_" + output.replace(".", "_").upper()
        standard = sorted(name for name in whole.system if "/" not in name)
        others = sorted(whole.system - set(standard))
        foreign = [name for name in others if not name.startswith(LIBRARIES)]
        if foreign:
            raise SystemExit(f"{output}: needs more than Boost and range-v3: {', '.join(foreign)}")
        lines = ["// SPDX-License-Identifier: MIT",
                 f"// Headrace {version}, {what}, generated by {generator}: do not edit.",
                 f"#ifndef {guard}", f"#define {guard}", ""]
        lines += [f"#include <{name}>" for name in standard] + [""]
        lines += [f"#include <{name}>" for name in others] + [""] * bool(others)
        lines += ['#include "headrace.hpp"', ""] * (not first)
        texts[output] = "\n".join(lines + whole.text + ["#endif", ""])
    return texts


def main(arguments):
    if arguments not in ([], ["--check"]):
        raise SystemExit(__doc__)
    stale = []
    for name, text in amalgamate().items():
        path = FOLDER / name
        if not arguments:
            FOLDER.mkdir(exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(str(path.relative_to(ROOT)))
    if stale:
        raise SystemExit(f"{', '.join(stale)}: stale, run tests/checks/single_include.py")


if __name__ == "__main__":
    main(sys.argv[1:])
