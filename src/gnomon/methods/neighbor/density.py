"""Density kept by a map: the parameter of the methods that can."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon._validation import Either, Instance, Nothing, Real, Rule, message
from gnomon.methods.parameters import term_options
from gnomon.objectives import DensityCorrelation

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel
    from gnomon.methods.neighbor.base import Inputs

__all__ = ["DENSITY", "density_terms"]

DENSITY: Rule = Either(Real(0.0), Instance((dict,), "a dict of weight, begins and variance_shift"), Nothing())


def density_terms(
    density: float | dict[str, Any] | None,
    affinities: Affinities,
    kernel: OutputKernel,
    inputs: Inputs,
    *,
    always: bool = False,
) -> tuple[DensityCorrelation, ...]:
    """Return the term that a parameter ``density`` asks for, in a tuple.

    The tuple is empty if it asks for none; with `always` a term without weight is made, for what it learns.
    """
    options = term_options("density", density, DensityCorrelation.rules, always=always)
    if options is None:
        return ()
    if inputs.graph is None:
        fact = "no distances of neighbours are computed for affinities that are given"
        raise ValueError(message(f"density={density!r}", "None here", fact=fact))
    return (DensityCorrelation.from_neighbors(affinities, inputs.graph, kernel, **options),)
