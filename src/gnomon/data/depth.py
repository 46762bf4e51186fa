"""The depth of cells, samples or texts: how many counts were read of each, which a map is to show less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import expm1, log, log1p, product

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
Form = Callable[[Float64Array], Float64Array]

_NAMES = ("total_counts", "n_counts", "nCount_RNA")  # columns of obs in which scanpy and Seurat write it
_LOGARITHMS = ("log1p_total_counts",)
_GENES = ("n_genes_by_counts", "n_genes", "nFeature_RNA")  # which goes with the depth
_LAYERS = ("counts", "raw_counts")
_LARGEST_LOG = 30.0  # larger values are no logarithms of counts
_BASES = (1.0, float(log(2.0)), float(log(10.0)))  # of logarithms, by their natural logarithms
_EVEN = 0.05  # relative spread of the totals of cells that were divided by their depth
_WHOLE = 1e-3  # how far from whole numbers exp(x) - 1 may lie, relative to those above 1: float32
_TRIED = 1000  # values, and rows, looked at before all are
_ADDED = (1.0, 0.5)  # what is commonly added to counts before their logarithm
_LEAST_ADDED, _MOST_ADDED = 1e-9, 100.0
_HALVINGS = 80
_AT_ZERO, _FEWEST_AT_ZERO = 0.001, 5  # values of a table of counts that were changed, at the least one
_SMALL = (2, 50)  # counts of this size are whole only if all are counts
_FEWEST_SMALL = 0.02  # of the values
_DECIMALS = 6  # of steps that are of values that were rounded
_CENTRED = 1e-3  # how far from 0 means of standardised columns may lie, in standard deviations
_AT_FLOOR = 0.1  # values of a column that are its least one, of genes that not every cell has
_WITH_FLOOR = 0.5  # columns that have such a value
_STEPS = 0.9  # of these, those whose values are whole steps above it
_FEWEST_COLUMNS = 30  # of a table of counts that says no more of itself
_RARE = 10.0  # times that its most frequent column holds as much as a middle one
_RARE_LEFT = 3.0  # likewise, of standardised columns: those without 0, the most frequent, are not among them
_OTHERS = 0.02  # of its columns, and one more, that may be of other things, such as an age beside genotypes
_REACHED = 256.0  # beyond marks, ages and pixels of a byte
_UNLIKE = 0.4  # of its mean, that the share of a middle column varies by where even columns are counts too
_FEWEST_ANSWERS = 3  # columns
_ALIKE = 0.5  # of the columns of answers, that have as many steps
_MOST_AT_LOW = 0.5  # of the values of a middle column: of counts of so few steps more are 0
_LEAST_AT_HIGH = 0.01  # of the values of a middle column: of counts fewer are the largest
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

    So do whole numbers from 0 in 30 columns and more whose largest value is reached in one column of 20 at most:
    answers in a questionnaire, marks, pixels and genotypes share theirs. And either the most frequent column holds ten
    times as much as a middle one, or values go from 0 to 256 and more and the share that a middle column has of its
    row varies by two fifths of its mean and more, beyond chance: that of a weekday in the sales of a shop does not. The
    columns of the largest values have no say, of one column and one in 50: they may be of other things, such as an age.

    Of more than 2,000 rows 1,000 are looked at first. Counts are also known by their square roots, by logarithms of any
    base of them and any number added, by multiples of them (steps of 0.1, 0.2, 0.05 and so on are of rounded values),
    and by these if each column was standardised and the most frequent one that is 0 in a tenth of the rows holds three
    times as much as a middle one.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_obs, n_features)

    Returns
    -------
    ndarray of shape (n_obs,), float64, or None
    """
    if X.shape[1] < _FEWEST_COLUMNS:
        return None
    n = int(X.shape[0])
    if n > 2 * _TRIED and depth_of_table(X[np.linspace(0, n - 1, _TRIED).astype(np.intp)]) is None:
        return None  # most tables are none, by any thousand rows
    stored = (X if isinstance(X, np.ndarray) else X.data).reshape(-1)
    if not stored.size or stored.dtype.kind not in "iuf":
        return None
    counts, standardised = _counts_behind(X), False
    if counts is None and _are_centred(X):
        counts, standardised = _counts_of_steps(X), True  # steps may be of values that were rounded
    if counts is None:
        return None
    most = counts.max(axis=0) if isinstance(counts, np.ndarray) else counts.max(axis=0).toarray().reshape(-1)
    totals = _sums(counts)
    if len(most) < _FEWEST_COLUMNS or most.max() <= 1 or not _is_depth(totals):
        return None
    held = np.asarray(counts.sum(axis=0, dtype=np.float64), dtype=np.float64).reshape(-1)
    usual = np.argsort(-most, kind="stable")[1 + int(_OTHERS * len(most)) :]
    if not most[usual].max() > 0.0 or (most[usual] == most[usual].max()).mean() > _AT_TOP:
        return None
    rare = _RARE_LEFT if standardised else _RARE
    if held[usual].max() >= rare * np.median(held[usual][held[usual] > 0]):
        return totals
    if standardised or most[usual].max() < _REACHED:
        return None
    return totals if _have_unlike_shares(counts, totals, held) else None


