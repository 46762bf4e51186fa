// What several maps of the same rows share: colours, the row in question, and which rows are marked.
import { listChannels, paint } from "../data/coloring.js";
import { FeatureTable } from "../data/features.js";
import { byId, formatCount, formatValue } from "../dom.js";
import { Thumbnails } from "../drawing/thumbnail.js";
import { DIMMED, HIDDEN, SHOWN, withOneClass } from "../drawing/renderer.js";
import { listen } from "../page/gestures.js";
import { Space } from "../page/space.js";
import { Moved, turnToFirst } from "./moved.js";
import { Plane } from "./plane.js";
import { buildSide } from "./side.js";

const FINGER = 14; // pixels within which the pointer finds a point
const NAMED = 40; // classes whose names stand in the maps
const TOUCH_HINT = "Tap a point to see it in every map. Two fingers move and zoom; Lasso marks points in all.";
const CONTEXTS = 8; // maps by WebGL2 at most: browsers drop older ones beyond

export class Linked {
  /** @param {import("./moved.js").LinkedHeader} header @param {Record<string, any>} core */
  constructor(header, core) {
    this.header = header;
    this.core = core;
    this.hovered = this.pinned = -1;
    /** Rows that are marked, ascending. @type {Uint32Array|null} */
    this.chosen = null;
    this.hidden = new Set();
    /** @type {number|null} */
    this.isolated = null;
    /** The lasso as it was drawn: which map, and where in its plane. @type {{k: number, path: number[][]}|null} */
    this.fence = null;
    /** The lasso that is being drawn, in pixels. @type {{k: number, path: number[][]}|null} */
    this.drawn = null;
    this.turned = false;
    /** Neighbours of the pinned row, looked up once. @type {{at: string, found: ReturnType<Moved["neighbors"]>}} */
    this.asked = { at: "", found: { missing: [], wrong: [] } };
    this.states = new Uint8Array(header.n).fill(SHOWN);
    /** @type {{name: string, count: number, ids: number[]}[]} */
    this.names = [];
    this.thumbnails = new Thumbnails(header, new FeatureTable([], header.n, {}), {});
    this.planes = header.maps.map(
      (one, k) => new Plane(one, core[one.key], header.maps.length <= CONTEXTS, () => this.#marks(k)),
    );
    const count = this.planes.length;
    byId("maps").style.setProperty("--columns", String(count < 4 ? count : Math.ceil(Math.sqrt(count))));
    byId("maps").classList.toggle("few", count < 3);
    byId("maps").append(...this.planes.map(({ node }) => node));
    this.moved = header.changes.length ? new Moved(header, core, this.planes) : null;
    this.channels = listChannels(header, core).filter(({ group }) => group !== "Trust");
    this.modes = this.planes.map(({ cloud }) => ({
      tool: /** @type {""|"lasso"|"line"} */ (""),
      orbit: cloud.d === 3,
      deep: cloud.d === 3,
      steps: false,
    }));
    this.planes.forEach((_, k) => this.#listen(k));
    this.side = buildSide(this);
    if (matchMedia("(hover: none)").matches) byId("told").textContent = TOUCH_HINT;
    this.hint = byId("told").textContent;
    this.colorBy(this.channels[0].id);
  }

  /** Pictures of the rows, unpacked after the maps are there. @param {Record<string, any>} images */
  picture(images) {
    this.thumbnails = new Thumbnails(this.header, new FeatureTable([], this.header.n, {}), images);
    this.side.fill();
  }

  // ---- colours and marks ------------------------------------------------------------------------------------------

  /** @param {string} id of a channel, or a measure of what moved */
  colorBy(id) {
    const known = this.channels.find((one) => one.id === id),
      channel = known ?? (this.moved && (id === "lost" || id === "shift") ? this.moved.channel(id) : null);
    if (!channel) return;
    if (this.moved && (id === "lost" || id === "shift")) this.moved.measure = id;
    if (this.channel && this.channel.id !== id) {
      if (this.isolated !== null) this.choose(null);
      this.hidden.clear();
    }
    this.channel = channel;
    this.recolor();
  }

  recolor() {
    const { colors, ramp, range } = paint(/** @type {any} */ (this.channel), this.header.n, this.header);
    this.ramp = ramp && range ? { colors: ramp, range } : null;
    for (const { renderer } of this.planes) renderer.setColor(colors);
    this.apply();
  }

  /** Work out which rows are hidden, dimmed or shown in all maps. */
  apply() {
    const { states, channel, chosen } = this,
      codes = channel?.kind === "classes" ? channel.codes : null;
    states.fill(chosen ? DIMMED : SHOWN);
    if (chosen) for (const i of chosen) states[i] = SHOWN;
    if (codes && this.hidden.size)
      for (let i = 0; i < states.length; i++) if (this.hidden.has(codes[i])) states[i] = HIDDEN;
    this.names = this.#classNames();
    for (const plane of this.planes) {
      plane.renderer.setFilter(states);
      plane.redraw();
    }
    this.side.fill();
    this.#tell();
  }

  #classNames() {
    const { channel, states } = this,
      categories = channel?.categories ?? [];
    if (channel?.kind !== "classes" || categories.length > NAMED) return [];
    const codes = /** @type {ArrayLike<number>} */ (channel.codes),
      found = categories.map((name) => ({ name, count: 0, ids: /** @type {number[]} */ ([]) }));
    for (let i = 0; i < states.length; i++) if (states[i] === SHOWN) found[codes[i]].ids.push(i);
    const least = this.chosen ? Math.max(2, this.chosen.length / 50) : 1; // no names for stray points of a selection
    for (const one of found) one.count = one.ids.length;
    return found.filter(({ count }, k) => count >= least && k !== channel.missing).sort((a, b) => b.count - a.count);
  }

  /** @param {Uint32Array|null} rows @param {{k: number, path: number[][]}|null} [fence] where they were drawn around */
  choose(rows, fence = null) {
    this.chosen = rows && rows.length ? rows : null;
    this.fence = this.chosen ? fence : null;
    this.isolated = null;
    this.apply();
  }

  /** @param {number} k class */
  isolate(k) {
    if (this.isolated === k) return this.choose(null);
    const codes = /** @type {ArrayLike<number>} */ (this.channel?.codes);
    this.hidden.delete(k);
    this.choose(Uint32Array.from({ length: this.header.n }, (_, i) => i).filter((i) => codes[i] === k));
    this.isolated = k;
    this.side.fill();
  }

  /** Show one class among the shown rows, without choosing it. @param {number|null} k class, or null to end it */
  preview(k) {
    const codes = /** @type {ArrayLike<number>} */ (this.channel?.codes),
      shown = withOneClass(this.states, codes, k);
    for (const plane of this.planes) {
      plane.renderer.setFilter(shown);
      plane.redraw();
    }
  }

  /** @param {number} k class */
  toggle(k) {
    if (!this.hidden.delete(k)) this.hidden.add(k);
    this.apply();
  }

  /** Mark the rows whose name, class or number matches. @param {string} query */
  search(query) {
    const text = query.trim().toLowerCase(),
      { n, pointNames, columns } = this.header;
    if (!text) return this.choose(null);
    const classes = (columns ?? []).filter((one) => one.categories),
      found = Array.from({ length: n }, (_, i) => i).filter(
        (i) =>
          String(this.rowOf(i)) === text.replace(/^(#|row )/, "") ||
          pointNames?.[i].toLowerCase().includes(text) ||
          classes.some(({ key, categories }) => categories?.[this.core[key][i]].toLowerCase() === text),
      );
    this.choose(Uint32Array.from(found));
    if (!found.length) this.#say(`Nothing found for ${query}`);
    return undefined;
  }

  // ---- one row ----------------------------------------------------------------------------------------------------

  /** The row in question: pinned, or under the pointer. */
  get row() {
    return this.pinned >= 0 ? this.pinned : this.hovered;
  }

  /** @param {number} i -1 for none */
  hover(i) {
    if (i === this.hovered) return;
    this.hovered = i;
    if (this.pinned < 0) this.#changed();
    else for (const plane of this.planes) plane.refresh();
  }

  /** @param {number} i -1 for none; the pinned one is released */
  pin(i) {
    this.pinned = i === this.pinned ? -1 : i;
    this.#changed();
  }

  #changed() {
    for (const plane of this.planes) plane.refresh();
    this.side.fillRow();
    this.#tell();
  }

  /** Row number in the table that was mapped. @param {number} i */
  rowOf(i) {
    return this.core.rows ? this.core.rows[i] : i;
  }

  /** @param {number} i */
  nameOf(i) {
    return this.header.pointNames ? this.header.pointNames[i] : `row ${this.rowOf(i)}`;
  }

  /** What is known of a row: names and values. @param {number} i @returns {[string, string][]} */
  valuesOf(i) {
    return (this.header.columns ?? []).map(({ key, name, categories, dates }) => {
      const value = this.core[key][i];
      return [name, categories ? categories[value] : formatValue(value, dates)];
    });
  }

  // ---- what moved -------------------------------------------------------------------------------------------------

  /** @param {number} number of a pair of maps @param {import("./moved.js").Measure} measure */
  compare(number, measure) {
    if (!this.moved) return;
    this.moved.change = this.header.changes[number];
    this.moved.measure = measure;
    if (this.channel?.id === "lost" || this.channel?.id === "shift") this.colorBy(measure);
    else this.#changed();
    this.side.fill();
  }

  /** Turn all maps towards the first one, or back. */
  toggleTurn() {
    this.turned = !this.turned;
    this.fence = null;
    this.planes.forEach((plane, k) => plane.setTurn(this.turned ? turnToFirst(this.header, k) : null));
  }

  /** @param {number} k @returns {import("./plane.js").Marks} */
  #marks(k) {
    const { pinned, hovered, drawn, fence, moved } = this,
      rings = [];
    if (pinned >= 0) rings.push({ row: pinned, strong: true });
    if (hovered >= 0 && hovered !== pinned) rings.push({ row: hovered, strong: pinned < 0 });
    const concerned = pinned >= 0 && moved && (k === moved.change.a || k === moved.change.b);
    return {
      rings,
      row: pinned,
      ghost: concerned ? moved.ghost(k, pinned) : null,
      ghostFirst: concerned ? k === moved.change.b : false,
      ...(concerned ? this.neighborsOf(pinned) : { missing: [], wrong: [] }),
      path: drawn?.k === k ? drawn.path : [],
      fence: fence?.k === k ? fence.path : null,
      names: this.names,
    };
  }

  /** Neighbours of a row that only one map of the pair has, looked up once. @param {number} i */
  neighborsOf(i) {
    const moved = /** @type {Moved} */ (this.moved),
      at = `${i} ${moved.change.a} ${moved.change.b}`;
    if (this.asked.at !== at) this.asked = { at, found: moved.neighbors(i) };
    return this.asked.found;
  }

  // ---- gestures ---------------------------------------------------------------------------------------------------

  /** @param {"lasso"|""} tool */
  take(tool) {
    for (const mode of this.modes) mode.tool = tool;
    for (const { overlay } of this.planes) overlay.classList.toggle("drawing", tool !== "");
  }

  /** @param {number} factor */
  zoomAll(factor) {
    for (const { camera } of this.planes) camera.zoomAt(factor, camera.width / 2, camera.height / 2);
    for (const plane of this.planes) plane.redraw();
  }

  fitAll() {
    for (const plane of this.planes) {
      plane.camera.reset();
      plane.redraw();
    }
  }

  /** @param {number} k */
  #listen(k) {
    const plane = this.planes[k],
      { camera, cloud, renderer } = plane,
      turned = { turned: () => plane.redraw(true), rested: () => plane.redraw() },
      space = cloud.d === 3 ? new Space(cloud, turned) : null,
      moved = (/** @type {() => void} */ act) => {
        act();
        plane.redraw(true);
      };
    if (space) plane.node.querySelector("h2").append(...space.tools);
    plane.overlay.addEventListener("pointerdown", () => space?.stop());
    listen(plane.overlay, this.modes[k], {
      hover: (x, y) => this.hover(renderer.pick(x, y, FINGER)),
      leave: () => this.hover(-1),
      click: (x, y) => {
        const i = renderer.pick(x, y, FINGER);
        this.pin(i >= 0 ? i : this.pinned);
      },
      pan: (dx, dy) => moved(() => camera.pan(dx, dy)),
      orbit: (dx, dy) => space?.turn(dx, dy),
      press: (event) => space?.press(event) ?? false,
      zoom: (factor, x, y) => moved(() => camera.zoomAt(factor, x, y)),
      reset: () => moved(() => camera.reset()),
      draw: (_, path, done) => this.#draw(k, path, done),
      escape: () => (k === 0 ? this.#escape() : undefined), // (the page tells every map)
      settle: () => plane.redraw(),
    });
  }

  /** @param {number} k @param {number[][]} path @param {boolean} done */
  #draw(k, path, done) {
    const { camera, renderer, cloud } = this.planes[k];
    this.hover(-1);
    this.drawn = done ? null : { k, path };
    if (done)
      this.choose(
        path.length > 2 ? renderer.lasso(path) : null,
        cloud.d === 2 ? { k, path: path.map(([x, y]) => camera.toPlane(x, y)) } : null,
      );
    this.planes[k].refresh();
  }

