// The one point that is asked about: hovered, or pinned by a click; and its card.
import { cardContent } from "../panels/card.js";
import { byId } from "../dom.js";
import { journeyTo } from "../panels/journey.js";

export class Focus {
  /** @param {import("../data/atlas.js").Atlas} atlas @param {import("../drawing/scene.js").Scene} scene */
  constructor(atlas, scene) {
    this.atlas = atlas;
    this.scene = scene;
    this.hovered = -1;
    this.pinned = -1;
    /** Where the pinned point was asked to go. @type {import("../panels/journey.js").Journey|null} */
    this.journey = null;
    /** @type {() => Uint32Array|null} */
    this.selected = () => null;
  }

  get point() {
    return this.pinned >= 0 ? this.pinned : this.hovered;
  }

  /** @param {number} i */
  hover(i) {
    if (i === this.hovered) return;
    this.hovered = i;
    byId("overlay").style.cursor = i >= 0 ? "pointer" : "";
    if (this.pinned < 0) this.showCard();
    this.scene.refresh();
  }

  /** Pin a point; the pinned one is released. @param {number} i */
  pin(i) {
    this.pinned = i === this.pinned ? -1 : i;
    this.journey = null;
    this.showCard();
    this.scene.refresh();
  }

  release() {
    if (this.pinned >= 0) this.pin(this.pinned);
  }

  /** @param {string} goal a class, or "selection"; empty for nowhere */
  travel(goal) {
    this.journey = goal ? journeyTo(this.atlas, this.pinned, goal, this.selected()) : null;
    this.showCard();
    this.scene.refresh();
  }

  showCard() {
    const card = byId("card"),
      i = this.point;
    card.hidden = i < 0;
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
      }),
    );
    card.dataset.point = String(i);
  }

  /** Beside the point, clear of its arrows. */
  placeCard() {
    const card = byId("card");
    if (card.hidden) return;
    const i = Number(card.dataset.point),
      { width, height } = this.scene.camera;
    const [x, y] = this.atlas.cloud.finite[i] ? this.scene.renderer.screenPos(i) : [120, height - 60];
    const wide = card.offsetWidth,
      tall = card.offsetHeight,
      gap = this.atlas.facts.explained ? 158 : 40; // clear of the names of the arrows
    const left =
      x + gap + wide < width - 8
        ? x + gap
        : x - gap - wide > 8
          ? x - gap - wide
          : x < width / 2
            ? width - wide - 12
            : 12;
    const top = Math.max(12, Math.min(height - tall - 12, y - tall / 2));
    card.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
}
