// Turning a 3-D map: by keys, by itself, and back to where it began.
import { orbit } from "../drawing/camera.js";
import { h } from "../dom.js";

const KEY_TURN = 22; // pixels of a drag that a key stands for, about 10 degrees
const SPIN_ROUND = 24_000; // milliseconds of a whole turn
const SPIN_GAP = 100; // milliseconds between two frames at most; the clock stops while the page is not drawn

const FRONT = [1, 0, 0, 0, 1, 0, 0, 0, 1];
const TURNS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Space {
  /**
   * @param {import("../drawing/cloud.js").Cloud} cloud
   * @param {{turned: () => void, rested: () => void}} tell after each rotation, and when the map has come to rest
   */
  constructor(cloud, tell) {
    this.cloud = cloud;
    this.tell = tell;
    this.spinning = false;
    this.motion = matchMedia("(prefers-reduced-motion: reduce)");
    this.button = h(
      "button",
      { class: "spin", title: "Spin the map slowly", "aria-pressed": "false", onclick: () => this.toggle() },
      "Spin",
    );
    this.#allow();
    this.motion.addEventListener("change", () => this.#allow());
  }

  /** Buttons of the toolbar. */
  get tools() {
    const title = "Look from the front: component 1 to the right, 2 upwards";
    return [this.button, h("button", { class: "front", title, onclick: () => this.front() }, "Front")];
  }

  /** Nothing spins for those who asked for little motion. */
  #allow() {
    if (this.motion.matches) this.stop();
    this.button.disabled = this.motion.matches;
    this.button.title = this.motion.matches
      ? "Spin is off: this device asks for little motion. Alt and arrow keys turn the map."
      : "Spin the map slowly";
  }

  /** @param {number} dx @param {number} dy pixels of a drag */
  turn(dx, dy) {
    this.cloud.rotate(orbit(this.cloud.rotation, dx, dy));
    this.tell.turned();
  }

  front() {
    this.stop();
    this.cloud.rotate(FRONT);
    this.tell.turned();
    this.tell.rested();
  }

  /** Alt and an arrow key turn the map. @param {KeyboardEvent} event @returns {boolean} whether the key was one */
  press(event) {
    const way = /** @type {any} */ (TURNS)[event.key];
    if (!way || !event.altKey) return false;
    this.stop();
    this.turn(KEY_TURN * way[0], KEY_TURN * way[1]);
    this.tell.rested();
    return true;
  }

  toggle() {
    if (this.spinning) this.stop();
    else this.#spin();
  }

  #spin() {
    let before = performance.now();
    const tick = (/** @type {number} */ now) => {
      const elapsed = Math.max(0, Math.min(SPIN_GAP, now - before));
      before = now;
      this.turn((elapsed / SPIN_ROUND) * 2 * Math.PI * 125, 0); // 125 pixels are a radian
      this.timer = requestAnimationFrame(tick);
    };
    this.#press(true);
    this.timer = requestAnimationFrame(tick);
  }

  stop() {
    if (!this.spinning) return;
    cancelAnimationFrame(this.timer || 0);
    this.#press(false);
    this.tell.rested();
  }

  /** @param {boolean} spinning */
  #press(spinning) {
    this.spinning = spinning;
    this.button.setAttribute("aria-pressed", String(spinning));
  }
}
