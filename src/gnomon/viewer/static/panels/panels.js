// Panels of the side bar about a selection, about the whole map, and about how it was made.
import { finiteOf, upperMedian } from "../data/order.js";
import { formatCount, formatNumber, formatPercent, h, unseen } from "../dom.js";
import { captionOf, effectText, setsApart } from "../questions/contrast.js";
import { absentLine } from "./absent.js";
import { featureRow, memberLines, nameCell } from "./names.js";
import { diagnosticRow } from "./trust.js";

const TOP = 12;
const FEW_POINTS = 5; // points of a side, for statistics
const JUDGED_AS = "chance is judged as of independent rows, chosen by something else than their features";

/** The heading of what sets a selection apart. @param {boolean} apart @param {boolean} beyondChance */
function headingOf(apart, beyondChance) {
  if (apart) return "What sets it apart";
  return beyondChance ? "No feature sets it strongly apart" : "No feature sets it apart";
}

/** @param {string} id @param {string} title @param {boolean} open @param {...(Node|null)} content */
export function panel(id, title, open, ...content) {
  return h(
    "details",
    { id, class: "panel", open },
    h("summary", {}, h("h2", {}, title)),
    h("div", { class: "body" }, ...content),
  );
}

/**
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {{ids: Uint32Array, rows: import("../questions/contrast.js").ContrastRow[]|null, profile:
 *   [string, number|null, number|null, boolean?, boolean?][]|null}} selection
 * @param {{clear: () => void, colorBy: (f: number) => void}} actions
 */
export function selectionPanel(atlas, { ids, rows, profile }, { clear, colorBy }) {
  const share = formatPercent(ids.length / atlas.n);
  const known = atlas.table.known(ids).length,
    fewest = Math.min(known, atlas.table.height - known);
  const content = [
    h(
      "p",
      { class: "summary" },
      h("b", {}, formatCount(ids.length)),
      ` of ${formatCount(atlas.n)} points (${share}) `,
      h("button", { class: "link", onclick: clear }, "clear"),
    ),
  ];
  if (atlas.label) content.push(composition(atlas.label, ids));
  const caution = cautionOf(atlas, ids);
  if (profile) content.push(profileTable(profile, caution));
  else if (rows?.length && ids.length < atlas.n)
    content.push(...contrastBlock(atlas, rows, colorBy, fewest < FEW_POINTS, caution), absentLine(atlas));
  else if (!atlas.table.size)
    content.push(
      h(
        "p",
        { class: "quiet" },
        "Feature values are not in this file, so the selection cannot be compared with the rest.",
      ),
    );
  else content.push(h("p", { class: "quiet" }, "All points are selected: there is nothing to compare with."));
  content.push(selectionTrust(atlas, ids));
  return content.filter(Boolean);
}

/** @param {import("../data/coloring.js").Channel} label @param {Uint32Array} ids */
function composition(label, ids) {
  const codes = /** @type {ArrayLike<number>} */ (label.codes),
    counts = new Uint32Array(label.categories?.length ?? 0);
  for (let k = 0; k < ids.length; k++) counts[codes[ids[k]]]++;
  const parts = [...counts.entries()].filter(([, count]) => count).sort((a, b) => b[1] - a[1]);
  const colors = /** @type {string[]} */ (label.colors),
    names = /** @type {string[]} */ (label.categories);
  return h(
    "div",
    {},
    h(
      "div",
      { class: "stack", role: "img", "aria-label": "Composition of the selection" },
      ...parts.map(([k, count]) =>
        h("i", { style: { background: colors[k], "flex-grow": count }, title: `${names[k]}: ${formatCount(count)}` }),
      ),
    ),
    h(
      "p",
      { class: "mix" },
      ...parts
        .slice(0, 5)
        .map(([k, count]) =>
          h(
            "span",
            {},
            h("i", { class: "swatch", style: { background: colors[k] } }),
            h("bdi", {}, names[k]),
            " ",
            h("b", {}, formatPercent(count / ids.length)),
          ),
        ),
      parts.length > 5 ? h("span", { class: "quiet" }, `and ${parts.length - 5} more`) : null,
    ),
  );
}

