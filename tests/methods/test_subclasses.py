"""A class that inherits from a method and takes fewer parameters, or others, works as with scikit-learn's own."""

import pickle
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

import gnomon
from quick import ESTIMATORS

X = np.random.default_rng(0).normal(size=(40, 5))


@cache
def _narrow(name):
    """Return a class that takes one parameter of its own and gives the others of a method itself."""
    given = ESTIMATORS[name]
    base, fixed = type(given), given.get_params(deep=False)

    class Narrow(base):
        def __init__(self, extra=1.0):
            super().__init__(**fixed)
            self.extra = extra

    return Narrow


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_subclass_with_fewer_parameters_makes_the_map_of_its_method(name):
    plain, own = clone(ESTIMATORS[name]).fit(X), clone(_narrow(name)(extra=2.0)).fit(X)
    assert own.get_params() == {"extra": 2.0}
    np.testing.assert_array_equal(own.embedding_, plain.embedding_)
    np.testing.assert_array_equal(own.transform(X[:3] + 0.01), plain.transform(X[:3] + 0.01))
    assert own.foresee(300, 5) == plain.foresee(300, 5)


class Named(gnomon.UMAP):
    """Few neighbours, at the top of a module, so that it can be pickled."""

    def __init__(self, extra=1.0, *, random_state=None, **others):
        super().__init__(n_neighbors=5, max_iter=15, random_state=random_state, **others)
        self.extra = extra


def test_a_subclass_is_pickled_and_takes_part_in_a_map():
    plain = gnomon.UMAP(n_neighbors=5, max_iter=15, random_state=0).fit(X)
    kept = pickle.loads(pickle.dumps(Named(2.0, random_state=0).fit(X)))
    assert (kept.extra, kept.random_state) == (2.0, 0)
    np.testing.assert_array_equal(kept.transform(X), plain.transform(X))
    made = gnomon.map(X, method=Named(2.0, random_state=0), scale=None)
    np.testing.assert_array_equal(made.embedding, plain.embedding_)
    assert (made.method, made.parameters["extra"]) == ("Named", 2.0)
    found = gnomon.evaluation.stability_of_maps(Named(2.0, random_state=0), X, n_runs=2)
    np.testing.assert_array_equal(found.reference, plain.embedding_)
    target = (X[:, 0] > 0) * 1
    steered = gnomon.map(X, method=Named(2.0, random_state=0), scale=None, target=target)
    np.testing.assert_array_equal(steered.embedding, clone(plain).fit(X, target).embedding_)


def test_parameters_of_a_subclass_are_checked():
    with pytest.raises(ValueError, match=r"Named: min_dist=-1\.0 must be a number >= 0"):
        Named(min_dist=-1.0).fit(X)
