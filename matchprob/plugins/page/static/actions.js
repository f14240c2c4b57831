// @ts-check
// What takes longer: Certify, Estimate, Repair, Design, Compare, Identify, Record.

import { copy, fill, h, keepFocus, rendering } from "./dom.js";

const ACTIONS = [
  ["certify", "Certify", "Decide it with more time, with a certificate that others can check."],
  ["estimate", "Estimate", "Draw random teachers and samples, and count the real solutions of each."],
  ["repair", "Repair", "Move the fewest weights so that MP > 0, or so that MP = 1. Locks are obeyed."],
  ["design", "Design", "Choose the best allocation of all. Locks are obeyed."],
  ["compare", "Compare", "Compare the pinned allocation A with the one on the page, on common instances."],
  ["identify", "Identify", "Compute which of the learnable weights the data determine."],
  ["record", "Record", "Choose the least that has to be recorded so that the data determine the weights, or a target."],
];

/**
 * The options of an action.
 * @typedef {object} Field
 * @property {string} key of its options
 * @property {string} label
 * @property {"number" | "check" | "choice"} form
 * @property {number} [min]
 * @property {string} [step] of a number; 1 by default
 * @property {string} [empty] what a number that is not given means
 * @property {(host: any, mine: any) => [string, string][]} [entries] of a choice
 */

/** @param {string[]} words @returns {[string, string][]} */
const themselves = (words) => words.map((word) => [word, word]);

const TRIALS = /** @type {Field} */ ({ key: "trials", label: "Trials", form: "number", min: 1 });

/** Names of a list that is open from the beginning. */
const SHORT = 24;

/** @type {Record<string, Field[]>} */
const FORMS = {
  estimate: [TRIALS, { key: "complete", label: "count every solution (root counts, sizes of weights)", form: "check" }],
  compare: [TRIALS],
  repair: [{
    key: "goal", label: "So that", form: "choice",
    entries: () => [["", "MP > 0, or MP = 1 where it is"], ["positive", "MP > 0"], ["maximal", "MP = 1"]],
  }],
  design: [
    {
      key: "goal", label: "Goal", form: "choice",
      entries: (host) => Object.entries(host.goals()).map(([name, goal]) => [name, `${name}: ${goal.help}`]),
    },
    {
      key: "line", label: "By", form: "choice",
      entries: (host, mine) => (host.goals()[mine.goal]?.lines ?? []).map((/** @type {string} */ l) => [l, l]),
    },
    { key: "budget", label: "Weights", form: "number", min: 1, empty: "as needed" },
    {
      key: "among", label: "Among", form: "choice",
      entries: () => [["all", "all weights that exist"], ["learnable", "the painted weights"]],
    },
    {
      key: "matrix", label: "In", form: "choice",
      entries: (host) => [["", "all matrices"], ...host.matrices().map((/** @type {string} */ n) => [n, n])],
    },
    { key: "row_cap", label: "At most in a row", form: "number", min: 0, empty: "any" },
    { key: "column_cap", label: "At most in a column", form: "number", min: 0, empty: "any" },
  ],
  record: [
    { key: "elements", label: "Choose among", form: "choice", entries: () => themselves(["units", "outputs", "entries", "samples", "times"]) },
    {
      key: "target", label: "To determine", form: "choice",
      entries: () => [["weights", "the weights"], ["units", "all units"], ["outputs", "the outputs"], ["samples=new", "outputs for new inputs"]],
    },
    { key: "noise", label: "Noise", form: "number", min: 0, step: "any", empty: "none" },
  ],
};

/**
 * The panel of actions.
 * @param {object} host
 * @param {(what: string, options: any) => void} host.run
 * @param {(what: string) => void} host.cancel
 * @param {(what: string) => void} host.save the result of an action
 * @param {() => any} host.goals
 * @param {() => string[]} host.matrices
 * @param {() => boolean} host.isPinned
 * @param {(what: string, options: any) => string} host.command
 */
