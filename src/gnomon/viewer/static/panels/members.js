// The points that are shown as a table: to sort, to go to, to copy and to save.
import { combobox } from "./combobox.js";
import { byId, formatCount, h } from "../dom.js";
import { csvOf, listColumn, pointNameColumn, rowColumn, sortedBy } from "../data/listing.js";
import { copyText, fileName, saveFile } from "../data/handout.js";

const LIST_ROW = 27; // pixels
const LIST_VIEW = 12; // rows in sight
const LIST_SPARE = 4; // rows drawn beyond them at either end
const LIST_TALLEST = 8_000_000; // pixels that browsers can scroll over
const CSV_CHUNK = 20_000; // rows written at a time
const MOST_EXTRA = 3; // columns besides row, name and label

/**
 * @typedef {{shown: () => Uint32Array, pinned: () => number, pin: (i: number) => void, say: (text: string) => void}}
 *   MemberActions
 */

export class MembersPanel {
  /** @param {import("../data/atlas.js").Atlas} atlas @param {MemberActions} actions */
  constructor(atlas, actions) {
    this.atlas = atlas;
    this.actions = actions;
    /** @type {Uint32Array} */
    this.ids = new Uint32Array(0);
    /** Columns that have been shown. @type {Map<string, import("../data/listing.js").ListColumn|null>} */
    this.known = new Map();
    /** Columns besides row, name and label. @type {string[]} */
    this.extra = [];
    /** @type {{id: string, descending: boolean}|null} */
    this.order = null;
    this.stale = true;
    this.#build();
  }

  #build() {
    const { atlas } = this,
      box = byId("members"),
      button = (/** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ onclick) =>
        h("button", { class: "small", title, onclick }, text);
    this.count = h("p", { class: "summary" });
    this.head = h("thead");
    this.rows = h("tbody");
    this.table = h("table", { class: "members" }, this.head, this.rows);
    this.scroller = h(
      "div",
      {
        class: "scroller",
        tabindex: 0,
        role: "region",
        "aria-label": "Points in a table",
        onscroll: () => this.#draw(),
      },
      this.table,
    );
    const chooser = combobox({
      label: "Add a column",
      placeholder: "Add a column …",
      options: (query) =>
        atlas
          .columns(query)
          .filter(({ id, kind }) => kind !== "plain" && id !== atlas.label?.id && !this.extra.includes(id)),
      choose: (id) => {
        this.extra = [...this.extra, id].slice(-MOST_EXTRA);
        chooser.show("");
        this.#refill();
      },
    });
    box.querySelector(".body").append(
      this.count,
      h(
        "p",
        { class: "buttons" },
        button("Copy rows", "Copy these rows and columns, to paste into a spreadsheet", () => this.#copyRows()),
        button("Copy row numbers", "Copy the numbers of the rows as a list for Python", () => this.#copyNumbers()),
        button("Save CSV", "Save these rows with all columns and their places in the map", () => this.#save()),
      ),
      chooser.node,
      this.scroller,
      h(
        "p",
        { class: "quiet" },
        "The CSV has every column of this page and the places in the map that is shown. Features are as the page ",
        "holds them. Text that begins with =, +, - or @ gets a ' before it, so that no spreadsheet runs it.",
      ),
    );
    box.addEventListener("toggle", () => this.#refill());
    this.scroller.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#key(event));
  }

  /** Other points are shown on the map. */
  change() {
    this.stale = true;
    if (byId("members").open) this.#refill();
  }

  get columns() {
    const { atlas, known } = this;
    const column = (/** @type {string} */ id) => {
      if (!known.has(id)) known.set(id, listColumn(atlas, id));
      return known.get(id);
    };
    return [
      rowColumn(atlas),
      pointNameColumn(atlas),
      atlas.label ? column(atlas.label.id) : null,
      ...this.extra.map(column),
    ].filter((one) => one !== null && one !== undefined);
  }

  #refill() {
    if (!byId("members").open) return;
    const columns = this.columns;
    if (this.stale) this.found = this.actions.shown();
    const found = /** @type {Uint32Array} */ (this.found),
      by = this.order && columns.find(({ id }) => id === this.order?.id);
    this.ids = by && this.order ? sortedBy(found, by, this.order.descending) : found;
    if (this.stale) this.scroller.scrollTop = 0;
    this.stale = false;
    const all = this.ids.length === this.atlas.n;
    this.count.textContent = all
      ? `All ${formatCount(this.atlas.n)} points. Select or filter to list a part.`
      : `${formatCount(this.ids.length)} of ${formatCount(this.atlas.n)} points`;
    this.table.setAttribute("aria-rowcount", String(this.ids.length + 1));
    this.head.replaceChildren(h("tr", { "aria-rowindex": 1 }, ...columns.map((column) => this.#headCell(column))));
    this.#draw();
  }

  /** @param {import("../data/listing.js").ListColumn} column */
  #headCell({ id, name, numeric }) {
    const down = this.order?.id === id ? this.order.descending : null,
      sort = () => {
        this.order = down === null ? { id, descending: false } : down ? null : { id, descending: true };
        this.#refill();
        [...this.head.querySelectorAll("th")].find((cell) => cell.dataset.column === id)?.firstChild.focus();
      };
    return h(
      "th",
      {
        "data-column": id,
        class: numeric ? "num" : "",
        scope: "col",
        "aria-sort": down === null ? "none" : down ? "descending" : "ascending",
      },
      h(
        "button",
        { title: `Sort by ${name}`, onclick: sort },
        h("bdi", {}, name),
        down === null ? "" : down ? " ▼" : " ▲",
      ),
      this.extra.includes(id)
        ? h(
            "button",
            {
              class: "close",
              "aria-label": `Remove the column ${name}`,
              onclick: () => {
                this.extra = this.extra.filter((one) => one !== id);
                this.#refill();
              },
            },
            "×",
          )
        : null,
    );
  }

  /** Only the rows in sight are in the page. */
  #draw() {
    const { ids, scroller } = this,
      tall = Math.min(LIST_TALLEST, ids.length * LIST_ROW),
      room = Math.max(1, tall - LIST_VIEW * LIST_ROW),
      part = Math.max(0, Math.min(1, scroller.scrollTop / room)),
      top = Math.round(part * Math.max(0, ids.length - LIST_VIEW)),
      first = Math.max(0, top - LIST_SPARE),
      last = Math.min(ids.length, top + LIST_VIEW + LIST_SPARE),
      columns = this.columns,
      above =
        tall === ids.length * LIST_ROW ? first * LIST_ROW : Math.max(0, scroller.scrollTop - (top - first) * LIST_ROW),
      below = Math.max(0, tall - above - (last - first) * LIST_ROW);
    const spacer = (/** @type {number} */ height) =>
      h("tr", { "aria-hidden": "true" }, h("td", { style: { height: `${height}px`, padding: 0 } }));
    const held = document.activeElement?.closest("#members [data-at]")?.getAttribute("data-at");
    this.rows.replaceChildren(
      spacer(above),
      ...Array.from(ids.subarray(first, last), (i, k) =>
        h(
          "tr",
          {
            "aria-rowindex": first + k + 2,
            "data-at": first + k,
            class: i === this.actions.pinned() ? "here" : "",
            onclick: () => this.#pin(first + k),
          },
          ...columns.map(({ text, numeric }, c) =>
            h(
              "td",
              { class: numeric ? "num" : "" },
              c
                ? h("bdi", {}, text(i))
                : h("button", { class: "link", "aria-label": `Row ${text(i)}: pin it` }, text(i)),
            ),
          ),
        ),
      ),
      spacer(below),
    );
    if (held) this.#focus(Number(held));
  }

  /** @param {number} at place in the list */
  #pin(at) {
    this.actions.pin(this.ids[at]);
    this.#draw();
    this.#focus(at);
  }

