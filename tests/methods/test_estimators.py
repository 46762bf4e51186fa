"""Every estimator keeps the promises that scikit-learn states for its own, with the parameters as they come."""

import importlib.util
import os
import subprocess
import sys

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import gnomon
from gnomon.methods import METHODS
from gnomon.methods.base import WeighsRows
from quick import VARIANTS

_NAMES = [*(card.estimator for card in METHODS), "NeighborEmbedding"]
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
    """Return the checks that an estimator need not pass, with the reason; none is of its defaults."""
    if isinstance(estimator, (gnomon.DensMAP, gnomon.FeatMAP)) or getattr(estimator, "variant", "") == "ordinal":
        return dict.fromkeys(_OF_WEIGHTS, "a term that counts rows alike refuses weights, as test_sample_weight tests")
    if not isinstance(estimator, WeighsRows):
        return {}
    if isinstance(estimator, (gnomon.PCA, gnomon.KernelPCA, gnomon.ClassicalMDS, gnomon.LaplacianEigenmaps)):
        return {}
    if getattr(estimator, "optimizer_params", None):
        return {}  # a few steps of sums over all pairs, from the components of PCA
    reason = (
        "the check shuffles the rows, and a descent from there ends elsewhere; test_sample_weight keeps their order"
    )
    return dict.fromkeys(_EQUIVALENCE, reason)


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
def test_scikit_learn_checks_pass_of_columns_as_they_come():
    _check(gnomon.TablePreprocessor())


def _check(estimator):
    """Make all checks, those of array namespaces apart; what is expected to fail has to."""
    reasons = _expected_to_fail(estimator)
    found = check_estimator(estimator, expected_failed_checks=reasons, on_skip=None, on_fail=None)
    assert len(found) > 30
    failed = {one["check_name"]: one["exception"] for one in found if one["status"] == "failed"}
    assert not failed
    assert {one["check_name"] for one in found if one["status"] == "skipped"} <= {"check_array_api_input"}
    assert {one["check_name"] for one in found if one["status"] == "xfail"} == {*reasons}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
@pytest.mark.parametrize("name", _NAMES)
def test_f101_scikit_learn_checks_pass_with_the_defaults(name):
    _check(getattr(gnomon, name)())


def _few_iterations(estimator):
    """Limit every descent; a map has met all of its code long before it is done."""
    few = {"max_iter": 9, "early_exaggeration_iter": 3}
    few |= {"optimizer_params": dict(few), "annealing_iter": 2}
    if isinstance(estimator, gnomon.SketchMap):
        few["annealing"] = estimator.annealing[:1]
    if isinstance(estimator, gnomon.RobustPCA):
        few["max_iter"] = 25  # places of fitted rows are those of the fit once it has nearly converged
    return estimator.set_params(**{key: value for key, value in few.items() if key in estimator.get_params()})


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
@pytest.mark.parametrize("name", _NAMES)
def test_f101_scikit_learn_checks_pass_with_the_defaults_and_few_iterations(name):
    """As scikit-learn checks its own."""
    _check(_few_iterations(getattr(gnomon, name)()))


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
@pytest.mark.parametrize("variant", VARIANTS, ids=repr)
def test_scikit_learn_checks_pass_by_other_ways_of_fitting(variant):
    _check(
        _few_iterations(
            clone(variant).set_params(**{"random_state": None} if "random_state" in variant.get_params() else {})
        )
    )


_OF_ARRAYS = """
import sys
import warnings
from importlib import import_module
from inspect import signature

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_array_api_input

from quick import ESTIMATORS

warnings.simplefilter("ignore")
namespaces = [import_module(name) for name in sys.argv[1:]]
looser = {name: False for name in signature(check_array_api_input).parameters if name == "expect_only_array_outputs"}
X = np.random.default_rng(0).normal(size=(30, 4))
for name, estimator in ESTIMATORS.items():
    check_array_api_input(name, estimator, array_namespace="numpy", **looser)
    with config_context(array_api_dispatch=True):
        plain = clone(estimator).fit(X)
        places = plain.transform(X)
        for one in namespaces:
            other = clone(estimator).fit(one.asarray(X))
            np.testing.assert_array_equal(other.embedding_, plain.embedding_)
            np.testing.assert_array_equal(other.transform(one.asarray(X)), places)
    print(name)
"""


def test_dispatch_to_array_namespaces_changes_no_bit():
    """In a process of its own, since SciPy reads its switch once; maps are NumPy's whatever the table is."""
    namespaces = [name for name in ("numpy", "array_api_strict") if importlib.util.find_spec(name)]
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", _OF_ARRAYS, *namespaces],
        env={**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == len(_NAMES)
