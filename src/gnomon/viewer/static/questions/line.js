// What changes along a line drawn through the map; mirrors explanations/axis.
import { discoveries, twoTails } from "./contrast.js";

const NEIGHBORS = 15,
  PLACES = 64; // the width follows from the density along its line
const STRETCHES = 16; // of a drawn curve
export const FEWEST = 10; // points near a line
const STRAY_SHARE = 0.025; // of the points, at either end of what they cover, and one more
const INTERVAL = 1.96; // standard errors to either side, 95 %

/**
 * @typedef {{feature: number, name: string, effect: number, error: number, rho: number, beyondChance: boolean,
 *   least: number, ahead: number, p: number, curve: number[]}} TrendRow
 *   effect: change over the part of the line that points cover, in standard deviations of the feature over all points,
 *     with its standard error; rho: Spearman's correlation with the distance along the line; beyondChance: whether it
 *     changes at a rate of false discoveries of 0.05; least: the change that its interval leaves; ahead: the change in
 *     standard errors, with the p-value p that goes by the ranks too; curve: means over stretches of the line, NaN
 *     where there is no point
 * @typedef {{path: number[][], width: number, length: number, ids: Uint32Array, t: Float64Array,
 *   covered: [number, number]}} PointsNear
 *   in units of the plane; covered: from where to where along the line the points lie, but for single stray ones
 */

/**
 * A drawn line with few corners: what lies within `reach` of a chord is straightened (Douglas and Peucker).
 * @param {number[][]} path @param {number} reach @returns {number[][]}
 */
export function straightened(path, reach) {
  const last = path.length - 1;
  if (last < 2) return path;
  let far = 0,
    at = 0;
  for (let k = 1; k < last; k++) {
    const gap = Math.sqrt(towards(path[k], path[0], path[last]).square);
    if (gap > far) [far, at] = [gap, k];
  }
  if (far <= reach) return [path[0], path[last]];
  return [...straightened(path.slice(0, at + 1), reach).slice(0, -1), ...straightened(path.slice(at), reach)];
}

/**
 * The place of a point beside a piece of line: how far along, and its squared distance.
 * @param {ArrayLike<number>} p
 * @param {number[]} a
 * @param {number[]} b
 */
function towards(p, a, b) {
  const dx = b[0] - a[0],
    dy = b[1] - a[1],
    length = Math.hypot(dx, dy) || 1e-30,
    x = p[0] - a[0],
    y = p[1] - a[1];
  const along = (x * dx + y * dy) / length,
    part = Math.max(0, Math.min(length, along));
  return { along, part, length, square: (x - (part * dx) / length) ** 2 + (y - (part * dy) / length) ** 2 };
}

/**
 * Twice the median distance of places on the line to their 15th nearest point; of a line through empty space half its
 * length, but no less than the same median at points of the map.
 * @param {import("../drawing/cloud.js").Cloud} cloud
 * @param {number[][]} path
 */
export function usualWidth(cloud, path) {
  const arc = [0];
  for (let k = 1; k < path.length; k++)
    arc.push(arc[k - 1] + Math.hypot(path[k][0] - path[k - 1][0], path[k][1] - path[k - 1][1]));
  const spots = [],
    half = arc[arc.length - 1] / 2;
  for (let place = 0, k = 1; place < PLACES; place++) {
    const s = (2 * half * place) / (PLACES - 1);
    while (k < path.length - 1 && arc[k] < s) k++;
    const share = (s - arc[k - 1]) / (arc[k] - arc[k - 1] || 1);
    spots.push([0, 1].map((c) => path[k - 1][c] + share * (path[k][c] - path[k - 1][c])));
  }
  const width = twiceMedian(cloud, spots);
  if (width <= half) return width;
  const { plane, finite, n } = cloud;
  /** @type {number[]} */
  const known = [];
  for (let i = 0; i < n; i++) if (finite[i]) known.push(i);
  const some = Math.min(known.length, PLACES),
    usual = Array.from({ length: some }, (_, k) => known[Math.floor(((known.length - 1) * k) / Math.max(some - 1, 1))]);
  return Math.min(
    width,
    Math.max(
      half,
      twiceMedian(
        cloud,
        usual.map((i) => [plane[3 * i], plane[3 * i + 1]]),
      ),
    ),
  );
}

