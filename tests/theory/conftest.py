"""The eight points of the independent results, and a graph in which all points have one degree."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.affinities import Affinities
from gnomon.kernels import UMAPKernel


@pytest.fixture(scope="session")
def reference():
    """Independent float64 results on eight points."""
    return json.loads((Path(__file__).parents[1] / "objectives" / "reference.json").read_text())


@pytest.fixture(scope="session")
def eight_points(reference):
    """Memberships, map and kernel of the independent results."""
    given = reference["umap"]
    memberships = Affinities(sp.csr_array(np.array(given["mu"], dtype=np.float32)), "membership")
    return memberships, np.array(reference["Y8"]), UMAPKernel(given["a"], given["b"])


@pytest.fixture(scope="session")
def ring():
    """Memberships of 60 points, each tied to two on either side, and a map of them that is no ring."""
    n = 60
    near = sp.eye_array(n, k=1) + sp.eye_array(n, k=1 - n) + 0.5 * (sp.eye_array(n, k=2) + sp.eye_array(n, k=2 - n))
    matrix = sp.csr_array((near + near.T).astype(np.float32))
    matrix.sort_indices()
    return Affinities(matrix, "membership"), np.random.default_rng(0).normal(size=(n, 2)) * 2
