// Which renderer paints the points on a canvas: WebGL2 where there is some, else the processor.
import { h } from "../dom.js";
import { RasterRenderer } from "./raster.js";
import { WebGLRenderer } from "./webgl.js";

/**
 * @param {HTMLCanvasElement} canvas replaced in the page where WebGL2 is missing
 * @param {import("./cloud.js").Cloud} cloud
 * @param {import("./camera.js").Camera} camera
 * @param {boolean} [graphics] whether to try WebGL2
 */
export function rendererOn(canvas, cloud, camera, graphics = true) {
  if (graphics) {
    try {
      return new WebGLRenderer(canvas, cloud, camera);
    } catch {
      // painted by the processor below
    }
  }
  const fresh = h("canvas", { id: canvas.id || null, class: canvas.className || null, "aria-hidden": "true" });
  canvas.replaceWith(fresh); // a canvas keeps the first kind of context it was asked for
  return new RasterRenderer(fresh, cloud, camera);
}
