"""Claims that rest on a start or on permutations say which by a random_state."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.affinities import Gram, fuzzy_simplicial_set
from gnomon.kernels import UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.theory import gradient_alignment, lowrank_alignment, pca_certificate

X = np.random.default_rng(0).normal(size=(30, 5)) * [5, 3, 1, 1, 1]


def _aligned(random_state):
    affinities, weights = fuzzy_simplicial_set(compute_neighbors(X, 5)), sp.eye_array(30).tocsr()[::-1]
    kernel = UMAPKernel.from_min_dist(0.1)
    found = gradient_alignment(affinities, weights, {"one": X[:, :2]}, kernel, random_state=random_state)
    return found["one"].null_mean


def _low(random_state):
    gram = Gram.from_features(X)
    approximation = gram.centred().approximate("nystrom", rank=10)
    return lowrank_alignment(gram, approximation, max_iter=5, random_state=random_state).gradient_norm[0]


def _certified(random_state):
    return pca_certificate(X, max_iter=3, random_state=random_state).loss[0]


@pytest.mark.parametrize("ask", [_aligned, _low, _certified])
def test_a_random_state_decides_the_start_or_the_permutations(ask):
    assert ask(3) == ask(3) != ask(4)
    assert ask(np.random.default_rng(0)) == ask(np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"^[a-z_]+: random_state=-1 must be in \[0, 2\*\*63\)"):
        ask(-1)
