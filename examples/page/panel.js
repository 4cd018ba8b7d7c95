// SPDX-License-Identifier: MIT
// The panel beside the graph.
"use strict";

const row = (key, value) => element("tr", {}, element("td", { class: "key" }, key), element("td", {}, value));
const link = (text, action) => element("a", { class: "link", onclick: action }, text);

class Panel {
  constructor(app) {
    this.app = app;
    this.tabs = [
      ["graph", "Graph", () => this.graph()],
      ["node", "Node", () => this.node()],
      ["passes", "Passes", () => this.passes(), data.steps.length > 1],
      ["refused", "Refused" + (data.refusals.length ? " " + data.refusals.length : ""), () => this.refused(), data.steps.length > 1 || data.refusals.length > 0],
      ["transposes", "Transposes", () => this.transposes(), Boolean(data.transposes)],
      ["kernels", "Kernels", () => this.kernels(), Boolean(data.core)],
      ["memory", "Memory", () => this.memory(), Boolean(data.plan || data.unplanned || data.core || data.banks)],
      ["layers", "Layers", () => this.layers(), layers.length > 0],
      ["vela", "Cycles", () => this.vela(), cycles.size > 0],
      ["measured", "Measured", () => this.measured(), measured.size > 0],
    ].filter((tab) => tab[3] !== false);
    const nav = document.getElementById("tabs");
    for (const [key, title] of this.tabs)
      nav.append(element("button", { role: "tab", "data-tab": key, onclick: () => this.open(key) }, title));
    document.getElementById("wider").addEventListener("click", () => {
      document.querySelector("aside").classList.toggle("wide");
      this.refresh();
    });
    this.current = data.refusals.length ? "refused" : layers.length ? "layers" : data.core ? "kernels" : "graph";
  }

  open(key) {
    this.current = key;
    this.refresh();
  }

  refresh() {
    for (const button of document.querySelectorAll("#tabs [role=tab]"))
      button.setAttribute("aria-selected", String(button.dataset.tab === this.current));
    const panel = document.getElementById("panel");
    panel.replaceChildren(...[this.tabs.find((tab) => tab[0] === this.current)[2]()].flat());
  }

  // --- the graph -------------------------------------------------------------------------

  graph() {
    const nodes = [...this.app.view.nodes.values()].filter((n) => !this.app.view.gone.has(n.i));
    const ops = new Map();
    let [parameters, bytes, macs] = [0, 0, 0];
    for (const node of nodes) {
      if (isConstant(node)) {
        parameters += node.e || 0;
        bytes += node.b || 0;
        continue;
      }
      const found = ops.get(opOf(node)) || { count: 0, macs: 0, first: node };
      found.count += 1;
      found.macs += node.w || 0;
      macs += node.w || 0;
      ops.set(opOf(node), found);
    }
    const card = (value, what) => element("div", {}, element("b", {}, value), element("span", {}, what));
    const peak = data.plan && this.app.atEnd() ? data.plan.memories[0].peak : null;
    const table = element("table", {}, element("tr", {}, element("th", {}, "op"), element("th", { class: "number" }, "nodes"), element("th", { class: "number" }, "MACs")));
    for (const [op, found] of [...ops].sort((a, b) => b[1].count - a[1].count || (a[0] < b[0] ? -1 : 1)))
      table.append(element("tr", { class: "go", onclick: () => this.app.searchFor(op) }, element("td", { class: "mono" }, op),
        element("td", { class: "number" }, String(found.count)), element("td", { class: "number" }, found.macs ? countText(found.macs) : "")));
    return [
      element("div", { class: "cards" }, card(String(nodes.length), "nodes"), card(countText(parameters), "constant elements"),
        card(bytesText(bytes), "constants"), card(macs ? countText(macs) : "0", "MACs"), peak === null ? null : card(bytesText(peak), "peak memory")),
      data.target ? element("p", {}, "Target ", element("code", {}, data.target)) : null,
      element("h2", {}, "Inputs and outputs"), this.borders(nodes), element("h2", {}, "Ops"), table,
    ].filter(Boolean);
  }

