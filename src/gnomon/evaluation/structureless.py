"""Tables without structure that share with given data what is not structure: marginals, covariance, noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Options, check_parameters, message
from gnomon.geometry.check import check_features
from gnomon.linalg import dense_rows, principal_components, product, symmetric_eigen

__all__ = ["KINDS", "Cloud", "draw_structureless", "structureless"]

Floats = npt.NDArray[np.float64]

_NOTHING = 1e-6  # of the largest singular value: rounding in the matrix of inner products

KINDS = {
    "gaussian": "one normal cloud of exactly the same mean and covariance",
    "elliptical": "one cloud of the same mean and covariance whose rows lie as far out as those of the data",
    "copula": "the same values in each feature and, nearly, the same correlations of their ranks",
    "columns": "the same values in each feature, shuffled, so that features are independent",
}
"""What each kind of table shares with the data."""


@dataclass(frozen=True)
class Cloud:
    """A normal cloud of the mean and covariance of a table, to be drawn from many times.

    Attributes
    ----------
    mean : ndarray of shape (n_features,), float64
    radii : ndarray of shape (n,), float64
        Mahalanobis distances of the rows from the mean, over sqrt(n).
    sizes : ndarray of shape (rank,), float64
        Singular values of the centred table.
    axes : ndarray of shape (rank, n_features), float64
    """

    mean: Floats
    radii: Floats
    sizes: Floats
    axes: Floats

    @classmethod
    def of(cls, X: Floats) -> Self:
        """Decompose a table of shape (n, n_features)."""
        mean = X.mean(axis=0)
        found = principal_components(X - mean, min(X.shape), solver="covariance" if X.shape[1] <= len(X) else "gram")
        sizes, axes = found.singular_values, found.components
        kept = sizes > sizes.max(initial=0.0) * _NOTHING
        sizes, axes = sizes[kept], axes[kept]
        radii = np.linalg.norm(product(X - mean, axes.T) / sizes, axis=1)
        return cls(mean, radii, sizes, axes)

    def draw(self, draw: np.random.Generator, *, keep_radii: bool = False) -> Floats:
        """Draw as many rows as the table has, with its mean and covariance to the last digits.

        Of a normal table the rows are then what its mean and covariance leave to chance [1]_. Drawn without regard to
        them, rows scatter about the table's covariance as the table does about that of its law, and twice the scatter
        makes the widest directions wider than the table has them. `keep_radii` gives the rows its Mahalanobis distances
        instead, in random order, and the covariance but for chance.

        References
        ----------
        .. [1] Langsrud, "Rotation tests", Statistics and Computing 15, 2005.
        """
        n = len(self.radii)
        drawn = draw.normal(size=(n, len(self.sizes)))
        if keep_radii:
            radii = self.radii[draw.permutation(n)]
            drawn *= (radii / np.maximum(np.linalg.norm(drawn, axis=1), np.finfo(np.float64).tiny))[:, None]
        else:
            drawn = _orthonormal(drawn - drawn.mean(axis=0))
        return np.asarray(self.mean + product(drawn * self.sizes, self.axes))


def _orthonormal(columns: Floats) -> Floats:
    """Return the orthonormal columns nearest to some, of the same directions together."""
    values, vectors = symmetric_eigen(product(columns.T, columns))
    return product(product(columns, vectors / np.sqrt(values)), vectors.T)


def _copula(X: Floats, draw: np.random.Generator) -> Floats:
    """Draw normal rows with the correlations of the normal scores of X, and give each column its values by rank."""
    ranks = X.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    normal = Cloud.of(scipy.special.ndtri((ranks + 0.5) / len(X))).draw(draw)
    order = normal.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    return np.take_along_axis(np.sort(X, axis=0), order, axis=0)


def draw_structureless(X: Floats, kind: str, draw: np.random.Generator) -> Floats:
    """Draw a table of the shape of X; `kind` is a key of `KINDS`."""
    if kind == "columns":
        return draw.permuted(X, axis=0)
    if kind == "copula":
        return _copula(X, draw)
    return Cloud.of(X).draw(draw, keep_radii=kind == "elliptical")


@entrance("structureless", seeded=True)
def structureless(X: Any, kind: str = "copula", *, random_state: RandomState = 0, n_jobs: int | None = None) -> Floats:
    """Draw a table without structure that shares with the data all that is not structure.

    What a map of it shows, the method made: groups, gaps and shapes in the map of such a table are no property of any
    data. Dense rows and a singular value decomposition of the table are held in memory.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), n_samples >= 2
        The data.
    kind : {"gaussian", "elliptical", "copula", "columns"}, default="copula"
        What is kept: the covariance, as one normal cloud; the covariance and the distances of rows from the mean, in
        units of the covariance, so that tails are as heavy; the values of each feature and the correlations of their
        ranks; the values of each feature alone. Only the first has a single peak for any data: rings stay rings in the
        second, and a feature that itself falls into two groups does so in the others.
    random_state : int, Generator, RandomState or None, default=0
        Chooses the table.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    ndarray of shape (n_samples, n_features), float64

    Raises
    ------
    ValueError
        If `kind` is none of these, or X has fewer than two rows or values that are not finite.

    References
    ----------
    .. [1] Johnson, Kath & Mani, "EMBEDR: distinguishing signal from noise in single-cell omics data", Patterns 3, 2022
       (shuffled columns).
    .. [2] Nelsen, "An Introduction to Copulas", 2nd ed., 2006, section 2.4 (marginals joined by a normal copula).

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import structureless
    >>> X = np.random.default_rng(0).exponential(size=(100, 2))
    >>> null = structureless(X)
    >>> bool(np.array_equal(np.sort(null, axis=0), np.sort(X, axis=0)))
    True
    """
    checked = check_parameters({"kind": Options(*KINDS)}, {"kind": kind})
    values = dense_rows(check_features(X, None)[0]).astype(np.float64)
    if len(values) < 2:
        raise ValueError(message(f"X with {len(values)} row", "of at least 2 rows"))
    return draw_structureless(values, checked["kind"], np.random.default_rng(current_run().seed))
