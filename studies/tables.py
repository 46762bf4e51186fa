"""The data sets of the studies: fixed samples of rows, reduced to principal components where there are many columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.data import check_labels
from gnomon.datasets import load_dataset

__all__ = ["DATA_SETS", "load_rows"]

DATA_SETS = ("digits", "mnist", "paul15", "pbmc4k", "pbmc68k_reduced", "cifar10_sample", "swiss_roll")


def _swiss_roll(rows: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.str_]]:
    from sklearn.datasets import make_swiss_roll

    X, along = make_swiss_roll(rows, noise=0.05, random_state=0)
    return X, np.digitize(along, np.quantile(along, [0.25, 0.5, 0.75])).astype(str)


def load_rows(name: str, rows: int, columns: int = 50) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.str_]]:
    """Return at most so many rows of a data set and their labels.

    Parameters
    ----------
    name : str
        One of `DATA_SETS`, or any name that `gnomon.datasets.load_dataset` knows.
    rows : int
        Fixed random sample if there are more.
    columns : int, default=50
        Principal components to keep if there are more columns.

    Returns
    -------
    X : ndarray of shape (n_rows, n_columns), float32
    labels : ndarray of shape (n_rows,), str
    """
    if name == "swiss_roll":
        X, labels = _swiss_roll(rows)
        return X.astype(np.float32), labels
    data = load_dataset(name)
    values, n = data.X, data.X.shape[0]
    labels = check_labels(data.labels, n).astype(str)
    if rows < n:
        chosen = np.sort(np.random.default_rng(0).choice(n, rows, replace=False))
        values, labels = values[chosen], labels[chosen]
    X = np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
    X = X[:, X.std(axis=0) > 0]
    if columns < min(X.shape):
        from sklearn.decomposition import PCA

        X = PCA(columns, svd_solver="covariance_eigh").fit_transform(X)
    return np.ascontiguousarray(X, dtype=np.float32), labels
