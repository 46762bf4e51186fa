"""A table whose rows stand in it several times is explained as if each stood in it once."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.data.stored import ArrayTable
from gnomon.exceptions import DataWarning
from gnomon.explanations import explain_by_blocks, group_features, mean_importance
from gnomon.neighbors import alike_by_chance

_TOLD = "rows lie as near to others as if they were measured or copied several times"


@pytest.fixture(scope="module")
def table():
    """Places that follow two of twenty features, and scatter."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(150, 20)) * np.append([3, 2], np.ones(18))
    return X, X[:, :2] @ [[1.0, 0.5], [-0.5, 1.0]] + 0.5 * draw.normal(size=(150, 2))


def _explained(X, Y, **options):
    with pytest.warns(DataWarning, match=_TOLD):
        return gn.explain(X, Y, **options)


def _assert_same(many, once, times):
    assert many.n_repeats == (times - 1) * once.n_samples
    np.testing.assert_allclose(many.r2, np.repeat(once.r2, times), atol=1e-5)
    np.testing.assert_allclose(many.r2_error, np.repeat(once.r2_error, times), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(many.push_r2, np.repeat(once.push_r2, times), atol=1e-4)
    np.testing.assert_allclose(many.global_importance, once.global_importance, rtol=1e-4)
    for i in (0, 77):
        np.testing.assert_allclose(many.axes(times * i + 1), once.axes(i), rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(many.axes_error(times * i + 1), once.axes_error(i), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("options", [{"pooling": 0}, {"fit": "inverse"}])
@pytest.mark.parametrize("times", [2, 10])
def test_copies_change_nothing(table, times, options):
    X, Y = table
    once = gn.explain(X, Y, n_neighbors=12, **options)
    many = _explained(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0), n_neighbors=12, **options)
    if "fit" in options:  # rows held out at random chose the number of neighbours
        assert many._inverse.n_neighbors == once._inverse.n_neighbors
    _assert_same(many, once, times)


@pytest.mark.parametrize("form", [lambda graph: graph, lambda graph: (graph.indices, graph.distances)])
def test_copies_change_nothing_where_the_neighbors_are_given(table, form):
    X, Y = table
    many, places = np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0)
    graph = gn.neighbors.compute_neighbors(many, 15)
    found = _explained(many, places, graph=form(graph), n_neighbors=10, pooling=0)
    _assert_same(found, gn.explain(X, Y, n_neighbors=10, pooling=0), 2)
    np.testing.assert_array_equal(found.graph.indices, graph.indices[:, :10])


def test_means_of_copies_have_the_errors_of_the_rows_once(table):
    X, Y = table
    for fit in ("forward", "inverse"):
        once = gn.explain(X, Y, n_neighbors=12, pooling=0, fit=fit)
        many = _explained(np.repeat(X, 3, axis=0), np.repeat(Y, 3, axis=0), n_neighbors=12, pooling=0, fit=fit)
        of_once, of_many = mean_importance(once), mean_importance(many)
        np.testing.assert_allclose(of_many.error, of_once.error, rtol=0.02)
        np.testing.assert_allclose(of_many.effect, of_once.effect, rtol=1e-3)


@pytest.mark.parametrize("noise", [1e-6, 1e-2, 0.1])
@pytest.mark.parametrize("times", [2, 5])
def test_rows_measured_several_times_do_not_foretell_places_that_know_nothing_of_them(times, noise):
    draw = np.random.default_rng(1)
    base, places = draw.normal(size=(300 // times, 20)), draw.normal(size=(300 // times, 2))
    X = np.repeat(base, times, axis=0) + noise * draw.normal(size=(300, 20))
    Y = np.repeat(places, times, axis=0) + 1e-3 * draw.normal(size=(300, 2))
    found = _explained(X, Y)
    assert np.median(found.r2) < 0.1
    assert str(found.n_repeats) in found.describe_fit()
    assert np.median(group_features(found).explanation.r2) < 0.1  # and warns no second time


def test_groups_of_collinear_features_are_those_of_the_rows_once(table):
    X, Y = table
    X = np.concatenate([X[:, :4], X[:, :2] + 0.05 * X[:, 4:6], X[:, 6:]], axis=1)
    once = group_features(gn.explain(X, Y, n_neighbors=12, pooling=0), threshold=0.8)
    explanation = _explained(np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0), n_neighbors=12, pooling=0)
    many = group_features(explanation, threshold=0.8)
    assert once.groups
    assert many.groups.keys() == once.groups.keys()
    for name, shares in once.groups.items():
        assert many.groups[name] == pytest.approx(shares, rel=1e-3)
    np.testing.assert_allclose(many.explanation.r2, np.repeat(once.explanation.r2, 2), atol=1e-4)


def test_a_row_without_a_place_stands_for_none(table):
    X, Y = table
    places = np.repeat(Y, 2, axis=0)
    places[::2] = np.nan
    found = _explained(np.repeat(X, 2, axis=0), places, n_neighbors=12, pooling=0)
    once = gn.explain(X, Y, n_neighbors=12, pooling=0)
    np.testing.assert_allclose(found.r2[1::2], once.r2, atol=1e-5)
    assert not found.mask[::2].any()


def test_tables_read_in_blocks_are_explained_as_those_in_memory(table):
    X, Y = (np.repeat(one, 2, axis=0) for one in table)
    whole = _explained(X, Y, fit="forward", pooling=1)
    with pytest.warns(DataWarning, match=_TOLD):
        found = explain_by_blocks(ArrayTable(X), Y, pooling=1)
    np.testing.assert_allclose(found.r2, whole.r2, atol=1e-5)
    np.testing.assert_allclose(found.axes(7), whole.axes(7), rtol=1e-4, atol=1e-6)
    once = explain_by_blocks(ArrayTable(table[0]), table[1], pooling=1)
    np.testing.assert_allclose(found.neighbors_kept[::2], once.neighbors_kept)
    np.testing.assert_allclose(found.neighbors_kept[1::2], once.neighbors_kept)


def test_other_features_of_a_map_are_fitted_over_distinct_rows():
    draw = np.random.default_rng(0)
    base = draw.normal(size=(160, 8))
    X = np.repeat(base, 2, axis=0) + 1e-3 * draw.normal(size=(320, 8))
    made = gn.Map(X, X[:, :2], feature_names=[f"f{j}" for j in range(8)])
    with pytest.warns(DataWarning, match=_TOLD):
        found = made.explain(features=np.repeat(draw.normal(size=(160, 30)), 2, axis=0))
    assert np.median(found.r2) < 0.1
    assert found.n_neighbors == 60
    assert (found.jacobians.weights > 0).all()
    with pytest.warns(DataWarning, match=_TOLD):
        assert np.median(made.explain(features=X @ draw.normal(size=(8, 8))).r2) > 0.9


def _labelled_by_set(times, n_classes):
    draw = np.random.default_rng(3)
    n = 240 // times
    X = np.repeat(draw.normal(size=(n, 20)), times, axis=0) + 1e-7 * draw.normal(size=(n * times, 20))
    return X, np.repeat(draw.integers(0, n_classes, n), times)


@pytest.mark.parametrize("times", [2, 5, 10])
def test_copies_do_not_vouch_for_each_others_labels(times):
    X, labels = _labelled_by_set(times, 5)
    found = gn.Map(X, X[:, :2], labels=labels).suspects()
    assert found.n_repeats == 240 - 240 // times
    assert found.n_suspects > 0.6 * 240  # at random four in five
    assert "rows repeat others, or nearly, and have no vote on rows of their set" in found.headline()
    once = gn.Map(X[::times], X[::times, :2], labels=labels[::times]).suspects()
    np.testing.assert_allclose(found.scores[::times], once.scores, atol=0.01)
    assert once.to_dict()["n_repeats"] == 0


@pytest.mark.parametrize("times", [2, 5, 10])
def test_sides_of_repeated_rows_are_told_apart_by_sets_held_out_whole(times):
    X, side = _labelled_by_set(times, 2)
    found = gn.contrast(X, side == 1)
    once = gn.contrast(X[::times], side[::times] == 1)
    assert found.n_repeats == 240 - 240 // times
    assert abs(found.fidelity - 0.5) < 0.25
    assert not found.sets_apart.any()
    order = np.argsort(found.indices), np.argsort(once.indices)
    np.testing.assert_allclose(found.auc_error[order[0]], once.auc_error[order[1]], rtol=0.1)
    np.testing.assert_allclose(found.error[order[0]], once.error[order[1]], rtol=0.1)
    assert "each set is held out whole and counts as one row" in found.headline()
    assert "n_repeats" in found.to_dict()


def test_units_are_held_out_whole_and_the_line_says_so():
    X, side = _labelled_by_set(10, 2)
    units = np.repeat(np.arange(24), 10)
    found = gn.contrast(X, side == 1, units=units)
    assert abs(found.fidelity - 0.5) < 0.25
    assert f"with AUC {found.fidelity:.2f} on units held out; chance is judged between" in found.headline()
    both = gn.contrast(X, np.arange(240) % 2 == 0, units=np.where(np.arange(240) < 30, units, -1))
    assert np.isnan(both.fidelity) or "on units held out" in both.headline()


def test_answers_of_few_values_are_alike_by_chance_and_count_each():
    draw = np.random.default_rng(0)
    answers = draw.integers(0, 5, size=(300, 3)).astype(float)
    side = draw.integers(0, 2, 300) == 1
    assert gn.contrast(answers, side).n_repeats == 0
    assert gn.Map(answers, answers[:, :2], labels=side).suspects().n_repeats == 0
    twice = np.repeat(draw.integers(0, 5, size=(150, 12)).astype(float), 2, axis=0)
    assert gn.contrast(twice, side).n_repeats > 50  # of twelve answers none are alike by chance


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_no_explanation_calls_rows_of_few_bits_copied(form):
    draw = np.random.default_rng(0)
    bits = (draw.random((300, 9)) < 0.5).astype(float)
    Y = bits @ draw.normal(size=(9, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = gn.explain(form(bits), Y)
    assert found.n_repeats > 30
    assert f"{found.n_repeats} repeat others, or nearly" in found.describe_fit()
    assert gn.contrast(bits, Y[:, 0] > 0).n_repeats == 0
    wide = (draw.random((150, 20)) < 0.5).astype(float)  # of so many bits no two rows are equal by chance
    assert (
        _explained(form(np.repeat(wide, 2, axis=0)), np.repeat(wide @ draw.normal(size=(20, 2)), 2, axis=0)).n_repeats
        == 150
    )


def test_repeats_do_not_depend_on_the_units_of_columns():
    draw = np.random.default_rng(5)
    X = np.repeat(draw.normal(size=(150, 6)), 2, axis=0) + 0.02 * draw.normal(size=(300, 6))
    X /= X.std(axis=0)
    side = np.repeat(draw.integers(0, 2, 150), 2) == 1
    counted = gn.contrast(X, side).n_repeats
    assert 140 <= counted <= 160
    units = X * [1e4, 1.0, 1.0, 1.0, 1.0, 1.0] + [0.0, 5.0, 0.0, 0.0, 0.0, 0.0]
    assert gn.contrast(units, side).n_repeats == counted
    assert f"{counted:,} rows repeat others of their side, or nearly" in gn.contrast(units, side).headline()


def test_levels_of_categories_are_equal_by_chance_as_one_column():
    draw = np.random.default_rng(6)
    levels = draw.integers(0, 5, size=(1000, 5))
    X = (levels[:, :, None] == np.arange(5)).reshape(1000, 25).astype(float)
    equal = len(X) - len(np.unique(levels, axis=0))
    for table in (X, 3.0 * X - 1.0, sp.csr_array(X)):
        assert alike_by_chance(table, equal)
        assert not alike_by_chance(table, 1000)  # 160 pairs are equal
    assert gn.contrast(X, draw.integers(0, 2, 1000) == 1).n_repeats == 0


def test_pairs_that_are_equal_by_chance_are_counted():
    draw = np.random.default_rng(1)
    X = draw.integers(0, 3, size=(200, 4))
    pairs = sum(int((X[i] == X[i + 1 :]).all(axis=1).sum()) for i in range(199))
    assert abs(pairs - 0.5 * 200 * 199 / 3**4) < 60
    for table in (X, sp.csr_array(X.astype(float))):
        assert alike_by_chance(table, 2 * pairs)
        assert not alike_by_chance(table, 8 * pairs)
    assert not alike_by_chance(draw.normal(size=(200, 4)), 1)


def test_answers_of_a_category_of_which_some_were_filled_in_are_alike_by_chance():
    draw = np.random.default_rng(0)
    table = (draw.integers(0, 3, 400)[:, None] == np.arange(3)).astype(float)
    table[:20] = [0.7, 0.2, 0.1]
    pairs = sum(n * (n - 1) // 2 for n in np.bincount(table.argmax(axis=1)))
    assert alike_by_chance(table, 3.9 * pairs)
    assert not alike_by_chance(table, 4.1 * pairs)
