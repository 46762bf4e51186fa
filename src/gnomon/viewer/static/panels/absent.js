// Says where values are not in the page, and offers the file that has them.
import { formatCount, h } from "../dom.js";

/** Class of the buttons that open the file beside the page. */
export const OPENS = "opens-beside";

/**
 * What of the values is in the page, in a sentence; empty if all are.
 * @param {import("../data/features.js").FeatureTable} table
 */
export function absentWords({ points, n }) {
  return points ? `The values of ${formatCount(points.length)} of ${formatCount(n)} points are in this page.` : "";
}

/**
 * A line for whatever lacks values, with a button where a file has them; null if nothing is left out.
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {string} [words]
 */
export function absentLine(atlas, words = absentWords(atlas.table)) {
  if (!words) return null;
  const beside = atlas.header.sideFile;
  return h(
    "p",
    { class: "quiet absent" },
    `${words} `,
    beside ? h("button", { class: `link ${OPENS}` }, `Open ${beside.name}`) : null,
    beside ? " for the rest, or drop it here." : null,
  );
}

/**
 * Said of a point whose values are not in the page.
 * @param {import("../data/atlas.js").Atlas} atlas @param {number} i
 */
export function absentPoint(atlas, i) {
  const { table } = atlas;
  if (table.knows(i)) return null;
  return absentLine(atlas, `The values of this point are not in this page. ${absentWords(table)}`);
}
