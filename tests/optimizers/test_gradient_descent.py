"""Gradient descent: it descends, ends for a stated reason, resumes without a seam and stops when told."""

import math
import threading
import time

import numpy as np
import pytest
from tests.threads import on_threads

from gnomon import _core
from gnomon._progress import Reporter
from gnomon.exceptions import ConvergenceWarning
from gnomon.objectives import KLDivergence
from gnomon.optimizers import GradientDescent
from gnomon.optimizers.state import State, Stopping


class Parabola:
    """sum of y^2 / 2, which has no exaggeration."""

    evaluation = "exact"

    def __init__(self, n_samples):
        self.n_samples = n_samples

    def loss(self, Y):
        return float(np.square(Y, dtype=np.float64).sum() / 2)

    def gradient(self, Y):
        return Y.copy()

    def forces(self, Y):
        return -Y, np.zeros_like(Y)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_momentum_step_equals_its_formula(dtype, rtol):
    rng = np.random.default_rng(0)
    Y, gradient, velocity = (rng.normal(size=(500, 3)).astype(dtype) for _ in range(3))
    gains = rng.uniform(0.01, 2, size=(500, 3)).astype(dtype)
    new_gains = np.maximum(np.where(velocity * gradient < 0, gains + 0.2, gains * 0.8), 0.01)
    step = 0.5 * velocity - 0.1 * new_gains * gradient
    length = np.linalg.norm(step, axis=1, keepdims=True)
    step *= np.minimum(1.0, 0.4 / length)
    moved = Y + step - (Y + step).mean(0)
    norms = _core.momentum_step(Y, gradient, velocity, gains, _core.MomentumParameters(0.1, 0.5, 0.4, True, True), 2)
    np.testing.assert_allclose(gains, new_gains, rtol=rtol)
    np.testing.assert_allclose(velocity, step, rtol=10 * rtol, atol=rtol / 10)
    np.testing.assert_allclose(Y, moved, atol=rtol)
    np.testing.assert_allclose(norms, (np.linalg.norm(gradient), np.linalg.norm(step)), rtol=10 * rtol)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_pull_divides_the_gradient_first(dtype):
    rng = np.random.default_rng(1)
    given = [rng.normal(size=(5000, 2)).astype(dtype) for _ in range(3)]
    pull = rng.uniform(0.5, 3.0, size=5000).astype(dtype)
    parameters, found = _core.MomentumParameters(0.1, 0.5, 0.0, False, True), []
    for n_threads, divisor in ((1, None), (1, pull), (2, pull)):
        Y, velocity, gradient = (array.copy() for array in given)
        gradient = gradient / pull[:, None] if divisor is None else gradient
        norms = _core.momentum_step(Y, gradient, velocity, np.ones_like(Y), parameters, n_threads, divisor)
        found.append((*norms, Y.tobytes(), velocity.tobytes()))
    assert found[0] == found[1] == found[2]


def test_a_parabola_is_descended_to_its_bottom():
    Y0 = np.random.default_rng(0).normal(size=(40, 2))
    solution = GradientDescent(0.1, max_iter=2000, min_grad_norm=1e-3).minimize(Parabola(40), Y0)
    assert solution.converged
    assert solution.n_iter < 2000
    assert "fell below min_grad_norm=0.001" in solution.reason
    assert np.abs(solution.embedding).max() < 1e-2


def test_tsne_separates_clusters_and_lowers_the_loss(clusters, separation):
    objective = KLDivergence(clusters["total"])
    solution = GradientDescent(max_iter=400).minimize(objective, clusters["start"])
    losses = dict(solution.loss)
    assert losses[400] < losses[300] < objective.loss(clusters["start"])
    assert separation(solution.embedding, clusters["labels"]) > 0.99
    np.testing.assert_allclose(solution.embedding.mean(0), 0, atol=1e-4)
    assert objective.exaggeration == 1.0
    assert solution.converged
    assert solution.reason == "Iteration 400 of 400 was reached."


