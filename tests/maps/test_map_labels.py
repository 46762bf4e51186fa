"""Labels as people have them, through everything that a map answers, and tables of few rows."""

import numpy as np
import pandas as pd
import pytest

import gnomon as gn


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
