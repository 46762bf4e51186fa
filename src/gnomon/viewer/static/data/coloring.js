// What the colours of the points mean.
import { humanName } from "../dom.js";
import { finiteOf } from "./order.js";

/**
 * @typedef {{id: string, name: string, group: string, kind: "classes"|"ramp"|"plain", codes?: ArrayLike<number>,
 *   categories?: string[], missing?: number, dates?: boolean,
 *   colors?: string[], values?: () => ArrayLike<number>, lowStandsOut?: boolean, center?: number,
 *   says?: string, absent?: number, circle?: [number, number]}} Channel `absent`: points whose values are not in the
 *   page; `circle`: where values that start again begin, and after how much
 */

/**
 * A diagnostic of the points as colours: by the one name and scale that the library has for it.
 * @param {import("./payload.js").Header} header
 * @param {string} name of the column
 * @param {string} id
 * @param {() => ArrayLike<number>} values
 * @param {string} where
 * @returns {Channel}
 */
function diagnosticChannel(header, name, id, values, where) {
  const known = header.pointScores[name],
    channel = { id, name: `${diagnosticName(header, name)}${where}`, group: "Trust", says: known?.says };
  if (!known?.flags)
    return { ...channel, kind: "ramp", values, lowStandsOut: known?.low ?? true, center: known?.center ?? undefined };
  const given = values(),
    codes = new Uint8Array(given.length);
  for (let i = 0; i < codes.length; i++) codes[i] = Number.isFinite(given[i]) ? given[i] : 2;
  const missing = codes.includes(2),
    [usual, marked] = header.standsOut;
  return {
    ...channel,
    kind: "classes",
    codes,
    categories: [...known.flags, ...(missing ? ["not known"] : [])],
    missing: missing ? 2 : -1,
    colors: [...(known.low ? [marked, usual] : [usual, marked]), ...(missing ? [header.other] : [])],
  };
}

/** What a diagnostic of a point is called. @param {import("./payload.js").Header} header @param {string} name */
export function diagnosticName(header, name) {
  return header.pointScores[name]?.title ?? humanName(name);
}

/** @param {string} hex @returns {[number, number, number]} */
export function rgbOf(hex) {
  return [parseInt(hex.slice(1, 3), 16), parseInt(hex.slice(3, 5), 16), parseInt(hex.slice(5, 7), 16)];
}

/**
 * Everything the map can be coloured by, except features.
 * @param {import("./payload.js").Header} header
 * @param {Record<string, any>} core
 */
export function listChannels(header, core) {
  /** @type {Channel[]} */
  const channels = [];
  const { sequence } = header,
    where = sequence ? ` at ${sequence.labels[sequence.main]}` : "";
  for (const column of header.columns || []) {
    const group = column.role === "label" ? "Label" : "Data about the points";
    if (column.categories) {
      channels.push({
        id: column.key,
        name: column.name,
        group,
        kind: "classes",
        codes: core[column.key],
        categories: column.categories,
        missing: column.missing ? column.categories.length - 1 : -1,
        colors: column.colors,
        says: column.says,
      });
    } else {
      const values = () => core[column.key],
        { key: id, name, dates, says, circle } = column;
      channels.push({ id, name, group, kind: "ramp", values, dates, says, circle });
    }
  }
  const add = (/** @type {string} */ name, /** @type {string} */ id, /** @type {() => ArrayLike<number>} */ values) =>
    channels.push(diagnosticChannel(header, name, id, values, where));
  for (const { name, key } of header.diagnostics || []) add(name, key, () => core[key]);
  if (core.r2) add("r2", "r2", () => core.r2);
  if (core.doubt) add("label_doubt", "doubt", () => core.doubt);
  if (header.explanation?.distortion) {
    add("stretch", "stretch", () => Float32Array.from(core.log_area, (v) => v / Math.LN2));
    add("anisotropy", "anisotropy", () => Float32Array.from(core.anisotropy, (v) => (Number.isFinite(v) ? v : NaN)));
    if (core.torn) add("torn", "torn", () => core.torn);
  }
  if (!channels.length || channels[0].group !== "Label")
    channels.unshift({ id: "none", name: "One colour", group: "Label", kind: "plain" });
  return channels;
}

/**
 * The channel of a feature.
 * @param {import("./features.js").FeatureTable} table
 * @param {number} f
 * @returns {Channel}
 */
export function featureChannel(table, f) {
  const values = () => table.column(f),
    absent = table.n - table.height;
  return { id: `feature${f}`, name: table.names[f], group: "Features", kind: "ramp", values, absent };
}

