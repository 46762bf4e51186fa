"""The pictures of the report, as text that a page holds."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["lines", "scatter", "stacks", "thumbnail"]

Series = Mapping[str, Sequence[tuple[float, float]]]

_COLORS = ["#1b6ca8", "#d1495b", "#66a182", "#edae49", "#8d5a97", "#6b6b6b", "#00798c", "#b07d3a", "#2e4057"]
_THUMBNAIL = 220  # pixels
_DRAWN_ROWS = 20_000  # of a thumbnail


def _axes(width: float = 5.2, height: float = 3.4) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _svg(figure: Any) -> str:
    written = io.StringIO()
    figure.savefig(written, format="svg")
    return written.getvalue()[written.getvalue().index("<svg") :]


def _color(name: str, names: Sequence[str]) -> str:
    return _COLORS[list(names).index(name) % len(_COLORS)]


def lines(series: Series, names: Sequence[str], x: str, y: str) -> str:
    """Draw a line for each tool on logarithmic axes; `names` fixes the colours."""
    figure, axes = _axes()
    for name, points in series.items():
        xs, ys = zip(*sorted(points), strict=True)
        axes.loglog(xs, ys, marker="o", markersize=4, color=_color(name, names), label=name)
    axes.set(xlabel=x, ylabel=y)
    axes.legend(frameon=False, fontsize=8)
    return _svg(figure)


def scatter(points: Mapping[str, tuple[float, float, float]], names: Sequence[str], x: str, y: str) -> str:
    """Draw a mark for each tool: time, quality and half the width of the quality's interval."""
    figure, axes = _axes(4.2, 2.8)
    for name, (time, quality, half) in points.items():
        axes.errorbar(time, quality, yerr=None if np.isnan(half) else half, fmt="o", color=_color(name, names))
        axes.annotate(name, (time, quality), textcoords="offset points", xytext=(6, 4), fontsize=8)
    axes.set(xlabel=x, ylabel=y, xscale="log")
    axes.margins(x=0.3, y=0.15)
    return _svg(figure)


def stacks(stages: Mapping[str, Mapping[str, float]], x: str) -> str:
    """Draw a bar for each table, made of the shares of its stages."""
    names = list(dict.fromkeys(stage for parts in stages.values() for stage in parts))
    figure, axes = _axes(6.4, 0.5 + 0.34 * len(stages))
    left = np.zeros(len(stages))
    totals = np.array([sum(parts.values()) for parts in stages.values()])
    for stage in names:
        width = np.array([parts.get(stage, 0.0) for parts in stages.values()]) / totals
        axes.barh(list(stages), width, left=left, color=_color(stage, names), label=stage)
        left += width
    axes.set(xlabel=x, xlim=(0, 1))
    axes.invert_yaxis()
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return _svg(figure)


def thumbnail(Y: npt.NDArray[np.float32], labels: npt.NDArray[np.integer] | None) -> str:
    """Draw a map as a small picture, PNG in base64; of long tables a fixed sample of rows."""
    from matplotlib.figure import Figure

    rows = np.random.default_rng(0).permutation(len(Y))[:_DRAWN_ROWS]
    figure = Figure(figsize=(_THUMBNAIL / 100, _THUMBNAIL / 100), dpi=100)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    classes = 0 if labels is None else np.unique(labels, return_inverse=True)[1][rows]
    size = 6.0 if len(rows) < 6_000 else 1.0
    axes.scatter(Y[rows, 0], Y[rows, 1], c=classes, cmap="tab20", s=size, linewidths=0, alpha=0.7)
    axes.set_aspect("equal", adjustable="datalim")
    axes.axis("off")
    written = io.BytesIO()
    figure.savefig(written, format="png")
    return base64.b64encode(written.getvalue()).decode("ascii")
