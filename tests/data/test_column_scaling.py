"""Unlike units are told from values of one kind, and a table is standardised and brought back."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

import gnomon
from gnomon.data.column_scales import column_scales
from gnomon.data.scaling import choose_scaling, fit_scaling
from gnomon.data.unlike_columns import describe_unlike_columns, find_unlike


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
    alike = rng.integers(0, 2, (300, 1)) ^ (rng.uniform(size=(300, 12)) < 0.2)
    yield "two values each", alike * np.repeat([1.0, 1000.0], 6)
    yield "principal components", gnomon.PCA(n_components=20).fit_transform(cancer)
    yield "a few rows", cancer[:9]


@pytest.mark.parametrize(("name", "X"), list(like_tables()), ids=lambda value: value if isinstance(value, str) else "")
def test_values_of_one_kind_are_left_alone(name, X):
    assert unlike(X) == ""


def test_one_column_in_other_units_is_named():
    wine = datasets.load_wine()
    found = describe_unlike_columns(wine.data, list(wine.feature_names))
    assert found.startswith("'proline' makes 99.8% of the squared distances and spreads 4")
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


def kinds(table):
    return find_unlike(np.asarray([*table.values()], dtype=float).T, [*table])


def guests(n=300):
    rng = np.random.default_rng(7)
    return {
        "age": rng.integers(18, 80, n),
        "income_k": np.exp(rng.normal(3.6, 0.5, n)).round(1),
        "weight_kg": rng.normal(75, 14, n).round(1),
        "stars_service": rng.integers(1, 6, n),
        "stars_price": rng.integers(1, 6, n),
    }


def test_named_columns_of_other_kinds_are_told_by_their_levels():
    found = kinds(guests())
    assert found.ruling == ""
    assert re.fullmatch(
        r"'income_k' spreads 1\d times as much as 'stars_\w+', at another level \(mostly .* to .* and 1 to 5\)",
        found.kinds,
    )
    table = np.asarray([*guests().values()], dtype=float).T
    chosen = choose_scaling(table, "auto", names=[*guests()])
    assert (chosen.scaling.name, chosen.unlike, chosen.left) == ("standard", found.kinds, "")
    assert choose_scaling(table, None, names=[*guests()]) == (None, "", "")  # asked for, and said to be so
    assert choose_scaling(table, "auto", names=[*guests()], metric="cosine") == (None, "", "")


def test_other_kinds_are_told_by_signs_and_by_whole_numbers():
    rng = np.random.default_rng(8)
    weather = {"temperature": rng.normal(10, 8, 200), "wind": rng.gamma(2, 2, 200), "humidity": rng.beta(5, 2, 200)}
    assert kinds(weather).kinds.endswith("times as much as 'humidity', and only one has values below 0")
    orders = {"spent": rng.exponential(20, 200), "items": rng.integers(0, 4, 200)}
    assert kinds(orders).kinds.endswith("times as much as 'items', and only one holds whole numbers")


def one_kind_tables():
    rng = np.random.default_rng(9)
    n = 400
    scores = rng.normal(size=(n, 6)) * [12, 6, 3, 1, 0.5, 0.3]
    bulk = rng.uniform(3, 14, 12) + rng.normal(size=(n, 12)) * np.exp(rng.normal(-0.5, 0.8, 12))
    spectrum = np.linspace(0.1, 4, 20) + rng.normal(size=(n, 20)) * np.geomspace(0.01, 0.5, 20)
    body = np.column_stack([rng.normal(170, 10, n), rng.normal(17, 1.5, n)]).round(1)
    yield "scores", dict(zip(["one", "two", "three", "four", "five", "six"], scores.T, strict=True))
    yield "components", {f"PC{k}": column for k, column in enumerate((scores + np.array([60, 0, 0, 9, 3, 8])).T)}
    genes = ["TP53", "CD3E", "CD8A", "MYC", "KRAS", "ACTB", "LYZ", "EGFR", "NKG7", "CD4", "PTEN", "ALB"]
    yield "bulk", dict(zip(genes, bulk.T, strict=True))
    words = [f"{stem}{ending}" for stem in ("alb", "fer", "ins", "tra") for ending in ("umin", "ritin", "ulin")]
    yield "logarithms at many levels", dict(zip(words, bulk.T, strict=True))
    bands = np.clip([0.05, 0.3, 0.6] + rng.normal(size=(n, 3)) * [0.01, 0.08, 0.1], 0, 1)
    yield "reflectances", dict(zip(["blue", "red", "infrared"], bands.T, strict=True))
    yield "spectrum", {f"{900 + 10 * k} nm": column for k, column in enumerate(spectrum.T)}
    yield "one unit", dict(zip(["height (cm)", "wrist (cm)"], body.T, strict=True))
    yield "one unit as a word", dict(zip(["height_cm", "wristCm"], body.T, strict=True))
    yield "letters", dict(zip("ab", body.T, strict=True))
    yield "places", {"lat": rng.normal(-33, 9, n), "lon": rng.normal(-71, 1.2, n)}
    yield "nobody's names", dict(zip(["feature 0", "feature 1"], body.T, strict=True))


@pytest.mark.parametrize("table", [pytest.param(table, id=name) for name, table in one_kind_tables()])
def test_columns_that_may_be_of_one_kind_stay_and_the_spread_is_told(table):
    found = kinds(table)
    assert (found.ruling, found.kinds) == ("", "")
    assert re.fullmatch(r"'.*' spreads [\d.]+ times as much as '.*'", found.spreads)
    X = np.asarray([*table.values()], dtype=float).T
    assert choose_scaling(X, "auto", names=[*table]) == (None, "", found.spreads)


def alike_tables():
    rng = np.random.default_rng(10)
    n = 500
    mixed = np.column_stack([rng.integers(18, 80, n), np.exp(rng.normal(3, 1.5, n)), rng.poisson(0.05, n)])
    names = ["age", "income", "claims"]
    quarters = np.quantile(mixed[:, :2], (0.25, 0.75), axis=0)
    counts = np.log1p(rng.poisson(10 ** rng.uniform(-1, 2.5, 20) * rng.gamma(1, 1, (n, 1))))
    rare = (rng.uniform(size=(n, 4)) < [0.5, 0.3, 0.1, 0.01]).astype(float)
    yield "standardised", names, (mixed - mixed.mean(axis=0)) / mixed.std(axis=0)
    yield "divided by ranges", names, (mixed - mixed.min(axis=0)) / np.ptp(mixed, axis=0)
    yield "divided by middles", names[:2], mixed[:, :2] / (quarters[1] - quarters[0])
    yield "logarithms of counts", [f"word {chr(97 + k)}" for k in range(20)], counts
    yield "indicators", [f"in {word}" for word in ("bonn", "kiel", "ulm", "aalen")], rare
    yield "indicators and shares", ["in bonn", "in kiel", "paid"], np.column_stack([rare[:, 2:], rng.beta(2, 2, n)])
    iris = datasets.load_iris()
    yield "iris", iris.feature_names, iris.data
    yield "iris without units", [name.removesuffix(" (cm)") for name in iris.feature_names], iris.data


@pytest.mark.parametrize(("names", "X"), [pytest.param(*rest, id=name) for name, *rest in alike_tables()])
def test_nothing_is_said_of_columns_that_spread_alike_or_are_of_one_kind(names, X):
    assert find_unlike(X, names) == ("", "", "")


def test_only_auto_and_metrics_by_coordinates_standardise():
    X = datasets.load_wine().data
    assert choose_scaling(X, "auto", names=names(X))[0].name == "standard"
    for scale, metric in ((None, "euclidean"), ("auto", "cosine")):
        scaling, clause, _ = choose_scaling(X, scale, names=names(X), metric=metric)
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
