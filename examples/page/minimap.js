// SPDX-License-Identifier: MIT
// The whole graph in a corner, with a frame around the part on the screen.
"use strict";

class Minimap {
  constructor(drawing, svg) {
    this.drawing = drawing;
    this.svg = d3.select(svg);
    this.boxes = this.svg.append("g");
    this.frame = this.svg.append("rect").attr("class", "frame");
    drawing.onmove = () => this.move();
    const go = () => this.go(d3.mouse(svg));
    this.svg.on("click", go).call(d3.behavior.drag().on("drag", go));
  }

  /** Draws all boxes. A graph is often a ribbon, so both axes have their own scale. */
  show() {
    const { w, h } = this.drawing.whole;
    const scale = Math.min(150 / w, 220 / h);
    [this.w, this.h] = [Math.max(40, w * scale), Math.max(40, h * scale)];
    [this.sx, this.sy] = [this.w / w, this.h / h];
    this.svg.attr("width", this.w).attr("height", this.h);
    this.boxes.selectAll("rect").remove();
    for (const [child, place] of this.drawing.places) {
      const is_open = child.is_module && this.drawing.layouts.isOpen(child);
      this.boxes.append("rect").attr("class", is_open ? "open" : "box").attr("x", place.x * this.sx).attr("y", place.y * this.sy)
        .attr("width", Math.max(1, place.w * this.sx)).attr("height", Math.max(1, place.h * this.sy));
    }
    this.move();
  }

  /** Follows the drawing. A graph that is all on the screen needs no map. */
  move() {
    if (!this.drawing.whole) return;
    const { w, h } = this.drawing.size();
    const scale = this.drawing.zoom.scale();
    const [x, y] = this.drawing.zoom.translate();
    const { whole } = this.drawing;
    this.svg.style("display", x >= 0 && y >= 0 && x + whole.w * scale <= w && y + whole.h * scale <= h ? "none" : null);
    const clamp = (at, most) => Math.max(0, Math.min(most, at));
    const [left, right] = [-x, w - x].map((at) => clamp((at / scale) * this.sx, this.w));
    const [top, bottom] = [-y, h - y].map((at) => clamp((at / scale) * this.sy, this.h));
    this.frame.attr("x", left).attr("y", top).attr("width", Math.max(2, right - left)).attr("height", Math.max(2, bottom - top));
  }

  /** Shows the part of the graph around a point of the map. */
  go([x, y]) {
    const { w, h } = this.drawing.size();
    const scale = this.drawing.zoom.scale();
    this.drawing.move(w / 2 - (x / this.sx) * scale, h / 2 - (y / this.sy) * scale, scale);
  }
}
