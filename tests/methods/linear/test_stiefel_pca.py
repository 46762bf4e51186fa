"""StiefelPCA against PCA, its monotone loss, its determinism and its errors; the optimizer on known numbers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from gnomon import PCA
from gnomon.exceptions import ConvergenceWarning, DataWarning
from gnomon.methods.linear.stiefel_pca import StiefelPCA
from gnomon.objectives import ProjectionError, polar_factor
from gnomon.optimizers import PolarDescent

RATES = [1e-2, 0.3, 1.0, 10.0, 1e4, "infinite"]


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("parameters", [{}, {"learning_rate": 2.0}, {"step": "safe", "max_iter": 30_000}])
def test_directions_and_scores_are_those_of_pca_signs_included(iris, n_components, parameters):
    X = iris[0]
    model = StiefelPCA(n_components, random_state=0, **parameters).fit(X)
    direct = PCA(n_components).fit(X)
    assert model.solution_.converged
    assert model.projector_error_ < 1e-5
    np.testing.assert_allclose(model.components_, direct.components_, atol=1e-5)
    np.testing.assert_allclose(model.embedding_, direct.embedding_, atol=1e-4)
    np.testing.assert_allclose(model.explained_variance_, direct.explained_variance_, rtol=1e-7)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    np.testing.assert_allclose(
        model.inverse_transform(model.embedding_), direct.inverse_transform(direct.embedding_), atol=1e-4
    )


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("shape", [(60, 8), (8, 60)])
def test_the_loss_falls_in_every_iteration_for_every_rate(rate, shape):
    X = np.random.default_rng(0).normal(size=shape)
    objective = ProjectionError(X)
    solution = PolarDescent(rate, max_iter=60, tol=0.0, block=1).minimize(
        objective, np.random.default_rng(1).normal(size=(shape[1], 3))
    )
    losses = np.array([loss for _, loss in solution.loss])
    assert len(losses) == 60
    assert (np.diff(losses) <= 1e-13 * losses[0]).all()
    assert losses[-1] < losses[0]
    np.testing.assert_allclose(solution.embedding.T @ solution.embedding, np.eye(3), atol=1e-13)


def test_the_error_falls_at_the_rate_that_is_stated():
    X = np.diag([4.0, 3.0, 2.0, 1.0])
    X = np.concatenate([X, -X])  # S has twice their squares
    for rate, factor in ((1.0, (1 + 4 / 16) / (1 + 9 / 16)), ("infinite", 4 / 9)):
        errors = []
        for n_iter in (30, 31):
            U = PolarDescent(rate, max_iter=n_iter, tol=0.0).minimize(ProjectionError(X), np.eye(4)[:, :2] + 0.1)
            errors.append(np.linalg.norm(U.embedding[2:]))
        assert errors[1] / errors[0] == pytest.approx(factor, rel=0.01 if rate == "infinite" else 0.02)


def test_the_safe_step_never_raises_the_loss(digits):
    model = StiefelPCA(3, step="safe", max_iter=200, tol=1e-3, random_state=0).fit(digits[0][:300])
    losses = np.array([loss for _, loss in model.solution_.loss])
    assert (np.diff(losses) < 0).all()
    objective, U = ProjectionError(digits[0]), np.eye(64, 2) * 3
    largest = np.linalg.eigvalsh(np.cov(digits[0].T) * (len(digits[0]) - 1))[-1]
    assert 1 / (12 * 1.05 * largest * 9) < objective.safe_step(U) <= 1 / (12 * largest * 9)


def test_loss_and_gradient_are_the_same_by_the_scatter_matrix_and_by_products():
    X = np.random.default_rng(0).normal(size=(5, 9))
    U = np.random.default_rng(1).normal(size=(9, 2))
    Xc = X - X.mean(axis=0)
    for objective in (ProjectionError(X), ProjectionError(sparse.csr_array(X)), ProjectionError(np.tile(X, (2, 1)))):
        copies = 2 if objective._scatter is not None else 1
        assert objective.loss(U) == pytest.approx(copies * np.sum((Xc @ U @ U.T - Xc) ** 2))
        S = copies * Xc.T @ Xc
        np.testing.assert_allclose(
            objective.gradient(U), 2 * (S @ U @ U.T @ U + U @ U.T @ S @ U - 2 * S @ U), rtol=1e-10
        )


def test_at_rest_the_polar_factor_changes_nothing(iris):
    U = StiefelPCA(step="safe", random_state=0, tol=1e-9).fit(iris[0]).solution_.embedding
    np.testing.assert_allclose(polar_factor(U), U, atol=1e-6)


def test_sparse_and_wide_tables_agree_with_pca(digits):
    X = digits[0][:50].astype(np.float64)
    direct = PCA(2).fit(X)
    for form in (np.asarray, sparse.csr_matrix):
        model = StiefelPCA(random_state=0).fit(form(X))
        assert model.projector_error_ < 1e-5
        np.testing.assert_allclose(model.embedding_, direct.embedding_, atol=1e-4)


def _clear_gap(n_components):
    """Rows of which the first directions have variances of about 4 and the others of 0.01."""
    rng = np.random.default_rng(5)
    deviations = np.r_[np.linspace(2.2, 1.8, n_components), np.full(12 - n_components, 0.1)]
    turned = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    return (rng.normal(size=(300, 12)) * deviations) @ turned + 3.0


@pytest.mark.parametrize("n_components", [1, 3])
def test_no_regret_approaches_the_directions_as_the_rounds_grow(n_components):
    X = _clear_gap(n_components)
    errors = []
    for max_iter in (20, 200, 2000):
        model = StiefelPCA(n_components, step="no_regret", max_iter=max_iter, random_state=0).fit(X)
        errors.append(model.projector_error_)
        assert model.n_iter_ == max_iter
        np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(n_components), atol=1e-12)
    assert all(later < 0.75 * earlier for earlier, later in pairwise(errors))
    assert errors[-1] < 0.06


def test_no_regret_is_the_mean_of_normalised_steps_in_the_ball(iris):
    X, n_iter = iris[0], 30
    start = np.linalg.qr(np.random.default_rng(2).normal(size=(4, 2)))[0]
    objective = ProjectionError(X)
    U, total = start, np.zeros_like(start)
    for _ in range(n_iter):  # the first round is played at the start
        total += U
        gradient = objective.gradient(U)
        U = U - np.sqrt(2 / n_iter) * gradient / np.linalg.norm(gradient)
        U = U * min(1.0, np.sqrt(2) / np.linalg.norm(U))
    model = StiefelPCA(step="no_regret", max_iter=n_iter, init=3.0 * start).fit(X)
    np.testing.assert_allclose(model.solution_.embedding, total / n_iter, atol=1e-12)


@pytest.mark.parametrize("given", [{}, {"radius": 1.0, "gradient_bound": 2.0}])
def test_averaged_is_tuckers_descent_and_its_regret_keeps_the_bound(iris, given):
    X, n_iter = iris[0], 40
    start = polar_factor(np.random.default_rng(3).normal(size=(4, 2)))
    model = StiefelPCA(step="averaged", max_iter=n_iter, init=start, **given).fit(X)
    scatter = np.cov(X.T)
    R, G = given.get("radius", np.sqrt(2.0)), given.get("gradient_bound", 1.0)
    U, iterates, slopes = start, [], []
    for _ in range(n_iter):
        gradient = 2 * (scatter @ U @ (U.T @ U) + U @ (U.T @ scatter @ U) - 2 * scatter @ U)
        iterates.append(U)
        slopes.append(gradient / np.linalg.norm(gradient))
        U = U - R / (G * np.sqrt(n_iter)) * slopes[-1]
    np.testing.assert_allclose(model.solution_.embedding, np.mean(iterates, axis=0), atol=1e-10)
    best = start - R * np.sum(slopes, axis=0) / np.linalg.norm(np.sum(slopes, axis=0))
    regret = np.mean([np.vdot(u - best, g) for u, g in zip(iterates, slopes, strict=True)])
    assert model.regret_ == pytest.approx(regret, rel=1e-8)
    assert model.regret_bound_ == pytest.approx(R * G / np.sqrt(n_iter))
    assert model.regret_ <= model.regret_bound_


def test_averaged_approaches_the_directions_as_the_rounds_grow(iris):
    errors = [
        StiefelPCA(step="averaged", max_iter=rounds, random_state=0).fit(iris[0]).projector_error_
        for rounds in (30, 300, 3000)
    ]
    assert errors[2] < 0.5 * errors[0]
    assert errors[2] < 0.2


def test_no_regret_rests_where_there_is_no_gradient():
    with pytest.warns(DataWarning, match="6 rows hold 1 distinct row"):
        model = StiefelPCA(step="no_regret", max_iter=5, random_state=0).fit(np.ones((6, 3)))
    assert np.isfinite(model.components_).all()
    assert not model.embedding_.any()


@pytest.mark.parametrize("parameters", [{}, {"step": "safe"}, {"step": "no_regret"}])
@pytest.mark.filterwarnings("ignore::gnomon.exceptions.ConvergenceWarning")
def test_same_bytes_for_any_number_of_threads(digits, parameters):
    X = digits[0][:400]
    models = [StiefelPCA(random_state=3, max_iter=20, n_jobs=n, **parameters).fit(X) for n in (1, 2, 3)]
    assert len({model.embedding_.tobytes() for model in models}) == 1


def test_a_start_that_is_given_is_used(iris):
    start = PCA().fit(iris[0]).components_.T
    assert StiefelPCA(init=start).fit(iris[0]).n_iter_ == 0
    with pytest.raises(ValueError, match=r"StiefelPCA: init of shape \(2, 4\) must be of shape \(n_features, n_comp"):
        StiefelPCA(init=start.T).fit(iris[0])


def test_resuming_gives_the_run_without_a_break(digits):
    objective, start = ProjectionError(digits[0]), np.random.default_rng(0).normal(size=(64, 2))
    descent = PolarDescent(0.5, max_iter=25, tol=0.0)
    whole = descent.minimize(objective, start)
    part = descent.minimize(objective, start, stop_after=7)
    rest = descent.minimize(objective, start, state=part.state)
    np.testing.assert_array_equal(rest.embedding, whole.embedding)


def test_a_callback_can_stop_and_too_few_iterations_are_a_warning(iris):
    model = StiefelPCA(learning_rate=1e-4, callback=lambda progress: progress.done >= 20, random_state=0).fit(iris[0])
    assert model.n_iter_ == 20
    with pytest.warns(ConvergenceWarning, match=r"StiefelPCA: 3 iterations did not reach tol=1e-07\. Raise max_iter"):
        StiefelPCA(max_iter=3, random_state=0).fit(iris[0])


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"n_components": 5}, r"StiefelPCA: n_components=5 must be at most min\(n_samples, n_features\)=4"),
        ({"learning_rate": 0.0}, "learning_rate=0.0 must be one of 'infinite' or a number > 0"),
        ({"step": "plain"}, "step='plain' must be one of 'polar', 'safe', 'no_regret', 'averaged'"),
        ({"step": "no_regret", "learning_rate": 2.0}, r"learning_rate=2\.0 must be left out where step='no_regret'"),
        ({"step": "averaged", "learning_rate": 2.0}, r"learning_rate=2\.0 must be left out where step='averaged'"),
        ({"radius": 1.0}, r"radius=1\.0 must be left out where step='polar'"),
        ({"step": "no_regret", "gradient_bound": 2.0}, r"gradient_bound=2\.0 must be left out where step='no_regret'"),
        ({"step": "averaged", "gradient_bound": 0.5}, r"gradient_bound=0\.5 must be"),
        ({"step": "no_regret", "max_iter": 0}, "max_iter=0 must be at least 1 where step='no_regret'"),
        ({"tol": -1.0}, "tol=-1.0 must be a number >= 0"),
    ],
)
def test_errors_name_the_argument_and_the_rule(iris, parameters, text):
    with pytest.raises(ValueError, match=text):
        StiefelPCA(**parameters).fit(iris[0])
