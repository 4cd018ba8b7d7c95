#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the pages of `show --html`, `compare --html` and `lower --report`: options by the program alone, the
rest in Chromium.

    page.py PROGRAM [--screenshots DIR]

Ends with 77, which means "skipped", if Chromium is not installed or the program was built without the page.
"""
import argparse
import array
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import zipfile

from browser import Browser, find_chromium
from calls import MALFORMED, UNSUPPORTED, USAGE, call, expect, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "models" / "kws_dscnn_int8" / "model.pt2"
INJECTED = "</script><script>window.injected = 1</script><img src=x onerror='window.injected = 1'>"


def with_metadata(source, target, metadata):
    """Returns a copy of an export whose nodes have the metadata of `metadata(index, node)`."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename.endswith(".json") and b"graph_module" in content:
                program = json.loads(content)
                for i, node in enumerate(program["graph_module"]["graph"]["nodes"]):
                    node["metadata"] = metadata(i, node)
                content = json.dumps(program).encode()
            new.writestr(entry.filename, content)
    return target


def modules(i, node):
    """Two stages of blocks, and source lines; the third node has text that would run if it were markup."""
    stack = [("L__self__", "", "net.Net"), (f"L__self__stage{i // 20}", f"stage{i // 20}", "net.Stage"),
             (f"L__self__stage{i // 20}_block{i // 5}", f"stage{i // 20}.block{i // 5}", "net.Block")]
    if i == 2:
        stack.append(("L__self__bad", INJECTED.replace(",", ""), "net.Bad"))
    code = INJECTED if i == 2 else "x = self.conv(x)"
    return {"nn_module_stack": ";".join(",".join(frame) for frame in stack),
            "stack_trace": f'  File "outer.py", line 1, in forward\n    y\n  File "net.py", line {i + 1}, in forward\n    {code}\n'}


def check_options(program, folder):
    page = folder / "options.html"
    call(program, "show", MODEL, "--html", page)
    text = page.read_text()
    expect("http://" not in text.split('id="licences"')[0].replace("http://www.w3.org", ""), "the page refers to the network")
    call(program, "show", MODEL, "--html", page, "--dot", status=USAGE)
    call(program, "show", folder / "missing.pt2", "--html", page, status=MALFORMED)
    call(program, "show", MODEL, "--html", folder / "no" / "where.html", status=USAGE, says="cannot write")
    call(program, "lower", MODEL, "-o", folder / "m.tosa", "--vela-csv", page, status=USAGE)
    csv = folder / "wrong.csv"
    csv.write_text("a,b\n1,2\n")
    call(program, "lower", MODEL, "-o", folder / "m.tosa", "--report", page, "--vela-csv", csv, status=MALFORMED, says="Op Cycles")
    call(program, "lower", "--partition", MODEL, "-o", folder / "p", "--report", page, "--vela-csv", csv, status=USAGE, says="one flatbuffer")
    twice = [folder / f"{i}.html" for i in range(2)]
    for path in twice:
        call(program, "show", MODEL, "--html", path)
    expect(twice[0].read_bytes() == twice[1].read_bytes(), "the same model gives two pages")


def check_show(program, page, folder, pictures):
    model = with_metadata(MODEL, folder / "modules.pt2", modules)
    call(program, "show", model, "--html", folder / "show.html")
    page.open(folder / "show.html")
    expect(not page.problems, f"show: {page.problems}")
    expect(page.value("window.injected") is None, "text of the model was run")
    nodes = int(next(p for p in page.value("document.querySelector('.cards b').textContent").split()))
    listing = call(program, "show", "--full", model).stdout.splitlines()
    expect(nodes == len(listing), f"the page counts {nodes} nodes, the listing has {len(listing)}")
    expect(page.value("document.getElementById('timeline').hidden"), "a slider without passes")
    drawn = page.value("document.querySelectorAll('#scene .node').length")
    expect(drawn > 5, f"{drawn} nodes are drawn")
    expect(page.value("document.querySelectorAll('#scene .mark').length") > 5, "quantize and dequantize are no marks")
    check_search(page)
    check_folding(page)
    check_drawing(page)
    check_map(page)
    if pictures:
        page.screenshot(pictures / "show.png")
        page.value("document.getElementById('theme').click()")
        page.screenshot(pictures / "show_dark.png")


