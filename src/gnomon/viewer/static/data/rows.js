// Rows of the table that was mapped, and points of the page: the same unless the page shows a sample.

/**
 * The point that shows a row, or -1.
 * @param {import("./atlas.js").Atlas} atlas
 * @param {number} row
 */
export function pointOf(atlas, row) {
  const rows = /** @type {Uint32Array|undefined} */ (atlas.core.rows);
  if (!rows) return row >= 0 && row < atlas.n ? row : -1;
  let low = 0,
    high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] < row) low = middle + 1;
    else high = middle;
  }
  return rows[low] === row ? low : -1;
}
