// The page: its parts, what they tell each other, and the gestures that set them going.
import { Answers } from "../panels/answers.js";
import { byId } from "../dom.js";
import { pngOf, svgOf } from "../drawing/exporter.js";
import { listenForFile } from "./beside.js";
import { Filters } from "./filters.js";
import { Address } from "./address.js";
import { ChartsPanel } from "../panels/charts.js";
import { Focus } from "./focus.js";
import { frameAt, sampleOf } from "../data/frames.js";
import { fileName, saveFile } from "../data/handout.js";
import { listen } from "./gestures.js";
import { buildHelp } from "./help.js";
import { MembersPanel } from "../panels/members.js";
import { FEWEST, pointsNear, straightened, trends, usualWidth } from "../questions/line.js";
import { Player } from "./player.js";
import { Ranges } from "./ranges.js";
import { HIDDEN, SHOWN } from "../drawing/renderer.js";
import { Scene } from "../drawing/scene.js";
import { keepFocus, rove } from "../panels/roving.js";
import { Space } from "./space.js";
import { buildSidebar, fillSidebar } from "../panels/sidebar.js";
import { theme } from "../drawing/theme.js";
import { levelButtons } from "../panels/levels.js";
import { fillWords, nameMap, Voice } from "../panels/summary.js";
import { buildToolbar, buildTray } from "./tools.js";
import { Walk } from "./walk.js";

const REACH = 14; // pixels within which the mouse finds a point
const MOST_TRAILS = 120;
const BEND = 6; // pixels by which a hand may leave a straight line

export class Page {
  /** @param {import("../data/atlas.js").Atlas} atlas */
  constructor(atlas) {
    this.atlas = atlas;
    const { d, sequence } = atlas.header;
    /** @type {{tool: ""|"lasso"|"line", orbit: boolean, deep: boolean, steps: boolean}} */
    this.mode = { tool: "", orbit: d === 3, deep: d === 3, steps: Boolean(sequence) };
    /** What is being drawn, in pixels. @type {number[][]} */
    this.path = [];
    this.player = sequence
      ? new Player(sequence, {
          move: (position) => this.#move(position),
          rest: () => this.#rest(),
          trails: () => this.scene.refresh(),
        })
      : null;
    this.scene = new Scene(
      atlas,
      () => this.#above(),
      () => this.address.touch(),
    );
    this.focus = new Focus(atlas, this.scene, () => this.filters.settle());
    this.focus.selected = () => this.filters.selection?.ids ?? null;
    this.ranges = new Ranges(atlas);
    this.filters = new Filters(atlas, this.scene, this.ranges, {
      recolored: ({ id, name }) => {
        sidebar.showColor(name);
        showLevel(this.filters.channel);
        this.charts.colored = id;
      },
      changed: (states) => {
        this.#dropHidden(states);
        this.charts.show(states);
        this.members.change();
        this.voice.selected(this.filters.selection?.ids, atlas.n);
      },
    });
    this.space = this.mode.deep
      ? new Space(atlas.cloud, { turned: () => this.#turned(), rested: () => this.filters.settle() })
      : null;
    const sidebar = buildSidebar(atlas, this.scene.renderer.kind, {
      colorBy: (id) => this.filters.colorBy(id),
      search: (query, go) => this.#search(query, go),
    });
    const showLevel = levelButtons(this.scene.layers.levels, (level, id) => this.#chooseLevel(level, id));
    this.voice = new Voice();
    this.walk = new Walk(this, (text) => this.voice.say(text));
    this.charts = new ChartsPanel(atlas, this.ranges, {
      brush: (id, rule, done) => this.filters.filterBy(id, rule, done),
      compare: () => this.filters.compare(),
      clear: () => this.filters.unfilter(),
    });
    this.members = new MembersPanel(atlas, {
      shown: () => this.filters.shown,
      pinned: () => this.focus.pinned,
      pin: (i) => this.focus.pin(i),
      say: (text) => this.say(text),
    });
    this.address = new Address(this);
    buildToolbar(this);
    buildHelp(this.mode, atlas.header);
    this.#listen();
    this.#reach();
    listenForFile(this);
    this.refill();
    this.filters.colorBy(atlas.channels[0].id);
  }

  /** Let the page ask. @param {import("./server.js").Server} server */
  connect(server) {
    this.answers = new Answers(server, this.atlas, {
      changed: () => this.scene.refresh(),
      pin: (i) => this.focus.pin(i),
    });
    this.focus.answers = this.answers;
    this.filters.answers = this.answers;
    this.refill();
  }

  /** @returns {import("../drawing/scene.js").Above} */
  #above() {
    const { hovered, pinned, point } = this.focus,
      { matches, selection } = this.filters;
    return {
      focus: point,
      hovered,
      pinned,
      path: this.path,
      open: this.drawing === "line",
      fence: selection?.path ?? null,
      line: selection?.line ?? null,
      route: this.focus.journey?.path ?? [],
      trails: this.player?.trails ? sampleOf(selection?.ids ?? this.atlas.n, MOST_TRAILS) : [],
      matches,
      moved: this.answers?.placeOf(pinned) ?? null,
    };
  }

  /** @param {number} level @param {string} id of the channel that colours it */
  #chooseLevel(level, id) {
    this.scene.layers.levels.chosen = level;
    this.filters.colorBy(id);
  }

  /** A hidden point cannot be asked about. @param {Uint8Array} states */
  #dropHidden(states) {
    const { hovered, pinned } = this.focus;
    if (hovered >= 0 && states[hovered] === HIDDEN) this.focus.hover(-1);
    if (pinned >= 0 && states[pinned] === HIDDEN) this.focus.release();
  }

