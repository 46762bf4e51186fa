"""Parts of the measures of likeness, of tables read in blocks and of tables without structure, one by one."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import ndtri
from scipy.stats import hypergeom, spearmanr
from tests.stored import SmallBlocks

from gnomon._run import running
from gnomon.evaluation import blocks, compare_embeddings, embedding_similarity, scorecard, similarities, structureless
from gnomon.evaluation.agreement import check_common_rows, measure_pair
from gnomon.evaluation.anchors import TILE, ProductDistances
from gnomon.evaluation.blocks import _answer_tile, _limits, _of_answer, _Placed, _Question
from gnomon.evaluation.estimated_ranks import _order_of, _pairs, _squares_between
from gnomon.evaluation.measures import check_measures
from gnomon.evaluation.neighborhoods import _reach, _root_mean_square
from gnomon.evaluation.scores import entries_among
from gnomon.evaluation.similarities import (
    Positions,
    Settings,
    _counted_rank_correlation,
    _later,
    _relative,
    check_embedding,
    placed_rows,
    rank_correlation,
)
from gnomon.evaluation.structureless import Cloud


@pytest.fixture(name="pair", scope="module")
def two_maps():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 2)) * [3, 1]
    return A, A + rng.normal(size=A.shape)


def test_positions_are_centred_of_length_one_and_keep_their_neighbours(pair):
    A = pair[0]
    found = Positions(1e3 + A, name="A")
    centred = A - A.mean(axis=0)
    np.testing.assert_allclose(found.values, centred / np.linalg.norm(centred), atol=1e-12)
    rows = np.arange(0, 60, 3)
    part = A[rows] - A[rows].mean(axis=0)
    np.testing.assert_allclose(found.subset(rows).values, part / np.linalg.norm(part), atol=1e-12)
    assert found.n_samples == 60
    assert found.nearest(3) is found.nearest(3)
    white = Positions(np.column_stack([A, 3 * A[:, 0]]), name="A", whiten=True)
    assert white.values.shape == (60, 2)  # an axis without extent is dropped
    np.testing.assert_allclose(white.values.T @ white.values, np.eye(2) / 2, atol=1e-12)


def test_rows_differ_by_more_than_rounding(pair):
    for step, told in ((1e-13, None), (2e-15, "they differ by rounding alone"), (0.0, "all 60 rows lie at one place")):
        Y = np.ones((60, 2))
        Y[::2, 0] += step
        if told is None:
            assert Positions(Y, name="Y").n_samples == 60
            continue
        with pytest.raises(ValueError, match=told):
            Positions(Y, name="Y")
    with pytest.raises(ValueError, match="all 4 rows lie at one place"):
        Positions(np.zeros((4, 1)), name="Y")


def test_what_is_given_as_an_embedding_is_read_as_doubles_and_kept():
    for dtype in (bool, np.uint8, np.int64, np.float32):
        found = check_embedding(np.eye(4, dtype=dtype), "Y")
        assert (found.dtype, found.flags.c_contiguous) == (np.float64, True)
    with pytest.raises(ValueError, match="Y with 3 rows must be of at least 4 rows"):
        check_embedding(np.eye(3), "Y")
    A, B = np.zeros((5, 2)), np.zeros((5, 2))
    A[1, 1], B[3, 0] = np.nan, -np.inf
    assert placed_rows(A, B).tolist() == [0, 2, 4]
    check_common_rows(["procrustes"], 500, 4)
    check_common_rows(["knn"], 2, 4)
    for metric in ("knn", "jaccard"):
        with pytest.raises(ValueError, match="n_neighbors=3 must be at most 2"):
            check_common_rows(["cka", metric], 3, 4)


@pytest.mark.parametrize("columns", [(40, 50), (2, 90), (90, 100)])
def test_alignment_of_many_columns_and_its_chance_level_are_those_of_the_singular_values(columns):
    rng = np.random.default_rng(0)
    A, B = (rng.normal(size=(60, d)) * np.exp(-np.arange(d) / 5) for d in columns)
    B[:, :2] += A[:, :2]
    a, b = (Y - Y.mean(axis=0) for Y in (A, B))
    draws, orders = np.random.default_rng(5), [np.arange(60)]
    for _ in range(2):
        order = draws.permutation(60)
        orders += [order, np.argsort(order)]
    values = [np.linalg.svd(a[order].T @ b, compute_uv=False).sum() ** 2 for order in orders]
    values = np.array(values) / (np.sum(a * a) * np.sum(b * b))
    found = compare_embeddings(A, B, ["procrustes"], n_permutations=2, random_state=5)
    assert found.value["procrustes"] == pytest.approx(values[0], abs=1e-12)
    assert found.chance["procrustes"] == pytest.approx(values[1:].mean(), abs=1e-6)
    assert embedding_similarity(A, A[:, ::-1]) == pytest.approx(1.0, abs=1e-12)


def test_chance_levels_have_closed_forms(pair):
    A, B = pair
    a, b = (Y - Y.mean(axis=0) for Y in pair)
    found = compare_embeddings(A, B, n_neighbors=7, n_permutations=3, random_state=5)
    norms = [np.linalg.norm(Y.T @ Y) / np.sum(Y * Y) for Y in (a, b)]
    assert found.chance["cka"] == pytest.approx(1 / (59 * norms[0] * norms[1]))
    assert found.chance["knn"] == 7 / 59
    shared = np.arange(8)
    odds = hypergeom(59, 7, 7).pmf(shared)
    assert found.chance["jaccard"] == pytest.approx(np.sum(odds * shared / (14 - shared)))
    assert found.chance["spearman"] == 0.5
    rng, values = np.random.default_rng(5), []
    for _ in range(3):
        order = rng.permutation(60)
        for x, y in ((a[order], b), (a, b[order])):
            values.append(np.linalg.svd(x.T @ y, compute_uv=False).sum() ** 2 / (np.sum(x * x) * np.sum(y * y)))
    assert found.chance["procrustes"] == pytest.approx(np.mean(values))
    assert (found.n_neighbors, found.whitened, found.random_state, found.n_left_out) == (7, False, 5, 0)
    plain = found.to_dict()
    assert plain["chance"] == found.chance
    assert "procrustes" in str(found)
    settings = Settings(7, 0, 5)
    with running(n_threads=1):
        one, two = (Positions(Y, name="Y") for Y in pair)
        assert np.isnan(measure_pair(one, two, "procrustes", settings, None, errors=True).chance)
        sampled = measure_pair(one, two, "spearman", settings, 30, errors=False)
    assert np.isnan(sampled.standard_error)
    assert sampled.n_rows == 30


def test_a_hundred_and_some_rows_rank_all_pairs_and_many_more_count_them(monkeypatch, pair):
    called = []
    monkeypatch.setattr(similarities, "_counted_rank_correlation", lambda a, b: called.append(len(a)) or 0.25)
    for pairs, counted in ((60 * 59 // 2, False), (60 * 59 // 2 - 1, True)):
        monkeypatch.setattr(similarities, "_ALL_RANKS_BELOW", pairs)
        called.clear()
        rank_correlation(*pair)
        assert bool(called) == counted
    monkeypatch.undo()
    monkeypatch.setattr(similarities, "_counted_rank_correlation", lambda a, b: called.append(len(a)) or 0.25)
    called.clear()
    line = np.linspace(-1.0, 1.0, 1415)[:, None]  # 1,000,405 pairs
    assert rank_correlation(line, line) == 0.25
    assert called == [1415]


def test_ranks_counted_of_few_codes_are_middle_ranks():
    """Of whole distances, which no code takes for another, exactly Spearman's."""
    A = np.array([0.0, 1.0, 3.0, 7.0, 7.0, 12.0])[:, None]
    B = np.array([0.0, 5.0, 1.0, 9.0, 2.0, 2.0])[:, None]
    a, b = A - A.mean(), B - B.mean()
    upper = np.triu_indices(6, 1)
    expected = spearmanr(np.abs(A - A.T)[upper], np.abs(B - B.T)[upper]).statistic
    with running(n_threads=1):
        assert _counted_rank_correlation(a, b) == pytest.approx(expected)
        assert _counted_rank_correlation(a, 0.0 * a + np.array([1e-30])) == 0.0
    squares = np.array([0.0, 1.0, 16.0])
    found = _relative(squares, np.array([[2.0], [-1.0]]))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, squares / (4.001 * 4.0), rtol=1e-6)
    assert _later(2, 3).tolist() == [[False, True, True], [False, False, True]]


