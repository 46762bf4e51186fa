"""What of trust is lost because most rows were placed, and not fitted: an estimate that needs no fit of all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._printed import Printed
from gnomon.geometry.check import has_place
from gnomon.neighbors import draw_landmarks

if TYPE_CHECKING:
    from gnomon.maps.landmarks.result import LandmarkMap

__all__ = ["LandmarkLoss", "measure_loss"]

_ROWS = 50_000
_NUMBERS = 2**26  # of the rows in memory, at most
_ANCHORS = 2_000
_STREAM = 1  # rows among which they are ranked; landmarks are drawn by 0
_STREAM_LANDMARKS, _STREAM_OTHERS = 2, 3


@dataclass(frozen=True)
class LandmarkLoss(Printed):
    """Trust of rows that were fitted and of rows that were placed, all ranked among the same rows.

    Attributes
    ----------
    landmarks, placed : float
        Mean trustworthiness of landmarks and of other rows.
    value : float
        `landmarks` - `placed`: what a row loses by being placed. Negative if placed rows lie better.
    standard_error : float
        Of `value`, from the anchors drawn.
    n_anchors : int
        Landmarks and other rows that were ranked, together.
    n_rows : int
        Rows among which they were ranked.
    """

    landmarks: float
    placed: float
    value: float
    standard_error: float
    n_anchors: int
    n_rows: int

    def __str__(self) -> str:
        if self.n_anchors == 0:
            return "all rows are landmarks, and none lost trust by being placed"
        return (
            f"loss of trust by placing {self.value:+.4f} ± {self.standard_error:.4f}: landmarks {self.landmarks:.4f}, "
            f"placed rows {self.placed:.4f}, {self.n_anchors:,} rows ranked among {self.n_rows:,}"
        )


def measure_loss(result: LandmarkMap) -> LandmarkLoss:
    """Estimate the loss of a map with landmarks; see `gnomon.LandmarkMap.landmark_loss`."""
    from gnomon.evaluation.row_trust import trust_of_rows  # loaded when first asked for

    seed, rows, n = result.random_state, result.landmarks, result.n_samples
    placed = np.flatnonzero(has_place(result.embedding)).astype(np.int64)
    others = np.setdiff1d(placed, rows, assume_unique=True)
    if not len(others):
        return LandmarkLoss(np.nan, np.nan, 0.0, 0.0, 0, n)
    half = _ANCHORS // 2
    first = _drawn(rows, half, seed, _STREAM_LANDMARKS)
    second = _drawn(others, half, seed, _STREAM_OTHERS)
    most = max(_ANCHORS, min(_ROWS, _NUMBERS // result.n_features))
    among = np.union1d(_drawn(placed, most, seed, _STREAM), np.union1d(first, second))
    anchors = np.union1d(first, second)
    X, Y = result._mapped_rows(among), result._layout(among)
    at = np.searchsorted(among, anchors)
    trust = trust_of_rows(X, Y, at, metric=result.landmark_map.metric, surface=result.landmark_map.surface)
    is_first = np.isin(anchors, first, assume_unique=True)
    one, other = trust[is_first], trust[~is_first]
    error = np.sqrt(_variance_of_mean(one) + _variance_of_mean(other))
    fitted, set_there = float(one.mean()), float(other.mean())
    return LandmarkLoss(fitted, set_there, fitted - set_there, float(error), len(anchors), len(among))


def _drawn(rows: npt.NDArray[np.int64], count: int, seed: int, stream: int) -> npt.NDArray[np.int64]:
    return rows if len(rows) <= count else rows[draw_landmarks(len(rows), count, seed=seed, stream=stream)]


def _variance_of_mean(values: npt.NDArray[Any]) -> float:
    return float(values.var(ddof=1) / len(values)) if len(values) > 1 else 0.0
