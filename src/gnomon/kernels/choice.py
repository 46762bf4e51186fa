"""From the name of an input kernel to the kernel, its scale taken from the data where none is given."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._validation import message
from gnomon.kernels.inputs import (
    CauchyInput,
    CosineInput,
    CustomInput,
    GaussianInput,
    InputKernel,
    LaplacianInput,
    LinearInput,
    PolynomialInput,
    SketchMapInput,
    UMAPInput,
    squared_distances,
)

__all__ = ["INPUT_KERNELS", "input_kernel", "median_distance"]

_OF_PRODUCTS = (LinearInput, PolynomialInput, CosineInput)
_OF_DISTANCES = (GaussianInput, LaplacianInput, CauchyInput, SketchMapInput, UMAPInput)
_KERNELS: dict[str, Any] = {one.name: one for one in (*_OF_PRODUCTS, *_OF_DISTANCES)}
INPUT_KERNELS = tuple(_KERNELS)
"""Names of the kernels that come with gnomon."""

_SAMPLE = 1000  # rows whose distances give the scale


def median_distance(X: Any, weights: npt.NDArray[np.float64] | None = None) -> float:
    """Return the median Euclidean distance of different rows, among at most 1000 evenly spaced ones; 1 without any.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
    weights : ndarray of shape (n_samples,) or None, default=None
        How many rows each stands for: a pair counts as the product of both.
    """
    rows = np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], _SAMPLE)).astype(np.intp))
    sample = X[rows]
    if isinstance(sample, np.ndarray):
        sample = sample - sample.mean(axis=0)
    squared = squared_distances(sample, sample)[np.triu_indices(len(rows), 1)]
    apart = squared > 0.0
    positive = squared[apart]
    if not positive.size:
        return 1.0
    if weights is None:
        return float(np.sqrt(np.median(positive)))
    counts = np.outer(weights[rows], weights[rows])[np.triu_indices(len(rows), 1)][apart]
    order = np.argsort(positive, kind="stable")
    reached = np.cumsum(counts[order])
    middle = [np.searchsorted(reached, reached[-1] / 2, side=side) for side in ("left", "right")]
    return float(np.sqrt(np.mean(positive[order][np.minimum(middle, len(order) - 1)])))


@part("input_kernel")
def input_kernel(
    kernel: Any,
    X: Any,
    *,
    parameters: Mapping[str, Any] | None = None,
    weights: npt.NDArray[np.float64] | None = None,
) -> InputKernel:
    """Resolve a name or a callable to an input kernel.

    Parameters
    ----------
    kernel : str, callable or InputKernel
        "linear", "polynomial", "cosine", "gaussian", "laplacian", "cauchy", "sketch_map" or "umap". A callable takes
        rows A and B to the (len(A), len(B)) similarities.
    X : ndarray or CSR of shape (n_samples, n_features), float64
        Gives the last five their sigma where none is given: the median distance of rows.
    parameters : mapping of str, default=None
        Of the kernel: ``sigma`` for those five, with ``exponent`` for "cauchy", ``a`` and ``b`` for "sketch_map" and
        "umap"; ``coefficients``, ``scale`` and ``center`` for "polynomial"; ``center`` for "cosine".
    weights : ndarray of shape (n_samples,) or None, default=None
        How many rows each stands for, in the median distance.

    Returns
    -------
    InputKernel
    """
    given = {} if parameters is None else dict(parameters)
    if isinstance(kernel, str) and kernel in _KERNELS:
        cls = _KERNELS[kernel]
        known = tuple(field.name for field in dataclasses.fields(cls))
        unknown = sorted(set(given) - set(known))
        if unknown:
            rule = f"among {', '.join(known)}" if known else "left out: this kernel has none"
            raise ValueError(message(f"parameters {', '.join(unknown)} of kernel={kernel!r}", rule))
        if "sigma" in known and given.get("sigma") is None:
            given["sigma"] = median_distance(X, weights)
        return cls(**given)  # type: ignore[no-any-return]
    if given:
        raise ValueError(message("parameters", "left out unless kernel is a name"))
    if hasattr(kernel, "block") and hasattr(kernel, "diagonal"):
        return kernel  # type: ignore[no-any-return]
    if callable(kernel):
        return CustomInput(kernel)
    rule = "one of " + ", ".join(map(repr, INPUT_KERNELS)) + " or a callable"
    if isinstance(kernel, str):
        raise ValueError(message(f"kernel={kernel!r}", rule))
    raise TypeError(message(f"kernel={kernel!r}", rule, fact=f"found {type(kernel).__name__}"))
