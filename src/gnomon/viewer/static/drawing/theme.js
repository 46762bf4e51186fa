// Colours of style/base.css for what is drawn on canvases, light or dark.

/**
 * @typedef {"ink"|"soft"|"line"|"edge"|"mark"|"paper"|"wash"|"accent"|"accent-deep"|"on-accent"|"chosen"|"bar"|"frame"|
 *   "plus"|"minus"|"good"|"fair"|"poor"|"warning"|"missing"|"false"|"shadow"|"mist"} Tint
 */

const tints = /** @type {Map<string, string>} */ (new Map());

/** @returns {"light"|"dark"} the theme that is shown */
export function theme() {
  return document.documentElement.dataset.theme === "dark" ? "dark" : "light";
}

/**
 * A colour of the present theme, as the canvas takes it.
 * @param {Tint} name
 * @param {number} [opacity] of colours given as #rrggbb
 */
export function tint(name, opacity = 1) {
  const key = `${theme()} ${name}`;
  let color = tints.get(key);
  if (color === undefined) {
    color = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    tints.set(key, color);
  }
  if (opacity === 1) return color;
  return `${color}${Math.round(255 * opacity)
    .toString(16)
    .padStart(2, "0")}`;
}

/** The same as red, green and blue in [0, 255]. @param {Tint} name @returns {[number, number, number]} */
export function tintBytes(name) {
  const bits = parseInt(tint(name).slice(1), 16);
  return [bits >> 16, (bits >> 8) & 255, bits & 255];
}
