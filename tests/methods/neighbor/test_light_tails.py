"""t-SNE beyond the Cauchy kernel: maps of light tails are finished and stay so."""

import pytest
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness

import gnomon as gn


@pytest.mark.parametrize("dof", [4.0, 5.0, 10.0, 50.0])
def test_more_iterations_do_not_undo_maps_of_light_tails(dof):
    X = load_digits().data[:300]
    short, long = (gn.TSNE(dof=dof, max_iter=n, random_state=0).fit(X).kl_divergence_ for n in (250, 600))
    assert long <= short * 1.001
    assert long < 1.0


def test_symmetric_sne_from_parts_is_as_good_as_by_its_name():
    X = load_digits().data[:300]
    parts = gn.NeighborEmbedding(affinity="gaussian", kernel="gaussian", loss="kl", n_neighbors=90, random_state=0).fit(
        X
    )
    named = gn.SymmetricSNE(random_state=0).fit(X)
    kept = [trustworthiness(X, one.embedding_, n_neighbors=10) for one in (parts, named)]
    assert kept[0] == pytest.approx(kept[1], abs=0.01)


@pytest.mark.parametrize("n", [12, 25, 40])
def test_few_points_do_not_fly_apart_under_the_gaussian_kernel(n):
    X = load_digits().data[:n]
    made = gn.SymmetricSNE(random_state=0).fit(X)
    assert made.solution_.loss[-1][1] < 0.6
    assert trustworthiness(X, made.embedding_, n_neighbors=n // 3) > 0.8