  borders(nodes) {
    const table = element("table");
    const add = (what, node, type, more) => table.append(element("tr", { class: "go", onclick: () => this.app.reveal(node.i) },
      element("td", { class: "key" }, what), element("td", {}, element("span", { class: "mono" }, nameOf(node) + "  " + typeText(type)), more ? element("div", { class: "key" }, more) : null)));
    for (const node of nodes)
      if (opOf(node) === "builtin.placeholder" && !node.r) add("input", node, resultType(node, 0), attribute(node, "quantization"));
    for (const node of nodes) {
      if (opOf(node) !== "builtin.output" || node.r) continue;
      const given = pairs(node.a).filter((p) => p[0] === "quantization");
      for (let i = 0; i + 2 < node.in.length; i += 3) {
        const source = this.app.view.nodes.get(node.in[i]);
        if (source) add("output", source, resultType(source, node.in[i + 1]), given.length ? (given[i / 3] || [])[1] : null);
      }
    }
    return table;
  }

  // --- a node ----------------------------------------------------------------------------

  node() {
    const node = this.app.selectedNode();
    if (!node) return [element("p", { class: "none" }, "Click a node to see its details.")];
    const parts = [element("h2", {}, shortOp(opOf(node))), this.about(node)];
    const refusal = refusalOf(node);
    if (refusal) parts.push(element("h2", { class: "gone" }, "Refused"), element("p", {}, refusal.reason));
    parts.push(...this.source(node), ...this.attributes(node), ...this.operands(node), ...this.users(node), ...this.life(node));
    return parts;
  }

  about(node) {
    const table = element("table", {}, row("op", element("code", {}, opOf(node))));
    if (node.n) table.append(row("name", element("code", {}, "%" + node.n)));
    node.out.forEach((type, i) => table.append(row(node.out.length > 1 ? "result " + i : "result", element("code", {}, texts[type]))));
    if (node.o) table.append(row("exported as", element("code", {}, texts[node.o[0]] + " (" + texts[node.o[1]] + ")")));
    if (fileNames.has(node.i) && this.app.atEnd()) table.append(row("in the file", element("code", {}, fileNames.get(node.i))));
    if (node.v !== undefined) table.append(row("elements", element("code", {}, node.v)));
    if (node.b !== undefined) table.append(row("size", bytesText(node.b)));
    if (node.w) table.append(row("MACs", countText(node.w)));
    if (cyclesOf(node)) table.append(row("cycles", countText(cyclesOf(node))));
    if (instructionsOf(node)) table.append(row("instructions", countText(instructionsOf(node))));
    if (measuredOf(node)) table.append(row("measured", countText(measuredOf(node)) + " " + data.measured.unit));
    if (node.m !== undefined) {
      const frames = framesOf(texts[node.m]);
      if (frames.length) table.append(row("module", element("code", {}, frames.map((f) => (f[1] || f[0]) + ": " + f[2]).join("\n"))));
    }
    return table;
  }

  source(node) {
    if (node.s === undefined) return [];
    const [place, ...code] = texts[node.s].split("\n");
    const found = /^File "(.*)", line (\d+), in (.*)$/.exec(place.trim());
    return [element("h2", {}, "Source"), element("p", {}, element("code", {}, found ? found[1] + ":" + found[2] : place), found ? " in " + found[3] : ""),
      code.length ? element("pre", {}, code.map((line) => line.trim()).filter((line) => !/^[\^~]+$/.test(line)).join("\n")) : ""];
  }

  attributes(node) {
    const given = pairs(node.a);
    const defaults = pairs(node.d);
    if (!given.length && !defaults.length) return [];
    const table = element("table");
    for (const [name, text] of given) table.append(row(name, element("code", {}, text)));
    for (const [name, text] of defaults) table.append(row(name, element("code", { style: "opacity:.6" }, text)));
    return [element("h2", {}, "Arguments"), table];
  }

  operands(node) {
    if (!node.in.length) return [];
    const table = element("table");
    for (let i = 0; i + 2 < node.in.length; i += 3) {
      const source = this.app.view.nodes.get(node.in[i]);
      if (!source) continue;
      const name = nameOf(source) || shortOp(opOf(source));
      table.append(row(texts[node.in[i + 2]], [link("%" + name, () => this.app.reveal(source.i)), " ",
        element("span", { class: "mono" }, source.v !== undefined && source.v.length < 40 ? source.v : typeText(resultType(source, node.in[i + 1])))]));
    }
    return [element("h2", {}, "Operands"), table];
  }

