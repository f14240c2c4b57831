// @ts-check
// A matrix of weights to paint: cells of the page up to 64 × 64, a canvas above.

import { h } from "./dom.js";
import { exists, isPainted, lineCounts, paint } from "./state.js";

/** Above so many rows or columns a matrix is a canvas. */
export const MOST_CELLS = 64;

/** Below this size of a cell, in px, names have no space on the axes. */
const LEAST_NAMED = 10;
/** Width of a digit, and of a letter of a name, in px. */
const DIGIT = 6.6;
const LETTER = 6;
const MOST_NAMED = 76;

/**
 * The width of the longest name, in px; 0 without names.
 * @param {string[] | null} names
 */
export function nameSpace(names) {
  return names ? Math.min(MOST_NAMED, 6 + LETTER * Math.max(...names.map((name) => name.length))) : 0;
}

/**
 * Functions of the page that the grids call.
 * @typedef {object} GridHost
 * @property {() => import("./state.js").State} state
 * @property {() => string} brush
 * @property {(isDone: boolean) => void} painted something changed; isDone at the end of a stroke
 * @property {(name: string) => [string[] | null, string[] | null]} lines names of rows and of columns
 * @property {(name: string, k: number | null) => void} pointed the weight under the pointer
 */

/**
 * Data on the weights of one matrix besides the masks.
 * @typedef {object} Known
 * @property {Uint8Array | null} raises
 * @property {Uint8Array | null} lowers
 * @property {{ row: [number, string], column: [number, string] | null } | null} limits
 * @property {boolean} isReached whether all equations are: then surplus weights are no obstacle
 * @property {Set<number>} outlined cells of a violated budget
 * @property {Set<number>} lit cells of the block that is pointed at
 * @property {Map<number, { look: string, words: string }>} marks what a design or Identify said
 * @property {[Set<number>, Set<number>]} units rows and columns that are units which are recorded
 */

/** @returns {Known} */
export function nothingKnown() {
  return {
    raises: null, lowers: null, limits: null, isReached: false, outlined: new Set(), lit: new Set(), marks: new Map(),
    units: [new Set(), new Set()],
  };
}

/**
 * A grid for one matrix.
 * @param {string} name
 * @param {[number, number]} shape
 * @param {number} size of a cell, in px
 * @param {GridHost} host
 */
export function makeGrid(name, shape, size, host) {
  return Math.max(...shape) > MOST_CELLS
    ? new CanvasGrid(name, shape, size, host)
    : new CellGrid(name, shape, size, host);
}

/** What both kinds of grid share: strokes, keys, words. */
class Grid {
  /**
   * @param {string} name
   * @param {[number, number]} shape
   * @param {number} size
   * @param {GridHost} host
   */
  constructor(name, shape, size, host) {
    this.name = name;
    [this.rows, this.columns] = shape;
    this.size = size;
    this.host = host;
    this.known = nothingKnown();
    this.at = 0;
    this.pointing = -1;
    /** @type {{ brush: string, value: number } | null} */
    this.stroke = null;
    /** @type {number | null} where the stroke is */
    this.last = null;
    this.count = h("span", { class: "mp-count" });
    this.element = h("section", { class: "mp-matrix", "data-matrix": name });
    this.head = h(
      "h3",
      {},
      h("span", { class: "mp-name" }, name),
      h("span", { class: "mp-shape" }, `${this.rows} × ${this.columns}`),
      this.count,
    );
    this.element.append(this.head);
  }

  /**
   * Whether a brush would set a weight or clear it.
   * @param {string} brush
   * @param {number} k
   */
  next(brush, k) {
    const state = this.host.state();
    if (brush === "absent") return exists(state, this.name, k) ? 1 : 0;
    const table = brush === "learn" ? "learnable" : brush;
    return 1 - /** @type {any} */ (state)[table][this.name][k];
  }

  /** @param {number} k @param {string} [brush] */
  begin(k, brush = this.host.brush()) {
    this.stroke = { brush, value: this.next(brush, k) };
    this.last = k;
    this.touch([k]);
  }

