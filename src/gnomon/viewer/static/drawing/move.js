// Where a changed row goes: an arrow from its point to the new place.
import { drawArrow } from "./overlay.js";
import { tint } from "./theme.js";

/** @param {CanvasRenderingContext2D} g @param {number[]} from pixels @param {number[]} to pixels */
export function drawMove(g, [x, y], [tx, ty]) {
  drawArrow(g, x, y, tx, ty, false);
  g.beginPath();
  g.arc(tx, ty, 6, 0, 2 * Math.PI);
  g.lineWidth = 2.5;
  g.strokeStyle = tint("accent");
  g.stroke();
}
