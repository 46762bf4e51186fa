// How rows change from one map to another: the numbers of evaluation/changes.py, and what is drawn of them.
import { nearestPoints } from "../data/neighbors.js";
import { formatNumber, formatPercent } from "../dom.js";

/**
 * @typedef {{a: number, b: number, neighbors: number, chance: number, matrix: number[][], translation: number[],
 *   lost: {key: string, most: number[]}, shift: {key: string, most: number[]}}} Change
 * @typedef {"lost"|"shift"} Measure
 * @typedef {import("../data/payload.js").Header &
 *   {maps: {name: string, caption: string, key: string, d: number}[], changes: Change[]}} LinkedHeader
 */

/** @type {Record<Measure, string>} */
export const MEASURE_NAMES = { lost: "neighbours lost", shift: "distance moved" };

export class Moved {
  /** @param {LinkedHeader} header @param {Record<string, any>} core @param {import("./plane.js").Plane[]} planes */
  constructor(header, core, planes) {
    this.header = header;
    this.core = core;
    this.planes = planes;
    this.change = header.changes[0];
    /** @type {Measure} */
    this.measure = "lost";
    this.placed = Uint8Array.from({ length: header.n }, (_, i) => Number(planes.every(({ cloud }) => cloud.finite[i])));
  }

  /** Names of the two maps. */
  get names() {
    const { a, b } = this.change;
    return [this.header.maps[a].name, this.header.maps[b].name];
  }

  /** The rows that changed most by the present measure. */
  get most() {
    return this.change[this.measure].most;
  }

  /** What a measure means, in a sentence. @param {Measure} measure */
  says(measure) {
    const [a, b] = this.names,
      { neighbors: k, chance } = this.change;
    return measure === "lost"
      ? `Share of the ${k} nearest points in ${a} that are not among the ${k} nearest in ${b}: who a point lies ` +
          `among. Unrelated maps would lose ${formatPercent(chance)}.`
      : `How far a point lies from its place in ${a} once that map is laid over ${b}: shifted, rotated, mirrored and ` +
          "scaled to fit best. In units of the spread of a map (root mean square distance from the centre). Islands " +
          "that change places move far though no point leaves its neighbours.";
  }

  /** @param {Measure} measure @returns {import("../data/coloring.js").Channel} */
  channel(measure) {
    const [a, b] = this.names;
    return {
      id: measure,
      name: `${measure === "lost" ? "Neighbours lost" : "Distance moved"}, ${a} → ${b}`,
      group: "What moved",
      kind: "ramp",
      values: () => this.core[this.change[measure].key],
    };
  }

  /** A value in words; empty for a row that took no part. @param {Measure} measure @param {number} i */
  told(measure, i) {
    const { neighbors } = this.change,
      value = this.core[this.change[measure].key][i];
    if (Number.isNaN(value)) return "";
    return measure === "lost" ? `${Math.round(value * neighbors)} of ${neighbors}` : formatNumber(value);
  }

  /** Neighbours of a row that only one of the two maps has, the nearest first. @param {number} i */
  neighbors(i) {
    const { a, b, neighbors } = this.change;
    if (!this.placed[i]) return { missing: [], wrong: [] };
    const [before, after] = [a, b].map((k) => {
      const { n, centered } = this.planes[k].cloud;
      return nearestPoints({ n, centered, finite: this.placed }, i, neighbors);
    });
    return { missing: before.filter((j) => !after.includes(j)), wrong: after.filter((j) => !before.includes(j)) };
  }

  /**
   * Where the other map of the pair has a row, laid over map k; null if k is neither.
   * @param {number} k @param {number} i
   */
  ghost(k, i) {
    const { a, b, matrix, translation } = this.change;
    if ((k !== a && k !== b) || !this.placed[i]) return null;
    const d = matrix.length,
      given = this.planes[k === a ? b : a].positionOf(i),
      p = Array.from({ length: d }, (_, c) => given[c] ?? 0),
      square = matrix[0].reduce((sum, v) => sum + v * v, 0), // matrix = scale x rotation
      laid = Array.from({ length: d }, (_, c) =>
        k === b
          ? p.reduce((sum, v, row) => sum + v * matrix[row][c], translation[c])
          : p.reduce((sum, v, row) => sum + ((v - translation[row]) * matrix[c][row]) / square, 0),
      );
    return laid.slice(0, this.planes[k].cloud.d);
  }
}

/**
 * The rotation that turns map k towards the first one; null for those that need none or have another dimension.
 * @param {LinkedHeader} header @param {number} k
 * @returns {number[][]|null}
 */
export function turnToFirst({ maps, changes }, k) {
  const change = changes.find(({ a, b }) => a === 0 && b === k);
  if (!change || maps[0].d !== maps[k].d) return null;
  const { matrix } = change,
    scale = Math.hypot(...matrix[0]);
  return matrix.map((_, row) => matrix.map((line) => line[row] / scale));
}
