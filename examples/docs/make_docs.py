#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the documentation to OUT/html: the pages of this folder, tables of all ops, and the API by topics, one for
each folder of include/headrace. Then it follows every link.

    make_docs.py DOXYGEN VERSION OUT
"""

import html
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

import op_tables

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADERS = ROOT / "include" / "headrace"
PASSES = HEADERS / "passes" / "README.md"
OTHER_PAGES = {ROOT / "README.md": "readme", ROOT / "CHANGELOG.md": "changes", PASSES: "list_of_passes"}
# Ops are in tables; the rules and kernels of single ops are not public.
LEFT_OUT = ["compiled/*", "dialect/*", "*_generated.hpp", "*_definition.hpp", "infer/aten/*", "infer/aten_definition.hpp", "infer/tosa*",
            "eval/aten/*", "eval/cortex_m/*", "eval/tosa/*", "passes/device/*", "firmware/*"]
# The headers of on_device/ that a firmware's own code names; the others are kernels of single ops and their parts.
ON_DEVICE = {"core", "convolution", "memory_plan", "model", "scale", "tensor"}
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
FOLDER = re.compile(r"^\| `(\w+)/` \| (.*) \|$", re.M)
NAMESPACE = re.compile(r"^namespace (headrace(?:::\w+)?) \{$(.*?)^\}  // namespace \1$", re.M | re.S)
MAX_MEGABYTES = 12
INDEXES = ("concepts", "functions", "namespacemembers", "annotated", "hierarchy", "classes")


def label(path):
    """What Doxygen knows a page by."""
    return OTHER_PAGES.get(path) or f"page_{path.stem}"


class Pages:
    """The Markdown pages as Doxygen takes them."""

    def __init__(self, folder, sources):
        self.folder, self.sources = folder, sources

    def link(self, text, target, page):
        if re.match(r"https?:|#", target):
            return f"[{text}]({target})" if target.startswith("http") else text
        path = (page.parent / target.partition("#")[0]).resolve()
        if path.suffix == ".md":
            return f'@ref {label(path)} "{text.replace("`", "")}"'
        if not path.is_file():
            return text
        if path.suffix in (".png", ".svg"):
            shutil.copyfile(path, self.sources.parent / path.name)
            return f"[{text}]({path.name})"
        copy = self.sources / (str(path.relative_to(ROOT)).replace("/", "_") + ".txt")
        shutil.copyfile(path, copy)
        return f"[{text}]({self.sources.name}/{copy.name})"

    def prose(self, text, page):
        """What stands outside of code: links by label, and names of the library as links into the API."""
        text = LINK.sub(lambda m: self.link(m[1], m[2], page), text)
        return re.sub(r"`(headrace::\w+(?:::\w+)*)`", r"\1", text)

    def add(self, page):
        text = re.sub(r"<!--.*?-->\n?", "", page.read_text(encoding="utf-8"), flags=re.S)
        text = re.sub(r"^# (.*?)(?: \{#\w+\})?$", rf"# \1 {{#{label(page)}}}", text, count=1, flags=re.M)
        parts = re.split(r"(^```.*?^```$|^ {4}.*?$)", text, flags=re.S | re.M)
        parts[::2] = [self.prose(part, page) for part in parts[::2]]
        (self.folder / f"{label(page)}.md").write_text("".join(parts), encoding="utf-8")


def add_ops(folder):
    index = ["# Tables of ops {#ops}", "", "| | |", "| --- | --- |"]
    for dialect, (title, text) in op_tables.tables().items():
        (folder / f"ops_{dialect}.md").write_text(f"# {title} {{#ops_{dialect}}}\n\n{text}", encoding="utf-8")
        index.append(f'| @subpage ops_{dialect} "{title}" | {text.split(",", 1)[0]} |')
    (folder / "ops.md").write_text("\n".join(index) + "\n", encoding="utf-8")


def add_headers(folder):
    """Copies of the headers in which what a folder has belongs to the folder's topic."""
    used = set()
    topics = dict(FOLDER.findall((HERE / "architecture.md").read_text(encoding="utf-8")))
    for header in sorted(HEADERS.rglob("*.hpp")):
        inside = header.relative_to(HEADERS)
        is_kernel = inside.parts[0] == "on_device" and inside.stem not in ON_DEVICE
        if is_kernel or any(inside.match(pattern) for pattern in LEFT_OUT):
            continue
        text = header.read_text(encoding="utf-8")
        topic = inside.parts[0]
        if topic in topics:
            used.add(topic)
            text = NAMESPACE.sub(
                lambda m: f"namespace {m[1]} {{ /** @addtogroup topic_{topic} */ /** @{{ */{m[2]}" "/** @} */ }", text
            )
        copy = folder / "headrace" / inside
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
    lines = [
        f"/** @defgroup topic_{name} {name}: {text.split(';')[0].replace('`', '')}\n * {text} */"
        for name, text in topics.items()
        if name in used
    ]
    (folder / "headrace" / "topics.dox").write_text("\n".join(lines) + "\n", encoding="utf-8")


