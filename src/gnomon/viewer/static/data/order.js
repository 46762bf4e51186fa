// Order statistics without sorting all values: pages of a million points ask for many.

/**
 * The value that would stand in the middle of the ascending values, the upper of two; NaN of none.
 * @param {Float32Array|Float64Array} values finite; left in another order
 */
export function upperMedian(values) {
  return values.length ? smallest(values, values.length >> 1) : NaN;
}

/**
 * The numbers among some values.
 * @param {ArrayLike<number>} values @param {ArrayLike<number>} [ids] those to look at
 */
export function finiteOf(values, ids) {
  const size = ids ? ids.length : values.length,
    found = new Float64Array(size);
  let count = 0;
  for (let k = 0; k < size; k++) {
    const value = values[ids ? ids[k] : k];
    if (Number.isFinite(value)) found[count++] = value;
  }
  return found.subarray(0, count);
}

/** The value of rank k, from 0 (Hoare). @param {Float32Array|Float64Array} values @param {number} k */
function smallest(values, k) {
  let left = 0,
    right = values.length - 1;
  while (left < right) {
    const pivot = values[(left + right) >> 1];
    let i = left,
      j = right;
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i <= j) {
        [values[i], values[j]] = [values[j], values[i]];
        i++;
        j--;
      }
    }
    if (k <= j) right = j;
    else if (k >= i) left = i;
    else break;
  }
  return values[k];
}