export function makeActions(host) {
  let current = "certify";
  /** @type {Record<string, any>} */
  const events = {};
  /** @type {Record<string, any>} */
  const options = {
    estimate: { trials: 1000, complete: true },
    compare: { trials: 1000 },
    repair: { goal: "" },
    record: { elements: "units", target: "weights", noise: "" },
    design: { goal: "cheapest", among: "all", line: "row", budget: "", matrix: "", row_cap: "", column_cap: "" },
  };
  const tabs = h("div", { class: "mp-tabs", role: "tablist", "aria-label": "What to do with the allocation" });
  const panel = h("div", { class: "mp-panel", role: "tabpanel", id: "mp-panel", tabindex: -1 });
  const element = h("section", { class: "mp-actions", "aria-label": "Actions" }, tabs, panel);
  const form = h("div", { class: "mp-options" });
  const outcome = h("div", { class: "mp-outcome", "aria-live": "polite" });

  /**
   * Show the panel of an action; returns its options.
   * @param {string} name
   * @param {any} [wanted] options that are shown there from now on
   */
  function choose(name, wanted = {}) {
    current = name;
    options[name] = { ...options[name], ...wanted };
    draw();
    return options[name];
  }

  function draw() {
    fill(tabs, ACTIONS.map(([name, title]) =>
      h("button", {
        type: "button", role: "tab", class: "mp-tab", id: `mp-tab-${name}`, "data-action": name,
        "aria-selected": String(name === current), "aria-controls": "mp-panel",
        tabindex: name === current ? 0 : -1,
        onclick: () => choose(name),
        onkeydown: (/** @type {KeyboardEvent} */ e) => {
          const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
          if (!step) return;
          const names = ACTIONS.map(([other]) => other);
          choose(names[(names.indexOf(name) + step + names.length) % names.length]);
          tabs.querySelector('[aria-selected="true"]')?.focus();
          e.preventDefault();
        },
      }, title, events[name]?.status === "running" ? h("span", { class: "mp-spin", "aria-label": "running" }) : null)));
    panel.setAttribute("aria-labelledby", `mp-tab-${current}`);
    const entry = ACTIONS.find(([name]) => name === current);
    drawForm();
    fill(panel, h("p", { class: "mp-soft" }, entry?.[2] ?? ""), form, outcome);
    drawOutcome();
  }

  function drawForm() {
    const mine = options[current] ?? {};
    const isRunning = events[current]?.status === "running";
    const fields = (FORMS[current] ?? []).map((field) => fieldOf(field, mine));
    const blocked = current === "compare" && !host.isPinned();
    if (blocked) fields.push(h("p", { class: "mp-none" }, "Pin an allocation as A first."));
    const command = h("code", { class: "mp-command", tabindex: 0 }, host.command(current, mine));
    fill(form,
      fields,
      h("div", { class: "mp-run" },
        isRunning
          ? h("button", { type: "button", class: "mp-cancel", onclick: () => host.cancel(current) }, "Cancel")
          : h("button", { type: "button", class: "mp-go", disabled: blocked, onclick: () => host.run(current, options[current] ?? {}) },
              ACTIONS.find(([name]) => name === current)?.[1] ?? ""),
        h("button", {
          type: "button", class: "mp-copy", title: "copy the command", "aria-label": "copy the command",
          onclick: async (/** @type {any} */ e) => {
            const done = await copy(command.textContent ?? "");
            e.target.textContent = done ? "copied" : "not copied";
          },
        }, "copy"),
        command));
  }

  function drawCommand() {
    const command = form.querySelector(".mp-command");
    if (command) command.textContent = host.command(current, options[current] ?? {});
  }

  /** @param {Field} option @param {any} mine the options of the action */
  function fieldOf(option, mine) {
    const { key, label, form: kind } = option;
    const change = (/** @type {any} */ value) => {
      mine[key] = value;
      // The lines of a goal depend on it; a field that is typed into stays.
      if (key === "goal") drawForm();
      drawCommand();
    };
    if (kind === "choice") {
      const entries = option.entries?.(host, mine) ?? [];
      if (!entries.length) return null;
      if (!entries.some(([value]) => value === mine[key])) mine[key] = entries[0][0];
      return field(label, select(entries, mine[key], change, { "data-option": key }));
    }
    const isCheck = kind === "check";
    const input = h("input", {
      type: isCheck ? "checkbox" : "number", "data-option": key,
      ...(isCheck ? { checked: mine[key] } : { min: option.min, max: 1000000, step: option.step, value: mine[key], placeholder: option.empty }),
      oninput: (/** @type {any} */ e) =>
        change(isCheck ? e.target.checked : e.target.value === "" ? "" : Number(e.target.value)),
    });
    return isCheck ? h("label", { class: "mp-check" }, input, label) : field(label, input);
  }

  function drawOutcome() {
    const event = events[current];
    if (!event) {
      fill(outcome);
      return;
    }
    const isRunning = event.status === "running";
    const share = event.requested ? event.trials / event.requested : null;
    const words = event.text || (isRunning ? "working" : event.status);
    fill(outcome,
      h("div", { class: `mp-told mp-told-${event.status}` },
        h("p", {}, isRunning ? h("span", { class: "mp-spin", "aria-hidden": "true" }) : null,
          event.status === "failed" ? "Not done: " : "", words),
        isRunning && share !== null ? progress(share, `${event.trials} of ${event.requested}`) : null,
        (event.lists ?? []).map(listed),
        event.html ? rendering(event.html) : null,
        event.status === "done" || (event.trials && !isRunning)
          ? h("button", { type: "button", class: "mp-small", onclick: () => host.save(current) },
              current === "certify" ? "Save the certificate" : "Save the result")
          : null));
  }

  return {
    element,
    draw,
    drawCommand,
    choose,
    current: () => current,
    /** @param {string} what @param {any} event */
    tell(what, event) {
      const before = events[what]?.status;
      events[what] = event;
      // A button that is replaced six times a second cannot be pressed.
      if (before !== event.status) keepFocus(element, draw);
      else if (what === current) keepFocus(outcome, drawOutcome);
    },
    /** @param {string} what */
    forget(what) {
      if (!events[what]) return;
      delete events[what];
      keepFocus(element, draw);
    },
  };
}

