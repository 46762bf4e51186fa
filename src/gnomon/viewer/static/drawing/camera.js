// Pan and zoom: plane units to pixels of the page.

const MIN_ZOOM = 0.3,
  MAX_ZOOM = 4000;

export class Camera {
  constructor() {
    this.x = 0;
    this.y = 0;
    this.zoom = 1;
    this.width = 1;
    this.height = 1;
    this.fit = 1; // pixels per plane unit at zoom 1
    this.home = [0, 0];
    this.box = [-1, -1, 1, 1];
    this.margin = 64; // pixels around the start view, less in a small one
  }

  /** @param {number} width @param {number} height in CSS pixels */
  resize(width, height) {
    this.width = width;
    this.height = height;
    this.#measure();
  }

  /** What the start view shows. @param {number[]} box [left, bottom, right, top] */
  frame(box) {
    this.box = box;
    this.home = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
    this.#measure();
    this.reset();
  }

  /** The points have moved: a view of all of them goes with them, any other one stays. @param {number[]} box */
  follow(box) {
    const scale = this.scale,
      atHome = this.zoom === 1 && this.x === this.home[0] && this.y === this.home[1],
      [x, y] = [this.x, this.y];
    this.frame(box);
    if (!atHome) [this.x, this.y, this.zoom] = [x, y, scale / this.fit];
  }

  #measure() {
    const [left, bottom, right, top] = this.box,
      margin = Math.min(this.margin, this.width / 8, this.height / 8);
    const wide = Math.max(right - left, 1e-6),
      tall = Math.max(top - bottom, 1e-6);
    this.fit = Math.min((this.width - 2 * margin) / wide, (this.height - 2 * margin) / tall);
  }

  reset() {
    [this.x, this.y] = this.home;
    this.zoom = 1;
  }

  /** Pixels per plane unit. */
  get scale() {
    return this.fit * this.zoom;
  }

  /** @param {number} x @param {number} y @returns {[number, number]} */
  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  /** @param {number} px @param {number} py @returns {[number, number]} */
  toPlane(px, py) {
    return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale];
  }

  /** @param {number} dx @param {number} dy pixels */
  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
  }

  /** Zoom so that the point under (px, py) stays there. @param {number} factor @param {number} px @param {number} py */
  zoomAt(factor, px, py) {
    const [x, y] = this.toPlane(px, py);
    this.zoom = Math.max(MIN_ZOOM, Math.min(MAX_ZOOM, this.zoom * factor));
    const [a, b] = this.toPlane(px, py);
    this.x += x - a;
    this.y += y - b;
  }

  /** Show a box of the plane. @param {number[]} box */
  show(box) {
    this.x = (box[0] + box[2]) / 2;
    this.y = (box[1] + box[3]) / 2;
    const wide = Math.max(box[2] - box[0], 0.02),
      tall = Math.max(box[3] - box[1], 0.02);
    this.zoom = Math.max(
      MIN_ZOOM,
      Math.min(MAX_ZOOM, (0.7 * Math.min(this.width / wide, this.height / tall)) / this.fit),
    );
  }
}

/**
 * Rotation by drag, about the screen's axes, so that no side is out of reach.
 * @param {number[]} R @param {number} dx @param {number} dy pixels
 */
export function orbit(R, dx, dy) {
  const a = dx * 0.008,
    b = dy * 0.008;
  const ca = Math.cos(a),
    sa = Math.sin(a),
    cb = Math.cos(b),
    sb = Math.sin(b);
  const rotation = [ca, 0, sa, sb * sa, cb, -sb * ca, -cb * sa, sb, cb * ca];
  const out = new Array(9).fill(0);
  for (let i = 0; i < 3; i++)
    for (let j = 0; j < 3; j++) for (let k = 0; k < 3; k++) out[3 * i + j] += rotation[3 * i + k] * R[3 * k + j];
  return orthonormal(out);
}

/** Undo what rounding did to a rotation, so that ten thousand steps leave it one. @param {number[]} R */
function orthonormal(R) {
  const x = R.slice(0, 3),
    y = R.slice(3, 6),
    long = Math.hypot(...x);
  for (let c = 0; c < 3; c++) x[c] /= long;
  const along = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
  for (let c = 0; c < 3; c++) y[c] -= along * x[c];
  const tall = Math.hypot(...y);
  for (let c = 0; c < 3; c++) y[c] /= tall;
  return [...x, ...y, x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
}
