// @ts-check
// The page to think with: paint which weights learn, see verdict and match probability.
// Written to anywidget's contract: notebooks host it as it is, `matchprob serve` with a small shim.

import { bar, chanceOf, showChance } from "./chance.js";
import { showBlocks } from "./blocks.js";
import { copy, drawOnce, fill, forgetDrawn, h, keepFocus } from "./dom.js";
import { makeActions, select } from "./actions.js";
import { makeGrid, MOST_CELLS, nameSpace, nothingKnown } from "./grid.js";
import { makeSide } from "./side.js";
import { showBudgets, showTheorems, showVerdict, SIGNS, verdictOf } from "./verdict.js";
import { History, isPainted, learnableCells, packState, unpackBits, unpackState } from "./state.js";

/** Width of the matrices, in px, below which the page is one column. */
const NARROW = 420;

/**
 * What hosts give: a part of anywidget's model.
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, value: any) => void} set
 * @property {() => void} save_changes
 * @property {(event: string, listener: (...values: any[]) => void) => void} on
 * @property {(event: string, listener: (...values: any[]) => void) => void} off
 * @property {(message: any) => void} send
 */

/**
 * Show the allocator in an element.
 * @param {{ model: Model, el: HTMLElement }} host
 * @returns {() => void} takes it away
 */
function render({ model, el }) {
  const view = new View(model, el);
  return () => view.close();
}

class View {
  /** @param {Model} model @param {HTMLElement} el */
  constructor(model, el) {
    this.model = model;
    this.el = el;
    /** @type {any} */
    this.state = null;
    this.history = new History();
    /** @type {any} */
    this.welcome = { kinds: [], goals: {} };
    /** @type {any} */
    this.looked = null;
    /** @type {Record<string, any>} by the digest of a problem */
    this.verdicts = {};
    /** @type {Record<string, any>} */
    this.structures = {};
    /** @type {Record<string, any>} */
    this.blocks = {};
    /** @type {Record<string, string>} */
    this.unknowns = {};
    /** @type {Record<string, any>} */
    this.judged = {};
    /** @type {Record<string, any>} studies by their names */
    this.studies = {};
    /** @type {any} what is pinned, as plain data, with its digest and shapes */
    this.pinned = null;
    /** @type {any[]} */
    this.grids = [];
    this.marks = /** @type {any} */ ({});
    /** @type {[string, number, number][]} matrix, axis, line of the units that are recorded */
    this.units = [];
    this.seq = 0;
    this.hellos = 0;
    this.asking = "";
    this.inFlight = false;
    this.isStale = false;
    /** @type {Record<string, [string[] | null, string[] | null]>} names of rows and columns by matrix */
    this.lines = {};
    /** @type {Record<string, string>} by their request */
    this.commands = {};
    this.bound = /** @type {number | null} */ (null);
    this.zoomed = 1;
    this.wanted = "";
    this.packed = "";
    this.build();
    this.onMessage = (/** @type {any} */ event) => this.receive(event);
    this.onState = () => this.adopt(model.get("state"));
    this.onKey = (/** @type {KeyboardEvent} */ event) => this.key(event);
    this.onResize = () => {
      const before = this.fitted;
      if (this.state) this.fit();
      if (before !== this.fitted) this.drawGrids();
    };
    model.on("msg:custom", this.onMessage);
    model.on("change:state", this.onState);
    el.addEventListener("keydown", this.onKey);
    window.addEventListener("resize", this.onResize);
    // Canvases hold the colours they were drawn with.
    this.scheme = window.matchMedia("(prefers-color-scheme: dark)");
    this.onScheme = () => { forgetDrawn(); if (this.state) { this.drawCells(); this.drawKnown(); } };
    this.scheme.addEventListener("change", this.onScheme);
    const first = model.get("state");
    this.hello(first && first.network ? first : null);
  }

  close() {
    this.model.off("msg:custom", this.onMessage);
    this.model.off("change:state", this.onState);
    this.el.removeEventListener("keydown", this.onKey);
    window.removeEventListener("resize", this.onResize);
    this.scheme.removeEventListener("change", this.onScheme);
    fill(this.el);
  }

