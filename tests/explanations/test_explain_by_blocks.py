"""Explanations by blocks: those of the whole table where all rows are reference rows, and the same whoever works."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.stored import Backwards, SmallBlocks

import gnomon as gn
from gnomon.data.stored import ArrayTable, row_blocks
from gnomon.explanations import StoredExplanation, explain_by_blocks
from gnomon.explanations.blocks import _add, _feature_type, _mean, _reference_rows
from gnomon.scale import Journal, LocalExecutor
from gnomon.surfaces import Sphere


class Blocks(ArrayTable):
    """A table in memory in three blocks."""

    def blocks(self):
        return row_blocks(self.n_samples, 8000)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(2500, 3))
    X = (np.tanh(Z @ rng.normal(size=(3, 12))) * 3 + 0.1 * rng.normal(size=(2500, 12))).astype(np.float32)
    X[:, 5] = 2.0  # constant: moves nothing
    X[:, 6] = np.maximum(Z[:, 0] - 0.5, 0.0)  # constant where most rows are: it moves none of these
    X[100:120] = X[100]  # more copies than neighbours: no fit there
    Y = np.column_stack([Z[:, 0] + 0.2 * np.sin(3 * Z[:, 1]), Z[:, 2]])
    return X, Y


def _same(one, whole):
    indices, importance = one.top_features()
    top = whole.top_features()
    np.testing.assert_array_equal(one.mask, whole.mask)
    assert one.median_r2 == np.median(one.r2[one.mask])
    np.testing.assert_allclose(one.r2, whole.r2, atol=1e-6)
    np.testing.assert_allclose(one.global_importance, whole.global_importance, rtol=1e-6)
    np.testing.assert_allclose(importance, top.importance, rtol=2e-4, atol=1e-5)
    assert np.mean((indices == top.indices)[one.mask]) > 0.999


@pytest.mark.parametrize("pooling", [0, 1, 3])
def test_with_all_rows_as_reference_rows_it_is_the_explanation_of_the_table(data, pooling):
    X, Y = data
    Y = np.where(np.arange(len(Y))[:, None] == 7, np.nan, Y) if pooling == 0 else Y
    whole = gn.explain(X, Y, fit="forward", pooling=pooling)
    assert not whole.mask.all()
    if pooling == 0:  # a row without a place is no reference row, but a neighbour that does not count in memory
        X, Y = np.delete(X, 7, axis=0), np.delete(Y, 7, axis=0)
        whole = gn.explain(X, Y, fit="forward", pooling=pooling)
    _same(explain_by_blocks(ArrayTable(X), Y, pooling=pooling), whole)


def test_many_rows_find_their_reference_rows_through_cells_with_the_same_answers(data, monkeypatch):
    X, Y = data
    exact = explain_by_blocks(ArrayTable(X), Y, landmarks=1500)
    monkeypatch.setattr("gnomon.neighbors.row_search._MANY_FROM", 1500)
    cells = explain_by_blocks(ArrayTable(X), Y, landmarks=1500)
    assert (exact._fits._search.method, cells._fits._search.method) == ("exact", "cells")
    np.testing.assert_allclose(cells.global_importance, exact.global_importance, rtol=1e-3)
    assert np.mean(cells.r2 == exact.r2) > 0.95
    assert explain_by_blocks(ArrayTable(X), Y)._fits._search.method == "exact"  # as in memory


def test_sparse_and_standardised_tables_are_explained_alike(data):
    X, Y = data
    whole = gn.explain(sp.csr_array(X[:1500]), Y[:1500], fit="forward", pooling=2, scale="standard")
    _same(explain_by_blocks(SmallBlocks(sp.csr_array(X[:1500]), 1500), Y[:1500], pooling=2, scale="standard"), whole)


def test_a_row_answers_as_its_block_did(data):
    X, Y = data
    found = explain_by_blocks(ArrayTable(X), Y, landmarks=1200, pooling=2)
    other = np.setdiff1d(np.arange(200, 1200), found.landmarks)[:3].tolist()
    for row in [*other, int(found.landmarks[50])]:
        why = found.why(row, 4)
        indices, importance = found.top_features(row, row + 1)
        assert why.index == row
        np.testing.assert_array_equal(why.indices, indices[0, :4])
        np.testing.assert_allclose(why.effect, importance[0, :4], rtol=1e-4)
        np.testing.assert_allclose(why.r2, found.r2[row], atol=1e-6)
        np.testing.assert_allclose(why.values, X[row, why.indices])
        assert found.axes(row).shape == (2, 12)
    whole = gn.explain(X, Y, fit="forward", pooling=2)
    assert explain_by_blocks(ArrayTable(X), Y, pooling=2).why(3).effect == pytest.approx(whole.why(3).effect, rel=1e-6)


def test_importance_by_label_is_that_of_the_whole_table(data):
    X, Y = data
    labels = np.where(Y[:, 0] > 0, "right", "left").astype(object)
    labels[:10] = None
    whole = gn.importance_by_label(gn.explain(X, Y, fit="forward", pooling=1), labels)
    found = explain_by_blocks(ArrayTable(X), Y, pooling=1).importance_by_label(labels)
    assert list(found) == ["left", "right"]
    for label, mean in whole.items():
        np.testing.assert_allclose(found[label][mean.indices], mean.effect, rtol=1e-5, atol=1e-8)


def test_who_works_and_how_many_threads_changes_no_bit(data, tmp_path):
    X, Y = data
    table = Blocks(X)
    assert len(table.blocks()) == 3
    options = {"landmarks": 900, "pooling": 1}
    first = explain_by_blocks(table, Y, n_jobs=1, **options)
    others = [
        explain_by_blocks(table, Y, n_jobs=2, executor=Backwards(), **options),
        explain_by_blocks(table, Y, journal=Journal(tmp_path / "run", {}), **options),
        explain_by_blocks(table, Y, journal=Journal(tmp_path / "run", {}), **options),
        explain_by_blocks(table, Y, out=tmp_path / "out.zarr", **options),
        explain_by_blocks(table, Y, out=tmp_path / "out.zarr", **options),
        explain_by_blocks(table, Y, out=tmp_path / "out.parquet", **options),
    ]
    for other in others:
        assert other.global_importance.tobytes() == first.global_importance.tobytes()
        assert other.r2.tobytes() == first.r2.tobytes()
        assert other.neighbors_kept.tobytes() == first.neighbors_kept.tobytes()
        for one, two in zip(other.top_features(), first.top_features(), strict=True):
            assert one.tobytes() == two.tobytes()
    np.testing.assert_array_equal(others[-1].results.read("y"), Y)


class Killed(LocalExecutor):
    """Stops before the second item."""

    def map(self, function, items, *shared, **options):
        for place, found in enumerate(super().map(function, items, *shared, **options)):
            if place == 1:
                raise KeyboardInterrupt
            yield found


@pytest.mark.parametrize("where", ["out", "journal"])
def test_a_run_that_was_cut_goes_on_where_it_stopped(data, tmp_path, where):
    X, Y = data
    table = Blocks(X)

    def explained(executor, seed=0):
        kept = {"out": tmp_path / "out.zarr"} if where == "out" else {"journal": Journal(tmp_path / "run", {})}
        return explain_by_blocks(table, Y, landmarks=500, pooling=1, executor=executor, random_state=seed, **kept)

    with pytest.raises(KeyboardInterrupt):
        explained(Killed())
    read, table.read = [], lambda start, stop: read.append(start) or ArrayTable.read(table, start, stop)
    found = explained(LocalExecutor())
    assert read == ([1024, 2048] if where == "out" else [2048])  # workers had written the second to the journal
    whole = explain_by_blocks(Blocks(X), Y, landmarks=500, pooling=1)
    assert found.r2.tobytes() == whole.r2.tobytes()
    assert found.global_importance.tobytes() == whole.global_importance.tobytes()
    if where == "out":
        with pytest.raises(ValueError, match=r"landmarks was [0-9]+ there and is"):
            explained(LocalExecutor(), seed=1)


def test_kept_neighbours_are_all_kept_where_the_map_is_the_data():
    X = np.random.default_rng(0).normal(size=(700, 2)).astype(np.float32)
    kept = explain_by_blocks(ArrayTable(X), X, landmarks=300).neighbors_kept
    np.testing.assert_array_equal(kept, np.ones(700, np.float32))
    shuffled = explain_by_blocks(ArrayTable(X), X[::-1], landmarks=300).neighbors_kept
    assert shuffled.mean() < 0.15


def test_explain_takes_stored_tables(data):
    X, Y = data
    found = gn.explain(ArrayTable(X), Y, executor=Backwards())
    assert isinstance(found, StoredExplanation)
    assert "of 2500 reference rows" in found.summary()
    assert np.isnan(found.r2[105])
    with pytest.raises(ValueError, match=r"explain: fit='inverse' must be 'auto' or 'forward' \(X is read in blocks\)"):
        gn.explain(ArrayTable(X), Y, fit="inverse")
    with pytest.raises(ValueError, match="graph must be None"):
        gn.explain(ArrayTable(X), Y, graph=(1, 2))
    with pytest.raises(ValueError, match=r"row numbers in \[0, n_samples=2500\)"):
        explain_by_blocks(ArrayTable(X), Y, landmarks=[0, 1, 2500])
    with pytest.raises(ValueError, match="landmarks with 2 rows"):
        explain_by_blocks(ArrayTable(X), Y, landmarks=[0, 1])


def test_the_mean_importance_of_blocks_is_that_of_all_points_and_nothing_without_any():
    sums, weights = np.array([[2.0, 4.0], [1.0, 5.0]]), [3.0, 1.0]
    parts = [{"sums": one, "weight": np.array([weight])} for one, weight in zip(sums, weights, strict=True)]
    np.testing.assert_allclose(_mean(parts), [0.75, 2.25])
    np.testing.assert_array_equal(sums, [[2.0, 4.0], [1.0, 5.0]])
    np.testing.assert_array_equal(_mean([{"sums": np.zeros(2), "weight": np.zeros(1)}] * 2), [0.0, 0.0])


def test_reference_rows_are_those_given_that_have_a_place_or_drawn_ones():
    Y = np.zeros((50, 2))
    Y[::10] = np.nan
    placed = np.flatnonzero(np.isfinite(Y[:, 0]))
    np.testing.assert_array_equal(_reference_rows(None, Y, 4), placed)
    np.testing.assert_array_equal(_reference_rows(45, Y, 4), placed)
    drawn = _reference_rows(7, Y, 4)
    assert len(drawn) == 7
    assert set(drawn) <= set(placed)
    assert (np.diff(drawn) > 0).all()
    np.testing.assert_array_equal(drawn, placed[np.sort(np.random.default_rng((0, 315)).choice(45, 7, replace=False))])
    assert len(_reference_rows(3, Y, 4)) == 3
    assert _reference_rows([49, 0, 3, 7, 3], Y, 4).tolist() == [3, 7, 49]
    for wrong in ([-1, 2, 3, 4], [1, 2, 50], [], [1.0, 2.0, 3.0], [0, 10, 1, 2], 2):
        with pytest.raises(ValueError, match="landmarks"):
            _reference_rows(wrong, Y, 4)


def test_tables_of_many_features_number_them_in_more_bytes():
    assert [_feature_type(n) for n in (5, 32_767, 32_768)] == [np.int16, np.int16, np.int32]


def test_a_label_without_points_that_can_be_explained_has_no_importance(data):
    X, Y = data[0], data[1].copy()
    Y[200:210] = np.nan
    found = explain_by_blocks(ArrayTable(X), Y, landmarks=600, pooling=0)
    means = found.importance_by_label(np.where(found.mask, "some", "none"), weighted=False)
    assert list(means) == ["none", "some"]
    assert means["none"] is None
    np.testing.assert_allclose(means["some"], found.global_importance, rtol=1e-9)
    top = found.top_features(2495, 9999)
    assert top[0].shape == top[1].shape == (5, 8)
    assert found.why(-1).index == len(X) - 1
    assert repr(found) == "StoredExplanation(n_samples=2500, n_features=12, n_landmarks=600)"
    assert len(found.summary(3).splitlines()) == 5


def test_sums_and_weights_of_blocks_are_added():
    one, two = (np.array([[1.0, 2.0]]), np.array([3.0])), (np.array([[10.0, 20.0]]), np.array([30.0]))
    sums, weights = _add(one, two)
    assert (sums.tolist(), weights.tolist()) == ([[11.0, 22.0]], [33.0])
    X = np.random.default_rng(0).normal(size=(2500, 3)).astype(np.float32)
    labels = np.arange(2500) % 2
    means = [
        explain_by_blocks(kind(X), X[:, :2], landmarks=400).importance_by_label(labels) for kind in (Blocks, ArrayTable)
    ]
    for label in (0, 1):
        np.testing.assert_allclose(means[0][label], means[1][label], rtol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_single_rows_of_standardised_tables_answer_in_units_of_the_features(data, form, tmp_path):
    X, Y = data[0][300:480, :5] * np.array([1, 100, 1, 0.01, 1], np.float32), data[1][300:480]
    whole = gn.explain(form(X), Y, fit="forward", pooling=1, scale="standard")
    found = explain_by_blocks(SmallBlocks(form(X), 70), Y, pooling=1, scale="standard", out=tmp_path / "o.parquet")
    some = explain_by_blocks(SmallBlocks(form(X), 70), Y, landmarks=np.arange(170), pooling=1, scale="standard")
    by_hand = explain_by_blocks(SmallBlocks(some.scale.apply(form(X)), 70), Y, landmarks=np.arange(170), pooling=1)
    np.testing.assert_allclose(found.axes(7), whole.axes(7), rtol=1e-5)
    for row in (175, -1):  # behind all reference rows
        answer = some.why(row, 5)
        np.testing.assert_allclose(answer.values, X[row, answer.indices], rtol=1e-6)
        np.testing.assert_allclose(answer.effect, some.top_features()[1][row][:5], rtol=1e-4)
        np.testing.assert_allclose(some.axes(row), by_hand.axes(row) / some.scale.spread, rtol=1e-4)
        assert answer.r2 == some.r2[row]
    indices, importance = found.top_features()
    assert indices.shape == importance.shape == (180, 5)
    assert np.array_equal(found.top_features(10)[0], indices[10:])
    assert np.array_equal(found.top_features(stop=3)[1], importance[:3])
    assert found.median_r2 == np.median(found.r2[found.mask])


def test_of_wide_tables_a_thousand_rows_at_least_are_reference_rows():
    Y = np.zeros((1300, 2))
    assert len(_reference_rows(None, Y, 10**7)) == 1000
    assert len(_reference_rows(None, Y, 10)) == 1300


def test_a_map_on_a_sphere_is_explained_in_space(data):
    X, Y = data[0][300:500], np.column_stack([data[1][300:500, 0], 1.0 + 0.1 * data[1][300:500, 1]])
    surface = Sphere()
    found = gn.explain(ArrayTable(X), Y, surface=surface, pooling=0)
    assert (found.n_components, found.axes(3).shape) == (3, (3, 12))
    np.testing.assert_allclose(found.places, surface.drawn(Y))
    np.testing.assert_allclose(gn.explain(X, Y, surface=surface, pooling=0, fit="forward").r2, found.r2, atol=1e-6)
    with pytest.raises(ValueError, match="n_neighbors=1"):
        gn.explain(ArrayTable(X), Y, n_neighbors=1)


def test_columns_with_a_period_are_cut_in_all_blocks():
    rng = np.random.default_rng(0)
    across = np.column_stack([rng.normal(180.0, 20.0, 400), rng.normal(0.0, 20.0, 400)])
    wrapped = ((across + 180.0) % 360.0 - 180.0).astype(np.float32)
    Y = across @ [[1.0, 0.2], [-0.3, 1.0]]
    found = explain_by_blocks(Blocks(wrapped), Y, landmarks=np.arange(0, 400, 2), metric="periodic(360)", scale=None)
    assert found.r2.min() > 0.99
    assert found.seams.moved.tolist() == [0]
    for row in (0, 1):  # a reference row, and one that is none
        np.testing.assert_allclose(found.axes(row), [[1.0, -0.3], [0.2, 1.0]], atol=0.02)
        value = dict(zip(found.why(row).features, found.why(row).values, strict=True))["feature 0"]
        np.testing.assert_allclose(value % 360.0, wrapped[row, 0] % 360.0, rtol=1e-5)
        assert abs((value - found.seams.begins[0]) % 360.0 - (value - found.seams.begins[0])) < 1e-3
