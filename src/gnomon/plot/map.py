"""The points of a map on matplotlib axes, and as a picture that can be published as it is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.plot.colors import ClassColors, ValueColors, colors_of
from gnomon.plot.display import Display, draws
from gnomon.plot.files import import_matplotlib, inches_of, save_figure
from gnomon.plot.frame import Frame, frame_of
from gnomon.plot.marks import Directions, Layer, draw_points
from gnomon.plot.theme import LIGHT, Style
from gnomon.plot.wrapping import shortened, wrapped
from gnomon.surfaces import Surface

__all__ = ["MapDisplay", "plot_map", "positions_of", "save_png"]

_SCORES = {
    "trustworthiness": "trustworthiness",
    "continuity": "continuity",
    "neighborhood_preservation": "neighbours kept",
    "knn_accuracy": "labels from neighbours",
    "knn_r2": "labels from neighbours (R2)",
    "triplet_accuracy": "order of distances",
    "shepard": "distance correlation",
}
_LETTER = 0.66  # width of a bold letter, in sizes of the letters
_NAME, _LINE = 48, 140  # letters of a feature's name, and of a line below a picture
_ROOM = 0.06  # around named points, in widths of the map: names find a place there


@dataclass(eq=False)
class MapDisplay(Display):
    """A map: its points, their colours, the names of their classes, and what is drawn over them.

    Attributes
    ----------
    places : ndarray of shape (n_samples, 2)
        Where the points are drawn; those with NaN are left out and counted below.
    colors : ClassColors, ValueColors or None, default=None
        Of the points; None gives all the same.
    title, subtitle : str or None, default=None
        Above the map.
    note : str, default=""
        Below it.
    legend : {"right", "below", "none"}, default="right"
        Where the classes are listed, at most 40 and how many are not; a long or wide list comes below the map in any
        case. Beside values there is a bar unless it is "none".
    label : str, default=""
        What the values are.
    annotate : bool, default=True
        Whether the classes are named on the map, each at its densest place; names that would lie over each other are
        moved, with a line to what they name, and those of the smallest classes left out where there is no room.
    square : bool, default=False
        Whether the axes are a square.
    frame : Frame or None, default=None
        Of a map on a curved surface.
    layers : tuple of Layer, default=()
        What is drawn over the points.
    """

    places: npt.NDArray[Any]
    colors: ClassColors | ValueColors | None = None
    title: str | None = None
    subtitle: str | None = None
    note: str = ""
    legend: str = "right"
    label: str = ""
    annotate: bool = True
    square: bool = False
    frame: Frame | None = None
    layers: tuple[Layer, ...] = field(default=())
    _size: ClassVar[tuple[float, float]] = (7.2, 6.0)

    @classmethod
    def from_map(cls, result: Any, ax: Any = None, **options: Any) -> MapDisplay:
        """Draw a `gnomon.Map`.

        Parameters
        ----------
        result : gnomon.Map
        ax : matplotlib Axes or None, default=None
            As for `plot`.
        **options
            As for `plot_map`.

        Returns
        -------
        MapDisplay
            Drawn.
        """
        drawn: MapDisplay = result.plot(ax=ax, **options)
        return drawn

    def _extent(self, style: Style) -> tuple[float, float]:
        width, height = super()._extent(style)
        if (
            isinstance(self.colors, ClassColors)
            and self.legend == "right"
            and not self.colors.fits_beside(width, style)
        ):
            height += self.colors.height(width, style)
        return width, height

    def _draw(self, ax: Any, style: Style) -> None:
        seen = None if self.colors is None else self.colors.on(style.theme)
        rgb = None if seen is None else seen.rgb
        draw_points(ax, self.places, rgb, style)
        if isinstance(self.colors, ClassColors):
            if self.legend != "none":
                self.colors.add_legend(ax, style, below=self.legend == "below")
            if self.annotate:
                self._name_classes(ax, style)
        elif self.colors is not None and self.legend != "none":
            self.colors.add_bar(ax, style, shrink=0.6, label=self.label)
        self._dress(ax, style)
        if self.frame is not None:
            self.frame.draw(ax, style)
        for layer in self.layers:
            layer.draw(ax, self.places, rgb, style)

    def _name_classes(self, ax: Any, style: Style) -> None:
        from gnomon.plot.names import ClassNames

        many = len(self.colors.names)  # type: ignore[union-attr]
        size = style.font_size * (1.1 if many <= 20 else 0.85 if many <= 40 else 0.65) * (0.85 if self.square else 1.0)
        ClassNames.of_classes(ax, self.places, self.colors, style, size=size)
        ax.margins(_ROOM)

    def _dress(self, ax: Any, style: Style) -> None:
        """Equal units on both axes, no frame, titles, and how many points could not be drawn."""
        soft = style.theme.soft
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)  # the axes of such a map have no units to read
        if self.square:
            ax.set_box_aspect(1.0)
        if self.title:
            words = {"loc": "left", "fontweight": "bold", "parse_math": False}
            size = "medium" if self.square else "large"
            letters = int(inches_of(ax)[0] * 72.0 / (_LETTER * style.font_size)) if self.square else 10**6
            ax.set_title(
                "\n".join(wrapped(line, max(letters, 8), 2) for line in self.title.split("\n")),
                fontsize=size,
                pad=6.0 + (1.1 * style.font_size if self.subtitle else 0.0),
                **words,
            )
        if self.subtitle:
            ax.annotate(
                self.subtitle,
                (0.0, 1.0),
                (0.0, 4.0),
                xycoords="axes fraction",
                textcoords="offset points",
                va="bottom",
                fontsize="small",
                color=soft,
                parse_math=False,
            )
        if self.note:
            ax.set_xlabel(self.note, parse_math=False)
        lost = int((~np.isfinite(self.places).all(axis=1)).sum())
        if lost:
            left_out = f"{lost:,} points have no position"
            ax.text(0.0, 0.0, left_out, transform=ax.transAxes, fontsize="small", color=soft)


def positions_of(embedding: npt.ArrayLike, surface: Surface | None = None) -> tuple[npt.NDArray[Any], Frame | None]:
    """Return where the points of a map are drawn, and the frame of a surface, or refuse what is no map."""
    Y = np.asarray(embedding)
    if Y.ndim != 2 or Y.shape[1] not in (2, 3):
        raise ValueError(message(f"embedding of shape {Y.shape}", "of shape (n, 2) or (n, 3)"))
    frame = None if surface is None else frame_of(surface, Y)
    return (Y[:, :2], None) if frame is None else (frame.places, frame)


@entrance("plot_map")
def plot_map(
    embedding: npt.ArrayLike,
    *,
    labels: npt.ArrayLike | None = None,
    values: npt.ArrayLike | None = None,
    ax: Any = None,
    title: str | None = None,
    subtitle: str | None = None,
    arrows: Mapping[str, tuple[float, float]] | None = None,
    legend: bool = True,
    annotate: bool = True,
    surface: Surface | None = None,
    name: str = "",
    **style: Any,
) -> MapDisplay:
    """Draw a map as a scatter plot, or as a density picture where there are many points.

    Parameters
    ----------
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions; the first two coordinates are drawn, rows that are not finite are left out and counted below.
    labels : array of shape (n_samples,), default=None
        Classes to colour by, with a legend and their names where they are densest; grey where a row has no label. Dates
        and fractions are coloured as `values` are.
    values : array of shape (n_samples,), default=None
        Numbers to colour by, with a colour bar; not together with labels.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default (it is not registered with pyplot).
    title, subtitle : str, default=None
        Above the map.
    arrows : dict of str to (dx, dy), default=None
        Directions of features in units of the map, drawn from its centre; scaled together to a readable length.
    legend, annotate : bool, default=True
        Whether to draw the legend, and the names of the classes.
    surface : gnomon.surfaces.Surface or None, default=None
        What the map lies on; the embedding then holds its two coordinates. A sphere is drawn as its two halves, by
        Lambert's picture that keeps areas; a hyperboloid as the Poincare disk. Arrows are of flat maps.
    name : str, default=""
        Of the labels or values. Numbers that start again where they end, as angles from 0 to 360 or from -pi to pi with
        rows at both ends do, and hours where a name says so, have colours that do too.
    **style
        Theme, width, sizes and opacity, as for `Display.plot`.

    Returns
    -------
    MapDisplay

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        If the arrays do not fit each other.
    """
    import_matplotlib()
    places, frame = positions_of(embedding, surface)
    colors = colors_of(labels, values, len(places), name=name)
    if frame is not None and arrows:
        raise ValueError(
            message("arrows", f"None on a {frame.surface.name}", fact="directions differ from place to place")
        )
    display = MapDisplay(
        places,
        colors,
        title,
        subtitle,
        legend="right" if legend else "none",
        annotate=annotate,
        frame=frame,
        layers=(Directions(arrows),) if arrows else (),
    )
    return display.plot(ax, **style)


@draws("Map")
def _plot_of_map(result: Any, ax: Any = None, **options: Any) -> Display:
    return MapDisplay.from_map(result, ax, **options)


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
        footer.append(wrapped("Shaped most by: " + shaped, _LINE, 2))
    figure.supxlabel(
        "\n".join(footer), x=0.01, ha="left", fontsize=8.5, color=LIGHT.soft, parse_math=False, linespacing=1.5
    )
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
    label = [shortened(str(names[j]), _NAME) if names is not None else f"feature {j}" for j in top]
    shares = [importance[j] / total for j in top]
    digits = [0 if share >= 0.1 else 1 for share in shares]
    return ", ".join(f"{name} ({share:.{d}%})" for name, share, d in zip(label, shares, digits, strict=True))
