// Which level of groups is coloured and named.
import { byId, h } from "../dom.js";

/**
 * Buttons above the legend; none where there are no levels.
 * @param {import("../data/levels.js").Levels} levels
 * @param {(level: number, id: string) => void} choose a level, -1 for all, and the channel that colours it
 * @returns {(channel: import("../data/coloring.js").Channel|undefined) => void} called when the colours have changed
 */
export function levelButtons(levels, choose) {
  if (levels.all.length < 2) return () => {};
  const label = levels.all.find((level) => level.label) ?? levels.all[0];
  const button = (/** @type {number} */ k, /** @type {string} */ text, /** @type {string} */ title) =>
    h(
      "button",
      {
        title,
        "data-level": k,
        "aria-pressed": "false",
        onclick: () => choose(k, (k < 0 ? label : levels.all[k]).channel.id),
      },
      text,
    );
  const buttons = [
    button(-1, "auto", "Name large groups from afar and those within them when you zoom in"),
    ...levels.all.map(({ channel }, k) => button(k, String(k + 1), channel.name)),
  ];
  byId("legend").before(
    h("div", { id: "levels", role: "group", "aria-label": "Levels" }, h("span", {}, "Levels"), ...buttons),
  );
  return (channel) => {
    const own = levels.of(channel),
      shown = levels.chosen < 0 && channel === label.channel ? -1 : own;
    for (const one of buttons)
      one.setAttribute("aria-pressed", String((shown >= 0 || own >= 0) && Number(one.dataset.level) === shown));
  };
}
