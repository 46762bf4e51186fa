// The local fits: from a few coefficients a point to what every feature does to it; mirrors geometry/expansion.py.

export class LocalMaps {
  /**
   * @param {{neighbors: number, pooling: number}} header
   * @param {Record<string, any>} columns decoded group "local"
   * @param {number} n @param {number} d
   */
  constructor({ neighbors, pooling }, columns, n, d) {
    this.k = neighbors;
    this.pooling = pooling;
    this.c = columns;
    this.n = n;
    this.d = d;
  }

  /** The neighbours of a point in the data. @param {number} i @returns {number[]} */
  near(i) {
    const found = [];
    for (let j = 0; j < this.k; j++) if (this.c.near[i * this.k + j] !== i) found.push(this.c.near[i * this.k + j]);
    return found;
  }

  /**
   * The points whose fits are averaged at a point, and the share of each.
   * @param {number} i
   * @returns {Map<number, number>}
   */
  shares(i) {
    let shares = new Map([[i, 1]]);
    for (let round = 0; round < this.pooling; round++) {
      const next = new Map();
      for (const [at, share] of shares) {
        const members = [at, ...this.near(at).filter((j) => this.c.fitted[j])];
        for (const j of members) next.set(j, (next.get(j) || 0) + share / members.length);
      }
      shares = next;
    }
    return shares;
  }

  /**
   * Coefficients of the rows that make up the axes of a point.
   * @param {number} i
   * @returns {Map<number, Float64Array>}
   */
  rows(i) {
    const { k, d, c } = this,
      total = new Map();
    const add = (/** @type {number} */ row, /** @type {number} */ component, /** @type {number} */ value) => {
      if (!total.has(row)) total.set(row, new Float64Array(d));
      total.get(row)[component] += value;
    };
    for (const [at, share] of this.shares(i)) {
      for (let j = 0; j < k; j++) {
        const row = c.near[at * k + j];
        for (let a = 0; row !== at && a < d; a++) {
          const value = share * c.coefficients[(at * k + j) * d + a] * c.coefficients_scale[at];
          add(row, a, value);
          add(at, a, -value);
        }
      }
    }
    return total;
  }

  /**
   * Root mean square displacement of the neighbours in every kept feature.
   * @param {import("./features.js").FeatureTable} table
   * @param {number} i
   */
  deviations(table, i) {
    const near = this.near(i),
      own = rowValues(table, i),
      squares = new Float64Array(table.size);
    for (const j of near)
      rowValues(table, j).forEach((value, slot) => (squares[slot] += (value - own[slot]) ** 2 / near.length));
    return squares.map(Math.sqrt);
  }

  /**
   * The same, averaged once over the point and its neighbours where fits are averaged; 0 where the point's own is 0.
   * @param {import("./features.js").FeatureTable} table
   * @param {number} i
   */
  averagedDeviations(table, i) {
    const own = this.deviations(table, i),
      members = this.pooling ? [i, ...this.near(i).filter((j) => this.c.fitted[j])] : [i],
      total = new Float64Array(own.length);
    for (const j of members)
      this.deviations(table, j).forEach((value, slot) => (total[slot] += value / members.length));
    return total.map((value, slot) => (own[slot] > 0 ? value : 0));
  }

  /**
   * Displacement of a point in the map for one local standard deviation of every kept feature, d numbers a slot;
   * exactly zero for a feature that does not vary among the neighbours. Fits of standardised features are those of
   * the features divided by their spread.
   * @param {import("./features.js").FeatureTable} table
   * @param {number} i
   * @returns {Float64Array|null} null where there is no fit, or the page lacks fits or the values of all points
   */
  arrows(table, i) {
    if (!this.c.fitted[i] || !this.c.coefficients || table.points) return null;
    const { d } = this,
      { size } = table,
      out = new Float64Array(size * d),
      own = rowValues(table, i),
      deviations = this.averagedDeviations(table, i);
    for (const [row, factors] of this.rows(i)) {
      const values = rowValues(table, row);
      for (let slot = 0; slot < size; slot++)
        for (let a = 0; deviations[slot] > 0 && a < d; a++)
          out[slot * d + a] += factors[a] * (values[slot] - own[slot]);
    }
    for (let slot = 0; slot < size; slot++) {
      const spread = this.c.spread ? this.c.spread[table.kept[slot]] : 1;
      for (let a = 0; a < d; a++) out[slot * d + a] *= deviations[slot] / spread / spread;
    }
    return out;
  }

  /**
   * Length of the arrow of every kept feature.
   * @param {import("./features.js").FeatureTable} table
   * @param {number} i
   * @returns {Float64Array|null}
   */
  importance(table, i) {
    const arrows = this.arrows(table, i),
      { d } = this;
    return (
      arrows &&
      Float64Array.from({ length: table.size }, (_, slot) => Math.hypot(...arrows.subarray(slot * d, slot * d + d)))
    );
  }
}

/** @param {import("./features.js").FeatureTable} table @param {number} i */
function rowValues(table, i) {
  return Float64Array.from({ length: table.size }, (_, slot) => table.decode(slot, table.code(i, slot)));
}
