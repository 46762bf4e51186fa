// The state of the page in its address, after the #: to come back to a view, and to share it.
import { pickTheme, pickedTheme } from "./appearance.js";
import { fingerprint, packPath, packRows, unpackNumbers, unpackPath, unpackRows } from "../data/shorthand.js";
import { copyText } from "../data/handout.js";
import { byId, formatCount } from "../dom.js";
import { pointsNear, straightened, trends } from "../questions/line.js";

const LINK_FORM = "1"; // of the addresses
const THEME_ALONE = /^theme=(light|dark)$/; // written by hand, or by a page of several maps
const QUIET_TIME = 300; // milliseconds without a change before it is written
const LONGEST_TEXT = 6000; // letters of a selection
/** Pixels by which a path may be simplified, and decimals kept, if it finds the same points again. */
const ROUNDINGS = [
  { pixels: 2, places: 4 },
  { pixels: 0.5, places: 4 },
  { pixels: 0, places: 5 },
  { pixels: 0, places: 9 },
];

export class Address {
  /** @param {import("./page.js").Page} page */
  constructor(page) {
    this.page = page;
    this.open = false;
    this.text = "";
    /** Which page this is. */
    this.id = fingerprint(page.atlas.header, page.atlas.core.embedding);
    /** The selection that was last put in letters. @type {{of: any, field: [string, string]|null}} */
    this.packed = { of: null, field: null };
    /** What of the state is too long for an address. */
    this.left = "";
  }

  /** Everything is there: take up what the address says, and keep it from now on. */
  start() {
    this.#follow();
    this.open = true;
    window.addEventListener("hashchange", () => this.#follow());
  }

  /** Something may have changed. */
  touch() {
    if (!this.open) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#write(), QUIET_TIME);
  }

  #write() {
    if (this.page.player?.playing) return;
    const text = this.encode();
    if (text === this.text) return;
    this.text = text;
    try {
      history.replaceState(null, "", `${location.href.split("#")[0]}#${text}`);
    } catch {
      this.open = false; // a frame that has no address of its own
    }
  }

  /** Copy the address of this view. */
  async copy() {
    const text = this.encode(),
      copied = await copyText(`${location.href.split("#")[0]}#${text}`),
      left = this.left ? ` Without ${this.left}, which is too long for a link.` : "";
    this.page.say(
      copied
        ? `Link copied: it opens this view where this file is at the same address.${left}`
        : "This page may not use the clipboard here: copy the address of the page instead.",
    );
  }

  // ---- writing ----------------------------------------------------------------------------------------------------

  /** The state in short; empty if the page is as it was opened. */
  encode() {
    const { atlas, filters, focus, scene, charts, ranges } = this.page,
      { camera } = scene,
      { cloud } = atlas,
      fields = /** @type {[string, string][]} */ ([]),
      put = (/** @type {string} */ name, /** @type {string} */ text) => fields.push([name, text]);
    if (atlas.header.sequence && atlas.position !== atlas.header.sequence.main) put("at", short(atlas.position));
    const chosen = pickedTheme();
    if (chosen) put("theme", chosen);
    if (filters.channel && filters.channel.id !== atlas.channels[0].id) put("color", filters.channel.id);
    const { contours, levels, pictures } = scene.layers;
    if (levels.chosen >= 0) put("level", String(levels.chosen));
    if (contours.on) put("contours", "on");
    if (pictures.possible && !pictures.on) put("pictures", "off");
    if (filters.hidden.size) put("off", [...filters.hidden].sort((a, b) => a - b).join("."));
    if (charts.added.length) put("charts", charts.added.join("."));
    for (const [id, { rule }] of ranges.rules) put("where", ruleText(id, rule));
    const [x, y] = camera.home;
    if (camera.zoom !== 1 || camera.x !== x || camera.y !== y)
      put("view", [camera.x, camera.y, camera.zoom].map(short).join(","));
    if (cloud.d === 3 && cloud.rotation.some((v, k) => v !== Number(k % 4 === 0)))
      put("turn", cloud.rotation.slice(0, 6).map(short).join(","));
    const selection = this.#selectionField();
    if (selection) fields.push(selection);
    if (filters.matches) put("find", byId("search").value);
    if (atlas.neighborLists && atlas.neighborLists.wanted !== atlas.neighborLists.most)
      put("k", String(atlas.neighborLists.wanted));
    if (focus.pinned >= 0) put("pin", String(focus.pinned));
    if (!fields.length) return "";
    return [["gnomon", LINK_FORM], ["id", this.id], ...fields]
      .map(([name, text]) => `${name}=${encodeURIComponent(text).replaceAll("%2C", ",")}`)
      .join("&");
  }