  #escape() {
    if (this.pinned >= 0) this.pin(this.pinned);
    else this.choose(null);
  }

  // ---- in words ---------------------------------------------------------------------------------------------------

  #tell() {
    const { row, chosen, moved } = this,
      told = [];
    if (row >= 0) {
      told.push(this.nameOf(row), ...this.valuesOf(row).map(([name, value]) => `${name}: ${value}`));
      if (moved && this.pinned >= 0 && moved.told("lost", row))
        told.push(`neighbours lost: ${moved.told("lost", row)}`);
    }
    if (chosen) told.push(`${formatCount(chosen.length)} ${chosen.length === 1 ? "row" : "rows"} marked`);
    this.#say(told.length ? told.join(" · ") : (this.hint ?? ""));
  }

  /** @param {string} text */
  #say(text) {
    if (byId("told").textContent !== text) byId("told").textContent = text;
  }

  /** A plain copy of the state. */
  state() {
    const chosen = this.chosen && new Uint8Array(this.header.n);
    if (chosen && this.chosen) for (const i of this.chosen) chosen[i] = 1;
    const { moved } = this;
    return {
      row: this.row,
      hovered: this.hovered,
      pinned: this.pinned,
      chosen: chosen && Array.from(chosen),
      shown: this.states.reduce((sum, s) => sum + Number(s === SHOWN), 0),
      colorBy: this.channel?.name,
      isolated: this.isolated,
      turned: this.turned,
      renderers: this.planes.map(({ renderer }) => renderer.kind),
      views: this.planes.map(({ renderer }) => renderer.view()),
      rotations: this.planes.map(({ cloud }) => Array.from(cloud.rotation)),
      moved: moved && { a: moved.change.a, b: moved.change.b, measure: moved.measure, most: moved.most },
      neighbors: moved && this.pinned >= 0 ? this.neighborsOf(this.pinned) : null,
      ghosts: this.planes.map((plane, k) => {
        const ghost = this.pinned >= 0 ? (moved?.ghost(k, this.pinned) ?? null) : null;
        return ghost && plane.turned(ghost);
      }),
    };
  }
}
