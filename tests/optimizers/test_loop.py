"""The one loop keeps its promises for every optimizer: seams, threads, reports, ends and errors."""

import dataclasses

import numpy as np
import pytest
from tests.threads import on_threads

from gnomon._progress import Reporter
from gnomon.kernels import UMAPKernel
from gnomon.objectives import CrossEntropy, DensityCorrelation, KLDivergence
from gnomon.optimizers import LBFGS, Adam, GradientDescent, SafeDescent, SampledDescent

KERNEL = UMAPKernel(1.5769, 0.8951)
OPTIMIZERS = {
    "GradientDescent": GradientDescent(max_iter=90, early_exaggeration_iter=30, block=20),
    "Adam": Adam(0.3, max_iter=90, block=20),
    "Adam-linear": Adam(0.3, decay="linear", max_iter=90, block=20),
    "SafeDescent": SafeDescent(10.0, max_iter=90, block=20),
    "SafeDescent-backtracking": SafeDescent(1e5, backtracking=True, max_iter=90, block=20),
    "LBFGS": LBFGS(max_iter=90, block=20),
    "SampledDescent": SampledDescent(90, block=20, track_loss=True),
}
every_optimizer = pytest.mark.parametrize("name", OPTIMIZERS)


@pytest.fixture(scope="module")
def problem(clusters):
    """Return a function: (objective, start) on which an optimizer makes progress."""
    start = np.random.default_rng(3).normal(size=(300, 2)).astype(np.float32)

    def build(name):
        if name == "SampledDescent":
            return CrossEntropy(clusters["membership"], KERNEL), 4 * start
        return KLDivergence(clusters["total"]), start

    return build


def _assert_same(one, other):
    """Bit for bit: embedding, state, and why it ended."""
    assert one.embedding.tobytes() == other.embedding.tobytes()
    assert (one.n_iter, one.converged, one.reason) == (other.n_iter, other.converged, other.reason)
    for field in dataclasses.fields(one.state):
        np.testing.assert_array_equal(getattr(one.state, field.name), getattr(other.state, field.name))


@every_optimizer
def test_the_loss_falls_and_the_last_entry_is_that_of_the_embedding(name, problem):
    objective, start = problem(name)
    solution = OPTIMIZERS[name].minimize(objective, start)
    assert [i for i, _ in solution.loss] == sorted({i for i, _ in solution.loss})
    assert solution.loss[-1] == (solution.n_iter, objective.loss(solution.embedding))
    assert solution.loss[-1][1] < objective.loss(start)
    assert solution.timings.keys() >= {"loss"}
    assert len(solution.timings) >= 2


@every_optimizer
@pytest.mark.parametrize("stops", [(40,), (7, 33, 34), (89,)])
def test_resumed_runs_joined_are_one_run(name, stops, problem):
    objective, start = problem(name)
    optimizer = OPTIMIZERS[name]
    whole = optimizer.minimize(objective, start)
    state, losses = None, {}
    for stop in stops:
        part = optimizer.minimize(objective, start, state=state, stop_after=stop)
        assert (part.n_iter, part.converged) == (stop, False)
        assert f"{stop} of 90 was reached, as stop_after asked. Pass the state on" in part.reason
        before = part.embedding.copy()
        state, losses = part.state, losses | dict(part.loss)
    rest = optimizer.minimize(objective, start, state=state)
    np.testing.assert_array_equal(part.embedding, before)  # resuming leaves the earlier result alone
    _assert_same(rest, whole)
    losses |= dict(rest.loss)
    assert {i: losses[i] for i, _ in whole.loss} == dict(whole.loss)


@every_optimizer
def test_equal_bytes_for_any_number_of_threads(name, problem):
    results = [on_threads(n, OPTIMIZERS[name].minimize)(*problem(name)) for n in (1, 2, 3, 5)]
    for result in results[1:]:
        _assert_same(result, results[0])


@every_optimizer
def test_no_iterations_return_the_start_and_its_loss(name, problem):
    objective, start = problem(name)
    solution = OPTIMIZERS[name].minimize(objective, start, stop_after=0)
    np.testing.assert_array_equal(solution.embedding, start)
    assert solution.loss == [(0, objective.loss(start))]


@every_optimizer
def test_a_callback_sees_each_block_and_ends_the_descent(name, problem):
    objective, start = problem(name)
    seen = []

    def callback(progress):
        if progress.done:
            assert not progress.embedding.flags.writeable
            seen.append((progress.done, progress.loss))
        return progress.done >= 40

    reporter = Reporter(callback)
    reporter.begin("layout", 90)
    solution = OPTIMIZERS[name].minimize(objective, start, reporter=reporter)
    assert seen == solution.loss
    assert (solution.n_iter, solution.converged) == (40, False)
    assert solution.reason.startswith("The callback asked to end after ")
    assert solution.reason.endswith(" 40 of 90.")


