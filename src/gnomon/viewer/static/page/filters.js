// Colours, hidden classes, selections and search results: which points are shown, dimmed or hidden.
import { linePanel } from "../panels/along.js";
import { paint } from "../data/coloring.js";
import { contrast, joinGroups } from "../questions/contrast.js";
import { byId, formatCount } from "../dom.js";
import { classLegend, rampLegend } from "../panels/legend.js";
import { selectionPanel } from "../panels/panels.js";
import { trends } from "../questions/line.js";
import { DIMMED, HIDDEN, SHOWN, withOneClass } from "../drawing/renderer.js";

export class Filters {
  /**
   * @param {import("../data/atlas.js").Atlas} atlas
   * @param {import("../drawing/scene.js").Scene} scene
   * @param {import("./ranges.js").Ranges} ranges
   * @param {{recolored: (channel: import("../data/coloring.js").Channel) => void,
   *   changed: (states: Uint8Array) => void}} tell
   */
  constructor(atlas, scene, ranges, tell) {
    this.atlas = atlas;
    this.scene = scene;
    this.ranges = ranges;
    this.tell = tell;
    /**
     * @type {{ids: Uint32Array, rows: import("../questions/contrast.js").ContrastRow[]|null, profile: any,
     *   path: number[][]|null, line: any}|null}
     */
    this.selection = null;
    /** @type {Uint32Array|null} */
    this.matches = null;
    /** @type {import("../panels/answers.js").Answers|null} */
    this.answers = null;
    this.hidden = new Set();
    /** @type {number|null} */
    this.isolated = null;
    /** The class that the pointer rests on in the legend. @type {number|null} */
    this.previewed = null;
    this.states = new Uint8Array(atlas.n).fill(SHOWN);
  }

  /** @param {string} id */
  colorBy(id) {
    const channel = this.atlas.channel(id);
    if (!channel) return;
    if (this.channel?.id !== id) {
      if (this.isolated !== null) this.clear();
      this.hidden.clear();
    }
    this.channel = channel;
    const { colors, ramp, range } = paint(channel, this.atlas.n, this.atlas.header);
    this.ramp =
      ramp && range
        ? { name: channel.name, colors: ramp, low: range.low, high: range.high, range, dates: channel.dates }
        : null;
    this.scene.renderer.setColor(colors);
    this.tell.recolored(channel);
    this.apply();
  }

  /** @param {number} f */
  colorByFeature(f) {
    const kept = this.isolated === null ? null : this.selection;
    if (kept) this.isolated = null; // the selection stays though the classes are no longer coloured
    this.colorBy(`feature${f}`);
  }

  /**
   * Work out which points are hidden, dimmed or shown, and tell everyone.
   * @param {boolean} [moving] more will follow
   */
  apply(moving = false) {
    const { states, atlas, channel, ranges } = this,
      codes = channel?.kind === "classes" ? channel.codes : null;
    const focus = this.selection ? this.selection.ids : this.matches;
    states.fill(focus ? DIMMED : SHOWN);
    if (focus) for (const i of focus) states[i] = SHOWN;
    if (ranges.active) for (let i = 0; i < atlas.n; i++) if (ranges.fails[i]) states[i] = DIMMED;
    if (channel?.absent) for (let i = 0; i < atlas.n; i++) if (!atlas.table.knows(i)) states[i] = DIMMED;
    if (codes && this.hidden.size) for (let i = 0; i < atlas.n; i++) if (this.hidden.has(codes[i])) states[i] = HIDDEN;
    this.scene.renderer.setFilter(states);
    if (moving) {
      this.tell.changed(states);
      this.scene.redraw(true);
      return;
    }
    const least = focus ? Math.max(2, focus.length / 50) : 1; // no names for stray points of a selection
    this.scene.layers.filter(channel, states, least);
    this.tell.changed(states);
    this.#showLegend();
    this.scene.redraw();
  }

  /** The points or the camera have come to rest. */
  settle() {
    this.scene.redraw();
  }

