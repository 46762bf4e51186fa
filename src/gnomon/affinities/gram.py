"""Symmetric similarities as operators: of a table, a factor, a matrix or an input kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._cached import cached_property
from gnomon._entrance import entrance, part
from gnomon._threads import single_threaded_blas
from gnomon._validation import Options, check_parameters, message
from gnomon.affinities.gram_kernels import KernelSource, TriangleSource, symmetric_matrix
from gnomon.affinities.gram_sources import (
    CentredSource,
    FactorSource,
    Float64Array,
    MatrixSource,
    Rows,
    Source,
    eigenpairs_memory,
    symmetrized,
)
from gnomon.kernels import InputKernel, input_kernel
from gnomon.linalg import (
    Eigenpairs,
    LowRank,
    eigenpairs,
    nystrom,
    pivoted_cholesky,
    randomized_factor,
    spectral_bounds,
    symmetric_operator,
)

__all__ = ["Gram"]

_APPROXIMATIONS = {"method": Options("randomized", "nystrom", "cholesky")}
_LARGEST_MATRIX = 5000  # rows up to which the matrix of a kernel is kept: 200 MB
_LARGEST_TRIANGLE = 12_000  # rows up to which its upper half is kept: 576 MB


class Gram:
    """A symmetric similarity K of points as an operator.

    Products are in float64 and do not depend on the number of threads. K itself is formed only where it was given, or
    where it is the matrix of a kernel and small. Make one with `from_features`, `from_kernel`, `from_matrix` or
    `from_factor`.

    Attributes
    ----------
    n_samples : int
        Order of K.
    kind : str
        "linear", "matrix", "factor" or the name of a kernel.
    semidefinite : bool or None
        Whether K is known to be positive semidefinite; None where that is not known.
    stored : bool
        Whether the entries of K are held.
    kernel : InputKernel or None
        The kernel, its scale included, if there is one.
    how, given : str, dict
        Of what it is made, from which a file makes it again.
    """

    def __init__(self, how: str, given: dict[str, Any]) -> None:
        if how not in _SOURCES:
            raise ValueError(message(f"how={how!r}", f"one of {', '.join(_SOURCES)}"))
        self.how = how
        self.given = given

    def __repr__(self) -> str:
        return f"<Gram of {self.n_samples:,} rows, {self.kind if self.kernel is None else self.kernel}>"

    @classmethod
    def _made(cls, how: str, **given: Any) -> Gram:
        gram = cls(how, given)
        gram._source  # noqa: B018 - what is wrong with the arguments is said now
        return gram

    @cached_property
    def _source(self) -> Source:
        return _SOURCES[self.how](**self.given)

    @property
    def kernel(self) -> Any:
        """The kernel, its scale included, if there is one."""
        return self.given["gram"].kernel if self.how == "centred" else self.given.get("kernel")

    @property
    def kind(self) -> str:
        """What the similarities are: "linear", "matrix", "factor" or the name of a kernel."""
        if self.how == "centred":
            found: str = self.given["gram"].kind
            return found
        return str(self.given["kernel"].name) if self.how == "kernel" else self.how

    @classmethod
    def from_features(cls, X: Any) -> Gram:
        """Make the Gram matrix X X' of inner products, of which only X is held.

        Parameters
        ----------
        X : ndarray or CSR of shape (n_samples, n_features)
            Finite. Dense tables are centred in float64, which takes one copy; CSR is never densified.
        """
        return cls._made("linear", X=X)

    @classmethod
    @entrance("Gram")
    def from_factor(cls, factor: npt.ArrayLike | LowRank) -> Gram:
        """Make B B' of a factor B of shape (n_samples, rank) or a `LowRank`."""
        B = factor.B if isinstance(factor, LowRank) else np.asarray(factor, dtype=np.float64)
        if B.ndim != 2:
            raise ValueError(message(f"a factor of shape {B.shape}", "of shape (n_samples, rank)"))
        return cls._made("factor", B=B)

    @classmethod
    @part("Gram")
    def from_matrix(cls, K: Any) -> Gram:
        """Take a similarity matrix, dense or sparse, of any signature.

        Parameters
        ----------
        K : array-like or sparse matrix of shape (n_samples, n_samples)
            Finite and symmetric up to rounding. Sparse matrices stay sparse.

        Raises
        ------
        ValueError
            If K is not square, finite and symmetric; the text says where.
        """
        return cls._made("matrix", K=symmetrized(K))

    @classmethod
    @part("Gram")
    def from_kernel(
        cls, kernel: Any, X: Any, *, parameters: Mapping[str, Any] | None = None, stored: bool | None = None
    ) -> Gram:
        """Make the Gram matrix of an input kernel.

        Parameters
        ----------
        kernel : str, callable or InputKernel
            "linear", "polynomial", "cosine", "gaussian", "laplacian", "cauchy", "sketch_map", "umap", or a callable
            that takes rows A and B to their (len(A), len(B)) similarities.
        X : ndarray or CSR of shape (n_samples, n_features)
            Finite.
        parameters : mapping of str, default=None
            Of the kernel, such as ``{"sigma": 2.0}``; a sigma that is not given is the median distance of rows.
        stored : bool or None, default=None
            Keep the similarities instead of evaluating the kernel in each product: all of them up to 5000 rows, above
            one half, since the matrix is symmetric. None keeps them up to 12 000 rows, in 576 MB. Products differ by
            rounding.
        """
        found = input_kernel(kernel, X, parameters=parameters)
        if found.name == "linear":
            return cls._made("linear", X=X, kernel=found)
        return cls._made("kernel", kernel=found, X=X, stored=stored)

    @staticmethod
    def bytes_kept(n_samples: int) -> float:
        """Return the bytes of the similarities that `from_kernel` keeps: all, one half, or none of many rows."""
        if n_samples > _LARGEST_TRIANGLE:
            return 0.0
        return (8.0 if n_samples <= _LARGEST_MATRIX else 4.0) * float(n_samples) ** 2

    @staticmethod
    def bytes_of_eigenpairs(n_samples: int, n_features: float, *, dense: bool = True) -> float:
        """Return the bytes that `leading_eigenpairs` of the inner products of a table takes beyond the centred table.

        Parameters
        ----------
        n_samples, n_features : int, float
            Shape of the table; of a sparse one the numbers stored for a row.
        dense : bool, default=True
            Whether the table is not sparse.
        """
        return eigenpairs_memory(n_samples, n_features, dense=dense)

    def centred(self) -> Gram:
        """Return H K H as a Gram matrix, where H subtracts the mean.

        An approximation of it spends no column on the mean. It takes one product with K, none if K is linear.
        """
        return Gram._made("centred", gram=self)

    @property
    def n_samples(self) -> int:
        """Order of K."""
        return self._source.n_samples

    @property
    def semidefinite(self) -> bool | None:
        """Whether K is known to be positive semidefinite."""
        return self._source.semidefinite

    @property
    def stored(self) -> bool:
        """Whether the entries of K are held, all or one half; False of what `centred` returns."""
        return isinstance(self._source, MatrixSource | TriangleSource)

    def _columns(self, Y: npt.ArrayLike) -> Float64Array:
        columns = np.ascontiguousarray(Y, dtype=np.float64)
        if columns.ndim != 2 or columns.shape[0] != self.n_samples:
            rule = f"of shape (n_samples={self.n_samples}, n_columns)"
            raise ValueError(message(f"Y of shape {columns.shape}", rule))
        return columns

    @part("Gram")
    def matvec(self, Y: npt.ArrayLike) -> Float64Array:
        """Return K Y, float64, for Y of shape (n_samples, n_columns)."""
        with single_threaded_blas():
            return self._source.matvec(self._columns(Y))

    @part("Gram")
    def centred_matvec(self, Y: npt.ArrayLike) -> Float64Array:
        """Return H K H Y, where H subtracts the mean over the points."""
        with single_threaded_blas():
            return self._source.centred_matvec(self._columns(Y))

    @part("Gram")
    def block(self, rows: Rows, columns: Rows) -> Float64Array:
        """Return the entries in the given rows and columns; None stands for all."""
        with single_threaded_blas():
            return self._source.block(rows, columns)

    def diagonal(self) -> Float64Array:
        """Return the diagonal of K, of shape (n_samples,)."""
        with single_threaded_blas():
            return self._source.diagonal()

    def dense(self) -> Float64Array:
        """Return K as a new matrix, exactly symmetric; it takes 8 n_samples^2 bytes."""
        K = np.array(self.block(None, None))
        lower = np.tril_indices(self.n_samples, -1)
        K.T[lower] = K[lower]
        return K

    @cached_property
    def centred_squared_norm(self) -> float:
        """Sum of the squared entries of H K H."""
        with single_threaded_blas():
            return self._source.centred_squared_norm()

    @cached_property
    def centred_bounds(self) -> tuple[float, float]:
        """Lowest and highest eigenvalue of H K H, found by Lanczos steps and moved outwards by 1 % or more."""
        lowest, highest = spectral_bounds(self.centred_matvec, self.n_samples)
        return (0.0 if self.semidefinite else min(lowest, 0.0)), max(highest, 0.0)

    @entrance("Gram.leading_eigenpairs")
    def leading_eigenpairs(self, n_vectors: int, *, seed: int = 0) -> Eigenpairs:
        """Return the algebraically largest eigenvalues of H K H with their vectors.

        Parameters
        ----------
        n_vectors : int in [1, n_samples]
            Number of pairs.
        seed : int in [0, 2**63), default=0
            Of the random start, where they are found by iteration.
        """
        with single_threaded_blas():
            found = self._source.leading_eigenpairs(n_vectors)
        if found is not None:
            return found
        operator = symmetric_operator(self.centred_matvec, self.n_samples)
        return eigenpairs(operator, n_vectors, which="largest", seed=seed)

    @entrance("Gram")
    def approximate(self, method: str = "randomized", *, rank: int, seed: int = 0, **options: Any) -> LowRank:
        """Approximate K by a factor.

        Parameters
        ----------
        method : {"randomized", "nystrom", "cholesky"}, default="randomized"
            "randomized": products with random vectors; the most accurate, and the only one for an indefinite K, of
            which it keeps the positive part. "nystrom" and "cholesky" read `rank` columns of a semidefinite K.
        rank : int in [1, n_samples]
            Columns of the factor.
        seed : int in [0, 2**63), default=0
            Of the random numbers.
        **options
            Of `gnomon.linalg.randomized_factor`, `nystrom` or `pivoted_cholesky`, such as ``landmarks="k-means++"`` or
            ``pivots="greedy"``.

        Returns
        -------
        LowRank
            Make a Gram matrix of it by `from_factor`.
        """
        check_parameters(_APPROXIMATIONS, {"method": method})
        if method == "nystrom":
            return nystrom(self, rank, seed=seed, **options)
        if method == "cholesky":
            return pivoted_cholesky(self, rank, seed=seed, **options)
        known = bool(self.semidefinite)
        return randomized_factor(self, rank, semidefinite=known, seed=seed, **options)


def _kernel_source(kernel: InputKernel, X: Any, stored: bool | None) -> Source:
    source = KernelSource(kernel, X)
    n = source.n_samples
    if not (n <= _LARGEST_TRIANGLE if stored is None else stored):
        return source
    with single_threaded_blas():
        if n > _LARGEST_MATRIX:
            return TriangleSource(source)
        return MatrixSource(symmetric_matrix(source), semidefinite=source.semidefinite)


def _centred_source(gram: Gram) -> Source:
    source = gram._source
    if isinstance(source, FactorSource):
        return source.centred()
    with single_threaded_blas():
        return CentredSource(source)


_SOURCES: dict[str, Callable[..., Source]] = {
    "linear": lambda X, kernel=None: FactorSource(X),
    "factor": FactorSource,
    "matrix": MatrixSource,
    "kernel": _kernel_source,
    "centred": _centred_source,
}