  /** @param {number[]} cells that the stroke paints */
  touch(cells) {
    const { stroke } = this;
    if (!stroke) return;
    const state = this.host.state();
    const painted = cells.filter((k) => paint(state, this.name, k, stroke.brush, stroke.value));
    for (const k of painted) this.drawOne(k);
    if (painted.length) this.host.painted(false);
  }

  end() {
    if (!this.stroke) return;
    this.stroke = null;
    this.host.painted(true);
  }

  /**
   * Fill a row or a column; clear it where it is full.
   * @param {number[]} cells
   */
  fillLine(cells) {
    const state = this.host.state();
    if (!isPainted(state, this.name)) return;
    const brush = this.host.brush();
    const there = brush === "absent" ? cells : cells.filter((k) => exists(state, this.name, k));
    const value = there.some((k) => this.next(brush, k) === 1) ? 1 : 0;
    for (const k of there) paint(state, this.name, k, brush, value);
    this.draw();
    this.host.painted(true);
  }

  /** @param {number} i */
  rowCells(i) {
    return Array.from({ length: this.columns }, (_, j) => i * this.columns + j);
  }

  /** @param {number} j */
  columnCells(j) {
    return Array.from({ length: this.rows }, (_, i) => i * this.columns + j);
  }

  /**
   * No lock, must, must not, no lock.
   * @param {number} k
   */
  cycleLock(k) {
    const state = this.host.state();
    if (!exists(state, this.name, k) || !isPainted(state, this.name)) return;
    if (state.must[this.name][k]) paint(state, this.name, k, "never", 1);
    else if (state.never[this.name][k]) state.never[this.name][k] = 0;
    else paint(state, this.name, k, "must", 1);
    this.draw();
    this.host.painted(true);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const i = Math.floor(this.at / this.columns);
    const j = this.at % this.columns;
    const moves = /** @type {Record<string, [number, number]>} */ ({
      ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
      Home: [0, -this.columns], End: [0, this.columns],
      PageUp: [-8, 0], PageDown: [8, 0],
    });
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = moves[event.key];
    if (move) {
      const down = Math.min(this.rows - 1, Math.max(0, i + move[0]));
      const right = Math.min(this.columns - 1, Math.max(0, j + move[1]));
      const to = down * this.columns + right;
      if (event.shiftKey && to !== this.at) {
        // Shift paints along the way, as the weight one came from is.
        const state = this.host.state();
        const value = state.learnable[this.name][this.at];
        if (paint(state, this.name, to, "learn", value)) this.host.painted(true);
      }
      this.moveTo(to);
    } else if (event.key === " " || event.key === "Enter") {
      this.begin(this.at);
      this.end();
    } else if (event.key === "l" || event.key === "L") this.cycleLock(this.at);
    else if (event.key === "r" || event.key === "R") this.fillLine(this.rowCells(i));
    else if (event.key === "c" || event.key === "C") this.fillLine(this.columnCells(j));
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.draw();
  }

  /** @param {number} k */
  moveTo(k) {
    this.at = k;
    this.host.pointed(this.name, k);
  }

  /**
   * A row or a column in words, with its name where it has one.
   * @param {"row" | "column"} kind
   * @param {number} index
   */
  line(kind, index) {
    const named = this.host.lines(this.name)[kind === "row" ? 0 : 1]?.[index];
    return `${kind} ${index}${named === undefined ? "" : ` (${named})`}`;
  }

  /**
   * A weight in words.
   * @param {number} k
   */
  describe(k) {
    const state = this.host.state();
    const place = `${this.name}, ${this.line("row", Math.floor(k / this.columns))}, ${this.line("column", k % this.columns)}`;
    if (!exists(state, this.name, k)) return `${place}: structural zero`;
    const words = [state.learnable[this.name][k] ? this.how(k) : "fixed"];
    if (state.must[this.name][k]) words.push("locked: must learn");
    if (state.never[this.name][k]) words.push("locked: must not learn");
    if (this.known.raises?.[k]) words.push("learning it would raise the rank by 1");
    if (this.known.lowers?.[k]) words.push("without it the rank drops by 1");
    else if (this.known.lowers && state.learnable[this.name][k]) words.push("without it the rank stays");
    const mark = this.known.marks.get(k);
    if (mark) words.push(mark.words);
    return `${place}: ${words.join("; ")}`;
  }

