// @ts-check
// The left side: the network and its sizes, files, copies, undo, brushes, the problem file.

import { fill, h } from "./dom.js";
import { select } from "./actions.js";

const BRUSHES = [
  ["learn", "Learns", "click or drag: weights that learn"],
  ["must", "Must", "lock: it learns in any case; a design and a repair keep it"],
  ["never", "Must not", "lock: a design and a repair avoid it"],
  ["absent", "No weight", "structural zero: there is no such weight"],
];

/**
 * @param {object} host
 * @param {() => any[]} host.kinds
 * @param {() => any} host.state
 * @param {(network: any, field: string) => void} host.resize
 * @param {(name: string) => void} host.rename
 * @param {(text: string, name?: string) => void} host.parse
 * @param {(chosen: File) => void} host.open a problem file, or a table
 * @param {() => string[]} host.examples
 * @param {(name: string) => void} host.example
 * @param {() => void} host.save
 * @param {(by: number) => void} host.step
 * @param {() => void} host.clear
 * @param {(form: string) => void} host.copy
 * @param {() => void} host.pin
 */
export function makeSide(host) {
  let brush = "learn";
  const kindPlace = h("div", {});
  const sizes = h("div", { class: "mp-sizes" });
  const glossary = h("p", { class: "mp-glossary" });
  const trouble = h("p", { class: "mp-error", role: "alert", id: "mp-size-error" });
  const name = h("input", {
    class: "mp-filename", "aria-label": "name of the file",
    onchange: (/** @type {any} */ e) => host.rename(e.target.value),
  });
  const file = h("input", {
    type: "file", accept: ".toml,.csv,.tsv,text/plain", class: "mp-hidden", tabindex: -1, "aria-hidden": "true",
    "aria-label": "problem file or table",
    onchange: (/** @type {any} */ e) => {
      const [chosen] = e.target.files;
      if (chosen) host.open(chosen);
      e.target.value = "";
    },
  });
  const undo = h("button", { type: "button", title: "Ctrl+Z", "data-do": "undo", onclick: () => host.step(-1) }, "Undo");
  const redo = h("button", { type: "button", title: "Ctrl+Shift+Z", "data-do": "redo", onclick: () => host.step(1) }, "Redo");
  const brushes = h("div", { class: "mp-brushes", role: "radiogroup", "aria-label": "What painting does" });
  const editor = h("textarea", {
    class: "mp-editor", rows: 10, spellcheck: "false", "aria-label": "problem file (TOML)",
    "aria-describedby": "mp-toml-error",
  });
  const fault = h("p", { class: "mp-error", role: "alert", id: "mp-toml-error" });
  const details = h("details", {
    class: "mp-file",
    ontoggle: () => details.open && host.copy("editor"),
  },
    h("summary", {}, "Problem file"),
    editor,
    fault,
    h("div", { class: "mp-buttons" },
      h("button", { type: "button", "data-do": "apply", onclick: () => host.parse(editor.value) }, "Apply"),
      h("button", { type: "button", onclick: () => host.copy("editor") }, "Read again")));
  const copies = h("div", { class: "mp-buttons", role: "group", "aria-label": "copy as" },
    h("span", { class: "mp-soft" }, "Copy as"),
    ["toml", "python", "command"].map((form) =>
      h("button", { type: "button", "data-copy": form, onclick: () => host.copy(form) },
        { toml: "TOML", python: "Python", command: "command" }[form] ?? "")));
  const examples = h("div", {});
  const element = h("aside", { class: "mp-side", "aria-label": "Problem" },
    h("div", {}, h("h2", {}, "Network"), examples, kindPlace, sizes, glossary, trouble),
    h("div", {},
      h("h2", {}, "Paint"),
      brushes,
      h("div", { class: "mp-buttons" }, undo, redo,
        h("button", { type: "button", "data-do": "clear", onclick: host.clear }, "Clear"),
        h("button", { type: "button", "data-do": "pin", onclick: host.pin }, "Pin as A"))),
    h("div", {},
      h("h2", {}, "File"),
      name,
      h("div", { class: "mp-buttons" },
        h("button", { type: "button", onclick: () => file.click() }, "Open…"), file,
        h("button", { type: "button", "data-do": "save", onclick: host.save }, "Save")),
      copies),
    details,
    h("p", { class: "mp-soft" }, "How many samples can a model file (ONNX, torch) fit? ",
      h("code", {}, "matchprob capacity model.onnx --learn '*.bias'")));

  function drawBrushes() {
    fill(brushes, BRUSHES.map(([value, title, words], k) =>
      h("button", {
        type: "button", role: "radio", "aria-checked": String(value === brush), title: words,
        class: `mp-brush mp-brush-${value}`, tabindex: value === brush ? 0 : -1, "data-brush": value,
        onclick: () => { brush = value; drawBrushes(); },
        onkeydown: (/** @type {KeyboardEvent} */ e) => {
          const step = ["ArrowRight", "ArrowDown"].includes(e.key) ? 1 : ["ArrowLeft", "ArrowUp"].includes(e.key) ? -1 : 0;
          if (!step) return;
          brush = BRUSHES[(k + step + BRUSHES.length) % BRUSHES.length][0];
          drawBrushes();
          brushes.querySelector('[aria-checked="true"]')?.focus();
          e.preventDefault();
        },
      }, h("i", { "aria-hidden": "true" }), title)));
  }
  drawBrushes();

  return {
    element,
    brush: () => brush,
    /** @param {{ has: (by: number) => boolean }} history */
    draw(history) {
      const { network } = host.state();
      const kinds = host.kinds();
      const kind = kinds.find((one) => one.kind === network.kind);
      fill(examples, h("label", { class: "mp-field" }, h("span", {}, "Start from"),
        select([["", "an example …"], ...host.examples().map((one) => [one, one])], "", (one) => one && host.example(one),
          { "data-examples": "" })));
      fill(kindPlace, h("label", { class: "mp-field" }, h("span", {}, "Kind"),
        select(kinds.map((one) => [one.kind, one.title]), network.kind, (chosen) => {
          const other = kinds.find((one) => one.kind === chosen);
          host.resize(sizesFor(other, network), "kind");
        })));
      fill(sizes, (kind?.sizes ?? []).flatMap((/** @type {any} */ size) =>
        sizeFields(size, network[size.name] ?? size.default, (value) =>
          host.resize({ ...network, [size.name]: value }, size.name))));
      // Letters in words; longer names speak for themselves, and explain themselves when pointed at.
      fill(glossary, (kind?.sizes ?? []).filter((/** @type {any} */ size) => size.name.length === 1)
        .map((/** @type {any} */ size) => h("span", {}, h("i", {}, size.name), ` ${size.meaning}`)));
      fill(trouble);
      name.value = host.state().name;
      undo.disabled = !history.has(-1);
      redo.disabled = !history.has(1);
    },
    /** @param {string} text */
    edit(text) {
      editor.value = text;
      fill(fault);
      editor.classList.remove("mp-bad");
    },
    /**
     * A file that is wrong: the words below it, the line selected.
     * @param {string} text
     * @param {number | null} line
     */
    refuseFile(text, line) {
      details.open = true;
      fill(fault, line ? `Line ${line}: ${text}` : text);
      editor.classList.add("mp-bad");
      if (line) {
        const lines = editor.value.split("\n");
        const start = lines.slice(0, line - 1).reduce((/** @type {number} */ sum, /** @type {string} */ l) => sum + l.length + 1, 0);
        editor.focus();
        editor.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
      }
    },
    /**
     * A size that is wrong: the words below the sizes, the field marked.
     * @param {string} field
     * @param {string} text
     */
    refuseSize(field, text) {
      fill(trouble, text);
      for (const input of sizes.querySelectorAll("[data-size]")) {
        input.setAttribute("aria-invalid", String(input.dataset.size === field));
      }
    },
  };
}

