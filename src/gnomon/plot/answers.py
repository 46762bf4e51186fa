"""Answers about features and rows: their effects with intervals, several groups at once, lists, lines and routes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Integer, check_parameters, message
from gnomon.linalg.table import evenly_spaced
from gnomon.plot.colors import colors_of
from gnomon.plot.curves import Curve, CurvesDisplay
from gnomon.plot.display import draws
from gnomon.plot.intervals import SIGMAS, IntervalsDisplay, Line
from gnomon.plot.map import MapDisplay, positions_of
from gnomon.plot.marks import Ellipses, Route
from gnomon.plot.matrix import MatrixDisplay

__all__ = [
    "plot_answer",
    "plot_answers",
    "plot_distortion",
    "plot_explanation",
    "plot_groups",
    "plot_profile",
    "plot_route",
    "plot_rows",
]

_EFFECTS = {
    "Axis": "change along the line, standard deviations",
    "Caption": "difference from the nearest clusters, standard deviations",
    "Contrast": "difference of the means, standard deviations",
    "Counterfactual": "contribution, units of the map",
    "MeanImportance": "mean displacement, units of the map per SD",
    "Saliency": "effect, units of the map per SD",
    "Why": "displacement, units of the map per SD",
}
_GROUP = 5  # members of a group of features that are drawn


def _top(n_top: int) -> int:
    return int(check_parameters({"n_top": Integer(1)}, {"n_top": n_top})["n_top"])


@draws("Answer")
@entrance("plot_answer")
def plot_answer(
    answer: Any, *, n_top: int = 12, ax: Any = None, title: str | None = None, **style: Any
) -> IntervalsDisplay:
    """Draw the effects of features as an answer has them, with intervals of 95 %.

    Parameters
    ----------
    answer : gnomon.explanations.Answer
        Such as `gnomon.Map.why`, `gnomon.Map.contrast`, `gnomon.Map.axis`, `gnomon.Map.importance` and
        `gnomon.Map.counterfactual` return.
    n_top : int >= 1, default=12
        Features at most.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str or None, default=None
        Above it; None writes the fidelity.
    **style
        As for `Display.plot`.

    Returns
    -------
    IntervalsDisplay
        A bar for each feature, from 0, and 1.96 standard errors to both sides; infinite effects are words alone.
        Features that a counterfactual needs are marked.

    Raises
    ------
    ValueError
        If the answer has no feature.
    """
    shown = answer.head(_top(n_top))
    if not len(shown):
        raise ValueError(message("answer", "with a feature at least", fact="it has none"))
    half = SIGMAS * np.nan_to_num(np.asarray(shown.error, dtype=np.float64))
    notes = [f"{value:.3g}" for value in shown.effect]
    needed = getattr(shown, "needed", None)
    if needed is not None:
        notes = [f"{note}  needed" if one else note for note, one in zip(notes, needed, strict=True)]
    lines = [
        Line(name, value if np.isfinite(value) else np.nan, value - wide, value + wide, note=note)
        for name, value, wide, note in zip(shown.features, shown.effect, half, notes, strict=True)
    ]
    rest = f" (first {len(shown)} of {len(answer)})" if len(answer) > len(shown) else ""
    title = f"fidelity {answer.fidelity:.2f}{rest}" if title is None else title
    label = _EFFECTS.get(type(answer).__name__, "effect")
    return IntervalsDisplay(lines, label, title, zero=True, bars=True).plot(ax, **style)


@draws("several Answer")
@entrance("plot_answers")
def plot_answers(
    answers: Mapping[Any, Any], *, n_top: int = 3, ax: Any = None, title: str | None = None, **style: Any
) -> MatrixDisplay:
    """Draw the effects of features on several groups at once.

    Parameters
    ----------
    answers : mapping of object to Answer
        Such as `gnomon.Map.profiles`, `gnomon.Map.captions` and `gnomon.Map.importance_by_label` return.
    n_top : int >= 1, default=3
        Features of each group that get a column; a feature that several groups have has one.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str or None, default=None
        Above it.
    **style
        As for `Display.plot`.

    Returns
    -------
    MatrixDisplay
        A row for each group, a column for each feature, in the order in which groups bring them.

    Raises
    ------
    ValueError
        If there is no answer.
    """
    n_top = _top(n_top)
    if not answers:
        raise ValueError(message("0 answers", "at least 1"))
    effects = {str(name): dict(zip(one.features, one.effect, strict=True)) for name, one in answers.items()}
    features = list(dict.fromkeys(feature for one in effects.values() for feature in list(one)[:n_top]))
    values = np.array([[one.get(feature, np.nan) for feature in features] for one in effects.values()], dtype=float)
    values = values.reshape(len(effects), len(features))
    values[~np.isfinite(values)] = np.nan
    signed = bool((values < 0.0).any())
    return MatrixDisplay(
        values,
        list(effects),
        features,
        _EFFECTS.get(type(next(iter(answers.values()))).__name__, "effect"),
        title,
        signed,
    ).plot(ax, **style)


@draws("Explanation")
@entrance("plot_explanation")
def plot_explanation(
    explanation: Any, *, n_top: int = 12, ax: Any = None, title: str | None = None, **style: Any
) -> IntervalsDisplay:
    """Draw which features move the points of a map most, on average over the map.

    Parameters
    ----------
    explanation : gnomon.explanations.Explanation
        Made by `gnomon.explain`.
    n_top : int >= 1, default=12
        Features at most.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str or None, default=None
        Above it; None writes the fidelity.
    **style
        As for `Display.plot`.

    Returns
    -------
    IntervalsDisplay
        As `plot_answer` of `gnomon.mean_importance`.
    """
    from gnomon.explanations import mean_importance

    return plot_answer(mean_importance(explanation), n_top=n_top, ax=ax, title=title, **style)


@draws("Profile")
@entrance("plot_profile")
def plot_profile(profile: Any, *, ax: Any = None, title: str | None = None, **style: Any) -> CurvesDisplay:
    """Draw the mean of a feature along a line through the map, with intervals of 95 %.

    Parameters
    ----------
    profile : gnomon.explanations.Profile
        Made by ``Axis.profile``.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str or None, default=None
        Above it.
    **style
        As for `Display.plot`.

    Returns
    -------
    CurvesDisplay
    """
    curve = Curve("", profile.t, profile.mean, SIGMAS * np.asarray(profile.error))
    label = "distance along the line, units of the map"
    return CurvesDisplay([curve], label, str(profile.feature), title).plot(ax, **style)


@draws("RankedRows")
@entrance("plot_rows")
def plot_rows(found: Any, *, n_top: int = 15, ax: Any = None, **style: Any) -> IntervalsDisplay:
    """Draw the rows that stand out by a score, the highest first, beside the median of all rows.

    Parameters
    ----------
    found : Suspects or Outliers
        Made by `gnomon.Map.suspects` or `gnomon.Map.outliers`.
    n_top : int >= 1, default=15
        Rows at most.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    IntervalsDisplay
        A grey tick is the median over all rows; suspects have their label and the one that is voted for beside them.

    Raises
    ------
    ValueError
        If no row is listed.
    """
    shown = found.head(_top(n_top))
    if not len(shown):
        raise ValueError(message("found", "a list with a row at least", fact="it is empty"))
    names = [f"row {row}" for row in shown.rows.tolist()] if shown.names is None else shown.names
    suspects = hasattr(shown, "votes")
    notes = (
        [f"{label}, voted {vote}" for label, vote in zip(shown.labels, shown.votes, strict=True)]
        if suspects
        else [f"{score:.2f}" for score in shown.score]
    )
    usual = float(np.nanmedian(found.scores))
    lines = [
        Line(name, score, score, score, (usual, usual), note)
        for name, score, note in zip(names, shown.score, notes, strict=True)
    ]
    label = "share of the votes for another label" if suspects else "local outlier factor"
    return IntervalsDisplay(lines, f"{label}; grey: the median row").plot(ax, **style)


@draws("FeatureGroups")
@entrance("plot_groups")
def plot_groups(groups: Any, *, n_top: int = 8, ax: Any = None, **style: Any) -> IntervalsDisplay:
    """Draw groups of features that go together, with the share that each member has in its group.

    Parameters
    ----------
    groups : gnomon.explanations.FeatureGroups
        Made by `gnomon.group_features` or `gnomon.Map.feature_groups`.
    n_top : int >= 1, default=8
        Groups at most, the largest first; of each the five members with the largest shares.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    IntervalsDisplay

    Raises
    ------
    ValueError
        If there is no group of two features or more.
    """
    n_top = _top(n_top)
    if not groups.groups:
        fact, remedy = f"none at threshold {groups.threshold:g}", "Lower the threshold."
        raise ValueError(message("groups", "with a group of two features at least", fact=fact, remedy=remedy))
    largest = sorted(groups.groups.items(), key=lambda one: -len(one[1]))[:n_top]
    lines: list[Line] = []
    for name, members in largest:
        lines.append(Line(name, heading=True))
        ranked = sorted(members.items(), key=lambda member: -member[1])
        lines += [Line(member, share, note=f"{share:.0%}") for member, share in ranked[:_GROUP]]
        if len(ranked) > _GROUP:
            lines.append(Line(f"{len(ranked) - _GROUP} more"))
    return IntervalsDisplay(lines, "share in the group", zero=True, bars=True, limits=(0.0, 1.0)).plot(ax, **style)


@entrance("plot_route")
def plot_route(
    embedding: npt.ArrayLike, found: Any, *, labels: npt.ArrayLike | None = None, ax: Any = None, **style: Any
) -> MapDisplay:
    """Draw where a point of a map lies, and where it lands when its row is changed.

    Parameters
    ----------
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions.
    found : gnomon.explanations.Counterfactual
        Made by `gnomon.Map.counterfactual`.
    labels : array of shape (n_samples,), default=None
        Classes to colour by.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    MapDisplay
        The ring is the point, the dot the place of the changed row.

    Raises
    ------
    ValueError
        If the changed row has no place.
    """
    places, _ = positions_of(embedding)
    ends = np.array([found.start[:2], found.landed[:2]], dtype=np.float64)
    if not np.isfinite(ends).all():
        raise ValueError(message("found", "a change with a place in the map", fact="the changed row has none"))
    arrives = "in the target" if found.reached else "not in the target"
    needed = "" if found.n_needed is None else f", {found.n_needed} of {found.n_changed} features needed"
    route = Route(ends, (f"row {found.index}", "changed"))
    title = f"row {found.index} changed: {arrives}{needed}"
    colors = colors_of(labels, None, len(places))
    return MapDisplay(places, colors, title, layers=(route,), annotate=False).plot(ax, **style)


@entrance("plot_distortion")
def plot_distortion(
    embedding: npt.ArrayLike, found: Any, *, n_ellipses: int = 120, ax: Any = None, **style: Any
) -> MapDisplay:
    """Draw where a map gives more room than elsewhere, and the images of small balls of the data.

    Parameters
    ----------
    embedding : array of shape (n_samples, 2)
        Positions.
    found : gnomon.geometry.Distortion
        Made by `gnomon.distortion`.
    n_ellipses : int >= 0, default=120
        Points that get an ellipse at most, spread evenly over the rows.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    MapDisplay
        Coloured by the logarithm of the area over its median; all ellipses are scaled by one factor, such that one of
        median area has the radius of a fortieth of the map.

    Raises
    ------
    ValueError
        If the map is not of two dimensions, or the ellipses are of another number of rows.
    """
    n_ellipses = check_parameters({"n_ellipses": Integer(0)}, {"n_ellipses": n_ellipses})["n_ellipses"]
    places, _ = positions_of(embedding)
    if np.shape(embedding)[1] != 2 or found.semi_axes.shape != (len(places), 2):
        what = f"embedding of shape {np.shape(embedding)} and ellipses of shape {found.semi_axes.shape}"
        raise ValueError(message(what, "of the same rows, in two dimensions"))
    room = np.where(np.isfinite(found.log_area), found.log_area, np.nan)
    known = np.flatnonzero(np.isfinite(found.semi_axes).all(axis=1) & np.isfinite(places).all(axis=1))
    rows = known[evenly_spaced(len(known), n_ellipses)]
    layers: tuple[Ellipses, ...] = ()
    if n_ellipses and len(known):
        typical = float(np.median(np.sqrt(found.semi_axes[known].prod(axis=1)))) or 1.0
        scale = float(np.ptp(places[known], axis=0).max()) / 40.0 / typical
        widths, heights = 2.0 * scale * found.semi_axes[rows].T
        across = found.directions[rows, :, 0]
        angles = np.degrees(np.arctan2(across[:, 1], across[:, 0]))
        layers = (Ellipses(places[rows].astype(np.float64), widths, heights, angles, rows, 0.9),)
    label = "log of the area that the map gives, over its median"
    return MapDisplay(places, colors_of(None, room, len(places)), label=label, layers=layers).plot(ax, **style)
