"""A claim is refuted only by a table of which it is false and whose map is the same."""

import numpy as np
import pytest

import gnomon as gn
from gnomon.linalg import procrustes
from gnomon.twins import Apart, Denser, Empty, Near, Nearer, Stretch, Wider
from gnomon.twins.claims import claim_of


def _table(seed=0, scale=12.0):
    rng = np.random.default_rng(seed)
    kind = np.repeat([0, 1, 2], 25)
    return scale * rng.normal(size=(3, 4))[kind] + np.array([1.0, 0.5, 2.0])[kind, None] * rng.normal(
        size=(75, 4)
    ), kind


_NAMES = np.array(["a", "b", "c"])


_TRUE_AND_FALSE = [
    *(Apart(a, b) for a, b in ((0, 1), (0, 2))),
    *(Empty(a, b) for a, b in ((0, 1), (0, 2))),
    *(Nearer(*abc) for abc in ((0, 1, 2), (0, 2, 1))),
    *(Denser(a, b) for a, b in ((0, 1), (1, 0))),
    *(Wider(a, b) for a, b in ((1, 2), (2, 1))),
    *(Near(0, y) for y in (3, 20, 40)),
]


@pytest.mark.parametrize("scale", [12.0, 1.0], ids=["far", "mixed"])
@pytest.mark.parametrize("claim", _TRUE_AND_FALSE, ids=repr)
def test_every_aimed_change_turns_the_claim_over_be_it_true_or_false(claim, scale):
    X, groups = _table(scale=scale)
    holds = claim.holds(X, groups)
    aimed = claim.counters(X, groups)
    assert aimed
    assert all(claim.holds(change.apply(X, groups), groups) != holds for change in aimed)
    for change in aimed:
        assert claim.holds(change.raised(0.0).apply(X, groups), groups) == holds


def test_both_truths_are_among_the_claims():
    for kind in (Apart, Empty, Nearer, Denser, Wider, Near):
        truths = {
            claim.holds(*_table(scale=scale))
            for claim in _TRUE_AND_FALSE
            if isinstance(claim, kind)
            for scale in (12.0, 1.0)
        }
        assert truths == {True, False}


def test_aimed_changes_are_hardly_larger_than_they_need_be():
    X, groups = _table()
    claim = Wider(2, 1)
    radius = {g: np.sqrt(np.square(X[groups == g] - X[groups == g].mean(axis=0)).sum(axis=1).mean()) for g in (1, 2)}
    amounts = sorted(change.amount for change in claim.counters(X, groups))
    assert np.allclose(amounts, [radius[1] / radius[2] / 1.1, 1.1 * radius[2] / radius[1]], rtol=0.01)


def test_a_gap_is_empty_until_a_row_lies_in_it():
    X = np.vstack([np.zeros((5, 2)), np.full((5, 2), [10.0, 0.0])])
    groups = np.repeat([0, 1], 5)
    assert Empty(0, 1).holds(X, groups)
    for place, empty in (([5.0, 0.0], False), ([3.5, 0.0], True), ([5.0, 9.0], True)):
        with_one = np.vstack([X, place])
        assert Empty(0, 1).holds(with_one, np.append(groups, -1)) == empty


def test_a_stretched_group_is_longer_along_one_line_alone():
    X, groups = _table()
    stretched = Stretch(3.0, 0, 1).apply(X, groups)
    way = X[groups == 1].mean(axis=0) - X[groups == 0].mean(axis=0)
    along = [(Z[groups == 0] - Z[groups == 0].mean(axis=0)) @ way for Z in (X, stretched)]
    assert np.allclose(along[1], 3.0 * along[0])
    across = np.linalg.svd(way[None])[2][1:].T
    assert np.allclose((stretched - X) @ across, 0.0)
    assert np.array_equal(stretched[groups != 0], X[groups != 0])


def test_a_claim_false_of_the_table_is_refuted_by_it_and_whether_the_map_shows_it_is_another_question():
    X, groups = _table()
    shown = gn.proves(gn.PCA(), X, ("nearer", "a", "b", "c"), labels=_NAMES[groups])
    turned = gn.proves(gn.PCA(), X, ("nearer", "a", "c", "b"), labels=_NAMES[groups])
    assert {shown.holds, turned.holds} == {True, False}
    for proof in (shown, turned):
        assert proof.refuted != proof.holds
        assert not proof.unreadable
        assert proof.tried
        assert ("which refutes it" in proof.summary()) == proof.refuted
    hidden = gn.proves(gn.TSNE(perplexity=8, random_state=0), X, ("wider", "b", "c"), labels=_NAMES[groups])
    assert not hidden.holds
    assert hidden.refuted
    assert hidden.unreadable
    assert Wider(1, 2).holds(hidden.twin.table, groups)


def test_that_none_was_found_is_told_beside_what_chance_does():
    X, groups = _table()
    proof = gn.proves(gn.PCA(), X, ("nearer", "a", "b", "c"), labels=_NAMES[groups], n_random=2)
    assert proof.same_seeds == 1.0  # the seed changes nothing
    assert proof.same_random == 0.0
    assert "0% of those of equally large changes" in proof.summary()
    none = gn.proves(gn.PCA(), X, ("nearer", "a", "b", "c"), labels=_NAMES[groups], n_random=0)
    assert np.isnan(none.same_random)
    assert none.n_fits == proof.n_fits - 2
    seeded = gn.proves(gn.TSNE(perplexity=8, random_state=0), X, ("apart", "a", "b"), labels=_NAMES[groups], budget=1)
    assert 0.0 <= seeded.same_seeds <= 1.0


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
    assert not proof.unreadable
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