def _have_unlike_shares(counts: Any, totals: Float64Array, held: Float64Array) -> bool:
    """Return whether counts from 0 are shared out otherwise in each row, beyond what chance makes of them."""
    kept = np.flatnonzero(held > 0)
    smallest = counts.min() if isinstance(counts, np.ndarray) else counts.min(axis=None)
    if smallest > 0:
        return False
    shares, squares = held[kept] / held.sum(), float((totals**2).sum())
    if isinstance(counts, np.ndarray):
        along = product(totals[None], np.asarray(counts, dtype=np.float64))[0]
        own = (np.asarray(counts, dtype=np.float64) ** 2).sum(axis=0)
    else:
        along = np.asarray(counts.T @ totals).reshape(-1)
        own = np.asarray(counts.multiply(counts).sum(axis=0), dtype=np.float64).reshape(-1)
    left = own[kept] - 2.0 * shares * along[kept] + shares**2 * squares - held[kept]  # Poisson's variance is the mean
    return bool(np.median(left / (shares**2 * squares)) >= _UNLIKE**2)


def _counts_behind(X: Any) -> Any:
    """Return the counts that a table holds, as they are or changed in a way that is known by its values; else None."""
    stored = (X if isinstance(X, np.ndarray) else X.data).reshape(-1)
    if not np.isfinite(stored.min()) or not np.isfinite(stored.max()):
        return None
    if stored.min() >= 0 and _are_whole(stored[:_TRIED]) and _are_whole(stored):
        return X
    if stored.dtype.kind != "f":
        return None
    if stored.min() >= 0 and stored.max() <= _LARGEST_LOG and _are_whole(expm1(stored[:_TRIED])):
        found = _without_logarithm(X)
        if _are_whole(found if isinstance(found, np.ndarray) else found.data):
            return found
    dense = isinstance(X, np.ndarray)
    floor = float(stored.min()) if dense else 0.0
    if floor <= stored.min() and (not dense or (stored == floor).sum() >= max(_AT_ZERO * stored.size, _FEWEST_AT_ZERO)):
        for back in _ways_back(stored, floor):
            if _are_whole(back(stored[:_TRIED])):
                found = back(stored)
                if _are_whole(found) and _has_small(found):
                    return _with_values(X, np.rint(found))
    return None


def _are_centred(X: Any) -> bool:
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or not X.min() < 0:
        return False
    means, deviations = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    return bool((np.abs(means) <= _CENTRED * deviations).all())


def _ways_back(stored: npt.NDArray[Any], floor: float) -> Iterator[Form]:
    """Yield what would turn values into counts, by the three least of them: of 0, 1 and 2.

    These are multiples and square roots of counts, and logarithms of them and a number that was added.
    """
    above = stored[stored > floor]
    if not above.size:
        return
    one = above.min()
    above = above[above > one]
    if not above.size:
        return
    step, two = float(one) - floor, (float(above.min()) - floor) / (float(one) - floor)
    if floor == 0:
        if _is_decimal(step) and _are_whole(np.asarray(stored, dtype=np.float64) / step):
            return  # values that were rounded, whose squares are whole steps too
        yield lambda x: np.asarray(x, dtype=np.float64) / step
        if not _is_decimal(step**2):
            yield lambda x: (np.asarray(x, dtype=np.float64) / step) ** 2
    if not 1.0 < two < 2.0:
        return
    low, high = _LEAST_ADDED, _MOST_ADDED
    for _ in range(_HALVINGS):  # log(1 + 2 / added) over log(1 + 1 / added) grows with what was added
        added = (low * high) ** 0.5
        low, high = (added, high) if log1p(2.0 / added) < two * log1p(1.0 / added) else (low, added)
    unit = float(log1p(1.0 / added))
    if abs(float(log1p(added - 1.0)) / unit * step - floor) > _WHOLE * max(abs(floor), step):
        return
    yield (
        lambda x: (
            added * np.asarray(expm1(np.minimum((np.asarray(x, dtype=np.float64) - floor) / step * unit, _LARGEST_LOG)))
        )
    )


def _is_decimal(step: float) -> bool:
    finer = (step * 10.0**place / digit for place in range(1, _DECIMALS + 1) for digit in (1, 2, 5))
    return abs(step - 0.5) > _WHOLE and any(abs(one - 1.0) <= _WHOLE for one in finer)


