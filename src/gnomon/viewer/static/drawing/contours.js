// Lines around the densest half, 80 % and 95 % of the points that are shown.
import { CountGrid, boundsOf } from "../data/counts.js";
import { SHOWN } from "./renderer.js";
import { tint } from "./theme.js";

const MASSES = [0.5, 0.8, 0.95];
const CONTOUR_CELLS = 192; // of the longer side
const BANDWIDTH = 0.18; // of half the longer side, for one point; it falls with the sixth root of their number
const FEWEST_OF_CONTOURS = 10;
const QUICKLY = 100_000; // points whose lines are drawn while they move

/** @typedef {{mass: number, level: number, rings: number[][][]}} Contour `rings` in the plane, closed */

export class Contours {
  /** @param {import("../data/atlas.js").Atlas} atlas @param {import("./camera.js").Camera} camera */
  constructor(atlas, camera) {
    this.cloud = atlas.cloud;
    /** Of all points, where the page holds a sample. @type {import("./density.js").Density|null} */
    this.all = atlas.header.sequence ? null : atlas.density;
    this.camera = camera;
    this.on = false;
    /** @type {Contour[]} */
    this.found = [];
    this.version = -1;
    /** @type {Uint8Array} */
    this.states = new Uint8Array(0);
  }

  /** Which points are shown has changed. @param {Uint8Array} states */
  filter(states) {
    this.states = states;
    this.version = -1;
  }

  /** @param {boolean} moving many points wait till they rest */
  update(moving) {
    const { cloud, states } = this;
    if (!this.on || this.version === cloud.version) return;
    this.found = [];
    if (moving && cloud.n > QUICKLY) return;
    this.version = cloud.version;
    const ids = new Uint32Array(cloud.n);
    let count = 0;
    for (let i = 0; i < cloud.n; i++) if (states[i] === SHOWN && cloud.finite[i]) ids[count++] = i;
    if (this.all && cloud.d === 2 && count === cloud.n - cloud.lost.length)
      this.found = contoursOfAll(this.all, (place) => cloud.toPlane(place));
    else if (count >= FEWEST_OF_CONTOURS) this.found = contoursOf(cloud.plane, ids.subarray(0, count));
  }

  /** @param {CanvasRenderingContext2D} g */
  draw(g) {
    if (!this.on) return;
    g.lineJoin = "round";
    for (const { mass, rings } of this.found.toReversed()) {
      g.beginPath();
      for (const ring of rings) {
        ring.forEach(([x, y], k) => {
          const [px, py] = this.camera.toScreen(x, y);
          if (k) g.lineTo(px, py);
          else g.moveTo(px, py);
        });
        g.closePath();
      }
      const inner = 1 - MASSES.indexOf(mass) / MASSES.length;
      g.lineWidth = 2.4 + inner;
      g.strokeStyle = tint("paper", 0.7);
      g.stroke();
      g.lineWidth = 0.8 + 0.8 * inner;
      g.strokeStyle = tint("ink", 0.35 + 0.5 * inner);
      g.stroke();
    }
  }

  /** What is drawn, for tests. */
  state() {
    return this.on ? this.found.map(({ mass, rings }) => ({ mass, rings: rings.length })) : [];
  }
}

/**
 * Contours of all points from how many lie in each cell.
 * @param {import("./density.js").Density} all @param {(place: number[]) => [number, number]} toPlane
 */
function contoursOfAll({ counts, width, height, low, high }, toPlane) {
  const filled = Uint32Array.from(counts, (_, k) => k).filter((k) => counts[k] > 0),
    plane = new Float32Array(3 * filled.length);
  filled.forEach((k, i) => {
    const share = [((k % width) + 0.5) / width, (Math.floor(k / width) + 0.5) / height];
    plane.set(toPlane(share.map((s, c) => low[c] + s * (high[c] - low[c]))), 3 * i);
  });
  const weights = Float32Array.from(filled, (k) => counts[k]);
  return contoursOf(plane, Uint32Array.from(weights.keys()), weights);
}

/**
 * Lines at which the density of some points is that above which a share of them lies.
 * @param {Float32Array} plane @param {Uint32Array} ids
 * @param {Float32Array|null} [weights] of each point; 1 by default
 * @returns {Contour[]}
 */
