// Pictures of the points at their places, where one has zoomed in so far that there is room for them.
import { SHOWN } from "./renderer.js";
import { tint } from "./theme.js";

const SMALLEST_PICTURE = 28,
  LARGEST_PICTURE = 64; // pixels
const CROWDED = 6; // points for the room of one picture: beyond it there are none
const NEAR = 1.25; // zoom from which there are pictures
const MOST_PICTURES = 1000;
const SHEET_SIDE = 32; // pictures along a side of the sheet that keeps them unpacked, in 16 MB at most

export class Pictures {
  /**
   * @param {import("../data/atlas.js").Atlas} atlas
   * @param {import("./camera.js").Camera} camera
   * @param {import("./renderer.js").PointPicker} renderer
   */
  constructor(atlas, camera, renderer) {
    this.atlas = atlas;
    this.camera = camera;
    this.renderer = renderer;
    this.on = true;
    /** Points whose pictures are drawn. @type {number[]} */
    this.rows = [];
    this.size = 0;
    /** @type {PictureSheet|null} */
    this.sheet = null;
  }

  get possible() {
    return Boolean(this.atlas.header.images || this.atlas.header.pixels);
  }

  /** Choose the points whose pictures have room. */
  place() {
    const before = this.rows;
    this.rows = [];
    if (!this.on || !this.possible || !this.atlas.thumbnails.ready || this.camera.zoom < NEAR) return;
    const ids = this.#visible(),
      cells = new Set(ids.map((i) => this.#cell(i, SMALLEST_PICTURE))).size,
      crowd = ids.length / Math.max(1, cells);
    if (crowd > CROWDED) return;
    this.size = Math.min(LARGEST_PICTURE, SMALLEST_PICTURE * Math.sqrt(CROWDED / crowd));
    const seen = new Set(ids);
    /** @type {Map<number, number>} */
    const taken = new Map();
    for (const i of [...before.filter((row) => seen.has(row)), ...ids]) {
      if (this.rows.length >= MOST_PICTURES) break;
      if (this.atlas.thumbnails.has(i) && this.#claim(i, taken)) this.rows.push(i);
    }
  }

  /** While the map moves pictures go with their points; those that would cover another wait till all is at rest. */
  follow() {
    if (!this.on || this.camera.zoom < NEAR) this.rows = [];
    /** @type {Map<number, number>} */
    const taken = new Map();
    this.rows = this.rows.filter((i) => this.renderer.states[i] === SHOWN && this.#claim(i, taken));
  }

  /** Points in view, in the order of their rows. */
  #visible() {
    const { cloud } = this.atlas,
      { width, height } = this.camera,
      [left, top] = this.camera.toPlane(0, 0),
      [right, bottom] = this.camera.toPlane(width, height),
      { plane } = cloud,
      { states } = this.renderer;
    /** @type {number[]} */
    const ids = [];
    for (let i = 0; i < cloud.n; i++) {
      const x = plane[3 * i],
        y = plane[3 * i + 1];
      if (states[i] === SHOWN && x >= left && x <= right && y >= bottom && y <= top) ids.push(i);
    }
    return ids;
  }

  /** The cell of a point in a grid over the stage. @param {number} i @param {number} side pixels */
  #cell(i, side) {
    const [x, y] = this.renderer.screenPos(i);
    return 4096 * (Math.floor(y / side) + 1) + Math.floor(x / side) + 1;
  }

  /**
   * Take the room of a picture unless another has a part of it.
   * @param {number} i @param {Map<number, number>} taken by cell
   */
  #claim(i, taken) {
    const side = this.size + 2, // the frame
      [x, y] = this.renderer.screenPos(i),
      cell = this.#cell(i, side);
    for (const beside of [-4097, -4096, -4095, -1, 0, 1, 4095, 4096, 4097]) {
      const other = taken.get(cell + beside);
      if (other === undefined) continue;
      const [a, b] = this.renderer.screenPos(other);
      if (Math.abs(a - x) < side && Math.abs(b - y) < side) return false;
    }
    taken.set(cell, i);
    return true;
  }

  /** @param {CanvasRenderingContext2D} g */
  draw(g) {
    if (!this.rows.length) return;
    this.sheet ??= new PictureSheet(this.atlas.thumbnails);
    const places = this.sheet.places(this.rows);
    const { colors } = this.renderer,
      [height, width] = this.sheet.shape,
      wide = Math.min(1, width / height) * this.size,
      tall = Math.min(1, height / width) * this.size;
    g.imageSmoothingEnabled = true;
    g.lineWidth = 2;
    for (const [k, i] of this.rows.entries()) {
      const [x, y] = this.renderer.screenPos(i),
        [left, top] = [x - wide / 2, y - tall / 2];
      g.fillStyle = tint("paper");
      g.fillRect(left, top, wide, tall);
      this.sheet.draw(g, places[k], left, top, wide, tall);
      g.strokeStyle = `rgb(${colors[3 * i]},${colors[3 * i + 1]},${colors[3 * i + 2]})`;
      g.strokeRect(left, top, wide, tall);
    }
  }

  /** What is drawn, for tests. */
  state() {
    return { rows: this.rows.map((i) => this.atlas.rowOf(i)), size: this.rows.length ? this.size : 0 };
  }
}

/** The pictures drawn last, unpacked, in one canvas of fixed size. */
class PictureSheet {
  /** @param {import("./thumbnail.js").Thumbnails} thumbnails */
  constructor(thumbnails) {
    this.thumbnails = thumbnails;
    this.shape = thumbnails.shape;
    const [height, width] = this.shape,
      shrink = Math.min(1, LARGEST_PICTURE / Math.max(height, width));
    this.wide = Math.max(1, Math.round(width * shrink));
    this.tall = Math.max(1, Math.round(height * shrink));
    this.image = new ImageData(this.wide, this.tall);
    this.canvas = document.createElement("canvas");
    this.canvas.width = SHEET_SIDE * this.wide;
    this.canvas.height = SHEET_SIDE * this.tall;
    this.pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d", { willReadFrequently: true }));
    /** Places on the sheet by row, least recently drawn first. @type {Map<number, number>} */
    this.kept = new Map();
  }

