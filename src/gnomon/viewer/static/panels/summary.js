// The map and its points in words, for those who do not see it: a panel, and a voice for what the keys do.
import { diagnosticName } from "../data/coloring.js";
import { islandsOf } from "../data/islands.js";
import { byId, formatCount, formatNumber, formatPercent, h } from "../dom.js";
import { fidelityWords } from "../questions/explanation.js";

const QUIET = 350; // milliseconds without news before it is told
const MOST_TOLD = 12; // classes described one by one
const MOST_NEAR = 2;
const SAMPLE = 1000; // points of a class that say where its middle is
const TOP_FEATURES = 3;

/** Tells what happens in a live region, when it has stopped happening: holding a key down is not read out. */
export class Voice {
  constructor() {
    this.box = h("p", { id: "live", class: "unseen", role: "status", "aria-live": "polite" });
    /** The selection that was last told. @type {Uint32Array|undefined} */
    this.ids = undefined;
    byId("side").append(this.box);
  }

  /** @param {string} text */
  say(text) {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => (this.box.textContent = text), QUIET);
  }

  /** @param {Uint32Array|undefined} ids the selection @param {number} n points in all */
  selected(ids, n) {
    if (ids === this.ids) return;
    this.ids = ids;
    this.say(ids ? `${formatCount(ids.length)} of ${formatCount(n)} points are selected.` : "Nothing is selected.");
  }
}

/** Say of the map what it is and how it is used. @param {import("../data/atlas.js").Atlas} atlas */
export function nameMap(atlas) {
  const map = byId("overlay"),
    words = `${headline(atlas)} Enter takes a point, the arrow keys go from point to point.`;
  map.setAttribute("role", "application");
  map.setAttribute("aria-roledescription", "map");
  map.setAttribute("aria-label", "Map of the data");
  map.setAttribute("aria-describedby", "map-use");
  byId("side").append(h("p", { id: "map-use", class: "unseen" }, words));
}

/** Fill the panel, now if it is open and whenever it is opened. @param {import("../data/atlas.js").Atlas} atlas */
export function fillWords(atlas) {
  const panel = byId("words");
  panel.ontoggle = () => {
    if (!panel.open) return;
    panel
      .querySelector(".body")
      .replaceChildren(...mapInWords(atlas).map((text) => h("p", { class: "told" }, h("bdi", {}, text))));
  };
  panel.ontoggle();
}

/** @param {import("../data/atlas.js").Atlas} atlas */
function headline({ n, header }) {
  return `A map of ${formatCount(n)} points in ${header.d} dimensions${header.method ? ` (${header.method})` : ""}.`;
}

/**
 * What the map shows: its making, its classes with their sizes and places, and how far to trust it.
 * @param {import("../data/atlas.js").Atlas} atlas
 * @returns {string[]} paragraphs
 */
function mapInWords(atlas) {
  const { header, label, cloud, facts } = atlas,
    paragraphs = [headline(atlas)];
  if (label) {
    const classes = classPlaces(atlas, label),
      places = classes.filter((one) => one.class !== label.missing),
      without = classes.find((one) => one.class === label.missing),
      box = cloud.bounds();
    paragraphs.push(
      ...places.slice(0, MOST_TOLD).map((one) => {
        const parts = header.d === 2 ? partsOf(cloud, one.sample) : [],
          head = `${one.name}: ${points(one.count)} (${formatPercent(one.count / atlas.n)})`;
        if (parts.length > 1) {
          const at = [...new Set(parts.map((part) => placeInWords(part, box)))];
          return `${head} in ${parts.length} parts, ${inSeries(at)}.`;
        }
        const near = nearestNames(one, places),
          where = header.d === 2 ? ` ${placeInWords(one.at, box)}` : "";
        return `${head}${where}${near ? `, nearest ${near}` : ""}.`;
      }),
    );
    const left = places.length - MOST_TOLD;
    if (left > 0) {
      const more = places[MOST_TOLD].count < places[MOST_TOLD - 1].count ? "smaller" : "more";
      paragraphs.push(`${formatCount(left)} ${more} ${left === 1 ? "class" : "classes"}.`);
    }
    if (without) paragraphs.push(`${points(without.count)} without a ${label.name}.`);
  }
  if (cloud.lost.length) paragraphs.push(`${points(cloud.lost.length)} without a position.`);
  if (header.caution) paragraphs.push(header.caution);
  if (facts.header.trust) paragraphs.push(...facts.header.trust.verdict.map(([, text]) => text));
  return paragraphs;
}