  /** @param {number} k a weight that learns @returns {string} by which parameter */
  how(k) {
    const learns = this.host.state().learns[this.name];
    if (!learns) return "learns";
    return `learns by ${learns.parameters[learns.index[k] - 1] ?? learns.words}`;
  }

  /**
   * The classes of a weight.
   * @param {number} k
   */
  looks(k) {
    const state = this.host.state();
    const classes = ["mp-cell"];
    if (!exists(state, this.name, k)) classes.push("mp-absent");
    else if (state.learnable[this.name][k]) {
      classes.push("mp-on");
      if (this.known.lowers && !this.known.lowers[k]) classes.push("mp-spare");
    } else if (this.known.raises?.[k]) classes.push("mp-raises");
    if (state.must[this.name][k]) classes.push("mp-must");
    if (state.never[this.name][k]) classes.push("mp-never");
    if (this.known.outlined.has(k)) classes.push("mp-over");
    if (this.known.lit.has(k)) classes.push("mp-lit");
    const mark = this.known.marks.get(k);
    if (mark) classes.push(`mp-${mark.look}`);
    return classes.join(" ");
  }

  /** What a pointer and keys do, to the element that holds the weights. */
  handlers() {
    return {
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.key(e),
      onpointerdown: (/** @type {PointerEvent} */ e) => e.button === 0 && this.down(e),
      onpointermove: (/** @type {PointerEvent} */ e) => this.moved(e),
      onpointerup: () => this.end(),
      onpointercancel: () => this.end(),
      onpointerleave: () => this.host.pointed(this.name, null),
      oncontextmenu: (/** @type {MouseEvent} */ e) => {
        const k = this.cellOf(e);
        if (k === null) return;
        e.preventDefault();
        this.cycleLock(k);
      },
    };
  }

  /**
   * The weight under the pointer.
   * @param {MouseEvent} event
   * @returns {number | null}
   */
  cellOf(event) {
    return null;
  }

  /** @param {PointerEvent} event */
  down(event) {}

  /** @param {PointerEvent} event */
  moved(event) {
    const k = this.cellOf(event);
    if (k === null) return;
    if (this.stroke && !(event.buttons & 1)) this.end();
    if (this.stroke) this.along(k);
    if (k !== this.pointing) {
      this.pointing = k;
      this.host.pointed(this.name, k);
    }
  }

  /**
   * Fast strokes jump over cells: all on the straight line between are painted.
   * @param {number} k where a stroke has come to
   */
  along(k) {
    const from = this.last ?? k;
    const [a, b] = [Math.floor(from / this.columns), from % this.columns];
    const [c, d] = [Math.floor(k / this.columns), k % this.columns];
    const steps = Math.max(Math.abs(c - a), Math.abs(d - b), 1);
    const at = (/** @type {number} */ s) =>
      Math.round(a + ((c - a) * s) / steps) * this.columns + Math.round(b + ((d - b) * s) / steps);
    this.touch(Array.from({ length: steps + 1 }, (_, s) => at(s)));
    this.last = k;
  }

  drawCount() {
    const { total } = lineCounts(this.host.state(), this.name);
    const learns = this.host.state().learns[this.name];
    this.count.textContent = total ? `${total} learn${total === 1 ? "s" : ""}${learns ? `: ${learns.words}` : ""}` : "";
  }

  draw() {}

  /** @param {number} k the only weight that changed */
  drawOne(k) {
    this.draw();
  }
}