  /** @param {number} at */
  #focus(at) {
    this.rows.querySelector(`[data-at="${at}"] button`)?.focus({ preventScroll: true });
  }

  /** Up and down from row to row. @param {KeyboardEvent} event */
  #key(event) {
    const row = /** @type {HTMLElement} */ (event.target).closest("[data-at]"),
      step = { ArrowDown: 1, ArrowUp: -1, PageDown: LIST_VIEW, PageUp: -LIST_VIEW }[event.key];
    if (!row || !step) return;
    const at = Math.max(0, Math.min(this.ids.length - 1, Number(/** @type {HTMLElement} */ (row).dataset.at) + step));
    if (!this.rows.querySelector(`[data-at="${at}"]`) || this.#outside(at)) {
      const tall = Math.min(LIST_TALLEST, this.ids.length * LIST_ROW) - LIST_VIEW * LIST_ROW;
      this.scroller.scrollTop =
        (tall * (at - (step > 0 ? LIST_VIEW - 1 : 0))) / Math.max(1, this.ids.length - LIST_VIEW);
      this.#draw();
    }
    this.#focus(at);
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} at */
  #outside(at) {
    const row = this.rows.querySelector(`[data-at="${at}"]`).getBoundingClientRect(),
      box = this.scroller.getBoundingClientRect();
    return row.bottom > box.bottom || row.top < box.top + LIST_ROW;
  }

  /** @param {string} text @param {string} what */
  async #copy(text, what) {
    const copied = await copyText(text);
    this.actions.say(copied ? `${what} copied.` : "This page may not use the clipboard here: save the CSV instead.");
  }

  #copyRows() {
    const columns = this.columns,
      cell = (/** @type {string} */ text) => text.replace(/[\t\r\n]+/g, " "),
      lines = Array.from(this.ids, (i) => columns.map(({ plain }) => cell(plain(i))).join("\t"));
    const text = [columns.map(({ name }) => cell(name)).join("\t"), ...lines].join("\n");
    this.#copy(text, `${formatCount(this.ids.length)} rows`);
  }

  #copyNumbers() {
    const rows = Array.from(this.ids, (i) => this.atlas.rowOf(i));
    this.#copy(`[${rows.join(", ")}]`, `${formatCount(rows.length)} row numbers`);
  }

  async #save() {
    const { ids } = this,
      { head, rows } = csvOf(this.atlas),
      parts = [head];
    for (let start = 0; start < ids.length; start += CSV_CHUNK) {
      parts.push(rows(ids.subarray(start, start + CSV_CHUNK)));
      if (start) await new Promise((resolve) => setTimeout(resolve)); // let the page be used
    }
    const { title } = this.atlas.header;
    saveFile(new Blob(parts, { type: "text/csv;charset=utf-8" }), fileName([title, "points"], "csv"));
  }

  state() {
    return {
      open: byId("members").open,
      count: this.ids.length,
      order: this.order,
      columns: this.columns.map(({ name }) => name),
      first: Array.from(this.ids.subarray(0, 5), (i) => this.atlas.rowOf(i)),
      drawn: this.rows.querySelectorAll("[data-at]").length,
    };
  }
}
