// Points with WebGL2: one draw call for the dimmed, one for the shown.
import { RasterRenderer } from "./raster.js";
import { PointPicker } from "./renderer.js";
import { tintBytes } from "./theme.js";

const VERTEX = `#version 300 es
in vec3 place; in vec3 rgb;
uniform vec4 view; uniform float size; uniform float dim; uniform float deep; uniform vec3 fog; uniform vec3 mist;
out vec3 color;
void main() {
  gl_Position = vec4((place.xy - view.xy) * view.zw, -0.4 * place.z * deep, 1.0);
  float nearness = mix(1.0, 5.0 / (5.0 - place.z), deep); // the eye is 5 away, as in cloud.js
  gl_PointSize = (size + 1.0) * nearness;
  vec3 far = mix(fog, rgb, clamp(0.75 + 0.3 * place.z, 0.35, 1.0));
  color = mix(mix(rgb, far, deep), mist, dim * 0.9);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 color; uniform float size; uniform float alpha;
out vec4 pixel;
void main() {
  float reach = length(gl_PointCoord - 0.5) * (size + 1.0);
  float cover = clamp(0.5 * size + 0.5 - reach, 0.0, 1.0);
  if (cover <= 0.0) discard;
  pixel = vec4(color, 1.0) * (alpha * cover);
}`;

/** Points painted at most while the camera moves; software graphics keep up with so many. */
const MOVING = 150_000;

/** @param {number[]} bytes */
function shares(bytes) {
  return bytes.map((byte) => byte / 255);
}

export class WebGLRenderer extends PointPicker {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("./cloud.js").Cloud} cloud
   * @param {import("./camera.js").Camera} camera
   */
  constructor(canvas, cloud, camera) {
    super(cloud, camera);
    this.kind = "webgl";
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true });
    if (!gl) throw new Error("WebGL2 is not available");
    this.gl = gl;
    /** @type {WebGLBuffer|null} */
    this.places = null;
    /** @type {WebGLBuffer|null} */
    this.rgb = null;
    /** @type {WebGLBuffer|null} */
    this.rows = null;
    this.#compile();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.#compile();
      this.draw();
    });
  }

  #compile() {
    const { gl } = this;
    const program = /** @type {WebGLProgram} */ (gl.createProgram());
    for (const [type, source] of [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ]) {
      const shader = /** @type {WebGLShader} */ (gl.createShader(/** @type {number} */ (type)));
      gl.shaderSource(shader, /** @type {string} */ (source));
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS))
      throw new Error(gl.getProgramInfoLog(program) || "WebGL2 failed");
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    /** @type {Record<string, WebGLUniformLocation|null>} */
    this.uniforms = {};
    for (const name of ["view", "size", "dim", "deep", "alpha", "fog", "mist"])
      this.uniforms[name] = gl.getUniformLocation(program, name);
    this.places = this.#attribute(program, "place", gl.FLOAT, false);
    this.rgb = this.#attribute(program, "rgb", gl.UNSIGNED_BYTE, true);
    this.rows = gl.createBuffer();
    /** @type {number} */
    this.version = -1;
    this.stale = true;
    this.recolored = true;
  }

  /**
   * @param {WebGLProgram} program
   * @param {string} name
   * @param {number} type
   * @param {boolean} normalized
   * @returns {WebGLBuffer|null}
   */
  #attribute(program, name, type, normalized) {
    const { gl } = this,
      buffer = gl.createBuffer(),
      place = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, 3, type, normalized, 0, 0);
    return buffer;
  }

  /** @param {Uint8Array} colors */
  setColor(colors) {
    this.colors = colors;
    this.recolored = true;
  }

  /** @param {Uint8Array} states */
  setFilter(states) {
    this.states = states;
    this.stale = true;
  }

  #upload() {
    const { gl } = this;
    if (this.version !== this.cloud.version) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.places);
      gl.bufferData(gl.ARRAY_BUFFER, this.cloud.plane, gl.DYNAMIC_DRAW);
      this.version = this.cloud.version;
    }
    if (this.recolored) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.rgb);
      gl.bufferData(gl.ARRAY_BUFFER, this.colors, gl.DYNAMIC_DRAW);
      this.recolored = false;
    }
    if (this.stale) {
      const { dimmed, shown } = this.layers(),
        rows = new Uint32Array(dimmed.length + shown.length);
      rows.set(dimmed);
      rows.set(shown, dimmed.length);
      this.counts = [dimmed.length, shown.length];
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.rows);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, rows, gl.DYNAMIC_DRAW);
      this.stale = false;
    }
  }

  /** @param {boolean} [moving] */
  draw(moving = false) {
    const ratio = window.devicePixelRatio || 1;
    return this.#paint(Math.round(this.camera.width * ratio), Math.round(this.camera.height * ratio), ratio, moving);
  }

  /** @param {number} width @param {number} height @param {number} ratio @param {boolean} moving */
  #paint(width, height, ratio, moving) {
    const { gl, camera, canvas, uniforms: u } = this;
    if (gl.isContextLost()) return true;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    this.#upload();
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const uniforms = /** @type {any} */ (u),
      deep = this.cloud.d === 3;
    gl.uniform4f(
      uniforms.view,
      camera.x,
      camera.y,
      (2 * camera.scale) / camera.width,
      (2 * camera.scale) / camera.height,
    );
    gl.uniform1f(uniforms.size, 2 * this.radius * ratio);
    gl.uniform1f(uniforms.deep, deep ? 1 : 0);
    gl.uniform3fv(uniforms.fog, shares(tintBytes("paper")));
    gl.uniform3fv(uniforms.mist, shares(tintBytes("mist")));
    gl[deep ? "enable" : "disable"](gl.DEPTH_TEST);
    const [dimmed, shown] = /** @type {number[]} */ (this.counts),
      total = dimmed + shown;
    const share = moving && total > MOVING ? MOVING / total : 1;
    gl.uniform1f(uniforms.dim, 1);
    gl.uniform1f(uniforms.alpha, 0.55 * this.opacity);
    gl.drawElements(gl.POINTS, Math.floor(dimmed * share), gl.UNSIGNED_INT, 0);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.uniform1f(uniforms.dim, 0);
    gl.uniform1f(uniforms.alpha, deep ? 1 : this.opacity);
    gl.drawElements(gl.POINTS, Math.floor(shown * share), gl.UNSIGNED_INT, 4 * dimmed);
    return share === 1;
  }

  /** @param {number} scale */
  exportImage(scale) {
    const copy = document.createElement("canvas");
    copy.width = Math.round(this.camera.width * scale);
    copy.height = Math.round(this.camera.height * scale);
    if (Math.max(copy.width, copy.height) > this.gl.getParameter(this.gl.MAX_RENDERBUFFER_SIZE)) {
      const painter = new RasterRenderer(copy, this.cloud, this.camera);
      painter.setColor(this.colors);
      painter.setFilter(this.states);
      return painter.exportImage(scale);
    }
    this.#paint(copy.width, copy.height, scale, false);
    /** @type {CanvasRenderingContext2D} */ (copy.getContext("2d")).drawImage(this.canvas, 0, 0);
    this.draw();
    return copy;
  }
}
