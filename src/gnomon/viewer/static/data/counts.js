// How many points lie in each cell of a grid over some of them, smoothed.

const MOST_GRID_CELLS = 320; // of a side

export class CountGrid {
  /**
   * @param {Float32Array} plane x, y, depth of every point
   * @param {Uint32Array} ids at least one point
   * @param {number} cell side of a cell in the plane; larger where the points would need too many
   * @param {number} pad empty cells beside the points
   * @param {ArrayLike<number>|null} [weights] of points that stand for several: shared among the cells around them
   */
  constructor(plane, ids, cell, pad, weights = null) {
    const [left, bottom, right, top] = boundsOf(plane, ids),
      side = Math.max(cell, right - left, top - bottom, 1e-9);
    this.cell = Math.max(cell, side / MOST_GRID_CELLS);
    this.left = left - pad * this.cell;
    this.bottom = bottom - pad * this.cell;
    this.wide = Math.floor((right - left) / this.cell) + 1 + 2 * pad;
    this.tall = Math.floor((top - bottom) / this.cell) + 1 + 2 * pad;
    this.values = new Float32Array(this.wide * this.tall);
    for (const i of ids)
      if (weights) this.#share(plane[3 * i], plane[3 * i + 1], weights[i]);
      else this.values[this.at(plane[3 * i], plane[3 * i + 1])]++;
  }

  /** @param {number} x @param {number} y @param {number} weight */
  #share(x, y, weight) {
    const u = (x - this.left) / this.cell - 0.5,
      v = (y - this.bottom) / this.cell - 0.5,
      k = Math.floor(v) * this.wide + Math.floor(u),
      s = u - Math.floor(u),
      t = v - Math.floor(v),
      { values } = this;
    values[k] += weight * (1 - s) * (1 - t);
    values[k + 1] += weight * s * (1 - t);
    values[k + this.wide] += weight * (1 - s) * t;
    values[k + this.wide + 1] += weight * s * t;
  }

  /** The cell of a place in the plane. @param {number} x @param {number} y */
  at(x, y) {
    const column = Math.floor((x - this.left) / this.cell),
      row = Math.floor((y - this.bottom) / this.cell);
    return Math.max(0, Math.min(this.tall - 1, row)) * this.wide + Math.max(0, Math.min(this.wide - 1, column));
  }

  /** The middle of a cell. @param {number} k @returns {[number, number]} */
  middle(k) {
    return [
      this.left + ((k % this.wide) + 0.5) * this.cell,
      this.bottom + (Math.floor(k / this.wide) + 0.5) * this.cell,
    ];
  }

  /** Smooth along both axes. @param {number[]} half weights of a cell, of those beside it, and so on outwards */
  smooth(half) {
    this.#along(half, 1, this.wide, this.wide, this.tall);
    this.#along(half, this.wide, this.tall, 1, this.wide);
    return this;
  }

  /**
   * @param {number[]} half @param {number} step from cell to cell @param {number} length of a line
   * @param {number} stride from line to line @param {number} lines
   */
  #along(half, step, length, stride, lines) {
    const reach = half.length - 1,
      line = new Float32Array(length + 2 * reach), // nothing beside the grid
      { values } = this;
    for (let l = 0; l < lines; l++) {
      const start = l * stride;
      for (let k = 0; k < length; k++) line[reach + k] = values[start + k * step];
      for (let k = 0; k < length; k++) {
        const at = reach + k;
        let sum = half[0] * line[at];
        for (let r = 1; r <= reach; r++) sum += half[r] * (line[at - r] + line[at + r]);
        values[start + k * step] = sum;
      }
    }
  }

  /** The value at a place, linear between the middles of cells. @param {number} x @param {number} y */
  value(x, y) {
    const u = Math.max(0, Math.min(this.wide - 1, (x - this.left) / this.cell - 0.5)),
      v = Math.max(0, Math.min(this.tall - 1, (y - this.bottom) / this.cell - 0.5)),
      column = Math.min(Math.floor(u), this.wide - 2),
      row = Math.min(Math.floor(v), this.tall - 2),
      k = row * this.wide + column,
      s = u - column,
      t = v - row,
      { values } = this;
    const below = values[k] + s * (values[k + 1] - values[k]),
      above = values[k + this.wide] + s * (values[k + this.wide + 1] - values[k + this.wide]);
    return below + t * (above - below);
  }
}

/** @param {Float32Array} plane @param {Uint32Array} ids @returns {number[]} [left, bottom, right, top] */
export function boundsOf(plane, ids) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const i of ids) {
    const x = plane[3 * i],
      y = plane[3 * i + 1];
    if (x < box[0]) box[0] = x;
    if (y < box[1]) box[1] = y;
    if (x > box[2]) box[2] = x;
    if (y > box[3]) box[3] = y;
  }
  return box;
}
