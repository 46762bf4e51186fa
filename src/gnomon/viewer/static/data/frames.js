// Embeddings of the same points along a parameter, and the positions in between; mirrors content.py.

const MISSING = 65535;

/** Index of the frame that a position is at, or -1 in between. @param {number} position */
export function frameAt(position) {
  const nearest = Math.round(position);
  return Math.abs(position - nearest) < 1e-6 ? nearest : -1;
}

/** An even sample of some points, or of the first so many. @param {Uint32Array|number} points @param {number} most */
export function sampleOf(points, most) {
  const count = typeof points === "number" ? points : points.length,
    size = Math.min(count, most);
  return Uint32Array.from({ length: size }, (_, k) => {
    const at = Math.floor((k * count) / size);
    return typeof points === "number" ? at : points[at];
  });
}

export class Frames {
  /**
   * @param {{labels: string[], main: number}} sequence
   * @param {Record<string, any>} columns decoded group "sequence"
   * @param {Float32Array} exact the embedding of the main frame, not rounded
   * @param {number} d 2 or 3
   */
  constructor({ labels, main }, { planes, low, step }, exact, d) {
    this.count = labels.length;
    this.main = main;
    this.exact = exact;
    this.d = d;
    this.n = exact.length / d;
    this.low = low;
    this.step = step;
    /** code of coordinate c of point i in frame k at (k * d + c) * n + i */
    this.codes = new Uint16Array(this.count * d * this.n);
    this.out = new Float32Array(exact.length);
    this.#decode(planes);
  }

  /** Undo the differences from frame to frame; sums wrap around in 16 bits. @param {Uint8Array} planes */
  #decode(planes) {
    const { n, codes } = this,
      size = this.d * n;
    for (let row = 0; row < this.count * this.d; row++) {
      const lows = 2 * row * n,
        highs = lows + n,
        start = row * n;
      for (let i = 0; i < n; i++)
        codes[start + i] = (planes[lows + i] | (planes[highs + i] << 8)) + (start < size ? 0 : codes[start + i - size]);
    }
  }

  /**
   * Positions of all points, on a straight line from one frame to the next; NaN where a point has no position in one of
   * the two. The array is used again by the next call.
   * @param {number} position in [0, count - 1] @returns {Float32Array}
   */
  at(position) {
    const whole = frameAt(position);
    if (whole === this.main) return this.exact;
    const { n, d, codes, low, step, out } = this,
      k = whole >= 0 ? whole : Math.floor(position),
      next = whole >= 0 ? k : k + 1,
      t = position - k;
    for (let c = 0; c < d; c++) {
      const a = k * d + c,
        b = next * d + c,
        p = a * n,
        q = b * n;
      const base = (1 - t) * low[a] + t * low[b],
        here = (1 - t) * step[a],
        there = t * step[b];
      for (let i = 0; i < n; i++) {
        const x = codes[p + i],
          y = codes[q + i];
        out[i * d + c] = x === MISSING || y === MISSING ? NaN : base + here * x + there * y;
      }
    }
    return out;
  }

  /** Where one point lies in every frame. @param {number} i @returns {number[][]} NaN where it has no position */
  path(i) {
    const { n, d, codes, low, step } = this;
    return Array.from({ length: this.count }, (_, k) =>
      Array.from({ length: d }, (__, c) => {
        const code = codes[(k * d + c) * n + i];
        return code === MISSING ? NaN : low[k * d + c] + step[k * d + c] * code;
      }),
    );
  }
}
