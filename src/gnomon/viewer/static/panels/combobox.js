// A search box with a list of choices that narrows as one types.
import { h } from "../dom.js";

const MOST_OPTIONS = 60;

/**
 * @param {{label: string, placeholder: string, options: (query: string) => {id: string, name: string, group: string}[],
 *   choose: (id: string) => void}} spec
 * @returns {{node: HTMLElement, show: (name: string) => void}}
 */
export function combobox({ label, placeholder, options, choose }) {
  let shown = "",
    active = -1;
  /** @type {{id: string, name: string, group: string}[]} */
  let current = [];
  const list = h("ul", { role: "listbox", class: "options", hidden: true });
  const input = h("input", {
    type: "text",
    role: "combobox",
    "aria-label": label,
    "aria-expanded": "false",
    placeholder,
    autocomplete: "off",
    spellcheck: "false",
  });

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.value = shown;
  };
  const pick = (/** @type {number} */ k) => {
    const option = current[k];
    if (!option) return;
    shown = option.name;
    close();
    input.blur();
    choose(option.id);
  };
  const mark = () => {
    [...list.querySelectorAll("[role=option]")].forEach((node, k) => {
      node.setAttribute("aria-selected", String(k === active));
      if (k === active) node.scrollIntoView({ block: "nearest" });
    });
  };
  const open = (/** @type {string} */ query) => {
    const all = options(query);
    current = all.slice(0, MOST_OPTIONS);
    active = query ? 0 : -1;
    const items = [];
    let group = "";
    current.forEach((option, k) => {
      if (option.group !== group) items.push(h("li", { class: "group", role: "presentation" }, (group = option.group)));
      items.push(
        h(
          "li",
          {
            role: "option",
            onpointerdown: (/** @type {Event} */ e) => {
              e.preventDefault();
              pick(k);
            },
          },
          h("bdi", {}, option.name),
        ),
      );
    });
    if (all.length > MOST_OPTIONS)
      items.push(
        h("li", { class: "group", role: "presentation" }, `and ${all.length - MOST_OPTIONS} more: type to narrow`),
      );
    if (!all.length) items.push(h("li", { class: "group", role: "presentation" }, "nothing of this name"));
    list.replaceChildren(...items);
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark();
  };

  input.addEventListener("focus", () => {
    input.value = "";
    open("");
  });
  input.addEventListener("input", () => open(input.value));
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") {
      input.blur();
      event.stopPropagation();
    } else if (event.key === "Enter") pick(Math.max(0, active));
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      active = Math.max(0, Math.min(current.length - 1, active + (event.key === "ArrowDown" ? 1 : -1)));
      mark();
      event.preventDefault();
    }
  });
  return {
    node: h("div", { class: "combobox" }, input, list),
    show: (name) => {
      shown = name;
      input.value = name;
    },
  };
}
