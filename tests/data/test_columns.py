"""Columns as people have them become features by the rules that are said."""

import datetime
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import gnomon as gn
from gnomon.data import ColumnRule, read_table
from gnomon.data.columns import encode_dataset, find_rules, raw_columns, rules_fault, unit_ranges
from gnomon.data.columns.identifiers import Naming, named_as_id, naming_of
from gnomon.data.delimited import read_columns
from gnomon.data.frames import read_frame
from gnomon.data.labels import order_of, sort_into_classes
from gnomon.data.written import _is_sign, read_dates
from gnomon.exceptions import DataWarning

N = 120
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*left out. Pass features=:gnomon.exceptions.DataWarning"),
    pytest.mark.filterwarnings("ignore:.*columns of many categories left out:gnomon.exceptions.DataWarning"),
]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, N)
    return pd.DataFrame(
        {
            "id": np.arange(1000, 1000 + N),
            "customer": rng.permutation(10**6)[:N],
            "zip": rng.integers(10_000, 99_999, N),
            "age": rng.integers(18, 80, N),
            "income": np.exp(rng.normal(10 + group, 0.3)),
            "country": np.array(["DE", "FR", "IT"])[group],
            "smoker": rng.random(N) < 0.3,
            "size": pd.Categorical(
                np.array(["S", "M", "L"])[rng.integers(0, 3, N)], categories=["S", "M", "L"], ordered=True
            ),
            "when": pd.date_range("2020-01-01", periods=N)[rng.permutation(N)],
            "name": [f"person {i}" for i in range(N)],
            "sex": np.array(["f", "m"])[rng.integers(0, 2, N)],
            "note": [f"text {i // 2}" for i in range(N)],
            "species": np.array(["x", "y"])[rng.integers(0, 2, N)],
        }
    )


NAMES = [
    "age",
    "income",
    "country = DE",
    "country = FR",
    "country = IT",
    "smoker",
    "size (rank)",
    "when (months since 2020-01-01)",
    "sex = m",
]


def _polars(frame):
    return pl.from_pandas(frame).with_columns(pl.col("size").cast(pl.Enum(["S", "M", "L"])))


@pytest.mark.parametrize("form", [lambda frame: frame, _polars])
def test_every_kind_of_column_becomes_what_the_rules_say(people, form):
    encoder = gn.TablePreprocessor().fit(form(people))
    assert encoder.get_feature_names_out().tolist() == NAMES
    made = pd.DataFrame(encoder.transform(form(people)), columns=NAMES)
    np.testing.assert_allclose(made["income"], people["income"])
    np.testing.assert_array_equal(made["country = FR"], people["country"] == "FR")
    np.testing.assert_array_equal(made["smoker"], people["smoker"])
    np.testing.assert_array_equal(made["size (rank)"], people["size"].cat.codes)
    np.testing.assert_array_equal(made["sex = m"], people["sex"] == "m")
    days = (people["when"] - pd.Timestamp("2020-01-01")).dt.days
    np.testing.assert_allclose(made[NAMES[7]], days / (365.2425 / 12))
    left = {rule.name: rule.reason for rule in encoder.rules_ if not rule.features}
    assert left == {
        "id": "it counts the rows",
        "customer": "an identifier by its name",
        "zip": "an identifier by its name",
        "name": "an identifier",
        "note": "60 different texts",
        "species": "it may hold labels",
    }


def test_a_category_makes_as_much_of_the_mean_squared_distance_as_a_number(people):
    encoder = gn.TablePreprocessor().fit(people)
    X = encoder.transform(people)
    assert np.isnan(encoder.spreads_).tolist() == [j not in (2, 3, 4, 5, 8) for j in range(X.shape[1])]
    X = X / np.where(np.isnan(encoder.spreads_), X.std(axis=0), encoder.spreads_)
    for columns in ([2, 3, 4], [5], [8], [0]):
        squares = np.sum((X[:, None, columns] - X[None, :, columns]) ** 2, axis=2)
        assert squares.mean() == pytest.approx(2.0)
    apart = np.sum((X[:, None, 2:5] - X[None, :, 2:5]) ** 2, axis=2)
    assert len(np.unique(np.round(apart, 9))) == 2  # equal, or different by the same distance


def test_the_range_of_each_column_makes_one_of_a_gower_distance():
    frame = pd.DataFrame({"x": [0.0, 4.0, 1.0], "kind": ["a", "b", "c"], "flag": [True, False, True]})
    encoder = gn.TablePreprocessor(features=["x", "kind", "flag"])
    X = encoder.fit_transform(pd.concat([frame, frame]))
    units = unit_ranges(encoder.rules_, X)
    np.testing.assert_allclose(np.abs((X[0] - X[1]) / units).sum(), 1.0 + 1.0 + 1.0)
    np.testing.assert_allclose(np.abs((X[0] - X[2]) / units).sum(), 0.25 + 1.0)


def test_what_goes_with_another_column_is_no_identifier(people):
    rng = np.random.default_rng(1)
    population = rng.permutation(10**6)[:N]
    frame = pd.DataFrame({"population": population, "area": population * rng.uniform(0.5, 2.0, N)})
    assert gn.TablePreprocessor().fit(frame).get_feature_names_out().tolist() == ["population", "area"]


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (50 * np.arange(60), False),
        (np.arange(60) * 0.2, False),
        (-3e5 + np.round(np.arange(60) / 3.0, 2), False),
        (np.float32(0.1) * np.arange(60, dtype=np.float32), False),
        ([f"{i * 0.5:.2f} ps" for i in range(60)], False),
        (50 * np.arange(60)[::-1], True),
        (50 * (np.arange(60) % 30), True),
        (np.append(50 * np.arange(59), 2960), True),
        (5e306 * (np.arange(60) - 29.5), False),
        (np.full(60, 2.5), True),
        (50 * np.arange(49), True),
    ],
)
def test_what_rises_by_equal_steps_over_all_rows_counts_them(values, kept):
    other = np.sqrt(np.arange(len(values)))
    encoder = gn.TablePreprocessor().fit(pd.DataFrame({"time": values, "x": other}))
    assert len(encoder.get_feature_names_out()) == 1 + kept
    assert encoder.rules_[0].reason == "it counts the rows" or encoder.rules_[0].features
    both = gn.TablePreprocessor(features=["time", "x"]).fit(pd.DataFrame({"time": values, "x": other}))
    assert len(both.get_feature_names_out()) == 2


def test_columns_of_equal_steps_that_stand_alone_are_what_was_measured():
    assert gn.TablePreprocessor().fit({"x": np.linspace(0.0, 1.0, 60)}).get_feature_names_out().tolist() == ["x"]
    grid = pd.DataFrame(np.arange(240).reshape(60, 4), columns=[*"abcd"])
    assert gn.TablePreprocessor().fit(grid).get_feature_names_out().tolist() == [*"abcd"]
    both = grid[["a", "b"]].assign(y=np.append(np.full(59, 2.0), np.inf), x=np.sqrt(np.arange(60)))
    assert gn.TablePreprocessor().fit(both).get_feature_names_out().tolist() == ["y", "x"]


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (np.tile(np.arange(60) * 0.2, 4), False),
        (np.tile(np.round(5.0 + np.arange(80) / 3.0, 2), 3), False),
        (np.tile(np.float32(0.1) * np.arange(120, dtype=np.float32), 2), False),
        ([f"{(i % 60) * 0.5:.2f} ps" for i in range(240)], False),
        (np.tile(np.arange(24), 10), True),  # hours
        (np.tile(np.arange(48), 5), True),
        (np.arange(240) % 70, True),  # the last stretch is cut
        (np.tile(np.arange(60), 4) + np.repeat(np.arange(4), 60), True),
        (np.tile(np.append(np.arange(59), 70), 4), True),
        (np.tile(np.arange(60)[::-1], 4), True),
        (np.random.default_rng(0).integers(0, 60, 240), True),
        (np.repeat(np.arange(60), 4), True),
        (np.sort(np.random.default_rng(0).integers(0, 60, 240)), True),
        (np.tile(np.random.default_rng(0).permutation(60), 4), True),
    ],
)
def test_what_counts_the_rows_of_equal_stretches_is_left_out_as_times_of_replicas(values, kept):
    frame = pd.DataFrame({"time": values, "x": np.sqrt(np.arange(240))})
    encoder = gn.TablePreprocessor().fit(frame)
    assert len(encoder.get_feature_names_out()) == 1 + kept
    told = f"it counts the rows of each of {240 // len(np.unique(values))} equal stretches"
    assert encoder.rules_[0].reason == ("" if kept else told)
    assert len(gn.TablePreprocessor(features=["time", "x"]).fit(frame).get_feature_names_out()) == 2