/**
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {import("../questions/contrast.js").ContrastRow[]} rows
 * @param {(f: number) => void} colorBy
 * @param {boolean} few whether a side has too few points for statistics
 * @param {string} caution
 */
function contrastBlock(atlas, rows, colorBy, few, caution) {
  const top = rows.slice(0, TOP),
    largest = Math.min(Math.max(...top.map((r) => Math.abs(r.effect)), 0.2), 1e6);
  const judged = setsApart(rows),
    caption = captionOf(rows, judged),
    apart = judged.apart.some(Boolean);
  const lines = top.map((row, k) => {
    const byChance = caption && !judged.beyondChance[k],
      line = featureRow(
        `${meansText(atlas, row)}${byChance ? "\nAs much arises by chance" : ""}`,
        () => colorBy(row.feature),
        nameCell(atlas.groups, row.feature),
        ...(few ? meanCells(row) : effectCells(row, largest)),
      );
    line.classList.toggle("chance", Boolean(byChance));
    return line;
  });
  return [
    h("h3", {}, few ? "How it differs" : headingOf(apart, Boolean(caption))),
    caption ? h("p", { class: "told" }, h("bdi", {}, caption), `; ${JUDGED_AS}.`) : null,
    caption && caution ? h("p", { class: "warn" }, h("bdi", {}, caution)) : null,
    few ? null : contrastPictures(atlas, rows),
    h(
      "table",
      { class: "contrast" },
      h("thead", {}, h("tr", {}, h("th", {}, "feature"), ...(few ? meanHeads() : effectHeads()))),
      h("tbody", {}, ...lines),
    ),
    ...memberLines(
      atlas.groups,
      top.map((row) => row.feature),
    ),
    h(
      "p",
      { class: "quiet" },
      few
        ? `Fewer than ${FEW_POINTS} points are too few for ${caption ? "errors" : "statistics"}: these are means, ` +
            "largest differences first."
        : "Effect size: difference of means in pooled standard deviations. " +
            "AUC: chance that a selected point has the larger value. " +
            "Points chosen by their place differ in what placed them: that alone is no finding." +
            (caption ? "" : " As much arises by chance."),
    ),
  ];
}

/**
 * What one must know of a selection that is all points of a class, or all but these; empty of others.
 * @param {import("../data/atlas.js").Atlas} atlas @param {Uint32Array} ids
 */
function cautionOf({ header, label, n }, ids) {
  const cautions = header.cautions ?? {},
    codes = label?.codes,
    names = label?.categories ?? [];
  if (!codes || !Object.keys(cautions).length) return "";
  const inside = new Uint32Array(names.length),
    rest = new Uint32Array(names.length);
  for (let i = 0; i < n; i++) rest[codes[i]]++;
  for (const i of ids) inside[codes[i]]++;
  for (let k = 0; k < names.length; k++) rest[k] -= inside[k];
  for (const [side, other] of [
    [inside, rest],
    [rest, inside],
  ]) {
    const held = [...side.keys()].filter((k) => side[k]);
    if (held.length === 1 && !other[held[0]]) return cautions[names[held[0]]] ?? "";
  }
  return "";
}

function effectHeads() {
  const size = "Difference of the means in pooled standard deviations (Cohen's d)";
  return [
    h("th", { colspan: 2, title: size }, "effect size"),
    h("th", { title: "Probability that a selected point has the larger value" }, "AUC"),
  ];
}

/** @param {import("../questions/contrast.js").ContrastRow} row @param {number} largest */
function effectCells(row, largest) {
  return [
    effectBar(row.effect, largest),
    h("td", { class: "num" }, effectText(row.effect, row.auc)),
    h("td", { class: "num" }, row.auc.toFixed(2)),
  ];
}