def test_momentum_starts_afresh_when_early_exaggeration_ends(clusters):
    objective = KLDivergence(clusters["total"])
    early = GradientDescent(max_iter=80, early_exaggeration_iter=30, block=20)
    whole = early.minimize(objective, clusters["start"])
    assert [i for i, _ in whole.loss] == [20, 30, 40, 60, 80]  # it ends a block
    part = early.minimize(objective, clusters["start"], stop_after=30)
    late = GradientDescent(max_iter=50, early_exaggeration_iter=0).minimize(objective, part.embedding)
    np.testing.assert_array_equal(whole.embedding, late.embedding)


@pytest.mark.parametrize("annealing", [0, 40, 50])
def test_stopping_rules_rest_while_exaggeration_is_early_or_falls(annealing):
    optimizer = GradientDescent(
        0.01, max_iter=500, early_exaggeration_iter=100, annealing_iter=annealing, min_grad_norm=1e9
    )
    assert optimizer.minimize(Parabola(4), np.eye(4)).n_iter == (200 if annealing == 50 else 150)


class Exaggerated(Parabola):
    """A parabola that remembers its exaggerations, and how stiff its points are."""

    def __init__(self, n_samples):
        super().__init__(n_samples)
        self.exaggeration, self.seen = 1.0, []
        self.pull = np.linspace(0.5, 2.0, n_samples, dtype=np.float32)

    def gradient(self, Y):
        self.seen.append(self.exaggeration)
        return self.exaggeration * self.pull[:, None] * Y


def test_a_mesh_is_coarse_until_points_settle(clusters, monkeypatch):
    objective, seen = KLDivergence(clusters["total"], evaluation="interpolated"), []
    gradient = objective.gradient

    def watched(Y):
        seen.append(objective.repulsions[0].coarsening)
        return gradient(Y)

    monkeypatch.setattr(objective, "gradient", watched)
    lengths = {"max_iter": 9, "early_exaggeration_iter": 2, "annealing_iter": 2}
    GradientDescent.annealed(**lengths, settling_iter=3).minimize(objective, clusters["start"])
    assert seen == [2.0] * 6 + [1.0] * 3
    seen.clear()
    GradientDescent.annealed(**lengths, settling_iter=0).minimize(objective, clusters["start"])
    assert seen == [1.0] * 9


def test_exaggeration_falls_with_the_fourth_power_of_what_is_left_of_the_annealing():
    objective = Exaggerated(4)
    descent = GradientDescent.annealed(learning_rate=0.01, max_iter=9, early_exaggeration_iter=2, annealing_iter=4)
    descent.minimize(objective, np.eye(4))
    at_start, *seen = objective.seen  # the gradient is first compared with the loss, which has no exaggeration
    assert at_start == 1
    np.testing.assert_allclose(seen, [12, 12, *(1 + 11 * (left / 4) ** 4 for left in (3, 2, 1, 0)), 1, 1, 1])
    assert objective.exaggeration == 1.0


def test_a_preconditioner_makes_points_of_all_pulls_alike():
    Y0 = np.random.default_rng(0).normal(size=(6, 2)).astype(np.float32)
    descent = GradientDescent.annealed(
        learning_rate=0.1, max_iter=7, early_exaggeration_iter=0, annealing_iter=0, centered=False
    )
    plain = GradientDescent(
        0.1, max_iter=7, early_exaggeration_iter=0, momentum=descent.resolve_momentum(6), gains=False, centered=False
    )
    ends = descent.minimize(Exaggerated(6), Y0).embedding
    np.testing.assert_allclose(ends, plain.minimize(Parabola(6), Y0).embedding, rtol=1e-5)


