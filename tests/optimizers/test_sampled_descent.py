"""Sampled descent: it separates, repeats to the byte, resumes without a seam and stops when told."""

import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon._progress import Reporter
from gnomon.kernels import CustomKernel, CustomLaw, UMAPKernel
from gnomon.objectives import (
    CrossEntropy,
    DensityCorrelation,
    Frobenius,
    InfoNCE,
    KLDivergence,
    LinearAttraction,
    PairObjective,
    StatedCrossEntropy,
)
from gnomon.objectives.terms import AllPairs, EdgePairs
from gnomon.optimizers import SampledDescent

KERNEL = UMAPKernel(1.5769, 0.8951)


@pytest.fixture(scope="module")
def start():
    return np.random.default_rng(5).uniform(0, 10, size=(300, 2))


def test_clusters_separate_and_the_loss_falls(clusters, separation, start):
    objective = CrossEntropy(clusters["membership"], KERNEL)
    solution = SampledDescent(200, track_loss=True, block=40).minimize(objective, start)
    assert separation(solution.embedding, clusters["labels"]) > 0.99
    assert [epoch for epoch, _ in solution.loss] == [40, 80, 120, 160, 200]
    assert solution.loss[-1][1] < 0.8 * objective.loss(start.astype(np.float32))
    assert solution.converged
    assert solution.reason == "Epoch 200 of 200 was reached."


def test_sampling_reaches_nearly_the_loss_of_full_gradients(clusters, start):
    exact = CrossEntropy(clusters["membership"], KERNEL, evaluation="exact")
    sampled = SampledDescent(500).minimize(exact, start).embedding
    Y, rate = sampled.copy(), 1e-3
    for _ in range(300):  # polish with the exact gradient
        Y = Y - rate * np.clip(exact.gradient(Y), -20, 20)
    assert exact.loss(sampled) < 1.1 * exact.loss(Y)


@pytest.mark.parametrize("n_components", [1, 2, 3, 5])
def test_equal_bytes_for_any_number_of_threads(n_components, clusters):
    start = np.random.default_rng(5).uniform(0, 10, size=(300, n_components))
    results = [
        on_threads(n, SampledDescent(30).minimize)(
            CrossEntropy(clusters["membership"], KERNEL), start
        ).embedding.tobytes()
        for n in (1, 2, 3, 5)
    ]
    assert len(set(results)) == 1


def test_two_runs_joined_are_one_run(clusters, start):
    objective, optimizer = CrossEntropy(clusters["membership"], KERNEL), SampledDescent(100)
    whole = optimizer.minimize(objective, start)
    for stop in (50, 53):
        part = optimizer.minimize(objective, start, stop_after=stop)
        before = part.embedding.copy()
        rest = optimizer.minimize(objective, start, state=part.state)
        assert (part.n_iter, part.converged, rest.converged) == (stop, False, True)
        np.testing.assert_array_equal(part.embedding, before)
        np.testing.assert_array_equal(rest.embedding, whole.embedding)


def test_the_block_size_changes_nothing_and_the_seed_does(clusters, start):
    embeddings = [
        SampledDescent(40, block=block)
        .minimize(CrossEntropy(clusters["membership"], KERNEL, seed=seed), start)
        .embedding
        for block, seed in ((1, 0), (7, 0), (7, 1))
    ]
    np.testing.assert_array_equal(embeddings[0], embeddings[1])
    assert not np.array_equal(embeddings[1], embeddings[2])


def test_the_callback_ends_the_descent(clusters, start):
    reporter = Reporter(lambda progress: progress.done >= 20)
    reporter.begin("layout", 200)
    solution = SampledDescent(200).minimize(CrossEntropy(clusters["membership"], KERNEL), start, reporter=reporter)
    assert (solution.n_iter, solution.converged) == (20, False)
    assert solution.reason == "The callback asked to end after epoch 20 of 200."


def test_auto_epochs_follow_the_size():
    assert SampledDescent().resolve_max_iter(10_000) == 500
    assert SampledDescent().resolve_max_iter(10_001) == 200
    assert SampledDescent(7).resolve_max_iter(10_001) == 7


def test_divergence_is_an_error_with_a_remedy(clusters, start):
    with pytest.raises(
        FloatingPointError, match=r"SampledDescent: the embedding must stay finite .* Lower learning_rate"
    ):
        SampledDescent(50, learning_rate=1e38).minimize(CrossEntropy(clusters["membership"], KERNEL), start)


def test_ctrl_c_ends_the_descent_within_a_second(clusters, start, ctrl_c_is_heard):
    import _thread

    pressed = []

    def press():
        time.sleep(0.3)
        pressed.append(time.perf_counter())
        _thread.interrupt_main()

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        SampledDescent(10**6).minimize(CrossEntropy(clusters["membership"], KERNEL), start)
    thread.join()
    assert time.perf_counter() - pressed[0] < 1.0


