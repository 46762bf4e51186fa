// The chart of a column of numbers: bars, handles and a brush that set a rule, and a button for missing values.
import { drawn, formatCount, h } from "../dom.js";
import { SHOWN } from "../drawing/renderer.js";

const BAR_GAP = 1; // between the bars of values and that of missing ones, in bars
const LOST_BAR = 2; // width of the bar of missing values, in bars
const CHART_TALL = 100;
const CLICK = 0.02; // share of the width below which a drag is a click
const LEAST_VISIBLE = 0.3; // share of the height that the tallest shown bar should reach

/**
 * By how much the shown bars are enlarged so that few points can be seen: 1, 2, 5, 10, ...
 * @param {number} tallest share of the height
 */
export function enlargement(tallest) {
  let factor = 1;
  for (let k = 0; tallest > 0 && tallest * factor < LEAST_VISIBLE; k++) factor *= k % 3 === 1 ? 2.5 : 2;
  return factor;
}

export class Histogram {
  /**
   * @param {import("../data/bins.js").RangeBins} bins
   * @param {() => import("../data/bins.js").Rule|null} rule
   * @param {(rule: import("../data/bins.js").Rule|null, done: boolean) => void} brush
   */
  constructor(bins, rule, brush) {
    this.bins = bins;
    this.rule = rule;
    this.brush = brush;
    this.lost = bins.totals[bins.size];
    this.wide = bins.size + (this.lost ? BAR_GAP + LOST_BAR : 0);
    this.most = Math.max(...bins.totals, 1);
    this.logarithmic = false;
    /** @type {Uint8Array|null} */
    this.states = null;
    this.from = this.#handle("From");
    this.to = this.#handle("To");
    this.low = h("span");
    this.high = h("span");
    this.absent = this.lost ? h("button", { class: "missing-values", onclick: () => this.#toggleMissing() }) : null;
    this.enlarged = h("small", { class: "enlarged" });
    this.tool = this.#logButton();
    this.node = h(
      "div",
      {},
      h("div", { class: "plot" }, this.#drawing(), this.enlarged),
      h("div", { class: "handles", style: { "--bars": bins.size / this.wide } }, this.from, this.to),
      h("div", { class: "ends" }, this.low, this.absent ?? "", this.high),
    );
  }

  #drawing() {
    this.front = drawn("g");
    this.back = drawn("g");
    this.range = drawn("rect", { class: "window", y: 0, height: CHART_TALL, width: 0 });
    const svg = drawn(
      "svg",
      {
        class: "histogram",
        viewBox: `0 0 ${this.wide} ${CHART_TALL}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `Histogram of ${this.bins.name}`,
      },
      this.range,
      this.back,
      this.front,
    );
    this.#listen(svg);
    return svg;
  }

  #logButton() {
    const button = h(
      "button",
      {
        class: "log",
        title: "Heights by the logarithm of the counts",
        "aria-pressed": "false",
        onclick: () => {
          this.logarithmic = !this.logarithmic;
          button.setAttribute("aria-pressed", String(this.logarithmic));
          if (this.states) this.show(this.states);
        },
      },
      "log",
    );
    return button;
  }

  /** @param {"From"|"To"} end */
  #handle(end) {
    const input = h("input", {
      type: "range",
      min: 0,
      max: this.bins.places,
      step: 1,
      "aria-label": `${end}, ${this.bins.name}`,
      oninput: () => {
        const { a, b, missing } = this.#held(),
          at = Number(input.value);
        if (end === "From") this.#set(Math.min(at, b), b, missing, false);
        else this.#set(a, Math.max(at, a), missing, false);
      },
      onchange: () => this.brush(this.rule(), true),
      onkeydown: (/** @type {KeyboardEvent} */ event) => event.stopPropagation(), // the sequence has keys of its own
    });
    return input;
  }

  /** The places of the handles, and what is kept of missing values: with the range, or alone. */
  #held() {
    const { bins } = this,
      held = /** @type {import("../data/bins.js").RangeRule|null} */ (this.rule());
    if (!held || held.low === null || held.high === null)
      return { a: 0, b: bins.places, missing: Boolean(held), alone: Boolean(held) };
    return {
      a: held.low === -Infinity ? 0 : bins.placeOf(held.low),
      b: held.high === Infinity ? bins.places : bins.placeOf(held.high),
      missing: held.missing,
      alone: false,
    };
  }

  /** @param {number} a @param {number} b places @param {boolean} missing */
  #set(a, b, missing, done = true) {
    const whole = a <= 0 && b >= this.bins.places;
    this.brush(whole && (missing || !this.lost) ? null : this.bins.rule(a, b, missing), done);
  }

  #toggleMissing() {
    const { a, b, missing, alone } = this.#held();
    if (alone) this.brush(null, true);
    else if (a > 0 || b < this.bins.places) this.#set(a, b, !missing);
    else this.brush({ low: null, high: null, missing: true }, true);
  }

  /** Drags over the bars. @param {any} svg */
  #listen(svg) {
    const { bins, wide } = this,
      beyond = bins.size + BAR_GAP / 2;
    let start = NaN,
      moved = false;
    const place = (/** @type {PointerEvent} */ event) => {
      const box = svg.getBoundingClientRect();
      return ((event.clientX - box.left) / box.width) * wide;
    };
    const handleAt = (/** @type {number} */ x) =>
      bins.placeOf(bins.low + (Math.max(0, Math.min(bins.size, x)) / bins.size) * (bins.high - bins.low));
    const drag = (/** @type {PointerEvent} */ event, /** @type {boolean} */ done) => {
      const [a, b] = [start, place(event)].sort((p, q) => p - q).map(handleAt),
        { missing, alone } = this.#held();
      this.#set(a, b, missing && !alone, done);
    };
    svg.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      if (event.button !== 0) return;
      start = place(event);
      moved = false;
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
      if (Number.isNaN(start) || start > beyond) return;
      moved ||= Math.abs(place(event) - start) > CLICK * wide;
      if (moved) drag(event, false);
    });
    svg.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
      if (Number.isNaN(start)) return;
      if (moved) drag(event, true);
      else if (start > beyond) this.#toggleMissing();
      else this.brush(null, true); // a click takes the range away
      start = NaN;
    });
    svg.addEventListener("pointercancel", () => (start = NaN));
  }

  /** @param {Uint32Array} counts @param {string} kind @param {number} factor */
  #bars(counts, kind, factor) {
    const { most, bins, logarithmic } = this;
    return Array.from(counts, (count, k) => {
      const part = logarithmic ? Math.log1p(count) / Math.log1p(most) : (factor * count) / most,
        tall = CHART_TALL * part,
        [x, width] = k < bins.size ? [k, 1] : [bins.size + BAR_GAP, LOST_BAR];
      return drawn("rect", { class: kind, x, width, y: CHART_TALL - tall, height: tall });
    });
  }

  /** @param {Uint8Array} states */
  show(states) {
    const { bins, lost, absent } = this,
      counts = bins.count(states, SHOWN),
      factor = this.logarithmic ? 1 : enlargement(Math.max(...counts) / this.most),
      { a, b, missing, alone } = this.#held(),
      text = (/** @type {number} */ place) => bins.format(bins.at(place), bins.dates),
      low = `${a <= 0 && bins.beyond[0] ? "≤ " : ""}${text(a)}`,
      high = `${b >= bins.places && bins.beyond[1] ? "≥ " : ""}${text(b)}`;
    this.states = states;
    this.back.replaceChildren(...this.#bars(bins.totals, "all", 1));
    this.front.replaceChildren(...this.#bars(counts, "shown", factor));
    this.enlarged.textContent = factor > 1 ? `dark bars ×${formatCount(factor)}` : "";
    this.#showRange(a, b, this.rule() !== null && !alone);
    this.from.value = String(a);
    this.to.value = String(b);
    this.from.setAttribute("aria-valuetext", low);
    this.to.setAttribute("aria-valuetext", high);
    this.low.textContent = low;
    this.high.textContent = high;
    absent?.replaceChildren(`${formatCount(lost)} missing`);
    absent?.setAttribute("aria-pressed", String(missing));
  }

  /** @param {number} a @param {number} b places @param {boolean} held */
  #showRange(a, b, held) {
    const { bins } = this,
      half = bins.single ? 0.5 : 0,
      edge = (/** @type {number} */ place) =>
        (bins.size * (bins.first + place * bins.step - bins.low)) / (bins.high - bins.low),
      left = a <= 0 ? 0 : edge(a) - half,
      right = b >= bins.places ? bins.size : edge(b) + half;
    this.range.setAttribute("x", String(left));
    this.range.setAttribute("width", String(held ? Math.max(0.3, right - left) : 0));
  }
}