/**
 * The inputs of one size: a field, or a choice and its numbers.
 * @param {any} size with its name, its form and, of a choice, its words
 * @param {any} value
 * @param {(value: any) => void} change
 */
function sizeFields(size, value, change) {
  const named = (/** @type {any} */ input, /** @type {string} */ form, words = size.name) =>
    h("label", { class: `mp-size mp-size-${form}`, title: size.meaning }, h("span", {}, words), input);
  const shared = { "data-size": size.name, "aria-describedby": "mp-size-error" };
  const list = (/** @type {any} */ numbers, /** @type {(value: any) => void} */ changed) => h("input", {
    ...shared, type: "text", value: writtenNumbers(numbers ?? []),
    onchange: (/** @type {any} */ e) => changed(readNumbers(e.target.value)),
  });
  if (size.form === "flag") {
    return [named(h("input", {
      ...shared, type: "checkbox", checked: value === true,
      onchange: (/** @type {any} */ e) => change(e.target.checked),
    }), size.form)];
  }
  if (size.form === "numbers") return [named(list(value, change), size.form)];
  if (size.form === "text") {
    return [named(h("input", {
      ...shared, type: "text", value: [value ?? size.default].flat().join(", "),
      onchange: (/** @type {any} */ e) => {
        const entered = readNumbers(e.target.value);
        change(entered.length === 1 ? entered[0] : entered);
      },
    }), "numbers")];
  }
  if (size.form === "choice") {
    // A word, or a word and its numbers: "tanh", { polynomial: [0, 0, 1] }.
    const word = typeof value === "object" ? Object.keys(value)[0] : value;
    const take = (/** @type {string} */ chosen) =>
      change(size.with_numbers.includes(chosen) ? { [chosen]: [0, 0, 1] } : chosen);
    const out = [named(select(size.words.map((/** @type {string} */ w) => [w, w]), word, take, shared), size.form)];
    if (typeof value === "object") {
      out.push(named(list(value[word], (numbers) => change({ [word]: numbers })), "numbers", "c₀, c₁, …"));
    }
    return out;
  }
  return [named(h("input", {
    ...shared, type: "number", min: 1, value: value ?? "",
    onchange: (/** @type {any} */ e) => change(readNumber(e.target.value)),
  }), size.form)];
}

