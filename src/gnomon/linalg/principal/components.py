"""Principal components: the mean, the directions of largest variance, and how much of it they hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._entrance import entrance, part
from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import SEED, Either, Integer, Options, Real, Rule, check_parameters, message
from gnomon.linalg.eigen.base import with_signs
from gnomon.linalg.principal.merged import CentredFactor
from gnomon.linalg.principal.scatter import LARGEST_DENSE_SIDE, Moments, require_scatter_memory
from gnomon.linalg.principal.spectra import (
    LARGEST_SVD,
    Spectrum,
    covariance_spectrum,
    factor_spectrum,
    gram_spectrum,
    moments_spectrum,
    sparse_covariance_spectrum,
    sparse_gram_spectrum,
    svd_spectrum,
)
from gnomon.linalg.principal.subspace import randomized_spectrum
from gnomon.linalg.principal.weighted import reflected_rows
from gnomon.linalg.products import product, sparse_product

__all__ = [
    "PrincipalComponents",
    "principal_components",
    "principal_components_in_basis",
    "principal_components_of_factor",
    "principal_components_of_moments",
    "project_rows",
]

Float64Array = npt.NDArray[np.float64]

_ACCURATE_SHARE = 1e-8  # of the largest variance; eigenvectors of squares lose digits of components below it
_SOLVERS = ("auto", "covariance", "gram", "svd", "randomized")
_RULES: dict[str, Rule] = {
    "n_components": Either(Integer(1), Real(0.0, 1.0, low_open=True, high_open=True)),
    "seed": SEED,
    "solver": Options(*_SOLVERS),
}


@dataclass(frozen=True)
class PrincipalComponents(ShortRepr):
    """The best linear map of a table to few dimensions, and back.

    Attributes
    ----------
    mean : ndarray of shape (n_features,), float64
        Mean of the rows.
    components : ndarray of shape (n_components, n_features), float64
        Orthonormal directions by falling variance; the entry of largest magnitude of each is positive.
    explained_variance : ndarray of shape (n_components,), float64
        Variance along each component (divisor n_samples - 1, or 1 for a single row; the sum of weights - 1).
    total_variance : float
        Sum of the variances of all features.
    singular_values : ndarray of shape (n_components,), float64
        Of the centred table.
    solver : {"covariance", "gram", "svd", "randomized"}
        How they were found.
    n_samples : int
        Number of rows, or the rounded sum of their weights.
    """

    mean: Float64Array
    components: Float64Array
    explained_variance: Float64Array
    total_variance: float
    singular_values: Float64Array
    solver: str
    n_samples: int

    @cached_property
    def explained_variance_ratio(self) -> Float64Array:
        """Share of the total variance along each component; 0 if there is no variance."""
        return self.explained_variance / (self.total_variance if self.total_variance > 0.0 else 1.0)

    @property
    def noise_variance(self) -> float:
        """Mean of the eigenvalues of the covariance matrix left out, of the first min(n_samples, n_features)."""
        n_left = min(self.n_samples, self.mean.size) - self.explained_variance.size
        if n_left <= 0:
            return 0.0
        return max(self.total_variance - float(self.explained_variance.sum()), 0.0) / n_left

    @entrance("PrincipalComponents")
    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the coordinates of rows along the components.

        Parameters
        ----------
        X : ndarray of float32 or float64, or CSR, of shape (n_rows, n_features)
            Not densified.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            float32 for float32 input, else float64. Each row is a function of the same row of `X` alone.
        """
        if X.ndim != 2 or X.shape[1] != self.mean.size:
            fact = f"n_features={self.mean.size} when fitted"
            raise ValueError(message(f"X of shape {X.shape}", "of the fitted width", fact=fact))
        return project_rows(X, self.mean, self.components)

    def inverse_transform(self, Y: npt.ArrayLike) -> Float64Array:
        """Return the points of the original space with coordinates `Y` (n_rows, n_components) along the components."""
        with single_threaded_blas():
            points: Float64Array = np.asarray(Y, dtype=np.float64) @ self.components + self.mean
        return points


def project_rows(X: Any, mean: Float64Array, components: Float64Array) -> npt.NDArray[Any]:
    """Return (X - mean) components'.

    Parameters
    ----------
    X : ndarray of float32 or float64, or CSR, of shape (n_rows, n_features)
        Not densified.
    mean : ndarray of shape (n_features,), float64
    components : ndarray of shape (n_components, n_features), float64

    Returns
    -------
    ndarray of shape (n_rows, n_components)
        float32 for float32 input, else float64. Each row is a function of the same row of `X` alone. Rows are centred
        in double; products of dense float32 rows are float32, their sums over each 128 features too.
    """
    directions = np.ascontiguousarray(components.T)
    if not isinstance(X, np.ndarray):  # CSR
        scores = sparse_product(X, directions) - product(mean[None], directions)[0]
        return np.asarray(scores, dtype=X.dtype if X.dtype == np.float32 else np.float64)
    rows = _contiguous(X)
    projected: npt.NDArray[Any] = np.empty((rows.shape[0], directions.shape[1]), dtype=rows.dtype)
    _core.project(rows, mean, directions, projected, current_run().n_threads)
    return projected


