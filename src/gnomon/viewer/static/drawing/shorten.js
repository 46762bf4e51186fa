// Long texts cut to a number of letters: titles at their end, names in the middle, as many begin alike.

/** @param {string} text @param {number} limit */
export function shorten(text, limit) {
  const letters = Array.from(text);
  return letters.length > limit ? `${letters.slice(0, limit - 1).join("")}…` : text;
}

/**
 * A name without its middle, or, where another name would look the same, without what comes before they differ.
 * @param {string} text @param {number} limit
 * @param {string[]} [others] names beside it
 */
export function shortenName(text, limit, others = []) {
  const letters = Array.from(text);
  if (letters.length <= limit) return text;
  const tail = Math.floor((limit - 1) * 0.4),
    head = limit - 1 - tail,
    ends = (/** @type {string[]} */ of) => `${of.slice(0, head).join("")}…${of.slice(of.length - tail).join("")}`;
  const alike = others
    .filter((other) => other !== text)
    .map((other) => Array.from(other))
    .filter((other) => other.length > limit && ends(other) === ends(letters));
  if (!alike.length) return ends(letters);
  const same = alike.map((other) => letters.findIndex((letter, k) => letter !== other[k])).filter((k) => k >= 0),
    begin = Math.max(head, Math.min(...same, letters.length - 1)),
    few = Math.min(6, head),
    kept = letters.slice(begin, begin + limit - few - 1);
  return `${letters.slice(0, few).join("")}…${kept.join("")}`;
}
