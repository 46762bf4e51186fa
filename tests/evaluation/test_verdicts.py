"""Verdicts: right on data of known answers, their figures bounded as they claim, bad input refused in the one form."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist, squareform
from scipy.special import polygamma
from scipy.stats import false_discovery_control, norm, ttest_ind

from gnomon._false_discoveries import adjusted_p_values, are_discoveries
from gnomon._run import running
from gnomon.evaluation import (
    are_apart,
    find_illusions,
    is_continuum,
    is_denser,
    is_nearer,
    is_real,
    judge_gaps,
    null_scores,
    structureless,
)
from gnomon.evaluation.densities import neighbors_of
from gnomon.evaluation.gaps import falls, judgement
from gnomon.evaluation.gaps.falls import Fall, fall_between
from gnomon.evaluation.gaps.judgement import Ground
from gnomon.evaluation.gaps.saddles import Landscape, NullDips, _of_clouds, _of_uniform
from gnomon.evaluation.nulls import _point_p_values
from gnomon.evaluation.paths import path_lengths
from gnomon.evaluation.words import percent
from gnomon.maps import Map
from gnomon.neighbors import compute_neighbors

FAST = {"n_nulls": 19}


def gaussians(gap, n=300, d=3, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[: n // 2, 0] += gap
    return X, np.arange(n) < n // 2


def circles(n=600, seed=0):
    rng = np.random.default_rng(seed)
    outer, angle = np.arange(n) % 4 > 0, rng.uniform(0, 2 * np.pi, n)
    X = np.where(outer, 3.0, 1.0)[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    return X + 0.08 * rng.normal(size=(n, 2)), outer


def test_groups_with_a_gap_are_apart_and_each_is_real():
    X, a = gaussians(10)
    found = are_apart(X, X[:, :2], a, ~a, **FAST)
    assert (found.answer, found.finding, found.in_map) == ("yes", "two groups", "yes")
    assert found.p_value == 1 / 20
    assert not found.is_illusion
    assert found.interval[0] <= found.statistic <= found.interval[1]
    assert is_real(X, None, a, **FAST).answer == "yes"
    assert is_continuum(X, None, a, ~a, **FAST).answer == "no"


def test_rings_around_each_other_are_apart_though_no_line_parts_them():
    X, outer = circles()
    assert are_apart(X, None, outer, ~outer, **FAST).answer == "yes"


@pytest.mark.parametrize("d", [1, 2, 10])
def test_halves_of_one_cloud_are_not_apart_though_a_map_tears_them(d):
    X, _ = gaussians(0, d=d)
    a = X[:, 0] > 0
    torn = np.c_[X[:, 0] + 20 * a, np.random.default_rng(1).normal(size=len(X))]
    found = are_apart(X, torn, a, ~a, **FAST)
    assert (found.answer, found.in_map, found.is_illusion) == ("no", "yes", True)
    assert "no gap" in found.sentence
    assert is_real(X, torn, a, **FAST).answer == "no"
    assert is_continuum(X, torn, a, ~a, **FAST).answer == "yes"


@pytest.mark.parametrize(("gap", "n", "d"), [(6, 400, 50), (5, 300, 15), (4.2, 300, 8)])
def test_a_gap_that_so_many_dimensions_hide_is_not_denied(gap, n, d):
    X, a = gaussians(gap, n=n, d=d)
    for found in (are_apart(X, X[:, :2], a, ~a, **FAST), is_real(X, X[:, :2], a, **FAST)):
        assert (found.answer, found.is_illusion) == ("cannot be told", False)
        assert found.finding == "a gap might not be seen"
        assert found.interval[0] < math.log(4.0) < found.interval[1] == math.inf
        assert "might not show one where density falls to 25 %: ask about principal components" in found.sentence


def test_halves_of_one_cloud_of_many_dimensions_are_joined_by_the_rows_along_the_line():
    X, _ = gaussians(0, n=400, d=50)
    a = X[:, 0] > 0
    assert are_apart(X, None, a, ~a, **FAST).answer == "no"


def test_two_ends_of_a_thread_are_joined_by_the_rows_between_and_the_verdict_says_so():
    X = np.sort(np.random.default_rng(0).uniform(size=(400, 2)) * [20, 1], axis=0)
    a, b = X[:, 0] < 5, X[:, 0] > 15
    found = are_apart(X, None, a, b, **FAST)
    assert found.answer == "no"
    assert "Rows of neither lie between: among those of A and B alone it falls to" in found.sentence
    assert "neither" not in are_apart(X, None, X[:, 0] < 10, X[:, 0] >= 10, **FAST).sentence


def test_half_of_a_thin_group_is_not_real_beside_a_dense_one():
    rng = np.random.default_rng(0)
    X = np.r_[0.1 * rng.normal(size=(200, 2)) + 50, rng.normal(size=(200, 2))]
    half = (np.arange(400) >= 200) & (X[:, 0] > 0) & (X[:, 0] < 20)
    assert is_real(X, None, half, **FAST).answer == "no"


def test_strays_do_not_join_two_groups():
    X, a = gaussians(12)
    a[150:160] = True
    b = np.arange(300) >= 160
    assert are_apart(X, None, a, b, **FAST).answer == "yes"


def test_small_groups_cannot_be_told():
    X, a = gaussians(10)
    few = np.flatnonzero(a)[:29]
    found = are_apart(X, None, few, ~a, **FAST)
    assert found.answer == "cannot be told"
    assert math.isnan(found.p_value)
    assert found.to_dict()["p_value"] is None


def test_no_choice_of_groups_falls_deeper_than_the_deepest_dip():
    X, _ = gaussians(3, n=200)
    landscape = Landscape.of(X)
    smaller, falls = landscape.dips()
    rng = np.random.default_rng(0)
    for _ in range(50):
        a = X @ rng.normal(size=3) > rng.normal()
        if 20 < a.sum() < 180:
            deepest = falls[smaller >= 10].max(initial=0.0)
            assert landscape.between(a, ~a, (10, 10)) <= deepest + 1e-12


def test_a_landscape_knows_the_peaks_of_rows_on_a_line():
    """Of five rows, two and three close together, the one dip is log(gap / radius) in one dimension."""
    X = np.array([[0.0], [1.0], [10.0], [11.0], [12.0]])
    landscape = Landscape.of(X, k=2)
    smaller, falls = landscape.dips()
    assert sorted(landscape.radii.tolist()) == [1.0, 2.0, 2.0, 9.0, 10.0]
    assert landscape.merges[-1][2] == 10.0
    assert smaller[-1] == 1
    assert falls[-1] == 0.0


@pytest.mark.parametrize("enough", [(3, 15), (15, 3), (8, 8)])
def test_the_saddle_of_two_groups_is_where_enough_of_both_become_joined(enough):
    """By raising the radius until a part of the rows within it holds enough of both groups."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(160, 2)) + np.repeat([[0, 0], [5, 0], [2, 6]], [60, 60, 40], axis=0)
    landscape = Landscape.of(X)
    radii = landscape.radii
    joined = np.round(np.maximum(cdist(X, X), np.maximum.outer(radii, radii)), 9)
    np.fill_diagonal(joined, 0.0)
    steps = np.unique(linkage(squareform(joined), "single")[:, 2])
    for a, b in ((X[:, 0] < 1, X[:, 0] > 4), (X[:, 1] > 4, X[:, 1] < 2), (X[:, 0] < 2, X[:, 0] >= 2)):
        for radius in steps:
            _, part = connected_components(joined <= radius)
            held = [np.bincount(part[rows], minlength=part.max() + 1) for rows in (a, b)]
            if both := np.flatnonzero((held[0] >= enough[0]) & (held[1] >= enough[1])).tolist():
                break
        _, before = connected_components(joined < radius)
        parts = [before == one for one in np.unique(before[part == both[0]])]
        ends = [[p for p in parts if (p & rows).sum() >= n] for rows, n in zip((a, b), enough, strict=True)]
        expected = 0.0
        if all(ends) and ends[0][0] is not ends[1][0]:
            peaks = [radii[end[0] & rows].min() for end, rows in zip(ends, (a, b), strict=True)]
            expected = max(0.0, landscape.dimension * math.log(radius / max(peaks)))
        assert landscape.between(a, b, enough) == pytest.approx(expected, abs=1e-6)


