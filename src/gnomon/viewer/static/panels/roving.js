// Many controls as one stop of the Tab key, and a focus that survives what is drawn anew.

let tabbed = true;
document.addEventListener("keydown", ({ key }) => (tabbed ||= key === "Tab"), true);
document.addEventListener("pointerdown", () => (tabbed = false), true);

/** A button that was clicked has the focus without asking for it: the arrow keys are for the map then. */
export function reachedByKeys() {
  return tabbed;
}

/**
 * The arrow keys go from one control to the next, Home and End to the outer ones; Tab leaves them all.
 * @param {HTMLElement} box what is in it may change at any time
 * @param {string} wanted selector of the controls
 * @param {"horizontal"|"vertical"} direction
 */
export function rove(box, wanted, direction) {
  const [back, forth] = direction === "horizontal" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  /** @type {HTMLElement|undefined} */
  let current;
  const controls = () => /** @type {HTMLElement[]} */ ([...box.querySelectorAll(wanted)]).filter(isShown);
  const mark = () => {
    const all = controls();
    if (!current || !all.includes(current)) current = all[0];
    for (const one of all) one.tabIndex = one === current ? 0 : -1;
  };
  box.addEventListener("focusin", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (!controls().includes(target)) return;
    current = target;
    mark();
  });
  box.addEventListener("keydown", (event) => {
    const all = controls(),
      at = all.indexOf(/** @type {HTMLElement} */ (current)),
      last = all.length - 1;
    const goal = { [back]: at - 1, [forth]: at + 1, Home: 0, End: last }[event.key];
    const target = /** @type {HTMLElement} */ (event.target);
    if (goal === undefined || !target.closest("button") || !reachedByKeys()) return;
    all[Math.max(0, Math.min(last, goal))]?.focus();
    event.preventDefault();
  });
  new MutationObserver(mark).observe(box, { childList: true, subtree: true });
  mark();
}

/**
 * Where the control that has the focus is replaced, its successor gets it: the one of the same name, else the first.
 * @param {HTMLElement} box
 * @param {HTMLElement} otherwise where it goes when nothing is left in the box
 */
export function keepFocus(box, otherwise) {
  let held = "";
  document.addEventListener("focusin", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    held = box.contains(target) ? identity(target) : "";
  });
  document.addEventListener("pointerdown", (event) => {
    if (!box.contains(/** @type {Node} */ (event.target))) held = "";
  });
  new MutationObserver(() => {
    if (!held || (document.activeElement && document.activeElement !== document.body)) return;
    const all = /** @type {HTMLElement[]} */ ([...box.querySelectorAll("button, input, select, [tabindex]")]);
    const there = all.filter(isShown);
    (there.find((one) => identity(one) === held) ?? there[0] ?? otherwise).focus({ preventScroll: true });
  }).observe(box, { childList: true, subtree: true, attributes: true, attributeFilter: ["hidden"] });
}

/** @param {HTMLElement} node */
function isShown(node) {
  return node.getClientRects().length > 0 && !(/** @type {HTMLButtonElement} */ (node).disabled);
}

/** What a control is, whatever state it is in. @param {HTMLElement} node */
function identity(node) {
  const row = /** @type {HTMLElement|null} */ (node.closest("[data-class]"));
  if (row) return `${row.dataset.class} ${node.className}`;
  return node.id || `${node.className} ${node.getAttribute("aria-label") ?? node.textContent}`;
}