  build() {
    this.banner = h("div", { class: "mp-banner", role: "alert" });
    this.side = makeSide({
      kinds: () => this.welcome.kinds,
      state: () => this.state,
      resize: (network, field) => {
        this.wantedSize = field;
        this.send({ verb: "resize", network, state: packState(this.state) });
      },
      rename: (name) => { this.state.name = name || "P.toml"; this.changed(); },
      parse: (text, name) => this.send({ verb: "parse", text, name: name ?? this.state.name }),
      open: (chosen) => this.open(chosen),
      examples: () => this.welcome.examples ?? [],
      example: (name) => this.send({ verb: "example", name }),
      save: () => this.save("problem", this.state.name),
      step: (by) => this.step(by),
      clear: () => {
        for (const [name, mask] of Object.entries(this.state.learnable)) {
          if (!isPainted(this.state, name)) continue;
          this.state.must[name].fill(0);
          /** @type {Uint8Array} */ (mask).fill(0);
        }
        this.drawCells();
        this.changed();
      },
      copy: (form) => {
        this.wanted = form;
        this.send({ verb: "texts", state: packState(this.state) });
      },
      pin: () => this.pin(),
    });
    this.actions = makeActions({
      run: (what, options) => this.act(what, options),
      cancel: (what) => this.cancel(what),
      save: (what) => this.saveResult(what),
      goals: () => this.welcome.goals,
      matrices: () => Object.keys(this.state?.shapes ?? {}),
      isPinned: () => this.pinned !== null,
      command: (what, options) => this.command(what, options),
    });
    this.others = h("div", { class: "mp-others" });
    this.title = h("p", { class: "mp-title" });
    this.pinCard = h("section", { class: "mp-pin", "aria-label": "Pinned allocation A" });
    this.matrices = h("div", { class: "mp-matrices" });
    this.hint = h("p", { class: "mp-hint" });
    const zoom = (/** @type {string} */ text, /** @type {string} */ words, /** @type {number} */ by) =>
      h("button", { type: "button", class: "mp-small", title: words, "aria-label": words, onclick: () => this.zoom(by) }, text);
    const above = h("div", { class: "mp-above" }, this.title,
      h("div", { class: "mp-zoom", role: "group", "aria-label": "size of the matrices" },
        zoom("−", "smaller cells", 1 / 1.5), zoom("fit", "cells as large as fit into the window", 0), zoom("+", "larger cells", 1.5)));
    this.legend = h("ul", { class: "mp-legend", "aria-label": "Legend" });
    this.drawLegend([]);
    this.verdictCard = h("div", {});
    this.chanceCard = h("div", {});
    this.theoremCard = h("div", {});
    this.budgetCard = h("div", {});
    this.blockCard = h("div", {});
    const card = (/** @type {string} */ title, /** @type {any} */ inside, /** @type {string} */ id) =>
      h("section", { class: `mp-card mp-card-${id}`, "aria-label": title }, h("h2", {}, title), inside);
    this.columns = h("div", { class: "mp-columns" },
      this.side.element,
      h("main", { class: "mp-centre" }, 
        h("div", { class: "mp-allocation" }, above, this.pinCard, this.matrices),
        this.hint, this.legend, this.actions.element, this.others),
      h("div", { class: "mp-right", role: "region", "aria-label": "What is known" },
        card("Verdict", this.verdictCard, "verdict"),
        card("Match probability", this.chanceCard, "chance"),
        card("Budgets", this.budgetCard, "budgets"),
        card("Theorems, as stated", this.theoremCard, "theorems"),
        card("Equations", this.blockCard, "blocks")));
    // Nothing can be operated before there is a problem to operate on: see `take`.
    this.columns.inert = true;
    this.root = h("div", { class: "mp" }, this.banner, this.columns);
    this.root.addEventListener("dragover", (/** @type {DragEvent} */ e) => {
      if (e.dataTransfer?.types.includes("Files")) e.preventDefault();
    });
    this.root.addEventListener("drop", (/** @type {DragEvent} */ e) => {
      const chosen = e.dataTransfer?.files[0];
      if (!chosen) return;
      e.preventDefault();
      this.open(chosen);
    });
    // The ring around a weight is for keyboard users.
    this.root.addEventListener("keydown", () => this.root.classList.add("mp-keys"), true);
    this.root.addEventListener("pointerdown", () => this.root.classList.remove("mp-keys"), true);
    fill(this.el, this.root);
  }

