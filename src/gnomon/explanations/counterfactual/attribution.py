"""Which features carry a changed row through the map: the local linear maps, added up along its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from gnomon.explanations.counterfactual.paths import Way
    from gnomon.explanations.explanation import Explanation
    from gnomon.explanations.rows import ColumnScales

__all__ = ["Attribution", "direction"]

Array = npt.NDArray[np.float64]


def direction(start: Array, end: Array) -> Array:
    """Return the unit vector from one place to another; zero for the same place, NaN for one that is unknown."""
    step = end - start
    length = float(np.linalg.norm(step))
    return step / length if length != 0 else np.zeros_like(step)


class Attribution:
    """Displacements in the map foretold for each feature along a way, by the local linear maps at its rows.

    On each step the map is taken as the mean of the linear maps at both ends, so for an affine map whose local maps
    are exact a feature's displacement is its column times its change. Rows without a local map are passed over.

    Parameters
    ----------
    explanation : Explanation
    own : ndarray of shape (n_features,)
        The row before the change.
    scales : ColumnScales
        The range of the data, within which changed rows stay.
    """

    def __init__(self, explanation: Explanation, own: Array, scales: ColumnScales) -> None:
        self.explanation = explanation
        self._own = own
        self._scales = scales
        self._axes: dict[int, Array] = {}

    def _axes_at(self, row: int) -> Array:
        if row not in self._axes:
            self._axes[row] = self.explanation.axes(row)
        return self._axes[row]

    def _steps(self, way: Way) -> list[tuple[Array, list[int]]]:
        """Return the changes, one a step, that lead to the changed row, and the rows with a local map at its ends."""
        route, gone = way.route, way.share * way.route.arc[-1]
        n_steps = max(1, int(np.count_nonzero(route.arc[:-1] < gone)))
        passed = np.clip(route.stations[1:n_steps], self._scales.low, self._scales.high)
        changes = np.diff(np.concatenate([self._own[None], passed, way.row[None]]), axis=0)
        mask = self.explanation.mask
        return [(change, [int(r) for r in route.rows[s : s + 2] if mask[r]]) for s, change in enumerate(changes)]

    def displacements(self, way: Way) -> Array:
        """Return the foretold displacement by each feature, (n_components, n_features), in units of the map.

        Their sum over the features is the displacement that is foretold of the row as a whole.
        """
        total = np.zeros((self.explanation.n_components, len(self._own)))
        for change, ends in self._steps(way):
            for row in ends:
                total += self._axes_at(row) * (change / len(ends))
        return total

    def errors(self, way: Way, toward: Array) -> Array:
        """Return standard errors of the displacements in a direction, (n_features,).

        The linear maps along a way share neighbours: their errors are added up as if they were one and the same, which
        is the most that they can come to.
        """
        total = np.zeros((len(toward), len(self._own)))
        known: dict[int, Array] = {}
        for change, ends in self._steps(way):
            for row in ends:
                if row not in known:
                    known[row] = self.explanation.axes_error(row)
                total += np.where(change == 0, 0.0, known[row] * np.abs(change) / len(ends))
        errors: Array = np.sqrt(np.sum((toward[:, None] * total) ** 2, axis=0))
        return errors
