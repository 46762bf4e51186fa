// What is drawn on the map besides its points: pictures, contours and the names of groups.
import { Contours } from "./contours.js";
import { Labels } from "./labels.js";
import { Levels } from "../data/levels.js";
import { Pictures } from "./pictures.js";

export class Layers {
  /**
   * @param {import("../data/atlas.js").Atlas} atlas
   * @param {import("./camera.js").Camera} camera
   * @param {import("./renderer.js").PointPicker} renderer
   */
  constructor(atlas, camera, renderer) {
    const { cloud } = atlas;
    this.camera = camera;
    this.cloud = cloud;
    this.levels = new Levels(atlas);
    this.labels = new Labels(cloud, camera);
    this.contours = new Contours(atlas, camera);
    this.pictures = new Pictures(atlas, camera, renderer);
    /** @type {() => import("../data/levels.js").Group[]} */
    this.groups = () => [];
    this.placed = "";
    this.version = -1;
  }

  /**
   * Colours have changed, or which points are shown.
   * @param {import("../data/coloring.js").Channel|undefined} channel
   * @param {Uint8Array} states
   * @param {number} least points of a group that is named
   */
  filter(channel, states, least) {
    this.groups = () => this.levels.groups(channel, states, least);
    this.version = -1;
    this.contours.filter(states);
  }

  /** Something that is drawn has changed otherwise: choose again what is drawn and where. */
  replace() {
    this.placed = "";
  }

  /** @param {boolean} moving */
  update(moving) {
    this.contours.update(moving);
    if (moving) {
      this.labels.follow();
      this.pictures.follow();
      return;
    }
    const { x, y, zoom, width, height } = this.camera,
      view = [x, y, zoom, width, height, this.cloud.version].join(" ");
    if (this.version === this.cloud.version && view === this.placed) return;
    if (this.version !== this.cloud.version) this.labels.name(this.groups());
    this.version = this.cloud.version;
    this.placed = view;
    this.pictures.place();
    this.labels.place();
  }

  /** @param {CanvasRenderingContext2D} g */
  drawBelow(g) {
    this.pictures.draw(g);
    this.contours.draw(g);
  }

  /** @param {CanvasRenderingContext2D} g */
  drawNames(g) {
    this.labels.draw(g, this.pictures.rows.length > 0);
  }

  /** What is drawn, for tests. */
  state() {
    return {
      names: this.labels.state(),
      level: this.levels.chosen < 0 ? "auto" : this.levels.chosen,
      contours: this.contours.state(),
      pictures: this.pictures.state(),
    };
  }
}

/**
 * Buttons that turn layers on and off.
 * @param {import("./scene.js").Scene} scene
 * @param {(id: string, text: string, title: string, act: () => void) => HTMLElement} button
 */
export function layerButtons(scene, button) {
  const { contours, pictures } = scene.layers;
  const toggle = (
    /** @type {string} */ id,
    /** @type {string} */ text,
    /** @type {string} */ title,
    /** @type {Contours|Pictures} */ layer,
  ) => {
    const node = button(id, text, title, () => {
      layer.on = !layer.on;
      node.setAttribute("aria-pressed", String(layer.on));
      scene.layers.replace();
      scene.redraw();
    });
    node.setAttribute("aria-pressed", String(layer.on));
    return node;
  };
  return [
    toggle("contours", "Contours", "Lines around the densest 50, 80 and 95 % of the points shown", contours),
    pictures.possible
      ? toggle("pictures", "Pictures", "Draw the pictures of the points where there is room: zoom in", pictures)
      : null,
  ];
}
