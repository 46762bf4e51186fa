"""Named arrays as text for a web page: one header, binary columns in groups, deflated, as printable signs.

Feature values take one byte each: exact where they are small integers or few, 256 quantile bins elsewhere. Of a small
table the latter are the values themselves, so that the page finds what Python finds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._printed import harmless_texts
from gnomon._threads import in_order
from gnomon.linalg.table import table_as_bytes
from gnomon.viewer.bins import bins_of
from gnomon.viewer.packing import as_text, pack

__all__ = ["FeatureCodes", "Payload", "encode_features"]

_SAMPLE = 20_000  # rows from which quantiles are taken; the error of a quantile is then below one bin
_BLOCK = 32  # columns converted at a time, so that temporary memory stays small beside X
_PART = 16 << 20  # bytes of raw data per part: browsers limit the length of one string
_OFF = 1e-6  # standard deviations by which single precision may move a value
_ALONE = 1 << 15  # bytes of a column that is a part of its own
_TYPES = {"uint8", "uint16", "uint32", "int8", "int16", "int32", "float32", "float64"}


@dataclass(frozen=True)
class FeatureCodes:
    """The values of some features, one byte each or themselves.

    Attributes
    ----------
    kept : ndarray of shape (n_kept,), int32
        Columns of X, ascending.
    codes : ndarray of shape (n_samples, n_kept), uint8, or None
        Dense codes; None if the sparse form below is used.
    indptr, indices, data : ndarray or None
        CSR rows: uint32 (n_samples + 1,), uint16 or uint32 columns, uint8 codes. Entries left out are zeros.
    table_row : ndarray of shape (n_kept,), int32
        Row of `table` that decodes a feature, or -1 where the code is the value.
    table : ndarray of shape (n_tables, 256), float32
        Value of each code, ascending up to the last code used; NaN for the code of a missing value.
    zero : ndarray of shape (n_kept,), uint8
        The code of 0.0 (used by the sparse form).
    rounded : bool
        Whether a feature has more values than codes, so that some of them share one.
    whole : ndarray of shape (n_whole, n_samples), float32 or float64, or None
        The values themselves of features that one byte cannot hold, all of whose codes are 0; NaN where missing.
    whole_slots : ndarray of shape (n_whole,), int32, or None
        Where these stand in `kept`, ascending.
    """

    kept: npt.NDArray[np.int32]
    codes: npt.NDArray[np.uint8] | None
    indptr: npt.NDArray[np.uint32] | None
    indices: npt.NDArray[Any] | None
    data: npt.NDArray[np.uint8] | None
    table_row: npt.NDArray[np.int32]
    table: npt.NDArray[np.float32]
    zero: npt.NDArray[np.uint8]
    rounded: bool
    whole: npt.NDArray[np.floating[Any]] | None = None
    whole_slots: npt.NDArray[np.int32] | None = None


def encode_features(
    X: Any,
    *,
    byte_budget: int,
    importance: npt.NDArray[np.floating[Any]] | None = None,
    most: int | None = None,
    whole: bool = False,
) -> FeatureCodes:
    """Turn a table into one byte a value, within a budget.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Numbers; values that are not finite count as missing.
    byte_budget : int
        Bytes allowed. Over it, the features of largest importance are kept (at least one).
    importance : ndarray of shape (n_features,), default=None
        What ranks the features; their variance by default.
    most : int or None, default=None
        Features at most, those of largest importance.
    whole : bool, default=False
        Whether features of a dense table that one byte cannot hold are stored as they are, beyond the budget.

    Returns
    -------
    FeatureCodes
        Means of each feature are kept to rounding, because a bin is decoded as the mean of its values.
    """
    sparse = not isinstance(X, np.ndarray)
    n_samples, n_features = X.shape
    index_bytes = 2 if n_features <= 65_536 else 4
    cost = np.full(n_features, n_samples, dtype=np.int64)
    if sparse:
        X = X.tocsc(copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        stored = np.diff(X.indptr).astype(np.int64) * (1 + index_bytes)
        sparse = bool(stored.sum() < cost.sum())
        cost = stored if sparse else cost
    kept = _kept_features(X, cost, byte_budget, importance, n_features if most is None else most)
    if sparse:
        return _encode_sparse(X[:, kept], kept)
    return _encode_dense(X, kept, whole=whole)


def _kept_features(
    X: Any, cost: npt.NDArray[np.int64], budget: int, importance: Any, most: int
) -> npt.NDArray[np.int32]:
    if cost.size <= most and cost.sum() <= budget:
        return np.arange(cost.size, dtype=np.int32)
    rank = _variances(X) if importance is None else np.nan_to_num(np.asarray(importance, dtype=np.float64))
    order = np.argsort(-rank, kind="stable")
    n_kept = max(1, int(np.searchsorted(np.cumsum(cost[order]), budget, side="right")))
    n_kept = min(n_kept, most)
    return np.sort(order[:n_kept]).astype(np.int32)


def _variances(X: Any) -> npt.NDArray[np.float64]:
    if isinstance(X, np.ndarray):
        blocks = range(0, X.shape[1], _BLOCK)
        with np.errstate(invalid="ignore", over="ignore"):
            parts = [X[:, b : b + _BLOCK].var(axis=0, dtype=np.float64) for b in blocks]
        return np.asarray(np.nan_to_num(np.concatenate(parts)))
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0), dtype=np.float64).ravel()
    return np.asarray(np.nan_to_num(square - mean**2))


def _encode_dense(X: Any, kept: npt.NDArray[np.int32], *, whole: bool) -> FeatureCodes:
    n_samples, n_kept = X.shape[0], kept.size
    table_row = np.full(n_kept, -1, dtype=np.int32)
    tables: list[npt.NDArray[np.float32]] = []
    themselves: dict[int, npt.NDArray[np.floating[Any]]] = {}
    rounded = False
    X = table_as_bytes(X)
    if isinstance(X, np.ndarray) and X.dtype == np.uint8:
        codes = np.ascontiguousarray(X if n_kept == X.shape[1] else X[:, kept])
    else:
        codes = np.empty((n_samples, n_kept), dtype=np.uint8)
        for start in range(0, n_kept, _BLOCK):
            columns = kept[start : start + _BLOCK]
            block = X[:, columns] if isinstance(X, np.ndarray) else X[:, columns].toarray()
            for j, values in enumerate(np.ascontiguousarray(block.T)):
                if _is_byte(values):
                    codes[:, start + j] = values
                    continue
                found, table, lost = _quantize(_real(values))
                if whole and (lost or not _fits_single(_real(values))):
                    codes[:, start + j] = 0
                    themselves[start + j] = np.where(np.isfinite(values), _real(values), np.nan)
                    continue
                rounded |= lost
                codes[:, start + j] = found
                table_row[start + j] = len(tables)
                tables.append(table)
    zero = np.zeros(n_kept, dtype=np.uint8)
    made = FeatureCodes(kept, codes, None, None, None, table_row, _stack(tables), zero, rounded)
    if not themselves:
        return made
    kind = np.float32 if all(map(_fits_single, themselves.values())) else np.float64
    stored: npt.NDArray[np.floating[Any]] = np.stack(list(themselves.values())).astype(kind)
    return replace(made, whole=stored, whole_slots=np.array(list(themselves), dtype=np.int32))


def _encode_sparse(X: Any, kept: npt.NDArray[np.int32]) -> FeatureCodes:
    from scipy import sparse

    data = np.empty(X.nnz, dtype=np.uint8)
    table_row = np.full(kept.size, -1, dtype=np.int32)
    zero = np.zeros(kept.size, dtype=np.uint8)
    tables: list[npt.NDArray[np.float32]] = []
    rounded = False
    for j in range(kept.size):
        part = slice(X.indptr[j], X.indptr[j + 1])
        values = X.data[part]
        if _is_byte(values):
            data[part] = values
            continue
        codes, table, lost = _quantize(_real(values), zero_bin=True)
        rounded |= lost
        data[part] = codes
        zero[j] = np.flatnonzero(table == 0.0)[0]
        table_row[j] = len(tables)
        tables.append(table)
    rows = sparse.csc_matrix((data, X.indices, X.indptr), shape=X.shape).tocsr()
    index_type = np.uint16 if kept.size <= 65_536 else np.uint32
    return FeatureCodes(
        kept,
        None,
        rows.indptr.astype(np.uint32),
        rows.indices.astype(index_type),
        rows.data,
        table_row,
        _stack(tables),
        zero,
        rounded,
    )


def _stack(tables: list[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
    return np.stack(tables) if tables else np.empty((0, 256), dtype=np.float32)


def _is_byte(values: npt.NDArray[Any]) -> bool:
    if values.dtype.kind in "bu" and values.dtype.itemsize == 1:
        return True
    with np.errstate(invalid="ignore"):
        return bool(((values >= 0) & (values <= 255) & (values == np.floor(values))).all())


def _real(values: npt.NDArray[Any]) -> npt.NDArray[np.floating[Any]]:
    """Return numbers of which none is lost: float32 as it is, all else in double precision."""
    return values if values.dtype == np.float32 else values.astype(np.float64)


def _fits_single(values: npt.NDArray[np.floating[Any]]) -> bool:
    """Return whether float32 holds values to a millionth of their standard deviation, missing ones aside."""
    if values.dtype == np.float32:
        return True
    known = values[np.isfinite(values)]
    if not known.size or (known == known[0]).all():
        return True
    with np.errstate(over="ignore"):
        off = np.abs(known.astype(np.float32) - known).max()
        return bool(off <= _OFF * known.std())


def _quantize(
    values: npt.NDArray[np.floating[Any]], *, zero_bin: bool = False
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32], bool]:
    """Code values by quantile bins, with the table that decodes them, and say whether values that differ share a bin.

    With `zero_bin` one bin holds exactly 0.0 though no value is zero.
    """
    finite = np.isfinite(values)
    missing = not finite.all()
    known = values[finite] if missing else values
    edges = _bin_edges(known, 256 - missing - 2 * zero_bin)
    if zero_bin:
        edges = np.union1d(edges, np.array([0.0, np.nextafter(edges.dtype.type(0.0), edges.dtype.type(1.0))]))
    found = bins_of(known, edges)
    counts = np.bincount(found, minlength=edges.size + 1)
    sums = np.bincount(found, weights=known, minlength=edges.size + 1)
    centers = np.divide(sums, counts, out=np.full(counts.size, -np.inf), where=counts > 0)
    if zero_bin:
        centers[np.searchsorted(edges, 0.0, side="right")] = 0.0
    used = np.isfinite(centers)
    table = np.full(256, np.nan, dtype=np.float32)
    with np.errstate(over="ignore"):  # the page shows what is beyond float32 as infinite
        table[: used.sum()] = centers[used]
    order = (np.cumsum(used) - 1).astype(np.uint8)  # drops empty bins
    lost = not _one_value_each(known, found, edges.size + 1)
    if not missing:
        return order[found], table, lost
    codes = np.full(values.shape, 255, dtype=np.uint8)
    codes[finite] = order[found]
    return codes, table, lost


def _one_value_each(known: npt.NDArray[np.floating[Any]], found: npt.NDArray[np.integer[Any]], n_bins: int) -> bool:
    """Return whether no two values that differ are in one bin."""
    of_bin = np.zeros(n_bins, dtype=known.dtype)
    of_bin[found] = known
    return bool((of_bin[found] == known).all())


def _bin_edges(known: npt.NDArray[np.floating[Any]], n_bins: int) -> npt.NDArray[np.floating[Any]]:
    """Inner edges of at most n_bins bins [edge, next edge); a value that fills whole bins gets one of its own."""
    ordered = np.sort(known if known.size <= _SAMPLE else known[:: -(-known.size // _SAMPLE)])
    distinct = _distinct(ordered)
    if distinct.size <= n_bins and ordered.size < known.size:
        distinct = np.unique(known)
    if distinct.size <= n_bins:
        return distinct[1:]
    quantiles = ordered[(np.arange(1, n_bins) * ordered.size) // n_bins]
    repeated = quantiles[1:][quantiles[1:] == quantiles[:-1]]
    if not repeated.size:
        return quantiles
    return np.union1d(quantiles, np.nextafter(repeated, repeated.dtype.type(np.inf)))


def _distinct(ordered: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.concatenate([ordered[:1], ordered[1:][ordered[1:] != ordered[:-1]]])


@dataclass
class Payload:
    """What a page is made from.

    Attributes
    ----------
    header : dict
        Anything JSON can hold.
    groups : dict of str to dict of str to ndarray
        Columns by name, in groups that the page decodes one after the other, in order of urgency.
    """

    header: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, dict[str, npt.NDArray[Any]]] = field(default_factory=dict)

    def add(self, group: str, name: str, column: npt.NDArray[Any]) -> None:
        """Add a column to a group."""
        if column.dtype.name not in _TYPES:
            raise TypeError(f"Payload: dtype {column.dtype} of column {name!r} has no typed array in a browser")
        self.groups.setdefault(group, {})[name] = np.ascontiguousarray(column)

    def parts(self) -> Iterator[tuple[str, str]]:
        """Yield (group, text) in order; the header comes first and says where each column lies."""
        for group, packed in self.packed():
            yield group, as_text(packed)

    def packed(self) -> Iterator[tuple[str, bytes]]:
        """Yield (group, gzip frame) in order, as `parts` does; the number of threads changes no byte."""
        layout = {group: _layout(columns) for group, columns in self.groups.items()}
        header = json.dumps(
            {**harmless_texts(self.header), "groups": layout},
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        )
        parts = [("header", memoryview(header.encode()))]
        parts += [(group, part) for group, columns in self.groups.items() for part in _chunks(columns)]
        yield from zip((group for group, _ in parts), in_order(pack, [part for _, part in parts]), strict=True)


def _layout(columns: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    places, offset = {}, 0
    for name, column in columns.items():
        places[name] = {"dtype": column.dtype.name, "shape": list(column.shape), "offset": offset}
        offset += -(-column.nbytes // 8) * 8  # typed arrays must start at a multiple of their item size
    return {"bytes": offset, "columns": places}


def _chunks(columns: Mapping[str, npt.NDArray[Any]]) -> Iterator[memoryview]:
    """Yield the bytes of a group as `_layout` has them: a large column alone, as it packs best, small ones together."""
    small: list[bytes | memoryview] = []
    for column in columns.values():
        raw = _bytes(column)
        if raw.size >= _ALONE:
            if small:
                yield memoryview(b"".join(small))
            small = []
            for start in range(0, raw.size, _PART):
                yield raw[start : start + _PART].data
        else:
            small.append(raw.data)
        small.append(bytes(-raw.size % 8))
    if any(small):
        yield memoryview(b"".join(small))


def _bytes(column: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    little = column.astype(column.dtype.newbyteorder("<"), copy=False)
    return little.reshape(-1).view(np.uint8)
