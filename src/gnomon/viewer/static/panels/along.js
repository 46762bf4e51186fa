// The panel about a line drawn through the map.
import { tint } from "../drawing/theme.js";
import { formatCount, formatNumber, h } from "../dom.js";
import { featureRow } from "./names.js";

const MOST_ROWS = 12;
const MOST_DIGITS = 4; // behind the point
const NEARLY_ALL = 0.995; // of the line: what is covered rounds to all of it
const LITTLE_COVERED = 0.5;

/**
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {import("../questions/line.js").PointsNear & {rows: import("../questions/line.js").TrendRow[]}} line
 * @param {{clear: () => void, colorBy: (f: number) => void}} actions
 */
export function linePanel(atlas, line, { clear, colorBy }) {
  const { rows, ids } = line,
    top = rows.slice(0, MOST_ROWS).filter((row) => row.effect !== 0),
    beyond = rows.some((row) => row.beyondChance);
  const head = h(
    "p",
    { class: "summary" },
    h("b", {}, formatCount(ids.length)),
    " points near the line ",
    h("button", { class: "link", onclick: clear }, "clear"),
  );
  if (!rows.length)
    return [
      head,
      h("p", { class: "quiet" }, "Feature values are not in this file, so it cannot be said what changes."),
    ];
  const lines = top.map((row) =>
    featureRow(
      trendText(row),
      () => colorBy(row.feature),
      h("td", { class: "name" }, h("bdi", {}, row.name)),
      h("td", { class: "curve" }, sparkline(row.curve)),
      h(
        "td",
        { class: "num" },
        `${row.effect < 0 ? "−" : "+"}${Math.abs(row.effect).toFixed(digitsOf(row.error))}`,
        h("small", {}, ` ± ${errorText(row.error)}`),
      ),
    ),
  );
  return [
    head,
    coverLine(line),
    h("h3", {}, beyond ? "What changes along it" : "No feature changes along it beyond chance"),
    changePicture(atlas, rows),
    h(
      "table",
      { class: "contrast along" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", {}, "feature"),
          h("th", {}, "start to end"),
          h(
            "th",
            {
              title:
                "Change over the part of the line that points cover, " +
                "in standard deviations of the feature over all points",
            },
            "change, SD",
          ),
        ),
      ),
      h("tbody", {}, ...lines),
    ),
    h(
      "p",
      { class: "quiet" },
      "Change of the fitted trend, over the part of the line that points cover, in standard deviations of the " +
        "feature, with its standard error; the largest that is certain first." +
        (beyond ? "" : " As much arises by chance."),
    ),
  ].filter(Boolean);
}

/** Which part of the line points cover, if not all. @param {import("../questions/line.js").PointsNear} line */
function coverLine({ covered: [start, end], length }) {
  const share = (end - start) / length;
  if (share >= NEARLY_ALL) return null;
  const at = [start, end].map((place) => `${Math.round((100 * place) / length)} %`);
  return h(
    "p",
    { class: "quiet" },
    `They cover ${Math.round(100 * share)} % of its length, from ${at[0]} to ${at[1]}: changes are over this part.` +
      (share < LITTLE_COVERED ? " Draw it through the points." : ""),
  );
}

/** Digits behind the point for a value with an error: two of the error. @param {number} error */
function digitsOf(error) {
  return error > 0 ? Math.max(1, Math.min(MOST_DIGITS, 1 - Math.floor(Math.log10(error)))) : 1;
}

/** @param {number} error */
function errorText(error) {
  const text = error.toFixed(digitsOf(error));
  return error > 0 && !Number(text) ? formatNumber(error) : text;
}

/** Means over stretches of the line. @param {number[]} curve */
function sparkline(curve) {
  const wide = 64,
    tall = 18,
    ratio = 2,
    canvas = h("canvas", {
      class: "spark",
      width: wide * ratio,
      height: tall * ratio,
      role: "img",
      "aria-label": "Mean along the line",
    });
  const known = curve.filter(Number.isFinite),
    low = Math.min(...known),
    span = Math.max(...known) - low || 1,
    g = canvas.getContext("2d");
  g.scale(ratio, ratio);
  g.lineWidth = 1.4;
  g.lineJoin = "round";
  g.strokeStyle = tint("accent");
  g.beginPath();
  curve.forEach(
    (value, k) =>
      Number.isFinite(value) &&
      g.lineTo(2 + ((wide - 4) * k) / (curve.length - 1), tall - 2 - ((tall - 4) * (value - low)) / span),
  );
  g.stroke();
  return canvas;
}

/**
 * Where the features are pixels: the change of each.
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {import("../questions/line.js").TrendRow[]} rows
 */
function changePicture(atlas, rows) {
  if (!atlas.thumbnails.fromFeatures) return null;
  const change = new Map(rows.map((row) => [row.feature, row.effect]));
  const reach = Math.max(...rows.map((row) => Math.abs(row.effect)), 1e-9);
  return h(
    "figure",
    { class: "single" },
    atlas.thumbnails.signed((f) => change.get(f) ?? 0, reach, "Change of each pixel along the line"),
    h("figcaption", {}, "change of each pixel"),
  );
}

/** @param {import("../questions/line.js").TrendRow} row */
function trendText(row) {
  const effect = formatNumber(Number(row.effect.toPrecision(3))),
    error = formatNumber(Number(row.error.toPrecision(2)));
  return [
    row.name,
    `changes by ${effect} ± ${error} standard deviations, ${row.beyondChance ? "" : "not "}beyond chance`,
    `rank correlation ${row.rho.toFixed(2)}`,
    "Click to colour the map by it",
  ].join("\n");
}
