// The card of one point: what it is, why it lies here, how far to believe it.
import { deviationsText, formatNumber, formatValue, h, unseen } from "../dom.js";
import { absentPoint } from "./absent.js";
import { WEAK_R2, distortionWords, fidelityWords, flatEllipse } from "../questions/explanation.js";
import { journeyBlock } from "./journey.js";
import { memberLines, nameCell } from "./names.js";
import { neighborsBlock } from "./neighborhood.js";
import { diagnosticRow } from "./trust.js";

const MOST_VALUES = 8;

/**
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {number} i
 * @param {{pinned: boolean, close: () => void, journey: import("./journey.js").Journey|null, selected:
 *   Uint32Array|null, travel: (goal: string) => void, pin: (i: number) => void,
 *   answers: import("./answers.js").Answers|null}} options
 * @returns {HTMLElement[]}
 */
export function cardContent(atlas, i, { pinned, close, journey, selected, travel, pin, answers }) {
  const { header } = atlas;
  let thumb = atlas.thumbnails.of(i);
  const explanation = atlas.facts.explain(i);
  // Where the features are pixels, show which ones move the point.
  const saliency = pinned ? saliencyPicture(atlas, i) : null;
  if (thumb && header.pixels && explanation)
    thumb = atlas.thumbnails.framed(
      thumb,
      explanation.top.slice(0, 4).map((row) => row.feature),
    );
  const label = atlas.label,
    name = header.pointNames?.[i];
  const title =
    label && label.codes && label.categories ? label.categories[label.codes[i]] : (name ?? `Row ${atlas.rowOf(i)}`);
  const swatch =
    label?.codes && label.colors
      ? h("i", { class: "swatch", style: { background: label.colors[label.codes[i]] } })
      : null;
  const head = h(
    "div",
    { class: "card-head" },
    thumb,
    saliency,
    h(
      "div",
      { class: "card-title" },
      h("h2", {}, swatch, h("bdi", {}, title)),
      name !== undefined && title !== name ? h("p", {}, h("bdi", {}, name)) : null,
      h("p", { class: "quiet" }, `row ${atlas.rowOf(i)}`, label?.codes ? ` · ${label.name}` : ""),
      ...metadataRows(atlas, i),
    ),
    pinned ? h("button", { class: "close", "aria-label": "Close card", onclick: close }, "×") : null,
  );
  return [
    head,
    explanationBlock(atlas, i, explanation),
    pinned ? journeyBlock(atlas, i, { journey, selected, travel }) : null,
    ...(pinned && answers ? answers.pointBlocks(i) : []),
    trustBlock(atlas, i),
    neighborsBlock(atlas, i, pinned ? pin : null),
    absentPoint(atlas, i),
    absence(atlas),
    pinned ? null : h("p", { class: "quiet tip" }, "Click to pin"),
  ].filter(Boolean);
}

/** How far each pixel moves the point. @param {import("../data/atlas.js").Atlas} atlas @param {number} i */
function saliencyPicture(atlas, i) {
  if (!atlas.thumbnails.fromFeatures || !atlas.facts.explained) return null;
  const found = atlas.local?.importance(atlas.table, i);
  if (!found) return null;
  const picture = atlas.thumbnails.signed(
    (f) => found[atlas.table.slots[f]],
    Math.max(...found, 1e-30),
    "How far each pixel moves this point",
  );
  picture.title = "How far each pixel moves this point";
  return picture;
}

/** @param {import("../data/atlas.js").Atlas} atlas @param {number} i */
function metadataRows(atlas, i) {
  return (atlas.header.columns || [])
    .filter((c) => c.role === "metadata" || !c.categories)
    .slice(0, 8)
    .map((column) => {
      const value = atlas.core[column.key][i];
      return h(
        "p",
        { class: "pair" },
        h("span", {}, h("bdi", {}, column.name)),
        h("b", {}, h("bdi", {}, column.categories ? column.categories[value] : formatValue(value, column.dates))),
      );
    });
}

/**
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {number} i
 * @param {import("../questions/explanation.js").PointExplanation|null} explanation
 */
