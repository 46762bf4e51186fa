// Gaps, sizes and distances that the map shows, as they were judged in the data.
import { h } from "../dom.js";

/**
 * Verdicts of one kind: rows of question, answer, whether the map misleads, and the reason.
 * @typedef {{about: string, count: string, rows: [string, string, boolean, string][], footing: string,
 *   caution: string}} Judged
 */

/** @param {Judged[]} kinds @returns {Node[]} */
export function verdictsContent(kinds) {
  const parts = kinds.flatMap(({ about, count, rows, footing, caution }) => [
    h("h3", {}, about),
    caution ? h("p", { class: "warn" }, h("bdi", {}, caution)) : null,
    count ? h("p", { class: "told" }, count) : null,
    ...rows.map(verdictBlock),
    footing ? h("p", { class: "quiet" }, h("bdi", {}, footing)) : null,
  ]);
  return parts.filter((node) => node !== null);
}

/** @param {[string, string, boolean, string]} row */
function verdictBlock([question, answer, misleads, sentence]) {
  const told = misleads ? `${answer}: the map misleads` : answer;
  return h(
    "section",
    { class: "claim" },
    h("h4", {}, h("bdi", {}, question), " ", h("span", { class: "answer" }, told)),
    h("p", { class: "told" }, h("bdi", {}, sentence)),
  );
}
