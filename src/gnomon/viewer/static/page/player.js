// Slider, play button and keys that move the points along a sequence.
import { byId, h } from "../dom.js";
import { frameAt } from "../data/frames.js";
import { shortenName } from "../drawing/shorten.js";
import { stillness } from "./stillness.js";

const GLIDE = 420; // milliseconds to the frame that a key or a click asks for
const PULL = 0.12; // a slider let go this near to a frame goes there
const WHOLE = 12_000; // a long sequence plays about this long
const SLOWEST = 1300,
  FASTEST = 120; // milliseconds from frame to frame
const DWELLS = 500; // where there is so much time from frame to frame, the motion slows down at each
const MARGIN = 34; // pixels beside the last tick
const FIRST_MARGIN = 14; // and beside the first, where the play button is near
const LONGEST_GAP = 250; // the clock stops while the page is not drawn

const PLAY = "M4 2.5v11l9-5.5z",
  PAUSE = "M4 3h3v10H4zM9 3h3v10H9z",
  BACK = "M11 3v10L5.5 8zM3.5 3h1.6v10H3.5z",
  NEXT = "M5 3v10l5.5-5zM10.9 3h1.6v10h-1.6z";
const SPEEDS = [0.25, 0.5, 1, 2, 4];

/** Slow at both ends. @param {number} t in [0, 1] */
function ease(t) {
  return t * t * (3 - 2 * t);
}

/** Inverse of `ease`. @param {number} y in [0, 1] */
function unease(y) {
  return 0.5 - Math.sin(Math.asin(1 - 2 * y) / 3);
}

export class Player {
  /**
   * @param {{name: string, labels: string[], main: number}} sequence
   * @param {{move: (position: number) => void, rest: () => void, trails: () => void}} tell `move` before each drawing,
   *   `rest` when the motion is over, `trails` when they are to be drawn or no longer
   */
  constructor({ name, labels, main }, tell) {
    this.name = name;
    this.labels = labels;
    this.last = labels.length - 1;
    this.tell = tell;
    this.position = main;
    this.playing = false;
    this.dragging = false;
    this.speed = 1;
    this.loop = false;
    this.trails = false;
    /** Where a glide leads. @type {number|null} */
    this.goal = null;
    this.segment = Math.max(FASTEST, Math.min(SLOWEST, WHOLE / this.last));
    this.#build(main);
    this.#show();
  }

  /** @param {number} main */
  #build(main) {
    const box = byId("player");
    box.setAttribute("aria-label", this.name);
    this.button = h("button", {
      id: "play",
      disabled: true,
      onclick: () => (this.playing ? this.pause() : this.play()),
    });
    this.slider = h("input", {
      id: "slider",
      type: "range",
      min: 0,
      max: this.last,
      step: 1,
      value: main,
      disabled: true,
      "aria-label": this.name,
      onpointerdown: () => this.#grab(),
      onpointerup: () => this.dragging || this.#show(),
      oninput: () => this.#drag(Number(this.slider.value)),
      onchange: () => this.#release(),
    });
    this.words = h("b", { "aria-hidden": "true" });
    const ticks = this.labels.map((label, k) =>
      h(
        "span",
        { class: "tick", style: { left: `${(100 * k) / this.last}%` }, title: label, onclick: () => this.go(k) },
        h("bdi", {}, shortenName(label, 22, this.labels)),
      ),
    );
    this.ticks = h("div", { id: "ticks", "aria-hidden": "true" }, ...ticks);
    box.append(
      h("div", { class: "steps" }, this.#stepButton(-1), this.button, this.#stepButton(1)),
      h("div", { class: "track" }, h("p", {}, h("bdi", {}, this.name), " ", this.words), this.slider, this.ticks),
      this.#options(),
    );
    box.hidden = false;
    new ResizeObserver(() => this.#thin()).observe(this.ticks);
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  /** @param {number} direction */
  #stepButton(direction) {
    const name = direction > 0 ? "Next" : "Previous",
      button = h("button", { class: "step", disabled: true, title: name, "aria-label": name });
    button.addEventListener("click", () => this.step(direction));
    button.append(icon(direction > 0 ? NEXT : BACK));
    return button;
  }

  /** How it plays: speed, over and over, with the ways of the points. */
  #options() {
    const pressed = (/** @type {HTMLElement} */ button, /** @type {boolean} */ on) =>
      button.setAttribute("aria-pressed", String(on));
    const speed = h(
      "select",
      { id: "speed", "aria-label": "Speed", onchange: () => (this.speed = Number(speed.value)) },
      ...SPEEDS.map((value) => h("option", { value, selected: value === 1 }, `${value} ×`)),
    );
    const loop = h("button", { id: "loop", title: "Play over and over", "aria-pressed": "false" }, "Loop"),
      title = "Trails of the selected points, or of some of all, from the first step to this one",
      trails = h("button", { id: "trails", title, "aria-pressed": "false" }, "Trails");
    loop.addEventListener("click", () => pressed(loop, (this.loop = !this.loop)));
    trails.addEventListener("click", () => {
      pressed(trails, (this.trails = !this.trails));
      this.tell.trails();
    });
    return h("div", { class: "how" }, speed, loop, trails);
  }

