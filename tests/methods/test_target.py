"""No method is silent about a target y: a wrong one raises, one without use is named."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import gnomon
from gnomon.data.target import check_target, check_target_length
from gnomon.exceptions import GnomonWarning, SupervisionWarning
from quick import ESTIMATORS

X = np.random.default_rng(0).normal(size=(40, 4))
y = np.repeat([0, 1], 20)


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
@pytest.mark.parametrize("estimator", [*ESTIMATORS.values(), gnomon.TablePreprocessor()], ids=str)
def test_a_target_of_the_wrong_length_or_kind_is_refused(estimator):
    name = type(estimator).__name__
    with pytest.raises(ValueError, match=rf"^{name}\S*: y must be as long as X \(X has 40 rows, y has 39\)"):
        clone(estimator).fit(X, y[:-1])
    with pytest.raises(TypeError, match=rf"^{name}\S*: y=3 must be a sequence"):
        clone(estimator).fit_transform(X, 3)


@pytest.mark.parametrize("estimator", [gnomon.PCA(), gnomon.ClassicalMDS(), gnomon.TablePreprocessor()])
def test_a_method_that_cannot_use_a_target_says_so_and_makes_the_same_map(estimator):
    with pytest.warns(SupervisionWarning, match="y is not used") as said:
        found = clone(estimator).fit_transform(X, y)
    assert len(said) == 1
    assert said[0].filename == __file__
    np.testing.assert_array_equal(found, clone(estimator).fit_transform(X))


def test_rows_that_come_in_parts_are_checked_too():
    with pytest.raises(ValueError, match="PCA: y must be as long as X"):
        gnomon.PCA().partial_fit(X, y[:-1])
    with pytest.warns(SupervisionWarning, match="y is not used"):
        fitted = gnomon.PCA().partial_fit(X, y)
    with pytest.raises(ValueError, match="PCA: y must be as long as X"):
        fitted.score(X, y[:-1])
    assert fitted.score(X, y) == fitted.score(X)


def test_a_pipeline_hands_on_any_target_of_its_last_step_without_a_warning():
    several = np.column_stack([X[:, 0], X[:, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("error", GnomonWarning)
        pipeline = make_pipeline(gnomon.PCA(2), LinearRegression()).fit(X, several)
        GridSearchCV(pipeline, {"pca__n_components": [1, 2]}, cv=2).fit(X, several)
    with pytest.raises(ValueError, match="PCA: y must be as long as X"):
        pipeline.fit(X, several[:-1])


def test_equal_rows_have_the_mean_of_their_numbers_and_none_where_none_is_known():
    numbers = check_target(np.array([1.0, 3.0, np.nan, 7.0, np.nan]), 5, kind="numbers")
    found = numbers.of_distinct_rows(np.array([0, 0, 1, 2, 2]))
    np.testing.assert_array_equal(found.values, [2.0, np.nan, 7.0])
    assert found.known.tolist() == [True, False, True]


def test_text_is_classes_unless_numbers_are_asked_for():
    words = np.array(["a", "b", "a"])
    assert check_target(words, 3).values.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="y must be of numbers or dates"):
        check_target(words, 3, kind="numbers")
    assert check_target(np.array([1, 2, 4]), 3, kind="numbers").values.tolist() == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("given", "kind", "codes"),
    [
        ([5, -1, 7, 5], "auto", [0, -1, 1, 0]),
        ([5.0, -1.0, 7.0, np.nan], "auto", [0, -1, 1, -1]),
        ([-3, -1, 7, -3], "auto", [0, -1, 1, 0]),
        ([-1, 1, 1, -1], "auto", [0, 1, 1, 0]),  # of two classes one is called -1
        (["b", "-1", "a", "b"], "auto", [2, 0, 1, 2]),
        ([1, 2, 3, 1], "classes", [0, 1, 2, 0]),
        (["b", None, "a", ""], "auto", [1, -1, 0, -1]),
        ([True, False, True, True], "auto", [1, 0, 1, 1]),
    ],
)
def test_classes_are_numbered_and_a_row_of_none_has_minus_one(given, kind, codes):
    found = check_target(given, 4, kind)
    assert (found.kind, found.values.tolist()) == ("classes", codes)
    assert found.known.tolist() == [code >= 0 for code in codes]


def test_numbers_that_are_not_finite_are_not_known():
    values = np.arange(15.0) + 0.5
    values[:2] = np.inf, np.nan
    found = check_target(values, 15)
    assert found.kind == "numbers"
    assert found.known.tolist() == [False] * 2 + [True] * 13
    np.testing.assert_array_equal(found.of_rows(np.array([1, 5])).values, [np.nan, 5.5])
    assert check_target(values, 15, "classes").kind == "classes"
    for kind in ("auto", "numbers"):
        dates = check_target(np.array(["2020-01-01", "NaT"], dtype="M8[D]"), 2, kind)
        assert (dates.kind, dates.values[0]) == ("numbers", 1577836800.0)


def test_a_target_varies_if_two_of_the_rows_that_have_one_differ():
    for given, varies in (([1, 1, 1], False), ([1, 2, 1], True), (["a", None, "a"], False), ([None] * 3, False)):
        assert check_target(given, 3).varies is varies
    assert not check_target(np.array([2.0, np.nan, 2.0]), 3, "numbers").varies


def test_equal_rows_have_their_most_frequent_class_the_first_of_equals():
    classes = check_target(["b", "a", "b", "c", "a", None, "c", None, "d"], 9)
    found = classes.of_distinct_rows(np.array([0, 0, 0, 1, 1, 1, 2, 3, 4]))
    assert found.values.tolist() == [1, 0, 2, -1, 3]


@pytest.mark.parametrize("given", [3, "ab", b"ab", np.float64(2.0), np.array(3)])
def test_one_value_is_no_target(given):
    with pytest.raises(TypeError, match=r"^gnomon: y=.* must be a sequence of one entry for each row, or None \(found"):
        check_target_length(X, given)


def test_whatever_has_a_length_is_a_target():
    class Column:
        def __array__(self, dtype=None, copy=None):
            return y

    check_target_length(X, None)
    for given in (y.tolist(), tuple(y), Column(), np.zeros((40, 3)), [[1], [1, 2]] * 20, sp.csr_array((40, 3))):
        check_target_length(X, given)
    with pytest.raises(
        ValueError, match=r"y must be as long as X \(X has 40 rows, y has 3\)\. Pass one entry for each"
    ):
        check_target_length(X, [1, 2, 3])
    assert check_target(Column(), 40).values.tolist() == y.tolist()
