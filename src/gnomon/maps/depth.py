"""Whether a map shows how many counts were read of each cell, sample or text rather than what these are."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log1p, product
from gnomon._validation import warn
from gnomon.data import Representation
from gnomon.data.depth import are_even, depth_of_table, totals_of_counts
from gnomon.exceptions import DataWarning
from gnomon.geometry.check import has_place
from gnomon.linalg import dense_rows
from gnomon.neighbors import compute_neighbors

__all__ = [
    "share_of_leading",
    "share_of_map",
    "share_of_place",
    "share_of_spread",
    "told_of_unlike_sums",
    "warn_of_depth",
    "warn_of_totals",
]

Float64Array = npt.NDArray[np.float64]

_MOST_OF_SPREAD = 1 / 3  # of the coordinates; normalised cells of one kind reach 0.28 where depths differ tenfold
_MOST_OF_MAP = 2 / 3  # where less is told by the place, it is no help to say so; kinds of cells may differ in depth
_MOST_BY_PLACE = 0.7  # by neighbours on the map, within islands, of cells that may be normalised
_SOME_OF_MAP = 1 / 3  # where the counts are known to be as they were read
_MOST_OF_COLUMN = 1 / 2  # likewise, of one of the coordinates that spread most
_N_LEADING = 2
_FEWEST = 30
_OF_SUMS = (
    *("euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "chebyshev", "minkowski"),
    *("braycurtis", "ruzicka", "canberra"),
)
_UNLIKE_SUMS, _SURE = 0.15, 3.0  # of an AUC from one half, and standard errors
_N_NEIGHBORS = 15
_LOOKED_AT = 1000
_BLOCK = 4096


def told_of_unlike_sums(X: Any, inside: npt.NDArray[np.bool_], outside: npt.NDArray[np.bool_]) -> str:
    """Say where rows of amounts on two sides sum to unlike amounts, so that features differ by how much was read.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        Amounts of a map that compares shares of them.
    inside, outside : ndarray of shape (n_samples,), bool
    """
    sums = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
    one, other = sums[inside], np.sort(sums[outside])
    below = np.searchsorted(other, one, "left") + np.searchsorted(other, one, "right")
    away = abs(float(below.mean()) / (2.0 * len(other)) - 0.5)
    chance = math.sqrt((len(one) + len(other) + 1.0) / (12.0 * len(one) * len(other)))  # of ranks
    if away < _UNLIKE_SUMS or away < _SURE * chance:
        return ""
    usual = float(np.median(one)), float(np.median(other))
    return (
        f"The selected rows sum to {usual[0]:,.4g} and the rest to {usual[1]:,.4g} (medians), which the map divides by "
        "and this comparison does not: features may differ by how much was read. To compare shares ask "
        "m.with_features(X / X.sum(axis=1, keepdims=True))."
    )


def warn_of_depth(
    depth: Float64Array | None, X: Any, representation: Representation | None, mapped: Any, embedding: npt.NDArray[Any]
) -> None:
    """Warn where a map, or the coordinates that it is made of, show mostly how many counts were read of each cell.

    Parameters
    ----------
    depth : ndarray of shape (n_samples,), float64, or None
        Counts of each cell. None says nothing; cells without any are left out.
    X : ndarray or csr_array of shape (n_samples, n_features)
        The features. Of coordinates that are made of features which were divided by the depth only the map is judged.
    representation : Representation or None
        The coordinates, if they are others than the features.
    mapped : ndarray, csr_array or None
        What the map is made of where there are no other coordinates; None if that is a table of distances.
    embedding : ndarray of shape (n_samples, n_components)
        The map; rows with NaN have no place.
    """
    if depth is None or len(depth) != len(embedding) or len(depth) < _FEWEST:
        return
    if not depth.all():  # whose logarithms would be nearly all that differs
        known = np.flatnonzero(depth > 0)
        some = None if representation is None else replace(representation, values=representation.values[known])
        rows = None if mapped is None else mapped[known]
        warn_of_depth(depth[known], X[known], some, rows, embedding[known])
        return
    ours = representation is None or representation.has_formula
    is_divided, shown = are_even(X), None
    rows = mapped if representation is None else representation.values
    if rows is not None and not (ours and is_divided):
        shown = _shown_of_counts(depth, X if ours else None, rows, representation, embedding)
    if shown is None:
        shown = _shown_by_place(depth, is_divided, embedding)
    if shown is not None:
        warn(shown, DataWarning)


def warn_of_totals(X: Any, metric: str, mapped: Any, embedding: npt.NDArray[Any]) -> None:
    """Warn where a map of a table that looks like counts of unequal depth shows the sums of its rows.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The features. Rows without counts are left out.
    metric : str
        In which rows are compared. Those that read no more than the direction of a row say nothing.
    mapped : ndarray or csr_array of shape (n_samples, n_coordinates)
        The features, or their components, as the map compares them.
    embedding : ndarray of shape (n_samples, n_components)
        The map; rows with NaN have no place.

    Warns
    -----
    DataWarning
        If the place tells a third of the logarithm of the sums, or 70 % of it within islands of the map; or they are a
        third of the spread of the table.
    """
    depth = depth_of_table(X) if metric.partition("(")[0] in _OF_SUMS else None
    if depth is None:
        return
    known = np.flatnonzero((depth > 0) & has_place(embedding))
    depth, places = depth[known], embedding[known]
    if len(known) < _FEWEST:
        return
    logarithms = log1p(depth)
    spread = max(share_of_spread(mapped[known], form) for form in (depth, logarithms))
    told = share_of_map(places, logarithms)
    within = share_of_place(places, logarithms) if max(spread, told) < _SOME_OF_MAP else 0.0
    shares = [f"the place on the map tells {told:.0%} of it"] if told >= _SOME_OF_MAP else []
    if spread >= _MOST_OF_SPREAD:
        shares.append(f"{spread:.0%} of the spread of what is mapped is that of the depth")
    if within >= _MOST_BY_PLACE:
        shares.append(f"the place on the map tells {within:.0%} of it within islands")
    if shares:
        warn(
            f"the map shows the depth of each row, the sum of its counts: {' and '.join(shares)}. If it only says how "
            "much was read, caught or written, divide the counts of each row by their sum before taking logarithms, "
            "X = np.log1p(1e4 * X / X.sum(axis=1, keepdims=True)) of an array, or pass metric='hellinger'. If sums "
            "mean something, as those of towns do, leave them.",
            DataWarning,
        )


def _shown_of_counts(
    depth: Float64Array, X: Any, rows: Any, representation: Representation | None, embedding: npt.NDArray[Any]
) -> str | None:
    """Return what is to be said of cells whose counts may not have been divided by their depth; None for nothing.

    X is None where the coordinates are not made of it.
    """
    forms = (depth, log1p(depth))
    spread = max(share_of_spread(rows, form) for form in forms)
    if spread < _MOST_OF_SPREAD and (X is None or totals_of_counts(X) is None):
        return None
    placed = has_place(embedding)
    told = share_of_map(embedding[placed], forms[1][placed])
    name = "the table" if representation is None else representation.name
    if spread >= _MOST_OF_SPREAD:
        place = f", and the place on the map tells {told:.0%} of it" if told >= _MOST_OF_MAP else ""
        shown = f"the map shows mostly the depth of each cell, the counts that were read of it: {spread:.0%} of the "
        shown += f"spread of {name} is that of the depth{place}."
        otherwise = " If this was done, cells that lie apart differ in depth, and may differ in little else."
    else:
        leading = max(share_of_leading(rows, form) for form in forms)
        shares = [f"the place on the map tells {told:.0%} of it"] if told >= _SOME_OF_MAP else []
        if leading >= _MOST_OF_COLUMN:
            shares.append(f"it is {leading:.0%} of one of the two coordinates that spread most, of {name}")
        if not shares:
            return None
        shown = "the map shows the depth of each cell, the counts that were read of it, as they were not divided by "
        shown += f"it: {' and '.join(shares)}."
        otherwise = ""
    advice = " Run scanpy.pp.normalize_total and scanpy.pp.log1p before scanpy.pp.pca, and map again."
    return shown + advice + otherwise


def _shown_by_place(depth: Float64Array, is_divided: bool, embedding: npt.NDArray[Any]) -> str | None:
    """Return what is to be said where neighbours on the map are cells of like depth; None for nothing."""
    told = share_of_place(embedding, log1p(depth))
    if told < _MOST_BY_PLACE:
        return None
    divided, advice = ", though its counts were divided by it", ""
    if not is_divided:
        divided, advice = (
            "",
            " If counts were not divided by it, run scanpy.pp.normalize_total and scanpy.pp.log1p before.",
        )
    return (
        f"the place on the map tells {told:.0%} of the depth of each cell (its counts, or the number of genes found in "
        f"it), within its islands too{divided}: of cells of low depth fewer genes are found, which no division mends, "
        "so that they lie together, unless kinds of cells without a gap between them differ in depth. Take a way along "
        "this, and clusters that part it, for what cells are only where something else says so. Map Pearson residuals "
        "of the counts instead (scanpy.experimental.pp.normalize_pearson_residuals) or leave out cells of low depth."
        f"{advice}"
    )


def share_of_spread(rows: Any, values: Float64Array) -> float:
    """Return which share of the variance of all columns of a table (n, d) a straight line in values (n,) tells."""
    spread, line = _spreads(rows, values)
    return float(line.sum()) / float(spread.sum()) if spread.sum() > 0 else 0.0


def share_of_leading(rows: Any, values: Float64Array) -> float:
    """Return the larger share of variance that a line in values (n,) tells of the two columns that vary most."""
    spread, line = _spreads(rows, values)
    leading = np.argsort(-spread, kind="stable")[:_N_LEADING]
    leading = leading[spread[leading] > 0]
    return float((line[leading] / spread[leading]).max(initial=0.0))


def _spreads(rows: Any, values: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the sum of squares of each column about its mean, and how much of it a line in values tells."""
    centered = values - values.mean()
    total, along, squares = (np.zeros(rows.shape[1]) for _ in range(3))
    for start in range(0, rows.shape[0], _BLOCK):
        block = dense_rows(rows[start : start + _BLOCK])
        total += block.sum(axis=0)
        squares += (block**2).sum(axis=0)
        along += (block * centered[start : start + _BLOCK, None]).sum(axis=0)
    scale = float((centered**2).sum())
    return squares - total**2 / rows.shape[0], along**2 / scale if scale > 0 else np.zeros(rows.shape[1])