def test_an_island_joins_when_half_its_core_meets_an_eighth_of_the_others():
    X, a = gaussians(8)
    landscape = Landscape.of(X)
    for others, least in ((150, 18), (40, 5), (7, 1)):
        b = np.flatnonzero(~a)[:others]
        mask = np.isin(np.arange(300), b)
        assert fall_between(landscape, a, mask, island=True, limit=math.inf).n_least == min(19, least)


def test_a_landscape_of_equal_rows_is_flat():
    _, falls = Landscape.of(np.zeros((40, 2))).dips()
    np.testing.assert_array_equal(falls, 0.0)


def test_density_is_compared_by_welchs_test_of_log_radii():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(300, 2)), 5 * rng.normal(size=(300, 2)) + 60]
    a = np.arange(600) < 300
    found = is_denser(X, np.r_[X[:300], X[300:] / 5], a, ~a)
    assert found.answer == "yes"
    assert found.statistic == pytest.approx(2 * math.log(5), abs=1.0)
    other = is_denser(X, None, ~a, a)
    assert other.answer == "no"
    even = rng.normal(size=(600, 2))
    halves = np.arange(600) % 2 == 0
    assert is_denser(even, None, halves, ~halves).answer == "cannot be told"


def test_the_p_value_of_a_density_is_scipys(monkeypatch):
    import gnomon.evaluation.comparisons as comparisons

    chosen = []
    original = comparisons.apart_balls
    monkeypatch.setattr(comparisons, "apart_balls", lambda *args: chosen.append(original(*args)) or chosen[-1])
    X, a = gaussians(4)
    found = is_denser(X, None, a, ~a, n_neighbors=5)
    distances = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 5]
    expected = ttest_ind(*(np.log(distances[rows]) for rows in chosen), equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-4)


