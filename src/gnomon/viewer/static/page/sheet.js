// On a phone, card and panels lie on a sheet that is pulled up from below: a peek, half the page, or all below the bar.
import { byId, h } from "../dom.js";

/** @typedef {"peek"|"half"|"full"} SheetPlace */

const STOPS = /** @type {SheetPlace[]} */ (["peek", "half", "full"]);
const PEEK = 92; // pixels, also in style/layout.css
const LOW_PEEK = 48; // on the lowest screens
const HELD_STILL = 6; // pixels that a tap may move

export class Sheet {
  /** @param {() => void} moved called when the sheet of a phone has been put somewhere */
  constructor(moved) {
    this.moved = moved;
    this.phone = matchMedia("(max-width: 820px)");
    /** @type {SheetPlace} */
    this.place = "peek";
    this.box = byId("sheet");
    this.#build();
    this.phone.addEventListener("change", () => this.put("peek"));
    window.addEventListener("resize", () => this.put(this.place));
    this.box.addEventListener("focusin", (/** @type {FocusEvent} */ event) => {
      const inside = !byId("grip").contains(event.target);
      if (inside && this.phone.matches && this.place === "peek") this.put("half");
    });
    // The sheet rises below the finger that tapped: that tap must not press what lies there now.
    byId("overlay").addEventListener(
      "touchend",
      (/** @type {TouchEvent} */ event) => event.cancelable && event.preventDefault(),
    );
    this.put("peek");
  }

  #build() {
    const step = (/** @type {number} */ by) => this.put(STOPS[STOPS.indexOf(this.place) + by] ?? this.place);
    this.lower = h("button", { id: "lower", "aria-label": "Lower the sheet", onclick: () => step(-1) }, "▾");
    this.raise = h("button", { id: "raise", "aria-label": "Raise the sheet", onclick: () => step(1) }, "▴");
    this.handle = h("button", {
      id: "handle",
      "aria-controls": "sheet",
      onclick: () => !this.dragged && this.put(STOPS[(STOPS.indexOf(this.place) + 1) % STOPS.length]),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        step(by);
      },
      onpointerdown: (/** @type {PointerEvent} */ event) => this.#grab(event),
      onpointermove: (/** @type {PointerEvent} */ event) => this.#pull(event),
      onpointerup: () => this.#let(),
      onpointercancel: () => this.#let(),
    });
    byId("grip").append(this.lower, this.handle, this.raise);
    byId("grip").hidden = false;
  }

  get peek() {
    return Math.min(PEEK, Math.max(LOW_PEEK, Math.round(innerHeight / 5)));
  }

  /** @param {SheetPlace} place */
  tall(place) {
    const most = innerHeight - byId("bar").getBoundingClientRect().bottom;
    return { peek: this.peek, half: Math.min(most, Math.round(innerHeight / 2)), full: most }[place];
  }

  /** @param {number} height */
  #raise(height) {
    document.body.style.setProperty("--sheet", `${height}px`);
  }

  /** Pixels of the map that lie below the sheet. */
  get covered() {
    if (!this.phone.matches) return 0;
    return Math.max(0, byId("stage").getBoundingClientRect().bottom - (innerHeight - this.tall(this.place)));
  }

  /** @param {SheetPlace} place */
  put(place) {
    this.place = place;
    document.body.style.setProperty("--peek", `${this.peek}px`);
    this.#raise(this.tall(place));
    this.lower.disabled = place === "peek";
    this.raise.disabled = place === "full";
    const words = { peek: "lowered", half: "half open", full: "open" };
    this.handle.setAttribute("aria-label", `Sheet with card and panels, ${words[place]}`);
    this.handle.setAttribute("aria-expanded", String(place !== "peek"));
    if (place === "peek") this.box.scrollTop = 0;
    if (this.phone.matches) this.moved();
  }

  /** Bring a part of the sheet to its top. @param {HTMLElement} part */
  show(part) {
    if (!this.phone.matches) return;
    if (this.place === "peek") this.put("half");
    this.box.scrollTop += part.getBoundingClientRect().top - byId("grip").getBoundingClientRect().bottom - 8;
  }

  /** @param {PointerEvent} event */
  #grab(event) {
    this.handle.setPointerCapture(event.pointerId);
    this.from = event.clientY;
    this.dragged = false;
  }

  /** @param {PointerEvent} event */
  #pull(event) {
    if (this.from === undefined) return;
    if (Math.abs(event.clientY - this.from) > HELD_STILL) this.dragged = true;
    if (!this.dragged) return;
    this.box.classList.add("dragged");
    this.height = Math.max(this.peek, Math.min(this.tall("full"), this.tall(this.place) + this.from - event.clientY));
    this.#raise(this.height);
  }

  /** To the nearest of the three places. */
  #let() {
    this.from = undefined;
    if (!this.box.classList.contains("dragged")) return;
    this.box.classList.remove("dragged");
    const away = (/** @type {SheetPlace} */ place) => Math.abs(this.tall(place) - (this.height ?? 0));
    this.put(STOPS.reduce((best, place) => (away(place) < away(best) ? place : best)));
  }
}
