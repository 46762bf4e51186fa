"""The catalogue of faults met by `transform`: each case is named after its number there."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.faults.test_fits import ESTIMATORS, NOISE

from gnomon.exceptions import GnomonWarning

PLACING = list(ESTIMATORS)
NEW = np.random.default_rng(1).normal(size=(150, 5))


@pytest.fixture(scope="module")
def fitted():
    """Return a function: name -> estimator fitted to the noise, once."""
    found = {}

    def get(name):
        if name not in found:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GnomonWarning)
                found[name] = clone(ESTIMATORS[name]).fit(NOISE)
        return found[name]

    return get


def test_the_methods_without_a_way_of_their_own_to_place_rows_are_those_documented():
    assert {name for name, estimator in ESTIMATORS.items() if not hasattr(estimator, "place")} == {
        "gradient_pca",
        "graph_robust_pca",
        "pca",
    }


@pytest.mark.parametrize("name", PLACING)
def test_f32_f33_rows_are_placed_each_by_itself_however_many(name, fitted):
    estimator = fitted(name)
    together = estimator.transform(NEW)  # more rows than were fitted
    assert together.shape == (150, estimator.n_components)
    assert np.isfinite(together).all()
    assert estimator.transform(NEW[:0]).shape == (0, estimator.n_components)
    scale = np.abs(together).max()
    np.testing.assert_allclose(estimator.transform(NEW[[7]]), together[[7]], atol=1e-9 * scale)
    np.testing.assert_allclose(estimator.transform(NEW[40:10:-3]), together[40:10:-3], atol=1e-9 * scale)


@pytest.mark.parametrize("name", [name for name in PLACING if hasattr(ESTIMATORS[name], "place")])
def test_a_methods_own_places_are_of_each_row_by_itself_and_those_of_fitted_rows_are_kept(name, fitted):
    estimator = fitted(name)
    together = estimator.place(NEW)
    assert np.isfinite(together).all()
    assert estimator.place(NEW[:0]).shape == (0, estimator.n_components)
    np.testing.assert_allclose(estimator.place(NEW[[7]]), together[[7]], atol=1e-9 * np.abs(together).max())
    tolerance = 1e-2 if name == "robust_pca" else 1e-5
    before = estimator.embedding_.copy()
    np.testing.assert_allclose(estimator.place(NOISE), before, atol=tolerance * np.abs(before).max())
    np.testing.assert_array_equal(estimator.embedding_, before)
    with pytest.raises(ValueError, match=r"X has 4 features, but \w+ is expecting 5 features"):
        estimator.place(NEW[:, :4])


@pytest.mark.parametrize("name", PLACING)
def test_rows_that_were_fitted_get_their_places_and_nothing_is_changed(name, fitted):
    estimator = fitted(name)
    before = estimator.embedding_.copy()
    # the sparse part of robust PCA is found up to its tolerance
    tolerance = 1e-2 if name == "robust_pca" else 1e-5
    placed = estimator.transform(NOISE)
    np.testing.assert_allclose(placed, before, atol=tolerance * np.abs(before).max())
    np.testing.assert_array_equal(estimator.embedding_, before)


@pytest.mark.parametrize("name", PLACING)
def test_f31_another_number_of_features_is_refused(name, fitted):
    with pytest.raises(ValueError, match=r"X has 4 features, but \w+ is expecting 5 features"):
        fitted(name).transform(NEW[:, :4])


@pytest.mark.parametrize("name", PLACING)
def test_f03_nan_and_infinity_are_refused_as_at_fit(name, fitted):
    spoiled = NEW[:5].copy()
    spoiled[2, 3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        fitted(name).transform(spoiled)
    if name == "robust_pca":  # where nothing is known the fit goes by the rest
        return
    spoiled[2, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fitted(name).transform(spoiled)


@pytest.mark.parametrize("name", PLACING)
def test_f34_columns_in_another_order_or_of_other_names_are_refused(name):
    table = pd.DataFrame(NOISE, columns=list("abcde"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        estimator = clone(ESTIMATORS[name]).fit(table)
    with pytest.raises(ValueError, match="feature names"):
        estimator.transform(table[list("bacde")])
    with pytest.raises(ValueError, match="feature names"):
        estimator.transform(table.rename(columns={"a": "z"}))


@pytest.mark.parametrize("name", [name for name in PLACING if getattr(ESTIMATORS[name], "_merges_equal_rows", False)])
def test_f07_fitted_again_to_equal_rows_an_estimator_forgets_its_earlier_map(name):
    estimator = clone(ESTIMATORS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        estimator.fit(NOISE)
        estimator.fit(np.full((20, 5), 2.5))
    np.testing.assert_array_equal(estimator.transform(NEW), np.zeros((150, estimator.n_components)))
