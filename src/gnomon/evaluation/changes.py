"""Which points of a map lie elsewhere in another map of the same rows: by their neighbours and by their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import product
from gnomon._entrance import entrance
from gnomon._validation import Integer, check_parameters, message
from gnomon.evaluation.scores import nearest_in_map, shared_neighbors
from gnomon.evaluation.similarities import check_embedding, placed_rows
from gnomon.linalg import procrustes

__all__ = ["PointChanges", "changes_between", "point_changes"]

Floats = npt.NDArray[np.float64]

_NEIGHBORS = 15
_RULES = {"n_neighbors": Integer(1), "n_top": Integer(1)}


@dataclass(frozen=True, eq=False)
class PointChanges:
    """How each of n_samples rows lies in a map B compared with a map A. Made by `point_changes`.

    Attributes
    ----------
    neighbors_lost : ndarray of shape (n_samples,), float64
        Share in [0, 1] of the row's nearest rows in A that are not among as many nearest rows in B; NaN for rows that
        take no part. It is the same from B to A, and no rotation, reflection, shift or scale of a map changes it.
    shift : ndarray of shape (n_samples,), float64
        Distance between the places of the row once A is laid over B: both brought to one spread, A moved, rotated and
        reflected to fit best. In units of the spread, the root mean square distance of the rows from their mean. NaN
        for rows that take no part, and for all where the rows of a map lie at one place.
    n_neighbors : int
        Nearest rows that are compared.
    matrix : ndarray of shape (d, d), float64
        A similarity that lays A over B in the units of B: ``A @ matrix + translation``. `d` is the larger of the two
        dimensions; the map that has fewer is flat in the other.
    translation : ndarray of shape (d,), float64
    """

    neighbors_lost: Floats
    shift: Floats
    n_neighbors: int
    matrix: Floats
    translation: Floats

    @property
    def chance(self) -> float:
        """The share of neighbours that two unrelated maps lose on average: 1 - n_neighbors / (other rows)."""
        return 1.0 - self.n_neighbors / (int(np.isfinite(self.neighbors_lost).sum()) - 1)

    @entrance("PointChanges.most")
    def most(self, n_top: int = 20, *, by: str = "neighbors_lost") -> npt.NDArray[np.int64]:
        """Return the rows that changed most, the most changed first.

        Parameters
        ----------
        n_top : int >= 1, default=20
            Rows at most.
        by : {"neighbors_lost", "shift"}, default="neighbors_lost"
            The first says which rows lie among others, the second which lie elsewhere in the picture. Of equal rows
            those are first that changed more by the other, then those of lower number.
        """
        n_top = check_parameters(_RULES, {"n_top": n_top}, ["n_top"])["n_top"]
        if by not in ("neighbors_lost", "shift"):
            raise ValueError(message(f"by={by!r}", "'neighbors_lost' or 'shift'"))
        first, second = (self.neighbors_lost, self.shift)[:: 1 if by == "neighbors_lost" else -1]
        order = np.lexsort((np.arange(len(first)), -np.nan_to_num(second), -first))
        known: npt.NDArray[np.int64] = order[np.isfinite(first[order])][:n_top].astype(np.int64)
        return known


@entrance("point_changes")
def point_changes(
    A: npt.ArrayLike, B: npt.ArrayLike, *, n_neighbors: int | None = None, n_jobs: int | None = None
) -> PointChanges:
    """Say of each row how its place changes from one map to another: of two methods, two seeds, two epochs.

    Two measures, because a picture deceives. A map may be turned, mirrored or have its islands exchanged while every
    row keeps its neighbours; rows may also hardly move and yet come to lie among others.

    Parameters
    ----------
    A, B : array-like of shape (n_samples, n_components of each)
        Row i of both is the same thing. Rows that are not finite in both take no part.
    n_neighbors : int >= 1 or None, default=None
        Nearest rows that are compared, itself not counted; None takes 15, or half of the other rows where these are
        fewer than 30. Which of equally distant rows is nearest is left to the search.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    PointChanges

    Raises
    ------
    ValueError
        If fewer than 4 rows have a place in both maps, or `n_neighbors` exceeds the number of other rows.
    TypeError
        If a map does not hold numbers.

    See Also
    --------
    gnomon.evaluation.compare_embeddings : How alike two maps are as a whole.
    gnomon.viewer.write_side_by_side : A page of maps beside each other that lists these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import point_changes
    >>> A = np.random.default_rng(0).normal(size=(100, 2))
    >>> B = 3 * A[:, ::-1] + 5  # the same map, mirrored
    >>> B[7] += 9
    >>> point_changes(A, B).most(1, by="shift")
    array([7])
    """
    a, b = check_embedding(A, "A"), check_embedding(B, "B")
    if len(a) != len(b):
        raise ValueError(message(f"A with {len(a):,} rows and B with {len(b):,}", "of the same length"))
    return changes_between([a, b], [(0, 1)], n_neighbors)[0]


def changes_between(
    maps: Sequence[Floats], pairs: Sequence[tuple[int, int]], n_neighbors: int | None
) -> list[PointChanges]:
    """Return the changes for several pairs of maps; only rows that have a place in all maps take part."""
    rows = placed_rows(*maps)
    if len(rows) < 4:
        raise ValueError(message(f"{len(rows):,} rows with a place in every map", "at least 4"))
    k = min(_NEIGHBORS, (len(rows) - 1) // 2)
    if n_neighbors is not None:
        k = check_parameters(_RULES, {"n_neighbors": n_neighbors}, ["n_neighbors"])["n_neighbors"]
    if k >= len(rows):
        raise ValueError(message(f"n_neighbors={k}", f"below {len(rows)}, the number of rows with a place"))
    needed = sorted({number for pair in pairs for number in pair})
    nearest = {number: nearest_in_map(maps[number][rows], k) for number in needed}
    found = []
    for a, b in pairs:
        lost = np.full(len(maps[a]), np.nan)
        lost[rows] = 1.0 - shared_neighbors(nearest[a], nearest[b], None) / k
        found.append(PointChanges(lost, *_laid_over(maps[a], maps[b], rows, k)))
    return found


def _laid_over(A: Floats, B: Floats, rows: npt.NDArray[np.int64], k: int) -> tuple[Floats, int, Floats, Floats]:
    """Return the shift of each row, k, and the similarity that lays A over B."""
    d = max(A.shape[1], B.shape[1])
    a, b = (np.pad(Y[rows], ((0, 0), (0, d - Y.shape[1]))) for Y in (A, B))
    (a, a_mean, a_spread), (b, b_mean, b_spread) = _of_unit_spread(a), _of_unit_spread(b)
    shift = np.full(len(A), np.nan)
    if not (a_spread > 0 and b_spread > 0):
        return shift, k, np.eye(d), b_mean - a_mean
    rotation = procrustes(a, b, scaling=False).rotation
    shift[rows] = np.linalg.norm(product(a, rotation) - b, axis=1)
    matrix = b_spread / a_spread * rotation
    return shift, k, matrix, b_mean - product(a_mean[None], matrix)[0]


def _of_unit_spread(Y: Floats) -> tuple[Floats, Floats, float]:
    """Return rows around their mean, at a root mean square distance of 1 from it; the mean; the distance before."""
    mean: Any = Y.mean(axis=0)
    centered = Y - mean
    spread = float(np.sqrt((centered**2).sum(axis=1).mean()))
    return centered / (spread if spread > 0 else 1.0), mean, spread
