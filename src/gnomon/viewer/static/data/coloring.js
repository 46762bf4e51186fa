// What the colours of the points mean.
import { humanName } from "../dom.js";

/**
 * @typedef {{id: string, name: string, group: string, kind: "classes"|"ramp"|"plain", codes?: ArrayLike<number>,
 *   categories?: string[], missing?: number, dates?: boolean,
 *   colors?: string[], values?: () => ArrayLike<number>, lowStandsOut?: boolean}} Channel
 */

/**
 * Diagnostics of which high values stand out, and what they are called.
 * @type {Record<string, string>}
 */
const HIGH_STANDS_OUT = {
  knn_error: "Label missed by neighbours",
  false_neighbors: "False neighbours (count)",
  missing_neighbors: "Missing neighbours (count)",
  reach_of_false: "How far false neighbours lie in the data (radii)",
  reach_of_missing: "How far missing neighbours lie on the map (radii)",
  radius_ratio: "Thinner on the map than in the data (log₂ of radius)",
  outlier: "Outlier in the data (local outlier factor)",
};

/** What a diagnostic of a point is called. @param {string} name */
export function diagnosticName(name) {
  return HIGH_STANDS_OUT[name] ?? humanName(name);
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
      });
    } else {
      const values = () => core[column.key];
      channels.push({ id: column.key, name: column.name, group, kind: "ramp", values, dates: column.dates });
    }
  }
  for (const { name, key } of header.diagnostics || []) {
    channels.push({
      id: key,
      name: `${diagnosticName(name)}${where}`,
      group: "Trust",
      kind: "ramp",
      values: () => core[key],
      lowStandsOut: !(name in HIGH_STANDS_OUT),
    });
  }
  if (core.r2)
    channels.push({
      id: "r2",
      name: `Explained displacement (R²)${where}`,
      group: "Trust",
      kind: "ramp",
      values: () => core.r2,
      lowStandsOut: true,
    });
  if (core.doubt)
    channels.push({ id: "doubt", name: "Doubt of the label", group: "Trust", kind: "ramp", values: () => core.doubt });
  if (header.explanation?.distortion) {
    const distortion = { group: "Distortion", kind: /** @type {"ramp"} */ ("ramp") };
    channels.push({
      ...distortion,
      id: "log_area",
      name: `Room the map gives (log area)${where}`,
      values: () => core.log_area,
    });
    channels.push({
      ...distortion,
      id: "anisotropy",
      name: `Stretched more one way (anisotropy)${where}`,
      values: () => Float32Array.from(core.anisotropy, (v) => (Number.isFinite(v) ? v : NaN)),
    });
    if (core.torn)
      channels.push({
        id: "torn",
        name: `Torn neighbourhoods${where}`,
        group: "Distortion",
        kind: "classes",
        codes: core.torn,
        categories: ["whole", "torn"],
        colors: ["#c3ccd4", "#c4321a"],
      });
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
  return { id: `feature${f}`, name: table.names[f], group: "Features", kind: "ramp", values: () => table.column(f) };
}

/** 256 colours of a ramp. @param {string[]} stops @param {boolean} reversed */
export function rampColors(stops, reversed) {
  const ends = stops.map(rgbOf),
    out = new Uint8Array(768);
  // On white the bright end would glare: where high values should stand out it becomes a quiet pale, else it is left
  // out.
  if (reversed) ends.reverse()[0] = [228, 232, 216];
  for (let k = 0; k < 256; k++) {
    const t = (((reversed ? 1 : 0.93) * k) / 255) * (ends.length - 1),
      low = Math.min(ends.length - 2, Math.floor(t));
    for (let c = 0; c < 3; c++)
      out[3 * k + c] = Math.round(ends[low][c] + (t - low) * (ends[low + 1][c] - ends[low][c]));
  }
  return out;
}

/**
 * Range to spread a ramp over: all values, or without the outer hundredths where those are far away.
 * @param {ArrayLike<number>} values
 */
export function rampRange(values) {
  const known = Float64Array.from(values).filter(Number.isFinite).sort();
  if (!known.length) return { low: 0, high: 1, clippedLow: false, clippedHigh: false, missing: values.length };
  const at = (/** @type {number} */ q) => known[Math.min(known.length - 1, Math.floor(q * known.length))];
  let low = known[0],
    high = known[known.length - 1];
  const inner = at(0.99) - at(0.01),
    clippedHigh = inner > 0 && high - at(0.99) > inner,
    clippedLow = inner > 0 && at(0.01) - low > inner;
  if (clippedHigh) high = at(0.99);
  if (clippedLow) low = at(0.01);
  return { low, high, clippedLow, clippedHigh, missing: values.length - known.length };
}

/**
 * @param {Channel} channel
 * @param {number} n
 * @param {{ramp: string[], other: string}} theme
 * @returns {{colors: Uint8Array, ramp?: Uint8Array, range?: ReturnType<typeof rampRange>}}
 */
export function paint(channel, n, theme) {
  const colors = new Uint8Array(3 * n);
  if (channel.kind === "classes") {
    const classColors = /** @type {string[]} */ (channel.colors).map(rgbOf),
      codes = /** @type {ArrayLike<number>} */ (channel.codes);
    for (let i = 0; i < n; i++) colors.set(classColors[codes[i]], 3 * i);
    return { colors };
  }
  if (channel.kind === "plain") {
    const color = rgbOf("#3f6f9f");
    for (let i = 0; i < n; i++) colors.set(color, 3 * i);
    return { colors };
  }
  const values = /** @type {() => ArrayLike<number>} */ (channel.values)(),
    range = rampRange(values);
  const ramp = rampColors(theme.ramp, !channel.lowStandsOut),
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
