// The menu of what can be taken out of the page: pictures, and a link to the view.
import { formatCount, h } from "../dom.js";
import { drawsCircles, pictureSize } from "../drawing/exporter.js";

const PNG_SCALES = [1, 2, 4];

/** @param {import("../page/page.js").Page} page @returns {HTMLElement} a button of the toolbar that opens the menu */
export function saveButton(page) {
  const menu = h("div", { id: "save-menu", role: "group", "aria-label": "Save", hidden: true }),
    title = "Save this view as a picture, or copy a link to it";
  const button = h(
    "button",
    {
      id: "export",
      title,
      "aria-expanded": "false",
      "aria-controls": "save-menu",
      onclick: () => (menu.hidden ? open() : close()),
    },
    "Save",
  );
  let transparent = false;
  const entry = (/** @type {string} */ text, /** @type {string} */ says, /** @type {() => void} */ act) =>
    h(
      "button",
      {
        onclick: () => {
          close();
          act();
        },
      },
      text,
      h("small", {}, says),
    );
  const open = () => {
    const { scene, words } = page,
      [width, height] = pictureSize(scene, words),
      size = (/** @type {number} */ scale) => `${Math.round(width * scale)} × ${Math.round(height * scale)} pixels`;
    const box = h("input", { type: "checkbox", onchange: () => (transparent = box.checked) });
    box.checked = transparent;
    menu.replaceChildren(
      ...PNG_SCALES.map((scale) =>
        entry(`PNG ${scale}×`, size(scale), () => page.exportPicture({ kind: "png", scale, transparent })),
      ),
      entry(
        "SVG",
        drawsCircles(scene) ? "every point a circle" : `${formatCount(page.atlas.n)} points as a picture`,
        () => page.exportPicture({ kind: "svg", scale: 1, transparent }),
      ),
      h("label", {}, box, "Transparent background"),
      entry("Copy link", "to this view", () => page.address.copy()),
    );
    const { right, bottom } = button.getBoundingClientRect();
    menu.style.top = `${bottom + 6}px`;
    menu.style.right = `${Math.max(8, document.documentElement.clientWidth - right)}px`;
    menu.hidden = false;
    button.setAttribute("aria-expanded", "true");
    menu.querySelector("button").focus();
  };
  const close = () => {
    if (menu.contains(document.activeElement)) button.focus();
    menu.hidden = true;
    button.setAttribute("aria-expanded", "false");
  };
  menu.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const entries = [...menu.querySelectorAll("button, input")],
      step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") close();
    else if (step) entries[(entries.indexOf(document.activeElement) + step + entries.length) % entries.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.addEventListener("pointerdown", (event) => {
    const target = /** @type {Node} */ (event.target);
    if (!menu.hidden && !menu.contains(target) && !button.contains(target)) close();
  });
  document.body.append(menu);
  return button;
}
