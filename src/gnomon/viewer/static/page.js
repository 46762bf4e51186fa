// The page: one state, changed by intents, shown by the renderer, the overlay and the panels.
import { Camera, orbit } from "./camera.js";
import { cardContent } from "./card.js";
import { paint } from "./coloring.js";
import { combobox } from "./combobox.js";
import { contrast } from "./contrast.js";
import { byId, formatCount, h } from "./dom.js";
import { explainPoint } from "./explanation.js";
import { composePicture, savePicture } from "./exporter.js";
import { listen } from "./gestures.js";
import { classLegend, rampLegend } from "./legend.js";
import { drawClassNames, drawExplanation, drawLasso, drawRing } from "./overlay.js";
import { aboutContent, importanceContent, panel, selectionPanel } from "./panels.js";
import { RasterRenderer } from "./raster.js";
import { DIMMED, HIDDEN, SHOWN } from "./renderer.js";
import { trustPanel } from "./trust.js";
import { WebGLRenderer } from "./webgl.js";

const REACH = 14; // pixels within which the mouse finds a point
const MOST_LOST = 120;

export class Page {
  /** @param {import("./atlas.js").Atlas} atlas */
  constructor(atlas) {
    this.atlas = atlas;
    this.camera = new Camera();
    this.hovered = -1;
    this.pinned = -1;
    /** @type {{ids: Uint32Array, rows: import("./contrast.js").ContrastRow[]|null, profile: any, path: number[][]|null}|null} */
    this.selection = null;
    /** @type {Uint32Array|null} */
    this.matches = null;
    /** @type {number[][]} */
    this.path = [];
    this.hidden = new Set();
    /** @type {number|null} */
    this.isolated = null;
    this.states = new Uint8Array(atlas.n).fill(SHOWN);
    this.mode = { lasso: false, orbit: atlas.header.d === 3, deep: atlas.header.d === 3 };
    /** @type {any[]} */
    this.names = [];
    this.renderer = this.#renderer();
    this.#measure();
    this.camera.frame(atlas.cloud.d === 3 ? [-1, -1, 1, 1] : atlas.cloud.bounds());
    this.#toolbar();
    this.#side();
    this.#listen();
    this.#tray();
    this.colorBy(atlas.channels[0].id);
    new ResizeObserver(() => this.#measure()).observe(byId("stage"));
  }

  #renderer() {
    const canvas = byId("points"), { cloud } = this.atlas;
    try {
      return new WebGLRenderer(canvas, cloud, this.camera);
    } catch {
      const fresh = h("canvas", { id: "points", "aria-hidden": "true" });
      canvas.replaceWith(fresh); // a canvas keeps the first kind of context it was asked for
      return new RasterRenderer(fresh, cloud, this.camera);
    }
  }