def test_a_grid_of_stretches_that_stands_alone_is_what_was_measured():
    grid = pd.DataFrame({"x": np.tile(np.arange(60), 4), "y": np.repeat(np.arange(4), 60)})
    assert gn.TablePreprocessor().fit(grid).get_feature_names_out().tolist() == ["x", "y"]
    frame = grid.assign(z=np.sqrt(np.arange(240)))
    assert gn.TablePreprocessor().fit(frame).get_feature_names_out().tolist() == ["y", "z"]


@pytest.mark.parametrize("across", [np.arange(60), 11.0 + 0.001 * np.arange(60)], ids=["numbers", "degrees"])
@pytest.mark.parametrize("down", [np.arange(12), 5.2e6 - 10.0 * np.arange(12)], ids=["down", "up"])
@pytest.mark.parametrize("order", ["xy", "yx"])
def test_both_coordinates_of_a_grid_whose_cells_are_the_rows_are_left_out(across, down, order):
    band = np.sqrt(np.arange(720))
    coordinates = {"x": np.tile(across, 12), "y": np.repeat(down, 60)}
    frame = pd.DataFrame({"band": band, **{name: coordinates[name] for name in order}})
    with pytest.warns(
        DataWarning, match=r"'[xy]' \(a coordinate of a grid of 12 lines of 60 cells.*'[xy]' \(.* left out"
    ) as caught:
        made = gn.map(frame.assign(other=band[::-1]), "pca")
    assert len(caught) == 1
    assert made.feature_names == ["band", "other"]
    assert gn.TablePreprocessor().fit(frame[["x", "y"]]).get_feature_names_out().tolist() == ["x", "y"]
    alone = gn.TablePreprocessor().fit(frame[["band", "y"]])
    assert alone.get_feature_names_out().tolist() == ["band", "y"]  # levels of what was done, such as doses
    few = frame.iloc[:540].reset_index(drop=True)
    assert "y" in gn.TablePreprocessor().fit(few).get_feature_names_out()  # nine lines may be doses


@pytest.mark.parametrize(
    ("name", "repeats", "kept"),
    [
        ("customer_id", True, False),
        ("orderId", True, False),
        ("zip code", True, False),
        ("refractive index", True, True),
        ("row key", False, False),
        ("liquid", True, True),
        ("valid", True, True),
    ],
)
def test_a_name_tells_identifiers(name, repeats, kept):
    values = np.array([4, 9, 2, 7, 4 if repeats else 1])
    encoder = gn.TablePreprocessor().fit(pd.DataFrame({name: values, "other": np.arange(5) ** 0.5}))
    assert (name in encoder.get_feature_names_out()) == kept


@pytest.mark.parametrize(
    "name",
    [
        "objid",
        "OBJID",
        "objId",
        "bestobjid",
        "galaxyid",
        "sampleid",
        "cellids",
        "plateid",
        "sdss.thingid",
        "IID",
        "fid",
    ],
)
def test_names_in_one_case_tell_identifiers(name):
    assert named_as_id(name, different=False)
    assert not _kept(np.arange(60) % 7, name)
    assert not named_as_id(f"{name} count", different=False)


def test_words_that_end_so_by_chance_are_no_identifiers():
    words = "humid acid fluid liquid solid grid valid paid covid steroid centroid avoid rapid bid amid asteroid hybrid"
    words += " plasmid pyramid haploid thyroid spheroid nucleotid lipids fatty_acid pixelgrid celluloid arid candid"
    assert [word for word in words.split() if named_as_id(word, True) or named_as_id(word.upper(), True)] == []


def test_rounded_numbers_are_told_with_their_column_unless_it_is_not_used():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    frame["user"] = np.random.default_rng(1).integers(2**60, 2**62, 60)
    for given in ({"drop": ["user"]}, {"features": ["b", "a"]}):
        assert gn.map(frame, "pca", **given).n_features == 2  # and no warning
    for rows in (frame, frame.astype({"user": "Int64"}).replace({"user": {frame["user"][3]: pd.NA}})):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = gn.TablePreprocessor(features=["a", "user"]).fit(rows)
        told = [str(one.message) for one in caught]
        assert [("'user': " in one, "whole numbers from" in one) for one in told] == [(True, True)]
        with pytest.warns(DataWarning, match=r"'user': \d+ whole numbers from .* are rounded in float64"):
            fitted.transform(rows)
    with pytest.warns(DataWarning, match=r"'user': 60 whole numbers from .* are rounded in float64"):
        gn.data.check_table(frame)


@pytest.mark.filterwarnings("ignore:.*are rounded in float64")
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_integers_beyond_floating_point_that_go_with_nothing_are_identifiers(dtype):
    rng = np.random.default_rng(0)
    values = (1_237_648_720_000_000_000 + rng.integers(0, 10**16, 200)).astype(dtype)
    with pytest.warns(
        DataWarning, match=r"'v' \(whole numbers that .* beyond 2\^53, where floating point rounds them\)"
    ):
        assert not _kept(values)
    assert _kept(np.round(rng.uniform(2.0, 9.0, 200), 6) * 1e17)  # as measured and written
    assert _kept(np.exp(rng.normal(41.0, 0.8, 200)))  # over more than one power of ten


def test_counters_beyond_floating_point_are_left_out_and_not_warned_of_as_rounded():
    with pytest.warns(DataWarning) as told:
        assert not _kept(2**53 + 11 + np.arange(200))
    for start in (2**53 - 1000, 2**53 - 101, 2**53, 2**53 + 1, 2**53 + 7, 2**60 + 1):
        for step in (1, 2, 3):
            counted = start + (step << 7 * (start >= 2**60)) * np.arange(200)
            with pytest.warns(DataWarning, match=r"'v' \(it counts the rows\)"):
                assert not _kept(counted)
    assert _kept(np.sort(2.0**52 * np.exp(np.random.default_rng(0).normal(size=200))))  # that rise otherwise
    texts = " ".join(str(one.message) for one in told)
    assert "'v' (it counts the rows)" in texts
    assert "rounded in float64" not in texts


@pytest.mark.parametrize("make", [np.array, pd.Categorical])
def test_few_codes_that_are_called_identifiers_are_told_with_the_remedy_which_works(make):
    codes = np.array(["01234", "10115", "20095"])[np.arange(60) % 3]
    frame = pd.DataFrame({"zip": make(codes), "x": np.sin(np.arange(60.0)), "y": np.cos(np.arange(60.0) ** 2)})
    notes = " ".join(gn.map(frame, "pca").notes)
    assert (
        "'zip' (an identifier by its name; named in features=[...] beside the others, its 3 codes are categories)"
        in notes
    )
    made = gn.map(frame, "pca", features=["x", "y", "zip"])
    assert made.feature_names == ["x", "y", "zip = 01234", "zip = 10115", "zip = 20095"]
    frame["zip"] = make(np.array(["30001", "10115", "20095"])[np.arange(60) % 3])  # none begins with 0
    made = gn.map(frame, "pca", features=["x", "y", "zip"])
    assert made.feature_names == ["x", "y", "zip = 10115", "zip = 20095", "zip = 30001"]


def test_codes_of_identifiers_that_cannot_be_categories_promise_none():
    frame = pd.DataFrame({"id": [f"a{i}" for i in range(60)], "x": np.sin(np.arange(60.0))})
    frame["orderId"] = ["b7" if i % 2 else None for i in range(60)]
    rules = {rule.name: rule.reason for rule in gn.TablePreprocessor().fit(frame).rules_}
    assert rules["id"] == rules["orderId"] == "an identifier"
    with pytest.raises(ValueError, match=r"columns that can become numbers \('id': an identifier\)"):
        gn.TablePreprocessor(features=["id"]).fit(frame)


