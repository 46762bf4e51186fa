// What the map alone can show: tables that have the same map, and claims that cannot be read from it.
import { formatCount, formatNumber, h } from "../dom.js";

const PLANE_SIDE = 256; // pixels of a picture, as many as its places
const PLANE_PADDING = 8;
const PLANE_DOT = 3;
const SAME_ROW = "#8a8f98";
const CHANGED_ROW = "#e8710a"; // seen on light and on dark ground

/**
 * A table, another with the same map, and both maps.
 * @typedef {{told: string, disparity: number, table: number[], other: number[], map: number[], other_map: number[],
 *   changed: number[]}} TwinPicture
 * @typedef {{claim: string, refuted: boolean, unreadable: boolean, told: string, picture: TwinPicture|null}} ClaimTold
 * @typedef {{threshold: number|null, n_changes: number, n_unseen: number, unseen: string[], seen: string[],
 *   pictures: TwinPicture[], claims: ClaimTold[]}} MapAlone
 */

/** @param {MapAlone} alone @returns {Node[]} */
export function aloneContent(alone) {
  const parts = [
    h(
      "p",
      { class: "told" },
      "Scores and verdicts look at the data. This looks at the map only: the method mapped other tables again, ",
      "and where the map stayed the same, nobody can tell from it which table was yours.",
    ),
  ];
  if (alone.threshold !== null) parts.push(...spotsTold(alone));
  if (alone.claims.length) parts.push(h("h3", {}, "Can it be read from the map?"), ...alone.claims.map(claimBlock));
  return parts;
}

/** @param {MapAlone} alone */
function spotsTold({ threshold, n_changes, n_unseen, unseen, seen, pictures }) {
  const limit = formatNumber(Number(Number(threshold).toPrecision(2)));
  const changes = n_changes === 1 ? "one change" : `${formatCount(n_changes)} changes`;
  const told =
    n_changes === 0
      ? "The table has no groups that could be changed by themselves, and no folds that could be laid flat."
      : `Of ${changes} of the table the map does not show ${formatCount(n_unseen)}: made again, it is the same to a ` +
        `disparity of ${limit}.`;
  return [
    h("h3", {}, "Other data, the same map"),
    h("p", { class: "told" }, told),
    ...pictures.map((picture) => twinFigure(picture)),
    changesListed("It would look the same with", unseen),
    changesListed("It does show", seen),
  ].filter((node) => node !== null);
}

/** @param {string} head @param {string[]} lines */
function changesListed(head, lines) {
  if (!lines.length) return null;
  return h("details", {}, h("summary", {}, head), h("ul", {}, ...lines.map((text) => h("li", {}, h("bdi", {}, text)))));
}

/** @param {ClaimTold} one */
function claimBlock({ claim, unreadable, told, picture }) {
  const answer = unreadable ? "cannot be read from it" : "no counterexample found";
  return h(
    "section",
    { class: "claim" },
    h("h4", {}, h("bdi", {}, claim), h("span", { class: "answer" }, answer)),
    h("p", { class: "told" }, h("bdi", {}, told)),
    picture ? twinFigure(picture) : null,
  );
}

/** @param {TwinPicture} picture */
function twinFigure({ told, table, other, map, other_map, changed }) {
  const marked = new Set(changed);
  const plane = (/** @type {string} */ name, /** @type {number[]} */ places) =>
    h("div", { class: "plane" }, h("small", {}, name), drawnPlane(name, places, marked));
  return h(
    "figure",
    { class: "twin" },
    h(
      "div",
      { class: "planes" },
      plane("the table", table),
      plane("another table", other),
      plane("its map", map),
      plane("the other’s map", other_map),
    ),
    h("figcaption", {}, "These two tables have this same map: ", h("bdi", {}, told), ". Changed rows in orange."),
  );
}

/** @param {string} name @param {number[]} places @param {Set<number>} marked */
function drawnPlane(name, places, marked) {
  const size = PLANE_SIDE + 2 * PLANE_PADDING,
    canvas = h("canvas", { width: size, height: size, role: "img", "aria-label": name }),
    context = canvas.getContext("2d");
  for (const [colour, isMarked] of /** @type {[string, boolean][]} */ ([
    [SAME_ROW, false],
    [CHANGED_ROW, true],
  ])) {
    context.fillStyle = colour;
    for (let i = 0; i < places.length / 2; i++) {
      if (marked.has(i) !== isMarked) continue;
      context.beginPath();
      context.arc(PLANE_PADDING + places[2 * i], size - PLANE_PADDING - places[2 * i + 1], PLANE_DOT, 0, 2 * Math.PI);
      context.fill();
    }
  }
  return canvas;
}
