// A search box with a list of choices that narrows as one types.
import { h } from "../dom.js";

const MOST_OPTIONS = 60;
let made = 0; // boxes, so that each list has an id of its own

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
  const id = `options${made++}`,
    list = h("div", { id, role: "listbox", "aria-label": label, class: "options", hidden: true });
  const input = h("input", {
    type: "text",
    role: "combobox",
    "aria-label": label,
    "aria-expanded": "false",
    "aria-controls": id,
    "aria-autocomplete": "list",
    placeholder,
    autocomplete: "off",
    spellcheck: "false",
  });

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    input.value = shown;
    if (document.activeElement === input) input.select(); // what is typed next takes its place
  };
  const pick = (/** @type {number} */ k) => {
    const option = current[k];
    if (!option) return;
    shown = option.name;
    close();
    choose(option.id);
  };
  const mark = () => {
    [...list.querySelectorAll("[role=option][id]")].forEach((node, k) => {
      node.setAttribute("aria-selected", String(k === active));
      if (k === active) node.scrollIntoView({ block: "nearest" });
    });
    if (active >= 0 && current.length) input.setAttribute("aria-activedescendant", `${id}-${active}`);
    else input.removeAttribute("aria-activedescendant");
  };
  const open = (/** @type {string} */ query) => {
    const all = options(query);
    current = all.slice(0, MOST_OPTIONS);
    active = query ? 0 : -1;
    /** @type {HTMLElement[]} */
    const groups = [];
    let group = "";
    current.forEach((option, k) => {
      if (option.group !== group || !groups.length) {
        group = option.group;
        const named = `${id}-group${groups.length}`;
        const head = h("div", { id: named, class: "group", role: "presentation" }, group);
        groups.push(h("div", { role: "group", "aria-labelledby": named }, head));
      }
      groups[groups.length - 1].append(
        h(
          "div",
          {
            id: `${id}-${k}`,
            role: "option",
            onpointerdown: (/** @type {Event} */ e) => {
              e.preventDefault();
              pick(k);
              input.blur(); // a keyboard on the screen goes away
            },
          },
          h("bdi", {}, option.name),
        ),
      );
    });
    const rest = all.length - MOST_OPTIONS,
      note = rest > 0 ? `and ${rest} more: type to narrow` : all.length ? "" : "nothing of this name";
    list.replaceChildren(
      ...groups,
      note ? h("div", { class: "group", role: "option", "aria-disabled": true }, note) : "",
    );
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark();
  };

  const unfold = () => {
    input.value = "";
    open("");
  };
  input.addEventListener("focus", () => input.select());
  input.addEventListener("click", () => list.hidden && unfold());
  input.addEventListener("input", () => open(input.value));
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const arrow = event.key === "ArrowDown" || event.key === "ArrowUp";
    if (list.hidden) {
      if (!arrow && event.key !== "Enter") return;
      unfold();
      event.preventDefault();
    } else if (event.key === "Escape") {
      close();
      event.stopPropagation();
    } else if (event.key === "Enter") pick(Math.max(0, active));
    else if (arrow) {
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
