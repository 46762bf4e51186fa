"""Maps of tables with missing values: told, kept in the file, and the same function for rows that lack values."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon.data import Dataset, Representation
from gnomon.exceptions import DataWarning


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(80, 6))
    gaps = rng.random(X.shape) < 0.15
    gaps[:, 5] = gaps[4] = False
    gaps[4, 1] = True
    return X, gaps, np.where(gaps, np.nan, X)


@pytest.fixture(scope="module")
def made(table):
    with pytest.warns(DataWarning, match=r"map: \d+ of 480 values are missing"):
        return gn.map(table[2], "pca", feature_names=list("abcdef"), labels=np.arange(80) % 2, n_jobs=1)


def test_a_table_with_gaps_is_mapped_completed_and_told(table, made):
    X, gaps, _ = table
    np.testing.assert_array_equal(made.completion.missing, gaps)
    np.testing.assert_array_equal(made.X[~gaps], X[~gaps])
    assert ((made.X - X)[gaps] ** 2).mean() < 0.05 * X.var()
    assert np.isfinite(made.embedding).all()
    note = next(note for note in made.notes if "missing" in note)
    assert f"{gaps.sum()} of 480 values are missing" in note
    assert "5 of 6 columns" in note
    assert "squared error was" in note
    assert note in made.report()


def test_a_table_without_gaps_is_mapped_as_ever(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain, refusing = (gn.map(table[0], "pca", missing=how) for how in ("distance", "error"))
    assert plain.completion is None
    assert plain.embedding.tobytes() == refusing.embedding.tobytes()


def test_why_shows_a_value_that_was_missing_as_missing(table, made):
    gaps = table[1]
    answer = made.why(4, 6)
    np.testing.assert_array_equal(np.isnan(answer.values), gaps[4, answer.indices])
    np.testing.assert_array_equal(np.isnan(answer.ranks), gaps[4, answer.indices])
    assert "missing" in str(answer)
    json.dumps(answer.to_dict())


def test_why_in_terms_of_other_features_knows_of_no_gaps(table, made):
    other = made.explain(np.repeat(table[0][:, 5:], 6, axis=1) + table[0])
    assert np.isfinite(made.why(4, 6, explanation=other).values).all()


def test_new_rows_with_gaps_are_placed_as_those_of_the_map(table, made):
    np.testing.assert_allclose(made.transform(table[2][:9]), made.embedding[:9], atol=1e-3)
    np.testing.assert_allclose(made.place(table[2][:9]), made.embedding[:9], atol=1e-3)


def test_a_map_of_a_full_table_refuses_new_rows_with_gaps(table):
    full = gn.map(table[0], "pca")
    with pytest.raises(ValueError, match=r"NaN \(1\).*complete_missing"):
        full.transform([[np.nan, 0, 0, 0, 0, 0]])


def test_the_file_keeps_what_was_missing_and_the_same_function(table, made, tmp_path):
    made.save(tmp_path / "map.gnomon")
    loaded = gn.Map.load(tmp_path / "map.gnomon")
    np.testing.assert_array_equal(loaded.completion.missing, made.completion.missing)
    assert loaded.completion.held_out == made.completion.held_out
    assert loaded.transform(table[2]).tobytes() == made.transform(table[2]).tobytes()
    assert str(loaded.why(4)) == str(made.why(4))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"noise": -1.0}, "described by"),
        ({"noise": None}, "completion_loadings"),
        ({"n_neighbors": 0}, "loadings of shape"),
        ({"first": 2}, "weights 2"),
        ({"how": "mode"}, "completed by 'mode'"),
        ({"more": 1}, "description of the completion is not"),
    ],
)
def test_a_file_with_a_damaged_completion_is_refused(made, change, text):
    from gnomon.maps.file import VERSION, pack, unpack

    arrays, description = pack(made)
    description["completion"] = description["completion"] | change
    with pytest.raises(ValueError, match=text):
        unpack(arrays, {**description, "version": VERSION}, gn.Map)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("missing", np.zeros((80, 2), np.uint8)),
        ("completion_center", np.full(6, np.nan)),
        ("completion_center", np.zeros(5)),
        ("completion_variance", np.array([1, 1, 1, 1, 1, np.inf])),
        ("completion_spread", np.zeros(6)),
        ("completion_spread", np.array([1.0, 1, 1, 1, 1, 0])),
        ("completion_donors", np.array([80])),
        ("completion_donors", np.array([-1])),
        ("completion_donors", np.array([], np.int64)),
        ("completion_loadings", np.zeros((5, 2))),
        ("completion_loadings", np.where(np.eye(6, 2), np.nan, 1.0)),
    ],
)
def test_a_file_with_damaged_arrays_of_a_completion_is_refused(made, name, value):
    from gnomon.maps.file import VERSION, pack, unpack

    arrays, description = pack(made)
    with pytest.raises(ValueError, match=r"completion|missing"):
        unpack(arrays | {name: value}, {**description, "version": VERSION}, gn.Map)


def test_a_map_that_grows_remembers_the_gaps_of_new_rows(table, made):
    larger, _ = made.extend(table[2][:7], labels=np.arange(7) % 2)
    np.testing.assert_array_equal(larger.completion.missing, np.concatenate([table[1], table[1][:7]]))
    assert np.isfinite(larger.X).all()
    np.testing.assert_allclose(larger.transform(table[2][:3]), larger.embedding[:3], atol=1e-3)


def test_median_fills_in_medians(table):
    with pytest.warns(DataWarning, match="filled in with the median of their column"):
        found = gn.map(table[2], "pca", missing="median")
    expected = np.where(table[1], np.nanmedian(table[2], axis=0), table[2])
    np.testing.assert_allclose(found.X, expected)


def test_drop_leaves_out_rows_with_all_that_goes_with_them(table):
    X, gaps, given = table
    whole = ~gaps.any(axis=1)
    names = np.array([f"row {i}" for i in range(80)])
    with pytest.warns(DataWarning, match=rf"{(~whole).sum()} of 80 rows lack {gaps.sum()} values and are left out"):
        found = gn.map(
            given,
            "pca",
            missing="drop",
            labels=np.arange(80),
            point_names=names,
            metadata={"number": np.arange(80)},
            images=np.repeat(np.arange(80, dtype=np.uint8), 4).reshape(80, 2, 2),
        )
    rows = np.flatnonzero(whole)
    np.testing.assert_array_equal(found.X, X[rows])
    np.testing.assert_array_equal(found.labels, rows)
    np.testing.assert_array_equal(found.point_names, names[rows])
    np.testing.assert_array_equal(found.metadata["number"], rows)
    np.testing.assert_array_equal(found.images[:, 0, 0], rows)
    assert found.completion is None


def test_drop_leaves_out_rows_of_parameters(table):
    X, gaps, given = table
    rows, rng = np.flatnonzero(~gaps.any(axis=1)), np.random.default_rng(3)
    start, weights = rng.normal(size=(80, 2)), rng.uniform(0.5, 2.0, size=(80, 80))
    weights += weights.T
    few = {"max_iter": 3, "random_state": 0}
    asked = [
        ("umap", {"init": start}, {"init": start[rows]}),
        ("dreams", {"reference": start}, {"reference": start[rows]}),
        ("mds", {"weights": weights, "init": start}, {"weights": weights[np.ix_(rows, rows)], "init": start[rows]}),
    ]
    for method, every, kept in asked:
        expected = gn.map(X[rows], method, **few, **kept)
        for given_rows in (every, kept):  # the rows that stay may be given as well
            with pytest.warns(DataWarning, match="are left out"):
                found = gn.map(given, method, missing="drop", **few, **given_rows)
            np.testing.assert_array_equal(found.embedding, expected.embedding)


def test_drop_leaves_out_rows_of_coordinates(table):
    _, gaps, given = table
    whole = ~gaps.any(axis=1)
    coordinates = np.random.default_rng(4).normal(size=(80, 3))
    data = Dataset(given, representation=Representation("X_own", coordinates))
    with pytest.warns(DataWarning, match="are left out"):
        found = gn.map(data, "pca", missing="drop")
    np.testing.assert_array_equal(found.representation.values, coordinates[whole])
    data = replace(data, representation=None, distances=sp.csr_array(1.0 - np.eye(80)))
    with pytest.raises(ValueError, match=r"neighbors_key with missing='drop' must be of rows that all stay"):
        gn.map(data, "umap", missing="drop")


def test_drop_that_leaves_nothing_is_refused():
    with pytest.raises(ValueError, match=r"map: X with missing='drop' .* \(4 of 4 rows lack a value\).*'distance'"):
        gn.map(np.where(np.eye(4) > 0, np.nan, 1.0), "pca", missing="drop")


def test_what_cannot_be_completed_is_refused(table):
    with pytest.raises(ValueError, match=r"map: missing='mean' must be one of 'distance', 'median', 'drop', 'error'"):
        gn.map(table[2], "pca", missing="mean")
    with pytest.raises(ValueError, match=r"map: X must be finite \(it contains NaN"):
        gn.map(table[2], "pca", missing="error")
    with pytest.raises(ValueError, match=r"\+infinity"):
        gn.map(np.where(table[1], np.inf, table[0]), "pca")
    sparse = sp.csr_array(np.where(table[1], np.nan, 1.0))
    with pytest.raises(ValueError, match="map: X must be without missing values where it is sparse"):
        gn.map(sparse, "pca")


def test_a_completion_of_another_table_is_refused(table, made):
    with pytest.raises(ValueError, match=r"completion must be of a table of shape \(70, 6\)"):
        gn.Map(table[0][:70], made.embedding[:70], completion=made.completion)
    with pytest.raises(TypeError, match=r"completion must be a gnomon\.completion\.Completion or None"):
        gn.Map(table[0], made.embedding, completion="median")


def test_a_data_set_with_pixels_that_are_missing_is_mapped():
    rng = np.random.default_rng(0)
    X = rng.random((40, 9))
    X[3, 2] = np.nan
    with pytest.warns(DataWarning, match="1 of 360 values are missing"):
        found = gn.map(Dataset(X, image_shape=(3, 3)), "pca")
    assert np.isfinite(found.X).all()


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    group = np.arange(90) % 3
    kind, sort = np.array(["a", "b", "c"], object)[group], np.array(["x", "y"], object)[group % 2]
    kind[:9], sort[5:7] = None, "NA"
    return pd.DataFrame({"size": group + 0.1 * rng.normal(size=90), "kind": kind, "sort": sort}), group


def test_missing_categories_are_counted_filled_in_and_told(mixed):
    frame, group = mixed
    with pytest.warns(DataWarning, match=r"11 of 270 values .* 2 of 3 columns \('kind' 9, 'sort' 2\)") as told:
        made = gn.map(frame, "pca")
    assert "11 missing values are categories, whose indicators say how likely each is" in str(told[0].message)
    assert made.completion.missing.sum() == 9 * 3 + 2
    np.testing.assert_array_equal(made.X[:9, 1:4].argmax(axis=1), group[:9])  # told by the size
    assert str(told[0].message) in made.report()
    np.testing.assert_allclose(made.transform(frame[:9]), made.embedding[:9], atol=1e-3)


def test_missing_categories_are_dropped_refused_or_taken_as_the_most_frequent(mixed):
    with pytest.warns(DataWarning, match="9 of 90 rows lack 11 values and are left out"):
        assert gn.map(mixed[0], "pca", missing="drop").n_samples == 81
    with pytest.raises(ValueError, match=r"X must be finite.*column 'kind = a'"):
        gn.map(mixed[0], "pca", missing="error")
    with pytest.warns(DataWarning, match="whose indicators say 1 where most rows have it, else 0"):
        assert not gn.map(mixed[0], "pca", missing="median").X[:9, 1:4].any()


def test_new_rows_without_a_category_need_a_map_that_knows_gaps(mixed):
    frame, _ = mixed
    whole = gn.map(frame[9:], "pca")
    with pytest.raises(ValueError, match=r"NaN \(3\).*complete_missing"):
        whole.transform(frame[4:5])
    with pytest.warns(DataWarning, match="'kind' has 'z' in 1 row: taken as none of the categories"):
        whole.transform(frame[10:11].assign(kind="z"))


def test_new_rows_that_lack_a_column_are_told(table, made):
    rows = table[0][:40].copy()
    rows[:30, 1] = np.nan
    larger, drift = made.extend(rows)
    assert "values are missing more often (b in 75% of the new rows" in drift.summary().splitlines()[-1]
    assert any("what was filled in was not measured" in note for note in larger.notes)
    assert drift.missing.columns.tolist() == [1]


def test_a_category_that_new_rows_lack_is_named_as_it_came():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90), "y": rng.normal(size=90), "region": rng.choice(list("NSE"), 90)})
    frame.loc[:3, "region"] = None
    with pytest.warns(DataWarning):
        made = gn.map(frame, "pca", n_jobs=1)
    new = frame[4:54].assign(region=None)
    assert "(region in 100% of the new rows and 4% of the old)" in str(made.extend(new)[1])
