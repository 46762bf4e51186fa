// Beside several maps: tools, colours with their legend, the row in question, and the rows that moved most.
import { byId, formatCount, h } from "../dom.js";
import { classLegend, rampLegend } from "../panels/legend.js";
import { MEASURE_NAMES } from "./moved.js";
import { saveAll } from "./picture.js";
import { switchTheme } from "../page/appearance.js";
import { rove } from "../panels/roving.js";
import { theme } from "../drawing/theme.js";

/** @param {import("./linked.js").Linked} linked */
export function buildSide(linked) {
  const { moved } = linked,
    colors = colorSelect(linked),
    legend = h("div", { id: "legend" }),
    row = h("div", { id: "row" }),
    list = h("div", { id: "most" });
  buildTools(linked);
  byId("side").append(
    h(
      "section",
      { class: "controls" },
      h("label", {}, h("span", {}, "Find"), searchInput(linked)),
      h("label", {}, h("span", {}, "Colour by"), colors),
      legend,
    ),
    h("section", { class: "panel", "aria-label": "The point" }, row),
    moved ? h("section", { class: "panel", "aria-labelledby": "moved-title" }, ...movedHead(linked), list) : "",
  );
  rove(byId("toolbar"), "button", "horizontal");
  rove(legend, ".class", "vertical");
  const fillRow = () => {
    row.replaceChildren(...rowContent(linked));
    for (const button of list.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(Number(button.dataset.row) === linked.pinned));
  };
  return {
    fillRow,
    fill: () => {
      if (!linked.channel) return;
      fillOptions(colors, linked);
      byId("theme").setAttribute("aria-pressed", String(theme() === "dark"));
      const scroll = legend.scrollTop,
        kept = focusedIn(legend);
      legend.replaceChildren(legendOf(linked));
      legend.scrollTop = scroll;
      if (kept) legend.querySelector(kept)?.focus();
      if (moved) fillList(list, linked);
      fillRow();
    },
  };
}

/** A selector of the button that has the keyboard, which is about to be drawn anew. @param {HTMLElement} legend */
function focusedIn(legend) {
  const button = /** @type {HTMLElement|null} */ (document.activeElement),
    item = button?.closest("li");
  return item && legend.contains(item) ? `[data-class="${item.dataset.class}"] .${button?.className}` : "";
}

/** @param {import("./linked.js").Linked} linked */
function buildTools(linked) {
  const tool = (
      /** @type {string} */ id,
      /** @type {string} */ text,
      /** @type {string} */ title,
      /** @type {any} */ act,
    ) => h("button", { id, title, "aria-label": /^\w/.test(text) ? null : `${text} ${title}`, onclick: act }, text),
    lasso = tool("lasso", "Lasso", "Draw around points to mark them in all maps (or hold Shift and drag)", () => {
      const on = lasso.getAttribute("aria-pressed") !== "true";
      lasso.setAttribute("aria-pressed", String(on));
      linked.take(on ? "lasso" : "");
    }),
    turn = tool("turn", "Turn alike", "Rotate or mirror each map to fit the first one best", () => {
      linked.toggleTurn();
      turn.setAttribute("aria-pressed", String(linked.turned));
    });
  for (const one of [lasso, turn]) one.setAttribute("aria-pressed", "false");
  byId("toolbar").append(
    lasso,
    linked.moved ? turn : "",
    tool("zoomin", "+", "Zoom in, all maps", () => linked.zoomAll(1.5)),
    tool("zoomout", "−", "Zoom out, all maps", () => linked.zoomAll(1 / 1.5)),
    tool("reset", "Fit", "Show the whole of every map (double click: of one)", () => linked.fitAll()),
    tool("theme", "Dark", "Dark colours", switchTheme),
    tool("export", "PNG", "Save this view of all maps as a picture", () => saveAll(linked)),
  );
}

/** @param {import("./linked.js").Linked} linked */
function searchInput(linked) {
  const input = h("input", {
    id: "search",
    type: "search",
    placeholder: "Name, class or row",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => linked.search(input.value),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && linked.chosen?.length && linked.pinned !== linked.chosen[0])
        linked.pin(linked.chosen[0]);
      if (event.key === "Escape") input.value = "";
    },
  });
  return input;
}

/** @param {import("./linked.js").Linked} linked */
function colorSelect(linked) {
  const select = h("select", { id: "color", onchange: () => linked.colorBy(select.value) });
  return select;
}

/** @param {HTMLSelectElement} select @param {import("./linked.js").Linked} linked */
function fillOptions(select, { channels, moved, channel }) {
  const offered = [...channels, ...(moved ? [moved.channel("lost"), moved.channel("shift")] : [])];
  select.replaceChildren(...offered.map(({ id, name }) => h("option", { value: id }, name)));
  select.value = /** @type {any} */ (channel).id;
}

