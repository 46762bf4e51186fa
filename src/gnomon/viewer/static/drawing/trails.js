// The ways of many points along a sequence, up to where they are.
import { tint } from "./theme.js";

/** @param {CanvasRenderingContext2D} g @param {number[][][]} ways pixels of each point; NaN breaks a line */
export function drawTrails(g, ways) {
  g.beginPath();
  for (const way of ways)
    way.forEach(([x, y], k) => {
      if (!Number.isFinite(x + y)) return;
      if (k && Number.isFinite(way[k - 1][0])) g.lineTo(x, y);
      else g.moveTo(x, y);
    });
  g.lineJoin = "round";
  g.lineWidth = 1.2;
  g.strokeStyle = tint("ink", 0.32);
  g.stroke();
}
