"""An affinity matrix of all rows of a table in which some are equal: what equal rows have is added up."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon import NeighborEmbedding
from gnomon.affinities import Affinities
from gnomon.kernels import Cauchy
from gnomon.objectives import CrossEntropy, KLDivergence

pytestmark = pytest.mark.filterwarnings("ignore:.*equal rows share one position")
_DISTINCT = np.random.default_rng(0).normal(size=(30, 3))


def similarities(X):
    A = np.exp(-np.square(X[:, None] - X[None]).sum(-1))
    np.fill_diagonal(A, 0.0)
    return A


def fit(X, A, **parts):
    parts = {"optimizer_params": {"max_iter": 20}, **parts}
    return NeighborEmbedding(affinity=A, n_neighbors=5, random_state=0, n_jobs=1, **parts).fit(X)


@pytest.mark.parametrize("loss", ["kl", "cross_entropy", "linear_attraction", "info_nce"])
def test_a_table_with_every_row_twice_has_the_map_of_the_table(loss):
    once = fit(_DISTINCT, similarities(_DISTINCT), loss=loss)
    X = np.repeat(_DISTINCT, 2, axis=0)
    twice = fit(X, np.kron(similarities(_DISTINCT), np.ones((2, 2))), loss=loss)
    np.testing.assert_array_equal(twice.embedding_, np.repeat(once.embedding_, 2, axis=0))
    assert twice.affinities_.masses is None


@pytest.fixture(scope="module")
def uneven():
    """Rows in a random order, some of them two and three times, with affinities that differ among equal rows."""
    rng = np.random.default_rng(1)
    X = _DISTINCT[rng.permutation(np.repeat(np.arange(30), [3] * 5 + [2] * 5 + [1] * 20))]
    A = similarities(X) * (noise := rng.uniform(0.5, 1.5, (45, 45))) * noise.T
    return X, A


def _of_pairs_apart(X, A, Y, loss):
    """The loss of all rows, pairs of equal ones left out, but for what does not depend on the map."""
    apart = np.square(X[:, None] - X[None]).sum(-1) > 0.0
    k = 1.0 / (1.0 + np.square(Y[:, None] - Y[None]).sum(-1))
    A = np.where(apart, A, 0.0)
    if loss == "kl":
        return float(np.sum(A * -np.log(k)) / A.sum() + np.log(np.sum(k[apart])))
    repulsion = 5.0 * A.sum(1)[:, None] / (2.0 * len(X))
    return float(np.sum(A * -np.log(k)) + np.sum((repulsion * -np.log1p(-np.where(apart, k, 0.0)))[apart]))


@pytest.mark.parametrize("form", ["dense", "sparse", "total"])
@pytest.mark.parametrize("loss", ["kl", "cross_entropy"])
def test_the_loss_is_that_of_all_pairs_of_rows_that_differ(loss, form, uneven):
    X, A = uneven
    given = {"dense": A, "sparse": sp.csr_array(A)}.get(form)
    if given is None:
        given = Affinities(sp.csr_array((A / A.sum()).astype(np.float32)), "total")
    found = fit(X, given, loss=loss).affinities_
    assert found.n_samples == 30
    _, first, copies = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))[copies.ravel()]  # distinct rows in the order in which they come
    make = KLDivergence if loss == "kl" else lambda a, k: CrossEntropy(a, k, evaluation="exact")
    objective, maps = make(found, Cauchy()), [np.random.default_rng(s).normal(size=(30, 2)) for s in range(2)]
    unit = 1.0 if loss == "kl" else A.sum() if form == "total" else (45 / 30) ** 2
    changes = objective.loss(maps[0]) - objective.loss(maps[1])
    expected = [_of_pairs_apart(X, A, Y.astype(np.float32).astype(float)[order], loss) / unit for Y in maps]
    assert changes == pytest.approx(expected[0] - expected[1], rel=1e-4)


def test_a_loss_of_ones_own_takes_the_sums_and_others_are_refused_with_what_to_fit(uneven):
    X, A = uneven
    seen = []

    def own(affinities, kernel):
        seen.append(affinities)
        return KLDivergence(affinities, kernel)

    positions = fit(X, sp.csr_array(A), loss=own).embedding_
    assert seen[0].n_samples == 30
    assert np.unique(positions, axis=0).shape == (30, 2)
    np.testing.assert_allclose(seen[0].masses.mean(), 1.0)
    for loss in ("stated_cross_entropy", "frobenius", "reconstruction", "conditional_kl"):
        with pytest.raises(
            ValueError, match=r"affinity of 45 rows must be one of the distinct rows .*Fit the distinct"
        ):
            fit(X, A, loss=loss)
    with pytest.raises(ValueError, match=r"affinity of 9 rows must be one row each \(there are 45 rows, 30 distinct\)"):
        fit(X, A[:9, :9])
    with pytest.raises(ValueError, match=r"affinity of 9 rows must be one row each \(there are 30 rows\)"):
        fit(_DISTINCT, similarities(_DISTINCT)[:9, :9])
