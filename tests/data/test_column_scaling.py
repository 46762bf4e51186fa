"""Unlike units are told from values of one kind, and a table is standardised and brought back."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

import gnomon
from gnomon.data.scaling import choose_scaling, column_scales, describe_unlike_columns, fit_scaling


def names(X):
    return [f"c{f}" for f in range(X.shape[1])]


def unlike(X):
    return describe_unlike_columns(np.asarray(X, dtype=float), names(X))


def like_tables():
    rng = np.random.default_rng(0)
    counts = rng.poisson(10 ** rng.uniform(-2, 3, 100) * rng.gamma(1, 1, (500, 1)))
    cancer = datasets.load_breast_cancer().data
    pixels = np.clip(rng.normal(0, 10 ** rng.uniform(-2, 2, 60), (400, 60)), 0, 255)
    yield "iris", datasets.load_iris().data
    yield "digits", datasets.load_digits().data
    yield "diabetes", datasets.load_diabetes(scaled=False).data
    yield "swiss roll", datasets.make_swiss_roll(500, random_state=0)[0]
    yield "counts", counts
    yield "logarithms of counts", np.log1p(counts)
    yield "pixels", pixels
    yield "words", (rng.uniform(size=(3000, 40)) < 10 ** rng.uniform(-3, -0.5, 40)).astype(float)
    yield "principal components", gnomon.PCA(n_components=20).fit_transform(cancer)
    yield "a few rows", cancer[:9]


@pytest.mark.parametrize(("name", "X"), list(like_tables()), ids=lambda value: value if isinstance(value, str) else "")
def test_values_of_one_kind_are_left_alone(name, X):
    assert unlike(X) == ""


def test_one_column_in_other_units_is_named():
    wine = datasets.load_wine()
    found = describe_unlike_columns(wine.data, list(wine.feature_names))
    assert found.startswith("'proline' makes 99.8% of the squared distances, and 'proline' spreads 4")
    assert found.endswith(" times as much as the median of the others")


def test_two_columns_in_other_units_are_named():
    rng = np.random.default_rng(1)
    found = unlike(rng.normal(size=(200, 8)) * [1, 1, 400, 1, 1, 600, 1, 1])
    assert "'c5' and 'c2' make 100.0% of the squared distances" in found


def test_spreads_over_many_orders_are_named():
    rng = np.random.default_rng(2)
    found = unlike(rng.normal(size=(300, 60)) * np.repeat(np.geomspace(1, 1e4, 10), 6))
    assert found.startswith("a tenth of the columns, such as 'c5")
    assert "spread more than" in found


def test_columns_of_two_values_do_not_hide_an_amount():
    rng = np.random.default_rng(3)
    marks = rng.integers(0, 2, (300, 30))
    amounts = np.column_stack([rng.integers(18, 90, 300), rng.integers(0, 90_000, 300)])
    assert "'c31' and 'c30' make 100.0%" in unlike(np.column_stack([marks, amounts]))


def test_only_auto_and_metrics_by_coordinates_standardise():
    X = datasets.load_wine().data
    assert choose_scaling(X, "auto", names=names(X))[0].name == "standard"
    for scale, metric in ((None, "euclidean"), ("auto", "cosine")):
        scaling, clause = choose_scaling(X, scale, names=names(X), metric=metric)
        assert scaling is None
        assert "'c12' makes" in clause
    assert choose_scaling(X, "robust", names=names(X))[0].name == "robust"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_standardised_as_scikit_learn_and_undone(dtype):
    rng = np.random.default_rng(4)
    X = (rng.normal(size=(500, 4)) * [1, 1e4, 1e-3, 0] + [0, 5e5, 0, 7]).astype(dtype)
    scaling = fit_scaling(X, "standard")
    scaled = scaling.apply(X)
    assert scaled.dtype == dtype
    np.testing.assert_allclose(scaled, StandardScaler().fit_transform(X.astype(float)), atol=1e-5)
    np.testing.assert_allclose(scaling.undo(scaled), X, rtol=1e-6)
    assert scaling.spread[3] == 1.0


def test_robust_withstands_a_quarter_of_gross_errors():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 2)) * [1.0, 100.0]
    X[:400] = 1e9
    scaling = fit_scaling(np.column_stack([X, np.arange(4000) == 0]), "robust")
    np.testing.assert_allclose(scaling.spread[:2], [1.0, 100.0], rtol=0.3)
    np.testing.assert_allclose(scaling.center[:2] / scaling.spread[:2], 0.0, atol=0.3)
    assert scaling.spread[2] == pytest.approx(np.sqrt(1 / 4000), rel=1e-3)


def test_zeros_of_a_sparse_table_stay():
    X = sp.random_array((200, 6), density=0.3, rng=np.random.default_rng(6), format="csr")
    scaling = fit_scaling(X, "standard")
    scaled = scaling.apply(X)
    assert scaled.nnz == X.nnz
    np.testing.assert_allclose(scaled.toarray().std(axis=0), 1.0)
    np.testing.assert_allclose(scaling.undo(scaled).toarray(), X.toarray())
    with pytest.raises(ValueError, match="scale='robust' must be for a dense table"):
        fit_scaling(X, "robust")


def test_another_word_is_refused():
    with pytest.raises(ValueError, match="scale='minmax' must be one of 'auto', 'standard', 'robust', None"):
        choose_scaling(np.eye(3), "minmax", names=list("abc"))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(40_001, 1), (9_001, 7), (1300, 50), (3, 40_000)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_columns_are_added_up_row_after_row_however_few_are_in_the_cache(shape, dtype, order):
    X = (np.random.default_rng(1).random(shape) * 200).astype(dtype, order=order)
    first, wide = X[0].astype(np.float64), X.astype(np.float64)
    mean = first + (wide - first).sum(axis=0) / len(X)
    found = column_scales(X)
    np.testing.assert_array_equal(found.mean, mean)
    np.testing.assert_array_equal(found.deviation, np.sqrt(((wide - mean) ** 2).sum(axis=0) / len(X)))
    np.testing.assert_array_equal(found.low, wide.min(axis=0))
    np.testing.assert_array_equal(found.high, wide.max(axis=0))
