"""plot_map: the points of a map on matplotlib axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._palette import class_colors
from gnomon._validation import message
from gnomon.plot.style import DENSITY_FROM, class_centers, encode_classes, import_matplotlib, point_style, ramp

__all__ = ["plot_map"]

_LEGEND_CLASSES = 20


def plot_map(
    embedding: npt.ArrayLike,
    *,
    labels: npt.ArrayLike | None = None,
    values: npt.ArrayLike | None = None,
    ax: Any = None,
    title: str | None = None,
    arrows: Mapping[str, tuple[float, float]] | None = None,
    legend: bool = True,
    annotate: bool = True,
) -> Any:
    """Draw a map as a scatter plot, or as a density picture where there are many points.

    Parameters
    ----------
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions; the first two coordinates are drawn, rows that are not finite are left out and counted below.
    labels : array of shape (n_samples,), default=None
        Classes to colour by, with a legend and their names at their medians.
    values : array of shape (n_samples,), default=None
        Numbers to colour by, with a colour bar; not together with labels.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default (it is not registered with pyplot).
    title : str, default=None
        Title of the axes.
    arrows : dict of str to (dx, dy), default=None
        Directions of features in units of the map, drawn from its centre; scaled together to a readable length.
    legend, annotate : bool, default=True
        Whether to draw the legend, and the names of the classes.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    matplotlib = import_matplotlib()
    Y = np.asarray(embedding)
    if Y.ndim != 2 or Y.shape[1] not in (2, 3):
        raise ValueError(message("plot_map", f"embedding of shape {Y.shape}", "of shape (n, 2) or (n, 3)"))
    if labels is not None and values is not None:
        raise ValueError(message("plot_map", "labels and values", "given one at a time", remedy="Pass one of them."))
    Y = Y[:, :2]
    if ax is None:
        figure = matplotlib.figure.Figure(figsize=(7.2, 6.0), layout="constrained")
        ax = figure.add_subplot()
    if labels is not None:
        names, codes = encode_classes(labels, len(Y), "plot_map")
        _draw_classes(ax, Y, names, codes, legend=legend, annotate=annotate)
    elif values is not None:
        _draw_values(matplotlib, ax, Y, np.asarray(values, dtype=np.float64), legend=legend)
    elif len(Y) > DENSITY_FROM:
        _draw_raster(ax, Y, np.tile([[0.25, 0.44, 0.62]], (len(Y), 1)))
    else:
        _scatter(ax, Y, "#3f6f9f")
    _dress(ax, Y, title)
    if arrows:
        _draw_arrows(ax, Y, arrows)
    return ax


def _dress(ax: Any, Y: npt.NDArray[Any], title: str | None) -> None:
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)  # the axes of such a map have no units to read
    if title:
        ax.set_title(title, loc="left", fontweight="bold")
    lost = int((~np.isfinite(Y).all(axis=1)).sum())
    if lost:
        ax.text(0.0, 0.0, f"{lost:,} points have no position", transform=ax.transAxes, fontsize=8, color="0.4")


def _scatter(ax: Any, Y: npt.NDArray[Any], colors: Any, **options: Any) -> Any:
    area, opacity = point_style(len(Y))
    order = np.random.default_rng(0).permutation(len(Y))  # so that no class hides the others
    if isinstance(colors, np.ndarray):
        colors = colors[order]
    return ax.scatter(
        Y[order, 0], Y[order, 1], s=area, c=colors, alpha=opacity, linewidths=0, rasterized=len(Y) > 5000, **options
    )


