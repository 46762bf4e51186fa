// The side bar: search and colours, then panels about the selection and about the map.
import { absentLine } from "./absent.js";
import { aloneContent } from "./alone.js";
import { combobox } from "./combobox.js";
import { byId, h } from "../dom.js";
import { absentContent, aboutContent, importanceContent, panel } from "./panels.js";
import { fillWords } from "./summary.js";
import { suspectsBlock, trustPanel } from "./trust.js";
import { verdictsContent } from "./verdicts.js";

/**
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {string} renderer
 * @param {{colorBy: (id: string) => void, search: (query: string, go: boolean) => void}} actions
 * @returns {{showColor: (name: string) => void}}
 */
export function buildSidebar(atlas, renderer, { colorBy, search }) {
  const colors = combobox({
    label: "Colour by",
    placeholder: "label, feature, trust …",
    choose: colorBy,
    options: (query) => atlas.columns(query),
  });
  const input = h("input", {
    id: "search",
    type: "search",
    placeholder: "Search label, name or row",
    "aria-label": "Search",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => search(input.value, false),
    onkeydown: (/** @type {KeyboardEvent} */ e) => e.key === "Enter" && search(input.value, true),
  });
  const selection = panel("selection", "Selection", true);
  selection.hidden = true;
  const { alone, verdicts } = atlas.header;
  const panels = [
    selection,
    panel("charts", "Charts and filters", false),
    panel("members", "Points in a table", false),
    atlas.nearest("evaluated") >= 0 ? panel("trust", "How far to trust this map", true) : null,
    verdicts ? panel("verdicts", "What it shows, judged in the data", true, ...verdictsContent(verdicts)) : null,
    alone ? panel("alone", "What the map alone can show", false, ...aloneContent(alone)) : null,
    atlas.nearest("explained") >= 0 ? panel("importance", "What shapes this map", true) : null,
    panel("words", "The map in words", false),
    panel("about", "About this map", false, ...aboutContent(atlas.header, renderer)),
  ];
  byId("side").append(
    h(
      "div",
      { class: "controls" },
      h("label", {}, h("span", {}, "Find"), input, h("small", { id: "found", role: "status" })),
      h("label", {}, h("span", {}, "Colour by"), colors.node),
      h("div", { id: "legend" }),
      h("div", { id: "chips", "aria-label": "Filters", role: "group", hidden: true }),
    ),
    ...panels.filter((node) => node !== null),
  );
  return { showColor: colors.show };
}

/**
 * Fill the panels about the embedding that is shown.
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {{colorBy: (id: string) => void, colorByFeature: (f: number) => void, pin: (i: number) => void, go:
 *   (position: number) => void}} actions
 */
export function fillSidebar(atlas, { colorBy, colorByFeature, pin, go }) {
  const { facts } = atlas,
    { evaluation, trust: told } = facts.header;
  byId("absent").replaceChildren(absentLine(atlas) ?? "");
  const absent = (/** @type {"evaluated"|"explained"} */ what) => absentContent(atlas, atlas.nearest(what), go);
  fillWords(atlas);
  const trust = byId("trust"),
    importance = byId("importance"); // there if any embedding has one
  trust
    ?.querySelector(".body")
    .replaceChildren(
      ...(facts.evaluated
        ? [trustPanel(/** @type {any} */ (evaluation), /** @type {any} */ (told), atlas.header)]
        : absent("evaluated")),
      suspectsBlock(atlas, { colorBy, pin }) ?? "",
    );
  importance
    ?.querySelector(".body")
    .replaceChildren(...(facts.explained ? importanceContent(atlas, colorByFeature) : absent("explained")));
}
