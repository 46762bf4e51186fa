// From point to point by the keys, and the groups that a key selects.
import { nearestPoints } from "../data/neighbors.js";
import { HIDDEN, SHOWN } from "../drawing/renderer.js";
import { formatCount } from "../dom.js";
import { pointInWords } from "../panels/summary.js";

const FIRST_GROUP = 30; // points of a neighbourhood when it is first asked for
const CLEAR_EDGE = 60; // pixels from the edge of the view that a point is kept away
const MOST = 4000; // points of a neighbourhood

/** @type {Record<string, [number, number]>} to the right and up */
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
/** @type {Record<string, string>} */
const WAYS = { ArrowLeft: "to the left", ArrowRight: "to the right", ArrowUp: "above", ArrowDown: "below" };

export class Walk {
  /**
   * @param {{atlas: import("../data/atlas.js").Atlas, scene: import("../drawing/scene.js").Scene,
   *   focus: import("./focus.js").Focus, filters: import("./filters.js").Filters, mode: {steps: boolean}}} page
   * @param {(text: string) => void} say
   */
  constructor({ atlas, scene, focus, filters, mode }, say) {
    this.atlas = atlas;
    this.scene = scene;
    this.focus = focus;
    this.filters = filters;
    this.mode = mode;
    this.say = say;
    this.at = -1;
    this.group = { center: -1, count: 0 };
  }

  /** The point that the keys have taken, or -1. */
  get taken() {
    const { at, focus } = this;
    return at >= 0 && (focus.hovered === at || focus.pinned === at) ? at : -1;
  }

  /** Where a step begins. Along a sequence the keys step through it, so a point must have been taken by a key. */
  get start() {
    if (this.taken >= 0) return this.taken;
    return this.mode.steps ? -1 : this.focus.pinned;
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether the key meant something here */
  press(event) {
    const { key } = event,
      from = this.start;
    if (event.altKey || event.ctrlKey || event.metaKey) return false;
    if (key === "Enter" || key === " ") this.#enter(from);
    else if (from < 0) return false;
    else if (key in DIRECTIONS && !event.shiftKey) this.#step(from, key);
    else if (key === "n" || key === "N") this.#neighborhood(from);
    else if (key === "c" || key === "C") this.#class(from);
    else return false;
    return true;
  }

  /** Let the point go that a key has taken. @returns {boolean} whether there was one */
  leave() {
    const { taken } = this;
    this.at = -1;
    if (taken < 0) return false;
    this.focus.hover(-1);
    this.say("");
    return true;
  }

  /** @param {number} from */
  #enter(from) {
    const { camera } = this.scene,
      { cloud } = this.atlas;
    if (from >= 0 && from === this.at) {
      this.focus.pin(from);
      if (this.focus.pinned === from) this.say("Pinned. Tab goes to its card.");
      else this.#take(from);
      return;
    }
    const found =
      from >= 0 ? from : nearestShown(cloud, this.filters.states, camera.toPlane(camera.width / 2, camera.height / 2));
    if (found >= 0) this.#take(found);
    else this.say("No point is shown.");
  }

