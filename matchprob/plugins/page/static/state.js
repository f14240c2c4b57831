// @ts-check
// The state of the page: masks, locks, history.  Python reads it as plain data.

/**
 * @typedef {{ [matrix: string]: Uint8Array }} Masks
 * @typedef {{ [matrix: string]: [number, number] }} Shapes
 * @typedef {object} State
 * @property {string} name of the problem's file
 * @property {Record<string, any>} network kind and sizes
 * @property {Shapes} shapes rows and columns of each matrix
 * @property {Masks} learnable
 * @property {Masks} support weights that exist, where some do not
 * @property {Masks} must locked: learns in any case
 * @property {Masks} never locked: never learns
 * @property {any} [distribution]
 * @property {any} [constraints]
 * @property {any} [names]
 * @property {any} [values]
 * @property {Record<string, any>} updates of the matrices that are not painted: their tables of a file
 * @property {Record<string, Learns>} learns what is known of these matrices
 *
 * @typedef {object} Learns
 * @property {string} words
 * @property {string[]} parameters their names
 * @property {number[]} index for each weight the number of its parameter from 1, or 0; -1 for all
 */

const TABLES = /** @type {const} */ (["learnable", "support", "must", "never"]);

// Tables of a problem file that the page does not change.
const MORE = /** @type {const} */ (["updates", "distribution", "constraints", "names", "values"]);

/**
 * Bits as base64 for addresses.
 * @param {Uint8Array} bits
 */
export function packBits(bits) {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8));
  for (let k = 0; k < bits.length; k++) if (bits[k]) bytes[k >> 3] |= 128 >> (k & 7);
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * @param {string | undefined} text
 * @param {number} count
 */
export function unpackBits(text, count) {
  const bits = new Uint8Array(count);
  if (!text) return bits;
  const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  for (let k = 0; k < count; k++) bits[k] = (bytes.charCodeAt(k >> 3) >> (7 - (k & 7))) & 1;
  return bits;
}

/**
 * The state from plain data.
 * @param {any} data
 * @param {Shapes} shapes
 * @param {Record<string, Learns>} [learns]
 * @returns {State}
 */
export function unpackState(data, shapes, learns = {}) {
  const state = /** @type {any} */ ({ name: data.name, network: data.network, shapes, learns });
  for (const table of TABLES) {
    state[table] = {};
    for (const [name, [rows, columns]] of Object.entries(shapes)) {
      const text = (data[table] ?? {})[name];
      if (table === "support" && !text) continue;
      state[table][name] = unpackBits(text, rows * columns);
    }
  }
  for (const table of MORE) {
    if (data[table]) state[table] = data[table];
  }
  for (const [name, { index }] of Object.entries(learns)) {
    state.learnable[name] = Uint8Array.from(index, (k) => (k ? 1 : 0));
  }
  return state;
}

/**
 * Plain data from the state.
 * @param {State} state
 */
export function packState(state) {
  const data = /** @type {any} */ ({ name: state.name, network: state.network });
  for (const table of TABLES) {
    data[table] = {};
    for (const [name, bits] of Object.entries(state[table])) {
      if (table === "learnable" && !isPainted(state, name)) continue;
      if (table === "support" || bits.includes(1)) data[table][name] = packBits(bits);
    }
  }
  for (const table of MORE) {
    if (state[table]) data[table] = state[table];
  }
  return data;
}

/**
 * Whether a weight exists.
 * @param {State} state
 * @param {string} name
 * @param {number} k
 */
export function exists(state, name, k) {
  return !state.support[name] || state.support[name][k] === 1;
}

/**
 * Whether the weights of a matrix learn one by one; otherwise its parameters do.
 * @param {State} state
 * @param {string} name
 */
export function isPainted(state, name) {
  return !state.learns[name];
}

/**
 * Let a brush touch a weight; whether anything changed.
 * @param {State} state
 * @param {string} name
 * @param {number} k
 * @param {string} brush "learn", "must", "never" or "absent"
 * @param {number} value 1 to set, 0 to clear
 */
export function paint(state, name, k, brush, value) {
  if (!isPainted(state, name)) return false;
  if (brush === "absent") {
    if (value && !state.support[name]) {
      state.support[name] = new Uint8Array(state.learnable[name].length).fill(1);
    }
    const mask = state.support[name];
    if (!mask || mask[k] === 1 - value) return false;
    mask[k] = 1 - value;
    if (value) state.learnable[name][k] = state.must[name][k] = state.never[name][k] = 0;
    if (!mask.includes(0)) delete state.support[name];
    return true;
  }
  if (!exists(state, name, k)) return false;
  const table = brush === "learn" ? "learnable" : brush;
  const mask = /** @type {any} */ (state)[table][name];
  if (mask[k] === value) return false;
  mask[k] = value;
  // A lock is kept: what must learn learns, what must not does not.
  if (brush === "must" && value) {
    state.never[name][k] = 0;
    state.learnable[name][k] = 1;
  } else if (brush === "never" && value) {
    state.must[name][k] = 0;
    state.learnable[name][k] = 0;
  } else if (brush === "learn" && value) state.never[name][k] = 0;
  else if (brush === "learn") state.must[name][k] = 0;
  return true;
}

/**
 * Learnable weights in each row and column.
 * @param {State} state
 * @param {string} name
 */
export function lineCounts(state, name) {
  const [rows, columns] = state.shapes[name];
  const mask = state.learnable[name];
  const inRow = new Array(rows).fill(0);
  const inColumn = new Array(columns).fill(0);
  for (let k = 0; k < mask.length; k++) {
    if (mask[k]) {
      inRow[Math.floor(k / columns)]++;
      inColumn[k % columns]++;
    }
  }
  return { inRow, inColumn, total: inRow.reduce((a, b) => a + b, 0) };
}

/**
 * The learnable weights in the order of an allocation: matrix by matrix, row by row.
 * @param {State} state
 * @returns {[string, number][]}
 */
export function learnableCells(state) {
  /** @type {[string, number][]} */
  const cells = [];
  for (const name of Object.keys(state.shapes)) {
    state.learnable[name].forEach((bit, k) => bit && cells.push([name, k]));
  }
  return cells;
}

/** Steps that can be undone and done again. */
export class History {
  constructor() {
    /** @type {{ data: string, shapes: Shapes, learns: Record<string, Learns> }[]} */
    this.steps = [];
    this.at = -1;
  }

  /** @param {State} state */
  push(state) {
    const data = JSON.stringify(packState(state));
    if (this.at >= 0 && this.steps[this.at].data === data) return;
    this.steps = this.steps.slice(Math.max(0, this.at - 200), this.at + 1);
    this.steps.push({ data, shapes: state.shapes, learns: state.learns });
    this.at = this.steps.length - 1;
  }

  /** @param {number} by -1 or 1 */
  has(by) {
    return this.at + by >= 0 && this.at + by < this.steps.length;
  }

  /**
   * @param {number} by
   * @returns {State | null}
   */
  step(by) {
    if (!this.has(by)) return null;
    this.at += by;
    const { data, shapes, learns } = this.steps[this.at];
    return unpackState(JSON.parse(data), shapes, learns);
  }
}