def check_search(page):
    page.value("document.getElementById('search').focus()")
    page.type("conv2d_1")
    found = page.value("[...document.querySelectorAll('#found div')].map((d) => d.textContent)")
    expect(found and found[0].startswith("conv2d_1"), f"the search finds {found[:3]}")
    page.press("Enter")
    expect(page.value("document.querySelector('#scene .node.selected text').textContent") == "conv2d", "what is found is not selected")
    panel = page.value("document.getElementById('panel').textContent")
    expect("conv2d_1" in panel and "net.py:" in panel, f"the panel does not say where the node comes from: {panel[:300]}")
    box = page.value("(() => { const b = document.querySelector('#scene .node.selected').getBoundingClientRect();"
                     " const c = document.getElementById('canvas').getBoundingClientRect();"
                     " return [b.left >= c.left, b.right <= c.right, b.top >= c.top, b.bottom <= c.bottom]; })()")
    expect(all(box), "what is found is not on the screen")
    page.value("document.getElementById('search').value = 'no such node';"
               "document.getElementById('search').dispatchEvent(new Event('input'))")
    expect("Nothing" in page.value("document.getElementById('found').textContent"), "a search for nothing says nothing")
    page.value("document.getElementById('search').value = ''; document.getElementById('search').dispatchEvent(new Event('input'));"
               "document.getElementById('search').blur()")


def check_folding(page):
    where = ("(() => { const t = document.querySelector('#scene .title text').getBoundingClientRect();"
             " return [t.left + t.width / 2, t.top + t.height / 2]; })()")
    page.value("document.getElementById('fit').click()")
    before = page.value("document.querySelectorAll('#scene .node').length")
    key = page.value("document.querySelector('#scene .title').dataset.title")
    page.click(*page.value(where))
    closed = f"document.querySelector('#scene .module.closed[data-module=\"{key}\"]') !== null"
    after = page.value("document.querySelectorAll('#scene .node').length")
    expect(page.value(closed), f"a click does not fold the module {key}")
    expect(after < before, f"folding leaves {after} of {before} nodes")
    page.value(f"app.toggle(app.visibleModules().find((m) => m.key === {json.dumps(key)}))")
    expect(page.value("document.querySelectorAll('#scene .node').length") == before, "unfolding does not bring the nodes back")
    page.value("document.getElementById('fold').click()")
    expect(page.value("document.querySelectorAll('#scene .module.open').length") == 0, "something is open after folding all")
    page.value("document.getElementById('unfold').click()")
    expect(page.value("document.querySelectorAll('#scene .module.open').length") > 0, "nothing is open after unfolding")


def check_map(page):
    """The map has all boxes, its frame is the part on the screen, and a click goes there."""
    page.value("document.getElementById('fit').click()")
    expect(page.value("document.getElementById('map').style.display") == "none", "a graph that is all on the screen has a map")
    page.value("app.drawing.move(0, 0, 2)")
    boxes = page.value("document.querySelectorAll('#map .box, #map .open').length")
    expect(boxes == page.value("app.drawing.places.size"), f"the map has {boxes} boxes")
    box = page.value("(() => { const b = document.getElementById('map').getBoundingClientRect(); return [b.left + b.width / 2, b.bottom - 3]; })()")
    page.click(*box)
    top = page.value("Number(document.querySelector('#map .frame').getAttribute('y'))")
    expect(top > 0, "a click on the map goes nowhere")


def check_drawing(page):
    """Boxes of one level do not overlap, and edges have finite points."""
    overlaps = page.value("""(() => { let count = 0;
      const visit = (layout) => { layout.boxes.forEach((a, i) => { if (a.inner) visit(a.inner);
        layout.boxes.forEach((b, k) => { if (k > i && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h) ++count; }); }); };
      visit(app.layouts.of(app.view.root)); return count; })()""")
    expect(overlaps == 0, f"{overlaps} boxes overlap")
    broken = page.value("[...document.querySelectorAll('#scene path.edge')].filter((p) => /NaN|undefined/.test(p.getAttribute('d'))).length")
    expect(broken == 0, f"{broken} edges are broken")