def _contiguous(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    dtype = np.float32 if X.dtype in (np.float32, np.float16, np.uint8, np.int8, np.uint16, np.int16) else np.float64
    return np.ascontiguousarray(X, dtype=dtype)


def _resolve_solver(X: Any, n_components: int | float) -> str:
    n, width = X.shape
    smaller = "covariance" if width <= n else "gram"
    if isinstance(n_components, float):  # the whole spectrum
        return smaller
    if not isinstance(X, np.ndarray):
        if min(n, width) <= LARGEST_DENSE_SIDE:
            return "covariance" if width <= LARGEST_DENSE_SIDE else "gram"
        return "randomized"
    if min(n, width) > LARGEST_DENSE_SIDE and n_components <= min(n, width) // 4:
        return "randomized"
    return smaller


@part("principal_components")
def principal_components(
    X: Any,
    n_components: int | float,
    *,
    weights: Float64Array | None = None,
    seed: int = 0,
    solver: str = "auto",
) -> PrincipalComponents:
    """Find the directions of largest variance of a table.

    Parameters
    ----------
    X : ndarray of float32 or float64, or CSR, of shape (n_samples, n_features)
        Finite. Tables are centred in double before any product, CSR some rows at a time or implicitly: it is never
        densified as a whole.
    n_components : int in [1, min(n_samples, n_features)] or float in (0, 1)
        Number of directions, or the share of the variance that so many of them reach; the solvers "covariance",
        "gram" and "svd" then compute all of them.
    weights : ndarray of shape (n_samples,), float64, or None, default=None
        How many rows each row stands for, positive; the number of rows is their sum. A copy of the table is made, and a
        sparse one written out. None for 1.
    seed : int in [0, 2**63), default=0
        Used by the solver "randomized" only.
    solver : {"auto", "covariance", "gram", "svd", "randomized"}, default="auto"
        "covariance": eigenvectors of the D x D scatter matrix; "gram": of the n x n matrix of inner products. Both lose
        components whose variance is below about 1e-12 of the largest (1e-6 for float32). "svd": exact, in double, for
        dense X. "randomized": subspace iteration (10 extra directions, 7 iterations), for tables large both ways; the
        leading components are good to about 1e-3. "auto" takes "randomized" where the smaller side exceeds 2000, else
        the smaller of the two matrices; for small tables of double "svd" instead, where a component that is kept has
        less than 1e-8 of the variance of the first. CSR takes "gram" only where n_features exceeds 2000.

    Returns
    -------
    PrincipalComponents
        The same bits for any number of threads.

    Raises
    ------
    ValueError
        If `n_components` exceeds the smaller side of the table.
    """
    given = {"n_components": n_components, "seed": seed, "solver": solver}
    values = check_parameters(_RULES, given)
    n_components, solver = values["n_components"], values["solver"]
    if n_components > min(X.shape):
        fact = f"n_samples={X.shape[0]}, n_features={X.shape[1]}"
        rule = f"at most {min(X.shape)}"
        raise ValueError(message(f"n_components={n_components}", rule, fact=fact, remedy="Lower n_components."))
    dense = isinstance(X, np.ndarray)
    if not dense and solver == "svd":
        raise ValueError(message("solver='svd'", "'auto', 'covariance', 'gram' or 'randomized' for sparse X"))
    if isinstance(n_components, float) and solver == "randomized":
        rule = "an integer where solver='randomized'"
        raise ValueError(message(f"n_components={n_components}", rule, fact="a share needs all components"))
    if weights is not None:
        table, mean = reflected_rows(X, weights)
        plain = principal_components(table, n_components, seed=seed, solver=solver)
        return _of_weighted_rows(plain, mean, float(weights.sum()))
    X = _contiguous(X) if dense else X
    chosen = _resolve_solver(X, n_components) if solver == "auto" else solver
    with single_threaded_blas():
        found = _solve(X, n_components, chosen, values["seed"])
        if solver == "auto" and _is_inaccurate(X, found.singular_values):
            chosen = "svd"
            found = svd_spectrum(X, n_components)
    return _components(found, chosen, int(X.shape[0]))


@part("principal_components")
def principal_components_of_moments(moments: Moments, n_components: int | float) -> PrincipalComponents:
    """Find the directions of largest variance of rows of which the moments are known.

    Parameters
    ----------
    moments : Moments
    n_components : int in [1, n_features] or float in (0, 1)
        As for `principal_components`.

    Returns
    -------
    PrincipalComponents
    """
    n_components = check_parameters(_RULES, {"n_components": n_components}, ["n_components"])["n_components"]
    if n_components > moments.mean.size:
        rule = f"at most n_features={moments.mean.size}"
        raise ValueError(message(f"n_components={n_components}", rule, remedy="Lower n_components."))
    with single_threaded_blas():
        found = moments_spectrum(moments, n_components)
    return _components(found, "covariance", moments.count)


@part("principal_components")
def principal_components_of_factor(factor: CentredFactor, n_components: int | float) -> PrincipalComponents:
    """Find the directions of largest variance of rows of which the triangular factor is known.

    Parameters
    ----------
    factor : CentredFactor
    n_components : int in [1, min(n_samples, n_features)] or float in (0, 1)
        As for `principal_components`.

    Returns
    -------
    PrincipalComponents
    """
    with single_threaded_blas():
        found = factor_spectrum(factor.factor, factor.mean, n_components)
    return _components(found, "svd", factor.count)


def principal_components_in_basis(
    factor: CentredFactor, n_components: int, *, basis: Float64Array, mean: Float64Array, squared_norm: float
) -> PrincipalComponents:
    """Find the directions of largest variance among those of a basis that nearly holds them.

    Parameters
    ----------
    factor : CentredFactor
        Of the coordinates of the centred rows in the basis.
    n_components : int
    basis : ndarray of shape (n_features, n_vectors), float64
        Orthonormal columns.
    mean : ndarray of shape (n_features,), float64
        Of the rows.
    squared_norm : float
        Sum of all squared entries of the centred rows.

    Returns
    -------
    PrincipalComponents
    """
    with single_threaded_blas():
        inside = factor_spectrum(factor.factor, factor.mean, n_components)
        directions = product(inside.components, basis.T)
    found = Spectrum(mean, directions, inside.singular_values, squared_norm)
    return _components(found, "randomized", factor.count)


def _of_weighted_rows(plain: PrincipalComponents, mean: Float64Array, total: float) -> PrincipalComponents:
    """Return the components of weighted rows, given those of the plain table that stands for them."""
    divisor = total - 1.0 if total > 1.0 else 1.0
    variances = plain.total_variance * max(plain.n_samples - 1, 1)
    return replace(
        plain,
        mean=mean,
        explained_variance=plain.singular_values**2 / divisor,
        total_variance=variances / divisor,
        n_samples=max(round(total), 1),
    )


def _is_inaccurate(X: Any, singular_values: Float64Array) -> bool:
    """Return whether a small table of double has components that need its singular value decomposition."""
    if not isinstance(X, np.ndarray) or X.dtype != np.float64 or X.size * min(X.shape) > LARGEST_SVD:
        return False
    with np.errstate(over="ignore"):  # refused later
        return bool(singular_values[-1] ** 2 < _ACCURATE_SHARE * singular_values[0] ** 2)


def _components(found: Spectrum, solver: str, n_samples: int) -> PrincipalComponents:
    if not np.isfinite(found.squared_norm):
        power = math.floor(math.log10(max(float(found.singular_values[0]), 1.0)))
        fact = f"the largest singular value is {found.singular_values[0]:.3g}"
        raise ValueError(message("X", "of finite variances", fact=fact, remedy=f"Pass X * 1e-{power}."))
    divisor = max(n_samples - 1, 1)
    return PrincipalComponents(
        mean=found.mean,
        components=np.ascontiguousarray(with_signs(found.components.T).T),
        explained_variance=found.singular_values**2 / divisor,
        total_variance=found.squared_norm / divisor,
        singular_values=found.singular_values,
        solver=solver,
        n_samples=n_samples,
    )


def _solve(X: Any, n_components: Any, solver: str, seed: int) -> Spectrum:
    dense = isinstance(X, np.ndarray)
    if solver == "randomized":
        return randomized_spectrum(X, n_components, seed=seed)
    if solver == "svd":
        return svd_spectrum(X, n_components)
    if solver == "gram":
        if dense:
            return gram_spectrum(X, n_components, seed=seed)
        return sparse_gram_spectrum(X, n_components, seed=seed)
    require_scatter_memory(X.shape[1])
    spectrum = covariance_spectrum if dense else sparse_covariance_spectrum
    return spectrum(X, n_components)
