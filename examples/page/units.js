// SPDX-License-Identifier: MIT
// Texts of counts, sizes and times.
"use strict";

function countText(count) {
  for (const [size, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
    if (count >= size) return (count / size).toFixed(count >= 100 * size ? 0 : count >= 10 * size ? 1 : 2) + " " + unit;
  return String(count);
}
function bytesText(bytes) {
  for (const [size, unit] of [[1 << 30, "GiB"], [1 << 20, "MiB"], [1 << 10, "KiB"]])
    if (bytes >= size) return (bytes / size).toFixed(bytes >= 100 * size ? 0 : 1) + " " + unit;
  return bytes + " B";
}
const timeText = (ms) => (ms >= 1000 ? (ms / 1000).toFixed(2) + " s" : ms >= 10 ? ms.toFixed(0) + " ms" : ms.toFixed(2) + " ms");
