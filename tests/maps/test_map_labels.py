"""Labels as people have them, through everything that a map answers, and tables of few rows."""

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.labels import check_labels, measured_labels


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 4))
    X[:, 0] += 6.0 * group
    return X, group


def _some(group):
    return [None if i % 7 == 0 else f"kind {g}" for i, g in enumerate(group)]


@pytest.mark.parametrize(
    "container",
    [
        list,
        lambda labels: pd.Series(labels, dtype="category"),
        lambda labels: pd.array(labels, dtype="string"),
        lambda labels: np.array([label or "" for label in labels]),
    ],
)
def test_rows_without_a_label_are_grey_unscored_and_in_no_class(table, container, tmp_path):
    X, group = table
    made = gn.map(X, method="pca", labels=container(_some(group)))
    assert list(made.profiles()) == list(made.captions()) == list(made.importance_by_label()) == ["kind 0", "kind 1"]
    assert made.profiles()["kind 0"].n_selected + made.profiles()["kind 0"].n_rest == 51
    assert made.select("label=kind 0").sum() == sum(label == "kind 0" for label in _some(group))
    assert made.counterfactual(0, target="kind 1").label == "kind 1"
    assert "kind 0" in made.report()
    made.to_html(tmp_path / "map.html")
    made.save(tmp_path / "map.gnomon")
    again = gn.Map.load(tmp_path / "map.gnomon")
    assert again.labels.tolist() == made.labels.tolist() == _some(group)
    larger, drift = made.extend(X[:3] + 0.01)
    assert set(drift.labels) <= {"kind 0", "kind 1"}
    assert larger.labels[0] is None
    assert larger.labels[-1] is None


def test_one_class_is_told_and_not_contrasted(table, tmp_path):
    X, _ = table
    made = gn.map(X, method="pca", labels=np.zeros(60, dtype=int))
    assert made.profiles() == {}
    made.report()
    made.to_html(tmp_path / "map.html")
    made.to_png(tmp_path / "map.png")


@pytest.mark.parametrize("dates", [False, True])
def test_measured_labels_are_scored_by_regression_and_have_no_classes(table, dates, tmp_path):
    X, _ = table
    labels = X[:, 0].copy()
    labels[3] = np.nan
    if dates:
        days = np.round(100 * np.nan_to_num(labels)).astype("m8[D]")
        days[np.isnan(labels)] = np.timedelta64("NaT", "D")
        labels = np.datetime64("2024-01-01") + days
    made = gn.map(X, method="pca", labels=labels)
    assert made.evaluate().knn_r2 > 0.5
    assert made.profiles() == {}
    with pytest.raises(ValueError, match="captions: a map must be one whose labels are classes"):
        made.captions()
    made.report()
    made.to_html(tmp_path / "map.html")
    made.to_png(tmp_path / "map.png")
    made.save(tmp_path / "map.gnomon")
    np.testing.assert_array_equal(gn.Map.load(tmp_path / "map.gnomon").labels, made.labels)
    if dates:
        np.testing.assert_array_equal(made.select("label>2024-03-01"), made.labels > np.datetime64("2024-03-01"))
    larger, _ = made.extend(X[:3] + 0.01)
    assert pd.isna(larger.labels[-1])


@pytest.mark.filterwarnings("ignore:.*neighbours were asked for:gnomon.exceptions.NeighborsWarning")
@pytest.mark.parametrize("n", [3, 5, 8, 16, 30])
@pytest.mark.parametrize("method", ["umap", "pca"])
def test_a_few_rows_give_a_map_and_a_report(table, n, method, tmp_path):
    X, group = table
    made = gn.map(X[20 : 20 + n], method=method, labels=group[20 : 20 + n])
    assert f"{min(15, (n - 1) // 2)} neighbours" in made.report()
    made.to_html(tmp_path / "map.html")


def test_a_table_whose_rows_are_all_the_same_is_refused():
    with pytest.raises(ValueError, match="map: X must be a table of rows that differ"):
        gn.map(np.ones((50, 5)))


def test_why_speaks_of_other_features_too(table):
    X, _ = table
    made = gn.map(X, method="pca")
    other = made.explain(features=X[:, :2], feature_names=["left", "right"])
    assert set(made.why(10, explanation=other).features) == {"left", "right"}


def test_plot_is_there_without_an_import():
    assert callable(gn.plot.plot_map)


