// Opening the file beside the page: by a button anywhere, or by dropping it on the page.
import { OPENS } from "../panels/absent.js";
import { byId, h } from "../dom.js";

/** @param {import("./page.js").Page} page */
export function listenForFile(page) {
  if (!page.atlas.header.sideFile) return;
  const input = h("input", { id: "beside", type: "file", accept: ".data", hidden: true });
  input.addEventListener("change", () => input.files[0] && openFile(page, input.files[0]));
  byId("stage").append(input);
  document.addEventListener("click", (event) => {
    if (/** @type {Element} */ (event.target).closest?.(`.${OPENS}`)) input.click();
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) openFile(page, file);
  });
}

/** @param {import("./page.js").Page} page @param {File} file */
async function openFile(page, file) {
  page.say(`Opening ${file.name} …`);
  try {
    await page.atlas.open(file);
  } catch (error) {
    page.say(/** @type {Error} */ (error).message);
    return;
  }
  page.refill();
  page.filters.renew();
  page.say(`${file.name} is open: the values of all points are here.`);
}
