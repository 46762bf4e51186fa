"""Every estimator keeps the promises that scikit-learn states for its own; each exception has its reason."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import gnomon
from gnomon.methods.base import WeighsRows
from quick import ESTIMATORS, VARIANTS

# The checks fit with and without a seed of their own choice.
_CHECKED = [
    clone(one).set_params(**{"random_state": None} if "random_state" in one.get_params() else {})
    for one in (*ESTIMATORS.values(), *VARIANTS)
]


_EQUIVALENCE = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
_OF_WEIGHTS = (
    *_EQUIVALENCE,
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
)


def _expected_to_fail(estimator):
    """Return the checks that an estimator need not pass, with the reason."""
    if isinstance(estimator, (gnomon.DensMAP, gnomon.FeatMAP)) or getattr(estimator, "variant", "") == "ordinal":
        return dict.fromkeys(_OF_WEIGHTS, "a term that counts rows alike refuses weights, as test_sample_weight tests")
    if not isinstance(estimator, WeighsRows):
        return {}
    if isinstance(estimator, (gnomon.PCA, gnomon.ClassicalMDS, gnomon.LaplacianEigenmaps, gnomon.NeighborEmbedding)):
        return {}
    reason = (
        "the check shuffles the rows, and a descent from there ends elsewhere; test_sample_weight keeps their order"
    )
    return dict.fromkeys(_EQUIVALENCE, reason)


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
@parametrize_with_checks(_CHECKED)
def test_scikit_learn_checks(estimator, check):
    if check.func.__name__ in _expected_to_fail(estimator):
        with pytest.raises((AssertionError, ValueError)):  # a mark of pytest would print each of these at length
            check(estimator)
    else:
        check(estimator)
