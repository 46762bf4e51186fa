// Charts of columns beside the map: what is shown there over all points, and ranges to filter the map by.
import { ClassBars } from "./bars.js";
import { ClassBins } from "../data/bins.js";
import { combobox } from "./combobox.js";
import { byId, formatCount, h } from "../dom.js";
import { Histogram } from "./histogram.js";
import { SHOWN } from "../drawing/renderer.js";

/**
 * @typedef {{brush: (id: string, rule: import("../data/bins.js").Rule|null, done: boolean) => void,
 *   compare: () => void, clear: () => void}} ChartActions
 */

export class ChartsPanel {
  /**
   * @param {import("../data/atlas.js").Atlas} atlas
   * @param {import("../page/ranges.js").Ranges} ranges
   * @param {ChartActions} actions
   */
  constructor(atlas, ranges, actions) {
    this.atlas = atlas;
    this.ranges = ranges;
    this.actions = actions;
    /** Columns asked for. @type {string[]} */
    this.added = [];
    /** The column that colours the map. */
    this.colored = "";
    /** @type {Map<string, {node: HTMLElement, show: (states: Uint8Array) => void}>} */
    this.charts = new Map();
    const chooser = combobox({
      label: "Add a chart",
      placeholder: "Add a chart: label, feature, trust …",
      options: (query) => atlas.columns(query).filter(({ id, kind }) => kind !== "plain" && !this.ids.includes(id)),
      choose: (id) => {
        this.add(id);
        chooser.show("");
      },
    });
    this.list = h("div", { class: "chart-list" });
    this.says = h("p", { class: "quiet" });
    byId("charts").querySelector(".body").append(chooser.node, this.list, this.says);
    byId("charts").addEventListener("toggle", () => this.states && this.show(this.states));
  }

  /** The columns that have a chart. */
  get ids() {
    return [...new Set([this.colored, ...this.ranges.rules.keys(), ...this.added])].filter((id) =>
      this.ranges.bins(id),
    );
  }

  /** @param {string} id */
  add(id) {
    if (!this.added.includes(id)) this.added.push(id);
    if (this.states) this.show(this.states);
  }

  /** @param {string} id */
  remove(id) {
    this.added = this.added.filter((one) => one !== id);
    if (this.ranges.rule(id)) this.actions.brush(id, null, true);
    else if (this.states) this.show(this.states);
  }

  /** Show what is shown on the map. @param {Uint8Array} states */
  show(states) {
    this.states = states;
    this.#showChips();
    if (!byId("charts").open) return;
    const ids = this.ids;
    for (const id of this.charts.keys()) if (!ids.includes(id)) this.#drop(id);
    for (const id of ids) if (!this.charts.has(id)) this.charts.set(id, this.#make(id));
    const nodes = ids.map((id) => /** @type {any} */ (this.charts.get(id)).node);
    if (nodes.length !== this.list.children.length || nodes.some((node, k) => node !== this.list.children[k]))
      this.list.replaceChildren(...nodes);
    for (const id of ids) this.charts.get(id)?.show(states);
    this.says.textContent = ids.length
      ? "Pale: all points. Dark: those shown. Drag over a histogram or move its handles to filter the map."
      : "Choose a column to see how its values are spread.";
  }

  /** @param {string} id */
  #drop(id) {
    this.charts.delete(id);
    this.ranges.known.delete(id);
  }

  /** @param {string} id */
  #make(id) {
    const bins = /** @type {import("../page/ranges.js").Bins} */ (this.ranges.bins(id)),
      rule = () => this.ranges.rule(id),
      brush = (/** @type {import("../data/bins.js").Rule|null} */ next, /** @type {boolean} */ done) =>
        this.actions.brush(id, next, done),
      made = bins instanceof ClassBins ? new ClassBars(bins, rule, brush) : new Histogram(bins, rule, brush);
    const close = h(
      "button",
      { class: "close", "aria-label": `Remove the chart of ${bins.name}`, onclick: () => this.remove(id) },
      "×",
    );
    const node = h(
      "section",
      { class: "chart", "data-column": id, "aria-label": bins.name },
      h("header", {}, h("h3", {}, h("bdi", {}, bins.name)), made.tool, close),
      made.node,
    );
    return {
      node,
      show: (/** @type {Uint8Array} */ states) => {
        close.hidden = id === this.colored && !this.ranges.rule(id);
        made.show(states);
      },
    };
  }

  /** The rules that hold, each to be taken away. */
  #showChips() {
    const box = byId("chips"),
      rules = this.ranges.list();
    box.hidden = !rules.length;
    if (!rules.length) return;
    let count = 0;
    for (const state of /** @type {Uint8Array} */ (this.states)) if (state === SHOWN) count++;
    const focused = [...box.querySelectorAll("button")].indexOf(/** @type {any} */ (document.activeElement));
    box.replaceChildren(
      ...rules.map(({ id, words }) =>
        h(
          "button",
          {
            class: "chip",
            "data-column": id,
            title: "Remove this filter",
            onclick: () => this.actions.brush(id, null, true),
          },
          h("bdi", {}, words),
          h("span", {}, " ×"),
        ),
      ),
      h("small", { role: "status" }, `${formatCount(count)} of ${formatCount(this.atlas.n)} points`),
      h("button", { class: "link", onclick: this.actions.compare }, "compare with the rest"),
      h("button", { class: "link", onclick: this.actions.clear }, "clear filters"),
    );
    if (focused >= 0) box.querySelectorAll("button")[Math.min(focused, box.children.length - 1)]?.focus();
  }

  state() {
    return this.ids.map((id) => {
      const bins = /** @type {import("../page/ranges.js").Bins} */ (this.ranges.bins(id)),
        shown = this.states ? Array.from(bins.count(this.states, SHOWN)) : [];
      return { id, name: bins.name, all: Array.from(bins.totals), shown, rule: this.ranges.rule(id) };
    });
  }
}