def test_nearer_is_told_by_distances_of_centres_with_their_error():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[100:200, 0] += 5
    X[200:, 1] += 9
    a, b, c = (np.arange(300) // 100 == i for i in range(3))
    Y = X[:, :2].copy()
    Y[200:] -= [0, 8]
    found = is_nearer(X, Y, a, b, c)
    assert (found.answer, found.in_map, found.is_illusion) == ("yes", "no", True)
    assert is_nearer(X, None, a, c, b).answer == "no"
    assert is_nearer(X, None, a, c, b).statistic == pytest.approx(-found.statistic)
    Y[101:200] = np.nan
    assert is_nearer(X, Y, a, b, c).in_map is None  # one place is no group
    Y[101] = X[101, :2]
    assert is_nearer(X, Y, a, b, c).in_map == "no"


def test_the_p_value_of_what_is_nearer_is_that_of_its_interval():
    X = np.random.default_rng(4).normal(size=(240, 3))
    found = is_nearer(X, None, *(np.arange(240) // 80 == i for i in range(3)))
    error = (found.interval[1] - found.interval[0]) / (2.0 * norm.isf(0.025))
    assert found.p_value == pytest.approx(2.0 * norm.sf(abs(found.statistic) / error), rel=1e-6)
    assert 0.01 < found.p_value < 1.0


def test_the_cosine_asks_for_directions_alone():
    X, a = gaussians(10, n=200)
    X -= 4.0
    lengths = np.random.default_rng(1).uniform(0.5, 2.0, size=(200, 1))
    found, other = (are_apart(rows, None, a, ~a, metric="cosine", **FAST) for rows in (X, lengths * X))
    assert found.answer == other.answer == "yes"
    assert found.statistic == pytest.approx(other.statistic)
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert found.statistic == are_apart(units, None, a, ~a, **FAST).statistic


def test_a_printed_verdict_holds_its_answer_its_figures_and_what_they_rest_on():
    X, a = gaussians(10)
    found = are_apart(X, X[:, 1:], a, ~a, **FAST)
    printed = str(found).splitlines()
    assert printed[0] == "Are A and B apart? Yes (the map misleads here)."
    assert printed[1:3] == [found.sentence, "in the map alone: no"]
    assert f": {found.statistic:.3g} [{found.interval[0]:.3g}, {found.interval[1]:.3g}]; p = 0.05 against" in printed[3]
    assert printed[4] == f"false-positive rate 0.05; rests on {found.rests_on}"
    assert "in the map alone" not in str(are_apart(X, None, a, ~a, **FAST))


@pytest.mark.parametrize(("along", "at_most"), [("lines", 20), ("data", 30)])  # 10 and, as documented, 17 expected
def test_equal_distances_are_told_apart_no_more_often_than_said(along, at_most):
    wrong = 0
    a, b, c = (np.arange(90) // 30 == i for i in range(3))
    for seed in range(200):
        X = np.random.default_rng(seed).normal(size=(90, 2))
        X[b, 0] += 4
        X[c, 0] -= 4
        wrong += is_nearer(X, None, a, b, c, along=along).answer != "cannot be told"
    assert wrong <= at_most  # a chance of 0.2 %


def roll(n=900, seed=0):
    rng = np.random.default_rng(seed)
    turn = rng.uniform(1.5 * np.pi, 4.5 * np.pi, n)
    return np.c_[turn * np.cos(turn), turn * np.sin(turn), rng.uniform(0, 8, n)], turn


def test_on_a_roll_straight_lines_and_paths_disagree_and_the_verdict_says_so():
    X, turn = roll()
    a, b, c = (np.abs(turn - place * np.pi) < 0.5 for place in (1.75, 3.75, 3.0))  # b is a turn above a
    assert is_nearer(X, None, a, b, c, along="lines").answer == "yes"
    along = is_nearer(X, None, a, b, c, along="data")
    assert along.answer == "no"
    assert "along the data" in along.sentence
    both = is_nearer(X, None, a, b, c)
    assert (both.answer, both.finding) == ("cannot be told", "straight lines and paths along the data disagree")
    assert "along='lines' or along='data'" in both.sentence
    assert "in straight lines and" in both.sentence
    assert "along the data, in units" in both.sentence


def test_paths_are_straight_on_a_line_and_bridge_what_is_apart():
    X = np.r_[np.arange(10.0), np.arange(30.0, 40.0)][:, None]
    np.testing.assert_allclose(path_lengths(X, k=2), np.abs(X - X.T), atol=1e-6)
    angle = np.linspace(0, np.pi, 200)
    half_circle = np.c_[np.cos(angle), np.sin(angle)]
    assert path_lengths(half_circle, k=2)[0, -1] == pytest.approx(np.pi, rel=1e-4)


def test_the_density_of_a_large_table_is_judged_by_some_of_its_rows():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(600, 2)), 4 * rng.normal(size=(600, 2)) + 60]
    a = np.arange(1200) < 600
    whole, some = is_denser(X, None, a, ~a), is_denser(X, None, a, ~a, max_rows=400)
    assert whole.answer == some.answer == "yes"
    assert some.interval[0] < whole.statistic < some.interval[1]
    assert some == is_denser(X, None, a, ~a, max_rows=400, n_jobs=2)
    assert is_denser(X, None, a, ~a, max_rows=1200) == whole


def test_neighbours_of_some_rows_are_those_of_the_whole_graph_also_among_equal_rows():
    X = np.random.default_rng(0).normal(size=(300, 3))
    rows = np.arange(0, 300, 7)
    graph = compute_neighbors(X, 6)
    indices, distances = neighbors_of(X, rows, 6, "euclidean")
    np.testing.assert_array_equal(indices, graph.indices[rows])
    np.testing.assert_allclose(distances, graph.distances[rows], rtol=1e-6)
    X[:20] = X[0]
    np.testing.assert_array_equal(neighbors_of(X, rows[:3], 6, "euclidean")[1], 0.0)


def test_another_question_about_the_same_rows_rests_on_the_same_tables(monkeypatch):
    import gnomon.evaluation.gaps.saddles as saddles

    X, a = gaussians(10, n=120, seed=9)
    first = are_apart(X, None, a, ~a, random_state=77, **FAST)
    monkeypatch.setattr(saddles, "_principal_variances", lambda *_: pytest.fail("tables were drawn again"))
    assert are_apart(X.copy(), None, a, ~a, random_state=77, **FAST) == first


def test_verdicts_do_not_depend_on_threads():
    X, a = gaussians(4, n=200, seed=4)
    found = []
    for n_jobs in (1, 2):
        _of_clouds.cache_clear()
        _of_uniform.cache_clear()
        with running(n_threads=n_jobs):
            found.append(are_apart(X, X[:, :2], a, ~a, **FAST))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "ask",
    [
        lambda X, a, n_jobs: are_apart(X, None, a, ~a, n_jobs=n_jobs, **FAST),
        lambda X, a, n_jobs: is_continuum(X, None, a, ~a, n_jobs=n_jobs, **FAST),
        lambda X, a, n_jobs: is_real(X, None, a, n_jobs=n_jobs, **FAST),
        lambda X, a, n_jobs: is_nearer(X, None, *np.array_split(np.arange(120), 3), n_jobs=n_jobs),
        lambda X, a, n_jobs: judge_gaps(X, X, a, n_jobs=n_jobs, **FAST).to_dict(),
        lambda X, a, n_jobs: find_illusions(X, X, a, n_jobs=n_jobs).to_dict(),
        lambda X, a, n_jobs: null_scores(X, X, lambda table: table, n_nulls=2, n_jobs=n_jobs).to_dict(),
        lambda X, a, n_jobs: structureless(X, n_jobs=n_jobs).tobytes(),
    ],
)
def test_threads_are_asked_for_and_change_nothing(ask):
    X, a = gaussians(4, n=120)
    assert ask(X, a, 1) == ask(X, a, 2)
    with pytest.raises(ValueError, match="n_jobs=0 must not be 0"):
        ask(X, a, 0)


def test_the_same_seed_gives_the_same_verdict():
    X, a = gaussians(4, n=200)
    assert are_apart(X, None, a, ~a, max_rows=100, **FAST) == are_apart(X, None, a, ~a, max_rows=100, **FAST)
    assert is_denser(X, None, a, ~a, n_jobs=1) == is_denser(X, None, a, ~a, n_jobs=2)


@pytest.mark.parametrize("kind", ["gaussian", "elliptical", "copula", "columns"])
def test_structureless_tables_keep_what_they_say(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_t(8, size=(4000, 3)) @ np.array([[2.0, 1.0, 0], [0, 1, 0.5], [0, 0, 3]])
    null = structureless(X, kind, random_state=3)
    assert np.array_equal(null, structureless(X, kind, random_state=3))
    if kind in ("copula", "columns"):
        np.testing.assert_array_equal(np.sort(null, axis=0), np.sort(X, axis=0))
        correlation = np.corrcoef(X.T) if kind == "copula" else np.eye(3)
        np.testing.assert_allclose(np.corrcoef(null.T), correlation, atol=0.08)
    else:
        np.testing.assert_allclose(np.cov(null.T), np.cov(X.T), atol=1.0)
    if kind == "elliptical":
        radii = [np.linalg.norm(np.linalg.svd(X - X.mean(0), full_matrices=False)[0], axis=1)]
        white = (null - X.mean(0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(X.T))).T / math.sqrt(3999)
        np.testing.assert_allclose(np.sort(np.linalg.norm(white, axis=1)), np.sort(radii[0]), rtol=1e-6)


def test_a_structureless_cloud_has_the_mean_and_covariance_of_the_table():
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4)) + 3.0, rng.normal(size=(20, 50)), np.ones((5, 2))):
        null = structureless(X, "gaussian", random_state=3)
        np.testing.assert_allclose(null.mean(axis=0), X.mean(axis=0), atol=1e-10)
        np.testing.assert_allclose(np.cov(null.T), np.cov(X.T), atol=1e-10)