def test_rows_that_take_part_are_numbered_among_themselves():
    table = SmallBlocks(np.arange(40.0).reshape(10, 4), 4)
    some, whole = _Placed(np.array([1, 2, 6, 9])), _Placed(np.arange(10))
    found = [some.of(block, table) for block in table.blocks()]
    assert [first for first, _ in found] == [0, 2, 3]
    assert [values[:, 0].tolist() for _, values in found] == [[4.0, 8.0], [24.0], [36.0]]
    assert [len(whole.of(block, table)[1]) for block in table.blocks()] == [4, 4, 2]
    for placed, kept in ((some, some.rows), (whole, 10), (_Placed(np.empty(0, np.int64)), 0)):
        state = placed.__getstate__()["rows"]
        assert np.array_equal(state, kept)
        assert isinstance(state, int) == (placed is not some)
        again = pickle.loads(pickle.dumps(placed))
        np.testing.assert_array_equal(again.rows, placed.rows)
        assert again.rows.dtype == np.int64
    assert isinstance(_Placed(np.arange(1, 11)).__getstate__()["rows"], np.ndarray)


def test_the_memory_of_an_answer_is_that_of_its_tiles_pairs_and_anchors():
    table = SmallBlocks(np.zeros((1000, 8)), 500)
    asked = SimpleNamespace(others=np.zeros((7, 3)), pair_rows=np.zeros(11), left=np.zeros((7, 8), np.float32))
    tiles = 1 + 500 / TILE
    assert _of_answer(table, asked) == pytest.approx(21 * (8 * tiles + 100) + 16 * 11 + 7 * 8 * 4)


