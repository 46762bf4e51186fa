"""The fit of an explanation is the one that predicts rows it has not seen, and the explanation says which."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon.evaluation import recovery_of_drivers
from gnomon.explanations import explain
from gnomon.explanations.choice import _clearly_better, _Test, _tests, choose_fit
from gnomon.explanations.reach import fits_around, predicted_shares
from gnomon.geometry.expansion import expand_axes_of_rows
from gnomon.geometry.inverse import regress_features
from gnomon.neighbors import NeighborGraph, compute_neighbors

_NONE = "a source distribution has no benchmarks"
make_map = pytest.importorskip("benchmarks.explanations", reason=_NONE).make_map
driven_manifold = pytest.importorskip("benchmarks.known_drivers", reason=_NONE).driven_manifold
driven_table = pytest.importorskip("benchmarks.known_drivers", reason=_NONE).driven_table


@pytest.fixture(scope="module")
def sparse_counts():
    table = driven_table("low depth", random_state=0)
    return table, make_map("known", table)


@pytest.fixture(scope="module")
def found_and_forward(sparse_counts):
    """The explanation of sparse counts, as it chooses to be and forward."""
    table, Y = sparse_counts
    return explain(table.X, Y), explain(table.X, Y, fit="forward")


def test_sparse_counts_are_explained_by_neighbours_in_the_map(sparse_counts, found_and_forward):
    table, (found, forward) = sparse_counts[0], found_and_forward
    assert (found.direction, found.neighborhood) == ("inverse", "map")
    assert found.scores[f"inverse {found.n_neighbors}"] > 1.5 * found.scores["forward"]
    assert recovery_of_drivers(found.importance, table.drivers).auc > 0.95
    assert recovery_of_drivers(forward.importance, table.drivers).auc < 0.85


def test_every_answer_is_of_the_chosen_fit(found_and_forward):
    found, _ = found_and_forward
    answer = found.why(5, 3)
    np.testing.assert_allclose(answer.effect, found.importance[5, answer.indices], rtol=1e-5)
    top = found.top_features(12)
    np.testing.assert_allclose(top.importance[5, :3], answer.effect, rtol=1e-5)
    np.testing.assert_allclose(found.axes_error(5, [4]), found.axes_error(5)[:, 4:5])
    assert answer.significant.any()
    said = f"features fitted by place over {found.n_neighbors} neighbours in the map (held-out R2 "
    assert said in found.summary()
    assert said in str(answer)
    assert answer.to_dict()["fit"] == found.describe_fit()
    assert 0.2 < np.median(found.r2) < np.median(found.fit_r2)
    assert np.isfinite(found.semi_axes[found.mask]).all()


def test_a_clean_surface_is_explained_forward_to_the_bit():
    data = driven_manifold("caps", 600, n_features=24, signal_to_noise=10, random_state=0)
    Y = make_map("isomap", data)
    found, plain = explain(data.X, Y), explain(data.X, Y, fit="forward")
    assert found.direction == "forward"
    assert found.importance.tobytes() == plain.importance.tobytes()
    assert found.r2.tobytes() == plain.r2.tobytes()
    assert found.n_neighbors == 15
    assert found.describe_fit() == "place fitted by features over 15 neighbours in the data, averaged 3 times"


def test_an_inverse_fit_can_be_asked_for():
    data = driven_manifold("sheets", 600, n_features=24, random_state=0)
    Y = make_map("known", data)
    found = explain(data.X, Y, fit="inverse")
    assert found.direction == "inverse"
    assert {"forward", f"inverse {found.n_neighbors}"} <= set(found.scores)
    assert recovery_of_drivers(found.importance, data.drivers, counted=~data.faint).auc > 0.97
    few = explain(data.X[:60], Y[:60], fit="inverse")
    assert (few.n_neighbors, few.scores) == (50, {})
    with pytest.raises(ValueError, match="fit"):
        explain(data.X, Y, fit="backward")


def test_a_random_map_is_not_believed_either_way():
    rng = np.random.default_rng(0)
    X, Y = np.log1p(rng.poisson(1.0, (500, 40))).astype(float), rng.normal(size=(500, 2))
    found = explain(X, Y)
    assert found.direction == "forward"
    assert max(found.scores.values()) < 0.05
    assert np.median(explain(X, Y, fit="inverse").r2) < 0.02


def test_the_choice_does_not_depend_on_threads_and_few_rows_are_not_compared(sparse_counts, found_and_forward):
    table, Y = sparse_counts
    graph = found_and_forward[1].graph
    one = on_threads(1, choose_fit)(table.X, Y, graph, ridge=10.0, pooling=3)
    three = on_threads(3, choose_fit)(table.X, Y, graph, ridge=10.0, pooling=3)
    assert one == three
    few = np.arange(0, len(Y), 40)
    assert explain(table.X[few], Y[few]).scores == {}


def test_forward_fits_are_kept_where_the_inverse_ones_predict_no_more():
    data = driven_manifold("tree", 600, n_features=24, signal_to_noise=2, random_state=0)
    found = explain(data.X, make_map("known", data))
    assert found.direction == "forward"
    assert found.scores["forward"] == max(found.scores.values()) > 0.2
    assert f"(held-out R2 {found.scores['forward']:.2f}, inverse " in found.describe_fit()


def test_the_fit_that_predicts_more_held_out_rows_finds_more_drivers():
    data = driven_manifold("tori", 600, n_features=24, signal_to_noise=2, random_state=0)
    Y = make_map("known", data)
    found, forward = explain(data.X, Y), explain(data.X, Y, fit="forward")
    assert found.direction == "inverse"
    assert found.scores["forward"] < found.scores[f"inverse {found.n_neighbors}"] < 1.5 * found.scores["forward"]
    aucs = [recovery_of_drivers(one.importance, data.drivers, counted=~data.faint).auc for one in (found, forward)]
    assert aucs[0] > aucs[1]


def written_out(X, Y, graph, ridge, pooling):
    """The scores of all fits, a test at a time: forward, and inverse over each number of points."""
    n = len(Y)
    held = np.zeros(n, dtype=bool)
    held[np.random.default_rng((0, 313)).permutation(n)[: n // 4]] = True
    seen, free = np.flatnonzero(~held), np.flatnonzero(~held)
    centres = free[np.unique(np.linspace(0, len(free) - 1, min(len(free), 100)).astype(int))]
    counts = [k for k in (50, 100, 200, 400) if 2 * k <= n]
    weights = (~held[graph.indices]).astype(np.float32)
    fits = fits_around(X, Y, graph, weights, centres.tolist(), ridge=ridge, rounds=pooling)
    sums = []
    for order in (np.arange(0, len(centres), 4), np.setdiff1d(np.arange(len(centres)), np.arange(0, len(centres), 4))):
        if sums:
            shares = shares_of(np.sum(sums, axis=0))
            if shares[1:].max() <= shares[0]:
                break
        for i in centres[order]:
            reached = {int(i)}
            for _ in range(3):
                reached |= {int(j) for row in reached for j in graph.indices[row]}
            near = sorted(reached - {int(i)}, key=lambda j: (np.sum((Y[j] - Y[i]) ** 2), j))
            reference, tested = [j for j in near if not held[j]][:30], [j for j in near if held[j]][:10]
            if len(reference) < 2 or not tested:
                continue
            middle = Y[reference].mean(axis=0)
            scale = np.mean(np.sum((Y[reference] - middle) ** 2, axis=1)) * len(tested)
            data, steps = X[tested] - X[reference].mean(axis=0), Y[tested] - middle
            if scale == 0:
                sums.append(np.zeros((1 + len(counts), 3)))
                continue
            data, steps = data / np.sqrt(scale), steps / np.sqrt(scale)
            nearest = seen[np.argsort(np.sum((Y[seen] - Y[i]) ** 2, axis=1), kind="stable")]
            axes = [expand_axes_of_rows(X, fits, np.array([i]))[0]]
            for k in counts:
                some = nearest[: k - k // 4]
                axes.append(regress_features(X, np.array(some)[None], Y).axes[0])
            told = [np.nan_to_num(data @ one.T) for one in axes]
            sums.append([[np.sum(steps**2), np.sum(steps * one), np.sum(one**2)] for one in told])
    return shares_of(np.sum(sums, axis=0)), counts


def shares_of(sums):
    total, product, square = np.moveaxis(np.asarray(sums), -1, 0)
    return np.divide(np.maximum(product, 0.0) ** 2, total * square, out=np.zeros_like(total), where=total * square > 0)


@pytest.mark.parametrize("noise", [0.05, 1.0, 3.0])
def test_scores_are_those_of_the_rule_written_out(noise):
    rng = np.random.default_rng(int(10 * noise))
    Y = rng.uniform(-1, 1, (220, 2))
    X = np.column_stack([np.sin(2 * Y), Y[:, :1] * Y[:, 1:], np.zeros((220, 3))]) + noise * rng.normal(size=(220, 6))
    graph = compute_neighbors(X, 5)
    found = choose_fit(X, Y, graph, ridge=0.1, pooling=1)
    shares, counts = written_out(X, Y, graph, 0.1, 1)
    assert list(found.scores) == ["forward", *(f"inverse {k}" for k in counts)]
    np.testing.assert_allclose(list(found.scores.values()), shares, rtol=1e-4, atol=1e-6)
    wanted = choose_fit(X, Y, graph, ridge=0.1, pooling=1, inverse=True)
    scores = [wanted.scores[f"inverse {k}"] for k in counts]
    most = max(k for k, score in zip(counts, scores, strict=True) if score >= 0.6 * max(scores))
    assert (wanted.direction, wanted.n_neighbors) == ("inverse", most)


def test_rows_all_in_one_place_take_no_part_in_the_choice():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(240, 5)), rng.normal(size=(240, 2))
    X[:80] *= 0.01  # near each other in the data
    Y[:80] = 3.0
    scores = choose_fit(X, Y, compute_neighbors(X, 5), ridge=0.1, pooling=0).scores
    assert scores
    assert np.isfinite(list(scores.values())).all()


def test_a_linear_map_is_not_compared_on_all_centres():
    """Where inverse fits do not lead on the first quarter of the centres, that quarter makes the scores."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(230, 5))
    Y = X @ rng.normal(size=(5, 2)) + 0.02 * rng.normal(size=(230, 2))
    graph = compute_neighbors(X, 12)
    found = choose_fit(X, Y, graph, ridge=0.01, pooling=0)
    assert (found.direction, found.n_neighbors) == ("forward", 12)
    shares, _ = written_out(X, Y, graph, 0.01, 0)
    np.testing.assert_allclose(list(found.scores.values()), shares, rtol=1e-4, atol=1e-6)
    wanted = choose_fit(X, Y, graph, ridge=0.01, pooling=0, inverse=True)
    assert wanted.scores != found.scores  # of all centres, since the number of points is to be chosen