@pytest.mark.parametrize("lacking", [[3], [0, N - 1], list(range(0, N, 3))])
@pytest.mark.parametrize("texts", [False, True])
def test_identifiers_with_missing_values_are_left_out_as_complete_ones_are(people, lacking, texts):
    ids = people[["id", "customer", "zip", "age"]].astype("Int64")
    ids["day"] = np.arange(N) * 0.5
    ids["income"] = people["income"]
    wanted = {rule.name: rule.reason for rule in gn.TablePreprocessor().fit(ids).rules_ if not rule.features}
    assert set(wanted) == {"id", "customer", "zip", "day"}
    ids.iloc[lacking, [0, 1, 2, 4]] = pd.NA
    if texts:
        ids = ids.assign(**{name: ids[name].astype(str).replace("<NA>", "") for name in ("id", "customer", "zip")})
    found = gn.TablePreprocessor().fit(ids)
    assert {rule.name: rule.reason for rule in found.rules_ if not rule.features} == wanted
    assert gn.TablePreprocessor(features=["zip"]).fit(ids).get_feature_names_out().tolist() == ["zip"]


def test_a_short_count_with_a_gap_counts_the_rows():
    frame = pd.DataFrame({"n": [5.0, np.nan, 7.0, 8.0], "y": [0.1, 0.7, 0.2, 0.4]})
    assert gn.TablePreprocessor().fit(frame).rules_[0].reason == "it counts the rows"
    assert gn.TablePreprocessor().fit(frame.assign(n=[5, np.nan, 6, 7])).rules_[0].kind == "number"


@pytest.mark.parametrize(("n_lacking", "kept"), [(0, False), (60, False), (80, True)])
def test_whole_numbers_go_with_another_column_over_the_rows_that_have_both(n_lacking, kept):
    rng = np.random.default_rng(1)
    size = rng.permutation(10**6)[:N].astype(float)
    weight = np.sqrt(size) + rng.normal(size=N)
    size[::10], weight[5::10] = np.nan, np.nan
    found = gn.TablePreprocessor().fit(pd.DataFrame({"size": size, "weight": weight}))
    assert [rule.kind for rule in found.rules_] == ["number", "number"]
    weight = rng.normal(size=N)
    weight[:n_lacking] = np.nan  # in 40 rows or fewer it cannot be told
    found = gn.TablePreprocessor().fit(pd.DataFrame({"size": size, "weight": weight}))
    assert (found.rules_[0].reason == "") == kept


def _kept(values, name="v", others=2, **given):
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({name: values} | {f"x{j}": rng.normal(size=len(values)) for j in range(others)})
    return name in gn.TablePreprocessor(**given).fit(frame).get_feature_names_out()


@pytest.mark.parametrize("n", [60, 300, 2000])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: 10_001 + rng.permutation(n),
        lambda rng, n: 5_000 + rng.choice(int(1.6 * n), n, replace=False),
        lambda rng, n: 1_000_000 + rng.choice(9_000_000, n, replace=False),
        lambda rng, n: rng.integers(0, 2**32, n),
        lambda rng, n: 50_000 + np.cumsum(rng.geometric(0.2, n)),
    ],
    ids=["dense", "dense with gaps", "seven digits", "32 bits", "orders"],
)
def test_numbers_that_are_made_to_name_rows_are_left_out_with_a_warning(draw, n):
    values = draw(np.random.default_rng(1), n)
    with pytest.warns(DataWarning, match=r"TablePreprocessor: 'v' \(whole numbers that .*\) left out\. Pass features="):
        assert not _kept(values)
    assert _kept(values, features=["v"])


@pytest.mark.parametrize("n", [60, 300, 2000])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.choice(np.arange(20_000, 120_000), n, replace=False),
        lambda rng, n: rng.choice(np.arange(500, 5_000), n, replace=False),
        lambda rng, n: 10_000 + rng.choice(90_000, n, replace=False),
        lambda rng, n: rng.integers(1_500_000_000, 1_700_000_000, n),
        lambda rng, n: np.sort(np.exp(rng.normal(13.0, 2.0, n)).round())[::-1],
        lambda rng, n: 1 + np.cumsum(rng.permutation(n)),
    ],
    ids=["incomes", "areas", "prices", "times", "populations in order", "steps"],
)
def test_amounts_that_all_differ_are_kept_and_a_note_says_that_they_may_name_rows(draw, n):
    values = draw(np.random.default_rng(1), n)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _kept(values)
    frame = pd.DataFrame({"v": values} | {f"x{j}": np.random.default_rng(j).normal(size=n) for j in range(2)})
    told = "columns taken as numbers, though they may name the rows: 'v' (whole numbers that all differ and go with"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*all columns are standardised")
        assert any(told in note for note in gn.map(frame, "pca").notes) == (len(np.unique(values)) == n)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("customer", False),
        ("Order No.", False),
        ("phone_number", False),
        ("account balance", True),
        ("employees", True),
    ],
)
def test_the_name_tells_whether_numbers_that_all_differ_name_rows(name, kept):
    values = np.random.default_rng(1).choice(90_000, 200, replace=False)
    assert _kept(values, name) == kept
    repeated = np.append(values[1:], values[1])
    assert _kept(repeated, name)


@pytest.mark.parametrize("name", ["species", "label", "Class", "target"])
@pytest.mark.parametrize(
    ("texts", "made"),
    [
        (["a", "b", "c"], [" = a", " = b", " = c"]),
        (["True", "false", "true"], [""]),
        (["1 kg", "2 kg", "1 kg"], [" (kg)"]),
        (["x", "", "x"], [" = x"]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*one value and blanks")
def test_words_in_a_column_called_label_are_a_category_like_any_other_if_it_is_asked_for(name, texts, made):
    frame = pd.DataFrame({"x": np.sqrt(np.arange(30.0)), name: texts * 10})
    assert gn.TablePreprocessor().fit(frame).get_feature_names_out().tolist() == ["x"]
    found = gn.TablePreprocessor(features=[name]).fit(frame)
    assert found.get_feature_names_out().tolist() == [f"{name}{end}" for end in made]
    other = gn.TablePreprocessor(features=["group"]).fit(frame.rename(columns={name: "group"}))
    np.testing.assert_array_equal(found.transform(frame), other.transform(frame.rename(columns={name: "group"})))


def test_spaces_around_a_name_need_not_be_given_where_one_column_has_it():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 4)), columns=[" age", "income ", "x", " x"])
    names = gn.TablePreprocessor(features=["income", " age"]).fit(frame).get_feature_names_out()
    assert names.tolist() == ["income ", " age"]
    assert gn.TablePreprocessor(drop=["age", "x"]).fit(frame).get_feature_names_out().tolist() == ["income ", " x"]
    with pytest.raises(ValueError, match=r"drop='x' must be one of those in the data"):
        gn.TablePreprocessor(drop=["x"]).fit(frame.rename(columns={"x": "x "}))


def test_columns_that_are_asked_for_are_used_and_dropped_ones_are_not(people):
    asked = gn.TablePreprocessor(features=["zip", "country"], drop=["country"]).fit(people)
    assert asked.get_feature_names_out().tolist() == ["zip"]
    with pytest.raises(ValueError, match=r"drop='agee' must be one of .* Did you mean 'age'"):
        gn.TablePreprocessor(drop=["agee"]).fit(people)
    with pytest.raises(ValueError, match=r"drop='agee', 'town' must be among .*: 'id', .* 5 more\). .* for 'agee'\?$"):
        gn.TablePreprocessor(drop=["id", "agee", "town"]).fit(people)
    with pytest.raises(ValueError, match=r"ordered='a0', 'a1', 'a2', 'a3', 'a4' and 2 more must be among .*more\)\.$"):
        gn.TablePreprocessor(ordered={f"a{i}": ["l", "h"] for i in range(7)}).fit(people)
    encoder = gn.TablePreprocessor().fit(people[["age", "income", "country"]])
    with pytest.raises(ValueError, match=r"column='age', 'country' must be among those in the data"):
        encoder.transform(people[["income"]])
    with pytest.raises(TypeError, match=r"features='age' must be a sequence of names.*\['age'\]"):
        gn.TablePreprocessor(features="age").fit(people)
    with pytest.raises(ValueError, match="features must be columns that can become numbers"):
        gn.TablePreprocessor(features=["name"]).fit(people)
    with pytest.raises(ValueError, match="X must be a table with a column that can become a feature"):
        gn.TablePreprocessor().fit(people[["name", "note"]])
    assert clone(asked).get_params() == asked.get_params()