  /** Looked up once for a selection: how it was made if that finds the same points again, else its rows. */
  #selectionField() {
    const { selection } = this.page.filters;
    if (!selection) {
      this.left = "";
      this.packed = { of: null, field: null };
    } else if (this.packed.of !== selection) {
      const field = this.#origin(selection) ?? ["rows", packRows(selection.ids)],
        long = field[1].length > LONGEST_TEXT;
      this.left = long ? `the selection of ${formatCount(selection.ids.length)} points` : "";
      this.packed = { of: selection, field: long ? null : field };
    }
    return this.packed.field;
  }

  /** @param {any} selection @returns {[string, string]|null} */
  #origin(selection) {
    const { filters, scene } = this.page,
      same = (/** @type {Uint32Array|null} */ ids) =>
        ids !== null && ids.length === selection.ids.length && ids.every((i, k) => i === selection.ids[k]);
    if (filters.isolated !== null)
      return same(filters.membersOf(filters.isolated)) ? ["only", String(filters.isolated)] : null;
    if (selection.line) {
      const { path, width } = selection.line;
      if (!path.length) return null;
      for (const { places } of ROUNDINGS) {
        const text = `${packPath(path, places)};${Number(width.toPrecision(places + 1))}`;
        if (same(this.#near(text).ids)) return ["line", text];
      }
    }
    for (const { pixels, places } of selection.path ? ROUNDINGS : []) {
      const text = packPath(straightened(selection.path, pixels / scene.camera.scale), places);
      if (text.length <= LONGEST_TEXT && same(this.#lasso(text))) return ["lasso", text];
    }
    return null;
  }

  // ---- the points that a short text stands for ---------------------------------------------------------------------

  /** @param {string} text */
  #lasso(text) {
    const { scene, ranges } = this.page,
      corners = unpackPath(text).map(([x, y]) => scene.camera.toScreen(x, y));
    return ranges.passing(scene.renderer.lasso(corners));
  }

  /** @param {string} text */
  #near(text) {
    const { atlas, filters } = this.page,
      [path, width] = text.split(";");
    return pointsNear(atlas.cloud, (i) => filters.askable(i), unpackPath(path), unpackNumbers(width)[0]);
  }

  // ---- reading ----------------------------------------------------------------------------------------------------

  #follow() {
    const text = location.hash.slice(1);
    if (!text || text === this.text) return;
    this.text = text;
    const said = this.read(text);
    if (said) this.page.say(said);
  }

  /** Take up a state. @param {string} text @returns {string} what could not be, in words; empty if all was */
  read(text) {
    const given = new URLSearchParams(text);
    const [, plain] = THEME_ALONE.exec(text) ?? [];
    if (plain) {
      pickTheme(/** @type {"light"|"dark"} */ (plain));
      return "";
    }
    if (!given.has("gnomon")) return "What follows the # in the address is no view of a map: it is left out.";
    if (given.get("gnomon") !== LINK_FORM)
      return "This link has a form that this page does not know; it may come from a newer gnomon: it is left out.";
    const other = given.get("id") !== this.id,
      lost = [];
    for (const [name, take] of Object.entries(this.#readers())) {
      for (const value of given.getAll(name)) {
        if (other && OF_POINTS.includes(name)) continue;
        try {
          take(value);
        } catch {
          lost.push(name);
        }
      }
    }
    this.page.scene.redraw();
    if (other)
      return "This link was made for another map or another version of it: points and selections are left out.";
    return lost.length ? `Parts of this link do not fit this page and are left out: ${lost.join(", ")}.` : "";
  }

  /** In the order in which they are taken up; an error for what does not fit. */
  #readers() {
    const { atlas, filters, focus, scene, charts, ranges, player } = this.page,
      { camera } = scene;
    const within = (/** @type {number} */ value, /** @type {number} */ count) =>
      Number.isInteger(value) && value >= 0 && value < count;
    return /** @type {Record<string, (text: string) => void>} */ ({
      at: (text) => {
        need(player !== null && Number(text) >= 0 && Number(text) <= player.last);
        player?.stand(Number(text));
      },
      theme: (text) => {
        need(text === "dark" || text === "light");
        pickTheme(/** @type {"light"|"dark"} */ (text));
      },
      color: (text) => {
        need(atlas.channel(text) !== undefined);
        filters.colorBy(text);
      },
      level: (text) => press(`#levels [data-level="${Number(text)}"]`),
      contours: (text) => {
        need(text === "on");
        if (!scene.layers.contours.on) press("#contours");
      },
      pictures: (text) => {
        need(text === "off");
        if (scene.layers.pictures.on) press("#pictures");
      },
      off: (text) => {
        const classes = text.split(".").map(Number);
        need(classes.every((k) => within(k, filters.channel?.categories?.length ?? 0)));
        filters.hidden = new Set(classes);
        filters.apply();
      },
      charts: (text) => {
        for (const id of text.split(".")) {
          need(ranges.bins(id) !== null);
          charts.add(id);
        }
      },
      where: (text) => {
        const { id, rule } = ruleOf(text);
        need(ranges.set(id, rule));
        filters.apply();
      },
      view: (text) => {
        const [x, y, zoom] = unpackNumbers(text);
        need(zoom > 0);
        [camera.x, camera.y] = [x, y];
        camera.zoomAt(zoom / camera.zoom, camera.width / 2, camera.height / 2); // within its limits
        filters.settle();
      },
      turn: (text) => {
        need(atlas.cloud.d === 3);
        atlas.cloud.rotate(rotationOf(unpackNumbers(text)));
        filters.settle();
      },
      only: (text) => {
        need(within(Number(text), filters.channel?.categories?.length ?? 0));
        if (filters.isolated !== Number(text)) filters.isolate(Number(text));
      },
      lasso: (text) => {
        const ids = this.#lasso(text);
        need(ids.length > 0);
        filters.isolated = null;
        filters.select(ids, { path: unpackPath(text) });
      },
      line: (text) => {
        const near = this.#near(text);
        need(near.ids.length > 0);
        filters.isolated = null;
        filters.select(near.ids, { line: { ...near, rows: trends(atlas.table, near) } });
      },
      rows: (text) => {
        filters.isolated = null;
        filters.select(unpackRows(text, atlas.n));
      },
      find: (text) => {
        byId("search").value = text;
        filters.search(text);
      },
      k: (text) => {
        const lists = atlas.neighborLists;
        need(Boolean(lists?.choices.includes(Number(text))));
        if (lists) lists.wanted = Number(text);
      },
      pin: (text) => {
        need(text !== "" && within(Number(text), atlas.n));
        if (focus.pinned !== Number(text)) focus.pin(Number(text));
      },
    });
  }

  state() {
    return { text: this.encode(), id: this.id, left: this.left };
  }
}