@pytest.fixture(scope="module")
def with_density(clusters):
    """An objective with a density term, its distances drawn at random."""
    affinities = clusters["membership"]
    matrix = sp.csr_array(affinities.matrix)
    squared = np.random.default_rng(0).uniform(0.5, 2, size=matrix.nnz) * np.repeat(
        np.random.default_rng(1).uniform(0.1, 9, size=matrix.shape[0]), np.diff(matrix.indptr)
    )

    def make(*, begins=0.7, seed=0, evaluation="sampled"):
        term = DensityCorrelation(affinities, squared, KERNEL, begins=begins)
        return CrossEntropy(affinities, KERNEL, added=(term,), seed=seed, evaluation=evaluation, theta=0.0)

    return make


@pytest.mark.parametrize("evaluation", ["sampled", "exact"])
def test_where_density_acts_the_forces_are_those_of_all_pairs(evaluation, with_density, start):
    objective = with_density(evaluation=evaluation)
    points = start.astype(np.float32)
    _, gradient = objective.reference(points)
    assert np.abs(objective.unsampled_force(points) + gradient).max() < 1e-4 * np.abs(gradient).max()
    optimizer = SampledDescent(50)
    state = optimizer.minimize(objective, start, stop_after=35).state
    ends = [optimizer.minimize(with_density(seed=seed), start, state=state).embedding.tobytes() for seed in (1, 2)]
    assert ends[0] == ends[1]  # no draw is left that a seed could change
    sampled = [with_density(seed=seed) for seed in (1, 2)]
    for one in sampled:
        one.added.terms[0].unsampled = False
    ends = [optimizer.minimize(one, start, state=state).embedding.tobytes() for one in sampled]
    assert ends[0] != ends[1]


@pytest.mark.parametrize("isotropic", [False, True])
def test_the_first_step_along_all_pairs_is_adams(isotropic, with_density, start):
    objective = with_density(begins=0.0)
    points = start.astype(np.float32)
    force = objective.unsampled_force(points).astype(np.float64)
    squares = np.square(force)
    size = np.sqrt(squares.mean(1, keepdims=True) if isotropic else squares)
    state = SampledDescent(10, learning_rate=0.2, isotropic=isotropic).minimize(objective, start, stop_after=1)
    np.testing.assert_allclose(state.embedding - points, 0.2 * force / size, atol=1e-4)


def test_above_three_components_density_is_sampled_to_the_end(with_density):
    start = np.random.default_rng(5).uniform(0, 10, size=(300, 4))
    assert with_density().unsampled_force(start.astype(np.float32)) is None
    ends = [SampledDescent(10).minimize(with_density(begins=0.0, seed=k), start).embedding for k in (1, 2)]
    assert np.isfinite(ends[0]).all()
    assert not np.array_equal(*ends)


def test_with_density_threads_and_joints_leave_no_trace(with_density, start):
    optimizer = SampledDescent(60)
    whole = on_threads(1, optimizer.minimize)(with_density(), start)
    for n_threads in (2, 3):
        many = on_threads(n_threads, optimizer.minimize)(with_density(), start)
        assert many.embedding.tobytes() == whole.embedding.tobytes()
    for stop in (30, 42, 47, 55):
        part = optimizer.minimize(with_density(), start, stop_after=stop)
        rest = optimizer.minimize(with_density(), start, state=part.state)
        np.testing.assert_array_equal(rest.embedding, whole.embedding)


def _own_loss(affinities, kernel):
    """The squared difference from memberships, its two halves of laws of one's own."""
    double, square = CustomLaw(lambda k: 2 * k, lambda k: 0 * k + 2), CustomLaw(np.square, lambda k: 2 * k)
    return PairObjective(
        [EdgePairs(affinities.matrix, kernel, double, scale=-1.0)],
        [AllPairs(affinities.n_samples, kernel, square)],
    )


OTHER_LOSSES = {
    "frobenius": lambda a: Frobenius(a.matrix.toarray(), KERNEL),
    "stated_cross_entropy": lambda a: StatedCrossEntropy(a, KERNEL),
    "linear_attraction": lambda a: LinearAttraction(a, gravity=0.1),
    "a loss of one's own": lambda a: _own_loss(a, KERNEL),
}


@pytest.mark.parametrize("name", OTHER_LOSSES)
def test_draws_lower_any_sum_over_pairs_the_farther_the_more_there_are(name, clusters, start):
    objective = OTHER_LOSSES[name](clusters["membership"])
    first = objective.loss(start.astype(np.float32))
    few, more, many = (
        first - SampledDescent(30, track_loss=True, block=30, n_draws=n).minimize(objective, start).loss[-1][1]
        for n in (24, 96, 400)
    )
    assert 0.7 * many < few < more < many


