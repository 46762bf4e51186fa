// Buttons above the map and the tray below it.
import { byId, formatCount, h } from "../dom.js";

const MOST_LOST = 120;

/** Buttons above the map. @param {import("./page.js").Page} page */
export function buildToolbar(page) {
  const { scene } = page,
    { camera } = scene,
    middle = () => /** @type {[number, number]} */ ([camera.width / 2, camera.height / 2]);
  const tool = (
    /** @type {string} */ id,
    /** @type {string} */ text,
    /** @type {string} */ title,
    /** @type {() => void} */ act,
  ) => h("button", { id, title, "aria-label": title, onclick: act }, text);
  const take = (/** @type {"lasso"|"line"} */ name) => {
    page.mode.tool = page.mode.tool === name ? "" : name;
    for (const one of ["lasso", "line"]) byId(one).setAttribute("aria-pressed", String(page.mode.tool === one));
    byId("overlay").classList.toggle("drawing", page.mode.tool !== "");
  };
  const toggleOrbit = () => {
    page.mode.orbit = !page.mode.orbit;
    byId("orbit").setAttribute("aria-pressed", String(page.mode.orbit));
  };
  byId("toolbar").append(
    ...[
      tool("lasso", "Lasso", "Draw around points to compare them with the rest (or hold Shift and drag)", () =>
        take("lasso"),
      ),
      tool("line", "Line", "Draw a line through the map to see what changes along it", () => take("line")),
      page.mode.deep ? tool("orbit", "Rotate", "Drag rotates the map (off: drag moves it)", toggleOrbit) : null,
      tool("zoomin", "+", "Zoom in", () => {
        camera.zoomAt(1.5, ...middle());
        scene.redraw();
      }),
      tool("zoomout", "−", "Zoom out", () => {
        camera.zoomAt(1 / 1.5, ...middle());
        scene.redraw();
      }),
      tool("reset", "Fit", "Show the whole map (double click)", () => {
        camera.reset();
        scene.redraw();
      }),
      tool("export", "PNG", "Save this view as a picture", () => page.exportPicture()),
    ].filter((node) => node !== null),
  );
  if (page.mode.deep) byId("orbit").setAttribute("aria-pressed", "true");
  const hints = ["Hover to explain", "click to pin", "Shift-drag to compare a group"];
  hints.push("Line to see what changes along it", "scroll to zoom");
  if (page.mode.deep) hints.push("drag to rotate");
  if (page.mode.steps) hints.push("← → to step");
  byId("hint").textContent = hints.join(" · ");
}

/** Points without a position, as dots that can be asked like all others. @param {import("./page.js").Page} page */
export function buildTray(page) {
  const { lost } = page.atlas.cloud;
  byId("tray").hidden = !lost.length;
  if (!lost.length) return;
  const dots = lost
    .slice(0, MOST_LOST)
    .map((i) =>
      h("button", {
        class: "dot",
        "aria-label": `Row ${page.atlas.rowOf(i)}`,
        onpointerenter: () => page.focus.hover(i),
        onpointerleave: () => page.focus.hover(-1),
        onclick: () => page.focus.pin(i),
      }),
    );
  byId("tray").replaceChildren(
    h("p", {}, `${formatCount(lost.length)} ${lost.length === 1 ? "point has" : "points have"} no position`),
    h("div", {}, ...dots),
    lost.length > MOST_LOST ? h("p", { class: "quiet" }, `the first ${MOST_LOST} are shown`) : "",
  );
}