@pytest.mark.parametrize(
    ("n", "counts"), [(99, []), (100, [50]), (199, [50]), (200, [50, 100]), (800, [50, 100, 200, 400])]
)
def test_inverse_fits_are_tried_over_half_the_rows_at_most(n, counts):
    rng = np.random.default_rng(0)
    Y = rng.uniform(-1, 1, (n + 3, 2))
    X = np.column_stack([np.sin(2 * Y), rng.normal(size=(n + 3, 2))])
    Y[[0, 5, n]] = np.nan  # rows without a place do not count
    found = choose_fit(X, Y, compute_neighbors(X, 6), ridge=0.1, pooling=0, inverse=True)
    assert list(found.scores) == (["forward", *(f"inverse {k}" for k in counts)] if counts else [])
    assert found.direction == "inverse"
    if not counts:
        assert found.n_neighbors == 50
        plain = choose_fit(X, Y, compute_neighbors(X, 6), ridge=0.1, pooling=0)
        assert (plain.direction, plain.n_neighbors, plain.scores) == ("forward", 6, {})


def test_the_inverse_fit_must_predict_more_by_two_standard_errors_of_the_jackknife():
    rng = np.random.default_rng(0)
    squares = np.column_stack([np.ones(20), rng.uniform(0.3, 0.6, 20), rng.uniform(0.8, 1.2, 20)])
    decided = set()

    def share(sums):
        return sums[1] ** 2 / sums[0] / sums[2]

    for gain in np.linspace(-0.05, 0.2, 60):
        inverse = squares.copy()
        inverse[:, 1] += gain + rng.normal(0, 0.1, 20)
        difference = share(inverse.sum(axis=0)) - share(squares.sum(axis=0))
        left = [np.delete(np.arange(20), t) for t in range(20)]
        without = np.array([share(inverse[some].sum(axis=0)) - share(squares[some].sum(axis=0)) for some in left])
        error = np.sqrt(19 / 20 * np.sum((without - without.mean()) ** 2))
        assert _clearly_better(inverse, squares) == (difference > 2 * error)
        decided.add((bool(difference > 2 * error), bool(difference > error), bool(difference > 3 * error)))
    assert len(decided) >= 4