@every_optimizer
def test_ctrl_c_in_a_callback_leaves_everything_as_it_was(name, problem):
    objective, start = problem(name)
    before = start.copy()
    part = OPTIMIZERS[name].minimize(objective, start, stop_after=10)
    state = part.state.copy()

    def callback(progress):
        if progress.done:
            raise KeyboardInterrupt

    reporter = Reporter(callback)
    reporter.begin("layout", 90)
    with pytest.raises(KeyboardInterrupt):
        OPTIMIZERS[name].minimize(objective, start, state=part.state, reporter=reporter)
    np.testing.assert_array_equal(start, before)
    assert getattr(objective, "exaggeration", 1.0) == 1.0
    for field in dataclasses.fields(state):
        np.testing.assert_array_equal(getattr(part.state, field.name), getattr(state, field.name))


def test_ctrl_c_in_a_gradient_restores_the_exaggeration(problem):
    objective, start = problem("GradientDescent")
    factors = []

    def interrupted(Y):
        factors.append(objective.exaggeration)
        raise KeyboardInterrupt

    objective.gradient = interrupted
    with pytest.raises(KeyboardInterrupt):
        OPTIMIZERS["GradientDescent"].minimize(objective, start)
    assert factors == [12.0]
    assert objective.exaggeration == 1.0


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name not in ("LBFGS", "SampledDescent")])
def test_a_schedule_is_followed_to_its_end(name, problems):
    optimizer, objective = OPTIMIZERS[name], problems["Phased"]()
    if name.startswith("SafeDescent"):
        optimizer = SafeDescent(0.5, backtracking=optimizer.backtracking, max_iter=90, block=20)
    elif name == "GradientDescent":
        optimizer = GradientDescent(0.5, max_iter=90, block=20, centered=False, gains=False, momentum=0.0)
    start = np.full((4, 2), 0.25)
    whole = optimizer.minimize(objective, start)
    assert list(dict.fromkeys(objective.calls)) == [(i, 90) for i in range(90)]
    assert whole.converged
    assert whole.reason == "Iteration 90 of 90 was reached."  # though it rested at the first centre
    np.testing.assert_allclose(whole.embedding, 5, atol=1)
    for stop in (40, 52):
        part = optimizer.minimize(problems["Phased"](), start, stop_after=stop)
        assert (part.embedding.mean() > 0.25) == (stop > 45)
        other = problems["Phased"]()
        _assert_same(optimizer.minimize(other, start, state=part.state), whole)
        done = optimizer.minimize(other, start, state=whole.state)
        assert done.loss == [whole.loss[-1]]


def test_a_schedule_is_followed_where_steps_are_compiled(problem):
    objective, start = problem("SampledDescent")
    optimizer = OPTIMIZERS["SampledDescent"]
    plain = optimizer.minimize(objective, start)
    calls = []
    objective.at = lambda *when: calls.append(when)
    _assert_same(optimizer.minimize(objective, start), plain)
    assert list(dict.fromkeys(calls)) == [(epoch, 90) for epoch in range(90)]


def test_a_stopping_rule_sees_what_one_run_sees(problems):
    # The loss at 60 is lower than at any block's end: looked at where a run was cut, it would put the end off.
    class Bumpy(problems["Quadratic"]):
        def loss(self, Y):
            return -1.0 if round(float(Y[0, 0])) == 940 else 1.0

        def gradient(self, Y):
            return np.ones_like(Y)

    objective = Bumpy(np.zeros((1, 1)), 1.0)
    optimizer = SafeDescent(1.0, tol=0.0, n_iter_without_progress=100, block=50)
    start = [[1000.0]]
    whole = optimizer.minimize(objective, start)
    assert (whole.n_iter, whole.converged, whole.reason) == (
        150,
        True,
        "The loss has not fallen since iteration 50.",
    )
    part = optimizer.minimize(objective, start, stop_after=60)
    assert part.loss[-1] == (60, -1.0)
    _assert_same(optimizer.minimize(objective, start, state=part.state), whole)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name != "SampledDescent"])
def test_points_stay_in_the_number_type_of_the_objective(name, dtype, problems):
    centre = np.arange(6.0).reshape(3, 2)
    objective = problems["Quadratic"](centre - centre.mean(0), (0.1, 0.05), dtype)  # which checks what it is given
    solution = OPTIMIZERS[name].minimize(objective, np.ones((3, 2)))
    assert solution.embedding.dtype == dtype
    assert {a.dtype for a in vars(solution.state).values() if isinstance(a, np.ndarray)} == {np.dtype(dtype)}


def test_refused_number_types_and_states_are_errors(clusters, problems, problem):
    objective, start = problem("SampledDescent")
    objective.dtype = np.float64
    with pytest.raises(ValueError, match="SampledDescent: the objective's dtype=float64 must be float32"):
        SampledDescent(5).minimize(objective, start)
    objective, start = problem("Adam")
    state = Adam(max_iter=5).minimize(objective, start).state
    with pytest.raises(TypeError, match=r"LBFGS: state of type AdamState must be a LBFGSState\. Pass the state of"):
        LBFGS().minimize(objective, start, state=state)
    with pytest.raises(ValueError, match="Adam: state of 300 points in float32 must be of n_samples=4 in float64"):
        Adam().minimize(problems["Valley"](4), start, state=state)
    with pytest.raises(ValueError, match="Adam: state of 300 points in float32 must be of n_samples=300 in float64"):
        Adam().minimize(problems["Valley"](300), start, state=state)
    with pytest.raises(ValueError, match=r"LBFGS: objective=Phased must be one that stays the same\. Use Adam"):
        LBFGS().minimize(problems["Phased"](), np.ones((4, 2)))


