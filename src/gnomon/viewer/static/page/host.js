// The page in a notebook: its state to the notebook around it, and the notebook's wishes to the page.
import { pointOf } from "../data/rows.js";

const SIGN = "gnomon"; // marks messages of this protocol; mirrors notebook/widget.js

/** @typedef {{selection: number[], hovered: number|null, pinned: number|null, color_by: string}} Shared */

/** @param {unknown} a @param {unknown} b */
function same(a, b) {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a === b || (a.length === b.length && a.every((value, k) => value === b[k]));
}

export class Host {
  /** @param {import("./page.js").Page} page */
  constructor(page) {
    this.page = page;
    /** What the last selection was told from. @type {unknown} */
    this.selection = null;
    /** @type {number[]} */
    this.rows = [];
    /** What the notebook knows. @type {Record<string, unknown>} */
    this.known = this.#state();
    const { scene } = page,
      drawn = scene.drawn;
    scene.drawn = () => {
      drawn();
      this.tell();
    };
    window.addEventListener("message", (event) => {
      if (event.source === window.parent && event.data?.[SIGN] === 1) this.#hear(event.data);
    });
    this.#post({ kind: "ready" });
  }

  /** To whoever embeds the page, whose address it cannot know. @param {Record<string, unknown>} told */
  #post(told) {
    window.parent.postMessage({ [SIGN]: 1, ...told }, "*");
  }

  /** @returns {Shared} */
  #state() {
    const { atlas, focus, filters } = this.page,
      row = (/** @type {number} */ i) => (i < 0 ? null : atlas.rowOf(i));
    if (filters.selection !== this.selection) {
      this.selection = filters.selection;
      this.rows = Array.from(filters.selection?.ids ?? [], (i) => atlas.rowOf(i));
    }
    return {
      selection: this.rows,
      hovered: row(focus.hovered),
      pinned: row(focus.pinned),
      color_by: filters.channel?.name ?? "",
    };
  }

  /** Say what has changed. */
  tell() {
    const state = this.#state(),
      changed = Object.entries(state).filter(([name, value]) => !same(this.known[name], value));
    this.known = state;
    if (changed.length) this.#post({ kind: "state", ...Object.fromEntries(changed) });
  }

  /** Take over what is well formed; the rest is left alone. @param {Record<string, unknown>} wish */
  #hear(wish) {
    const { atlas, focus, filters } = this.page;
    for (const column of Array.isArray(wish.columns) ? wish.columns : []) this.#addColumn(column);
    if (typeof wish.color_by === "string") {
      const channel = this.#channel(wish.color_by);
      if (channel !== undefined && channel !== filters.channel?.id) filters.colorBy(channel);
    }
    if (Array.isArray(wish.selection)) this.#select(wish.selection);
    for (const name of /** @type {const} */ (["hovered", "pinned"])) {
      if (!(name in wish)) continue;
      const i = Number.isInteger(wish[name]) ? pointOf(atlas, /** @type {number} */ (wish[name])) : -1;
      if (name === "hovered") focus.hover(i);
      else if (i < 0) focus.release();
      else if (i !== focus.pinned) focus.pin(i);
    }
    for (const name of Object.keys(this.known)) if (name in wish) this.known[name] = wish[name];
    this.tell(); // only what could not be met: an echo of what was would never end
  }

  /** @param {unknown[]} rows */
  #select(rows) {
    const { atlas, filters } = this.page;
    if (same(rows, this.#state().selection)) return;
    const chosen = new Set(rows.map((row) => (Number.isInteger(row) ? pointOf(atlas, Number(row)) : -1)));
    chosen.delete(-1);
    filters.isolated = null;
    if (chosen.size) filters.select(Uint32Array.from(chosen).sort());
    else filters.clear();
  }

  /** @param {string} name @returns {string|undefined} */
  #channel(name) {
    const { channels, table, names } = this.page.atlas,
      found = channels.find((one) => one.name === name);
    if (found) return found.id;
    const f = names.indexOf(name);
    return f >= 0 && table.has(f) ? `feature${f}` : undefined;
  }

  /** A column of the notebook to colour by. @param {any} column as widget.py encodes it, of all rows of the map */
  #addColumn(column) {
    const { atlas, filters } = this.page,
      { name, values, categories, colors, missing, circle } = column ?? {};
    if (typeof name !== "string" || !Array.isArray(values) || values.length !== atlas.header.samples) return;
    const id = `notebook ${name}`,
      old = atlas.channels.findIndex((one) => one.id === id),
      shown = Float32Array.from({ length: atlas.n }, (_, i) => values[atlas.rowOf(i)] ?? NaN),
      group = "From the notebook";
    /** @type {import("../data/coloring.js").Channel} */
    let channel = { id, name, group, kind: "ramp", values: () => shown, circle };
    if (Array.isArray(categories)) {
      if (!shown.every((code) => code >= 0 && code < categories.length)) return;
      channel = { id, name, group, kind: "classes", codes: shown, categories, colors, missing };
    }
    if (old < 0) atlas.channels.push(channel);
    else atlas.channels[old] = channel;
    if (filters.channel?.id === id) filters.colorBy(id);
  }
}
