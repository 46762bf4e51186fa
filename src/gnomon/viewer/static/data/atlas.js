// Everything that is known about the map, decoded; no state of the page.
import { Cloud } from "../drawing/cloud.js";
import { featureChannel, listChannels } from "./coloring.js";
import { explainPoint, typicalStretch } from "../questions/explanation.js";
import { FeatureTable } from "./features.js";
import { Frames, frameAt } from "./frames.js";
import { FeatureGroups } from "./groups.js";
import { LocalMaps } from "./local.js";
import { NeighborLists } from "./neighbors.js";
import { finiteOf, upperMedian } from "./order.js";
import { loadGroup } from "./payload.js";
import { readSideFile } from "./sidefile.js";
import { Thumbnails } from "../drawing/thumbnail.js";

/** What was found out about one embedding: explanation and evaluation; mirrors columns.py. */
export class Facts {
  /**
   * @param {{explanation?: {top: number}, evaluation?: Record<string, number>,
   *   trust?: import("../panels/trust.js").Trust,
   *   diagnostics?: {name: string, key: string}[],
   *   featureGroups?: {feature: number, name: string, members: number[], weights: number[]}[]}} header
   * @param {Record<string, any>} columns
   * @param {number} d
   * @param {string[]} names of the features
   */
  constructor(header, columns, d, names) {
    this.header = header;
    this.columns = columns;
    this.d = d;
    this.diagnostics = header.diagnostics || [];
    this.groups = new FeatureGroups(header.featureGroups || [], names);
    this.typical = typicalStretch(columns, d);
    /** @type {Record<string, number>} */
    this.medians = {};
  }

  get explained() {
    return Boolean(this.header.explanation);
  }

  get evaluated() {
    return Object.keys(this.header.evaluation || {}).length > 0;
  }

  /** @param {number} i @returns {import("../questions/explanation.js").PointExplanation|null} */
  explain(i) {
    return explainPoint(this.columns, { d: this.d, explanation: this.header.explanation }, i);
  }

  /** Median of a column over all points. @param {string} key */
  median(key) {
    if (!(key in this.medians)) {
      this.medians[key] = upperMedian(finiteOf(this.columns[key]));
    }
    return this.medians[key];
  }
}

/** @param {import("./payload.js").Header} header @param {string} name of a table in the core */
function sizeOf(header, name) {
  const [height, width] = header.groups.core.columns[name].shape;
  return { height, width };
}

export class Atlas {
  /** @param {import("./payload.js").Header} header @param {Record<string, any>} core decoded group "core" */
  constructor(header, core) {
    this.header = header;
    this.core = core;
    this.n = header.n;
    this.cloud = new Cloud(core.embedding, header.d);
    this.channels = listChannels(header, core);
    /** How many of all points lie where, if not all are shown. @type {import("../drawing/density.js").Density|null} */
    this.density = header.density ? { counts: core.density, ...sizeOf(header, "density"), ...header.density } : null;
    this.label = this.channels.find((c) => c.group === "Label" && c.kind === "classes");
    this.names = header.features?.names || [];
    /** Where along the sequence the points are; whole numbers are frames. */
    this.position = header.sequence?.main ?? 0;
    /** What is known about the embedding of each frame. @type {Map<number, Facts>} */
    this.known = new Map([[this.position, new Facts(header, core, header.d, this.names)]]);
    this.nothing = new Facts({}, {}, header.d, this.names);
    /** @type {Frames|null} */
    this.frames = null;
    this.table = new FeatureTable(this.names, this.n, {});
    this.thumbnails = new Thumbnails(header, this.table, {});
    /** The local fits of the map; of the main one in a sequence. @type {LocalMaps|null} */
    this.local = null;
    /** Neighbours in the data against those in the map. @type {NeighborLists|null} */
    this.neighborLists = null;
  }

  /** Decode the embeddings of a sequence. */
  async loadFrames() {
    const { header, core } = this;
    if (header.sequence)
      this.frames = new Frames(
        header.sequence,
        /** @type {any} */ (await loadGroup(header, "sequence")),
        core.embedding,
        header.d,
      );
  }

