// SPDX-License-Identifier: MIT
// Puts the parts together: what is shown, and what the controls do.
"use strict";

class App {
  constructor() {
    const find = (id) => document.getElementById(id);
    this.find = find;
    this.step = stops[stops.length - 1];
    this.open = new Set();  // keys of modules that the user or openSome unfolded
    this.lit = new Set();  // of those that are unfolded because this step changed what is in them
    this.drawing = new Drawing(find("canvas"), find("scene"), {
      select: (item) => this.select(item.node),
      selectNode: (node) => this.select(node),
      toggle: (module) => this.toggle(module),
      tip: (text) => this.tip(text, d3.event),
    });
    this.panel = new Panel(this);
    const short = data.title.split("/").slice(-2).join("/");
    find("title").textContent = short;
    find("title").title = data.title;
    find("title").append(element("small", {}, data.program));
    document.title = short + " – headrace";
    this.connect();
    this.rebuild(true);
    this.drawing.fit(true);
  }

  connect() {
    const { find } = this;
    find("timeline").hidden = stops.length < 2;
    Object.assign(find("slider"), { max: stops.length - 1, value: stops.length - 1 });
    find("slider").addEventListener("input", () => this.go(stops[Number(find("slider").value)]));
    find("before").addEventListener("click", () => this.go(stops[Math.max(0, stops.indexOf(this.step) - 1)]));
    find("after").addEventListener("click", () => this.go(stops[Math.min(stops.length - 1, stops.indexOf(this.step) + 1)]));
    this.map = new Minimap(this.drawing, find("map"));
    for (const id of ["marks", "changes"]) find(id).addEventListener("change", () => { this.rebuild(); this.drawing.fit(true); });
    if (cycles.size) {
      find("heat").append(element("option", { value: "cycles" }, "Vela cycles"));
      find("heat").value = "cycles";
    }
    if (measured.size) {
      find("heat").append(element("option", { value: "measured" }, "measured " + data.measured.unit));
      find("heat").value = "measured";
    }
    if (layers.length) {
      find("heat").append(element("option", { value: "noise" }, "noise added"));
      find("heat").value = "noise";
    }
    find("heat").addEventListener("change", () => this.draw());
    find("fit").addEventListener("click", () => this.drawing.fit(false));
    find("fold").addEventListener("click", () => { this.open.clear(); this.lit.clear(); this.relayout(); this.drawing.fit(true); });
    find("unfold").addEventListener("click", () => this.unfold());
    this.followTheme();
    find("theme").addEventListener("click", () => this.changeTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
    find("search").addEventListener("input", () => this.search());
    find("search").addEventListener("keydown", (event) => {
      if (event.key === "Escape") find("search").blur();
      if (event.key === "Enter" && this.hits && this.hits.length) this.pick(this.hits[0]);
    });
    find("search").addEventListener("blur", () => setTimeout(() => { find("found").hidden = true; }, 200));
    find("search").addEventListener("focus", () => this.search());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (/^(INPUT|SELECT)$/.test(document.activeElement.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = { "/": () => { this.find("search").focus(); event.preventDefault(); }, 0: () => this.drawing.fit(false),
      ArrowLeft: () => this.find("before").click(), ArrowRight: () => this.find("after").click() }[event.key];
    if (action) action();
  }

  // The system's theme, until the reader chooses one.
  followTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => {
      if (!this.has_own_theme) document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
    };
    dark.addEventListener("change", follow);
    follow();
  }

  changeTheme(theme) {
    this.has_own_theme = true;
    document.documentElement.dataset.theme = theme;
    this.panel.refresh();
  }

  /** The page around this one chooses the theme. */
  followPage(theme) {
    this.find("theme").hidden = true;
    this.changeTheme(theme);
  }

  // --- what is shown ---------------------------------------------------------------------

  rebuild(first) {
    this.view = new View(this.step, { marks: this.find("marks").checked, changes: this.find("changes").checked && this.step > 0 && !first });
    if (first) this.openSome();
    this.openChanged();
    this.relayout();
    this.panel.refresh();
    this.showStep();
  }

  relayout() {
    this.layouts = new Layouts(this.view, (module) => this.open.has(module.key) || this.lit.has(module.key));
    this.draw();
  }

  draw() {
    this.drawing.show(this.view, this.layouts, this.heat());
    this.map.show();
    const item = this.selected && this.view.items.get(this.selected.i);
    this.drawing.select(item || null);
  }

  /** Opens modules as long as that stays legible: those that come first and are small. */
  openSome() {
    let visible = this.view.root.children.length;
    const waiting = this.view.root.children.filter((c) => c.is_module);
    while (waiting.length) {
      const module = waiting.shift();
      // Bodies of delegates and branches stand beside the graph that calls them: the reader opens them.
      if (module.is_body || visible + module.children.length > 110) continue;
      this.open.add(module.key);
      visible += module.children.length;
      waiting.push(...module.children.filter((c) => c.is_module));
    }
  }

  /** Unfolds what holds what the step changed, as far as that stays legible. */
  openChanged() {
    this.lit.clear();
    let budget = 150;
    for (const set of [this.view.came, this.view.gone, this.view.changed]) {
      for (const number of set) {
        const item = this.view.items.get(number);
        if (!item) continue;
        const closed = this.view.modulesAround(item).filter((m) => !this.open.has(m.key) && !this.lit.has(m.key));
        const cost = closed.reduce((sum, m) => sum + m.children.length, 0);
        if (cost > budget) continue;
        budget -= cost;
        for (const module of closed) this.lit.add(module.key);
      }
    }
  }

  visibleModules() {
    const found = [];
    const visit = (module) => {
      for (const child of module.children) {
        if (!child.is_module) continue;
        found.push(child);
        if (this.layouts.isOpen(child)) visit(child);
      }
    };
    visit(this.view.root);
    return found;
  }

  /** The next level, up to a number of boxes that can still be drawn fast. */
  unfold() {
    let visible = this.drawing.places.size;
    for (const module of this.visibleModules()) {
      if (this.layouts.isOpen(module) || visible + module.children.length > 600) continue;
      this.open.add(module.key);
      visible += module.children.length;
    }
    this.relayout();
    this.drawing.fit(true);
  }

  heat() {
    const kind = this.find("heat").value;
    if (!kind) return null;
    if (kind === "noise") return this.noise();
    const cost = kind === "macs" ? (node) => node.w || 0 : kind === "measured" ? measuredOf : cyclesOf;
    let total = 0;
    for (const node of this.view.nodes.values()) total += cost(node);
    return (child) => {
      let sum = 0;
      for (const item of itemsOf(child)) sum += cost(item.node);
      return total ? sum / total : 0;
    };
  }

  /** The noise of the layer that ends in a node, or of the worst one in a module. */
  noise() {
    const found = new Map();
    for (const layer of layers) {
      const node = this.nodeNamed(layer.other);
      const number = node && (this.view.items.has(node.i) ? node.i : this.view.sourceOf(node.i, 0).number);
      if (node) found.set(number, Math.max(found.get(number) || 0, noiseOf(layer)));
    }
    return (child) => {
      let worst = 0;
      for (const item of itemsOf(child)) worst = Math.max(worst, found.get(item.number) || 0);
      return worst;
    };
  }
  nodeNamed(name) {
    if (this.namedIn !== this.view) {
      this.namedIn = this.view;
      this.named = new Map([...this.view.nodes.values()].map((n) => [n.n, n]));
    }
    return this.named.get(name);
  }

  atEnd() { return this.step === stops[stops.length - 1]; }
  lastNodes() { return this.atEnd() ? this.view.nodes : nodesAfter(stops[stops.length - 1]); }
  selectedNode() { return this.selected && (this.view.nodes.get(this.selected.i) || this.selected); }

  go(step) {
    // A pass that changed nothing has no picture of its own: show the one before it.
    const stop = stops.filter((s) => s <= step).pop();
    if (stop === this.step) return;
    this.step = stop;
    this.find("slider").value = stops.indexOf(stop);
    const before = [this.drawing.zoom.translate(), this.drawing.zoom.scale()];
    this.rebuild();
    const first = this.firstChange();
    if (first) this.showChange(first);
    else this.drawing.move(before[0][0], before[0][1], before[1]);
  }

  firstChange() {
    for (const set of [this.view.came, this.view.changed, this.view.gone])
      for (const number of set) if (this.view.items.has(number)) return this.view.items.get(number);
    return null;
  }
  showChange(item) {
    let shown = item;
    for (const module of this.view.modulesAround(item)) {
      if (!this.layouts.isOpen(module)) { shown = module; break; }
    }
    this.drawing.center(shown);
  }

  showStep() {
    const step = data.steps[this.step];
    const out = this.find("step");
    const at = stops.indexOf(this.step);
    out.replaceChildren(this.step === 0 ? element("b", {}, "as exported") : element("b", {}, "after " + step.pass), "  " + at + " of " + (stops.length - 1));
    if (this.step === 0) return;
    out.append(" · " + timeText(step.ms) + " · " + step.rewritten + " rewritten ");
    const counts = this.stepCounts(step);
    for (const [kind, sign] of [["came", "+"], ["changed", "~"], ["gone", "−"]])
      if (counts[kind]) out.append(" ", element("span", { class: kind }, sign + counts[kind]));
  }
  stepCounts(step) {
    const came = step.set.filter((n) => lives.get(n.i).made === this.step).length;
    return { came, changed: step.set.length - came, gone: step.gone.length };
  }

  toggle(module) {
    const before = this.drawing.places.get(module);
    const was_open = this.layouts.isOpen(module);
    this.lit.delete(module.key);
    if (was_open) this.open.delete(module.key);
    else this.open.add(module.key);
    this.layouts.forget(module);
    this.draw();
    this.drawing.keep(module, before);
  }

  // --- selection and search --------------------------------------------------------------

  select(node) {
    this.selected = node;
    this.drawing.select(this.view.items.get(node.i) || null);
    this.panel.open("node");
    this.tell(node);
  }

  /** Whoever shows this page beside another follows what is selected. */
  tell(node) {
    const names = [node.n, node.o && texts[node.o[0]], fileNames.get(node.i)].filter(Boolean);
    if (this.onselect && !this.is_following) this.onselect(names);
  }

  /** Shows the first node that has one of these names, or that descends from an exported node of one. */
  showNamed(names) {
    const nodes = [...this.view.nodes.values()].filter((n) => !isConstant(n));
    for (const name of names) {
      const found = nodes.find((n) => n.n === name) || nodes.find((n) => n.o && texts[n.o[0]] === name);
      if (!found) continue;
      this.is_following = true;
      this.reveal(found.i);
      this.is_following = false;
      return;
    }
  }

  /** Opens what a node is in, shows it, and selects it. */
  reveal(number, at_end) {
    if (at_end && !this.atEnd()) this.go(stops[stops.length - 1]);
    const node = this.view.nodes.get(number);
    if (!node) return;
    const item = this.drawnFor(number);
    if (item) {
      let opened = false;
      for (const module of this.view.modulesAround(item)) {
        if (this.layouts.isOpen(module)) continue;
        this.open.add(module.key);
        this.layouts.forget(module);
        opened = true;
      }
      if (opened) this.draw();
      this.drawing.center(item);
    }
    this.selected = node;
    this.drawing.select(item);
    this.panel.open("node");
    this.tell(node);
  }

  /** The box that shows a node: its own, or that of who uses a constant. */
  drawnFor(number) {
    if (this.view.items.has(number)) return this.view.items.get(number);
    for (const item of this.view.items.values()) {
      if (item.constants.some((c) => c.node.i === number || c.marks.some((m) => m.i === number))) return item;
      if (item.inputs.some((e) => e.marks.some((m) => m.i === number))) return item;
    }
    return null;
  }

  /** A node that descends from an exported one, of that op if there is one. */
  revealOrigin(name, op) {
    const matches = (nodes) => [...nodes.values()].filter((n) => !isConstant(n) && (n.n === name || (n.o && texts[n.o[0]] === name)));
    let found = matches(this.view.nodes);
    if (!found.length) {
      this.go(stops[0]);
      found = matches(this.view.nodes);
    }
    const best = found.find((n) => opOf(n) === op) || found[0];
    if (best) this.reveal(best.i);
  }

  search() {
    const text = this.find("search").value.trim().toLowerCase();
    const box = this.find("found");
    this.hits = [];
    if (text) {
      const ranked = [];
      for (const node of this.view.nodes.values()) {
        const [name, op] = [nameOf(node).toLowerCase(), opOf(node).toLowerCase()];
        const rank = name === text ? 0 : name.startsWith(text) ? 1 : name.includes(text) ? 2 : op.includes(text) ? 3 : -1;
        if (rank >= 0) ranked.push([rank + (isConstant(node) && rank > 0 ? 4 : 0), node]);
      }
      this.hits = ranked.sort((a, b) => a[0] - b[0] || a[1].i - b[1].i).map((r) => r[1]);
    }
    box.replaceChildren(...this.hits.slice(0, 60).map((node, i) => element("div", { class: i === 0 ? "first" : "", onmousedown: () => this.pick(node) },
      element("span", { class: "mono" }, nameOf(node) || "(no name)"), element("span", {}, shortOp(opOf(node))))));
    if (this.hits.length > 60) box.append(element("div", {}, element("span", {}, this.hits.length - 60 + " more")));
    if (text && !this.hits.length) box.append(element("div", {}, element("span", {}, "Nothing has that name or op after this pass.")));
    box.hidden = !text;
  }
  searchFor(op) {
    this.find("search").value = op;
    this.find("search").focus();
    this.search();
  }
  pick(node) {
    this.find("found").hidden = true;
    this.reveal(node.i);
  }

  tip(text, event) {
    const tip = this.find("tip");
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    tip.style.left = Math.min(event.clientX + 14, innerWidth - 430) + "px";
    tip.style.top = Math.min(event.clientY + 14, innerHeight - 90) + "px";
  }
}

window.app = new App();
window.pageReady = true;
