// SPDX-License-Identifier: MIT
// The data of the page: graphs after each pass, which nodes are drawn, and the modules that they are of.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const texts = data.texts;

/** Steps that changed the graph, by position in data.steps; the first is the graph before all passes. */
const stops = data.steps.map((_, i) => i).filter((i) => i === 0 || data.steps[i].set.length || data.steps[i].gone.length);

/** For each node number the steps that made, changed and removed it. */
const lives = new Map();
data.steps.forEach((step, at) => {
  for (const node of step.set) {
    if (!lives.has(node.i)) lives.set(node.i, { made: at, changed: [], gone: -1 });
    else if (lives.get(node.i).gone >= 0) Object.assign(lives.get(node.i), { gone: -1 });
    else lives.get(node.i).changed.push(at);
  }
  for (const number of step.gone) if (lives.has(number)) lives.get(number).gone = at;
});

/** The nodes after a step, by number. The last answer is continued if it can be. */
const nodesAfter = (() => {
  let known = { step: -1, nodes: new Map() };
  return (step) => {
    if (step < known.step) known = { step: -1, nodes: new Map() };
    for (let at = known.step + 1; at <= step; ++at) {
      for (const number of data.steps[at].gone) known.nodes.delete(number);
      for (const node of data.steps[at].set) known.nodes.set(node.i, node);
    }
    known.step = step;
    return known.nodes;
  };
})();

const opOf = (node) => texts[node.op];
const dialectOf = (node) => opOf(node).split(".")[0];
/** "aten.conv2d.default" is "conv2d", "aten.add.Tensor" is "add.Tensor", "tosa.CONV2D" is "CONV2D", "aten::add.out" is "add". */
function shortOp(op) {
  const kernel = /::(.*)$/.exec(op);
  if (kernel) return kernel[1].replace(/\.out$/, "");
  const parts = op.split(".");
  if (parts[0] === "builtin") return { placeholder: "input" }[parts[1]] || parts[1];
  if (parts.length > 1) parts.shift();
  if (parts.length > 1 && parts[parts.length - 1] === "default") parts.pop();
  return parts.join(".");
}
const nameOf = (node) => node.n || (node.o && texts[node.o[0]]) || "";
const isConstant = (node) => /^(builtin\.constant|tosa\.CONST(_SHAPE)?)$/.test(opOf(node));
const isQuantize = (node) => /^quantized_decomposed\.(de)?quantize_per_(tensor|channel)\b/.test(opOf(node));
/** "float32[1, 3, 8, 8]" is "float32 1×3×8×8". */
function typeText(text) {
  const parts = /^(\w+)\[(.*)\]$/.exec(text);
  return parts ? (parts[2] ? parts[1] + " " + parts[2].replace(/, /g, "×") : parts[1]) : text;
}
const resultType = (node, result) => (node.out.length > result ? texts[node.out[result]] : "?");
function pairs(list) {
  const found = [];
  for (let i = 0; list && i + 1 < list.length; i += 2) found.push([texts[list[i]], texts[list[i + 1]]]);
  return found;
}
const attribute = (node, name) => (pairs(node.a).concat(pairs(node.d)).find((p) => p[0] === name) || [])[1];

/** Vela's cycles by the name of the tensor that a layer writes. */
const cycles = (() => {
  const found = new Map();
  if (!data.vela) return found;
  const rows = data.vela.split(/\r?\n/).map((line) => line.split(","));
  const name = rows[0].indexOf("Name");
  const count = rows[0].indexOf("Op Cycles");
  for (const row of rows.slice(1)) {
    const number = Number(row[count]);
    // Names may have commas: all behind the last figure is the name.
    if (row.length > name && number >= 0) {
      const key = row.slice(name).join(",");
      found.set(key, (found.get(key) || 0) + number);
    }
  }
  return found;
})();
/** What the flatbuffer calls a node of the last graph; a page of a flatbuffer has these names anyway. */
const fileNames = new Map();
for (let i = 0; data.names && i < data.names.length; i += 2) fileNames.set(data.names[i], data.names[i + 1]);
const fileName = (node) => fileNames.get(node.i) || node.n;
const cyclesOf = (node) => (isConstant(node) ? 0 : cycles.get(fileName(node)) || 0);

/** What a board measured, by the name of the tensor, or of the layer, which is that of its first node. */
const measured = new Map(data.measured ? data.measured.layers : []);
const measuredOf = (node) => (isConstant(node) ? 0 : measured.get(fileName(node)) || 0);
/** The estimated instructions of the layer that begins with a node. */
const instructions = new Map();
for (const layer of data.core ? data.core.layers : []) if (layer.instructions) instructions.set(layer.name, layer.instructions);
const instructionsOf = (node) => (isConstant(node) ? 0 : instructions.get(fileName(node)) || 0);

