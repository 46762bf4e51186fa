// The points in the plane of the screen, before pan and zoom: scaling, rotation of 3-D maps, seen from a point as by an
// eye, and a grid to find them.

/** Largest side of the grid of cells. */
const MAX_SIDE = 512;
/** Where points without a position are kept: outside of every view. */
const NOWHERE = 1e6;
/** How far the eye is from the middle of a 3-D map, in units of the plane; as in webgl.js. */
export const EYE = 5;

export class Cloud {
  /**
   * @param {Float32Array} embedding n x d, row-major
   * @param {number} d 2 or 3
   */
  constructor(embedding, d) {
    this.n = embedding.length / d;
    this.d = d;
    /** x, y, depth of every point; the finite ones lie in about [-1, 1] */
    this.plane = new Float32Array(3 * this.n);
    this.finite = new Uint8Array(this.n);
    /** @type {number[]} rows without a position */
    this.lost = [];
    this.rotation = [1, 0, 0, 0, 1, 0, 0, 0, 1];
    this.version = 0;
    this.centered = new Float32Array(3 * this.n);
    this.#measure(embedding);
    this.place(embedding);
  }

  /** Choose origin and unit of the plane: the finite points fill about [-1, 1]. @param {Float32Array} embedding */
  #measure(embedding) {
    const { n, d } = this,
      low = [0, 0, 0].fill(Infinity),
      high = [0, 0, 0].fill(-Infinity);
    for (let i = 0; i < n; i++) {
      if (!this.#isFinite(embedding, i)) continue;
      for (let c = 0; c < d; c++) {
        low[c] = Math.min(low[c], embedding[i * d + c]);
        high[c] = Math.max(high[c], embedding[i * d + c]);
      }
    }
    this.center = low.map((v, c) => (c < d && v <= high[c] ? (v + high[c]) / 2 : 0));
    const reach = Math.max(...low.slice(0, d).map((v, c) => (v <= high[c] ? (high[c] - v) / 2 : 0)));
    /** plane units per unit of the embedding */
    this.scale = reach > 0 ? 1 / reach : 1;
  }