function contoursOf(plane, ids, weights = null) {
  const [left, bottom, right, top] = boundsOf(plane, ids),
    side = Math.max(right - left, top - bottom, 1e-6),
    cell = side / CONTOUR_CELLS,
    total = weights ? weights.reduce((a, b) => a + b, 0) : ids.length,
    spread = Math.max(1.2, (BANDWIDTH * side) / 2 / cell / total ** (1 / 6)),
    half = bell(spread),
    grid = new CountGrid(plane, ids, cell, half.length + 1, weights).smooth(half),
    density = Float32Array.from(ids, (i) => grid.value(plane[3 * i], plane[3 * i + 1])),
    levels = weights ? weightedLevels(density, weights, total) : levelsOf(density.sort());
  return MASSES.map((mass, k) => ({ mass, level: levels[k], rings: ringsAt(grid, levels[k]) }));
}

/** Above which densities the shares of the points lie. @param {Float32Array} ascending */
function levelsOf(ascending) {
  return MASSES.map((mass) => ascending[Math.floor((1 - mass) * (ascending.length - 1))]);
}

/** @param {Float32Array} density @param {Float32Array} weights @param {number} total */
function weightedLevels(density, weights, total) {
  const order = Uint32Array.from(density.keys()).sort((a, b) => density[b] - density[a]);
  return MASSES.map((mass) => {
    let sum = 0;
    return density[order.find((i) => (sum += weights[i]) >= mass * total) ?? order[order.length - 1]];
  });
}

/** Weights of a Gaussian, from its middle outwards. @param {number} spread in cells */
function bell(spread) {
  const half = Array.from({ length: Math.ceil(3 * spread) + 1 }, (_, k) => Math.exp(-0.5 * (k / spread) ** 2)),
    sum = half[0] + 2 * half.slice(1).reduce((a, b) => a + b, 0);
  return half.map((w) => w / sum);
}

// Marching squares: from which edge of a square to which a line leads that has the dense corners on its left, by the
// corners that are dense (1 bottom left, 2 bottom right, 4 top right, 8 top left). The edges are 0 bottom, 1 right,
// 2 top and 3 left.
const SQUARE_STRETCHES = [
  [],
  [0, 3],
  [1, 0],
  [1, 3],
  [2, 1],
  [0, 3, 2, 1],
  [2, 0],
  [2, 3],
  [3, 2],
  [0, 2],
  [1, 0, 3, 2],
  [1, 2],
  [3, 1],
  [0, 1],
  [3, 0],
  [],
];
const SADDLE_STRETCHES = { 5: [0, 1, 2, 3], 10: [3, 0, 1, 2] }; // where the middle of a saddle is dense

/** Closed lines through the middles of the cells at one density. @param {CountGrid} grid @param {number} level */
function ringsAt({ values, wide, tall, left, bottom, cell }, level) {
  const next = new Int32Array(2 * values.length).fill(-1);
  for (let row = 0; row + 1 < tall; row++)
    for (let column = 0; column + 1 < wide; column++) {
      const k = row * wide + column,
        [a, b, c, d] = [values[k], values[k + 1], values[k + wide + 1], values[k + wide]],
        kind = Number(a >= level) + 2 * Number(b >= level) + 4 * Number(c >= level) + 8 * Number(d >= level);
      if (kind === 0 || kind === 15) continue;
      const saddle = (kind === 5 || kind === 10) && (a + b + c + d) / 4 >= level,
        edges = [2 * k, 2 * (k + 1) + 1, 2 * (k + wide), 2 * k + 1],
        stretches = saddle ? SADDLE_STRETCHES[kind] : SQUARE_STRETCHES[kind];
      for (let s = 0; s < stretches.length; s += 2) next[edges[stretches[s]]] = edges[stretches[s + 1]];
    }
  const crossing = (/** @type {number} */ edge) => {
    const k = edge >> 1,
      other = edge & 1 ? k + wide : k + 1,
      t = (level - values[k]) / (values[other] - values[k]),
      x = left + ((k % wide) + 0.5) * cell,
      y = bottom + (Math.floor(k / wide) + 0.5) * cell;
    return edge & 1 ? [x, y + t * cell] : [x + t * cell, y];
  };
  /** @type {number[][][]} */
  const rings = [];
  for (let start = 0; start < next.length; start++) {
    if (next[start] < 0) continue;
    /** @type {number[][]} */
    const ring = [];
    for (let edge = start; next[edge] >= 0;) {
      ring.push(crossing(edge));
      const to = next[edge];
      next[edge] = -1;
      edge = to;
    }
    rings.push(ring);
  }
  return rings;
}