/**
 * Twice the median distance of some places to their 15th nearest point.
 * @param {import("../drawing/cloud.js").Cloud} cloud
 * @param {number[][]} spots
 */
function twiceMedian({ plane, finite, n }, spots) {
  const radii = [];
  for (const [x, y] of spots) {
    const nearest = new Float64Array(NEIGHBORS).fill(Infinity); // ascending
    for (let i = 0; i < n; i++) {
      if (!finite[i]) continue;
      const square = (plane[3 * i] - x) ** 2 + (plane[3 * i + 1] - y) ** 2;
      if (square >= nearest[NEIGHBORS - 1]) continue;
      let at = NEIGHBORS - 1;
      for (; at > 0 && nearest[at - 1] > square; at--) nearest[at] = nearest[at - 1];
      nearest[at] = square;
    }
    const known = nearest.filter(Number.isFinite);
    if (known.length) radii.push(Math.sqrt(known[known.length - 1]));
  }
  radii.sort((a, b) => a - b);
  const middle = radii.length >> 1;
  return radii.length % 2 ? 2 * radii[middle] : radii[middle - 1] + radii[middle];
}

/**
 * The shown points near a line, cut square at its ends.
 * @param {import("../drawing/cloud.js").Cloud} cloud
 * @param {(i: number) => boolean} shown
 * @param {number[][]} path
 * @param {number} width
 * @returns {PointsNear}
 */
export function pointsNear(cloud, shown, path, width) {
  const ids = [],
    t = [],
    { plane, finite, n } = cloud,
    last = path.length - 2;
  let length = 0;
  for (let k = 0; k <= last; k++) length += Math.hypot(path[k + 1][0] - path[k][0], path[k + 1][1] - path[k][1]);
  for (let i = 0; i < n; i++) {
    if (!finite[i] || !shown(i)) continue;
    let nearest = Infinity,
      at = 0,
      before = 0;
    for (let k = 0; k <= last; k++) {
      const place = towards([plane[3 * i], plane[3 * i + 1]], path[k], path[k + 1]);
      const outside = (k === 0 && place.along < 0) || (k === last && place.along > place.length);
      if (!outside && place.square < nearest) [nearest, at] = [place.square, before + place.part];
      before += place.length;
    }
    if (nearest <= width * width) {
      ids.push(i);
      t.push(at);
    }
  }
  return { path, width, length, ids: Uint32Array.from(ids), t: Float64Array.from(t), covered: coveredPart(t, length) };
}

/**
 * From where to where along a line points lie; stray ones are left out, and the stretch is drawn out again by twice
 * what as many more take.
 * @param {number[]} t @param {number} length @returns {[number, number]}
 */
function coveredPart(t, length) {
  const ordered = Float64Array.from(t).sort(),
    n = ordered.length,
    k = 1 + Math.ceil(STRAY_SHARE * n);
  if (n < 2 * k) return [0, length];
  const low = 3 * ordered[k - 1] - 2 * ordered[2 * k - 1],
    high = 3 * ordered[n - k] - 2 * ordered[n - 2 * k];
  return [low > 0 ? Math.max(low, ordered[0]) : 0, high < length ? Math.min(high, ordered[n - 1]) : length];
}

/** Mid-ranks. @param {ArrayLike<number>} values */
export function ranks(values) {
  const order = Uint32Array.from(values, (_, k) => k).sort((a, b) => values[a] - values[b]),
    out = new Float64Array(values.length);
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end + 1 < order.length && values[order[end + 1]] === values[order[start]]) end++;
    for (let k = start; k <= end; k++) out[order[k]] = (start + end) / 2;
    start = end + 1;
  }
  return out;
}

/**
 * Every feature along the line; the one whose interval leaves the largest change first.
 * @param {import("../data/features.js").FeatureTable} table @param {PointsNear} line @returns {TrendRow[]}
 */