/** A grid of elements: each weight can be reached by the keyboard and named by a reader. */
class CellGrid extends Grid {
  /**
   * @param {string} name
   * @param {[number, number]} shape
   * @param {number} size
   * @param {GridHost} host
   */
  constructor(name, shape, size, host) {
    super(name, shape, size, host);
    /** @type {any[]} */
    this.cells = [];
    this.wide = size >= 22;
    /** Names that are written on the axes, and the space that they take. */
    this.axes = size >= LEAST_NAMED ? host.lines(name) : [null, null];
    const [left, top] = this.axes.map((names) => nameSpace(names));
    const isUpright = top > size;
    this.body = h("div", {
      class: `mp-grid${this.wide ? "" : " mp-dense"}`,
      role: "grid",
      "aria-label": `Matrix ${name}, ${this.rows} rows, ${this.columns} columns`,
      ...this.handlers(),
    });
    if (this.wide) {
      this.body.style.gridTemplateColumns = `auto repeat(${this.columns}, ${size}px) minmax(2.4em, auto)`;
    } else {
      // Known sizes are not computed again for thousands of cells at every change.
      const [first, above] = [Math.max(18, left), Math.max(11, top)];
      this.body.style.gridTemplateColumns = `${first}px repeat(${this.columns}, ${size}px) 14px`;
      this.body.style.gridTemplateRows = `${above}px repeat(${this.rows}, ${size}px) 11px`;
      this.body.style.width = `${first + 14 + this.columns * (size + 1) + 1}px`;
      this.body.style.height = `${above + 11 + this.rows * (size + 1) + 1}px`;
    }
    if (this.axes[1] && isUpright) this.body.classList.add("mp-upright");
    this.body.style.setProperty("--size", `${size}px`);
    this.rowUse = Array.from({ length: this.rows }, () => h("div", { class: "mp-use", role: "gridcell" }));
    this.columnUse = Array.from({ length: this.columns }, () => h("div", { class: "mp-use mp-below", role: "gridcell" }));
    /** @type {[any[], any[]]} of rows and of columns */
    this.heads = [
      Array.from({ length: this.rows }, (_, i) => this.headOf("row", i)),
      Array.from({ length: this.columns }, (_, j) => this.headOf("column", j)),
    ];
    this.body.append(
      h("div", { role: "row", class: "mp-row" }, h("div", { role: "columnheader", class: "mp-corner" }, h("span", { class: "mp-hidden" }, "row")), this.heads[1], h("div", { role: "columnheader", class: "mp-corner" }, h("span", { class: "mp-hidden" }, "used of limit"))),
    );
    for (let i = 0; i < this.rows; i++) {
      const row = h("div", { role: "row", class: "mp-row" }, this.heads[0][i]);
      for (let j = 0; j < this.columns; j++) {
        const k = i * this.columns + j;
        const cell = h("div", { role: "gridcell", tabindex: k === 0 ? 0 : -1, "data-k": k });
        this.cells.push(cell);
        row.append(cell);
      }
      row.append(this.rowUse[i]);
      this.body.append(row);
    }
    this.corner = h("div", { role: "gridcell", class: "mp-corner mp-use" });
    this.body.append(
      h("div", { role: "row", class: "mp-row" }, h("div", { role: "rowheader", class: "mp-corner" }, h("span", { class: "mp-hidden" }, "used of limit")), this.columnUse, this.corner),
    );
    this.element.append(h("div", { class: "mp-scroll" }, this.body));
    /** @type {string[]} */
    this.drawn = [];
    this.draw();
  }

  /** @param {"row" | "column"} line @param {number} index */
  headOf(line, index) {
    const cells = () => (line === "row" ? this.rowCells(index) : this.columnCells(index));
    const every = this.wide ? 1 : 8;
    const named = this.axes[line === "row" ? 0 : 1]?.[index];
    return h(
      "div",
      { role: `${line}header`, class: `mp-head mp-head-${line}${named === undefined ? "" : " mp-named"}` },
      h(
        "button",
        {
          type: "button",
          tabindex: -1,
          title: `${this.line(line, index)}: fill or clear`,
          "aria-label": `${this.line(line, index)} of ${this.name}: fill or clear`,
          onclick: () => this.fillLine(cells()),
        },
        named ?? (index % every === 0 ? String(index) : "·"),
      ),
    );
  }

  // Strokes do not capture the pointer: the cell under it receives the event.
  /** @param {MouseEvent} event */
  cellOf(event) {
    const cell = /** @type {Element} */ (event.target)?.closest?.("[data-k]");
    return cell ? Number(cell.getAttribute("data-k")) : null;
  }

  /** @param {PointerEvent} event */
  down(event) {
    const k = this.cellOf(event);
    if (k === null) return;
    // Touch captures the pointer for the first cell: then no other would receive events.
    /** @type {Element} */ (event.target).releasePointerCapture?.(event.pointerId);
    // Painted and requested before the focus moves, which lays out the page.
    this.begin(k);
    this.moveTo(k);
    event.preventDefault();
  }

