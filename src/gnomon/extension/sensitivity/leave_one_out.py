"""The leave-one-out map: where one row goes that lies elsewhere in the data, all other points staying."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.affinities import DataAffinities, MovedRows
from gnomon.extension.placement.placement import EXACT_UP_TO, PlacementField
from gnomon.objectives import PairObjective
from gnomon.objectives.terms import Float64

__all__ = ["LeaveOneOut"]


class LeaveOneOut:
    """A map in which one row at a time is taken out and placed anew.

    Its affinities are those of a fitted row at the new place (`MovedRows`), its loss that of the map as a function of
    its point alone; of the logarithm of a sum over all pairs the part linear in the row's. The lowest of its own place,
    the places of 14 rows that it is tied to most and their weighted mean is the start of a descent.

    Parameters
    ----------
    affinities : DataAffinities
        Joined as "total" or "membership".
    objective : PairObjective
        The loss of the map.
    Y : array-like of shape (n_samples, n_components)
        The map.

    Raises
    ------
    TypeError
        If affinities or loss are others.
    """

    def __init__(self, affinities: object, objective: PairObjective, Y: npt.ArrayLike) -> None:
        if not isinstance(affinities, DataAffinities) or affinities.join == "rows":
            raise TypeError(message("affinities", "those of neighbours, joined over both directions"))
        points = np.ascontiguousarray(Y, dtype=np.float32)
        loss = objective.row_loss(points)
        if loss is None or any(part.link != "sum" for part in loss.repulsions):
            raise TypeError(message(f"loss={type(objective).__name__}", "a sum over edges and over all pairs"))
        self.X = affinities.X
        self._ties, self._points, self._loss = MovedRows(affinities), points, loss

    def place(self, i: int, squared: Float64) -> npt.NDArray[np.float32]:
        """Return where the point of a row goes from q places in the data.

        Parameters
        ----------
        i : int
            The row.
        squared : ndarray of shape (q, n_samples), float64
            Squared distances of these places to the rows of the table.

        Returns
        -------
        ndarray of shape (q, n_components), float32
        """
        others, weights = self._ties.ties(i, squared)
        others = np.insert(others, 0, i, axis=1)  # of no weight: its place is a start
        weights = np.insert(weights, 0, 0.0, axis=1)
        n = len(self._points)
        without = []
        for part in self._loss.repulsions:
            charges = np.ones(n) if part.charges is None else part.charges.copy()
            charges[i] = 0.0
            without.append(replace(part, charges=charges))
        evaluation = "exact" if n <= EXACT_UP_TO else "sample"
        field = PlacementField(self._points, replace(self._loss, repulsions=tuple(without)), evaluation=evaluation)
        return field.place(np.ascontiguousarray(others), np.ascontiguousarray(weights))[0]
