// The part of a pinned card that asks what would move the point elsewhere.
import { deviationsText, formatNumber, h } from "../dom.js";
import { differences, shortestPath } from "../questions/path.js";

const MOST_CHANGES = 6;

/**
 * @typedef {{goal: string, path: number[], changes: ReturnType<typeof differences>}} Journey
 */

/**
 * The shortest path along the data from a point to a class, or to the points of the selection.
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {number} i
 * @param {string} goal number of the class, or "selection"
 * @param {Uint32Array|null} selected
 * @returns {Journey|null}
 */
export function journeyTo(atlas, i, goal, selected) {
  if (!atlas.local) return null;
  const codes = /** @type {ArrayLike<number>} */ (atlas.label?.codes),
    chosen = new Set(goal === "selection" ? selected : []);
  const path = shortestPath(
    atlas.local,
    i,
    goal === "selection" ? (j) => chosen.has(j) : (j) => codes[j] === Number(goal),
  );
  return { goal, path: path ?? [], changes: path ? differences(atlas.table, i, path[path.length - 1]) : [] };
}

/**
 * @param {import("../data/atlas.js").Atlas} atlas @param {number} i
 * @param {{journey: Journey|null, selected: Uint32Array|null, travel: (goal: string) => void}} options
 */
export function journeyBlock(atlas, i, { journey, selected, travel }) {
  const { label, table } = atlas,
    own = label?.codes?.[i];
  if (!atlas.local || !table.size) return null;
  const goals = (label?.categories || [])
    .map((name, k) => ({ id: String(k), name }))
    .filter(({ id }) => id !== String(own) && id !== String(label?.missing));
  if (selected?.length && !selected.includes(i)) goals.unshift({ id: "selection", name: "the selection" });
  if (!goals.length) return null;
  const choice = h(
    "select",
    { id: "goal", "aria-label": "Where to", onchange: (/** @type {any} */ e) => travel(e.target.value) },
    h("option", { value: "" }, "choose …"),
    ...goals.map(({ id, name }) => h("option", { value: id, selected: journey?.goal === id }, name)),
  );
  return h(
    "section",
    { class: "journey" },
    h("h3", {}, "What would move it to ", choice),
    ...(journey ? journeyContent(atlas, journey) : []),
  );
}

/** @param {import("../data/atlas.js").Atlas} atlas @param {Journey} journey */
function journeyContent(atlas, { path, changes }) {
  if (!path.length) return [h("p", { class: "warn" }, "No path along neighbours in the data leads there.")];
  const last = path[path.length - 1],
    steps = path.length - 1,
    largest = Math.abs(changes[0]?.change || 1);
  const rows = changes
    .slice(0, MOST_CHANGES)
    .map((row) =>
      h(
        "tr",
        { title: `${deviationsText(row.change)} ${row.change < 0 ? "less" : "more"}` },
        h("td", { class: "name" }, h("bdi", {}, row.name)),
        h("td", { class: "value" }, formatNumber(row.now)),
        h("td", { class: "dir" }, "→"),
        h("td", { class: "value" }, formatNumber(row.then)),
        h(
          "td",
          { class: "signed" },
          h(
            "span",
            {},
            h("i", {
              class: row.change < 0 ? "minus" : "plus",
              style: { width: `${(50 * Math.abs(row.change)) / largest}%`, [row.change < 0 ? "right" : "left"]: "50%" },
            }),
          ),
        ),
      ),
    );
  const picture = atlas.thumbnails.of(last);
  const away = `${steps} ${steps === 1 ? "step" : "steps"} from neighbour to neighbour away`;
  return [
    h("p", { class: "quiet" }, `The nearest along the data is row ${atlas.rowOf(last)}, ${away}. What differs there:`),
    h("div", { class: "there" }, picture, h("table", { class: "axes" }, h("tbody", {}, ...rows))),
  ];
}