  /**
   * A file that was chosen or dropped: a problem file, or a table of one matrix.
   * @param {File} chosen
   */
  async open(chosen) {
    const text = await chosen.text();
    if (!/\.(csv|tsv|txt)$/i.test(chosen.name)) {
      this.side.edit(text);
      this.send({ verb: "parse", text, name: chosen.name });
      return;
    }
    const names = Object.keys(this.state.shapes);
    let matrix = names.includes("W") ? "W" : names[0];
    const use = (/** @type {string} */ table, /** @type {string} */ words) =>
      h("button", {
        type: "button", "data-table": table,
        onclick: () => this.send({ verb: "table", text, matrix, table, state: packState(this.state) }),
      }, words);
    fill(this.banner, h("div", { class: "mp-said mp-said-warn" },
      h("span", {}, `${chosen.name} says of`),
      select(names.map((name) => [name, name]), matrix, (name) => { matrix = name; }, { "aria-label": "matrix" }),
      use("learnable", "which weights learn"), use("support", "which weights exist"),
      h("button", { type: "button", class: "mp-close", "aria-label": "close this message", onclick: () => this.say("", "") }, "×")));
  }

  // -- messages ------------------------------------------------------------------------

  /** @param {any} message */
  send(message) {
    this.model.send(message);
  }

  /** @param {any} state plain data or null */
  hello(state) {
    this.hellos += 1;
    this.send({ verb: "hello", state, asked: this.hellos });
  }

  /** @param {any} event */
  receive(event) {
    const answer = /** @type {any} */ (this)[`on_${event.event}`];
    if (answer) answer.call(this, event);
  }

  /** @param {any} event */
  on_welcome(event) {
    this.welcome = event;
    // Another state has come meanwhile: its own answer is on the way.
    if (event.asked && event.asked !== this.hellos) return;
    this.say(event.trouble ?? "", "warn");
    for (const study of event.studies) this.studies[study.study] = study;
    if (event.pinned) this.pinned = event.pinned;
    // The server may be another one than before.
    this.asking = "";
    this.take(event.state, event.shapes, event.lines, event.learns);
    if (this.pinned) this.askVerdict();
  }

  /**
   * Show a state, look at it.
   * @param {any} data
   * @param {any} shapes
   * @param {any} [lines] names of rows and columns, where they have any
   * @param {any} [learns] of the matrices that are not painted
   */
  take(data, shapes, lines = this.lines, learns = {}) {
    const before = this.state && JSON.stringify([this.state.shapes, this.state.network, this.lines]);
    this.lines = lines ?? {};
    this.state = unpackState(data, shapes, learns);
    this.marks = {};
    this.units = [];
    this.columns.inert = false;
    this.history.push(this.state);
    if (before !== JSON.stringify([shapes, data.network, this.lines])) this.drawGrids();
    else this.drawCells();
    this.side.draw(this.history);
    this.actions.draw();
    this.publish();
    this.look();
  }

  /** @param {any} event */
  on_state(event) {
    if (event.from === "parse") this.side.edit(event.text ?? "");
    this.take(event.state, event.shapes, event.lines, event.learns);
    if (event.from !== "resize") this.say("", "");
  }

  /**
   * The state was changed from outside: the address was edited, or Python set the problem.
   * @param {any} data
   */
  adopt(data) {
    if (!data?.network || JSON.stringify(data) === this.packed) return;
    this.hello(data);
  }

  /** @param {any[]} marks what a design or Identify said of weights */
  drawLegend(marks) {
    const looks = [
      ["mp-on", "learns"], ["mp-on mp-spare", "learns, but the rank stays without it"],
      ["mp-raises", "would raise the rank"], ["mp-over", "in an exceeded budget"],
      ["mp-absent", "no weight"], ["mp-on mp-must", "must"], ["mp-never", "must not"],
      ...marks.map(({ look, words }) => [`${look === "excluded" ? "" : "mp-on "}mp-${look}`, words]),
    ];
    fill(this.legend, looks.map(([look, words]) =>
      h("li", {}, h("span", { class: `mp-cell ${look}`, "aria-hidden": "true" }), words)));
  }

  /** Something was painted: to be seen by the host, and looked at. */
  changed() {
    this.marks = {};
    this.units = [];
    this.drawLegend([]);
    for (const grid of this.grids) grid.known.lit = new Set();
    this.history.push(this.state);
    this.side.draw(this.history);
    this.actions.draw();
    this.publish();
    this.look();
  }

  publish() {
    const data = packState(this.state);
    if (this.pinned) data.pinned = this.pinned.state;
    this.packed = JSON.stringify(data);
    this.model.set("state", data);
    this.model.save_changes();
  }

