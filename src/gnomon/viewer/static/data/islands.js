// Where the points of a group lie: its large islands, and the member with most others around it.
import { CountGrid, boundsOf } from "./counts.js";

const BINOMIAL = [0.5, 0.25];
const ISLAND_GAP = 0.03; // of half the map's width: islands are parted by about three times as much
const ISLAND_THIN = 0.05; // of the greatest density: below it islands are not joined
const ISLAND_SHARE = 0.12; // of the points of a group
const FEWEST_OF_ISLAND = 20;
const EXTENT_SAMPLE = 2000; // points from which the extent of a group is told
const EXTENT_SHARE = 0.9; // share of the points that the extent of a group holds

/**
 * The large islands of a group, larger ones first; the group itself if it has one at most. `extent` is the longer side
 * of the box around the group, `reach` that around its widest island.
 * @param {Float32Array} plane @param {Uint32Array} ids
 * @returns {{islands: Uint32Array[], extent: number, reach: number}}
 */
export function islandsOf(plane, ids) {
  const large = piecesOf(plane, ids),
    extent = extentOf(plane, ids),
    reach = large.length ? Math.max(...large.map((island) => extentOf(plane, island))) : extent;
  return { islands: large.length > 1 ? large : [ids], extent, reach };
}

/** @param {Float32Array} plane @param {Uint32Array} ids @returns {Uint32Array[]} */
function piecesOf(plane, ids) {
  if (ids.length < FEWEST_OF_ISLAND) return [];
  const least = Math.max(FEWEST_OF_ISLAND, ISLAND_SHARE * ids.length),
    cell = Math.max(ISLAND_GAP, extentOf(plane, ids) / Math.sqrt(ids.length)),
    grid = new CountGrid(plane, ids, cell, 1).smooth(BINOMIAL),
    densest = grid.values.reduce((a, b) => Math.max(a, b), 0),
    piece = connected(grid, ISLAND_THIN * densest),
    numbers = ids.map((i) => piece[grid.at(plane[3 * i], plane[3 * i + 1])]);
  /** @type {Map<number, number>} */
  const sizes = new Map();
  for (const p of numbers) sizes.set(p, (sizes.get(p) ?? 0) + 1);
  const large = [...sizes.entries()].filter(([p, size]) => p > 0 && size >= least).sort((a, b) => b[1] - a[1]);
  return large.map(([p]) => ids.filter((_, k) => numbers[k] === p));
}

/**
 * Numbers, from 1, of the connected cells above a bound; 0 for the others.
 * @param {CountGrid} grid @param {number} bound
 */
function connected(grid, bound) {
  const { values, wide, tall } = grid,
    piece = new Int32Array(values.length);
  let count = 0;
  for (let start = 0; start < values.length; start++) {
    if (piece[start] || values[start] <= bound) continue;
    count++;
    const queue = [start];
    piece[start] = count;
    for (let k = queue.pop(); k !== undefined; k = queue.pop()) {
      const column = k % wide,
        row = Math.floor(k / wide);
      for (let r = Math.max(0, row - 1); r <= Math.min(tall - 1, row + 1); r++)
        for (let c = Math.max(0, column - 1); c <= Math.min(wide - 1, column + 1); c++) {
          const other = r * wide + c;
          if (piece[other] || values[other] <= bound) continue;
          piece[other] = count;
          queue.push(other);
        }
    }
  }
  return piece;
}

/**
 * Longer side of the box that holds nine of ten points along each axis.
 * @param {Float32Array} plane @param {Uint32Array} ids
 */
function extentOf(plane, ids) {
  const every = Math.max(1, Math.floor(ids.length / EXTENT_SAMPLE)),
    size = Math.ceil(ids.length / every),
    values = new Float32Array(size);
  let longest = 0;
  for (const axis of [0, 1]) {
    for (let k = 0; k < size; k++) values[k] = plane[3 * ids[k * every] + axis];
    values.sort();
    const cut = Math.floor(((1 - EXTENT_SHARE) / 2) * (size - 1));
    longest = Math.max(longest, values[size - 1 - cut] - values[cut]);
  }
  return longest;
}

/** Smoothed counts of some points. */
export class Crowd {
  /**
   * @param {Float32Array} plane @param {Uint32Array} ids
   * @param {number} finest @param {number} widest bounds of the side of a cell
   */
  constructor(plane, ids, finest, widest) {
    const [left, bottom, right, top] = boundsOf(plane, ids),
      side = (1.5 * Math.max(right - left, top - bottom)) / Math.sqrt(ids.length);
    this.plane = plane;
    this.grid = new CountGrid(plane, ids, Math.max(finest, Math.min(widest, side)), 1).smooth(BINOMIAL);
    const { values } = this.grid;
    this.top = 0;
    for (let k = 1; k < values.length; k++) if (values[k] > values[this.top]) this.top = k;
    this.row = this.#densest(ids);
  }

  /** Share of the greatest density that a point has. @param {number} i */
  share(i) {
    const { grid, plane } = this;
    return grid.values[grid.at(plane[3 * i], plane[3 * i + 1])] / grid.values[this.top];
  }

  /** The point nearest to the mean of those in and around the densest cell. @param {Uint32Array} ids */
  #densest(ids) {
    const { grid, plane } = this,
      [mx, my] = grid.middle(this.top),
      reach = 1.5 * grid.cell;
    let [x, y, count] = [0, 0, 0];
    for (const i of ids)
      if (Math.abs(plane[3 * i] - mx) <= reach && Math.abs(plane[3 * i + 1] - my) <= reach) {
        x += plane[3 * i];
        y += plane[3 * i + 1];
        count++;
      }
    let best = ids[0],
      nearest = Infinity;
    for (const i of ids) {
      const away = (plane[3 * i] - x / count) ** 2 + (plane[3 * i + 1] - y / count) ** 2;
      if (away < nearest) [best, nearest] = [i, away];
    }
    return best;
  }

  /**
   * Middles of the cells that hold some of the points, nearest to a place first.
   * @param {number} x @param {number} y
   */
  placesNear(x, y) {
    const { grid } = this,
      found = [];
    for (let k = 0; k < grid.values.length; k++)
      if (grid.values[k] >= 0.2 * grid.values[this.top]) found.push(grid.middle(k));
    const away = (/** @type {number[]} */ [a, b]) => (a - x) ** 2 + (b - y) ** 2;
    return found.sort((p, q) => away(p) - away(q));
  }
}