def check_lowering(program, page, folder, pictures):
    model = with_metadata(MODEL, folder / "modules.pt2", modules)
    flatbuffer = folder / "m.tosa"
    call(program, "lower", model, "-o", flatbuffer)
    names = [line.split(":")[0].lstrip("%") for line in call(program, "show", flatbuffer).stdout.splitlines() if "tosa.CONV2D" in line]
    csv = folder / "per-layer.csv"
    csv.write_text("Original Operator,Op Cycles,Name\n" + "".join(f"Conv2D,{1000 + i},{n}\n" for i, n in enumerate(names)))
    call(program, "lower", model, "-o", flatbuffer, "--report", folder / "report.html", "--vela-csv", csv)
    call(program, "lower", model, "-o", flatbuffer, "--report", folder / "report.json")
    seconds = json.loads((folder / "report.json").read_text())
    page.open(folder / "report.html")
    expect(not page.problems, f"report: {page.problems}")
    steps = page.value("document.getElementById('slider').max")
    expect(int(steps) > 10, f"{steps} passes changed the graph")
    text = page.value("document.querySelector('.cards b').textContent")
    expect(int(text) == seconds["nodes"]["out"], f"{text} nodes at the end, the report says {seconds['nodes']['out']}")
    expect(page.value("[...app.view.nodes.values()].every((n) => /^(tosa|builtin)/.test(opOf(n)))"), "the last graph is not TOSA")
    move = "document.getElementById('slider').value = {0}; document.getElementById('slider').dispatchEvent(new Event('input'))"
    page.value(move.format(0))
    text = page.value("document.querySelector('.cards b').textContent")
    expect(int(text) == seconds["nodes"]["in"], f"{text} nodes at the beginning, the report says {seconds['nodes']['in']}")
    check_steps(page, int(steps), move)
    for tab in page.value("[...document.querySelectorAll('#tabs [role=tab]')].map((b) => b.dataset.tab)"):
        page.value(f"document.querySelector('#tabs [data-tab={tab}]').click()")
        expect(page.value("document.getElementById('panel').textContent.length") > 10, f"nothing in the tab {tab}")
        if pictures:
            page.screenshot(pictures / f"report_{tab}.png")
    expect(not page.problems, f"report: {page.problems}")


def check_steps(page, steps, move):
    """Each step is drawn, and shows the numbers of added and removed nodes that the program counted."""
    colours = set()
    for i in range(1, steps + 1):
        page.value(move.format(i))
        colours.update(page.value("['came', 'changed', 'gone'].filter((c) => document.querySelector('#scene .node.' + c))"))
        check_drawing(page)
        wrong = page.value("[...app.view.nodes.values()].filter((n) => { for (let i = 0; i < n.in.length; i += 3)"
                           " if (!app.view.nodes.has(n.in[i])) return true; return false; }).length")
        expect(wrong == 0, f"step {i}: {wrong} nodes use nodes that are not there")
    expect(colours == {"came", "changed", "gone"}, f"only {colours} are coloured")
    expect("cycles" in page.value("document.getElementById('heat').value"), "Vela's cycles are not shown")
    expect(page.value("document.querySelectorAll('#scene .heat').length") > 0, "no node is hot")


def in_frame(page, number, script):
    """Returns the value of a JavaScript expression in the page of one graph, once it is loaded."""
    window = f"app.frames[{number}].contentWindow"
    page.wait(f"Boolean(app.frames[{number}] && {window}.pageReady && {window}.app.onselect)")
    return page.value(f"((document, app) => {script})({window}.document, {window}.app)")


