// One of several maps: its points, its marks, and which point is where.
import { tint } from "../drawing/theme.js";
import { h } from "../dom.js";

const REACH = 14, // pixels from the pointer within which a point is found
  MARGIN = 0.04;

export class Plane {
  /**
   * @param {string} name @param {string} caption @param {Float32Array} places x and y of each row, NaN without a place
   * @param {string[]} colors one for each row
   */
  constructor(name, caption, places, colors) {
    this.places = places;
    this.colors = colors;
    this.points = h("canvas", { "aria-hidden": true });
    this.marks = h("canvas", { role: "img", "aria-label": `Map by ${name}` });
    const plane = h("div", { class: "plane" }, this.points, this.marks);
    this.node = h("section", { class: "map" }, h("h2", {}, name), h("p", { class: "caption" }, caption), plane);
    this.size = 0;
    this.screen = new Float32Array(places.length);
  }

  /** Fit the map to the size the page gives it. @param {Uint8Array|null} chosen */
  resize(chosen) {
    const ratio = window.devicePixelRatio || 1;
    this.size = this.marks.clientWidth;
    for (const canvas of [this.points, this.marks]) {
      canvas.width = canvas.height = Math.round(this.size * ratio);
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    const low = [Infinity, Infinity],
      high = [-Infinity, -Infinity];
    this.places.forEach((value, i) => {
      if (Number.isNaN(value)) return;
      low[i % 2] = Math.min(low[i % 2], value);
      high[i % 2] = Math.max(high[i % 2], value);
    });
    const span = Math.max(high[0] - low[0], high[1] - low[1]) || 1,
      scale = (this.size * (1 - 2 * MARGIN)) / span,
      half = this.size / 2;
    for (let i = 0; i < this.places.length; i += 2) {
      this.screen[i] = half + (this.places[i] - (low[0] + high[0]) / 2) * scale;
      this.screen[i + 1] = half - (this.places[i + 1] - (low[1] + high[1]) / 2) * scale;
    }
    this.draw(chosen);
  }

  /** Draw all points, those that are not chosen pale. @param {Uint8Array|null} chosen */
  draw(chosen) {
    const pen = this.points.getContext("2d"),
      n = this.places.length / 2,
      side = n < 2000 ? 4.5 : n < 10000 ? 3 : 2;
    pen.clearRect(0, 0, this.size, this.size);
    for (const wanted of chosen ? [0, 1] : [1]) {
      pen.globalAlpha = wanted ? 0.85 : 0.18;
      for (let i = 0; i < n; i++) {
        if (chosen && chosen[i] !== wanted) continue;
        pen.fillStyle = wanted ? this.colors[i] : tint("mark");
        pen.fillRect(this.screen[2 * i] - side / 2, this.screen[2 * i + 1] - side / 2, side, side);
      }
    }
  }

  /** Mark one row, and the line that is being drawn. @param {number} row -1 for none @param {number[][]} path */
  mark(row, path) {
    const pen = this.marks.getContext("2d");
    pen.clearRect(0, 0, this.size, this.size);
    if (path.length > 1) {
      pen.beginPath();
      path.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.closePath();
      pen.fillStyle = "rgb(36 92 140 / 10%)";
      pen.fill();
      pen.strokeStyle = tint("accent");
      pen.stroke();
    }
    if (row < 0 || Number.isNaN(this.places[2 * row])) return;
    pen.beginPath();
    pen.arc(this.screen[2 * row], this.screen[2 * row + 1], 7, 0, 2 * Math.PI);
    pen.fillStyle = this.colors[row];
    pen.fill();
    pen.lineWidth = 2;
    pen.strokeStyle = tint("ink");
    pen.stroke();
  }

  /** The nearest row within reach, or -1. @param {number} x @param {number} y */
  rowAt(x, y) {
    let best = REACH * REACH,
      row = -1;
    for (let i = 0; i < this.screen.length; i += 2) {
      const distance = (this.screen[i] - x) ** 2 + (this.screen[i + 1] - y) ** 2;
      if (distance < best) [best, row] = [distance, i / 2];
    }
    return row;
  }

  /** 1 for each row inside a line. @param {number[][]} path */
  inside(path) {
    const found = new Uint8Array(this.screen.length / 2);
    for (let i = 0; i < found.length; i++) {
      const x = this.screen[2 * i],
        y = this.screen[2 * i + 1];
      path.forEach(([ax, ay], k) => {
        const [bx, by] = path[(k + 1) % path.length];
        if (ay > y !== by > y && x < ax + ((y - ay) * (bx - ax)) / (by - ay)) found[i] ^= 1;
      });
    }
    return found;
  }
}
