// @ts-check
// Elements in few words.

/**
 * @typedef {string | Node | null | undefined | false} Child
 */

/**
 * An element with attributes and children.
 * @param {string} tag
 * @param {Record<string, any>} [attributes] "class", "on…" handlers, "data-…", properties
 * @param {...(Child | Child[])} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "selected") {
      /** @type {any} */ (element)[name] = value;
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child || child === "") element.append(child);
  }
  return element;
}

/**
 * An element of a drawing.
 * @param {string} tag
 * @param {Record<string, any>} attributes
 * @param {...Node} children
 * @returns {any}
 */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/**
 * Replace what an element holds.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  element.replaceChildren(.../** @type {any[]} */ (children.flat().filter((c) => c || c === "")));
}

/**
 * A number for people.
 * @param {number} value
 * @param {number} [digits]
 */
export function number(value, digits = 4) {
  return Number.isInteger(value) ? String(value) : value.toFixed(digits);
}

/**
 * "1 weight", "2 weights".
 * @param {number} count
 * @param {string} noun
 */
export function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Draw inside an element; if the focused element is replaced, the element in its place gets the focus.
 * @param {Element} place
 * @param {() => void} draw
 */
export function keepFocus(place, draw) {
  const root = /** @type {Document | ShadowRoot} */ (place.getRootNode());
  const focused = root.activeElement;
  const path = [];
  if (focused && place.contains(focused)) {
    for (let at = focused; at !== place; at = /** @type {Element} */ (at.parentElement)) {
      path.unshift([.../** @type {Element} */ (at.parentElement).children].indexOf(at));
    }
  }
  draw();
  if (!path.length || root.activeElement === focused) return;
  let found = /** @type {any} */ (place);
  for (const k of path) found = found?.children[k];
  found?.focus?.();
}

/**
 * Show a document in an element. Its frame stays where it is, with its focus and scroll offset,
 * and its content where the text is the same.
 * @param {Element} place
 * @param {string} html
 */
export function showRendering(place, html) {
  const frame = place.querySelector(":scope > .mp-result");
  if (!frame) fill(place, rendering(html));
  else drawOnce(frame, html, () => keepFocus(frame, () => { frame.innerHTML = html; }));
}

/** A key of the content that each element shows. @type {WeakMap<Element, string>} */
let drawn = new WeakMap();

/**
 * Draw an element only if its content has changed: drawing removes the focus from it.
 * @param {Element} element
 * @param {string} key
 * @param {() => void} draw
 * @returns {boolean} whether it was drawn
 */
export function drawOnce(element, key, draw) {
  if (drawn.get(element) === key) return false;
  drawn.set(element, key);
  draw();
  return true;
}

/** Draw everything again that is next drawn by `drawOnce`. */
export function forgetDrawn() {
  drawn = new WeakMap();
}

/**
 * A document as notebooks show it: Python has made it, and escaped every text in it.
 * @param {string} html
 */
export function rendering(html) {
  // Where it is wider than its place, the keyboard scrolls it too.
  const frame = h("div", { class: "mp-result", tabindex: 0, role: "group", "aria-label": "what the result says" });
  drawOnce(frame, html, () => { frame.innerHTML = html; });
  return frame;
}

/**
 * Text on the clipboard, also where the browser allows no clipboard.
 * @param {string} text
 * @returns {Promise<boolean>}
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "mp-offscreen", value: text });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
