// What every renderer can do. The page talks to these eight calls only.
import { insidePolygon } from "./cloud.js";
import { theme } from "./theme.js";

/** Filter states of a point. */
export const HIDDEN = 0;
export const DIMMED = 1;
export const SHOWN = 2;

/**
 * States in which of the shown points one class stands out.
 * @param {Uint8Array} states @param {ArrayLike<number>} codes @param {number|null} k class; null leaves all as they are
 */
export function withOneClass(states, codes, k) {
  return k === null ? states : states.map((state, i) => (state === SHOWN && codes[i] !== k ? DIMMED : state));
}

/**
 * @typedef {object} Renderer
 * @property {(moving?: boolean) => boolean} draw paint the points; while moving a part may do; true if all were painted
 * @property {(colors: Uint8Array) => void} setColor three bytes a point
 * @property {(states: Uint8Array) => void} setFilter one state a point
 * @property {(px: number, py: number, radius: number) => number} pick nearest point that is not hidden, or -1
 * @property {(polygon: number[][]) => Uint32Array} lasso points shown inside a polygon of pixels, ascending
 * @property {(i: number) => [number, number]} screenPos pixels of a point
 * @property {() => {x: number, y: number, zoom: number}} view the camera as it is
 * @property {(scale: number) => HTMLCanvasElement} exportImage the points at a higher resolution
 */

/** The half of a renderer that needs no graphics. */
export class PointPicker {
  /** @param {import("./cloud.js").Cloud} cloud @param {import("./camera.js").Camera} camera */
  constructor(cloud, camera) {
    this.cloud = cloud;
    this.camera = camera;
    /** @type {Uint8Array} */
    this.states = new Uint8Array(cloud.n).fill(SHOWN);
    /** @type {Uint8Array} */
    this.colors = new Uint8Array(3 * cloud.n);
    this.order = shuffledRows(cloud.n);
  }

  /** @param {number} px @param {number} py @param {number} radius */
  pick(px, py, radius) {
    const [x, y] = this.camera.toPlane(px, py),
      reach = radius / this.camera.scale,
      plane = this.cloud.plane;
    let best = -1,
      nearest = reach * reach,
      depth = -Infinity;
    this.cloud.visit(x - reach, y - reach, x + reach, y + reach, (i) => {
      if (this.states[i] === HIDDEN) return;
      const dx = plane[3 * i] - x,
        dy = plane[3 * i + 1] - y,
        distance = dx * dx + dy * dy;
      if (distance < nearest || (distance === nearest && plane[3 * i + 2] > depth)) {
        nearest = distance;
        depth = plane[3 * i + 2];
        best = i;
      }
    });
    return best;
  }

  /** @param {number[][]} polygon */
  lasso(polygon) {
    const corners = polygon.map(([px, py]) => this.camera.toPlane(px, py));
    const xs = corners.map((c) => c[0]),
      ys = corners.map((c) => c[1]);
    const left = Math.min(...xs),
      right = Math.max(...xs),
      bottom = Math.min(...ys),
      top = Math.max(...ys);
    const inside = new Uint32Array(this.cloud.n);
    let count = 0;
    this.cloud.visit(left, bottom, right, top, (i) => {
      const x = this.cloud.plane[3 * i],
        y = this.cloud.plane[3 * i + 1];
      if (this.states[i] === HIDDEN || x < left || x > right || y < bottom || y > top) return;
      if (insidePolygon(x, y, corners)) inside[count++] = i;
    });
    return inside.slice(0, count).sort();
  }

  /** @param {number} i @returns {[number, number]} */
  screenPos(i) {
    return this.camera.toScreen(this.cloud.plane[3 * i], this.cloud.plane[3 * i + 1]);
  }

  view() {
    const { x, y, zoom } = this.camera;
    return { x, y, zoom };
  }

  /** Radius of a point in CSS pixels: fewer points are larger, and they grow slowly with the zoom. */
  get radius() {
    const { width, height, zoom } = this.camera;
    const room = Math.sqrt((width * height) / Math.max(1, this.cloud.n));
    return Math.min(9, Math.max(0.95, Math.min(4.6, room * 0.16)) * Math.max(0.8, zoom ** 0.35));
  }

  /** Of a point: fewer points are more solid, and on dark paper all are, so that dark colours are seen. */
  get opacity() {
    const { n } = this.cloud,
      light = n < 3000 ? 0.92 : n < 30_000 ? 0.8 : n < 200_000 ? 0.7 : 0.5;
    return theme() === "dark" ? (1 + light) / 2 : light;
  }

  /** Rows to draw, dimmed ones first so that the others lie above; random within each, so that a prefix is a sample. */
  layers() {
    const { order, states } = this,
      dimmed = new Uint32Array(order.length),
      shown = new Uint32Array(order.length);
    let paler = 0,
      bright = 0;
    for (const i of order) {
      if (states[i] === DIMMED) dimmed[paler++] = i;
      else if (states[i] === SHOWN) shown[bright++] = i;
    }
    return { dimmed: dimmed.subarray(0, paler), shown: shown.subarray(0, bright) };
  }
}

/** All rows in a random order that is the same each time. @param {number} n */
function shuffledRows(n) {
  const rows = Uint32Array.from({ length: n }, (_, i) => i);
  let state = 0x9e3779b9;
  for (let k = rows.length - 1; k > 0; k--) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const other = (state >>> 0) % (k + 1),
      kept = rows[k];
    rows[k] = rows[other];
    rows[other] = kept;
  }
  return rows;
}