def test_what_is_predicted_the_wrong_way_round_or_not_at_all_is_no_share():
    sums = np.array([[2.0, 1.0, 1.0], [2.0, -1.0, 1.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.5, 0.25]])
    np.testing.assert_allclose(predicted_shares(sums), [0.5, 0.0, 0.0, 0.0, 1.0])


def test_a_centre_with_one_row_to_start_from_or_none_to_foretell_tells_nothing():
    places = np.arange(12.0)[:, None] * [1.0, 0.0]
    near = (np.arange(12)[:, None] + [[1]]) % 12  # three steps lead to three rows
    graph = NeighborGraph(near.astype(np.int32), np.ones((12, 1), np.float32))
    held = np.zeros(12, bool)
    held[[2, 3, 8, 11]] = True
    found = {
        test.centre: (test.reference.tolist(), test.tested.tolist())
        for test in _tests(places, graph, held, np.arange(12))
    }
    # from 1 there is one row to start from; from 3 there is none to foretell
    assert 1 not in found
    assert 3 not in found
    assert found[7] == ([9, 10], [8])
    assert found[5] == ([6, 7], [8])


@pytest.mark.parametrize(
    ("first", "rest", "inverse", "expected"),
    [
        # of a first quarter on which inverse fits predict no more, and then of all centres
        ((0.5, 0.5, 0.4), (0.1, 0.9, 0.9), False, ("forward", 7, (0.5, 0.5, 0.4))),
        ((0.4, 0.5, 0.3), (0.4, 0.5, 0.3), False, ("inverse", 50, (0.4, 0.5, 0.3))),
        ((0.2, 0.5, 0.3), (0.2, 0.5, 0.3), False, ("inverse", 100, (0.2, 0.5, 0.3))),  # 0.6 of the best
        ((0.2, 0.5, 0.29), (0.2, 0.5, 0.29), False, ("inverse", 50, (0.2, 0.5, 0.29))),
        ((0.4, 0.5, 0.4), (0.4, 0.5, 0.4), False, ("inverse", 100, (0.4, 0.5, 0.4))),  # as much as the forward fit
        ((0.8, 0.5, 0.3), (0.8, 0.5, 0.3), True, ("inverse", 100, (0.8, 0.5, 0.3))),  # asked for
    ],
)
def test_the_inverse_fit_is_over_the_most_points_that_keep_six_tenths_of_its_best(
    first, rest, inverse, expected, monkeypatch
):
    def judged(X, places, tests, fits, seen, counts):
        assert counts == [50, 100]
        shares = first if tests[0].centre == centres[0] else rest
        sums = np.array([[1.0, share, share] for share in shares])
        return np.repeat(sums[None], len(tests), axis=0)

    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(240, 4)), rng.normal(size=(240, 2))
    held = np.zeros(240, dtype=bool)
    held[np.random.default_rng((0, 313)).permutation(240)[:60]] = True
    free = np.flatnonzero(~held)
    centres = free[np.linspace(0, 179, 100).astype(int)]
    monkeypatch.setattr("gnomon.explanations.choice._judge", judged)
    found = choose_fit(X, Y, compute_neighbors(X, 7), ridge=0.1, pooling=0, inverse=inverse)
    assert (found.direction, found.n_neighbors) == expected[:2]
    assert list(found.scores) == ["forward", "inverse 50", "inverse 100"]
    np.testing.assert_allclose(list(found.scores.values()), expected[2])


