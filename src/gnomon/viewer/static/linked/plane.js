// One of several maps: points by the renderer of the single map, and above them what is marked in all maps.
import { Camera } from "../drawing/camera.js";
import { rendererOn } from "../drawing/choice.js";
import { Cloud } from "../drawing/cloud.js";
import { h } from "../dom.js";
import { drawGizmo } from "../drawing/gizmo.js";
import { islandsOf } from "../data/islands.js";
import { Labels } from "../drawing/labels.js";
import { drawLasso, drawRing, drawTrail } from "../drawing/overlay.js";
import { drawSpokes } from "../drawing/spokes.js";

/**
 * What lies above the points of one map; rows by number, `path` in pixels, `fence` in the plane, `ghost` a position of
 * the map, `names` with the rows that each stands for.
 * @typedef {{rings: {row: number, strong: boolean}[], ghost: number[]|null, ghostFirst: boolean, row: number,
 *   missing: number[], wrong: number[], path: number[][], fence: number[][]|null,
 *   names: {name: string, count: number, ids: number[]}[]}} Marks
 */

const PLANE_MARGIN = 22; // pixels around a map

export class Plane {
  /**
   * @param {{name: string, caption: string, d: number}} map
   * @param {Float32Array} positions d numbers a row, NaN without a place
   * @param {boolean} graphics whether to try WebGL2
   * @param {() => Marks} marks
   */
  constructor({ name, caption, d }, positions, graphics, marks) {
    this.positions = positions;
    this.marks = marks;
    /** A rotation of the map, d x d, or null. @type {number[][]|null} */
    this.turn = null;
    this.cloud = new Cloud(positions, d);
    this.camera = new Camera();
    this.camera.margin = PLANE_MARGIN;
    this.labels = new Labels(this.cloud, this.camera);
    /** Groups that are named. @type {Marks["names"]} */
    this.named = [];
    this.version = -1;
    const keys = d === 3 ? ", with Alt they turn it" : "",
      points = h("canvas", { class: "points", "aria-hidden": "true" });
    this.overlay = h("canvas", {
      class: "overlay",
      tabindex: 0,
      role: "img",
      "aria-label": `Map ${name}: arrow keys move it${keys}, + and − zoom, 0 shows all of it`,
    });
    this.stage = h("div", { class: "plane" }, points, this.overlay);
    this.renderer = rendererOn(points, this.cloud, this.camera, graphics);
    this.node = h("section", { class: "map" }, h("h2", {}, name), h("p", { class: "caption" }, caption), this.stage);
    this.camera.frame(this.cloud.extent());
    new ResizeObserver(() => this.resize()).observe(this.stage);
  }

  resize() {
    this.camera.resize(Math.max(1, this.stage.clientWidth), Math.max(1, this.stage.clientHeight));
    this.redraw();
  }

  /** Rotate the map in its plane, or leave it as it was given. @param {number[][]|null} turn */
  setTurn(turn) {
    this.turn = turn;
    const { d, n } = this.cloud,
      turned = turn ? new Float32Array(d * n) : this.positions;
    for (let i = 0; turn && i < n; i++)
      turned.set(this.turned(Array.from(this.positions.subarray(d * i, d * i + d))), d * i);
    this.cloud.place(turned);
    this.camera.frame(this.cloud.extent());
    this.redraw();
  }

  /** Where the turned map has a position of the given one. @param {number[]} position */
  turned(position) {
    const center = /** @type {number[]} */ (this.cloud.center),
      { turn } = this;
    if (!turn) return position;
    return position.map((_, c) =>
      position.reduce((sum, value, b) => sum + (value - center[b]) * turn[b][c], center[c]),
    );
  }

  /** The position of a row as the map was given. @param {number} i */
  positionOf(i) {
    const { d } = this.cloud;
    return Array.from(this.positions.subarray(d * i, d * i + d));
  }

  /** Draw before the next frame. @param {boolean} [moving] */
  redraw(moving = false) {
    this.moving = moving;
    this.dirty = true;
    this.refresh();
  }

  /** Draw what lies above the points before the next frame. */
  refresh() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.dirty) {
        this.dirty = false;
        const complete = this.renderer.draw(this.moving);
        clearTimeout(this.rest);
        if (!complete) this.rest = setTimeout(() => this.redraw(), 140);
      }
      this.#placeNames();
      this.paintAbove(this.overlay, window.devicePixelRatio || 1);
    });
  }

  /** Names follow the moving map, and are placed anew where it rests. */
  #placeNames() {
    const { names } = this.marks(),
      { finite, plane } = this.cloud,
      version = this.cloud.version;
    if (this.moving) {
      this.labels.follow();
      return;
    }
    if (names !== this.named || version !== this.version)
      this.labels.name(
        names.map(({ name, count, ids }) => {
          const placed = Uint32Array.from(ids.filter((i) => finite[i]));
          return { name, caption: "", level: 0, count, ...islandsOf(plane, placed), inner: [] };
        }),
      );
    this.named = names;
    this.version = version;
    this.labels.place();
  }

  /** @param {HTMLCanvasElement} canvas @param {number} ratio pixels of the canvas per pixel of the page */
  paintAbove(canvas, ratio) {
    const { width, height } = this.camera,
      { rings, ghost, ghostFirst, row, missing, wrong, path, fence } = this.marks(),
      at = (/** @type {number} */ i) => this.renderer.screenPos(i),
      placed = (/** @type {number} */ i) => i >= 0 && this.cloud.finite[i] === 1;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    const corners = path.length ? path : (fence ?? []).map(([x, y]) => this.camera.toScreen(x, y));
    drawLasso(g, corners, !path.length);
    g.globalAlpha = row >= 0 ? 0.35 : 1;
    this.labels.draw(g, false);
    g.globalAlpha = 1;
    if (placed(row)) {
      drawSpokes(g, at(row), missing.filter(placed).map(at), "missing");
      drawSpokes(g, at(row), wrong.filter(placed).map(at), "false");
      if (ghost) {
        const end = this.camera.toScreen(...this.cloud.toPlane(this.turned(ghost)));
        drawTrail(g, ghostFirst ? [end, at(row)] : [at(row), end]);
      }
    }
    for (const ring of rings) if (placed(ring.row)) this.#ring(g, ring.row, ring.strong);
    if (this.cloud.d === 3) drawGizmo(g, this.cloud.rotation, width, height);
  }

  /** @param {CanvasRenderingContext2D} g @param {number} i @param {boolean} strong */
  #ring(g, i, strong) {
    const [x, y] = this.renderer.screenPos(i),
      c = this.renderer.colors;
    drawRing(g, x, y, Math.max(2.5, this.renderer.radius), `rgb(${c[3 * i]},${c[3 * i + 1]},${c[3 * i + 2]})`, strong);
  }
}
