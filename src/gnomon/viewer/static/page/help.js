// What mouse, fingers and keys do on the map; it stands where the card is while no point is asked about.
import { byId, h } from "../dom.js";

/**
 * @param {{deep: boolean, steps: boolean}} mode
 * @param {import("../data/payload.js").Header} header
 */
export function buildHelp({ deep, steps }, { explanation, sequence, groups, sideFile }) {
  const facts = /** @type {any[]} */ (sequence?.facts ?? []),
    told = explanation || facts.some((one) => one?.explanation) ? "what moves it" : "what it is",
    without = steps ? "← → step along the sequence" : "move the map",
    apart = groups.features || sideFile ? "what sets them apart" : "they are selected";
  /** @type {[string, [string, string][]][]} */
  const uses = [
    [
      "Mouse",
      [
        ["Point at a point", `${told}, in this place`],
        ["Click it", "keeps the card; once more lets it go"],
        ["Shift and drag", `draws around points: ${apart}`],
        ["Drag", deep ? "turns the map; moves it with Rotate off" : "moves the map"],
        ["Wheel", "zooms; a double click shows all"],
      ],
    ],
    [
      "Touch",
      [
        ["Tap a point", "asks about it"],
        ["One finger", deep ? "turns the map" : "moves the map"],
        ["Two fingers", "zoom and move"],
        ["A finger that rests, then drags", "draws around points"],
      ],
    ],
    [
      "Keyboard",
      [
        ["Tab", "goes to the map, its tools and panels"],
        ["Enter", "takes the point nearest the middle; again keeps its card"],
        ["← → ↑ ↓", `from a point to the next; without one ${without}`],
        ["Shift and ← → ↑ ↓", "move the map"],
        ...(deep ? [/** @type {[string, string]} */ (["Alt and ← → ↑ ↓", "turn the map"])] : []),
        ["N, C", "select the 30 points around the point, again twice as many; its class"],
        ["+ − 0", "zoom in, zoom out, show all"],
        ["Escape", "lets go of the point, then of the selection"],
      ],
    ],
  ];
  byId("help").replaceChildren(
    h("h2", {}, "Ask the map"),
    h("p", {}, `Point at a point, and its card stands here: ${told}, and how far to believe its place.`),
    ...uses.map(([name, rows]) =>
      h(
        "section",
        { class: name.toLowerCase() },
        h("h3", {}, name),
        h("dl", {}, ...rows.flatMap(([act, does]) => [h("dt", {}, act), h("dd", {}, does)])),
      ),
    ),
  );
}
