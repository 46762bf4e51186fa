// What was found out about one embedding: explanation and evaluation; mirrors facts.py.
import { explainPoint, typicalStretch } from "../questions/explanation.js";

export class Facts {
  /**
   * @param {{explanation?: {top: number}, evaluation?: Record<string, number>, evaluationNeighbors?: number,
   *   diagnostics?: {name: string, key: string}[]}} header
   * @param {Record<string, any>} columns
   * @param {number} d
   */
  constructor(header, columns, d) {
    this.header = header;
    this.columns = columns;
    this.d = d;
    this.diagnostics = header.diagnostics || [];
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
      const known = Float64Array.from(this.columns[key]).filter(Number.isFinite).sort();
      this.medians[key] = known.length ? known[known.length >> 1] : NaN;
    }
    return this.medians[key];
  }
}