  /** Decode the values of the features and the pictures; the map is usable before. */
  async loadRest() {
    const { valued } = this.core;
    this.table = new FeatureTable(this.names, this.n, await loadGroup(this.header, "features"), valued);
    this.thumbnails = new Thumbnails(this.header, this.table, await loadGroup(this.header, "images"), valued);
    if (this.header.local)
      this.local = new LocalMaps(
        this.header.local,
        await loadGroup(this.header, "local", this.core),
        this.n,
        this.header.d,
      );
    this.neighborLists = new NeighborLists(this.header.comparesNeighbors ? this.local : null, this.cloud);
    for (const [k, facts] of (this.header.sequence?.facts || []).entries()) {
      if (!facts) continue;
      const columns = await loadGroup(this.header, `frame${k}`, this.core);
      this.known.set(k, new Facts(facts, columns, this.header.d, this.names));
    }
  }

  /** Take what the page leaves out from the file beside it. @param {Blob} file */
  async open(file) {
    const { header, groups } = await readSideFile(file, /** @type {any} */ (this.header.sideFile));
    this.table = new FeatureTable(this.names, this.n, groups.features);
    if (this.thumbnails.partial) this.thumbnails = new Thumbnails(this.header, this.table, {});
    if (!groups.local) return;
    this.local = new LocalMaps(header.local, groups.local, this.n, this.header.d);
    if (this.header.comparesNeighbors) this.neighborLists = new NeighborLists(this.local, this.cloud);
  }

  /** Move the points along the sequence. @param {number} position */
  moveTo(position) {
    if (!this.frames || position === this.position) return;
    this.position = position;
    this.cloud.place(this.frames.at(position));
  }

  /** What is known about the embedding that is shown: nothing between two of them. */
  get facts() {
    return this.known.get(frameAt(this.position)) ?? this.nothing;
  }

  /** Features of the embedding that is shown that are one entry each. */
  get groups() {
    return this.facts.groups;
  }

  /** The frame nearest to the position of which something is known, or -1. @param {"explained"|"evaluated"} what */
  nearest(what) {
    const frames = [...this.known.keys()].filter((k) => this.known.get(k)?.[what]);
    return frames.sort((a, b) => Math.abs(a - this.position) - Math.abs(b - this.position) || a - b)[0] ?? -1;
  }

  /** The position in words, empty without a sequence. */
  get place() {
    const { sequence } = this.header,
      frame = frameAt(this.position);
    if (!sequence) return "";
    if (frame >= 0) return `${sequence.name}: ${sequence.labels[frame]}`;
    const k = Math.floor(this.position);
    return `${sequence.name}: between ${sequence.labels[k]} and ${sequence.labels[k + 1]}`;
  }

  /** Row number in the table that was mapped. @param {number} i */
  rowOf(i) {
    return this.core.rows ? this.core.rows[i] : i;
  }

  /** Columns, scores and features whose name contains a text. @param {string} query */
  columns(query) {
    const text = query.toLowerCase(),
      { table } = this;
    const features = Array.from(table.kept, (f) => ({
      id: `feature${f}`,
      name: table.names[f],
      group: "Features",
      kind: "ramp",
    }));
    return [...this.channels, ...features].filter((option) => option.name.toLowerCase().includes(text));
  }

  /** @param {string} id @returns {import("./coloring.js").Channel|undefined} */
  channel(id) {
    const match = /^feature(\d+)$/.exec(id);
    if (match) return this.table.has(Number(match[1])) ? featureChannel(this.table, Number(match[1])) : undefined;
    return this.channels.find((c) => c.id === id);
  }

  /** Points whose label, name, category or row number matches. @param {string} query @returns {Uint32Array} */
  search(query) {
    const text = query.trim().toLowerCase(),
      found = [];
    if (!text) return new Uint32Array(0);
    const row = Number(/^(?:#|row )?(\d+)$/.exec(text)?.[1] ?? -1),
      onlyRow = text.startsWith("#");
    const hits = (this.header.columns || [])
      .filter((c) => c.categories && !onlyRow)
      .map((c) => {
        const exact = /** @type {string[]} */ (c.categories).some((name) => name.toLowerCase() === text);
        return {
          codes: this.core[c.key],
          good: /** @type {string[]} */ (c.categories).map((name) =>
            exact ? name.toLowerCase() === text : name.toLowerCase().includes(text),
          ),
        };
      });
    const names = onlyRow ? undefined : this.header.pointNames;
    for (let i = 0; i < this.n; i++) {
      if (
        this.rowOf(i) === row ||
        hits.some(({ codes, good }) => good[codes[i]]) ||
        (names && names[i].toLowerCase().includes(text))
      )
        found.push(i);
    }
    return Uint32Array.from(found);
  }
}