@pytest.mark.parametrize(
    ("yes", "blank", "feature"),
    [
        ("x", None, "vip = x"),
        ("x", "", "vip = x"),
        (True, None, "vip"),
        ("TRUE", "NA", "vip"),
        (False, None, "vip = False"),
    ],
)
@pytest.mark.parametrize("form", [pd.DataFrame, dict])
def test_a_column_of_one_value_and_blanks_says_where_the_value_is(yes, blank, feature, form):
    has = np.arange(40) % 4 == 0
    values = np.array([yes if one else blank for one in has], dtype=object)
    table = form({"vip": values, "y": np.sqrt(np.arange(40.0))})
    encoder = gn.TablePreprocessor()
    with pytest.warns(
        DataWarning, match=r"one value and blanks: 'vip' \('\w+' or blank in 30 rows\): .*drop=\['vip'\]"
    ):
        encoder.fit(table)
    assert encoder.get_feature_names_out().tolist() == [feature, "y"]
    np.testing.assert_array_equal(encoder.transform(table)[:, 0], has)
    assert encoder.spreads_[0] == pytest.approx(np.sqrt(0.25 * 0.75))
    assert rules_fault(encoder.rules_) == ""


@pytest.mark.parametrize("make", [list, pd.Categorical])
@pytest.mark.parametrize("ways", [("x", "X"), ("Yes", "yes", "YES "), ("in  stock", " In stock")])
def test_a_value_written_in_several_ways_beside_blanks_is_one(make, ways):
    texts = [ways[0], *ways, *[None] * 20, *ways]
    table = pd.DataFrame({"vip": make(texts), "y": np.sqrt(np.arange(len(texts)))})
    encoder = gn.TablePreprocessor()
    with pytest.warns(DataWarning, match="taken as 1 and 0") as told:
        encoder.fit(table)
    also = ", ".join(repr(way) for way in sorted(ways[1:]))
    assert f"'vip' ({ways[0]!r}, also {also}, or blank in 20 rows)" in str(told[0].message)
    assert encoder.get_feature_names_out().tolist() == [f"vip = {ways[0]}", "y"]
    np.testing.assert_array_equal(encoder.transform(table)[:, 0], [text is not None for text in texts])
    assert rules_fault(encoder.rules_) == ""


def test_new_rows_may_write_the_one_value_in_another_way():
    table = pd.DataFrame({"vip": ["x", None] * 10, "y": np.sqrt(np.arange(20))})
    with pytest.warns(DataWarning, match="taken as 1 and 0"):
        encoder = gn.TablePreprocessor().fit(table)
    new = table.head(4).assign(vip=["X", " x", "", "x"])
    np.testing.assert_array_equal(encoder.transform(new)[:, 0], [1, 1, 0, 1])
    with pytest.warns(DataWarning, match="'vip' has 'xx' in 1 row: taken as none of the categories"):
        np.testing.assert_array_equal(encoder.transform(new.assign(vip=["X", "xx", None, "x"]))[:, 0], [1, 0, 0, 1])


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        (["x", "X"] * 20, ["v = x"]),  # no blanks: the ways may tell something
        (["x", "X"] * 20 + [None], ["v = x"]),  # hardly any
        (["x", "y", None, None] * 10, ["v = y"]),
    ],
)
def test_two_values_stay_two(texts, kept):
    table = pd.DataFrame({"v": texts, "y": np.sqrt(np.arange(len(texts)))})
    assert gn.TablePreprocessor().fit(table).get_feature_names_out().tolist() == [*kept, "y"]


def test_maps_take_one_value_and_blanks_as_yes_and_no_of_new_rows_too(tmp_path):
    rng = np.random.default_rng(0)
    has = rng.random(60) < 0.4
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60)})
    flags = frame.assign(flag=np.where(has, "x", None), active=pd.Series(np.where(has, True, None), dtype=object))
    with pytest.warns(DataWarning, match="taken as 1 and 0") as told:
        made = gn.map(flags, "pca")
    assert not any("missing" in str(one.message) for one in told)
    words = frame.assign(flag=np.where(has, "x", "no x"), active=has)
    np.testing.assert_array_equal(np.abs(made.X), np.abs(gn.map(words, "pca").X[:, [0, 1, 2, 3]] - [0, 0, 0, 0]))
    made.save(tmp_path / "m.gnomon")
    kept = gn.Map.load(tmp_path / "m.gnomon")
    np.testing.assert_allclose(kept.transform(flags), made.embedding, atol=1e-5)
    with pytest.warns(DataWarning, match="'flag' has 'y' in 1 row: taken as none of the categories"):
        kept.transform(flags.head(1).assign(flag="y", active=False))


@pytest.mark.parametrize(("n_known", "reason"), [(1, "one row has a value"), (39, "all rows that have .* have 'DE'")])
def test_one_value_that_one_row_has_or_lacks_tells_nothing(n_known, reason):
    frame = pd.DataFrame({"land": ["DE"] * n_known + [None] * (40 - n_known), "y": np.sqrt(np.arange(40.0))})
    rule = gn.TablePreprocessor().fit(frame).rules_[0]
    assert rule.kind == "left out"
    assert re.fullmatch(reason, rule.reason)


def test_missing_and_unknown_categories_are_none_of_the_known_ones():
    frame = pd.DataFrame({"a": ["x", "y", "z", None] * 5, "b": ["p", "q", None, "p"] * 5})
    encoder = gn.TablePreprocessor().fit(frame)
    with pytest.warns(DataWarning, match=r"'a' has 'new' in 1 row: taken as none of the categories; 'b'"):
        made = encoder.transform(pd.DataFrame({"a": ["x", None, "new"], "b": ["q", None, "new"]}))
    np.testing.assert_array_equal(made, [[1, 0, 0, 1], [0, 0, 0, 0.5], [0, 0, 0, 0.5]])


def test_words_for_a_missing_value_are_no_category():
    frame = pd.DataFrame({"a": ["x", "NA", "none", "?"] * 5, "when": ["2024-01-01", "n/a", "2024-01-31", ""] * 5})
    encoder = gn.TablePreprocessor().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["a = x", "when (days since 2024-01-01)"]
    np.testing.assert_array_equal(encoder.transform(frame)[:4], [[1, 0], [0.5, np.nan], [0, 30], [0.5, np.nan]])


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["2019-05-31", "2024-05-31"], "years since 2019-05-31"),
        (["31.5.2024", "1.1.2024"], "months since 2024-01-01"),
        (["5/31/2024", "1/1/2024"], "months since 2024-01-01"),
        (["31/5/2024 12:00", "1/1/2024 12:00"], "months since 2024-01-01"),
        (["2024-05", "2024-01"], "months since 2024-01-01"),
        (["2024-01-01T00:30:00+02:00", "2023-12-31 23:00:00.5Z"], "hours since 2023-12-31"),
        (pd.date_range("2024-01-01", periods=2, tz="Europe/Berlin").to_series().array, "hours since 2023-12-31"),
        (pd.period_range("2024-01", periods=2, freq="M").astype(object), "days since 2024-01-01"),
        (np.array([90, 30], dtype="timedelta64[D]"), "days"),
        (["31 May 2024", "01 Jan 2024"], "months since 2024-01-01"),
        (["Fri, 31-May-2024 10:00", "1st January 2024"], "months since 2024-01-01"),
        (["May 31, 2024", "January 1st 2024"], "months since 2024-01-01"),
        (["Jan 2024", "September 2024", "May 2024"], "months since 2024-01-01"),
        (["2024-05-31T10:00", "2024-05-31 22:30"], "hours since 2024-05-31"),
        (["31/May/2024:10:00:00 +0000", "[01/Jan/2024:00:12:59 +0200]"], "months since 2023-12-31"),
        (["20240531T100000Z", "20240101T0012"], "months since 2024-01-01"),
        (["2024-05-31 10:00:00,250", "2024-01-01 00:12:59,5"], "months since 2024-01-01"),
        (["5/31/2024 10:00:00 AM", "1/1/2024 3:12 p.m."], "months since 2024-01-01"),
        (["Fri, 31 May 2024 10:00:00 GMT", "Mon, 01 Jan 2024 00:00:00 GMT"], "months since 2024-01-01"),
        (["2024-W22-5", "2024-W01-1"], "months since 2024-01-01"),
        (["2024-W22", "2024-W01"], "months since 2024-01-01"),
        ([datetime.date(2024, 5, 1), datetime.date(2024, 5, 31)], "days since 2024-05-01"),
    ],
)
def test_dates_are_told_by_what_they_span(texts, name):
    assert gn.TablePreprocessor().fit({"t": texts}).get_feature_names_out().tolist() == [f"t ({name})"]


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+01:00"])
def test_the_last_and_the_first_moment_of_all_are_dates_in_any_zone(text):
    made = gn.TablePreprocessor().fit_transform({"t": [text, "2024-01-02T10:00:00-05:00"]})
    assert abs(made[0, 0] - made[1, 0]) == pytest.approx(9999 - 2024 if text[0] == "9" else 2024 - 1, abs=1.0)


