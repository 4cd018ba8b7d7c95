#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the single headers: headrace.hpp is the core, the umbrella with contracts, enum arguments, maps of ops,
listings and captures, headrace_passes.hpp what the passes and the standard pipeline add to it, and headrace_toolkit.hpp
what the rest of the toolkit does: patterns, rewriters and interpreters (fx), the pass manager, partitions, memory plans.

    single_include.py FOLDER      writes them into FOLDER: the tests compile what they write into the build folder
    single_include.py --release   writes the copies of single_include/, once for each version
    single_include.py --check     fails if a copy there does not say its version, or one newer than the project's
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = ROOT / "include"
FOLDER = ROOT / "single_include"
# The first is the core; the others are written without what that has, and include it.
OUTPUTS = {
    # Contracts are part of the core, as a contract by `headrace contract` includes no other file; so are enum arguments,
    # `listing` and captures, with which dialects and their passes are written.
    "headrace.hpp": (["headrace/headrace.hpp", "headrace/contract/contract.hpp", "headrace/op/custom.hpp",
                      "headrace/op/op_map.hpp", "headrace/ir/listing.hpp", "headrace/match/node_pattern.hpp"],
                     "its core in one header"),
    "headrace_passes.hpp": (["headrace/passes/passes.hpp", "headrace/passes/layout/remaining_transposes.hpp"],
                            "its passes and standard pipeline in one header"),
}
# Folders whose headers are the toolkit, as far as they need no library but Boost.
TOOLKIT = ["base", "op", "dialect", "ir", "infer", "target", "rewrite", "pass", "match", "memory", "partition", "fx"]
LIBRARIES = ("boost/", "sys/")
INCLUDE = re.compile(r"#\s*include\s*[<\"]([^>\"]+)[>\"]")
ONLY_COMPILED = "#ifdef HEADRACE_COMPILED"
ONLY_HEADERS = ("#ifndef HEADRACE_COMPILED", "#ifdef HEADRACE_DEFINES_PASSES")
CONDITION_BEGIN = re.compile(r"#\s*if")
CONDITION_END = re.compile(r"#\s*endif")
BANNER = re.compile(r"// Headrace (\d+\.\d+\.\d+)( \(commit [0-9a-f]+\))?, .*: do not edit\.")


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
        if line not in (ONLY_COMPILED, *ONLY_HEADERS):
            kept.append(line)
            continue
        end = lines.index("#endif", at)
        block, at = lines[at:end], end + 1
        if not any(INCLUDE.match(b) for b in block):
            kept += [line, *block, "#endif"]
        elif line in ONLY_HEADERS:
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


def project_version():
    return re.search(r'#define HEADRACE_VERSION "([^"]+)"', (BASE / "headrace/version.hpp").read_text())[1]


def amalgamate(origin):
    """The text of each output; `origin` is what it was made from."""
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
            raise SystemExit(f"{output}: needs more than Boost: {', '.join(foreign)}")
        lines = ["// SPDX-License-Identifier: MIT",
                 f"// Headrace {origin}, {what}, written by {generator}: do not edit.",
                 f"#ifndef {guard}", f"#define {guard}", ""]
        lines += [f"#include <{name}>" for name in standard] + [""]
        lines += [f"#include <{name}>" for name in others] + [""] * bool(others)
        lines += ['#include "headrace.hpp"', ""] * (not first)
        texts[output] = "\n".join(lines + whole.text + ["#endif", ""])
    return texts


def write(folder, origin=None):
    """Writes the headers into a folder."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in amalgamate(origin or project_version()).items():
        (folder / name).write_text(text)


def commit():
    """The commit that is checked out, in brackets; nothing where git knows of none."""
    try:
        done = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                              check=False)
    except FileNotFoundError:
        return ""
    return f" (commit {done.stdout.strip()})" if done.returncode == 0 else ""


def numbers(version):
    return [int(part) for part in version.split(".")]


def faults():
    """Yields what is wrong with the copies that are kept."""
    names = {*OUTPUTS, "headrace_toolkit.hpp"}
    for missing in sorted(names - {path.name for path in FOLDER.glob("*.hpp")}):
        yield f"single_include/{missing} is missing: run tests/checks/single_include.py --release"
    for path in sorted(FOLDER.glob("*")):
        banner = BANNER.fullmatch((path.read_text().splitlines() + ["", ""])[1])
        if path.name not in names:
            yield f"single_include/{path.name} is no single header: remove it"
        elif not banner:
            yield f"single_include/{path.name}: the second line must say of which version it is"
        elif numbers(banner[1]) > numbers(project_version()):
            yield f"single_include/{path.name} says {banner[1]}, which is newer than the project's {project_version()}"


def main(arguments):
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    if arguments == ["--check"]:
        found = list(faults())
        print("\n".join(found) or "each single header says its version")
        return 1 if found else 0
    if arguments == ["--release"]:
        write(FOLDER, project_version() + commit())
    elif arguments[0].startswith("-"):
        raise SystemExit(__doc__)
    else:
        write(arguments[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