@pytest.mark.parametrize("kind", ["gaussian", "copula"])
def test_p_values_of_normal_tables_are_even_and_small_where_there_are_groups(kind):
    """Of clouds that scatter once more they are near 1: a map of two groups had none of 0.05 and less."""

    def embed(table):
        axes = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)[2][:2]
        return table @ axes.T

    def p_value(X, measure):
        return null_scores(X, embed(X), embed, kind=kind, n_nulls=9, n_jobs=1).p_values[measure]

    tables = [np.random.default_rng(seed).normal(size=(40, 4)) for seed in range(16)]
    assert 0.3 < np.mean([p_value(X, "trustworthiness") for X in tables]) < 0.75
    groups = 2.5 * (np.arange(40)[:, None] < 20)
    if kind == "copula":
        assert np.mean([p_value(X + groups, "triplet_accuracy") for X in tables[:5]]) < 0.3


def test_scores_of_structure_beat_those_of_tables_without_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 20)) + 0.1 * rng.normal(size=(120, 20))

    def embed(table):
        axes = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)[2][:2]
        return table @ axes.T

    found = null_scores(X, embed(X), embed, kind="columns")
    assert found.p_values["shepard"] == found.p_values["trustworthiness"] == 1 / 20
    assert found.trusted.mean() > 0.9
    cloud = structureless(X, "gaussian", random_state=5)
    same = null_scores(cloud, embed(cloud), embed, kind="gaussian")
    assert same.p_values["trustworthiness"] > 0.05
    assert not same.trusted.any()
    told = json.loads(json.dumps(found.to_dict()))
    assert told["n_trusted"] == found.trusted.sum()
    assert told["nulls"]["shepard"] == found.nulls["shepard"].tolist()
    printed = str(found).splitlines()
    assert [line[:26].strip() for line in printed[1:-1]] == [name.replace("_", " ") for name in found.scores]
    assert f"{found.scores['shepard']:.3f}" in next(line for line in printed if line.startswith("shepard"))
    assert printed[-1].startswith(f"{found.trusted.sum()} of 120 rows are mapped better than structureless ones")


