// The chart of a column of classes: a bar and a button for each.
import { formatCount, h } from "../dom.js";
import { SHOWN } from "../drawing/renderer.js";
import { enlargement } from "./histogram.js";

const MOST_CLASSES_AT_FIRST = 10;
const MOST_CLASS_BARS = 300;

export class ClassBars {
  /**
   * @param {import("../data/bins.js").ClassBins} bins
   * @param {() => import("../data/bins.js").Rule|null} rule
   * @param {(rule: import("../data/bins.js").Rule|null, done: boolean) => void} brush
   */
  constructor(bins, rule, brush) {
    const { categories, totals } = bins;
    this.bins = bins;
    this.rule = rule;
    this.brush = brush;
    this.most = Math.max(...totals, 1);
    this.all = false;
    this.tool = null;
    const order = [...categories.keys()].filter((k) => totals[k]).sort((a, b) => totals[b] - totals[a] || a - b);
    this.rows = order.slice(0, MOST_CLASS_BARS).map((k) => this.#row(k));
    this.enlarged = h("small", { class: "enlarged" });
    this.more = h("button", {
      class: "link",
      onclick: () => {
        this.all = !this.all;
        this.#fold();
      },
    });
    this.node = h("div", { class: "class-bars" }, this.enlarged, ...this.rows.map(({ node }) => node), this.more);
  }

  /** @param {number} k */
  #row(k) {
    const { categories, colors, totals } = this.bins,
      part = h("i", { class: "shown", style: { background: colors[k] ?? "" } }),
      count = h("span", { class: "count" }),
      whole = h("i", { class: "all", style: { width: `${(100 * totals[k]) / this.most}%` } }),
      node = h(
        "button",
        { class: "bar-row", "data-class": k, title: categories[k], onclick: () => this.#toggle(k) },
        h("bdi", {}, categories[k]),
        h("span", { class: "lane" }, whole, part),
        count,
      );
    return { k, node, part, count };
  }

  /** The classes that are kept, none for all. @returns {number[]} */
  get chosen() {
    return /** @type {import("../data/bins.js").ClassRule|null} */ (this.rule())?.classes ?? [];
  }

  /** @param {number} k */
  #toggle(k) {
    const { chosen } = this,
      classes = chosen.includes(k) ? chosen.filter((one) => one !== k) : [...chosen, k].sort((a, b) => a - b);
    this.brush(classes.length ? { classes } : null, true);
  }

  #fold() {
    const { chosen, rows, more, all } = this;
    rows.forEach(({ node, k }, at) => (node.hidden = !all && at >= MOST_CLASSES_AT_FIRST && !chosen.includes(k)));
    more.hidden = rows.length <= MOST_CLASSES_AT_FIRST;
    more.textContent = all ? "fewer" : `all ${formatCount(rows.length)}`;
  }

  /** @param {Uint8Array} states */
  show(states) {
    const { bins, chosen, most } = this,
      { totals } = bins,
      counts = bins.count(states, SHOWN),
      factor = enlargement(Math.max(...counts) / most);
    this.enlarged.textContent = factor > 1 ? `dark bars ×${formatCount(factor)}` : "";
    for (const { k, node, part, count } of this.rows) {
      part.hidden = !counts[k];
      part.style.width = `${(100 * factor * counts[k]) / most}%`;
      count.textContent =
        counts[k] === totals[k] ? formatCount(totals[k]) : `${formatCount(counts[k])} of ${formatCount(totals[k])}`;
      node.setAttribute("aria-pressed", String(chosen.includes(k)));
    }
    this.#fold();
  }
}
