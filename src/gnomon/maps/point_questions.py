"""What one can ask of a map about each point by itself: how well it lies, and which of its neighbours are false."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message

if TYPE_CHECKING:
    from gnomon.maps.points import PointNeighbors, PointScores
    from gnomon.surfaces import Surface

__all__ = ["PointQuestions"]


class PointQuestions:
    """Diagnostics of each point of `gnomon.Map`."""

    surface: Surface | None
    _points: PointScores | None
    _plotted: Callable[[], npt.NDArray[Any]]
    _estimator: Any
    find: Callable[[str], int]
    _mapped: Callable[[], Any]

    def point_scores(self) -> PointScores:
        """Put all that is known of each point into columns, one for each diagnostic; computed once.

        Trust and the neighbours kept, false and missing neighbours and how far away they are, how the map stretches and
        tears there, how thin it is, R2 of the explanation, outliers in the data and doubt of the label: all rows have
        them, however many there are. They are the columns of `export` and the colours of the page.

        Returns
        -------
        gnomon.maps.points.PointScores
            A mapping of names to columns of shape (n_samples,); its `summary` is a table of them all.

        Notes
        -----
        Up to 5000 rows all are exact. Beyond, "trustworthiness", "continuity" and "triplet_accuracy" are exact for the
        1000 random rows from which `evaluate` ranks all others. For the other rows the same 1000 are a sample in which
        ranks are counted: a false neighbour is farther away than all k neighbours in the data, so its rank exceeds k by
        one more than the number of other rows that are nearer, and the share of these in the sample is that among all
        rows, without bias. The standard error of trust is at most about 0.014, and 0.0005 to 0.005 where it is high.
        As the sample is the same for all rows, their errors go together. Neighbours in the data are those of
        `neighbors`: for each one that its search overlooked, the continuity of a row may be too high or low by up to
        1/15.

        References
        ----------
        .. [1] Venna & Kaski, "Neighborhood preservation in nonlinear projection methods", ICANN 2001.
        """
        if self._points is None:
            from gnomon.maps.points import score_points

            self._points = score_points(self)  # type: ignore[arg-type]
        return self._points

    def continuity_scores(
        self,
        *,
        rows: Sequence[int] | npt.NDArray[np.integer] | None = None,
        length: float = 2.0,
        n_jobs: int | None = None,
    ) -> dict[str, npt.NDArray[np.float64]]:
        """Say how loosely the loss holds each point, and how far a step of its row would move it, others staying.

        Computed when asked for, some seconds for 2000 rows; ``m.metadata.update(m.continuity_scores())`` makes them
        colours of the page. `gnomon.evaluation.continuity_nulls` sets them beside data without structure.

        Parameters
        ----------
        rows : sequence of int or None, default=None
            Rows to move; None takes all up to 2000, and 2000 random ones of more.
        length : float > 0, default=2.0
            Of a move, in standard deviations of the row's neighbours along the direction.
        n_jobs : int or None, default=None
            Threads; None or -1 for all. Does not change the result.

        Returns
        -------
        dict of str to ndarray of shape (n_samples,), float64
            "singularity" and "perturbation", see `gnomon.evaluation.singularities` and
            `gnomon.evaluation.perturbations`; NaN for points that are not held, and for rows that were not moved.

        Raises
        ------
        TypeError, ValueError
            If the method of the map is not known or has no such loss, its metric is not Euclidean, or rows are equal.
        """
        from gnomon.evaluation import perturbations, singularities

        if self._estimator is None:
            remedy = "Make it with gnomon.map."
            raise ValueError(message("a map", "one whose method is known", remedy=remedy))
        table = self._mapped()
        held = singularities(self._estimator, table, n_jobs=n_jobs)
        moved = perturbations(self._estimator, table, rows=rows, length=length, n_jobs=n_jobs)
        return {**held.columns(), **moved.columns()}

    def _point_asked(self, i: Any) -> Any:
        """Return the row of a point that is named by a text; anything else as it is."""
        return self.find(i) if isinstance(i, str) else i

    def false_neighbors(self, i: int | str) -> PointNeighbors:
        """List the neighbours of a point in the map that are none in the data.

        Parameters
        ----------
        i : int or str
            Row number of the point, or its name as for `find`.

        Returns
        -------
        gnomon.maps.points.PointNeighbors
            Of the 15 nearest on either side (fewer in a small map) with their distances on both; empty for a row
            without a place in the map.

        Raises
        ------
        TypeError, IndexError
            If there is no such row.
        """
        from gnomon.maps.points import list_neighbors

        return list_neighbors(self, self._point_asked(i), "false")  # type: ignore[arg-type]

    def missing_neighbors(self, i: int | str) -> PointNeighbors:
        """List the neighbours of a point in the data that are none in the map. See `false_neighbors`.

        Parameters
        ----------
        i : int or str
            Row number of the point, or its name as for `find`.

        Returns
        -------
        gnomon.maps.points.PointNeighbors

        Raises
        ------
        TypeError, IndexError
            If there is no such row.
        """
        from gnomon.maps.points import list_neighbors

        return list_neighbors(self, self._point_asked(i), "missing")  # type: ignore[arg-type]

    def plot_points(self, name: str, *, ax: Any = None, **options: Any) -> Any:
        """Draw the map coloured by a column of `point_scores`. See `gnomon.plot.plot_points`.

        Parameters
        ----------
        name : str
            Of the column, such as "trustworthiness" or "stretch".
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options
            Further arguments of `gnomon.plot.plot_points`.

        Returns
        -------
        gnomon.plot.MapDisplay
        """
        from gnomon.plot import plot_points

        return plot_points(self._plotted(), self.point_scores()[name], name, ax=ax, surface=self.surface, **options)
