// Rules about columns that points must pass, all of them: what the charts filter by.
import { ClassBins, RangeBins } from "../data/bins.js";
import { formatValue } from "../dom.js";

/** @typedef {ClassBins|RangeBins} Bins */

export class Ranges {
  /** @param {import("../data/atlas.js").Atlas} atlas */
  constructor(atlas) {
    this.atlas = atlas;
    /** Columns in bins, made when first asked for. @type {Map<string, Bins>} */
    this.known = new Map();
    /** @type {Map<string, {rule: import("../data/bins.js").Rule, kept: Uint8Array}>} */
    this.rules = new Map();
    /** How many rules each point fails. */
    this.fails = new Uint8Array(atlas.n);
  }

  get active() {
    return this.rules.size > 0;
  }

  /** A column in bins; null if it has no values in the page. @param {string} id @returns {Bins|null} */
  bins(id) {
    const known = this.known.get(id);
    if (known) return known;
    const channel = this.atlas.channel(id);
    if (!channel || channel.kind === "plain") return null;
    const made = channel.kind === "classes" ? new ClassBins(channel) : new RangeBins(channel, formatValue);
    this.known.set(id, made);
    return made;
  }

  /** @param {string} id @returns {import("../data/bins.js").Rule|null} */
  rule(id) {
    return this.rules.get(id)?.rule ?? null;
  }

  /**
   * Give a column another rule, or none. Only the one column is looked at.
   * @param {string} id @param {import("../data/bins.js").Rule|null} rule
   * @returns {boolean} false if the column is not there or the rule does not fit it
   */
  set(id, rule) {
    const { fails } = this,
      bins = this.bins(id),
      before = this.rules.get(id);
    if (!bins || (rule && !bins.allows(rule))) return false;
    if (before) for (let i = 0; i < fails.length; i++) fails[i] -= 1 - before.kept[i];
    this.rules.delete(id);
    if (!rule) return true;
    const kept = before?.kept ?? new Uint8Array(fails.length);
    bins.mark(rule, kept);
    for (let i = 0; i < fails.length; i++) fails[i] += 1 - kept[i];
    this.rules.set(id, { rule, kept });
    return true;
  }

  clear() {
    this.rules.clear();
    this.fails.fill(0);
  }

  /** Those of some points that pass all rules. @param {Uint32Array} ids */
  passing(ids) {
    return this.active ? ids.filter((i) => !this.fails[i]) : ids;
  }

  /** The rules in words. @returns {{id: string, words: string}[]} */
  list() {
    return [...this.rules].map(([id, { rule }]) => ({ id, words: /** @type {Bins} */ (this.bins(id)).words(rule) }));
  }
}