  /** Request immediate results; one request at a time, the last one counts. */
  look() {
    const state = packState(this.state);
    const asked = JSON.stringify(state);
    if (this.inFlight) {
      this.isStale = asked !== this.asking;
      return;
    }
    // The end of a stroke needs no request after that of its last weight.
    if (asked === this.asking && this.looked?.seq === this.seq) return;
    this.inFlight = true;
    this.isStale = false;
    this.asking = asked;
    this.root.dataset.asked = String(++this.seq);
    this.root.dataset.settled = "false";
    this.send({ verb: "look", seq: this.seq, state });
  }

  /** @param {any} event */
  on_looked(event) {
    this.inFlight = false;
    if (this.isStale) {
      this.look();
      if (!sameShapes(event.shapes, this.state.shapes)) return;
    }
    if (this.looked?.digest !== event.digest) this.bound = null;
    this.looked = event;
    this.judged[event.digest] = event;
    this.drawStudies();
    this.root.dataset.looked = String(event.seq);
    this.root.dataset.milliseconds = event.milliseconds.toFixed(1);
    this.drawKnown();
  }

  /** @param {any} event */
  on_verdict(event) {
    this.verdicts[event.digest] = event;
    this.drawKnown();
  }

  /** @param {any} event */
  on_structure(event) {
    this.structures[event.digest] = event;
    this.drawKnown();
  }

  /** @param {any} event */
  on_blocks(event) {
    this.blocks[event.digest] = event.blocks;
    this.drawKnown();
  }

  /** @param {any} event */
  on_unknown(event) {
    this.unknowns[event.digest] = event.text;
    this.drawKnown();
  }

  /** @param {any} event */
  on_judged(event) {
    this.judged[event.digest] = event;
    if (this.pinned && event.pinned) this.pinned = { ...this.pinned, digest: event.digest, shapes: event.shapes };
    this.drawPin();
  }

  /** @param {any} event */
  on_action(event) {
    this.actions.tell(event.what, event);
    if (event.status !== "done") return;
    if (event.learnable) {
      for (const [name, [rows, columns]] of Object.entries(this.state.shapes)) {
        this.state.learnable[name] = unpackBits(event.learnable[name], rows * columns);
      }
      this.changed();
      this.drawCells();
    }
    if (event.marks || event.units) {
      const columns = (/** @type {string} */ name) => this.state.shapes[name][1];
      const marks = event.marks ?? [];
      this.marks = {};
      this.units = event.units ?? [];
      for (const { look, words, cells } of marks) {
        for (const [name, i, j] of cells) (this.marks[name] ??= new Map()).set(i * columns(name) + j, { look, words });
      }
      this.drawLegend(marks.filter((/** @type {any} */ mark) => mark.cells.length));
      this.drawKnown();
    }
  }

  /** @param {any} event */
  on_study(event) {
    this.studies[event.study] = event;
    this.drawStudies();
    this.drawChance();
    this.drawPin();
  }

  /** Studies of what is shown stand in their panels, those of something else in a list. */
  drawStudies() {
    const digest = this.looked?.digest;
    for (const what of ["estimate", "compare"]) {
      const mine = Object.values(this.studies).filter((s) => s.what === what && s.digests.includes(digest)).at(-1);
      if (mine) this.actions.tell(what, mine);
      else this.actions.forget(what);
    }
    const others = Object.values(this.studies).filter((s) => s.status === "running" && !s.digests.includes(digest));
    const key = JSON.stringify(others.map((study) => study.study));
    drawOnce(this.others, key, () =>
      keepFocus(this.others, () => fill(this.others, others.map((study) => h("p", { class: "mp-soft" },
        h("span", {}),
        h("button", { type: "button", class: "mp-small", onclick: () => this.send({ verb: "cancel", study: study.study }) }, "Cancel it"))))));
    others.forEach((study, k) => {
      this.others.children[k].firstChild.textContent =
        `Still running for another allocation: ${study.what}, ${study.trials} of ${study.requested} trials. `;
    });
  }

  /** @param {any} event */
  on_refused(event) {
    const place = String(event.place ?? "");
    if (event.verb === "resize") {
      this.side.refuseSize(place.split(".")[1] ?? this.wantedSize ?? "", event.text);
    } else if (event.verb === "parse") this.side.refuseFile(event.text, event.line ?? null);
    else if (event.verb === "act" || event.verb === "study") {
      this.actions.tell(event.verb === "act" ? place : this.asked, { status: "failed", text: event.text });
    } else this.say(event.text, "error");
    if (event.verb === "look") {
      this.inFlight = false;
      if (this.isStale) this.look();
    }
  }

