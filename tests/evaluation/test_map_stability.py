"""Maps made again: known motions are measured, equal maps are perfectly steady, and threads change nothing."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.decomposition import PCA as OtherPCA
from sklearn.manifold import MDS as OtherMDS
from tests.threads import on_threads

import gnomon as gn
from gnomon.evaluation import compare_runs, stability_of_maps
from gnomon.evaluation.cluster_stability import NEAREST_MEMBER, check_clusters, follow_clusters
from gnomon.evaluation.refits import method_again, planned
from gnomon.exceptions import ConvergenceWarning, DataWarning
from gnomon.methods import PCA, TSNE, UMAP


def turned(Y, degrees, *, mirrored=False, scale=1.0):
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    R = np.array([[c, s], [-s, c]]) @ np.diag([1.0, -1.0 if mirrored else 1.0])
    return scale * Y @ R + [3.0, -8.0]


@pytest.fixture(name="Y", scope="module")
def some_places():
    return np.random.default_rng(0).normal(size=(80, 2)) * [3.0, 1.0]


@pytest.fixture(name="X", scope="module")
def some_table():
    rng = np.random.default_rng(1)
    centers = 8.0 * rng.normal(size=(3, 6))
    return np.vstack([center + rng.normal(size=(40, 6)) for center in centers])


@pytest.fixture(name="classes", scope="module")
def some_classes():
    return np.repeat(["a", "b", "c"], 40)


class TestGivenMaps:
    def test_copies_of_a_map_are_perfectly_steady(self, Y):
        found = compare_runs([turned(Y, 40), turned(Y, 200, mirrored=True, scale=7.0), Y], reference=Y, n_neighbors=5)
        np.testing.assert_allclose(found.spread, 0.0, atol=1e-10)
        np.testing.assert_allclose(found.displacement, 0.0, atol=1e-10)
        np.testing.assert_array_equal(found.neighbors_kept, 1.0)
        np.testing.assert_allclose(found.runs, np.stack([Y] * 3), atol=1e-9)
        assert found.unmoved

    def test_spread_is_the_standard_deviation_of_the_place(self, Y):
        """One point is moved by a little; the others hold the maps in place to that order."""
        step = 1e-3
        left, right = Y.copy(), Y.copy()
        left[7, 0] -= step
        right[7, 0] += step
        found = compare_runs([left, right], reference=Y, n_neighbors=5)
        np.testing.assert_allclose(found.spread[7], np.sqrt(2) * step / found.size, rtol=0.1)
        assert np.delete(found.spread, 7).max() < 0.1 * found.spread[7]
        assert found.size == pytest.approx(np.sqrt(Y.var(axis=0).sum()))

    @pytest.mark.filterwarnings("ignore")
    def test_spread_over_several_runs_divides_by_one_less_than_those_that_hold_the_row(self, Y):
        rng = np.random.default_rng(4)
        maps = [Y + 0.05 * rng.normal(size=Y.shape) for _ in range(5)]
        for one in maps[:2]:
            one[0] = np.nan
        for one in maps[1:]:
            one[1] = np.nan
        found = compare_runs(maps, reference=Y, n_neighbors=5)
        runs = found.runs
        times = np.isfinite(runs).all(axis=2).sum(axis=0)
        assert times[:3].tolist() == [3, 1, 5]
        assert np.isnan(found.spread[1])
        known = np.delete(np.arange(len(Y)), 1)
        squares = np.nansum((runs - found.mean) ** 2, axis=(0, 2))
        expected = np.sqrt(squares[known] / (times[known] - 1)) / np.sqrt(Y.var(axis=0).sum())
        np.testing.assert_allclose(found.spread[known], expected, rtol=1e-12)
        np.testing.assert_allclose(found.displacement, np.linalg.norm(Y - found.mean, axis=1) / found.size)
        assert found.chance == 5 / (len(Y) - 1)

    def test_unrelated_maps_keep_as_many_neighbors_as_chance(self, Y):
        rng = np.random.default_rng(3)
        found = compare_runs([rng.normal(size=Y.shape) for _ in range(30)], reference=Y, n_neighbors=10)
        assert found.neighbors_kept.mean() == pytest.approx(found.chance, abs=0.02)

    def test_neighbors_kept_counts_by_definition(self, Y):
        rng = np.random.default_rng(4)
        runs = [Y + rng.normal(size=Y.shape) for _ in range(3)]
        found = compare_runs(runs, reference=Y, n_neighbors=6)

        def nearest(Z):
            D = np.linalg.norm(Z[:, None] - Z[None], axis=2)
            np.fill_diagonal(D, np.inf)
            return [set(row) for row in np.argsort(D, axis=1)[:, :6]]

        before = nearest(Y)
        shares = [[len(a & b) / 6 for a, b in zip(before, nearest(run), strict=True)] for run in runs]
        np.testing.assert_allclose(found.neighbors_kept, np.mean(shares, axis=0))

    def test_rows_that_a_run_does_not_hold_do_not_count(self, Y):
        rng = np.random.default_rng(5)
        runs = [Y + 0.1 * rng.normal(size=Y.shape) for _ in range(4)]
        for run in runs[1:]:
            run[3] = np.nan
        found = compare_runs(runs, reference=Y, n_neighbors=5)
        assert np.isnan(found.spread[3])
        assert np.isfinite(np.delete(found.spread, 3)).all()
        assert np.isfinite(found.neighbors_kept).all()

    def test_a_neighbor_that_a_run_does_not_hold_is_not_lost(self, Y):
        lacking = Y.copy()
        lacking[3] = np.nan
        found = compare_runs([lacking, lacking], reference=Y, n_neighbors=5)
        np.testing.assert_array_equal(np.delete(found.neighbors_kept, 3), 1.0)
        assert np.isnan(found.neighbors_kept[3])

    def test_pairs_are_followed(self, Y):
        found = compare_runs([Y, turned(Y, 90, scale=2.0)], pairs=[[0, 5], [2, 9]], n_neighbors=5)
        expected = np.linalg.norm(Y[[0, 2]] - Y[[5, 9]], axis=1) / found.size
        np.testing.assert_allclose(found.pair_distances, [expected, expected])
        assert "rows 0 and 5 lie" in found.summary()


class TestClusters:
    def test_a_cluster_that_is_turned_moves_but_does_not_deform(self):
        """Both maps are brought to one size, which changes shapes by a little."""
        rng = np.random.default_rng(0)
        still, small = 5.0 * rng.normal(size=(300, 2)), rng.normal(size=(20, 2))
        labels = np.repeat(["still", "small"], [300, 20])
        runs = [
            np.vstack([still, small + np.array([30.0, 0.0])]),
            np.vstack([still, small @ [[0.0, 1.0], [-1.0, 0.0]] + [30.0, 4.0]]),
        ]
        found = compare_runs(runs, labels=labels).clusters
        small_at = found.names.index("small")
        assert found.deformation[small_at] < 0.01
        assert found.deformation[1 - small_at] < 0.01
        assert found.movement[small_at] > 5 * found.movement[1 - small_at]

    def test_deformation_of_a_cluster_that_doubles(self):
        """Radii r and 2 r are 0.5 r off their mean 1.5 r: a standard deviation of sqrt(2) / 3."""
        rng = np.random.default_rng(0)
        still, small = 5.0 * rng.normal(size=(300, 2)), rng.normal(size=(20, 2))
        runs = [np.vstack([still, 30.0 + scale * small]) for scale in (1.0, 2.0)]
        labels = {"small": np.arange(320) >= 300}
        found = compare_runs(runs, labels=labels, n_neighbors=5).clusters
        # Both maps are brought to one size, in which the small cluster counts for little.
        assert found.deformation[0] == pytest.approx(np.sqrt(0.5) / 1.5, rel=0.02)

    def test_touching_follows_its_rule(self):
        """On a grid of unit spacing the 5th nearest of most members is at sqrt(2)."""
        side = np.arange(8.0)
        square = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        labels = np.repeat([0, 1], 64)

        def touch(gap, **options):
            runs = [np.vstack([square, square + np.array([7.0 + gap, 0.0])])] * 2
            return compare_runs(runs, labels=labels, n_neighbors=5, **options).clusters.touch_share[0, 1]

        assert touch(1.0) == 1.0
        assert touch(1.5) == 0.0
        # A column of eight of 64 members lies at the gap.
        assert touch(1.0, touching=0.125) == 1.0
        assert touch(1.0, touching=0.13) == 0.0

    def test_share_of_the_runs_in_which_clusters_touch(self):
        rng = np.random.default_rng(0)
        cluster = rng.uniform(size=(100, 2))
        runs = [np.vstack([cluster, cluster + np.array([shift, 0.0])]) for shift in (1.0, 9.0, 9.5, 10.0)]
        found = compare_runs(runs, labels=np.repeat([0, 1], 100), n_neighbors=5)
        assert found.clusters.touch_share[0, 1] == 0.25
        assert "0 and 1 touch in 25% of the runs" in str(found)


class TestMethods:
    @pytest.mark.parametrize(
        "method", [UMAP(random_state=3, n_neighbors=10, max_iter=30), TSNE(random_state=3, perplexity=8, max_iter=300)]
    )
    def test_runs_of_a_shared_graph_are_those_of_single_fits(self, X, method):
        found = stability_of_maps(method, X, vary="starts", n_runs=3, n_neighbors=5)
        for k, setting in enumerate(found.settings):
            alone = type(method)(**{**method.get_params(), **setting}).fit_transform(X)
            np.testing.assert_allclose(
                np.linalg.norm(found.runs[k][1:] - found.runs[k][:-1], axis=1),
                found.scales[k] * np.linalg.norm(np.diff(alone.astype(float), axis=0), axis=1),
                rtol=1e-9,
            )
        np.testing.assert_array_equal(found.reference, method.fit_transform(X))

    @pytest.mark.parametrize("vary", ["starts", "bootstrap"])
    def test_same_bytes_on_any_number_of_threads(self, X, classes, vary):
        def run():
            return stability_of_maps(
                UMAP(random_state=0, max_iter=30), X, vary=vary, n_runs=3, labels=classes, random_state=5
            )

        one, two = (json.dumps(on_threads(n, run)().to_dict()) for n in (1, 2))
        assert one == two

    def test_bootstraps_hold_about_63_percent_and_place_the_others(self, X):
        found = stability_of_maps(PCA(), X, vary="bootstrap", n_runs=6)
        assert found.drawn.mean() == pytest.approx(1 - np.exp(-1), abs=0.05)
        assert np.isfinite(found.runs).all()
        kept, left = np.flatnonzero(found.drawn[2]), np.flatnonzero(~found.drawn[2])
        method = PCA(random_state=found.settings[2]["random_state"]).fit(X[kept])
        both = np.vstack([method.embedding_, method.transform(X[left])])
        run = found.runs[2][np.concatenate([kept, left])] / found.scales[2]
        np.testing.assert_allclose(np.linalg.norm(run - run[0], axis=1), np.linalg.norm(both - both[0], axis=1))

    def test_methods_that_place_no_rows_leave_them_out(self, X):
        method = OtherMDS(n_init=1, max_iter=20, init="random", random_state=0)
        found = stability_of_maps(method, X, vary="bootstrap", n_runs=3)
        np.testing.assert_array_equal(np.isfinite(found.runs).all(axis=2), found.drawn)

    def test_parameters_take_all_combinations_with_one_seed(self, X):
        grid = {"n_neighbors": [5, 15], "min_dist": [0.0, 0.5]}
        found = stability_of_maps(UMAP(max_iter=20), X, vary="parameters", grid=grid)
        assert found.n_runs == 4
        assert {(s["n_neighbors"], s["min_dist"]) for s in found.settings} == {(5, 0.0), (15, 0.0), (5, 0.5), (15, 0.5)}
        assert len({s["random_state"] for s in found.settings}) == 1

    def test_methods_of_other_libraries(self, X):
        found = stability_of_maps(OtherPCA(2), X, vary="bootstrap", n_runs=3)
        np.testing.assert_allclose(found.reference, OtherPCA(2).fit_transform(X))

    def test_the_estimator_stays_as_it_is(self, X):
        method = UMAP(random_state=1, max_iter=10)
        before = method.get_params()
        stability_of_maps(method, X, n_runs=2, vary="starts")
        assert method.get_params() == before
        assert not hasattr(method, "embedding_")

    def test_threads_of_runs_are_those_of_the_call(self):
        assert (
            method_again(UMAP(n_jobs=1, callback=print), {}).get_params().items()
            >= {
                "n_jobs": None,
                "callback": None,
            }.items()
        )

    def test_a_seed_that_changes_nothing_is_told(self, X):
        with pytest.warns(DataWarning, match="no point moves: PCA does not depend on what vary='seeds' varies"):
            found = stability_of_maps(PCA(), X, n_runs=2)
        assert "no point moves" in found.summary()

    @pytest.mark.parametrize("vary", ["seeds", "bootstrap"])
    def test_what_runs_warn_of_in_the_same_words_is_told_once(self, X, vary):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            stability_of_maps(TSNE(perplexity=5, exaggeration=0.5, max_iter=10, random_state=0), X, vary=vary, n_runs=3)
        told = [(one.category, one.filename) for one in caught if "has no minimum" in str(one.message)]
        assert told == [(ConvergenceWarning, __file__)]  # where the user called

    def test_a_map_tells_once_what_maps_of_tables_without_structure_warn_of(self, X):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = gn.map(X, TSNE(perplexity=5, exaggeration=0.5, max_iter=10, random_state=0))
            made.null_scores(n_nulls=19)
        assert sum("has no minimum" in str(one.message) for one in caught) == 2  # of the map, and of the scores

    def test_equal_rows(self, X):
        doubled = np.vstack([X, X[:5]])
        with pytest.warns(DataWarning, match="equal rows share one position"):
            found = stability_of_maps(UMAP(random_state=0, max_iter=20), doubled, vary="starts", n_runs=2)
        np.testing.assert_array_equal(found.runs[:, :5], found.runs[:, -5:])

    def test_given_distances(self, X):
        D = np.linalg.norm(X[:, None] - X[None], axis=2)
        found = stability_of_maps(
            UMAP(metric="precomputed", random_state=0, max_iter=20), D, vary="bootstrap", n_runs=2
        )
        assert np.isfinite(found.runs).all()


class TestMap:
    def test_a_map_is_its_own_reference_and_follows_its_labels(self, X, classes):
        result = gn.map(X, "umap", labels=classes, scale="standard", random_state=2, max_iter=20)
        found = result.stability(3, vary="bootstrap", n_neighbors=5)
        np.testing.assert_array_equal(found.reference, result.embedding)
        assert found.clusters.names == ["a", "b", "c"]
        result.metadata.update(found.columns())
        assert set(found.columns()) <= set(result.metadata)

    def test_maps_that_cannot_be_made_again_are_refused(self, X, classes):
        with pytest.raises(ValueError, match=r"stability: a map must be one that its method makes .*is not known"):
            gn.Map(X, X[:, :2]).stability()
        with pytest.raises(ValueError, match="a target steered it"):
            gn.map(X, "umap", target=classes, random_state=0).stability()
        with pytest.raises(ValueError, match="rows were weighted"):
            gn.map(X, "umap", sample_weight=np.arange(1.0, 121.0), random_state=0).stability()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"vary": "weather"}, "vary='weather' must be one of 'seeds', 'starts', 'bootstrap', 'parameters'"),
        ({"n_runs": 1}, "n_runs=1 must be an integer >= 2"),
        ({"vary": "parameters"}, "grid must be a mapping of parameters to values"),
        ({"vary": "parameters", "grid": {"min_dist": [0.1]}}, "grid must be of two combinations at least"),
        ({"vary": "parameters", "grid": {"min_dist": [0.1, 0.2]}, "n_runs": 5}, "n_runs=5 must be 2"),
        ({"vary": "parameters", "grid": {"wings": [1, 2]}}, "UMAP has no parameter 'wings'"),
        ({"grid": {"min_dist": [0.1]}}, r"grid must be left out \(vary='seeds'\)"),
        ({"labels": {"one": [1, 2]}}, r"labels\['one'\] of int64 and shape \(2,\) must be a mask of shape \(120,\)"),
        ({"labels": np.linspace(0.0, 1.0, 120)}, "labels must be classes"),
        ({"labels": [None] * 120}, "such that one row at least has one"),
        ({"pairs": [[0, 120]]}, r"pairs must be of rows in \[0, 120\) \(pair 0 is \[0, 120\]\)"),
        ({"pairs": [0, 1]}, "row numbers of shape"),
        ({"n_neighbors": 119}, "n_neighbors=119 must be below 119"),
        ({"touching": 0.0}, "touching=0.0 must be a number > 0 and <= 1"),
        ({"reference": np.zeros((3, 2))}, r"reference of shape \(3, 2\) must be of shape \(120, n_components\)"),
        ({"reference": np.zeros((120, 2))}, "reference must be of two distinct points at least"),
    ],
)
def test_bad_input_is_named(X, options, text):
    with pytest.raises(ValueError, match=f"stability_of_maps: .*{text}"):
        stability_of_maps(UMAP(n_neighbors=5, max_iter=5), X, **{"n_runs": None, **options})


def test_what_is_no_method_is_refused(X):
    with pytest.raises(TypeError, match="estimator must be an estimator with get_params"):
        stability_of_maps("umap", X)
    with pytest.raises(ValueError, match="PCA has no parameter 'init'"):
        stability_of_maps(PCA(), X, vary="starts")


def test_single_maps_and_unequal_ones_are_refused(Y):
    with pytest.raises(ValueError, match=r"compare_runs: embeddings of shapes \(80, 2\) must be two or more"):
        compare_runs([Y])
    with pytest.raises(ValueError, match="compare_runs: embeddings of shapes none must be two or more"):
        compare_runs([])
    with pytest.raises(ValueError, match="must be two or more of the same shape"):
        compare_runs([Y, Y[:-1]])
    with pytest.raises(ValueError, match=r"drawn of int64 and shape .* must be a mask"):
        compare_runs([Y, Y], drawn=np.ones((2, 80), dtype=int))


def test_runs_are_planned_as_asked():
    seeds = planned("seeds", None, None, None, 0)
    assert len(seeds) == 10
    assert len({one["random_state"] for one in seeds}) == 10
    assert all(list(one) == ["random_state"] for one in seeds)
    assert len(planned("seeds", 4, None, 3, 0)) == 4
    starts = planned("starts", 3, None, None, 1)
    assert [one["init"] for one in starts] == ["random"] * 3
    assert planned("starts", 3, None, None, 2) != starts
    grid = {"a": [1, 2], "b": ["x"]}
    assert planned("parameters", None, grid, 5, 9) == [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}]
    unseeded = planned("parameters", 2, grid, None, 2**40 + 9)
    assert unseeded == [
        {"random_state": (2**40 + 9) % 2**31, **one} for one in ({"a": 1, "b": "x"}, {"a": 2, "b": "x"})
    ]
    with pytest.raises(ValueError, match=r"n_runs=3 must be 2 \(the number of combinations\)"):
        planned("parameters", 3, grid, None, 0)
    with pytest.raises(ValueError, match="grid must be left out"):
        planned("seeds", None, grid, None, 0)
    with pytest.raises(ValueError, match="grid must be a mapping"):
        planned("parameters", None, {}, None, 0)


def test_pairs_are_of_rows_that_there_are(Y):
    n = len(Y)
    given = {"reference": Y, "n_neighbors": 5}
    found = compare_runs([Y, 2 * Y], pairs=[[0, n - 1]], **given)
    size = np.sqrt(Y.var(axis=0).sum())
    np.testing.assert_allclose(found.pair_distances, np.full((2, 1), np.linalg.norm(Y[0] - Y[-1]) / size))
    for pair in ([0, n], [-1, 2]):
        with pytest.raises(
            ValueError, match=rf"pairs must be of rows in \[0, {n}\) \(pair 1 is \[{pair[0]}, {pair[1]}"
        ):
            compare_runs([Y, Y], pairs=[[1, 2], pair], **given)
    for pairs in ([1, 2], [[1, 2, 3]], [[0.5, 1.0]]):
        with pytest.raises(ValueError, match=r"must be row numbers of shape \(n_pairs, 2\)"):
            compare_runs([Y, Y], pairs=pairs, **given)
    with pytest.raises(ValueError, match=rf"n_neighbors={n - 1} must be below {n - 1}"):
        compare_runs([Y, Y], n_neighbors=n - 1)
    assert compare_runs([Y, Y], n_neighbors=n - 2).neighbors_kept.min() == 1.0
    with pytest.raises(ValueError, match=rf"reference of shape \({n - 1}, 2\) must be of shape \({n}, n_components\)"):
        compare_runs([Y, Y], reference=Y[1:], n_neighbors=5)


def test_clusters_are_followed_by_hand_worked_numbers():
    """Of three runs the second moves b by 2 and doubles it, and the third does not hold c."""
    square = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    first = np.concatenate([square, square + np.array([10.0, 0.0]), [[0.0, 20.0]]])
    second, third = first.copy(), first.copy()
    second[4:8] = 2 * square + np.array([12.0, 0.0])
    third[8] = np.nan
    clusters = [("a", np.arange(4)), ("b", np.arange(4, 8)), ("c", np.array([8]))]
    found = follow_clusters(np.stack([first, second, third]), clusters, size=2.0, touching=0.5)
    assert found.names == ["a", "b", "c"]
    assert found.sizes.tolist() == [4, 4, 1]
    places = np.array([10.0, 12.0, 10.0])
    np.testing.assert_allclose(found.movement[:2], [0.0, np.std(places, ddof=1) / 2.0])
    np.testing.assert_allclose(found.distances[:, 0, 1], places / 2.0)
    np.testing.assert_allclose(found.distances[:2, 0, 2], 10.0)
    assert np.isnan(found.distances[2, 0, 2])
    np.testing.assert_array_equal(found.distances[:, 1, 1], 0.0)
    # The mean shape is 4 / 3 of the square; its corners stray by 1 / 3, 2 / 3 and 1 / 3 of the square's.
    np.testing.assert_allclose(found.deformation[:2], [0.0, np.sqrt((1 / 9 + 4 / 9 + 1 / 9) / 2 / (16 / 9))], atol=1e-9)
    assert np.isnan(found.deformation[2])
    assert not found.touching.any()


@pytest.mark.parametrize("offset", [3.5, 5.0, 7.0, 9.0, 30.0])
def test_clusters_touch_where_enough_members_reach_the_other(offset):
    """Nearer than the wider of the two median distances to the nearest member that counts."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(12, 2)), 3.0 * rng.normal(size=(20, 2)) + [offset, 0.0]
    reach = max(
        np.median(np.sort(np.linalg.norm(one[:, None] - one, axis=2), axis=1)[:, NEAREST_MEMBER]) for one in (a, b)
    )
    near = np.sum(np.linalg.norm(a[:, None] - b, axis=2).min(axis=1) < reach)
    clusters = [("b", np.arange(12, 32)), ("a", np.arange(12))]
    for wanted in range(1, 13):
        found = follow_clusters(np.concatenate([a, b])[None], clusters, size=1.0, touching=wanted / 12)
        assert found.touching[0, 0, 1] == found.touching[0, 1, 0] == (near >= wanted)
        assert not found.touching[0].diagonal().any()


def test_clusters_are_classes_or_masks_with_a_row():
    found = check_clusters(["b", None, "a", "b"], 4)
    assert [(name, rows.tolist()) for name, rows in found] == [("a", [2]), ("b", [0, 3])]
    masks = {"x": np.array([True, True, False]), 2: np.array([False, True, True]), "none": np.zeros(3, bool)}
    assert [(name, rows.tolist()) for name, rows in check_clusters(masks, 3)] == [("x", [0, 1]), ("2", [1, 2])]
    for mask in (np.ones(4, bool), np.ones(3)):
        with pytest.raises(ValueError, match=rf"labels\['x'\] of {mask.dtype} .* must be a mask of shape \(3,\)"):
            check_clusters({"x": mask}, 3)
    with pytest.raises(ValueError, match="labels must be classes"):
        check_clusters(np.linspace(0.0, 1.0, 50), 50)
    for nobody in ({"x": np.zeros(3, bool)}, [None, None, None]):
        with pytest.raises(ValueError, match="such that one row at least has one"):
            check_clusters(nobody, 3)
