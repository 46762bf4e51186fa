// Features that are collinear along the map, shown as one: each group stands in the place of one of its members.
import { ranks } from "../questions/line.js";

export class FeatureGroups {
  /**
   * @param {{feature: number, name: string, members: number[], weights: number[]}[]} entries
   * @param {string[]} names of the features
   */
  constructor(entries, names) {
    this.names = names;
    /** By the feature in whose place a group stands. */
    this.entries = new Map(entries.map((entry) => [entry.feature, entry]));
    this.others = new Set(entries.flatMap(({ feature, members }) => members.filter((f) => f !== feature)));
    /** @type {Map<number, {values: Float64Array, ranks: Float64Array}|null>} */
    this.known = new Map();
  }

  get size() {
    return this.entries.size;
  }

  /** Whether a feature is shown as part of a group that stands elsewhere. @param {number} f */
  isMember(f) {
    return this.others.has(f);
  }

  /** The features that the one stands for besides itself. @param {number} f */
  othersOf(f) {
    return this.entries.get(f)?.members.filter((m) => m !== f) ?? [];
  }

  /** What a feature, or the group in its place, is called. @param {number} f */
  name(f) {
    return this.entries.get(f)?.name ?? this.names[f];
  }

  /** The name, and for a group its members one a line. @param {number} f */
  title(f) {
    const entry = this.entries.get(f);
    if (!entry) return this.names[f];
    return [`${entry.name}: these go together along the map`, ...entry.members.map((m) => this.names[m])].join("\n");
  }

  /**
   * Scores in a group of all points with values and their ranks, made once; null for a single feature and where values
   * of a member are not in the page.
   * @param {number} f
   * @param {import("./features.js").FeatureTable} table
   */
  scores(f, table) {
    const entry = this.entries.get(f);
    if (!entry || !entry.members.every((m) => table.has(m))) return null;
    const found = this.known.get(f);
    if (found) return found;
    const points = table.everyone,
      values = new Float64Array(points.length);
    entry.members.forEach((m, k) => {
      const column = table.column(m);
      for (let row = 0; row < values.length; row++) values[row] += entry.weights[k] * column[points[row]];
    });
    const made = { values, ranks: ranks(values) };
    this.known.set(f, made);
    return made;
  }
}
