// @ts-check
// The page's own host: what a notebook gives a widget, over server-sent events and an address.

import allocator from "./allocator.js";

const tab = Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");

/** @param {string} text */
function encode(text) {
  const bytes = new TextEncoder().encode(text);
  let out = "";
  for (const byte of bytes) out += String.fromCharCode(byte);
  return btoa(out).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @returns {any} the state in the address; null where there is none */
function fromAddress() {
  const text = location.hash.slice(1);
  if (!text) return null;
  try {
    const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(raw, (c) => c.charCodeAt(0))));
  } catch {
    return { network: {}, damaged: true };
  }
}

/** @type {Record<string, ((...values: any[]) => void)[]>} */
const listeners = {};
let state = fromAddress();
// The address this page has read or written last. Where it is another, somebody has just edited it,
// and the `hashchange` event is on its way: writing now would lose what was edited.
let address = location.hash;
/** @param {string} event @param {...any} values */
const tell = (event, ...values) => (listeners[event] ?? []).forEach((listener) => listener(...values));

// Messages are sent one after the other: a click must not overtake the one before.
let sending = Promise.resolve();
let isReady = false;
/** @type {any[]} */
const waiting = [];

/** @param {any} message */
function post(message) {
  sending = sending.then(async () => {
    try {
      const answer = await fetch(`message?tab=${tab}`, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(message),
      });
      if (!answer.ok) {
        tell("msg:custom", { event: "refused", verb: message.verb, place: "", text: await answer.text() });
      }
    } catch {
      tell("msg:custom", { event: "connection", is_up: false });
    }
  });
}

const model = {
  get: () => state,
  set: (/** @type {string} */ name, /** @type {any} */ value) => { state = value; },
  save_changes: () => {
    if (location.hash !== address) return;
    address = `#${encode(JSON.stringify(state))}`;
    history.replaceState(null, "", address);
  },
  on: (/** @type {string} */ event, /** @type {any} */ listener) => (listeners[event] ??= []).push(listener),
  off: (/** @type {string} */ event, /** @type {any} */ listener) => {
    listeners[event] = (listeners[event] ?? []).filter((one) => one !== listener);
  },
  send: (/** @type {any} */ message) => (isReady ? post(message) : waiting.push(message)),
};

const events = new EventSource(`events?tab=${tab}`);
events.onopen = () => {
  isReady = true;
  waiting.splice(0).forEach(post);
  tell("msg:custom", { event: "connection", is_up: true });
};
events.onmessage = (message) => tell("msg:custom", JSON.parse(message.data));
events.onerror = () => tell("msg:custom", { event: "connection", is_up: false });

window.addEventListener("hashchange", () => {
  address = location.hash;
  state = fromAddress();
  tell("change:state");
});
window.addEventListener("pagehide", () => {
  fetch(`message?tab=${tab}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: '{"verb": "close"}', keepalive: true,
  }).catch(() => undefined);
});

allocator.render({ model, el: /** @type {HTMLElement} */ (document.getElementById("allocator")) });
