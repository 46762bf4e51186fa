// The part of a card that lists the neighbours of the point: kept, missing and false ones.
import { h } from "../dom.js";
import { spokeSample } from "../drawing/spokes.js";

const MOST_NEIGHBORS = 6; // of a kind, before all are asked for

/**
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {number} i
 * @param {((i: number) => void)|null} pin what a click on a neighbour does; null lists none
 * @returns {HTMLElement|null}
 */
export function neighborsBlock(atlas, i, pin) {
  const lists = atlas.neighborLists;
  if (!lists || (!lists.compares && !pin)) return null;
  const { wanted, kept, missing, wrong } = lists.changes(i),
    block = h("section", { class: "neighborhood" });
  const show = (/** @type {number} */ k) => {
    lists.wanted = k;
    const fresh = /** @type {HTMLElement} */ (neighborsBlock(atlas, i, pin));
    block.replaceWith(fresh);
    fresh.querySelector("select")?.focus();
    lists.changed?.();
  };
  const number = pin ? choice(lists.choices, wanted, show) : String(wanted);
  block.append(h("h3", {}, "Its ", number, lists.compares ? " neighbours" : " nearest points on the map"));
  if (lists.compares)
    block.append(
      line(atlas, "kept", "near in the data and on the map", kept, pin),
      line(atlas, "missing", "near in the data, not on the map", missing, pin),
      line(atlas, "false", "near on the map, not in the data", wrong, pin),
    );
  else
    block.append(
      line(atlas, "kept", "near on the map", kept, pin),
      h(
        "p",
        { class: "quiet" },
        "Whether they are near in the data too is not known here: this page was made without the neighbours in the ",
        "data, or its map has distances of its own.",
      ),
    );
  return block;
}

/**
 * @param {number[]} choices @param {number} chosen @param {(k: number) => void} choose
 */
function choice(choices, chosen, choose) {
  const select = h(
    "select",
    { "aria-label": "How many neighbours", onchange: () => choose(Number(select.value)) },
    ...choices.map((k) => h("option", { value: k, selected: k === chosen }, String(k))),
  );
  return select;
}

/**
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {import("../drawing/spokes.js").NeighborKind} kind
 * @param {string} text what that means
 * @param {number[]} ids
 * @param {((i: number) => void)|null} pin
 */
function line(atlas, kind, text, ids, pin) {
  const names = h("span"),
    fill = (/** @type {number} */ most) => {
      const listed = pin ? ids.slice(0, most) : [],
        more = ids.length - listed.length;
      const links = listed.flatMap((j, k) => [
        k ? ", " : "",
        h("button", { class: "link", onclick: () => pin?.(j) }, h("bdi", {}, nameOf(atlas, j))),
      ]);
      if (listed.length && more)
        links.push(" and ", h("button", { class: "link more", onclick: () => fill(ids.length) }, `${more} more`));
      names.replaceChildren(...links, listed.length ? "." : "");
    };
  fill(MOST_NEIGHBORS);
  return h(
    "p",
    { "data-kind": kind },
    spokeSample(kind),
    h("b", {}, atlas.neighborLists?.compares ? `${ids.length} ${kind}` : `${ids.length}`),
    ` ${text}`,
    pin && ids.length ? ": " : ".",
    names,
  );
}

/** The name of a point, else its label and row. @param {import("../data/atlas.js").Atlas} atlas @param {number} j */
function nameOf(atlas, j) {
  const { label, header } = atlas,
    row = `row ${atlas.rowOf(j)}`,
    category = label?.codes && label.categories ? label.categories[label.codes[j]] : "";
  return header.pointNames?.[j] ?? (category ? `${category} (${row})` : row);
}