def test_limits_are_distances_to_others_and_bounds_those_of_a_sample_without_the_row_itself():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    distances = ProductDistances("euclidean", np.float64, np.zeros(3))
    anchors, sample = np.arange(0, 140, 2), np.arange(0, 150, 3)
    others = rng.integers(0, 150, (70, 4))
    limits, bounds = _limits(distances, X[anchors], anchors, others, lambda rows: X[rows], sample)
    away = ((X[anchors, None] - X) ** 2).sum(axis=2)
    np.testing.assert_allclose(limits, np.take_along_axis(away, others, axis=1), atol=1e-12)
    away[np.arange(70), anchors] = np.inf
    fourth = np.sort(away[:, sample], axis=1)[:, 3]
    expected = np.minimum(fourth, limits.max(axis=1))
    np.testing.assert_allclose(bounds, expected * (1 + 1e-5), rtol=1e-9)
    assert (fourth < limits.max(axis=1)).any()


def test_a_tile_counts_rows_before_others_by_distance_and_number():
    """Rows 10 ... 19 on a line, seen from three anchors, of which one is row 12 of them; many are as far."""
    X = np.array([0.0, 1, 1, 2, 3, 3, 3, 4, 5, 6])[:, None]
    places = {3: 2.0, 12: 1.0, 25: 4.0}
    anchors = np.array([3, 12, 25])
    left = np.array([[places[one]] for one in anchors.tolist()])
    others = np.array([[14, 30], [11, 2], [15, 19]])
    limits = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 4.0]])
    bounds = np.array([1.0, 0.5, 1.0])
    distances = ProductDistances("euclidean", np.float64, np.zeros(1))
    pair_rows, pair_anchors = np.array([4, 10, 13, 13, 19, 21]), np.array([0, 2, 1, 0, 1, 2])
    asked = _Question(distances, left, anchors, others, limits, bounds, pair_rows, pair_anchors)
    found = _answer_tile(10, X, asked)
    expected = np.zeros((3, 2), int)
    for a, anchor in enumerate(anchors.tolist()):
        for o, other in enumerate(others[a].tolist()):
            for row in range(10, 20):
                away = (X[row - 10, 0] - places[anchor]) ** 2
                is_before = away < limits[a, o] or (away == limits[a, o] and row < other)
                expected[a, o] += is_before and row not in (anchor, other)
    np.testing.assert_array_equal(found.before, expected)
    near = {(a, row) for a, row in zip(found.at.tolist(), found.rows.tolist(), strict=True)}
    assert near == {
        (a, row)
        for a, anchor in enumerate(anchors.tolist())
        for row in range(10, 20)
        if row != anchor and (X[row - 10, 0] - places[anchor]) ** 2 <= bounds[a]
    }
    np.testing.assert_allclose(
        found.away, [(X[row - 10, 0] - left[a, 0]) ** 2 for a, row in zip(found.at, found.rows, strict=True)]
    )
    np.testing.assert_allclose(found.pairs, [16.0, 1.0, 0.0, 25.0])


