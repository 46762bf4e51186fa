// The axes of a 3-D map in a corner of it, as they are seen.
import { tint } from "./theme.js";

const LENGTH = 26, // pixels of an axis that lies in the plane of the screen
  CORNER = 44; // from the edges to where the axes meet

/**
 * @param {CanvasRenderingContext2D} g
 * @param {number[]} R rotation, 3 x 3, row-major: column c is the direction of component c + 1
 * @param {number} width @param {number} height of the map, in pixels
 */
export function drawGizmo(g, R, width, height) {
  const [x, y] = [width - CORNER, height - CORNER],
    far = [0, 1, 2].sort((a, b) => R[6 + a] - R[6 + b]); // the nearest axis is drawn last
  g.save();
  g.lineCap = "round";
  g.font = "600 11px system-ui, sans-serif";
  g.textAlign = "center";
  g.textBaseline = "middle";
  for (const c of far) {
    const [dx, dy] = [LENGTH * R[c], -LENGTH * R[3 + c]],
      color = tint(R[6 + c] < -0.2 ? "mark" : "ink");
    g.strokeStyle = color;
    g.lineWidth = 2;
    g.beginPath();
    g.moveTo(x, y);
    g.lineTo(x + dx, y + dy);
    g.stroke();
    g.beginPath();
    g.arc(x + 1.35 * dx, y + 1.35 * dy, 7, 0, 2 * Math.PI);
    g.fillStyle = tint("paper");
    g.fill();
    g.fillStyle = color;
    g.fillText(String(c + 1), x + 1.35 * dx, y + 1.35 * dy);
  }
  g.restore();
}