  /**
   * Where the pictures of some points are. All are unpacked before any is drawn: a browser copies the sheet when it
   * changes after it was drawn from.
   * @param {number[]} rows no more than the sheet holds
   */
  places(rows) {
    for (const i of rows) {
      const place = this.kept.get(i);
      if (place === undefined || !this.kept.delete(i)) continue;
      this.kept.set(i, place);
    }
    return rows.map((i) => this.kept.get(i) ?? this.#add(i));
  }

  /** @param {number} i @returns {number} */
  #add(i) {
    let place = this.kept.size;
    if (place === SHEET_SIDE ** 2) {
      const [oldest] = this.kept.keys();
      place = /** @type {number} */ (this.kept.get(oldest));
      this.kept.delete(oldest);
    }
    this.kept.set(i, place);
    this.#unpack(i);
    this.pen.putImageData(this.image, ...this.#corner(place));
    return place;
  }

  /** Fill the image with a picture; a large one by the means of its blocks. @param {number} i */
  #unpack(i) {
    const { wide, tall, image } = this,
      [height, width] = this.shape,
      color = /** @type {import("./thumbnail.js").PixelColor} */ (this.thumbnails.colors(i));
    for (let v = 0; v < tall; v++)
      for (let u = 0; u < wide; u++) {
        const [first, last] = [Math.floor((u * width) / wide), Math.ceil(((u + 1) * width) / wide)],
          [upper, lower] = [Math.floor((v * height) / tall), Math.ceil(((v + 1) * height) / tall)],
          share = 1 / ((lower - upper) * (last - first));
        let [red, green, blue] = [0, 0, 0];
        for (let y = upper; y < lower; y++)
          for (let x = first; x < last; x++) {
            const shades = color(y * width + x);
            red += shades[0];
            green += shades[1];
            blue += shades[2];
          }
        image.data.set([red * share, green * share, blue * share, 255], 4 * (v * wide + u));
      }
  }

  /** @param {number} place @returns {[number, number]} */
  #corner(place) {
    return [(place % SHEET_SIDE) * this.wide, Math.floor(place / SHEET_SIDE) * this.tall];
  }

  /**
   * @param {CanvasRenderingContext2D} g @param {number} place on the sheet @param {number} left @param {number} top
   * @param {number} wide @param {number} tall
   */
  draw(g, place, left, top, wide, tall) {
    const [x, y] = this.#corner(place);
    g.drawImage(this.canvas, x, y, this.wide, this.tall, left, top, wide, tall);
  }
}
