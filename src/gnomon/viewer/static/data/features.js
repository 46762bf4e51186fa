// Feature values from their one-byte codes, dense or sparse, or as they are; mirrors payload.py.

/** Where each of n points stands among some, -1 where it does not. @param {Uint32Array} points @param {number} n */
function rowsOf(points, n) {
  const rows = new Int32Array(n).fill(-1);
  for (let row = 0; row < points.length; row++) rows[points[row]] = row;
  return rows;
}

/**
 * Values as ranks among those that differ, from 0, and these ascending, with NaN for missing ones after them.
 * @param {Float32Array|Float64Array} given
 */
function ranked(given) {
  const values = Float64Array.from(new Set(given)).sort(), // NaN comes last
    rank = new Map(Array.from(values, (value, code) => [value, code]));
  return { codes: Uint32Array.from(given, (value) => /** @type {number} */ (rank.get(value))), values };
}

export class FeatureTable {
  /**
   * @param {string[]} names
   * @param {number} n
   * @param {Record<string, any>} columns decoded group "features"; may be empty
   * @param {Uint32Array|null} [points] those whose values are here, ascending; null for all
   */
  constructor(names, n, columns, points = null) {
    this.names = names;
    this.n = n;
    this.c = columns;
    /** Columns of X whose values are in the page. @type {Int32Array} */
    this.kept = columns.kept || new Int32Array(0);
    this.size = this.kept.length;
    /** slot of a feature among the kept ones, or -1 @type {Int32Array} */
    this.slots = new Int32Array(names.length).fill(-1);
    this.kept.forEach((f, slot) => (this.slots[f] = slot));
    this.sparse = Boolean(columns.indptr);
    this.points = this.size ? points : null;
    /** Row of a point among those whose values are here, or -1. @type {Int32Array|null} */
    this.rows = this.points && rowsOf(this.points, n);
    /** Features that are here as they are, by slot. @type {Map<number, {codes: Uint32Array, values: Float64Array}>} */
    this.whole = new Map();
    /** @type {Int32Array|undefined} */ (columns.whole_slots)?.forEach((slot, k) =>
      this.whole.set(slot, ranked(columns.whole.subarray(k * this.height, (k + 1) * this.height))),
    );
    /** Where the counts of each slot begin, one for each code, and where the last end. */
    this.starts = new Uint32Array(this.size + 1);
    for (let slot = 0; slot < this.size; slot++)
      this.starts[slot + 1] = this.starts[slot] + (this.whole.get(slot)?.values.length ?? 256);
  }

  /** Whether the values of a point are here. @param {number} i */
  knows(i) {
    return !this.rows || this.rows[i] >= 0;
  }

  /** Those of some points whose values are here. @param {Uint32Array} ids */
  known(ids) {
    return this.rows ? ids.filter((i) => this.knows(i)) : ids;
  }

  /** How many points have values here. */
  get height() {
    return this.points ? this.points.length : this.n;
  }

  /** @param {number} f */
  has(f) {
    return this.slots[f] >= 0;
  }

  /** Value that a code of a slot stands for; NaN for -1. @param {number} slot @param {number} code */
  decode(slot, code) {
    if (code < 0) return NaN;
    const whole = this.whole.get(slot);
    if (whole) return whole.values[code];
    const row = this.c.table_row[slot];
    return row < 0 ? code : this.c.table[256 * row + code];
  }

  /** @param {number} i point @param {number} slot @returns {number} -1 where the point's values are not here */
  code(i, slot) {
    const row = this.rows ? this.rows[i] : i;
    return row < 0 ? -1 : this.#codeOfRow(row, slot);
  }

  /** @param {number} row @param {number} slot */
  #codeOfRow(row, slot) {
    const whole = this.whole.get(slot);
    if (whole) return whole.codes[row];
    if (!this.sparse) return this.c.codes[row * this.size + slot];
    const { indptr, indices, data } = this.c,
      end = indptr[row + 1];
    let low = indptr[row],
      high = end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (indices[middle] < slot) low = middle + 1;
      else high = middle;
    }
    return low < end && indices[low] === slot ? data[low] : this.c.zero[slot];
  }

  /** @param {number} i point @param {number} f feature @returns {number} NaN if missing or not in the page */
  value(i, f) {
    const slot = this.slots[f];
    return slot < 0 ? NaN : this.decode(slot, this.code(i, slot));
  }

  /** Values of a feature of all points, NaN where they are not here. @param {number} f */
  column(f) {
    const slot = this.slots[f],
      out = new Float64Array(this.n).fill(NaN),
      size = this.starts[slot + 1] - this.starts[slot],
      values = Float64Array.from({ length: size }, (_, code) => this.decode(slot, code));
    for (let row = 0; row < this.height; row++)
      out[this.points ? this.points[row] : row] = values[this.#codeOfRow(row, slot)];
    return out;
  }

  /**
   * Add the codes of some points to counts[starts[slot] + code]; those whose values are not here take no part.
   * @param {Uint32Array} points
   * @param {Uint32Array} counts
   */
  count(points, counts) {
    const { size, rows, starts } = this,
      ids = rows ? this.known(points).map((i) => rows[i]) : points;
    if (!this.sparse) {
      const codes = this.c.codes;
      for (let k = 0; k < ids.length; k++) {
        const start = ids[k] * size;
        for (let slot = 0; slot < size; slot++) counts[starts[slot] + codes[start + slot]]++;
      }
      for (const [slot, whole] of this.whole) {
        counts[starts[slot]] -= ids.length; // whose codes above are 0
        for (let k = 0; k < ids.length; k++) counts[starts[slot] + whole.codes[ids[k]]]++;
      }
      return;
    }
    const { indptr, indices, data, zero } = this.c,
      stored = new Uint32Array(size);
    for (let k = 0; k < ids.length; k++) {
      for (let at = indptr[ids[k]]; at < indptr[ids[k] + 1]; at++) {
        counts[starts[indices[at]] + data[at]]++;
        stored[indices[at]]++;
      }
    }
    for (let slot = 0; slot < size; slot++) counts[starts[slot] + zero[slot]] += ids.length - stored[slot];
  }

  /** The points whose values are here. */
  get everyone() {
    return this.points ?? new Uint32Array(this.n).map((_, i) => i);
  }

  /** Counts of all points whose values are here, made once. @returns {Uint32Array} */
  get totals() {
    if (!this.cached) {
      this.cached = new Uint32Array(this.starts[this.size]);
      this.count(this.everyone, this.cached);
    }
    return this.cached;
  }

  /** Mean and standard deviation of a feature over all points. @param {number} f */
  moments(f) {
    const slot = this.slots[f],
      [start, end] = this.starts.subarray(slot, slot + 2),
      counts = this.totals.subarray(start, end),
      values = Float64Array.from(counts, (count, code) => (count ? this.decode(slot, code) : NaN));
    let n = 0,
      sum = 0,
      square = 0;
    for (let code = 0; code < values.length; code++) {
      if (Number.isNaN(values[code])) continue;
      n += counts[code];
      sum += counts[code] * values[code];
    }
    const mean = sum / n;
    for (let code = 0; code < values.length; code++)
      if (!Number.isNaN(values[code])) square += counts[code] * (values[code] - mean) ** 2;
    return { mean, deviation: Math.sqrt(square / n) };
  }
}
