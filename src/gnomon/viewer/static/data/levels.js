// Groups of points and their names, at nested levels: the coarse ones from afar, the finer ones near by.
import { islandsOf } from "./islands.js";
import { SHOWN } from "../drawing/renderer.js";

const MOST_GROUPS = 2000; // more are identifiers rather than classes

/**
 * @typedef {{name: string, caption: string, level: number, count: number, extent: number, reach: number,
 *   islands: Uint32Array[], inner: Group[], found?: boolean}} Group `level` counts from the coarsest, 0; `extent` and
 *     `reach` as of islandsOf; `found` in the data, so that its name is no label that the reader knows
 */

export class Levels {
  /** @param {import("./atlas.js").Atlas} atlas */
  constructor(atlas) {
    this.atlas = atlas;
    this.all = (atlas.header.levels ?? []).map((level) => {
      const channel = /** @type {import("./coloring.js").Channel} */ (atlas.channel(level.key));
      return { ...level, channel, label: channel === atlas.label };
    });
    /** Which level is named, -1 for one after the other while zooming in. */
    this.chosen = -1;
  }

  /**
   * The level whose groups a channel colours, -1 if none.
   * @param {import("./coloring.js").Channel|undefined} channel
   */
  of(channel) {
    return this.all.findIndex((level) => level.channel === channel);
  }

  /** What the legend tells of groups, by their names. @param {import("./coloring.js").Channel|undefined} channel */
  captions(channel) {
    if (channel === this.atlas.label) return this.atlas.header.captions ?? {};
    return this.all[this.of(channel)]?.captions ?? {};
  }

  /**
   * Groups of the points that are shown, by the colours they have.
   * @param {import("./coloring.js").Channel|undefined} channel
   * @param {Uint8Array} states
   * @param {number} least points of a group that is named
   * @returns {Group[]}
   */
  groups(channel, states, least) {
    if (channel?.kind !== "classes" || /** @type {string[]} */ (channel.categories).length > MOST_GROUPS) return [];
    const own = this.of(channel);
    if (own < 0 || this.chosen >= 0 || channel !== this.atlas.label)
      return this.#groupsOf(channel, Math.max(0, own), own, states, least);
    /** @type {Group[][]} */
    const levels = this.all.map((level, k) => this.#groupsOf(level.channel, k, k, states, least));
    for (let k = levels.length - 1; k > 0; k--) {
      const { parents } = this.all[k],
        holders = new Map(levels[k - 1].map((group) => [group.name, group]));
      for (const group of levels[k]) holders.get(parents[group.name])?.inner.push(group);
    }
    return levels[0];
  }

  /**
   * @param {import("./coloring.js").Channel} channel
   * @param {number} level as it is told
   * @param {number} own number of the level, -1 if the channel is none
   * @param {Uint8Array} states
   * @param {number} least
   * @returns {Group[]}
   */
  #groupsOf(channel, level, own, states, least) {
    const names = /** @type {string[]} */ (channel.categories),
      { plane } = this.atlas.cloud,
      captions = { ...this.captions(channel), ...this.all[own]?.captions };
    return this.#members(channel, states)
      .map((ids, k) => ({ ids, k }))
      .filter(({ ids, k }) => ids.length >= least && k !== channel.missing)
      .map(({ ids, k }) => ({
        name: names[k],
        caption: captions[names[k]] ?? "",
        level,
        count: ids.length,
        ...islandsOf(plane, ids),
        inner: [],
        found: this.all[own]?.found,
      }));
  }

  /**
   * Points shown of each class that have a position.
   * @param {import("./coloring.js").Channel} channel @param {Uint8Array} states
   */
  #members(channel, states) {
    const codes = /** @type {ArrayLike<number>} */ (channel.codes),
      { finite, n } = this.atlas.cloud,
      starts = new Uint32Array(/** @type {string[]} */ (channel.categories).length + 1);
    for (let i = 0; i < n; i++) if (states[i] === SHOWN && finite[i]) starts[codes[i] + 1]++;
    for (let k = 1; k < starts.length; k++) starts[k] += starts[k - 1];
    const next = starts.slice(),
      ids = new Uint32Array(starts[starts.length - 1]);
    for (let i = 0; i < n; i++) if (states[i] === SHOWN && finite[i]) ids[next[codes[i]]++] = i;
    return Array.from(starts.subarray(1), (end, k) => ids.subarray(starts[k], end));
  }
}
