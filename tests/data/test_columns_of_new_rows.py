"""New rows have the columns that the rules were found of, and what is no table of columns is refused by name."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import gnomon as gn

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
        encoder.transform(X)


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
