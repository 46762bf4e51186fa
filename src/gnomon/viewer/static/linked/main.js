// Several maps of the same rows: what is marked in one is marked in all.
import { loadGroup, loadHeader } from "../data/payload.js";
import { byId, formatCount, h } from "../dom.js";
import { Plane } from "./plane.js";

const DRAWN = 6; // pixels that the pointer must be dragged before it draws a line

class Linked {
  /** @param {any} header @param {Record<string, any>} core */
  constructor(header, core) {
    this.header = header;
    this.column = (header.columns || [])[0];
    this.values = this.column ? core[this.column.key] : null;
    const colors = this.#colors();
    this.planes = header.maps.map(
      (/** @type {{name: string, caption: string}} */ one, /** @type {number} */ k) =>
        new Plane(one.name, one.caption, core[`map${k}`], colors),
    );
    /** @type {Uint8Array|null} */
    this.chosen = null;
    this.row = -1;
    this.hint = byId("told").textContent;
    for (const plane of this.planes) {
      byId("maps").append(plane.node);
      this.#listen(plane);
    }
    for (const [k, name] of (this.column?.categories || []).entries())
      byId("classes").append(h("li", {}, h("i", { style: { background: this.column.colors[k] } }), name));
    window.addEventListener("resize", () => this.resize());
    window.addEventListener("keydown", (event) => event.key === "Escape" && this.choose(null));
    this.resize();
  }

  #colors() {
    const { n, ramp } = this.header;
    if (!this.values) return new Array(n).fill("#4b6b94");
    if (this.column.categories) return Array.from(this.values, (code) => this.column.colors[code]);
    const known = this.values.filter((/** @type {number} */ value) => !Number.isNaN(value)),
      low = known.reduce((/** @type {number} */ a, /** @type {number} */ b) => Math.min(a, b), Infinity),
      high = known.reduce((/** @type {number} */ a, /** @type {number} */ b) => Math.max(a, b), -Infinity);
    return Array.from(this.values, (value) =>
      Number.isNaN(value)
        ? this.header.other
        : ramp[Math.min(ramp.length - 1, Math.floor((ramp.length * (value - low)) / (high - low || 1)))],
    );
  }

  resize() {
    for (const plane of this.planes) plane.resize(this.chosen);
  }

  /** @param {number} row -1 for none */
  point(row) {
    this.row = row;
    for (const plane of this.planes) plane.mark(row, []);
    this.#tell();
  }

  /** @param {Uint8Array|null} chosen 1 for each row that is */
  choose(chosen) {
    this.chosen = chosen && chosen.includes(1) ? chosen : null;
    for (const plane of this.planes) plane.draw(this.chosen);
    this.point(-1);
  }

  #tell() {
    const told = [];
    if (this.row >= 0) {
      told.push(this.header.pointNames ? this.header.pointNames[this.row] : `row ${formatCount(this.row)}`);
      if (this.values) {
        const { name, categories } = this.column,
          value = this.values[this.row];
        told.push(`${name}: ${categories ? categories[value] : value}`);
      }
    }
    if (this.chosen) told.push(`${formatCount(this.chosen.reduce((sum, one) => sum + one, 0))} rows marked`);
    byId("told").textContent = told.length ? told.join(" · ") : this.hint;
  }

  /** @param {Plane} plane */
  #listen(plane) {
    /** @type {number[][]|null} */
    let path = null;
    const at = (/** @type {PointerEvent} */ event) => [event.offsetX, event.offsetY];
    plane.marks.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      path = [at(event)];
      plane.marks.setPointerCapture(event.pointerId);
    });
    plane.marks.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
      if (!path) return this.point(plane.rowAt(event.offsetX, event.offsetY));
      path.push(at(event));
      plane.mark(-1, path);
    });
    plane.marks.addEventListener("pointerup", () => {
      const [first] = path || [[0, 0]],
        drawn = (path || []).some(([x, y]) => Math.hypot(x - first[0], y - first[1]) > DRAWN);
      this.choose(path && drawn ? plane.inside(path) : null);
      path = null;
    });
    plane.marks.addEventListener("pointerleave", () => path || this.point(-1));
  }
}

async function begin() {
  const header = await loadHeader();
  const core = await loadGroup(header, "core");
  byId("fallback").hidden = true;
  const linked = new Linked(header, core);
  /** What tests may ask of the page. */
  /** @type {any} */ (window).gnomon = {
    ready: true,
    state: () => ({ row: linked.row, chosen: linked.chosen ? Array.from(linked.chosen) : null }),
    screenPos: (/** @type {number} */ k, /** @type {number} */ i) => {
      const { left, top } = linked.planes[k].marks.getBoundingClientRect();
      return [left + linked.planes[k].screen[2 * i], top + linked.planes[k].screen[2 * i + 1]];
    },
  };
}

begin().catch((error) => {
  byId("loading").textContent = `This is a static picture: the maps could not start (${error.message}).`;
  console.warn(error);
});
