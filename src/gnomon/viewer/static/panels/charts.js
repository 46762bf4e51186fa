// Charts of columns beside the map: what is shown there over all points, and ranges to filter the map by.
import { combobox } from "./combobox.js";
import { byId, drawn, formatCount, h } from "../dom.js";
import { ClassBins } from "../data/bins.js";
import { SHOWN } from "../drawing/renderer.js";

const MOST_CLASSES_AT_FIRST = 10;
const MOST_CLASS_BARS = 300;
const BAR_GAP = 1; // between the bars of values and that of missing ones, in bars
const LOST_BAR = 2; // width of the bar of missing values, in bars
const CHART_TALL = 100;
const LEAST_VISIBLE = 0.3; // share of the height that the tallest shown bar should reach

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
    for (const id of this.charts.keys()) if (!ids.includes(id)) this.charts.delete(id);
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
  #make(id) {
    const bins = /** @type {import("../page/ranges.js").Bins} */ (this.ranges.bins(id)),
      rule = () => this.ranges.rule(id),
      brush = (/** @type {import("../data/bins.js").Rule|null} */ next, /** @type {boolean} */ done) =>
        this.actions.brush(id, next, done),
      made = bins instanceof ClassBins ? classChart(bins, rule, brush) : rangeChart(bins, rule, brush);
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

/**
 * By how much the shown bars are enlarged so that few points can be seen: 1, 2, 5, 10, ...
 * @param {number} tallest share of the height
 */
function enlargement(tallest) {
  let factor = 1;
  for (let k = 0; tallest > 0 && tallest * factor < LEAST_VISIBLE; k++) factor *= k % 3 === 1 ? 2.5 : 2;
  return factor;
}

/**
 * @param {import("../data/bins.js").RangeBins} bins
 * @param {() => import("../data/bins.js").Rule|null} rule
 * @param {(rule: import("../data/bins.js").Rule|null, done: boolean) => void} brush
 */
