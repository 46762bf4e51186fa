// Names of groups on the map: on the densest member, without covering each other, finer ones as one zooms in.
import { Crowd } from "../data/islands.js";
import { haloText } from "./overlay.js";
import { shorten, shortenName } from "./shorten.js";
import { tint } from "./theme.js";

const OPENS_AT = 0.5; // of the stage's shorter side: a group that extends over more shows those in it, or its caption
const NAME_LENGTH = 28,
  CAPTION_LENGTH = 44;
const NAME_TALL = 20,
  CAPTION_TALL = 15; // pixels of a line
const FINEST_CELL = 10,
  WIDEST_CELL = 48; // pixels of the cells in which members are counted
const NAME_TRIES = 48; // places for a name
const FARTHEST_NAME = 120; // pixels from its member
const MOST_COVERED = 400; // points of an island that a name stands beside
const BESIDE = 4; // pixels between them
const STRAY = 0.05; // of the points in view and of its own: fewer of a group are not named
const NAME_KEPT = 0.7; // of the greatest density: a name stays on a member that has so much
const MOST_NAMED_GROUPS = 400; // groups at once
const NAME_FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const RIGHT_TO_LEFT = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * A name on the map: on the member `row`, its middle `shift` pixels away from it.
 * @typedef {{key: string, group: import("../data/levels.js").Group, row: number, shift: [number, number], name: string,
 *   caption: string, half: number, tall: number, large: boolean, box: number[], beside?: boolean}} Label
 *   `half` its width
 */

export class Labels {
  /** @param {import("./cloud.js").Cloud} cloud @param {import("./camera.js").Camera} camera */
  constructor(cloud, camera) {
    this.cloud = cloud;
    this.camera = camera;
    /** @type {import("../data/levels.js").Group[]} */
    this.groups = [];
    /** At rest. @type {Label[]} */
    this.placed = [];
    /** Of these the ones that are drawn; fewer while the map moves. @type {Label[]} */
    this.drawn = [];
    this.pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  }

  /** @param {import("../data/levels.js").Group[]} groups */
  name(groups) {
    this.groups = groups;
    this.placed = [];
  }

  /**
   * Names go with their members; those that would cover another or
   * leave the stage are left out till all is at rest.
   */
  follow() {
    /** @type {number[][]} */
    const taken = [];
    this.drawn = this.placed.filter((label) => {
      label.box = this.#boxOf(label);
      return this.#fits(label.box, taken) && taken.push(label.box);
    });
  }

  /** Choose what is named and where. */
  place() {
    const before = new Map(this.placed.map((label) => [label.key, label])),
      occupied = /** @type {number[][]} */ ([]);
    this.placed = [];
    for (const { group, island, ids } of this.#visible()) {
      const label = this.#placed(group, island, ids, before.get(keyOf(group, island)), occupied);
      if (!label) continue;
      occupied.push(label.box);
      this.placed.push(label);
    }
    this.drawn = this.placed;
  }

