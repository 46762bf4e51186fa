// Mouse, touch and keyboard on the map, turned into a few intents.

/**
 * @typedef {{hover: (x: number, y: number) => void, leave: () => void, click: (x: number, y: number) => void, pan: (dx:
 *   number, dy: number) => void,
 *   orbit: (dx: number, dy: number) => void, zoom: (factor: number, x: number, y: number) => void, reset: () => void,
 *   draw: (tool: "lasso"|"line", path: number[][], done: boolean) => void, escape: () => void, settle: () => void}}
 *     Intents
 */

/**
 * @param {HTMLElement} surface
 * @param {{tool: ""|"lasso"|"line", orbit: boolean, deep: boolean, steps: boolean}} mode which tool a plain drag uses;
 *   changed from outside
 * @param {Intents} on
 */
export function listen(surface, mode, on) {
  /** @type {Map<number, [number, number]>} */
  const fingers = new Map();
  let drag = "",
    moved = 0,
    spread = 0,
    lastTap = -Infinity,
    tapped = [0, 0];
  /** @type {number[][]} */
  let path = [];

  const place = (/** @type {MouseEvent} */ event) => {
    const box = surface.getBoundingClientRect();
    return /** @type {[number, number]} */ ([event.clientX - box.left, event.clientY - box.top]);
  };
  const distance = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };

  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    surface.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    moved = 0;
    if (fingers.size === 2) {
      if (drag === "lasso" || drag === "line") on.draw(drag, [], true);
      drag = "pinch";
      spread = distance();
    } else {
      drag = event.shiftKey
        ? "lasso"
        : mode.tool || (mode.deep && (event.altKey || event.ctrlKey || mode.orbit) ? "orbit" : "pan");
      path = [place(event)];
    }
  });
  surface.addEventListener("pointermove", (event) => {
    const here = place(event),
      before = fingers.get(event.pointerId);
    if (!before) {
      on.hover(here[0], here[1]);
      return;
    }
    const dx = here[0] - before[0],
      dy = here[1] - before[1];
    fingers.set(event.pointerId, here);
    moved += Math.abs(dx) + Math.abs(dy);
    if (drag === "pinch" && fingers.size === 2) {
      const now = distance(),
        [a, b] = [...fingers.values()];
      on.zoom(now / Math.max(spread, 1), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      spread = now;
    } else if (drag === "lasso" || drag === "line") {
      path.push(here);
      on.draw(drag, path, false);
    } else if (moved > 3 && drag === "orbit") on.orbit(dx, dy);
    else if (moved > 3 && drag === "pan") on.pan(dx, dy);
  });
  const end = (/** @type {PointerEvent} */ event) => {
    if (!fingers.delete(event.pointerId)) return;
    const [x, y] = place(event),
      finished = drag;
    if (fingers.size) return;
    drag = "";
    if (finished === "lasso" || finished === "line") on.draw(finished, path, true);
    else if (moved <= 3 && event.type === "pointerup") {
      // The double click is told from timing and place because the first click already pins.
      if (event.timeStamp - lastTap < 320 && Math.hypot(x - tapped[0], y - tapped[1]) < 6) on.reset();
      else on.click(x, y);
      lastTap = event.timeStamp;
      tapped = [x, y];
    } else on.settle();
  };
  surface.addEventListener("pointerup", end);
  surface.addEventListener("pointercancel", end);
  surface.addEventListener("pointerleave", () => !fingers.size && on.leave());
  surface.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const [x, y] = place(event),
        step = event.deltaMode === 1 ? 18 * event.deltaY : event.deltaY;
      on.zoom(Math.exp(-Math.max(-240, Math.min(240, step)) * 0.0018), x, y);
    },
    { passive: false },
  );
  surface.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    const sideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
    if (mode.steps && sideways && !event.shiftKey) return; // these keys step through the sequence
    const step = /** @type {any} */ (steps)[event.key],
      box = surface.getBoundingClientRect();
    if (step) on.pan(step[0], step[1]);
    else if (event.key === "+" || event.key === "=") on.zoom(1.4, box.width / 2, box.height / 2);
    else if (event.key === "-") on.zoom(1 / 1.4, box.width / 2, box.height / 2);
    else if (event.key === "0") on.reset();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && on.escape());
}