def check_core(program, page, folder, pictures):
    """Layers of a C++ type, each of which leads to its node, and its arena above the plan of the graph."""
    call(program, "show", MODEL, "--html", folder / "core.html", "--core", "cortex-m4")
    page.open(folder / "core.html")
    expect(not page.problems, f"core: {page.problems}")
    layers = page.value("data.core.layers.map((layer) => layer.name)")
    rows = page.value("[...document.querySelectorAll('#panel tr')].slice(1).map((r) => r.querySelector('.mono').textContent)")
    expect(rows == layers and len(rows) > 10, f"the layers are {layers}, the table has {rows}")
    if pictures:
        page.screenshot(pictures / "core_kernels.png")
    page.value("document.querySelector('#tabs [data-tab=memory]').click()")
    expect(page.value("document.querySelectorAll('#panel canvas').length") == 2, "the arena is not above the plan of the graph")
    if pictures:
        page.screenshot(pictures / "core_memory.png")
    page.value("document.querySelector('#tabs [data-tab=kernels]').click()")
    page.value("document.querySelectorAll('#panel tr.go')[1].click()")
    expect(page.value("app.selectedNode().n") == layers[1], "a layer does not lead to its node")
    expect(not page.problems, f"core: {page.problems}")


def check_banks(program, page, folder, pictures):
    """Each bank of a board over time, above the plan of the graph; a tensor leads to its node."""
    call(program, "plan", MODEL, "--memory", "corstone-300", "--page", folder / "banks.html", says="memory map corstone-300")
    page.open(folder / "banks.html")
    page.value("document.querySelector('#tabs [data-tab=memory]').click()")
    used = page.value("data.banks.banks.filter((bank) => bank.tensors.length).length")
    expect(used == 3, f"{used} banks have tensors")
    expect(page.value("document.querySelectorAll('#panel canvas').length") == used + 1, "a bank is not drawn")
    if pictures:
        page.screenshot(pictures / "banks.png")
    expect(not page.problems, f"banks: {page.problems}")


def check_comparison(program, page, folder, pictures):
    models = ROOT / "examples" / "models"
    call(program, "compare", models / "kws_dscnn" / "model.pt2", models / "kws_dscnn_int8" / "model.pt2", "--in",
         write_samples(folder / "x.npy", 2), "--html", folder / "compare.html")
    page.open(folder / "compare.html")
    expect(in_frame(page, 0, "document.querySelectorAll('#scene .node').length") > 5, "the reference is not drawn")
    expect(in_frame(page, 1, "document.querySelectorAll('#panel tr.go').length") > 5, "layers do not lead to nodes")
    expect(in_frame(page, 1, "document.querySelectorAll('#scene .heat').length") > 5, "no node is coloured by its noise")
    in_frame(page, 1, "document.querySelector('#panel tr.go').click()")
    expect("Operands" in in_frame(page, 1, "document.getElementById('panel').textContent"), "a layer does not lead to its node")
    chosen = "[app.selectedNode().n, document.querySelector('#scene .node.selected') !== null]"
    expect(in_frame(page, 0, chosen) == ["batch_norm_8", True], f"beside a layer {in_frame(page, 0, chosen)} is selected")
    in_frame(page, 0, "app.showNamed(['batch_norm_2'])")
    in_frame(page, 0, "app.tell(app.selectedNode())")
    expect(in_frame(page, 1, chosen) == ["conv2d_2", True], f"beside the reference's layer {in_frame(page, 1, chosen)} is selected")
    expect(not page.problems, f"compare: {page.problems}")
    if pictures:
        in_frame(page, 1, "app.panel.open('layers')")
        page.screenshot(pictures / "compare.png")


def chapters(page):
    return page.value("book.chapters.map((c) => c.title)")