  /** @param {number} k */
  moveTo(k) {
    this.cells[this.at].tabIndex = -1;
    super.moveTo(k);
    this.cells[k].tabIndex = 0;
    this.cells[k].focus({ preventScroll: false });
  }

  draw() {
    for (let k = 0; k < this.cells.length; k++) this.drawCell(k);
    this.heads.forEach((heads, axis) =>
      heads.forEach((head, k) => head.classList.toggle("mp-recorded", this.known.units[axis].has(k))));
    this.drawUse();
    this.drawCount();
  }

  /** @param {number} k */
  drawOne(k) {
    this.drawCell(k);
    this.drawUse();
    this.drawCount();
  }

  /** @param {number} k */
  drawCell(k) {
    const looks = this.looks(k);
    if (this.drawn[k] === looks) return;
    this.drawn[k] = looks;
    const cell = this.cells[k];
    cell.className = looks;
    const words = this.describe(k);
    cell.setAttribute("aria-label", words);
    cell.setAttribute("aria-selected", String(looks.includes("mp-on")));
    cell.title = words;
  }

  drawUse() {
    const { inRow, inColumn } = lineCounts(this.host.state(), this.name);
    const { limits, isReached } = this.known;
    this.rowUse.forEach((element, i) => showUse(element, inRow[i], limits?.row, `row ${i}`, this.wide, isReached));
    const limit = limits?.column;
    // Where "12/12" is wider than a column, the limit is written once, at the end.
    const isShort = !!limit && `${this.rows}/${limit[0]}`.length * DIGIT > this.size;
    this.corner.textContent = this.wide && isShort ? `of ${limit[0]}` : "";
    this.columnUse.forEach((element, j) =>
      showUse(element, inColumn[j], limit, `column ${j}`, this.wide, isReached, isShort));
  }
}

/**
 * Used and limit of a line, in its margin.
 * @param {HTMLElement} element
 * @param {number} used
 * @param {[number, string] | null | undefined} limit
 * @param {string} line
 * @param {boolean} wide
 * @param {boolean} isReached
 * @param {boolean} [isShort] whether the limit is written elsewhere
 */
function showUse(element, used, limit, line, wide, isReached, isShort = false) {
  const is_over = !!limit && used > limit[0] && !isReached;
  const words = limit
    ? `${line}: ${used} of at most ${limit[1]}${is_over ? ", exceeded" : used > limit[0] ? ", a surplus" : ""}`
    : `${line}: ${used} learn${used === 1 ? "s" : ""}`;
  const text = !limit ? (used ? String(used) : "") : isShort ? String(used) : `${used}/${limit[0]}`;
  const shown = wide ? text : is_over ? "!" : "";
  const key = `${words}|${shown}`;
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  element.textContent = shown;
  element.setAttribute("aria-label", words);
  element.title = words;
  element.classList.toggle("mp-exceeded", is_over);
  element.classList.toggle("mp-full", !!limit && used === limit[0]);
  element.style.setProperty("--used", limit ? String(Math.min(1, used / limit[0])) : "0");
}

// Sides of a canvas in px before it has its place on the page.
const FIRST = 900;

/** A grid on a canvas: matrices of more than 64 rows or columns. */
class CanvasGrid extends Grid {
  /**
   * @param {string} name
   * @param {[number, number]} shape
   * @param {number} size
   * @param {GridHost} host
   */
  constructor(name, shape, size, host) {
    super(name, shape, size, host);
    this.margin = 14;
    this.words = h("div", { class: "mp-hidden", "aria-live": "polite" });
    this.canvas = h("canvas", {
      class: "mp-canvas",
      tabindex: 0,
      role: "application",
      "aria-label": `Matrix ${name}, ${this.rows} rows, ${this.columns} columns: arrows move, space paints, l locks, r and c fill a row and a column`,
      ...this.handlers(),
    });
    // The space is as large as the matrix; the canvas covers the part of it that can be seen.
    this.space = h("div", { class: "mp-space" }, this.canvas);
    this.scroll = h("div", { class: "mp-scroll", onscroll: () => this.draw() }, this.space);
    this.element.append(this.scroll, this.words);
    this.draw();
  }

