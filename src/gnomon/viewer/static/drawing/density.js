// How many of all points lie where, as a shade behind a sample of them; mirrors density.py.
import { h } from "../dom.js";
import { tint, tintBytes } from "./theme.js";

/**
 * Counts in cells, row by row, the first row with the smallest y; corners in units of the embedding.
 * @typedef {{counts: Uint32Array, width: number, height: number, low: number[], high: number[]}} Density
 */

const DARKEST = 0.42; // opacity of the fullest cell

export class DensityLayer {
  /** @param {Density} density @param {import("./cloud.js").Cloud} cloud @param {HTMLElement} above */
  constructor(density, cloud, above) {
    this.density = density;
    this.corners = [cloud.toPlane(density.low), cloud.toPlane(density.high)];
    this.canvas = h("canvas", { id: "density", "aria-hidden": "true" });
    above.before(this.canvas);
    this.ink = "";
  }

  /** The shade, one pixel a cell, in the ink of the present theme. */
  #shade() {
    const ink = tint("ink");
    if (this.ink === ink) return /** @type {HTMLCanvasElement} */ (this.image);
    const { counts, width, height } = this.density,
      image = h("canvas", { width, height }),
      g = image.getContext("2d"),
      cells = g.createImageData(width, height);
    const [red, green, blue] = tintBytes("ink");
    let most = 1;
    for (const count of counts) most = Math.max(most, count);
    for (let row = 0; row < height; row++)
      for (let column = 0; column < width; column++) {
        const alpha = (255 * DARKEST * Math.log1p(counts[row * width + column])) / Math.log1p(most);
        cells.data.set([red, green, blue, alpha], 4 * ((height - 1 - row) * width + column)); // y points up
      }
    g.putImageData(cells, 0, 0);
    this.ink = ink;
    return (this.image = image);
  }

  /** @param {import("./camera.js").Camera} camera */
  draw(camera) {
    const ratio = window.devicePixelRatio || 1,
      { canvas } = this;
    canvas.width = Math.round(camera.width * ratio);
    canvas.height = Math.round(camera.height * ratio);
    const g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    this.paint(g, camera);
  }

  /** @param {CanvasRenderingContext2D} g in pixels of the page @param {import("./camera.js").Camera} camera */
  paint(g, camera) {
    const [[left, bottom], [right, top]] = this.corners.map(([x, y]) => camera.toScreen(x, y));
    g.drawImage(this.#shade(), left, top, right - left, bottom - top);
  }
}
