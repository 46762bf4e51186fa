// How far to trust the map, in plain words.
import { diagnosticName } from "../data/coloring.js";
import { formatCount, formatNumber, formatPercent, h } from "../dom.js";

/**
 * @type {Record<string, {name: string, good: number, fair: number, says: (value: number, k: number|undefined) =>
 *   string}>}
 */
const SCORES = {
  trustworthiness: {
    name: "Trustworthiness",
    good: 0.93,
    fair: 0.8,
    says: () => "Points shown close together are close in the data. 1 means no false neighbours.",
  },
  continuity: {
    name: "Continuity",
    good: 0.93,
    fair: 0.8,
    says: () => "Points close in the data stay together. 1 means nothing was torn apart.",
  },
  neighborhood_preservation: {
    name: "Neighbours kept",
    good: 0.4,
    fair: 0.15,
    says: (v, k) =>
      `Of the ${k ? `${k} ` : ""}nearest neighbours of a point in the data, ` +
      `${formatPercent(v)} are also nearest on the map.`,
  },
  knn_accuracy: {
    name: "Labels from neighbours",
    good: 0.9,
    fair: 0.7,
    says: (v) => `The map neighbours of a point give its label ${formatPercent(v)} of the time.`,
  },
  knn_r2: {
    name: "Labels from neighbours (R²)",
    good: 0.7,
    fair: 0.4,
    says: (v) => `The mean of a point's map neighbours tells ${formatPercent(Math.max(0, v))} of its label's variance.`,
  },
  triplet_accuracy: {
    name: "Order of distances",
    good: 0.8,
    fair: 0.65,
    says: (v) =>
      `Asked which of two points is nearer to a third, the map is right ` +
      `${formatPercent(v)} of the time (chance: 50 %).`,
  },
  shepard: {
    name: "Large distances",
    good: 0.8,
    fair: 0.5,
    says: () => "Rank correlation of distances on the map and in the data.",
  },
};

/** @param {number} value @param {{good: number, fair: number}} score */
function verdict(value, score) {
  return value >= score.good ? "good" : value >= score.fair ? "fair" : "poor";
}

/** One sentence for the whole. @param {Record<string, number>} scores */
function summary(scores) {
  const local = scores.trustworthiness,
    global = scores.triplet_accuracy ?? scores.shepard;
  const near =
    local === undefined
      ? ""
      : local >= 0.93
        ? "Neighbourhoods can be believed"
        : local >= 0.8
          ? "Neighbourhoods are mostly right"
          : "Neighbourhoods are often wrong";
  const far =
    global === undefined
      ? ""
      : global >= 0.8
        ? "distances between groups mean something"
        : global >= 0.65
          ? "distances between groups are only a rough guide"
          : "do not read distances between groups";
  return near && far
    ? `${near}; ${far}.`
    : near
      ? `${near}.`
      : far
        ? `${far.charAt(0).toUpperCase()}${far.slice(1)}.`
        : "";
}

/** @param {Record<string, number>} scores @param {number|undefined} neighbors @param {string} caution */
export function trustPanel(scores, neighbors, caution) {
  const rows = Object.entries(SCORES)
    .filter(([key]) => scores[key] !== undefined)
    .map(([key, score]) => {
      const value = scores[key],
        grade = caution && key.startsWith("knn") ? "steered" : verdict(value, score);
      return h(
        "div",
        { class: "score" },
        h(
          "div",
          { class: "score-head" },
          h("span", {}, score.name),
          h("span", { class: `grade ${grade}` }, grade),
          h("b", {}, value.toFixed(2)),
        ),
        h(
          "div",
          { class: "meter" },
          h("i", { class: grade, style: { width: `${100 * Math.max(0, Math.min(1, value))}%` } }),
        ),
        h("p", {}, score.says(value, neighbors)),
      );
    });
  return h(
    "div",
    {},
    caution ? h("p", { class: "warn" }, h("bdi", {}, caution)) : null,
    h("p", { class: "summary" }, summary(scores)),
    ...rows,
  );
}

/**
 * Rows whose neighbours in the data have another label.
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {{colorBy: (id: string) => void, pin: (i: number) => void}} actions
 */
export function suspectsBlock(atlas, { colorBy, pin }) {
  const { suspects, pointNames } = atlas.header;
  if (!suspects) return null;
  const { n, neighbors, rows } = suspects,
    link = (/** @type {string} */ text, /** @type {() => void} */ onclick) =>
      h("button", { class: "link", onclick }, h("bdi", {}, text));
  const lines = rows.map(([i, label, vote, share]) =>
    h(
      "li",
      {},
      link(pointNames?.[i] ?? `row ${atlas.rowOf(i)}`, () => pin(i)),
      h("bdi", {}, ` ${label}, neighbours say ${vote}`),
      ` (${formatPercent(share)})`,
    ),
  );
  return h(
    "section",
    { class: "suspects" },
    h("h3", {}, "Doubtful labels"),
    h(
      "p",
      {},
      `${formatCount(n)} of ${formatCount(atlas.header.samples)} points have another label than their ${neighbors} `,
      "neighbours in the data vote for. ",
      n ? link("colour by doubt", () => colorBy("doubt")) : null,
    ),
    h("ol", {}, ...lines),
  );
}

/**
 * A diagnostic of one point or the mean over a selection.
 * @param {string} name
 * @param {number} value
 * @param {number} typical median over the map
 */
export function diagnosticRow(name, value, typical) {
  if (!Number.isFinite(value)) return null;
  return h(
    "div",
    { class: "pair" },
    h("span", {}, SCORES[name]?.name ?? diagnosticName(name)),
    h("b", {}, formatNumber(Number(value.toFixed(3)))),
    h("small", {}, `typical ${formatNumber(Number(typical.toFixed(3)))}`),
  );
}
