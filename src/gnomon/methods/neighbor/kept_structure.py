"""Density and spreads along tangent directions that a map keeps: the parameters of the methods that can."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon import geometry, objectives
from gnomon._validation import Either, Instance, Nothing, Real, Rule, message
from gnomon.affinities import fuzzy_simplicial_set
from gnomon.linalg.table import evenly_spaced
from gnomon.methods.parameters import term_options

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.geometry import TangentFrames
    from gnomon.kernels import OutputKernel
    from gnomon.methods.neighbor.base import Inputs

__all__ = ["DENSITY", "FRAMES", "density_terms", "frame_terms", "median_dimension", "unknown_radii"]

DENSITY: Rule = Either(Real(0.0), Instance((dict,), "a dict of weight, begins and variance_shift"), Nothing())
FRAMES: Rule = Either(Real(0.0), Instance((dict,), "a dict of weight, begins, every and variance_shift"), Nothing())
_MEDIAN_ROWS = 512  # rows whose dimensions are looked at to choose the number of directions


def density_terms(
    density: float | dict[str, Any] | None,
    affinities: Affinities,
    kernel: OutputKernel,
    inputs: Inputs,
    *,
    always: bool = False,
) -> tuple[objectives.DensityCorrelation, ...]:
    """Return the term that a parameter ``density`` asks for, in a tuple.

    The tuple is empty if it asks for none; with `always` a term without weight is made, for what it learns.
    """
    options = term_options("density", density, objectives.DensityCorrelation.rules, always=always)
    if options is None:
        return ()
    if inputs.graph is None:
        fact = "no distances of neighbours are computed for affinities that are given"
        raise ValueError(message(f"density={density!r}", "None here", fact=fact))
    return (objectives.DensityCorrelation.from_neighbors(affinities, inputs.graph, kernel, **options),)


def unknown_radii(n_rows: int) -> dict[str, Any]:
    """Return what a term of density learns of a map in which all rows are equal."""
    unknown = np.full(n_rows, np.nan)
    return {"radii_": unknown, "map_radii_": unknown, "density_correlation_": float("nan")}


def _fit_frames(inputs: Inputs, n_components: int, *, metric: object, variance_share: float = 0.9) -> TangentFrames:
    """Return the tangent frames of the rows, neighbours weighted by their memberships.

    A frame has as many directions as the median of some rows needs for its share of the variance, and n_components at
    least if there are so many.
    """
    if isinstance(metric, str) and metric == "precomputed":
        fact = "tangent directions are combinations of features"
        raise ValueError(message("metric='precomputed'", "a metric of rows with features", fact=fact))
    graph = inputs.neighbors
    memberships = fuzzy_simplicial_set(graph).matrix
    rows = np.repeat(np.arange(graph.n_samples), graph.n_neighbors)
    weights = np.asarray(memberships[rows, graph.indices.ravel()], dtype=np.float32).reshape(graph.indices.shape)
    given: dict[str, Any] = {"weights": weights, "variance_share": variance_share}
    n = graph.n_samples
    some = evenly_spaced(n, _MEDIAN_ROWS)
    dimension = geometry.tangent_frames(inputs.X, graph, rows=some, n_components=1, **given).dimension
    most = min(graph.n_neighbors, int(inputs.X.shape[1]))
    wanted = min(max(n_components, median_dimension(dimension)), most)
    return geometry.tangent_frames(inputs.X, graph, n_components=wanted, **given)


def median_dimension(dimension: npt.NDArray[np.int32]) -> int:
    """Return the median of the dimensions above 0, halves rounded up; 0 if there are none."""
    known = dimension[dimension > 0]
    return int(np.floor(np.median(known) + 0.5)) if len(known) else 0


def frame_terms(
    frames: float | dict[str, Any] | None,
    affinities: Affinities,
    kernel: OutputKernel,
    inputs: Inputs,
    parameters: dict[str, Any],
    *,
    variance_share: float = 0.9,
    always: bool = False,
) -> tuple[objectives.FrameCorrelation, ...]:
    """Return the term that a parameter ``frames`` asks for, in a tuple.

    The tuple is empty if it asks for none; with `always` a term without weight is made, for what it learns.
    """
    options = term_options("frames", frames, objectives.FrameCorrelation.rules, always=always)
    if options is None:
        return ()
    if inputs.graph is None:
        fact = "no neighbours are found for affinities that are given"
        raise ValueError(message(f"frames={frames!r}", "None here", fact=fact))
    n_components: int = parameters["n_components"]
    tangent = _fit_frames(inputs, n_components, metric=parameters["metric"], variance_share=variance_share)
    return (objectives.FrameCorrelation.following(affinities, tangent, kernel, n_components=n_components, **options),)