def test_false_discovery_rates_are_those_of_benjamini_and_hochberg():
    found = adjusted_p_values(np.array([0.01, 0.04, np.nan, 0.03, 0.5]))
    np.testing.assert_allclose(found, [0.04, 0.16 / 3, np.nan, 0.16 / 3, 0.5])
    many = np.random.default_rng(0).random((20, 30)).round(2) ** 4
    np.testing.assert_array_equal(adjusted_p_values(many).ravel(), false_discovery_control(many, axis=None))
    assert len(adjusted_p_values(np.empty(0))) == 0
    for rate in (0.01, 0.2, 0.5):
        np.testing.assert_array_equal(are_discoveries(many**3, rate), adjusted_p_values(many**3) <= rate)
    assert not are_discoveries(np.ones((2, 2)), 0.05).any()


def test_a_method_that_is_no_function_is_refused():
    with pytest.raises(TypeError, match="null_scores: embed=3 must be callable"):
        null_scores(np.eye(50), np.zeros((50, 2)), 3)


def test_a_map_answers_for_its_labels_and_conditions():
    X, a = gaussians(10, d=2)
    result = Map(X, X[:, :2], labels=np.where(a, "left", "right"), feature_names=["u", "v"])
    found = result.are_apart("left", "right", **FAST)
    assert found.question == "Are left and right apart?"
    assert found.answer == "yes"
    assert result.are_apart("u>5", "u<=5", **FAST).answer == "yes"
    assert result.is_real("left", **FAST).answer == "yes"
    assert result.is_continuum("left", "right", **FAST).answer == "no"
    with pytest.raises(ValueError, match=r"group 'up' must be a label of the map"):
        result.is_denser("up", "left")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"b": range(50)}, "b with 50 rows of a must be without rows of a"),
        ({"a": []}, "a with 0 rows must be of at least one row"),
        ({"bridge": 1.5}, "bridge=1.5 must be"),
        ({"bridge": 0.0}, "bridge=0.0 must be a number > 0 and < 1"),
        ({"bridge": 1.0}, "bridge=1.0 must be a number > 0 and < 1"),
        ({"alpha": 0.5}, "alpha=0.5 must be a number > 0 and < 0.5"),
        ({"max_rows": 59}, "max_rows=59 must be an integer >= 60"),
        ({"metric": "cityblock"}, "metric='cityblock' must be"),
        ({"n_nulls": 3}, "n_nulls=3 must be an integer >= 19"),
    ],
)
def test_bad_input_is_refused(change, text):
    X, a = gaussians(5, n=100)
    given = {"a": np.flatnonzero(a), "b": np.flatnonzero(~a), **change}
    with pytest.raises(ValueError, match="are_apart: ") as error:
        are_apart(X, None, given.pop("a"), given.pop("b"), **given)
    assert text in str(error.value)


