// Drawn above the points: rings, lasso, and the explanation of a point at the point.
import { shortenName } from "./shorten.js";
import { tint } from "./theme.js";
import { WEAK_R2, flatEllipse } from "../questions/explanation.js";

const LONGEST = 82; // pixels of the longest arrow
const FONT = '600 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/**
 * @param {CanvasRenderingContext2D} g
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {string} [color]
 */
export function haloText(g, text, x, y, color = tint("ink")) {
  g.lineJoin = "round";
  g.lineWidth = 4;
  g.strokeStyle = tint("paper", 0.92);
  g.strokeText(text, x, y);
  g.fillStyle = color;
  g.fillText(text, x, y);
}

/** @param {number[][]} taken boxes @param {number[]} box [left, top, right, bottom] */
function claim(taken, box) {
  if (taken.some((b) => b[0] < box[2] && box[0] < b[2] && b[1] < box[3] && box[1] < b[3])) return false;
  taken.push(box);
  return true;
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {number} x
 * @param {number} y
 * @param {number} radius
 * @param {string} color
 * @param {boolean} strong
 */
export function drawRing(g, x, y, radius, color, strong) {
  g.beginPath();
  g.arc(x, y, radius + 3.5, 0, 2 * Math.PI);
  g.lineWidth = strong ? 5 : 4;
  g.strokeStyle = tint("paper", 0.95);
  g.stroke();
  g.lineWidth = strong ? 2.4 : 1.8;
  g.strokeStyle = tint("ink");
  g.stroke();
  g.beginPath();
  g.arc(x, y, radius + 1, 0, 2 * Math.PI);
  g.fillStyle = color;
  g.fill();
}

/**
 * A point's path through the frames of a sequence, with a dot at each.
 * @param {CanvasRenderingContext2D} g
 * @param {number[][]} places pixels; NaN breaks the line
 */
export function drawTrail(g, places) {
  const known = (/** @type {number[]} */ [x, y]) => Number.isFinite(x) && Number.isFinite(y);
  g.beginPath();
  places.forEach(([x, y], k) => {
    if (!known([x, y])) return;
    if (k && known(places[k - 1])) g.lineTo(x, y);
    else g.moveTo(x, y);
  });
  g.lineJoin = "round";
  for (const [width, color] of [
    [4.5, tint("paper", 0.85)],
    [1.6, tint("ink", 0.6)],
  ]) {
    g.lineWidth = /** @type {number} */ (width);
    g.strokeStyle = /** @type {string} */ (color);
    g.stroke();
  }
  for (const [x, y] of places.filter(known)) {
    g.beginPath();
    g.arc(x, y, 2.6, 0, 2 * Math.PI);
    g.fillStyle = tint("paper");
    g.fill();
    g.stroke();
  }
}

/** @param {CanvasRenderingContext2D} g @param {number[][]} path @param {boolean} closed */
export function drawLasso(g, path, closed) {
  if (path.length < 2) return;
  g.beginPath();
  path.forEach(([x, y], k) => (k ? g.lineTo(x, y) : g.moveTo(x, y)));
  if (closed) g.closePath();
  g.fillStyle = tint("accent", 0.08);
  g.fill();
  g.setLineDash([6, 4]);
  g.lineWidth = 1.6;
  g.strokeStyle = tint("accent");
  g.stroke();
  g.setLineDash([]);
}

/**
 * A line and how far beside it points count.
 * @param {CanvasRenderingContext2D} g
 * @param {number[][]} path pixels
 * @param {number} width pixels
 */
export function drawLine(g, path, width) {
  if (path.length < 2) return;
  const trace = () => {
    g.beginPath();
    path.forEach(([x, y], k) => (k ? g.lineTo(x, y) : g.moveTo(x, y)));
  };
  g.lineCap = "butt";
  g.lineJoin = "round";
  trace();
  g.lineWidth = 2 * width;
  g.strokeStyle = tint("accent", 0.1);
  g.stroke();
  const [x, y] = path[path.length - 2],
    [tx, ty] = path[path.length - 1];
  if (path.length > 2) {
    g.beginPath();
    path.slice(0, -1).forEach(([px, py], k) => (k ? g.lineTo(px, py) : g.moveTo(px, py)));
    g.lineWidth = 2;
    g.strokeStyle = tint("ink");
    g.stroke();
  }
  drawArrow(g, x, y, tx, ty, false);
}

/**
 * What is drawn of an explanation, in pixels from the point: the tips of its arrows, and its ellipse with half its
 * width and height.
 * @param {import("../questions/explanation.js").PointExplanation} explanation
 * @param {import("./cloud.js").Cloud} cloud
 * @param {number} typical
 * @returns {{tips: number[][], ellipse: {major: number, minor: number, angle: number}|null, half: number[]}}
 */
export function explanationShape(explanation, cloud, typical) {
  const arrows = explanation.top.map((row) => cloud.direction(row.arrow)),
    longest = Math.max(...arrows.map(([a, b]) => Math.hypot(a, b)), 1e-30),
    tips = arrows.map(([a, b]) => [(LONGEST * a) / longest, (-LONGEST * b) / longest]);
  if (!explanation.ellipse) return { tips, ellipse: null, half: [0, 0] };
  const flat = flatEllipse(explanation.ellipse, cloud.d, cloud.rotation),
    // A typical point gets a mean radius of 24 pixels; extremes are held within the readable range.
    factor = Math.min(24 / typical, 62 / Math.max(flat.major, 1e-30)),
    [major, minor] = [Math.max(3, flat.major * factor), Math.max(1.5, flat.minor * factor)],
    [cos, sin] = [Math.cos(flat.angle), Math.sin(flat.angle)];
  const half = [Math.hypot(major * cos, minor * sin), Math.hypot(major * sin, minor * cos)];
  return { tips, ellipse: { major, minor, angle: flat.angle }, half };
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {number} x @param {number} y pixels of the point
 * @param {import("../questions/explanation.js").PointExplanation} explanation
 * @param {{cloud: import("./cloud.js").Cloud, typical: number, name: (f: number) => string, width: number,
 *   height: number}} context
 * @returns {{ellipse: number[]|null, arrows: number[][], names: number[][]}} boxes of what was drawn
 */
export function drawExplanation(g, x, y, explanation, { cloud, typical, name, width, height }) {
  const weak = !(explanation.r2 >= WEAK_R2),
    { tips: offsets, ellipse, half } = explanationShape(explanation, cloud, typical),
    tips = offsets.map(([dx, dy]) => [x + dx, y + dy]);
  g.globalAlpha = weak ? 0.45 : 1;
  if (ellipse) drawEllipse(g, x, y, ellipse);
  tips.forEach(([tx, ty]) => drawArrow(g, x, y, tx, ty, weak));
  const names = nameArrows(
    g,
    x,
    y,
    tips,
    explanation.top.map((row) => name(row.feature)),
    width,
    height,
  );
  g.globalAlpha = 1;
  return {
    ellipse: ellipse && [x - half[0], y - half[1], x + half[0], y + half[1]],
    arrows: tips.map(([tx, ty]) => [Math.min(x, tx), Math.min(y, ty), Math.max(x, tx), Math.max(y, ty)]),
    names,
  };
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {number} x
 * @param {number} y
 * @param {{major: number, minor: number, angle: number}} ellipse pixels
 */
function drawEllipse(g, x, y, { major, minor, angle }) {
  g.beginPath();
  g.ellipse(x, y, major, minor, -angle, 0, 2 * Math.PI);
  g.fillStyle = tint("paper", 0.45);
  g.fill();
  g.lineWidth = 1.5;
  g.strokeStyle = tint("ink", 0.65);
  g.stroke();
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {number} x
 * @param {number} y
 * @param {number} tx
 * @param {number} ty
 * @param {boolean} weak
 */
export function drawArrow(g, x, y, tx, ty, weak) {
  const length = Math.hypot(tx - x, ty - y);
  if (length < 4) return;
  const ux = (tx - x) / length,
    uy = (ty - y) / length,
    head = Math.min(9, length / 2);
  const trace = () => {
    g.beginPath();
    g.moveTo(x, y);
    g.lineTo(tx - ux * head * 0.6, ty - uy * head * 0.6);
  };
  g.lineCap = "round";
  trace();
  g.lineWidth = 5;
  g.strokeStyle = tint("paper", 0.9);
  g.stroke();
  trace();
  g.lineWidth = 2;
  g.strokeStyle = tint("ink");
  if (weak) g.setLineDash([3, 4]);
  g.stroke();
  g.setLineDash([]);
  g.beginPath();
  g.moveTo(tx, ty);
  g.lineTo(tx - ux * head - uy * head * 0.5, ty - uy * head + ux * head * 0.5);
  g.lineTo(tx - ux * head + uy * head * 0.5, ty - uy * head - ux * head * 0.5);
  g.closePath();
  g.fillStyle = tint("ink");
  g.fill();
}

/** Names at the tips, the most important first; where there is no room the card's numbers must do. */
function nameArrows(
  /** @type {CanvasRenderingContext2D} */ g,
  /** @type {number} */ x,
  /** @type {number} */ y,
  /** @type {number[][]} */ tips,
  /** @type {string[]} */ names,
  /** @type {number} */ width,
  /** @type {number} */ height,
) {
  const taken = [[x - 12, y - 12, x + 12, y + 12]];
  g.font = FONT;
  g.textBaseline = "middle";
  tips.forEach(([tx, ty], k) => {
    const length = Math.hypot(tx - x, ty - y) || 1,
      right = tx >= x;
    if (length < 14) return;
    const text = shortenName(names[k], 26, names),
      wide = g.measureText(text).width,
      px = tx + (8 * (tx - x)) / length,
      py = ty + (10 * (ty - y)) / length;
    const left = right ? px : px - wide;
    if (left < 2 || left + wide > width - 2 || py < 8 || py > height - 8) return;
    if (!claim(taken, [left - 3, py - 9, left + wide + 3, py + 9])) return;
    g.textAlign = "left";
    haloText(g, text, left, py);
  });
  return taken.slice(1);
}
