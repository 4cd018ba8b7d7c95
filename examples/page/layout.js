// SPDX-License-Identifier: MIT
// Where boxes and edges lie. Each open module is laid out by itself, when it is first seen, so that the time
// depends on what is visible and not on the size of the model.
"use strict";

const sizes = { pad: 12, head: 24, line: 15, widest: 250, closed: 44, port: 3 };

const measure = (() => {
  const context = document.createElement("canvas").getContext("2d");
  const fonts = {
    mono: '11px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
    small: '10px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
    op: '600 12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif',
  };
  const known = new Map();
  return (text, font) => {
    const key = font + text;
    if (!known.has(key)) {
      context.font = fonts[font];
      known.set(key, context.measureText(text).width);
    }
    return known.get(key);
  };
})();

function fitted(text, font, width) {
  if (measure(text, font) <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(text.slice(0, middle) + "…", font) <= width) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low) + "…";
}

/** The rows of text in a node's box: what it is, its name, its attributes, its weights. */
function rowsOf(item) {
  const node = item.node;
  const rows = [{ text: shortOp(opOf(node)), font: "op", style: "op" }];
  if (nameOf(node)) rows.push({ text: nameOf(node), font: "mono", style: "soft" });
  if (opOf(node) === "builtin.placeholder" && node.out.length) rows.push({ text: typeText(texts[node.out[0]]), font: "mono", style: "" });
  const given = pairs(node.a).slice(0, 5);
  for (const [name, text] of given) rows.push({ text: name + " " + shortNumbers(text), font: "mono", style: "soft" });
  const constants = item.constants.slice(0, 6);
  for (const c of constants) rows.push({ text: constantText(c), font: "mono", style: "" });
  if (item.constants.length > constants.length) rows.push({ text: item.constants.length - constants.length + " more constants", font: "mono", style: "soft" });
  return rows;
}
/** Enough digits for a box; the panel has all. */
const shortNumbers = (text) => text.replace(/(\d\.\d{4})\d+/g, "$1");
/** "weight int8 16×3×3×3", or the elements if they are few. */
function constantText(c) {
  const value = c.node.v !== undefined ? c.node.v : /CONST_SHAPE/.test(opOf(c.node)) ? attribute(c.node, "values") : undefined;
  const stored = typeText(resultType(c.node, 0));
  const text = value !== undefined && value.length <= 28 ? value.replace(/^\[([^,]*)\]$/, "$1") : stored;
  return c.field + (value !== undefined && value.length <= 28 ? " = " : " ") + text;
}

function boxOf(item) {
  if (item.box) return item.box;
  const rows = rowsOf(item);
  const width = Math.min(sizes.widest, Math.max(...rows.map((r) => measure(r.text, r.font)))) + 22;
  item.box = { w: Math.max(72, Math.ceil(width)), h: rows.length * sizes.line + 10,
    rows: rows.map((r) => ({ ...r, full: r.text, text: fitted(r.text, r.font, sizes.widest) })) };
  return item.box;
}
function closedBoxOf(module) {
  const title = fitted(module.title, "op", sizes.widest);
  const under = fitted([module.type, module.size + " nodes"].filter(Boolean).join(" · "), "mono", sizes.widest);
  return { w: Math.ceil(Math.max(90, measure(title, "op") + 34, measure(under, "mono") + 24)), h: sizes.closed, title, under };
}

const markText = (marks) => {
  const quantize = marks.find((m) => !/\.dequantize/.test(opOf(m)) || marks.length === 1) || marks[0];
  const scale = attribute(quantize, "scale");
  const zero = attribute(quantize, "zero_point");
  const type = /\.dequantize/.test(opOf(quantize)) ? "dequantize" : (resultType(quantize, 0).split("[")[0]);
  const kinds = marks.map((m) => (/\.dequantize/.test(opOf(m)) ? "DQ" : "Q")).join(" ");
  return [kinds, type, scale !== undefined ? "s=" + Number(scale).toPrecision(3).replace(/\.?0+(e|$)/, "$1") : "per channel", zero !== undefined ? "z=" + zero : ""].filter(Boolean).join(" ");
};

