"""What was found about the intrinsic dimension, in numbers and words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._printed import Printed
from gnomon.neighbors import Succession

__all__ = ["NOISY", "DimensionEstimate", "IntrinsicDimension"]

_NAMES = {
    "growth": "growth of neighbourhoods at all scales, noise and borders allowed for",
    "mle": "maximum likelihood (MacKay & Ghahramani)",
    "levina_bickel": "maximum likelihood (Levina & Bickel)",
    "two_nn": "two nearest neighbours",
    "correlation": "correlation dimension",
    "local_pca": "local PCA",
    "extrapolated": "maximum likelihood in the limit of small neighbourhoods",
}
_ALLOWING = ("growth", "extrapolated")  # for borders and curvature
_NEAR = 2.0  # times the directions of the rows, beyond which growth is no number of dimensions
_WIDE = 2.0  # ends of an interval this many times apart tell little
_SPARSE = 0.4  # of a typical distance to the first neighbour
NOISY = 0.01
"""From which share of the spread on differences are called noise."""


@dataclass(frozen=True)
class DimensionEstimate:
    """One estimate of the intrinsic dimension.

    Attributes
    ----------
    value : float
        The dimension; NaN where the data allow no estimate.
    low, high : float
        Ends of the confidence interval.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class IntrinsicDimension(Printed):
    """How many coordinates the data need locally.

    Attributes
    ----------
    estimates : dict of str to DimensionEstimate
        "growth" (which `value`, `low` and `high` repeat), "mle", "levina_bickel", "two_nn", "correlation", "local_pca"
        and "extrapolated".
    local : ndarray of shape (n_samples,), float64
        Dimension around each row, by maximum likelihood; NaN where a row has no two distinct distances.
    local_low, local_high : ndarray of shape (n_samples,), float64
        Ends of its confidence interval: wide, since few neighbours know little.
    n_neighbors : (int, int)
        Least and largest number of neighbours that "mle" and "levina_bickel" average over; `local` takes the
        largest.
    confidence : float in (0, 1)
        Of all intervals.
    noise : float
        Length of what is taken for noise, as a share of the root mean square distance of rows from their mean; 0 where
        noise is not needed to explain the distances, NaN where it is not known.
    resolution : float
        Root mean square distance to the first neighbour, as a share of that of all pairs; NaN where it is not known.
    n_repeats : int, default=0
        Distinct rows that lie as near to others as if measured several times, and have no part.
    n_directions : float, default=inf
        In how many directions of their columns rows differ: no estimate, and no end of an interval, is above. Infinite
        where distances are given or measured by a function of your own.
    by_growth : float, default=NaN
        "growth" before this bound.
    succession : gnomon.neighbors.Succession or None, default=None
        What says that rows that follow each other in the table are alike, as those of a time series are.
    within_noise : DimensionEstimate or None, default=None
        What the nearest neighbours tell where they lie within the noise: the dimensions of the noise. `value` is then
        that of rows farther apart, or of the components above the noise, and the interval holds this one.
    n_above_noise : int or None, default=None
        Number of principal components above a floor of variances that is noise, where `value` is that within them.
    n_common : int or None, default=None
        In how many directions columns go together, where all else is noise of each column, which fills more: `value`
        and its interval are then those of the rows with the noise. None where that is not so, or `within_noise` tells.
    counting : str, default=""
        How rows were counted, where weights of them that made a map were not; the last of `caution`.
    """

    estimates: dict[str, DimensionEstimate]
    local: npt.NDArray[np.float64]
    local_low: npt.NDArray[np.float64]
    local_high: npt.NDArray[np.float64]
    n_neighbors: tuple[int, int]
    confidence: float
    noise: float
    resolution: float
    n_repeats: int = 0
    n_directions: float = math.inf
    by_growth: float = math.nan
    succession: Succession | None = None
    within_noise: DimensionEstimate | None = None
    n_above_noise: int | None = None
    n_common: int | None = None
    counting: str = ""

    @property
    def value(self) -> float:
        """The dimension: that by "growth"; where it is not known, the median of the others without "extrapolated".

        NaN if there are none.
        """
        values = self._values()
        growth = self.estimates["growth"].value
        return growth if math.isfinite(growth) else float(np.median(values)) if values else math.nan

    @property
    def low(self) -> float:
        """Lower end of the interval of `value`; NaN where "growth" is not known."""
        return self.estimates["growth"].low

    @property
    def high(self) -> float:
        """Upper end of the interval of `value`; infinite where the data set no bound, NaN as `low`."""
        return self.estimates["growth"].high

    @property
    def is_open(self) -> bool:
        """Whether noise of columns or so wide an interval leaves the number open: nothing is to be chosen by it."""
        return self.n_common is not None or (self.within_noise is None and self.high > _WIDE * self.low)

    def is_above(self, n_components: int) -> bool:
        """Return whether so few components surely lose some of the dimensions, where there are more by the number.

        Parameters
        ----------
        n_components : int
        """
        return not self.is_open or (self.n_common is None and self.low > n_components)

    @property
    def caution(self) -> str:
        """What the data themselves say against the interval, and `counting`; empty if nothing."""
        told = []
        if self.n_common is not None:
            told.append(
                "The number and its interval count what each column has by itself: where that is noise, as of counts "
                f"around their means, what was measured has fewer dimensions, about {self.n_common} at most, which the "
                "interval need not hold."
            )
        if not math.isfinite(self.estimates["growth"].value) and math.isfinite(self.value):
            told.append(
                "How neighbourhoods grow tells no number here, as in few rows or hundreds of dimensions: this is the "
                "median of estimators that understate many dimensions."
            )
        if self.succession is not None:
            told.append(self.succession.told("neighbours are those of one way through the data, and no interval holds"))
        if self.n_repeats:
            told.append(
                f"{self.n_repeats:,} rows lie as near to others as if measured several times, besides equal ones: one "
                "of each set is used."
            )
        if self.by_growth > self.n_directions:
            ways = "one direction" if self.n_directions == 1 else f"{self.n_directions:.0f} directions"
            lattice = self.by_growth > _NEAR * self.n_directions
            grow = "far more dimensions" if lattice else f"{self.by_growth:.1f} dimensions"
            few = " Few different distances, as on a lattice, tell how they grow only roughly." if lattice else ""
            told.append(
                f"Distances grow as in {grow}, but rows differ in {ways} of their columns: no more can be.{few}"
            )
        if self.within_noise is not None:
            near, number = self.within_noise, self.n_above_noise
            many = "one principal component" if number == 1 else f"{number} principal components"
            taken = f"Differences of about {self.noise:.0%} of the spread are taken for noise"
            where = (
                "the nearest neighbours lie within it: at their distances"
                if number is None
                else f"only {many} stand{'s' if number == 1 else ''} above it: in all directions"
            )
            told.append(
                f"{taken}, and {where} there are {near.value:.1f} dimensions ({_ends(near.low, near.high, 'to')}), "
                f"beyond {'it' if number is None else 'the noise'} {self.value:.1f}."
            )
        elif self.is_open and self.n_common is None:
            told.append("So wide an interval leaves the number open.")
        if self.resolution > _SPARSE:
            told.append(
                f"First neighbours are {self.resolution:.2f} of a typical distance away: the interval holds for sets "
                "about as long as wide; a long or strongly folded one may have more or fewer dimensions."
            )
        if self.noise > NOISY and self.within_noise is None and self.n_common is None:
            told.append(
                f"Differences of about {self.noise:.0%} of the spread are taken for noise, which fills more dimensions."
            )
        return " ".join([*told, *filter(None, [self.counting])])

    @property
    def n_components(self) -> int:
        """Components that a map needs to keep the data without loss: `value`, from a quarter above a number on
        rounded up; at least 1, at most one less than there are rows.

        A lower bound: a closed surface such as a sphere needs one more.
        """
        wanted = math.ceil(self.value - 0.25) if math.isfinite(self.value) else 1
        return max(1, min(wanted, len(self.local) - 1))

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """Say in words what was found."""
        if not math.isfinite(self.value):
            return "The data have too few distinct rows to estimate an intrinsic dimension."
        if math.isfinite(self.low):
            told = f"{self.confidence:.0%} interval {_ends(self.low, self.high, 'to')}"
        else:
            told = f"estimates from {min(self._values()):.1f} to {max(self._values()):.1f}"
        first = f"The data are about {self.value:.1f}-dimensional ({told})."
        if self.n_common is not None:
            many = "1 direction" if self.n_common == 1 else f"{self.n_common} directions"
            first = (
                f"Columns go together in about {many}; with what each has by itself, as noise, the data are about "
                f"{self.value:.1f}-dimensional ({told})."
            )
        lines = [first, *filter(None, [self.caution])]
        for key, one in self.estimates.items():
            if math.isfinite(one.value):
                lines.append(f"  {one.value:5.1f}  ({_ends(one.low, one.high, 'to')})  {_NAMES[key]}")
        return "\n".join(lines)

    def _values(self) -> list[float]:
        near = (one.value for name, one in self.estimates.items() if name not in _ALLOWING)
        return [value for value in near if math.isfinite(value)]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, without those of single rows, ready for JSON."""
        return {
            "value": _number(self.value),
            "low": _number(self.low),
            "high": _number(self.high),
            "n_components": self.n_components,
            "confidence": self.confidence,
            "n_neighbors": list(self.n_neighbors),
            "noise": _number(self.noise),
            "resolution": _number(self.resolution),
            "n_repeats": self.n_repeats,
            "n_directions": _number(self.n_directions),
            "caution": self.caution,
            "within_noise": None if self.within_noise is None else _numbers(self.within_noise),
            "n_above_noise": self.n_above_noise,
            "n_common": self.n_common,
            "estimates": {key: _numbers(one) for key, one in self.estimates.items()},
        }


def _ends(low: float, high: float, word: str = "and") -> str:
    return f"{low:.1f} {word} {high:.1f}" if math.isfinite(high) else f"{low:.1f} {word} no end"


def _numbers(one: DimensionEstimate) -> dict[str, float | None]:
    return {"value": _number(one.value), "low": _number(one.low), "high": _number(one.high)}


def _number(value: float) -> float | None:
    return round(float(value), 4) if math.isfinite(value) else None