  /** Islands of the groups to be named with their points in view, most points first. */
  #visible() {
    const { width, height, scale } = this.camera,
      [left, top] = this.camera.toPlane(0, 0),
      [right, bottom] = this.camera.toPlane(width, height),
      { plane } = this.cloud,
      large = OPENS_AT * Math.min(width, height);
    const inView = (/** @type {number} */ i) =>
      plane[3 * i] >= left && plane[3 * i] <= right && plane[3 * i + 1] >= bottom && plane[3 * i + 1] <= top;
    const chosen = opened(this.groups, (group) => group.extent * scale > large).flatMap((group) =>
      group.islands.map((points, island) => ({ group, island, size: points.length, ids: points.filter(inView) })),
    );
    const inAll = chosen.reduce((sum, { ids }) => sum + ids.length, 0);
    return chosen
      .filter(({ ids, size }) => ids.length && (ids.length >= STRAY * inAll || ids.length >= STRAY * size))
      .sort((a, b) => b.ids.length - a.ids.length)
      .slice(0, MOST_NAMED_GROUPS);
  }

  /**
   * @param {import("../data/levels.js").Group} group @param {number} island @param {Uint32Array} ids in view
   * @param {Label|undefined} before where it was
   * @param {number[][]} taken
   * @returns {Label|null} null where there is no room
   */
  #placed(group, island, ids, before, taken) {
    const { camera, cloud } = this,
      { plane } = cloud,
      { scale } = camera,
      crowd = new Crowd(plane, ids, FINEST_CELL / scale, WIDEST_CELL / scale);
    const written = this.#written(group, island),
      label = { ...written, key: keyOf(group, island), group, row: crowd.row, shift: [0, 0], box: [0, 0, 0, 0] };
    const holds = (/** @type {Label} */ one) => this.#fits((one.box = this.#boxOf(one)), taken);
    for (const shift of this.#beside(ids, crowd.row, label)) {
      const tried = /** @type {Label} */ ({ ...label, shift, beside: true });
      if (holds(tried)) return tried;
    }
    if (before && crowd.share(before.row) >= NAME_KEPT && this.#inside(before.row)) {
      const kept = /** @type {Label} */ ({ ...label, row: before.row, shift: before.shift });
      if (holds(kept)) return kept;
    }
    const [x, y] = this.#pixels(crowd.row),
      [ax, ay] = [plane[3 * crowd.row], plane[3 * crowd.row + 1]];
    for (const [px, py] of [[ax, ay], ...crowd.placesNear(ax, ay).slice(0, NAME_TRIES)]) {
      const [cx, cy] = this.#within(camera.toScreen(px, py), label.half, label.tall);
      const tried = /** @type {Label} */ ({ ...label, shift: [cx - x, cy - y] });
      if (Math.hypot(...tried.shift) <= FARTHEST_NAME && holds(tried)) return tried;
    }
    return null;
  }

  /**
   * Where a name stands that would cover all its points: above, below, to the right or to the left of them.
   * @param {Uint32Array} ids @param {number} row @param {{half: number, tall: number}} label
   * @returns {[number, number][]} from the member `row`; none for larger islands
   */
  #beside(ids, row, { half, tall }) {
    if (ids.length > MOST_COVERED) return [];
    const at = Array.from(ids, (i) => this.#pixels(i)),
      [x, y] = this.#pixels(row),
      [left, right] = [Math.min(...at.map((p) => p[0])) - x, Math.max(...at.map((p) => p[0])) - x],
      [top, bottom] = [Math.min(...at.map((p) => p[1])) - y, Math.max(...at.map((p) => p[1])) - y],
      [across, down] = [(left + right) / 2, (top + bottom) / 2];
    if (right - left > 2 * half || bottom - top > 1.5 * tall) return [];
    return [
      [across, top - tall / 2 - BESIDE],
      [across, bottom + tall / 2 + BESIDE],
      [right + half + BESIDE, down],
      [left - half - BESIDE, down],
    ];
  }

  /**
   * The lines of a label and the room they need.
   * @param {import("../data/levels.js").Group} group @param {number} island
   */
  #written(group, island) {
    const { width, height, scale } = this.camera,
      open = group.reach * scale > OPENS_AT * Math.min(width, height),
      large = group.inner.length > 1,
      part = group.found && group.islands.length > 1 ? ` (${island + 1} of ${group.islands.length})` : "",
      name = shortenName(group.name, NAME_LENGTH - part.length) + part,
      caption = open && group.caption !== group.name ? shorten(group.caption, CAPTION_LENGTH) : "";
    const wide = (/** @type {string} */ text, /** @type {string} */ font) => {
      this.pen.font = font;
      return this.pen.measureText(text).width;
    };
    const half = Math.max(wide(name, nameFont(large)), caption ? wide(caption, CAPTION_FONT) : 0) / 2 + 4;
    return { name, caption, half, large, tall: NAME_TALL + (caption ? CAPTION_TALL : 0) };
  }

  /**
   * A middle moved so far that the box around it lies on the stage.
   * @param {number[]} at @param {number} half @param {number} tall
   */
  #within([x, y], half, tall) {
    const { width, height } = this.camera;
    return [Math.max(half, Math.min(width - half, x)), Math.max(tall / 2, Math.min(height - tall / 2, y))];
  }

  /** @param {number} i @returns {[number, number]} */
  #pixels(i) {
    return this.camera.toScreen(this.cloud.plane[3 * i], this.cloud.plane[3 * i + 1]);
  }

  /** @param {number} i */
  #inside(i) {
    const [x, y] = this.#pixels(i),
      { width, height } = this.camera;
    return x >= 0 && y >= 0 && x <= width && y <= height;
  }

  /** @param {Label} label @returns {number[]} [left, top, right, bottom] in pixels */
  #boxOf({ row, shift, half, tall }) {
    const [x, y] = this.#pixels(row),
      [cx, cy] = [x + shift[0], y + shift[1]];
    return [cx - half, cy - tall / 2, cx + half, cy + tall / 2];
  }

  /** @param {number[]} box @param {number[][]} taken */
  #fits([left, top, right, bottom], taken) {
    const { width, height } = this.camera,
      edge = 1e-6;
    if (left < -edge || top < -edge || right > width + edge || bottom > height + edge) return false;
    return !taken.some((b) => b[0] < right && left < b[2] && b[1] < bottom && top < b[3]);
  }

  /** @param {CanvasRenderingContext2D} g @param {boolean} plates whether what lies below makes them hard to read */
  draw(g, plates) {
    for (const label of this.drawn) if (!label.beside) this.#leader(g, label);
    g.fillStyle = tint("paper", 0.78);
    if (plates) for (const { box } of this.drawn) g.fillRect(box[0], box[1], box[2] - box[0], box[3] - box[1]);
    g.textAlign = "center";
    g.textBaseline = "middle";
    for (const { name, caption, large, box } of this.drawn) {
      const x = (box[0] + box[2]) / 2;
      g.direction = RIGHT_TO_LEFT.test(name) ? "rtl" : "ltr";
      g.font = nameFont(large);
      haloText(g, name, x, box[1] + NAME_TALL / 2);
      if (!caption) continue;
      g.direction = RIGHT_TO_LEFT.test(caption) ? "rtl" : "ltr";
      g.font = CAPTION_FONT;
      haloText(g, caption, x, box[1] + NAME_TALL + CAPTION_TALL / 2 - 2, tint("soft"));
    }
    g.direction = "ltr";
  }

  /**
   * A line from a name that was moved to the member it stands for.
   * @param {CanvasRenderingContext2D} g @param {Label} label
   */
  #leader(g, { row, box: [left, top, right, bottom] }) {
    const [x, y] = this.#pixels(row),
      [ex, ey] = [Math.max(left, Math.min(right, x)), Math.max(top, Math.min(bottom, y))];
    if (ex === x && ey === y) return;
    g.beginPath();
    g.moveTo(ex, ey);
    g.lineTo(x, y);
    g.lineWidth = 3;
    g.strokeStyle = tint("paper", 0.8);
    g.stroke();
    g.lineWidth = 1;
    g.strokeStyle = tint("soft");
    g.stroke();
    g.beginPath();
    g.arc(x, y, 2, 0, 2 * Math.PI);
    g.fillStyle = tint("soft");
    g.fill();
  }

  /** What is drawn, for tests. */
  state() {
    return this.drawn.map(({ group, row, box, caption, name }) => ({
      name: group.name,
      drawn: name,
      caption,
      level: group.level,
      count: group.count,
      place: row,
      x: this.cloud.plane[3 * row],
      y: this.cloud.plane[3 * row + 1],
      box,
    }));
  }
}

/**
 * The groups to be named: in place of a large one those that lie in it.
 * @param {import("../data/levels.js").Group[]} groups
 * @param {(group: import("../data/levels.js").Group) => boolean} large
 * @returns {import("../data/levels.js").Group[]}
 */
function opened(groups, large) {
  return groups.flatMap((group) =>
    group.inner.length === 1 || (group.inner.length > 1 && large(group)) ? opened(group.inner, large) : [group],
  );
}

/** @param {import("../data/levels.js").Group} group @param {number} island */
function keyOf(group, island) {
  return `${group.level} ${island} ${group.name}`;
}

const CAPTION_FONT = `500 12px ${NAME_FAMILY}`;

/** @param {boolean} large */
function nameFont(large) {
  return `600 ${large ? 15 : 13.5}px ${NAME_FAMILY}`;
}
