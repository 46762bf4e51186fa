// Small helpers to build elements. Text enters the page only as text nodes, so nothing in the data can act as markup.

/**
 * @param {string} tag
 * @param {Record<string, any>} [props] attributes; `on...` functions become listeners, `style` an object of properties
 * @param {...(Node|string|number|null|undefined|false)} children
 * @returns {any}
 */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "style") for (const [name, v] of Object.entries(value)) node.style.setProperty(name, String(v));
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(
    ...children
      .filter((c) => c !== null && c !== undefined && c !== false)
      .map((c) => (c instanceof Node ? c : String(c))),
  );
  return node;
}

/** Text for ears only. @param {string} text */
export function unseen(text) {
  return h("span", { class: "unseen" }, text);
}

/** @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}

/** A number with about four significant digits, a whole one with all it has. @param {number} value */
export function formatNumber(value) {
  if (Number.isNaN(value)) return "missing";
  if (Number.isSafeInteger(value)) return String(value).replace("-", "−");
  const size = Math.abs(value);
  const text =
    size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
  return text.replace("-", "−");
}

/**
 * A number, or a date where the values are seconds since 1970.
 * @param {number} value @param {boolean} [dates]
 */
export function formatValue(value, dates) {
  if (!dates || Number.isNaN(value)) return formatNumber(value);
  const text = new Date(1000 * value).toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
}

/** @param {number} value */
export function formatCount(value) {
  return value.toLocaleString("en-US");
}

/** How many standard deviations, whatever the sign, to two digits. @param {number} value */
export function deviationsText(value) {
  return `${formatNumber(Number(Math.abs(value).toPrecision(2)))} standard deviations`;
}

/** @param {number} share in [0, 1] */
export function formatPercent(share) {
  if (!Number.isFinite(share)) return "–";
  const percent = 100 * share;
  return `${percent < 10 && percent > 0 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** "trust_score" to "Trust score". @param {string} name */
export function humanName(name) {
  const words = name.replace(/_/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * An element of a drawing.
 * @param {string} tag @param {Record<string, string|number>} [attributes] @param {...Node} children
 * @returns {any}
 */
export function drawn(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}