@pytest.mark.parametrize(
    ("optimizer", "setting", "remedy"),
    [
        (GradientDescent(1e300, max_step_norm=None), "learning_rate=1e.300", "Lower learning_rate, or check"),
        (Adam(1e308), "learning_rate=1e.308", "Lower learning_rate, or check"),
        (SafeDescent(1e300), "learning_rate=1e.300", "Lower learning_rate, or use backtracking=True"),
    ],
)
def test_a_step_into_the_infinite_is_an_error_with_a_remedy(optimizer, setting, remedy, problems):
    objective = problems["Valley"](3)
    who = type(optimizer).__name__
    match = rf"{who}: the embedding must stay finite \(it did not in iteration \d+ with {setting}\)\. {remedy}"
    with pytest.raises(FloatingPointError, match=match):
        optimizer.minimize(objective, np.arange(6.0).reshape(3, 2))


def test_a_start_of_infinite_loss_is_an_error(problems):
    with pytest.raises(FloatingPointError, match=r"LBFGS: .*\. Check the objective's gradient and the initial"):
        LBFGS().minimize(problems["Valley"](1), [[1e200, 0.0]])


@pytest.mark.parametrize(
    ("optimizer", "remedy"),
    [(Adam(1e-3, max_iter=3), "decay"), (SafeDescent(1e-6, max_iter=3), "LBFGS"), (LBFGS(max_iter=3), "Raise")],
)
def test_too_few_iterations_are_no_convergence(optimizer, remedy, problems):
    solution = optimizer.minimize(problems["Valley"](1), [[-1.2, 1.0]])
    assert not solution.converged
    assert "Iteration 3 of 3 was reached before the gradient's norm fell to tol=" in solution.reason
    assert remedy in solution.reason


def test_a_descent_tells_what_later_iterations_cost_and_where_it_goes_on(problem, monkeypatch):
    told = []
    monkeypatch.setattr(Reporter, "expect", lambda _, done, costs=(): told.append((done, list(costs))))
    (objective, start), descent = problem("Adam"), Adam(0.3, max_iter=8)
    descent.minimize(objective, start)
    objective.costs = lambda max_iter: [(max_iter // 2, 4.0)]
    begun = descent.minimize(objective, start, stop_after=2)
    descent.minimize(objective, start, state=begun.state)
    assert told == [(0, []), (0, [(4, 4.0)]), (2, [(4, 4.0)])]


def test_the_costs_are_told_anew_after_each_block(problem, monkeypatch):
    told = []
    monkeypatch.setattr(Reporter, "reckon", lambda _, costs: told.append(costs))
    monkeypatch.setattr(Adam, "costs", lambda _, objective, state: [(state.iteration, float(state.embedding[0, 0]))])
    (objective, start), descent = problem("Adam"), Adam(0.3, max_iter=3, block=1)
    solution = descent.minimize(objective, start)
    assert [one[0][0] for one in told] == [1, 2, 3]
    assert told[-1][0][1] == solution.embedding[0, 0]


def test_only_the_mesh_of_an_annealed_tsne_grows(clusters):
    annealed = GradientDescent.annealed()
    meshed, exact = (KLDivergence(clusters["total"], evaluation=name) for name in ("interpolated", "exact"))
    state = annealed.start(meshed, np.zeros((meshed.n_samples, 2), dtype=np.float32))
    *_, (first, _), _, (_, factor) = annealed.costs(meshed, state)
    assert first == 225
    assert factor > 1
    edges = clusters["total"].matrix.nnz
    meshed.added.join(DensityCorrelation(clusters["total"], np.ones(edges), KERNEL))
    assert 1 < annealed.costs(meshed, state)[-1][1] < factor  # the mesh is less of dearer iterations
    assert not annealed.costs(exact, state)
    assert not GradientDescent().costs(meshed, state)  # one mesh throughout
    solid = annealed.start(meshed, np.zeros((meshed.n_samples, 3), dtype=np.float32))
    assert not annealed.costs(meshed, solid)  # no mesh of the same kind


def test_epochs_cost_more_from_where_terms_act(clusters):
    objective = CrossEntropy(clusters["membership"], KERNEL)
    edges = clusters["membership"].matrix.nnz
    objective.added.join(DensityCorrelation(clusters["membership"], np.ones(edges), KERNEL, begins=0.7))
    objective.added.join(DensityCorrelation(clusters["membership"], np.ones(edges), KERNEL, weight=0.0))
    descent = SampledDescent(100)
    state = descent.start(objective, np.zeros((objective.n_samples, 2), dtype=np.float32))
    assert descent.costs(objective, state) == [(70, DensityCorrelation.cost)]
    assert DensityCorrelation.cost > 1
