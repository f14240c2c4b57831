// @ts-check
// The incidence matrix of the equations in block triangular form.

import { fill, h, plural, svg } from "./dom.js";

/**
 * @param {any} part
 */
function named(part) {
  const size = `${plural(part.rows[1], "equation")} in ${plural(part.columns[1], "unknown")}`;
  return part.kind === "over" ? `too many equations: ${size}`
    : part.kind === "under" ? `too few equations: ${size}` : size;
}

/**
 * Draw the permuted incidence matrix.
 * @param {HTMLElement} card
 * @param {any} blocks
 * @param {string} waiting what to say where there is none yet
 * @param {(weights: number[] | null) => void} point
 * @returns {(weight: number | null) => void} lights the block of a learnable weight, by number
 */
export function showBlocks(card, blocks, waiting, point) {
  if (!blocks) {
    fill(card, h("p", { class: "mp-none" }, waiting));
    return () => undefined;
  }
  const { equations, unknowns } = blocks;
  const unit = 280 / Math.max(equations, unknowns, 1);
  const cell = Math.min(18, unit);
  const width = unknowns * cell;
  const height = equations * cell;
  const canvas = h("canvas", { class: "mp-marks", "aria-hidden": "true" });
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, width * ratio);
  canvas.height = Math.max(1, height * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.fillStyle = getComputedStyle(card).getPropertyValue("--mp-ink");
  const dot = Math.max(0.6, cell * 0.62);
  for (const [row, column] of blocks.marks ?? []) {
    pen.fillRect(column * cell + (cell - dot) / 2, row * cell + (cell - dot) / 2, dot, dot);
  }
  const rects = blocks.parts.map((/** @type {any} */ part) => {
    const rect = svg("rect", {
      x: part.columns[0] * cell, y: part.rows[0] * cell,
      width: Math.max(2, part.columns[1] * cell), height: Math.max(2, part.rows[1] * cell),
      class: `mp-block mp-block-${part.kind}`, tabindex: blocks.parts.length <= 40 ? 0 : -1, role: "img",
      "aria-label": named(part),
      onpointerenter: () => point(part.weights), onpointerleave: () => point(null),
      onfocus: () => point(part.weights), onblur: () => point(null),
    }, svg("title", {}));
    rect.firstChild.textContent = named(part);
    return rect;
  });
  const drawing = svg("svg", {
    viewBox: `0 0 ${Math.max(1, width)} ${Math.max(1, height)}`, class: "mp-parts",
    role: "group", "aria-label": "blocks of the equations",
  }, ...rects);
  const frame = h("div", { class: "mp-incidence" }, canvas, drawing);
  frame.style.width = `${width}px`;
  frame.style.aspectRatio = `${Math.max(1, width)} / ${Math.max(1, height)}`;
  const square = blocks.parts.filter((/** @type {any} */ p) => p.kind === "square");
  const largest = Math.max(0, ...square.map((/** @type {any} */ p) => p.rows[1]));
  const off = blocks.parts.filter((/** @type {any} */ p) => p.kind !== "square");
  fill(
    card,
    h("p", { class: "mp-soft" },
      `${blocks.form} form: ${plural(equations, "equation")} in ${plural(unknowns, "unknown")}` +
      (square.length ? `, ${plural(square.length, "block")}, the largest ${largest}` : "")),
    off.map((/** @type {any} */ part) => h("p", { class: "mp-gap" }, `${named(part)}.`)),
    blocks.marks ? null : h("p", { class: "mp-none" }, "Too many entries to draw: only the blocks are shown."),
    frame,
  );
  return (weight) => {
    blocks.parts.forEach((/** @type {any} */ part, /** @type {number} */ k) => {
      rects[k].classList.toggle("mp-block-lit", weight !== null && part.weights.includes(weight));
    });
  };
}
