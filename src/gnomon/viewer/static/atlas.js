// Everything that is known about the map, decoded; no state of the page.
import { Cloud } from "./cloud.js";
import { featureChannel, listChannels } from "./coloring.js";
import { typicalStretch } from "./explanation.js";
import { FeatureTable } from "./features.js";
import { loadGroup } from "./payload.js";
import { Thumbnails } from "./thumbnail.js";

export class Atlas {
  /** @param {import("./payload.js").Header} header @param {Record<string, any>} core decoded group "core" */
  constructor(header, core) {
    this.header = header;
    this.core = core;
    this.n = header.n;
    this.cloud = new Cloud(core.embedding, header.d);
    this.channels = listChannels(header, core);
    this.label = this.channels.find((c) => c.group === "Label" && c.kind === "classes");
    this.names = header.features?.names || [];
    this.typical = typicalStretch(core, header.d);
    this.table = new FeatureTable(this.names, this.n, {});
    this.thumbnails = new Thumbnails(header, this.table, {});
    /** @type {Record<string, number>} */
    this.medians = {};
  }

  /** Decode the values of the features and the pictures; the map is usable before. */
  async loadRest() {
    this.table = new FeatureTable(this.names, this.n, await loadGroup(this.header, "features"));
    this.thumbnails = new Thumbnails(this.header, this.table, await loadGroup(this.header, "images"));
  }

  /** Row number in the table that was mapped. @param {number} i */
  rowOf(i) {
    return this.core.rows ? this.core.rows[i] : i;
  }

  /** @param {string} id @returns {import("./coloring.js").Channel|undefined} */
  channel(id) {
    const match = /^feature(\d+)$/.exec(id);
    if (match) return this.table.has(Number(match[1])) ? featureChannel(this.table, Number(match[1])) : undefined;
    return this.channels.find((c) => c.id === id);
  }

  /** Median of a column over all points. @param {string} key */
  median(key) {
    if (!(key in this.medians)) {
      const known = Float64Array.from(this.core[key]).filter(Number.isFinite).sort();
      this.medians[key] = known.length ? known[known.length >> 1] : NaN;
    }
    return this.medians[key];
  }

  /** Places of the class names: medians of the shown points. @param {import("./coloring.js").Channel} channel @param {Uint8Array} states */
  classCenters(channel, states) {
    const codes = /** @type {ArrayLike<number>} */ (channel.codes), names = /** @type {string[]} */ (channel.categories);
    /** @type {number[][]} */
    const members = names.map(() => []);
    for (let i = 0; i < this.n; i++) if (this.cloud.finite[i] && states[i] === 2) members[codes[i]].push(i);
    const middle = (/** @type {number[]} */ ids, /** @type {number} */ axis) => Float32Array.from(ids, (i) => this.cloud.plane[3 * i + axis]).sort()[ids.length >> 1];
    return members.map((ids, k) => ({ name: names[k], count: ids.length, x: middle(ids, 0), y: middle(ids, 1) }))
      .filter((place) => place.count > 0).sort((a, b) => b.count - a.count);
  }

  /** Points whose label, name, category or row number matches. @param {string} query @returns {Uint32Array} */
  search(query) {
    const text = query.trim().toLowerCase(), found = [];
    if (!text) return new Uint32Array(0);
    const row = /^#?\d+$/.test(text) ? Number(text.replace("#", "")) : -1, onlyRow = text.startsWith("#");
    const hits = (this.header.columns || []).filter((c) => c.categories && !onlyRow).map((c) => {
      const exact = /** @type {string[]} */ (c.categories).some((name) => name.toLowerCase() === text);
      return { codes: this.core[c.key], good: /** @type {string[]} */ (c.categories).map((name) => (exact ? name.toLowerCase() === text : name.toLowerCase().includes(text))) };
    });
    const names = onlyRow ? undefined : this.header.pointNames;
    for (let i = 0; i < this.n; i++) {
      if (this.rowOf(i) === row || hits.some(({ codes, good }) => good[codes[i]]) || (names && names[i].toLowerCase().includes(text))) found.push(i);
    }
    return Uint32Array.from(found);
  }
}
