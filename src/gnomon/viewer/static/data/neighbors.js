// Neighbours of a point in the data against those in the map; as evaluation/neighborhoods.py.

/**
 * @typedef {{wanted: number, kept: number[], missing: number[], wrong: number[]}} NeighborChanges nearest first; all of
 *   the map are `kept` where those in the data are not known
 */

const MAP_ONLY = 15; // neighbours listed where those in the data are not known
const FEW_NEIGHBORS = 5;

export class NeighborLists {
  /**
   * @param {import("./local.js").LocalMaps|null} local whose neighbours are those in the data; null if not known
   * @param {import("../drawing/cloud.js").Cloud} cloud
   */
  constructor(local, cloud) {
    this.local = local;
    this.cloud = cloud;
    this.most = Math.min(local?.k ?? MAP_ONLY, cloud.n - 1);
    /** How many are compared. */
    this.wanted = this.most;
    /** Told when another number is asked for. @type {(() => void)|null} */
    this.changed = null;
    this.at = "";
    /** @type {NeighborChanges} */
    this.found = { wanted: 0, kept: [], missing: [], wrong: [] };
  }

  /** Whether the neighbours in the data are known. */
  get compares() {
    return this.local !== null;
  }

  /** Numbers of neighbours to choose from. */
  get choices() {
    const all = [FEW_NEIGHBORS, 2 * FEW_NEIGHBORS, 3 * FEW_NEIGHBORS, 6 * FEW_NEIGHBORS].filter((k) => k < this.most);
    return [...all, this.most];
  }

  /** Looked up once for a point, its place and a number of neighbours. @param {number} i @returns {NeighborChanges} */
  changes(i) {
    const { local, cloud, wanted } = this,
      at = `${i} ${cloud.version} ${wanted}`;
    if (at !== this.at) {
      const inMap = nearestPoints(cloud, i, wanted),
        inData = local ? local.near(i).slice(0, wanted) : inMap;
      this.found = {
        wanted,
        kept: inMap.filter((j) => inData.includes(j)),
        missing: inMap.length ? inData.filter((j) => cloud.finite[j] && !inMap.includes(j)) : [],
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