  /** The embeddings are there. */
  enable() {
    this.ready = true;
    for (const one of [this.slider, ...byId("player").querySelectorAll("button")]) one.disabled = false;
  }

  /**
   * Leave out labels that would cover each other: named ones ("1 · t-SNE") stay, others follow in even steps; the
   * outer ones are kept in the page.
   */
  #thin() {
    const texts = [...this.ticks.children].map((span) => span.firstChild),
      width = this.ticks.clientWidth;
    const plain = texts.filter((_, k) => !this.#named(k)),
      widest = Math.max(...plain.map((text) => text.offsetWidth)) + 14;
    const every = Math.max(1, Math.ceil(widest / Math.max(width / this.last, 1)));
    const order = [...texts.keys()].sort((a, b) => Number(this.#named(b)) - Number(this.#named(a)) || a - b);
    /** @type {[number, number][]} */
    const taken = [];
    for (const k of order) {
      const text = texts[k],
        half = text.offsetWidth / 2,
        at = (width * k) / this.last;
      const shift = Math.max(0, half - at - FIRST_MARGIN) - Math.max(0, at + half - width - MARGIN);
      const [low, high] = [at + shift - half - 3, at + shift + half + 3];
      const shown = (this.#named(k) || k % every === 0) && taken.every(([from, to]) => high <= from || to <= low);
      if (shown) taken.push([low, high]);
      text.style.left = `${shift}px`;
      text.parentElement.classList.toggle("bare", !shown);
    }
  }

  /** @param {number} k */
  #named(k) {
    return this.labels[k].includes(" · ");
  }

  #show() {
    const frame = frameAt(this.position),
      k = Math.floor(this.position);
    // Whole steps are what a screen reader moves by; in between any value must be allowed to stand.
    if (!this.dragging) this.slider.step = frame >= 0 ? "1" : "any";
    if (Number(this.slider.value) !== this.position) this.slider.value = String(this.position);
    const words = frame >= 0 ? this.labels[frame] : `between ${this.labels[k]} and ${this.labels[k + 1]}`;
    if (words !== this.words.textContent) {
      this.words.textContent = words;
      this.slider.setAttribute("aria-valuetext", words);
      [...this.ticks.children].forEach((span, tick) => span.classList.toggle("here", tick === frame));
    }
    const next = this.playing ? "Pause" : "Play";
    if (this.button.title !== next) {
      this.button.title = next;
      this.button.setAttribute("aria-label", next);
      this.button.replaceChildren(icon(this.playing ? PAUSE : PLAY));
    }
  }

  /** @param {number} position */
  #move(position) {
    this.position = frameAt(position) >= 0 ? frameAt(position) : position;
    this.#show();
    this.tell.move(this.position);
  }