def check_books(program, page, folder, pictures):
    """Pages of several graphs: of packages and .pte files."""
    float_model = ROOT / "examples" / "models" / "kws_dscnn" / "model.pt2"
    call(program, "lower", "--method", f"a={MODEL}", "--method", f"b={float_model}", "-o", folder / "p", "--report", folder / "p.html")
    page.open(folder / "p.html")
    expect(chapters(page) == ["a", "b"], f"the package has the graphs {chapters(page)}")
    steps = in_frame(page, 0, "Number(document.getElementById('slider').max)")
    expect(steps > 10, f"{steps} passes changed the graph")
    page.value("document.querySelector('#right select').value = 1; document.querySelector('#right select').dispatchEvent(new Event('change'))")
    expect(in_frame(page, 1, "[...app.view.nodes.values()].length") > 20, "the second graph is not beside the first")
    page.value("document.querySelector('#left select').value = 1; document.querySelector('#left select').dispatchEvent(new Event('change'))")
    expect(page.value("app.frames[0].hidden") and not page.value("app.frames[1].hidden"), "a graph that was not chosen is shown")
    page.value("document.getElementById('theme').click()")
    expect(in_frame(page, 1, "document.documentElement.dataset.theme") == page.value("document.documentElement.dataset.theme"), "frames have another theme")

    call(program, "lower", MODEL, "-o", folder / "p.pte", "--delegate", "tosa", "--report", folder / "pte.html")
    page.open(folder / "pte.html")
    expect(chapters(page) == ["forward, host", "forward, delegate 0"], f"the .pte file has the graphs {chapters(page)}")
    expect("delegate_to_tosa" in in_frame(page, 0, "[...document.querySelectorAll('#tabs button')].find((b) => b.dataset.tab === 'passes').click() || document.getElementById('panel').textContent"),
           "the host's page does not say when it got its delegates")
    boxes = in_frame(page, 0, "[...document.querySelectorAll('#scene .node')].map((b) => b.textContent)")
    expect(any("quantize_per_tensor" in b for b in boxes), f"kernels are not called by their names: {boxes}")
    if pictures:
        page.screenshot(pictures / "pte.png")
    expect(not page.problems, f"books: {page.problems}")


def check_batch(program, page, folder, pictures):
    models = folder / "batch"
    models.mkdir()
    for i in range(3):
        (models / f"m{i}.pt2").write_bytes(MODEL.read_bytes())
    (models / f"{len(INJECTED)}<b>.pt2").write_bytes(b"no archive")
    done = subprocess.run([program, "lower", "--batch", models, "-o", folder / "lowered", "--page-files", "--report", folder / "batch.html"], capture_output=True)
    expect(done.returncode == MALFORMED, f"the batch ends with {done.returncode}")
    page.open(folder / "batch.html")
    rows = "[...document.querySelectorAll('#batch tr')].slice(1).map((r) => r.textContent)"
    expect(len(page.value(rows)) == 4, f"the table has {page.value(rows)}")
    expect("cannot be read" in page.value(rows)[0] and "<b>.pt2" in page.value(rows)[0], f"the first row is {page.value(rows)[0]}")
    page.value("[...document.querySelectorAll('#batch th')].find((h) => h.textContent === 'result').click()")
    expect("cannot be read" in page.value(rows)[0], "the table is not sorted")
    page.value("[...document.querySelectorAll('#batch th')].find((h) => h.textContent === 'result').click()")
    expect("lowered" in page.value(rows)[0], "a second click does not turn the order round")
    page.value("document.querySelector('#batch input').value = 'm2'; document.querySelector('#batch input').dispatchEvent(new Event('input'))")
    expect(len(page.value(rows)) == 1, "the filter does not filter")
    expect(page.value("[...document.querySelectorAll('#batch a')].map((a) => a.getAttribute('href'))") == ["lowered/m2.html"],
           "the table does not link to the model's page")
    expect("MACs" in page.value("document.querySelector('#batch tr').textContent"), "the table has no MACs")
    expect(not page.problems, f"batch: {page.problems}")
    if pictures:
        page.screenshot(pictures / "batch.png")


