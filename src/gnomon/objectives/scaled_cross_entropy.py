"""The loss of ScaleMAP: UMAP's cross-entropy of differences in units of local radii."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.kernels.laws import evaluate_law
from gnomon.objectives.base import Embedding
from gnomon.objectives.cross_entropy import CrossEntropy
from gnomon.objectives.expansion import squared_distances, without_own
from gnomon.objectives.pair_objective import RowLoss
from gnomon.objectives.pairs import pair_force
from gnomon.objectives.terms import AllPairs, Draws, EdgePairs
from gnomon.objectives.terms.base import Float64

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["ScaledCrossEntropy"]


class ScaledCrossEntropy(CrossEntropy):
    """`CrossEntropy` of scaled differences of points, (y_i - y_j) / sqrt(r_i r_j), with a radius r of each point.

    With similarities k_ij = k(|y_i - y_j|^2 / (r_i r_j)) loss, degrees and draws are those of `CrossEntropy`. Points of
    equal surroundings thus lie as far apart as their radii are large: density is part of every pair's force, no further
    term that competes with it. With equal radii of 1 it is `CrossEntropy`.

    Sampled forces are cut to [-4, 4] by the scaled difference, and `SampledDescent` moves each point in units of its
    radius. All radii times c is the map times c.

    Parameters
    ----------
    affinities, kernel : as in `CrossEntropy`
        Memberships and similarity.
    radii : array-like of shape (n_samples,)
        r, positive, in units of the map; see `gnomon.affinities.LocalRadii`.
    **options
        Those of `CrossEntropy`; there is no evaluation="interpolated" or "tree", and "exact" sums over all pairs in
        NumPy.

    Attributes
    ----------
    zoom : ndarray of shape (n_samples,), float32
        1 / sqrt(r).

    References
    ----------
    .. [1] Poorna & Cicerone, "ScaleMAP: preserving local density and neighborhood structure in low-dimensional
       embeddings", arXiv:2605.30597, 2026.
    """

    name = "scaled_cross_entropy"

    @entrance("ScaledCrossEntropy")
    def __init__(self, affinities: Affinities, kernel: OutputKernel, radii: npt.ArrayLike, **options: Any) -> None:
        if options.get("evaluation") in ("interpolated", "tree"):
            what = f"evaluation={options['evaluation']!r}"
            raise ValueError(message(what, "'sampled' or 'exact' with radii of the points"))
        super().__init__(affinities, kernel, **options)
        given = np.asarray(radii, dtype=np.float64)
        if given.shape != (self.n_samples,) or not (np.isfinite(given).all() and (given > 0).all()):
            raise ValueError(message("radii", f"a positive number for each of the {self.n_samples:,} points"))
        zoom: npt.NDArray[np.float32] = (1.0 / np.sqrt(given)).astype(np.float32)
        self.zoom = zoom
        (edges,), (others,) = self.attractions, self.repulsions
        assert isinstance(edges, EdgePairs)
        assert isinstance(others, AllPairs)
        self.attractions = [_ScaledEdges(edges, zoom)]
        self.repulsions = [_ScaledPairs(others, zoom)]
        self._by_tree = None

    def row_loss(self, Y: npt.ArrayLike, *, degree: float | None = None) -> RowLoss:
        """Return that of `CrossEntropy`, of scaled differences to each point; the new row has a radius of its own."""
        return replace(super().row_loss(Y, degree=degree), zoom=np.asarray(self.zoom, dtype=np.float64))


class _ScaledEdges(EdgePairs):
    """Edges whose squared lengths count z_i^2 z_j^2 times."""

    def __init__(self, edges: EdgePairs, zoom: npt.NDArray[np.float32]) -> None:
        super().__init__(edges.matrix, edges.kernel, edges.law)
        self.compiled_kernel = None
        self._squares = np.square(zoom.astype(np.float64))

    def reference(self, Y: Float64) -> tuple[float, Float64]:
        """Return energy and force in float64, edge by edge."""
        rows, columns = self._heads, self.matrix.indices
        off = rows != columns
        rows, columns, weights = rows[off], columns[off], self.matrix.data[off].astype(np.float64)
        zoom = self._squares[rows] * self._squares[columns]
        values, slopes = evaluate_law(self.law, self.kernel, zoom * np.square(Y[rows] - Y[columns]).sum(axis=1))
        coefficients = scipy.sparse.csr_array((weights * zoom * slopes, (rows, columns)), shape=self.matrix.shape)
        return float(weights @ values), -4.0 * pair_force(coefficients, Y)

    def expand(self, Y: Float64) -> Any:
        """Refuse: radii follow the data as well."""
        raise _no_expansion()


class _ScaledPairs(AllPairs):
    """All pairs, likewise."""

    def __init__(self, pairs: AllPairs, zoom: npt.NDArray[np.float32]) -> None:
        assert pairs.factors is not None
        u, v = pairs.factors
        super().__init__(pairs.n_samples, pairs.kernel, pairs.law, weights=(u, v))
        self.compiled_kernel = None
        self._squares = np.square(zoom.astype(np.float64))

    def sampled_force(self, Y: Embedding, draws: Draws) -> Embedding:
        """Return an unbiased estimate of the force from the points drawn."""
        u, v = (w.astype(np.float64) for w in self.factors or ())
        others = draws.points
        zoom = self._squares[:, None] * self._squares[others]
        weights = (u[:, None] * v[others] + v[:, None] * u[others]) * self.n_samples / draws.n_draws
        away = Y.astype(np.float64)[:, None] - Y[others]
        slopes = evaluate_law(self.law, self.kernel, zoom * np.square(away).sum(axis=2))[1]
        slopes = np.where(others == np.arange(self.n_samples)[:, None], 0.0, weights * zoom * slopes)
        return np.asarray(-4.0 * np.einsum("il,ild->id", slopes, away), dtype=Y.dtype)

    def expand(self, Y: Float64) -> Any:
        """Refuse: radii follow the data as well."""
        raise _no_expansion()

    def _sums_of_rows(self, Y: Float64, rows: slice, factors: Any) -> tuple[Float64, Float64]:
        zoom = self._squares[rows, None] * self._squares
        values, slopes = evaluate_law(self.law, self.kernel, zoom * squared_distances(Y, rows))
        weights = self._weights_of(rows, factors)
        slopes = without_own(weights * zoom * slopes, rows)
        return without_own(weights * values, rows).sum(axis=1), pair_force(slopes, Y[rows], Y)


def _no_expansion() -> TypeError:
    what, rule = "loss=ScaledCrossEntropy", "one whose second derivatives are known"
    return TypeError(message(what, rule, remedy="Use CrossEntropy."))