/** How much noise layers add, of a page that `compare` wrote: from 0, none, to 1, as much as signal. */
const layers = data.comparison ? data.comparison.layers : [];
/** From 0, no noise that counts, at 40 dB and above, to 1 at 10 dB and below. */
const noiseOf = (layer) => (layer.own_sqnr_db === null ? 0 : Math.min(1, Math.max(0, (40 - layer.own_sqnr_db) / 30)));

const refused = new Map(data.refusals.map((r) => [r.node, r]));
const refusalOf = (node) => (node.o && refused.get(texts[node.o[0]])) || (node.n && refused.get(node.n)) || null;

// --- what is drawn -----------------------------------------------------------------------

/** The frames of a module stack below the model itself: [call, path, type]. */
function framesOf(text) {
  const frames = [];
  for (const frame of text.split(";")) {
    const first = frame.indexOf(",");
    const last = frame.lastIndexOf(",");
    if (first > 0 && last > first) frames.push([frame.slice(0, first), frame.slice(first + 1, last), frame.slice(last + 1)]);
  }
  return frames.slice(1, 64);
}

/** An order in which nodes can be executed, near what they need: depth first from the results. */
function executionOrder(nodes, sourcesOf) {
  const order = [];
  const state = new Map();
  for (const root of nodes) {
    if (state.has(root)) continue;
    const stack = [[root, 0]];
    state.set(root, 1);
    while (stack.length) {
      const top = stack[stack.length - 1];
      const sources = sourcesOf(top[0]);
      if (top[1] < sources.length) {
        const next = sources[top[1]++];
        if (!state.has(next)) {
          state.set(next, 1);
          stack.push([next, 0]);
        }
      } else {
        order.push(top[0]);
        stack.pop();
      }
    }
  }
  return order;
}

/** A cluster of nodes: a module, a region, or some of what lies in one. */
function makeModule(key, title, type, parent) {
  return { key, title, type, parent, depth: parent ? parent.depth + 1 : 0, children: [], modules: new Map(),
    edges: [], ins: [], outs: [], size: 0, is_module: true };
}

/** Items of the view: {node, number, inputs: [{item, result, field, marks}], constants: [...], parent}. */
class View {
  constructor(step, options) {
    this.step = step;
    const now = new Map(nodesAfter(step));
    this.came = new Set();
    this.changed = new Set();
    this.gone = new Set();
    if (options.changes && step > 0) this.addChanges(now, step);
    this.nodes = now;
    this.marks = options.marks;
    this.items = new Map();
    this.root = makeModule("", data.title, "", null);
    this.makeItems();
    this.connect();
    this.cluster();
    this.assignEdges();
  }

  addChanges(now, step) {
    const past = new Map(nodesAfter(step - 1));
    for (const node of data.steps[step].set) (past.has(node.i) ? this.changed : this.came).add(node.i);
    for (const number of data.steps[step].gone) {
      this.gone.add(number);
      if (past.has(number)) now.set(number, past.get(number));
    }
    nodesAfter(step);
  }

  makeItems() {
    for (const [number, node] of this.nodes) {
      if (isConstant(node) || (this.marks && isQuantize(node))) continue;
      this.items.set(number, { node, number, inputs: [], constants: [], uses: [], parent: null, is_module: false });
    }
  }

  /** Where a value comes from, past quantize and dequantize nodes, which become marks. */
  sourceOf(number, result) {
    const marks = [];
    for (let node = this.nodes.get(number); node && this.marks && isQuantize(node) && node.in.length; node = this.nodes.get(number)) {
      marks.unshift(node);
      [number, result] = node.in;
      if (marks.length > 64) break;
    }
    return { number, result, marks };
  }

  connect() {
    for (const item of this.items.values()) {
      const list = item.node.in;
      for (let i = 0; i + 2 < list.length; i += 3) {
        const { number, result, marks } = this.sourceOf(list[i], list[i + 1]);
        const field = texts[list[i + 2]];
        const source = this.items.get(number);
        if (source) {
          const edge = { source, target: item, result, field, marks };
          item.inputs.push(edge);
          source.uses.push(edge);
        } else if (this.nodes.has(number)) {
          item.constants.push({ node: this.nodes.get(number), field, marks });
        }
      }
    }
    // A quantize node that only the output of the graph is behind, or nothing, is on no edge.
    this.order = executionOrder([...this.items.values()], (item) => item.inputs.map((e) => e.source));
    this.order.forEach((item, at) => { item.at = at; });
  }

  moduleOf(parent, key, title, type) {
    let found = parent.modules.get(key);
    if (!found) {
      found = makeModule(parent.key + "/" + key, title, type, parent);
      parent.modules.set(key, found);
    }
    return found;
  }

