// The values of a column in bins or classes, and which points a rule about them keeps.
import { rampRange } from "./coloring.js";

const MOST_BINS = 40;
const HANDLE_PLACES = 200; // places of a handle
const FEW_WHOLE = 60; // whole numbers over at most so many have a bin each
const ONE_DAY = 86_400; // seconds

/**
 * What a chart keeps: values from low to high (infinite where open; null for none of the known ones) and, if asked for,
 * the missing ones; or the points of some classes.
 * @typedef {{low: number|null, high: number|null, missing: boolean}} RangeRule
 * @typedef {{classes: number[]}} ClassRule
 * @typedef {RangeRule|ClassRule} Rule
 */

/** A column as classes. */
export class ClassBins {
  /** @param {import("./coloring.js").Channel} channel */
  constructor(channel) {
    this.id = channel.id;
    this.name = channel.name;
    this.codes = /** @type {ArrayLike<number>} */ (channel.codes);
    this.categories = /** @type {string[]} */ (channel.categories);
    this.colors = /** @type {string[]} */ (channel.colors ?? []);
    this.totals = this.count(null);
  }

  /** Points of each class, of all or of those in a state. @param {Uint8Array|null} states @param {number} [state] */
  count(states, state) {
    const counts = new Uint32Array(this.categories.length);
    for (let i = 0; i < this.codes.length; i++) if (!states || states[i] === state) counts[this.codes[i]]++;
    return counts;
  }

  /** Mark the points that a rule keeps. @param {Rule} rule @param {Uint8Array} kept */
  mark(rule, kept) {
    const wanted = new Uint8Array(this.categories.length);
    for (const k of /** @type {ClassRule} */ (rule).classes) wanted[k] = 1;
    for (let i = 0; i < kept.length; i++) kept[i] = wanted[this.codes[i]];
  }

  /** Whether the column has all that a rule names. @param {Rule} rule */
  allows(rule) {
    return "classes" in rule && rule.classes.every((k) => k >= 0 && k < this.categories.length);
  }

  /** @param {Rule} rule */
  words(rule) {
    const { classes } = /** @type {ClassRule} */ (rule);
    const named = classes.length <= 3 ? classes.map((k) => this.categories[k]).join(", ") : `${classes.length} classes`;
    return `${this.name}: ${named}`;
  }
}

/** A column of numbers or dates. */
export class RangeBins {
  /** @param {import("./coloring.js").Channel} channel @param {(value: number, dates?: boolean) => string} format */
  constructor(channel, format) {
    this.id = channel.id;
    this.name = channel.name;
    this.dates = channel.dates;
    this.format = format;
    this.values = /** @type {() => ArrayLike<number>} */ (channel.values)();
    const { low, high, clippedLow, clippedHigh } = rampRange(this.values),
      whole = !channel.dates && everyWhole(this.values),
      span = high - low;
    /** One bin for each whole number, or even ones. */
    this.single = whole && span < FEW_WHOLE;
    this.low = this.single ? low - 0.5 : low;
    this.high = this.single ? high + 0.5 : high > low ? high : low + 1;
    this.size = this.single ? span + 1 : MOST_BINS;
    /** From one place of a handle to the next, and where the first is. */
    this.step = whole
      ? Math.max(1, Math.ceil(span / HANDLE_PLACES))
      : channel.dates && span > HANDLE_PLACES * ONE_DAY
        ? ONE_DAY * Math.ceil(span / HANDLE_PLACES / ONE_DAY)
        : (this.high - this.low) / HANDLE_PLACES;
    this.first = low;
    /** Whether values lie beyond the ends. */
    this.beyond = [clippedLow, clippedHigh];
    this.places = Math.max(1, Math.ceil((high - low) / this.step - 1e-9));
    this.#encode();
    this.totals = this.count(null);
  }

  /** The bin of every value; the outer ones hold what lies beyond them, one more the missing. */
  #encode() {
    const { values, low, high, size } = this,
      codes = new Uint8Array(values.length),
      factor = size / (high - low);
    for (let i = 0; i < codes.length; i++) {
      const at = Math.floor((values[i] - low) * factor);
      codes[i] = Number.isNaN(values[i]) ? size : at < 0 ? 0 : at >= size ? size - 1 : at;
    }
    this.codes = codes;
  }

  /** @param {Uint8Array|null} states @param {number} [state] */
  count(states, state) {
    const counts = new Uint32Array(this.size + 1),
      codes = /** @type {Uint8Array} */ (this.codes);
    for (let i = 0; i < codes.length; i++) if (!states || states[i] === state) counts[codes[i]]++;
    return counts;
  }

  /** The value at a place of a handle, in as few digits as tell it from the next. @param {number} place */
  at(place) {
    const digits = Math.max(0, Math.min(20, Math.ceil(-Math.log10(this.step)) + 1));
    return Number((this.first + place * this.step).toFixed(digits));
  }

  /** The place of a handle nearest to a value. @param {number} value */
  placeOf(value) {
    return Math.max(0, Math.min(this.places, Math.round((value - this.first) / this.step)));
  }

  /**
   * The rule between two places: open at the outer ones.
   * @param {number} a @param {number} b @param {boolean} missing
   */
  rule(a, b, missing) {
    const low = a <= 0 ? -Infinity : this.at(a),
      high = b >= this.places ? Infinity : this.at(b);
    return { low, high, missing };
  }

  /** @param {Rule} rule @param {Uint8Array} kept */
  mark(rule, kept) {
    const { low, high, missing } = /** @type {RangeRule} */ (rule),
      { values } = this,
      [from, to] = [low ?? Infinity, high ?? -Infinity],
      lost = missing ? 1 : 0;
    for (let i = 0; i < kept.length; i++) {
      const value = values[i];
      kept[i] = value >= from && value <= to ? 1 : value !== value ? lost : 0;
    }
  }

  /** @param {Rule} rule */
  allows(rule) {
    return "low" in rule && (rule.low === null || (rule.high !== null && rule.low <= rule.high));
  }

  /** @param {Rule} rule */
  words(rule) {
    const { low, high, missing } = /** @type {RangeRule} */ (rule),
      text = (/** @type {number} */ v) => this.format(v, this.dates);
    if (low === null || high === null) return `${this.name} missing`;
    const open = [low === -Infinity, high === Infinity],
      range = open[0] && open[1] ? "known" : open[0] ? `≤ ${text(high)}` : open[1] ? `≥ ${text(low)}` : "";
    return `${this.name} ${range || `in ${text(low)}..${text(high)}`}${missing ? " or missing" : ""}`;
  }
}

/** @param {ArrayLike<number>} values */
function everyWhole(values) {
  for (let i = 0; i < values.length; i++) if (values[i] % 1 !== 0 && Number.isFinite(values[i])) return false;
  return true;
}