def share_of_map(embedding: npt.NDArray[Any], values: Float64Array) -> float:
    """Return which share of the variance of values (n,) a plane over a map (n, n_components) tells."""
    if len(values) < _FEWEST or values.std() == 0:
        return 0.0
    places = np.column_stack([np.ones(len(values)), np.asarray(embedding, dtype=np.float64)])
    slopes = np.linalg.lstsq(product(places.T, places), product(places.T, values), rcond=None)[0]
    left = values - product(places, slopes)
    return 1.0 - float((left**2).sum()) / float(((values - values.mean()) ** 2).sum())


def share_of_place(embedding: npt.NDArray[Any], values: Float64Array) -> float:
    """Return which share of the variance of values (n,) within islands of a map the 15 nearest on the map tell.

    That of at most 1,000 rows. Kinds of cells that differ in what is asked lie on islands, whose means do not count.
    """
    from gnomon.evaluation.islands import find_islands

    rows = np.flatnonzero(has_place(embedding))
    if len(rows) > _LOOKED_AT:
        rows = rows[np.sort(np.random.default_rng(0).choice(len(rows), _LOOKED_AT, replace=False))]
    places, known = np.asarray(embedding[rows], dtype=np.float64), values[rows]
    if len(rows) < _FEWEST or known.std() == 0:
        return 0.0
    left = known - known[compute_neighbors(places, _N_NEIGHBORS).indices].mean(axis=1)
    on_islands, island = find_islands(places)
    if len(on_islands):
        left, known = left[on_islands], known[on_islands]
    else:
        island = np.zeros(len(known), dtype=np.int64)
    means = np.bincount(island, weights=known) / np.bincount(island)
    return 1.0 - float((left**2).sum()) / max(float(((known - means[island]) ** 2).sum()), np.finfo(float).tiny)
