// What sets a selection apart: effect size and AUC of every feature against the rest, from counts of codes.
import { formatCount } from "../dom.js";

/**
 * @typedef {{feature: number, name: string, effect: number, auc: number, inside: number, rest: number,
 *   sizes: [number, number], spreads?: [number, number]}} ContrastRow
 */

const NOTABLE = 0.1; // an AUC at least this far from one half is worth a name
const FALSE_DISCOVERIES = 0.05; // share of chance among the features that are found
const FEW_ROWS = 5; // fewer rows on a side tell nothing of how much it varies
const CAPTION_FEATURES = 3; // features of a caption

/**
 * Which features differ beyond chance, and which of them notably, so that they set the selection apart: by the test of
 * Mann and Whitney, without the ties, exact where a side has two to four points, that of Brunner and Munzel where it is
 * less sure, and Benjamini and Hochberg's rate of false discoveries among all of them. As `gnomon.contrast` does.
 * @param {{auc: number, sizes: [number, number], spreads?: [number, number]}[]} rows
 * @returns {{apart: boolean[], beyondChance: boolean[]}}
 */
export function setsApart(rows) {
  const away = rows.map(({ auc }) => Math.abs(auc - 0.5));
  const beyondChance = discoveries(
    rows.map(({ sizes: [n, m], spreads }, k) => {
      if (!n || !m) return 1;
      const fewest = Math.min(n, m);
      if (fewest > 1 && fewest < FEW_ROWS) return byRanks(away[k], fewest, Math.max(n, m));
      const alike = twoTails(away[k] / Math.sqrt((n + m + 1) / (12 * n * m)));
      return spreads && fewest >= FEW_ROWS ? Math.max(alike, unlike(away[k], [n, m], spreads)) : alike;
    }),
  );
  return { apart: beyondChance.map((one, k) => one && away[k] >= NOTABLE), beyondChance };
}

/**
 * What sets a selection apart, in the words of `gnomon.contrast`; empty where no feature differs beyond chance.
 * @param {ContrastRow[]} rows @param {{apart: boolean[], beyondChance: boolean[]}} judged
 */
export function captionOf(rows, { apart, beyondChance }) {
  const phrases = (/** @type {boolean[]} */ which) =>
    rows
      .filter((_, k) => which[k])
      .sort(
        (a, b) =>
          Math.abs(b.auc - 0.5) - Math.abs(a.auc - 0.5) ||
          Math.abs(b.effect) - Math.abs(a.effect) ||
          a.feature - b.feature,
      )
      .slice(0, CAPTION_FEATURES)
      .map(({ name, auc }) => `${auc > 0.5 ? "more" : "less"} ${name}`)
      .join(", ");
  if (apart.some(Boolean)) return phrases(apart);
  const count = beyondChance.filter(Boolean).length,
    most = count > CAPTION_FEATURES ? ", most" : "",
    told = `${formatCount(count)} ${count === 1 ? "differs" : "differ"} beyond chance${most}`;
  return count ? `${told}: ${phrases(beyondChance)}` : "";
}

/** @type {Map<string, Float64Array>} */
const tails = new Map();

/**
 * The exact p-value of Mann and Whitney for few points against many.
 * @param {number} away AUC less one half @param {number} few @param {number} many
 */
function byRanks(away, few, many) {
  const pairs = few * many,
    tail = tailOf(few, many),
    short = Math.ceil((0.5 - away) * pairs - 1e-12 * pairs); // of all pairs one way
  return Math.min(1, 2 * tail[Math.min(short, tail.length - 1)]);
}

/**
 * How likely at most so many pairs of points on either side are in one order, up to half of them: the coefficients of
 * the Gaussian binomial count the orders of all points by such pairs.
 * @param {number} few @param {number} many
 */
function tailOf(few, many) {
  const key = `${few} ${many}`,
    found = tails.get(key);
  if (found) return found;
  const counts = new Float64Array(Math.floor((few * many) / 2) + 1);
  counts[0] = 1;
  let orders = 1;
  for (let i = 1; i <= few; i++) {
    for (let k = counts.length - 1; k >= many + i; k--) counts[k] -= counts[k - many - i];
    for (let k = i; k < counts.length; k++) counts[k] += counts[k - i];
    orders *= (many + i) / i;
  }
  for (let k = 1; k < counts.length; k++) counts[k] += counts[k - 1];
  const tail = counts.map((count) => count / orders);
  tails.set(key, tail);
  return tail;
}

/**
 * The p-value by the test of Brunner and Munzel, for sides that may vary differently; its tail by Wallace's bound.
 * @param {number} away AUC less one half @param {[number, number]} sizes @param {[number, number]} spreads
 */
function unlike(away, [n, m], [inside, rest]) {
  const ofInside = inside / n,
    ofRest = rest / m,
    variance = ofInside + ofRest;
  if (!(variance > 1e-24)) return away ? 0 : 1;
  const degrees = variance ** 2 / (ofInside ** 2 / (n - 1) + ofRest ** 2 / (m - 1));
  const squared = Math.sqrt(degrees * Math.log1p(away ** 2 / variance / degrees));
  return twoTails(((8 * degrees + 1) / (8 * degrees + 3)) * squared);
}

/** Which tests are found at the rate of false discoveries, by Benjamini and Hochberg. @param {number[]} ps */
export function discoveries(ps) {
  const ordered = Float64Array.from(ps).sort();
  let largest = -1;
  for (let k = 0; k < ps.length; k++) if ((ordered[k] * ps.length) / (k + 1) <= FALSE_DISCOVERIES) largest = ordered[k];
  return ps.map((p) => p <= largest);
}

