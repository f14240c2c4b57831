// @ts-check
// The match probability: a bar with its interval, the largest allowed weight, the estimate's document.

import { fill, h, number, plural, showRendering, svg } from "./dom.js";

/**
 * @param {number} value
 * @param {number} [digits]
 */
function percent(value, digits = 3) {
  return value.toFixed(digits);
}

/**
 * The bar of one match probability.
 * @param {{ low: number, high: number, value: number | null, certified?: boolean } | null} chance
 * @param {string} label
 */
export function bar(chance, label) {
  const W = 320;
  const x = (/** @type {number} */ p) => 8 + p * (W - 16);
  const children = [
    svg("line", { x1: x(0), x2: x(1), y1: 20, y2: 20, class: "mp-axis" }),
    ...[0, 0.25, 0.5, 0.75, 1].flatMap((p) => [
      svg("line", { x1: x(p), x2: x(p), y1: 20, y2: 24, class: "mp-axis" }),
      svg("text", { x: x(p), y: 36, class: "mp-tick", "text-anchor": p === 0 ? "start" : p === 1 ? "end" : "middle" },
        document.createTextNode(String(p))),
    ]),
  ];
  if (chance) {
    children.push(svg("rect", {
      x: x(chance.low), width: Math.max(2, x(chance.high) - x(chance.low)), y: 7, height: 10, rx: 2,
      class: `mp-interval${chance.certified ? " mp-sealed" : ""}`,
    }));
    if (chance.value !== null) {
      children.push(svg("circle", { cx: x(chance.value), cy: 12, r: 5, class: "mp-point" }));
    }
  }
  return svg("svg", { viewBox: `0 0 ${W} 42`, class: "mp-bar", role: "img", "aria-label": label }, ...children);
}

/**
 * The match probability of a problem, as far as it is known.
 * @param {{ word: string, sure: string }} verdict
 * @param {any} study
 */
export function chanceOf(verdict, study) {
  const { word, sure } = verdict;
  if (word === "maximal" || word === "minimal") {
    const value = word === "maximal" ? 1 : 0;
    return { low: value, high: value, value, certified: true, text: `MP = ${value}, ${sure}` };
  }
  return study?.chance ? { ...study.chance, text: study.title } : null;
}

/**
 * The card of the match probability.
 * @param {HTMLElement} card
 * @param {{ word: string, sure: string }} verdict
 * @param {any} study of this problem, or undefined
 * @param {{ bound: number | null, trials: number, tooCostly: string, expected: string, setBound: (k: number | null) => void, run: () => void, cancel: () => void }} host
 */
export function showChance(card, verdict, study, host) {
  const chance = chanceOf(verdict, study);
  const isRunning = study?.status === "running";
  const text = chance?.text ?? "not estimated yet";
  if (!card.children.length) {
    fill(card, h("div", {}), h("div", { class: "mp-control" }), h("div", {}), h("div", {}));
  }
  const [above, control, sizes, below] = /** @type {any[]} */ ([...card.children]);
  fill(
    above,
    h("strong", { class: "mp-value" }, text),
    bar(chance, `match probability: ${text}`),
    study?.trials || isRunning
      ? h("p", { class: "mp-soft", "data-trials": study.trials },
          `${study.trials} of ${study.requested} trials`,
          study.status === "stopped" ? " (stopped)" : "",
          study.status === "failed" ? ` (ended: ${study.text})` : "")
      : null,
  );
  // What is pressed and dragged stays where it is while pictures around it change.
  const wanted = isRunning ? "cancel" : chance ? "" : host.trials ? `run ${host.trials} ${host.expected}` : "costly";
  if (control.dataset.shows !== wanted) {
    control.dataset.shows = wanted;
    fill(control, wanted === "cancel"
      ? h("button", { type: "button", class: "mp-small", onclick: host.cancel }, "Cancel the estimate")
      : wanted === "costly"
        ? h("p", { class: "mp-soft" }, host.tooCostly)
        : wanted
          ? [
              h("button", { type: "button", class: "mp-small", onclick: host.run }, `Estimate with ${host.trials.toLocaleString("en")} trials`),
              host.expected ? h("p", { class: "mp-soft" }, host.expected) : null,
            ]
          : null);
  }
  slider(sizes, study, host);
  if (study?.trials) showRendering(below, study.document);
  else fill(below);
}

/**
 * The match probability if weights are bounded.
 * @param {any} place
 * @param {any} study
 * @param {{ bound: number | null, setBound: (k: number | null) => void }} host
 */
function slider(place, study, host) {
  const points = study?.bounds ?? [];
  if (!points.length) {
    // If the study was stopped early, the reason is shown in place of the slider.
    const why = study?.trials && study.status !== "running" ? study.bounds_why : "";
    fill(place, why ? h("p", { class: "mp-soft mp-unbounded" }, `No match probability for bounded weights: ${why}.`) : null);
    return;
  }
  if (!place.querySelector("input")) {
    fill(place, h("div", { class: "mp-bound" },
      h("h4", {}, h("label", { for: "mp-bound" }, "Largest allowed |w|")),
      h("div", {}),
      h("input", {
        id: "mp-bound", type: "range", min: 0, step: 1,
        oninput: (/** @type {any} */ e) => host.setBound(Number(e.target.value)),
      }),
      h("p", { class: "mp-soft" })));
  }
  const [, curvePlace, input, words] = place.firstChild.children;
  const last = points.length - 1;
  const k = Math.min(host.bound ?? last, last);
  const point = points[k];
  const x = (/** @type {number} */ i) => 8 + (304 * i) / Math.max(1, last);
  const y = (/** @type {any} */ p) => 58 - 50 * (p.estimate ?? 0);
  const curve = points.map((/** @type {any} */ p, /** @type {number} */ i) => `${x(i)},${y(p)}`).join(" ");
  const band = [
    ...points.map((/** @type {any} */ p, /** @type {number} */ i) => `${x(i)},${58 - 50 * p.high}`),
    ...points.map((/** @type {any} */ p, /** @type {number} */ i) => `${x(i)},${58 - 50 * p.low}`).reverse(),
  ].join(" ");
  fill(curvePlace, svg("svg", { viewBox: "0 0 320 62", class: "mp-curve", role: "img", "aria-label": "match probability against the bound" },
    svg("line", { x1: 8, x2: 312, y1: 58, y2: 58, class: "mp-axis" }),
    svg("polygon", { points: band, class: "mp-band" }),
    svg("polyline", { points: curve, class: "mp-line" }),
    svg("circle", { cx: x(k), cy: y(point), r: 4, class: "mp-point" })));
  input.max = last;
  input.value = k;
  input.setAttribute("aria-valuetext", `weights up to ${point.bound.toPrecision(3)}`);
  words.textContent =
    `|w| ≤ ${point.bound.toPrecision(3)}: MP ≈ ${point.estimate === null ? "undecided" : percent(point.estimate)}, ` +
    `${number(100 * point.confidence)} % interval [${percent(point.low)}, ${percent(point.high)}]` +
    (point.trials < study.trials ? `, of the first ${plural(point.trials, "trial")}` : "");
}