def test_dates_of_logs_are_read_as_pandas_reads_them():
    moments = pd.Timestamp("2023-12-30T23:58:59.25") + pd.to_timedelta(np.arange(60) * 4_567.0, unit="s")
    for form in (
        "%d/%b/%Y:%H:%M:%S +0000",
        "[%d/%b/%Y:%H:%M:%S -0000]",
        "%Y%m%dT%H%M%SZ",
        "%Y-%m-%d %H:%M:%S,%f",
        "%m/%d/%Y %I:%M:%S %p",
        "%a, %d %b %Y %H:%M:%S GMT",
        "%G-W%V-%u %H:%M",
    ):
        read = read_dates(moments.strftime(form).tolist())
        exact = {"%f": "us", "%S": "s", "%M": "min"}
        unit = next(unit for part, unit in exact.items() if part in form)
        np.testing.assert_array_equal(read, moments.floor(unit).to_numpy().astype("datetime64[us]"))
    assert [
        read_dates([f"1/31/2024 {hour} {half}"])[0].item().hour
        for hour, half in [("12:00", "am"), ("1:00", "AM"), ("12:00", "PM"), ("11:00", "pm")]
    ] == [0, 1, 12, 23]
    for odd in ("1/31/2024 13:00 PM", "1/31/2024 0:00 AM", "2024-W54-1", "2023-W53-1", "2024-W01-8", "20241301T0000"):
        assert read_dates([odd]) is None


def test_a_text_that_is_almost_a_date_is_none():
    rules = gn.TablePreprocessor().fit({"t": ["2024-13-31", "2024-05-31"], "a": [1.0, 2.0]}).rules_
    assert rules[0].kind == "category"


@pytest.mark.filterwarnings("ignore:map. columns that seem to tell who people are:gnomon.exceptions.DataWarning")
def test_a_map_of_people_speaks_of_countries_and_months(people, tmp_path):
    with pytest.warns(DataWarning, match=r"'id' \(it counts the rows\), .* left out"):
        made = gn.map(people, method="pca")
    assert made.feature_names == NAMES
    assert made.scale.name == "standard"
    assert set(made.metadata) == set(people.columns) - {"age", "income", "smoker"}
    assert "country = DE" in made.contrast(people["country"].to_numpy() == "DE").features[:1]
    np.testing.assert_allclose(made.transform(people.iloc[:5]), made.embedding[:5], atol=1e-5)
    made.save(tmp_path / "people.gnomon")
    again = gn.Map.load(tmp_path / "people.gnomon")
    assert again.columns == made.columns
    np.testing.assert_array_equal(again.transform(people.iloc[:5]), made.transform(people.iloc[:5]))
    larger, _ = made.extend(people.iloc[:3])
    assert larger.columns == made.columns


@pytest.mark.filterwarnings("ignore:map. columns that seem to tell who people are:gnomon.exceptions.DataWarning")
@pytest.mark.filterwarnings("ignore:map. 'id':gnomon.exceptions.DataWarning")
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_told_as_frames_are(people, tmp_path, ending):
    path = tmp_path / f"people.{ending}"
    people.to_csv(path, index=False) if ending == "csv" else people.to_parquet(path)
    made = gn.map(read_table(path), method="pca")
    assert made.feature_names == NAMES
    assert order_of(made.metadata["size"]) == (() if ending == "csv" else ("S", "M", "L"))
    if ending == "parquet":
        assert sort_into_classes(read_table(path, labels="size").labels).names == ["S", "M", "L"]
    assert sum("left out" in note for note in made.notes) == 1
    assert not any("without numbers" in note for note in made.notes)


@pytest.mark.parametrize("last", [False, True])
def test_features_of_files_and_records_come_in_the_order_of_the_table(tmp_path, last):
    columns = {"city": ["Rome", "Oslo", "Bonn"] * 20, "a": range(60, 0, -1), "size": ["s", "l"] * 30, "b": range(60)}
    table = pd.DataFrame({**columns, "b": np.sin(columns["b"]), **({"kind": ["x", "y", "y"] * 20} if last else {})})
    table.to_csv(tmp_path / "table.csv", index=False)
    wanted = gn.map(table, "pca", labels="city", drop=["a"])
    assert wanted.feature_names[:2] == ["size = s", "b"]
    for made in (gn.read_table(tmp_path / "table.csv"), table.to_dict("records"), table.to_dict("list")):
        made = gn.map(made, "pca", labels="city", drop=["a"])
        assert made.feature_names == wanted.feature_names
        np.testing.assert_array_equal(made.embedding, wanted.embedding)
    read = gn.read_table(tmp_path / "table.csv", labels="city")
    assert gn.map(read, "pca", drop=["a"]).feature_names == wanted.feature_names


def test_final_features_are_chosen_by_name_and_stay_what_they_are():
    X = np.random.default_rng(0).normal(size=(40, 3))
    made = gn.map(X, method="pca", feature_names=["a", "b", "c"], drop=["b"])
    assert made.feature_names == ["a", "c"]
    np.testing.assert_array_equal(made.X, X[:, [0, 2]])
    assert gn.map(np.column_stack([np.arange(40), X]), method="pca").n_features == 4  # an array is of features


def test_numbers_with_a_decimal_comma_are_read(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("name;length;weight;count\na;1,5;1.234,25;12\nb;-2,25;0,5;1.000\n")
    data = read_table(path)
    np.testing.assert_array_equal(data.X, [[1.5, 1234.25, 12], [-2.25, 0.5, 1000]])
    assert "numbers are read with a decimal comma" in data.notes
    path.write_text("name;length;width\na;1,5;1\nb;2.5;2\n")  # both kinds: not guessed
    assert read_table(path).metadata["length"].tolist() == ["1,5", "2.5"]


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, lambda X: sp.csr_array(X)])
@pytest.mark.parametrize("names", [["0", "2"], [0, 2], ["feature 0", "feature 2"]])
def test_columns_without_names_are_chosen_by_their_number(form, names):
    X = np.random.default_rng(0).normal(size=(40, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        chosen, kept = gn.map(form(X), "pca", features=names), gn.map(form(X), "pca", drop=[1])
    for made in (chosen, kept):
        assert made.feature_names == ["feature 0", "feature 2"]
        np.testing.assert_array_equal(made.X @ np.eye(2), X[:, [0, 2]])
    with pytest.raises(ValueError, match=r"map: drop='3' must be one of those in the data"):
        gn.map(form(X), "pca", drop=[3])


def test_numbered_columns_of_all_kinds_are_chosen_by_their_number():
    frame = pd.DataFrame({0: np.arange(40.0) % 7, 1: ["x", "y"] * 20, 2: np.arange(40.0) ** 0.5})
    assert gn.map(frame, "pca", drop=[0]).feature_names == ["1 = y", "2"]
    years = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=[2010, 2011, 2012])
    assert gn.map(years, "pca", features=[2012, 2010]).feature_names == ["2012", "2010"]


_BIG = ["36,542", "27,202", "950"] * 4


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        ({"x": ["18,365"] * 19 + ["0,583"]}, 18.365),  # the column decides
        ({"x": ["271.706"] * 20 + ["1.579.211"]}, 271706),
        ({"x": ["36,542", "2,554,860"] * 6}, 36542),
        ({"x": _BIG, "a": ["2,554,860"] * 12}, 36542),  # the table decides
        ({"x": _BIG, "a": ["1,5 kg"] * 12}, 36.542),
        ({"x": _BIG, "a": [1.5] * 12}, None),
        ({"x": _BIG, "a": ["2,554,860"] * 12, "b": ["0,5"] * 12}, None),
    ],
)
def test_a_comma_is_read_by_what_the_column_and_then_the_table_tell(columns, wanted):
    encoder = gn.TablePreprocessor(features=["x"])
    if wanted is None:
        with pytest.warns(DataWarning, match=r"'x' has '36,542', read as 36542, which may be 36\.542\. Nothing in"):
            made = encoder.fit_transform(columns)
        assert made[0, 0] == 36542
    else:
        np.testing.assert_allclose(encoder.fit_transform(columns)[0, 0], wanted)


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("t.tsv", "x\ty\n36,542\t1.5\n950\t2\n", 36542),  # the file decides
        ("t.csv", 'x,y\n"36,542",1.5\n950,2\n', 36542),
        ("t.csv", "x;y\n36,542;1,5\n950;2\n", 36.542),
        ("t.csv", "x;y\n271.706;1,5\n950;2\n", 271706),
        ("t.csv", "x;y\n271.706;1,5 %\n950;2 %\n", 271706),
        ("t.csv", "x;y\n271.706;2\n0.5;2\n", 271.706),
        ("t.csv", "x;y\n" + "271.706;2\n" * 60 + "1.579.211;2\n", 271706),
    ],
)
def test_a_comma_or_point_is_read_by_what_the_file_tells(tmp_path, name, text, wanted):
    path = tmp_path / name
    path.write_text(text)
    data = encode_dataset(read_table(path), ["x"], None)
    assert data.X[0, 0] == pytest.approx(wanted)