def test_neighbours_of_large_tables_are_bounded_by_an_even_sample(monkeypatch):
    asked = []

    class Executor:
        def broadcast(self, value):
            asked.append(value)
            return value

        def map(self, function, blocks, *given, needed):
            return [(np.zeros((1, 2)), np.zeros((1, 9)))]

    assert (blocks._SAMPLE, blocks._SAMPLE_NUMBERS) == (2**15, 2**24)
    rows = np.arange(100)
    for most, numbers, step in ((10, 999, 10), (33, 999, 3), (1000, 999, 1), (1000, 50, 4), (2, 999, 10)):
        asked.clear()
        monkeypatch.setattr(blocks, "_SAMPLE", most)
        monkeypatch.setattr(blocks, "_SAMPLE_NUMBERS", numbers)
        table = SimpleNamespace(n_features=2, blocks=list, is_sparse=False, reading_bytes=1.0, block_bytes=1.0)
        with pytest.raises(IndexError):  # nothing was gathered
            blocks._question(Executor(), table, _Placed(rows), (), rows[:3], np.zeros((3, 8), np.int64), "cosine")
        np.testing.assert_array_equal(asked[0], sorted({0, 1, 2, *range(0, 100, step)}))


def test_of_each_probe_the_least_distances_to_a_block_come_over_all_its_tiles():
    rng = np.random.default_rng(0)
    X, probes = rng.normal(size=(TILE + 40, 2)), rng.normal(size=(5, 2))
    table = SmallBlocks(X, len(X))
    (block,) = table.blocks()
    distances = ProductDistances("euclidean", np.float64, np.zeros(2))
    wanted = np.array([3, TILE, TILE + 39])
    away = np.sort(((probes[:, None] - X) ** 2).sum(axis=2), axis=1)
    for count in (4, 60):  # more than the second tile has, too
        with running(n_threads=1):
            rows, found = blocks._gathered(block, table, _Placed(np.arange(len(X))), wanted, (distances, probes, count))
        np.testing.assert_array_equal(rows, X[wanted])
        np.testing.assert_allclose(found, away[:, :count], atol=1e-12)
    rows, found = blocks._gathered(block, table, _Placed(np.arange(len(X))), wanted, None)
    assert found.shape == (0, 0)
    nobody = blocks._gathered(block, table, _Placed(np.empty(0, np.int64)), wanted, (distances, probes, 4))
    assert (nobody[0].shape, nobody[1].shape) == ((0, 2), (5, 0))


def test_pairs_of_a_sample_are_disjoint_and_orders_are_signs():
    assert _pairs(7, 4).tolist() == [0, 2, 4]
    assert _pairs(8, 4).tolist() == [0, 2, 4, 6]
    assert _pairs(6, 5).tolist() == [0, 2]
    assert _pairs(1, 4).tolist() == []
    assert _order_of(np.array([1.0, 2.0, 2.0]), np.array([2.0, 1.0, 2.0])).tolist() == [1, -1, 0]
    places = np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]])
    assert _squares_between(places, np.array([0, 2]), np.array([1, 1])).tolist() == [25.0, 13.0]


def test_neighbours_that_do_not_count_are_neither_found_nor_measured():
    one, other = np.array([[1, 2, 3]]), np.array([[3, 1, 9]])
    counting = np.where([[True, False, True]], other, -1)
    assert entries_among(one, counting).tolist() == [[False, False, True]]
    away, counted = np.array([[3.0, 8.0, 5.0], [1.0, 1.0, 1.0]]), np.array([[True, False, True], [False] * 3])
    np.testing.assert_array_equal(_reach(away, counted, np.array([2.0, 1.0])), [2.5, np.nan])
    np.testing.assert_allclose(_root_mean_square(away, counted), [np.sqrt(17), np.nan])


