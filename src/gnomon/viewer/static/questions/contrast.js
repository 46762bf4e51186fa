// What sets a selection apart: effect size and AUC of every feature against the rest, from counts of codes.

/**
 * @typedef {{feature: number, name: string, effect: number, auc: number, inside: number, rest: number}} ContrastRow
 */

/**
 * @param {import("../data/features.js").FeatureTable} table
 * @param {ArrayLike<number>} ids selected points, unique
 * @returns {ContrastRow[]} largest absolute effect first
 */
export function contrast(table, ids) {
  const counts = new Uint32Array(256 * table.size);
  table.count(ids, counts);
  const rows = [];
  for (let slot = 0; slot < table.size; slot++) rows.push(contrastFeature(table, slot, counts));
  return rows.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect) || a.feature - b.feature);
}

/**
 * @param {import("../data/features.js").FeatureTable} table
 * @param {number} slot
 * @param {Uint32Array} counts
 * @returns {ContrastRow}
 */
function contrastFeature(table, slot, counts) {
  const totals = table.totals,
    start = 256 * slot;
  let n = 0,
    m = 0,
    sumInside = 0,
    sumRest = 0,
    wins = 0;
  for (let code = 0; code < 256; code++) {
    if (!totals[start + code]) continue;
    const value = table.decode(slot, code);
    if (Number.isNaN(value)) continue; // missing values take no part
    const inside = counts[start + code],
      rest = totals[start + code] - inside;
    wins += inside * (m + rest / 2); // codes ascend with the value: pairs in which the selected point is larger
    n += inside;
    m += rest;
    sumInside += inside * value;
    sumRest += rest * value;
  }
  const meanInside = sumInside / n,
    meanRest = sumRest / m;
  let square = 0;
  for (let code = 0; code < 256; code++) {
    if (!totals[start + code]) continue;
    const value = table.decode(slot, code),
      inside = counts[start + code];
    if (Number.isNaN(value)) continue;
    if (inside) square += inside * (value - meanInside) ** 2;
    if (totals[start + code] > inside) square += (totals[start + code] - inside) * (value - meanRest) ** 2;
  }
  const difference = meanInside - meanRest,
    deviation = Math.sqrt(square / (n + m - 2));
  const effect = !difference || !(n + m > 2) ? 0 : difference / deviation; // Cohen's d with the pooled deviation
  const feature = table.kept[slot];
  return {
    feature,
    name: table.names[feature],
    effect,
    auc: n && m ? wins / (n * m) : 0.5,
    inside: meanInside,
    rest: meanRest,
  };
}