/** @param {string} text @returns {number | string} as it is where it is none: it is refused, with words */
function readNumber(text) {
  const value = Number(text);
  return text.trim() === "" || Number.isNaN(value) ? text : value;
}

/** @param {any[]} numbers some of which may be lists: hidden widths of one layer of a target */
function writtenNumbers(numbers) {
  return numbers.map((one) => (Array.isArray(one) ? `[${one.join(", ")}]` : one)).join(", ");
}

/** @param {string} text @returns {any[]} */
function readNumbers(text) {
  const parts = text.match(/\[[^\]]*\]|[^\s,[\]]+/g) ?? [];
  return parts.map((part) => (part.startsWith("[") ? readNumbers(part.slice(1, -1)) : readNumber(part)));
}

/**
 * Sizes of another kind of network: those that both have, and small ones.
 * @param {any} kind
 * @param {any} network
 */
function sizesFor(kind, network) {
  const out = /** @type {any} */ ({ kind: kind.kind });
  for (const size of kind.sizes) {
    const known = network[size.name];
    if (size.form === "flag" || size.form === "choice") {
      const word = known && typeof known === "object" ? Object.keys(known)[0] : known;
      if (known !== undefined && (size.words?.includes(word) ?? true)) out[size.name] = known;
    } else if (size.form === "numbers") {
      const count = size.name === "widths" && kind.sizes.some((/** @type {any} */ s) => s.name === "hidden") ? 2 : 1;
      out[size.name] = Array.isArray(network[size.name]) && network[size.name].length === count
        ? network[size.name] : new Array(count).fill(network.n ?? 3);
    } else if (network[size.name] !== undefined || size.default === null || size.default === undefined) {
      out[size.name] = network[size.name] ?? 2;
    }
  }
  return out;
}
