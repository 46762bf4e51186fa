// How far to trust the map, in plain words.
import { diagnosticName } from "../data/coloring.js";
import { formatCount, formatNumber, formatPercent, h, humanName } from "../dom.js";

/**
 * The verdict and the scores with their grades, as the library's one rule gives them.
 * @typedef {{verdict: [string, string][], scores: {name: string, title: string, grade: string|null, says: string}[]}}
 *   Trust
 */

/** @param {Record<string, number>} scores @param {Trust} trust @param {{caution?: string, doubts?: string}} against */
export function trustPanel(scores, trust, { caution, doubts }) {
  const rows = trust.scores.map(({ name, title, grade: found, says }) => {
    const value = scores[name],
      grade = caution && name.startsWith("knn") ? "steered" : (found ?? "");
    return h(
      "div",
      { class: "score" },
      h(
        "div",
        { class: "score-head" },
        h("span", {}, humanName(title)),
        h("span", { class: `grade ${grade}` }, grade),
        h("b", {}, value.toFixed(2).replace("-", "−")),
      ),
      h(
        "div",
        { class: "meter" },
        h("i", { class: grade, style: { width: `${100 * Math.max(0, Math.min(1, value))}%` } }),
      ),
      h("p", {}, says),
    );
  });
  return h(
    "div",
    {},
    ...[caution, doubts].map((told) => (told ? h("p", { class: "warn" }, h("bdi", {}, told)) : null)),
    h("ul", { class: "verdict" }, ...trust.verdict.map(([grade, text]) => h("li", { class: grade }, text))),
    ...rows,
  );
}

/**
 * Rows whose neighbours in the data have another label.
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {{colorBy: (id: string) => void, pin: (i: number) => void}} actions
 */
export function suspectsBlock(atlas, { colorBy, pin }) {
  const { suspects, pointNames } = atlas.header;
  if (!suspects) return null;
  const { n, neighbors, alone, chance, rows } = suspects,
    link = (/** @type {string} */ text, /** @type {() => void} */ onclick) =>
      h("button", { class: "link", onclick }, h("bdi", {}, text));
  const lines = rows.map(([i, label, vote, share]) =>
    h(
      "li",
      {},
      link(pointNames?.[i] ?? `row ${atlas.rowOf(i)}`, () => pin(i)),
      h("bdi", {}, ` ${label}, neighbours say ${vote}`),
      ` (${formatPercent(share)})`,
    ),
  );
  return h(
    "section",
    { class: "suspects" },
    h("h3", {}, "Doubtful labels"),
    h(
      "p",
      {},
      `${formatCount(n)} of ${formatCount(atlas.header.samples)} points have another label than their ${neighbors} `,
      "neighbours in the data vote for",
      Number.isFinite(chance)
        ? `; of labels given at random about ${formatCount(/** @type {number} */ (chance))} would. `
        : ". ",
      alone ? `${formatCount(alone)} alone with ${alone === 1 ? "its" : "their"} label, not judged. ` : "",
      n ? link("colour by doubt", () => colorBy("doubt")) : null,
    ),
    h("ol", {}, ...lines),
  );
}

/**
 * A diagnostic of one point or the mean over a selection.
 * @param {import("../data/payload.js").Header} header
 * @param {string} name
 * @param {number} value
 * @param {number} typical median over the map
 */
export function diagnosticRow(header, name, value, typical) {
  if (!Number.isFinite(value)) return null;
  return h(
    "div",
    { class: "pair" },
    h("span", {}, diagnosticName(header, name)),
    h("b", {}, formatNumber(Number(value.toFixed(3)))),
    h("small", {}, `typical ${formatNumber(Number(typical.toFixed(3)))}`),
  );
}
