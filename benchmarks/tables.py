"""The tables that maps are made of: bundled, from GNOMON_DATA, or any .npz file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["Labels", "is_there", "load_table"]

Labels = npt.NDArray[np.integer] | None


def _read_npz(path: Path) -> tuple[npt.NDArray[np.float32], Labels]:
    with np.load(path) as archive:
        if "X" in archive:
            X = archive["X"]
        else:  # the parts of a CSR matrix
            parts = (archive["data"], archive["indices"], archive["indptr"])
            X = sp.csr_array(parts, shape=tuple(archive["shape"])).toarray()
        return X.astype(np.float32), archive.get("y")


def _path(name: str) -> Path:
    return Path(name) if name.endswith(".npz") else Path(os.environ.get("GNOMON_DATA", "."), f"{name}.npz")


def is_there(name: str) -> bool:
    """Whether there is a table of this name, as `load_table` takes it."""
    return name == "digits" or _path(name).is_file()


def load_table(name: str, rows: int | None = None, pca: int | None = None) -> tuple[npt.NDArray[np.float32], Labels]:
    """Read a table.

    Parameters
    ----------
    name : str
        "digits" (comes with scikit-learn); a path of an .npz file with ``X`` (or a CSR matrix's ``data``, ``indices``,
        ``indptr``, ``shape``) and, if there are labels, ``y``; or the name of such a file in the folder GNOMON_DATA.
    rows : int, default=None
        Take a fixed random sample of so many rows.
    pca : int, default=None
        Reduce the table to so many principal components first.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float32, C-contiguous
    labels : ndarray of shape (n_samples,) or None
    """
    if name == "digits":
        from sklearn.datasets import load_digits

        X, labels = load_digits(return_X_y=True)
        X = X.astype(np.float32)
    else:
        path = _path(name)
        if not path.is_file():
            raise FileNotFoundError(f"no file {path}. Set GNOMON_DATA to the folder that holds {path.name}.")
        X, labels = _read_npz(path)
    if rows is not None and rows < len(X):
        chosen = np.sort(np.random.default_rng(0).choice(len(X), size=rows, replace=False))
        X, labels = X[chosen], None if labels is None else labels[chosen]
    if pca is not None and pca < min(X.shape):
        from sklearn.decomposition import PCA

        X = PCA(n_components=pca, svd_solver="covariance_eigh").fit_transform(X)
    return np.ascontiguousarray(X, dtype=np.float32), labels