  users(node) {
    const table = element("table");
    let count = 0;
    for (const user of this.app.view.nodes.values()) {
      for (let i = 0; i + 2 < user.in.length; i += 3) {
        if (user.in[i] !== node.i || ++count > 30) continue;
        table.append(row(texts[user.in[i + 2]], [link(shortOp(opOf(user)), () => this.app.reveal(user.i)), " ", element("span", { class: "mono" }, nameOf(user))]));
      }
    }
    if (count > 30) table.append(row("", count - 30 + " more"));
    return count ? [element("h2", {}, "Used by"), table] : [];
  }

  life(node) {
    const life = lives.get(node.i);
    if (!life || data.steps.length < 2) return [];
    const to = (step) => link(step === 0 ? "the export" : data.steps[step].pass, () => this.app.go(step));
    const table = element("table", {}, row("made by", to(life.made)));
    for (const step of life.changed) table.append(row("changed by", to(step)));
    if (life.gone >= 0) table.append(row("removed by", to(life.gone)));
    return [element("h2", {}, "History"), table];
  }

  // --- the lowering ----------------------------------------------------------------------

  passes() {
    const table = element("table", {}, element("tr", {}, element("th", {}, "pass"), element("th", { class: "number" }, "rewritten"), element("th", { class: "number" }, "time")));
    data.steps.forEach((step, at) => {
      if (at === 0) return;
      const ran = step.skipped === undefined;
      const changed = step.set.length || step.gone.length;
      table.append(element("tr", { class: (changed ? "go" : "skipped") + (at === this.app.step ? " here" : ""), title: ran ? "" : step.skipped,
        onclick: changed ? () => this.app.go(at) : undefined }, element("td", {}, step.pass),
      element("td", { class: "number" }, ran ? String(step.rewritten) : "–"), element("td", { class: "number" }, ran ? timeText(step.ms) : "")));
    });
    const ran = data.steps.filter((s, at) => at && s.skipped === undefined);
    const total = ran.reduce((sum, s) => sum + s.ms, 0);
    return [element("p", {}, ran.length + " passes ran in " + timeText(total) + ", " + (stops.length - 1) + " changed the graph" +
      (data.steps.length - 1 > ran.length ? ", " + (data.steps.length - 1 - ran.length) + " had nothing to do." : ".")), ...this.stages(), table];
  }

  stages() {
    if (!data.ms) return [];
    return [element("p", { class: "none" }, Object.entries(data.ms).map(([name, ms]) => name + " " + timeText(ms)).join(" · "))];
  }

  refused() {
    if (!data.refusals.length) return [element("p", { class: "none" }, "Every node could be lowered.")];
    const groups = new Map();
    for (const r of data.refusals) {
      const key = r.op + "\n" + r.reason;
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(r);
    }
    const parts = [element("p", {}, data.refusals.length + (data.refusals.length === 1 ? " node" : " nodes") + " cannot be lowered.")];
    for (const group of [...groups.values()].sort((a, b) => b.length - a.length)) {
      parts.push(element("h2", {}, element("code", {}, group[0].op), group.length > 1 ? " × " + group.length : ""), element("p", {}, group[0].reason));
      const names = element("p");
      for (const r of group.slice(0, 40)) names.append(link(r.node, () => this.app.revealOrigin(r.node)), r.source ? " " + r.source : "", "  ");
      parts.push(names);
    }
    return parts;
  }

  transposes() {
    const { before, before_layout, after, left } = data.transposes;
    const parts = [element("p", {}, before + " in the export, " + before_layout + " before layouts are chosen, " + after + " in the result" +
      (left.length ? ", " + bytesText(left.reduce((sum, t) => sum + t.bytes, 0)) + " moved." : "."))];
    for (const t of left)
      parts.push(element("h2", {}, link(t.node || "TRANSPOSE", () => this.app.revealOrigin(t.node, "tosa.TRANSPOSE"))),
        element("table", {}, row("shape", element("code", {}, t.shape.join("×"))), row("perms", element("code", {}, "[" + t.perms.join(", ") + "]")), row("bytes", bytesText(t.bytes))),
        element("p", {}, t.reason));
    return parts;
  }

