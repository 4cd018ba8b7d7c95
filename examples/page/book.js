// SPDX-License-Identifier: MIT
// A page of several graphs, each of which is the page of one graph in a frame; or the table of a batch.
"use strict";

const book = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);

/** The last two parts of a path: models are called model.pt2. */
const shortTitle = (title) => title.split("/").slice(-2).join("/");

/** Graphs side by side: what is selected in one is shown in the other. */
class Book {
  constructor() {
    const compared = book.chapters.find((chapter) => chapter.data.comparison);
    this.layers = compared ? compared.data.comparison.layers : [];
    this.frames = book.chapters.map(() => null);
    this.sides = ["left", "right"].map((id) => find(id).querySelector("select"));
    book.chapters.forEach((chapter, i) => {
      for (const side of this.sides) side.append(element("option", { value: i, title: chapter.title }, shortTitle(chapter.title)));
    });
    this.sides[1].prepend(element("option", { value: "" }, "nothing"));
    this.sides[0].value = 0;
    this.sides[1].value = compared ? 1 : "";
    for (const side of this.sides) side.addEventListener("change", () => this.show());
    find("right").hidden = book.chapters.length < 2;
    this.show();
  }

  shown() {
    const chosen = this.sides.filter((side) => side.value !== "").map((side) => Number(side.value));
    return [...new Set(chosen)];
  }

  show() {
    const shown = this.shown();
    this.frames.forEach((frame, i) => { if (frame) frame.hidden = !shown.includes(i); });
    // Moving a frame loads it anew: the order on the screen is a matter of style.
    shown.forEach((i, at) => { this.frameOf(i).style.order = at; });
  }

  frameOf(i) {
    if (this.frames[i]) return this.frames[i];
    const [head, tail] = book.page;
    const frame = element("iframe", { title: book.chapters[i].title });
    frame.addEventListener("load", () => this.connect(i, frame.contentWindow));
    // The data stand in a script element, whose end no name may look like.
    frame.srcdoc = head + JSON.stringify({ ...book.chapters[i].data, title: book.chapters[i].title }).replaceAll("<", "\\u003c") + tail;
    this.frames[i] = frame;
    find("content").append(frame);
    return frame;
  }

  connect(i, page) {
    page.app.followPage(document.documentElement.dataset.theme);
    page.app.onselect = (names) => this.follow(i, names);
  }

  /** Shows in the graph beside what a node of that chapter is there. */
  follow(from, names) {
    const to = this.shown().find((i) => i !== from);
    const page = to !== undefined && this.frames[to].contentWindow;
    if (!page || !page.app) return;
    page.app.showNamed([...this.counterparts(from, names), ...names]);
  }

  counterparts(from, names) {
    if (from > 1) return [];
    const [mine, its] = from === 0 ? ["name", "other"] : ["other", "name"];
    return this.layers.filter((layer) => names.includes(layer[mine])).map((layer) => layer[its]);
  }
}

/** What became of the models of a batch. */
class Batch {
  constructor() {
    for (const id of ["left", "right"]) find(id).hidden = true;
    const milliseconds = (model) => Object.values(model.nanoseconds).reduce((sum, n) => sum + n, 0) / 1e6;
    const line = (r) => (r.source ? r.source + ": " : "") + r.node + " (" + r.op + "): " + r.reason;
    const why = (model) => model.error || (model.refused || []).map(line).join("\n");
    const size = (bytes) => (bytes ? bytesText(bytes) : "");
    const href = (path) => path.split("/").map(encodeURIComponent).join("/");
    const link = (name, model) => (model.page ? element("a", { href: href(model.page) }, name) : name);
    const states = ["lowered", "cannot be lowered", "bad usage", "cannot be read"];
    this.columns = [
      ["model", (m) => m.model, "mono", link], ["result", (m) => states[m.status] || String(m.status), "status"],
      ["target", (m) => m.target, "mono"], ["nodes exported", (m) => m.nodes.in, "number"], ["nodes lowered", (m) => m.nodes.out, "number"],
      ["MACs", (m) => m.macs || 0, "number", (macs) => (macs ? countText(macs) : "")],
      ["file", (m) => m.bytes || 0, "number", size], ["peak memory", (m) => m.peak || 0, "number", size],
      ["ms", (m) => milliseconds(m), "number", (ms) => ms.toFixed(1)], ["refused because", why, "why"],
    ].filter(([, value, kind]) => kind !== "why" || book.batch.models.some((m) => value(m)));
    this.by = 0;
    this.up = true;
    this.text = "";
    this.show();
  }

  rows() {
    const value = this.columns[this.by][1];
    const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0) * (this.up ? 1 : -1);
    const wanted = this.text.toLowerCase();
    return book.batch.models.filter((m) => this.columns.some((c) => String(c[1](m)).toLowerCase().includes(wanted)))
      .sort((a, b) => order(value(a), value(b)));
  }

  show() {
    const { counts, jobs, nanoseconds } = book.batch;
    const filter = element("input", { type: "search", placeholder: "Filter", "aria-label": "Filter",
      oninput: () => { this.text = filter.value; this.fill(); } });
    this.table = element("table");
    find("content").replaceChildren(element("div", { id: "batch" },
      element("p", {}, counts.models + " models in " + (nanoseconds / 1e9).toFixed(2) + " s by " + jobs + (jobs === 1 ? " job: " : " jobs: ") + counts.lowered +
        " lowered, " + (counts.models - counts.lowered) + " failed. `headrace lower MODEL --report FILE.html` shows more of one.", " ", filter), this.table));
    this.fill();
  }

  fill() {
    const heads = this.columns.map(([title, , kind], i) => element("th", { class: kind === "number" ? kind : null, "aria-sort": i !== this.by ? null : this.up ? "ascending" : "descending",
      onclick: () => { this.up = this.by === i ? !this.up : true; this.by = i; this.fill(); } }, title));
    const rows = this.rows();
    const cell = (model, [, value, kind, shown]) => element("td", { class: kind }, (shown || String)(value(model), model));
    const most = 2000;
    this.table.replaceChildren(element("tr", {}, heads), ...rows.slice(0, most).map((m) => element("tr", { class: m.status ? "failed" : "" }, this.columns.map((c) => cell(m, c)))));
    if (rows.length > most) this.table.append(element("tr", {}, element("td", { colspan: this.columns.length }, rows.length - most + " more: filter them")));
  }
}

const short = shortTitle(book.title);
find("title").textContent = short;
find("title").title = book.title;
find("title").append(element("small", {}, book.program));
document.title = short + " – headrace";
const dark = matchMedia("(prefers-color-scheme: dark)");
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  if (window.app.frames) for (const frame of app.frames) if (frame && frame.contentWindow.app) frame.contentWindow.app.followPage(theme);
}
window.app = book.batch ? new Batch() : new Book();
setTheme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
find("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
window.pageReady = true;