def test_rows_that_a_mask_leaves_out_are_not_reached():
    places = np.arange(6.0)[:, None] * [1.0, 0.5]
    near = np.array([[1, 5], [2, 5], [3, 5], [4, 5], [0, 5], [0, 1]], np.int32)
    mask = np.ones((6, 2), bool)
    mask[:, 1] = False
    graph = NeighborGraph(near, np.ones((6, 2), np.float32), mask)
    held = np.array([False, False, False, True, False, False])
    (test,) = _tests(places, graph, held, np.array([0]))
    assert (test.reference.tolist(), test.tested.tolist()) == ([1, 2], [3])
    assert (test.reference.dtype, test.centre) == (np.int64, 0)
    places[2] = np.nan  # one row to start from is left
    assert _tests(places, graph, held, np.array([0])) == []


@pytest.mark.parametrize(("n_tests", "compared"), [(0, False), (1, False), (2, True)])
def test_fits_are_compared_by_two_tests_at_least(n_tests, compared, monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(120, 4)), rng.normal(size=(120, 2))
    found = [_Test(0, np.array([1, 2]), np.array([3]))] * n_tests
    sums = np.array([[1.0, 0.5, 0.5], [1.0, 0.25, 0.25]])
    monkeypatch.setattr("gnomon.explanations.choice._tests", lambda *_: found)
    monkeypatch.setattr("gnomon.explanations.choice._judge", lambda X, Y, tests, *_: np.array([sums] * len(tests)))
    chosen = choose_fit(X, Y, compute_neighbors(X, 7), ridge=0.1, pooling=0)
    assert (chosen.direction, chosen.n_neighbors) == ("forward", 7)
    assert bool(chosen.scores) == compared


def test_a_sparse_table_is_judged_by_the_columns_that_its_rows_store(monkeypatch):
    rng = np.random.default_rng(0)
    Y = rng.uniform(-1, 1, (220, 2))
    words = rng.normal(size=(220, 300)) * (rng.random((220, 300)) < 0.005)  # most are in one neighbourhood or none
    X = np.column_stack([np.maximum(np.sin(3 * Y), 0.0), Y[:, :1] * Y[:, 1:], words])
    graph = compute_neighbors(X, 5)
    dense = choose_fit(X, Y, graph, ridge=0.1, pooling=1)
    widths = []

    def regress(values, *others, **known):
        widths.append(values.shape[1])
        return regress_features(values, *others, **known)

    monkeypatch.setattr("gnomon.explanations.choice._NUMBERS", 1)  # a neighbourhood at a time
    monkeypatch.setattr("gnomon.explanations.choice.regress_features", regress)
    found = choose_fit(sp.csr_array(X), Y, graph, ridge=0.1, pooling=1)
    assert found.direction == dense.direction
    assert found.scores == pytest.approx(dense.scores, rel=1e-9)
    assert max(widths) < 250