def test_points_that_may_stand_between_thousands_are_warned_of(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x;y\n271.706;1\n950;2\n")
    with pytest.warns(DataWarning, match=r"'x' has 271\.706, which may be 271706 with a point between thousands"):
        assert read_table(path).X[0, 0] == pytest.approx(271.706)
    path.write_text("x,y\n271.706,1\n950,2\n")
    assert read_table(path).X[0, 0] == pytest.approx(271.706)


def test_dates_whose_day_and_month_cannot_be_told_apart_are_no_dates():
    rule = gn.TablePreprocessor(features=["t"]).fit({"t": ["1/2/2024", "3/2/2024"] * 5}).rules_[0]
    assert rule.kind == "category"


@pytest.mark.parametrize(
    ("texts", "name", "numbers"),
    [
        (["12 %", "5%", "-3.5 %"], "x (%)", [12, 5, -3.5]),
        (["$1,200.50", "-$5", "($3.00)"], "x ($)", [1200.5, -5, -3]),
        (["1.200,50 €", "3 €", "NA"], "x (€)", [1200.5, 3, np.nan]),
        (["5 kg", "6.5 kg", ""], "x (kg)", [5, 6.5, np.nan]),
        (["1,234", "12,000,000", "5"], "x", [1234, 12e6, 5]),
        (["0,125", "7,5", "8"], "x", [0.125, 7.5, 8]),
        (["1 234,5", "1'000'000", "1e3"], "x", [1234.5, 1e6, 1e3]),
        (["3\u202f380,34\u00a0€", "612,06\u00a0€", "1\u00a0206\u2009055 €"], "x (€)", [3380.34, 612.06, 1206055]),
        ([1, "2.5", 3.5, None, "?"], "x", [1, 2.5, 3.5, np.nan, np.nan]),
        (["-1.02D+02", "1.5d-3", " 1.0Q+10", ".5D+00", "0.0"], "x", [-102, 0.0015, 1e10, 0.5, 0]),
        (["300k", "1.25M", "12", "-2bn"], "x", [300e3, 1.25e6, 12, -2e9]),
        (["€300k", "€1,2M", "€7,25M"], "x (€)", [300e3, 1.2e6, 7.25e6]),
        (["1.5m €", "300k €", "2m €"], "x (€)", [1.5e6, 300e3, 2e6]),
        (["0.10582D+03", "0.17000-102", "-.25000+100"], "x", [105.82, 0.17e-102, -0.25e100]),
    ],
)
def test_numbers_that_are_written_as_texts_are_numbers(texts, name, numbers):
    frame = pd.DataFrame({"x": np.array(texts, dtype=object)})
    encoder = gn.TablePreprocessor().fit(frame)
    assert encoder.get_feature_names_out().tolist() == [name]
    np.testing.assert_allclose(encoder.transform(frame)[:, 0], numbers)
    np.testing.assert_allclose(encoder.transform(frame[::-1])[::-1, 0], numbers)
    assert rules_fault(encoder.rules_) == ""
    assert encoder.rules_[0].told().startswith(f"'x' (numbers such as {texts[0]}")


def test_the_example_of_written_numbers_is_the_first_of_the_column():
    texts = ["", "NA", "unknown", " $1,200.50 ", *(f"${i}" for i in range(1200, 1230))]
    with pytest.warns(DataWarning, match="'x' has 'unknown' in 1 row"):
        rule = gn.TablePreprocessor().fit({"x": texts}).rules_[0]
    assert rule.told() == "'x' (numbers such as $1,200.50)"


@pytest.mark.parametrize(
    "texts",
    [
        ["007", "012"],
        ["A1", "B2"],
        ["1.2.3", "1.2.4"],
        ["10-20", "20-30"],
        ["5 kg", "6 lb"],
        ["1,5", "2.5"],
        ["1_0", "2"],
        ["12D04", "13D10"],
        ["1.5D", "2.5D"],
        ["0.5-100", "0.2-300"],
    ],
)
def test_codes_ranges_and_mixed_units_are_no_numbers(texts):
    assert gn.TablePreprocessor().fit({"x": texts * 5}).rules_[0].kind == "category"


def test_sizes_after_numbers_are_told():
    rule = gn.TablePreprocessor().fit({"x": ["1.2M", "300k"]}).rules_[0]
    assert rule.told() == "'x' (numbers such as 1.2M, k as thousands, M as millions, bn as billions)"
    with pytest.warns(DataWarning, match="'x' has '5m' in 1 row: no number, taken as missing"):
        metres = gn.TablePreprocessor().fit({"x": ["12", "12", *map(str, range(20, 60)), "5m"]})
    assert metres.rules_[0].told() == "'x' (numbers such as 12)"


@pytest.mark.parametrize("sign", ["-", "--", ".", "n.d.", "unknown", "None", "?", "#N/A"])
def test_signs_for_missing_ones_among_numbers_and_dates_are_missing_and_told(sign):
    rng = np.random.default_rng(0)
    days = pd.date_range("2020-01-01", periods=40)[rng.permutation(40)].strftime("%d/%m/%Y").to_numpy(dtype=object)
    heights = rng.normal(170, 10, 40).round(1).astype(str).astype(object)
    heights[:18], days[:6] = sign, sign
    frame = pd.DataFrame({"height": heights, "day": days, "p": rng.normal(size=40)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = encode_dataset(gn.data.Dataset(frame), None, None)
    assert data.feature_names == ["height", "day (days since 2020-01-01)", "p"]
    assert np.isnan(data.X).sum(axis=0).tolist() == [18, 6, 0]
    np.testing.assert_allclose(data.X[18:, 0], heights[18:].astype(float))
    told = "; ".join(str(one.message) for one in caught)
    if sign != "?":  # which is missing in any column
        assert f"'height' has {sign!r} in 18 rows: no number, taken as missing" in told
        assert f"'day' has {sign!r} in 6 rows: no date, taken as missing; write day/month/year" in told


def test_a_column_of_signs_with_a_few_numbers_stays_what_it_was():
    rule = gn.TablePreprocessor().fit({"x": ["none"] * 9 + ["1", "2"] * 3}).rules_[0]
    assert rule.kind == "category"


def unread_columns():
    rng = np.random.default_rng(1)
    amounts = [f"{value:.2f}" for value in rng.uniform(10, 500, 40)]
    days = pd.date_range("2020-01-01", periods=40)
    yield [f"${x}" if k % 2 else f"€{x}" for k, x in enumerate(amounts)], r"amounts in \S, \S\. Convert .* one currency"
    yield [f"{x} kg" if k % 2 else f"{x} g" for k, x in enumerate(amounts)], "amounts in g, kg. Convert .* to one unit"
    yield [f"{x}cm" for x in amounts], "numbers such as '.*cm' in 100% of its texts. Pass numbers as numbers"
    yield [x if k % 3 else f"see page {k}" for k, x in enumerate(amounts)], "numbers such as '.*' in 65% of its texts"
    yield [f"<{x}" if k % 3 else x for k, x in enumerate(amounts)], "numbers such as '.*' in 100% of its texts"
    yield [day.strftime("%d.%m.%y") for day in days], "dates such as '01.01.20'. Write dates such as 2024-05-31"
    yield [f"{day.day}. Januar {day.year + day.month}" for day in days], "dates such as '1. Januar 2021'"
    yield [day.strftime("%b %d 00:12:%S") for day in days], "dates such as 'Jan 01 00:12:00'"
    yield [f"{k}:{k:02d} Uhr"[: 5 if k > 9 else 4] for k in range(40)], "times such as '0:00'. Pass times as numbers"


@pytest.mark.parametrize(("texts", "told"), list(unread_columns()))
def test_texts_that_look_measured_are_left_out_with_a_warning(texts, told):
    data = gn.data.Dataset(pd.DataFrame({"x": texts, "p": np.random.default_rng(0).normal(size=len(texts))}))
    with pytest.warns(DataWarning, match=f"columns left out and kept as metadata: 'x' has {told}"):
        made = encode_dataset(data, None, None)
    assert made.feature_names == ["p"]
    assert list(made.metadata["x"]) == texts
    assert any("'x' (" in note for note in made.notes)
    encode_dataset(data, None, ["x"])  # without a warning


@pytest.mark.parametrize(
    "texts",
    [
        [f"{k:05d}" for k in range(40)],
        [f"S{k}" for k in range(40)],
        [f"{k}A" for k in range(40)],
        [f"10.0.0.{k}" for k in range(40)],
        [f"{k:x}f{k}b" for k in range(16, 56)],
        [f"{k} Main Street" for k in range(1, 41)],
        [f"group {k}" for k in range(40)],
    ],
)
def test_names_and_codes_are_left_out_without_a_warning(texts):
    assert gn.TablePreprocessor().fit({"x": texts, "p": np.zeros(40)}).rules_[0].reason == "an identifier"


def code_columns():
    rng = np.random.default_rng(2)
    numbers = rng.integers(10_000, 10_150, 200)
    yield ["01001", *map(str, numbers)], True  # as long as the longest
    yield [f" {k}" for k in ["01001", *numbers]], True
    yield [*["01001", "00.5", "N/A", ""], *map(str, numbers)], True
    yield ["0123", "0124", "0125", *map(str, numbers)], True  # one in 100
    yield ["0123", *map(str, numbers)], False  # a slip of the pen
    yield ["05", "07", *map(str, rng.integers(10, 99, 200))], False  # two digits may be of a month
    yield ["01001", *(f"{k / 7:.2f}" for k in numbers)], False  # decimals are of numbers
    yield ["0", "0", *map(str, numbers)], False


@pytest.mark.parametrize(("texts", "code"), list(code_columns()))
def test_digits_that_begin_with_0_prove_a_column_of_codes(texts, code):
    frame = pd.DataFrame({"article": texts, "p": np.random.default_rng(0).normal(size=len(texts))})
    told = r"'article' has codes such as '0\d+', which begin with 0. Pass codes" if code else "taken as missing|^$"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = encode_dataset(gn.data.Dataset(frame), None, None)
    assert made.feature_names == (["p"] if code else ["article", "p"])
    assert re.search(told, "; ".join(str(one.message) for one in caught))


def late_codes(column, *, hole=False, n=300):
    """Return lines of numbers, and of codes of which the last one alone begins with 0."""
    codes = [*(str(10_000 + 7 * k) for k in range(n - 1)), column]
    return ["x,county", *(f"{'' if hole and k == 5 else k / 4},{code}" for k, code in enumerate(codes))], codes


@pytest.mark.parametrize("quote", ["{}", '"{}"', " {}"])
@pytest.mark.parametrize("hole", [False, True])
def test_codes_of_which_a_late_row_alone_begins_with_0_keep_their_zeros(hole, quote, tmp_path):
    lines, codes = late_codes(quote.format("01001"), hole=hole)
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    data = read_table(path, missing="keep")
    assert data.feature_names == ["x"]
    assert [code.strip() for code in data.metadata["county"]] == [*codes[:-1], "01001"]
    assert [code.strip() for code in read_columns(path)["county"]] == [*codes[:-1], "01001"]


def test_a_late_zero_that_is_no_code_leaves_numbers(tmp_path):
    lines, _ = late_codes("007")  # one of 300, and shorter
    padded = ["x,y", *(f"{k + 1:03d},{k + 2:03d}" for k in range(200, 0, -1))]  # all columns are filled up with zeros
    for text, last in ((lines, 7.0), (padded, 3.0), (lines[1:], 7.0), (padded[1:], 3.0)):
        path = tmp_path / "t.csv"
        path.write_text("\n".join(text), encoding="utf-8")
        assert read_table(path).X[-1, 1] == last


@pytest.mark.parametrize("hole", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_codes_keep_their_zeros_in_files_without_a_header(late, hole, tmp_path):
    lines, codes = late_codes("01001", hole=hole)
    rows, codes = (lines[1:], codes) if late else (lines[:0:-1], codes[::-1])
    path = tmp_path / "t.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    data = read_table(path, missing="keep")
    assert data.feature_names is None
    assert data.n_features == 1
    assert data.metadata["1"].tolist() == codes
    assert read_table(path, labels="1", missing="keep").labels.tolist() == codes


def test_codes_in_a_file_keep_their_zeros(tmp_path):
    rng = np.random.default_rng(0)
    codes = [f"{k:05d}" for k in rng.integers(0, 20_000, 60)]
    rows = [f"{code},{k},{k % 7:03d}" for k, code in enumerate(codes)]
    (tmp_path / "t.csv").write_text("\n".join(["sku,b,c", *rows]))
    data = read_table(tmp_path / "t.csv")
    assert data.feature_names == ["b"]
    assert data.metadata["sku"].tolist() == codes
    (tmp_path / "all.csv").write_text("\n".join(["a,b", *(f"{k:05d},{k % 7:03d}" for k in range(60))]))
    np.testing.assert_array_equal(read_table(tmp_path / "all.csv").X[:, 0], np.arange(60))  # numbers filled up


def test_a_few_texts_among_numbers_are_missing_and_told():
    rng = np.random.default_rng(0)
    texts = np.array([f"{value:.3f}" for value in rng.normal(size=60)], dtype=object)
    texts[:3] = "<0.1"
    frame = pd.DataFrame({"x": texts, "y": rng.normal(size=60)})
    with pytest.warns(DataWarning, match=r"map: ('x' has '<0.1' in 3 rows: no number, taken as missing|3 of 120)"):
        made = gn.map(frame, "pca")
    assert made.completion.missing[:, made.feature_names.index("x")].sum() == 3
    assert "'x' has '<0.1' in 3 rows: no number, taken as missing" in made.report()
    texts[:10] = "<0.1"
    with pytest.warns(DataWarning, match="'x' has numbers such as '<0.1' in 100% of its texts"):
        rule = gn.TablePreprocessor(max_categories=100).fit(frame.assign(x=texts)).rules_[0]
    assert rule.kind != "written"


def test_categories_that_are_declared_stay_categories():
    frame = pd.DataFrame({"x": pd.Categorical(["1", "2", "3"] * 4), "y": range(1, 13)})
    assert gn.TablePreprocessor().fit(frame).rules_[0].kind == "category"
    frame["z"] = np.random.default_rng(0).normal(size=12)
    for most, kind in ((3, "category"), (2, "left out")):
        assert gn.TablePreprocessor(max_categories=most).fit(frame).rules_[0].kind == kind


@pytest.mark.parametrize(
    ("column", "held"),
    [
        ([[1, 2], [3]] * 20, r"row 0 has 2 numbers and row 1 1"),
        (
            pl.Series([[[1.0, 2.0]]] * 40, dtype=pl.Array(pl.Float64, (1, 2))),
            r"it holds ndarray\)\. Make vectors of numbers",
        ),
        (np.arange(40) * 1j, r"it holds complex numbers\)\. Make columns of its real and imaginary parts"),
    ],
)
def test_columns_of_no_single_values_are_refused_unless_they_are_dropped(tmp_path, column, held):
    frame = {"x": np.arange(40) % 7, "y": np.arange(40) ** 0.5, "l": column}
    frame = pl.DataFrame(frame) if isinstance(column, pl.Series) else pd.DataFrame(frame)
    with pytest.raises(TypeError, match=rf"map: column 'l' of the argument must .* \({held}.*'l'"):
        gn.map(frame, "pca")
    with pytest.raises((TypeError, ValueError), match=r"PCA: X must be a table of real numbers \(1 of 3 columns .*'l'"):
        gn.PCA().fit(frame)
    gn.map(frame, "pca", drop=["l"]).to_html(tmp_path / "m.html")


def test_headers_of_several_levels_are_joined():
    columns = pd.MultiIndex.from_product([["x", "y"], ["m", "s"]])
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 4)), columns=columns)
    assert gn.map(frame, "pca").feature_names == ["x / m", "x / s", "y / m", "y / s"]


@pytest.mark.parametrize("form", ["columns", "records"])
def test_mappings_of_columns_and_lists_of_records_are_tables(people, form):
    lists = {name: people[name].tolist() for name in ("age", "income", "country", "smoker")}
    given = (
        lists
        if form == "columns"
        else [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    )
    made, wanted = gn.map(given, "pca"), gn.map(pd.DataFrame(lists), "pca")
    assert made.feature_names == wanted.feature_names
    np.testing.assert_array_equal(made.X, wanted.X)


def test_records_lack_what_they_do_not_hold():
    rows = [{"a": float(i % 7), "b": float(i**0.5)} for i in range(40)]
    del rows[3]["b"]
    with pytest.warns(DataWarning, match="'b' 1"):
        gn.map(rows, "pca")
    with pytest.raises(TypeError, match="X must be a list of mappings alone"):
        gn.map([*rows, [1.0, 2.0]], "pca")
    with pytest.raises(ValueError, match="b must be as long as a"):
        gn.map({"a": [1, 2, 3], "b": [1, 2]}, "pca")


def test_a_file_of_texts_alone_is_mapped(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"q{j}": np.array(["yes", "no"])[rng.integers(0, 2, 60)] for j in range(4)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(DataWarning, match="distinct rows"):
        assert gn.map(read_table(tmp_path / "t.csv")).feature_names == [f"q{j} = yes" for j in range(4)]


@pytest.fixture
def truths(here):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "vip": rng.random(60) < 0.5})


def _truth_forms(truths, folder):
    """Return the same rows as a frame, a frame of texts, a text file and a Parquet file."""
    truths.to_csv(folder / "t.csv", index=False)
    truths.to_parquet(folder / "t.parquet")
    upper = truths.assign(vip=truths["vip"].map({True: "TRUE", False: "false"}))
    return [truths, upper, read_table(folder / "t.csv"), read_table(folder / "t.parquet")]


def test_true_and_false_are_truth_values_in_tables_of_all_kinds(truths, tmp_path):
    forms = _truth_forms(truths, tmp_path)
    wanted = gn.map(truths, "pca")
    for form in forms:
        made = gn.map(form, "pca")
        assert made.feature_names == ["a", "b", "vip"]
        np.testing.assert_array_equal(made.X, wanted.X)
        for rows in forms:
            np.testing.assert_allclose(made.transform(rows), wanted.embedding, atol=1e-5)


def test_a_text_that_is_no_truth_value_is_missing_and_told(truths, tmp_path):
    texts = truths.assign(vip=truths["vip"].astype(str))
    encoder = gn.TablePreprocessor().fit(texts)
    with pytest.warns(DataWarning, match="'vip' has 'maybe' in 1 row: neither True nor False, taken as missing"):
        made = encoder.transform(texts.head(3).assign(vip=["true", "maybe", None]))
    np.testing.assert_array_equal(made[:, 2], [1, np.nan, np.nan])
    (tmp_path / "t.csv").write_text("x,vip\n1,True\n2,\n3,FALSE\n")
    data = encode_dataset(read_table(tmp_path / "t.csv"), None, ["x"])
    np.testing.assert_array_equal(data.X, [[1], [np.nan], [0]])


def test_categories_true_and_false_of_an_older_map_take_truth_values():
    rule = ColumnRule("vip", "category", ("vip = True",), ("False", "True"))
    for values in (np.array([True, False]), np.array([1.0, 0.0]), np.array(["TRUE", "false"])):
        np.testing.assert_array_equal(rule.encode(values)[:, 0], [1, 0])
        assert rule.unknown(values) == ""


@pytest.mark.parametrize(
    ("texts", "new", "day"),
    [
        (["6/22/2021", "4/1/2022"], "4/2/2022", "2022-04-02"),
        (["22/6/2021", "1/4/2022"], "4/2/2022", "2022-02-04"),
        (["22.6.2021", "1.4.2022"], "4.2.2022", "2022-02-04"),
        (["6/22/2021", "4/1/2022"], "2022-02-04", "2022-02-04"),
    ],
)
def test_dates_of_new_rows_are_read_as_those_of_the_fit_were(texts, new, day, tmp_path):
    frame = pd.DataFrame({"t": texts * 20, "a": np.random.default_rng(0).normal(size=40)})
    frame.loc[0, "a"] = np.nan  # such a map fills in what new rows lack
    with pytest.warns(DataWarning, match="'a' 1"):
        made = gn.map(frame, "pca")
    made.save(tmp_path / "m.gnomon")
    rule = gn.load(tmp_path / "m.gnomon").columns[0]
    assert rule == made.columns[0]
    seconds = (np.datetime64(day) - np.datetime64("1970-01-01")) / np.timedelta64(1, "s")
    assert rule.encode(np.array([new]))[0, 0] == pytest.approx((seconds - rule.start) / rule.unit)
    told = "'t' has 'unknown' in 1 row: no date, taken as missing; write " + (rule.writing or "2024-05-31")
    with pytest.warns(DataWarning, match=told):
        places = made.transform(pd.DataFrame({"t": ["unknown", new], "a": [0.5, 0.5]}))
    assert np.isfinite(places).all()
    np.testing.assert_allclose(places[1], made.transform(pd.DataFrame({"t": [new], "a": [0.5]}))[0], atol=1e-6)


def test_numbers_for_dates_are_refused_with_the_column():
    encoder = gn.TablePreprocessor().fit({"t": ["6/22/2021", "4/1/2022"], "a": [1.0, 2.0]})
    with pytest.raises(ValueError, match="column 't' must be of dates, as in fit"):
        encoder.transform({"t": [1.0, 2.0], "a": [1.0, 2.0]})
    rows = {"t": np.array([None, None]), "a": [1.0, 2.0]}
    assert np.isnan(encoder.transform(rows)[:, 0]).all()


class _Counted(str):
    """A name that counts how often it is compared with others."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __ne__(self, other):
        _Counted.compared += 1
        return str.__ne__(self, other)


def test_columns_are_compared_with_few_others():
    """A table of many columns takes time in proportion to them."""
    n = 400
    columns = raw_columns({f"c{j}": np.random.default_rng(j).integers(0, 9, 20) for j in range(n)})
    rules = find_rules({_Counted(name): raw for name, raw in columns.items()}, None, None, 30)
    assert [rule.features for rule in rules] == [(f"c{j}",) for j in range(n)]
    assert _Counted.compared < 10 * n


def test_whole_numbers_are_compared_until_one_goes_with_them():
    asked = []
    rng = np.random.default_rng(0)
    numbers = {f"c{j}": rng.permutation(100) * 3.0 for j in range(50)}
    numbers["c1"] = numbers["c0"] + 0.5

    def ranks(name):
        asked.append(name)
        return np.argsort(np.argsort(numbers[name]))

    assert naming_of("c0", numbers, [name for name in numbers if name != "c0"], ranks) == Naming()
    assert asked == ["c0", "c1"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            ("id", "customer_id", "zip_code", "Sample.ID", "row_index", "key", "customer_key", "serial no", "orderKey"),
            True,
        ),
        (("zip_median_income", "postcode_area_km", "patient_id_count", "price_index", "bmi_index", "key_rate"), False),
    ],
)
def test_amounts_of_what_has_an_identifier_are_none(names, expected):
    assert [named_as_id(name, different=True) for name in names] == [expected] * len(names)


def test_categories_are_looked_at_once_for_each_different_text_and_their_column_read_once(monkeypatch):
    looked, read = [], []
    monkeypatch.setattr("gnomon.data.written._is_sign", lambda text: looked.append(text) or _is_sign(text))
    monkeypatch.setattr("gnomon.data.columns.raw.read_frame", lambda X: read.append(1) or read_frame(X))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(["AA", "AB", "BB"], 500) for name in "abcd"})
    encoder = gn.TablePreprocessor().fit(frame)
    assert encoder.transform(frame).shape == (500, 12)
    assert len(looked) <= 4 * 3 * 4  # columns, texts, and how often a column is asked
    assert len(read) == 2  # to fit and to transform
