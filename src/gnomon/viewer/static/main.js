// Starts the page: decodes, builds the panels, and holds the little state there is.
import { Atlas } from "./data/atlas.js";
import { byId, h } from "./dom.js";
import { loadGroup, loadHeader } from "./data/payload.js";
import { Host } from "./page/host.js";
import { Page } from "./page/page.js";
import { startTheme } from "./page/appearance.js";
import { Server } from "./page/server.js";

async function start() {
  /** @type {Page|undefined} */
  let shown;
  startTheme(() => shown?.retint());
  const header = await loadHeader();
  const atlas = new Atlas(header, await loadGroup(header, "core"));
  const page = (shown = new Page(atlas));
  byId("fallback").hidden = true;
  /** What tests and notebooks may ask of the page. */
  const access = {
    ready: false,
    state: () => page.state(),
    /** Pixels of a point in the page. */
    screenPos: (/** @type {number} */ i) => {
      const { left, top } = byId("stage").getBoundingClientRect(),
        [x, y] = page.scene.renderer.screenPos(i);
      return [left + x, top + y];
    },
    moving: () => page.focus.keeper.moving,
    contours: () => page.scene.layers.contours.found,
    planePos: (/** @type {number} */ i) => Array.from(atlas.cloud.plane.subarray(3 * i, 3 * i + 2)),
    arrows: (/** @type {number} */ i) => Array.from(atlas.local?.arrows(atlas.table, i) ?? []),
    channels: () =>
      atlas.channels.map(({ name, group, codes, values }) => ({
        name,
        group,
        values: Array.from(codes ?? values?.() ?? []),
      })),
  };
  /** @type {any} */ (window).gnomon = access;
  await new Promise((resolve) => setTimeout(resolve, 30)); // let the map appear before the larger part is unpacked
  await atlas.loadFrames();
  page.player?.enable();
  await atlas.loadRest();
  page.refill();
  page.scene.layers.replace();
  page.scene.redraw(); // with the pictures
  page.address.start();
  if (header.server) page.connect(new Server(header.server));
  if (header.host && window.parent !== window) new Host(page);
  access.ready = true;
}

start().catch((error) => {
  byId("loading").replaceChildren(
    h("b", {}, "This is a static picture: "),
    typeof DecompressionStream === "undefined"
      ? "the interactive map needs a browser of 2023 or later."
      : `the interactive map could not start (${error.message}).`,
  );
  console.warn(error);
});