  /** @param {Float32Array} embedding @param {number} i */
  #isFinite(embedding, i) {
    const at = i * this.d;
    return (
      Number.isFinite(embedding[at]) &&
      Number.isFinite(embedding[at + 1]) &&
      (this.d === 2 || Number.isFinite(embedding[at + 2]))
    );
  }

  /**
   * Move the points; origin and unit of the plane stay.
   * @param {Float32Array} embedding n x d, in the units of the first one
   */
  place(embedding) {
    const { n, d, centered, scale, finite } = this,
      center = /** @type {number[]} */ (this.center);
    this.lost = [];
    for (let i = 0; i < n; i++) {
      finite[i] = this.#isFinite(embedding, i) ? 1 : 0;
      if (!finite[i]) this.lost.push(i);
      for (let c = 0; c < d; c++)
        centered[3 * i + c] = finite[i] ? (embedding[i * d + c] - center[c]) * /** @type {number} */ (scale) : 0;
    }
    this.rotate(this.rotation);
  }

  /** A position of the embedding in the plane. @param {number[]} p @returns {[number, number]} */
  toPlane(p) {
    const v = p.map((one, c) => one - /** @type {number[]} */ (this.center)[c]),
      [x, y] = this.direction(v);
    if (this.d === 2) return [x, y];
    const R = this.rotation,
      depth = /** @type {number} */ (this.scale) * (R[6] * v[0] + R[7] * v[1] + R[8] * v[2]),
      near = EYE / (EYE - depth);
    return [x * near, y * near];
  }

  /** @param {number[]} R 3 x 3 rotation, row-major */
  rotate(R) {
    const { centered: c, plane, n } = this;
    this.rotation = R;
    if (this.d === 2) plane.set(c);
    else
      for (let i = 0; i < 3 * n; i += 3) {
        const x = c[i],
          y = c[i + 1],
          z = c[i + 2];
        const depth = R[6] * x + R[7] * y + R[8] * z,
          near = EYE / (EYE - depth);
        plane[i] = near * (R[0] * x + R[1] * y + R[2] * z);
        plane[i + 1] = near * (R[3] * x + R[4] * y + R[5] * z);
        plane[i + 2] = depth;
      }
    for (const i of this.lost) plane.fill(NOWHERE, 3 * i, 3 * i + 3);
    this.version++;
    this.starts = null; // the grid is rebuilt when next asked for
  }

  /**
   * A vector of the embedding (not a position) in the plane, seen from afar.
   * @param {number[]} v @returns {[number, number]}
   */
  direction(v) {
    const R = this.rotation,
      [x, y, z] = [v[0], v[1], v[2] || 0],
      s = this.scale || 1;
    if (this.d === 2) return [x * s, y * s];
    return [s * (R[0] * x + R[1] * y + R[2] * z), s * (R[3] * x + R[4] * y + R[5] * z)];
  }

  /** Bounds of the finite points: [left, bottom, right, top]. */
  bounds() {
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < this.n; i++) {
      if (!this.finite[i]) continue;
      const x = this.plane[3 * i],
        y = this.plane[3 * i + 1];
      box[0] = Math.min(box[0], x);
      box[1] = Math.min(box[1], y);
      box[2] = Math.max(box[2], x);
      box[3] = Math.max(box[3], y);
    }
    return box[0] > box[2] ? [-1, -1, 1, 1] : box;
  }

  /** What a view of all points must hold: their bounds, or where the map turns a square that fits from every side. */
  extent() {
    if (this.d === 2) return this.bounds();
    const { centered: c } = this;
    let square = 1e-12;
    for (let i = 0; i < c.length; i += 3) square = Math.max(square, c[i] ** 2 + c[i + 1] ** 2 + c[i + 2] ** 2);
    const reach = Math.sqrt(square / (1 - square / EYE ** 2)); // of a ball as the eye sees it
    return [-reach, -reach, reach, reach];
  }

  /** Counting sort of the points into square cells: members of cell k are ids[starts[k] .. starts[k + 1]]. */
  #buildGrid() {
    const side = Math.max(1, Math.min(MAX_SIDE, Math.ceil(Math.sqrt(this.n / 2))));
    const box = this.bounds();
    const cell = Math.max(box[2] - box[0], box[3] - box[1], 1e-9) / side;
    const starts = new Uint32Array(side * side + 1),
      place = new Uint32Array(this.n);
    this.grid = { side, cell, left: box[0], bottom: box[1] };
    for (let i = 0; i < this.n; i++) {
      if (!this.finite[i]) continue;
      place[i] = this.#cellOf(this.plane[3 * i + 1], box[1]) * side + this.#cellOf(this.plane[3 * i], box[0]);
      starts[place[i] + 1]++;
    }
    for (let k = 0; k < side * side; k++) starts[k + 1] += starts[k];
    const next = starts.slice(),
      ids = new Uint32Array(starts[side * side]);
    for (let i = 0; i < this.n; i++) if (this.finite[i]) ids[next[place[i]]++] = i;
    this.starts = starts;
    this.ids = ids;
  }

  /** @param {number} value @param {number} origin */
  #cellOf(value, origin) {
    const { side, cell } = /** @type {any} */ (this.grid);
    return Math.max(0, Math.min(side - 1, Math.floor((value - origin) / cell)));
  }

  /**
   * Visit the points of all cells that touch a rectangle.
   * @param {number} left @param {number} bottom @param {number} right @param {number} top
   * @param {(i: number) => void} visit
   */
  visit(left, bottom, right, top, visit) {
    if (!this.starts) this.#buildGrid();
    const { side, left: x0, bottom: y0 } = /** @type {any} */ (this.grid);
    const starts = /** @type {Uint32Array} */ (this.starts),
      ids = /** @type {Uint32Array} */ (this.ids);
    const first = this.#cellOf(left, x0),
      last = this.#cellOf(right, x0);
    for (let row = this.#cellOf(bottom, y0); row <= this.#cellOf(top, y0); row++) {
      for (let k = starts[row * side + first]; k < starts[row * side + last + 1]; k++) visit(ids[k]);
    }
  }
}

/**
 * Even-odd rule. @param {number} x @param {number} y @param {number[][]} polygon
 */
export function insidePolygon(x, y, polygon) {
  let inside = false;
  for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a++) {
    const [xa, ya] = polygon[a],
      [xb, yb] = polygon[b];
    if (ya > y !== yb > y && x < ((xb - xa) * (y - ya)) / (yb - ya) + xa) inside = !inside;
  }
  return inside;
}