@pytest.mark.parametrize("name", OTHER_LOSSES)
def test_threads_joints_and_seeds_of_any_sum_over_pairs(name, clusters, start):
    make, optimizer = OTHER_LOSSES[name], SampledDescent(30, seed=4)
    whole = optimizer.minimize(make(clusters["membership"]), start).embedding
    part = optimizer.minimize(make(clusters["membership"]), start, stop_after=13)
    rest = optimizer.minimize(make(clusters["membership"]), start, state=part.state)
    assert rest.embedding.tobytes() == whole.tobytes()
    for n in (2, 3):
        assert (
            on_threads(n, optimizer.minimize)(make(clusters["membership"]), start).embedding.tobytes()
            == whole.tobytes()
        )
    assert not np.array_equal(SampledDescent(30, seed=5).minimize(make(clusters["membership"]), start).embedding, whole)


def test_the_scale_of_a_loss_changes_nothing(clusters, start):
    target = clusters["membership"].matrix.toarray()
    weights = np.full_like(target, 2.0**-40)
    plain, tiny = (
        SampledDescent(30).minimize(Frobenius(target, KERNEL, weights=w), start).embedding for w in (None, weights)
    )
    np.testing.assert_array_equal(plain, tiny)


def test_a_cross_entropy_with_a_kernel_of_ones_own_is_sampled(clusters, separation, start):
    own = CustomKernel(KERNEL.value, KERNEL.derivative, bounded=True)
    objective = CrossEntropy(clusters["membership"], own, evaluation="exact")
    found = SampledDescent(200).minimize(objective, start).embedding
    assert separation(found, clusters["labels"]) > 0.99
    compiled = SampledDescent(200).minimize(CrossEntropy(clusters["membership"], KERNEL), start).embedding
    assert objective.loss(found) < 1.1 * objective.loss(compiled)


def test_what_cannot_be_sampled_is_refused_before_anything_moves(clusters, start):
    with pytest.raises(ValueError, match=r"KLDivergence: link='log' must be .*has no unbiased estimate"):
        SampledDescent(5).minimize(KLDivergence(clusters["total"]), start)
    with pytest.raises(ValueError, match=r"objective=InfoNCE must be a sum over pairs that can be sampled"):
        SampledDescent(5).minimize(InfoNCE(clusters["membership"]), start)


def test_compiled_epochs_run_by_blocks_unless_the_schedule_is_ones_own(clusters, start, monkeypatch):
    class Weaker(CrossEntropy):
        def at(self, iteration, max_iter):
            super().at(iteration, max_iter)

    ends = []
    step = SampledDescent.step

    def seen(self, objective, state, limit):
        ends.append(limit)
        return step(self, objective, state, limit)

    monkeypatch.setattr(SampledDescent, "step", seen)
    for kind, expected in ((CrossEntropy, [10, 20, 25]), (Weaker, list(range(1, 26)))):
        ends.clear()
        SampledDescent(25).minimize(kind(clusters["membership"], KERNEL), start)
        assert ends == expected


def test_exaggeration_is_a_repulsion_that_grows_to_all_of_it_by_equal_factors(clusters, start):
    def after(strength, since, epochs, **given):
        objective = CrossEntropy(clusters["membership"], KERNEL, repulsion_strength=strength)
        descent = SampledDescent(100, **given)
        return descent.minimize(objective, start, state=since, stop_after=epochs).state

    before = after(1.0, None, 15, early_exaggeration=16.0)
    for first, weaker in ((0, 16.0), (15, 4.0), (29, 16.0 ** (1 / 30))):  # epochs of the 30 in which it falls
        since = after(1.0, None, first, early_exaggeration=16.0)
        found = after(1.0, since, first + 1, early_exaggeration=16.0).embedding
        expected = after(1.0 / weaker, since, first + 1).embedding
        np.testing.assert_allclose(found, expected, atol=1e-4)
        assert not np.allclose(found, after(1.0, since, first + 1).embedding, atol=1e-2) or first == 29
    late = after(1.0, before, 30, early_exaggeration=16.0)
    plain = after(1.0, late, 100)
    np.testing.assert_array_equal(after(1.0, late, 100, early_exaggeration=16.0).embedding, plain.embedding)
    np.testing.assert_array_equal(after(1.0, None, 100, early_exaggeration=16.0).embedding, plain.embedding)


def test_maps_of_one_component_alone_begin_with_a_weak_repulsion(clusters, start):
    def found(n_components, **given):
        objective = CrossEntropy(clusters["membership"], KERNEL)
        return SampledDescent(30, **given).minimize(objective, start[:, :n_components]).embedding

    np.testing.assert_array_equal(found(1), found(1, early_exaggeration=30.0))
    np.testing.assert_array_equal(found(2), found(2, early_exaggeration=1.0))
    assert not np.array_equal(found(1), found(1, early_exaggeration=1.0))
