// Bytes from the text of the page: 13 bits are two of 91 printable signs; mirrors as_text of packing.py.

const SIGNS = 91;
const VALUES = new Uint8Array(128);
for (let code = 33, value = 0; code < 127; code++)
  if (!'"&<'.includes(String.fromCharCode(code))) VALUES[code] = value++;

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
export function bytesOf(text) {
  const whole = text.length >>> 1,
    rest = text.length & 1, // up to 6 bits
    out = new Uint8Array((13 * whole + 6 * rest) >>> 3);
  let held = 0,
    bits = 0,
    at = 0;
  for (let i = 0; i < 2 * whole; i += 2) {
    held = ((held & 127) << 13) | (VALUES[text.charCodeAt(i)] + SIGNS * VALUES[text.charCodeAt(i + 1)]);
    for (bits += 13; bits >= 8; bits -= 8) out[at++] = held >>> (bits - 8);
  }
  if (rest) out[at] = (((held & 127) << 6) | VALUES[text.charCodeAt(2 * whole)]) >>> (bits + 6 - 8);
  return out;
}
