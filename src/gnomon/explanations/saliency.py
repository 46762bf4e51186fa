"""Which pixels move a picture's point in the map, as a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.explanations.answer import Answer
from gnomon.explanations.importance import places_in_blocks
from gnomon.explanations.local import arrows_with_errors, each_local_arrows, mean_of_blocks
from gnomon.explanations.rows import check_image_shape, find_row, row_mask

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = ["Saliency", "saliency"]

_ROWS = 400  # points of a selection that are averaged at most
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Saliency(Answer):
    """Pixels by how far they move a point of the map, or the points of a selection on average.

    Attributes
    ----------
    effect : ndarray of shape (n_features,), float64
        Without a direction: length of the pixel's arrow, in units of the map per local standard deviation of the
        pixel. With one: how far along it a brighter pixel moves the point; negative is away.
    error : ndarray of shape (n_features,), float64
        Standard error: of the point's own fit, or over regions of the selection.
    direction : ndarray of shape (n_components,), or None
        Unit vector in the map.
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
    """Say which pixels move a point, or a selection of points, and which of them towards a target.

    Parameters
    ----------
    explanation : Explanation
        Of a map whose features are pixels.
    of : int, mask or row numbers
        The point; or a selection, over which effects are averaged (at most 400 points of it, evenly spaced).
    image_shape : tuple of int
        (height, width[, channels]) of the picture.
    toward : int, mask or row numbers, default=None
        The direction leads to this point or to the median place of these rows.
    direction : array-like of shape (n_components,), default=None
        A direction in the map. Without either the effects are lengths and have no sign.

    Returns
    -------
    Saliency
        All pixels, the largest effect first; `image` is the picture.

    Raises
    ------
    ValueError
        If no point of the selection has an explanation, or it already lies at the target.
    """
    shape = check_image_shape(image_shape, explanation.n_features)
    n = explanation.n_samples
    single = np.ndim(of) == 0
    rows = np.array([find_row(of, n)]) if single else np.flatnonzero(row_mask(of, n, name="of"))
    known = rows[explanation.mask[rows]]
    if not len(known):
        raise ValueError(message(f"of={of!r}" if single else "of", "points that have an explanation"))
    unit = _direction(explanation, known, toward, direction)
    if len(known) == 1:
        effect, error = _of_point(explanation, int(known[0]), unit)
    else:
        if len(known) > _ROWS:
            known = known[np.linspace(0, len(known) - 1, _ROWS).astype(np.intp)]
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
        n = explanation.n_samples
        target = (
            np.array([find_row(toward, n)])
            if np.ndim(toward) == 0
            else np.flatnonzero(row_mask(toward, n, name="toward"))
        )
        known = explanation.places[target]
        known = known[np.isfinite(known[:, 0])]
        if not len(known):
            raise ValueError(message("toward", "rows with a place in the map"))
        direction = np.median(known, axis=0) - np.median(explanation.places[rows], axis=0)
    if direction is None:
        return None
    given = np.asarray(direction, dtype=np.float64)
    if given.shape != (explanation.n_components,) or not np.isfinite(given).all() or not given.any():
        rule = f"{explanation.n_components} finite numbers, not all zero"
        raise ValueError(message(f"direction={given.tolist()!r}", rule, fact="a point moves towards itself nowhere"))
    return given / np.linalg.norm(given)


def _of_point(explanation: Explanation, i: int, unit: Array | None) -> tuple[Array, Array]:
    arrows, errors = arrows_with_errors(explanation, i)
    if unit is not None:
        return unit @ arrows, np.sqrt(unit**2 @ errors**2)
    lengths = np.linalg.norm(arrows, axis=0)
    toward = np.divide(arrows, lengths, out=np.zeros_like(arrows), where=lengths > 0)
    return lengths, np.sqrt(np.sum((toward * errors) ** 2, axis=0))


def _of_selection(explanation: Explanation, rows: npt.NDArray[Any], unit: Array | None) -> tuple[Array, Array]:
    """Average over regions of the selection, of about equally many points each, and over the regions."""
    blocks = places_in_blocks(explanation.places[rows])
    sums = np.zeros((len(blocks), explanation.n_features))
    for total, block in zip(sums, blocks, strict=True):
        for arrows in each_local_arrows(explanation, rows[block]):
            total += np.linalg.norm(arrows, axis=0) if unit is None else unit @ arrows
    return mean_of_blocks(sums, np.array([len(block) for block in blocks]))
