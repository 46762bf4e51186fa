"""The data sets of the studies: fixed samples of rows, reduced to principal components where there are many columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon.data import check_labels
from gnomon.datasets import load_dataset

__all__ = ["DATA_SETS", "REAL", "load_rows"]

DATA_SETS = ("digits", "mnist", "paul15", "pbmc4k", "pbmc68k_reduced", "cifar10_sample", "swiss_roll")
_MEASURED = ("breast_cancer", "wine")  # of scikit-learn, columns of unlike units
REAL = (*DATA_SETS[:-1], *_MEASURED, "iris")
"""Real tables: pictures, counts of genes in cells, measurements."""


def _swiss_roll(rows: int, seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.str_]]:
    from sklearn.datasets import make_swiss_roll

    X, along = make_swiss_roll(rows, noise=0.05, random_state=seed)
    return X, np.digitize(along, np.quantile(along, [0.25, 0.5, 0.75])).astype(str)


def _nested_clusters(rows: int, seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.str_]]:
    """Return six clusters of four each, in thirty columns."""
    rng = np.random.default_rng(seed)
    of_all = 12.0 * rng.normal(size=(6, 1, 30)) / np.sqrt(30.0)
    centres = of_all + 6.0 * rng.normal(size=(6, 4, 30)) / np.sqrt(30.0)
    kinds = rng.integers(24, size=rows)
    return centres.reshape(24, 30)[kinds] + rng.normal(size=(rows, 30)) * rng.uniform(0.5, 1.5, 24)[kinds, None], (
        kinds // 4
    ).astype(str)


def _photograph(rows: int, seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.str_]]:
    """Return squares of eight by eight pixels of a photograph in scikit-learn, and in which quarter of it each lies."""
    from sklearn.datasets import load_sample_image

    picture = load_sample_image("china.jpg").astype(np.float64) / 255.0
    height, width = picture.shape[0] - 7, picture.shape[1] - 7
    chosen = np.random.default_rng(seed).choice(height * width, rows, replace=False)
    row, column = np.divmod(np.sort(chosen), width)
    squares = np.lib.stride_tricks.sliding_window_view(picture, (8, 8), axis=(0, 1))[row, column]
    quarter = 2 * (row >= height // 2) + (column >= width // 2)
    return squares.reshape(rows, -1), quarter.astype(str)


_MADE = {"swiss_roll": _swiss_roll, "nested_clusters": _nested_clusters, "photograph": _photograph}


def _measurements(name: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.str_]]:
    """Return a table of scikit-learn with every column in units of its standard deviation."""
    import sklearn.datasets

    found = getattr(sklearn.datasets, f"load_{name}")()
    X = (found.data - found.data.mean(axis=0)) / found.data.std(axis=0)
    return X, found.target_names[found.target].astype(str)


def load_rows(
    name: str, rows: int, columns: int = 50, seed: int = 0
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.str_]]:
    """Return at most so many rows of a data set and their labels.

    Parameters
    ----------
    name : str
        One of `DATA_SETS` or `REAL`, "nested_clusters", "photograph", or any name that `gnomon.datasets.load_dataset`
        knows.
    rows : int
        Random sample if there are more.
    columns : int, default=50
        Principal components to keep if there are more columns.
    seed : int, default=0
        Of the sample, and of what is made.

    Returns
    -------
    X : ndarray of shape (n_rows, n_columns), float32
    labels : ndarray of shape (n_rows,), str
    """
    if name in _MADE:
        values, labels = _MADE[name](rows, seed)
    elif name in _MEASURED:
        values, labels = _measurements(name)
    else:
        data = load_dataset(name)
        values, labels = data.X, check_labels(data.labels, data.X.shape[0]).astype(str)
    n = values.shape[0]
    if rows < n:
        chosen = np.sort(np.random.default_rng(seed).choice(n, rows, replace=False))
        values, labels = values[chosen], labels[chosen]
    X = np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
    X = X[:, X.std(axis=0) > 0]
    if columns < min(X.shape):
        from sklearn.decomposition import PCA

        X = PCA(columns, svd_solver="covariance_eigh").fit_transform(X)
    return np.ascontiguousarray(X, dtype=np.float32), labels
