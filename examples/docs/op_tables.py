# SPDX-License-Identifier: MIT
"""Tables of the dialects' ops in Markdown, for make_docs.py: what the headers of include/headrace/dialect say, and
ops.txt."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
DIALECTS = HERE.parents[1] / "include" / "headrace" / "dialect"
TITLES = {
    "aten": "ATen",
    "tosa": "TOSA 1.0",
    "higher_order": "higher_order",
    "dim_order_ops": "dim_order_ops",
    "quantized_decomposed": "quantized_decomposed",
    "cortex_m": "cortex_m",
}
OP = re.compile(
    r"^struct (\w+)\s*:\s*op<dialect, \"([\w.]+)\",?\s*(.*?)>\s*\{\s*struct args \{(.*?;)\s*\};\s*\};|"
    r"^// ([A-Z][^\n]*\.)$",
    re.S | re.M,
)
LINE = re.compile(r"^([\w.]+)(?: \(([\d.]+)\))?: (.*)$")


def descriptions():
    """Name of an op to the section of its specification, or None, and what it computes."""
    found = {}
    for line in (HERE / "ops.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            parts = LINE.match(line)
            if not parts or parts[1] in found:
                raise SystemExit(f"ops.txt: not a line of its own: {line}")
            found[parts[1]] = parts[2], parts[3]
    return found


def described(name, known):
    """Which line describes an op, and what it is a variant of, if it is one."""
    base = ".".join(name.split(".")[:2])
    for variant, stem in (
        ("", base),
        ("in place: ", re.sub(r"_$", "", base)),
        ("copy: ", re.sub(r"_copy$", "", base)),
    ):
        if stem in known and (variant or stem == base):
            return stem, variant
    raise SystemExit(f"ops.txt has no line for {name}")


def arguments(body):
    """The members of an argument struct, without types."""
    body = re.sub(r"//.*", "", body)
    members = []
    for declaration in re.split(r";", " ".join(body.split())):
        depth, parts, last = 0, [""], ""
        for c in declaration:
            depth += c in "<({"
            depth -= c in ">)}"
            if c == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += c
        for i, part in enumerate(parts):
            text = part.strip().lstrip("*") if i else re.sub(r"^[\w:]+(?:<.*?>)?\*? ", "", part.strip())
            last = re.sub(r"\{\}$", "", text)
            last = re.sub(r"^(\w+)\{(.*)\}$", r"\1 = [\2]", last).replace("std::nullopt", "none")
            if last:
                members.append(re.sub(r"headrace::\w+::", "", last))
    return members


def table(dialect, known, used):
    header = (DIALECTS / f"{dialect}.hpp").read_text(encoding="utf-8").split("struct dialect;", 1)[1]
    lines, rows, title = [], 0, []
    has_sections = any(known[key][0] for key in known if key.startswith(dialect + "."))
    head = "| op | in C++ | arguments | what it computes |" + (" section |" if has_sections else "")
    rule = "| --- | --- | --- | --- |" + (" --- |" if has_sections else "")
    for found in OP.finditer(header):
        if found[5]:
            section = re.sub(r"[.]? *\((?:spec section )?[\d., ]+\)\.?$|\.$", "", found[5].split(". ")[0])
            title = ["", f"## {section}"]
            continue
        if title or not lines:  # a comment that no op follows is no section
            lines += [*title, "", head, rule]
            title = []
        tag, name, body = found[1], found[2], found[4]
        key, variant = described(name, known)
        used.add(key)
        shown = name.split(".", 1)[1].removesuffix(".default")
        members = ', '.join(f'`{m}`' for m in arguments(body))
        row = f"| `{shown}` | `{dialect}::{tag}` | {members} | {variant}{known[key][1]} |"
        lines.append(row.replace("||", "| |") + (f" {known[key][0]} |" if has_sections else ""))
        rows += 1
    return "\n".join(lines) + "\n", rows


def tables():
    """Dialect to the page of its ops."""
    known, used, pages = descriptions(), set(), {}
    for dialect, title in TITLES.items():
        text, rows = table(dialect, known, used)
        declared = len(
            re.findall(rf'op<\s*dialect, "{dialect}\.', (DIALECTS / f"{dialect}.hpp").read_text(encoding="utf-8"))
        )
        if rows != declared:
            raise SystemExit(f"{dialect}.hpp declares {declared} ops; op_tables.py understands {rows}")
        note = " The section is that of the TOSA 1.0 specification." if dialect == "tosa" else ""
        pages[dialect] = (
            f"Ops of {title}",
            f"{rows} ops, as `headrace/dialect/{dialect}.hpp` declares them.{note}\n{text}",
        )
    for key in sorted(set(known) - used):
        raise SystemExit(f"ops.txt: there is no op {key}")
    return pages