def test_labels_that_are_all_different_name_no_classes():
    X = np.random.default_rng(0).normal(size=(40, 3))
    for ids in (
        np.arange(40),
        np.array([f"row {i}" for i in range(40)]),
        np.array([None, *map(str, range(39))], object),
    ):
        made = gn.Map(X, X[:, :2], labels=ids)
        assert [note for note in made.notes if "the labels are all different, so they name no classes" in note]
        assert not made.profiles()
        assert made._doubts(5) is None
        for ask in (made.suspects, made.captions, made.importance_by_label):
            with pytest.raises(ValueError, match=r"labels are classes \(all its labels are different\).*point_names"):
                ask()
    for classes in (np.arange(40) // 2, np.array(["a"] * 40), np.arange(40) / 3.0, np.r_[np.arange(39), 0]):
        assert "all different" not in " ".join(gn.Map(X, X[:, :2], labels=classes).notes)
    assert "all different" not in " ".join(gn.Map(X[:9], X[:9, :2], labels=np.arange(9)).notes)


def whole_labels():
    rng = np.random.default_rng(0)
    leiden = np.r_[np.arange(60), np.floor(60 * rng.random(340) ** 2)].astype(int)
    return {
        "counts": ((rng.lognormal(7, 0.3, 400)).astype(np.float32).round(), True),
        "genes": (rng.normal(170, 9, 400).astype(int), True),
        "genes of many cells": (rng.normal(3000, 400, 20_000).astype(np.uint16), True),
        "ages": (rng.integers(20, 80, 400), True),
        "ages of many": (rng.integers(18, 90, 5000).astype(float), True),
        "ages with gaps": (np.where(rng.random(400) < 0.1, np.nan, rng.integers(20, 80, 400)), True),
        "digits": (rng.integers(0, 10, 400), False),
        "clusters by size": (leiden, False),
        "clusters of floats": (leiden.astype(float), False),
        "clusters and noise": (np.where(leiden % 7 == 3, -1, leiden * 3), False),
        "hundred classes": (np.arange(1000) % 100, False),
        "some of hundred classes": (np.random.default_rng(1).permutation(100)[:70].repeat(50), False),
        "codes with gaps": (20 + 10 * rng.integers(0, 15, 400), False),
        "rows": (rng.permutation(5000)[:400], False),
        "years": (rng.integers(2000, 2020, 400), False),
    }


@pytest.mark.parametrize("name", whole_labels())
def test_whole_numbers_are_measured_where_they_spread_as_a_quantity(name):
    labels, measured = whole_labels()[name]
    found = measured_labels(check_labels(labels, len(labels)))
    assert (found is not None) == measured
    if measured:
        np.testing.assert_array_equal(found, labels.astype(float))
        texts = check_labels([str(one) for one in labels], len(labels))
        assert measured_labels(texts) is None
        assert measured_labels(check_labels(pd.Series(labels).astype("category"), len(labels))) is None


def test_whole_numbers_that_may_be_either_are_told_with_what_makes_them_the_other():
    X = np.random.default_rng(0).normal(size=(400, 3))
    ages = np.random.default_rng(1).integers(20, 80, 400)
    made = gn.Map(X, X[:, :2], labels=ages)
    n = len(np.unique(ages))
    told = f"the labels are {n} different whole numbers in 400 rows and are taken as a measured quantity: for classes"
    assert [note for note in made.notes if note.startswith(told)]
    assert made._classes() == []
    with pytest.raises(ValueError, match=r"measured numbers.*Numbers of classes pass as texts"):
        made.captions()
    told = "whole numbers in 400 rows and are taken as classes: a quantity belongs in metadata"
    assert [note for note in gn.Map(X, X[:, :2], labels=ages - 19).notes if told in note]
    for sure in (np.arange(400) % 40, np.arange(400) % 10, np.arange(400), ages.astype(str)):
        assert "whole numbers" not in " ".join(gn.Map(X, X[:, :2], labels=sure).notes)


def test_class_numbers_of_which_one_is_missing_are_whole():
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[::2, 0] += 5
    numbers = pd.Series(pd.array([None, *(np.arange(59) % 2)], dtype="Int64"))
    made = gn.Map(X, X[:, :2], labels=check_labels(numbers, 60))
    assert [*map(str, made.captions())] == [*map(str, made.profiles())] == ["0", "1"]
    assert str(made.captions()).startswith("0: ")
