"""Errors and warnings of gnomon; each warning says in its docstring when it occurs."""

from __future__ import annotations

__all__ = [
    "ConvergenceWarning",
    "CostWarning",
    "DataWarning",
    "DependencyWarning",
    "GnomonWarning",
    "MissingDependencyError",
    "NeighborsWarning",
    "PrecisionWarning",
    "SupervisionWarning",
]


class MissingDependencyError(ImportError):
    """An optional package is needed and cannot be imported; the text names it and how to install it."""


class GnomonWarning(UserWarning):
    """Base class of all warnings of gnomon."""


class DataWarning(GnomonWarning):
    """The data hold something that a stated rule handles: constant columns, identical rows, zero rows under cosine."""


class NeighborsWarning(GnomonWarning):
    """The neighbour graph differs from what was asked: fewer neighbours than requested, recall below the target."""


class PrecisionWarning(GnomonWarning):
    """Differences in the data are below the working precision."""


class ConvergenceWarning(GnomonWarning):
    """A budget ended before the stopping rule held, or a loss has no minimum; a stated fall-back was used."""


class SupervisionWarning(GnomonWarning):
    """The target y is not used by this method, or it is used and does not go with the data, as shuffled labels."""


class CostWarning(GnomonWarning):
    """A choice makes the computation long: a metric that is a Python function, called for each of many pairs."""


class DependencyWarning(GnomonWarning):
    """An optional package is older than those that gnomon is tested with."""
