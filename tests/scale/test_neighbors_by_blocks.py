"""Neighbours by parts of a table: those of a search in memory, whoever works, and little is read at a time."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.stored import Backwards

import gnomon
from gnomon.data.stored import ArrayTable, RowBlock
from gnomon.neighbors import RowSearch, compute_neighbors
from gnomon.neighbors.metrics import native_metric
from gnomon.neighbors.parts import NearestLists, PartMetric, cell_groups
from gnomon.scale import Journal, LocalExecutor, cells, neighbors, neighbors_by_blocks, query_by_blocks
from gnomon.scale.cell_lists import lists_of_cells


class _Stored(ArrayTable):
    """A table of small blocks that counts the rows it gives at a time."""

    step = 500
    most = 0
    reads = 0

    def blocks(self):
        starts = range(0, self.n_samples, self.step)
        return [RowBlock(i, start, min(start + self.step, self.n_samples)) for i, start in enumerate(starts)]

    def _checked(self, rows, number):
        type(self).most, type(self).reads = max(type(self).most, rows.shape[0]), type(self).reads + 1
        return super()._checked(rows, number)


class _SparseTable(_Stored):
    is_sparse = True

    def _rows(self, start, stop):
        return sp.csr_array(self._values[start:stop])

    def _chosen(self, rows):
        return sp.csr_array(self._values[rows])


@pytest.fixture(autouse=True)
def _small_tasks(monkeypatch):
    monkeypatch.setattr(neighbors, "_PART", 700)
    monkeypatch.setattr(cells, "_LEAST_MEMBERS", 300)
    monkeypatch.setattr(cells, "_LEAST_ASKERS", 2500)


def _same(found, expected):
    assert np.array_equal(found.indices, expected.indices)
    assert found.distances.tobytes() == expected.distances.tobytes()
    assert (found.metric, found.method) == (expected.metric, expected.method)
    assert (found.recall, found.recall_error) == (expected.recall, expected.recall_error)


def _mixture(n=6000, width=12, seed=0):
    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.normal(size=(25, width))
    return (centres[rng.integers(0, 25, n)] + rng.normal(size=(n, width))).astype(np.float32)


def _tables():
    rng = np.random.default_rng(0)
    yield "random", rng.normal(size=(1501, 7)).astype(np.float32)
    yield "float64 far from zero", rng.normal(size=(1100, 5)) * 1e-3 + 1e3
    yield "ties on a grid", rng.integers(0, 3, size=(1300, 4)).astype(np.float32)
    yield "copies", np.repeat(rng.normal(size=(12, 3)), 100, axis=0)
    yield "huge", rng.normal(size=(1001, 3)) * 1e30


@pytest.mark.parametrize(("what", "X"), list(_tables()), ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("k", [1, 15, 130])
def test_all_pairs_of_parts_give_the_bytes_of_a_search_in_memory(what, X, k):
    _same(neighbors_by_blocks(_Stored(X), k, method="exact"), compute_neighbors(X, k, method="exact"))


def test_squares_that_round_to_one_root_are_joined_as_in_memory():
    """Lists cut by roots would keep the lower number; neighbours are cut by squares."""
    near = np.column_stack([np.ones(64), np.sqrt(np.arange(64) * 2.0**-23)])  # squares 1 + j eps, two of them a root
    rng = np.random.default_rng(0)
    X = np.concatenate([np.zeros((1, 2)), near, 50.0 + rng.normal(size=(1300, 2))]).astype(np.float32)
    X = X[rng.permutation(len(X))]
    for k in (4, 5, 6, 7):
        _same(neighbors_by_blocks(_Stored(X), k, method="exact"), compute_neighbors(X, k, method="exact"))


@pytest.mark.parametrize("metric", ["cosine", "correlation", "manhattan", "chebyshev"])
@pytest.mark.parametrize("table", [_Stored, _SparseTable])
def test_other_metrics_and_sparse_rows(metric, table):
    X = np.random.default_rng(1).poisson(0.6, size=(1201, 9)).astype(np.float32)
    X[:, 0] += 1.0
    X[:, 1] += np.linspace(0.1, 0.9, len(X), dtype=np.float32)  # no rows of equal values
    found = neighbors_by_blocks(table(X), 6, metric=metric, method="exact")
    expected = compute_neighbors(X if table is _Stored else sp.csr_array(X), 6, metric=metric, method="exact")
    assert found.metric == metric
    assert np.array_equal(found.indices, expected.indices)
    assert np.allclose(found.distances, expected.distances, rtol=1e-6)


def test_cells_give_the_bytes_of_a_search_in_memory():
    X = _mixture()
    expected = compute_neighbors(X, 10, method="approximate", target_recall=0.95, seed=3)
    assert expected.method == "cells"
    _same(neighbors_by_blocks(_Stored(X), 10, method="cells", target_recall=0.95, seed=3), expected)


def test_workers_and_threads_do_not_change_a_byte():
    X = _mixture(3000)
    for method in ("exact", "cells"):
        first = neighbors_by_blocks(_Stored(X), 5, method=method)
        _same(neighbors_by_blocks(_Stored(X), 5, method=method, executor=Backwards()), first)
        with gnomon.running(n_threads=1):
            _same(neighbors_by_blocks(_Stored(X), 5, method=method), first)


def test_cells_of_very_different_sizes():
    """A quarter of the rows are equal, some stand alone, and cells without members are searched."""
    rng = np.random.default_rng(2)
    X = np.concatenate([np.zeros((1500, 4)), rng.normal(size=(4500, 4)), 100.0 * rng.normal(size=(60, 4))])
    X = X[rng.permutation(len(X))].astype(np.float32)
    expected = compute_neighbors(X, 8, method="approximate")
    assert expected.method == "cells"
    _same(neighbors_by_blocks(_Stored(X), 8, method="cells"), expected)


def test_rows_in_cells_of_few_members_are_compared_with_all():
    X = _mixture(3000, 3)
    given = {"target_recall": 0.2, "seed": 1}
    expected = compute_neighbors(X, 60, method="approximate", **given)
    assert expected.method == "cells"
    filled = []
    nearest = gnomon.scale.parts.PartedTable.nearest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "gnomon.scale.parts.PartedTable.nearest",
            lambda self, name, rows, k: filled.append(len(rows)) or nearest(self, name, rows, k),
        )
        _same(neighbors_by_blocks(_Stored(X), 60, method="cells", **given), expected)
    assert len(filled) > 1


def test_many_features_are_searched_along_principal_directions(monkeypatch):
    spaces, learned = [], cells.Space.learned
    monkeypatch.setattr(cells.Space, "learned", lambda *given: spaces.append(learned(*given)) or spaces[-1])
    rng = np.random.default_rng(0)
    rows = np.hstack([0.1 * rng.normal(size=(2500, 54)) + 3.0, _mixture(2500, 96)])  # far from zero where little varies
    mirror = rng.normal(size=150)
    X = (rows - np.outer(rows @ mirror, 2.0 * mirror / (mirror @ mirror))).astype(np.float32)
    found, exact = (neighbors_by_blocks(_Stored(X), 5, method=method) for method in ("cells", "exact"))
    assert found.method == "cells"
    shared = [len(np.intersect1d(a, b)) for a, b in zip(found.indices, exact.indices, strict=True)]
    assert np.mean(shared) / 5 >= 0.97
    assert found.recall >= 0.98
    basis = spaces[0].basis.astype(float)
    np.testing.assert_allclose(basis @ basis.T, np.eye(96), atol=1e-5)
    scatter = np.cov(X.T, dtype=float)
    assert np.trace(basis @ scatter @ basis.T) >= 0.9999 * np.linalg.eigvalsh(scatter)[-96:].sum()


@pytest.mark.parametrize(("method", "in_memory"), [("exact", "exact"), ("cells", "approximate")])
@pytest.mark.parametrize("keep", [14, 40])
def test_more_neighbours_are_kept_as_in_memory(method, in_memory, keep):
    X = _mixture(1500)
    X[:4] += 50.0  # alone in its cell, with too few others
    expected = compute_neighbors(X, 10, method=in_memory, keep=keep)
    found = neighbors_by_blocks(_Stored(X), 10, method=method, keep=keep)
    assert found.n_neighbors > 10
    _same(found, expected)
    without = neighbors_by_blocks(_Stored(X), 10, method=method)
    np.testing.assert_array_equal(found.indices[:, :10], without.indices)


def test_neighbours_that_the_cells_of_some_row_do_not_hold_are_not_kept_for_any():
    X = _mixture(1500)
    X[:120] += 40.0 * np.repeat(np.random.default_rng(7).normal(size=(8, X.shape[1])), 15, axis=0)  # 14 others each
    given = {"keep": 40, "target_recall": 0.3}
    expected = compute_neighbors(X, 10, method="approximate", **given)
    assert 10 < expected.n_neighbors < 18  # candidates
    _same(neighbors_by_blocks(_Stored(X), 10, method="cells", **given), expected)


def test_hubs_are_found():
    """One row is among the nearest of most others."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 40)).astype(np.float32)
    X[17] = 0.0
    found, exact = (neighbors_by_blocks(_Stored(X), 5, method=method) for method in ("cells", "exact"))
    assert (exact.indices == 17).sum() > 1000
    assert (found.indices == 17).sum() >= 0.95 * (exact.indices == 17).sum()


