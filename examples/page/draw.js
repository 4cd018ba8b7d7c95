// SPDX-License-Identifier: MIT
// Draws a view: boxes, edges and labels as SVG, with zoom and pan.
"use strict";

const curve = d3.svg.line().x((p) => p.x).y((p) => p.y).interpolate("basis");

class Drawing {
  constructor(svg, scene, actions) {
    this.svg = d3.select(svg);
    this.scene = d3.select(scene);
    this.actions = actions;
    this.zoom = d3.behavior.zoom().scaleExtent([0.02, 4]).on("zoom", () => {
      const [x, y] = d3.event.translate;
      this.scene.attr("transform", "translate(" + x + "," + y + ") scale(" + d3.event.scale + ")");
      if (this.onmove) this.onmove();
    });
    this.svg.call(this.zoom).on("dblclick.zoom", null);
    this.places = new Map();
    this.selected = null;
  }

  show(view, layouts, heat) {
    this.view = view;
    this.layouts = layouts;
    this.heat = heat;
    this.places.clear();
    const scene = this.scene.node();
    while (scene.firstChild) scene.removeChild(scene.firstChild);
    this.whole = layouts.of(view.root);
    this.drawLayout(this.scene, this.whole, 0, 0);
    this.mark();
  }

  drawLayout(into, layout, x, y) {
    const boxes = into.append("g").attr("transform", "translate(" + x + "," + y + ")");
    for (const box of layout.boxes) {
      this.places.set(box.child, { x: this.offset(boxes).x + box.x, y: this.offset(boxes).y + box.y, w: box.w, h: box.h });
      if (box.child.is_module) this.drawModule(boxes, box);
      else this.drawNode(boxes, box);
    }
    // Above the boxes: an edge to an open module ends inside of it, at the port of its value.
    const edges = boxes.append("g");
    for (const edge of layout.edges) this.drawEdge(edges, edge);
    for (const dot of layout.dots.values()) edges.append("circle").attr("class", "port").attr("cx", dot.x).attr("cy", dot.y).attr("r", 2.5);
    for (const box of layout.boxes) if (box.inner) this.drawTitle(boxes, box);
    for (const edge of layout.edges) this.drawLabel(boxes, edge);
  }

  /** Where a group lies in the scene: the sum of the translations around it. */
  offset(group) {
    let [x, y] = [0, 0];
    for (let n = group.node(); n && n !== this.scene.node(); n = n.parentNode) {
      const found = /translate\(([-\d.e]+),([-\d.e]+)\)/.exec(n.getAttribute("transform") || "");
      if (found) { x += Number(found[1]); y += Number(found[2]); }
    }
    return { x, y };
  }

  stateOf(item) {
    if (this.view.gone.has(item.number)) return " gone";
    if (this.view.came.has(item.number)) return " came";
    if (this.view.changed.has(item.number)) return " changed";
    return "";
  }

  drawNode(into, box) {
    const item = box.child;
    const node = item.node;
    const look = boxOf(item);
    const g = into.append("g").attr("transform", "translate(" + box.x + "," + box.y + ")")
      .attr("class", "node" + this.stateOf(item) + (refusalOf(node) ? " refused" : "")).attr("data-node", item.number);
    g.append("rect").attr("class", "box").attr("width", box.w).attr("height", box.h).attr("rx", 5);
    this.drawHeat(g, item, box);
    g.append("rect").attr("class", "strip " + dialectOf(node)).attr("width", 4).attr("height", box.h).attr("rx", 2);
    look.rows.forEach((row, i) => {
      g.append("text").attr("class", row.style).attr("x", 12).attr("y", 17 + i * sizes.line).text(row.text);
    });
    g.on("click", () => { if (!d3.event.defaultPrevented) this.actions.select(item); });
  }

  drawModule(into, box) {
    const module = box.child;
    const touched = this.touched(module);
    const g = into.append("g").attr("transform", "translate(" + box.x + "," + box.y + ")")
      .attr("class", "module" + (box.inner ? " open" : " closed") + (touched ? " touched" : "")).attr("data-module", module.key);
    if (!box.inner) g.append("rect").attr("class", "shadow").attr("x", 4).attr("y", 4).attr("width", box.w).attr("height", box.h).attr("rx", 7);
    g.append("rect").attr("class", "box").attr("width", box.w).attr("height", box.h).attr("rx", 7);
    this.drawHeat(g, module, box);
    const toggle = () => { if (!d3.event.defaultPrevented) this.actions.toggle(module); };
    if (box.inner) {
      this.drawLayout(g, box.inner, 0, 0);
    } else {
      const look = closedBoxOf(module);
      g.append("text").attr("class", "op").attr("x", 11).attr("y", 18).text("▸ " + look.title);
      g.append("text").attr("class", "soft").attr("x", 12).attr("y", 34).text(look.under);
      if (touched) {
        const text = g.append("text").attr("x", box.w + 10).attr("y", 26);
        for (const [count, sign, style] of [[touched.came, "+", "came"], [touched.changed, "~", "changed"], [touched.gone, "−", "gone"]])
          if (count) text.append("tspan").style("fill", "var(--" + style + ")").text(sign + count + " ");
      }
    }
    if (!box.inner) g.on("click", toggle);
  }

