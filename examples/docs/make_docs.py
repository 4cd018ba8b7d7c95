#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the documentation to OUT/html: the pages of this folder and tables of all ops by mkdocs, and beside them,
in api/, the API by Doxygen: a topic for each folder of include/headrace. Dead links are errors.

    make_docs.py DOXYGEN VERSION VENV OUT     exit status 77 if VENV lacks mkdocs and PyPI cannot be reached
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import op_tables

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEADERS = ROOT / "include" / "headrace"
REQUIREMENTS = HERE / "requirements.txt"
OTHER_PAGES = {
    ROOT / "README.md": "readme.md",
    ROOT / "CHANGELOG.md": "changes.md",
    HEADERS / "passes" / "README.md": "list_of_passes.md",
}
# Ops are in tables; the rules and kernels of single ops are not public.
LEFT_OUT = ["compiled/*", "dialect/*", "*_generated.hpp", "*_definition.hpp", "infer/aten/*", "infer/tosa*",
            "eval/aten/*", "eval/cortex_m/*", "eval/tosa/*", "passes/device/*", "firmware/*"]
# The headers of on_device/ that a firmware's own code names; the others are kernels of single ops and their parts.
ON_DEVICE = {"core", "convolution", "memory_plan", "model", "scale", "tensor"}
CODE = re.compile(r"(^```.*?^```$|^ {4}.*?$)", re.S | re.M)
LINK = re.compile(r"(?<=\])\(([^)\s]+)\)")
API_NAME = re.compile(r"(?<!\[)`(headrace::[\w:]+)`")
FOLDER = re.compile(r"^\| `(\w+)/` \| (.*) \|$", re.M)
NAMESPACE = re.compile(r"^namespace (headrace(?:::\w+)?) \{$(.*?)^\}  // namespace \1$", re.M | re.S)
LANGUAGES = {".hpp": "cpp", ".h": "cpp", ".cpp": "cpp", ".py": "python", ".cmake": "cmake", ".sh": "sh"}
SKIPPED = 77
MAX_MEGABYTES = 32


