// The one point that is asked about: hovered, or pinned by a click; its card, docked beside the map.
import { cardContent } from "../panels/card.js";
import { byId } from "../dom.js";
import { explanationShape } from "../drawing/overlay.js";
import { journeyTo } from "../panels/journey.js";
import { Keeper } from "./keeper.js";
import { Sheet } from "./sheet.js";

const LINGER = 600; // milliseconds that the card stays when the mouse has left its point
const AROUND = 20; // pixels about the tips of arrows: half a line of text, and the ring of the point

export class Focus {
  /**
   * @param {import("../data/atlas.js").Atlas} atlas @param {import("../drawing/scene.js").Scene} scene
   * @param {() => void} rest called when the camera has moved to the point
   */
  constructor(atlas, scene, rest) {
    this.atlas = atlas;
    this.scene = scene;
    this.hovered = -1;
    this.pinned = -1;
    this.helping = false;
    /** Where the pinned point was asked to go. @type {import("../panels/journey.js").Journey|null} */
    this.journey = null;
    /** @type {() => Uint32Array|null} */
    this.selected = () => null;
    /** @type {import("../panels/answers.js").Answers|null} */
    this.answers = null;
    this.keeper = new Keeper(scene, rest);
    this.sheet = new Sheet(() => this.#uncover());
    new ResizeObserver(() => this.#uncover()).observe(byId("stage"));
  }

  get point() {
    return this.pinned >= 0 ? this.pinned : this.hovered;
  }

  /** @param {number} i */
  hover(i) {
    if (i === this.hovered) return;
    this.hovered = i;
    byId("overlay").style.cursor = i >= 0 ? "pointer" : "";
    clearTimeout(this.leaving);
    if (this.pinned < 0 && i >= 0) this.showCard();
    else if (this.pinned < 0) this.leaving = setTimeout(() => this.showCard(), LINGER);
    this.scene.refresh();
  }

  /** Pin a point; the pinned one is released. @param {number} i */
  pin(i) {
    this.pinned = i === this.pinned ? -1 : i;
    this.journey = null;
    this.showCard();
    byId("dock").scrollTop = 0;
    if (this.pinned >= 0) this.sheet.show(byId("card"));
    else this.sheet.put("peek");
    this.keep();
    this.scene.refresh();
  }

  release() {
    if (this.pinned >= 0) this.pin(this.pinned);
  }

  /** @param {string} goal a class, or "selection"; empty for nowhere */
  travel(goal) {
    this.journey = goal ? journeyTo(this.atlas, this.pinned, goal, this.selected()) : null;
    this.showCard();
    this.keep();
    this.scene.refresh();
  }

  /** Show how to use the map, or no longer. @param {boolean} on */
  help(on) {
    this.helping = on;
    this.showCard();
    byId("dock").scrollTop = 0;
    if (on) this.sheet.show(byId("help"));
    else this.sheet.put("peek");
  }

  showCard() {
    const card = byId("card"),
      i = this.point;
    card.hidden = i < 0;
    byId("help").hidden = i >= 0 && !this.helping;
    byId("sheet").classList.toggle("helping", this.helping);
    if (i < 0) return;
    card.classList.toggle("pinned", this.pinned >= 0);
    card.replaceChildren(
      ...cardContent(this.atlas, i, {
        pinned: this.pinned >= 0,
        close: () => this.release(),
        journey: this.journey,
        selected: this.selected(),
        travel: (goal) => this.travel(goal),
        pin: (goal) => this.pin(goal),
        answers: this.answers,
      }),
    );
  }

  /** The map has another size, or the sheet covers another part of it. */
  #uncover() {
    if (!this.sheet) return;
    this.scene.covered = this.sheet.covered;
    this.keep();
    this.scene.refresh();
  }

  /** Bring the pinned point into view, with its ellipse, its arrows and its path to another. */
  keep() {
    const { atlas, pinned, journey } = this,
      { cloud, facts } = atlas;
    if (pinned < 0 || !cloud.finite[pinned]) return;
    const places = [pinned, ...(journey?.path ?? [])].map((i) => [cloud.plane[3 * i], cloud.plane[3 * i + 1]]);
    const explanation = facts.explain(pinned),
      { tips, half } = explanation ? explanationShape(explanation, cloud, facts.typical) : { tips: [], half: [0, 0] };
    const along = (/** @type {number} */ c) => [-half[c], half[c], 0, ...tips.map((tip) => tip[c])];
    this.keeper.keep(places, [
      Math.min(...along(0)) - AROUND,
      Math.min(...along(1)) - AROUND,
      Math.max(...along(0)) + AROUND,
      Math.max(...along(1)) + AROUND,
    ]);
  }

  /** Boxes [left, top, right, bottom] in pixels of the page, and what is drawn of the point that is asked about. */
  places() {
    const boxOfNode = (/** @type {string} */ id) => {
      const { left, top, right, bottom } = byId(id).getBoundingClientRect();
      return right > left ? [left, top, right, bottom] : null;
    };
    const stage = /** @type {number[]} */ (boxOfNode("stage")),
      move = (/** @type {number[]} */ box) => box.map((v, k) => v + stage[k % 2]);
    const { explained } = this.scene;
    return {
      card: boxOfNode("card"),
      stage,
      seen: [stage[0], stage[1], stage[2], stage[3] - this.scene.covered],
      sheet: this.sheet.phone.matches ? this.sheet.place : null,
      ellipse: explained?.ellipse ? move(explained.ellipse) : null,
      arrows: explained ? explained.arrows.map(move) : [],
      names: explained ? explained.names.map(move) : [],
    };
  }
}