def test_annealed_descent_ends_lower_in_a_third_of_the_iterations_on_few_points(clusters):
    objective = KLDivergence(clusters["total"])
    usual, annealed = (
        descent.minimize(objective, clusters["start"]).loss[-1][1]
        for descent in (GradientDescent(), GradientDescent.annealed())
    )
    assert annealed < usual
    assert 3 * GradientDescent.annealed().max_iter == GradientDescent().max_iter


@pytest.mark.parametrize("annealed", [False, True])
@pytest.mark.parametrize("stop", [30, 60, 61, 83])
def test_two_runs_joined_are_one_run(stop, annealed, clusters):
    objective, make = KLDivergence(clusters["total"]), GradientDescent.annealed if annealed else GradientDescent
    optimizer = make(max_iter=120, early_exaggeration_iter=60)
    whole = optimizer.minimize(objective, clusters["start"])
    part = optimizer.minimize(objective, clusters["start"], stop_after=stop)
    before = part.embedding.copy()
    rest = optimizer.minimize(objective, clusters["start"], state=part.state)
    assert (part.n_iter, part.converged, rest.n_iter) == (stop, False, 120)
    np.testing.assert_array_equal(part.embedding, before)  # resuming leaves the first result alone
    np.testing.assert_array_equal(rest.embedding, whole.embedding)


def test_equal_bytes_for_any_number_of_threads(clusters):
    descend = GradientDescent(max_iter=120, early_exaggeration_iter=60).minimize
    results = [
        on_threads(n_threads, descend)(KLDivergence(clusters["total"]), clusters["start"]).embedding.tobytes()
        for n_threads in (1, 2, 3, 5)
    ]
    assert len(set(results)) == 1


def test_the_callback_sees_the_embedding_and_ends_the_descent(clusters):
    seen = []

    def callback(progress):
        if progress.done:
            assert not progress.embedding.flags.writeable
            seen.append((progress.done, progress.total, progress.loss))
        return progress.done >= 100

    reporter = Reporter(callback)
    reporter.begin("layout", 500)
    solution = GradientDescent(max_iter=500).minimize(
        KLDivergence(clusters["total"]), clusters["start"], reporter=reporter
    )
    assert [s[:2] for s in seen] == [(50, 500), (100, 500)]
    assert seen == [(i, 500, loss) for i, loss in solution.loss]
    assert not solution.converged
    assert solution.reason == "The callback asked to end after iteration 100 of 500."


def test_a_loss_that_no_longer_falls_ends_the_descent():
    # At rest from the first block on: float32 cannot lower the loss further.
    optimizer = GradientDescent(0.1, max_iter=5000, min_grad_norm=0.0, n_iter_without_progress=100)
    solution = optimizer.minimize(Parabola(10), np.zeros((10, 2)))
    assert solution.converged
    assert "has not fallen since iteration" in solution.reason
    assert solution.n_iter < 1000


def test_divergence_is_an_error_with_a_remedy(clusters):
    optimizer = GradientDescent(1e38, max_step_norm=None)
    with pytest.raises(FloatingPointError, match=r"must stay finite .*learning_rate=1e\+38.*Lower learning_rate"):
        optimizer.minimize(KLDivergence(clusters["total"]), clusters["start"])
    with pytest.raises(ValueError, match=r"Y0 must be finite \(1 rows are not, the first is row 3\)"):
        optimizer.minimize(Parabola(4), np.array([[0.0], [1.0], [2.0], [np.nan]]))


def test_ctrl_c_ends_the_descent_within_a_second(clusters, ctrl_c_is_heard):
    import _thread

    start = []

    def press():
        time.sleep(0.3)
        start.append(time.perf_counter())
        _thread.interrupt_main()

    thread = threading.Thread(target=press)
    thread.start()
    optimizer = GradientDescent(max_iter=10**6, n_iter_without_progress=10**6, min_grad_norm=0.0)
    with pytest.raises(KeyboardInterrupt):
        optimizer.minimize(KLDivergence(clusters["total"]), clusters["start"])
    thread.join()
    assert time.perf_counter() - start[0] < 1.0


