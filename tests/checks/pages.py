#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the pages for users: README.md, CHANGELOG.md, those of examples/docs, and the list of passes.

Every C++ example is an excerpt of a compiled file: <!-- excerpt: FILE NAME --> precedes its fence, and FILE
has the text between lines that end in [NAME], in one part or several. Every link leads to an existing file and
heading. README.md is short.

    pages.py                             exit status 1 if anything is wrong
    pages.py --write                     updates the excerpts first
    pages.py --compile COMPILER BUILD    compiles the excerpts as they stand, those of one file on a page together
"""

import concurrent.futures
import functools
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "examples" / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "include/headrace/passes/README.md",
    *sorted(DOCS.glob("*.md")),
]
MAX_README_LINES = 130
EXCERPT = re.compile(r"<!-- excerpt: (\S+) (\w+) -->\n(```\w+\n)(.*?)(```)", re.S)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
CODE = re.compile(r"^```.*?^```$|^ {4}.*?$|`[^`\n]*`", re.S | re.M)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*)$", re.M)
# readme.py compares README.md's first example, and compiles the part that must not compile.
COMPARED_ELSEWHERE = {ROOT / "README.md"}
# Its test builds it, with headers that it generates.
COMPILED_ELSEWHERE = {"tests/consumer/models.cpp"}
# Headers that are precompiled, for excerpts that include all of such a group.
PRECOMPILED = [("headrace/infer/aten.hpp", "headrace/pass/pipeline.hpp"), ("headrace/dialect/aten.hpp",)]
INCLUDE = re.compile(r'^#include [<"]([^">]+)[">]', re.M)


def excerpt(file, name):
    """Returns the lines of a file between marks: the parts, each without its indentation, an empty line between."""
    comment = "#" if file.endswith(".txt") else "//"
    text = (ROOT / file).read_text(encoding="utf-8")
    parts = re.split(rf"^ *{comment}!? \[{name}\]\n", text, flags=re.M)
    if len(parts) < 3 or len(parts) % 2 == 0:
        raise LookupError(f"{file} has no pairs of lines that end in [{name}]")
    shown = "\n".join(textwrap.dedent(part).strip("\n") + "\n" for part in parts[1::2])
    return re.sub(rf"^ *{comment}!? \[\w+\]\n", "", shown, flags=re.M)  # marks of others


def with_excerpts(page):
    """Returns the text of a page with up-to-date excerpts."""
    return EXCERPT.sub(
        lambda m: f"<!-- excerpt: {m[1]} {m[2]} -->\n{m[3]}{excerpt(m[1], m[2])}{m[5]}",
        page.read_text(encoding="utf-8"),
    )


def check_examples(page):
    text = page.read_text(encoding="utf-8")
    try:
        current = with_excerpts(page)
    except (LookupError, OSError) as error:
        return [str(error)]
    faults = [] if text == current else ["an excerpt is stale: run tests/checks/pages.py --write"]
    excerpts = {found[4] for found in EXCERPT.finditer(text)}
    for language, code in FENCE.findall(text):
        if language == "cpp" and code not in excerpts and page not in COMPARED_ELSEWHERE:
            faults.append(f"no excerpt of a compiled file: {code.splitlines()[0]}")
    return faults


def anchor(heading):
    """Returns the anchor that GitHub and Doxygen give a heading."""
    plain = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def check_links(page):
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if re.match(r"https?:", target):
            continue
        path, _, part = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists():
            yield f"dead link: {target}"
        elif part and part not in map(anchor, HEADING.findall(there.read_text(encoding="utf-8"))):
            yield f"no such heading: {target}"


def check_reach():
    """Checks that every page is linked from the first one."""
    linked = {target.partition("#")[0] for target in LINK.findall((DOCS / "index.md").read_text(encoding="utf-8"))}
    for page in sorted(DOCS.glob("*.md")):
        if page.name != "index.md" and page.name not in linked:
            yield f"examples/docs/index.md does not link {page.name}"


@functools.cache
def included_by(path):
    """Returns what a file includes in a program that links headrace::compiled."""
    text = path.read_text(encoding="utf-8")
    return INCLUDE.findall(re.sub(r"^#ifndef HEADRACE_COMPILED\n.*?^#endif$", "", text, flags=re.S | re.M))


def all_included(code, folders):
    """Returns the names of all headers that a text includes, directly or not."""
    found, left = set(), INCLUDE.findall(code)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += next((included_by(f / name) for f in folders if (f / name).is_file()), [])
    return found


def precompile(command, place):
    """Returns the files to include before an excerpt, by the headers in them."""
    made = {}
    for headers in PRECOMPILED:
        path = place / f"precompiled_{len(made)}.hpp"
        path.write_text("".join(f"#include <{header}>\n" for header in headers))
        subprocess.run([*command, "-x", "c++-header", path, "-o", f"{path}.gch"], check=True)
        made[headers] = path
    return made


def compile_excerpts(compiler, build):
    """Compiles what a page shows of a file, and yields what is wrong."""
    models = (build / "examples" / "headrace_models").glob("*")  # C++ types that the build generates
    folders = [ROOT / "include", build / "include", ROOT / "examples", *models]
    command = [compiler, "-std=c++20", "-D", "HEADRACE_COMPILED", *(f"-I{folder}" for folder in folders)]
    shown = {}
    for page in PAGES:
        for found in EXCERPT.finditer(page.read_text(encoding="utf-8")):
            if found[3] == "```cpp\n" and found[1] not in COMPILED_ELSEWHERE:
                shown[page, found[1]] = shown.get((page, found[1]), "") + found[4]

    def compiled(item):
        (file, code), page = item
        beside = (ROOT / file).parent
        included = all_included(code, [*folders, beside])
        first = next((["-include", path] for headers, path in precompiled.items() if included.issuperset(headers)), [])
        done = subprocess.run([*command, f"-I{beside}", *first, "-fsyntax-only", "-x", "c++", "-"], input=code,
                              capture_output=True, text=True, check=False)
        return done.returncode and f"{page.relative_to(ROOT)}: the excerpt of {file}:\n{done.stderr[:1500]}"

    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor() as pool:
        precompiled = precompile(command, pathlib.Path(name))
        once = {(file, code): page for (page, file), code in shown.items()}  # two pages may show the same
        yield from filter(None, pool.map(compiled, once.items()))


def main(arguments):
    if "--compile" in arguments:
        faults = list(compile_excerpts(arguments[1], pathlib.Path(arguments[2])))
        print("\n".join(faults) or "the excerpts compile as they stand")
        return 1 if faults else 0
    if "--write" in arguments:
        for page in PAGES:
            page.write_text(with_excerpts(page), encoding="utf-8")
    faults = []
    for page in PAGES:
        found = check_examples(page) + list(check_links(page))
        faults += [f"{page.relative_to(ROOT)}: {fault}" for fault in found]
    faults += check_reach()
    lines = PAGES[0].read_text(encoding="utf-8").count("\n")
    if lines > MAX_README_LINES:
        faults.append(f"README.md has {lines} lines, more than {MAX_README_LINES}")
    print("\n".join(faults) or f"{len(PAGES)} pages are current")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