  /** @param {number} from @param {string} key */
  #step(from, key) {
    const next = nextPoint(this.atlas.cloud, this.filters.states, from, DIRECTIONS[key]);
    if (next >= 0) this.#take(next);
    else this.say(`No point lies further ${WAYS[key]}.`);
  }

  /** @param {number} i */
  #take(i) {
    const { camera, renderer } = this.scene,
      { width, height } = camera;
    this.at = i;
    this.focus.hover(i);
    const [x, y] = renderer.screenPos(i),
      edge = Math.min(CLEAR_EDGE, width / 4, height / 4),
      inside = (/** @type {number} */ v, /** @type {number} */ most) => Math.max(edge, Math.min(most - edge, v));
    if (inside(x, width) !== x || inside(y, height) !== y) {
      camera.pan(inside(x, width) - x, inside(y, height) - y);
      this.scene.redraw();
    }
    this.say(pointInWords(this.atlas, i));
  }

  /** Select the points around one; asked again, twice as many. @param {number} i */
  #neighborhood(i) {
    const { filters, atlas, group } = this,
      again = group.center === i && filters.selection !== null;
    const count = Math.min(again ? 2 * group.count : FIRST_GROUP, MOST, atlas.n - 1);
    this.group = { center: i, count };
    const near = nearestPoints(atlas.cloud, i, count).filter((j) => filters.states[j] !== HIDDEN);
    filters.isolated = null;
    filters.select(Uint32Array.from([i, ...near]).sort());
    this.say(`The point and the ${formatCount(near.length)} nearest to it are selected.`);
  }

  /** @param {number} i */
  #class(i) {
    const { channel } = this.filters;
    if (channel?.kind !== "classes" || !channel.codes || !channel.categories) {
      this.say("The map is not coloured by classes.");
      return;
    }
    const k = channel.codes[i];
    this.filters.isolate(k);
    this.say(this.filters.isolated === k ? `${channel.categories[k]} is selected.` : "The selection is cleared.");
  }
}

/**
 * The nearest shown point in a quarter of the plane about a direction. Points in the same place follow one another
 * by their rows to the right, and back to the left.
 * @param {import("../drawing/cloud.js").Cloud} cloud
 * @param {Uint8Array} states
 * @param {number} i
 * @param {[number, number]} direction one of the four along an axis
 * @returns {number} -1 where there is none
 */
export function nextPoint(cloud, states, i, [ux, uy]) {
  const { plane } = cloud,
    x = plane[3 * i],
    y = plane[3 * i + 1];
  return expandingSearch(
    cloud,
    (r) => [x - (ux > 0 ? 0 : r), y - (uy > 0 ? 0 : r), x + (ux < 0 ? 0 : r), y + (uy < 0 ? 0 : r)],
    (j) => {
      if (j === i || states[j] !== SHOWN) return Infinity;
      const dx = plane[3 * j] - x,
        dy = plane[3 * j + 1] - y,
        along = dx * ux + dy * uy,
        here = dx === 0 && dy === 0;
      if (here ? (j - i) * ux <= 0 : along <= 0 || Math.abs(dx * uy) + Math.abs(dy * ux) > along) return Infinity;
      return Math.hypot(dx, dy);
    },
    ux < 0 || uy < 0,
  );
}

/**
 * @param {import("../drawing/cloud.js").Cloud} cloud
 * @param {Uint8Array} states
 * @param {[number, number]} place in the plane
 */
function nearestShown(cloud, states, [x, y]) {
  const { plane } = cloud;
  return expandingSearch(
    cloud,
    (r) => [x - r, y - r, x + r, y + r],
    (j) => (states[j] === SHOWN ? Math.hypot(plane[3 * j] - x, plane[3 * j + 1] - y) : Infinity),
    false,
  );
}

/**
 * The point of the least distance, looked for in boxes that grow until they hold all points within that distance.
 * @param {import("../drawing/cloud.js").Cloud} cloud
 * @param {(reach: number) => [number, number, number, number]} box [left, bottom, right, top]
 * @param {(j: number) => number} distance Infinity for a point that does not count
 * @param {boolean} last of several at the same distance take the last, not the first
 */
function expandingSearch(cloud, box, distance, last) {
  const [left, bottom, right, top] = cloud.bounds(),
    [a, b, c, d] = box(0),
    // A box of this reach holds all points wherever it begins.
    whole = Math.max(right - left, top - bottom, right - a, c - left, top - b, d - bottom);
  for (let reach = Math.max(whole / Math.sqrt(cloud.n), 1e-9); ; reach *= 2) {
    let best = -1,
      least = Infinity;
    cloud.visit(...box(reach), (j) => {
      const away = distance(j);
      if (away < least || (away === least && away < Infinity && (last ? j > best : j < best))) {
        least = away;
        best = j;
      }
    });
    if (least <= reach || reach > whole) return best;
  }
}