def test_a_table_on_disk_is_read_in_bounded_parts_and_a_cut_search_goes_on(tmp_path, monkeypatch):
    X = _mixture()
    monkeypatch.setattr(cells, "_HELD", 0.0)
    expected = neighbors_by_blocks(_Stored(X), 10, method="cells")
    searched, search = [], cells.search_cells

    def counted(metric, space, numbers, base, queries, *given):
        if len(numbers) < len(space.centres):  # else rows of a sample look into all cells of a block
            searched.append((len(base[0]), len(queries[0])))
        return search(metric, space, numbers, base, queries, *given)

    monkeypatch.setattr(cells, "search_cells", counted)
    _same(neighbors_by_blocks(_Stored(X), 10, method="cells", journal=Journal(tmp_path, {})), expected)
    assert max(members for members, _ in searched) <= 300
    assert max(askers for _, askers in searched) <= 2600
    stage = next(path for path in tmp_path.iterdir() if path.name.endswith("-of-10"))
    files = sorted(stage.iterdir())
    assert len(files) > 10
    files[3].unlink()
    times = {path: path.stat().st_mtime_ns for path in files if path.exists()}
    searched.clear()
    _same(neighbors_by_blocks(_Stored(X), 10, method="cells", journal=Journal(tmp_path, {})), expected)
    assert len(searched) == 1
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())