  #showLegend() {
    const { channel, ramp } = this,
      { other } = this.atlas.header;
    this.previewed = null;
    const captions = this.scene.layers.levels.captions(channel);
    const actions = {
      captions,
      hidden: this.hidden,
      isolated: this.isolated,
      isolate: (/** @type {number} */ k) => this.isolate(k),
      toggle: (/** @type {number} */ k) => this.toggle(k),
      preview: (/** @type {number|null} */ k) => this.preview(k),
    };
    const scroll = byId("legend").scrollTop;
    byId("legend").replaceChildren(
      ramp
        ? rampLegend(ramp.colors, ramp.range, other, channel?.dates, channel?.says, !!channel?.circle)
        : channel?.kind === "classes"
          ? classLegend(channel, actions)
          : "",
    );
    byId("legend").scrollTop = scroll;
  }

  /** @param {number} k class */
  toggle(k) {
    if (!this.hidden.delete(k)) this.hidden.add(k);
    if (this.isolated === k) this.clear();
    this.apply();
  }

  /** Show one class among the shown points, without choosing it. @param {number|null} k class, or null to end it */
  preview(k) {
    if (k === this.previewed) return;
    this.previewed = k;
    const codes = /** @type {ArrayLike<number>} */ (this.channel?.codes);
    this.scene.renderer.setFilter(withOneClass(this.states, codes, k));
    this.scene.redraw();
  }

  /** Points of a class that the ranges let through. @param {number} k class */
  membersOf(k) {
    const codes = /** @type {ArrayLike<number>} */ (this.channel?.codes),
      all = Uint32Array.from({ length: this.atlas.n }, (_, i) => i);
    return all.filter((i) => codes[i] === k && !this.ranges.fails[i]);
  }

  /** @param {number} k class */
  isolate(k) {
    if (this.isolated === k) {
      this.clear();
      return;
    }
    const ids = this.membersOf(k);
    this.hidden.delete(k);
    if (!ids.length) {
      this.clear();
      return;
    }
    this.isolated = k;
    const name = /** @type {string[]} */ (this.channel?.categories)[k];
    const profile = this.channel === this.atlas.label ? this.atlas.header.profiles?.[name] : undefined;
    this.select(ids, { profile: this.atlas.table.size ? null : (profile ?? null) });
  }

  /** @param {Uint32Array} ids @param {{profile?: any, path?: number[][]|null, line?: any}} [origin] */
  select(ids, { profile = null, path = null, line = null } = {}) {
    const { groups, table, n } = this.atlas;
    const single = table.size && ids.length < n && !line ? contrast(table, ids) : null,
      rows = single && groups.size ? joinGroups(single, groups, table, ids) : single;
    this.selection = { ids, rows, profile, path, line };
    this.matches = null;
    this.showSelection();
    byId("selection").open = true;
    byId("side").scrollTo({ top: 0 });
    this.apply();
  }

  /** More values are known: paint and compare again. */
  renew() {
    if (this.selection?.line) this.selection.line.rows = trends(this.atlas.table, this.selection.line);
    else if (this.selection) this.select(this.selection.ids, this.selection);
    this.showSelection();
    this.colorBy(/** @type {any} */ (this.channel).id);
  }

  showSelection() {
    const box = byId("selection");
    box.hidden = !this.selection;
    if (!this.selection) return;
    const actions = { clear: () => this.clear(), colorBy: (/** @type {number} */ f) => this.colorByFeature(f) };
    const { line } = this.selection,
      content = line ? linePanel(this.atlas, line, actions) : selectionPanel(this.atlas, this.selection, actions);
    box.querySelector("h2").textContent = line ? "Along the line" : "Selection";
    box.querySelector(".body").replaceChildren(...content, this.answers?.selectionBlock(this.selection) ?? "");
  }

  /**
   * Another rule of a chart.
   * @param {string} id @param {import("../data/bins.js").Rule|null} rule @param {boolean} done
   */
  filterBy(id, rule, done) {
    this.ranges.set(id, rule);
    this.apply(!done);
  }

  /** Points that can be asked about: neither hidden nor left out by a chart. @param {number} i */
  askable(i) {
    return this.states[i] !== HIDDEN && !this.ranges.fails[i];
  }

  /** The points that are shown, ascending. */
  get shown() {
    const ids = new Uint32Array(this.atlas.n);
    let count = 0;
    for (let i = 0; i < ids.length; i++) if (this.states[i] === SHOWN) ids[count++] = i;
    return ids.slice(0, count);
  }

  /** Make a selection of the points that the charts leave. */
  compare() {
    const { shown } = this;
    this.isolated = null;
    if (shown.length) this.select(shown);
  }

  /** Without the rules of the charts. */
  unfilter() {
    this.ranges.clear();
    this.apply();
  }

  /** The points move: what was drawn among them no longer says where they are. */
  leave() {
    if (this.selection) this.selection.path = null;
    if (this.selection?.line) this.selection.line.path = [];
  }

  clear() {
    this.selection = null;
    this.isolated = null;
    this.matches = null;
    this.showSelection();
    this.apply();
  }

  /** @param {string} query @returns {Uint32Array} what was found */
  search(query) {
    if (!query.trim()) {
      byId("found").textContent = "";
      if (this.matches) this.clear();
      return new Uint32Array(0);
    }
    const found = this.atlas.search(query);
    byId("found").textContent = found.length ? `${formatCount(found.length)} found` : "nothing found";
    this.selection = null;
    this.isolated = null;
    this.matches = found.length ? found : null;
    this.showSelection();
    this.apply();
    return found;
  }
}
