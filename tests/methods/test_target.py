"""No method is silent about a target y: a wrong one raises, one without use is named."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import gnomon
from gnomon.data.target import check_target
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
