// From text in the page to typed arrays; mirrors payload.py.
import { restored } from "./rounded.js";
import { bytesOf } from "./text.js";

/** Where the columns of a group lie. @typedef {{bytes: number, columns: Record<string, {dtype: string, shape: number[],
 *   offset: number}>}} Layout
 */

/**
 * @typedef {{n: number, d: number, title: string, method: string, samples: number, info: string[][], notes: string[],
 *   caution: string, doubts: string, apart: string, comparesNeighbors: boolean,
 *   verdicts?: import("../panels/verdicts.js").Judged[],
 *   alone?: import("../panels/alone.js").MapAlone,
 *   suspects?: {n: number, neighbors: number, alone: number, chance?: number|null,
 *     rows: [number, string, string, number][]},
 *   ramp: string[], other: string,
 *   columns?: {name: string, role: string, key: string, categories?: string[], colors?: string[],
 *     missing?: boolean, dates?: boolean, says?: string, circle?: [number, number]}[], diagnostics?:
 *     {name: string, key: string}[],
 *   features?: {names: string[], kept?: number}, pointNames?: string[],
 *   featureGroups?: {feature: number, name: string, members: number[], weights: number[]}[],
 *   pointScores: Record<string, {title: string, says: string, low: boolean, center: number|null,
 *     flags: [string, string]|null}>, diverging: string[], cyclic: string[], standsOut: [string, string],
 *   trust?: import("../panels/trust.js").Trust,
 *   explanation?: {top: number, distortion?:
 *     boolean}, local?: {neighbors: number, pooling: number}, captions?: Record<string, string>,
 *   cautions?: Record<string, string>, evaluation?:
 *     Record<string, number>,
 *   profiles?: Record<string, [string, number, number, boolean?, boolean?][]>, images?: number[],
 *   sequence?: {name: string, labels: string[], main: number, facts: (object|null)[]},
 *   levels?: {key: string, captions: Record<string, string>, parents: Record<string, string>, found?: boolean}[],
 *   host?: boolean, server?: {refusal: string},
 *   pixels?: {shape: number[], low: number, high: number},
 *   sideFile?: {name: string, id: string}, density?: {low: number[], high: number[]},
 *   groups: Record<string, Layout>}} Header
 */

const ARRAY_TYPES = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
};

/**
 * Unpack all parts of a group and drop their text from the page.
 * @param {string} group
 * @returns {Promise<Uint8Array>}
 */
async function unpack(group) {
  const parts = [];
  for (const script of document.querySelectorAll(`script[data-group="${group}"]`)) {
    const packed = new Blob([bytesOf(script.textContent || "")]);
    script.remove();
    parts.push(await unzip(packed));
  }
  return whole(parts);
}

/** @param {Blob} packed @returns {Promise<Uint8Array>} */
export async function unzip(packed) {
  const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {Uint8Array[]} parts @returns {Uint8Array} */
function whole(parts) {
  if (parts.length === 1) return parts[0];
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** @returns {Promise<Header>} */
export async function loadHeader() {
  return JSON.parse(new TextDecoder().decode(await unpack("header")));
}

/**
 * @param {Header} header
 * @param {string} group
 * @param {Record<string, any>} [core] decoded group "core", which is loaded before all others
 * @returns {Promise<Record<string, any>>} typed arrays by column name; empty if the page has no such group
 */
export async function loadGroup(header, group, core) {
  const layout = header.groups[group];
  if (!layout) return {};
  return restored(columnsOf(layout, [await unpack(group)]), header.n, header.d, core);
}

/**
 * @param {Layout} layout
 * @param {Uint8Array[]} parts
 * @returns {Record<string, any>} typed arrays by column name
 */
export function columnsOf(layout, parts) {
  const bytes = whole(parts);
  /** @type {Record<string, any>} */
  const columns = {};
  for (const [name, place] of Object.entries(layout.columns)) {
    const length = place.shape.reduce((product, size) => product * size, 1);
    columns[name] = new /** @type {any} */ (ARRAY_TYPES)[place.dtype](bytes.buffer, place.offset, length);
  }
  return columns;
}