def test_an_island_of_all_rows_is_refused():
    X, a = gaussians(5, n=100)
    with pytest.raises(ValueError, match="is_real: island with all rows must be a part of the rows"):
        is_real(X, None, a | True)


def test_the_density_of_fewer_than_three_neighbourhoods_cannot_be_told():
    rng = np.random.default_rng(0)
    for groups, answered in ((2, False), (3, True)):
        X = np.repeat(np.arange(2 * groups), 6)[:, None] * 100.0 + rng.normal(size=(12 * groups, 2))
        a = np.arange(12 * groups) < 6 * groups
        found = is_denser(X, None, a, ~a, n_neighbors=5)  # one neighbourhood in each six
        assert (found.finding != "too few rows") == answered
        assert ("has no room for 3 neighbourhoods of 5 rows" in found.sentence) == (not answered)


@pytest.mark.parametrize(
    ("dip", "bridge", "answer", "finding"),
    [
        (0.2, 0.2, "no", "one group"),
        (1.2, 0.2, "no", "a continuum with a dip"),
        (0.8, 0.6, "cannot be told", "no sure dip"),
        (2.1, 0.2, "cannot be told", "a dip that may be a gap"),
        (4.0, 0.2, "yes", "two groups"),
    ],
)
def test_a_gap_is_judged_beside_the_deepest_dips_of_both_kinds_of_tables(monkeypatch, dip, bridge, answer, finding):
    """By the definitions: the larger p-value, the fall less the median of the deeper kind, and the noise of a peak."""
    X, a = gaussians(3)
    kinds = [np.linspace(0.0, 0.9, 19), np.linspace(0.1, 1.0, 19)]
    asked = []
    monkeypatch.setattr(NullDips, "deepest", lambda self, least: asked.append(least) or kinds)
    monkeypatch.setattr(judgement, "fall_between", lambda _, a, b, **__: Fall(dip, 17, a, b))
    monkeypatch.setattr(Ground, "_unsure_border", lambda *_: None)
    found = are_apart(X, None, a, ~a, bridge=bridge, alpha=0.1, n_nulls=19)
    assert asked == [17]
    noise = norm.isf(0.1) * np.sqrt(polygamma(1, 15))
    low = max(0.0, dip - max(0.55 + noise, *(np.quantile(one, 0.9) for one in kinds)))
    high = max(low, dip - min(0.55 - noise, np.quantile(kinds[1], 0.1)))
    assert (found.answer, found.finding) == (answer, finding)
    assert found.statistic == pytest.approx(max(0.0, dip - 0.55))
    assert found.interval == pytest.approx((low, high))
    assert found.p_value == pytest.approx((1 + np.sum(kinds[1] >= dip)) / 20)
    assert found.false_positive_rate == 0.1
    shares = [f"{percent(np.exp(-one))} %" for one in (found.statistic, high, low)]
    if finding != "one group":
        range_told = f"{shares[0]} [{shares[1]}, {shares[2]}]"
        assert f"density that 15 neighbours tell falls to {range_told} of that of the sparser" in found.sentence
    assert found.unit == "fall of log density between the groups as 15 neighbours tell it"
    if finding == "a dip that may be a gap":
        assert "on both sides of 20 %" in found.sentence
    assert found.rests_on == "300 rows, densities of 15 neighbours, 38 tables without gaps"


