// Columns that were rounded to keep the page small, as they were: undoes rounding.py. Most are decoded when first used.

const NO_PLACE = 65535;

/**
 * @param {Record<string, any>} columns decoded group
 * @param {number} n points @param {number} d
 * @returns {Record<string, any>} the same object, with the names that exact columns have
 */
export function restored(columns, n, d) {
  for (const name of Object.keys(columns))
    if (name.endsWith("_levels")) {
      const codes = columns[name.slice(0, -7)],
        levels = columns[name];
      delete columns[name];
      later(columns, name.slice(0, -7), () => valuesOf(codes, levels));
    }
  const { places, near_planes: planes, ellipses } = columns;
  if (places) {
    const { places_low: low, places_step: step } = columns;
    columns.embedding = positionsOf(places, low, step, n, d);
    for (const name of ["places", "places_low", "places_step"]) delete columns[name];
  }
  if (planes) {
    delete columns.near_planes;
    later(columns, "near", () => joined(planes, n));
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

/** Whole numbers from their bytes, the lowest of all first. @param {Uint8Array} planes @param {number} n */
function joined(planes, n) {
  const bytes = Math.max(1, Math.ceil((32 - Math.clz32(Math.max(0, n - 1))) / 8)),
    out = new Uint32Array(planes.length / bytes);
  for (let b = 0; b < bytes; b++) for (let k = 0; k < out.length; k++) out[k] |= planes[b * out.length + k] << (8 * b);
  return out;
}
