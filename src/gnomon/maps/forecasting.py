"""What a map will take, told before it is begun."""

from __future__ import annotations

import numbers
from typing import Any

from gnomon._entrance import entrance
from gnomon._validation import Integer, check_parameters, message
from gnomon.maps.make import make_estimator
from gnomon.methods.base import Embedder
from gnomon.methods.forecast import Forecast

__all__ = ["forecast"]


@entrance("forecast")
def forecast(X: Any, method: str | Embedder = "umap", **parameters: Any) -> Forecast:
    """Tell what a fit would take, without beginning it.

    The figures are counts of the arrays that each stage holds, fitted to what fresh processes took: within a fifth of
    the peak for dense tables near a subspace of few dimensions in Euclidean distance
    (``python -m benchmarks.forecast``), down to three quarters of it for others. Equal rows take less, since they are
    mapped once.

    Parameters
    ----------
    X : (int, int), ndarray, sparse matrix or DataFrame of shape (n_samples, n_features)
        The table, of which nothing but the shape is read, or its shape: ``(1_000_000, 50)``.
    method : str or estimator, default="umap"
        A name that ``gnomon methods`` lists, or one of our estimators.
    **parameters
        Parameters of the method, such as ``n_neighbors=30``; an estimator has its own.

    Returns
    -------
    Forecast
        ``n_bytes`` at the peak, beyond the table and the libraries that are loaded, and ``stages``, those of each.

    Raises
    ------
    ValueError
        If X has no shape of a table, a parameter is refused, or the method does not tell what it takes.
    TypeError
        If the method is not one of ours.

    Examples
    --------
    >>> import gnomon
    >>> expected = gnomon.forecast((1_000_000, 50), method="umap")
    >>> expected.n_bytes < 4e9
    True
    """
    n_samples, n_features = _shape(X)
    estimator = make_estimator(method, None, parameters)
    if not isinstance(estimator, Embedder):
        remedy = "Give a name that `gnomon methods` lists."
        raise TypeError(message(f"method={estimator!r:.60}", "one of gnomon's methods", remedy=remedy))
    if parameters and not isinstance(method, str):
        rule, remedy = "left out where method is an estimator", "Give them to the estimator."
        raise ValueError(message(", ".join(parameters), rule, remedy=remedy))
    found = estimator.foresee(n_samples, n_features)
    if found is None:
        fact = "its memory has not been measured"
        raise ValueError(message(f"method={method!r:.60}", "one that tells what it takes", fact=fact))
    return found


def _shape(X: Any) -> tuple[int, float]:
    """Return the rows of a table and the numbers stored for each, of a table or a shape."""
    if isinstance(X, tuple) and all(isinstance(size, numbers.Integral) for size in X):
        shape = X
    else:
        shape = getattr(X, "shape", None) or ()
    if len(shape) != 2:
        fact = f"a shape of {len(shape)} numbers" if shape else type(X).__name__
        raise ValueError(message("X", "a table or its shape, (n_samples, n_features)", fact=fact))
    named = dict(zip(("n_samples", "n_features"), map(int, shape), strict=True))
    check_parameters({"n_samples": Integer(2), "n_features": Integer(1)}, named)
    stored = getattr(X, "nnz", None)  # of a sparse matrix
    return named["n_samples"], float(named["n_features"] if stored is None else stored / named["n_samples"])
