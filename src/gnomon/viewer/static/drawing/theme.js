// Colours of style/base.css for what is drawn on canvases, light or dark.

/**
 * @typedef {"ink"|"soft"|"line"|"edge"|"mark"|"paper"|"wash"|"accent"|"accent-deep"|"on-accent"|"chosen"|"bar"|"frame"|
 *   "plus"|"minus"|"good"|"fair"|"poor"|"warning"|"missing"|"false"|"shadow"} Tint
 */

const tints = /** @type {Map<string, string>} */ (new Map());

/**
 * A colour of the present theme, as the canvas takes it.
 * @param {Tint} name
 * @param {number} [opacity] of colours given as #rrggbb
 */
export function tint(name, opacity = 1) {
  const root = document.documentElement,
    key = `${root.dataset.theme ?? "light"} ${name}`;
  let color = tints.get(key);
  if (color === undefined) {
    color = getComputedStyle(root).getPropertyValue(`--${name}`).trim();
    tints.set(key, color);
  }
  if (opacity === 1) return color;
  return `${color}${Math.round(255 * opacity)
    .toString(16)
    .padStart(2, "0")}`;
}
