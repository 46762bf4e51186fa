// Light or dark: as the address says, or as the reader chose before, or else as the system has it.
import { theme } from "../drawing/theme.js";

const KEPT = "gnomon-theme";
const SAID = /(?:^#|&)theme=(light|dark)\b/;

/** What the reader or the address chose for this view. @type {"light"|"dark"|null} */
let picked = null;

/** What belongs into the address of this view: null where nobody chose. */
export function pickedTheme() {
  return picked;
}

/** @param {"light"|"dark"} name */
export function pickTheme(name) {
  picked = name;
  document.documentElement.dataset.theme = name;
}

/** The other one, by the reader's wish, which the browser remembers where it may. */
export function switchTheme() {
  pickTheme(theme() === "dark" ? "light" : "dark");
  try {
    localStorage.setItem(KEPT, theme());
  } catch {
    // a page in a frame, or opened from disk, may have no storage
  }
}

/** @returns {string|null} */
function keptTheme() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/**
 * Put the theme on, now and whenever the system changes it.
 * @param {() => void} changed called after each change but the first
 */
export function startTheme(changed) {
  const system = matchMedia("(prefers-color-scheme: dark)"),
    said = SAID.exec(location.hash)?.[1];
  if (said === "light" || said === "dark") picked = said;
  const show = () => {
    const chosen = picked ?? keptTheme();
    document.documentElement.dataset.theme = chosen === "light" || chosen === "dark" ? chosen : systemTheme();
  };
  const systemTheme = () => (system.matches ? "dark" : "light");
  show();
  system.addEventListener("change", show);
  let before = theme();
  new MutationObserver(() => {
    if (theme() === before) return;
    before = theme();
    changed();
  }).observe(document.documentElement, { attributeFilter: ["data-theme"] });
}
