// The part of a card that lists which neighbours of the point are false and which are missing.
import { tint } from "../drawing/theme.js";
import { h } from "../dom.js";

const MOST_NEIGHBORS = 6;

/**
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {number} i
 * @param {((i: number) => void)|null} pin what a click on a neighbour does; null lists none
 */
export function neighborsBlock(atlas, i, pin) {
  const changes = atlas.neighborLists?.changes(i);
  if (!changes) return null;
  const { wanted, missing, wrong } = changes;
  return h(
    "section",
    { class: "neighborhood" },
    h("h3", {}, `Its ${wanted} neighbours`),
    line(atlas, `${missing.length} in the data are not near on the map`, missing, tint("missing"), pin),
    line(atlas, `${wrong.length} on the map are not near in the data`, wrong, tint("false"), pin),
  );
}

/**
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {string} text
 * @param {number[]} ids
 * @param {string} color
 * @param {((i: number) => void)|null} pin
 */
function line(atlas, text, ids, color, pin) {
  const listed = pin ? ids.slice(0, MOST_NEIGHBORS) : [],
    more = ids.length - listed.length;
  return h(
    "p",
    {},
    h("i", { class: "swatch", style: { background: color } }),
    listed.length ? `${text}: ` : `${text}.`,
    ...listed.flatMap((j, k) => [
      k ? ", " : null,
      h("button", { class: "link", onclick: () => pin?.(j) }, h("bdi", {}, nameOf(atlas, j))),
    ]),
    listed.length ? (more ? ` and ${more} more.` : ".") : null,
  );
}

/** The name of a point, else its label and row. @param {import("../data/atlas.js").Atlas} atlas @param {number} j */
function nameOf(atlas, j) {
  const { label, header } = atlas,
    row = `row ${atlas.rowOf(j)}`,
    category = label?.codes && label.categories ? label.categories[label.codes[j]] : "";
  return header.pointNames?.[j] ?? (category ? `${category} (${row})` : row);
}
