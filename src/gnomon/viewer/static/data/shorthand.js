// Rows, paths and pages in few letters, for addresses.

/** Ascending rows as gaps and runs, seven bits a byte, in base64 for addresses. @param {ArrayLike<number>} ids */
export function packRows(ids) {
  /** @type {number[]} */
  const bytes = [];
  const put = (/** @type {number} */ value) => {
    for (; value > 127; value = Math.floor(value / 128)) bytes.push((value & 127) | 128);
    bytes.push(value);
  };
  for (let k = 0, before = 0; k < ids.length;) {
    let end = k + 1;
    while (end < ids.length && ids[end] === ids[end - 1] + 1) end++;
    put(ids[k] - before);
    put(end - k - 1);
    before = ids[end - 1] + 1;
    k = end;
  }
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * The inverse of `packRows`.
 * @param {string} text @param {number} n rows there are
 * @throws {Error} if the text is no such list or names other rows
 */
export function unpackRows(text, n) {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/")),
    ids = [];
  let value = 0,
    factor = 1,
    next = 0,
    start = -1;
  for (let k = 0; k < letters.length; k++) {
    const byte = letters.charCodeAt(k);
    value += (byte & 127) * factor;
    factor *= 128;
    if (byte > 127) continue;
    if (start < 0) start = next + value;
    else {
      if (start + value >= n) throw new Error("rows beyond the last");
      for (let i = start; i <= start + value; i++) ids.push(i);
      next = start + value + 1;
      start = -1;
    }
    value = 0;
    factor = 1;
  }
  if (start >= 0 || factor > 1 || !ids.length) throw new Error("an unfinished list of rows");
  return Uint32Array.from(ids);
}

/**
 * Places of the plane, rounded.
 * @param {number[][]} path @param {number} places decimals of the width of the path
 */
export function packPath(path, places) {
  const flat = path.flat(),
    width = Math.max(...flat) - Math.min(...flat) || 1,
    digits = Math.max(2, Math.min(16, places - Math.floor(Math.log10(width))));
  return flat.map((v) => String(Number(v.toFixed(digits)))).join(",");
}

/** @param {string} text @returns {number[]} @throws {Error} if not all are numbers */
export function unpackNumbers(text) {
  const numbers = text.split(",").map(Number);
  if (!text || !numbers.every(Number.isFinite)) throw new Error("not numbers");
  return numbers;
}

/** @param {string} text @returns {number[][]} */
export function unpackPath(text) {
  const flat = unpackNumbers(text);
  if (flat.length % 2 || flat.length < 4) throw new Error("not a path");
  return Array.from({ length: flat.length / 2 }, (_, k) => [flat[2 * k], flat[2 * k + 1]]);
}

/**
 * Eight letters that differ between pages of other points or other columns (FNV-1a).
 * @param {import("./payload.js").Header} header @param {Float32Array} embedding
 */
export function fingerprint(header, embedding) {
  let hash = 0x811c9dc5;
  const mix = (/** @type {number} */ word) => (hash = Math.imul(hash ^ word, 0x01000193));
  const columns = (header.columns ?? []).map(({ name, categories }) => [name, categories?.length ?? 0]);
  for (const letter of JSON.stringify([header.n, header.d, columns, header.features?.names.length ?? 0]))
    mix(/** @type {number} */ (letter.codePointAt(0)));
  const words = new Uint32Array(embedding.buffer, embedding.byteOffset, embedding.length);
  for (let k = 0; k < words.length; k++) mix(words[k]);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
