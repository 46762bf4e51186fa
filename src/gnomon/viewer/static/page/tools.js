// Buttons of the bar above the map, and the tray below it.
import { switchTheme } from "./appearance.js";
import { byId, formatCount, h } from "../dom.js";
import { theme } from "../drawing/theme.js";
import { layerButtons } from "../drawing/layers.js";
import { saveButton } from "../panels/save.js";

const MOST_LOST = 120;

/** Buttons of the bar. @param {import("./page.js").Page} page */
export function buildToolbar(page) {
  const { scene } = page,
    { camera } = scene,
    middle = () => /** @type {[number, number]} */ ([camera.width / 2, camera.height / 2]);
  const tool = (
    /** @type {string} */ id,
    /** @type {string} */ text,
    /** @type {string} */ title,
    /** @type {() => void} */ act,
  ) => h("button", { id, title, "aria-label": text.length > 1 ? null : title, onclick: act }, text);
  const take = (/** @type {"lasso"|"line"} */ name) => {
    page.mode.tool = page.mode.tool === name ? "" : name;
    for (const one of ["lasso", "line"]) byId(one).setAttribute("aria-pressed", String(page.mode.tool === one));
    byId("overlay").classList.toggle("drawing", page.mode.tool !== "");
  };
  const toggleOrbit = () => {
    page.mode.orbit = !page.mode.orbit;
    byId("orbit").setAttribute("aria-pressed", String(page.mode.orbit));
  };
  const press = (/** @type {string} */ id, /** @type {boolean} */ on) =>
    byId(id).setAttribute("aria-pressed", String(on));
  const toggleDock = () => {
    const open = document.body.dataset.dock === "closed";
    document.body.dataset.dock = open ? "open" : "closed";
    press("dockbutton", open);
  };
  const toggleHelp = () => {
    if (document.body.dataset.dock === "closed") toggleDock();
    page.focus.help(!page.focus.helping);
    press("helpbutton", page.focus.helping);
  };
  byId("toolbar").append(
    ...[
      tool("lasso", "Lasso", "Draw around points to compare them with the rest (or hold Shift and drag)", () =>
        take("lasso"),
      ),
      tool("line", "Line", "Draw a line through the map to see what changes along it", () => take("line")),
      page.mode.deep ? tool("orbit", "Rotate", "Drag rotates the map (off: drag moves it)", toggleOrbit) : null,
      ...layerButtons(scene, tool),
      ...(page.space?.tools ?? []),
      tool("zoomin", "+", "Zoom in", () => {
        camera.zoomAt(1.5, ...middle());
        scene.redraw();
      }),
      tool("zoomout", "−", "Zoom out", () => {
        camera.zoomAt(1 / 1.5, ...middle());
        scene.redraw();
      }),
      tool("reset", "Fit", "Show the whole map (double click)", () => {
        page.focus.sheet.put("peek");
        camera.reset();
        scene.redraw();
      }),
      saveButton(page),
    ].filter((node) => node !== null),
  );
  byId("looks").append(
    tool("dockbutton", "Card", "Card beside the map: its room is the map's while it is off", toggleDock),
    tool("theme", "Dark", "Dark colours", switchTheme),
    tool("helpbutton", "Help", "Help: what mouse, fingers and keys do here", toggleHelp),
  );
  if (page.mode.deep) press("orbit", true);
  press("dockbutton", true);
  press("helpbutton", false);
  press("theme", theme() === "dark");
  const hints = ["Hover to explain", "click to pin", "Shift-drag to compare a group"];
  hints.push("scroll to zoom", "Enter and arrow keys walk");
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
        "aria-label": `Row ${page.atlas.rowOf(i)}, without a position`,
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
