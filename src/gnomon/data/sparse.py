"""Sparse input of any format becomes a canonical, private CSR matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._validation import message
from gnomon.data.arrays import refuse_kind, working_dtype

__all__ = ["canonical_csr", "check_csr"]


def _check_structure(matrix: Any) -> None:
    # A kernel trusts row offsets and column numbers, so a broken matrix must be refused before it is converted.
    if matrix.format not in ("csr", "csc", "bsr", "coo"):
        return
    try:
        if matrix.format == "coo":
            for axis, size in zip(matrix.coords, matrix.shape, strict=True):
                if axis.size and (axis.min() < 0 or axis.max() >= size):
                    raise ValueError(f"an index is outside the shape {matrix.shape}")
        else:
            matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(message("X", "a valid sparse matrix", fact=f"{matrix.format} format: {error}")) from error


def _small_indices(matrix: scipy.sparse.csr_array) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    fits = max(*matrix.shape, matrix.nnz) <= np.iinfo(np.int32).max
    dtype = np.int32 if fits else np.int64
    return matrix.indices.astype(dtype, copy=False), matrix.indptr.astype(dtype, copy=False)


def canonical_csr(
    X: Any, *, dtype: type[np.float32] | type[np.float64] | None = None, keep_zeros: bool = False
) -> scipy.sparse.csr_array:
    """Convert a sparse matrix or array into CSR with sorted, unique columns in every row.

    Parameters
    ----------
    X : SciPy sparse matrix or array of shape (n_samples, n_features)
        Any format; never written. Entries stored more than once are added up, as SciPy does.
    dtype : {float32, float64}, default=None
        Working precision; None chooses by the type of the values.
    keep_zeros : bool, default=False
        Keep explicitly stored zeros: in a matrix of distances they are distances of zero, while absent means unknown.
        In a table of features stored and absent zeros are the same.

    Returns
    -------
    csr_array
        Shares no memory with `X`; indices are int32 where they fit, else int64.
    """
    if X.ndim != 2:
        raise ValueError(
            message(
                "X",
                "two-dimensional",
                fact=f"Expected 2D array, got {X.ndim}D sparse array instead: shape={X.shape}",
                remedy="Reshape your data to one row per sample.",
            )
        )
    refuse_kind(np.empty(0, X.dtype))
    if X.dtype.kind == "O":
        raise TypeError(message("X", "a sparse matrix of numbers", fact="found dtype object"))
    _check_structure(X)
    target = working_dtype(X.dtype) if dtype is None else dtype
    # Convert before duplicates are added up: two 200 in uint8 make 400. Truth values add up to True first.
    with np.errstate(over="ignore"):  # what overflows is named by the check for finite values
        private = X.copy() if X.dtype.kind == "b" else X.astype(target)
        csr = private.tocsr()
        # A new object, so that flags such as "sorted" are found anew and not believed.
        matrix = scipy.sparse.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)
        matrix.sum_duplicates()
        matrix = matrix.astype(target)
    if not keep_zeros:
        matrix.eliminate_zeros()
    indices, indptr = _small_indices(matrix)
    return scipy.sparse.csr_array((matrix.data, indices, indptr), shape=matrix.shape)


def check_csr(
    indices: npt.NDArray[Any],
    indptr: npt.NDArray[Any],
    n_stored: int,
    n_rows: int,
    n_columns: int,
    *,
    ordered: bool = True,
) -> None:
    """Raise ValueError unless offsets and column numbers are those of a matrix, by default with ascending columns.

    Parameters
    ----------
    indices : ndarray of shape (n_stored,)
        Column numbers.
    indptr : ndarray of shape (n_rows + 1,)
        Row offsets.
    n_stored, n_rows, n_columns : int
        Sizes of the matrix.
    ordered : bool, default=True
        Whether the column numbers of a row must ascend.
    """
    if indptr.size != n_rows + 1 or indptr[0] != 0 or indptr[-1] != n_stored or bool((indptr[1:] < indptr[:-1]).any()):
        raise ValueError(f"the row offsets of X do not lead from 0 to {n_stored} in {n_rows} steps")
    if indices.size != n_stored:
        raise ValueError(f"X has {n_stored} values and {indices.size} column numbers")
    if n_stored and not (indices.min() >= 0 and indices.max() < n_columns):
        raise ValueError(f"a column number of X is outside of [0, {n_columns})")
    within = np.ones(n_stored, np.bool_)  # a row, behind its first entry
    within[indptr[indptr < n_stored]] = False
    if ordered and bool((within[1:] & (indices[1:] <= indices[:-1])).any()):
        raise ValueError("the column numbers of a row of X do not ascend")
