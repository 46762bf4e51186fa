// What the server knows exactly: where a changed row goes, values, neighbours, and what sets a selection apart.
import { combobox } from "./combobox.js";
import { formatCount, formatNumber, formatPercent, h } from "../dom.js";
import { pointOf } from "../data/rows.js";
import { effectText } from "../questions/contrast.js";

const CALM = 80; // milliseconds without a change before the server is asked
const UNUSUAL = 0.95; // share of the rows that are more usual
const MOST_VALUES_TOLD = 12;

/** @typedef {{feature: string, value: number, low: number, high: number, whole: boolean}} FeatureAnswer */
/** @typedef {{row: number, name: string, distance: number}} NearRow */

export class Answers {
  /**
   * @param {import("../page/server.js").Server} server
   * @param {import("../data/atlas.js").Atlas} atlas
   * @param {{changed: () => void, pin: (i: number) => void}} on
   */
  constructor(server, atlas, on) {
    this.server = server;
    this.atlas = atlas;
    this.on = on;
    this.point = -1;
    /** @type {HTMLElement[]} */
    this.blocks = [];
    /** Values that were changed, by feature. @type {Map<number, number>} */
    this.values = new Map();
    /** Where the changed row goes, in the units of the map. @type {number[]|null} */
    this.place = null;
    /** @type {any} */
    this.selection = null;
    /** @type {any} */
    this.contrast = null;
  }

  /** Where the arrow of a pinned point ends. @param {number} pinned */
  placeOf(pinned) {
    return pinned >= 0 && pinned === this.point ? this.place : null;
  }

  /** For the card of a pinned point; what was typed stays while it is pinned. @param {number} i */
  pointBlocks(i) {
    if (i !== this.point) {
      this.point = i;
      this.#forget();
      this.blocks = [this.#whatIf(i), this.#exactly(i)];
    }
    return this.blocks;
  }

  #forget() {
    this.values.clear();
    this.place = null;
    clearTimeout(this.waiting);
  }

