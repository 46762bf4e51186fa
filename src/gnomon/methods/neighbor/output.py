"""What a neighbour embedding lies on: flat space, a sphere or the hyperbolic plane."""

from __future__ import annotations

from typing import Any

from gnomon._validation import Either, Nothing, Options, Real, Rule, message
from gnomon.surfaces import SURFACES, Surface, make_surface

__all__ = ["OUTPUT_METRIC", "OUTPUT_RADIUS", "output_surface"]


class _OutputMetric(Options):
    """The name of a metric of the map, in an error with that of umap-learn."""

    @property
    def text(self) -> str:
        """The rule in words."""
        return f"{super().text}; 'sphere' is what umap-learn calls 'haversine'"


OUTPUT_METRIC: Rule = _OutputMetric("euclidean", *SURFACES)
OUTPUT_RADIUS: Rule = Either(Real(0.0, low_open=True), Nothing())
_FLAT_TERMS = ("density", "frames", "start_spread")


def output_surface(parameters: dict[str, Any], n_samples: int, *, spread: float = 1.0) -> Surface | None:
    """Return what checked parameters want the map to lie on, None for flat space.

    Parameters
    ----------
    parameters : dict
        With output_metric, output_radius and n_components.
    n_samples : int
        Distinct rows, by which a radius of None is chosen.
    spread : float > 0, default=1.0
        Scale of the map, in which it is.

    Raises
    ------
    ValueError
        If another parameter is of flat maps, or a radius is given for one.
    """
    metric, radius = parameters["output_metric"], parameters["output_radius"]
    if metric == "euclidean":
        if radius is not None:
            rule, fact = "None for output_metric='euclidean'", "flat space has no radius"
            raise ValueError(message(f"output_radius={radius}", rule, fact=fact))
        return None
    given = f"output_metric={metric!r}"
    if parameters["n_components"] != 2:
        raise ValueError(message(f"n_components={parameters['n_components']}", f"2 for {given}", fact="a surface"))
    for name in _FLAT_TERMS:
        value = parameters.get(name)
        if value is not None and value != 0:
            raise ValueError(message(f"{name}={value!r}", f"None for {given}", fact="it is of flat maps"))
    return make_surface(metric, radius, n_samples, spread)
