// Names of features in tables, where a group of collinear ones is one entry.
import { h } from "../dom.js";

const MOST_MEMBERS = 4;

/**
 * The cell of a feature or of the group in its place: the name may be cut short, how many go with it is not.
 * @param {import("../data/groups.js").FeatureGroups} groups @param {number} f @param {string|null} [title] on hover
 */
export function nameCell(groups, f, title = null) {
  const others = groups.othersOf(f).length,
    name = h("bdi", {}, groups.names[f]);
  return h(
    "td",
    { class: "name", title },
    others ? h("div", { class: "group" }, name, h("span", {}, `+ ${others}`, h("em", {}, " alike"))) : name,
  );
}

/**
 * A row of a table that colours the map by a feature: pressed anywhere by the mouse, and as a button for keys and ears.
 * @param {string} title @param {() => void} onclick @param {HTMLElement} name the cell of its name
 * @param {HTMLElement[]} cells the others
 */
export function featureRow(title, onclick, name, ...cells) {
  name.replaceChildren(h("button", { class: "pick" }, ...name.childNodes));
  return h("tr", { class: "picks", title, onclick }, name, ...cells);
}

/**
 * What the groups among some features are made of, one line each.
 * @param {import("../data/groups.js").FeatureGroups} groups @param {number[]} features
 */
export function memberLines(groups, features) {
  return features
    .filter((f) => groups.othersOf(f).length)
    .map((f) => {
      const others = groups.othersOf(f),
        shown = others.slice(0, MOST_MEMBERS).map((m) => groups.names[m]),
        more = others.length > shown.length ? ` and ${others.length - shown.length} more` : "";
      return h("p", { class: "quiet" }, h("bdi", {}, groups.names[f]), ` goes with ${shown.join(", ")}${more}.`);
    });
}