def test_names_of_measures_come_in_the_order_of_a_scorecard():
    assert check_measures(["stress", "auc_rnx"]) == ["auc_rnx", "stress"]
    assert check_measures("stress") == ["stress"]
    assert check_measures("all") == check_measures(["stress", "all"]) != ["all"]


def test_lines_of_a_scorecard_tell_interval_chance_and_best():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    given = {"measures": ["stress", "trustworthiness", "intrinsic_dimension", "dimension_ratio"], "n_anchors": 12}
    found = scorecard(X, X[:, :2], **given)
    lines = {line[2:28].strip(): line for line in found.summary().splitlines() if line.startswith("  ")}
    stress, dimension = found["stress"], found["intrinsic_dimension"]
    low, high = stress.interval
    assert (
        lines["stress"]
        == f"  {'stress':26}{stress.value:9.3f}  {f'[{low:.3f}, {high:.3f}]':19}{stress.chance:7.3f}     0"
    )
    assert lines["intrinsic dimension"].endswith(" " * 7 + "     -")
    assert lines["trustworthiness"].endswith("     1")
    plain = stress.to_dict()
    assert (plain["low"], plain["high"]) == stress.interval
    assert (plain["best"], plain["n_rows"], plain["exact"], plain["quality"]) == (0.0, 12, False, "reduction")
    assert scorecard(X, X[:, :2], measures="stress")["stress"].to_dict()["low"] is None
    assert dimension.chance is None
    assert (len(found), found.n_left_out, found.confidence, found.random_state) == (4, 0, 0.95, 0)
    wide = scorecard(X, X[:, :2], measures=["trustworthiness", "silhouette"], labels=np.arange(40) % 2, n_anchors=2)
    for one in wide.values():
        assert one.measure.low <= one.interval[0] <= one.value <= one.interval[1] <= one.measure.high


def test_a_copula_keeps_normal_scores_and_a_cloud_the_axes_that_vary():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.exponential(size=30), rng.normal(size=30), np.full(30, 7.0)])
    cloud = Cloud.of(X)
    centred = X - X.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    assert cloud.axes.shape == (2, 3)
    np.testing.assert_allclose(cloud.sizes, sizes[:2])
    np.testing.assert_allclose(cloud.radii, np.linalg.norm(left[:, :2], axis=1))
    drawn = np.random.default_rng(1).normal(size=(30, 2))
    out, _, back = np.linalg.svd(drawn - drawn.mean(axis=0), full_matrices=False)
    expected = X.mean(axis=0) + out @ back * sizes[:2] @ cloud.axes  # its polar factor
    np.testing.assert_allclose(cloud.draw(np.random.default_rng(1)), expected)
    found = structureless(X[:, :2], random_state=3)
    ranks = X[:, :2].argsort(axis=0).argsort(axis=0)
    normal = Cloud.of(ndtri((ranks + 0.5) / 30)).draw(np.random.default_rng(3))
    np.testing.assert_array_equal(found.argsort(axis=0), normal.argsort(axis=0))
    for kind in ("gaussian", "elliptical", "copula", "columns"):
        assert structureless(sp.csr_array(X), kind, random_state=3).shape == (30, 3)
    assert structureless(X[:2], "columns").shape == (2, 3)
    with pytest.raises(ValueError, match="X with 1 row must be of at least 2 rows"):
        structureless(X[:1])


def test_one_measure_alone_finds_no_errors_and_no_chance_that_is_not_asked_for(monkeypatch, pair):
    asked, original = [], measure_pair
    monkeypatch.setattr(
        "gnomon.evaluation.agreement.measure_pair",
        lambda a, b, metric, settings, most, *, errors: (
            asked.append((settings.n_permutations, errors)) or original(a, b, metric, settings, most, errors=errors)
        ),
    )
    embedding_similarity(*pair)
    embedding_similarity(*pair, chance_corrected=True)
    compare_embeddings(*pair, ["knn"], n_permutations=4)
    assert asked == [(0, False), (50, False), (4, True)]
