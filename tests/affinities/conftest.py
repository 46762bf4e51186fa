from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.neighbors import NearestNeighbors

from gnomon.neighbors.graph import NeighborGraph

MakeGraph = Callable[[npt.ArrayLike, int], NeighborGraph]


@pytest.fixture
def neighbor_graph() -> MakeGraph:
    def make(X: npt.ArrayLike, n_neighbors: int) -> NeighborGraph:
        distances, indices = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
        return NeighborGraph(indices.astype(np.int32), distances.astype(np.float32))

    return make


@pytest.fixture
def eight_points() -> npt.NDArray[np.float64]:
    """The eight points of the stored reference numbers."""
    i, j = np.indices((8, 3))
    points: npt.NDArray[np.float64] = np.sin(1 + 1.7 * i + 0.9 * j + 0.31 * i * j)
    return points
