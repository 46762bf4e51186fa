"""Euclidean neighbours of new rows through the cells of a table, built once for many questions."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon.neighbors.cells import Plan, Sample, Space, aim_for, group, make_plan
from gnomon.neighbors.euclidean import Distances, Indices, Points, Values, far_rows, search_far

__all__ = ["CellIndex"]


@dataclass(frozen=True)
class CellIndex:
    """The cells of a table and how many of them a new row looks into.

    A new row seeks candidates in its nearest cells, along the leading principal directions where there are many
    features, and ranks them by accurate distances. Its result is a function of the row alone.

    Attributes
    ----------
    points : Points
    space : Space
    join : CellJoin
        The table packed by cells.
    plan : Plan
    recall : float
        Share of the true neighbours found for a sample of the table's own rows, taken as new ones.
    """

    points: Points
    space: Space
    join: _core.CellJoin
    plan: Plan
    recall: float

    @classmethod
    def of(cls, points: Points, n_neighbors: int, *, target_recall: float, seed: int) -> CellIndex | None:
        """Build the index for questions of n_neighbors; None if comparing with all rows costs less.

        Parameters
        ----------
        points : Points of n_samples rows
        n_neighbors : int in [1, n_samples - 1]
        target_recall : float in [0, 1]
            Held on the sample.
        seed : int
            Decides cells and sample.
        """
        rng = np.random.default_rng(seed)
        sample = Sample.of(points, n_neighbors, rng)
        space = Space.of(points, rng)
        plan = make_plan(sample, space.coordinates, space.centers, n_neighbors, aim_for(target_recall), points)
        if plan is None:
            return None
        homes = _core.nearest_rows(space.centers, space.coordinates, 1, points.n_threads)[0]
        join = _core.CellJoin(space.coordinates, homes, *group(homes[:, 0], len(space.centers)), points.n_threads)
        while plan.n_probes <= len(space.centers):
            index = cls(points, space, join, plan, 0.0)
            found = index.find(points.X[sample.rows], n_neighbors + 1)
            recall = sample.recall_of(*found)
            if recall >= target_recall:
                return replace(index, recall=recall)
            plan = replace(plan, n_probes=math.ceil(1.5 * plan.n_probes))
        return None

    def find(self, X_new: Values, n_neighbors: int) -> tuple[Indices, Distances]:
        """Return the neighbours of new rows, ascending by (distance, index)."""
        points, space = self.points, self.space
        coordinates = space.coordinates_of(points, X_new)
        far = far_rows(coordinates)
        coordinates[far] = 0
        probes = _core.nearest_rows(space.centers, coordinates, self.plan.n_probes, points.n_threads)[0]
        order, offsets = group(probes[:, 0], len(space.centers))
        width = max(self.plan.n_candidates, n_neighbors)
        candidates = self.join.find(coordinates, probes, order, offsets, width, points.n_threads)
        indices, distances = points.rank(candidates, n_neighbors, X_new, order=order)
        short = np.flatnonzero((indices[:, -1] < 0) & ~far)
        if len(short):  # rows in cells with few members
            nobody: npt.NDArray[np.int32] = np.full(len(short), -1, np.int32)
            indices[short], distances[short] = points.scan(X_new[short], nobody, n_neighbors)
        search_far(points, X_new, far, indices, distances)
        return indices, distances