  /** @param {number} i */
  #whatIf(i) {
    const title = h("h3", {}, "What if"),
      { refusal } = this.server.about;
    if (refusal) return h("section", { class: "what-if" }, title, h("p", { class: "quiet" }, refusal));
    const rows = h("div", { class: "changes" }),
      told = h("div", { class: "told", role: "status" });
    const choice = combobox({
      label: "Feature to change",
      placeholder: "choose a feature to change …",
      options: (query) => {
        const text = query.toLowerCase();
        return this.atlas.names
          .map((name, f) => ({ id: String(f), name, group: "Features" }))
          .filter(({ id, name }) => !this.values.has(Number(id)) && name.toLowerCase().includes(text));
      },
      choose: (id) => {
        choice.show("");
        this.#ask("feature", { row: this.atlas.rowOf(i), feature: Number(id) }, told, (about) => {
          if (i === this.point && !this.values.has(Number(id))) rows.append(this.#change(i, Number(id), about, told));
        });
      },
    });
    return h("section", { class: "what-if" }, title, rows, choice.node, told);
  }

  /**
   * A feature with its value as a number and as a slider.
   * @param {number} i @param {number} f @param {FeatureAnswer} about @param {HTMLElement} told
   */
  #change(i, f, about, told) {
    const { value, low, high, whole } = about,
      step = whole ? 1 : "any",
      name = this.atlas.names[f];
    const set = (/** @type {HTMLInputElement} */ from, /** @type {HTMLInputElement} */ to) => {
      if (from.value.trim() === "" || !Number.isFinite(Number(from.value))) return;
      to.value = from.value;
      this.values.set(f, Number(from.value));
      this.#move(i, told);
    };
    const number = h("input", { type: "number", step, value, "aria-label": name, oninput: () => set(number, slider) });
    const slider = h("input", {
      type: "range",
      min: low,
      max: high,
      step: whole ? 1 : (high - low) / 200 || "any",
      "aria-label": `${name}, from ${formatNumber(low)} to ${formatNumber(high)}`,
      oninput: () => set(slider, number),
    });
    slider.value = String(value); // after its range is known
    this.values.set(f, value);
    const undo = () => {
      this.values.delete(f);
      row.remove();
      this.#move(i, told);
    };
    const row = h(
      "div",
      { class: "change" },
      h("span", { title: `now ${formatNumber(value)}` }, h("bdi", {}, name)),
      number,
      h("button", { class: "close", "aria-label": `Leave ${name} as it is`, onclick: undo }, "×"),
      slider,
    );
    return row;
  }

  /** @param {number} i @param {HTMLElement} told */
  #move(i, told) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      if (!this.values.size) {
        this.place = null;
        told.replaceChildren();
        this.on.changed();
        return;
      }
      const asked = JSON.stringify([...this.values]);
      this.#ask("move", { row: this.atlas.rowOf(i), values: [...this.values] }, told, (answer) => {
        if (i !== this.point || JSON.stringify([...this.values]) !== asked) return; // a later question is on its way
        this.place = answer.place;
        told.replaceChildren(...this.#moved(answer));
        this.on.changed();
      });
    }, CALM);
  }

  /** @param {{share: number, nearest: NearRow[], novelty: number, warnings: string[]}} answer */
  #moved({ share, nearest, novelty, warnings }) {
    return [
      h(
        "p",
        {},
        `It goes ${formatPercent(share)} of the width of the map. Nearest there: `,
        ...this.#links(nearest),
        ".",
      ),
      h(
        "p",
        { class: novelty > UNUSUAL ? "warn" : "quiet" },
        `The changed row is less usual than ${formatPercent(novelty)} of the rows of the map.`,
      ),
      ...warnings.map((text) => h("p", { class: "warn" }, text)),
    ];
  }

  /** @param {NearRow[]} near */
  #links(near) {
    return near.flatMap(({ row, name }, k) => {
      const point = pointOf(this.atlas, row);
      const text = h("bdi", {}, name);
      return [
        k ? ", " : "",
        point < 0 ? text : h("button", { class: "link", onclick: () => this.on.pin(point) }, text),
      ];
    });
  }

  /** @param {number} i */
  #exactly(i) {
    const told = h("div", { class: "told", role: "status" }),
      row = this.atlas.rowOf(i);
    const act = () =>
      this.#ask("row", { row }, told, ({ neighbors, features }) => {
        const lines = features
          .slice(0, MOST_VALUES_TOLD)
          .map((/** @type {{name: string, value: number}} */ one) =>
            h(
              "tr",
              {},
              h("td", { class: "name" }, h("bdi", {}, one.name)),
              h("td", { class: "num" }, String(one.value ?? "missing")),
            ),
          );
        const more = features.length - lines.length;
        told.replaceChildren(
          h("p", {}, "Nearest in the data: ", ...this.#links(neighbors), "."),
          h("table", { class: "exact" }, h("tbody", {}, ...lines)),
          more > 0 ? h("p", { class: "quiet" }, `and ${formatCount(more)} more, nearer to their mean`) : "",
        );
      });
    const button = h("button", { class: "link", onclick: act }, "exact values and neighbours");
    return h("section", { class: "exactly" }, button, told);
  }

  /**
   * For the panel of a selection: the contrast of the rows of the table, not of the values in the page.
   * @param {{ids: Uint32Array, path: number[][]|null}} selection
   */
  selectionBlock(selection) {
    if (selection !== this.selection) this.contrast = null;
    this.selection = selection;
    const told = h("div", { class: "told", role: "status" }, ...(this.contrast ? this.#contrasted(this.contrast) : [])),
      count = formatCount(this.atlas.header.samples);
    const act = () =>
      this.#ask("contrast", this.#chosen(selection), told, (answer) => {
        if (selection !== this.selection) return;
        this.contrast = answer;
        told.replaceChildren(...this.#contrasted(answer));
      });
    return h(
      "section",
      { class: "exactly" },
      h("button", { class: "link", onclick: act }, `compare exactly, over all ${count} rows`),
      told,
    );
  }

  /** Rows by number; where the page shows a sample, all rows inside the lasso. @param {any} selection */
  #chosen({ ids, path }) {
    const { cloud, core } = this.atlas;
    if (!core.rows || !path) return { rows: Array.from(ids, (i) => this.atlas.rowOf(i)) };
    const { scale, center } = /** @type {{scale: number, center: number[]}} */ (cloud);
    return { path: path.map((/** @type {number[]} */ p) => [p[0] / scale + center[0], p[1] / scale + center[1]]) };
  }

  /** @param {{selected: number, rest: number, features: {name: string, effect: number|null, auc: number}[]}} answer */
  #contrasted({ selected, rest, features }) {
    const lines = features.map(({ name, effect, auc }) =>
      h(
        "tr",
        {},
        h("td", { class: "name" }, h("bdi", {}, name)),
        h("td", { class: "num" }, effectText(effect, auc)),
        h("td", { class: "num" }, auc.toFixed(3)),
      ),
    );
    const heads = ["feature", "effect size", "AUC"].map((text) => h("th", {}, text));
    return [
      h("p", { class: "quiet" }, `${formatCount(selected)} rows against ${formatCount(rest)}, by their exact values`),
      h("table", { class: "exact" }, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...lines)),
    ];
  }

  /**
   * @param {string} question @param {Record<string, unknown>} details @param {HTMLElement} told where errors appear
   * @param {(answer: any) => void} then
   */
  #ask(question, details, told, then) {
    this.server
      .ask(question, details)
      .then(then)
      .catch((error) => told.replaceChildren(h("p", { class: "warn" }, error.message)));
  }
}