function rangeChart(bins, rule, brush) {
  const { size, totals, places } = bins,
    lost = totals[size],
    wide = size + (lost ? BAR_GAP + LOST_BAR : 0),
    most = Math.max(...totals, 1);
  let logarithmic = false;
  const left = (/** @type {number} */ k) => (k < size ? k : size + BAR_GAP),
    part = (/** @type {number} */ count) => (logarithmic ? Math.log1p(count) / Math.log1p(most) : count / most),
    bar = (/** @type {number} */ k, /** @type {number} */ count, /** @type {string} */ kind) => {
      const tall = CHART_TALL * part(count);
      return drawn("rect", {
        class: kind,
        x: left(k),
        width: k < size ? 1 : LOST_BAR,
        y: CHART_TALL - tall,
        height: tall,
      });
    };
  const front = drawn("g"),
    back = drawn("g"),
    window_ = drawn("rect", { class: "window", y: 0, height: CHART_TALL, width: 0 });
  const svg = drawn(
    "svg",
    {
      class: "histogram",
      viewBox: `0 0 ${wide} ${CHART_TALL}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `Histogram of ${bins.name}`,
    },
    window_,
    back,
    front,
  );
  const range = () => {
    const held = /** @type {import("../data/bins.js").RangeRule|null} */ (rule());
    if (!held) return { a: 0, b: places, missing: false, none: false };
    if (held.low === null || held.high === null) return { a: 0, b: places, missing: true, none: true };
    return {
      a: held.low === -Infinity ? 0 : bins.placeOf(held.low),
      b: held.high === Infinity ? places : bins.placeOf(held.high),
      missing: held.missing,
      none: false,
    };
  };
  const set = (/** @type {number} */ a, /** @type {number} */ b, /** @type {boolean} */ missing, done = true) => {
    const whole = a <= 0 && b >= places;
    brush(whole && (missing || !lost) ? null : bins.rule(a, b, missing), done);
  };
  const handle = (/** @type {"From"|"To"} */ end) => {
    const input = h("input", {
      type: "range",
      min: 0,
      max: places,
      step: 1,
      "aria-label": `${end}, ${bins.name}`,
      oninput: () => {
        const { a, b, missing } = range(),
          at = Number(input.value);
        if (end === "From") set(Math.min(at, b), b, missing, false);
        else set(a, Math.max(at, a), missing, false);
      },
      onchange: () => brush(rule(), true),
      onkeydown: (/** @type {KeyboardEvent} */ event) => event.stopPropagation(), // the sequence has keys of its own
    });
    return input;
  };
  const from = handle("From"),
    to = handle("To");
  const absent = lost
    ? h("button", {
        class: "missing-values",
        onclick: () => {
          const { a, b, missing, none } = range();
          if (none) brush(null, true);
          else if (a > 0 || b < places) set(a, b, !missing);
          else brush({ low: null, high: null, missing: true }, true);
        },
      })
    : null;
  const ends = h("div", { class: "ends" }, h("span"), absent ?? "", h("span"));
  const enlarged = h("small", { class: "enlarged" });
  /** @type {Uint8Array|null} */
  let last = null;
  const logs = h(
    "button",
    {
      class: "log",
      title: "Heights by the logarithm of the counts",
      "aria-pressed": "false",
      onclick: () => {
        logarithmic = !logarithmic;
        logs.setAttribute("aria-pressed", String(logarithmic));
        if (last) show(last);
      },
    },
    "log",
  );
  drag(svg, wide, size, {
    range: (x0, x1, done) => {
      const value = (/** @type {number} */ x) => bins.low + (x / size) * (bins.high - bins.low);
      const [a, b] = [bins.placeOf(value(Math.min(x0, x1))), bins.placeOf(value(Math.max(x0, x1)))];
      set(a, b, range().missing && !range().none, done);
    },
    missing: () => absent?.click(),
    none: () => brush(null, true),
  });
  const show = (/** @type {Uint8Array} */ states) => {
    const counts = bins.count(states, SHOWN),
      factor = logarithmic ? 1 : enlargement(Math.max(...counts) / most),
      { a, b, missing, none } = range(),
      held = Boolean(rule());
    last = states;
    back.replaceChildren(...Array.from(totals, (count, k) => bar(k, count, "all")));
    front.replaceChildren(...Array.from(counts, (count, k) => bar(k, factor * count, "shown")));
    enlarged.textContent = factor > 1 ? `dark bars ×${formatCount(factor)}` : "";
    const edge = (/** @type {number} */ place) =>
      (size * (bins.first + place * bins.step - bins.low)) / (bins.high - bins.low);
    const half = bins.single ? 0.5 : 0,
      x0 = a <= 0 ? 0 : edge(a) - half,
      x1 = b >= places ? size : edge(b) + half;
    window_.setAttribute("x", String(x0));
    window_.setAttribute("width", String(held && !none ? Math.max(0.3, x1 - x0) : 0));
    from.value = String(a);
    to.value = String(b);
    const [low, high] = [bins.at(a), bins.at(b)].map((v) => bins.format(v, bins.dates));
    from.setAttribute("aria-valuetext", low);
    to.setAttribute("aria-valuetext", high);
    ends.children[0].textContent = low;
    ends.children[ends.children.length - 1].textContent = high;
    absent?.replaceChildren(`${formatCount(lost)} missing`);
    absent?.setAttribute("aria-pressed", String(missing));
  };
  return {
    node: h("div", {}, h("div", { class: "plot" }, svg, enlarged), h("div", { class: "handles" }, from, to), ends),
    tool: logs,
    show,
  };
}

/**
 * Drags over a histogram, in bars from its left end.
 * @param {any} svg @param {number} wide @param {number} size
 * @param {{range: (x0: number, x1: number, done: boolean) => void, missing: () => void, none: () => void}} tell
 */
function drag(svg, wide, size, tell) {
  let start = NaN,
    moved = false;
  const place = (/** @type {PointerEvent} */ event) => {
    const box = svg.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * wide;
  };
  const held = (/** @type {number} */ x) => Math.max(0, Math.min(size, x));
  svg.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0) return;
    start = place(event);
    moved = false;
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (Number.isNaN(start) || start > size + BAR_GAP / 2) return;
    const x = place(event);
    moved ||= Math.abs(x - start) > 0.02 * wide;
    if (moved) tell.range(held(start), held(x), false);
  });
  svg.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
    if (Number.isNaN(start)) return;
    if (moved) tell.range(held(start), held(place(event)), true);
    else if (start > size + BAR_GAP / 2) tell.missing();
    else tell.none(); // a click takes the range away
    start = NaN;
  });
  svg.addEventListener("pointercancel", () => (start = NaN));
}

/**
 * @param {ClassBins} bins
 * @param {() => import("../data/bins.js").Rule|null} rule
 * @param {(rule: import("../data/bins.js").Rule|null, done: boolean) => void} brush
 */
function classChart(bins, rule, brush) {
  const { categories, colors, totals } = bins,
    most = Math.max(...totals, 1),
    order = [...categories.keys()].filter((k) => totals[k]).sort((a, b) => totals[b] - totals[a] || a - b);
  let all = false;
  const chosen = () => /** @type {{classes: number[]}|null} */ (rule())?.classes ?? [];
  const toggle = (/** @type {number} */ k) => {
    const classes = chosen().includes(k) ? chosen().filter((one) => one !== k) : [...chosen(), k].sort((a, b) => a - b);
    brush(classes.length ? { classes } : null, true);
  };
  const rows = order.slice(0, MOST_CLASS_BARS).map((k) => {
    const part = h("i", { class: "shown", style: { background: colors[k] ?? "" } }),
      count = h("span", { class: "count" }),
      node = h(
        "button",
        { class: "bar-row", "data-class": k, title: categories[k], onclick: () => toggle(k) },
        h("bdi", {}, categories[k]),
        h("span", { class: "lane" }, h("i", { class: "all", style: { width: `${(100 * totals[k]) / most}%` } }), part),
        count,
      );
    return { k, node, part, count };
  });
  const more = h("button", {
    class: "link",
    onclick: () => {
      all = !all;
      fold();
    },
  });
  const fold = () => {
    rows.forEach(({ node, k }, at) => (node.hidden = !all && at >= MOST_CLASSES_AT_FIRST && !chosen().includes(k)));
    more.hidden = rows.length <= MOST_CLASSES_AT_FIRST;
    more.textContent = all ? "fewer" : `all ${formatCount(rows.length)}`;
  };
  const enlarged = h("small", { class: "enlarged" });
  return {
    node: h("div", { class: "class-bars" }, enlarged, ...rows.map(({ node }) => node), more),
    tool: null,
    show: (/** @type {Uint8Array} */ states) => {
      const counts = bins.count(states, SHOWN),
        factor = enlargement(Math.max(...counts) / most);
      enlarged.textContent = factor > 1 ? `dark bars ×${formatCount(factor)}` : "";
      for (const { k, node, part, count } of rows) {
        part.hidden = !counts[k];
        part.style.width = `${(100 * factor * counts[k]) / most}%`;
        count.textContent =
          counts[k] === totals[k] ? formatCount(totals[k]) : `${formatCount(counts[k])} of ${formatCount(totals[k])}`;
        node.setAttribute("aria-pressed", String(chosen().includes(k)));
      }
      fold();
    },
  };
}
