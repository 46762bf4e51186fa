// A drawing in SVG by the calls of a canvas: whatever paints on the one can paint on the other.
import { DIMMED, SHOWN } from "./renderer.js";
import { tintBytes } from "./theme.js";

const CURVE_ROUND = 0.5522847498; // of a quarter circle by a cubic curve
const POINT_SLICES = 12; // of the random order of points, so that no colour hides another
/** Points that are drawn as circles; more are embedded as a picture. */
export const MOST_CIRCLES = 20_000;

/** @param {number} value */
function coordinate(value) {
  return String(Math.round(100 * value) / 100);
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Colour and opacity of a style of the canvas. @param {any} style @returns {[string, number]} */
function paintOf(style) {
  const text = String(style),
    hex = /^#([0-9a-f]{6})([0-9a-f]{2})$/i.exec(text),
    mixed = /^rgba?\(([\d.]+)[ ,]+([\d.]+)[ ,]+([\d.]+)[ ,/]+([\d.]+)(%?)\)$/.exec(text);
  if (hex) return [`#${hex[1]}`, parseInt(hex[2], 16) / 255];
  if (mixed) return [`rgb(${mixed.slice(1, 4).join(",")})`, Number(mixed[4]) / (mixed[5] ? 100 : 1)];
  return [text, 1];
}

/** What `save` keeps. */
const PLAIN_STATE = {
  matrix: [1, 0, 0, 1, 0, 0],
  fillStyle: /** @type {any} */ ("#000000"),
  strokeStyle: /** @type {any} */ ("#000000"),
  lineWidth: 1,
  lineCap: "butt",
  lineJoin: "miter",
  globalAlpha: 1,
  font: "10px sans-serif",
  textAlign: "start",
  textBaseline: "alphabetic",
  imageSmoothingEnabled: true,
  dashes: /** @type {number[]} */ ([]),
  clipped: "",
};

/** The part of CanvasRenderingContext2D that the page draws with. */
export class VectorContext {
  /** @param {number} width @param {number} height */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    /** @type {string[]} */
    this.parts = [];
    this.path = "";
    this.clips = 0;
    /** @type {(typeof PLAIN_STATE)[]} */
    this.saved = [];
    this.matrix = PLAIN_STATE.matrix;
    this.fillStyle = PLAIN_STATE.fillStyle;
    this.strokeStyle = PLAIN_STATE.strokeStyle;
    this.lineWidth = PLAIN_STATE.lineWidth;
    this.lineCap = PLAIN_STATE.lineCap;
    this.lineJoin = PLAIN_STATE.lineJoin;
    this.globalAlpha = PLAIN_STATE.globalAlpha;
    this.font = PLAIN_STATE.font;
    this.textAlign = PLAIN_STATE.textAlign;
    this.textBaseline = PLAIN_STATE.textBaseline;
    this.imageSmoothingEnabled = PLAIN_STATE.imageSmoothingEnabled;
    this.dashes = PLAIN_STATE.dashes;
    this.clipped = PLAIN_STATE.clipped;
    /** Measures text. */
    this.ruler = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  }

  // ---- state ------------------------------------------------------------------------------------------------------

  save() {
    const kept = /** @type {any} */ ({});
    for (const name of Object.keys(PLAIN_STATE)) kept[name] = /** @type {any} */ (this)[name];
    this.saved.push(kept);
  }

  restore() {
    const kept = this.saved.pop();
    if (kept) Object.assign(this, kept);
  }

  /** @param {number[]} dashes */
  setLineDash(dashes) {
    this.dashes = dashes.slice();
  }

  getLineDash() {
    return this.dashes.slice();
  }

  /** @param {number} a @param {number} b @param {number} c @param {number} d @param {number} e @param {number} f */
  transform(a, b, c, d, e, f) {
    const [p, q, r, s, t, u] = this.matrix;
    this.matrix = [p * a + r * b, q * a + s * b, p * c + r * d, q * c + s * d, p * e + r * f + t, q * e + s * f + u];
  }

  /** @param {number} x @param {number} y */
  translate(x, y) {
    this.transform(1, 0, 0, 1, x, y);
  }

  /** @param {number} x @param {number} y */
  scale(x, y) {
    this.transform(x, 0, 0, y, 0, 0);
  }

  /** @param {number} angle */
  rotate(angle) {
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    this.transform(c, s, -s, c, 0, 0);
  }

  // ---- paths ------------------------------------------------------------------------------------------------------

  /** A place of the drawing. @param {number} x @param {number} y */
  #at(x, y) {
    const [a, b, c, d, e, f] = this.matrix;
    return `${coordinate(a * x + c * y + e)} ${coordinate(b * x + d * y + f)}`;
  }

  beginPath() {
    this.path = "";
  }

  closePath() {
    if (this.path) this.path += "Z";
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path += `M${this.#at(x, y)}`;
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${this.#at(x, y)}`;
  }

  /** @param {number} a @param {number} b @param {number} c @param {number} d @param {number} x @param {number} y */
  bezierCurveTo(a, b, c, d, x, y) {
    this.path += `C${this.#at(a, b)} ${this.#at(c, d)} ${this.#at(x, y)}`;
  }

  /** @param {number} a @param {number} b @param {number} x @param {number} y */
  quadraticCurveTo(a, b, x, y) {
    this.path += `Q${this.#at(a, b)} ${this.#at(x, y)}`;
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  rect(x, y, width, height) {
    this.moveTo(x, y);
    this.lineTo(x + width, y);
    this.lineTo(x + width, y + height);
    this.lineTo(x, y + height);
    this.closePath();
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height @param {number|number[]} radii */
  roundRect(x, y, width, height, radii) {
    const r = Math.min(Array.isArray(radii) ? radii[0] : radii, width / 2, height / 2),
      quarter = Math.PI / 2;
    this.moveTo(x + r, y);
    this.arc(x + width - r, y + r, r, -quarter, 0);
    this.arc(x + width - r, y + height - r, r, 0, quarter);
    this.arc(x + r, y + height - r, r, quarter, 2 * quarter);
    this.arc(x + r, y + r, r, 2 * quarter, 3 * quarter);
    this.closePath();
  }

  /** @param {number} x @param {number} y @param {number} radius @param {number} from @param {number} to */
  arc(x, y, radius, from, to, back = false) {
    this.ellipse(x, y, radius, radius, 0, from, to, back);
  }

  /**
   * @param {number} x @param {number} y @param {number} rx @param {number} ry @param {number} turn
   * @param {number} from @param {number} to
   */
  ellipse(x, y, rx, ry, turn, from, to, back = false) {
    const whole = 2 * Math.PI,
      span = back ? -Math.min(whole, from - to) : Math.min(whole, to - from),
      pieces = Math.max(1, Math.ceil(Math.abs(span) / (Math.PI / 2) - 1e-9)),
      step = span / pieces,
      reach = CURVE_ROUND * (Math.tan(step / 4) / Math.tan(Math.PI / 8)),
      [ct, st] = [Math.cos(turn), Math.sin(turn)];
    const place = (/** @type {number} */ u, /** @type {number} */ v) =>
      /** @type {[number, number]} */ ([x + rx * u * ct - ry * v * st, y + rx * u * st + ry * v * ct]);
    this.lineTo(...place(Math.cos(from), Math.sin(from)));
    for (let k = 0; k < pieces; k++) {
      const [a, b] = [from + k * step, from + (k + 1) * step],
        [ca, sa, cb, sb] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b)];
      this.bezierCurveTo(
        ...place(ca - reach * sa, sa + reach * ca),
        ...place(cb + reach * sb, sb - reach * cb),
        ...place(cb, sb),
      );
    }
  }

  // ---- painting ---------------------------------------------------------------------------------------------------

  /** @param {string} element without its end @param {string} [content] */
  #add(element, content) {
    const clip = this.clipped ? ` clip-path="url(#${this.clipped})"` : "";
    this.parts.push(content === undefined ? `<${element}${clip}/>` : `<${element}${clip}>${content}</text>`);
  }

  /** Attributes of a fill or a stroke. @param {"fill"|"stroke"} kind @param {any} style */
  #paint(kind, style) {
    const [color, opacity] = paintOf(style),
      alpha = opacity * this.globalAlpha;
    return `${kind}="${color}"${alpha < 1 ? ` ${kind}-opacity="${Math.round(1000 * alpha) / 1000}"` : ""}`;
  }

  #stroke() {
    const [a, b, c, d] = this.matrix,
      scale = Math.sqrt(Math.abs(a * d - b * c)),
      dashes = this.dashes.length
        ? ` stroke-dasharray="${this.dashes.map((v) => coordinate(v * scale)).join(" ")}"`
        : "",
      ends = `stroke-linecap="${this.lineCap}" stroke-linejoin="${this.lineJoin}"`;
    const width = `stroke-width="${coordinate(this.lineWidth * scale)}"`;
    return `${this.#paint("stroke", this.strokeStyle)} ${width} ${ends}${dashes}`;
  }

  /** @param {"nonzero"|"evenodd"} [rule] */
  fill(rule = "nonzero") {
    if (!this.path) return;
    const even = rule === "evenodd" ? ' fill-rule="evenodd"' : "";
    this.#add(`path d="${this.path}" ${this.#paint("fill", this.fillStyle)}${even}`);
  }

  stroke() {
    if (this.path) this.#add(`path d="${this.path}" fill="none" ${this.#stroke()}`);
  }

  clip() {
    const name = `clip${++this.clips}`,
      inner = this.clipped ? ` clip-path="url(#${this.clipped})"` : "";
    this.parts.push(`<clipPath id="${name}"${inner}><path d="${this.path}"/></clipPath>`);
    this.clipped = name;
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    const before = this.path;
    this.path = "";
    this.rect(x, y, width, height);
    this.fill();
    this.path = before;
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  strokeRect(x, y, width, height) {
    const before = this.path;
    this.path = "";
    this.rect(x, y, width, height);
    this.stroke();
    this.path = before;
  }

  /** @param {string} text */
  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  /** @param {string} text @param {number} x @param {number} y @param {string} paint */
  #text(text, x, y, paint) {
    const { ruler } = this,
      [, style, weight, size, family] =
        /^(italic\s+)?(?:(\d+|bold|normal)\s+)?([\d.]+)px\s+(.+)$/.exec(this.font) ?? [],
      anchor = { center: "middle", right: "end", end: "end" }[this.textAlign] ?? "start";
    ruler.font = this.font;
    ruler.textBaseline = "alphabetic";
    const above = ruler.measureText(text).fontBoundingBoxAscent;
    ruler.textBaseline = /** @type {CanvasTextBaseline} */ (this.textBaseline);
    const shift = above - ruler.measureText(text).fontBoundingBoxAscent, // programs differ in how they place baselines
      [a, b, c, d] = this.matrix,
      [px, py] = this.#at(x, y + shift).split(" "),
      place =
        a === 1 && b === 0 && c === 0 && d === 1
          ? `x="${px}" y="${py}"`
          : `transform="matrix(${[a, b, c, d].map((v) => Math.round(1e5 * v) / 1e5).join(" ")} ${px} ${py})"`;
    const face = `font-family="${escaped(family ?? "sans-serif")}" font-size="${size ?? 10}"`,
      kind = `${weight ? ` font-weight="${weight}"` : ""}${style ? ' font-style="italic"' : ""}`;
    this.#add(`text ${place} ${face}${kind} text-anchor="${anchor}" ${paint}`, escaped(text));
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    this.#text(text, x, y, this.#paint("fill", this.fillStyle));
  }

  /** @param {string} text @param {number} x @param {number} y */
  strokeText(text, x, y) {
    this.#text(text, x, y, `fill="none" ${this.#stroke()}`);
  }

  /**
   * Embed a picture. As with a canvas: where it goes, or which part of it goes where.
   * @param {any} source @param {...number} box
   */
  drawImage(source, ...box) {
    const [sx, sy, sw, sh, x, y, width, height] =
      box.length === 8 ? box : [0, 0, source.width, source.height, ...box, source.width, source.height];
    const copy = document.createElement("canvas");
    copy.width = Math.max(1, Math.round(sw));
    copy.height = Math.max(1, Math.round(sh));
    /** @type {CanvasRenderingContext2D} */ (copy.getContext("2d")).drawImage(source, -sx, -sy);
    const [a, b, c, d] = this.matrix,
      [px, py] = this.#at(x, y).split(" "),
      alpha = this.globalAlpha < 1 ? ` opacity="${this.globalAlpha}"` : "",
      sharp = this.imageSmoothingEnabled ? "" : ' style="image-rendering:pixelated"',
      size = `width="${coordinate(width)}" height="${coordinate(height)}" preserveAspectRatio="none"`;
    const place = `transform="matrix(${a} ${b} ${c} ${d} ${px} ${py})"`;
    this.#add(`image ${place} ${size}${alpha}${sharp} href="${copy.toDataURL("image/png")}"`);
  }

  /** Points as circles, those of a colour together. @param {import("./renderer.js").PointPicker} renderer */
  drawPoints(renderer) {
    const { opacity, radius } = renderer,
      { dimmed, shown } = renderer.layers(),
      reach = coordinate(radius);
    const layer = (/** @type {Uint32Array} */ rows, /** @type {number} */ state, /** @type {number} */ alpha) => {
      for (let slice = 0; slice < POINT_SLICES; slice++) {
        const part = rows.subarray((slice * rows.length) / POINT_SLICES, ((slice + 1) * rows.length) / POINT_SLICES),
          circles = /** @type {Map<string, string[]>} */ (new Map());
        for (const i of part) {
          const [x, y] = renderer.screenPos(i);
          if (x < -radius || y < -radius || x > renderer.camera.width + radius || y > renderer.camera.height + radius)
            continue;
          const color = circleColor(renderer.colors, i, state),
            [px, py] = this.#at(x, y).split(" ");
          if (!circles.has(color)) circles.set(color, []);
          circles.get(color)?.push(`<circle cx="${px}" cy="${py}" r="${reach}"/>`);
        }
        const clip = this.clipped ? ` clip-path="url(#${this.clipped})"` : "";
        for (const [color, nodes] of circles)
          this.parts.push(
            `<g fill="${color}" fill-opacity="${Math.round(1000 * alpha) / 1000}"${clip}>${nodes.join("")}</g>`,
          );
      }
    };
    layer(dimmed, DIMMED, 0.55 * opacity);
    layer(shown, SHOWN, opacity);
  }

  /** The drawing as a file. @param {string} title */
  toText(title) {
    const { width, height } = this,
      size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    const inner = `<title>${escaped(title)}</title>\n${this.parts.join("\n")}`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${inner}</svg>\n`;
  }
}

/** @param {Uint8Array} colors @param {number} i @param {number} state */
function circleColor(colors, i, state) {
  const part = state === DIMMED ? 0.9 : 0;
  return `#${tintBytes("mist")
    .map((pale, c) =>
      Math.round(colors[3 * i + c] + part * (pale - colors[3 * i + c]))
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}
