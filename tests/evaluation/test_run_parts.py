"""Runs, refits and scores of points beside nulls: limits, what is left out, and what is told, by hand."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from gnomon._run import running
from gnomon.evaluation import PointNulls, compare_runs, continuity_nulls, dynamicviz, embedr, scdeed
from gnomon.evaluation.baselines import _correlations, _rank_agreement, _shuffled
from gnomon.evaluation.cluster_stability import follow_clusters
from gnomon.evaluation.map_stability import MapStability, _nearest, _neighbors_kept
from gnomon.evaluation.perturbation import Perturbations
from gnomon.evaluation.refits import _of_some, method_again, planned, refit
from gnomon.methods import PCA, UMAP


@pytest.fixture(name="X", scope="module")
def some_table():
    return np.random.default_rng(0).normal(size=(50, 4)) * [3, 2, 1, 1]


def test_verdicts_are_beyond_the_level_not_at_it():
    p_values = np.array([0.0, 0.049, 0.05, 0.5, 0.95, 0.951, 1.0, np.nan])
    found = PointNulls("name", p_values, np.zeros((3, 8)), p_values, p_values)
    words = ["trustworthy"] * 2 + ["undecided"] * 3 + ["dubious"] * 2 + ["undecided"]
    assert found.verdicts().tolist() == words
    assert found.verdicts(0.001).tolist() == ["trustworthy", *["undecided"] * 5, "dubious", "undecided"]
    assert found.to_dict()["null"] == np.zeros((3, 8)).tolist()
    assert repr(found) == "PointNulls(name='name', n_samples=8, n_nulls=3)"


def test_neighbours_of_embedr_are_three_perplexities_and_all_others_at_most(X):
    Y = X[:, :2]
    for perplexity, k in ((4.1, 13), (16.0, 48), (17.0, 49), (49.0, 49)):
        found = embedr(PCA(), X, Y, perplexity=perplexity)
        away = np.linalg.norm(X - X[7], axis=1)
        near = np.argsort(away, kind="stable")[1 : k + 1]
        q = 1 / (1 + np.sum((Y[near] - Y[7]) ** 2, axis=1))
        q /= q.sum()
        if perplexity < 49:
            low, high = 1e-9, 1e3
            for _ in range(200):
                beta = np.sqrt(low * high)
                p = np.exp(-beta * (away[near] ** 2 - away[near].min() ** 2))
                p /= p.sum()
                low, high = (beta, high) if -np.sum(p * np.log(p + 1e-300)) > np.log(perplexity) else (low, beta)
        else:
            p = np.full(49, 1 / 49)
        assert found.scores[7] == pytest.approx(np.sum(p * np.log(np.maximum(p, 1e-300) / q)), rel=1e-2, abs=1e-3)
    with pytest.raises(ValueError, match=r"perplexity=49\.5 must be at most 49 \(50 rows\)"):
        embedr(PCA(), X, Y, perplexity=49.5)


def test_affinities_that_vanish_add_nothing_and_are_no_nan():
    """A row beside one near neighbour alone has affinities of 0 to all others."""
    X = np.array([[0.0], [1e-3], *[[1e6 + 10.0 * i] for i in range(20)]])
    found = embedr(PCA(1), X, X, perplexity=1.01)
    assert np.isfinite(found.scores).all()


def test_two_rows_at_least_are_compared_with_each(X):
    Y = np.random.default_rng(1).normal(size=(50, 2))
    found = scdeed(PCA(), X, Y, share=0.04)
    np.testing.assert_allclose(np.abs(found.scores), 1.0)  # of two distances
    with pytest.raises(ValueError, match=r"share=0\.039 must be at least 0\.04, which is two rows \(50 rows\)"):
        scdeed(PCA(), X, Y, share=0.039)


def test_maps_that_are_no_maps_of_the_rows_are_refused(X):
    for wrong in (X[:, 0], X[:-1, :2], np.where(np.arange(50)[:, None] == 3, np.nan, X[:, :2])):
        with pytest.raises(
            ValueError, match=r"embedding of shape .* must be of shape \(50, n_components\), without NaN"
        ):
            scdeed(PCA(), X, wrong)


def test_equal_rows_are_not_taken_for_the_row_itself():
    """Of whole numbers, so that rows as far are as far to the last bit: the lower number comes first."""
    rng = np.random.default_rng(0)
    X, Y = np.repeat(rng.integers(0, 50, (6, 2)), 2, axis=0).astype(float), rng.normal(size=(12, 2))
    found = _rank_agreement(X, Y, 5)
    for i in range(12):
        others = np.delete(np.arange(12), i)
        away, shown = (np.linalg.norm(A[others] - A[i], axis=1) for A in (X, Y))
        expected = np.corrcoef(shown[np.argsort(away, kind="stable")][:5], np.sort(shown)[:5])[0, 1]
        assert found[i] == pytest.approx(expected)
    same = _correlations(np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]]), np.array([[1.0, 3.0, 2.0], [1.0, 2.0, 3.0]]))
    np.testing.assert_allclose(same, [0.5, np.nan])


def test_shuffled_sparse_tables_keep_their_format_and_order():
    from scipy.sparse import csr_array

    X = csr_array(np.random.default_rng(0).poisson(0.7, size=(30, 5)).astype(float))
    found = _shuffled(X, np.random.default_rng(1))
    assert found.format == "csr"
    assert found.has_sorted_indices
    np.testing.assert_array_equal(np.sort(found.toarray(), axis=0), np.sort(X.toarray(), axis=0))


def test_points_at_one_place_are_stable_and_points_without_pairs_unknown():
    nothing = np.zeros((3, 2))
    np.testing.assert_array_equal(dynamicviz([nothing, nothing]), 0.0)
    Y = np.random.default_rng(0).normal(size=(4, 2))
    drawn = np.array([[True, True, True, False], [True, True, False, True]])
    with np.errstate(all="raise"):
        found = dynamicviz([Y, 2 * Y], drawn)
    assert np.isnan(found).tolist() == [False, False, True, True]
    away = np.linalg.norm(Y[:, None] - Y, axis=2)
    times = 1.5 * away[0, 1], away[0, 2], away[1, 2], 2 * away[0, 3], 2 * away[1, 3]
    np.testing.assert_allclose(found[:2], (0.5 * away[0, 1]) ** 2 / np.mean(times) ** 2)
    np.testing.assert_array_equal(np.isnan(dynamicviz([Y, Y], ~np.ones((2, 4), bool))), True)
    held = np.where(drawn[:, :, None], [Y, 2 * Y], np.nan)
    np.testing.assert_array_equal(dynamicviz(list(held)), found)
    for shapes, maps in (("(4, 2)", [Y]), ("(4,), (4,)", [Y[:, 0]] * 2), ("(4, 2), (3, 2)", [Y, Y[:3]])):
        with pytest.raises(ValueError, match=re.escape(f"embeddings of shapes {shapes} must be two or more")):
            dynamicviz(maps)


def test_scores_of_continuity_are_shares_of_the_size_and_of_the_seed(monkeypatch, X):
    asked = []

    def moved(method, table, *, embedding, random_state):
        asked.append(random_state)
        return Perturbations(np.arange(50.0), np.arange(50), *np.zeros((2, 50)), np.zeros(50), 4.0)

    monkeypatch.setattr(sys.modules["gnomon.evaluation.continuity_nulls"], "perturbations", moved)
    found = continuity_nulls(PCA(), X, X[:, :2], random_state=7)
    np.testing.assert_array_equal(found.scores, np.arange(50.0) / 4)
    assert asked == [7, 7]
    assert found.p_values[49] == 1.0  # low is good
    assert found.p_values[0] == 1 / 50


def _line(*places):
    return np.array(places, dtype=float)[:, None] * [1.0, 0.0]


def test_clusters_of_one_run_or_at_one_place_do_not_move_or_deform():
    Y = np.concatenate([_line(0, 1, 2), _line(5, 5), _line(9)])
    clusters = [("a", np.arange(3)), ("b", np.arange(3, 5)), ("c", np.array([5]))]
    one = follow_clusters(Y[None], clusters, size=1.0, touching=0.5)
    np.testing.assert_array_equal(one.movement, 0.0)
    assert np.isnan(one.deformation).all()
    two = follow_clusters(np.stack([Y, Y]), clusters, size=1.0, touching=0.5)
    np.testing.assert_allclose(two.deformation, [0.0, np.nan, np.nan], atol=1e-12)
    assert two.touch_share.shape == (3, 3)
    assert two.to_dict()["touch_share"] == two.touch_share.tolist()
    nobody = follow_clusters(
        np.stack([Y, np.where(np.arange(6)[:, None] < 5, Y, np.nan)]), clusters, size=1.0, touching=1.0
    )
    assert np.isnan(nobody.distances[1, 2, 0])
    assert not nobody.touching[1, 2].any()


def test_a_cluster_of_one_touches_where_it_lies_within_the_spacing_of_the_other():
    """The spacing of six rows in a line, a step apart, is the median distance to the fifth other: 4 steps."""
    for gap, touches in ((3.9, True), (4.1, False)):
        Y = np.concatenate([_line(0, 1, 2, 3, 4, 5), _line(5 + gap)])
        clusters = [("line", np.arange(6)), ("one", np.array([6]))]
        found = follow_clusters(Y[None], clusters, size=1.0, touching=0.05)
        assert found.touching[0, 0, 1] == found.touching[0, 1, 0] == touches
    pair = [("one", np.array([0])), ("other", np.array([1]))]
    assert not follow_clusters(_line(0, 0)[None], pair, size=1.0, touching=1.0).touching.any()


def test_kept_neighbours_are_of_those_that_a_run_holds():
    reference = _line(0, 1, 2.1, 3.3, 4.6)
    run = _line(0, 1, 2.1, 3.3, 4.6)
    run[2] = np.nan
    mirrored = _line(0, 9, 1, 10, 2)
    found = _neighbors_kept(reference, np.stack([run, mirrored]), 2)
    near = [{1, 2}, {0, 2}, {1, 3}, {2, 4}, {3, 2}]
    other = [{2, 4}, {3, 4}, {0, 4}, {1, 4}, {2, 0}]
    first = [1.0, 1.0, np.nan, 1.0, 1.0]  # of neighbours held, all are kept
    second = [len(a & b) / 2 for a, b in zip(near, other, strict=True)]
    np.testing.assert_allclose(found, np.nanmean([first, second], axis=0))
    np.testing.assert_array_equal(_nearest(run, 4)[2], -1)
    assert _nearest(run, 4)[0].tolist() == [1, 3, 4, -1]
    np.testing.assert_array_equal(_nearest(np.full((3, 2), np.nan), 2), -1)


def test_a_summary_of_runs_tells_spreads_clusters_and_pairs():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(40, 2))
    labels = np.repeat(["left", "right", "third"], [12, 13, 15])
    runs = [Y + 0.1 * rng.normal(size=Y.shape) for _ in range(4)]
    found = compare_runs(runs, reference=Y, labels=labels, pairs=[[0, 39]], n_neighbors=5)
    low, middle, high = np.percentile(found.spread, [5, 50, 95])
    lines = found.summary().splitlines()
    assert lines[:3] == [
        "4 maps of 40 rows, varied: given",
        f"spread of a point over the size of the map: median {middle:.3f}, 5 to 95 %: {low:.3f} to {high:.3f}",
        f"its 5 neighbours in the map that stay: mean {found.neighbors_kept.mean():.3f}, by chance 0.128",
    ]
    assert lines[3] == f"{'':5}    rows   moves  deforms"
    clusters = found.clusters
    assert lines[4] == f"left       12{clusters.movement[0]:8.3f}{clusters.deformation[0]:9.3f}"
    distances = found.pair_distances[:, 0]
    assert lines[-1] == f"rows 0 and 39 lie {distances.min():.3f} to {distances.max():.3f} apart"
    told = {line.partition(" touch")[0] for line in lines if "touch" in line}
    names, share = clusters.names, clusters.touch_share
    assert told == {f"{names[a]} and {names[b]}" for a in range(3) for b in range(a + 1, 3) if share[a, b]}
    assert str(found) == found.summary()
    assert set(found.columns()) == {"spread over runs", "displacement from the mean", "neighbors kept over runs"}
    plain = found.to_dict()
    assert plain["clusters"]["names"] == names
    assert compare_runs(runs, n_neighbors=5).to_dict()["clusters"] is None
    np.testing.assert_array_equal(compare_runs(runs, n_neighbors=5).reference, runs[0])
    np.testing.assert_array_equal(found.dynamicviz(7), found.dynamicviz(7))
    assert not np.allclose(found.dynamicviz(7), found.dynamicviz())


def test_pairs_that_touch_are_listed_by_how_often_and_then_by_their_order():
    share = np.array([[0, 0.25, 0.75, 0], [0.25, 0, 0.75, 0.25], [0.75, 0.75, 0, 1], [0, 0.25, 1, 0]])
    clusters = SimpleNamespace(
        names=list("abcd"), sizes=np.full(4, 2), movement=np.zeros(4), deformation=np.zeros(4), touch_share=share
    )
    empty = np.empty((0, 2), int)
    rows = np.zeros((3, 2))
    given = [rows, np.zeros((2, 3, 2)), rows, np.ones(2), np.ones((2, 3), bool), 1.0, np.full(3, 2e-9)]
    given += [np.zeros(3), np.ones(3), 0.5, 1, clusters, empty, np.empty((2, 0)), 0.05, 0]
    found = MapStability("seeds", [{}, {}], *given)
    touching = [line for line in found.summary().splitlines() if "touch" in line]
    assert [line[:7] for line in touching] == ["c and d", "a and c", "b and c", "a and b", "b and d"]
    assert touching[0].endswith("touch in 100% of the runs")
    assert not found.unmoved
    given[6] = np.full(3, 0.9e-9)
    assert MapStability("seeds", [{}, {}], *given).unmoved


class _Method(BaseEstimator):
    """A method that counts how often neighbours are searched."""

    searches = 0

    def __init__(self, random_state=None, init=None, metric="euclidean", precomputed_knn=None, blocks=None):
        self.random_state, self.init, self.metric = random_state, init, metric
        self.precomputed_knn, self.blocks = precomputed_knn, blocks

    def fit_transform(self, X, y=None):
        _Method.searches += self.precomputed_knn is None
        self.seen = X
        return np.asarray(X)[:, :2]


@pytest.mark.parametrize(
    ("vary", "given", "graph", "searches"),
    [
        ("seeds", {}, {}, 1),
        ("starts", {}, {}, 1),
        ("parameters", {}, {}, 4),
        ("seeds", {"precomputed_knn": 5}, {}, 0),
        ("seeds", {"blocks": ["a"]}, {}, 4),
        ("seeds", {"metric": "precomputed"}, {}, 4),
        ("seeds", {}, {"n_samples": 49}, 4),  # of distinct rows
        ("seeds", {}, {"metric": "cosine"}, 4),  # not that of the table
    ],
)
def test_runs_of_other_seeds_share_neighbours_unless_these_were_given_or_differ(X, vary, given, graph, searches):
    class Sharing(_Method):
        def set_params(self, **given):
            return super().set_params(**{k: v for k, v in given.items() if k not in ("callback", "n_jobs", "verbose")})

        def fit_sharing_graph(self, X, n):
            _Method.searches += 1
            self.embedding_, self.graph_ = X[:, :2], SimpleNamespace(metric="euclidean")
            return SimpleNamespace(**{"metric": "euclidean", "n_samples": 50, **graph})

    _Method.searches = 0
    plan = planned("seeds", 3, None, None, 0)
    found = refit(Sharing(**given), X, plan, vary=vary, reference=None, seed=0)
    assert _Method.searches == searches
    assert len(found.embeddings) == 3
    assert found.drawn.all()
    assert found.settings == plan


def test_given_starts_and_distances_of_the_rows_drawn_are_handed_on(X):
    drawn = np.arange(50) % 3 > 0
    seen = {}

    class Watched(_Method):
        def fit_transform(self, X, y=None):
            seen.update(X=X, init=self.init)
            return np.zeros((len(X), 2))

        def transform(self, X):
            seen["others"] = X
            return np.ones((len(X), 2))

    found = _of_some(Watched(init=X[:, :2]), {"random_state": 1}, X, drawn)
    np.testing.assert_array_equal(seen["X"], X[drawn])
    np.testing.assert_array_equal(seen["init"], X[drawn, :2])
    np.testing.assert_array_equal(seen["others"], X[~drawn])
    np.testing.assert_array_equal(found, np.where(drawn, 0.0, 1.0)[:, None] * [1.0, 1.0])
    D = np.abs(X[:, :1] - X[:, 0])
    _of_some(Watched(metric="precomputed", init="random"), {}, D, drawn)
    np.testing.assert_array_equal(seen["X"], D[drawn][:, drawn])
    np.testing.assert_array_equal(seen["others"], D[~drawn][:, drawn])
    assert seen["init"] == "random"
    Watched.place = lambda self, X: np.full((len(X), 2), 7.0)  # before `transform`
    assert _of_some(Watched(), {}, X, drawn)[0, 0] == 7.0
    del Watched.place, Watched.transform
    np.testing.assert_array_equal(np.isnan(_of_some(Watched(), {}, X, drawn)[:, 0]), ~drawn)


def test_a_reference_without_a_seed_gets_that_of_the_call(X):
    for own, expected in ((None, 9), (4, 4)):
        seeds = []

        class Watched(_Method):
            def fit_transform(self, X, y=None, seeds=seeds):
                seeds.append(self.random_state)
                return X[:, :2]

        with running(n_threads=1):
            refit(Watched(random_state=own), X, [{}], vary="parameters", reference=None, seed=2**31 + 9)
            refit(Watched(random_state=own), X, [{}], vary="parameters", reference=X[:, :2], seed=2**31 + 9)
        assert seeds == [expected, own, own]


def test_what_is_no_method_is_named():
    for thing in (PCA, object(), type("Half", (), {"get_params": len, "set_params": len, "fit_transform": None})()):
        with pytest.raises(TypeError, match=f"found {type(thing).__name__}"):
            method_again(thing, {})
    again = method_again(UMAP(n_neighbors=7, verbose=True), {"min_dist": 0.3})
    assert (again.n_neighbors, again.min_dist, again.verbose) == (7, 0.3, False)
