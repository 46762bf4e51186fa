"""The depth of cells, samples or texts: how many counts were read of each, which a map is to show less."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import expm1

__all__ = [
    "above_floor",
    "are_even",
    "are_whole_numbers",
    "depth_of_table",
    "find_empty",
    "read_depth",
    "totals_of_counts",
]

Float64Array = npt.NDArray[np.float64]

_NAMES = ("total_counts", "n_counts", "nCount_RNA")  # columns of obs in which scanpy and Seurat write it
_LOGARITHMS = ("log1p_total_counts",)
_GENES = ("n_genes_by_counts", "n_genes", "nFeature_RNA")  # which goes with the depth
_LAYERS = ("counts", "raw_counts")
_LARGEST_LOG = 30.0  # larger values are no logarithms of counts
_EVEN = 0.05  # relative spread of the totals of cells that were divided by their depth
_WHOLE = 1e-3  # how far from whole numbers exp(x) - 1 may lie, relative to those above 1: float32
_TRIED = 1000  # values looked at before all are
_LOG_OF_ONE = 0.6931471805599453  # log(1 + 1), the least logarithm of 1 + counts above 0
_AT_FLOOR = 0.1  # values of a column that are its least one, of genes that not every cell has
_WITH_FLOOR = 0.5  # columns that have such a value
_STEPS = 0.9  # of these, those whose values are whole steps above it
_FEWEST_COLUMNS = 30  # of a table of counts that says no more of itself
_RARE = 10.0  # times that its most frequent column holds as much as a middle one
_OTHERS = 0.02  # of its columns, and one more, that may be of other things, such as an age beside genotypes
_AT_TOP = 0.05  # of its columns, that reach the largest value of all: more do in answers, marks, pixels and genotypes


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
        where they are the logarithms of 1 + counts, shifted or standardised. Else the number of genes found in each
        cell, by a column of `obs` or, of a table of equal totals, by what is not 0. None if there are none, or they do
        not differ.
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
        raised = above_floor(X)
        totals = _genes_found(X if raised is None else raised)
    return totals if totals is not None and _is_depth(totals) else None


def depth_of_table(X: Any) -> Float64Array | None:
    """Return the sums of the rows of a table that looks like counts of unequal depth; None of any other.

    So do whole numbers from 0, or logarithms of 1 + these, in 30 columns and more, of which the most frequent one holds
    ten times as much as a middle one, and whose largest value is reached in one column of 20 at most. Answers in a
    questionnaire, marks, pixels and genotypes share their largest value, and their columns are alike. The columns of
    the largest values have no say, of one column and one in 50: they may be of other things, such as an age.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_obs, n_features)

    Returns
    -------
    ndarray of shape (n_obs,), float64, or None
    """
    if X.shape[1] < _FEWEST_COLUMNS:
        return None
    stored = (X if isinstance(X, np.ndarray) else X.data).reshape(-1)
    if not stored.size or stored.dtype.kind not in "iuf" or not stored.min() >= 0 or stored.max() <= 1:
        return None
    totals = totals_of_counts(X)
    if totals is None or not _is_depth(totals):
        return None
    counts = X if are_whole_numbers(X) else _without_logarithm(X)
    most = counts.max(axis=0) if isinstance(X, np.ndarray) else counts.max(axis=0).toarray().reshape(-1)
    held = np.asarray(counts.sum(axis=0, dtype=np.float64), dtype=np.float64).reshape(-1)
    usual = np.argsort(-most, kind="stable")[1 + int(_OTHERS * len(most)) :]
    most, held = most[usual], held[usual]
    if not most.max() > 0.0:
        return None
    uneven = held.max() >= _RARE * np.median(held[held > 0])
    looks_so = bool(uneven and (most == most.max()).mean() <= _AT_TOP)
    return totals if looks_so else None


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


def find_empty(X: Any) -> npt.NDArray[np.intp]:
    """Return the rows that hold nothing: 0 in all columns, or the least value of all, see `above_floor`."""
    raised = above_floor(X)
    return np.flatnonzero(_genes_found(X if raised is None else raised) == 0)


def above_floor(X: Any) -> npt.NDArray[Any] | None:
    """Return by how much values lie above what 0 became where a table of counts, or logarithms, was shifted.

    A table that was standardised is one, as each column was shifted by its mean: the least value of a column then
    stands in all cells that do not have the gene.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_obs, n_features)

    Returns
    -------
    ndarray of shape (n_obs, n_kept), float64, or None
        Of the columns of which a tenth of the values are the least one. None of a sparse table, of one without values
        below 0, and where less than half of the columns that vary are such.
    """
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or not X.size or not X.min() < 0:
        return None
    low = X.min(axis=0)
    varies = X.max(axis=0) > low
    has_floor = varies & ((low == X).mean(axis=0) >= _AT_FLOOR)
    if not has_floor.any() or has_floor.sum() < _WITH_FLOOR * varies.sum():
        return None
    raised: Float64Array = X[:, has_floor].astype(np.float64) - low[has_floor]
    return raised


def _counts_of_steps(X: npt.NDArray[Any]) -> Float64Array | None:
    """Return the counts of a table that was shifted or standardised, or of their logarithms; None if it is of neither.

    The least step above the floor of a column is one count. Values that were cut off at the largest of all count as
    they are.
    """
    raised = above_floor(X)
    if raised is None:
        return None
    step = np.where(raised > 0, raised, np.inf).min(axis=0)
    cut = raised >= raised.max(axis=0)  # of a column the largest value may be cut off
    for counts in (raised / step, expm1(np.minimum(raised / step * _LOG_OF_ONE, _LARGEST_LOG))):
        whole = np.abs(counts - np.rint(counts)) <= _WHOLE * np.maximum(counts, 1.0)
        several = (~cut & (raised > step)).any(axis=0)  # a column of one step says nothing
        if several.any() and (whole | cut).all(axis=0)[several].mean() >= _STEPS:
            found: Float64Array = np.rint(counts)
            return found
    return None


def totals_of_counts(X: Any) -> Float64Array | None:
    """Return the sum of each row of counts, or of the counts whose logarithms X holds; None if it holds neither.

    Counts and logarithms may have been shifted or standardised.
    """
    stored = (X if isinstance(X, np.ndarray) else X.data).reshape(-1)
    if not stored.size or stored.dtype.kind not in "biuf":
        return None
    if not stored.min() >= 0:
        counts_of_steps = _counts_of_steps(X) if isinstance(X, np.ndarray) else None
        return None if counts_of_steps is None else _sums(counts_of_steps)
    if _are_whole(stored[:_TRIED]) and _are_whole(stored):
        return _sums(X)
    if stored.max() > _LARGEST_LOG or not _are_whole(expm1(stored[:_TRIED])):
        return None
    counts = _without_logarithm(X)
    return _sums(counts) if _are_whole(counts if isinstance(counts, np.ndarray) else counts.data) else None


def are_whole_numbers(X: Any) -> bool:
    """Return whether a table has only whole numbers of 0 and more, and not 0 and 1 alone: it may hold counts."""
    stored = (X if isinstance(X, np.ndarray) else X.data).reshape(-1)
    if not stored.size or stored.dtype.kind not in "biuf" or not stored.min() >= 0 or stored.max() <= 1:
        return False
    return _are_whole(stored[:_TRIED]) and _are_whole(stored)


def are_even(X: Any) -> bool:
    """Return whether rows have nearly equal totals, as they are or before log1p: each was divided by its depth.

    Rows without any total are left out, and one number may have been taken from all values.
    """
    stored = X if isinstance(X, np.ndarray) else X.data
    if not stored.size:
        return False
    if not stored.min() >= 0:
        if above_floor(X) is None or not (X.min(axis=0) == X.min()).mean() >= _WITH_FLOOR:
            return False
        X = stored = X - X.min()
    return _is_even(_sums(X)) or (stored.max() <= _LARGEST_LOG and _is_even(_sums(_without_logarithm(X))))


def _is_depth(totals: Float64Array) -> bool:
    return bool(np.isfinite(totals).all() and (totals >= 0).all()) and not _is_even(totals)


def _is_even(totals: Float64Array) -> bool:
    known = totals[totals > 0]
    return not known.size or bool(known.std() <= _EVEN * known.mean())


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
