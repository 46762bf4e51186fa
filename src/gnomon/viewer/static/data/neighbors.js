// Neighbours of a point in the map that are none in the data, and the other way round; as evaluation/neighborhoods.py.

/** @typedef {{wanted: number, missing: number[], wrong: number[]}} NeighborChanges nearest first */

export class NeighborLists {
  /**
   * @param {import("./local.js").LocalMaps} local whose neighbours are those in the data
   * @param {import("../drawing/cloud.js").Cloud} cloud
   */
  constructor(local, cloud) {
    this.local = local;
    this.cloud = cloud;
    this.at = "";
    /** @type {NeighborChanges} */
    this.found = { wanted: 0, missing: [], wrong: [] };
  }

  /** Looked up once for a point and its place. @param {number} i @returns {NeighborChanges} */
  changes(i) {
    const at = `${i} ${this.cloud.version}`;
    if (at !== this.at) {
      const inData = this.local.near(i).filter((j) => this.cloud.finite[j]),
        inMap = nearestPoints(this.cloud, i, this.local.k);
      this.found = {
        wanted: this.local.k,
        missing: inMap.length ? inData.filter((j) => !inMap.includes(j)) : [],
        wrong: inMap.filter((j) => !inData.includes(j)),
      };
      this.at = at;
    }
    return this.found;
  }
}

/**
 * The nearest points of a point in the map, the nearest first; none of a point without a place.
 * @param {Pick<import("../drawing/cloud.js").Cloud, "n"|"finite"|"centered">} cloud
 * @param {number} i
 * @param {number} count
 * @returns {number[]}
 */
export function nearestPoints({ n, finite, centered }, i, count) {
  /** @type {number[]} */
  const found = [],
    /** @type {number[]} */
    away = [];
  for (let j = 0; finite[i] && j < n; j++) {
    if (j === i || !finite[j]) continue;
    let square = 0;
    for (let c = 0; c < 3; c++) square += (centered[3 * j + c] - centered[3 * i + c]) ** 2;
    if (found.length === count && square >= away[count - 1]) continue;
    let at = Math.min(found.length, count - 1);
    for (; at > 0 && away[at - 1] > square; at--) {
      away[at] = away[at - 1];
      found[at] = found[at - 1];
    }
    away[at] = square;
    found[at] = j;
  }
  return found;
}