function meanHeads() {
  return [h("th", {}, "selection"), h("th", {}, "rest")];
}

/** @param {import("../questions/contrast.js").ContrastRow} row */
function meanCells(row) {
  return [row.inside, row.rest].map((mean) => h("td", { class: "num" }, formatNumber(round3(mean))));
}

/** @param {number} value */
function round3(value) {
  return Number(value.toPrecision(3));
}

/** @param {import("../data/atlas.js").Atlas} atlas @param {import("../questions/contrast.js").ContrastRow} row */
function meansText(atlas, row) {
  const inside = formatNumber(round3(row.inside)),
    rest = formatNumber(round3(row.rest));
  const name = atlas.names[row.feature],
    means = `mean of the selection ${inside}, of the rest ${rest}`;
  if (row.name === name) return `${name}\n${means}\nClick to colour the map by it`;
  return `${atlas.groups.title(row.feature)}\n${name}: ${means}\nClick to colour the map by ${name}`;
}

/** @param {number} effect @param {number} largest */
function effectBar(effect, largest) {
  const reach = Math.min(50, (50 * Math.abs(effect)) / largest),
    side = effect < 0 ? { right: "50%" } : { left: "50%" };
  return h(
    "td",
    { class: "signed" },
    h("span", {}, h("i", { class: effect < 0 ? "minus" : "plus", style: { width: `${reach}%`, ...side } })),
  );
}

/**
 * Mean picture of the selection, of the rest, and the effect size of every pixel.
 * @param {import("../data/atlas.js").Atlas} atlas
 * @param {import("../questions/contrast.js").ContrastRow[]} rows
 */
function contrastPictures(atlas, rows) {
  if (!atlas.thumbnails.fromFeatures) return null;
  const byFeature = new Map(rows.map((row) => [row.feature, row])),
    get = (/** @type {number} */ f) => /** @type {any} */ (byFeature.get(f));
  const reach = Math.max(...rows.filter((r) => Number.isFinite(r.effect)).map((r) => Math.abs(r.effect)), 1e-9);
  const framed = (/** @type {Node} */ node, /** @type {string} */ words) =>
    h("figure", {}, node, h("figcaption", {}, words));
  return h(
    "div",
    { class: "pictures" },
    framed(
      atlas.thumbnails.fromValues((f) => get(f).inside, "Mean picture of the selection"),
      "selection",
    ),
    framed(
      atlas.thumbnails.fromValues((f) => get(f).rest, "Mean picture of the rest"),
      "rest",
    ),
    framed(
      atlas.thumbnails.signed((f) => get(f).effect, reach, "Effect size of each pixel"),
      "effect size",
    ),
  );
}

/**
 * @param {[string, number|null, number|null, boolean?, boolean?][]} profile feature, effect size, AUC, whether it sets
 *   the class apart, whether it differs beyond chance
 * @param {string} caution
 */
function profileTable(profile, caution) {
  const top = profile.slice(0, TOP),
    largest = Math.max(...top.map((row) => Math.abs(row[1] ?? 0)), 0.2);
  return h(
    "div",
    {},
    h(
      "h3",
      {},
      headingOf(
        profile.some((row) => row[3] ?? true),
        profile.some((row) => row[4]),
      ),
    ),
    caution && profile.some((row) => row[4] ?? row[3] ?? true)
      ? h("p", { class: "warn" }, h("bdi", {}, caution))
      : null,
    h(
      "table",
      { class: "contrast" },
      h("thead", {}, h("tr", {}, h("th", {}, "feature"), h("th", { colspan: 2 }, "effect size"), h("th", {}, "AUC"))),
      h(
        "tbody",
        {},
        ...top.map(([name, effect, auc]) =>
          h(
            "tr",
            {},
            h("td", { class: "name" }, h("bdi", {}, name)),
            effectBar(effect ?? 0, largest),
            h("td", { class: "num" }, effectText(effect, auc)),
            h("td", { class: "num" }, auc === null ? "–" : auc.toFixed(2)),
          ),
        ),
      ),
    ),
  );
}

