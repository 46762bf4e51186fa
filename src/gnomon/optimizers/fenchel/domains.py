"""Where the first player may go: sets with their linear oracle and their Bregman projection."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.linalg import eigenpairs, inner, product, symmetric_operator

__all__ = ["Domain", "EuclideanBall", "L1Ball", "NuclearBall", "Simplex", "WholeSpace"]

Points = npt.NDArray[np.float64]

_TOLERANCE = 1e-10  # of the leading singular vector, a share of the square of its value


class Domain(Protocol):
    """A convex set with a divergence D; points are matrices of any one shape."""

    def best(self, slope: Points) -> Points:
        """Return a point of the set at which the inner product with the slope is least."""
        ...

    def lowest(self, slope: Points) -> float:
        """Return the least inner product with the slope, -inf if there is none."""
        ...

    def proximal(self, slope: Points, center: Points) -> Points:
        """Return the point z of the set at which <z, slope> + D(z, center) is least."""
        ...


def _check_radius(radius: float) -> float:
    if not (math.isfinite(radius) and radius > 0.0):
        raise ValueError(message(f"radius={radius!r}", "a number > 0"))
    return float(radius)


class WholeSpace:
    """All points, with half the squared Euclidean distance.

    Parameters
    ----------
    radius : float > 0 or None, default=None
        Regrets compare with the points of this distance from `center`; without it they are infinite. Nothing is
        projected on this ball.
    center : array-like, default=0.0
        Of the ball of comparison.
    """

    @entrance("WholeSpace")
    def __init__(self, radius: float | None = None, center: npt.ArrayLike = 0.0) -> None:
        self.radius = None if radius is None else _check_radius(radius)
        self.center = np.asarray(center, dtype=np.float64)

    @entrance("WholeSpace")
    def best(self, slope: Points) -> Points:
        """Raise ValueError: a linear function has no least value here."""
        remedy = "Use a bounded domain such as EuclideanBall, or a player that regularises, such as OMD or FTRL."
        raise ValueError(message("a player that minimises a linear loss", "on a bounded set", remedy=remedy))

    def lowest(self, slope: Points) -> float:
        """Return the least inner product on the ball of comparison, -inf without one."""
        if self.radius is None:
            return -math.inf
        return inner(self.center, slope) - self.radius * float(np.linalg.norm(slope))

    def proximal(self, slope: Points, center: Points) -> Points:
        """Return center - slope."""
        return np.asarray(center - slope)


class EuclideanBall:
    """The points of at most a Euclidean (Frobenius) distance from a centre, with half the squared distance.

    Parameters
    ----------
    radius : float > 0
    center : array-like, default=0.0
    """

    @entrance("EuclideanBall")
    def __init__(self, radius: float, center: npt.ArrayLike = 0.0) -> None:
        self.radius = _check_radius(radius)
        self.center = np.asarray(center, dtype=np.float64)

    def best(self, slope: Points) -> Points:
        """Return the point of the sphere against the slope."""
        norm = math.sqrt(inner(slope, slope))
        return np.asarray(self.center - (self.radius / norm if norm > 0.0 else 0.0) * slope)

    def lowest(self, slope: Points) -> float:
        """Return <center, slope> - radius |slope|."""
        return inner(np.broadcast_to(self.center, slope.shape), slope) - self.radius * float(np.linalg.norm(slope))

    def proximal(self, slope: Points, center: Points) -> Points:
        """Return the projection of center - slope."""
        away = center - slope - self.center
        norm = math.sqrt(inner(away, away))
        return np.asarray(self.center + away * min(1.0, self.radius / norm if norm > 0.0 else 1.0))


class L1Ball:
    """The points whose entries have absolute values of at most a given sum, with half the squared distance.

    Parameters
    ----------
    radius : float > 0
    """

    @entrance("L1Ball")
    def __init__(self, radius: float) -> None:
        self.radius = _check_radius(radius)

    def best(self, slope: Points) -> Points:
        """Return the vertex against the steepest entry, the first of several."""
        vertex = np.zeros_like(slope)
        steepest = np.unravel_index(int(np.abs(slope).argmax()), slope.shape)
        vertex[steepest] = -self.radius if slope[steepest] > 0.0 else self.radius
        return vertex

    def lowest(self, slope: Points) -> float:
        """Return -radius times the largest absolute entry."""
        return -self.radius * float(np.abs(slope).max())

    def proximal(self, slope: Points, center: Points) -> Points:
        """Return the projection of center - slope."""
        away = center - slope
        sizes = np.abs(away)
        if float(sizes.sum()) <= self.radius:
            return np.asarray(away)
        return np.asarray(np.sign(away) * np.maximum(sizes - _simplex_threshold(sizes.ravel(), self.radius), 0.0))


class Simplex:
    """The points with entries >= 0 of sum 1, with the relative entropy (Kullback-Leibler) as divergence."""

    def best(self, slope: Points) -> Points:
        """Return the vertex of the least entry, the first of several."""
        vertex = np.zeros_like(slope)
        vertex[np.unravel_index(int(slope.argmin()), slope.shape)] = 1.0
        return vertex

    def lowest(self, slope: Points) -> float:
        """Return the least entry."""
        return float(slope.min())

    def proximal(self, slope: Points, center: Points) -> Points:
        """Return the center with each entry multiplied by exp(-slope), brought to sum 1."""
        with np.errstate(divide="ignore"):
            logs = np.log(center) - slope
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())


class NuclearBall:
    """The matrices whose singular values have at most a given sum, with half the squared Frobenius distance.

    Parameters
    ----------
    radius : float > 0
    """

    @entrance("NuclearBall")
    def __init__(self, radius: float) -> None:
        self.radius = _check_radius(radius)

    def best(self, slope: Points) -> Points:
        """Return the matrix of rank one against the leading singular pair of the slope."""
        left, size, right = _leading_singular_pair(slope)
        return np.asarray((-self.radius if size > 0.0 else 0.0) * np.outer(left, right))

    def lowest(self, slope: Points) -> float:
        """Return -radius times the spectral norm."""
        return -self.radius * _leading_singular_pair(slope)[1]

    def proximal(self, slope: Points, center: Points) -> Points:
        """Return the projection of center - slope, by a full singular value decomposition."""
        left, sizes, right = np.linalg.svd(center - slope, full_matrices=False)
        if float(sizes.sum()) > self.radius:
            sizes = np.maximum(sizes - _simplex_threshold(sizes, self.radius), 0.0)
        return np.asarray((left * sizes) @ right)


def _simplex_threshold(sizes: Points, total: float) -> float:
    """Return t with sum max(sizes - t, 0) = total, for sizes >= 0 of a larger sum (Duchi et al., ICML 2008)."""
    falling = np.sort(sizes)[::-1]
    means = (np.cumsum(falling) - total) / np.arange(1, falling.size + 1)
    kept = np.flatnonzero(falling > means)
    return float(means[kept[-1]])


def _leading_singular_pair(A: Points) -> tuple[Points, float, Points]:
    """Return u, s, v of the largest singular value, through the Gram matrix of the shorter side."""
    tall = A.shape[0] >= A.shape[1]
    B = A if tall else A.T
    right = _leading_vector(B)
    image = product(B, right)
    size = math.sqrt(inner(image, image))
    left = image / size if size > 0.0 else np.zeros_like(image)
    return (left, size, right) if tall else (right, size, left)


def _leading_vector(B: Points) -> Points:
    """Return the leading right singular vector."""
    gram = symmetric_operator(lambda V: product(B.T, product(B, V)), B.shape[1])
    return eigenpairs(gram, 1, which="largest", tol=_TOLERANCE).vectors[:, 0]
