// The file beside a page, with what the page leaves out; mirrors side_file.py.
import { columnsOf, unzip } from "./payload.js";

const SIGNATURE = "gnomon page data 1\n";
const LONGEST_LINE = 200; // bytes of a line

/**
 * @param {Blob} file
 * @param {{name: string, id: string}} wanted
 * @returns {Promise<{header: any, groups: Record<string, Record<string, any>>}>}
 */
export async function readSideFile(file, wanted) {
  const start = await file.slice(0, SIGNATURE.length).text();
  if (start !== SIGNATURE) throw new Error(`This is not ${wanted.name}: it was not written with a page.`);
  /** @type {Record<string, Uint8Array[]>} */
  const parts = {};
  let at = SIGNATURE.length;
  while (at < file.size) {
    const [line] = (await file.slice(at, at + LONGEST_LINE).text()).split("\n", 1),
      { group, bytes } = JSON.parse(line);
    at += line.length + 1;
    if (at + bytes > file.size) throw new Error(`${wanted.name} is not complete: write the page again.`);
    (parts[group] ??= []).push(await unzip(file.slice(at, at + bytes)));
    if (group === "header") checkId(parts, wanted);
    at += bytes;
  }
  const header = headerOf(parts);
  const groups = Object.fromEntries(
    Object.keys(header.groups).map((name) => [name, columnsOf(header.groups[name], parts[name])]),
  );
  return { header, groups };
}

/** @param {Record<string, Uint8Array[]>} parts */
function headerOf(parts) {
  return JSON.parse(new TextDecoder().decode(parts.header[0]));
}

/** @param {Record<string, Uint8Array[]>} parts @param {{name: string, id: string}} wanted */
function checkId(parts, { name, id }) {
  if (headerOf(parts).id !== id) throw new Error(`This ${name} belongs to another map: write it with this page.`);
}
