"""A claim is refuted only by a table of which it is false and whose map is the same."""

import numpy as np
import pytest

import gnomon as gn
from gnomon.linalg import procrustes
from gnomon.twins import Apart, Denser, Near, Nearer, Wider
from gnomon.twins.claims import claim_of


def _table(seed=0):
    rng = np.random.default_rng(seed)
    kind = np.repeat([0, 1, 2], 25)
    return 12.0 * rng.normal(size=(3, 4))[kind] + np.array([1.0, 0.5, 2.0])[kind, None] * rng.normal(size=(75, 4)), kind


_NAMES = np.array(["a", "b", "c"])


@pytest.mark.parametrize("claim", [Apart(0, 1), Nearer(0, 1, 2), Denser(1, 0), Wider(2, 1), Near(0, 3)], ids=repr)
def test_every_aimed_change_turns_the_claim_over(claim):
    X, groups = _table()
    holds = claim.holds(X, groups)
    aimed = claim.counters(X, groups)
    assert aimed
    turned = [claim.holds(change.apply(X, groups), groups) != holds for change in aimed]
    assert any(turned)
    for change in aimed:
        assert claim.holds(change.raised(0.0).apply(X, groups), groups) == holds


def test_tsne_cannot_show_which_cluster_is_wider_and_the_table_that_says_so_is_given():
    X, groups = _table()
    method = gn.TSNE(perplexity=8, random_state=0)
    proof = gn.proves(method, X, ("wider", "c", "b"), labels=_NAMES[groups])
    assert proof.holds
    assert proof.refuted
    assert not Wider(2, 1).holds(proof.twin.table, groups)
    again = procrustes(method.fit_transform(proof.twin.table), method.fit_transform(X))
    assert again.disparity <= proof.threshold
    assert "cannot be read from the map" in proof.summary()


def test_principal_components_show_what_is_near():
    X, groups = _table()
    proof = gn.proves(gn.PCA(), X, ("nearer", "a", "b", "c"), labels=_NAMES[groups])
    assert not proof.refuted
    assert proof.twin is None
    assert all(not twin.same for twin in proof.tried)
    assert "is no proof" in repr(proof)
    with pytest.raises(TypeError, match="no plain yes"):
        bool(proof)


def test_a_row_that_moves_is_seen_however_many_stay():
    X, groups = _table()
    near = int(np.argsort(np.linalg.norm(X - X[0], axis=1))[3])
    proof = gn.proves(gn.PCA(), X, ("near", 0, near), labels=_NAMES[groups], budget=2)
    for twin in proof.tried:
        moved = np.square(twin.embedding - gn.PCA().fit_transform(X)).sum(axis=1)
        assert moved.max() > 0.0
        assert (
            twin.disparity
            >= moved[(twin.table != X).any(axis=1)].mean() / np.square(X - X.mean(axis=0)).sum(axis=1).mean()
        )


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (("larger", "a", "b"), "kinds are"),
        (("apart", "a"), "about 2 different"),
        (("apart", "a", "a"), "about 2 different"),
        (("apart", "a", "z"), "'z' is none"),
        (("near", 0, 75), "rows from 0 to 74"),
        ("apart", "kinds are"),
    ],
)
def test_a_claim_about_nothing_is_refused(claim, said):
    with pytest.raises(ValueError, match=said):
        claim_of(claim, ["a", "b", "c"], 75)


def test_a_map_is_asked_by_itself():
    X, groups = _table()
    m = gn.map(X, method=gn.TSNE(perplexity=8, random_state=0), labels=_NAMES[groups], scale=None)
    proof = m.proves(("denser", "b", "a"), budget=4)
    assert proof.refuted
    assert m.blind_spots(n_shifts=0, n_seeds=1).found