/**
 * The classes that have points, the largest first, and the middle of each.
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {import("../data/coloring.js").Channel} label
 */
function classPlaces(atlas, label) {
  const codes = /** @type {ArrayLike<number>} */ (label.codes),
    names = /** @type {string[]} */ (label.categories),
    counts = new Uint32Array(names.length),
    met = new Uint32Array(names.length);
  /** @type {number[][]} */
  const sample = names.map(() => []);
  for (let i = 0; i < atlas.n; i++) counts[codes[i]]++;
  for (let i = 0; i < atlas.n; i++) {
    const k = codes[i];
    if (met[k]++ % Math.ceil(counts[k] / SAMPLE) === 0) sample[k].push(i);
  }
  return names
    .map((name, k) => ({ class: k, name, count: counts[k], at: middleOf(atlas.cloud, sample[k]), sample: sample[k] }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
}

/**
 * Medians of the coordinates in the plane.
 * @param {import("../drawing/cloud.js").Cloud} cloud @param {number[]} ids
 * @returns {[number, number]}
 */
function middleOf({ plane, finite }, ids) {
  const placed = ids.filter((i) => finite[i]),
    along = (/** @type {number} */ axis) =>
      Float32Array.from(placed, (i) => plane[3 * i + axis]).sort()[placed.length >> 1];
  return [along(0), along(1)];
}

/**
 * Middles of the large islands that points lie in, the largest first.
 * @param {import("../drawing/cloud.js").Cloud} cloud @param {number[]} ids
 */
function partsOf(cloud, ids) {
  const placed = Uint32Array.from(ids.filter((i) => cloud.finite[i]));
  return islandsOf(cloud.plane, placed).islands.map((island) => middleOf(cloud, Array.from(island)));
}

/** @param {string[]} words */
function inSeries(words) {
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}` : words[0];
}

/** @param {number} count */
function points(count) {
  return `${formatCount(count)} ${count === 1 ? "point" : "points"}`;
}

/** Where a place lies in a box, by thirds. @param {[number, number]} at @param {number[]} box */
function placeInWords([x, y], [left, bottom, right, top]) {
  const across = ["left", "", "right"][Math.min(2, Math.floor((3 * (x - left)) / (right - left || 1)))],
    up = ["lower", "", "upper"][Math.min(2, Math.floor((3 * (y - bottom)) / (top - bottom || 1)))];
  if (!across && !up) return "in the middle";
  if (up && across) return `at the ${up} ${across}`;
  return `at the ${across || (up === "upper" ? "top" : "bottom")}`;
}

/**
 * The classes whose middles are nearest to that of one.
 * @param {{class: number, at: [number, number]}} one
 * @param {{class: number, name: string, at: [number, number]}[]} all
 */
function nearestNames(one, all) {
  const away = (/** @type {{at: [number, number]}} */ { at }) => Math.hypot(at[0] - one.at[0], at[1] - one.at[1]);
  return all
    .filter((other) => other.class !== one.class && Number.isFinite(away(other)))
    .sort((a, b) => away(a) - away(b))
    .slice(0, MOST_NEAR)
    .map((other) => other.name)
    .join(" and ");
}

/**
 * A point as its card tells it, short enough to be heard.
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {number} i
 */
export function pointInWords(atlas, i) {
  const { header, label, facts, table } = atlas,
    words = [header.pointNames?.[i] ?? `Row ${atlas.rowOf(i)}`];
  if (label?.codes && label.categories) words.push(`${label.name} ${label.categories[label.codes[i]]}`);
  const explanation = facts.explain(i);
  if (explanation) {
    const told = explanation.top.slice(0, TOP_FEATURES).map(({ feature }) => {
      const value = table.has(feature) ? ` ${formatNumber(table.value(i, feature))}` : "";
      return `${atlas.groups.name(feature)}${value}`;
    });
    if (told.length) words.push(`moved most by ${told.join(", ")}`);
    words.push(fidelityWords(explanation.r2).replace(/\.$/, ""));
  }
  const [first] = facts.diagnostics;
  if (first && Number.isFinite(facts.columns[first.key][i])) {
    const value = facts.columns[first.key][i].toFixed(2),
      typical = facts.median(first.key).toFixed(2);
    words.push(`${diagnosticName(header, first.name)} ${value}, typical ${typical}`);
  }
  return `${words.filter(Boolean).join(". ")}.`;
}
