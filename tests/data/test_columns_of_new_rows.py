"""New rows have the columns that the rules were found of, and what is no table of columns is refused by name."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import gnomon as gn
from gnomon.exceptions import DataWarning

X = np.random.default_rng(0).normal(size=(30, 4))
FRAME = pd.DataFrame(X, columns=[*"abcd"])


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, np.ndarray.tolist])
@pytest.mark.parametrize("n_columns", [3, 5])
def test_rows_without_names_have_as_many_columns_as_in_fit(form, n_columns):
    other = form(np.c_[np.arange(30.0), X][:, :n_columns])
    wanted = rf"X has {n_columns} features, but TablePreprocessor is expecting 4 features as input\. Pass the columns"
    for fitted in (X, pd.DataFrame(X)):
        with pytest.raises(ValueError, match=wanted):
            gn.TablePreprocessor().fit(fitted).transform(other)
        with pytest.raises(ValueError, match=wanted):
            gn.TablePreprocessor(drop=["0"]).fit(fitted).transform(other)
    with pytest.raises(ValueError, match=wanted):
        make_pipeline(gn.TablePreprocessor(), gn.PCA()).fit(X).transform(other)


def test_columns_without_names_are_the_same_in_an_array_and_a_frame():
    for fitted in (X, pd.DataFrame(X)):
        encoder = gn.TablePreprocessor(drop=["1"]).fit(fitted)
        for rows in (X, pd.DataFrame(X)):
            np.testing.assert_array_equal(encoder.transform(rows), X[:, [0, 2, 3]])


def test_columns_with_names_come_in_any_order_with_others_beside_them():
    encoder = gn.TablePreprocessor().fit(FRAME)
    np.testing.assert_array_equal(encoder.transform(FRAME.assign(e=1.0)[[*"edcba"]]), X)
    with pytest.raises(ValueError, match="column='a' must be one of those in the data"):
        encoder.transform(FRAME.rename(columns={"a": "f"}))
    numbered = pd.DataFrame(X)
    np.testing.assert_array_equal(gn.TablePreprocessor().fit(numbered).transform(numbered[[3, 1, 0, 2]]), X)


NO_NAMES = "X does not have valid feature names, but TablePreprocessor was fitted with feature names"
NAMES = "X has feature names, but TablePreprocessor was fitted without feature names"


@pytest.mark.parametrize(
    ("fitted", "rows", "said"),
    [
        (FRAME, X, NO_NAMES),
        (FRAME, X.tolist(), NO_NAMES),
        (FRAME, pd.DataFrame(X), NO_NAMES),
        (dict(FRAME.items()), X, NO_NAMES),
        (X, FRAME, NAMES),
        (pd.DataFrame(X), FRAME, NAMES),
        (X, FRAME[[*"dcba"]].set_axis([*"abcd"], axis=1), NAMES),
    ],
)
def test_where_one_side_has_no_names_columns_are_taken_by_place_with_the_warning_of_sklearn(fitted, rows, said):
    encoder = gn.TablePreprocessor(drop=["b"] if "not" in said else ["1"]).fit(fitted)
    with pytest.warns(DataWarning, match=f"^{said}. Columns are taken by their place") as told:
        made = encoder.transform(rows)
    assert len(told) == 1
    np.testing.assert_array_equal(made, np.asarray(rows)[:, [0, 2, 3]])
    short = np.asarray(rows)[:, :3] if said == NO_NAMES else FRAME[[*"abc"]]
    with pytest.raises(ValueError, match="X has 3 features, but TablePreprocessor is expecting 4"):
        encoder.transform(short)


def test_by_place_a_column_of_another_kind_is_refused_and_of_the_same_kind_taken():
    mixed = FRAME.assign(k=["u", "v", "w"] * 10)
    encoder = gn.TablePreprocessor().fit(mixed)
    with pytest.warns(DataWarning, match=NO_NAMES):
        np.testing.assert_array_equal(encoder.transform(mixed.to_numpy()), encoder.transform(mixed))
    with pytest.raises(ValueError, match=r"column 4 must be of categories such as 'u', 'v', as column 'k' in fit"):
        encoder.transform(np.c_[X, X[:, 0]])
    with pytest.raises(ValueError, match=r"column 0 must be of numbers, as column 'a' in fit \(found 'u', 'v', 'w'"):
        encoder.transform(mixed[[*"kabcd"]].to_numpy())


@pytest.mark.parametrize(
    ("table", "kind", "text"),
    [
        (scipy.sparse.csr_array(X), TypeError, "X must be a dense array .sparse data in csr format"),
        (scipy.sparse.dok_matrix(X), TypeError, "X must be a dense array .sparse data in dok format"),
        (X + 1j, ValueError, r"X must be an array of real numbers .Complex.*Pass X\.real and X\.imag"),
        (FRAME.assign(a=X[:, 0] + 1j), TypeError, "column 'a' of the argument must be .*it holds complex numbers"),
        (X[:0], ValueError, r"at least 1 rows .*shape=\(0, 4\)"),
        (FRAME[:0], ValueError, r"at least 1 rows .*shape=\(0, 4\)"),
        (X[:, :0], ValueError, r"at least 1 columns .*shape=\(30, 0\)"),
        (X[0], ValueError, r"X\.reshape\(-1, 1\)"),
        (X.reshape(30, 2, 2), ValueError, "Found array with dim 3"),
        (None, TypeError, "found NoneType"),
        ({"a": 1}, ValueError, r"column 'a' of shape \(\) must be one value for each row"),
        ({"a": [1.0, 2.0], "b": [1.0]}, ValueError, "b must be as long as a"),
    ],
)
def test_what_is_no_table_of_columns_is_refused(table, kind, text):
    with pytest.raises(kind, match=f"^TablePreprocessor: .*{text}"):
        gn.TablePreprocessor().fit(table)


def test_masked_numbers_are_missing():
    masked = np.ma.masked_greater(X, 1.0)
    made = gn.TablePreprocessor().fit_transform(masked)
    np.testing.assert_array_equal(made, masked.filled(np.nan))


def test_before_fit_there_is_nothing_to_transform_by():
    for call in (lambda: gn.TablePreprocessor().transform(X), lambda: gn.TablePreprocessor().get_feature_names_out()):
        with pytest.raises(NotFittedError):
            call()


def only_warnings(call, *arguments):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = call(*arguments)
    return made, [str(one.message) for one in told]


FITS = [lambda table: gn.map(table, "pca"), gn.PCA().fit, lambda table: gn.map(table, "pca").filling()]


@pytest.mark.parametrize("fit", FITS)
def test_names_that_what_was_fitted_does_not_know_are_told_at_every_call(fit):
    fitted = fit(X)
    told = f"X has feature names, but {type(fitted).__name__} was fitted without feature names. "
    for rows in (FRAME, FRAME[[*"dcba"]], FRAME, dict(FRAME.items())):
        if isinstance(rows, pd.DataFrame) or isinstance(fitted, gn.Map):
            places, said = only_warnings(fitted.transform, rows)
            assert said == [f"{told}Columns are taken by their place."]
            np.testing.assert_array_equal(places, fitted.transform(np.column_stack([*map(rows.get, rows)])))
    for rows in (X, pd.DataFrame(X), FRAME.set_axis(["feature 0", "feature 1", "feature 2", "feature 3"], axis=1)):
        assert only_warnings(fitted.transform, rows)[1] == []
    with pytest.raises(ValueError, match="X has 3 features"):
        fitted.transform(FRAME[[*"abc"]])
    named = fit(FRAME)
    assert only_warnings(named.transform, FRAME)[1] == only_warnings(named.transform, X)[1] == []


def test_names_by_default_are_found_in_any_order():
    m = gn.map(X, "pca")
    frame = pd.DataFrame(X, columns=m.feature_names)
    places, said = only_warnings(m.transform, frame[m.feature_names[::-1]])
    np.testing.assert_array_equal(places, m.transform(X))
    assert said == []


@pytest.mark.parametrize("other", [{"x": "u"}, {"a": "u"}, {"a": pd.Timestamp("2024-01-01"), "x": "u"}])
def test_a_column_that_lacks_is_named_before_columns_of_other_kinds(other):
    rows = FRAME.drop(columns="b").assign(**other)
    unseen = "Feature names unseen at fit time:\n- x\n" if "x" in other else ""
    told = f"during fit.\n{unseen}Feature names seen at fit time, yet now missing:\n- b\nAdd"
    m, pca = gn.map(FRAME, "pca"), gn.PCA().fit(FRAME)
    for fitted, given in ((m, rows), (pca, rows), (m, dict(rows.items()))):
        with pytest.raises(ValueError, match=told):
            fitted.transform(given)
    with pytest.raises(TypeError, match="'a': "):
        gn.PCA().fit(FRAME).transform(FRAME.assign(a="u"))


RECORDS = [
    {"vip": i % 3 == 0, "n": i * i % 11, "kind": "abc"[i % 3], "x": None if i % 7 == 0 else 1.5 * i} for i in range(40)
]


def test_records_are_read_as_the_frame_that_they_make():
    frame = pd.DataFrame(RECORDS)
    fields = np.rec.fromarrays(
        [frame[name].to_numpy(str if name == "kind" else None) for name in frame], names=[*frame]
    )
    wanted = gn.TablePreprocessor().fit(frame)
    for form in (RECORDS, tuple(RECORDS), np.asarray(fields)):
        encoder = gn.TablePreprocessor().fit(form)
        assert [*encoder.get_feature_names_out()] == [*wanted.get_feature_names_out()]
        np.testing.assert_array_equal(encoder.transform(form), wanted.transform(frame))
        np.testing.assert_array_equal(wanted.transform(form[3:5]), wanted.transform(frame)[3:5])
    assert set(only_warnings(gn.map, RECORDS, "pca")[0].feature_names) == {*wanted.get_feature_names_out()}
    lacking = [{name: value for name, value in record.items() if value is not None} for record in RECORDS]
    np.testing.assert_array_equal(wanted.transform(lacking), wanted.transform(frame))
    with pytest.raises(TypeError, match="a list of mappings alone, or of rows alone"):
        gn.TablePreprocessor().fit([*RECORDS, [1, 2, 3, 4]])


def test_columns_of_one_name_are_told_where_they_are_learned(tmp_path):
    frame = FRAME.set_axis([*"abab"], axis=1)
    frame.to_csv(tmp_path / "t.csv", index=False)
    told = (
        "2 columns are called 'a', 1 more name comes again: they are told apart by their order, as 'a' and 'a .2.', in"
    )
    for learn in (gn.TablePreprocessor().fit, lambda table: gn.map(table, "pca")):
        with pytest.warns(DataWarning, match=told):
            learn(frame)
        assert only_warnings(learn, FRAME)[1] == []
        assert only_warnings(learn, pd.DataFrame(X))[1] == []
    with pytest.warns(DataWarning, match=rf"t\.csv': {told}"):
        assert gn.data.read_table(tmp_path / "t.csv").feature_names == ["a", "b", "a (2)", "b (2)"]


def test_one_record_and_no_row_are_refused_in_words():
    records = [{"a": i**0.5, "b": -float(i * i % 7)} for i in range(40)]
    encoder = gn.TablePreprocessor().fit(records)
    np.testing.assert_array_equal(encoder.transform([records[4]]), [[2.0, -2.0]])
    one = (
        r"column 'a' of shape \(\) must be one value for each row \(it is 2.0\). Pass a record as a list of one, \[X\]"
    )
    for call in (encoder.transform, gn.TablePreprocessor().fit):
        with pytest.raises(ValueError, match=one):
            call(records[4])
        with pytest.raises(
            ValueError, match=r"X must be two-dimensional \(it is empty, .* Pass a table of one row or more"
        ):
            call([])
