// Small pictures: of a point, of the mean of many, of a difference.
import { h } from "../dom.js";
import { tintBytes } from "./theme.js";

/** @typedef {(pixel: number) => [number, number, number]} PixelColor */

/**
 * @param {number} height @param {number} width
 * @param {PixelColor} colorOf
 * @param {string} label
 * @returns {HTMLCanvasElement}
 */
function picture(height, width, colorOf, label) {
  const canvas = h("canvas", { class: "thumb", role: "img", "aria-label": label, width, height });
  canvas.style.aspectRatio = `${width} / ${height}`;
  const g = canvas.getContext("2d"),
    image = g.createImageData(width, height);
  for (let p = 0; p < width * height; p++) {
    const [red, green, blue] = colorOf(p);
    image.data.set([red, green, blue, 255], 4 * p);
  }
  g.putImageData(image, 0, 0);
  return canvas;
}

export class Thumbnails {
  /**
   * @param {import("../data/payload.js").Header} header
   * @param {import("../data/features.js").FeatureTable} table
   * @param {Record<string, any>} columns decoded group "images"; may be empty
   * @param {Uint32Array|null} [points] those whose pictures are in the page, ascending; null for all
   */
  constructor(header, table, columns, points = null) {
    this.header = header;
    this.table = table;
    this.stored = columns.images;
    this.rows = new Map(this.stored && points ? Array.from(points, (i, row) => [i, row]) : []);
    /** whether pictures are features, of which the page lacks some */
    this.partial = Boolean(header.pixels) && (!table.size || Boolean(points) || table.size < table.names.length);
    const { pixels } = header;
    /** whether the values in the page are all pixels of a picture */
    this.fromFeatures = Boolean(pixels && table.size === table.names.length && table.size > 0);
  }

  /** Whether the pictures have been unpacked. */
  get ready() {
    return Boolean(this.stored) || this.fromFeatures;
  }

  /** @param {number} i @returns {HTMLCanvasElement|null} */
  of(i) {
    const [height, width] = this.shape,
      color = this.colors(i);
    return color && picture(height, width, color, `Picture of row ${i}`);
  }

  /** Height and width of a point's picture. @returns {number[]} */
  get shape() {
    return this.header.images ?? this.header.pixels?.shape ?? [0, 0];
  }

  /** Whether the picture of a point is in the page. @param {number} i */
  has(i) {
    return this.stored ? !this.rows.size || this.rows.has(i) : this.fromFeatures && this.table.knows(i);
  }

  /** The colour of each pixel of a point's picture. @param {number} i @returns {PixelColor|null} */
  colors(i) {
    if (!this.has(i)) return null;
    if (!this.stored) return this.#grey((f) => this.table.value(i, f));
    const [height, width, channels] = /** @type {number[]} */ (this.header.images),
      start = (this.rows.get(i) ?? i) * height * width * channels,
      second = channels === 3 ? 1 : 0;
    return (p) => {
      const at = start + p * channels;
      return [this.stored[at], this.stored[at + second], this.stored[at + 2 * second]];
    };
  }

  /** A picture with a frame around some pixels. @param {HTMLCanvasElement} canvas @param {number[]} features */
  framed(canvas, features) {
    const { shape } = /** @type {any} */ (this.header.pixels),
      [height, width, channels] = shape;
    const frames = features.map((f) => {
      const p = Math.floor(f / channels),
        row = Math.floor(p / width),
        column = p % width;
      return h("b", {
        style: {
          left: `${(100 * (column - 0.25)) / width}%`,
          top: `${(100 * (row - 0.25)) / height}%`,
          width: `${150 / width}%`,
          height: `${150 / height}%`,
        },
      });
    });
    return h("div", { class: "framed" }, canvas, ...frames);
  }

  /** Values of the pixels as grey or colour. @param {(f: number) => number} value @param {string} label */
  fromValues(value, label) {
    const [height, width] = /** @type {any} */ (this.header.pixels).shape;
    return picture(height, width, this.#grey(value), label);
  }

  /** @param {(f: number) => number} value of a feature @returns {PixelColor} */
  #grey(value) {
    const { shape, low, high } = /** @type {any} */ (this.header.pixels),
      gain = 255 / (high - low || 1),
      grey = (/** @type {number} */ f) => (value(f) - low) * gain;
    return (p) => (shape[2] === 3 ? [grey(3 * p), grey(3 * p + 1), grey(3 * p + 2)] : [grey(p), grey(p), grey(p)]);
  }

  /**
   * Signed values: orange above zero, blue below, the colour of the page at zero.
   * @param {(f: number) => number} value @param {number} reach value of full colour @param {string} label
   */
  signed(value, reach, label) {
    const [height, width, channels] = /** @type {any} */ (this.header.pixels).shape,
      [zero, above, below] = [tintBytes("paper"), tintBytes("plus"), tintBytes("minus")];
    return picture(
      height,
      width,
      (p) => {
        let sum = 0;
        for (let c = 0; c < channels; c++) sum += value(p * channels + c) || 0;
        const t = Math.max(-1, Math.min(1, sum / channels / (reach || 1))),
          end = t > 0 ? above : below,
          a = Math.abs(t);
        const mixed = (/** @type {number} */ k) => zero[k] + a * (end[k] - zero[k]);
        return [mixed(0), mixed(1), mixed(2)];
      },
      label,
    );
  }
}
