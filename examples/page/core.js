// SPDX-License-Identifier: MIT
// The panel's parts about the layers of a C++ type on a microcontroller, of `show --core`.
"use strict";

Object.assign(Panel.prototype, {
  kernels() {
    const core = data.core;
    const parts = [element("p", {}, core.layers.length + " layers for " + core.core + ", " + countText(core.macs) + " MACs" +
      (core.estimated_layers ? "; about " + countText(core.instructions) + " instructions in the " + core.estimated_layers + " layers that have an estimate" : "") +
      ". " + bytesText(core.constants) + " of constants" + (core.states ? ", " + bytesText(core.states) + " of states beside the arena" : "") + ".")];
    const table = element("table", {}, element("tr", {}, element("th", {}, "layer"), element("th", { title: "and why no faster one" }, "kernel"), element("th", { class: "number" }, "MACs"),
      element("th", { class: "number", title: "estimated" }, "instructions")));
    const most = Math.max(1, ...core.layers.map((layer) => layer.instructions || 0));
    for (const layer of core.layers) {
      const node = this.app.nodeNamed(layer.name);
      table.append(element("tr", { class: node ? "go" : "", onclick: node ? () => this.app.reveal(node.i) : undefined },
        element("td", {}, element("span", { class: "mono" }, layer.name), layer.instructions ? element("div", { class: "bar", style: "width:" + ((layer.instructions / most) * 100).toFixed(1) + "%" }) : ""),
        element("td", {}, layer.op + (layer.kernel ? ", " + layer.kernel : ""), layer.because ? element("div", { class: "none" }, layer.because) : ""), element("td", { class: "number" }, layer.macs ? countText(layer.macs) : ""),
        element("td", { class: "number" }, layer.instructions ? countText(layer.instructions) : "")));
    }
    parts.push(table);
    return parts;
  },

  /** The arena of the C++ type: time to the right, layer by layer, the outputs at the end. */
  arena() {
    const core = data.core;
    const fullest = core.layers[core.fullest_layer];
    const tensors = core.tensors.filter((t) => !t.state).map((t, i) => [i, t.name, t.offset, t.bytes, t.first, t.last]);
    const memory = { peak: core.arena, fullest_step: core.fullest_layer, tensors };
    const nodeOf = (t) => this.app.nodeNamed(t[1].split(" ")[0]);
    const picture = this.planPicture(memory, core.layers.length + 1, (t) => t[1] + "\n" + bytesText(t[3]) + " at " + t[2] + ", layers " + t[4] + " to " + t[5],
      (t) => { const node = nodeOf(t); if (node) this.app.reveal(node.i, true); });
    return [element("h2", {}, "Arena of the C++ type for " + core.core),
      element("p", {}, bytesText(core.arena) + "; no plan needs less than " + bytesText(core.lower_bound) + ", at " + (fullest ? fullest.name : "the outputs")), picture];
  },
});
