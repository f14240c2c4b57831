// @ts-check
// The verdict with its certainty and its reason; what the theorems say; budgets that are exceeded.

import { fill, h, plural } from "./dom.js";

const MEANING = /** @type {Record<string, string>} */ ({
  maximal: "MP = 1: almost every teacher is matched",
  minimal: "MP = 0: almost no teacher is matched",
  intermediate: "0 < MP < 1: some teachers are matched, some are not",
  undecided: "MP > 0; whether it is 1 is open",
});
// Seconds of the action Certify: LONG of commands.py.
const LONGER = 120;
export const SIGNS = /** @type {Record<string, string>} */ ({
  maximal: "●", minimal: "○", intermediate: "◐", undecided: "?", pending: "…",
});

/**
 * The verdict as far as it is known: at once from the ranks, later from the certificate.
 * @param {any} looked
 * @param {any} certified
 * @param {any} unknown why there is no certificate
 */
export function verdictOf(looked, certified, unknown) {
  if (certified) return { word: certified.verdict, sure: certified.sure };
  if (looked?.rank?.minimal) {
    return { word: "minimal", sure: looked.rank.error === 0 ? "proved" : "probable" };
  }
  if (unknown) return { word: "undecided", sure: "undecided" };
  return { word: "pending", sure: "pending" };
}

/**
 * The verdict's card.
 * @param {HTMLElement} card
 * @param {any} looked
 * @param {any} certified
 * @param {any} structure
 * @param {any} unknown
 * @param {() => void} proceed certify with more time
 */
