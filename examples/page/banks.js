// SPDX-License-Identifier: MIT
// The panel's part about the banks of memory of a board, of `plan --memory`.
"use strict";

Object.assign(Panel.prototype, {
  /** Each bank over time: constants, states and the stack lie below the arenas throughout. */
  banks() {
    const { map, banks, models, steps } = data.banks;
    const parts = [element("h2", {}, "Banks of " + map)];
    const table = element("table", {}, element("tr", {}, ...["bank", "size", "used", "lower bound", "gap"].map((name, i) => element("th", { class: i ? "number" : "" }, name))));
    const gap = (bank) => (bank.lower_bound ? ((bank.peak / bank.lower_bound - 1) * 100).toFixed(2) + " %" : "–");
    for (const bank of banks) {
      table.append(element("tr", {}, element("td", {}, bank.name), ...[bytesText(bank.size), bytesText(bank.peak), bytesText(bank.lower_bound), gap(bank)].map((text) => element("td", { class: "number" }, text))));
    }
    parts.push(table);
    for (const bank of banks.filter((b) => b.tensors.length)) {
      const live = new Array(steps + 1).fill(0);
      for (const [, , , bytes, first, last] of bank.tensors) { live[first] += bytes; live[last + 1] -= bytes; }
      for (let s = 1; s <= steps; ++s) live[s] += live[s - 1];
      const fullest = live.indexOf(Math.max(...live));
      const describe = ([, name, offset, bytes, first, last, use, model]) => name + ", " + use + (models.length > 1 ? " of " + models[model] : "") + "\n" + bytesText(bytes) + " at " + offset + (use === "arena" ? ", steps " + first + " to " + last : "");
      parts.push(element("h2", {}, bank.name), this.planPicture({ peak: bank.peak, fullest_step: fullest, tensors: bank.tensors }, steps, describe,
        (t) => { const node = this.app.nodeNamed(t[1]); if (node) this.app.reveal(node.i, true); }));
    }
    return parts;
  },
});
