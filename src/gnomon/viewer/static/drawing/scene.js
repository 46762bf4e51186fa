// What is drawn: the points by a renderer, and on a second canvas what lies above them.
import { Camera } from "./camera.js";
import { rendererOn } from "./choice.js";
import { DensityLayer } from "./density.js";
import { byId } from "../dom.js";
import { drawGizmo } from "./gizmo.js";
import { Layers } from "./layers.js";
import { drawMove } from "./move.js";
import { drawExplanation, drawLasso, drawLine, drawRing, drawTrail } from "./overlay.js";
import { drawSpokes } from "./spokes.js";
import { drawTrails } from "./trails.js";

/**
 * What lies above the points.
 * @typedef {{focus: number, hovered: number, pinned: number, path: number[][], open: boolean, fence: number[][]|null,
 *   line: import("../questions/line.js").PointsNear|null, route: number[], trails: ArrayLike<number>,
 *   matches: Uint32Array|null, moved: number[]|null}} Above `path` in pixels, `fence` and `moved` in the plane
 */

const MOST_RINGS = 60;

export class Scene {
  /**
   * @param {import("../data/atlas.js").Atlas} atlas
   * @param {() => Above} above
   * @param {() => void} drawn called after each drawing
   */
  constructor(atlas, above, drawn) {
    this.atlas = atlas;
    this.above = above;
    this.drawn = drawn;
    /** Pixels at the bottom that lie below the sheet of a phone. */
    this.covered = 0;
    /** Boxes of what was drawn last of a point's explanation. @type {ReturnType<typeof drawExplanation>|null} */
    this.explained = null;
    this.camera = new Camera();
    this.renderer = rendererOn(byId("points"), atlas.cloud, this.camera);
    this.density = atlas.density ? new DensityLayer(atlas.density, atlas.cloud, byId("points")) : null;
    this.layers = new Layers(atlas, this.camera, this.renderer);
    const { clientWidth, clientHeight } = byId("stage");
    this.camera.resize(Math.max(1, clientWidth), Math.max(1, clientHeight));
    this.camera.frame(atlas.cloud.extent());
    new ResizeObserver(() => this.#measure()).observe(byId("stage"));
  }

  #measure() {
    const { clientWidth, clientHeight } = byId("stage");
    this.camera.resize(Math.max(1, clientWidth), Math.max(1, clientHeight));
    this.redraw();
  }

  /** Draw before the next frame. @param {boolean} [moving] points or camera move: draw fast now and fully at rest */
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
        this.density?.draw(this.camera);
        clearTimeout(this.rest);
        if (!complete || this.moving) this.rest = setTimeout(() => this.redraw(), 140);
      }
      this.#drawOverlay();
      this.drawn();
    });
  }

  #drawOverlay() {
    const canvas = byId("overlay"),
      ratio = window.devicePixelRatio || 1,
      { width, height } = this.camera;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    this.layers.update(Boolean(this.moving));
    this.paintAbove(g);
  }

  /** What lies behind the points, also on a picture to save. @param {CanvasRenderingContext2D} g */
  paintBelow(g) {
    this.density?.paint(g, this.camera);
  }

  /** Also on a picture to save. @param {CanvasRenderingContext2D} g */
  paintAbove(g) {
    const { camera, atlas } = this,
      { focus, hovered, pinned, path, open, fence, line, route, trails, matches, moved } = this.above();
    this.layers.drawBelow(g);
    if (path.length && open) drawLine(g, path, 0);
    else if (path.length) drawLasso(g, path, false);
    else if (line)
      drawLine(
        g,
        line.path.map(([x, y]) => camera.toScreen(x, y)),
        line.width * camera.scale,
      );
    else if (fence)
      drawLasso(
        g,
        fence.map(([x, y]) => camera.toScreen(x, y)),
        true,
      );
    g.globalAlpha = focus >= 0 && atlas.facts.explained ? 0.35 : 1; // the explanation of a point comes first
    this.layers.drawNames(g);
    g.globalAlpha = 1;
    if (matches && matches.length <= MOST_RINGS) for (const i of matches) this.#ring(g, i, false);
    if (trails.length)
      drawTrails(
        g,
        Array.from(trails, (i) => this.#way(i)),
      );
    if (pinned >= 0) this.#trail(g, pinned);
    if (route.length > 1) {
      drawTrail(
        g,
        route.map((i) => this.renderer.screenPos(i)),
      );
      this.#ring(g, route[route.length - 1], true);
    }
    this.explained = null;
    if (focus >= 0 && atlas.cloud.finite[focus]) {
      const explanation = atlas.facts.explain(focus),
        [x, y] = this.renderer.screenPos(focus);
      this.#spokes(g, focus, focus === pinned);
      if (explanation && !moved) {
        // (the arrow to where a changed row goes takes the place of those of the features)
        this.explained = drawExplanation(g, x, y, explanation, {
          cloud: atlas.cloud,
          typical: atlas.facts.typical,
          name: (f) => atlas.groups.name(f),
          width: camera.width,
          height: camera.height - this.covered,
        });
      }
      this.#ring(g, focus, true);
    }
    if (moved && atlas.cloud.finite[pinned])
      drawMove(g, this.renderer.screenPos(pinned), camera.toScreen(...atlas.cloud.toPlane(moved)));
    if (hovered >= 0 && hovered !== focus) this.#ring(g, hovered, false);
    if (atlas.cloud.d === 3) drawGizmo(g, atlas.cloud.rotation, camera.width, camera.height);
  }

  /** Lines to the neighbours of a point: to all of a pinned one. */
  #spokes(/** @type {CanvasRenderingContext2D} */ g, /** @type {number} */ i, /** @type {boolean} */ pinned) {
    const lists = this.atlas.neighborLists;
    if (!lists || (!lists.compares && !pinned)) return;
    const { kept, missing, wrong } = lists.changes(i),
      from = this.renderer.screenPos(i),
      ends = (/** @type {number[]} */ ids) => ids.map((j) => this.renderer.screenPos(j));
    if (pinned) drawSpokes(g, from, ends(kept), "kept");
    drawSpokes(g, from, ends(missing), "missing");
    drawSpokes(g, from, ends(wrong), "false");
  }

  /** The path of a point along the sequence. @param {CanvasRenderingContext2D} g @param {number} i */
  #trail(g, i) {
    const { atlas, camera } = this;
    if (atlas.frames)
      drawTrail(
        g,
        atlas.frames.path(i).map((p) => camera.toScreen(...atlas.cloud.toPlane(p))),
      );
  }

  /** The path of a point along the sequence so far, in pixels. @param {number} i */
  #way(i) {
    const { atlas, camera } = this,
      past = atlas.frames?.path(i).slice(0, Math.floor(atlas.position) + 1) ?? [];
    const way = past.map((p) => camera.toScreen(...atlas.cloud.toPlane(p)));
    return atlas.cloud.finite[i] ? [...way, this.renderer.screenPos(i)] : way;
  }

  /** @param {CanvasRenderingContext2D} g @param {number} i @param {boolean} strong */
  #ring(g, i, strong) {
    if (!this.atlas.cloud.finite[i]) return;
    const [x, y] = this.renderer.screenPos(i),
      c = this.renderer.colors;
    drawRing(g, x, y, Math.max(2.5, this.renderer.radius), `rgb(${c[3 * i]},${c[3 * i + 1]},${c[3 * i + 2]})`, strong);
  }
}
