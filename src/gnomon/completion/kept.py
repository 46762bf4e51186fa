"""How many of their neighbours completed rows keep: counted on a table that stands in for the true one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._run import current_run
from gnomon.completion.predictors import LowRankNormal, Rows, blocks, squared_distances
from gnomon.completion.recipe import Learned
from gnomon.linalg import first_columns, normal_matrix, share, uniform_matrix

__all__ = ["KEPT_NEIGHBORS", "share_kept"]

KEPT_NEIGHBORS = 15
"""Neighbours of which is measured how many stay."""

_MOST_ASKED = 200  # rows whose neighbours are counted
_TOGETHER = 128  # of them that are completed together
_STREAM_ASKED, _STREAM_OWN = 203, 204  # two of the latter
_STREAM_DRAWN = 10**6  # the first of two for each block of rows

BoolArray = npt.NDArray[np.bool_]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
Draws = tuple[Float32Array, Float32Array]
Found = tuple[Float32Array, npt.NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class _Errors:
    """By how much a value that is filled in misses the true one: a distribution that can be drawn from.

    It has two parts, as the prediction has. That of the model is normal given what a row knows, so that errors of a row
    are related as its columns are; its scale is such that hidden values have the squared error that was measured.
    That of the nearest rows is an error measured on a hidden value of the column, whatever its distribution.

    Attributes
    ----------
    model : LowRankNormal
    scale : ndarray of shape (n_features,), float64
        Factor of what is drawn by the model.
    measured : ndarray of shape (n_tested, n_features), float32
        Errors of each column, those of hidden values first, times the root of the share of the nearest rows.
    count : ndarray of shape (n_features,), int
        Hidden values of each column; where there is none, errors are those of the model alone.
    """

    model: LowRankNormal
    scale: Float64Array
    measured: Float32Array
    count: npt.NDArray[np.intp]

    @classmethod
    def of(cls, learned: Learned) -> _Errors:
        model, hidden, weight = learned.recipe.model, learned.hidden, learned.recipe.weight
        assert model is not None
        square = float((learned.errors.astype(np.float64)[hidden] ** 2).sum())
        expected = float(model.variances(learned.known)[hidden].sum())
        scale = np.sqrt(square / expected) if expected > 0.0 else 0.0
        count = hidden.sum(axis=0)
        order = np.argsort(~hidden, axis=0, kind="stable")
        measured = np.take_along_axis(np.where(hidden, learned.errors, 0.0), order, axis=0)
        shares = np.where(count > 0, np.sqrt(weight), 1.0)
        return cls(model, shares * scale, (np.sqrt(1.0 - weight) * measured).astype(np.float32), count)

    def draws(self, known: Float32Array, seed: int, stream: int) -> Draws:
        """Return the random numbers that `of_rows` takes for rows: two streams are used."""
        n, d = known.shape
        normal = normal_matrix(seed, stream, (n, d + self.model.loadings.shape[1])).astype(np.float32)
        place = uniform_matrix(seed, stream + 1, (n, d))
        place *= self.count
        return normal, np.take_along_axis(self.measured, place.astype(np.intp), axis=0)

    def of_rows(self, known: Float32Array, draws: Draws) -> Float32Array:
        """Return drawn errors of all entries; those of known ones mean nothing."""
        normal, measured = draws
        found: Float32Array = (self.scale * self.model.deviations(known, normal) + measured).astype(np.float32)
        return found


def share_kept(
    learned: Learned,
    donors: Rows,
    places: npt.NDArray[np.int64],
    missing: BoolArray,
    filled: npt.NDArray[np.floating[Any]],
    seed: int,
) -> float:
    """Return the share of their 15 nearest neighbours that rows which lack a value keep in the completed table.

    The true table is not known. One that may be it stands in: the completed table, to whose filled-in values errors are
    added that are drawn as they were measured. At most 200 rows with gaps are asked; each takes its values from there,
    loses what another one of them lacks, and is completed again. Its nearest rows in the table that stands in are then
    compared with its nearest rows in the completed one. Distances are in the units of the recipe.

    Parameters
    ----------
    learned : Learned
    donors : Rows
        That were learned from.
    places : ndarray of shape (n_donors,)
        Which rows of the table they are.
    missing : ndarray of shape (n_rows, n_features), bool
    filled : ndarray of shape (n_rows, n_features)
        The completed table.
    seed : int in [0, 2**63)

    Returns
    -------
    float in [0, 1]
        NaN if no error was measured.
    """
    if not learned.hidden.any():
        return np.nan
    asked, known = _ask(donors.known, seed)
    errors, recipe, rows = _Errors.of(learned), learned.recipe, places[asked]
    draws = errors.draws(donors.known[asked], seed, _STREAM_OWN)
    truth = _with_errors(errors, recipe.units(filled[rows]), donors.known[asked], draws)
    found = _completed_again(learned, donors, asked, Rows(truth * known, known))
    k = min(KEPT_NEIGHBORS, len(filled) - 1)

    def nearest(item: tuple[slice, BoolArray, Draws]) -> list[Found]:
        block, gaps, draws = item
        complete = recipe.units(filled[block])
        full = complete.copy()
        full[gaps] = _with_errors(errors, complete[gaps], 1.0 - missing[block][gaps].astype(np.float32), draws)
        inside = np.flatnonzero((rows >= block.start) & (rows < block.stop))
        own = rows[inside] - block.start
        full[own], complete[own] = truth[inside], found[inside]
        return [_nearest(one, of, (inside, own), k, block.start) for one, of in ((truth, full), (found, complete))]

    parts = [part for some in _drawn(errors, missing, seed) for part in share(nearest, some)]
    stay = [_merged([part[which] for part in parts], k) for which in (0, 1)]
    both = np.sort(np.concatenate(stay, axis=1), axis=1)
    return float((both[:, 1:] == both[:, :-1]).sum()) / (k * len(asked))


def _ask(known: Float32Array, seed: int) -> tuple[npt.NDArray[np.intp], Float32Array]:
    """Draw rows that lack a value, and for each what another one of these knows."""
    gaps = np.flatnonzero((known == 0).any(axis=1))
    draws = uniform_matrix(seed, _STREAM_ASKED, (len(gaps), 2))
    first, second = (gaps[np.argsort(draw, kind="stable")[:_MOST_ASKED]] for draw in draws.T)
    return first, known[second]


def _with_errors(errors: _Errors, complete: Float32Array, known: Float32Array, draws: Draws) -> Float32Array:
    """Return rows that the true ones may be."""
    found: Float32Array = np.where(known > 0, complete, complete + errors.of_rows(known, draws))
    return found


def _completed_again(learned: Learned, donors: Rows, asked: npt.NDArray[np.intp], rows: Rows) -> Float32Array:
    """Return rows that stand for some of the donors, completed."""
    recipe, among = learned.recipe, Rows(donors.values.copy(), donors.known.copy())
    among.values[asked], among.known[asked] = rows.values, rows.known
    parts = [slice(begin, begin + _TOGETHER) for begin in range(0, len(asked), _TOGETHER)]
    begun = share(lambda part: recipe.begin(rows[part], among), parts)
    complete = learned.complete.copy()
    complete[asked] = np.concatenate([row for _, row in begun])
    ended = share(lambda one: recipe.end(*one, among, complete), begun)
    return rows.completed(np.concatenate(ended))


def _drawn(errors: _Errors, missing: BoolArray, seed: int) -> Iterator[list[tuple[slice, BoolArray, Draws]]]:
    """Yield blocks of rows, which ones have gaps, and their draws: as many together as there are threads."""
    parts, together = blocks(len(missing)), current_run().n_threads
    for begin in range(0, len(parts), together):
        some = []
        for number, block in enumerate(parts[begin : begin + together], begin):
            gaps = np.asarray(missing[block].any(axis=1))
            known = 1.0 - missing[block][gaps].astype(np.float32)
            some.append((block, gaps, errors.draws(known, seed, _STREAM_DRAWN + 2 * number)))
        yield some


def _nearest(
    rows: Float32Array,
    others: Float32Array,
    own: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]],
    k: int,
    begin: int,
) -> Found:
    """Return the distances and numbers of the nearest of some rows of the table, the first of which is `begin`."""
    distances = squared_distances(rows, others)
    distances[own] = np.inf
    first = first_columns(distances, min(k, distances.shape[1]))
    return np.take_along_axis(distances, first, axis=1), first + begin


def _merged(found: list[Found], k: int) -> npt.NDArray[np.intp]:
    distances, numbers = (np.concatenate(part, axis=1) for part in zip(*found, strict=True))
    return np.take_along_axis(numbers, first_columns(distances, k), axis=1)
