// Order statistics without sorting all values: pages of a million points ask for many.

/**
 * The value that would stand in the middle of the ascending values, the upper of two; NaN of none.
 * @param {Float32Array|Float64Array} values finite; left in another order
 */
export function upperMedian(values) {
  return values.length ? smallest(values, values.length >> 1) : NaN;
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
