// Starts the page of several maps.
import { loadGroup, loadHeader } from "../data/payload.js";
import { byId } from "../dom.js";
import { startTheme } from "../page/appearance.js";
import { Linked } from "./linked.js";

async function begin() {
  /** @type {Linked|undefined} */
  let shown;
  startTheme(() => shown?.recolor());
  const header = /** @type {import("./moved.js").LinkedHeader} */ (await loadHeader());
  const core = await loadGroup(header, "core");
  byId("fallback").hidden = true;
  const linked = (shown = new Linked(header, core));
  /** What tests may ask of the page. */
  const access = {
    ready: false,
    state: () => linked.state(),
    screenPos: (/** @type {number} */ k, /** @type {number} */ i) => {
      const { overlay, renderer, cloud } = linked.planes[k],
        { left, top } = overlay.getBoundingClientRect(),
        [x, y] = cloud.finite[i] ? renderer.screenPos(i) : [NaN, NaN];
      return [left + x, top + y];
    },
  };
  /** @type {any} */ (window).gnomon = access;
  await new Promise((resolve) => setTimeout(resolve, 30)); // let the maps appear before the pictures are unpacked
  linked.picture(await loadGroup(header, "images"));
  access.ready = true;
}

begin().catch((error) => {
  byId("loading").textContent = `This is a static picture: the maps could not start (${error.message}).`;
  console.warn(error);
});