def test_the_core_of_a_group_is_its_densest_quarter():
    radii = np.array([5.0, 1.0, 4.0, 2.0, 9.0, 3.0, 8.0, 7.0, 6.0, 0.5])
    rows = np.arange(10) < 9
    core, peak = falls._core(rows, radii)
    assert np.flatnonzero(core).tolist() == [1, 3, 5]  # a quarter of nine, rounded up
    assert peak == 1.0
    many = np.arange(200.0)[::-1]
    core, peak = falls._core(np.ones(200, bool), many)
    assert np.flatnonzero(core).tolist() == list(range(150, 200))
    assert peak == 5.0  # a tenth of the fifty of the core lie denser


def test_groups_without_rows_in_common_are_asked_for_and_counted():
    X, _ = gaussians(3)
    with pytest.raises(ValueError, match=r"b with 2 rows of a must be without rows of a"):
        are_apart(X, None, range(50), range(48, 100))
    few = are_apart(X, None, range(29), range(100, 200), **FAST)
    assert (few.answer, few.finding) == ("cannot be told", "too few rows")
    beside = "Join it with rows beside it, or gather more of its kind."
    assert few.sentence == f"A has 29 rows, fewer than the 30 of a density. {beside}"
    assert str(few) == f"Are A and B apart? Cannot be told.\n{few.sentence}\nrests on 300 rows"  # nothing was computed
    assert (few.is_computed, few.figures) == (False, "not computed")
    both = are_apart(X, None, range(29), range(100, 111), **FAST)
    assert both.sentence == f"A has 29 rows and B has 11 rows, fewer than the 30 of a density. {beside}"
    assert math.isnan(few.p_value)
    assert math.isnan(few.statistic)
    assert are_apart(X, None, range(30), range(100, 200), **FAST).finding != "too few rows"
    sampled = are_apart(X, None, range(40), range(100, 300), max_rows=60, **FAST)
    assert re.fullmatch(
        r"A has \d+ of the rows looked at, fewer than the 30 of a density\. Raise max_rows\.", sampled.sentence
    )
    assert sampled.rests_on.startswith("60 of 300 rows")
    with pytest.raises(ValueError, match=r"X with 59 rows must be of at least 60 rows"):
        are_apart(X[:59], None, range(30), range(30, 59))


def test_what_a_map_shows_of_densities_is_which_group_has_the_nearer_neighbours():
    X, a = gaussians(9)
    for factor, shown in ((0.1, "yes"), (10.0, "no")):
        Y = X[:, :2] * np.where(a, factor, 1.0)[:, None] + 300.0 * a[:, None]
        assert is_denser(X, Y, a, ~a).in_map == shown
        Y[::3] = np.nan
        assert is_denser(X, Y, a, ~a).in_map == shown
    assert is_denser(X, None, a, ~a).in_map is None
    Y[a] = np.nan
    assert is_denser(X, Y, a, ~a).in_map is None
    few = np.where((np.arange(300) % 150 < 8)[:, None], X[:, :2], np.nan)
    assert is_denser(X, few, a, ~a, n_neighbors=16).in_map is None
    assert is_denser(X, few, a, ~a, n_neighbors=15).in_map is not None