/**
 * Names in lists, each part of which is drawn when it is opened: there may be thousands.
 * @param {{ title: string, parts: [string, string[]][] }} list
 */
function listed({ title, parts }) {
  return h("section", { class: "mp-list", "aria-label": title }, h("h3", {}, title),
    parts.filter(([, names]) => names.length).map(([word, names]) => {
      const inside = h("ul", { class: "mp-names" });
      const show = () => inside.childElementCount || fill(inside, names.map((name) => h("li", {}, name)));
      const isShort = names.length <= SHORT;
      if (isShort) show();
      return h("details", { open: isShort, ontoggle: show }, h("summary", {}, `${names.length} ${word}`), inside);
    }));
}

/** @param {string} label @param {any} input */
function field(label, input) {
  return h("label", { class: "mp-field" }, h("span", {}, label), input);
}

/**
 * @param {any[][]} entries
 * @param {string} chosen
 * @param {(value: string) => void} change
 * @param {Record<string, any>} [more] attributes
 */
export function select(entries, chosen, change, more = {}) {
  return h("select", { ...more, onchange: (/** @type {any} */ e) => change(e.target.value) },
    entries.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
}

/** @param {number} share @param {string} words */
function progress(share, words) {
  const bar = h("div", { class: "mp-progress", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.round(100 * share), "aria-label": words }, h("i", {}));
  bar.firstChild.style.width = `${100 * share}%`;
  return bar;
}
