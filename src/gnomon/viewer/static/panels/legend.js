// What the colours mean: a list of classes to isolate or hide, or a colour bar.
import { formatCount, formatValue, h } from "../dom.js";

const MOST_CLASSES = 60;
const DAY = 86_400; // seconds

/**
 * @param {import("../data/coloring.js").Channel} channel
 * @param {{captions: Record<string, string>, hidden: Set<number>, isolated: number|null, isolate: (k: number) => void,
 *   toggle: (k: number) => void, other: string}} actions
 */
export function classLegend(channel, { captions, hidden, isolated, isolate, toggle, other }) {
  const names = /** @type {string[]} */ (channel.categories),
    colors = /** @type {string[]} */ (channel.colors);
  const counts = new Uint32Array(names.length),
    codes = /** @type {ArrayLike<number>} */ (channel.codes);
  for (let i = 0; i < codes.length; i++) counts[codes[i]]++;
  let order = names.map((_, k) => k);
  const crowded = names.length > MOST_CLASSES;
  const missing = channel.missing ?? -1;
  if (crowded) order.sort((a, b) => Number(a === missing) - Number(b === missing) || counts[b] - counts[a]);
  const shared = colors.filter((c, k) => c === other && k !== missing).length;
  const rows = order.slice(0, MOST_CLASSES).map((k) => {
    const off = hidden.has(k);
    return h(
      "li",
      { class: `${isolated === k ? "isolated" : ""} ${off ? "off" : ""}`, "data-class": k },
      h(
        "button",
        {
          class: "class",
          title: [captions[names[k]], "Click to isolate this class"].filter(Boolean).join("\n"),
          "aria-pressed": String(isolated === k),
          onclick: () => isolate(k),
        },
        h("i", { class: "swatch", style: { background: colors[k] } }),
        h(
          "span",
          { class: "label" },
          h("bdi", {}, names[k]),
          captions[names[k]] ? h("small", {}, captions[names[k]]) : null,
        ),
        h("span", { class: "count" }, formatCount(counts[k])),
      ),
      h(
        "button",
        {
          class: "eye",
          title: off ? "Show" : "Hide",
          "aria-label": `${off ? "Show" : "Hide"} ${names[k]}`,
          "aria-pressed": String(off),
          onclick: () => toggle(k),
        },
        off ? "show" : "hide",
      ),
    );
  });
  const notes = [];
  if (crowded) notes.push(`The ${MOST_CLASSES} largest of ${formatCount(names.length)} classes are listed.`);
  if (shared > 1) notes.push(`${formatCount(shared)} smaller classes share the grey.`);
  return h(
    "div",
    {},
    h("ul", { class: "legend" }, ...rows),
    channel.says ? h("p", { class: "quiet" }, channel.says) : null,
    notes.length ? h("p", { class: "quiet" }, notes.join(" ")) : null,
  );
}

/**
 * @param {Uint8Array} ramp 256 colours
 * @param {ReturnType<typeof import("../data/coloring.js").rampRange>} range
 * @param {string} other
 * @param {boolean} [dates]
 * @param {string} [says] what the values mean
 */
export function rampLegend(ramp, range, other, dates, says) {
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
