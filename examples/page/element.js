// SPDX-License-Identifier: MIT
// Makes elements, and notes errors for the tests. All text comes from models: it is set as text, never as markup.
"use strict";

window.pageErrors = [];
window.addEventListener("error", (event) => window.pageErrors.push(String(event.message)));

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null) made.setAttribute(name, value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) made.append(child);
  return made;
}