function explanationBlock(atlas, i, explanation) {
  const { table } = atlas;
  if (!explanation) return atlas.thumbnails.fromFeatures || !table.size ? null : plainValues(atlas, i);
  const weak = !(explanation.r2 >= WEAK_R2),
    largest = explanation.top[0]?.share || 1;
  const rows = explanation.top.map((row) => {
    const [dx, dy] = atlas.cloud.direction(row.arrow),
      angle = Math.round((Math.atan2(-dy, dx) * 180) / Math.PI);
    return h(
      "tr",
      {},
      h(
        "td",
        { class: "dir" },
        h(
          "span",
          {
            style: { transform: `rotate(${angle}deg)` },
            "aria-hidden": "true",
            title: "direction the map moves as this feature grows",
          },
          "→",
        ),
        unseen(directionWords(angle)),
      ),
      nameCell(atlas.groups, row.feature, atlas.groups.title(row.feature)),
      h(
        "td",
        { class: "bar" },
        h("i", { style: { width: `${Math.round((100 * row.share) / largest)}%` } }),
        unseen(formatNumber(row.share)),
      ),
      ...valueCells(table, i, row.feature),
    );
  });
  const words = [fidelityWords(explanation.r2)];
  if (explanation.ellipse)
    words.push(
      distortionWords(flatEllipse(explanation.ellipse, atlas.cloud.d, atlas.cloud.rotation), atlas.facts.typical),
    );
  if (atlas.facts.columns.torn?.[i]) words.push("The map tears some of its neighbours away.");
  return h(
    "section",
    { class: weak ? "weak" : "" },
    h("h3", {}, "What moves this point"),
    h("table", { class: "axes" }, h("tbody", {}, ...rows)),
    ...memberLines(
      atlas.groups,
      explanation.top.map((row) => row.feature),
    ),
    h("p", { class: weak ? "warn" : "quiet" }, words.filter(Boolean).join(" ")),
  );
}

/** Where an arrow points. @param {number} angle in degrees, clockwise from the right */
function directionWords(angle) {
  const eighth = (Math.round(angle / 45) + 8) % 8;
  return ["right", "down and right", "down", "down and left", "left", "up and left", "up", "up and right"][eighth];
}

/**
 * Value, and how far it lies from the mean as a signed bar.
 * @param {import("../data/features.js").FeatureTable} table
 * @param {number} i
 * @param {number} f
 */
function valueCells(table, i, f) {
  if (!table.has(f) || !table.knows(i)) return [h("td", { class: "value" }, ""), h("td", {})];
  const value = table.value(i, f),
    { mean, deviation } = table.moments(f),
    score = deviation > 0 ? (value - mean) / deviation : 0;
  const reach = Math.min(50, (50 * Math.abs(score)) / 3) || 0,
    side = score < 0 ? { right: "50%" } : { left: "50%" };
  const text = `${deviationsText(score)} ${score < 0 ? "below" : "above"} the mean`;
  return [
    h("td", { class: "value" }, formatNumber(value)),
    h(
      "td",
      { class: "signed", title: text },
      h("span", {}, h("i", { class: score < 0 ? "minus" : "plus", style: { width: `${reach}%`, ...side } })),
    ),
  ];
}

/**
 * Without an explanation: the values that are least ordinary.
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {number} i
 */
function plainValues(atlas, i) {
  const { table } = atlas;
  if (!table.knows(i)) return null;
  const slots = Array.from(table.kept.subarray(0, 400));
  const scored = slots.map((f) => {
    const { mean, deviation } = table.moments(f),
      value = table.value(i, f);
    return { f, score: deviation > 0 ? Math.abs(value - mean) / deviation : 0 };
  });
  scored.sort((a, b) => b.score - a.score);
  return h(
    "section",
    {},
    h("h3", {}, table.size > MOST_VALUES ? "Least ordinary values" : "Values"),
    h(
      "table",
      { class: "axes" },
      h(
        "tbody",
        {},
        ...scored
          .slice(0, MOST_VALUES)
          .map(({ f }) =>
            h("tr", {}, h("td", { class: "name" }, h("bdi", {}, table.names[f])), ...valueCells(table, i, f)),
          ),
      ),
    ),
  );
}

/** @param {import("../data/atlas.js").Atlas} atlas @param {number} i */
function trustBlock(atlas, i) {
  const { diagnostics, columns } = atlas.facts;
  const rows = diagnostics
    .map(({ name, key }) => diagnosticRow(atlas.header, name, columns[key][i], atlas.facts.median(key)))
    .filter(Boolean)
    .slice(0, 4);
  return rows.length ? h("section", {}, h("h3", {}, "Trust in this point"), ...rows) : null;
}

/**
 * Says why there are no arrows here though there are elsewhere along the sequence.
 * @param {import("../data/atlas.js").Atlas} atlas
 */
function absence(atlas) {
  const { sequence } = atlas.header,
    frame = atlas.nearest("explained");
  if (!sequence || frame < 0 || atlas.facts.explained) return null;
  return h(
    "p",
    { class: "quiet tip" },
    "Arrows are known at ",
    h("bdi", {}, `${sequence.name}: ${sequence.labels[frame]}`),
    ".",
  );
}
