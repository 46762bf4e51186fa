"""Safe descent: where it ends, how it stops, and that it goes on to the same bytes."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon._progress import Reporter
from gnomon.affinities import Gram
from gnomon.linalg import procrustes_error
from gnomon.objectives import Strain
from gnomon.optimizers import SafeDescent

X = np.random.default_rng(0).normal(size=(60, 6)) * [3.0, 2.0, 1.0, 0.5, 0.3, 0.1] + 4.0
START = 0.1 * np.random.default_rng(1).normal(size=(60, 2)) + 0.5


@pytest.fixture
def strain():
    return Strain(Gram.from_features(X))


def optimum(gram, d):
    found = gram.leading_eigenpairs(d)
    return found.vectors * np.sqrt(np.maximum(found.values, 0.0))


def _descent(rate, *, block=10, **options):
    return SafeDescent(rate, tol=None, n_iter_without_progress=None, block=block, **options)


def safe_descent(strain, **options):
    return _descent(strain.safe_bound(START).learning_rate, **options)


@pytest.mark.parametrize("preconditioned", [False, True])
def test_ends_at_the_leading_eigenvectors(strain, preconditioned):
    safe = strain.safe_bound(START)
    rate = 0.125 if preconditioned else safe.learning_rate
    tolerance = safe.gradient_tolerance(1e-10)
    solution = _descent(rate, preconditioned=preconditioned, min_grad_norm=tolerance).minimize(strain, START)
    centred, best = solution.embedding - solution.embedding.mean(0), optimum(strain.gram, 2)
    assert solution.converged
    assert procrustes_error(solution.embedding, best) < 1e-8
    np.testing.assert_allclose(centred @ centred.T, best @ best.T, atol=1e-6 * np.abs(best @ best.T).max())
    np.testing.assert_allclose(solution.embedding.mean(0), START.mean(0), atol=1e-12)
    eigenvalues = np.linalg.eigvalsh(np.cov(X.T, bias=True) * 60)
    assert strain.loss(solution.embedding) == pytest.approx(np.sum(eigenvalues[:-2] ** 2), rel=1e-9)


def test_the_safe_step_never_raises_the_loss(strain):
    losses = [loss for _, loss in safe_descent(strain, max_iter=300, block=1).minimize(strain, START).loss]
    assert len(losses) == 300
    assert (np.diff(losses) <= 1e-13 * losses[0]).all()


def test_the_error_shrinks_at_the_stated_rates(strain):
    values = strain.gram.leading_eigenpairs(3).values
    gamma = strain.safe_bound(START).gamma
    best = optimum(strain.gram, 2)
    expected = {False: 1 - gamma * (values[1] - values[2]), True: (1 + values[2] / values[1]) / 2}
    for preconditioned, rate, begin in ((False, gamma / 4, 150), (True, 0.125, 30)):
        first, second = (
            _descent(rate, preconditioned=preconditioned, max_iter=n).minimize(strain, START).embedding
            for n in (begin, begin + 20)
        )
        observed = (procrustes_error(second, best) / procrustes_error(first, best)) ** (1 / 20)
        assert observed == pytest.approx(expected[preconditioned], rel=2e-3)


def test_a_saddle_stays_and_zero_stays(strain):
    found = strain.gram.leading_eigenpairs(3)
    saddle = found.vectors[:, [0, 2]] * np.sqrt(found.values[[0, 2]])
    for start in (saddle, np.zeros((60, 2))):
        solution = safe_descent(strain, max_iter=50).minimize(strain, start)
        np.testing.assert_allclose(solution.embedding, start, atol=1e-10)


def test_a_component_that_is_missing_at_the_start_stays_missing_but_for_rounding(strain):
    found = strain.gram.leading_eigenpairs(4)
    start = 0.1 * found.vectors[:, 1:3]  # no overlap with the first component
    solution = safe_descent(strain, max_iter=40).minimize(strain, start)
    np.testing.assert_allclose(found.vectors[:, 0] @ solution.embedding, 0, atol=1e-8)
    expected = found.vectors[:, 1:3] * np.sqrt(found.values[1:3])
    assert procrustes_error(solution.embedding, expected) < procrustes_error(start, expected)


def test_surplus_columns_of_an_indefinite_similarity_vanish():
    vectors, _ = np.linalg.qr(np.concatenate([np.ones((30, 1)), np.random.default_rng(0).normal(size=(30, 3))], axis=1))
    strain = Strain(Gram.from_matrix((vectors[:, 1:] * [5.0, -2.0, -7.0]) @ vectors[:, 1:].T))
    start = 0.1 * np.random.default_rng(1).normal(size=(30, 2))
    step = strain.safe_bound(start).learning_rate
    solution = _descent(step, max_iter=4000).minimize(strain, start)
    sizes = np.linalg.svd(solution.embedding - solution.embedding.mean(0), compute_uv=False)
    assert sizes[0] ** 2 == pytest.approx(5.0, rel=1e-6)
    assert sizes[1] ** 2 < 0.05  # the decay is that of 1 / n_iter
    assert all(b <= a + 1e-12 for (_, a), (_, b) in zip(solution.loss, solution.loss[1:], strict=False))


@pytest.mark.parametrize("preconditioned", [False, True])
@pytest.mark.parametrize("stops", [(7,), (10, 25), (1, 2, 33)])
def test_resumed_runs_are_one_run_bit_for_bit(strain, stops, preconditioned):
    rate = 0.125 if preconditioned else strain.safe_bound(START).learning_rate
    optimizer = _descent(rate, preconditioned=preconditioned, max_iter=60)
    whole = optimizer.minimize(strain, START)
    part = None
    for stop in (*stops, None):
        part = optimizer.minimize(strain, START, state=None if part is None else part.state, stop_after=stop)
    assert part.embedding.tobytes() == whole.embedding.tobytes()
    assert part.n_iter == whole.n_iter == 60
    assert part.loss[-1] == whole.loss[-1]


def test_says_why_it_ended(strain):
    start = START.copy()
    full = safe_descent(strain, max_iter=13).minimize(strain, start)
    assert not full.converged
    assert full.reason.startswith("Iteration 13 of 13 was reached")
    assert [iteration for iteration, _ in full.loss] == [10, 13]
    np.testing.assert_array_equal(start, START)
    near = safe_descent(strain, min_grad_norm=1.0).minimize(strain, START)
    assert near.converged
    assert near.reason == f"The gradient's norm fell to min_grad_norm=1 in iteration {near.n_iter}."
    assert np.linalg.norm(strain.gradient(near.embedding)) <= 1.0
    asked = safe_descent(strain, block=5).minimize(
        strain, START, reporter=Reporter(lambda progress: progress.done == 15)
    )
    assert (asked.converged, asked.n_iter) == (False, 15)
    assert "callback asked to end after iteration 15" in asked.reason
    assert safe_descent(strain, max_iter=0).minimize(strain, START).n_iter == 0


def test_a_step_that_is_too_long_is_an_error_with_a_remedy(strain):
    with (
        np.errstate(all="ignore"),
        pytest.raises(FloatingPointError, match=r"SafeDescent: the embedding must stay finite .*Lower learning_rate"),
    ):
        SafeDescent(1.0).minimize(strain, START)


def test_wrong_starts_are_named(strain):
    with pytest.raises(ValueError, match=r"SafeDescent: Y0 of shape \(5, 2\) must be of shape \(n_samples=60"):
        safe_descent(strain).minimize(strain, START[:5])
    with pytest.raises(ValueError, match="SafeDescent: Y0 must be finite"):
        safe_descent(strain).minimize(strain, np.full((60, 2), np.nan))
    with pytest.raises(ValueError, match=r"SafeDescent: learning_rate=-1 must be one of 'safe' or a number >= 0"):
        SafeDescent(-1)
