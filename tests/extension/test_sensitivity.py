"""Exact sensitivities: what a new fit of changed data does, closed forms, invariances, honesty about the map."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from gnomon._run import running
from gnomon.affinities import ConditionalAffinity, DataDistances, FuzzyAffinity, GaussianAffinity, Inputs
from gnomon.exceptions import ConvergenceWarning
from gnomon.explanations import explain
from gnomon.extension.sensitivity import DataLoss, agreement, implicit, principal_sensitivity, sensitivity, solve
from gnomon.extension.sensitivity.leave_one_out import LeaveOneOut
from gnomon.extension.sensitivity.result import _compare
from gnomon.extension.sensitivity.solve import rigid_motions, without
from gnomon.extension.sensitivity.stationary import Stationarity, stationarity, warn_unless_stationary
from gnomon.kernels import CustomKernel, Gaussian, UMAPKernel
from gnomon.linalg import principal_components, procrustes
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import ConditionalDivergence, CrossEntropy, InfoNCE, KLDivergence, Stress
from gnomon.objectives.expansion import flat, unflat
from gnomon.optimizers import LBFGS, Newton

_N = 40
_X = np.random.default_rng(0).normal(size=(_N, 4)) * [3.0, 2.0, 0.7, 0.3]
_X[: _N // 2, 0] += 2.0
_GRAPH = compute_neighbors(_X.astype(np.float32), 30)
_UMAP = UMAPKernel(1.5769, 0.8951)


def _loss(affinity, loss, X, graph=_GRAPH):
    return DataLoss(affinity.derivative(Inputs(X, graph)), loss)


def _umap(affinities, **given):
    return CrossEntropy(affinities, _UMAP, **given)


LOSSES = {
    "t-SNE": lambda X: _loss(GaussianAffinity(13.0), KLDivergence, X),
    "symmetric SNE": lambda X: _loss(GaussianAffinity(13.0), lambda a: KLDivergence(a, Gaussian()), X),
    "SNE": lambda X: _loss(ConditionalAffinity(13.0), ConditionalDivergence, X),
    "UMAP": lambda X: _loss(FuzzyAffinity(), _umap, X),
    "MDS": lambda X: DataLoss(DataDistances(X), lambda d: Stress(d, dtype=np.float64)),
    "Sammon": lambda X: DataLoss(DataDistances(X), lambda d: Stress(d, weights="inverse", dtype=np.float64)),
}
_START = _X[:, :2] - _X[:, :2].mean(axis=0)


@pytest.fixture(scope="module")
def answers():
    """Return, of each loss, the sensitivity of two rows at a minimum."""
    return {name: sensitivity(made(_X), _START, rows=[3, 30], polish=True) for name, made in LOSSES.items()}


def _refitted(name, i, direction, step, start):
    X = _X.copy()
    X[i] += step * direction
    loss = LOSSES[name](X)
    return Newton(max_iter=60, tol=1e-14).minimize(loss, start).embedding


@pytest.mark.parametrize("name", LOSSES)
def test_a_new_fit_of_changed_data_moves_points_as_predicted(name, answers):
    found, i = answers[name], 3
    assert found.stationarity.is_minimum
    assert found.stationarity.gradient < 1e-8
    direction, step = np.array([0.5, -0.3, 0.8, 0.2]), 1e-4
    ahead, behind = (_refitted(name, i, direction, sign * step, found.embedding) for sign in (1.0, -1.0))
    motions = rigid_motions(found.embedding)
    actual = unflat(without(motions, flat(ahead - behind)[:, None])[:, 0], 2) / (2.0 * step)
    predicted = found.others(i) @ direction
    size = np.linalg.norm(actual)
    assert size > 0.0
    assert np.linalg.norm(predicted - actual) < 1e-4 * size
    np.testing.assert_allclose(found.own[0] @ direction, predicted[i], rtol=1e-7, atol=1e-10 * size)


@pytest.mark.parametrize("name", LOSSES)
def test_the_response_with_others_held_is_that_of_the_point_alone(name, answers):
    found, i, step = answers[name], 30, 1e-5

    def alone(sign, f):
        X = _X.copy()
        X[i, f] += sign * step
        loss, Y = LOSSES[name](X), found.embedding.copy()
        for _ in range(6):
            Y[i] -= np.linalg.solve(loss.expand(Y).own_blocks()[i], loss.gradient(Y)[i])
        return Y[i]

    expected = np.stack([(alone(1, f) - alone(-1, f)) / (2 * step) for f in range(4)], axis=1)
    np.testing.assert_allclose(found.fixed[1], expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", LOSSES)
def test_responses_hold_no_shift_and_no_turn_of_the_map(name, answers):
    found = answers[name]
    moved = flat(found.others(7))
    np.testing.assert_allclose(rigid_motions(found.embedding).T @ moved, 0.0, atol=1e-10 * np.abs(moved).max())


def test_turning_map_and_shifting_data_turns_the_answer(answers):
    found = answers["t-SNE"]
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    other = sensitivity(LOSSES["t-SNE"](_X + 5.0), found.embedding @ turn.T + 3.0, rows=[3, 30])
    np.testing.assert_allclose(other.own, turn @ found.own, rtol=1e-5, atol=1e-7 * np.abs(found.own).max())


def test_a_plane_mapped_isometrically_follows_its_points():
    """Data that lie in a plane, mapped by a turn: stress is 0, and moves in the plane stay isometric."""
    rng = np.random.default_rng(4)
    flat_data, frame = rng.normal(size=(15, 2)), np.linalg.qr(rng.normal(size=(5, 2)))[0]
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    Y = (flat_data - flat_data.mean(axis=0)) @ turn.T
    found = sensitivity(LOSSES["MDS"](flat_data @ frame.T), Y, rows=[2])
    np.testing.assert_allclose(found.fixed[0], turn @ frame.T, atol=1e-9)
    response = np.zeros((15, 2, 5))
    response[2] = turn @ frame.T
    expected = without(rigid_motions(Y), flat(response))
    np.testing.assert_allclose(flat(found.others(2)), expected, atol=1e-9)
    np.testing.assert_allclose(found.own[0] @ (np.eye(5) - frame @ frame.T), 0.0, atol=1e-9)
    steps = []
    for unit in (1.0, 4.0):
        with pytest.warns(ConvergenceWarning):
            off = sensitivity(LOSSES["MDS"](unit * flat_data @ frame.T), unit * (Y + 0.1 * flat_data**2), rows=[2])
        steps.append(off.stationarity.step)
    assert steps[0] == pytest.approx(steps[1], rel=1e-6)  # in radii of the map


def test_a_map_that_is_no_minimum_is_said_to_be_none():
    loss = LOSSES["UMAP"](_X)
    with pytest.warns(ConvergenceWarning, match=r"not at a minimum.*polish=True"):
        found = sensitivity(loss, 3.0 * _START, rows=[0])
    assert not found.stationarity.is_minimum
    assert np.isfinite(found.own).all()


def test_a_loss_without_a_minimum_is_said_to_have_none():
    """t-SNE of few rows and a small perplexity: the wider the map, the lower the loss."""
    graph = compute_neighbors(_X.astype(np.float32), 12)
    loss = _loss(GaussianAffinity(5.0), KLDivergence, _X, graph)
    with pytest.warns(ConvergenceWarning, match="no minimum: it falls while points move apart"):
        sensitivity(loss, _START, rows=[0], polish=True)


@pytest.mark.parametrize(("moved", "falls"), [(99.0, False), (100.0, False), (101.0, True)])
def test_points_that_polishing_moved_by_more_than_a_hundred_radii_speak_for_no_minimum(moved, falls):
    facts = Stationarity(gradient=0.1, step=0.5, curvature=1.0, damping=0.0, moved=moved, reason="max_iter")
    with pytest.warns(ConvergenceWarning, match=r"Raise max_iter\.|no minimum") as told:
        warn_unless_stationary(facts, polishing=True)
    assert ("no minimum" in str(told[0].message)) == falls


def test_pieces_that_nothing_joins_are_not_polished():
    X = np.vstack([_X, _X + 1000.0])
    loss = _loss(FuzzyAffinity(), _umap, X, compute_neighbors(X.astype(np.float32), 5))
    with pytest.raises(ValueError, match="they leave 2 pieces"):
        sensitivity(loss, X[:, :2] / 100.0, rows=[0], polish=True)


def test_negative_curvature_is_damped_and_reported():
    loss, Y = LOSSES["t-SNE"](_X), np.random.default_rng(1).normal(size=(_N, 2)) * 5.0
    with pytest.warns(ConvergenceWarning, match="smallest relative curvature -"):
        found = sensitivity(loss, Y, rows=[0])
    assert found.stationarity.curvature < 0.0 < found.stationarity.damping
    motions = rigid_motions(Y)
    project = np.eye(len(motions)) - motions @ motions.T
    lowest = np.linalg.eigvalsh(project @ loss.hessian(Y) @ project)[0]
    typical = np.median(np.abs(np.diagonal(loss.hessian(Y))))
    assert found.stationarity.curvature == pytest.approx(lowest / typical, rel=1e-2)
    with pytest.raises(ValueError, match="damping=0 must be more than the most negative curvature"):
        sensitivity(loss, Y, rows=[0], damping=0.0)


def test_the_smallest_curvature_at_a_minimum_is_that_of_the_hessian(answers):
    found, loss = answers["t-SNE"], LOSSES["t-SNE"](_X)
    values = np.linalg.eigvalsh(loss.hessian(found.embedding))
    typical = np.median(np.abs(np.diagonal(loss.hessian(found.embedding))))
    assert found.stationarity.curvature == pytest.approx(values[3] / typical, rel=1e-3)  # after three rigid motions


def test_a_row_alone_goes_back_to_its_place_and_to_that_of_a_row_that_it_becomes_like(answers):
    Y, loss = answers["t-SNE"].embedding, LOSSES["t-SNE"](_X)
    left_out, radius = loss.leave_one_out(Y), np.sqrt(np.square(Y - Y.mean(axis=0)).sum(axis=1).mean())
    squared = np.square(_X[:, None] - _X).sum(axis=2)
    for i, like in ((3, 30), (30, 3), (0, 25)):
        found = left_out.place(i, squared[[i, like]])
        assert found.shape == (2, 2)
        own, other = np.linalg.norm(found - Y[[i, like]], axis=1)
        assert own < 1e-3 * radius  # at a minimum each point is at that of its own loss
        assert other < 0.3 * np.linalg.norm(Y[i] - Y[like])
        np.testing.assert_array_equal(left_out.place(i, squared[[like]])[0], found[1])


def test_rows_alone_are_asked_of_sums_over_edges_and_pairs():
    for name in ("SNE", "MDS"):
        with pytest.raises(TypeError, match="affinities must be those of neighbours, joined over both directions"):
            LOSSES[name](_X).leave_one_out(_START)
    affinities = LOSSES["t-SNE"](_X).affinities
    with pytest.raises(TypeError, match="loss=InfoNCE must be a sum over edges and over all pairs"):
        LeaveOneOut(affinities, InfoNCE(affinities.values), _START)


def test_rows_are_answered_alike_in_any_batch(answers, monkeypatch):
    Y, loss, rows = answers["t-SNE"].embedding, LOSSES["t-SNE"](_X), [3, 30, 1, 0, 39]
    together = sensitivity(loss, Y, rows=rows)
    monkeypatch.setattr(implicit, "_BATCH", 2)
    parts = sensitivity(loss, Y, rows=rows)
    assert together.own.shape == together.fixed.shape == (5, 2, 4)
    for one, other in ((parts.own, together.own), (parts.fixed, together.fixed), (parts.own[:2], answers["t-SNE"].own)):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("d", "spanned", "motions"),
    [(1, 1, 1), (2, 2, 3), (2, 1, 3), (2, 0, 2), (3, 3, 6), (3, 2, 6), (3, 1, 5), (3, 0, 3)],
)
def test_rigid_motions_are_shifts_and_the_rotations_that_move_points(d, spanned, motions):
    Y = np.random.default_rng(0).normal(size=(30, spanned)) @ np.random.default_rng(1).normal(size=(spanned, d))
    found = rigid_motions(Y + 3.0)
    assert found.shape == (30 * d, motions)
    np.testing.assert_allclose(found.T @ found, np.eye(motions), atol=1e-12)


@pytest.mark.parametrize(
    ("given", "is_minimum", "told"),
    [
        (
            {},
            True,
            "at a minimum of its loss: relative gradient 0.001, 0.01 radii from it, smallest relative curvature 1.",
        ),
        ({"curvature": np.nan}, True, "at a minimum of its loss: relative gradient 0.001, 0.01 radii from it."),
        ({"step": 0.011}, False, "not at a minimum of its loss: relative gradient 0.001, 0.01 radii from it, smallest"),
        ({"curvature": 0.0}, False, "not at a minimum of its loss: "),
        ({"damping": 0.25}, True, "smallest relative curvature 1, damping 0.2."),
        ({"reason": "tol", "moved": 0.125}, True, "curvature 1; polishing moved the points by 0.12 radii."),
    ],
)
def test_how_near_a_map_is_to_a_minimum_is_told(given, is_minimum, told):
    facts = Stationarity(**{"gradient": 1e-3, "step": 0.01, "curvature": 1.0, "damping": 0.0} | given)
    assert facts.is_minimum == is_minimum
    assert told in facts.summary()


def test_the_solver_is_chosen_by_the_number_of_unknowns(answers, monkeypatch):
    Y, loss = answers["MDS"].embedding, LOSSES["MDS"](_X)
    for most, solver, dense in ((80, "auto", True), (79, "auto", False), (1, "dense", True), (80, "iterative", False)):
        monkeypatch.setattr(solve, "MOST_DENSE", most)
        assert isinstance(solve.hessian_system(loss, Y, solver=solver, damping=None), solve.DenseSystem) == dense


def test_the_step_to_the_minimum_is_as_long_as_that_away_from_it(answers):
    Y, loss = answers["t-SNE"].embedding, LOSSES["t-SNE"](_X)
    away = 1e-3 * without(rigid_motions(Y), np.random.default_rng(0).normal(size=(Y.size, 1)))[:, 0]
    told = solve.hessian_system(loss, Y, solver="dense", damping=None)
    found = stationarity(loss, Y + unflat(away, 2), told)
    assert found.step == pytest.approx(np.linalg.norm(away) / np.linalg.norm(Y - Y.mean(axis=0)), rel=0.02)


def test_both_solvers_agree(answers):
    dense, loss = answers["t-SNE"], LOSSES["t-SNE"](_X)
    found = sensitivity(loss, dense.embedding, rows=[3, 30], solver="iterative")
    np.testing.assert_allclose(found.own, dense.own, rtol=1e-4, atol=1e-5 * np.abs(dense.own).max())
    assert np.isnan(found.stationarity.curvature)
    shaken = dense.embedding + 0.01 * np.random.default_rng(0).normal(size=dense.embedding.shape)
    for start in (shaken, _START):
        polished = sensitivity(loss, start, rows=[3, 30], solver="iterative", polish=True)
        assert polished.stationarity.gradient < 1e-6


def test_bytes_do_not_depend_on_the_number_of_threads(answers):
    results = []
    for n_threads in (1, 2, 3):
        X = np.tile(_X, (8, 1)) + np.arange(8 * _N)[:, None] * 0.01
        Y = np.tile(answers["UMAP"].embedding, (8, 1)) + np.arange(8 * _N)[:, None] * 0.05
        with warnings.catch_warnings(), running(n_threads=n_threads):
            warnings.simplefilter("ignore", ConvergenceWarning)
            loss = _loss(FuzzyAffinity(), _umap, X, _wide_graph())
            found = sensitivity(loss, Y, rows=[0, 300])
            results.append(found.own.tobytes() + found.fixed.tobytes() + found.others(5).tobytes())
    assert results[0] == results[1] == results[2]


def _wide_graph():
    X = np.tile(_X, (8, 1)) + np.arange(8 * _N)[:, None] * 0.01
    return compute_neighbors(X.astype(np.float32), 10)


def test_scores_of_pca_move_as_a_new_fit_moves_them():
    found = principal_sensitivity(_X, 2, rows=[5])
    step, numbers = 1e-6, []
    for f in range(4):
        ends = []
        for sign in (1, -1):
            X = _X.copy()
            X[5, f] += sign * step
            ends.append(principal_components(X, 2, seed=0).transform(X))
        numbers.append((ends[0] - ends[1]) / (2 * step))
    expected = np.stack(numbers, axis=2)
    np.testing.assert_allclose(found.others(5), expected, atol=1e-7)
    np.testing.assert_allclose(found.own[0], found.others(5)[5], atol=1e-12)
    np.testing.assert_allclose(found.fixed[0], principal_components(_X, 2, seed=0).components, atol=1e-12)
    assert found.stationarity is None


def test_pca_refuses_no_rows_and_components_that_are_not_determined():
    with pytest.raises(ValueError, match=r"^sensitivity: rows must be at least one row number\. Leave rows out"):
        principal_sensitivity(_X, 2, rows=[])
    with pytest.raises(ValueError, match="must be at most 2"):
        principal_sensitivity(_X[:, :2], 3)
    with pytest.raises(ValueError, match="of a variance of its own"):
        principal_sensitivity(np.vstack([np.eye(2), -np.eye(2)]), 1)
    for gap, apart in ((1e-5, False), (1e-2, True)):  # beside a variance of a million times as much
        table = np.diag([1000.0, 1.0 + gap, 1.0])
        if apart:
            assert principal_sensitivity(np.vstack([table, -table]), 2).own.shape == (6, 2, 3)
        else:
            with pytest.raises(ValueError, match="component 1 must be of a variance of its own"):
                principal_sensitivity(np.vstack([table, -table]), 2)


@pytest.mark.parametrize("loss", ["PCA", "t-SNE", "SNE", "MDS"])
def test_changes_of_rows_together_add_up(loss, answers):
    found = principal_sensitivity(_X, 2) if loss == "PCA" else answers[loss]
    changes = np.zeros((_N, 4, 2))
    changes[5, 1, 0], changes[9, :, 0], changes[0, 3, 1] = 0.5, [1.0, -1.0, 0.0, 2.0], 3.0
    one = found.others(5) @ changes[5, :, 0] + found.others(9) @ changes[9, :, 0]
    expected = np.stack([one, found.others(0) @ changes[0, :, 1]], axis=2)
    np.testing.assert_allclose(found.along(changes), expected, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(found.along(changes[..., 0]), expected[..., 0], atol=1e-8 * np.abs(expected).max())
    assert not found.along(np.zeros((_N, 4))).any()


def test_sensitivity_and_explanation_of_a_linear_map_are_the_same():
    found = principal_sensitivity(_X, 2, rows=[0, 9])
    report = agreement(found, explain(_X, found.embedding, n_jobs=1), compared="fixed")
    np.testing.assert_allclose(report.cosine, 1.0, atol=1e-3)
    np.testing.assert_allclose(report.ratio, 1.0, atol=1e-2)
    assert "need not agree" in report.summary()
    assert json.loads(json.dumps(report.to_dict()))["rows"] == [0, 9]


def test_derivatives_are_compared_within_the_directions_that_neighbours_spread_in():
    displacements = np.repeat(np.diag([10.0, 8.0, 6.0, 0.1, 0.0]), 2, axis=0) * np.resize([1.0, -1.0], (10, 1))
    exact = np.array([[1.0, 0.0, 0.0, 3.0, 0.0], [0.0, 2.0, 1.0, 0.0, 1.0]])  # of squares 16, 6 in the first three
    turned = np.array([[0.0, -2.0], [2.0, 0.0]]) @ exact
    other = turned * [1.0, 1.0, 1.0, 9.0, -9.0]  # beyond the first three nothing is asked
    found = _compare(exact, other, displacements)
    np.testing.assert_allclose(found, [0.0, 1.0, 0.5, 1.0, 6.0 / 16.0], atol=1e-12)
    assert np.isnan(_compare(exact, 0.0 * other, displacements)).all()
    aside = np.array([[0.0, 0.0, 0.0, 3.0, 0.0]] * 2)
    assert np.isnan(_compare(aside, exact, displacements)).all()
    assert np.isnan(_compare(exact, aside, displacements)).all()
    assert np.isfinite(_compare(exact / np.sqrt(6.0), exact, displacements)).all()  # of length 1 there
    assert np.isnan(_compare(exact, other, 0.0 * displacements)).all()


def test_the_agreement_of_t_sne_is_a_number_for_each_row(answers):
    found = answers["t-SNE"]
    report = agreement(found, explain(_X, found.embedding, n_jobs=1))
    assert (np.abs(report.cosine) <= report.rotated_cosine + 1e-12).all()
    assert (report.rotated_cosine <= 1.0 + 1e-12).all()
    assert ((report.tangent_share > 0.0) & (report.tangent_share <= 1.0 + 1e-12)).all()


def test_the_answer_can_be_written_and_read(answers):
    found = answers["MDS"]
    assert json.loads(json.dumps(found.to_dict()))["stationarity"]["is_minimum"] is True
    assert "row 3: " in found.summary()
    assert "at a minimum" in found.summary()
    assert found.rigidity().shape == (2,)


def test_polishing_says_how_far_it_went(answers):
    found = answers["t-SNE"]
    assert found.stationarity.moved > 0.0
    again = sensitivity(LOSSES["t-SNE"](_X), found.embedding, rows=[3], polish=True)
    assert again.stationarity.moved < 1e-6
    assert procrustes(again.embedding, found.embedding, scaling=False).disparity < 1e-10


def test_newton_ends_where_l_bfgs_does_with_more_digits():
    loss = LOSSES["symmetric SNE"](_X)
    near = LBFGS(max_iter=500, tol=1e-3).minimize(loss, _START).embedding
    exact = Newton(tol=1e-12).minimize(loss, near)
    assert exact.converged
    assert np.linalg.norm(loss.gradient(exact.embedding)) < 1e-9 * loss.expand(exact.embedding).attraction
    assert loss.loss(exact.embedding) <= loss.loss(near)


def test_wrong_arguments_are_refused():
    loss = LOSSES["MDS"](_X)
    with pytest.raises(ValueError, match="solver='magic' must be one of"):
        sensitivity(loss, _START, solver="magic")
    with pytest.raises(ValueError, match=r"Y of shape \(3, 2\) must be"):
        sensitivity(loss, _START[:3])
    with pytest.raises(ValueError, match="row 99 must be below n_samples=40"):
        sensitivity(loss, _START, rows=[99])
    with pytest.raises(TypeError, match="rows must be a sequence of row numbers"):
        sensitivity(loss, _START, rows=[0.5])
    with pytest.raises(ValueError, match="1 feature_names must be n_features=4"):
        sensitivity(loss, _START, rows=[0], feature_names=["a"])
    with pytest.raises(ValueError, match="must be of the same length"):
        LOSSES["t-SNE"](_X[:5])
    with pytest.raises(ValueError, match='must be conditional, with normalization "rows"'):
        _loss(FuzzyAffinity(), ConditionalDivergence, _X)
    with pytest.raises(ValueError, match="affinities must be symmetric"):
        _loss(ConditionalAffinity(13.0), KLDivergence, _X).loss(_START)
    flatless = CustomKernel(lambda s: 1 / (1 + s), lambda s: -1 / (1 + s) ** 2, bounded=True)
    with pytest.raises(TypeError, match="second_derivative"):
        _loss(GaussianAffinity(13.0), lambda a: KLDivergence(a, flatless), _X)
    text = r"loss=InfoNCE must be a sum of terms over pairs \(added terms have no second derivative here\)\."
    with pytest.raises(TypeError, match=text):
        _loss(GaussianAffinity(13.0), InfoNCE, _X)
    with pytest.raises(TypeError, match=r"loss=object must be a sum of terms over pairs\.$"):
        _loss(GaussianAffinity(13.0), lambda _: object(), _X)
