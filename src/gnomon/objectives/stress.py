"""Stress, the losses of multidimensional scaling: metric, ordinal, and of distances through sigmoids (sketch-map)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import isotonic_levels, pair_distances, row_distances
from gnomon._entrance import entrance, part
from gnomon._threads import single_threaded_blas
from gnomon._validation import Real, Rule, check_parameters, message
from gnomon.kernels import Distance, SketchMapKernel
from gnomon.linalg import connected_components
from gnomon.objectives.base import Embedding
from gnomon.objectives.pair_objective import PairObjective
from gnomon.objectives.terms import Draws, TargetPairs

__all__ = ["OrdinalStress", "SigmoidStress", "Stress"]

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]

_BLOCK = 512  # rows measured at a time
_RULES: dict[str, Rule] = {"mixture": Real(0.0, 1.0)}


class Stress(PairObjective):
    """The raw stress of metric multidimensional scaling.

        loss = sum over i < j of w_ij (delta_ij - d_ij)^2,  gradient_i = 2 sum_j w_ij (1 - delta_ij / d_ij) (y_i - y_j)

    The term of points that coincide is 0 in the gradient.

    Parameters
    ----------
    dissimilarities : array-like of shape (n_samples, n_samples)
        Symmetric delta_ij >= 0; kept in float32, which takes squares of numbers near 1 best.
    weights : array-like of shape (n_samples, n_samples) or (n_samples,), or None, default=None
        Symmetric w_ij >= 0, or u with w_ij = u_i u_j. Pairs of positive weight must connect all points; None weighs
        all pairs 1; "inverse" and "inverse_square" take 1 / delta and 1 / delta^2, which follow the dissimilarities.
    dtype : type, default=float32
        With float64 the stress can be expanded to second order exactly, but not majorized.

    References
    ----------
    .. [1] Borg & Groenen, "Modern Multidimensional Scaling", 2nd ed., Springer, 2005, chapter 8.
    """

    name = "stress"

    @part("Stress")
    def __init__(
        self, dissimilarities: npt.ArrayLike, *, weights: str | npt.ArrayLike | None = None, dtype: type = np.float32
    ) -> None:
        self.pairs = TargetPairs(dissimilarities, Distance(), weights=weights, dtype=dtype, scale=0.5)
        if dtype is np.float32:
            self._solve = _laplacian_inverse(self.pairs)
        self._seen: tuple[Embedding, float, Embedding] | None = None
        super().__init__([], [self.pairs])

    def loss(self, Y: Embedding) -> float:
        """Return the stress."""
        return self._evaluate(self._check(Y))[0]

    def gradient(self, Y: Embedding) -> Embedding:
        """Return its gradient."""
        return -self._evaluate(self._check(Y))[1]

    def majorize(self, Y: Embedding) -> tuple[float, Embedding]:
        """Return the stress at Y and the Guttman transform of Y.

        The transform is the minimum of the quadratic that touches the stress at Y and lies above it elsewhere: a step
        along the gradient, solved for the Laplacian V of the weights, Y - V^+ gradient / 2.
        """
        points = self._check(Y)
        loss, force = self._evaluate(points)
        step = self._solve(0.5 * force.astype(np.float64))
        return loss, np.asarray(points + step, dtype=np.float32)

    def of_points(self, Y: npt.ArrayLike) -> tuple[Float64Array, Float64Array]:
        """Return each point's share of the stress and of the weighted sum of squared distances, from Y in float64.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_components)

        Returns
        -------
        errors, squares : ndarray of shape (n_samples,), float64
            Half of sum_j w_ij (delta_ij - d_ij)^2 and of sum_j w_ij d_ij^2: they sum to the stress and to the sum over
            pairs i < j.
        """
        points = np.asarray(Y, dtype=np.float64)
        self._seen = None
        self._prepare(points.astype(np.float32))
        errors, squares = np.empty(len(points)), np.empty(len(points))
        for begin in range(0, len(points), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            distances = row_distances(points[rows], points)
            weights = self.pairs.rows_of_weights(rows)
            errors[rows] = 0.5 * (weights * np.square(distances - self.pairs.target[rows])).sum(axis=1)
            squares[rows] = 0.5 * (weights * np.square(distances)).sum(axis=1)
        return errors, squares

    def _evaluate(self, Y: Embedding) -> tuple[float, Embedding]:
        """Return stress and force; the last points seen cost nothing."""
        if self._seen is None or not np.array_equal(self._seen[0], Y):
            self._prepare(Y)
            self._seen = (Y.copy(), *self.pairs.energy_and_force(Y))
        return self._seen[1], self._seen[2]

    def _prepare(self, Y: Embedding) -> None:
        """Bring the targets up to date; here they are fixed."""


class OrdinalStress(Stress):
    """The stress of ordinal (non-metric) multidimensional scaling: of the dissimilarities only the order counts.

    The distances are compared with disparities: the numbers nearest to them that rise with the dissimilarities, scaled
    so that the weighted mean of their squares is 1. Equal dissimilarities may have different disparities (Kruskal's
    primary approach to ties).

    Parameters
    ----------
    dissimilarities : array-like of shape (n_samples, n_samples)
        Symmetric, >= 0.
    weights : array-like of shape (n_samples, n_samples) or (n_samples,), or None, default=None
        As for `Stress`.

    References
    ----------
    .. [1] Kruskal, "Nonmetric multidimensional scaling: a numerical method", Psychometrika 29, 1964.
    .. [2] Borg & Groenen, "Modern Multidimensional Scaling", 2nd ed., Springer, 2005, chapter 9.
    """

    @part("OrdinalStress")
    def __init__(self, dissimilarities: npt.ArrayLike, *, weights: npt.ArrayLike | None = None) -> None:
        super().__init__(dissimilarities, weights=weights)
        self._given = self.pairs.target
        given = scipy.spatial.distance.squareform(self._given, checks=False)
        self._pair_weights = _condensed_weights(self.pairs)
        if self._pair_weights is not None:
            given = np.where(self._pair_weights > 0.0, given, np.float32(np.inf))
        self._order = np.argsort(given, kind="stable")
        ranked = given[self._order]
        self._n_used = int(np.isfinite(ranked).sum())  # pairs of weight 0 stand last and have no disparity
        self._order, ranked = self._order[: self._n_used], ranked[: self._n_used]
        tied = ranked[1:] == ranked[:-1]
        self._groups = np.concatenate(([0], np.cumsum(~tied))) if tied.any() else None

    def disparities(self, Y: Embedding) -> Float64Array:
        """Return the disparities for Y, one for each pair i < j, row by row; 0 for pairs of weight 0."""
        distances = pair_distances(np.asarray(Y, dtype=np.float64))
        order = self._order
        if self._groups is not None:
            order = order[np.lexsort((distances[order], self._groups))]
        weights = None if self._pair_weights is None else self._pair_weights[order]
        rising = isotonic_levels(distances[order], weights)
        squares = float((np.square(rising) if weights is None else weights * np.square(rising)).sum())
        found = np.zeros_like(distances)
        found[order] = rising * np.sqrt(self.sum_of_squares / squares) if squares > 0.0 else 1.0
        return found

    def disparity_curve(self, Y: npt.ArrayLike) -> tuple[Float64Array, Float64Array]:
        """Return dissimilarities, rising, and the mean disparity of each for Y: what a new dissimilarity is worth."""
        given = scipy.spatial.distance.squareform(self._given, checks=False)[self._order].astype(np.float64)
        levels, place = np.unique(given, return_inverse=True)
        means = np.bincount(place, self.disparities(np.asarray(Y))[self._order]) / np.bincount(place)
        return levels, means

    @property
    def sum_of_squares(self) -> float:
        """What the weighted squares of the disparities sum to, over pairs i < j: the sum of the weights."""
        return float(self._n_used if self._pair_weights is None else self._pair_weights[self._order].sum())

    @entrance("OrdinalStress")
    def sampled_force(self, Y: Embedding, draws: Draws) -> Embedding:
        """Raise ValueError: disparities are a regression over all pairs."""
        rule, fact = "one whose pairs count one by one to be sampled", "its disparities follow from all pairs at once"
        raise ValueError(message("the loss", rule, fact=fact, remedy="Use Majorization."))

    def reference(self, Y: npt.ArrayLike) -> tuple[float, Float64Array]:
        """Return loss and gradient in float64 by the plain sum over pairs."""
        self._seen = None
        self._prepare(np.asarray(Y, dtype=np.float32))
        return super().reference(Y)

    def _prepare(self, Y: Embedding) -> None:
        self.pairs.target = scipy.spatial.distance.squareform(self.disparities(Y).astype(np.float32), checks=False)


def _condensed_weights(pairs: TargetPairs) -> Float64Array | None:
    if pairs.factors.size:
        i, j = np.triu_indices(pairs.n_samples, 1)
        return np.asarray(pairs.factors[i].astype(np.float64) * pairs.factors[j])
    return (
        scipy.spatial.distance.squareform(pairs.weights.astype(np.float64), checks=False)
        if pairs.weights.size
        else None
    )


def _laplacian_inverse(pairs: TargetPairs) -> Callable[[Float64Array], Float64Array]:
    """Return the product with V^+ up to a shift, V the Laplacian of the weights, for columns that sum to 0.

    Weights u_i u_j need no matrix: of V x = U diag(u) x - u (u'x), U the sum of u, take the x with u'x = 0.
    """
    n = pairs.n_samples
    if pairs.factors.size:
        u = pairs.factors.astype(np.float64)
        if np.count_nonzero(u) < min(n, 2):
            raise ValueError(message("weights", "positive for two points or more"))
        inverse = np.divide(1.0, u * u.sum(), where=u > 0.0, out=np.zeros(n))[:, None]  # weight 0: the point stays
        return lambda columns: inverse * columns
    if not pairs.weights.size:
        return lambda columns: columns / n
    import scipy.sparse as sp

    weights = pairs.weights.astype(np.float64)
    np.fill_diagonal(weights, 0.0)
    n_pieces = int(connected_components(sp.csr_array(weights > 0.0)).max()) + 1
    if n_pieces > 1:
        fact = f"they leave {n_pieces} pieces"
        raise ValueError(message("the pairs of positive weight", "enough to connect all points", fact=fact))
    totals = weights.sum(axis=1)
    level = float(totals.mean())
    laplacian = np.subtract(level / n, weights, out=weights)
    laplacian[np.diag_indices(n)] += totals
    with single_threaded_blas():
        factor = scipy.linalg.cho_factor(laplacian, lower=True, overwrite_a=True, check_finite=False)

    def solve(columns: Float64Array) -> Float64Array:
        with single_threaded_blas():
            return np.asarray(scipy.linalg.cho_solve(factor, columns, check_finite=False))

    return solve


class SigmoidStress(PairObjective):
    """How far apart distances are after a sigmoid of each, the loss of sketch-map, mixed with the raw stress.

        loss = sum over i < j of w_ij [t (F(R_ij) - f(r_ij))^2 + (1 - t) (R_ij - r_ij)^2] / sum over i < j of w_ij

    with the distances R of the data and r of the embedding. Data distances push apart, those of the embedding pull.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_samples)
        R, symmetric, finite.
    high, low : SketchMapKernel
        F and f, usually with the same sigma.
    mixture : float in [0, 1], default=1.0
        t. At 0 the loss is that of metric multidimensional scaling; a step between leads from one to the other.
    weights : array-like of shape (n_samples,) or (n_samples, n_samples), or None, default=None
        As for `Frobenius`; None weighs all pairs alike.

    References
    ----------
    .. [1] Ceriotti, Tribello & Parrinello, "Simplifying the representation of complex free-energy landscapes using
       sketch-map", PNAS 108, 2011, eq. 1-2.
    .. [2] Ceriotti, Tribello & Parrinello, "Demonstrating the transferability and the descriptive power of sketch-map",
       Journal of Chemical Theory and Computation 9, 2013 (weights; mixture with the raw stress, eq. 4).
    """

    @entrance("SigmoidStress")
    def __init__(
        self,
        distances: npt.ArrayLike,
        high: SketchMapKernel,
        low: SketchMapKernel,
        *,
        mixture: float = 1.0,
        weights: npt.ArrayLike | None = None,
    ) -> None:
        checked = check_parameters(_RULES, {"mixture": mixture})
        self.high, self.low, self.mixture = high, low, checked["mixture"]
        given = np.asarray(distances)
        total = _sum_of_weights(weights, len(given) if given.ndim else 0)
        common: dict[str, Any] = {"weights": weights}
        self._pairs = []
        if self.mixture > 0.0:
            self._pairs.append(TargetPairs(high.of_distances(given), low, scale=self.mixture / total, **common))
        if self.mixture < 1.0:
            self._pairs.append(TargetPairs(given, Distance(), scale=(1.0 - self.mixture) / total, **common))
        super().__init__([], self._pairs)

    def forces(self, Y: Embedding) -> tuple[Embedding, Embedding]:
        """Return the attraction and the repulsion on each point; their sum is minus the gradient."""
        halves = [pairs.halves(self._check(Y)) for pairs in self._pairs]
        of_data, of_map = (np.asarray(sum(part), dtype=np.float32) for part in zip(*halves, strict=True))
        return of_map, of_data


def _sum_of_weights(weights: npt.ArrayLike | None, n_samples: int) -> float:
    """Return the sum of w_ij over i != j; 1 where it is zero."""
    if weights is None:
        return float(n_samples) * (n_samples - 1) or 1.0
    given = np.asarray(weights, dtype=np.float64)
    if given.ndim == 1:
        return float(given.sum() ** 2 - np.square(given).sum()) or 1.0
    return float(given.sum() - np.trace(given)) or 1.0