def test_pairs_of_parts_hold_two_parts(monkeypatch):
    X = _mixture(4000)
    _Stored.most = 0
    neighbors_by_blocks(_Stored(X), 5, method="exact")
    assert _Stored.most == 4000 // -(-4000 // 4096)  # the rows that give the centre
    seen = []
    across = PartMetric.across
    monkeypatch.setattr(
        PartMetric, "across", lambda self, a, b, k: seen.append(len(a) + len(b)) or across(self, a, b, k)
    )
    neighbors_by_blocks(_Stored(X), 5, method="exact")
    assert max(seen) == 1000
    assert len(seen) == 28  # each pair of 8 parts once


def test_cells_are_chosen_as_in_memory(monkeypatch):
    X = _mixture(2000)
    assert neighbors_by_blocks(_Stored(X), 5).method == "exact"
    monkeypatch.setattr("gnomon.neighbors.compute.EXACT_FLOPS", 1e6)
    assert neighbors_by_blocks(_Stored(X), 5).method == "cells"
    assert neighbors_by_blocks(_Stored(X), 5, target_recall=1.0).method == "exact"
    assert neighbors_by_blocks(_Stored(X), 5, metric="manhattan").method == "exact"


def test_what_is_refused(monkeypatch, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(ValueError, match="neighbors_by_blocks: n_neighbors=40 must be at most 39"):
        neighbors_by_blocks(_Stored(X), 40)
    with pytest.raises(ValueError, match="metric='minkowski' must be one that is searched here"):
        neighbors_by_blocks(_Stored(X), 4, metric="minkowski")
    with pytest.raises(ValueError, match="method='cells' must be 'exact' for sparse rows and metrics with a kernel"):
        neighbors_by_blocks(_Stored(X), 4, metric="manhattan", method="cells")
    with pytest.raises(ValueError, match=r"correlation.*Rows are counted from row 500 of the table"):
        neighbors_by_blocks(
            _Stored(np.vstack([np.eye(500, 3) + np.arange(3), np.ones((9, 3))])), 4, metric="correlation"
        )
    monkeypatch.setattr("gnomon.scale.parts._LONGEST", 1e-9)
    with pytest.raises(ValueError, match=r"X of 40 rows must be one whose neighbours take at most 0 hours of one core"):
        neighbors_by_blocks(_Stored(X), 4)
    monkeypatch.undo()
    with gnomon.running(memory=1e4), pytest.raises(MemoryError, match="one part and what is found in it"):
        neighbors_by_blocks(_Stored(X), 4)


@pytest.mark.parametrize("k", [None, 3])
def test_rows_ask_a_table_in_memory_block_by_block(k):
    X, landmarks = _mixture(1200), _mixture(200, seed=5)
    search = RowSearch.of(landmarks, 7)
    expected = search.find(X, k)
    for executor in (None, Backwards()):
        asked = list(query_by_blocks(_Stored(X), search, k, executor=executor))
        assert [(block.start, block.stop) for block, *_ in asked] == [(0, 500), (500, 1000), (1000, 1200)]
        for found, there in zip(zip(*asked, strict=True), ((), *expected), strict=True):
            if len(there):
                assert np.concatenate(found).tobytes() == there.tobytes()


def test_lists_are_joined_by_length_then_number_in_any_order():
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 6, size=(50, 40)).astype(np.float32)
    numbers = np.tile(np.arange(40, dtype=np.int32), (50, 1))
    expected = np.argsort(lengths, axis=1, kind="stable")[:, :7]
    for order in (range(4), [2, 0, 3, 1]):
        lists = NearestLists(50, 7)
        for part in order:
            some = slice(10 * part, 10 * part + 10)
            lists.join(slice(None), (numbers[:, some], lengths[:, some]))
        assert np.array_equal(lists.indices, expected)
        finished = lists.finish(PartMetric(native_metric("manhattan")))
        assert np.array_equal(finished[1], np.take_along_axis(lengths, expected, axis=1))


