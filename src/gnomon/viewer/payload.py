"""Named arrays as text for a web page: one header, binary columns in groups, deflated, as printable signs.

Feature values take one byte each: exact where they are small integers or few, 256 quantile bins elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
_ALONE = 1 << 15  # bytes of a column that is a part of its own
_TYPES = {"uint8", "uint16", "uint32", "int8", "int16", "int32", "float32", "float64"}


@dataclass(frozen=True)
class FeatureCodes:
    """The values of some features, one byte each.

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
    """

    kept: npt.NDArray[np.int32]
    codes: npt.NDArray[np.uint8] | None
    indptr: npt.NDArray[np.uint32] | None
    indices: npt.NDArray[Any] | None
    data: npt.NDArray[np.uint8] | None
    table_row: npt.NDArray[np.int32]
    table: npt.NDArray[np.float32]
    zero: npt.NDArray[np.uint8]

    @property
    def exact(self) -> bool:
        """Whether every code is the value itself."""
        return bool((self.table_row < 0).all())


def encode_features(
    X: Any, *, byte_budget: int, importance: npt.NDArray[np.floating[Any]] | None = None, most: int | None = None
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
    return _encode_dense(X, kept)


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


def _encode_dense(X: Any, kept: npt.NDArray[np.int32]) -> FeatureCodes:
    n_samples, n_kept = X.shape[0], kept.size
    table_row = np.full(n_kept, -1, dtype=np.int32)
    tables: list[npt.NDArray[np.float32]] = []
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
                else:
                    codes[:, start + j], table = _quantize(_real(values))
                    table_row[start + j] = len(tables)
                    tables.append(table)
    zero = np.zeros(n_kept, dtype=np.uint8)
    return FeatureCodes(kept, codes, None, None, None, table_row, _stack(tables), zero)


def _encode_sparse(X: Any, kept: npt.NDArray[np.int32]) -> FeatureCodes:
    from scipy import sparse

    data = np.empty(X.nnz, dtype=np.uint8)
    table_row = np.full(kept.size, -1, dtype=np.int32)
    zero = np.zeros(kept.size, dtype=np.uint8)
    tables: list[npt.NDArray[np.float32]] = []
    for j in range(kept.size):
        part = slice(X.indptr[j], X.indptr[j + 1])
        values = X.data[part]
        if _is_byte(values):
            data[part] = values
            continue
        codes, table = _quantize(_real(values), zero_bin=True)
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


def _quantize(
    values: npt.NDArray[np.floating[Any]], *, zero_bin: bool = False
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
    """Code values by quantile bins; with `zero_bin` one bin holds exactly 0.0 though no value is zero."""
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
    if not missing:
        return order[found], table
    codes = np.full(values.shape, 255, dtype=np.uint8)
    codes[finite] = order[found]
    return codes, table


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