def drop_links(page, link):
    """Doxygen's indexes list a few members that it gives no place: what is left is the name."""
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(rf'<a [^>]*href="{re.escape(link)}"[^>]*>(.*?)</a>', r"\1", text), encoding="utf-8")


def dead_links(folder):
    """Links to a file, or a place in one, that is not there."""
    anchors, links = {}, []
    for page in sorted(folder.rglob("*.html")):
        text = page.read_text(encoding="utf-8", errors="replace")
        anchors[page] = set(re.findall(r'\b(?:id|name)="([^"]*)"', text))
        links += [(page, html.unescape(found)) for found in re.findall(r'\b(?:href|src)="([^"]*)"', text)]
    for page, link in sorted(set(links)):
        if re.match(r"https?:|javascript:|mailto:|data:", link) or "$relpath" in link:
            continue
        path, _, anchor = link.partition("#")
        there = (page.parent / urllib.parse.unquote(path)).resolve() if path else page
        is_dead = not there.exists() or (
            anchor and there in anchors and urllib.parse.unquote(anchor) not in anchors[there]
        )
        if is_dead and page.name.startswith(INDEXES):
            drop_links(page, link)
        elif not there.exists():
            yield f"{page.name}: dead link: {link}"
        elif is_dead:
            yield f"{page.name}: no such place: {link}"


def main(doxygen, version, out):
    out = pathlib.Path(out).resolve()
    shutil.rmtree(out, ignore_errors=True)
    stage, result = out / "stage", out / "html"
    sources = result / "sources"
    for folder in (stage / "pages", sources):
        folder.mkdir(parents=True)
    pages = Pages(stage / "pages", sources)
    for page in [*sorted(HERE.glob("*.md")), *OTHER_PAGES]:
        pages.add(page)
    add_ops(stage / "pages")
    add_headers(stage)
    settings = (HERE / "Doxyfile").read_text(encoding="utf-8") + f"""
PROJECT_NUMBER = {version}
INPUT = "{stage}"
STRIP_FROM_PATH = "{stage}" "{stage / 'pages'}"
STRIP_FROM_INC_PATH = "{stage}"
USE_MDFILE_AS_MAINPAGE = "{stage / 'pages' / 'page_index.md'}"
OUTPUT_DIRECTORY = "{out}"
"""
    done = subprocess.run([doxygen, "-"], input=settings, text=True, cwd=ROOT, check=False)
    if done.returncode:
        return done.returncode
    shutil.rmtree(stage)
    files = [path for path in result.rglob("*") if path.is_file()]
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    faults = list(dead_links(result))
    if megabytes > MAX_MEGABYTES:
        faults.append(f"{megabytes:.1f} MB are more than {MAX_MEGABYTES}")
    print(
        "\n".join(faults[:40] + [f"{len(files)} files, {megabytes:.1f} MB, {len(faults)} faults: {result}/index.html"])
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
