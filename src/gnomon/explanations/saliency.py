"""Which pixels move a picture's point in the map, as a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import length
from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.explanations.answer import Answer
from gnomon.explanations.counterfactual.metric import RowMetric
from gnomon.explanations.counterfactual.paths import KINDS, path_graph, paths_along, shortest_path
from gnomon.explanations.jackknife import mean_of_blocks, places_in_blocks
from gnomon.explanations.local import along, arrows_with_errors, each_local_arrows, lengths_with_errors
from gnomon.explanations.mean_errors import error_of_mean
from gnomon.explanations.rows import check_image_shape, find_row
from gnomon.geometry.check import has_place, row_mask
from gnomon.linalg.table import evenly_spaced

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = ["Saliency", "saliency"]

_ROWS = 400  # points of a selection that are averaged at most
_JOURNEYS = 50  # of a selection that goes to a target
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Saliency(Answer):
    """Pixels by how far they move a point of the map, or the points of a selection on average.

    Attributes
    ----------
    effect : ndarray of shape (n_features,), float64
        Without a direction: length of the pixel's arrow, in units of the map per local standard deviation of the
        pixel. With one: how far along it a brighter pixel moves the point; negative is away. Towards rows: how much
        the pixel changes on the way to them, each change times the length of its arrow there, in units of the map:
        positive where the picture must brighten, negative where it must darken.
    error : ndarray of shape (n_features,), float64
        Standard error: of the point's own fit, or of the mean over a selection, as in `MeanImportance`. On a way, at
        most: the errors of the fits that it passes, taken as one; over the ways of a selection, that of regions of it,
        as if they shared no rows, which is too small where they do.
    direction : ndarray of shape (n_components,), or None
        Unit vector in the map; towards rows, that to their median place.
    n_points : int
        Points averaged.
    fidelity : float in [0, 1]
        Mean local R2 of these points.
    image_shape : tuple of int
        (height, width[, channels]).
    n_features : int
        Pixels of the picture, times its channels.
    """

    _question: ClassVar[str] = "saliency"
    _facts: ClassVar[tuple[str, ...]] = ("n_points", "direction", "image_shape")

    direction: Array | None
    n_points: int
    image_shape: tuple[int, ...]
    n_features: int = field(repr=False)

    @property
    def image(self) -> Array:
        """The effects as a picture, of shape `image_shape`."""
        return self._picture(self.effect)

    @property
    def error_image(self) -> Array:
        """The standard errors as a picture, of shape `image_shape`."""
        return self._picture(self.error)

    def _picture(self, column: Array) -> Array:
        picture = np.zeros(self.n_features)
        picture[self.indices] = column
        return picture.reshape(self.image_shape)

    def headline(self) -> str:
        """Return what is said of the points as a whole."""
        of = "1 point" if self.n_points == 1 else f"{self.n_points} points"
        along = "" if self.direction is None else " along (" + ", ".join(f"{x:.2f}" for x in self.direction) + ")"
        return f"effects of {self.n_features} pixels on {of}{along}; mean R2 {self.fidelity:.2f}"


@entrance("saliency")
def saliency(
    explanation: Explanation, of: Any, *, image_shape: Any, toward: Any = None, direction: Any = None
) -> Saliency:
    """Say which pixels move a point, or a selection of points, and which must change on the way to a target.

    A direction and a target are different questions. A direction is answered at the point: what would a brighter pixel
    do there, all others being equal. A target far away is reached by other changes than those that matter at the
    start, and by all of them together: the shortest path in the neighbour graph leads through rows of the data to the
    nearest row of the target, the picture changes as the means around these rows do and loses on the way what sets it
    apart from its own neighbours, and each change counts by how far the pixel moves points where it happens.

    Parameters
    ----------
    explanation : Explanation
        Of a map whose features are pixels.
    of : int, mask or row numbers
        The point; or a selection, over which effects are averaged (at most 400 points of it, evenly spaced, and 50 if
        they go to a target).
    image_shape : tuple of int
        (height, width[, channels]) of the picture.
    toward : int, mask or row numbers, default=None
        Where the picture is to change to: this row, or the nearest of these rows.
    direction : array-like of shape (n_components,), default=None
        A direction in the map. Without either the effects are lengths and have no sign.

    Returns
    -------
    Saliency
        All pixels, the largest effect first; `image` is the picture.

    Raises
    ------
    ValueError
        If no point of the selection has an explanation, it already lies at the target, or no path of neighbours leads
        there.
    """
    shape = check_image_shape(image_shape, explanation.n_features)
    n = explanation.n_samples
    single = np.ndim(of) == 0
    rows = np.array([find_row(of, n)]) if single else np.flatnonzero(row_mask(of, n, name="of"))
    known = rows[explanation.mask[rows]]
    if not len(known):
        raise ValueError(message(f"of={of!r}" if single else "of", "points that have an explanation"))
    unit = _direction(explanation, known, toward, direction)
    if toward is not None:
        known, effect, error = _on_the_way(explanation, known, _target(explanation, toward))
    elif len(known) == 1:
        effect, error = _of_point(explanation, int(known[0]), unit)
    else:
        known = known[evenly_spaced(len(known), _ROWS)]
        effect, error = _of_selection(explanation, known, unit)
    order = np.argsort(-np.abs(effect), kind="stable")
    return Saliency(
        features=[explanation.feature_names[f] for f in order],
        indices=order.astype(np.int64),
        effect=effect[order],
        error=error[order],
        fidelity=float(np.mean(explanation.r2[known])),
        direction=unit,
        n_points=len(known),
        image_shape=shape,
        n_features=explanation.n_features,
    )


def _direction(explanation: Explanation, rows: npt.NDArray[Any], toward: Any, direction: Any) -> Array | None:
    if toward is not None and direction is not None:
        raise ValueError(message("toward and direction", "one given at most, the other None"))
    if toward is not None:
        known = explanation.places[_target(explanation, toward)]
        direction = np.median(known, axis=0) - np.median(explanation.places[rows], axis=0)
    if direction is None:
        return None
    given = np.asarray(direction, dtype=np.float64)
    if given.shape != (explanation.n_components,) or not np.isfinite(given).all() or not given.any():
        rule = f"{explanation.n_components} finite numbers, not all zero"
        raise ValueError(message(f"direction={given.tolist()!r}", rule, fact="a point moves towards itself nowhere"))
    return given / length(given)


def _target(explanation: Explanation, toward: Any) -> npt.NDArray[np.int64]:
    """Return the rows of a target that have a place in the map."""
    n = explanation.n_samples
    single = np.ndim(toward) == 0
    rows: npt.NDArray[np.int64] = (
        np.array([find_row(toward, n)]) if single else np.flatnonzero(row_mask(toward, n, name="toward"))
    )
    rows = rows[has_place(explanation.places[rows])]
    if not len(rows):
        raise ValueError(message("toward", "rows with a place in the map"))
    return rows


def _on_the_way(
    explanation: Explanation, rows: npt.NDArray[Any], target: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[Any], Array, Array]:
    """Return the rows that have a way to the target, and the mean effects on it with their errors."""
    graph = path_graph(explanation._fitted, explanation.graph)
    lengths = graph.lengths_from(target[None].astype(np.int32))[0]
    rows = rows[np.isfinite(lengths[rows]) & ~np.isin(rows, target)]
    if not len(rows):
        remedy = "Explain the map with more neighbours."
        raise ValueError(
            message("toward", "rows outside of the selection that a path of neighbours leads to", remedy=remedy)
        )
    rows = rows[evenly_spaced(len(rows), _JOURNEYS)]

    def way(i: int) -> npt.NDArray[np.int64]:
        passed: npt.NDArray[np.int64] = shortest_path(graph, lengths, i)[::-1]
        return passed

    if len(rows) == 1:
        effect, error = (_along(explanation, way(int(rows[0])), {}, errors=errors) for errors in (False, True))
        return rows, effect, error
    known: dict[int, Array] = {}
    blocks = places_in_blocks(explanation.places[rows])
    sums = np.zeros((len(blocks), explanation.n_features))
    for total, block in zip(sums, blocks, strict=True):
        for i in rows[block]:
            total += _along(explanation, way(int(i)), known)
    return rows, *mean_of_blocks(sums, np.array([len(block) for block in blocks]))


def _along(
    explanation: Explanation, passed: npt.NDArray[np.int64], known: dict[int, Array], *, errors: bool = False
) -> Array:
    """Add up the changes of a picture on a path, each times the length of the pixels' axes; or the errors of that.

    `known` keeps the lengths at rows for the paths that follow.
    """
    metric = RowMetric.of(explanation, explanation.graph)
    stations = paths_along(explanation._X, explanation.graph, passed, metric)[KINDS.index("fading")].stations
    axes = explanation.axes_error if errors else explanation.axes
    total = np.zeros(explanation.n_features)
    for step, change in enumerate(np.diff(stations, axis=0)):
        ends = [int(row) for row in passed[step : step + 2] if explanation.mask[row]]
        for row in ends:
            if row not in known:
                known[row] = np.linalg.norm(axes(row), axis=0)
            total += known[row] * (np.abs(change) if errors else change) / len(ends)
    return total


def _of_point(explanation: Explanation, i: int, unit: Array | None) -> tuple[Array, Array]:
    arrows, errors = arrows_with_errors(explanation, i)
    if unit is None:
        return lengths_with_errors(arrows, errors)
    return along(unit, arrows), np.sqrt(along(unit**2, errors**2))


def _of_selection(explanation: Explanation, rows: npt.NDArray[Any], unit: Array | None) -> tuple[Array, Array]:
    """Average over the points of a selection, neighbours in the map together."""
    effect = np.zeros(explanation.n_features)
    for block in places_in_blocks(explanation.places[rows]):
        for arrows in each_local_arrows(explanation, rows[block]):
            effect += np.linalg.norm(arrows, axis=0) if unit is None else along(unit, arrows)
    effect /= len(rows)
    toward = None if unit is None else np.tile(unit, (len(rows), 1))
    return effect, error_of_mean(explanation, rows, np.full(len(rows), 1.0 / len(rows)), effect, toward)