class Layouts {
  /** `open(module)` says whether a module is unfolded. */
  constructor(view, open) {
    this.view = view;
    this.open = open;
    this.made = new Map();
  }

  isOpen(module) {
    return module === this.view.root || this.open(module);
  }

  /** The layout of a module changed, and with it those around it. */
  forget(module) {
    for (let m = module; m; m = m.parent) this.made.delete(m);
  }

  /** {w, h, boxes: [{child, x, y, w, h, inner}], edges: [{points, label, marks, edges}], ports}, from 0, 0. */
  of(module) {
    if (!this.made.has(module)) this.made.set(module, this.make(module));
    return this.made.get(module);
  }

  childIn(module, item) {
    let at = item;
    while (at.parent !== module) at = at.parent;
    return at;
  }

  make(module) {
    const g = new dagre.graphlib.Graph({ multigraph: true });
    const count = module.children.length;
    g.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 34, edgesep: 12, marginx: 0, marginy: 0,
      ranker: count > 120 ? "longest-path" : "network-simplex" });
    g.setDefaultEdgeLabel(() => ({}));
    const ids = new Map();
    module.children.forEach((child, i) => {
      const id = "c" + i;
      ids.set(child, id);
      const inner = child.is_module && this.isOpen(child) ? this.of(child) : null;
      const size = inner || (child.is_module ? closedBoxOf(child) : boxOf(child));
      g.setNode(id, { width: size.w, height: size.h, child, inner });
    });
    const ports = this.addPorts(module, g, ids);
    this.addEdges(module, g, ids);
    dagre.layout(g);
    return this.collect(module, g, ports);
  }

  /** Small dots at the border for values that come in and go out. */
  addPorts(module, g, ids) {
    const ports = { in: new Map(), out: new Map() };
    if (module === this.view.root) return ports;
    const add = (edges, kind, end) => {
      for (const edge of edges) {
        const key = edge.source.number + ":" + edge.result;
        const id = kind + key;
        if (!ports[kind].has(key)) {
          ports[kind].set(key, id);
          g.setNode(id, { width: 2 * sizes.port, height: 2 * sizes.port, port: kind, key });
          if (kind === "in") g.setEdge("top", id, { weight: 30, minlen: 1, hidden: true }, "r" + id);
          else g.setEdge(id, "bottom", { weight: 30, minlen: 1, hidden: true }, "r" + id);
        }
        const child = ids.get(this.childIn(module, end(edge)));
        const name = id + child;
        const [from, to] = kind === "in" ? [id, child] : [child, id];
        if (!g.hasEdge(from, to, name)) g.setEdge(from, to, { edges: [edge], weight: 1, minlen: 1, from_port: kind === "in", to_port: kind === "out" }, name);
        else g.edge(from, to, name).edges.push(edge);
      }
    };
    if (module.ins.length) g.setNode("top", { width: 0, height: 0, hidden: true });
    if (module.outs.length) g.setNode("bottom", { width: 0, height: 0, hidden: true });
    add(module.ins, "in", (e) => e.target);
    add(module.outs, "out", (e) => e.source);
    return ports;
  }

  addEdges(module, g, ids) {
    const between = new Map();
    for (const edge of module.edges) {
      const from = ids.get(this.childIn(module, edge.source));
      const to = ids.get(this.childIn(module, edge.target));
      const key = from + " " + to;
      if (!between.has(key)) between.set(key, { from, to, values: new Map() });
      const values = between.get(key).values;
      const value = edge.source.number + ":" + edge.result + (edge.marks.length ? "m" + edge.marks.map((m) => m.i).join() : "");
      if (!values.has(value)) values.set(value, []);
      values.get(value).push(edge);
    }
    for (const { from, to, values } of between.values()) {
      if (values.size > 3) {
        this.addEdge(g, from, to, [...values.values()].flat(), values.size + " tensors", "");
        continue;
      }
      for (const edges of values.values()) {
        const type = typeText(resultType(edges[0].source.node, edges[0].result));
        this.addEdge(g, from, to, edges, type, edges[0].marks.length ? markText(edges[0].marks) : "");
      }
    }
  }

  addEdge(g, from, to, edges, label, mark) {
    const width = Math.max(measure(label, "small") + 8, mark ? measure(mark, "small") + 12 : 0);
    g.setEdge(from, to, { edges, label, mark, width: Math.ceil(width), height: mark ? 31 : 14, labelpos: "c", weight: 2, minlen: 1 },
      edges[0].source.number + ":" + edges[0].result + ":" + edges[0].marks.length + (edges[0].marks[0] ? edges[0].marks[0].i : ""));
  }

  collect(module, g, ports) {
    const is_root = module === this.view.root;
    const dx = is_root ? 0 : sizes.pad;
    const boxes = [];
    const dots = new Map();
    let [top, bottom] = [Infinity, -Infinity];
    let [left, right] = [Infinity, -Infinity];
    for (const id of g.nodes()) {
      const n = g.node(id);
      if (n.hidden) continue;
      const box = { x: n.x - n.width / 2, y: n.y - n.height / 2, w: n.width, h: n.height, child: n.child, inner: n.inner };
      top = Math.min(top, box.y); bottom = Math.max(bottom, box.y + box.h);
      left = Math.min(left, box.x); right = Math.max(right, box.x + box.w);
      if (n.port) dots.set(n.port + n.key, { x: n.x, y: n.y, kind: n.port });
      else boxes.push(box);
    }
    const edges = [];
    for (const id of g.edges()) {
      const e = g.edge(id);
      if (e.hidden) continue;
      const points = e.points.map((p) => ({ x: p.x, y: p.y }));
      for (const p of points) { left = Math.min(left, p.x); right = Math.max(right, p.x); }
      if (e.width) { left = Math.min(left, e.x - e.width / 2); right = Math.max(right, e.x + e.width / 2); }
      this.snap(points, g, id, e);
      edges.push({ points, label: e.label, mark: e.mark, at: e.label ? { x: e.x, y: e.y, w: e.width, h: e.height } : null, edges: e.edges, to_port: e.to_port });
    }
    if (!boxes.length) [top, bottom, left, right] = [0, 20, 0, 60];
    const head = is_root ? 0 : sizes.head + 8;
    const shift = (p) => { p.x += dx - left; p.y += head - top; };
    boxes.forEach(shift);
    for (const e of edges) { e.points.forEach(shift); if (e.at) shift(e.at); }
    dots.forEach(shift);
    const title = is_root ? 0 : Math.min(sizes.widest, measure(module.title + "  " + module.type, "op") + 30);
    return { w: Math.max(right - left + 2 * dx, title), h: bottom - top + head + (is_root ? 0 : sizes.pad), boxes, edges, dots, ports };
  }

  /** An edge to or from an open module ends at the port of its value. */
  snap(points, g, id, e) {
    const value = e.edges[0].source.number + ":" + e.edges[0].result;
    const from = g.node(id.v);
    const to = g.node(id.w);
    if (from.inner && from.inner.dots.has("out" + value)) {
      const dot = from.inner.dots.get("out" + value);
      points[0] = { x: from.x - from.width / 2 + dot.x, y: from.y - from.height / 2 + dot.y };
    }
    if (to.inner && to.inner.dots.has("in" + value)) {
      const dot = to.inner.dots.get("in" + value);
      points[points.length - 1] = { x: to.x - to.width / 2 + dot.x, y: to.y - to.height / 2 + dot.y };
      e.to_port = true;
    }
  }
}
