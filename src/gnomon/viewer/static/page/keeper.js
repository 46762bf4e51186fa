// Moves the camera as little as brings a pinned point, its explanation and its path into the part of the map one sees.
import { stillness } from "./stillness.js";

const EASE = 280; // milliseconds
const EDGE = 10; // pixels between what is kept in view and the edge of the view
const SMALLEST = 0.3; // zoom

/** @typedef {{x: number, y: number, zoom: number}} View */

export class Keeper {
  /**
   * @param {import("../drawing/scene.js").Scene} scene
   * @param {() => void} rest called when the camera has arrived
   */
  constructor(scene, rest) {
    this.scene = scene;
    this.rest = rest;
    this.moving = false;
  }

  /**
   * Bring points of the plane into view, and pixels around the first of them.
   * @param {number[][]} places in the plane, the point first
   * @param {number[]} around [left, top, right, bottom] in pixels from the point
   */
  keep(places, around) {
    const { camera, covered } = this.scene,
      view = [EDGE, EDGE, camera.width - EDGE, camera.height - covered - EDGE];
    if (view[3] - view[1] < 60) return; // the sheet covers the map
    const goal = viewOf(camera, places, around, view);
    if (goal.x !== camera.x || goal.y !== camera.y || goal.zoom !== camera.zoom) this.#ease(goal);
  }

  /** @param {View} goal */
  #ease(goal) {
    const { scene } = this,
      { camera } = scene,
      from = { x: camera.x, y: camera.y, zoom: camera.zoom },
      start = performance.now(),
      run = (this.run = {});
    let last = { ...from };
    const step = (/** @type {number} */ now) => {
      const handled = camera.x !== last.x || camera.y !== last.y || camera.zoom !== last.zoom;
      if (this.run !== run) return;
      const t = stillness() ? 1 : Math.max(0, Math.min(1, (now - start) / EASE)),
        share = t * t * (3 - 2 * t);
      if (t < 1 && !handled) {
        camera.x = from.x + share * (goal.x - from.x);
        camera.y = from.y + share * (goal.y - from.y);
        camera.zoom = from.zoom * (goal.zoom / from.zoom) ** share;
        last = { x: camera.x, y: camera.y, zoom: camera.zoom };
        scene.redraw(true);
        requestAnimationFrame(step);
        return;
      }
      if (!handled) Object.assign(camera, goal); // a hand on the map has the last word
      this.moving = false;
      this.rest();
    };
    this.moving = true;
    step(start);
  }
}

/**
 * The view nearest to the present one that holds all places.
 * @param {import("../drawing/camera.js").Camera} camera
 * @param {number[][]} places @param {number[]} around @param {number[]} view pixels that are seen
 * @returns {View}
 */
function viewOf(camera, places, around, view) {
  const [wide, tall] = [view[2] - view[0], view[3] - view[1]];
  let zoom = camera.zoom,
    box = boxOf(camera, places, around, zoom);
  while (zoom > SMALLEST && (box[2] - box[0] > wide || box[3] - box[1] > tall) && places.length > 1) {
    zoom = Math.max(SMALLEST, zoom * 0.96);
    box = boxOf(camera, places, around, zoom);
  }
  const shift = (
    /** @type {number} */ low,
    /** @type {number} */ high,
    /** @type {number} */ from,
    /** @type {number} */ to,
  ) => (high - low > to - from ? (from + to - low - high) / 2 : low < from ? from - low : high > to ? to - high : 0);
  const scale = camera.fit * zoom;
  return {
    x: camera.x - shift(box[0], box[2], view[0], view[2]) / scale,
    y: camera.y + shift(box[1], box[3], view[1], view[3]) / scale,
    zoom,
  };
}

/**
 * Pixels that the places take at a zoom, the centre of the view staying.
 * @param {import("../drawing/camera.js").Camera} camera
 * @param {number[][]} places @param {number[]} around @param {number} zoom
 */
function boxOf(camera, places, around, zoom) {
  const scale = camera.fit * zoom,
    pixels = places.map(([x, y]) => [
      camera.width / 2 + (x - camera.x) * scale,
      camera.height / 2 - (y - camera.y) * scale,
    ]);
  const [x, y] = pixels[0],
    box = [x + around[0], y + around[1], x + around[2], y + around[3]];
  for (const [px, py] of pixels.slice(1)) {
    box[0] = Math.min(box[0], px - EDGE);
    box[1] = Math.min(box[1], py - EDGE);
    box[2] = Math.max(box[2], px + EDGE);
    box[3] = Math.max(box[3], py + EDGE);
  }
  return box;
}
