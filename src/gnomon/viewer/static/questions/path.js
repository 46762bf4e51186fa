// The shortest path from a point to others along the neighbours in the data: a real example of what would have to
// change.

/**
 * Shortest path over the graph of neighbours, taken in both directions.
 * @param {import("../data/local.js").LocalMaps} local @param {number} from @param {(i: number) => boolean} wanted
 * @returns {number[]|null} points from the first to the last; null if none is reached
 */
export function shortestPath(local, from, wanted) {
  const { starts, ends, lengths } = edges(local),
    best = new Float64Array(local.n).fill(Infinity),
    before = new Int32Array(local.n).fill(-1),
    heap = new Heap();
  best[from] = 0;
  heap.push(0, from);
  for (let next = heap.pop(); next; next = heap.pop()) {
    const [distance, i] = next;
    if (distance > best[i]) continue;
    if (wanted(i)) {
      const path = [i];
      while (before[path[0]] >= 0) path.unshift(before[path[0]]);
      return path;
    }
    for (let e = starts[i]; e < starts[i + 1]; e++) {
      const length = distance + lengths[e];
      if (length >= best[ends[e]]) continue;
      best[ends[e]] = length;
      before[ends[e]] = i;
      heap.push(length, ends[e]);
    }
  }
  return null;
}

/** Both directions of every edge, made once. @param {any} local */
function edges(local) {
  if (local.edges) return local.edges;
  const { n, k, c } = local,
    starts = new Uint32Array(n + 1);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < k; j++) {
      const other = c.near[i * k + j];
      if (other === i) continue;
      starts[i + 1]++;
      starts[other + 1]++;
    }
  for (let i = 0; i < n; i++) starts[i + 1] += starts[i];
  const next = starts.slice(),
    ends = new Uint32Array(starts[n]),
    lengths = new Float64Array(starts[n]);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < k; j++) {
      const other = c.near[i * k + j],
        length = c.distances[i * k + j] * c.distances_scale[i];
      if (other === i) continue;
      for (const [a, b] of [
        [i, other],
        [other, i],
      ]) {
        ends[next[a]] = b;
        lengths[next[a]++] = length;
      }
    }
  return (local.edges = { starts, ends, lengths });
}

/** Smallest first; equal lengths by number. */
class Heap {
  /** @type {[number, number][]} */
  items = [];

  /** @param {number} length @param {number} i */
  push(length, i) {
    const { items } = this;
    let at = items.length;
    items.push([length, i]);
    for (let up = (at - 1) >> 1; at > 0 && earlier(items[at], items[up]); at = up, up = (at - 1) >> 1)
      [items[at], items[up]] = [items[up], items[at]];
  }

  pop() {
    const { items } = this,
      first = items[0],
      last = items.pop();
    if (!items.length || !last) return first;
    items[0] = last;
    for (let at = 0; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < items.length && earlier(items[child], items[least])) least = child;
      if (least === at) return first;
      [items[at], items[least]] = [items[least], items[at]];
      at = least;
    }
  }
}

/** @param {[number, number]} a @param {[number, number]} b */
function earlier(a, b) {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}

/**
 * What differs between two points, in standard deviations over all points, largest first.
 * @param {import("../data/features.js").FeatureTable} table @param {number} from @param {number} to
 * @returns {{feature: number, name: string, now: number, then: number, change: number}[]}
 */
export function differences(table, from, to) {
  const rows = [];
  for (let slot = 0; slot < table.size; slot++) {
    const feature = table.kept[slot],
      now = table.decode(slot, table.code(from, slot)),
      then = table.decode(slot, table.code(to, slot)),
      { deviation } = table.moments(feature);
    const change = deviation > 0 ? (then - now) / deviation : 0;
    if (change) rows.push({ feature, name: table.names[feature], now, then, change });
  }
  return rows.sort((a, b) => Math.abs(b.change) - Math.abs(a.change) || a.feature - b.feature);
}
