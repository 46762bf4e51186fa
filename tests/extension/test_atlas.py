"""An atlas passes through the map, is exact for affine maps, smooth, and has the derivative it says it has."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gnomon.exceptions import DataWarning
from gnomon.extension import AffineAtlas, Novelty, hearing_far, tell_of_far
from gnomon.extension.atlas.charts import BlendLaw, torn_weights
from gnomon.geometry import local_jacobians
from gnomon.neighbors import compute_neighbors

pytestmark = pytest.mark.filterwarnings("ignore:AffineAtlas.*out of range:gnomon.exceptions.DataWarning")


def curved(n=400, seed=0):
    """Return rows near a curved sheet of three dimensions in nine, and a map of them."""
    rng = np.random.default_rng(seed)
    T = rng.uniform(-1, 1, (n, 3))
    X = np.c_[T, np.sin(2 * T[:, 0]), T[:, 1] * T[:, 2], 0.05 * rng.normal(size=(n, 4))]
    return X, np.c_[np.sin(2 * T[:, 0]) + T[:, 1], T[:, 2] ** 2 + T[:, 1]]


def between(X, m=30, seed=1):
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, len(X), (2, m))
    share = rng.uniform(0.02, 0.98, (m, 1))
    return (1 - share) * X[i] + share * X[j]


@pytest.fixture(scope="module")
def sheet():
    X, Y = curved()
    return X, Y, AffineAtlas(X, Y, n_jobs=1)


def differences(function, x, h=1e-6):
    """Return the derivative of a function of rows at the rows x by central differences, (m, d, D)."""
    steps = h * np.eye(x.shape[1])
    return np.stack([(function(x + e) - function(x - e)) / (2 * h) for e in steps], axis=2)


def test_it_passes_through_the_map(sheet):
    X, Y, atlas = sheet
    np.testing.assert_allclose(atlas.transform(X), Y, rtol=0, atol=1e-14)


def test_its_derivative_at_a_row_is_that_of_the_chart_as_far_as_it_is_trusted(sheet):
    X, Y, atlas = sheet
    graph = compute_neighbors(X, 15)
    share = 1.0 if atlas.ridge_ == 0.0 else 0.9
    weights = torn_weights(Y, graph)[0]
    fits = local_jacobians(X, Y, graph, weights=weights, ridge=atlas.ridge_, variance_share=share)
    for i in (0, 17, 399):
        np.testing.assert_allclose(atlas.jacobian(X[i]), atlas.trust_[i] * fits.axes(X, i), atol=1e-12)


def test_it_is_exact_for_an_affine_map_and_so_are_its_derivative_and_inverse():
    rng = np.random.default_rng(3)
    frame = rng.normal(size=(5, 40))
    inner = rng.normal(size=(300, 5))
    A = rng.normal(size=(40, 2))
    X, new = inner @ frame + 100.0, 0.7 * rng.normal(size=(50, 5)) @ frame + 100.0
    atlas = AffineAtlas(X, X @ A + 3.0)
    scale = np.abs(X @ A).max()
    np.testing.assert_allclose(atlas.transform(new), new @ A + 3.0, atol=1e-6 * scale)
    onto = np.linalg.pinv(frame) @ frame  # the derivative within the affine hull of the data
    np.testing.assert_allclose(atlas.jacobian(new), np.broadcast_to(A.T @ onto, (50, 2, 40)), atol=1e-6)
    inside = atlas.transform(new)[:10]
    rows, error = atlas.inverse_transform(inside, return_error=True)
    assert error.max() < 1e-6 * scale
    np.testing.assert_allclose(rows @ A + 3.0, inside, atol=1e-6 * scale)


def test_an_injective_affine_map_is_inverted_exactly():
    rng = np.random.default_rng(4)
    inner, frame = rng.uniform(-2, 2, size=(300, 3)), rng.normal(size=(3, 12))
    X = inner @ frame
    atlas = AffineAtlas(X, inner)
    new = rng.uniform(-1, 1, size=(40, 3))
    np.testing.assert_allclose(atlas.inverse_transform(new), new @ frame, atol=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_its_derivative_is_that_of_finite_differences(sheet, sparse):
    X, Y, atlas = sheet
    if sparse:
        X = np.where(np.abs(X) < 0.1, 0.0, X)
        atlas = AffineAtlas(sp.csr_array(X), Y)
    x = between(X)
    analytic = atlas.jacobian(sp.csr_array(x) if sparse else x)
    np.testing.assert_allclose(analytic, differences(atlas.transform, x), atol=1e-6 * np.abs(analytic).max())


@pytest.mark.parametrize("make", [np.asarray, np.float32, sp.csr_array], ids=["float64", "float32", "sparse"])
def test_one_row_has_its_place_and_derivative_at_once(make):
    X, Y = curved()
    atlas = AffineAtlas(make(X), Y)
    for x in (*between(X, 5), X[3], X[0] + 50.0):
        place, derivative = atlas.linearize(x)
        row = make(x[None])
        np.testing.assert_allclose(place, atlas.transform(row)[0], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(derivative, atlas.jacobian(row)[0], rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match=r"AffineAtlas: x of shape \(2, 9\) must be one row"):
        atlas.linearize(X[:2])


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.normal(size=(900, 30)) * np.geomspace(3.0, 0.1, 30),
        lambda rng: rng.integers(0, 3, size=(900, 6)).astype(np.float64),  # ties and equal rows
        lambda rng: 1e6 + rng.normal(size=(900, 12)),  # the differences are small beside the numbers
        lambda rng: rng.normal(size=(40, 3)),  # fewer rows than are looked at
        lambda rng: 1e-30 * rng.normal(size=(900, 12)),
        lambda rng: 1e25 * rng.normal(size=(900, 12)),  # squares are beyond single precision
    ],
)
def test_one_row_finds_its_neighbours_among_all_rows(make):
    rng = np.random.default_rng(0)
    X = make(rng)
    size = float(np.abs(X - X.mean(axis=0)).max())
    atlas = AffineAtlas(X, (X[:, :2] - X[:, :2].mean(axis=0)) / size)
    for x in (*between(X, 20), *(X[:5] + 0.1 * X.std() * rng.normal(size=X.shape[1])), X[3] + 20 * size):
        place, derivative = atlas.linearize(x)
        found = atlas._forward.blend(x[None], jacobians=True)
        np.testing.assert_allclose(place, found.positions[0], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(derivative, found.jacobians[0], rtol=1e-4, atol=1e-6 * np.abs(derivative).max())


def test_its_derivative_is_right_near_and_far_from_the_rows(sheet):
    X, _, atlas = sheet
    rng = np.random.default_rng(8)
    for away in (1e-3, 0.3):
        x = X[:6] + away * rng.normal(size=(6, 9))
        analytic = atlas.jacobian(x)
        np.testing.assert_allclose(analytic, differences(atlas.transform, x, 1e-7), atol=3e-6 * np.abs(analytic).max())


def test_its_derivative_is_right_where_more_rows_than_are_looked_at_would_count():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    atlas = AffineAtlas(X, np.sin(X[:, :2]), n_neighbors=3)
    x = np.array([[60.0, 10.0, 5.0], [-300.0, 0.0, 1.0]])
    analytic = atlas.jacobian(x)
    np.testing.assert_allclose(analytic, differences(atlas.transform, x, 1e-5), atol=1e-5 * np.abs(analytic).max())


def test_it_is_continuously_differentiable_where_neighbours_change(sheet):
    X, _, atlas = sheet
    steps = {}
    for n_steps in (500, 5000):
        path = X[3] + np.linspace(0, 1, n_steps + 1)[:, None] * (X[77] - X[3])
        slope = atlas.jacobian(path) @ (X[77] - X[3])
        steps[n_steps] = np.abs(np.diff(slope, axis=0)).max()
    assert steps[5000] < 0.15 * steps[500]  # a jump would stay
    change = [set(row) for row in compute_neighbors(np.r_[path[::100], X], 15).indices[:50]]
    assert len({frozenset(one) for one in change}) > 10


def test_the_gradient_of_a_function_of_the_map_is_pulled_back_to_the_data(sheet):
    X, _, atlas = sheet
    centre, height = np.array([0.3, 0.1]), 2.0

    def bias(x):
        return height * np.exp(-np.square(atlas.transform(x) - centre).sum(axis=1))[:, None]

    x = between(X, 5)
    y = atlas.transform(x)
    gradient = -2.0 * (y - centre) * bias(x)
    force = -atlas.pull_back(x, gradient)
    np.testing.assert_allclose(force, -differences(bias, x)[:, 0], atol=1e-6 * np.abs(force).max())
    np.testing.assert_array_equal(atlas.pull_back(x[0], gradient[0]), -force[0])
    with pytest.raises(ValueError, match=r"gradient of shape \(3,\) must be of shape \(2,\)"):
        atlas.pull_back(x[0], np.ones(3))


def test_f83_f33_threads_and_batches_do_not_change_a_bit():
    X, Y = curved(300)
    new = between(X, 25)
    first = AffineAtlas(X, Y, n_jobs=1)
    wanted = (
        np.column_stack(first.predict(new)),
        first.jacobian(new),
        first.inverse_transform(Y[:25] + 0.01),
        first.novelty(new),
    )
    for n_jobs in (2, 3):
        atlas = AffineAtlas(X, Y, n_jobs=n_jobs)
        np.testing.assert_array_equal(np.column_stack(atlas.predict(new)), wanted[0])
        np.testing.assert_array_equal(atlas.jacobian(new), wanted[1])
        np.testing.assert_array_equal(atlas.inverse_transform(Y[:25] + 0.01), wanted[2])
    some = [7, 3, 24]
    np.testing.assert_array_equal(first.transform(new[some]), wanted[0][some, :2])
    np.testing.assert_array_equal(first.jacobian(new[7]), wanted[1][7])
    np.testing.assert_array_equal(first.inverse_transform(Y[some] + 0.01), wanted[2][some])
    np.testing.assert_array_equal(first.novelty(new[some]), wanted[3][some])
    assert first.transform(new[:0]).shape == (0, 2)
    assert first.jacobian(new[:0]).shape == (0, 2, 9)
    assert first.inverse_transform(Y[:0]).shape == (0, 9)
    assert first.novelty(new[:0]).shape == (0,)


def test_tables_of_all_kinds_give_the_same(sheet):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 200, (200, 8)).astype(np.uint8) * (rng.random((200, 8)) < 0.6)
    X = X.astype(np.uint8)
    Y = np.sqrt(X[:, :2].astype(float))
    new = X[:20] // 2
    wanted = None
    for given in (X, X.astype(np.float32), X.astype(np.float64), sp.csr_array(X.astype(np.float32)), sp.coo_array(X)):
        atlas = AffineAtlas(given, Y)
        found = atlas.transform(new), atlas.jacobian(new), atlas.inverse_transform(Y[:20] + 1)
        for way in (sp.csr_array(new), new.astype(np.float64), pd.DataFrame(new)):
            np.testing.assert_allclose(atlas.transform(way), found[0], rtol=1e-12)
        wanted = wanted or found
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8 * np.abs(other).max())


def test_a_shift_and_a_scale_of_the_data_change_nothing():
    X, Y = curved(200)
    new = between(X, 10)
    wanted = AffineAtlas(X, Y).transform(new)
    np.testing.assert_allclose(AffineAtlas(8 * X, Y).transform(8 * new), wanted, atol=1e-9)
    np.testing.assert_allclose(AffineAtlas(X + 1e5, Y).transform(new + 1e5), wanted, atol=1e-6)


def test_across_a_tear_a_row_takes_a_side_and_the_spread_says_so():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 2))
    side = np.where(X[:, 0] > 0, 50.0, -50.0)
    atlas = AffineAtlas(X, X + np.c_[side, np.zeros(600)])
    new = np.c_[rng.uniform(-0.1, 0.1, 200), rng.uniform(-0.8, 0.8, 200)]
    away = np.c_[rng.uniform(0.4, 0.9, 50), rng.uniform(-0.8, 0.8, 50)]
    positions, spread = atlas.predict(new)
    assert np.mean(np.abs(np.abs(positions[:, 0]) - 50) < 3) > 0.8  # the empty middle is between
    assert np.quantile(spread, 0.75) > 10.0
    assert atlas.predict(away)[1].max() < 0.5


def test_rows_without_a_place_take_no_part_and_equal_rows_share_one():
    X, Y = curved(200)
    Y[5] = np.nan
    X[11], Y[11] = X[10], Y[10] + 1.0
    atlas = AffineAtlas(X, Y)
    kept = np.r_[0:5, 6:10, 12:200]
    np.testing.assert_allclose(atlas.transform(X[kept]), Y[kept], atol=1e-13)
    np.testing.assert_allclose(atlas.transform(X[10:12]), [Y[10] + 0.5, Y[10] + 0.5], atol=1e-13)
    assert np.isfinite(atlas.transform(X[[5]])).all()
    with pytest.raises(ValueError, match="rows with a place"):
        atlas.round_trip([4, 5])


def test_a_row_without_a_chart_takes_its_neighbours():
    X, Y = curved(200)
    graph = compute_neighbors(X, 12)
    alone = int(graph.indices[50, 0])
    indices = graph.indices.copy()
    indices[50] = indices[50, 0]  # the same neighbour again and again defines nothing
    broken = type(graph)(indices, graph.distances)
    atlas = AffineAtlas(X, Y, graph=broken, n_neighbors=12)
    np.testing.assert_allclose(atlas.jacobian(X[50]), atlas.jacobian(X[alone]), atol=1e-13)
    np.testing.assert_allclose(atlas.transform(X[[50]]), Y[[50]], atol=1e-13)


def test_few_rows_are_enough():
    for n in (2, 3, 4, 7):
        X, Y = curved(n)
        atlas = AffineAtlas(X, Y)
        np.testing.assert_allclose(atlas.transform(X), Y, atol=1e-12)
        assert np.isfinite(atlas.transform(X + 0.1)).all()
        assert np.isfinite(atlas.jacobian(X + 0.1)).all()
        assert np.isfinite(atlas.inverse_transform(Y + 0.1)).all()
        assert np.isfinite(atlas.novelty(X + 0.1)).all()


def test_a_map_that_is_one_point_is_a_constant():
    X, _ = curved(50)
    atlas = AffineAtlas(X, np.zeros((50, 2)))
    np.testing.assert_array_equal(atlas.transform(between(X)), 0.0)
    np.testing.assert_array_equal(atlas.jacobian(between(X)), 0.0)
    assert np.isfinite(atlas.inverse_transform(np.ones((3, 2)))).all()


def test_the_graph_may_be_given_and_may_be_of_another_metric(sheet):
    X, Y, atlas = sheet
    graph = compute_neighbors(X, 20)
    new = between(X)
    np.testing.assert_array_equal(AffineAtlas(X, Y, graph=graph).transform(new), atlas.transform(new))
    other = AffineAtlas(X, Y, metric="manhattan")
    np.testing.assert_allclose(other.transform(X), Y, atol=1e-13)
    with pytest.raises(ValueError, match="X with 400 rows and a graph with 20 must be"):
        AffineAtlas(X, Y, graph=compute_neighbors(X[:20], 5))


def test_rows_far_out_are_named():
    X, Y = curved()
    atlas = AffineAtlas(X, Y)
    held_out, _ = curved(300, seed=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        near = X[:50] + 1e-3
        atlas.transform(near)
    found = atlas.novelty(held_out)
    assert abs(np.median(found) - 0.5) < 0.15
    np.testing.assert_array_equal(atlas.novelty(X[:5] + 10.0), 1.0)
    assert np.median(atlas.novelty(near)) < 0.5  # each lies by one of the rows
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        atlas.transform(np.r_[near, X[:2] + 10.0])
    assert [one.category for one in caught] == [DataWarning]
    assert "AffineAtlas: 2 of 52 rows lie out of range" in str(caught[0].message)


def test_faults_are_refused_by_name(sheet):
    X, Y, atlas = sheet
    spoiled = X[:3].copy()
    spoiled[1, 2] = np.nan
    for ask in (atlas.transform, atlas.jacobian, atlas.novelty):
        with pytest.raises(ValueError, match="NaN"):  # F03
            ask(spoiled)
        with pytest.raises(ValueError, match="X has 4 features, but AffineAtlas is expecting 9 features"):  # F31
            ask(X[:, :4])
    with pytest.raises(ValueError, match="Y with 3 columns must be of 2 columns"):
        atlas.inverse_transform(X[:, :3])
    with pytest.raises(ValueError, match="infinity"):
        atlas.inverse_transform([[np.inf, 0.0]])
    names = AffineAtlas(pd.DataFrame(X, columns=list("abcdefghi")), Y)
    with pytest.raises(ValueError, match="feature names"):  # F34
        names.transform(pd.DataFrame(X, columns=list("bacdefghi")))
    for wrong in (0, -1, np.nan, "many"):
        with pytest.raises((ValueError, TypeError), match="AffineAtlas: n_neighbors="):
            AffineAtlas(X, Y, n_neighbors=wrong)
    with pytest.raises(ValueError, match="2 distinct rows"):
        AffineAtlas(np.ones((4, 2)), np.zeros((4, 2)))


def test_in_large_tables_rows_are_found_through_cells_and_placed_as_by_the_exact_search(monkeypatch):
    rng = np.random.default_rng(8)
    frame = rng.normal(size=(4, 100))
    inner = rng.uniform(-1, 1, (6000, 4))
    X, new = np.sin(inner @ frame), np.sin(rng.uniform(-0.9, 0.9, (200, 4)) @ frame)
    Y = inner[:, :2]
    exact = AffineAtlas(X, Y, n_jobs=2)
    assert (exact.method_, exact.recall_) == ("exact", 1.0)
    monkeypatch.setattr("gnomon.neighbors.row_search.prefers_cells", lambda *_: True)
    cells = AffineAtlas(X, Y, n_jobs=2)
    assert cells.method_ == "cells"
    assert cells.recall_ >= 0.998
    found = cells.transform(new)
    np.testing.assert_array_equal(found[::7], cells.transform(new[::7]))
    np.testing.assert_array_equal(cells.transform(X[:50]), exact.transform(X[:50]))
    assert np.mean((found == exact.transform(new)).all(axis=1)) > 0.95
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(cells)).transform(new), found)
    np.testing.assert_array_equal(cells.novelty(new), AffineAtlas(X, Y, n_jobs=1).novelty(new))


def test_a_fitted_row_is_scored_as_a_new_one_by_all_others():
    X = np.random.default_rng(4).normal(size=(40, 2))
    X[7] = X[8]
    graph = compute_neighbors(X, 6)
    known = Novelty.learn(graph.indices, graph.distances)

    expected = []
    for i in range(40):
        others = np.delete(X, i, axis=0)
        plain = np.linalg.norm(X[i] - others, axis=1)
        near = np.argsort(plain, kind="stable")[:5]
        among = np.sort(np.linalg.norm(others[near, None] - others, axis=2), axis=1)[:, 1:6]
        expected.append(plain[near].mean() / among.mean(axis=1).mean())
    found = known.score_fitted(graph.indices, graph.distances)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_array_equal(known.scores, np.sort(found))
    mixed = np.random.default_rng(0).permuted(np.tile(np.arange(6), (40, 1)), axis=1)
    in_any_order = [np.take_along_axis(one, mixed, axis=1) for one in (graph.indices, graph.distances)]
    np.testing.assert_allclose(Novelty.learn(*in_any_order).scores, known.scores, rtol=1e-12)


def test_one_neighbour_less_than_are_known_counts_but_one_at_least():
    X = np.random.default_rng(4).normal(size=(40, 2))
    for k, counted in ((1, 1), (2, 1), (3, 2), (6, 5)):
        graph = compute_neighbors(X, k)
        known = Novelty.learn(graph.indices, graph.distances)
        assert known.n_neighbors == counted
        np.testing.assert_allclose(known.widths, graph.distances[:, :counted].mean(axis=1), rtol=1e-6)


@pytest.mark.parametrize(("dimension", "kept"), [(0.5, 1.0), (1.0, 1.0), (5.0, 5.0), (60.0, 60.0), (400.0, 60.0)])
def test_the_law_of_blending_has_the_dimension_by_which_distances_grow(dimension, kept):
    distances = np.arange(1.0, 17.0) ** (1.0 / dimension) * np.array([[1.0], [3.0]])  # k rows within k^(1 / dimension)
    law = BlendLaw.of(distances)
    assert law.dimension == pytest.approx(kept)
    assert law.power == pytest.approx(max(kept / 2.0, 1.0))
    assert law.softness == pytest.approx(2.0 / kept * np.log(4.0))
    assert law.count == 8.5


@pytest.mark.parametrize("dimension", [1, 2, 5, 20])
@pytest.mark.parametrize("draw", ["normal", "exponential"])
def test_novelty_is_uniform_for_rows_like_those_of_the_map(dimension, draw):
    found = []
    for seed in range(6):
        X = getattr(np.random.default_rng(seed), draw)(size=(1000, max(dimension, 2)))
        X[:, dimension:] = 0.0
        found.append(AffineAtlas(X[:600], X[:600, :2]).novelty(X[600:]))
    level = np.concatenate(found)
    assert level.mean() == pytest.approx(0.5, abs=0.03)
    assert np.mean(level > 0.95) == pytest.approx(0.05, abs=0.02)
    assert np.mean(level < 0.25) == pytest.approx(0.25, abs=0.05)


def test_a_few_fitted_rows_far_from_all_others_set_no_range_where_they_are_told_apart():
    """Of 100 scores up to 2, or also three beyond a gap: 4, 5 and 6.5, which is no further gap."""
    near = np.linspace(0.5, 2.0, 97)
    known = Novelty(np.ones(100), np.concatenate([near, [4.0, 5.0, 6.5]]), 15)
    asked = np.array([2.9, 3.1, 9.7, 9.8])
    assert known.far(asked).tolist() == [False, False, False, True]
    assert known.far(asked, n_alone=2).tolist() == [False, False, False, True]  # the three are a group of their own
    assert known.far(asked, n_alone=3).tolist() == [False, True, True, True]
    assert Novelty(np.ones(97), near, 15).far(asked, n_alone=90).tolist() == [False, True, True, True]
    crowd = Novelty(np.ones(20), np.repeat([1.0, 4.0], [17, 3]), 15)
    assert not crowd.far(np.array([5.0]), n_alone=15)[0]  # three of twenty are more than a tenth


def test_who_hears_of_rows_out_of_range_is_not_warned_of_them():
    known = Novelty(np.ones(40), np.linspace(0.5, 2.0, 40), 15)
    scores = np.array([1.0, 9.0, 9.0])
    with hearing_far() as heard:
        tell_of_far(known, scores, 15, away=np.array([True, True, False]))
    assert [one.tolist() for one in heard] == [[False, True, False]]
    with pytest.warns(DataWarning, match="2 of 3 rows lie out of range"):
        tell_of_far(known, scores, 15)
