"""Which parameters of a method are tried: the usual values of a few, or those that were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gnomon.comparison.trials import Request

__all__ = ["SEARCHED", "lines_of", "with_value"]

SEARCHED: dict[str, dict[str, tuple[Any, ...]]] = {
    "umap": {"n_neighbors": (5, 10, 15, 30, 60), "min_dist": (0.0, 0.1, 0.3, 0.6)},
    "tsne": {"perplexity": (5.0, 10.0, 20.0, 30.0, 50.0, 80.0)},
    "dreams": {"perplexity": (10.0, 30.0, 80.0), "reference_weight": (0.0003, 0.001, 0.003, 0.01)},
    "largevis": {"perplexity": (10.0, 30.0, 50.0, 80.0)},
    "trimap": {"n_neighbors": (6, 12, 24, 48)},
    "densmap": {"n_neighbors": (10, 30, 60), "min_dist": (0.0, 0.1, 0.3)},
    "isomap": {"n_neighbors": (5, 10, 20, 40)},
    "star_map": {"n_neighbors": (5, 15, 60), "star_weight": (0.03, 0.1, 0.3)},
    "scale_map": {"n_neighbors": (5, 15, 60), "radius_power": (0.5, 1.0, 2.0, 4.0)},
}
"""For each method its parameters in the order in which they are chosen, and the values tried, with the default."""


def lines_of(
    defaults: Sequence[Request], asked: Mapping[str, Mapping[str, Any]] | None, n_samples: int
) -> dict[str, dict[str, list[Any]]]:
    """Return the values to try of each parameter of each method, ascending where they can be, with the default.

    Parameters
    ----------
    defaults : sequence of Request
        One for each method.
    asked : mapping of method to mapping of parameter to values, or None
        None tries `SEARCHED`, without neighbourhoods of more than a third of the rows. Values that were asked for are
        tried whatever they are; methods that are not named in it stay at their defaults.
    n_samples : int
    """
    found: dict[str, dict[str, list[Any]]] = {}
    for one in defaults:
        given = SEARCHED.get(one.method, {}) if asked is None else asked.get(one.method, {})
        found[one.method] = {}
        for parameter, values in given.items():
            line = list(values) if isinstance(values, (list, tuple)) else [values]
            line = [one.taken(parameter, v, n_samples) for v in line]
            usual = one.default(parameter, n_samples)
            if asked is None:
                line = [v for v in line if _neighbors(parameter, v) <= n_samples / 3]
            if usual not in line:
                line.append(usual)
            found[one.method][parameter] = sorted(line) if _are_numbers(line) else line
    return found


def with_value(request: Request, parameter: str, value: Any, n_samples: int) -> Request:
    """Return a request with one parameter at a value; the method's default is not written down."""
    others = {name: given for name, given in request.parameters.items() if name != parameter}
    is_default = request.default(parameter, n_samples) == value
    return replace(request, parameters=others if is_default else {**others, parameter: value})


def _neighbors(parameter: str, value: Any) -> float:
    """Return how many rows a value makes a neighbourhood of."""
    return {"n_neighbors": value, "perplexity": 3.0 * value}.get(parameter, 0)  # type: ignore[no-any-return]


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