  /** @param {any} event */
  async on_texts(event) {
    if (this.wanted === "editor") {
      this.side.edit(event.toml);
      return;
    }
    const done = await copy(event[this.wanted] ?? "");
    this.say(done ? `Copied as ${this.wanted === "toml" ? "TOML" : this.wanted}.` : "The browser does not let the page copy.", "note");
  }

  /** @param {any} event */
  on_saved(event) {
    this.say(`Saved as ${event.name}.`, "note");
  }

  /** @param {any} event */
  on_exists(event) {
    fill(this.banner, h("div", { class: "mp-said mp-said-warn" },
      `There is a ${event.name} already. `,
      h("button", { type: "button", "data-do": "replace", onclick: () => this.send({ ...this.saving, replace: true }) }, "Replace it"),
      h("button", { type: "button", onclick: () => this.say("", "") }, "Keep it")));
  }

  /** @param {any} event from the shim of the page */
  on_connection(event) {
    if (event.is_up) {
      if (this.wasDown) {
        this.wasDown = false;
        this.say("The connection is back.", "note");
        this.inFlight = false;
        this.hello(this.state ? { ...packState(this.state), ...(this.pinned ? { pinned: this.pinned.state } : {}) } : null);
      }
      return;
    }
    this.wasDown = true;
    this.inFlight = false;
    this.say("The connection to `matchprob serve` is lost; the page tries to connect again. What is painted is kept in the address of this page.", "error");
  }

  on_closed() {
    this.wasDown = true;
    this.say("`matchprob serve` has ended. What is painted is kept in the address of this page, trials in the store, where one was named.", "error");
  }

  /** @param {string} text @param {string} kind */
  say(text, kind) {
    fill(this.banner, text ? h("div", { class: `mp-said mp-said-${kind}` }, text,
      h("button", { type: "button", class: "mp-close", "aria-label": "close this message", onclick: () => this.say("", "") }, "×")) : null);
    clearTimeout(this.fading);
    if (kind === "note") this.fading = setTimeout(() => this.say("", ""), 4000);
  }

  // -- what is done ----------------------------------------------------------------------

  /** @param {number} by */
  step(by) {
    const state = this.history.step(by);
    if (!state) return;
    const before = JSON.stringify([this.state.shapes, this.state.network]);
    this.state = state;
    this.marks = {};
    this.units = [];
    this.drawLegend([]);
    if (before !== JSON.stringify([state.shapes, state.network])) this.drawGrids();
    else this.drawCells();
    this.side.draw(this.history);
    this.publish();
    this.look();
  }

  /** @param {string} what @param {any} options */
  act(what, options) {
    this.asked = what;
    const state = packState(this.state);
    if (what === "estimate") this.send({ verb: "study", state, options: this.estimateOptions(options) });
    else if (what === "compare") {
      this.send({ verb: "study", state: this.pinned.state, other: state, options: { ...options, other_name: this.state.name } });
    } else this.send({ verb: "act", what, state, options });
  }

  /** @param {any} options */
  estimateOptions(options) {
    // Of a minimal allocation nothing is counted: a verdict settles every trial.
    const isMinimal = this.verdict().word === "minimal";
    return { ...options, complete: options.complete && !isMinimal };
  }

  /** @param {string} what */
  cancel(what) {
    const study = this.study(what, true);
    this.send(study ? { verb: "cancel", study: study.study } : { verb: "cancel", what });
  }

  /** @param {string} what @param {string} name @param {any} [more] */
  save(what, name, more = {}) {
    this.saving = { verb: "save", what, name, state: packState(this.state), ...more };
    this.send(this.saving);
  }

  /** @param {string} what */
  saveResult(what) {
    const stem = this.state.name.replace(/\.toml$/, "");
    if (what === "certify") {
      this.save("certificate", `${stem}.certificate.json`);
      return;
    }
    const study = this.study(what, false);
    this.save("result", `${stem}.${what}.json`, { result: study ? study.study : what });
  }

  /** What is shown, as plain data that can be pinned. */
  asPinned() {
    const { shapes, learns } = this.state;
    return { state: packState(this.state), digest: this.looked?.digest, shapes, learns };
  }

