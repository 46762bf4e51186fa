// Feature values from their one-byte codes, dense or sparse; mirrors payload.py.

export class FeatureTable {
  /**
   * @param {string[]} names
   * @param {number} n
   * @param {Record<string, any>} columns decoded group "features"; may be empty
   */
  constructor(names, n, columns) {
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
  }

  /** @param {number} f */
  has(f) {
    return this.slots[f] >= 0;
  }

  /** Value that a code of a slot stands for. @param {number} slot @param {number} code */
  decode(slot, code) {
    const row = this.c.table_row[slot];
    return row < 0 ? code : this.c.table[256 * row + code];
  }

  /** @param {number} i point @param {number} slot */
  code(i, slot) {
    if (!this.sparse) return this.c.codes[i * this.size + slot];
    const { indptr, indices, data } = this.c;
    let low = indptr[i],
      high = indptr[i + 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (indices[middle] < slot) low = middle + 1;
      else high = middle;
    }
    return low < indptr[i + 1] && indices[low] === slot ? data[low] : this.c.zero[slot];
  }

  /** @param {number} i point @param {number} f feature @returns {number} NaN if missing or not in the page */
  value(i, f) {
    const slot = this.slots[f];
    return slot < 0 ? NaN : this.decode(slot, this.code(i, slot));
  }

  /** All values of a feature. @param {number} f */
  column(f) {
    const slot = this.slots[f],
      out = new Float64Array(this.n);
    const values = Float64Array.from({ length: 256 }, (_, code) => this.decode(slot, code));
    if (!this.sparse) {
      for (let i = 0, at = slot; i < this.n; i++, at += this.size) out[i] = values[this.c.codes[at]];
    } else {
      out.fill(values[this.c.zero[slot]]);
      for (let i = 0; i < this.n; i++) {
        const code = this.code(i, slot);
        out[i] = values[code];
      }
    }
    return out;
  }

  /**
   * Add the codes of some points to counts[slot * 256 + code].
   * @param {ArrayLike<number>} ids
   * @param {Uint32Array} counts
   */
  count(ids, counts) {
    const { size } = this;
    if (!this.sparse) {
      const codes = this.c.codes;
      for (let k = 0; k < ids.length; k++) {
        const start = ids[k] * size;
        for (let slot = 0; slot < size; slot++) counts[256 * slot + codes[start + slot]]++;
      }
      return;
    }
    const { indptr, indices, data, zero } = this.c,
      stored = new Uint32Array(size);
    for (let k = 0; k < ids.length; k++) {
      for (let at = indptr[ids[k]]; at < indptr[ids[k] + 1]; at++) {
        counts[256 * indices[at] + data[at]]++;
        stored[indices[at]]++;
      }
    }
    for (let slot = 0; slot < size; slot++) counts[256 * slot + zero[slot]] += ids.length - stored[slot];
  }

  /** Counts of all points, made once. @returns {Uint32Array} */
  get totals() {
    if (!this.cached) {
      this.cached = new Uint32Array(256 * this.size);
      this.count(
        Uint32Array.from({ length: this.n }, (_, i) => i),
        this.cached,
      );
    }
    return this.cached;
  }

  /** Mean and standard deviation of a feature over all points. @param {number} f */
  moments(f) {
    const slot = this.slots[f];
    let n = 0,
      sum = 0,
      square = 0;
    for (let code = 0; code < 256; code++) {
      const count = this.totals[256 * slot + code],
        value = count ? this.decode(slot, code) : 0;
      if (!count || Number.isNaN(value)) continue;
      n += count;
      sum += count * value;
      square += count * value * value;
    }
    const mean = sum / n;
    return { mean, deviation: Math.sqrt(Math.max(0, square / n - mean * mean)) };
  }
}
