// What the colours mean: a list of classes to isolate or hide, with a search where there are many, or a colour bar.
import { formatCount, formatValue, h } from "../dom.js";
import { reachedByKeys } from "./roving.js";

const FEW_CLASSES = 12; // up to here a list needs neither search nor order
const MOST_CLASSES = 300; // rows that are listed at once
const DISTINCT = 60; // classes with a colour of their own; as class_colors in _palette.py
const RESTS = 120; // milliseconds the pointer rests on a class before the map shows it
const DAY = 86_400; // seconds

/** How the classes of a colouring are listed; kept while the list is drawn anew. */
const listed = { of: "", query: "", bySize: false, open: true };

/**
 * @param {import("../data/coloring.js").Channel} channel
 * @param {{captions: Record<string, string>, hidden: Set<number>, isolated: number|null, isolate: (k: number) => void,
 *   toggle: (k: number) => void, preview: (k: number|null) => void}} actions
 */
export function classLegend(channel, actions) {
  const names = /** @type {string[]} */ (channel.categories),
    missing = channel.missing ?? -1;
  const counts = new Uint32Array(names.length),
    codes = /** @type {ArrayLike<number>} */ (channel.codes);
  for (let i = 0; i < codes.length; i++) counts[codes[i]]++;
  const many = names.length > FEW_CLASSES,
    crowded = names.length - Number(missing >= 0) > DISTINCT;
  if (listed.of !== channel.id) Object.assign(listed, { of: channel.id, query: "", bySize: crowded, open: true });
  const list = h("ul", { class: "legend", "aria-label": "Classes", onkeydown: besides }),
    note = h("p", { class: "quiet", role: "status" });
  const fill = () => {
    const text = listed.query.trim().toLowerCase(),
      found = names.map((_, k) => k).filter((k) => names[k].toLowerCase().includes(text));
    if (listed.bySize) found.sort((a, b) => Number(a === missing) - Number(b === missing) || counts[b] - counts[a]);
    const shown = found.slice(0, MOST_CLASSES),
      rest = found.length - shown.length;
    list.replaceChildren(...shown.map((k) => classRow(channel, k, counts[k], actions)));
    note.textContent = [
      text ? `${formatCount(found.length)} of ${formatCount(names.length)} classes.` : "",
      rest ? `${formatCount(rest)} more are not listed: type to narrow.` : "",
      crowded && !text ? `The ${DISTINCT} largest have colours of their own, which come again for the others.` : "",
    ].join(" ");
  };
  fill();
  const says = channel.says ? h("p", { class: "quiet" }, channel.says) : null;
  if (!many) return h("div", {}, list, says);
  const search = h("input", {
    type: "search",
    placeholder: "Find a class",
    "aria-label": "Find a class",
    autocomplete: "off",
    spellcheck: "false",
    value: listed.query,
    oninput: () => {
      listed.query = search.value;
      fill();
    },
  });
  const order = h(
    "button",
    {
      class: "order",
      "aria-pressed": String(listed.bySize),
      onclick: () => {
        listed.bySize = !listed.bySize;
        order.setAttribute("aria-pressed", String(listed.bySize));
        fill();
      },
    },
    "By size",
  );
  const fold = (/** @type {any} */ event) => (listed.open = !event.currentTarget.parentElement.open);
  return h(
    "details",
    { class: "many", open: listed.open },
    h("summary", { onclick: fold }, `${formatCount(names.length)} classes`),
    h("div", { class: "narrow" }, search, order),
    list,
    says,
    note,
  );
}

/**
 * A class: its colour, name and size isolate it, the button beside hides it, and the pointer at rest shows it.
 * @param {import("../data/coloring.js").Channel} channel
 * @param {number} k
 * @param {number} count
 * @param {Parameters<typeof classLegend>[1]} actions
 */
function classRow(channel, k, count, { captions, hidden, isolated, isolate, toggle, preview }) {
  const name = /** @type {string[]} */ (channel.categories)[k],
    color = /** @type {string[]} */ (channel.colors)[k],
    off = hidden.has(k);
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let resting;
  return h(
    "li",
    {
      class: `${isolated === k ? "isolated" : ""} ${off ? "off" : ""}`,
      "data-class": k,
      onpointerenter: (/** @type {PointerEvent} */ e) => {
        if (e.pointerType === "mouse" && !off) resting = setTimeout(() => preview(k), RESTS);
      },
      onpointerleave: () => {
        clearTimeout(resting);
        preview(null);
      },
    },
    h(
      "button",
      {
        class: "class",
        title: [captions[name], "Click to isolate this class"].filter(Boolean).join("\n"),
        "aria-pressed": String(isolated === k),
        onclick: () => isolate(k),
      },
      h("i", { class: "swatch", style: { background: color } }),
      h("span", { class: "label" }, h("bdi", {}, name), captions[name] ? h("small", {}, captions[name]) : null),
      h("span", { class: "count" }, formatCount(count)),
    ),
    h(
      "button",
      {
        class: "eye",
        tabindex: -1,
        title: off ? "Show" : "Hide",
        "aria-label": `${off ? "show" : "hide"} ${name}`,
        onclick: () => toggle(k),
      },
      off ? "show" : "hide",
    ),
  );
}

/** From a class to the button that hides it, and back. @param {KeyboardEvent} event */
function besides(event) {
  const wanted = { ArrowRight: ".eye", ArrowLeft: ".class" }[event.key],
    row = /** @type {HTMLElement} */ (event.target).closest("li");
  if (!wanted || !row || !reachedByKeys()) return;
  /** @type {HTMLElement} */ (row.querySelector(wanted)).focus();
  event.preventDefault();
}

/**
 * @param {Uint8Array} ramp 256 colours
 * @param {ReturnType<typeof import("../data/coloring.js").rampRange>} range
 * @param {string} other
 * @param {boolean} [dates]
 * @param {string} [says] what the values mean
 * @param {boolean} [around] whether they start again where they end
 */
export function rampLegend(ramp, range, other, dates, says, around) {
  const stops = [];
  let middle = (range.low + range.high) / 2;
  if (dates && range.high - range.low > 2 * DAY) middle -= middle % DAY;
  for (let k = 0; k < 256; k += 15) stops.push(`rgb(${ramp[3 * k]},${ramp[3 * k + 1]},${ramp[3 * k + 2]})`);
  return h(
    "div",
    { class: "ramp" },
    h("i", { style: { background: `linear-gradient(90deg, ${stops.join(",")})` } }),
    h(
      "div",
      { class: "ends" },
      h("span", {}, `${range.clippedLow ? "≤ " : ""}${formatValue(range.low, dates)}`),
      h("span", {}, formatValue(middle, dates)),
      h("span", {}, `${range.clippedHigh ? "≥ " : ""}${formatValue(range.high, dates)}`),
    ),
    around ? h("p", { class: "quiet" }, "Both ends are one: the values go round.") : null,
    says ? h("p", { class: "quiet" }, says) : null,
    range.missing
      ? h(
          "p",
          { class: "quiet" },
          h("i", { class: "swatch", style: { background: other } }),
          `${formatCount(range.missing)} missing`,
        )
      : null,
  );
}