  pin() {
    this.pinned = this.asPinned();
    this.publish();
    this.askVerdict();
    this.actions.draw();
    this.drawPin();
  }

  askVerdict() {
    if (!this.pinned.digest || !this.verdicts[this.pinned.digest]) {
      this.send({ verb: "verdict", state: this.pinned.state });
    }
  }

  /**
   * The study of what is shown.
   * @param {string} what
   * @param {boolean} isRunning
   */
  study(what, isRunning) {
    return Object.values(this.studies).filter((s) => s.what === what &&
      s.digests.includes(this.looked?.digest) && (!isRunning || s.status === "running")).at(-1);
  }

  /** @param {string} digest */
  estimateOf(digest) {
    const mine = Object.values(this.studies).filter((s) => s.what === "estimate" && s.digest === digest);
    if (mine.length) return mine.at(-1);
    for (const study of Object.values(this.studies).reverse()) {
      const at = study.estimates ? study.digests.indexOf(digest) : -1;
      if (at >= 0) return { ...study.estimates[at], status: "done" };
    }
    return undefined;
  }

  /**
   * The command that does what an action would do; "" until it is there.
   * @param {string} what @param {any} options
   */
  command(what, options) {
    if (!this.state) return "";
    const locks = /** @type {any} */ ({});
    for (const table of ["must", "never"]) {
      locks[table] = Object.keys(this.state[table]).filter((name) => this.state[table][name].includes(1));
    }
    const asked = what === "estimate" ? this.estimateOptions(options) : options;
    const message = { what, options: asked, name: this.state.name, locks };
    const key = JSON.stringify(message);
    if (this.commands[key] === undefined) {
      this.commands[key] = "";
      this.send({ verb: "command", key, ...message });
    }
    return this.commands[key];
  }

  /** @param {any} event */
  on_command(event) {
    this.commands[event.key] = event.text;
    this.actions.drawCommand();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {Element} */ (event.target);
    if (!(event.ctrlKey || event.metaKey) || ["INPUT", "TEXTAREA"].includes(target.tagName)) return;
    const letter = event.key.toLowerCase();
    if (letter === "z") this.step(event.shiftKey ? 1 : -1);
    else if (letter === "y") this.step(1);
    else return;
    event.preventDefault();
  }

  // -- what is drawn -----------------------------------------------------------------------

  /** The side of a cell, in px: the largest at which all matrices fit into the window, or as zoomed. */
  fit() {
    const shapes = /** @type {[string, [number, number]][]} */ (Object.entries(this.state?.shapes ?? { W: [1, 1] }));
    const room = this.matrices.clientWidth || 600;
    // What is below them, the actions, is to be seen too.
    // On a phone the page is scrolled, and cells are as large as a finger needs.
    const tall = room < NARROW ? Infinity : Math.max(360, Math.min(760, window.innerHeight - 330));
    const most = Math.max(...shapes.flatMap(([, shape]) => shape));
    let size = most <= 4 ? 50 : 34;
    const least = most > MOST_CELLS ? 2 : 5;
    for (; size > least; size--) {
      const gap = size < 22 ? 1 : 2;
      let [wide, high, row] = [0, 0, 0];
      let fits = true;
      for (const [name, [rows, columns]] of shapes) {
        const isCanvas = Math.max(rows, columns) > MOST_CELLS;
        const [step, edge] = isCanvas ? [size, 30] : [size + gap, 66];
        const [left, top] = isCanvas ? [0, 0] : (this.lines[name] ?? []).map((names) => Math.max(0, nameSpace(names) - 18));
        const width = columns * step + edge + (left || 0);
        fits = fits && width <= room;
        if (wide && wide + 26 + width > room) {
          high += row + 18;
          [wide, row] = [0, 0];
        }
        wide += (wide ? 26 : 0) + width;
        row = Math.max(row, rows * step + edge + (top || 0));
      }
      if (fits && high + row <= tall) break;
    }
    this.fitted = size;
    return Math.max(2, Math.min(60, Math.round(size * this.zoomed)));
  }

  /** @param {number} by how much larger; 0 for what fits */
  zoom(by) {
    this.zoomed = by ? Math.max(1, Math.min(16, this.zoomed * by)) : 1;
    this.drawGrids();
  }