  // --- memory ----------------------------------------------------------------------------

  memory() {
    const parts = [...(data.banks ? this.banks() : []), ...(data.core ? this.arena() : [])];
    if (!data.plan) return [...parts, element("p", {}, "No memory plan of this graph: " + data.unplanned)];
    for (const memory of data.plan.memories) {
      parts.push(element("h2", {}, memory.title[0].toUpperCase() + memory.title.slice(1) + (data.core || data.banks ? " of this graph" : "")),
        element("p", {}, bytesText(memory.peak) + " at the peak" + (memory.lower_bound ? ", " + (memory.peak / memory.lower_bound).toFixed(2) + " times the lower bound, " + bytesText(memory.lower_bound) + " at step " + memory.fullest_step : "") + (memory.least ? "; no order of the nodes needs less than " + bytesText(memory.least) : "")),
        this.planPicture(memory, data.plan.steps, (t) => this.tensorText(t), (t) => this.app.reveal(t[0], true)));
    }
    parts.push(element("p", { class: "none" }, "The plan of this graph is that of an executor that runs it node by node, as `headrace plan` prints it. From left to right: steps of the execution. From bottom to top: addresses. Constants are stored elsewhere. Hover over a tensor to see it, click to go to it."));
    return parts;
  }

  planPicture(memory, steps, describe, go) {
    const canvas = element("canvas", { class: "plan" });
    const width = Math.max(260, document.querySelector("aside").clientWidth - 30);
    const height = Math.round(Math.min(520, Math.max(220, width * 0.62)));
    const ratio = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    canvas.style.height = height + "px";
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const top = 16;
    const x = (step) => (step / steps) * width;
    const y = (address) => height - (memory.peak ? (address / memory.peak) * (height - top) : 0);
    const boxes = memory.tensors.map((t) => ({ t, x: x(t[4]), y: y(t[2] + t[3]), w: Math.max(1, x(t[5] + 1) - x(t[4])), h: Math.max(0.75, y(t[2]) - y(t[2] + t[3])) }));
    const kinds = ["--aten", "--tosa", "--quantized", "--other", "--builtin"];
    boxes.forEach((b, i) => {
      pen.globalAlpha = 0.75;
      pen.fillStyle = color(kinds[i % kinds.length]);
      pen.fillRect(b.x, b.y, b.w, b.h);
      pen.globalAlpha = 1;
      pen.strokeStyle = color("--paper");
      pen.lineWidth = 0.5;
      if (b.h > 2 && b.w > 2) pen.strokeRect(b.x, b.y, b.w, b.h);
    });
    pen.strokeStyle = pen.fillStyle = color("--gone");
    pen.setLineDash([5, 4]);
    pen.lineWidth = 1;
    pen.strokeRect(0, top, width, 0);
    const full = x(memory.fullest_step + 0.5);
    pen.strokeRect(full, top, 0, height);
    pen.font = "11px system-ui, sans-serif";
    pen.fillText("peak " + bytesText(memory.peak), 4, 12);
    const at = (event) => {
      const place = canvas.getBoundingClientRect();
      const [px, py] = [event.clientX - place.left, event.clientY - place.top];
      return boxes.find((b) => px >= b.x && px <= b.x + b.w && py >= b.y && py <= b.y + b.h);
    };
    canvas.addEventListener("mousemove", (event) => {
      const found = at(event);
      this.app.tip(found ? describe(found.t) : null, event);
    });
    canvas.addEventListener("mouseleave", () => this.app.tip(null));
    canvas.addEventListener("click", (event) => { const found = at(event); if (found) go(found.t); });
    return canvas;
  }

  tensorText([number, result, offset, bytes, first, last]) {
    const node = this.app.lastNodes().get(number);
    return (node ? "%" + (nameOf(node) || number) + "  " + typeText(resultType(node, result)) + "\n" + opOf(node) + "\n" : "") +
      bytesText(bytes) + " at " + offset + ", steps " + first + " to " + last;
  }