  /** @param {MouseEvent} event @returns {[number, number]} row and column; -1 in a margin */
  lineAt(event) {
    const box = this.space.getBoundingClientRect();
    const j = Math.floor((event.clientX - box.left - this.margin) / this.size);
    const i = Math.floor((event.clientY - box.top - this.margin) / this.size);
    return [i, j];
  }

  /** @param {MouseEvent} event */
  cellOf(event) {
    const [i, j] = this.lineAt(event);
    const inside = i >= 0 && j >= 0 && i < this.rows && j < this.columns;
    return inside ? i * this.columns + j : null;
  }

  /** @param {PointerEvent} event */
  down(event) {
    const [i, j] = this.lineAt(event);
    const k = this.cellOf(event);
    this.canvas.focus({ preventScroll: true });
    if (k !== null) {
      this.begin(k);
      this.moveTo(k);
    } else if (j < 0 && i >= 0 && i < this.rows) this.fillLine(this.rowCells(i));
    else if (i < 0 && j >= 0 && j < this.columns) this.fillLine(this.columnCells(j));
    event.preventDefault();
  }

  /** @param {PointerEvent} event */
  moved(event) {
    const before = this.pointing;
    super.moved(event);
    if (this.pointing !== before) this.canvas.title = this.describe(this.pointing);
  }