  drawGrids() {
    const size = this.fit();
    this.grids = Object.entries(this.state.shapes).map(([name, shape]) =>
      makeGrid(name, /** @type {[number, number]} */ (shape), size, {
        state: () => this.state,
        brush: () => this.side.brush(),
        painted: (isDone) => {
          // Budgets are counted here; ranks are requested during the stroke.
          if (isDone) this.changed();
          else this.look();
        },
        lines: (matrix) => this.lines[matrix] ?? [null, null],
        pointed: (matrix, k) => this.pointed(matrix, k),
      }));
    fill(this.matrices, this.grids.map((grid) => grid.element));
    if (this.looked && !sameShapes(this.looked.shapes, this.state.shapes)) this.looked = null;
    this.drawKnown();
  }

  drawCells() {
    for (const grid of this.grids) grid.draw();
  }

  /** @param {string} matrix @param {number | null} k */
  pointed(matrix, k) {
    this.pointing = k === null ? null : { matrix, k };
    const grid = this.grids.find((one) => one.name === matrix);
    fill(this.hint, k === null || !grid ? "" : grid.describe(k));
    if (!this.light) return;
    const at = k === null ? -1 : learnableCells(this.state).findIndex(([name, cell]) => name === matrix && cell === k);
    this.light(at < 0 ? null : at);
  }

  verdict() {
    const digest = this.looked?.digest;
    return verdictOf(this.looked, this.verdicts[digest], this.unknowns[digest]);
  }

  /** Everything that depends on what Python has said. */
  drawKnown() {
    const looked = this.looked;
    if (!looked) {
      fill(this.title, "");
      return;
    }
    const digest = looked.digest;
    const certified = this.verdicts[digest];
    const structure = this.structures[digest];
    const { word } = this.verdict();
    fill(this.title, looked.title, looked.notes.includes("discrete") ? " (discrete law: verdicts are about generic instances)" : "");
    this.knowCells(looked.violations?.[0] ?? null);
    const unknown = this.unknowns[digest];
    showVerdict(this.verdictCard, looked, certified, structure, unknown, () =>
      this.act("certify", this.actions.choose("certify")));
    drawOnce(this.theoremCard, `${digest} ${word}`, () => showTheorems(this.theoremCard, looked, word));
    drawOnce(this.budgetCard, digest, () => showBudgets(this.budgetCard, looked, (violation) =>
      this.knowCells(violation ?? looked.violations?.[0] ?? null)));
    const blocks = looked.blocks ?? this.blocks[digest];
    const waiting = !looked.learnable ? "Nothing learns yet: there are no equations to solve."
      : structure ? (structure.skipped[0] ?? "There is no common system of equations for all instances.")
      : unknown ?? "being written out …";
    drawOnce(this.blockCard, `${digest} ${blocks ? "" : waiting}`, () => {
      this.light = showBlocks(this.blockCard, blocks, waiting, (weights) => {
        const cells = weights ? learnableCells(this.state) : [];
        for (const grid of this.grids) {
          grid.known.lit = new Set((weights ?? []).map((w) => cells[w]).filter((c) => c && c[0] === grid.name).map((c) => c[1]));
          grid.draw();
        }
      });
    });
    if (this.pointing) this.pointed(this.pointing.matrix, this.pointing.k);
    this.drawChance();
    this.drawPin();
    // Whether an answer to what is shown is still on its way.
    const isAnswered = !this.inFlight && (certified || unknown) && (structure || unknown || !looked.learnable);
    this.root.dataset.settled = String(Boolean(isAnswered));
  }


  /** @param {any} violation the budget whose cells are outlined */
  knowCells(violation) {
    const looked = this.looked;
    for (const grid of this.grids) {
      const count = grid.rows * grid.columns;
      const known = nothingKnown();
      if (looked.what_if) {
        known.raises = unpackBits(looked.what_if.raises[grid.name], count);
        known.lowers = unpackBits(looked.what_if.lowers[grid.name], count);
      }
      known.limits = looked.limits?.[grid.name] ?? null;
      known.isReached = !!looked.rank && !looked.rank.minimal;
      known.lit = grid.known.lit;
      known.marks = this.marks[grid.name] ?? new Map();
      for (const [name, axis, line] of this.units) if (name === grid.name) known.units[axis].add(line);
      for (const [name, i] of violation?.rows ?? []) {
        if (name === grid.name) for (const k of grid.rowCells(i)) known.outlined.add(k);
      }
      for (const [name, j] of violation?.columns ?? []) {
        if (name === grid.name) for (const k of grid.columnCells(j)) known.outlined.add(k);
      }
      grid.known = known;
      grid.draw();
    }
  }