  // --- a comparison ----------------------------------------------------------------------

  layers() {
    // A layer without noise of its own passes on that of its inputs.
    const decibels = (number, layer) => (number !== null ? number.toFixed(1) : layer.largest_difference === 0 ? "equal" : "none");
    const table = element("table", {}, element("tr", {}, element("th", {}, "layer"), element("th", { class: "number", title: "decibels if its inputs were exact" }, "own"),
      element("th", { class: "number", title: "signal to noise, decibels" }, "SQNR"), element("th", { class: "number" }, "largest")));
    for (const layer of layers.slice(0, 500)) {
      const node = this.app.nodeNamed(layer.other);
      table.append(element("tr", { class: node ? "go" : "", title: layer.op + ", other: " + layer.other, onclick: node ? () => this.app.reveal(node.i) : undefined },
        element("td", {}, element("span", { class: "mono" }, layer.name), layer.source ? element("span", { class: "none" }, " " + layer.source) : null, element("div", { class: "bar", style: "width:" + (noiseOf(layer) * 100).toFixed(1) + "%" })),
        element("td", { class: "number" }, decibels(layer.own_sqnr_db, layer)), element("td", { class: "number" }, decibels(layer.sqnr_db, layer)),
        element("td", { class: "number" }, layer.largest_difference === null ? "" : layer.largest_difference.toPrecision(3))));
    }
    return [element("p", {}, layers.length + " layers compared over " + data.comparison.samples + " samples, " + data.comparison.reference_layers + " in the reference, " +
      data.comparison.other_layers + " here. Boxes are coloured by the noise that a layer itself adds (own): not at all from 40 dB on, fully at 10 dB and below."), table];
  }

  measured() {
    const nodes = [...this.app.view.nodes.values()].filter((n) => measuredOf(n)).sort((a, b) => measuredOf(b) - measuredOf(a));
    const total = [...measured.values()].reduce((a, b) => a + b, 0);
    const table = element("table", {}, element("tr", {}, ...["", "measured", "share", cycles.size ? "Vela" : ""].map((t) => element("th", { class: "number" }, t))));
    for (const node of nodes.slice(0, 200)) {
      const share = (measuredOf(node) / total) * 100;
      table.append(element("tr", { class: "go", onclick: () => this.app.reveal(node.i) },
        element("td", {}, element("span", { class: "mono" }, nameOf(node)), element("div", { class: "bar", style: "width:" + share.toFixed(2) + "%" })),
        element("td", { class: "number" }, countText(measuredOf(node))), element("td", { class: "number" }, share.toFixed(1) + " %"),
        element("td", { class: "number" }, cyclesOf(node) ? countText(cyclesOf(node)) : "")));
    }
    const found = nodes.reduce((sum, n) => sum + measuredOf(n), 0);
    return [element("p", {}, countText(total) + " " + data.measured.unit + " measured" + (found < total ? "; " + countText(total - found) + " belong to names that this graph does not have." : ".")), table];
  }

  vela() {
    const nodes = [...this.app.view.nodes.values()].filter((n) => cyclesOf(n)).sort((a, b) => cyclesOf(b) - cyclesOf(a));
    const total = [...cycles.values()].reduce((a, b) => a + b, 0);
    const found = nodes.reduce((sum, n) => sum + cyclesOf(n), 0);
    const table = element("table");
    for (const node of nodes.slice(0, 200)) {
      const share = cyclesOf(node) / total;
      table.append(element("tr", { class: "go", onclick: () => this.app.reveal(node.i) },
        element("td", {}, element("span", { class: "mono" }, nameOf(node)), element("div", { class: "bar", style: "width:" + (share * 100).toFixed(2) + "%" })),
        element("td", {}, shortOp(opOf(node))), element("td", { class: "number" }, countText(cyclesOf(node))), element("td", { class: "number" }, (share * 100).toFixed(1) + " %")));
    }
    return [element("p", {}, countText(total) + " cycles by the estimate of Vela" + (data.vela_version ? " " + data.vela_version : "") + (found < total ? "; " + countText(total - found) + " belong to names that this graph does not have." : ".")), table];
  }
}
