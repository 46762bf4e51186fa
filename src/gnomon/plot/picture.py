"""save_png: a picture of a map that can be published as it is."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.plot.figure_file import save_figure
from gnomon.plot.map import plot_map
from gnomon.plot.style import import_matplotlib

__all__ = ["save_png"]

_SCORES = {
    "trustworthiness": "trustworthiness",
    "continuity": "continuity",
    "neighborhood_preservation": "neighbours kept",
    "knn_accuracy": "labels from neighbours",
    "triplet_accuracy": "order of distances",
    "shepard": "distance correlation",
}


def save_png(
    path: str | os.PathLike[str],
    *,
    embedding: npt.ArrayLike,
    title: str = "",
    method: str = "",
    labels: npt.ArrayLike | None = None,
    values: npt.ArrayLike | None = None,
    feature_names: list[str] | None = None,
    explanation: Any = None,
    evaluation: Any = None,
    dpi: int = 200,
) -> None:
    """Save the map with its legend, its scores and the features that shape it most.

    Parameters
    ----------
    path : str or path-like
        File to write; its suffix may be any that matplotlib writes (png, pdf, svg).
    embedding, labels, values : as for `plot_map`
        The map and its colours.
    title, method : str
        Heading and the name of the method.
    feature_names : list of str, default=None
        Names for ``explanation.global_importance``; taken from the explanation by default.
    explanation : object, default=None
        Has ``global_importance``, as `gnomon.explain` returns.
    evaluation : object, default=None
        Has scores (``trustworthiness`` ...), as `gnomon.evaluate` returns.
    dpi : int, default=200
        Pixels per inch; the picture is 10 x 7.2 inches.
    """
    matplotlib = import_matplotlib()
    figure = matplotlib.figure.Figure(figsize=(10.0, 7.2), layout="constrained")
    matplotlib.backends.backend_agg.FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    plot_map(embedding, labels=labels, values=values, ax=ax)
    heading = title or method
    if heading:
        ax.set_title(heading, loc="left", fontsize=15, fontweight="bold", parse_math=False)
    n_samples = np.asarray(embedding).shape[0]
    footer = [" · ".join(filter(None, [method if title else "", f"{n_samples:,} points"]))]
    scores = _score_text(evaluation)
    if scores:
        footer.append("Trust: " + scores)
    shaped = _importance_text(explanation, feature_names)
    if shaped:
        footer.append("Shaped most by: " + shaped)
    figure.supxlabel("\n".join(footer), x=0.01, ha="left", fontsize=8.5, color="0.3", parse_math=False, linespacing=1.5)
    save_figure(figure, path, dpi=dpi)


def _score_text(evaluation: Any) -> str:
    found = (
        {words: getattr(evaluation, name, None) for name, words in _SCORES.items()} if evaluation is not None else {}
    )
    return ", ".join(
        f"{words} {value:.2f}" for words, value in found.items() if value is not None and np.isfinite(value)
    )


def _importance_text(explanation: Any, names: list[str] | None, n_top: int = 6) -> str:
    if explanation is None:
        return ""
    importance = np.nan_to_num(np.asarray(explanation.global_importance, dtype=np.float64))
    if names is None:
        names = getattr(explanation, "feature_names", None)
    total = importance.sum() or 1.0
    top = [j for j in np.argsort(-importance, kind="stable")[:n_top] if importance[j] > 0]
    label = [str(names[j]) if names is not None else f"feature {j}" for j in top]
    shares = [importance[j] / total for j in top]
    digits = [0 if share >= 0.1 else 1 for share in shares]
    return ", ".join(f"{name} ({share:.{d}%})" for name, share, d in zip(label, shares, digits, strict=True))
