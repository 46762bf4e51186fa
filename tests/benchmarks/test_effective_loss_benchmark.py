"""The evaluator of UMAP's effective loss agrees with sums written out, with gnomon's objective and graph."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.effective_loss import effective_loss, main, nearest_neighbor_memberships
from scipy.spatial.distance import cdist

from gnomon.affinities import Affinities, fuzzy_simplicial_set
from gnomon.kernels import UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import CrossEntropy

A, B = 1.577, 0.895


@pytest.fixture(name="graph", scope="module")
def some_graph() -> sp.csr_array:
    return nearest_neighbor_memberships(np.random.default_rng(0).normal(size=(1300, 6)))


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_the_sum_over_blocks_is_the_sum_over_all_pairs(graph, n_components):
    Y = np.random.default_rng(1).normal(size=(1300, n_components))
    Y[5] = Y[9]  # a pair at the same place costs the most, but not infinitely much
    mu, s = graph.toarray(), cdist(Y, Y, "sqeuclidean")
    far = np.maximum(s, 1e-3)
    pushed = np.log1p(far**-B / A) + B / (1e-3 * (1 + A * 1e-3**B)) * np.maximum(1e-3 - s, 0)
    np.fill_diagonal(pushed, 0)
    degrees = mu.sum(1)
    expected = np.sum(mu * np.log1p(A * s**B)) + np.sum(4.0 / (4 * 1300) * np.add.outer(degrees, degrees) * pushed)
    assert effective_loss(graph, Y, A, B, 4.0) == pytest.approx(expected, rel=1e-6)


def test_graph_and_loss_agree_with_those_that_are_descended(graph):
    X = np.random.default_rng(0).normal(size=(1300, 6))
    memberships = fuzzy_simplicial_set(compute_neighbors(X.astype(np.float32), 15)).matrix
    assert abs(memberships - graph).max() < 1e-4
    objective = CrossEntropy(Affinities(sp.csr_array(graph), "membership"), UMAPKernel(A, B), evaluation="exact")
    Y = np.random.default_rng(1).normal(size=(1300, 2)).astype(np.float32)
    assert effective_loss(graph, Y, A, B) == pytest.approx(objective.loss(Y), rel=1e-6)


def test_the_command_prints_loss_and_quality(capsys):
    assert main(["--rows", "200", "--repeats", "1", "--passes", "30"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("digits: 200 x 64")
    header, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:])
    assert {"loss", "trustworthiness", "preservation", "label_accuracy", "CPU s"} <= set(header)
    assert [row[0] for row in rows] == ["gnomon, auto, 30 passes"]
    assert all(float(cell.replace(",", "")) > 0 for row in rows for cell in row[1:-1])
    assert float(rows[0][-1]) >= 0  # to hundredths