  #rest() {
    this.playing = false;
    this.goal = null;
    this.dragging = false;
    cancelAnimationFrame(this.timer || 0);
    this.#show();
    this.tell.rest();
  }

  /**
   * Run a motion: `place` gives the position after so many milliseconds, and null when it is over.
   * @param {(elapsed: number) => number|null} place
   */
  #animate(place) {
    cancelAnimationFrame(this.timer || 0);
    let elapsed = 0,
      before = performance.now();
    const tick = (/** @type {number} */ now) => {
      elapsed += Math.max(0, Math.min(LONGEST_GAP, now - before));
      before = now;
      const position = place(elapsed);
      if (position === null) this.#rest();
      else {
        this.#move(position);
        this.timer = requestAnimationFrame(tick);
      }
    };
    this.timer = requestAnimationFrame(tick);
  }

  play() {
    if (!this.ready) return;
    const dwells = this.segment >= DWELLS,
      from = this.position >= this.last ? 0 : this.position,
      whole = Math.floor(from);
    const start = dwells ? whole + unease(from - whole) : from;
    this.playing = true;
    this.goal = null;
    this.#show();
    let arrived = false,
      run = start,
      before = 0;
    this.#animate((elapsed) => {
      if (arrived) return null;
      run += ((elapsed - before) * this.speed) / this.segment;
      before = elapsed;
      if (this.loop) run %= this.last + 1; // as long at the last as from one to the next
      const u = Math.min(this.last, run),
        k = Math.floor(u);
      arrived = u >= this.last && !this.loop;
      if (stillness()) return k;
      return dwells ? k + ease(u - k) : u;
    });
  }

  pause() {
    this.#rest();
  }

  /** Stand at a position at once. @param {number} position */
  stand(position) {
    this.#move(position);
    this.#rest();
  }

  /** Glide to a position. @param {number} goal */
  go(goal) {
    if (!this.ready) return;
    const from = this.position,
      span = stillness() ? 0 : GLIDE;
    this.playing = false;
    this.goal = Math.max(0, Math.min(this.last, goal));
    let arrived = false;
    this.#animate((elapsed) => {
      if (arrived) return null;
      arrived = elapsed >= span;
      const end = /** @type {number} */ (this.goal);
      return arrived ? end : from + (end - from) * ease(elapsed / span);
    });
  }

  /** To the next frame, or the one before. @param {number} direction */
  step(direction) {
    const base = this.goal ?? this.position;
    this.go(direction > 0 ? Math.floor(base + 1e-6) + 1 : Math.ceil(base - 1e-6) - 1);
  }

  /** The slider may stand anywhere while it is held. */
  #grab() {
    if (this.playing || this.goal !== null) this.#rest();
    this.slider.step = "any";
  }

  /** @param {number} position */
  #drag(position) {
    this.playing = false;
    this.goal = null;
    this.dragging = true;
    this.target = position;
    cancelAnimationFrame(this.timer || 0);
    this.timer = requestAnimationFrame(() => this.#move(/** @type {number} */ (this.target)));
  }

  #release() {
    const position = Number(this.slider.value),
      nearest = Math.round(position);
    this.dragging = false;
    cancelAnimationFrame(this.timer || 0);
    this.#move(position);
    if (position !== nearest && Math.abs(position - nearest) < PULL) this.go(nearest);
    else this.#rest();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {HTMLElement} */ (event.target),
      onSlider = target === this.slider;
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (!onSlider && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))) return;
    if (event.key === "ArrowRight" || (onSlider && event.key === "ArrowUp")) this.step(1);
    else if (event.key === "ArrowLeft" || (onSlider && event.key === "ArrowDown")) this.step(-1);
    else if (onSlider && event.key === "Home") this.go(0);
    else if (onSlider && event.key === "End") this.go(this.last);
    else if (onSlider && event.key === " ") this.playing ? this.pause() : this.play();
    else return;
    event.preventDefault();
  }
}

/** @param {string} path */
function icon(path) {
  const space = "http://www.w3.org/2000/svg",
    svg = document.createElementNS(space, "svg"),
    shape = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}