export function trends(table, line) {
  const { length, covered } = line,
    ids = table.known(line.ids),
    t = line.t.filter((_, k) => table.knows(line.ids[k])),
    n = ids.length,
    mean = t.reduce((a, b) => a + b, 0) / n,
    s = t.map((v) => v - mean),
    total = s.reduce((a, b) => a + b * b, 0);
  const order = ranks(t),
    middle = (n - 1) / 2,
    stretch = Uint8Array.from(t, (v) => Math.min(STRETCHES - 1, Math.floor((STRETCHES * v) / length)));
  const values = new Float64Array(n),
    rows = [],
    degrees = Math.max(n - 2, 1);
  for (let slot = 0; slot < table.size; slot++) {
    const codes = new Uint32Array(n);
    for (let k = 0; k < n; k++) codes[k] = table.code(ids[k], slot);
    for (let k = 0; k < n; k++) values[k] = table.decode(slot, codes[k]);
    const feature = table.kept[slot],
      { deviation } = table.moments(feature),
      base = values.reduce((a, b) => a + b, 0) / n;
    if (Number.isNaN(base)) continue; // missing values take no part
    let slope = 0,
      rough = 0;
    for (let k = 0; k < n; k++) slope += (s[k] * (values[k] - base)) / total;
    for (let k = 0; k < n; k++)
      rough += ((s[k] * (values[k] - base - slope * s[k])) / Math.max(1 - 1 / n - (s[k] * s[k]) / total, 1e-6)) ** 2;
    const scale = deviation > 0 ? (covered[1] - covered[0]) / deviation : 0,
      largest = deviation > 0 ? range(values) / deviation : 0,
      effect = slope * scale,
      error = (Math.sqrt(rough) / total) * scale,
      ahead = ratio(Math.abs(effect), error),
      rho = rankCorrelation(order, middle, ranks(codes)),
      byRanks = ratio(Math.abs(rho) * Math.sqrt(degrees), Math.sqrt(Math.max(1 - rho * rho, 0)));
    rows.push({
      feature,
      name: table.names[feature],
      effect: Math.max(-largest, Math.min(effect, largest)),
      error,
      rho,
      least: Math.max(0, Math.min(Math.abs(effect) - INTERVAL * error, largest)),
      ahead,
      p: twoTails(Math.min(normalDeviation(ahead, degrees), normalDeviation(byRanks, degrees))),
      curve: stretchMeans(values, stretch),
    });
  }
  const found = discoveries(rows.map((row) => row.p));
  return rows
    .map((row, k) => ({ ...row, beyondChance: found[k] }))
    .sort((a, b) => b.least - a.least || b.ahead - a.ahead || a.feature - b.feature);
}

/** @param {Float64Array} values */
function range(values) {
  let low = Infinity,
    high = -Infinity;
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return high - low;
}

/** A size in its errors. @param {number} size @param {number} error */
function ratio(size, error) {
  return size === 0 ? 0 : size / error;
}

/**
 * The normal deviation whose tails bound those of Student's distribution from above (Wallace).
 * @param {number} ratio @param {number} degrees of freedom
 */
function normalDeviation(ratio, degrees) {
  return ((8 * degrees + 1) / (8 * degrees + 3)) * Math.sqrt(degrees * Math.log1p((ratio * ratio) / degrees));
}

/** @param {Float64Array} a @param {number} middle mean of all ranks @param {Float64Array} b */
function rankCorrelation(a, middle, b) {
  let both = 0,
    one = 0,
    two = 0;
  for (let k = 0; k < a.length; k++) {
    both += (a[k] - middle) * (b[k] - middle);
    one += (a[k] - middle) ** 2;
    two += (b[k] - middle) ** 2;
  }
  return one > 0 && two > 0 ? both / Math.sqrt(one * two) : 0;
}

/** @param {Float64Array} values @param {Uint8Array} stretch */
function stretchMeans(values, stretch) {
  const sums = new Float64Array(STRETCHES),
    counts = new Uint32Array(STRETCHES);
  for (let k = 0; k < values.length; k++) {
    sums[stretch[k]] += values[k];
    counts[stretch[k]]++;
  }
  return Array.from(sums, (sum, k) => (counts[k] ? sum / counts[k] : NaN));
}
