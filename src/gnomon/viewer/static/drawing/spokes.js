// Lines from a point to its neighbours. Their kind shows in the line, in the mark at its end and in colour.
import { tint } from "./theme.js";

/**
 * @typedef {"kept"|"missing"|"false"} NeighborKind kept: near in the data and on the map; missing: near in the data
 *   only; false: near on the map only
 */

/** Dashes of the lines. @type {Record<NeighborKind, number[]>} */
const SPOKE_DASHES = { kept: [1, 3], missing: [5, 4], false: [] };
const MARK_SIZE = 4; // of a mark, in pixels

/** @param {NeighborKind} kind */
function colorOf(kind) {
  return tint(kind === "kept" ? "soft" : kind);
}

/**
 * The mark of a kind: a dot, a ring or a diamond.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {NeighborKind} kind
 */
function drawMark(g, x, y, kind) {
  g.beginPath();
  if (kind === "false") {
    g.moveTo(x - MARK_SIZE, y);
    g.lineTo(x, y - MARK_SIZE);
    g.lineTo(x + MARK_SIZE, y);
    g.lineTo(x, y + MARK_SIZE);
    g.closePath();
  } else g.arc(x, y, kind === "kept" ? 0.6 * MARK_SIZE : 0.85 * MARK_SIZE, 0, 2 * Math.PI);
  g.fillStyle = kind === "missing" ? tint("paper") : colorOf(kind);
  g.fill();
  g.lineWidth = 1.6;
  g.strokeStyle = colorOf(kind);
  g.stroke();
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {number[]} from pixels
 * @param {number[][]} ends pixels
 * @param {NeighborKind} kind
 */
export function drawSpokes(g, from, ends, kind) {
  g.beginPath();
  for (const [x, y] of ends) {
    g.moveTo(from[0], from[1]);
    g.lineTo(x, y);
  }
  g.lineCap = "butt";
  g.lineWidth = 3.5;
  g.strokeStyle = tint("paper", 0.7);
  g.stroke();
  g.setLineDash(SPOKE_DASHES[kind]);
  g.lineWidth = 1.3;
  g.strokeStyle = colorOf(kind);
  g.stroke();
  g.setLineDash([]);
  for (const [x, y] of ends) drawMark(g, x, y, kind);
}

/** The mark and the line of a kind, for a list. @param {NeighborKind} kind @returns {HTMLCanvasElement} */
export function spokeSample(kind) {
  const canvas = document.createElement("canvas"),
    [width, height, ratio] = [34, 12, 2];
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.className = "spoke";
  canvas.setAttribute("aria-hidden", "true");
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  g.scale(ratio, ratio);
  drawSpokes(g, [1, height / 2], [[width - 6, height / 2]], kind);
  return canvas;
}
