// A picture of the map as it is: points, what lies above them, title and legend; as PNG or SVG by the same calls.
import { formatValue } from "../dom.js";
import { shorten, shortenName } from "./shorten.js";
import { tint } from "./theme.js";
import { MOST_CIRCLES, VectorContext } from "./vector.js";

const FACE = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const MOST_NAMED = 24;
const LEGEND_SIDE = 200; // pixels of the legend
const TITLE_TOP = 64; // and of the title
const EMBEDDED_SCALE = 2; // pixels of embedded points to one of the page

/**
 * @typedef {{title: string, subtitle: string, legend: {name: string, color: string}[],
 *   ramp: {name: string, colors: Uint8Array, low: number, high: number, dates?: boolean}|null}} Words around a picture
 */

/**
 * Width and height of a picture, in pixels of the page.
 * @param {import("./scene.js").Scene} scene @param {Words} words
 * @returns {[number, number]}
 */
export function pictureSize(scene, { legend, ramp }) {
  const { width, height } = scene.camera;
  return [width + (legend.length || ramp ? LEGEND_SIDE : 0), height + TITLE_TOP];
}

/** Whether the points of a map are circles in an SVG. @param {import("./scene.js").Scene} scene */
export function drawsCircles(scene) {
  return scene.atlas.n <= MOST_CIRCLES && scene.atlas.cloud.d === 2;
}

/**
 * @param {import("./scene.js").Scene} scene @param {Words} words
 * @param {{scale: number, transparent: boolean}} options scale: pixels to one of the page
 * @returns {Promise<Blob>}
 */
export function pngOf(scene, words, { scale, transparent }) {
  const [width, height] = pictureSize(scene, words),
    canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  g.scale(scale, scale);
  const points = () => g.drawImage(scene.renderer.exportImage(scale), 0, 0, scene.camera.width, scene.camera.height);
  drawPicture(g, scene, words, transparent, points);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("the browser cannot make a picture of this size"))),
      "image/png",
    ),
  );
}

/**
 * Points as circles; above MOST_CIRCLES, and in 3-D, an embedded picture of them under vector text.
 * @param {import("./scene.js").Scene} scene @param {Words} words @param {{transparent: boolean}} options
 * @returns {Blob}
 */
export function svgOf(scene, words, { transparent }) {
  const g = new VectorContext(...pictureSize(scene, words));
  drawPicture(/** @type {any} */ (g), scene, words, transparent, () => {
    if (drawsCircles(scene)) g.drawPoints(scene.renderer);
    else g.drawImage(scene.renderer.exportImage(EMBEDDED_SCALE), 0, 0, scene.camera.width, scene.camera.height);
  });
  return new Blob([g.toText(words.title)], { type: "image/svg+xml" });
}

/**
 * @param {CanvasRenderingContext2D} g
 * @param {import("./scene.js").Scene} scene
 * @param {Words} words
 * @param {boolean} transparent
 * @param {() => void} drawPoints
 */
function drawPicture(g, scene, words, transparent, drawPoints) {
  const { title, subtitle, legend, ramp } = words,
    [wide, tall] = pictureSize(scene, words),
    { width, height } = scene.camera;
  if (!transparent) {
    g.fillStyle = tint("paper");
    g.fillRect(0, 0, wide, tall);
  }
  g.fillStyle = tint("ink");
  g.textBaseline = "alphabetic";
  g.font = `600 20px ${FACE}`;
  g.fillText(shorten(title, 90), 24, 34);
  g.fillStyle = tint("soft");
  g.font = `13px ${FACE}`;
  g.fillText(shorten(subtitle, 120), 24, 54);
  g.save();
  g.translate(0, TITLE_TOP);
  g.beginPath();
  g.rect(0, 0, width, height);
  g.clip();
  scene.paintBelow(g);
  drawPoints();
  scene.paintAbove(g);
  g.restore();
  if (ramp) drawRamp(g, ramp, width + 8, TITLE_TOP + 24);
  else drawClasses(g, legend, width + 8, TITLE_TOP + 24);
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
  const names = legend.map(({ name }) => name);
  legend.slice(0, MOST_NAMED).forEach(({ name, color }, k) => {
    g.beginPath();
    g.arc(x + 6, y + 22 * k, 5.5, 0, 2 * Math.PI);
    g.fillStyle = color;
    g.fill();
    g.fillStyle = tint("ink");
    g.fillText(shortenName(name, 24, names), x + 20, y + 22 * k);
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
  g.textBaseline = "middle";
  g.textAlign = "left";
  g.fillStyle = tint("ink");
  g.fillText(shortenName(name, 24), x, y);
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