/** 256 colours of a ramp. @param {string[]} stops @param {boolean} highStandsOut */
export function rampColors(stops, highStandsOut) {
  const ends = stops.map(rgbOf);
  if (document.documentElement.dataset.theme === "dark") {
    // On dark paper what is bright stands out, and the dark end would not be seen: it is left out.
    const bright = ends.slice(2);
    return between(highStandsOut ? bright : bright.reverse(), 1);
  }
  // On white the bright end would glare: where high values should stand out it becomes a quiet pale, else it is left
  // out.
  if (highStandsOut) ends.reverse()[0] = [228, 232, 216];
  return between(ends, highStandsOut ? 1 : 0.93);
}

/**
 * 256 colours along the first part of a line through stops.
 * @param {[number, number, number][]} ends
 * @param {number} part
 */
function between(ends, part) {
  const out = new Uint8Array(768);
  for (let k = 0; k < 256; k++) {
    const t = ((part * k) / 255) * (ends.length - 1),
      low = Math.min(ends.length - 2, Math.floor(t));
    for (let c = 0; c < 3; c++)
      out[3 * k + c] = Math.round(ends[low][c] + (t - low) * (ends[low + 1][c] - ends[low][c]));
  }
  return out;
}

/**
 * Range to spread a ramp over: all values, or without the outer hundredths where those are far away. Infinite values
 * lie beyond its ends; only NaN is missing.
 * @param {ArrayLike<number>} values
 */
export function rampRange(values) {
  const known = finiteOf(values).sort(),
    ends = [0, 0]; // of the values how many are infinite
  let missing = 0;
  for (let i = 0; known.length < values.length && i < values.length; i++)
    if (Number.isNaN(values[i])) missing++;
    else if (!Number.isFinite(values[i])) ends[Number(values[i] > 0)]++;
  if (!known.length) return { low: 0, high: 1, clippedLow: ends[0] > 0, clippedHigh: ends[1] > 0, missing };
  const at = (/** @type {number} */ q) => known[Math.min(known.length - 1, Math.floor(q * known.length))];
  let low = known[0],
    high = known[known.length - 1];
  const inner = at(0.99) - at(0.01),
    clippedHigh = inner > 0 && high - at(0.99) > inner,
    clippedLow = inner > 0 && at(0.01) - low > inner;
  if (clippedHigh) high = at(0.99);
  if (clippedLow) low = at(0.01);
  return { low, high, clippedLow: clippedLow || ends[0] > 0, clippedHigh: clippedHigh || ends[1] > 0, missing };
}

/**
 * @param {Channel} channel
 * @param {number} n
 * @param {{ramp: string[], diverging: string[], cyclic: string[], other: string}} theme
 * @returns {{colors: Uint8Array, ramp?: Uint8Array, range?: ReturnType<typeof rampRange>}}
 */
export function paint(channel, n, theme) {
  const colors = new Uint8Array(3 * n);
  if (channel.kind === "classes") {
    const classColors = /** @type {string[]} */ (channel.colors).map(rgbOf),
      codes = /** @type {ArrayLike<number>} */ (channel.codes);
    for (let i = 0; i < n; i++) for (let c = 0; c < 3; c++) colors[3 * i + c] = classColors[codes[i]][c];
    return { colors };
  }
  if (channel.kind === "plain") {
    const color = rgbOf("#3f6f9f");
    for (let i = 0; i < n; i++) colors.set(color, 3 * i);
    return { colors };
  }
  const values = /** @type {() => ArrayLike<number>} */ (channel.values)(),
    range = rampRange(values);
  range.missing -= channel.absent ?? 0;
  if (channel.center !== undefined) {
    const reach = Math.max(channel.center - range.low, range.high - channel.center);
    Object.assign(range, { low: channel.center - reach, high: channel.center + reach });
  }
  if (channel.circle) {
    const [low, period] = channel.circle;
    Object.assign(range, { low, high: low + period, clippedLow: false, clippedHigh: false });
  }
  const scale = channel.circle ? theme.cyclic : channel.center === undefined ? null : theme.diverging,
    ramp = scale ? between(scale.map(rgbOf), 1) : rampColors(theme.ramp, !channel.lowStandsOut),
    missing = rgbOf(theme.other),
    span = range.high - range.low || 1;
  for (let i = 0; i < n; i++) {
    const step = Math.round((255 * (values[i] - range.low)) / span);
    if (Number.isNaN(step)) colors.set(missing, 3 * i);
    else {
      const k = 3 * Math.max(0, Math.min(255, step));
      colors[3 * i] = ramp[k];
      colors[3 * i + 1] = ramp[k + 1];
      colors[3 * i + 2] = ramp[k + 2];
    }
  }
  return { colors, ramp, range };
}
