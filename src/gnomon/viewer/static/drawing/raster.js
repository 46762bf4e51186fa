// Points painted by the processor, where WebGL2 is missing: stamps of a disc into an image.
import { EYE } from "./cloud.js";
import { PointPicker } from "./renderer.js";
import { tintBytes } from "./theme.js";

const SIZES = 8; // of the discs of a 3-D map
const DEEPEST = 1.8; // depth of the nearest point

export class RasterRenderer extends PointPicker {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("./cloud.js").Cloud} cloud
   * @param {import("./camera.js").Camera} camera
   */
  constructor(canvas, cloud, camera) {
    super(cloud, camera);
    this.kind = "raster";
    this.canvas = canvas;
    this.current = this.layers();
  }

  /** @param {Uint8Array} colors */
  setColor(colors) {
    this.colors = colors;
  }

  /** @param {Uint8Array} states */
  setFilter(states) {
    this.states = states;
    this.current = this.layers();
  }

  /** @param {boolean} [moving] */
  draw(moving = false) {
    const ratio = window.devicePixelRatio || 1;
    return this.#paint(this.canvas, ratio, moving);
  }

  /** @param {number} scale */
  exportImage(scale) {
    const copy = document.createElement("canvas");
    this.#paint(copy, scale, false);
    return copy;
  }

  /** @param {HTMLCanvasElement} canvas @param {number} ratio @param {boolean} moving */
  #paint(canvas, ratio, moving) {
    const width = Math.round(this.camera.width * ratio),
      height = Math.round(this.camera.height * ratio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const image = context.createImageData(width, height),
      stamp = discStamp(this.radius * ratio);
    const { dimmed, shown } = this.current;
    const share = moving && dimmed.length + shown.length > 500_000 ? 500_000 / (dimmed.length + shown.length) : 1;
    this.#stampRows(
      image,
      dimmed.subarray(0, dimmed.length * share),
      stamp,
      ratio,
      0.45 * this.opacity,
      tintBytes("mist"),
    );
    this.#stampRows(
      image,
      this.#byDepth(shown.subarray(0, shown.length * share)),
      stamp,
      ratio,
      this.cloud.d === 3 ? 1 : this.opacity,
      null,
    );
    context.putImageData(image, 0, 0);
    return share === 1;
  }

  /** Far points first, in 64 layers. @param {Uint32Array} rows */
  #byDepth(rows) {
    if (this.cloud.d === 2) return rows;
    const layer = (/** @type {number} */ i) => Math.floor(32 + (31 * this.cloud.plane[3 * i + 2]) / DEEPEST);
    return rows.slice().sort((a, b) => layer(a) - layer(b));
  }

  /** Discs of a 3-D map from far to near. @param {number} ratio */
  #sizes(ratio) {
    return Array.from({ length: SIZES }, (_, k) => {
      const depth = DEEPEST * ((2 * (k + 0.5)) / SIZES - 1);
      return discStamp((this.radius * ratio * EYE) / (EYE - depth));
    });
  }

  /**
   * @param {ImageData} image
   * @param {Uint32Array} rows
   * @param {number[][]} stamp
   * @param {number} ratio
   * @param {number} opacity
   * @param {number[]|null} color
   */
  #stampRows(image, rows, stamp, ratio, opacity, color) {
    const { data, width, height } = image,
      { colors } = this;
    const { plane, d } = this.cloud,
      sizes = d === 3 ? this.#sizes(ratio) : [],
      paper = tintBytes("paper");
    for (const i of rows) {
      const [px, py] = this.screenPos(i),
        cx = Math.round(px * ratio),
        cy = Math.round(py * ratio),
        depth = plane[3 * i + 2],
        fog = d === 3 ? 1 - Math.max(0.35, Math.min(1, 0.75 + 0.3 * depth)) : 0;
      const own = color ?? [colors[3 * i], colors[3 * i + 1], colors[3 * i + 2]],
        [red, green, blue] = fog > 0 ? own.map((v, c) => v + fog * (paper[c] - v)) : own;
      for (const [dx, dy, cover] of d === 3 ? sizes[nearStamp(depth)] : stamp) {
        const x = cx + dx,
          y = cy + dy;
        if (x < 0 || y < 0 || x >= width || y >= height) continue;
        const at = 4 * (y * width + x),
          source = cover * opacity,
          below = (data[at + 3] / 255) * (1 - source),
          alpha = source + below;
        data[at] = (red * source + data[at] * below) / alpha;
        data[at + 1] = (green * source + data[at + 1] * below) / alpha;
        data[at + 2] = (blue * source + data[at + 2] * below) / alpha;
        data[at + 3] = 255 * alpha;
      }
    }
  }
}

/** The number of the stamp for a depth, 0 for the farthest. @param {number} depth */
function nearStamp(depth) {
  return Math.max(0, Math.min(SIZES - 1, Math.floor(((depth + DEEPEST) / (2 * DEEPEST)) * SIZES)));
}

/** Offsets and cover of the pixels of a disc. @param {number} radius @returns {number[][]} */
function discStamp(radius) {
  const stamp = [],
    reach = Math.ceil(radius);
  for (let dy = -reach; dy <= reach; dy++)
    for (let dx = -reach; dx <= reach; dx++) {
      const cover = Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(dx, dy)));
      if (cover > 0) stamp.push([dx, dy, cover]);
    }
  return stamp;
}
