"""Rules of parameters that several methods share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gnomon._validation import Either, Instance, Options

__all__ = ["INIT", "METRIC"]

INIT = Either(
    Options("pca", "spectral", "random"),
    Instance((np.ndarray, list, tuple), "an array of shape (n_samples, n_components)"),
)
METRIC = Instance((str, Callable), "the name of a metric or a callable")  # type: ignore[arg-type]
