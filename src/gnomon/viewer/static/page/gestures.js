// Mouse, touch and keyboard on the map, turned into a few intents.

const STILL = { mouse: 3, touch: 10 }; // pixels that a press may move and still be a click or a tap
const TWICE = { mouse: 6, touch: 24 }; // pixels between the two of a double click or tap
const HELD = 500; // milliseconds after which a finger that rests begins a lasso

/**
 * @typedef {{hover: (x: number, y: number) => void, leave: () => void, click: (x: number, y: number) => void, pan: (dx:
 *   number, dy: number) => void,
 *   orbit: (dx: number, dy: number) => void, zoom: (factor: number, x: number, y: number) => void, reset: () => void,
 *   draw: (tool: "lasso"|"line", path: number[][], done: boolean) => void, escape: () => void, settle: () => void,
 *   press: (event: KeyboardEvent) => boolean}}
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
    still = STILL.mouse,
    spread = 0,
    /** Between the fingers. */
    middle = [0, 0],
    lastTap = -Infinity,
    tapped = [0, 0];
  /** @type {number[][]} */
  let path = [];
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  let holding;

  const place = (/** @type {MouseEvent} */ event) => {
    const box = surface.getBoundingClientRect();
    return /** @type {[number, number]} */ ([event.clientX - box.left, event.clientY - box.top]);
  };
  const measure = () => {
    const [a, b] = [...fingers.values()];
    middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    spread = Math.max(1, Math.hypot(a[0] - b[0], a[1] - b[1]));
  };
  const draws = () => drag === "lasso" || drag === "line";

  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    surface.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    moved = 0;
    still = event.pointerType === "touch" ? STILL.touch : STILL.mouse;
    clearTimeout(holding);
    if (fingers.size === 2) {
      if (draws()) on.draw(/** @type {"lasso"|"line"} */ (drag), [], false);
      drag = "pinch";
      measure();
    } else if (fingers.size === 1) {
      drag = event.shiftKey
        ? "lasso"
        : mode.tool || (mode.deep && (event.altKey || event.ctrlKey || mode.orbit) ? "orbit" : "pan");
      path = [place(event)];
      if (event.pointerType === "touch" && !draws())
        holding = setTimeout(() => {
          drag = "lasso";
          on.draw("lasso", path, false);
        }, HELD);
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
    if (moved > still) clearTimeout(holding);
    if (drag === "pinch" && fingers.size === 2) {
      const [before, [x, y]] = [spread, middle];
      measure();
      on.pan(middle[0] - x, middle[1] - y);
      on.zoom(spread / before, middle[0], middle[1]);
    } else if (draws()) {
      path.push(here);
      on.draw(/** @type {"lasso"|"line"} */ (drag), path, false);
    } else if (moved > still && drag === "orbit") on.orbit(dx, dy);
    else if (moved > still && drag === "pan") on.pan(dx, dy);
  });
  const end = (/** @type {PointerEvent} */ event) => {
    if (!fingers.delete(event.pointerId)) return;
    const [x, y] = place(event),
      finished = drag;
    clearTimeout(holding);
    if (fingers.size) return;
    drag = "";
    const finger = event.pointerType === "touch",
      rested = moved <= still;
    if (finished === "lasso" || finished === "line") {
      const given = event.type === "pointercancel" || (finger && rested); // nothing was drawn
      on.draw(finished, given ? [] : path, !given);
    } else if (rested && finished !== "pinch" && event.type === "pointerup") {
      // The double click is told from timing and place because the first click already pins.
      const apart = Math.hypot(x - tapped[0], y - tapped[1]);
      if (event.timeStamp - lastTap < 320 && apart < (finger ? TWICE.touch : TWICE.mouse)) on.reset();
      else on.click(x, y);
      lastTap = event.timeStamp;
      tapped = [x, y];
    } else on.settle();
  };
  surface.addEventListener("pointerup", end);
  surface.addEventListener("pointercancel", end);
  surface.addEventListener("pointerleave", (event) => !fingers.size && event.pointerType === "mouse" && on.leave());
  surface.addEventListener("contextmenu", (event) => drag === "lasso" && event.preventDefault()); // of a long press
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
    if (on.press(event)) {
      event.preventDefault();
      return;
    }
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
