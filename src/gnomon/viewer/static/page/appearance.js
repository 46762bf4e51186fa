// Light or dark: as the address says, or as the reader chose before, or else as the system has it.
import { theme } from "../drawing/theme.js";

const KEPT = "gnomon-theme";
const SAID = /(^#|&)theme=(light|dark)\b/;

/** @returns {"light"|"dark"|null} */
function chosenTheme() {
  const said = SAID.exec(location.hash)?.[2];
  let kept = null;
  try {
    kept = localStorage.getItem(KEPT);
  } catch {
    // a page in a frame, or opened from disk, may have no storage
  }
  const chosen = said ?? kept;
  return chosen === "light" || chosen === "dark" ? chosen : null;
}

/**
 * Put the theme on, now and whenever the system or the address changes it.
 * @param {() => void} changed called after each change but the first
 */
export function startTheme(changed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    const next = chosenTheme() ?? (system.matches ? "dark" : "light"),
      other = next !== theme();
    document.documentElement.dataset.theme = next;
    if (other) changed();
  };
  document.documentElement.dataset.theme = theme();
  show();
  system.addEventListener("change", show);
  window.addEventListener("hashchange", show);
}

/** The reader chooses; the address and, where there is one, the storage of the browser remember it. */
export function switchTheme() {
  const next = theme() === "dark" ? "light" : "dark",
    rest = location.hash.replace(SAID, "$1").replace(/[#&]+$/, ""),
    hash = `${rest ? `${rest}&` : "#"}theme=${next}`;
  try {
    localStorage.setItem(KEPT, next);
  } catch {
    // the address remembers
  }
  try {
    history.replaceState(history.state, "", hash);
  } catch {
    // a page inside another has no address of its own
  }
  document.documentElement.dataset.theme = next;
}