def test_learning_rate_follows_size_and_exaggeration():
    optimizer = GradientDescent()
    assert optimizer.resolve_learning_rate(70_000, 12.0) == pytest.approx(70_000 / 48)
    assert optimizer.resolve_learning_rate(70_000) == 17_500
    assert optimizer.resolve_learning_rate(100, 12.0) == 50
    assert optimizer.resolve_learning_rate(96, 12.0, least=0.0) == 2
    annealed = GradientDescent.annealed()
    assert [annealed.resolve_momentum(n) for n in (10, 100, 1000, 10**6)] == [0.8, 0.9, 0.99, 0.99]
    assert [annealed.resolve_learning_rate(100, e) for e in (0.5, 1.0, 2.0, 12.0)] == [400, 100, 25, 100 / 24]
    assert GradientDescent.annealed(learning_rate=3.0).resolve_learning_rate(100) == 3
    with pytest.raises(ValueError, match="learning_rate=-1"):
        GradientDescent(-1)


def test_the_automatic_learning_rate_is_one_over_four_times_the_pull():
    descent = GradientDescent()
    assert descent.resolve_learning_rate(100_000) == 25_000
    assert descent.resolve_learning_rate(100_000, 4.0) == 6250
    assert descent.resolve_learning_rate(100, 4.0) == 50
    assert descent.resolve_learning_rate(100, 4.0, 2.0) == 1 / 32
    assert GradientDescent(3.0).resolve_learning_rate(100, 4.0, 2.0) == 3


class PullingParabola(Parabola):
    """A parabola that says how strong it pulls: the steps are then 1 / (4 * 2)."""

    mean_attraction = 2.0


def test_an_objective_says_how_strong_it_pulls():
    Y0 = np.ones((5, 2))
    descent = GradientDescent(early_momentum=0.0, gains=False, max_iter=1, centered=False)
    np.testing.assert_allclose(descent.minimize(PullingParabola(5), Y0).embedding, 0.875 * Y0)


class Hill(Parabola):
    """The same, with steps that lead up."""

    def gradient(self, Y):
        return -Y


@pytest.mark.parametrize(("patience", "n_iter"), [(100, 150), (10**6, 200)])
def test_a_loss_that_rose_is_told(patience, n_iter):
    """Whether patience ends or the iterations do."""
    optimizer = GradientDescent(
        0.001, max_iter=200, early_exaggeration_iter=0, gains=False, centered=False, n_iter_without_progress=patience
    )
    with pytest.warns(
        ConvergenceWarning, match=r"rose from 40 at the start to .*\. Of a loss of your own, .* Lower learning_rate"
    ):
        found = optimizer.minimize(Hill(40), np.ones((40, 2), np.float32))
    assert not found.converged
    assert found.n_iter == n_iter
    assert found.reason.startswith("The loss rose from ")


def test_a_loss_that_hardly_rose_is_not_told():
    state = State(embedding=np.zeros((3, 2)), best_loss=2.0, best_iteration=7)
    patient = Stopping(n_iter_without_progress=10)
    assert patient.rise(state, 2.19) == ""
    assert patient.rise(state, 2.21) == "The loss rose from 2 after iteration 7 to 2.21."
    state.best_loss = -0.5
    assert patient.rise(state, -0.41) == ""  # of 1 at least
    assert patient.rise(state, -0.39) != ""
    assert patient.rise(state, None) == ""
    assert patient.rise(state, -0.61, -0.7) == ""
    told = patient.rise(state, -0.59, -0.7)
    assert told.startswith("The loss rose from -0.7 at the start to -0.59. Of a loss of your own")
    assert patient.rise(state, -0.39, -0.4).startswith("The loss rose from -0.5 after iteration 7 to -0.39.")
    assert Stopping().rise(state, 9.0) == ""
    state.best_loss = math.inf
    assert patient.rise(state, 9.0) == ""
