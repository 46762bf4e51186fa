from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from gnomon.affinities import Affinities, fuzzy_simplicial_set
from gnomon.neighbors.graph import NeighborGraph

MakeAffinities = Callable[..., Affinities]


@pytest.fixture
def affinities_of() -> MakeAffinities:
    """A function (X, n_neighbors=10) -> Affinities."""

    def make(X: Any, n_neighbors: int = 10) -> Affinities:
        n_neighbors = min(n_neighbors, X.shape[0] - 1)
        distances, indices = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
        return fuzzy_simplicial_set(NeighborGraph(indices.astype(np.int32), distances.astype(np.float32)))

    return make