  drawChance() {
    if (!this.looked) return;
    const study = this.estimateOf(this.looked.digest);
    // With N, which comes with the verdict, the cost of a trial is known better.
    const { trials, too_costly: tooCostly } = this.verdicts[this.looked.digest] ?? this.looked;
    showChance(this.chanceCard, this.verdict(), study, {
      bound: this.bound,
      trials,
      tooCostly,
      expected: this.looked.expected,
      setBound: (k) => { this.bound = k; this.drawChance(); },
      run: () => this.act("estimate", this.actions.choose("estimate", { trials, complete: true })),
      cancel: () => this.cancel("estimate"),
    });
  }

  /** A, next to the present allocation. */
  drawPin() {
    if (!this.pinned) {
      drawOnce(this.pinCard, "", () => fill(this.pinCard));
      return;
    }
    const { digest, shapes, state } = this.pinned;
    const a = this.summary(digest, this.judged[digest]);
    const b = this.summary(this.looked?.digest, this.looked);
    const compare = () => this.act("compare", this.actions.choose("compare", { trials: 1000 }));
    const unpin = () => {
      this.pinned = null;
      this.publish();
      this.drawPin();
      this.actions.draw();
    };
    const small = (/** @type {string} */ name, /** @type {string} */ words, /** @type {() => void} */ act) =>
      h("button", { type: "button", class: "mp-small", "data-do": name, onclick: act }, words);
    const style = getComputedStyle(this.pinCard);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const isNew = drawOnce(this.pinCard, JSON.stringify([digest, state, this.packed]), () => fill(this.pinCard,
      h("div", { class: "mp-ab", "data-side": "A" }, h("h3", {}, "A"), miniature(state, shapes, colour), a,
        h("div", { class: "mp-buttons" }, small("swap", "Swap", () => this.swap()), small("unpin", "Unpin", unpin))),
      h("div", { class: "mp-ab", "data-side": "B" }, h("h3", {}, "B"), miniature(packState(this.state), this.state.shapes, colour), b,
        h("div", { class: "mp-buttons" }, small("compare", "Compare with 1,000 trials", compare)))));
    // Otherwise only the results of a study have changed: the buttons, and their focus, stay.
    if (!isNew) this.pinCard.querySelectorAll(".mp-summary").forEach((old, side) => old.replaceWith(side ? b : a));
  }

  swap() {
    const { state, shapes, learns } = this.pinned;
    this.pinned = this.asPinned();
    this.take(state, shapes, this.lines, learns);
    this.askVerdict();
  }

  /** @param {string} digest @param {any} looked */
  summary(digest, looked) {
    const known = verdictOf(looked, this.verdicts[digest], this.unknowns[digest]);
    const { word } = known;
    const chance = chanceOf(known, this.estimateOf(digest));
    const value = chance?.text ?? "";
    return h("div", { class: "mp-summary" },
      h("span", { class: `mp-chip mp-is-${word}`, "data-verdict": word }, h("span", { "aria-hidden": "true" }, `${SIGNS[word]} `), word === "pending" ? "deciding" : word),
      h("span", { class: "mp-soft" }, value),
      chance ? bar(chance, value) : null);
  }
}

/** @param {any} one @param {any} other */
function sameShapes(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * An allocation in small: the matrices that learn.
 * @param {any} data
 * @param {any} shapes
 * @param {(name: string) => string} colour of a property of the style sheet
 */
function miniature(data, shapes, colour) {
  const [on, off] = [colour("--mp-on"), colour("--mp-cell")];
  const names = Object.keys(shapes ?? {}).filter((name) => data.learnable?.[name]);
  return h("div", { class: "mp-minis", "aria-hidden": "true" }, names.map((name) => {
    const [rows, columns] = shapes[name];
    const bits = unpackBits(data.learnable[name], rows * columns);
    const unit = Math.max(1, Math.min(12, Math.floor(56 / Math.max(rows, columns))));
    const canvas = h("canvas", { class: "mp-mini", width: columns * unit, height: rows * unit });
    const pen = canvas.getContext("2d");
    bits.forEach((bit, k) => {
      pen.fillStyle = bit ? on : off;
      pen.fillRect((k % columns) * unit, Math.floor(k / columns) * unit, unit - (unit > 3 ? 1 : 0), unit - (unit > 3 ? 1 : 0));
    });
    return canvas;
  }));
}

export default { render };
