// All maps of the page as one picture.
import { shorten } from "../drawing/shorten.js";
import { fileName, saveFile } from "../data/handout.js";
import { tint } from "../drawing/theme.js";

const SHARP = 2, // pixels of the picture per pixel of the page
  TITLE = 56,
  NAME = 26,
  GAP = 16;

/** @param {import("./linked.js").Linked} linked */
export function saveAll({ planes, header }) {
  const { title } = document,
    perRow = Math.min(planes.length, Math.ceil(Math.sqrt(planes.length * 1.5))),
    width = Math.max(...planes.map(({ camera }) => camera.width)),
    height = Math.max(...planes.map(({ camera }) => camera.height)) + NAME;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(SHARP * (GAP + perRow * (width + GAP)));
  canvas.height = Math.round(SHARP * (TITLE + Math.ceil(planes.length / perRow) * (height + GAP)));
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")),
    face = getComputedStyle(document.documentElement).fontFamily;
  g.scale(SHARP, SHARP);
  g.fillStyle = tint("paper");
  g.fillRect(0, 0, canvas.width, canvas.height);
  g.fillStyle = tint("ink");
  g.font = `600 20px ${face}`;
  g.fillText(shorten(title, 90), GAP, 34);
  planes.forEach((plane, k) => {
    const x = GAP + (k % perRow) * (width + GAP),
      y = TITLE + Math.floor(k / perRow) * (height + GAP),
      { camera, renderer } = plane,
      above = document.createElement("canvas");
    plane.paintAbove(above, SHARP);
    g.font = `600 14px ${face}`;
    g.fillStyle = tint("ink");
    g.fillText(shorten(header.maps[k].name, 60), x, y + 16);
    g.drawImage(renderer.exportImage(SHARP), x, y + NAME, camera.width, camera.height);
    g.drawImage(above, x, y + NAME, camera.width, camera.height);
  });
  canvas.toBlob((blob) => blob && saveFile(blob, fileName([title], "png")), "image/png");
}