  #measure() {
    const { clientWidth, clientHeight } = byId("stage");
    this.camera.resize(Math.max(1, clientWidth), Math.max(1, clientHeight));
    this.redraw();
  }

  // ---- drawing ----------------------------------------------------------------------------------------------------

  /** Draw before the next frame. @param {boolean} [moving] the camera moves: draw fast now and fully when it rests */
  redraw(moving = false) {
    this.moving = moving;
    this.dirty = true;
    this.#schedule();
  }

  #schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.dirty) {
        this.dirty = false;
        const complete = this.renderer.draw(this.moving);
        clearTimeout(this.rest);
        if (!complete) this.rest = setTimeout(() => this.redraw(), 140);
      }
      this.#drawOverlay();
    });
  }

  #drawOverlay() {
    const canvas = byId("overlay"), ratio = window.devicePixelRatio || 1, { width, height } = this.camera;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    this.#paintOverlay(g);
    this.#placeCard();
  }

  /** @param {CanvasRenderingContext2D} g */
  #paintOverlay(g) {
    const { camera, renderer, atlas } = this;
    const focus = this.pinned >= 0 ? this.pinned : this.hovered;
    if (this.path.length) drawLasso(g, this.path, false);
    else if (this.selection?.path) drawLasso(g, this.selection.path.map(([x, y]) => camera.toScreen(x, y)), true);
    g.globalAlpha = focus >= 0 ? 0.35 : 1; // the explanation of a point comes first
    drawClassNames(g, this.names.map((place) => {
      const [x, y] = camera.toScreen(place.x, place.y);
      return { ...place, x, y };
    }));
    g.globalAlpha = 1;
    if (this.matches && this.matches.length <= 60) for (const i of this.matches) this.#ring(g, i, false);
    if (focus >= 0 && atlas.cloud.finite[focus]) {
      const explanation = explainPoint(atlas.core, atlas.header, focus), [x, y] = renderer.screenPos(focus);
      if (explanation) {
        drawExplanation(g, x, y, explanation, { cloud: atlas.cloud, typical: atlas.typical, names: atlas.names, width: camera.width, height: camera.height });
      }
      this.#ring(g, focus, true);
    }
    if (this.hovered >= 0 && this.hovered !== focus) this.#ring(g, this.hovered, false);
  }

  /** @param {CanvasRenderingContext2D} g @param {number} i @param {boolean} strong */
  #ring(g, i, strong) {
    if (!this.atlas.cloud.finite[i]) return;
    const [x, y] = this.renderer.screenPos(i), c = this.renderer.colors;
    drawRing(g, x, y, Math.max(2.5, this.renderer.radius), `rgb(${c[3 * i]},${c[3 * i + 1]},${c[3 * i + 2]})`, strong);
  }

  // ---- one point --------------------------------------------------------------------------------------------------

  /** @param {number} i */
  hover(i) {
    if (i === this.hovered) return;
    this.hovered = i;
    byId("overlay").style.cursor = i >= 0 ? "pointer" : "";
    if (this.pinned < 0) this.#showCard(i);
    this.#schedule();
  }

  /** @param {number} i */
  pin(i) {
    this.pinned = i === this.pinned ? -1 : i;
    this.#showCard(this.pinned >= 0 ? this.pinned : this.hovered);
    this.#schedule();
  }

  /** @param {number} i */
  #showCard(i) {
    const card = byId("card");
    card.hidden = i < 0;
    if (i < 0) return;
    card.classList.toggle("pinned", this.pinned >= 0);
    card.replaceChildren(...cardContent(this.atlas, i, { pinned: this.pinned >= 0, close: () => this.pin(this.pinned) }));
    card.dataset.point = String(i);
  }

  /** Beside the point, clear of its arrows. */
  #placeCard() {
    const card = byId("card");
    if (card.hidden) return;
    const i = Number(card.dataset.point), { width, height } = this.camera;
    const [x, y] = this.atlas.cloud.finite[i] ? this.renderer.screenPos(i) : [120, height - 60];
    const wide = card.offsetWidth, tall = card.offsetHeight, gap = 112;
    const left = x + gap + wide < width - 8 ? x + gap : x - gap - wide > 8 ? x - gap - wide : x < width / 2 ? width - wide - 12 : 12;
    card.style.transform = `translate(${Math.round(left)}px, ${Math.round(Math.max(12, Math.min(height - tall - 12, y - tall / 2)))}px)`;
  }

  // ---- colours, filters, selections -------------------------------------------------------------------------------

  /** @param {string} id */
  colorBy(id) {
    const channel = this.atlas.channel(id);
    if (!channel) return;
    if (this.channel?.id !== id) {
      if (this.isolated !== null) this.clearSelection();
      this.hidden.clear();
    }
    this.channel = channel;
    const { colors, ramp, range } = paint(channel, this.atlas.n, this.atlas.header);
    this.ramp = ramp && range ? { name: channel.name, colors: ramp, low: range.low, high: range.high, range } : null;
    this.renderer.setColor(colors);
    this.colorBox.show(channel.name);
    this.applyFilter();
  }

  /** Work out which points are hidden, dimmed or shown, and tell everyone. */
  applyFilter() {
    const { states, atlas, channel } = this, codes = channel?.kind === "classes" ? channel.codes : null;
    const focus = this.selection ? this.selection.ids : this.matches;
    states.fill(focus ? DIMMED : SHOWN);
    if (focus) for (const i of focus) states[i] = SHOWN;
    if (codes && this.hidden.size) for (let i = 0; i < atlas.n; i++) if (this.hidden.has(codes[i])) states[i] = HIDDEN;
    this.renderer.setFilter(states);
    const nameable = codes && channel && /** @type {string[]} */ (channel.categories).length <= 60;
    const least = focus ? Math.max(2, focus.length / 50) : 1; // no names for stray points of a selection
    this.names = nameable ? atlas.classCenters(channel, states).filter((place) => place.count >= least) : [];
    if (this.hovered >= 0 && states[this.hovered] === HIDDEN) this.hover(-1);
    if (this.pinned >= 0 && states[this.pinned] === HIDDEN) this.pin(this.pinned);
    this.#showLegend();
    this.redraw();
  }

  #showLegend() {
    const { channel, ramp } = this, { other } = this.atlas.header;
    const actions = { hidden: this.hidden, isolated: this.isolated, isolate: (/** @type {number} */ k) => this.isolate(k), toggle: (/** @type {number} */ k) => this.toggle(k), other };
    const scroll = byId("legend").scrollTop;
    byId("legend").replaceChildren(ramp ? rampLegend(ramp.colors, ramp.range, other) : channel?.kind === "classes" ? classLegend(channel, actions) : "");
    byId("legend").scrollTop = scroll;
  }

  /** @param {number} k class */
  toggle(k) {
    if (!this.hidden.delete(k)) this.hidden.add(k);
    if (this.isolated === k) this.clearSelection();
    this.applyFilter();
  }

  /** @param {number} k class */
  isolate(k) {
    if (this.isolated === k) {
      this.clearSelection();
      return;
    }
    const codes = /** @type {ArrayLike<number>} */ (this.channel?.codes), ids = [];
    for (let i = 0; i < this.atlas.n; i++) if (codes[i] === k) ids.push(i);
    this.hidden.delete(k);
    this.isolated = k;
    const name = /** @type {string[]} */ (this.channel?.categories)[k];
    const profile = this.channel === this.atlas.label ? this.atlas.header.profiles?.[name] : undefined;
    this.select(Uint32Array.from(ids), { profile: this.atlas.table.size ? null : profile ?? null });
  }

  /** @param {Uint32Array} ids @param {{profile?: any, path?: number[][]|null}} [origin] */
  select(ids, { profile = null, path = null } = {}) {
    const { table, n } = this.atlas;
    const rows = table.size && ids.length < n ? contrast(table, ids) : null;
    this.selection = { ids, rows, profile, path };
    this.matches = null;
    this.#showSelection();
    this.applyFilter();
  }

  #showSelection() {
    const box = byId("selection");
    box.hidden = !this.selection;
    if (!this.selection) return;
    const actions = { clear: () => this.clearSelection(), colorBy: (/** @type {number} */ f) => this.colorByFeature(f) };
    box.querySelector(".body").replaceChildren(...selectionPanel(this.atlas, this.selection, actions));
    box.open = true;
    byId("side").scrollTo({ top: 0 });
  }

  /** @param {number} f */
  colorByFeature(f) {
    const kept = this.isolated === null ? null : this.selection;
    if (kept) this.isolated = null; // the selection stays though the classes are no longer coloured
    this.colorBy(`feature${f}`);
  }

  clearSelection() {
    this.selection = null;
    this.isolated = null;
    this.matches = null;
    this.#showSelection();
    this.applyFilter();
  }

  /** @param {string} query @param {boolean} [go] move the camera to what was found */
  search(query, go = false) {
    if (!query.trim()) {
      byId("found").textContent = "";
      if (this.matches) this.clearSelection();
      return;
    }
    const found = this.atlas.search(query);
    byId("found").textContent = found.length ? `${formatCount(found.length)} found` : "nothing found";
    this.selection = null;
    this.isolated = null;
    this.matches = found.length ? found : null;
    this.#showSelection();
    this.applyFilter();
    if (go && found.length) this.#goTo(found);
  }

  /** @param {Uint32Array} ids */
  #goTo(ids) {
    const box = [Infinity, Infinity, -Infinity, -Infinity], { plane, finite } = this.atlas.cloud;
    for (const i of ids) if (finite[i]) {
      box[0] = Math.min(box[0], plane[3 * i]);
      box[1] = Math.min(box[1], plane[3 * i + 1]);
      box[2] = Math.max(box[2], plane[3 * i]);
      box[3] = Math.max(box[3], plane[3 * i + 1]);
    }
    if (box[0] <= box[2]) this.camera.show(ids.length === 1 ? [box[0] - 0.1, box[1] - 0.1, box[0] + 0.1, box[1] + 0.1] : box);
    if (ids.length === 1 && this.pinned !== ids[0]) this.pin(ids[0]);
    this.redraw();
  }

  /** @param {string} text */
  say(text) {
    const box = byId("message");
    box.textContent = text;
    box.hidden = false;
    clearTimeout(this.silence);
    this.silence = setTimeout(() => (box.hidden = true), 4000);
  }

  // ---- gestures and panels ----------------------------------------------------------------------------------------

  #listen() {
    const { camera } = this;
    const turn = (/** @type {number} */ dx, /** @type {number} */ dy) => {
      this.atlas.cloud.rotate(orbit(this.atlas.cloud.rotation, dx, dy));
      this.redraw(true);
    };
    listen(byId("overlay"), this.mode, {
      hover: (x, y) => this.hover(this.renderer.pick(x, y, REACH)),
      leave: () => this.hover(-1),
      click: (x, y) => {
        const i = this.renderer.pick(x, y, REACH);
        if (i >= 0 || this.pinned >= 0) this.pin(i >= 0 ? i : this.pinned);
      },
      pan: (dx, dy) => { camera.pan(dx, dy); this.redraw(true); },
      orbit: turn,
      zoom: (factor, x, y) => { camera.zoomAt(factor, x, y); this.redraw(true); },
      reset: () => { camera.reset(); this.pinned = -1; this.#showCard(this.hovered); this.redraw(); },
      lasso: (path, done) => this.#lasso(path, done),
      escape: () => this.escape(),
      settle: () => { if (this.mode.deep) this.applyFilter(); else this.redraw(); },
    });
  }

  /** @param {number[][]} path @param {boolean} done */
  #lasso(path, done) {
    this.hover(-1);
    this.path = done ? [] : path;
    if (done) {
      const ids = path.length > 2 ? this.renderer.lasso(path) : new Uint32Array(0);
      this.isolated = null;
      if (ids.length) this.select(ids, { path: this.mode.deep ? null : path.map(([x, y]) => this.camera.toPlane(x, y)) });
      else {
        this.clearSelection();
        this.say("No points inside the lasso: the selection is cleared.");
      }
    }
    this.#schedule();
  }

  escape() {
    if (this.pinned >= 0) this.pin(this.pinned);
    else {
      byId("search").value = "";
      byId("found").textContent = "";
      this.clearSelection();
    }
  }

  #toolbar() {
    const { camera } = this, middle = () => /** @type {[number, number]} */ ([camera.width / 2, camera.height / 2]);
    const tool = (/** @type {string} */ id, /** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ act) => h("button", { id, title, "aria-label": title, onclick: act }, text);
    const flip = (/** @type {"lasso"|"orbit"} */ name) => {
      this.mode[name] = !this.mode[name];
      byId(name).setAttribute("aria-pressed", String(this.mode[name]));
      byId("overlay").classList.toggle("drawing", this.mode.lasso);
    };
    byId("toolbar").append(...[
      tool("lasso", "Lasso", "Draw around points to compare them with the rest (or hold Shift and drag)", () => flip("lasso")),
      this.mode.deep ? tool("orbit", "Turn", "Drag turns the map (off: drag moves it)", () => flip("orbit")) : null,
      tool("zoomin", "+", "Zoom in", () => { camera.zoomAt(1.5, ...middle()); this.redraw(); }),
      tool("zoomout", "−", "Zoom out", () => { camera.zoomAt(1 / 1.5, ...middle()); this.redraw(); }),
      tool("reset", "Fit", "Show the whole map (double click)", () => { camera.reset(); this.redraw(); }),
      tool("export", "PNG", "Save this view as a picture", () => this.exportPicture()),
    ].filter((node) => node !== null));
    if (this.mode.deep) byId("orbit").setAttribute("aria-pressed", "true");
    byId("hint").textContent = `Hover to explain · click to pin · Shift-drag to compare a group · scroll to zoom${this.mode.deep ? " · drag to turn" : ""}`;
  }

  #side() {
    const { atlas } = this, { header } = atlas;
    this.colorBox = combobox({
      label: "Colour by", placeholder: "label, feature, trust …", choose: (id) => this.colorBy(id),
      options: (query) => {
        const text = query.toLowerCase(), table = this.atlas.table;
        const features = Array.from(table.kept, (f) => ({ id: `feature${f}`, name: table.names[f], group: "Features" }));
        return [...atlas.channels, ...features].filter((option) => option.name.toLowerCase().includes(text));
      },
    });
    const search = h("input", { id: "search", type: "search", placeholder: "Search label, name or row", "aria-label": "Search", autocomplete: "off", spellcheck: "false",
      oninput: () => this.search(search.value), onkeydown: (/** @type {KeyboardEvent} */ e) => e.key === "Enter" && this.search(search.value, true) });
    const selection = panel("selection", "Selection", true);
    selection.hidden = true;
    byId("side").append(...[
      h("div", { class: "controls" }, h("label", {}, h("span", {}, "Find"), search, h("small", { id: "found", role: "status" })), h("label", {}, h("span", {}, "Colour by"), this.colorBox.node), h("div", { id: "legend" })),
      selection,
      header.evaluation && Object.keys(header.evaluation).length ? panel("trust", "How far to trust this map", true, trustPanel(header.evaluation, header.evaluationNeighbors)) : null,
      atlas.core.global_importance ? panel("importance", "What shapes this map", true) : null,
      panel("about", "About this map", false, ...aboutContent(header, this.renderer.kind)),
    ].filter((node) => node !== null));
    this.fill();
  }

  /** Panels that need the values of the features, once these are there. */
  fill() {
    const box = byId("importance");
    if (box) box.querySelector(".body").replaceChildren(...importanceContent(this.atlas, (f) => this.colorByFeature(f)));
    const focus = this.pinned >= 0 ? this.pinned : this.hovered;
    if (focus >= 0) this.#showCard(focus);
  }

  /** Points without a position. */
  #tray() {
    const { lost } = this.atlas.cloud;
    if (!lost.length) return;
    const dots = lost.slice(0, MOST_LOST).map((i) => h("button", { class: "dot", "aria-label": `Row ${this.atlas.rowOf(i)}`, onpointerenter: () => this.hover(i), onpointerleave: () => this.hover(-1), onclick: () => this.pin(i) }));
    byId("tray").hidden = false;
    byId("tray").append(h("p", {}, `${formatCount(lost.length)} ${lost.length === 1 ? "point has" : "points have"} no position`), h("div", {}, ...dots), lost.length > MOST_LOST ? h("p", { class: "quiet" }, `the first ${MOST_LOST} are shown`) : "");
  }

  exportPicture() {
    const { camera, channel, atlas } = this, scale = 2;
    const overlay = document.createElement("canvas");
    overlay.width = camera.width * scale;
    overlay.height = camera.height * scale;
    const g = /** @type {CanvasRenderingContext2D} */ (overlay.getContext("2d"));
    g.scale(scale, scale);
    this.#paintOverlay(g);
    const legend = channel?.kind === "classes" ? /** @type {string[]} */ (channel.categories).map((name, k) => ({ name, color: /** @type {string[]} */ (channel.colors)[k], k })).filter((entry) => !this.hidden.has(entry.k)) : [];
    const picture = composePicture({ points: this.renderer.exportImage(scale), overlay, title: atlas.header.title, subtitle: byId("subtitle").textContent || "", width: camera.width, height: camera.height, scale, legend, ramp: this.ramp ?? null });
    return savePicture(picture, atlas.header.title);
  }

  /** A plain copy of the state. */
  state() {
    const row = (/** @type {number} */ i) => (i < 0 ? null : this.atlas.rowOf(i)), focus = this.pinned >= 0 ? this.pinned : this.hovered;
    const explanation = focus < 0 ? null : explainPoint(this.atlas.core, this.atlas.header, focus);
    const rows = (/** @type {Uint32Array|undefined|null} */ ids) => (ids ? Array.from(ids, (i) => this.atlas.rowOf(i)) : []);
    return {
      hovered: row(this.hovered), pinned: row(this.pinned), explanation, selection: rows(this.selection?.ids), contrast: this.selection?.rows ?? null, matches: rows(this.matches),
      lost: rows(Uint32Array.from(this.atlas.cloud.lost)), shown: this.states.reduce((sum, s) => sum + Number(s === SHOWN), 0), colorBy: this.channel?.name, renderer: this.renderer.kind, view: this.renderer.view(),
    };
  }
}
