"""Rows apart from all others are those behind a gap, and not the end of a skewed continuum."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.clusters import find_clusters
from gnomon.clusters.votes import without_tails


@pytest.mark.parametrize("law", ["counts", "log-normal"])
def test_the_end_of_a_skewed_continuum_is_no_small_group(law):
    rng = np.random.default_rng(0)
    factor, loadings = rng.normal(size=(400, 1)), 0.6 * rng.normal(size=15)
    if law == "counts":
        X = rng.poisson(np.exp(0.8 + factor * loadings)).astype(float)
    else:
        X = np.exp(factor * loadings + 0.3 * rng.normal(size=(400, 15)))
    found = find_clusters(X)
    assert (len(found), len(found.apart)) == (0, 0)


def test_a_gap_keeps_a_group_and_steps_without_one_go_row_by_row():
    rng = np.random.default_rng(0)
    line = np.concatenate([rng.uniform(0, 1, 200), np.cumsum(np.linspace(0.05, 0.3, 12)) + 1.0])[:, None]
    X = np.concatenate([line, rng.normal(9.0, 0.05, (12, 1))])
    tail, group = np.arange(200, 212), np.arange(212, 224)
    kept = without_tails(X, np.arange(len(X)), np.concatenate([tail, group]), "euclidean")
    assert kept.tolist() == group.tolist()
    assert not len(without_tails(X, np.arange(len(X)), group[:5], "euclidean"))  # too few for five mates
