// The explanation of one point: what its position depends on, and how far to believe that.

/**
 * @typedef {{r2: number, top: {feature: number, arrow: number[], share: number}[], ellipse: number[]|null}}
 *   PointExplanation
 */

/** Below this share of the local displacement the axes say nothing useful. */
export const WEAK_R2 = 0.3;

/**
 * @param {Record<string, any>} core
 * @param {{d: number, explanation?: {top: number}}} header
 * @param {number} i
 * @returns {PointExplanation|null}
 */
export function explainPoint(core, header, i) {
  if (!header.explanation) return null;
  const { d } = header,
    k = header.explanation.top,
    top = [];
  for (let t = 0; t < k; t++) {
    const arrow = [];
    for (let c = 0; c < d; c++) arrow.push(core.arrows[(i * k + t) * d + c] * core.arrows_scale[i]);
    const share = core.importance ? core.importance[i * k + t] * core.importance_scale[i] : Math.hypot(...arrow);
    top.push({ feature: core.top[i * k + t], arrow, share });
  }
  const size = (d * (d + 1)) / 2,
    ellipse = Array.from(core.ellipses.subarray(i * size, (i + 1) * size));
  return {
    r2: core.r2[i],
    top: top.filter((row) => row.share > 0),
    ellipse: ellipse.every(Number.isFinite) ? /** @type {number[]} */ (ellipse) : null,
  };
}

/**
 * Shadow of the distortion ellipse on the screen plane.
 * @param {number[]} upper
 * @param {number} d
 * @param {number[]} R
 */
export function flatEllipse(upper, d, R) {
  let [a, b, c] = upper;
  if (d === 3) {
    const M = [
      [upper[0], upper[1], upper[2]],
      [upper[1], upper[3], upper[4]],
      [upper[2], upper[4], upper[5]],
    ];
    const form = (/** @type {number} */ p, /** @type {number} */ q) => {
      let sum = 0;
      for (let r = 0; r < 3; r++) for (let s = 0; s < 3; s++) sum += R[3 * p + r] * M[r][s] * R[3 * q + s];
      return sum;
    };
    [a, b, c] = [form(0, 0), form(0, 1), form(1, 1)];
  }
  const middle = (a + c) / 2,
    gap = Math.hypot((a - c) / 2, b);
  return {
    major: Math.sqrt(Math.max(0, middle + gap)),
    minor: Math.sqrt(Math.max(0, middle - gap)),
    angle: 0.5 * Math.atan2(2 * b, a - c),
  };
}

/**
 * Typical size of the ellipses (median of the fourth root of the 2-D determinant).
 * @param {Record<string, any>} core
 * @param {number} d
 */
export function typicalStretch(core, d) {
  if (!core.ellipses) return 1;
  const size = (d * (d + 1)) / 2,
    n = core.ellipses.length / size,
    step = Math.max(1, Math.floor(n / 2000)),
    sizes = [];
  for (let i = 0; i < n; i += step) {
    const { major, minor } = flatEllipse(
      Array.from(core.ellipses.subarray(i * size, (i + 1) * size)),
      d,
      [1, 0, 0, 0, 1, 0, 0, 0, 1],
    );
    const mean = Math.sqrt(major * minor);
    if (mean > 0) sizes.push(mean);
  }
  sizes.sort((x, y) => x - y);
  return sizes.length ? sizes[sizes.length >> 1] : 1;
}

/** @param {number} r2 */
export function fidelityWords(r2) {
  if (!Number.isFinite(r2)) return "No local explanation at this point.";
  const percent = Math.round(100 * Math.max(0, r2));
  if (r2 < WEAK_R2)
    return `Arrows not meaningful here: features explain only ${percent} % of where its neighbours lie.`;
  return `The features explain ${percent} % of where its neighbours lie.`;
}

/** @param {{major: number, minor: number}} ellipse @param {number} typical */
export function distortionWords({ major, minor }, typical) {
  const size = Math.sqrt(major * minor) / typical,
    ratio = major / Math.max(minor, 1e-12);
  if (!(major > 0)) return "";
  const scale =
    size > 1.25
      ? `stretched ${size.toFixed(1)}× against a typical point`
      : size < 0.8
        ? `compressed ${(1 / Math.max(size, 1e-3)).toFixed(1)}×  against a typical point`
        : "drawn at the usual scale";
  return ratio > 10
    ? `Space here is flattened almost to a line.`
    : `Space here is ${scale}${ratio > 1.5 ? `, ${ratio.toFixed(1)} times more one way than the other` : ""}.`;
}
