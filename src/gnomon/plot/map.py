"""The points of a map on matplotlib axes, and as a picture that can be published as it is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.plot.frame import frame_of
from gnomon.plot.style import (
    DENSITY_FROM,
    ClassColors,
    class_centers,
    colors_of,
    import_matplotlib,
    new_axes,
    point_style,
    save_figure,
)
from gnomon.surfaces import Surface

__all__ = ["plot_map", "save_png"]

_SCORES = {
    "trustworthiness": "trustworthiness",
    "continuity": "continuity",
    "neighborhood_preservation": "neighbours kept",
    "knn_accuracy": "labels from neighbours",
    "knn_r2": "labels from neighbours (R2)",
    "triplet_accuracy": "order of distances",
    "shepard": "distance correlation",
}


@entrance("plot_map")
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
    surface: Surface | None = None,
) -> Any:
    """Draw a map as a scatter plot, or as a density picture where there are many points.

    Parameters
    ----------
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions; the first two coordinates are drawn, rows that are not finite are left out and counted below.
    labels : array of shape (n_samples,), default=None
        Classes to colour by, with a legend and their names at their medians; grey where a row has no label. Dates and
        fractions are coloured as `values` are.
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
    surface : gnomon.surfaces.Surface or None, default=None
        What the map lies on; the embedding then holds its two coordinates. A sphere is drawn as its two halves, by
        Lambert's picture that keeps areas; a hyperboloid as the Poincare disk. Arrows are of flat maps.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    """
    import_matplotlib()
    Y = np.asarray(embedding)
    if Y.ndim != 2 or Y.shape[1] not in (2, 3):
        raise ValueError(message(f"embedding of shape {Y.shape}", "of shape (n, 2) or (n, 3)"))
    colors = colors_of(labels, values, len(Y))
    frame = None if surface is None else frame_of(surface, Y)
    if frame is not None and arrows:
        raise ValueError(
            message("arrows", f"None on a {frame.surface.name}", fact="directions differ from place to place")
        )
    Y = Y[:, :2] if frame is None else frame.places
    if ax is None:
        ax = new_axes(7.2, 6.0)
    draw_points(ax, Y, None if colors is None else colors.rgb)
    if isinstance(colors, ClassColors):
        _list_classes(ax, Y, colors, legend=legend, annotate=annotate)
    elif colors is not None and legend:
        colors.add_bar(ax.figure, ax, shrink=0.6)
    dress(ax, Y, title)
    if frame is not None:
        frame.draw(ax)
    if arrows:
        _draw_arrows(ax, Y, arrows)
    return ax


def dress(ax: Any, Y: npt.NDArray[Any], title: str | None) -> None:
    """Equal units on both axes, no frame, the title, and how many points could not be drawn."""
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)  # the axes of such a map have no units to read
    if title:
        ax.set_title(title, loc="left", fontweight="bold", parse_math=False)
    lost = int((~np.isfinite(Y).all(axis=1)).sum())
    if lost:
        ax.text(0.0, 0.0, f"{lost:,} points have no position", transform=ax.transAxes, fontsize=8, color="0.4")


def draw_points(ax: Any, Y: npt.NDArray[Any], rgb: npt.NDArray[np.float64] | None, *, share: float = 1.0) -> None:
    """Draw marks, or how many points lie in each pixel where marks would only cover each other.

    Parameters
    ----------
    ax : matplotlib Axes
    Y : ndarray of shape (n, 2)
    rgb : ndarray of shape (n, 3) or None
        One colour a point; None gives all the same.
    share : float, default=1.0
        Area of the axes as a share of that of a figure with one map: marks shrink with it.
    """
    if rgb is None:
        rgb = np.tile([[0.25, 0.44, 0.62]], (len(Y), 1))
    if len(Y) > DENSITY_FROM:
        _draw_raster(ax, Y, rgb)
        return
    area, opacity = point_style(len(Y))
    order = np.random.default_rng(0).permutation(len(Y))  # so that no class hides the others
    ax.scatter(
        Y[order, 0],
        Y[order, 1],
        s=area * share,
        c=rgb[order],
        alpha=opacity,
        linewidths=0,
        rasterized=len(Y) > 5000,
    )


def _list_classes(ax: Any, Y: npt.NDArray[Any], colors: ClassColors, *, legend: bool, annotate: bool) -> None:
    if legend:
        marks, texts, note = colors.entries()
        ax.legend(
            marks,
            texts,
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            frameon=False,
            fontsize=9,
            title=note,
            title_fontsize=8,
        )
    if annotate:
        name_classes(ax, Y, colors)


def name_classes(ax: Any, Y: npt.NDArray[Any], colors: ClassColors, *, size: float = 10.0) -> None:
    """Write the names of the listed classes at their medians."""
    centers = class_centers(Y, colors.codes, len(colors.names))
    for k in colors.shown:
        if np.isfinite(centers[k, 0]):
            _name(ax, centers[k, 0], centers[k, 1], colors.names[k], size=size)


def _name(ax: Any, x: float, y: float, text: str, *, size: float = 10.0) -> None:
    from matplotlib import patheffects

    halo = [patheffects.withStroke(linewidth=2.6, foreground="white", alpha=0.9)]
    # Labels are text, not formulas: a lone dollar sign must not start one.
    ax.text(x, y, text, ha="center", va="center", fontsize=size, fontweight="bold", path_effects=halo, parse_math=False)


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


def save_png(
    path: str | os.PathLike[str],
    *,
    embedding: npt.ArrayLike,
    surface: Surface | None = None,
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
    embedding, surface, labels, values : as for `plot_map`
        The map, what it lies on and its colours.
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
    plot_map(embedding, labels=labels, values=values, ax=ax, surface=surface)
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
