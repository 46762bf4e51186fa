// What leaves the page when its reader asks for it: files and text for the clipboard.

const LONGEST_PART = 60; // letters
const LAST_PART = 16; // of which so many are the end of a part that is too long

/** Letters and numbers of a text. @param {string} text */
function plainPart(text) {
  const plain = text
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .toLowerCase();
  return plain.length > LONGEST_PART ? `${plain.slice(0, LONGEST_PART - LAST_PART)}-${plain.slice(-LAST_PART)}` : plain;
}

/** A name of a file that says what is in it. @param {string[]} parts @param {string} ending */
export function fileName(parts, ending) {
  return `${parts.map(plainPart).filter(Boolean).join("-") || "map"}.${ending}`;
}

/** @param {Blob} blob @param {string} name */
export function saveFile(blob, name) {
  const url = URL.createObjectURL(blob),
    link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Copy a text, also in pages opened from disk and in frames, where the browser may not allow the newer way.
 * @param {string} text @returns {Promise<boolean>} whether it was copied
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea"),
      before = /** @type {HTMLElement|null} */ (document.activeElement);
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    before?.focus();
    return copied;
  }
}