def write_samples(path, count):
    """Writes a .npy file of random inputs of the keyword spotter."""
    values = array.array("f", (random.Random(count).gauss(0, 1) for _ in range(count * 490)))
    header = repr({"descr": "<f4", "fortran_order": False, "shape": (count, 1, 49, 10)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + values.tobytes())
    return path


def check_refusal(program, page, folder, pictures):
    model = folder / "refused.hr"
    model.write_text("""headrace 1
%x: float32[1, 8] = input
%y: float32[1, 8] = builtin.opaque(target="my.<b>op", operands=[%x]) {origin}
%z: float32[1, 8] = builtin.opaque(target="my.<b>op", operands=[%y]) {origin}
%a: float32[1, 8] = aten.relu.default(%z) {origin}
output %a
""")
    done = call(program, "lower", model, "-o", folder / "x.tosa", "--report", folder / "refused.html", status=UNSUPPORTED)
    page.open(folder / "refused.html")
    expect(not page.problems, f"refusals: {page.problems}")
    text = page.value("document.getElementById('panel').textContent")
    expect("2 nodes cannot be lowered" in text and "my.<b>op × 2" in text, f"the refused nodes are not told: {text} {done.stderr}")
    expect(page.value("document.querySelectorAll('#scene .node.refused').length") == 2, "refused nodes are not marked")
    page.value("document.querySelector('#panel a').click()")
    expect("Refused" in page.value("document.getElementById('panel').textContent"), "the node does not say that it is refused")
    if pictures:
        page.screenshot(pictures / "refused.png")


def chain(path, nodes):
    """Returns the text of a graph of that many nodes without modules."""
    lines = ["headrace 1", "%x: float32[1, 8] = input"]
    names = ["x"]
    for i in range(nodes):
        other = names[max(0, len(names) - 1 - i % 7)]
        lines.append(f"%v{i}: float32[1, 8] = aten.add.Tensor(%{names[-1]}, %{other})")
        names.append(f"v{i}")
    lines.append(f"output %{names[-1]}")
    path.write_text("\n".join(lines) + "\n")


def check_large(program, page, folder, pictures):
    chain(folder / "large.hr", 20000)
    call(program, "show", folder / "large.hr", "--html", folder / "large.html")
    seconds = page.open(folder / "large.html")
    expect(not page.problems, f"20,000 nodes: {page.problems}")
    drawn = page.value("app.drawing.places.size")
    expect(20 < drawn < 200, f"{drawn} boxes are drawn of 20,000")
    page.value("app.reveal([...app.view.nodes.values()].find((n) => n.n === 'v12345').i)")
    expect(page.value("document.querySelector('#scene .node.selected') !== null"), "a node of 20,000 is not found")
    print(f"a page of 20,000 nodes opens in {seconds:.2f} s")
    if pictures:
        page.screenshot(pictures / "large.png")


def check_measured(program, page, folder, pictures):
    """Times of a board beside Vela's: of layers, on nodes of the graph as it was lowered."""
    times, vela = folder / "times.csv", folder / "vela.csv"
    times.write_text("layer,us\nquantize_per_tensor_1,700\nquantize_per_tensor_3,200\nelsewhere,100\n")
    vela.write_text("NNG Operator,Op Cycles,Target,Name\nConv2D,9000,NPU,quantize_per_tensor_1\n")
    call(program, "compare", MODEL, "--cycles", times, "--vela-csv", vela, "--html", folder / "measured.html")
    page.open(folder / "measured.html")
    expect(not page.problems, f"measured: {page.problems}")
    page.value("document.querySelector('[data-tab=measured]').click()")
    text = page.value("document.getElementById('panel').textContent")
    expect("1.00 k us measured" in text and "100 belong to names" in text and "70.0 %" in text and "9.00 k" in text, f"measured: {text}")
    expect(page.value("document.getElementById('heat').value") == "measured", "nodes are not coloured by their times")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--screenshots", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tried = subprocess.run([options.program, "show", MODEL, "--html", folder / "x.html"], capture_output=True, text=True)
        if "built without the page" in tried.stderr:
            print("skipped: the program was built without libjs-d3 and node-dagre-layout")
            return 77
        check_options(options.program, folder)
        chromium = find_chromium()
        if chromium is None:
            print("the rest is skipped: Chromium is not installed (apt install chromium)")
            return report() or 77
        with Browser(chromium) as page:
            for check in (check_show, check_lowering, check_core, check_banks, check_refusal, check_comparison, check_measured, check_books, check_batch, check_large):
                check(options.program, page, folder, options.screenshots)
    return report()


if __name__ == "__main__":
    sys.exit(main())