def mkdocs(venv):
    """Returns mkdocs of an environment that has the pinned versions, which is made if it is missing."""
    program, installed = venv / "bin" / "mkdocs", venv / "requirements.txt"
    if program.exists() and installed.exists() and installed.read_bytes() == REQUIREMENTS.read_bytes():
        return program
    pip = [venv / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", REQUIREMENTS]
    for command in ([sys.executable, "-m", "venv", venv], pip):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print((done.stdout + done.stderr).strip()[-600:])
            print(f"{venv} cannot be made: it needs Python's module venv (Debian: python3-venv), and PyPI for "
                  f"{REQUIREMENTS}")
            sys.exit(SKIPPED)
    shutil.copyfile(REQUIREMENTS, installed)
    return program


class Pages:
    """The Markdown pages as mkdocs takes them: in one folder, with links to each other, to the API and to copies of
    sources."""

    def __init__(self, folder, names):
        self.folder, self.names = folder, names

    def link(self, target, page):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve()
        if not path or re.match(r"https?:", target) or not there.exists():
            return f"({target})"
        if there in OTHER_PAGES or there.suffix == ".md":
            return f"({OTHER_PAGES.get(there, there.name)}{'#' + anchor if anchor else ''})"
        if there.suffix == ".png":
            shutil.copyfile(there, self.folder / there.name)
            return f"({there.name})"
        return f"({self.source(there)})"

    def source(self, path):
        """Makes a page of a source, or of a folder's listing, and returns its name."""
        shown = path.relative_to(ROOT)
        if path.is_file():
            text = path.read_text(encoding="utf-8").strip()
        else:
            files = [p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
            text = "\n".join(sorted(str(p.relative_to(path)) for p in files))
        name = f"sources/{str(shown).replace('/', '_')}.md"
        page = self.folder / name
        page.parent.mkdir(exist_ok=True)
        head = f"---\nsearch: {{exclude: true}}\nhide: [toc]\n---\n# {shown}\n\n"
        language = LANGUAGES.get(path.suffix, "text")
        page.write_text(f"{head}~~~~{language}\n{text}\n~~~~\n", encoding="utf-8")
        return name

    def prose(self, text, page):
        """Returns what stands outside of code: links, and names of the library as links into the API."""
        text = LINK.sub(lambda m: self.link(m[1], page), text)
        text = API_NAME.sub(lambda m: f"[{m[0]}]({self.names[m[1]]})" if m[1] in self.names else m[0], text)
        return re.sub(r"^(?![-\s|])(.+)\n(?=- )", r"\1\n\n", text, flags=re.M)  # a list begins after an empty line

    def add(self, page):
        text = re.sub(r"<!--.*?-->\n?", "", page.read_text(encoding="utf-8"), flags=re.S)
        parts = CODE.split(text)
        parts[::2] = [self.prose(part, page) for part in parts[::2]]
        head = "---\nsearch: {boost: 0.3}\n---\n" if page.name == "CHANGELOG.md" else ""
        (self.folder / OTHER_PAGES.get(page, page.name)).write_text(head + "".join(parts), encoding="utf-8")


def add_ops(folder):
    index = ["# Ops of each dialect", "", "| | |", "| --- | --- |"]
    for dialect, (title, text) in op_tables.tables().items():
        (folder / f"ops_{dialect}.md").write_text(f"# {title}\n\n{text}", encoding="utf-8")
        index.append(f"| [{title}](ops_{dialect}.md) | {text.split(',', 1)[0]} |")
    (folder / "ops.md").write_text("\n".join(index) + "\n", encoding="utf-8")


def topics():
    """Returns folder to description, of those that the API has."""
    found = dict(FOLDER.findall((HERE / "architecture.md").read_text(encoding="utf-8")))
    return {name: text for name, text in found.items() if any(map(is_public, (HEADERS / name).rglob("*.hpp")))}


def is_public(header):
    inside = header.relative_to(HEADERS)
    is_kernel = inside.parts[0] == "on_device" and inside.stem not in ON_DEVICE
    return not is_kernel and not any(inside.match(pattern) for pattern in LEFT_OUT)


def write_api(doxygen, version, stage, api):
    """Writes the API to a folder, and returns its names with their places. In the copies of the headers that Doxygen
    reads, what a folder has belongs to the folder's topic."""
    stage.mkdir()
    groups = topics()
    for header in filter(is_public, HEADERS.rglob("*.hpp")):
        text = header.read_text(encoding="utf-8")
        topic = header.relative_to(HEADERS).parts[0]
        if topic in groups:
            begin, end = f"/** @addtogroup topic_{topic} */ /** @{{ */", "/** @} */ }"
            text = NAMESPACE.sub(lambda m: f"namespace {m[1]} {{ {begin}{m[2]}{end}", text)
        copy = stage / header.relative_to(HEADERS.parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
    lines = ["/** @mainpage", "The library by topics, one for each folder of include/headrace:"]
    lines += [f"- @ref topic_{name}" for name in groups] + ["*/"]
    for name, text in groups.items():
        title = text.split(";")[0].replace("`", "")
        lines.append(f"/** @defgroup topic_{name} {name}: {title}\n * {text} */")
    (stage / "topics.dox").write_text("\n".join(lines) + "\n", encoding="utf-8")
    names = stage / "names.xml"
    settings = (HERE / "Doxyfile").read_text(encoding="utf-8") + f"""
PROJECT_NUMBER = {version}
INPUT = "{stage}"
STRIP_FROM_PATH = "{stage}"
STRIP_FROM_INC_PATH = "{stage}"
OUTPUT_DIRECTORY = "{api.parent}"
HTML_OUTPUT = {api.name}
GENERATE_TAGFILE = "{names}"
HTML_EXTRA_STYLESHEET = "{HERE / 'api.css'}"
LAYOUT_FILE = "{HERE / 'api_layout.xml'}"
"""
    done = subprocess.run([doxygen, "-"], input=settings, text=True, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return dict(places(xml.etree.ElementTree.parse(names)))


def places(tags):
    """Yields qualified name and page of what Doxygen's list of names has."""
    for compound in tags.iter("compound"):
        scope, page = compound.findtext("name"), compound.findtext("filename")
        if compound.get("kind") in ("struct", "class", "concept"):
            yield scope, f"api/{page}"
        for member in compound.iter("member"):
            file = member.findtext("anchorfile")
            if file and compound.get("kind") == "namespace":
                yield f"{scope}::{member.findtext('name')}", f"api/{file}#{member.findtext('anchor')}"


def write_index_of_api(folder):
    lines = ["# C++ API", "", "Doxygen's pages, by the folders of `include/headrace`", "([how they build on each "
             "other](architecture.md#folders)).", "", "| topic | |", "| --- | --- |"]
    for name, text in topics().items():
        lines.append(f"| [{name}/](api/group__topic__{name.replace('_', '__')}.html) | {text} |")
    (folder / "api.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(doxygen, version, venv, out):
    program = mkdocs(pathlib.Path(venv).resolve())
    out = pathlib.Path(out).resolve()
    shutil.rmtree(out, ignore_errors=True)
    folder, result = out / "pages", out / "html"
    folder.mkdir(parents=True)
    pages = Pages(folder, write_api(doxygen, version, out / "headers", folder / "api"))
    for page in [*sorted(HERE.glob("*.md")), *OTHER_PAGES]:
        pages.add(page)
    add_ops(folder)
    write_index_of_api(folder)
    for asset in ("site.css", "iframe-worker.js"):
        shutil.copyfile(HERE / asset, folder / asset)
    config = out / "mkdocs.yml"
    config.write_text(f"INHERIT: {HERE / 'mkdocs.yml'}\ndocs_dir: {folder}\nsite_dir: {result}\n", encoding="utf-8")
    done = subprocess.run([program, "build", "--strict", "--config-file", config], capture_output=True, text=True,
                          env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=False)
    if done.returncode:
        print(done.stdout + done.stderr)
        return 1
    for part in (folder, out / "headers"):
        shutil.rmtree(part)
    files = [path for path in result.rglob("*") if path.is_file()]
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    print(f"{len(files)} files, {megabytes:.1f} MB: {result}/index.html")
    if megabytes > MAX_MEGABYTES:
        print(f"more than {MAX_MEGABYTES} MB")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
