"""Verdicts on rows of very many columns: those of the distances, dense or sparse, without writing rows out."""

import tracemalloc
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from gnomon.evaluation import find_illusions, is_nearer, is_real, judge_gaps
from gnomon.evaluation.gaps.judgement import Ground
from gnomon.evaluation.gaps.lines import PlantedLines
from gnomon.evaluation.paths import path_lengths, straight_distances
from gnomon.evaluation.wide_rows import are_wide, few_coordinates, n_varying
from gnomon.neighbors.straight import straight_rows

GROUPS = np.arange(150) % 3
FEW: dict[str, Any] = {"n_nulls": 19}


def _narrow(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return 150 rows of 12 columns in three groups, of which two are near and some rows are twice, and a map."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(150, 12)) * (rng.random((150, 12)) < 0.7) + 0.1
    X[:, :3] += 4.0 * np.eye(3)[GROUPS] * [1.0, 1.0, 3.0]
    X[147] = X[0]
    return X, np.column_stack([np.cos(2.0 * GROUPS), np.sin(2.0 * GROUPS)]) * 8.0 + rng.normal(size=(150, 2))


def _widened(X: np.ndarray, n_columns: int = 1500) -> sp.csr_array:
    """Return rows among columns of zeros, which change no distance."""
    wide = sp.lil_array((len(X), n_columns))
    wide[:, np.random.default_rng(1).choice(n_columns, X.shape[1], replace=False)] = X
    return sp.csr_array(wide)


def test_coordinates_have_the_distances_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 1200), density=0.05, rng=rng, format="csr")
    X = sp.csr_array(sp.vstack([X, X[:7]]))
    right = cdist(X.toarray(), X.toarray())
    for rows in (X, X.toarray()):
        assert are_wide(rows)
        found = few_coordinates(rows)
        assert found.shape == (67, 67)
        np.testing.assert_allclose(cdist(found, found), right, atol=1e-7)
        np.testing.assert_array_equal(found[60:], found[:7])
        np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=1e-7)
    assert not are_wide(X[:, :1000])
    assert n_varying(X) == n_varying(X.toarray()) == np.count_nonzero(np.ptp(X.toarray(), axis=0))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_distances_of_sparse_rows_are_those_of_dense(metric: str) -> None:
    X = _narrow()[0]
    dense, sparse = straight_rows(X, metric), straight_rows(sp.csr_array(X), metric)
    np.testing.assert_allclose(sparse.toarray(), dense, rtol=1e-15)
    np.testing.assert_allclose(straight_distances(sparse), cdist(dense, dense), atol=1e-7)
    np.testing.assert_allclose(path_lengths(sparse), path_lengths(dense), atol=1e-7)


ASKED: dict[str, Callable[..., Any]] = {
    "gaps": lambda X, Y, metric: list(judge_gaps(X, Y, labels=GROUPS, columns={}, metric=metric, **FEW)),
    "island": lambda X, Y, metric: [is_real(X, Y, GROUPS == 0, columns={}, metric=metric, **FEW)],
    "illusions": lambda X, Y, metric: list(find_illusions(X, Y, GROUPS, metric=metric)),
    "nearer": lambda X, Y, metric: [is_nearer(X, Y, GROUPS == 0, GROUPS == 1, GROUPS == 2, metric=metric)],
}


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_verdicts_on_wide_rows_are_those_without_the_columns_of_zeros(ask: Callable[..., Any], metric: str) -> None:
    X, Y = _narrow()
    right, wide = ask(X, Y, metric), _widened(X)
    for table in (wide, wide.toarray()):
        for one, other in zip(ask(table, Y, metric), right, strict=True):
            for found, expected in zip(astuple(one), astuple(other), strict=True):
                if isinstance(expected, str) or expected is None:
                    assert str(found).replace(" (a map with n_pcs=20)", "") == str(expected)
                else:
                    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_verdicts_on_wide_sparse_rows_do_not_write_them_out(ask: Callable[..., Any], metric: str) -> None:
    X, Y = _narrow()
    wide = _widened(X, 40_000)
    ask(_widened(X), Y, metric)
    tracemalloc.start()
    ask(wide, Y, metric)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150 * 40_000 * 8 / 5


def test_planted_lines_of_wide_rows_count_the_columns_that_vary() -> None:
    rng = np.random.default_rng(0)
    X = sp.random_array((80, 1500), density=0.02, rng=rng)  # some columns are never stored, others once
    X = sp.csr_array(sp.hstack([X, np.ones((80, 1))]))
    a = np.arange(80) < 30
    ground = Ground.of(X, None, metric="euclidean", max_rows=80, n_nulls=19, seed=0)
    found, right = ground._planted_lines(a, ~a), PlantedLines.of(X.toarray(), a, ~a, 0)
    assert found.n_hidden == right.n_hidden > 0
    np.testing.assert_allclose(found.hidden, right.hidden, rtol=1e-6)
    np.testing.assert_allclose(found.deviations[:78], right.deviations[:78], rtol=1e-6)
    np.testing.assert_allclose(np.abs(found.rows[:, :78]), np.abs(right.rows[:, :78]), atol=1e-5)