  /** @param {number} k */
  moveTo(k) {
    super.moveTo(k);
    this.words.textContent = this.describe(k);
    // The weight that keys have moved to is to be seen.
    const [x, y] = this.corner(k);
    const { scroll, size } = this;
    if (x < scroll.scrollLeft) scroll.scrollLeft = x - size;
    if (x + size > scroll.scrollLeft + scroll.clientWidth) scroll.scrollLeft = x + 2 * size - scroll.clientWidth;
    if (y < scroll.scrollTop) scroll.scrollTop = y - size;
    if (y + size > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = y + 2 * size - scroll.clientHeight;
  }

  draw() {
    // One drawing a frame, however many weights a stroke touches.
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.drawNow();
      this.drawCount();
    });
  }

  /** @param {number} k @returns {[number, number]} the corner of a weight's cell, in px */
  corner(k) {
    return [
      this.margin + (k % this.columns) * this.size,
      this.margin + Math.floor(k / this.columns) * this.size,
    ];
  }

  /** @param {number} k @returns {number} 0 fixed, 1 no weight, 2 learns in vain, 3 learns, 4 would raise the rank */
  lookOf(k) {
    const state = this.host.state();
    if (!exists(state, this.name, k)) return 1;
    if (state.learnable[this.name][k]) return this.known.lowers && !this.known.lowers[k] ? 2 : 3;
    return this.known.raises?.[k] ? 4 : 0;
  }

  drawNow() {
    const { size, margin } = this;
    const width = this.columns * size + 2 * margin;
    const height = this.rows * size + 2 * margin;
    this.space.style.width = `${width}px`;
    this.space.style.height = `${height}px`;
    const wide = Math.min(width, this.scroll.clientWidth || FIRST);
    const tall = Math.min(height, this.scroll.clientHeight || FIRST);
    const ratio = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(wide * ratio) || this.canvas.height !== Math.round(tall * ratio)) {
      this.canvas.width = Math.round(wide * ratio);
      this.canvas.height = Math.round(tall * ratio);
      this.canvas.style.width = `${wide}px`;
      this.canvas.style.height = `${tall}px`;
    }
    const [shown, all] = [this.canvas.getBoundingClientRect(), this.space.getBoundingClientRect()];
    const [left, top] = [shown.left - all.left, shown.top - all.top];
    // Rows and columns that can be seen.
    const lines = (/** @type {number} */ from, /** @type {number} */ length, /** @type {number} */ count) => [
      Math.min(count, Math.max(0, Math.floor((from - margin) / size))),
      Math.min(count, Math.max(0, Math.ceil((from + length - margin) / size))),
    ];
    const [firstRow, endRow] = lines(top, tall, this.rows);
    const [firstColumn, endColumn] = lines(left, wide, this.columns);
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(this.element);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    pen.setTransform(ratio, 0, 0, ratio, -left * ratio, -top * ratio);
    pen.clearRect(left, top, wide, tall);
    pen.fillStyle = colour("--mp-cell");
    pen.fillRect(margin, margin, this.columns * size, this.rows * size);
    const gap = size > 4 ? 1 : 0;
    // Cells of one look that stand side by side are one rectangle: thousands of cells are some hundreds.
    const inks = ["", "--mp-absent", "--mp-spare", "--mp-on", "--mp-raises"].map((name) => name && colour(name));
    for (let i = firstRow; i < endRow; i++) {
      for (let j = firstColumn; j < endColumn;) {
        const look = this.lookOf(i * this.columns + j);
        let end = j + 1;
        while (!gap && end < endColumn && this.lookOf(i * this.columns + end) === look) end++;
        if (look) {
          pen.fillStyle = inks[look];
          pen.fillRect(margin + j * size, margin + i * size, (end - j) * size - gap, size - gap);
        }
        j = end;
      }
    }
    const { must, never } = this.host.state();
    pen.lineWidth = 1;
    const isHidden = (/** @type {number} */ x, /** @type {number} */ y) =>
      x + size < left || y + size < top || x > left + wide || y > top + tall;
    const frame = (/** @type {string} */ ink, /** @type {Iterable<number>} */ cells) => {
      pen.strokeStyle = colour(ink);
      for (const k of cells) {
        const [x, y] = this.corner(k);
        if (isHidden(x, y)) continue;
        pen.strokeRect(x + 0.5, y + 0.5, size - gap - 1, size - gap - 1);
      }
    };
    for (const [k, { look }] of this.known.marks) {
      const [x, y] = this.corner(k);
      if (look === "exchangeable" || look === "free" || isHidden(x, y)) continue;
      pen.fillStyle = look === "excluded" ? colour("--mp-soft") : "#fff";
      pen.fillRect(x + size / 3, y + size / 3, size / 3, size / 3);
    }
    frame("--mp-minimal", this.known.outlined);
    frame("--mp-ink", this.known.lit);
    frame("--mp-ink", set(must[this.name]));
    pen.beginPath();
    for (const k of set(never[this.name])) {
      const [x, y] = this.corner(k);
      if (isHidden(x, y)) continue;
      pen.moveTo(x + 1, y + 1);
      pen.lineTo(x + size - 2, y + size - 2);
    }
    pen.stroke();
    const { inRow, inColumn } = lineCounts(this.host.state(), this.name);
    const { limits, isReached } = this.known;
    pen.fillStyle = colour("--mp-soft");
    for (let i = firstRow; i < endRow; i++) pen.fillRect(4, margin + i * size, 6, size - gap);
    for (let j = firstColumn; j < endColumn; j++) pen.fillRect(margin + j * size, 4, size - gap, 6);
    pen.fillStyle = colour("--mp-intermediate");
    // At least so many px that a line of a large matrix is seen.
    const broad = Math.max(size - gap, 3);
    for (const i of this.known.units[0]) pen.fillRect(1, margin + i * size, 12, broad);
    for (const j of this.known.units[1]) pen.fillRect(margin + j * size, 1, broad, 12);
    pen.fillStyle = colour("--mp-minimal");
    inRow.forEach((used, i) => {
      if (limits && !isReached && used > limits.row[0]) pen.fillRect(width - margin + 3, margin + i * size, 6, size - gap);
    });
    inColumn.forEach((used, j) => {
      if (limits?.column && !isReached && used > limits.column[0]) pen.fillRect(margin + j * size, height - margin + 3, size - gap, 6);
    });
    if (document.activeElement === this.canvas) {
      pen.strokeStyle = colour("--mp-focus");
      pen.lineWidth = 2;
      pen.strokeRect(margin + (this.at % this.columns) * size, margin + Math.floor(this.at / this.columns) * size, size, size);
    }
  }
}

/**
 * Where a mask is set.
 * @param {Uint8Array} mask
 */
function* set(mask) {
  for (let k = mask.indexOf(1); k >= 0; k = mask.indexOf(1, k + 1)) yield k;
}
