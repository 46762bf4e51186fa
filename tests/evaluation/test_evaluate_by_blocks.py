"""Scores of tables that are read in blocks: those of the table in memory, and the same whoever works."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.stored import Backwards, SmallBlocks

import gnomon as gn
from gnomon import _core
from gnomon.data.stored import ArrayTable
from gnomon.evaluation.anchors import TILE
from gnomon.evaluation.blocks import _needed, drawn_triplets
from gnomon.evaluation.layout import places_of
from gnomon.evaluation.map_ranks import MapRanks
from gnomon.surfaces import Hyperboloid

N = 1800


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    # Whole numbers whose means are whole too: all products are exact, so no rounding decides a rank.
    X = rng.integers(-8, 9, (N // 2, 6)).astype(np.float32)
    X = np.concatenate([X, -X])
    Y = X[:, :2] + 0.5 * rng.normal(size=(N, 2))
    return X, Y, (X[:, 0] + X[:, 1] > 0).astype(int)


def _same(one, other):
    assert one.to_dict() == other.to_dict()
    assert one.per_point.keys() == other.per_point.keys()
    for name, scores in one.per_point.items():
        np.testing.assert_array_equal(scores, other.per_point[name], err_msg=name)


@pytest.mark.filterwarnings("ignore:.* places of the map:gnomon.exceptions.DataWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["good", "ties", "copies", "random", "three"])
def test_scores_are_those_of_the_table_in_memory(data, kind, dtype):
    X, Y, labels = data
    Y = {
        "good": Y,
        "ties": np.round(Y),
        "copies": np.where(np.arange(N)[:, None] % 3 == 0, 0.0, Y),
        "random": np.random.default_rng(1).normal(size=(N, 2)),
        "three": np.column_stack([Y, X[:, 2]]),
    }[kind]
    X = X.astype(dtype)
    _same(
        gn.evaluate(SmallBlocks(X, 700), Y, labels=labels, n_anchors=150, n_triplets=20),
        gn.evaluate(X, Y, labels=labels, n_anchors=150, n_triplets=20),
    )


def test_all_kinds_of_tables_and_questions_agree(data):
    X, Y, labels = data
    places = np.where(np.arange(N)[:, None] % 5 == 1, np.nan, Y)
    _same(
        gn.evaluate(SmallBlocks(sp.csr_array(X), 700), Y, n_anchors=90, n_neighbors=7),
        gn.evaluate(sp.csr_array(X), Y, n_anchors=90, n_neighbors=7),
    )
    missing, whole = (gn.evaluate(x, places, labels=labels, n_anchors=200) for x in (SmallBlocks(X, 700), X))
    for name, value in missing.scores().items():
        assert value == pytest.approx(whole.scores()[name], abs=1e-5)
    assert missing.n_left_out == whole.n_left_out == N // 5
    disk = 0.9 * Y / (1.0 + np.linalg.norm(Y, axis=1, keepdims=True))
    curved = {"surface": Hyperboloid(), "n_anchors": 40}
    _same(gn.evaluate(SmallBlocks(X, 700), disk, **curved), gn.evaluate(X, disk, **curved))
    graph = gn.neighbors.compute_neighbors(X, 15)
    _same(gn.evaluate(SmallBlocks(X, 700), Y, graph=graph, n_anchors=60), gn.evaluate(X, Y, graph=graph, n_anchors=60))
    near = gn.evaluate(SmallBlocks(X, 700), Y, metric="cosine", n_anchors=200).scores()
    for name, value in gn.evaluate(X, Y, metric="cosine", n_anchors=200).scores().items():
        assert near[name] == pytest.approx(value, abs=1e-5)  # angles are rounded


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_blocks_without_a_row_in_the_map_take_no_part(data, metric):
    X, Y, _ = data
    X = X + np.random.default_rng(2).normal(size=X.shape).astype(np.float32)
    places = np.where((np.arange(N)[:, None] // 300) % 2 == 1, np.nan, Y)
    given = {"metric": metric, "n_anchors": 40, "n_triplets": 20}
    found, whole = (gn.evaluate(x, places, **given) for x in (SmallBlocks(X, 300), X))
    assert found.n_samples == whole.n_samples == 900
    for name, value in whole.scores().items():
        assert found.scores()[name] == pytest.approx(value, abs=1e-4)


def test_with_all_rows_as_anchors_the_table_is_read(data):
    X, Y, labels = data
    _same(gn.evaluate(ArrayTable(X), Y, labels=labels), gn.evaluate(X, Y, labels=labels))


def test_who_works_and_how_many_threads_changes_no_bit(data):
    X, Y, labels = data
    X = X + np.random.default_rng(2).normal(size=X.shape).astype(np.float32)
    first = gn.evaluate(SmallBlocks(X, 700), Y, labels=labels, n_anchors=100, n_jobs=1)
    _same(first, gn.evaluate(SmallBlocks(X, 700), Y, labels=labels, n_anchors=100, n_jobs=2, executor=Backwards()))


def test_memory_maps_are_read_in_blocks(data, tmp_path):
    X, Y, _ = data
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    _same(gn.evaluate(mapped, Y, n_anchors=50), gn.evaluate(X, Y, n_anchors=50))


def test_other_distances_are_not_formed_by_blocks(data):
    X, Y, _ = data
    with pytest.raises(ValueError, match=r"evaluate: metric='cityblock' must be 'euclidean' or 'cosine' \(X is read"):
        gn.evaluate(SmallBlocks(X, 700), Y, metric="cityblock", n_anchors=50)


def test_triplets_are_those_that_the_kernel_draws():
    n, rows = 500, np.array([0, 3, 250, 499])
    numbered = np.tile(np.arange(n, dtype=np.float64), (len(rows), 1))
    kernel = _core.score_map(numbered, np.zeros((n, 2)), rows, 5, 10, 300, 12345, 1)
    second, third = drawn_triplets(12345, rows, n, 300)
    np.testing.assert_array_equal(second, kernel[5].reshape(second.shape))
    assert second.min() == 0
    assert third.max() == n - 1
    assert not ((second == third) | (second == rows[:, None]) | (third == rows[:, None])).any()


@pytest.mark.parametrize("digits", [0, 1, 9])
def test_ranks_in_the_map_are_those_of_sorting(digits):
    rng = np.random.default_rng(3)
    Y = np.round(rng.normal(size=(400, 2)), digits)
    rows, others = np.arange(0, 400, 9), rng.integers(0, 400, (45, 6))
    others[others == rows[:, None]] = 1
    ranks = MapRanks(places_of(Y, None))
    for row, near, asked, found in zip(rows, ranks.nearest(rows, 12), others, ranks.ranks(rows, others), strict=True):
        away = np.sum((Y - Y[row]) ** 2, axis=1)
        away[row] = -1.0
        order = np.argsort(away, kind="stable")
        np.testing.assert_array_equal(near, order[1:13])
        np.testing.assert_array_equal(np.argsort(order, kind="stable")[asked], found)


def test_neighbours_that_single_precision_cannot_order_are_looked_for_in_all_blocks():
    """Each row has its neighbours, as near as rounding, in the other block alone."""
    rng = np.random.default_rng(5)
    first = 1000.0 * rng.normal(size=(600, 4))
    X = np.concatenate([first, *(first[::3] + 1e-3 * rng.normal(size=(200, 4)) for _ in range(5))])
    Y = X[:, :2] + 1e-3 * rng.normal(size=(1600, 2))
    given = {"n_anchors": 200, "n_neighbors": 3, "n_triplets": 20}
    _same(gn.evaluate(SmallBlocks(X, 600), Y, **given), gn.evaluate(X, Y, **given))


def test_triplets_and_neighbours_of_a_map_at_few_places_count_ties_as_half():
    """Against all distances sorted, by row number where they are equal."""
    rng = np.random.default_rng(6)
    X, Y = rng.integers(-3, 4, (900, 3)).astype(np.float32), rng.integers(0, 3, (900, 2)).astype(float)
    X = np.concatenate([X, -X])
    Y = np.concatenate([Y, Y])
    n, k = 1800, 9
    found = gn.evaluate(SmallBlocks(X, 256), Y, n_anchors=60, n_neighbors=k, n_triplets=50)
    rows = np.flatnonzero(np.isfinite(found.per_point["trustworthiness"]))
    assert len(rows) == 60
    for i in rows[:40]:
        ranks = []
        for side in (X.astype(float), Y):
            away = np.sum((side - side[i]) ** 2, axis=1)
            away[i] = -1.0
            ranks.append(np.argsort(np.argsort(away, kind="stable"), kind="stable"))
        near = (ranks[1] > 0) & (ranks[1] <= k)
        assert found.per_point["neighborhood_preservation"][i] == pytest.approx(np.mean(ranks[0][near] <= k))
        excess = np.maximum(ranks[0][near] - k, 0).sum()
        assert found.per_point["trustworthiness"][i] == pytest.approx(1 - 2 * excess / (k * (2 * n - 3 * k - 1)))


@pytest.mark.parametrize("shape", [(300, 2), (300, 12)])
def test_ranks_are_those_of_sorting_where_two_rows_are_as_near(shape):
    """Pairs of equal rows, beside single ones, in maps that a tree searches and in others."""
    Y = np.random.default_rng(4).normal(size=shape)
    Y[100:200] = Y[:100]
    away = np.sum((Y[:, None] - Y) ** 2, axis=2)
    away[np.diag_indices(len(Y))] = -1.0
    order = np.argsort(away, axis=1, kind="stable")
    ranks = np.argsort(order, axis=1, kind="stable")
    rows = np.arange(0, 300, 7)
    others = np.random.default_rng(5).integers(0, 300, (len(rows), 1))
    others[others == rows[:, None]] = 299
    found = MapRanks(places_of(Y, None))
    np.testing.assert_array_equal(found.ranks(rows, others), np.take_along_axis(ranks[rows], others, axis=1))
    np.testing.assert_array_equal(found.nearest(rows, 5), order[rows, 1:6])
    np.testing.assert_array_equal(found.nearest(rows, 299), order[rows, 1:])


def test_the_memory_of_a_block_is_that_of_reading_or_of_the_block_and_its_products():
    table = SmallBlocks(np.zeros((1000, 8)), 500)
    tile = TILE * (2 * 8 * 8 + 16 * 64)
    assert _needed(table) == max(table.reading_bytes, table.block_bytes + tile) > table.reading_bytes
