"""Density kept by a map: the parameter of the methods that can, and the radii they report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import Either, Instance, Nothing, Real, Rule, message
from gnomon.objectives import AddedTerms, DensityCorrelation

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel
    from gnomon.methods.neighbor.base import Inputs, NeighborEmbedder

__all__ = ["DENSITY", "density_terms", "keep_radii", "repeat_radii"]

DENSITY: Rule = Either(Real(0.0), Instance((dict,), "a dict of weight, begins and variance_shift"), Nothing())
_OPTIONS = ("weight", "begins", "variance_shift")
_LEARNED = ("radii_", "map_radii_", "density_correlation_")


def density_terms(
    who: str,
    density: float | dict[str, Any] | None,
    affinities: Affinities,
    kernel: OutputKernel,
    inputs: Inputs,
    *,
    always: bool = False,
) -> tuple[DensityCorrelation, ...]:
    """Return the term that a parameter ``density`` asks for, in a tuple.

    The tuple is empty if it asks for none; with `always` a term without weight is made, for its radii.
    """
    options = dict(density) if isinstance(density, dict) else {"weight": density}
    if density is None or (options.get("weight") == 0 and not always):
        return ()
    if not set(options) <= set(_OPTIONS):
        rule = f"a number or a dict of some of {', '.join(_OPTIONS)}"
        raise ValueError(message(who, f"density={density!r}", rule))
    if inputs.graph is None:
        fact = "no distances of neighbours are computed for affinities that are given"
        raise ValueError(message(who, f"density={density!r}", "None here", fact=fact))
    return (DensityCorrelation.from_neighbors(affinities, inputs.graph, kernel, **options, n_threads=inputs.n_threads),)


def keep_radii(estimator: NeighborEmbedder, objective: object, Y: npt.NDArray[Any]) -> None:
    """Set ``radii_``, ``map_radii_`` and ``density_correlation_`` if the objective kept density, else remove them."""
    _forget(estimator)
    added = getattr(objective, "added", None)
    for term in added.terms if isinstance(added, AddedTerms) else ():
        if isinstance(term, DensityCorrelation):
            _set_radii(estimator, term.radii, term.map_radii(Y))


def repeat_radii(estimator: NeighborEmbedder, copies: npt.NDArray[np.intp] | None) -> None:
    """Give rows that are equal the radii of the one that was mapped; one row alone has none."""
    if estimator._one_place:
        _forget(estimator)
    if copies is not None and hasattr(estimator, "radii_"):
        _set_radii(estimator, estimator.radii_[copies], estimator.map_radii_[copies])


def _forget(estimator: Any) -> None:
    for name in _LEARNED:
        if hasattr(estimator, name):
            delattr(estimator, name)


def _set_radii(estimator: Any, radii: npt.NDArray[np.float64], map_radii: npt.NDArray[np.float64]) -> None:
    estimator.radii_, estimator.map_radii_ = radii, map_radii
    estimator.density_correlation_ = _correlation(radii, map_radii)


def _correlation(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> float:
    """Return Pearson's correlation over rows with both numbers; nan where one does not vary."""
    known = ~(np.isnan(first) | np.isnan(second))
    if not known.any():
        return float("nan")
    a, b = first[known] - first[known].mean(), second[known] - second[known].mean()
    size = float(np.sqrt(np.square(a).sum() * np.square(b).sum()))
    return float((a * b).sum()) / size if size > 0 else float("nan")
