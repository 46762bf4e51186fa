"""What was found out about one embedding, as columns of the payload: its explanation and its evaluation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message

__all__ = ["Facts", "evaluation_facts", "explanation_facts", "local_facts"]

_SCORES = (
    "trustworthiness",
    "continuity",
    "neighborhood_preservation",
    "knn_accuracy",
    "triplet_accuracy",
    "shepard",
)
Array = npt.NDArray[Any]


@dataclass
class Facts:
    """Columns, one row a shown point unless its name says else, and the entries of the header that go with them."""

    columns: dict[str, Array] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)


def explanation_facts(
    explanation: Any, shape: tuple[int, int], shown: Callable[[Array], Array], *, who: str, n_top: int = 8
) -> Facts:
    """Per point: fidelity, distortion ellipse, and the features that move it most.

    Parameters
    ----------
    explanation : object
        Has ``r2``, ``ellipses``, ``global_importance`` and ``top_features(n)``.
    shape : (n_samples, n_components)
        Of the embedding that is explained.
    shown : callable
        Picks the rows that are in the page.
    who : str
        How the caller knows the explanation.
    n_top : int, default=8
        Features a point.
    """
    n, d = shape
    r2 = _checked(explanation.r2, (n,), f"{who}.r2")
    ellipses = _checked(explanation.ellipses, (n, d, d), f"{who}.ellipses")
    top = explanation.top_features(n_top)
    k = np.asarray(top.indices).shape[1]
    indices = _checked(top.indices, (n, k), f"{who}.top_features().indices")
    arrows = _checked(top.arrows, (n, k, d), f"{who}.top_features().arrows")
    importance = _checked(top.importance, (n, k), f"{who}.top_features().importance")
    total = np.nan_to_num(np.asarray(explanation.global_importance, dtype=np.float32))
    upper = np.triu_indices(d)
    columns = {
        "r2": shown(r2).astype(np.float32),
        "ellipses": shown(ellipses)[:, upper[0], upper[1]].astype(np.float32),
        "top": shown(indices).astype(np.uint16 if total.size <= 65_536 else np.uint32),
    }
    columns["arrows"], columns["arrows_scale"] = _fixed_point(shown(arrows).reshape(-1, k * d))
    columns["importance"], columns["importance_scale"] = _fixed_point(shown(importance))
    columns["global_importance"] = total
    header: dict[str, Any] = {"explanation": {"top": k}}
    distortion = getattr(explanation, "distortion", None)
    if distortion is not None:
        columns["log_area"] = shown(_checked(distortion.log_area, (n,), f"{who}.distortion.log_area")).astype(
            np.float32
        )
        columns["anisotropy"] = shown(distortion.anisotropy).astype(np.float32)
        if distortion.tear is not None:
            columns["torn"] = shown(distortion.tear).astype(np.uint8)
        header["explanation"]["distortion"] = True
    return Facts(columns, header)


def local_facts(explanation: Any, n_samples: int) -> Facts | None:
    """Per point: its neighbours in the data and the coefficients of its local fit, from which the page expands axes.

    None if the explanation does not say them, or weighs neighbours unequally.

    Parameters
    ----------
    explanation : object
        May have ``jacobians`` with ``indices``, ``weights``, ``coefficients``, ``mask`` and ``pooling``, and ``graph``
        with ``distances``, as `gnomon.explain` returns.
    n_samples : int
    """
    fits, graph = getattr(explanation, "jacobians", None), getattr(explanation, "graph", None)
    if fits is None or graph is None or len(fits.rows) != n_samples or not np.isin(fits.weights, (0.0, 1.0)).all():
        return None
    n, k, d = fits.coefficients.shape
    used = fits.weights > 0
    near = np.where(used, fits.indices, np.arange(n)[:, None])
    distances = np.where(used, graph.distances[:, :k], 0.0)
    columns: dict[str, Array] = {"near": near.astype(np.uint16 if n <= 65_536 else np.uint32)}
    columns["coefficients"], columns["coefficients_scale"] = _fixed_point(fits.coefficients.reshape(n, k * d))
    columns["distances"], columns["distances_scale"] = _fixed_point(distances)
    columns["fitted"] = fits.mask.astype(np.uint8)
    return Facts(columns, {"local": {"neighbors": k, "pooling": int(fits.pooling)}})


def evaluation_facts(evaluation: Any, n_samples: int, shown: Callable[[Array], Array], *, who: str) -> Facts:
    """Scores of the whole embedding and diagnostics of each point."""
    scores = {name: getattr(evaluation, name, None) for name in _SCORES}
    known = {k: float(v) for k, v in scores.items() if v is not None and np.isfinite(v)}
    facts = Facts(header={"evaluation": known})
    neighbors = getattr(evaluation, "n_neighbors", None)
    if neighbors is not None:
        facts.header["evaluationNeighbors"] = int(neighbors)
    for name, values in (getattr(evaluation, "per_point", None) or {}).items():
        column = _checked(values, (n_samples,), f"{who}.per_point[{name!r}]")
        key = f"trust{len(facts.header.setdefault('diagnostics', []))}"
        facts.header["diagnostics"].append({"name": str(name), "key": key})
        facts.columns[key] = shown(column).astype(np.float32)
    return facts


def _checked(values: Any, shape: tuple[int, ...], name: str) -> Array:
    array = np.asarray(values)
    if array.shape != shape:
        raise ValueError(message("write_html", f"{name} of shape {array.shape}", f"of shape {shape}"))
    return array


def _fixed_point(values: Array) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.float32]]:
    """16-bit fractions of each row's largest entry: half the bytes of float32, and they compress better."""
    finite = np.nan_to_num(values.astype(np.float64), posinf=0.0, neginf=0.0)
    scale = np.abs(finite).max(axis=1, initial=0.0)
    fractions = np.round(finite * (32767.0 / np.where(scale > 0, scale, 1.0))[:, None])
    return fractions.astype(np.int16), (scale / 32767.0).astype(np.float32)