def _has_small(counts: Float64Array) -> bool:
    """Return whether enough values are small counts, which a number that is none would hardly be near of."""
    return bool(((counts >= _SMALL[0] - 0.5) & (counts <= _SMALL[1])).mean() >= _FEWEST_SMALL)


def _with_values(X: Any, values: Float64Array) -> Any:
    if isinstance(X, np.ndarray):
        return values.reshape(X.shape)
    changed = X.astype(np.float64)
    changed.data = values
    return changed


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
    steps = raised / step
    logarithms = (added * expm1(np.minimum(steps * log1p(1.0 / added), _LARGEST_LOG)) for added in _ADDED)
    for counts in chain((steps, steps**2), logarithms):
        whole = np.abs(counts - np.rint(counts)) <= _WHOLE * np.maximum(counts, 1.0)
        several = (~cut & (raised > step)).any(axis=0)  # a column of one step says nothing
        if several.any() and (whole | cut).all(axis=0)[several].mean() >= _STEPS:
            found: Float64Array = np.rint(counts)
            return found
    return None


def totals_of_counts(X: Any) -> Float64Array | None:
    """Return the sum of each row of the counts that a table of cells holds; None if it holds none.

    They may be their logarithms of any base, their square roots or multiples, and these shifted or standardised.
    Answers on a scale are none, see `_are_answers`.
    """
    stored = (X if isinstance(X, np.ndarray) else X.data).reshape(-1)
    if not stored.size or stored.dtype.kind not in "biuf":
        return None
    counts = _counts_behind(X)
    if counts is None and isinstance(X, np.ndarray):
        counts = _counts_of_steps(X)
    return None if counts is None or _are_answers(counts) else _sums(counts)


def _are_answers(counts: Any) -> bool:
    """Return whether whole numbers are answers on one scale: its ends are given often, and in most columns the same.

    The largest count of a gene is one of a few cells, and genes differ in it; where counts are so small that they do
    not, most are 0.
    """
    if not isinstance(counts, np.ndarray) or counts.shape[1] < _FEWEST_ANSWERS:
        return False
    low, high = counts.min(axis=0), counts.max(axis=0)
    varies = high > low
    if not varies.any() or (reach := high - low)[varies].max() <= 1:
        return False
    share_at_low = np.median((counts == low).mean(axis=0)[varies])
    share_at_high = np.median((counts == high).mean(axis=0)[varies])
    alike = (reach[varies] == np.median(reach[varies])).mean()
    return bool(alike >= _ALIKE and share_at_low < _MOST_AT_LOW and share_at_high >= _LEAST_AT_HIGH)


def are_whole_numbers(X: Any) -> bool:
    """Return whether a table has only whole numbers of 0 and more, and not 0 and 1 alone: it may hold counts."""
    stored = (X if isinstance(X, np.ndarray) else X.data).reshape(-1)
    if not stored.size or stored.dtype.kind not in "biuf" or not stored.min() >= 0 or stored.max() <= 1:
        return False
    return _are_whole(stored[:_TRIED]) and _are_whole(stored)


def are_even(X: Any) -> bool:
    """Return whether rows have nearly equal totals, as they are or before log1p: each was divided by its depth.

    The logarithm may be natural, of base 2 or of base 10.

    Rows without any total are left out, and one number may have been taken from all values.
    """
    stored = X if isinstance(X, np.ndarray) else X.data
    if not stored.size:
        return False
    if not stored.min() >= 0:
        if above_floor(X) is None or not (X.min(axis=0) == X.min()).mean() >= _WITH_FLOOR:
            return False
        X = stored = X - X.min()
    if _is_even(_sums(X)):
        return True
    units = [unit for unit in _BASES if stored.max() * unit <= _LARGEST_LOG]
    return any(_is_even(_sums(_without_logarithm(X, unit))) for unit in units)


def _is_depth(totals: Float64Array) -> bool:
    return bool(np.isfinite(totals).all() and (totals >= 0).all()) and not _is_even(totals)


def _is_even(totals: Float64Array) -> bool:
    known = totals[totals > 0]
    return not known.size or bool(known.std() <= _EVEN * known.mean())


def _are_whole(values: npt.NDArray[Any]) -> bool:
    return bool((np.abs(values - np.rint(values)) <= _WHOLE * np.maximum(values, 1.0)).all())


def _sums(X: Any) -> Float64Array:
    return np.asarray(X.sum(axis=1, dtype=np.float64), dtype=np.float64).reshape(-1)


def _without_logarithm(X: Any, unit: float = 1.0) -> Any:
    """Return what X is the logarithm of, after 1 was added, by the natural logarithm of its base."""
    if isinstance(X, np.ndarray):
        return expm1(X * unit)
    counts = X.copy()
    counts.data = np.asarray(expm1(X.data * unit))
    return counts