def test_p_values_beside_structureless_tables_count_those_as_good():
    """Also of single rows, among all rows of all structureless maps."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    Y = X[:, :2]
    found = null_scores(X, Y, lambda table: table[:, [0, 2]], n_nulls=4, n_neighbors=5, alpha=0.3)
    for name, p_value in found.p_values.items():
        assert len(found.nulls[name]) == 4
        assert p_value == (1 + np.sum(found.nulls[name] >= found.scores[name])) / 5
    np.testing.assert_array_equal(found.trusted, found.point_rates <= 0.3)
    np.testing.assert_allclose(found.point_rates, adjusted_p_values(found.point_p_values))
    own, nulls = np.array([0.5, 0.9, np.nan, 0.1]), [np.array([0.5, 0.8]), np.array([np.nan, 0.2])]
    np.testing.assert_allclose(_point_p_values(own, nulls), [3 / 4, 1 / 4, np.nan, 1.0])
    told = str(found).splitlines()
    assert len(told) == 2 + len(found.scores)
    assert f"{np.sum(found.trusted)} of 60 rows" in told[-1]


def test_what_a_map_shows_of_distances_is_which_group_is_nearer_in_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [8, 0], [20, 0]], 30, axis=0)
    groups = [np.arange(90) // 30 == one for one in range(3)]
    assert is_nearer(X, X, *groups).in_map == "yes"
    assert is_nearer(X, np.where(groups[1][:, None], X + 50.0, X), *groups).in_map == "no"
    assert is_nearer(X, None, *groups).in_map is None
    for held, shown in ((2, "yes"), (1, None)):
        Y = np.where(groups[2][:, None] & (np.arange(90) >= 60 + held)[:, None], np.nan, X)
        assert is_nearer(X, Y, *groups).in_map == shown
    few = is_nearer(X, None, range(9), range(30, 60), range(60, 90))
    assert (few.answer, few.finding) == ("cannot be told", "too few rows")
    assert few.sentence == "A group has fewer than 10 rows: more would tell."
    assert is_nearer(X, None, range(10), range(30, 60), range(60, 90)).answer == "yes"
    some = is_nearer(X, None, *groups, max_rows=20)
    assert some.rests_on == "20, 20 and 20 rows, all pairs of them"
    other = is_nearer(X, None, groups[0], groups[2], groups[1], along="lines", names=("a", "c", "b"))
    assert (other.answer, other.finding) == ("no", "a is nearer to b")


@pytest.mark.parametrize(
    ("names", "error"), [(("a",), ValueError), (("a", "b", "c", "d"), ValueError), ("ab", TypeError), (3, TypeError)]
)
@pytest.mark.parametrize(("ask", "count"), [(are_apart, 2), (is_continuum, 2), (is_denser, 2), (is_nearer, 3)])
def test_groups_have_a_name_each(ask, count, names, error):
    groups = [range(begin, begin + 30) for begin in range(0, 30 * count, 30)]
    text = rf"^{ask.__name__}: names=.* must be {count} texts, one for each group \(found \w+\)"
    with pytest.raises(error, match=text):
        ask(np.random.default_rng(0).normal(size=(90, 2)), None, *groups, names=names)


@pytest.mark.parametrize("step", [1.5, 2.0])
def test_between_rows_that_repeat_there_is_no_fall_of_rounding_size(step):
    X = np.round(np.random.default_rng(2).normal(size=(450, 4)) / step) * step
    found = are_apart(X, X[:, :2], np.flatnonzero(X[:, 0] <= -step), np.flatnonzero(X[:, 0] >= step))
    assert found.statistic == 0.0
    assert found.p_value == 1.0
    assert "No gap is seen" in found.sentence or "the data have no gap there" in found.sentence


@pytest.mark.parametrize("ask", [are_apart, is_continuum, lambda X, Y, a, b, **o: is_real(X, Y, a, **o)])
def test_rows_that_follow_each_other_are_told_beside_the_answer(ask):
    rng = np.random.default_rng(0)
    frames = np.cumsum(rng.normal(size=(400, 3)), axis=0)
    found = ask(frames, None, range(60), range(100, 200), n_nulls=19)
    assert found.caution.startswith("Rows that follow each other in the table are more alike")
    assert "gaps may part stretches of one way" in found.caution
    assert found.caution in str(found).splitlines()
    assert found.to_dict()["caution"] == found.caution
    assert ask(rng.permutation(frames), None, range(60), range(100, 200), n_nulls=19).caution == ""
