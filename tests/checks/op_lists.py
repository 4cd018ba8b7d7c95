#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the op lists in include/headrace that state a fact about ops: there may be few, since facts are
traits.

A list is two or more ops of dialects as arguments of one template. These lists are signatures, not facts:
- the targets or products of a pass or a builder: `targeted_ops`, `produces`, `made`, emit<...>, and names
that are used
  only there;
- the family of a handler, a rule or a kernel: template <one_of<ops<...>> Op>, on_each<...>, on<...>, the names of
  NODES; in the files of TABLES, the transfer functions of an analysis, each list is the family of one of these;
- ops that belong together: an op_map, the two that a helper chooses between;
- the source and target of a pipeline; a row of the specification's table in target/tosa_legality.hpp.

    op_lists.py [--verbose]      exit status 1 if there are more than MAX_FACTS; --verbose prints them
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2] / "include" / "headrace"
MAX_FACTS = 24
NAMESPACES = (r"aten|tosa|builtin|cortex_m|delegate|dim_order_ops|executorch|higher_order|memory|"
              r"quantized_decomposed|quantized")
QUALIFIED = re.compile(rf"(?:{NAMESPACES})::(?!dialect$)\w+$")
LISTS = ("ops", "ops_in", "op_list_of", "is")
PAIRS = ("on", "becomes", "op_map", "connectives", "reductions", "convert_args", "conditional_t", "of_bits", "reduced",
         "drop_unused_places", "to")
NODES = ("node_of", "sole_node", "optional_node", "remake")
TABLES = ("eval/executorch.cpp", "infer/ranges/integer_width_definition.hpp", "infer/ranges/value_ranges_definition.hpp",
          "prove/error_bound.cpp",
          "prove/lost_constants.cpp", "quantization/logarithms/logarithm_operands.cpp",
          "quantization/masks/mask_facts.hpp", "quantization/masks/mask_scores.cpp",
          "quantization/masks/picked_extremes.cpp")
SIGNATURES = ("targeted_ops", "produces", "made")
FAMILY = re.compile(r"\b(?:one_of|on_each)<$")
EMITTED = re.compile(r"\b(?:emit|code|one_of|on_each)<[^;]*$|\bauto made =[^;]*$")
PIPELINE = re.compile(r"pipeline_of<|\bauto set =")
MARKS = re.compile(r"[<>,;{]")
BESIDE_CODE = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


def template_arguments(text, begin):
    """Returns the arguments of the template whose < is at `begin`, or none if it is not a template."""
    depth, arguments, start = 1, [], begin
    for m in MARKS.finditer(text, begin):
        depth += {"<": 1, ">": -1}.get(m.group(), 0)
        if m.group() in ";{":
            break
        if depth == 0 or (depth == 1 and m.group() == ","):
            arguments.append(text[start:m.start()].strip())
            start = m.end()
        if depth == 0:
            return arguments
    return []


def blank(match):
    return " " * len(match.group())


def head_of(text, at):
    """Returns the statement before a position."""
    return " ".join(text[max(text.rfind(c, 0, at) for c in ";{}") + 1:at].split())


def alias_in(head):
    found = re.search(r"\busing (\w+) =", head)
    return found.group(1) if found else None


class Tree:
    def __init__(self):
        files = [f for f in sorted(ROOT.rglob("*.[ch]pp")) if not f.name.endswith("_generated.hpp")]
        self.texts = {f.relative_to(ROOT).as_posix(): BESIDE_CODE.sub(blank, f.read_text(encoding="utf-8"))
                      for f in files}
        dialects = [n for n in self.texts if n.startswith("dialect/")]
        self.tags = {tag for n in dialects for tag in re.findall(r"^struct (\w+)", self.texts.pop(n), re.M)}
        self.known = {}

    def lists(self, file):
        text = self.texts[file]
        for m in re.finditer(r"(\w+)<", text):
            ops = [a for a in template_arguments(text, m.end())
                   if QUALIFIED.match(a) or (m.group(1) in LISTS and a in self.tags)]
            if len(ops) > 1:
                yield m.start(), m.group(1), len(ops)

    def is_signature(self, name, file):
        """True if the name of a list is used only for ops that are targeted or made."""
        if name in SIGNATURES:
            return True
        if (name, file) not in self.known:
            self.known[name, file] = True  # names may be synonyms
            owners = [f for f, text in self.texts.items() if f"using {name} =" in text]
            heads = []
            for user in self.texts if len(owners) == 1 else [file]:
                text = self.texts[user]
                if name not in text:
                    continue
                stands = re.finditer(rf"(?<![\w.>]){name}\b(?!\s*=[^=])|::{name}\b", text)
                heads += [(user, head_of(text, m.start())) for m in stands]
            aliases = [(alias_in(head), user) for user, head in heads]
            is_part = any(a in ("targeted_ops", "produces") and user == file for a, user in aliases)
            self.known[name, file] = is_part or all(
                self.is_signature(a, user) if a and a != name else a == name or EMITTED.search(head)
                for (a, user), (_, head) in zip(aliases, heads))
        return self.known[name, file]

    def kind_of(self, file, at, template):
        head = head_of(self.texts[file], at)
        alias = alias_in(head)
        if template in PAIRS:
            return "pair"
        if file == "target/tosa_legality.hpp" and head.startswith("set("):
            return "row"
        if file in TABLES:
            return "family"
        if template in NODES:
            return "family"
        if alias:
            return "signature" if self.is_signature(alias, file) else "fact"
        if FAMILY.search(head):
            return "family" if "template" in head or "on_each" in head else "fact"
        if EMITTED.search(head) or (file.endswith("_lowering.hpp") and PIPELINE.search(head)):
            return "signature"
        return "fact"


def main():
    tree = Tree()
    kinds = collections.Counter()
    facts = []
    for file, text in tree.texts.items():
        for at, template, count in tree.lists(file):
            kind = tree.kind_of(file, at, template)
            kinds[kind] += 1
            if kind == "fact":
                facts.append(f"{file}:{text.count(chr(10), 0, at) + 1}: {count} ops")
    if "--verbose" in sys.argv or len(facts) > MAX_FACTS:
        print("\n".join(facts))
    print(", ".join(f"{n} of kind {kind}" for kind, n in sorted(kinds.items())) + f"; at most {MAX_FACTS} facts")
    if len(facts) > MAX_FACTS:
        print("state what they have in common as a trait (op/traits.hpp); ask for it with ops_where or op_info::has")
    return len(facts) > MAX_FACTS


if __name__ == "__main__":
    sys.exit(main())