/** @param {import("./linked.js").Linked} linked */
function legendOf(linked) {
  const { ramp, header, hidden, isolated } = linked,
    channel = /** @type {import("../data/coloring.js").Channel} */ (linked.channel);
  if (ramp) return rampLegend(ramp.colors, ramp.range, header.other, channel.dates, channel.says, !!channel.circle);
  if (channel.kind !== "classes") return "";
  return classLegend(channel, {
    captions: {},
    hidden,
    isolated,
    isolate: (k) => linked.isolate(k),
    toggle: (k) => linked.toggle(k),
    preview: (k) => linked.preview(k),
  });
}

/** @param {import("./linked.js").Linked} linked */
function movedHead(linked) {
  const { header, moved } = linked,
    names = (/** @type {{a: number, b: number}} */ { a, b }) => `${header.maps[a].name} → ${header.maps[b].name}`,
    told = () => linked.compare(Number(pair.value), /** @type {import("./moved.js").Measure} */ (by.value)),
    pair = h(
      "select",
      { id: "pair", onchange: told },
      ...header.changes.map((one, p) => h("option", { value: p }, names(one))),
    ),
    by = h(
      "select",
      { id: "measure", onchange: told },
      ...Object.entries(MEASURE_NAMES).map(([value, name]) => h("option", { value }, name)),
    );
  return [
    h("h2", { id: "moved-title" }, "What moved most"),
    header.changes.length > 1 || !moved
      ? h("label", {}, h("span", {}, "From"), pair)
      : h("p", {}, names(header.changes[0])),
    h("label", {}, h("span", {}, "By"), by),
  ];
}

/** @param {HTMLElement} list @param {import("./linked.js").Linked} linked */
function fillList(list, linked) {
  const moved = /** @type {import("./moved.js").Moved} */ (linked.moved),
    { measure, most } = moved;
  byId("measure").value = measure;
  const key = `${measure} ${moved.change.a} ${moved.change.b} ${Boolean(linked.thumbnails.stored)}`;
  if (list.dataset.key === key) return; // the keyboard keeps its place
  list.dataset.key = key;
  const entries = most.map((i) =>
    h(
      "li",
      {},
      h(
        "button",
        {
          "data-row": i,
          "aria-pressed": String(i === linked.pinned),
          onclick: () => linked.pin(i),
          onpointerenter: () => linked.hover(i),
          onpointerleave: () => linked.hover(-1),
          onfocus: () => linked.hover(i),
          onblur: () => linked.hover(-1),
        },
        linked.thumbnails.of(i),
        h("span", {}, h("bdi", {}, linked.nameOf(i)), " ", h("small", {}, linked.valuesOf(i)[0]?.[1] ?? "")),
        h("b", {}, moved.told(measure, i)),
      ),
    ),
  );
  list.replaceChildren(
    h("p", { class: "quiet" }, moved.says(measure)),
    most.length ? h("ol", {}, ...entries) : h("p", { class: "quiet" }, "No point changed by this measure."),
    h(
      "button",
      { class: "link", onclick: () => linked.colorBy(measure) },
      `Colour the maps by ${MEASURE_NAMES[measure]}`,
    ),
  );
}

/** @param {import("./linked.js").Linked} linked */
function rowContent(linked) {
  const { row, moved, pinned } = linked;
  if (row < 0)
    return [
      h("p", { class: "quiet" }, "Point at a row to see it in all maps."),
      moved ? h("p", { class: "quiet" }, "Click it to see which neighbours it leaves, and which it joins.") : "",
    ];
  const [a, b] = moved?.names ?? [],
    lines = linked
      .valuesOf(row)
      .map(([name, value]) => h("div", { class: "pair" }, h("span", {}, name), h("b", {}, value)));
  if (moved?.told("lost", row)) {
    lines.push(h("div", { class: "pair" }, h("span", {}, "Neighbours lost"), h("b", {}, moved.told("lost", row))));
    lines.push(h("div", { class: "pair" }, h("span", {}, "Distance moved"), h("b", {}, moved.told("shift", row))));
  }
  const { missing, wrong } = moved && pinned >= 0 ? linked.neighborsOf(pinned) : { missing: [], wrong: [] };
  return [
    h("div", { class: "who" }, linked.thumbnails.of(row), h("h2", {}, linked.nameOf(row))),
    ...lines,
    pinned >= 0 && moved && moved.told("lost", row)
      ? h(
          "p",
          { class: "quiet" },
          `Dashed lines: the ${formatCount(missing.length)} neighbours that only ${a} has. Full lines: the ` +
            `${formatCount(wrong.length)} that only ${b} has. The line with two dots leads from where ${a}, laid ` +
            `over ${b}, has the point to where ${b} has it.`,
        )
      : "",
    pinned >= 0 ? h("button", { class: "link", onclick: () => linked.pin(pinned) }, "Release the point") : "",
  ];
}
