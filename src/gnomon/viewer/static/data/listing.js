// Points as rows of a table: the columns to show, and the same as comma-separated values for other programs.
import { formatNumber, formatValue } from "../dom.js";

const FLOAT_DIGITS = 7; // of numbers stored in four bytes

/**
 * @typedef {{id: string, name: string, numeric: boolean, text: (i: number) => string, plain: (i: number) => string,
 *   key: (i: number) => number|string}} ListColumn `text` for people, `plain` for programs, `key` to sort by
 */

/** @param {import("./atlas.js").Atlas} atlas @returns {ListColumn} */
export function rowColumn(atlas) {
  const row = (/** @type {number} */ i) => atlas.rowOf(i),
    text = (/** @type {number} */ i) => String(row(i));
  return { id: "row", name: "row", numeric: true, text, plain: text, key: row };
}

/**
 * The names of the points; null if they have none.
 * @param {import("./atlas.js").Atlas} atlas @returns {ListColumn|null}
 */
export function pointNameColumn(atlas) {
  const names = atlas.header.pointNames;
  if (!names) return null;
  const text = (/** @type {number} */ i) => names[i];
  return { id: "name", name: "name", numeric: false, text, plain: (i) => guarded(names[i]), key: text };
}

/**
 * A column, score or feature; null if its values are not in the page.
 * @param {import("./atlas.js").Atlas} atlas @param {string} id
 * @returns {ListColumn|null}
 */
export function listColumn(atlas, id) {
  const channel = atlas.channel(id);
  if (!channel || channel.kind === "plain") return null;
  const { name, codes, categories, dates } = channel;
  if (channel.kind === "classes" && codes && categories) {
    const text = (/** @type {number} */ i) => categories[codes[i]],
      plain = (/** @type {number} */ i) => (codes[i] === channel.missing ? "" : guarded(text(i)));
    return { id, name, numeric: false, text, plain, key: (i) => codes[i] };
  }
  const values = /** @type {() => ArrayLike<number>} */ (channel.values)(),
    exact = values instanceof Float64Array && channel.group !== "Features";
  return {
    id,
    name,
    numeric: true,
    text: (i) => (Number.isNaN(values[i]) ? "–" : dates ? formatValue(values[i], true) : formatNumber(values[i])),
    plain: (i) => (dates ? dateText(values[i]) : numberText(values[i], exact)),
    key: (i) => values[i],
  };
}

/** @param {number} value @param {boolean} exact */
function numberText(value, exact) {
  if (Number.isNaN(value)) return "";
  return String(exact ? value : Number(value.toPrecision(FLOAT_DIGITS)));
}

/** @param {number} seconds */
function dateText(seconds) {
  return Number.isNaN(seconds) ? "" : formatValue(seconds, true);
}

/**
 * Spreadsheets run text that begins like a formula: a quote before it keeps it text.
 * @param {string} text
 */
function guarded(text) {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/** A cell as RFC 4180 has it. @param {string} text */
function quoted(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Where a point lies in the map that is shown. @param {import("../drawing/cloud.js").Cloud} cloud @param {number} i */
function placeOf({ d, finite, centered, center, scale }, i) {
  return Array.from({ length: d }, (_, c) =>
    finite[i]
      ? numberText(/** @type {number[]} */ (center)[c] + centered[3 * i + c] / /** @type {number} */ (scale), false)
      : "",
  );
}

/**
 * Points with all their columns and their place in the map, as comma-separated values.
 * @param {import("./atlas.js").Atlas} atlas
 * @returns {{head: string, rows: (ids: Uint32Array) => string}}
 */
export function csvOf(atlas) {
  const { table, cloud, channels, names } = atlas,
    columns = [rowColumn(atlas), pointNameColumn(atlas), ...channels.map(({ id }) => listColumn(atlas, id))].filter(
      (column) => column !== null,
    ),
    kept = Array.from(table.kept),
    axes = ["x", "y", "z"].slice(0, cloud.d);
  const line = (/** @type {string[]} */ cells) => `${cells.map(quoted).join(",")}\r\n`,
    row = (/** @type {number} */ i) =>
      line([
        ...columns.map(({ plain }) => plain(i)),
        ...placeOf(cloud, i),
        ...kept.map((f) => numberText(table.value(i, f), false)),
      ]);
  return {
    head: line([...columns.map(({ name }) => name), ...axes, ...kept.map((f) => names[f])].map(guarded)),
    rows: (ids) => Array.from(ids, row).join(""),
  };
}

/**
 * Points in the order of a column, missing values last.
 * @param {Uint32Array} ids @param {ListColumn} column @param {boolean} descending
 */
export function sortedBy(ids, { key, numeric }, descending) {
  const sign = descending ? -1 : 1;
  if (numeric || typeof key(ids[0] ?? 0) === "number") {
    const keys = new Float64Array(ids.length);
    for (let k = 0; k < keys.length; k++) keys[k] = sign * /** @type {number} */ (key(ids[k]));
    const order = Uint32Array.from(ids.keys()).sort(
      (a, b) => Number(Number.isNaN(keys[a])) - Number(Number.isNaN(keys[b])) || keys[a] - keys[b] || a - b,
    );
    return order.map((k) => ids[k]);
  }
  const { compare } = new Intl.Collator(undefined, { numeric: true });
  return ids.slice().sort((a, b) => sign * compare(String(key(a)), String(key(b))) || a - b);
}
