// Columns that were rounded to keep the page small, as they were: undoes rounding.py. Most are decoded when first used.

const NO_PLACE = 65535;

/**
 * @param {Record<string, any>} columns decoded group
 * @param {number} n points @param {number} d
 * @param {Record<string, any>} [core] decoded group "core", restored before all others; this one by default
 * @returns {Record<string, any>} the same object, with the names that exact columns have
 */
export function restored(columns, n, d, core = columns) {
  for (const name of Object.keys(columns))
    if (name.endsWith("_levels")) {
      const codes = columns[name.slice(0, -7)],
        levels = columns[name];
      delete columns[name];
      later(columns, name.slice(0, -7), () => valuesOf(codes, levels));
    }
  const { places, near_steps: steps, top_ordered: ordered, ellipses } = columns;
  if (places) {
    const { places_low: low, places_step: step } = columns;
    columns.embedding = positionsOf(places, low, step, n, d);
    for (const name of ["places", "places_low", "places_step"]) delete columns[name];
    later(columns, "mapOrder", () => orderOf(places, n, d));
  }
  if (steps) {
    delete columns.near_steps;
    later(columns, "near", () => neighborsOf(steps, core.mapOrder));
  }
  if (ordered) {
    delete columns.top_ordered;
    later(columns, "top", () => inRows(ordered, core.mapOrder));
  }
  if (ellipses instanceof Int8Array) {
    const size = ellipses.length / n;
    later(columns, "ellipses", () => {
      const scale = columns.ellipses_scale,
        out = new Float32Array(ellipses.length);
      for (let i = 0, k = 0; i < n; i++) for (let c = 0; c < size; c++, k++) out[k] = ellipses[k] * scale[i];
      return out;
    });
  }
  return columns;
}

/** A column that is made when it is first asked for. */
function later(/** @type {Record<string, any>} */ columns, /** @type {string} */ name, /** @type {() => any} */ make) {
  /** @type {any} */
  let made;
  Object.defineProperty(columns, name, { enumerable: true, configurable: true, get: () => (made ??= make()) });
}

/** @param {Uint8Array} codes @param {Float32Array} levels of each code; NaN for what is missing */
function valuesOf(codes, levels) {
  const out = new Float32Array(codes.length);
  for (let i = 0; i < out.length; i++) out[i] = levels[codes[i]];
  return out;
}

/** @param {Uint8Array} planes low and high bytes of each coordinate */
function positionsOf(
  planes,
  /** @type {Float64Array} */ low,
  /** @type {Float64Array} */ step,
  /** @type {number} */ n,
  /** @type {number} */ d,
) {
  const out = new Float32Array(n * d);
  for (let c = 0; c < d; c++)
    for (let i = 0, lows = 2 * c * n, highs = lows + n; i < n; i++) {
      const code = planes[lows + i] | (planes[highs + i] << 8);
      out[i * d + c] = code === NO_PLACE ? NaN : low[c] + step[c] * code;
    }
  return out;
}

/**
 * The points along Morton's curve; as map_order of rounding.py.
 * @param {Uint8Array} planes @param {number} n @param {number} d
 */
function orderOf(planes, n, d) {
  const bits = d > 2 ? Math.floor(32 / d) : 16,
    keys = new Uint32Array(n),
    /** The bits of a byte, d apart. */
    spread = new Uint32Array(256).map((_, byte) => {
      let apart = 0;
      for (let bit = 0; bit < 8; bit++) apart |= ((byte >> bit) & 1) << (d * bit);
      return apart;
    });
  for (let c = 0; c < d; c++)
    for (let i = 0, lows = 2 * c * n, highs = lows + n; i < n; i++) {
      const code = (planes[lows + i] | (planes[highs + i] << 8)) >>> (16 - bits);
      keys[i] |= (spread[code & 255] | (spread[code >>> 8] << (8 * d))) << c;
    }
  const all = new Uint32Array(n).map((_, i) => i);
  return sorted(keys, sorted(keys, all, 0), 16);
}

/** Points by 16 bits of their keys, as they come where these are equal. */
function sorted(/** @type {Uint32Array} */ keys, /** @type {Uint32Array} */ points, /** @type {number} */ shift) {
  const next = new Uint32Array(65537),
    out = new Uint32Array(points.length);
  for (const i of points) next[((keys[i] >>> shift) & 65535) + 1]++;
  for (let key = 0; key < 65536; key++) next[key + 1] += next[key];
  for (const i of points) out[next[(keys[i] >>> shift) & 65535]++] = i;
  return out;
}

/** Neighbours, from how far they are in the order of the map. @param {Uint8Array} planes @param {Uint32Array} order */
function neighborsOf(planes, order) {
  const n = order.length,
    bytes = Math.max(1, Math.ceil((32 - Math.clz32(2 * n - 1)) / 8)),
    size = planes.length / bytes,
    k = size / n,
    out = new Uint32Array(size);
  for (let rank = 0, at = 0; rank < n; rank++)
    for (let slot = k * order[rank], end = slot + k; slot < end; slot++, at++) {
      let number = 0;
      for (let b = 0; b < bytes; b++) number |= planes[b * size + at] << (8 * b);
      out[slot] = order[rank + ((number >>> 1) ^ -(number & 1))];
    }
  return out;
}

/** A column with its rows in the order of the map, as the points are. */
function inRows(/** @type {any} */ ordered, /** @type {Uint32Array} */ order) {
  const k = ordered.length / order.length,
    out = new ordered.constructor(ordered.length);
  for (let rank = 0; rank < order.length; rank++)
    for (let slot = 0; slot < k; slot++) out[k * order[rank] + slot] = ordered[k * rank + slot];
  return out;
}