/**
 * Probability that a normal deviate lies at least z from 0, to seven digits (Press et al., Numerical Recipes, erfcc).
 * @param {number} z at least 0
 */
export function twoTails(z) {
  const x = z / Math.SQRT2,
    t = 1 / (1 + 0.5 * x);
  const terms = [
    0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368,
    -1.26551223,
  ];
  return t * Math.exp(terms.reduce((sum, term) => sum * t + term, 0) - x * x);
}

/**
 * @param {import("../data/features.js").FeatureTable} table
 * @param {Uint32Array} ids selected points, unique
 * @returns {ContrastRow[]} largest absolute effect first
 */
export function contrast(table, ids) {
  const counts = new Uint32Array(table.starts[table.size]);
  table.count(ids, counts);
  const rows = [];
  for (let slot = 0; slot < table.size; slot++) rows.push(contrastFeature(table, slot, counts));
  return rows.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect) || a.feature - b.feature);
}

/**
 * The same with each group of collinear features as one row: effect size and AUC are those of its score, means those
 * of the feature in whose place it stands.
 * @param {ContrastRow[]} rows
 * @param {import("../data/groups.js").FeatureGroups} groups
 * @param {import("../data/features.js").FeatureTable} table
 * @param {Uint32Array} ids selected points, unique
 * @returns {ContrastRow[]} largest absolute effect first
 */
export function joinGroups(rows, groups, table, ids) {
  const chosen = table.rows ? table.known(ids).map((i) => /** @type {Int32Array} */ (table.rows)[i]) : ids;
  const joined = rows
    .filter((row) => !groups.isMember(row.feature))
    .map((row) => {
      const scores = groups.scores(row.feature, table);
      return scores ? { ...row, name: groups.name(row.feature), ...contrastScores(scores, chosen) } : row;
    });
  return joined.sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect) || a.feature - b.feature);
}

/**
 * @param {{values: Float64Array, ranks: Float64Array}} scores of all points with values, and their ranks from 0
 * @param {ArrayLike<number>} ids rows among them
 */
function contrastScores({ values, ranks }, ids) {
  const inside = new Uint8Array(values.length);
  for (let k = 0; k < ids.length; k++) inside[ids[k]] = 1;
  const count = [0, 0],
    sum = [0, 0];
  let rankSum = 0;
  for (let i = 0; i < values.length; i++) {
    count[inside[i]]++;
    sum[inside[i]] += values[i];
    if (inside[i]) rankSum += ranks[i];
  }
  const [m, n] = count,
    means = [sum[0] / m, sum[1] / n];
  let square = 0;
  for (let i = 0; i < values.length; i++) square += (values[i] - means[inside[i]]) ** 2;
  const difference = means[1] - means[0];
  return {
    effect: !difference || !(n + m > 2) ? 0 : difference / Math.sqrt(square / (n + m - 2)),
    auc: n && m ? (rankSum - (n * (n - 1)) / 2) / (n * m) : 0.5,
    sizes: /** @type {[number, number]} */ ([n, m]),
  };
}

/**
 * @param {import("../data/features.js").FeatureTable} table
 * @param {number} slot
 * @param {Uint32Array} counts
 * @returns {ContrastRow}
 */
function contrastFeature(table, slot, counts) {
  const totals = table.totals,
    start = table.starts[slot],
    size = table.starts[slot + 1] - start;
  let n = 0,
    m = 0,
    sumInside = 0,
    sumRest = 0,
    wins = 0;
  for (let code = 0; code < size; code++) {
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
    meanRest = sumRest / m,
    auc = n && m ? wins / (n * m) : 0.5;
  let square = 0,
    below = [0, 0],
    spread = [0, 0]; // squares of the shares that rows lie above, or rows of the rest below, less the AUC
  for (let code = 0; code < size; code++) {
    if (!totals[start + code]) continue;
    const value = table.decode(slot, code),
      inside = counts[start + code];
    if (Number.isNaN(value)) continue;
    const rest = totals[start + code] - inside;
    if (inside) square += inside * (value - meanInside) ** 2;
    if (rest) square += rest * (value - meanRest) ** 2;
    if (inside) spread[0] += inside * ((below[1] + rest / 2) / m - auc) ** 2;
    if (rest) spread[1] += rest * (1 - (below[0] + inside / 2) / n - auc) ** 2;
    below[0] += inside;
    below[1] += rest;
  }
  const difference = meanInside - meanRest,
    deviation = Math.sqrt(square / (n + m - 2));
  const effect = !difference || !(n + m > 2) ? 0 : difference / deviation; // Cohen's d with the pooled deviation
  const feature = table.kept[slot];
  return {
    feature,
    name: table.names[feature],
    effect,
    auc,
    inside: meanInside,
    rest: meanRest,
    sizes: [n, m],
    spreads: [spread[0] / (n - 1), spread[1] / (m - 1)],
  };
}

/**
 * An effect size; one that is infinite, as neither side varies, is told in words. The file holds that as null.
 * @param {number|null} effect @param {number|null} auc
 */
export function effectText(effect, auc) {
  if (effect !== null && Number.isFinite(effect)) return `${effect < 0 ? "−" : "+"}${Math.abs(effect).toFixed(2)}`;
  if (auc !== 1 && auc !== 0) return "–";
  return auc ? "always more" : "always less";
}