/** Parts that mean other points in another map. */
const OF_POINTS = ["pin", "rows", "lasso", "line"];

/** @param {boolean} fits */
function need(fits) {
  if (!fits) throw new Error("does not fit this page");
}

/** Press a button of the page. @param {string} selector */
function press(selector) {
  const button = /** @type {HTMLElement|null} */ (document.querySelector(selector));
  need(button !== null);
  button?.click();
}

/** @param {number} value */
function short(value) {
  return String(Number(value.toPrecision(6)));
}

/** @param {string} id @param {import("../data/bins.js").Rule} rule */
function ruleText(id, rule) {
  if ("classes" in rule) return `${id}~in~${rule.classes.join(".")}`;
  const { low, high, missing } = rule;
  if (low === null || high === null) return `${id}~missing`;
  const end = (/** @type {number} */ v) => (Number.isFinite(v) ? String(v) : "");
  return `${id}~${end(low)}~${end(high)}${missing ? "~m" : ""}`;
}

/** The inverse of `ruleText`. @param {string} text @returns {{id: string, rule: import("../data/bins.js").Rule}} */
function ruleOf(text) {
  const [id, a, b, m] = text.split("~");
  if (a === "in") return { id, rule: { classes: b.split(".").map(Number) } };
  if (a === "missing") return { id, rule: { low: null, high: null, missing: true } };
  const low = a ? unpackNumbers(a)[0] : -Infinity,
    high = b ? unpackNumbers(b)[0] : Infinity;
  return { id, rule: { low, high, missing: m === "m" } };
}

/** A rotation from its first two rows. @param {number[]} six */
function rotationOf(six) {
  const [a, b] = [six.slice(0, 3), six.slice(3, 6)],
    unit = (/** @type {number[]} */ v) => v.map((x) => x / Math.hypot(...v)),
    u = unit(a),
    along = u[0] * b[0] + u[1] * b[1] + u[2] * b[2],
    w = unit(b.map((x, k) => x - along * u[k]));
  const turned = [...u, ...w, u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]];
  if (six.length !== 6 || !turned.every(Number.isFinite)) throw new Error("no rotation");
  return turned;
}