/** @param {import("../data/atlas.js").Atlas} atlas @param {Uint32Array} ids */
function selectionTrust(atlas, ids) {
  const { facts } = atlas,
    entries = facts.diagnostics.map(({ name, key }) => ({ name, key }));
  if (facts.columns.r2) entries.push({ name: "r2", key: "r2" });
  const rows = entries
    .map(({ name, key }) => {
      const middle = upperMedian(finiteOf(facts.columns[key], ids));
      return diagnosticRow(atlas.header, name, middle, facts.median(key));
    })
    .filter(Boolean);
  return rows.length ? h("div", {}, h("h3", {}, "Trust in this selection (medians)"), ...rows) : null;
}

/**
 * Instead of a panel that belongs to another embedding of the sequence.
 * @param {import("../data/atlas.js").Atlas} atlas @param {number} frame @param {(position: number) => void} go
 */
export function absentContent(atlas, frame, go) {
  const { name, labels } = /** @type {any} */ (atlas.header.sequence);
  return [
    h(
      "p",
      { class: "quiet" },
      "This belongs to ",
      h("bdi", {}, `${name}: ${labels[frame]}`),
      ", not to what is shown now. ",
      h("button", { class: "link", onclick: () => go(frame) }, "Go there"),
    ),
  ];
}

/**
 * Features that shape the whole map.
 * @param {import("../data/atlas.js").Atlas} atlas @param {(f: number) => void} colorBy
 */
export function importanceContent(atlas, colorBy) {
  const total = atlas.facts.columns.global_importance,
    order = Array.from(total.keys())
      .sort((a, b) => total[b] - total[a])
      .slice(0, 10)
      .filter((f) => total[f] > 0);
  const rows = order.map((f) =>
    featureRow(
      `${atlas.groups.title(f)}\nClick to colour the map by ${atlas.names[f]}`,
      () => colorBy(f),
      nameCell(atlas.groups, f),
      h(
        "td",
        { class: "bar" },
        h("i", { style: { width: `${(100 * total[f]) / total[order[0]]}%` } }),
        unseen(formatNumber(total[f])),
      ),
    ),
  );
  const image = atlas.header.pixels
    ? h(
        "figure",
        { class: "single" },
        atlas.thumbnails.signed((f) => total[f], total[order[0]], "Importance of each pixel"),
        h("figcaption", {}, "importance of each pixel"),
      )
    : null;
  return [
    h(
      "p",
      { class: "quiet" },
      "How far the map moves per local standard deviation of a feature, within neighbourhoods, over all points. " +
        "What parts groups is told where you click on a class or a cluster.",
    ),
    atlas.header.apart ? h("p", { class: "quiet" }, `Between groups: ${atlas.header.apart}.`) : null,
    image,
    h("table", { class: "contrast" }, h("tbody", {}, ...rows)),
    ...memberLines(atlas.groups, order),
  ].filter(Boolean);
}

/** @param {import("../data/payload.js").Header} header @param {string} renderer */
export function aboutContent(header, renderer) {
  const rows = [
    ["Points", formatCount(header.samples)],
    ["Features", header.features ? formatCount(header.features.names.length) : "–"],
    ...header.info,
  ];
  return [
    h(
      "dl",
      {},
      ...rows.flatMap(([name, value]) => [h("dt", {}, h("bdi", {}, name)), h("dd", {}, h("bdi", {}, value))]),
    ),
    ...header.notes.map((note) => h("p", { class: "note" }, note)),
    h("div", { id: "absent" }),
    h(
      "p",
      { class: "quiet" },
      `Made with gnomon; drawn with ${renderer === "webgl" ? "WebGL" : "the processor"}. ` +
        "This file holds everything it shows and loads nothing from any network.",
    ),
  ];
}
