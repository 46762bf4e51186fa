// Whether the reader asked for a page on which nothing moves by itself.

const asked = matchMedia("(prefers-reduced-motion: reduce)");

/** Nothing may be animated: what moves goes to its end at once. */
export function stillness() {
  return asked.matches;
}
