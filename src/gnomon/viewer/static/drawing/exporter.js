// A picture of the map as it is: points, overlay, title and legend.
import { formatValue } from "../dom.js";
import { shorten } from "./overlay.js";
import { tint } from "./theme.js";

const FACE = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const MOST_NAMED = 24;

/**
 * @param {{points: HTMLCanvasElement, overlay: HTMLCanvasElement, title: string, subtitle: string, width: number,
 *   height: number, scale: number,
 *   legend: {name: string, color: string}[],
 *   ramp: {name: string, colors: Uint8Array, low: number, high: number, dates?: boolean}|null}}
 *     view
 * @returns {HTMLCanvasElement}
 */
export function composePicture({ points, overlay, title, subtitle, width, height, scale, legend, ramp }) {
  const side = legend.length || ramp ? 200 : 0,
    top = 64;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round((width + side) * scale);
  canvas.height = Math.round((height + top) * scale);
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  g.scale(scale, scale);
  g.fillStyle = tint("paper");
  g.fillRect(0, 0, width + side, height + top);
  g.fillStyle = tint("ink");
  g.textBaseline = "alphabetic";
  g.font = `600 20px ${FACE}`;
  g.fillText(shorten(title, 90), 24, 34);
  g.fillStyle = tint("soft");
  g.font = `13px ${FACE}`;
  g.fillText(shorten(subtitle, 120), 24, 54);
  g.drawImage(points, 0, top, width, height);
  g.drawImage(overlay, 0, top, width, height);
  if (ramp) drawRamp(g, ramp, width + 8, top + 24);
  else drawClasses(g, legend, width + 8, top + 24);
  return canvas;
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {{name: string, color: string}[]} legend
 * @param {number} x
 * @param {number} y
 */
function drawClasses(g, legend, x, y) {
  g.font = `13px ${FACE}`;
  g.textBaseline = "middle";
  g.textAlign = "left";
  legend.slice(0, MOST_NAMED).forEach(({ name, color }, k) => {
    g.beginPath();
    g.arc(x + 6, y + 22 * k, 5.5, 0, 2 * Math.PI);
    g.fillStyle = color;
    g.fill();
    g.fillStyle = tint("ink");
    g.fillText(shorten(name, 24), x + 20, y + 22 * k);
  });
  if (legend.length > MOST_NAMED) g.fillText(`and ${legend.length - MOST_NAMED} more`, x + 20, y + 22 * MOST_NAMED);
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {{name: string, colors: Uint8Array, low: number, high: number, dates?: boolean}} ramp
 * @param {number} x
 * @param {number} y
 */
function drawRamp(g, { name, colors, low, high, dates }, x, y) {
  g.font = `600 13px ${FACE}`;
  g.fillStyle = tint("ink");
  g.fillText(shorten(name, 24), x, y);
  for (let k = 0; k < 256; k++) {
    g.fillStyle = `rgb(${colors[3 * k]},${colors[3 * k + 1]},${colors[3 * k + 2]})`;
    g.fillRect(x + (k * 168) / 256, y + 12, 1.2, 12);
  }
  g.font = `12px ${FACE}`;
  g.fillStyle = tint("soft");
  g.fillText(formatValue(low, dates), x, y + 40);
  g.textAlign = "right";
  g.fillText(formatValue(high, dates), x + 168, y + 40);
  g.textAlign = "left";
}

/** @param {HTMLCanvasElement} canvas @param {string} name @returns {Promise<void>} */
export function savePicture(canvas, name) {
  return new Promise((resolve) =>
    canvas.toBlob((blob) => {
      const url = URL.createObjectURL(/** @type {Blob} */ (blob)),
        link = document.createElement("a");
      link.href = url;
      link.download = `${
        name
          .replace(/[^\p{L}\p{N}]+/gu, "-")
          .replace(/^-|-$/g, "")
          .toLowerCase() || "map"
      }.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
      resolve();
    }, "image/png"),
  );
}