export function showVerdict(card, looked, certified, structure, unknown, proceed) {
  const { word, sure } = verdictOf(looked, certified, unknown);
  // A limit is no verdict: what stopped the search, and how to go on.
  const isStopped = word === "undecided" && certified?.out_of_time;
  const seconds = certified?.limits?.timeout;
  const rank = looked?.rank;
  const facts = [];
  if (rank) {
    facts.push(["rank", `${rank.rank} of ${rank.equations}`]);
    facts.push(["learnable", String(looked.learnable)]);
  } else if (looked) facts.push(["learnable", String(looked.learnable)]);
  const roots = certified?.roots;
  if (roots !== undefined && roots !== null) {
    facts.push(["N", `${roots}, ${roots % 2 ? "odd" : "even"}`]);
  } else if (certified?.roots_at_least) facts.push(["N", `≥ ${certified.roots_at_least}`]);
  else if (word === "pending" && rank && looked.learnable === rank.equations) facts.push(["N", "…"]);
  const core = structure?.forms?.[0]?.core;
  if (core && !rank?.minimal) {
    facts.push([
      "core",
      core.equations
        ? `${plural(core.equations, "equation")} of degree ${core.degree}`
        : "linear: solved by elimination",
    ]);
  }
  const words = word === "pending" ? "not minimal" : word;
  fill(
    card,
    h(
      "div",
      { class: `mp-verdict mp-is-${word}`, role: "status", "data-verdict": word },
      h("span", { class: "mp-sign", "aria-hidden": "true" }, SIGNS[word]),
      h("div", {},
        h("span", { class: "mp-head-line" },
          h("strong", { class: "mp-word" }, looked && !rank && word === "pending" ? "deciding" : isStopped ? "open so far" : words),
          h("span", { class: `mp-sure mp-sure-${sure}`, title: certainty(looked, certified, sure) },
            isStopped ? `stopped after ${seconds} s`
              : { proved: "proved", probable: "probable", undecided: "search ended", pending: "working" }[sure] ?? "")),
        h("span", { class: "mp-meaning" }, word === "pending"
          ? rank ? "MP > 0; whether it is 1 is being decided" : "the verdict is being computed"
          : MEANING[word]),
      ),
    ),
    isStopped && seconds < LONGER
      ? h("button", { type: "button", class: "mp-small", "data-do": "continue", onclick: proceed }, `Continue: certify within ${LONGER} s`)
      : null,
    h("dl", { class: "mp-facts" }, facts.map(([name, value]) =>
      h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    h("details", {
      class: "mp-why", open: areOpen(card),
      ontoggle: (/** @type {any} */ e) => { card.dataset.why = e.target.open ? "open" : "closed"; },
    },
      h("summary", {}, "Why"),
      reasons(looked, certified, unknown).map((text) => h("p", {}, text)),
      h("p", { class: "mp-certainty" }, certainty(looked, certified, sure))),
  );
}

/** @param {HTMLElement} card @returns {boolean} whether reasons are shown: on narrow screens only if wanted */
function areOpen(card) {
  return card.dataset.why ? card.dataset.why === "open" : !window.matchMedia("(max-width: 660px)").matches;
}

/** @param {any} looked @param {any} certified @param {any} unknown */
function reasons(looked, certified, unknown) {
  if (certified) return certified.paragraphs;
  const rank = looked?.rank;
  if (rank?.minimal) {
    const missing = rank.equations - rank.rank;
    const out = [
      `A match has to satisfy ${plural(rank.equations, "independent equation")}; the ` +
        `${plural(looked.learnable, "learnable weight")} reach${looked.learnable === 1 ? "es" : ""} ${rank.rank} of them.`,
    ];
    if (looked.learnable < rank.equations) {
      out.push(`At least ${plural(rank.equations - looked.learnable, "more weight")} must learn.`);
    } else out.push(`There are enough weights, but ${missing === 1 ? "one is" : `${missing} are`} in the wrong place.`);
    return out;
  }
  if (unknown) return [unknown];
  return rank
    ? [`The ${plural(looked.learnable, "learnable weight")} reach all ${plural(rank.equations, "independent equation")}.`]
    : [];
}

/** @param {any} looked @param {any} certified @param {string} sure */
function certainty(looked, certified, sure) {
  if (sure === "pending") return "";
  const error = certified ? certified.error : looked?.rank?.error;
  if (certified) return certified.certainty;
  if (sure === "proved") return "proved: too few weights at every point";
  return error ? `wrong with probability at most ${error.toExponential(1)}` : "";
}

/**
 * What each theorem, as stated, says; marked where the verdict contradicts it.
 * @param {HTMLElement} card
 * @param {any} looked
 * @param {string} verdict
 */
export function showTheorems(card, looked, verdict) {
  if (!looked?.theorems?.length) {
    fill(card, h("p", { class: "mp-none" }, "The papers' theorems do not apply to this kind of network."));
    return;
  }
  fill(card, h("ul", { class: "mp-theorems" }, looked.theorems.map((/** @type {any} */ theorem) => {
    const wrong = isWrong(theorem.says, verdict);
    const mark = theorem.says === "silent" ? "" : wrong === null ? "" : wrong ? "wrong here" : "agrees";
    return h("li", {},
      h("details", {},
        h("summary", {},
          h("span", { class: "mp-theorem" }, theorem.name),
          h("span", { class: `mp-says mp-says-${theorem.says}` }, theorem.says),
          mark && h("span", { class: wrong ? "mp-wrong" : "mp-agrees" }, wrong ? `✗ ${mark}` : `✓ ${mark}`),
        ),
        h("p", {}, theorem.statement),
        theorem.gaps.map((/** @type {string} */ gap) => h("p", { class: "mp-gap" }, `Does not apply: ${gap}.`)),
        h("p", { class: "mp-source" }, theorem.source),
      ));
  })));
}

/** @param {string} says @param {string} verdict @returns {boolean | null} */
function isWrong(says, verdict) {
  if (says === "silent") return null;
  // MP > 0 is known before the verdict is: then "minimal" is wrong already.
  if (verdict === "pending" || verdict === "undecided") return says === "minimal" ? true : null;
  return says !== verdict;
}

/**
 * Exceeded budgets; pointing at one shows its cells.
 * @param {HTMLElement} card
 * @param {any} looked
 * @param {(violation: any) => void} point
 */
export function showBudgets(card, looked, point) {
  if (!looked) return;
  const found = looked.violations;
  const totals = (looked.totals ?? []).map((/** @type {any} */ total) =>
    h("div", { class: "mp-total", title: total.text },
      h("span", {}, total.subject),
      meter(total.used, total.limit),
      // More weights than equations are no error: the surplus is free.
      h("span", {}, total.used > total.limit ? `${total.used} for ${total.limit}` : `${total.used}/${total.limit}`)));
  const isReached = looked.rank && !looked.rank.minimal;
  fill(
    card,
    h("div", { class: "mp-totals" }, totals),
    isReached && found?.length
      ? h("p", { class: "mp-none" }, "All equations are reached. Where there are more weights than equations, the surplus is free:")
      : null,
    found === null
      ? (looked.unknown ?? []).map((/** @type {string} */ text) => h("p", { class: "mp-none" }, text))
      : found.length === 0
        ? h("p", { class: "mp-none" }, "No row, column or cross has more learnable weights than equations. This is necessary for MP > 0, not sufficient.")
        : h("ul", { class: `mp-violations${isReached ? " mp-surplus" : ""}` }, found.map((/** @type {any} */ violation) =>
            h("li", {
              tabindex: 0,
              onpointerenter: () => point(violation), onpointerleave: () => point(null),
              onfocus: () => point(violation), onblur: () => point(null),
            }, `${violation.text}.`))),
  );
}

/** @param {number} used @param {number} limit */
function meter(used, limit) {
  const bar = h("span", { class: "mp-meter", "aria-hidden": "true" }, h("i", {}));
  bar.firstChild.style.width = `${Math.min(100, (100 * used) / Math.max(1, limit))}%`;
  return bar;
}