  homeOf(item) {
    let home = this.root;
    if (item.node.r) {
      const holder = this.items.get(item.node.r[0]);
      if (holder) {
        if (!holder.home) this.homeOf(holder);
        home = this.moduleOf(holder.home, "#" + item.node.r.join(":"), texts[item.node.r[1]], "of " + (nameOf(holder.node) || shortOp(opOf(holder.node))));
        home.is_body = true;
      }
    } else if (item.node.m !== undefined) {
      let parent_path = "";
      for (const [call, path, type] of framesOf(texts[item.node.m])) {
        const own = parent_path && path.startsWith(parent_path + ".") ? path.slice(parent_path.length + 1) : path;
        home = this.moduleOf(home, call, own || call, type.split(".").pop());
        parent_path = path;
      }
    }
    item.home = home;
    return home;
  }

  cluster() {
    for (const item of this.order) {
      const home = this.homeOf(item);
      home.children.push(item);
      for (let m = home; m; m = m.parent) m.size += 1;
    }
    this.finish(this.root);
  }

  /** Joins modules that have one child with it, orders children, and splits what is too long to look at. */
  finish(module) {
    for (let child of module.modules.values()) {
      while (child.children.length === 0 && child.modules.size === 1) {
        const only = child.modules.values().next().value;
        only.title = child.title + "." + only.title;
        child = only;
      }
      child.parent = module;
      child.depth = module.depth + 1;
      // A box around one box says nothing: its title is in the details of the node.
      if (child.children.length === 1 && child.modules.size === 0) {
        module.children.push(child.children[0]);
        continue;
      }
      module.children.push(child);
      this.finish(child);
    }
    module.modules.clear();
    for (const child of module.children) if (child.is_module) child.at = firstOf(child);
    module.children.sort((a, b) => a.at - b.at);
    this.split(module);
    for (const child of module.children) child.parent = module;
  }

  split(module) {
    const most = 48;
    const list = module.children;
    if (list.length <= most) return;
    const parts = Math.min(24, Math.ceil(list.length / 24));
    const crossing = this.crossings(list);
    const groups = [];
    let begin = 0;
    for (let part = 1; part <= parts; ++part) {
      const ideal = Math.round((list.length * part) / parts);
      const reach = Math.floor(list.length / parts / 4);
      let end = ideal;
      for (let at = ideal - reach; part !== parts && at <= ideal + reach; ++at)
        if (at > begin && at < list.length && crossing[at] < crossing[end]) end = at;
      if (end > begin) groups.push(list.slice(begin, end));
      begin = end;
    }
    module.children = groups.map((group, i) => {
      const names = [group[0], group[group.length - 1]].map((c) => (c.is_module ? c.title : nameOf(c.node) || shortOp(opOf(c.node))));
      const made = makeModule(module.key + "/~" + i, "part " + (i + 1) + " of " + groups.length, names.join(" … "), module);
      made.children = group;
      made.size = group.reduce((sum, c) => sum + (c.is_module ? c.size : 1), 0);
      made.at = group[0].at;
      this.split(made);
      for (const child of made.children) setParent(child, made);
      return made;
    });
  }

  /** For each position in the list, how many edges pass over it. */
  crossings(list) {
    const place = new Map();
    list.forEach((child, at) => { for (const item of itemsOf(child)) place.set(item, at); });
    const change = new Int32Array(list.length + 2);
    for (const [item, at] of place) {
      for (const edge of item.inputs) {
        const from = place.get(edge.source);
        if (from === undefined || from === at) continue;
        change[Math.min(from, at) + 1] += 1;
        change[Math.max(from, at) + 1] -= 1;
      }
    }
    const over = new Int32Array(list.length + 1);
    for (let at = 1; at <= list.length; ++at) over[at] = over[at - 1] + change[at];
    return over;
  }

  /** Each edge belongs to the innermost module around both ends, and passes the borders of those within. */
  assignEdges() {
    const settle = (child, parent) => {
      child.parent = parent;
      child.depth = parent.depth + 1;
      if (child.is_module) for (const inner of child.children) settle(inner, child);
    };
    for (const child of this.root.children) settle(child, this.root);
    for (const item of this.items.values()) {
      for (const edge of item.inputs) {
        let from = edge.source.parent;
        let to = item.parent;
        while (from.depth > to.depth) { from.outs.push(edge); from = from.parent; }
        while (to.depth > from.depth) { to.ins.push(edge); to = to.parent; }
        while (from !== to) {
          from.outs.push(edge);
          to.ins.push(edge);
          from = from.parent;
          to = to.parent;
        }
        from.edges.push(edge);
      }
    }
  }

  /** Modules around an item, the outermost first, the whole graph left out. */
  modulesAround(item) {
    const found = [];
    for (let m = item.parent; m && m !== this.root; m = m.parent) found.unshift(m);
    return found;
  }
}

function setParent(child, parent) {
  child.parent = parent;
  child.depth = parent.depth + 1;
}
function firstOf(module) {
  let first = Infinity;
  for (const item of itemsOf(module)) first = Math.min(first, item.at);
  return first;
}
function* itemsOf(child) {
  if (!child.is_module) yield child;
  else {
    for (const inner of child.children) yield* itemsOf(inner);
    for (const inner of child.modules.values()) yield* itemsOf(inner);
  }
}
