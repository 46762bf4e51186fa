// The map in a notebook: its page in a sandboxed frame, and messages between the frame and the model of the widget.

const SIGN = "gnomon"; // marks messages of this protocol; mirrors viewer/static/page/host.js

/** @type {Record<string, (value: any) => boolean>} what the page may set */
const SHARED = {
  selection: (value) => Array.isArray(value) && value.every(isRow),
  hovered: (value) => value === null || isRow(value),
  pinned: (value) => value === null || isRow(value),
  color_by: (value) => typeof value === "string",
};

/** @param {unknown} value */
function isRow(value) {
  return Number.isInteger(value) && /** @type {number} */ (value) >= 0;
}

/** @param {{model: any, el: HTMLElement}} widget as anywidget gives them */
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = model.get("_title");
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.style.cssText = `display:block;width:100%;height:${model.get("_height")}px;border:0;background:#fff`;
  frame.srcdoc = model.get("_page");

  let ready = false,
    hearing = false;
  const send = (/** @type {string[]} */ names) => {
    if (!ready || hearing) return;
    const wish = Object.fromEntries(names.map((name) => [name, model.get(name)]));
    if ("color_by" in wish) wish.columns = model.get("_columns");
    frame.contentWindow?.postMessage({ [SIGN]: 1, ...wish }, "*"); // a sandboxed frame has no origin to name
  };
  const hear = (/** @type {MessageEvent} */ event) => {
    if (event.source !== frame.contentWindow || event.data?.[SIGN] !== 1) return;
    if (event.data.kind === "ready") {
      ready = true;
      send(Object.keys(SHARED));
      return;
    }
    hearing = true;
    for (const [name, isGood] of Object.entries(SHARED))
      if (name in event.data && isGood(event.data[name])) model.set(name, event.data[name]);
    hearing = false;
    model.save_changes();
  };
  const listeners = Object.keys(SHARED).map((name) => {
    const listener = () => send([name]);
    model.on(`change:${name}`, listener);
    return { name, listener };
  });
  const recolor = () => send(["color_by"]);
  model.on("change:_columns", recolor);
  window.addEventListener("message", hear);
  el.append(frame);
  return () => {
    window.removeEventListener("message", hear);
    model.off("change:_columns", recolor);
    for (const { name, listener } of listeners) model.off(`change:${name}`, listener);
  };
}

export default { render };
