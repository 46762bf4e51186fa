"""Every estimator keeps the promises that scikit-learn states for its own, with no exception."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from quick import ESTIMATORS, VARIANTS

# The checks fit with and without a seed of their own choice.
_CHECKED = [
    clone(one).set_params(**{"random_state": None} if "random_state" in one.get_params() else {})
    for one in (*ESTIMATORS.values(), *VARIANTS)
]


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
@parametrize_with_checks(_CHECKED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