def _draw_classes(
    ax: Any, Y: npt.NDArray[Any], names: list[str], codes: npt.NDArray[np.intp], *, legend: bool, annotate: bool
) -> None:
    counts = np.bincount(codes, minlength=len(names))
    order = np.argsort(-counts, kind="stable") if len(names) > _LEGEND_CLASSES else np.arange(len(names))
    hexes = np.empty(len(names), dtype="<U7")
    hexes[order] = class_colors(len(names))
    rgb = np.array([[int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)] for c in hexes]).reshape(-1, 3)
    if len(Y) > DENSITY_FROM:
        _draw_raster(ax, Y, rgb[codes])
    else:
        _scatter(ax, Y, rgb[codes])
    shown = order[:_LEGEND_CLASSES]
    if legend:
        for k in shown:
            ax.plot([], [], "o", color=hexes[k], markersize=6, label=f"{names[k]}  ({counts[k]:,})")
        rest = len(names) - len(shown)
        ax.legend(
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            frameon=False,
            fontsize=9,
            title=f"{rest} smaller classes are not listed" if rest else None,
            title_fontsize=8,
        )
    if annotate:
        for k, (x, y) in zip(shown, class_centers(Y, codes, len(names))[shown], strict=True):
            if np.isfinite(x):
                _name(ax, x, y, names[k])


def _name(ax: Any, x: float, y: float, text: str) -> None:
    from matplotlib import patheffects

    halo = [patheffects.withStroke(linewidth=2.6, foreground="white", alpha=0.9)]
    # Labels are text, not formulas: a lone dollar sign must not start one.
    ax.text(x, y, text, ha="center", va="center", fontsize=10, fontweight="bold", path_effects=halo, parse_math=False)


def _draw_values(
    matplotlib: Any, ax: Any, Y: npt.NDArray[Any], values: npt.NDArray[np.float64], *, legend: bool
) -> None:
    if values.shape != (len(Y),):
        raise ValueError(message("plot_map", f"values of shape {values.shape}", f"of shape ({len(Y)},)"))
    known = values[np.isfinite(values)]
    low, high = np.percentile(known, [1, 99]) if known.size else (0.0, 1.0)
    norm = matplotlib.colors.Normalize(low, high if high > low else low + 1.0)
    shades = ramp(matplotlib)
    rgb = shades(norm(np.where(np.isfinite(values), values, low)))[:, :3]
    rgb[~np.isfinite(values)] = 0.75
    if len(Y) > DENSITY_FROM:
        _draw_raster(ax, Y, rgb)
    else:
        _scatter(ax, Y, rgb)
    if legend:
        from matplotlib.cm import ScalarMappable

        ax.figure.colorbar(ScalarMappable(norm, shades), ax=ax, shrink=0.6, extend="both")


def _draw_raster(ax: Any, Y: npt.NDArray[Any], rgb: npt.NDArray[np.float64], *, side: int = 900) -> None:
    """Mean colour of each pixel, fading to white where few points lie."""
    finite = np.isfinite(Y).all(axis=1)
    points = Y[finite].astype(np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    step = max(float((high - low).max()), 1e-30) / (side - 1)
    width, height = (np.floor((high - low) / step) + 1).astype(int)
    cells = np.floor((points - low) / step).astype(np.int64)
    cell = cells[:, 1] * width + cells[:, 0]
    counts = np.bincount(cell, minlength=width * height)
    means = [
        np.bincount(cell, weights=rgb[finite, c], minlength=width * height) / np.maximum(counts, 1) for c in range(3)
    ]
    busy = np.percentile(counts[counts > 0], 95) if counts.any() else 1.0
    alpha = np.where(counts > 0, 0.25 + 0.75 * np.clip(np.log1p(counts) / np.log1p(busy), 0, 1), 0.0)
    picture = np.dstack([*(m.reshape(height, width) for m in means), alpha.reshape(height, width)])
    extent = (low[0], low[0] + width * step, low[1], low[1] + height * step)
    ax.imshow(picture, origin="lower", extent=extent, interpolation="nearest")


def _draw_arrows(ax: Any, Y: npt.NDArray[Any], arrows: Mapping[str, tuple[float, float]]) -> None:
    finite = Y[np.isfinite(Y).all(axis=1)]
    center, reach = np.median(finite, axis=0), 0.3 * float(np.ptp(finite, axis=0).max())
    longest = max(float(np.hypot(*v)) for v in arrows.values()) or 1.0
    for name, (dx, dy) in arrows.items():
        tip = center + np.array([dx, dy]) * (reach / longest)
        ax.annotate(
            "", tip, center, arrowprops={"arrowstyle": "-|>", "color": "0.1", "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
        )
        x, y = center + 1.08 * (tip - center)
        _name(ax, x, y, name)
