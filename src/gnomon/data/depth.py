"""The depth of single cells: how many counts were read of each, which a map is to show less than what cells are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import expm1

__all__ = ["are_even", "read_depth", "totals_of_counts"]

Float64Array = npt.NDArray[np.float64]

_NAMES = ("total_counts", "n_counts", "nCount_RNA")  # columns of obs in which scanpy and Seurat write it
_LOGARITHMS = ("log1p_total_counts",)
_GENES = ("n_genes_by_counts", "n_genes", "nFeature_RNA")  # which goes with the depth
_LAYERS = ("counts", "raw_counts")
_LARGEST_LOG = 30.0  # larger values are no logarithms of counts
_EVEN = 0.05  # relative spread of the totals of cells that were divided by their depth
_WHOLE = 1e-3  # how far from whole numbers exp(x) - 1 may lie, relative to those above 1: float32
_TRIED = 1000  # values looked at before all are


def read_depth(cells: Any, X: Any, read: Any) -> Float64Array | None:
    """Return the counts read of each cell of an AnnData object, as far as it tells them.

    Parameters
    ----------
    cells : AnnData of shape (n_obs, n_vars)
    X : ndarray or csr_array of shape (n_obs, n_features)
        The table of features that was read of it.
    read : callable
        Turns a matrix of the object into an array.

    Returns
    -------
    ndarray of shape (n_obs,), float64, or None
        A column of `obs` that is named so, or sums of counts: of the table, of a layer "counts", or of `raw`, also
        where they are the logarithms of 1 + counts. Else the number of genes found in each cell, by a column of `obs`
        or, of a table of equal totals, by what is not 0. None if there are none, or they do not differ.
    """
    named = _column(cells, _NAMES)
    if named is None and (logarithms := _column(cells, _LOGARITHMS)) is not None:
        named = expm1(np.minimum(logarithms, _LARGEST_LOG))
    if named is not None:
        return named
    totals = totals_of_counts(X)
    if totals is None and not cells.isbacked:  # a second matrix of a file is not read for this alone
        layers = [cells.layers[name] for name in _LAYERS if name in cells.layers]
        others = [*layers, *([] if cells.raw is None else [cells.raw.X])]
        totals = next((one for one in map(totals_of_counts, map(read, others)) if one is not None), None)
    if totals is None:
        totals = _column(cells, _GENES)
    if totals is None and are_even(X):
        totals = _genes_found(X)
    return totals if totals is not None and _is_depth(totals) else None


def _column(cells: Any, names: tuple[str, ...]) -> Float64Array | None:
    """Return the first column of `obs` of such a name that tells a depth."""
    for name in names:
        if name in cells.obs and np.asarray(cells.obs[name]).dtype.kind in "iuf":
            found = np.asarray(cells.obs[name], dtype=np.float64)
            if _is_depth(found):
                return found
    return None


def _genes_found(X: Any) -> Float64Array:
    """Return how many values of each row are not 0."""
    return np.asarray((X != 0).sum(axis=1), dtype=np.float64).reshape(-1)


def totals_of_counts(X: Any) -> Float64Array | None:
    """Return the sum of each row of counts, or of the counts whose logarithms X holds; None if it holds neither."""
    stored = (X if isinstance(X, np.ndarray) else X.data).reshape(-1)
    if not stored.size or stored.dtype.kind not in "biuf" or not stored.min() >= 0:
        return None
    if _are_whole(stored[:_TRIED]) and _are_whole(stored):
        return _sums(X)
    if stored.max() > _LARGEST_LOG or not _are_whole(expm1(stored[:_TRIED])):
        return None
    counts = _without_logarithm(X)
    return _sums(counts) if _are_whole(counts if isinstance(counts, np.ndarray) else counts.data) else None


def are_even(X: Any) -> bool:
    """Return whether rows have nearly equal totals, as they are or before log1p: each was divided by its depth."""
    stored = X if isinstance(X, np.ndarray) else X.data
    if not stored.size or not stored.min() >= 0:
        return False
    return _is_even(_sums(X)) or (stored.max() <= _LARGEST_LOG and _is_even(_sums(_without_logarithm(X))))


def _is_depth(totals: Float64Array) -> bool:
    return bool(np.isfinite(totals).all() and (totals >= 0).all()) and not _is_even(totals)


def _is_even(totals: Float64Array) -> bool:
    return bool(totals.std() <= _EVEN * totals.mean())


def _are_whole(values: npt.NDArray[Any]) -> bool:
    return bool((np.abs(values - np.rint(values)) <= _WHOLE * np.maximum(values, 1.0)).all())


def _sums(X: Any) -> Float64Array:
    return np.asarray(X.sum(axis=1, dtype=np.float64), dtype=np.float64).reshape(-1)


def _without_logarithm(X: Any) -> Any:
    if isinstance(X, np.ndarray):
        return expm1(X)
    counts = X.copy()
    counts.data = np.asarray(expm1(X.data))
    return counts