def test_lists_of_cells_hold_every_row_in_its_cells(tmp_path):
    rng = np.random.default_rng(0)
    probes = np.array([rng.permutation(9)[:3] for _ in range(100)], dtype=np.int32)
    for folder in (None, tmp_path):
        lists = lists_of_cells(lambda: [probes[:33], probes[33:]], (100, 3), 9, folder, "test")
        for cell in range(9):
            assert np.array_equal(lists.members_of([cell])[0], np.flatnonzero(probes[:, 0] == cell))
            assert np.array_equal(lists.askers_of([cell]), np.flatnonzero((probes == cell).any(axis=1)))
        assert np.array_equal(lists.members.open()[lists.places.open()], np.arange(100))


def test_groups_hold_each_cell_once_and_few_rows():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 50, 200)
    counts[7] = 1000
    groups = cell_groups(rng.normal(size=(200, 5)).astype(np.float32), counts, 300)
    assert np.array_equal(np.sort(np.concatenate(groups)), np.arange(200))
    assert all(counts[group].sum() <= 300 or len(group) == 1 for group in groups)
    assert all((np.diff(group) > 0).all() for group in groups)


def test_a_fit_on_a_cluster_takes_the_same_neighbours_from_its_workers(client, monkeypatch):
    """From as many rows on as its layout is done in parts, where the bytes are those of a search in memory."""
    X, asked = _mixture(900), []
    monkeypatch.setattr("gnomon.methods.rows.IN_PARTS_FROM", len(X))
    monkeypatch.setattr("gnomon.neighbors.compute.EXACT_FLOPS", 1e6)
    here = gnomon.UMAP(max_iter=1, random_state=0).fit(X)

    def counted(table, n_neighbors, **given):
        asked.append(neighbors_by_blocks(table, n_neighbors, **given))
        return asked[-1]

    monkeypatch.setattr("gnomon.scale.neighbors_by_blocks", counted)

    def fitted(X, executor=client, more=0, **given):
        asked.clear()
        estimator = gnomon.UMAP(max_iter=1, random_state=0, **given)
        with gnomon.running(executor=executor):
            shared = estimator.fit_sharing_graph(X, more)
        return estimator.embedding_.tobytes(), shared

    found, shared = fitted(X)
    assert found == here.embedding_.tobytes()
    assert [graph.method for graph in asked] == ["cells"]
    assert shared is asked[0]
    more = fitted(X, more=20)[1]
    assert more is asked[0]
    _same(more, gnomon.UMAP(max_iter=1, random_state=0).fit_sharing_graph(X, 20))
    for other in (X[1:], sp.csr_array(X[:, :3]), np.tile(X, (1, 20))):  # too few rows; other bytes
        fitted(other)
        assert not asked
    for given in ({"executor": LocalExecutor()}, {"metric": "cosine"}):
        fitted(X, **given)
        assert not asked