  /** Fill whatever depends on the values of the features or on the embedding that is shown. */
  refill() {
    fillSidebar(this.atlas, {
      colorBy: (id) => this.filters.colorBy(id),
      pin: (i) => this.focus.pin(i),
      colorByFeature: (f) => this.filters.colorByFeature(f),
      go: (position) => this.player?.go(position),
    });
    buildTray(this);
    if (this.atlas.neighborLists) this.atlas.neighborLists.changed = () => this.scene.refresh();
    this.focus.showCard();
  }

  /** The theme has changed: whatever holds its colours is made again. */
  retint() {
    byId("theme").setAttribute("aria-pressed", String(theme() === "dark"));
    this.refill();
    this.filters.showSelection();
    this.filters.colorBy(/** @type {any} */ (this.filters.channel).id);
  }

  // ---- along a sequence -------------------------------------------------------------------------------------------

  /** @param {number} position */
  #move(position) {
    const { atlas, filters, scene } = this,
      before = atlas.facts;
    atlas.moveTo(position);
    scene.camera.follow(atlas.cloud.extent());
    filters.leave(); // the points have left the lasso and the line
    if (atlas.facts !== before) this.#changeFacts();
    scene.redraw(true);
  }

  #changeFacts() {
    this.refill();
    this.filters.showSelection();
  }

  #rest() {
    buildTray(this);
    fillWords(this.atlas);
    this.filters.settle();
    this.focus.keep();
  }

  // ---- search, lasso, gestures ------------------------------------------------------------------------------------

  /** @param {string} query @param {boolean} go move the camera to what was found */
  #search(query, go) {
    const found = this.filters.search(query),
      { plane, finite } = this.atlas.cloud,
      { camera } = this.scene;
    if (!go || !found.length) return;
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (const i of found)
      if (finite[i]) {
        box[0] = Math.min(box[0], plane[3 * i]);
        box[1] = Math.min(box[1], plane[3 * i + 1]);
        box[2] = Math.max(box[2], plane[3 * i]);
        box[3] = Math.max(box[3], plane[3 * i + 1]);
      }
    if (box[0] <= box[2])
      camera.show(found.length === 1 ? [box[0] - 0.1, box[1] - 0.1, box[0] + 0.1, box[1] + 0.1] : box);
    if (found.length === 1 && this.focus.pinned !== found[0]) this.focus.pin(found[0]);
    this.scene.redraw();
  }

  #listen() {
    const { scene, focus, filters } = this,
      { camera, renderer } = scene;
    byId("overlay").addEventListener("pointerdown", () => this.space?.stop());
    listen(byId("overlay"), this.mode, {
      hover: (x, y) => focus.hover(renderer.pick(x, y, REACH)),
      leave: () => focus.hover(-1),
      click: (x, y) => {
        const i = renderer.pick(x, y, REACH);
        if (i >= 0) focus.pin(i);
        else focus.release();
      },
      pan: (dx, dy) => {
        camera.pan(dx, dy);
        scene.redraw(true);
      },
      orbit: (dx, dy) => this.space?.turn(dx, dy),
      zoom: (factor, x, y) => {
        camera.zoomAt(factor, x, y);
        scene.redraw(true);
      },
      reset: () => {
        camera.reset();
        focus.release();
        scene.redraw();
      },
      draw: (tool, path, done) => this.#draw(tool, path, done),
      press: (event) => this.space?.press(event) || this.walk.press(event),
      escape: () => this.#escape(),
      settle: () => filters.settle(),
    });
  }

  #turned() {
    this.scene.redraw(true);
  }

  /** For keys and ears: one stop of the Tab key for many buttons, a focus that stays, and the map in words. */
  #reach() {
    nameMap(this.atlas);
    rove(byId("toolbar"), "button", "horizontal");
    rove(byId("legend"), ".class", "vertical");
    for (const id of ["legend", "card", "selection", "trust"]) if (byId(id)) keepFocus(byId(id), byId("overlay"));
  }

  /** @param {"lasso"|"line"} tool @param {number[][]} path @param {boolean} done */
  #draw(tool, path, done) {
    this.focus.hover(-1);
    this.path = done ? [] : path;
    this.drawing = tool;
    if (done && tool === "lasso") this.#lasso(path);
    else if (done) this.#line(path);
    if (done && this.filters.selection) this.focus.sheet.show(byId("selection"));
    this.scene.refresh();
  }

  /** @param {number[][]} path */
  #lasso(path) {
    const { scene, filters } = this,
      ids = path.length > 2 ? this.ranges.passing(scene.renderer.lasso(path)) : new Uint32Array(0);
    filters.isolated = null;
    if (ids.length)
      filters.select(ids, { path: this.mode.deep ? null : path.map(([x, y]) => scene.camera.toPlane(x, y)) });
    else {
      filters.clear();
      this.say("No points inside the lasso: the selection is cleared.");
    }
  }

  /** @param {number[][]} path */
  #line(path) {
    const { scene, filters } = this,
      { cloud, table } = this.atlas,
      corners = straightened(path, BEND).map(([x, y]) => scene.camera.toPlane(x, y));
    const [a, b] = [path[0], path[path.length - 1]],
      long = path.length > 1 && (corners.length > 2 || Math.hypot(b[0] - a[0], b[1] - a[1]) > BEND);
    const near = long ? pointsNear(cloud, (i) => filters.askable(i), corners, usualWidth(cloud, corners)) : null;
    filters.isolated = null;
    if (near && near.ids.length >= FEWEST) filters.select(near.ids, { line: { ...near, rows: trends(table, near) } });
    else {
      filters.clear();
      this.say(`Fewer than ${FEWEST} points lie near the line: draw it through the points.`);
    }
  }

  #escape() {
    if (this.focus.pinned >= 0) this.focus.release();
    else if (this.walk.leave()) return;
    else if (this.ranges.active && !this.filters.selection && !this.filters.matches) this.filters.unfilter();
    else {
      byId("search").value = "";
      byId("found").textContent = "";
      this.filters.clear();
    }
  }

  /** @param {string} text */
  say(text) {
    const box = byId("message");
    box.textContent = text;
    box.hidden = false;
    clearTimeout(this.silence);
    this.silence = setTimeout(() => (box.hidden = true), 4000);
  }

  // ---- out of the page --------------------------------------------------------------------------------------------

  /** What stands around a picture of the map. @returns {import("../drawing/exporter.js").Words} */
  get words() {
    const { atlas } = this,
      { channel, ramp, hidden } = this.filters,
      { title } = atlas.header;
    const legend =
      channel?.kind === "classes"
        ? /** @type {string[]} */ (channel.categories)
            .map((name, k) => ({ name, color: /** @type {string[]} */ (channel.colors)[k], k }))
            .filter((entry) => !hidden.has(entry.k))
        : [];
    const subtitle = [byId("subtitle").textContent, atlas.place].filter(Boolean).join(" · ");
    return { title, subtitle, legend, ramp: ramp ?? null };
  }

  /**
   * Save the view as a file.
   * @param {{kind: "png"|"svg", scale: number, transparent: boolean}} options
   */
  async exportPicture({ kind, scale, transparent }) {
    const { scene, words, atlas } = this;
    try {
      const blob = await (kind === "svg"
        ? svgOf(scene, words, { transparent })
        : pngOf(scene, words, { scale, transparent }));
      saveFile(blob, fileName([words.title, atlas.place], kind));
    } catch (error) {
      this.say(`This picture could not be saved: ${/** @type {Error} */ (error).message}.`);
    }
  }

  /** A plain copy of the state. */
  state() {
    const { atlas, focus, filters, scene } = this,
      row = (/** @type {number} */ i) => (i < 0 ? null : atlas.rowOf(i));
    const rows = (/** @type {Uint32Array|undefined|null} */ ids) => (ids ? Array.from(ids, (i) => atlas.rowOf(i)) : []);
    return {
      hovered: row(focus.hovered),
      pinned: row(focus.pinned),
      theme: theme(),
      card: focus.places(),
      journey: focus.journey && { ...focus.journey, path: focus.journey.path.map(row) },
      explanation: focus.point < 0 ? null : atlas.facts.explain(focus.point),
      selection: rows(filters.selection?.ids),
      contrast: filters.selection?.rows ?? null,
      matches: rows(filters.matches),
      moved: this.answers?.placeOf(focus.pinned) ?? null,
      exact: this.answers?.contrast ?? null,
      line: lineState(filters.selection?.line),
      lost: rows(Uint32Array.from(atlas.cloud.lost)),
      shown: filters.states.reduce((sum, s) => sum + Number(s === SHOWN), 0),
      colorBy: filters.channel?.name,
      renderer: scene.renderer.kind,
      view: scene.renderer.view(),
      ...scene.layers.state(),
      moving: Boolean(scene.moving),
      charts: this.charts.state(),
      rules: this.ranges.list(),
      neighbors: focus.point < 0 ? null : (atlas.neighborLists?.changes(focus.point) ?? null),
      members: this.members.state(),
      address: this.address.state(),
      position: atlas.position,
      frame: atlas.header.sequence && frameAt(atlas.position) >= 0 ? frameAt(atlas.position) : null,
      playing: Boolean(this.player?.playing),
      gliding: (this.player?.goal ?? null) !== null,
      taken: row(this.walk.taken),
      told: byId("live").textContent,
      trails: Array.from(this.#above().trails, row),
      rotation: this.mode.deep ? atlas.cloud.rotation : null,
      spinning: Boolean(this.space?.spinning),
    };
  }
}

/** @param {any} line */
function lineState(line) {
  return line
    ? {
        path: line.path,
        width: line.width,
        length: line.length,
        covered: line.covered,
        t: Array.from(line.t),
        rows: line.rows,
      }
    : null;
}