  /** The title of an open module, above the edges that enter it. */
  drawTitle(into, box) {
    const module = box.child;
    const title = fitted(module.title, "op", box.w - 34);
    const g = into.append("g").attr("class", "title").attr("transform", "translate(" + box.x + "," + box.y + ")").attr("data-title", module.key);
    g.append("rect").attr("class", "target").attr("width", box.w).attr("height", sizes.head);
    g.append("text").attr("class", "op").attr("x", 10).attr("y", 17).text("▾ " + title);
    const rest = box.w - measure(title, "op") - 52;
    if (module.type && rest > 40) g.append("text").attr("class", "soft").attr("x", measure("▾ " + title, "op") + 18).attr("y", 17).text(fitted(module.type, "mono", rest));
    g.on("click", () => { if (!d3.event.defaultPrevented) this.actions.toggle(module); });
  }

  /** How many nodes of a module the pass added, changed and removed; null if none. */
  touched(module) {
    if (!this.view.came.size && !this.view.changed.size && !this.view.gone.size) return null;
    const found = { came: 0, changed: 0, gone: 0 };
    for (const item of itemsOf(module)) {
      const state = this.stateOf(item).trim();
      if (state) found[state] += 1;
    }
    return found.came + found.changed + found.gone ? found : null;
  }

  drawHeat(g, child, box) {
    const share = this.heat ? this.heat(child) : 0;
    if (share > 0) g.append("rect").attr("class", "heat").attr("width", box.w).attr("height", box.inner ? sizes.head : box.h).attr("rx", 5)
      .attr("opacity", 0.06 + 0.6 * Math.sqrt(share)).append("title").text((share * 100).toFixed(1) + " %");
  }

  drawEdge(into, edge) {
    const gone = edge.edges.every((e) => this.view.gone.has(e.source.number) || this.view.gone.has(e.target.number));
    const path = into.append("path").attr("class", "edge" + (gone ? " gone" : "")).attr("d", curve(edge.points));
    if (!edge.to_port) path.attr("marker-end", "url(#arrow)");
    path.node().ends = edge.edges;
    path.on("mousemove", () => this.actions.tip(edgeText(edge))).on("mouseout", () => this.actions.tip(null));
  }

  drawLabel(into, edge) {
    if (!edge.at) return;
    const g = into.append("g").attr("class", "label").attr("transform", "translate(" + edge.at.x + "," + edge.at.y + ")");
    const y = edge.mark ? -7 : 4;
    const width = measure(edge.label, "small") + 6;
    g.append("rect").attr("x", -width / 2).attr("y", y - 9).attr("width", width).attr("height", 12);
    g.append("text").attr("text-anchor", "middle").attr("y", y).text(edge.label);
    if (edge.mark) {
      const w = measure(edge.mark, "small") + 12;
      const mark = g.append("g").attr("class", "mark");
      mark.append("rect").attr("x", -w / 2).attr("y", 0).attr("width", w).attr("height", 14).attr("rx", 7);
      mark.append("text").attr("text-anchor", "middle").attr("y", 10.5).text(edge.mark);
      mark.style("cursor", "pointer").on("click", () => this.actions.selectNode(edge.edges[0].marks[0]));
    }
  }

  select(item) {
    this.selected = item;
    this.mark();
  }

  /** Shows what is selected, with its edges. */
  mark() {
    const item = this.selected;
    this.scene.selectAll(".selected").classed("selected", false);
    if (item) this.scene.select('[data-node="' + item.number + '"]').classed("selected", true);
    this.scene.selectAll("path.edge").classed("lit", function () {
      return Boolean(item && this.ends && this.ends.some((e) => e.source.number === item.number || e.target.number === item.number));
    });
  }

  size() {
    const box = this.svg.node().getBoundingClientRect();
    return { w: box.width || 800, h: box.height || 600 };
  }

  move(x, y, scale) {
    this.zoom.translate([x, y]).scale(scale).event(this.svg);
  }

  /** Shows all of it, or its top at a size that can be read. */
  fit(readable) {
    const { w, h } = this.size();
    const whole = Math.min((w - 40) / this.whole.w, (h - 40) / this.whole.h, 1.2);
    const scale = readable ? Math.max(whole, Math.min(0.8, Math.max(0.35, (w - 40) / this.whole.w))) : whole;
    const y = this.whole.h * scale > h - 40 ? 20 : (h - this.whole.h * scale) / 2;
    this.move((w - this.whole.w * scale) / 2, y, scale);
  }

  center(child) {
    const place = this.places.get(child);
    if (!place) return;
    const { w, h } = this.size();
    const scale = Math.max(0.8, Math.min(1.2, this.zoom.scale()));
    this.move(w / 2 - (place.x + place.w / 2) * scale, h / 2 - (place.y + place.h / 2) * scale, scale);
  }

  /** Keeps a box where it is on the screen while all around it moves. */
  keep(child, before) {
    const place = this.places.get(child);
    if (!place || !before) return this.fit(true);
    const scale = this.zoom.scale();
    const [x, y] = this.zoom.translate();
    this.move(x + (before.x + before.w / 2 - place.x - place.w / 2) * scale, y + (before.y - place.y) * scale, scale);
  }
}

function edgeText(edge) {
  const lines = edge.edges.slice(0, 8).map((e) => "%" + (nameOf(e.source.node) || e.source.number) + " → " +
    shortOp(opOf(e.target.node)) + " " + nameOf(e.target.node) + " (" + e.field + ")  " + typeText(resultType(e.source.node, e.result)) +
    (e.marks.length ? "\n    " + markText(e.marks) : ""));
  if (edge.edges.length > lines.length) lines.push((edge.edges.length - lines.length) + " more");
  return lines.join("\n");
}
