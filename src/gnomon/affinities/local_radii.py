"""How large the neighbourhood of each row is, as a multiple of the usual one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import exp, log
from gnomon.affinities.base import usable_distances

if TYPE_CHECKING:
    from gnomon.neighbors import NeighborGraph

__all__ = ["LocalRadii"]

Float64Array = npt.NDArray[np.float64]
_WIDEST = float(np.log(1000.0))  # of a radius over the middle one, either way: a map of float32 tells no more apart


@dataclass(frozen=True)
class LocalRadii:
    """Local radii: roots of the mean squared distances of rows to their neighbours, over a table's usual radius.

    Raised to a power, a radius more than 1,000 times larger or smaller than the middle one of the table, such as the 0
    of equal rows, counts as that bound.

    Attributes
    ----------
    middle : float
        Median of the radii above 0, in units of the data; 1 if there is none.
    mean : float
        Mean logarithm of the rows' radii after that, so that their geometric mean is 1.
    exponent : float
        The power.
    """

    middle: float
    mean: float
    exponent: float

    @classmethod
    def from_neighbors(cls, graph: NeighborGraph, exponent: float = 1.0) -> Self:
        """Return what radii in a table are relative to.

        Parameters
        ----------
        graph : NeighborGraph of n_samples rows
            Distances in the units of the metric.
        exponent : float >= 0, default=1.0
            Power to which the ratios of radii are raised.
        """
        radii = _root_mean_squares(usable_distances(graph))
        known = radii[radii > 0]
        middle = float(np.median(known)) if len(known) else 1.0
        return cls(middle, float(_bounded_logs(radii / middle, exponent).mean()), exponent)

    def of(self, distances: npt.NDArray[np.float32]) -> Float64Array:
        """Return the radii of rows, fitted or new, by their distances to fitted rows.

        Parameters
        ----------
        distances : ndarray of shape (n_rows, n_neighbors), float32
            Those that are not finite are left out; without any the radius is the middle one.

        Returns
        -------
        ndarray of shape (n_rows,), float64
            Without dimension, above 0.
        """
        ratios = _root_mean_squares(distances) / self.middle
        return np.asarray(exp(_bounded_logs(ratios, self.exponent) - self.mean))


def _root_mean_squares(distances: npt.NDArray[np.float32]) -> Float64Array:
    """Return those of the finite distances of each row, nan where there are none."""
    known = np.isfinite(distances)
    squares = np.where(known, distances, 0.0).astype(np.float64) ** 2
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(squares.sum(axis=1) / known.sum(axis=1)))


def _bounded_logs(ratios: Float64Array, exponent: float) -> Float64Array:
    """Return the logarithms of the powers of radii over the middle one, within the bounds; 0 for nan."""
    with np.errstate(divide="ignore"):
        logs = exponent * log(np.where(np.isnan(ratios), 1.0, ratios))
    return np.asarray(np.clip(logs, -_WIDEST, _WIDEST))
