"""Unusual new rows that lie together are told as perhaps a group that the map has not seen; scattered ones are not."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import cdist
from scipy.stats import binom

import gnomon as gn
from gnomon.extension import measure_drift
from gnomon.extension.drift import unseen
from gnomon.extension.drift.chance import chance_of_shift
from gnomon.extension.drift.columns import largest_difference
from gnomon.extension.drift.shares import differs_by_shares
from gnomon.extension.drift.together import BothTables
from gnomon.extension.drift.unseen import _pieces, rows_of_new_kind, rows_together

OLD = np.random.default_rng(0).normal(size=(300, 4))


def drift_of(X_new, X=OLD):
    return measure_drift(X, X[:, :2], X_new, X_new[:, :2])


def with_group(n_group, seed=1, n_like=150):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n_like, 4)), 0.3 * rng.normal(size=(n_group, 4)) + 3.0])


def test_a_few_rows_of_a_new_kind_are_told_and_numbered():
    drift = drift_of(with_group(12))
    assert not drift.refit
    assert drift.group.tolist() == list(range(150, 162))
    line = drift.summary().splitlines()[-1]
    assert "12 of the new rows are unlike the old and lie together (rows 150, 151, 152, 153, 154 and 7 more)" in line
    assert "perhaps a group that the map has not seen" in line
    assert "No need to fit again" not in line


def test_the_group_is_not_one_of_other_shares_of_the_labels():
    X, X_new = OLD, with_group(12)
    drift = measure_drift(X, X[:, :2], X_new, X_new[:, :2], labels=np.where(X[:, 0] > 0, "a", "b"))
    assert len(drift.group) == 12
    assert not drift.by_shares


@pytest.mark.parametrize("n_group", [0, 4])
def test_fewer_than_five_rows_are_no_group(n_group):
    assert len(drift_of(with_group(n_group)).group) == 0


@pytest.mark.parametrize("m", [50, 300, 1200])
def test_rows_like_the_old_ones_hardly_ever_have_a_group(m):
    found = [len(drift_of(np.random.default_rng(seed).normal(size=(m, 4))).group) for seed in range(6)]
    assert max(found) == 0


def test_outliers_that_lie_apart_are_no_group():
    rng = np.random.default_rng(2)
    far = rng.normal(size=(15, 4))
    scattered = np.concatenate([rng.normal(size=(150, 4)), 9 * far / np.linalg.norm(far, axis=1, keepdims=True)])
    assert len(rows_together(OLD, scattered, np.arange(150, 165))) == 0
    assert len(rows_together(OLD, with_group(15), np.arange(150, 165))) == 15


def test_sparse_rows_have_the_same_group():
    X_new = with_group(12)
    expected = rows_together(OLD, X_new, np.arange(140, 162))
    np.testing.assert_array_equal(rows_together(sp.csr_array(OLD), sp.csr_array(X_new), np.arange(140, 162)), expected)
    assert expected.tolist() == list(range(150, 162))


def test_the_labels_that_a_group_came_to_are_told_apart():
    labels = np.where(OLD[:, 0] > 0, "right", "left")
    drift = measure_drift(OLD, OLD[:, :2], with_group(12), with_group(12)[:, :2], labels=labels)
    assert drift.labels_of_group == {"right": 12}
    assert sum(drift.labels.values()) == 162
    line = next(line for line in drift.summary().splitlines() if line.startswith("they came to"))
    assert f"right ({drift.labels['right']}, 12 of them unlike the old and together)" in line
    assert f"left ({drift.labels['left']})" in line


def frames(n, seed, k=0):
    """Rows of three coordinates turned into ten with noise, the last k of a state that no other row is in."""
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(n, 3))
    if k:
        states[-k:] = np.array([0.0, 6.0, 0.0]) + 0.25 * rng.normal(size=(k, 3))
    turned = np.linalg.qr(np.random.default_rng(9).normal(size=(10, 10)))[0][:, :3]
    return states @ turned.T + 0.05 * rng.normal(size=(n, 10))


@pytest.mark.parametrize("k", [5, 8, 14])
def test_few_rows_of_a_new_state_among_many_are_told_by_the_room_about_them(k):
    drift = drift_of(frames(800, 1, k), frames(900, 0))
    assert drift.group.tolist() == list(range(800 - k, 800))
    assert "No need to fit again" not in drift.summary()


def test_more_rows_must_lie_apart_where_new_rows_outnumber_the_old():
    """Of five rows drawn from both tables all are new in 0.69 of draws there, and in 0.01 here."""
    old, new = frames(100, 0), frames(1300, 1, 5)
    assert len(drift_of(new, old).group) == 0
    assert len(drift_of(new[-800:], frames(1200, 0)).group) == 5


@pytest.mark.parametrize(
    ("room", "links_of_old", "told"), [(1.49, 0.1, 0), (1.51, 0.1, 32), (1.6, 2.2, 0), (1.7, 2.2, 32)]
)
def test_a_group_lies_apart_by_what_links_it_and_what_links_as_many_old_rows(room, links_of_old, told):
    """All its rows are 1 apart, one more is in the room beside them, the fifth old row links those next to it."""
    group, axis = np.eye(32) / np.sqrt(2.0), np.full(32, 1.0 / np.sqrt(32.0))
    beside, beyond = (group.mean(axis=0) + np.sqrt(far**2 - 31.0 / 64.0) * axis for far in (room, 50.0))
    old = beyond + np.outer(np.array([0.0, 0.1, 0.1, 0.1, 1.0]) * [1.0, 1.0, 1.0, 1.0, links_of_old], axis)
    found = unseen._set_apart(old, np.concatenate([group, beside[None]]), np.arange(32))
    assert found.tolist() == list(range(told))


@pytest.mark.parametrize("draw", ["standard_t", "lognormal", "poisson"])
@pytest.mark.parametrize("d", [2, 5])
def test_tails_of_one_distribution_are_no_group(draw, d):
    """Gaps grow with how far out rows lie, and counts come several times far out as well."""
    found = []
    for seed in range(2):
        draws = getattr(np.random.default_rng([seed, d]), draw)
        X = draws(0.0 if draw == "lognormal" else 3.0, size=(1500, d)).astype(np.float64)
        found.append(len(drift_of(X[:600], X[600:]).group))
    assert max(found) == 0


def test_without_old_rows_or_with_few_unusual_ones_there_is_no_group():
    new = np.concatenate([OLD[:50], 0.01 * OLD[:9] + 50.0])
    group = np.arange(50, 59)
    assert rows_together(OLD, new, group).tolist() == group.tolist()
    assert len(rows_together(OLD, new, group[:4])) == len(rows_together(OLD[:0], new, group)) == 0


def test_of_pieces_that_are_equally_large_that_of_the_first_row_is_taken():
    rows, near = np.array([3, 5, 7, 9, 11]), np.array([[5], [3], [9], [7], [11]])
    assert unseen._largest_piece(rows, near).tolist() == [3, 5]
    assert unseen._largest_piece(rows[2:], near[2:]).tolist() == [7, 9]
    near[4] = 9
    assert unseen._largest_piece(rows, near).tolist() == [7, 9, 11]


def test_pieces_are_those_of_single_linkage():
    """Sizes, what links them and how far the next row is: SciPy's tree of the same rows, the old ones as one row."""
    rng = np.random.default_rng(3)
    rows, old = np.concatenate([rng.normal(size=(9, 2)), rng.normal(size=(7, 2)) + 4.0]), rng.normal(size=(30, 2)) - 4.0
    between, to_old = cdist(rows, rows), cdist(rows, old).min(axis=1)
    near = np.argsort(between, axis=1)[:, 1:]
    found = list(_pieces(np.arange(16), near, np.take_along_axis(between, near, axis=1), to_old))
    n = 16
    square = np.pad(between, (0, 1))
    square[n, :n] = square[:n, n] = to_old
    tree = linkage(square[np.triu_indices(n + 1, 1)], "single")
    members, reach, expected = {i: {i} for i in range(n + 1)}, dict.fromkeys(range(n + 1), 0.0), []
    for step, (one, other, length, _) in enumerate(tree):
        parts = [part for part in (int(one), int(other)) if len(members[part]) >= 5 and n not in members[part]]
        expected += [(sorted(members[part]), reach[part], length) for part in parts]
        members[n + 1 + step], reach[n + 1 + step] = members[int(one)] | members[int(other)], length
    assert len(expected) > 2
    assert [(sorted(piece.tolist()), *rest) for piece, *rest in found] == expected


def kinds(n, seed, new=0):
    """Draw rows of three kinds in 60 columns; the last `new`, of the first, have eight more in common."""
    rng = np.random.default_rng(seed)
    kind, X = rng.integers(0, 3, n), rng.normal(size=(n, 60))
    kind[n - new :] = 0
    for one in range(3):
        X[kind == one, 8 * one : 8 * one + 8] += 2.5
    X[n - new :, 50:58] += 2.5
    return X


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_kind_of_rows_that_components_of_the_old_do_not_hold_is_found(make):
    old, new = kinds(400, 0), kinds(160, 1, new=50)
    found = rows_of_new_kind(BothTables(make(old), make(new), 10))
    assert len(found) >= 40
    assert found.min() >= 110
    assert len(rows_of_new_kind(BothTables(make(old), make(new[:110]), 10))) == 0
    components = np.linalg.svd(old - old.mean(axis=0), full_matrices=False)[2][:3].T
    places, places_new = old @ components, new @ components
    drift = measure_drift(places, places[:, :2], places_new, places_new[:, :2], features=(old, new), n_together=10)
    np.testing.assert_array_equal(drift.group, found)
    assert drift.refit
    assert f"{len(found) / 160:.0%} of the new rows lie together, unlike the old (more than 15%)" in drift.reasons
    without = measure_drift(places, places[:, :2], places_new, places_new[:, :2], features=(old, new))
    assert len(without.group) < len(found)


def test_a_rare_kind_that_is_common_in_new_rows_is_not_new():
    rare, common = kinds(400, 0, new=12), kinds(200, 1, new=150)
    assert len(rows_of_new_kind(BothTables(rare, common, 10))) == 0
    assert len(rows_of_new_kind(BothTables(rare[:388], common, 10))) >= 140
    assert len(rows_of_new_kind(BothTables(rare[:389], common, 10))) >= 100  # one old row in their midst is in order


@pytest.mark.parametrize(
    ("n_group", "n_amid", "found"), [(50, 0, True), (50, 1, True), (50, 2, False), (100, 2, True), (100, 3, False)]
)
def test_of_a_new_kind_one_old_row_in_fifty_may_lie_in_its_midst(n_group, n_amid, found):
    rng = np.random.default_rng(4)
    old, like, group = rng.normal(size=(400, 3)), rng.normal(size=(60, 3)), 0.1 * rng.normal(size=(n_group, 3)) + 40.0
    old[:n_amid] = 40.0 + 2.0 * np.eye(3)[:n_amid]  # nearer to the group than to any old row
    told = rows_of_new_kind(BothTables(old, np.concatenate([like, group])))
    assert told.tolist() == (list(range(60, 60 + n_group)) if found else [])


@pytest.mark.parametrize(("n_old", "n_new"), [(300, 100), (100, 12), (60, 600), (200, 600)])
def test_rows_of_the_same_kinds_are_not_new(n_old, n_new):
    assert (
        max(len(rows_of_new_kind(BothTables(kinds(n_old, seed), kinds(n_new, 50 + seed), 10))) for seed in range(5))
        == 0
    )


def test_few_rows_of_a_kind_among_many_new_ones_may_be_chance(monkeypatch):
    monkeypatch.setattr(unseen, "_MOST_AMID", 9.0)  # it is not old rows in their midst that speak against them
    assert len(rows_of_new_kind(BothTables(kinds(200, 0), kinds(150, 1, new=30), 10))) >= 25
    assert len(rows_of_new_kind(BothTables(kinds(200, 0), kinds(600, 1, new=30), 10))) == 0


def test_a_map_in_components_grows_by_a_new_kind_and_says_so():
    made = gn.map(kinds(300, 0), "pca", n_pcs=5)
    drift = made.extend(kinds(120, 1, new=40))[1]
    assert len(drift.group) >= 30
    assert "Fit again" in drift.summary()
    assert not made.extend(kinds(80, 2))[1].refit


def test_new_rows_that_are_as_near_as_an_old_one_are_not_nearer():
    old = 10.0 * np.arange(300.0)[:, None]
    for away, count in ((0.0, 0), (0.1, 20)):
        new = np.concatenate([old[:130] + 0.1, np.full((20, 1), 5000.0 if away else old[200, 0])])
        assert len(unseen._beyond_their_share(old, new, np.arange(50, 150))) == count


@pytest.mark.parametrize(("n_looked_at", "n_new"), [(100, 150), (40, 150), (100, 120)])
def test_a_group_is_of_more_rows_than_the_share_of_new_ones_gives(n_looked_at, n_new):
    """Each other new row lies beside an old one, so that the group alone has four new rows nearer than any old one."""
    old = 10.0 * np.arange(300.0)[:, None]
    odds = 2.0 * (n_new - 1) / 300
    share = odds / (1.0 + odds)
    k = max(2, int(np.ceil(np.log(0.1) / np.log(share))))
    told = []
    for count in range(6, 25):
        new = np.concatenate([old[: n_new - count] + 0.1, -1000.0 - np.arange(count)[:, None] / 100.0])
        looked_at = np.arange(n_new - n_looked_at, n_new)
        found = unseen._beyond_their_share(old, new, looked_at)
        assert len(found) == count * (binom.sf(count - 1, n_looked_at, share**k) <= 0.001)
        told.append(len(found))
    assert min(told) == 0 < max(told)


@pytest.mark.parametrize(
    ("own", "others", "n_others", "fewest"),
    [
        (1.0, 0.96, 12, 9),
        (1.0, 0.98, 12, 9),
        (1.0, 0.999, 12, 9),
        (1.0, 0.98, 40, 9),
        (1.0, 0.99, 40, 9),
        (1.0, 0.999, 40, 11),
        (0.97, 0.98, 12, 12),
    ],
)
def test_a_group_farther_out_than_all_is_counted_among_the_farthest(own, others, n_others, fewest):
    """All 60 are looked at, and those beyond 0.975, 0.9875 and 0.99375. Some of the others are as far as said."""
    old, n_new = 10.0 * np.arange(300.0)[:, None], 150
    share = (2.0 * 149 / 300) / (1.0 + 2.0 * 149 / 300)
    k = int(np.ceil(np.log(0.1) / np.log(share)))
    for count in range(5, 20):
        new = np.concatenate([old[: n_new - count] + 0.1, -1000.0 - np.arange(count)[:, None] / 100.0])
        level = np.full(60, 0.955)
        level[:n_others], level[-count:] = others, own
        among = [count + n_others * (others > cut) for cut in (0.975, 0.9875, 0.99375)]
        is_told = binom.sf(count - 1, 60, share**k) <= 0.001
        is_told |= own > 0.99375 and count > 2 * k and min(binom.sf(count - 1, n, share**k) for n in among) <= 0.00025
        found = unseen._beyond_their_share(old, new, np.arange(n_new - 60, n_new), level)
        assert len(found) == count * is_told == count * (count >= fewest)


def test_few_rows_of_a_new_class_among_many_are_told():
    """As unlike the old as their class is, they are the most novel, each beside others, and few among all unusual."""
    rng = np.random.default_rng(1)
    centers = 0.9 * rng.normal(size=(5, 60))
    old = centers[rng.integers(0, 4, 1500)] + rng.normal(size=(1500, 60))
    like = centers[rng.integers(0, 4, 242)] + rng.normal(size=(242, 60))
    drift = drift_of(np.concatenate([like, centers[4] + rng.normal(size=(8, 60))]), old)
    assert len(drift.group) >= 6
    assert drift.group.min() >= 242
    assert not drift.refit
    assert len(drift_of(like, old).group) == 0


def test_shares_of_labels_explain_a_shift_by_as_many_old_rows_as_the_weights_leave():
    rng = np.random.default_rng(0)
    old, new, weights = rng.normal(size=(400, 2)), rng.normal(size=(60, 2)), np.zeros(400)
    weights[:8] = 1.0
    scores, scores_new = np.linspace(0.0, 1.0, 400), np.linspace(0.004, 1.2, 60)
    drift = measure_drift(old, old, new, new)
    shift = chance_of_shift(largest_difference(scores[:8, None], scores_new[:, None], np.full(8, 0.125))[0], 8.0, 60)
    assert shift < 0.0025
    for few, explained in ((8, False), (2, True)):  # of two rows no shift is beyond chance
        weights = np.where(np.arange(400) < few, 2.0, 0.0)
        found = differs_by_shares(drift, weights, (old[rng.permutation(400)], new), (scores, scores_new), None)
        assert found == explained
    assert not differs_by_shares(drift, np.zeros(400), (old, new), (scores, scores_new), None)


def test_the_first_new_row_may_be_of_a_new_kind_as_the_last():
    old, new = kinds(400, 0), kinds(160, 1, new=50)
    first, last = rows_of_new_kind(BothTables(old, new[::-1], 10)), rows_of_new_kind(BothTables(old, new, 10))
    assert first.min() == 0
    assert first.tolist() == sorted(159 - last)


def test_measured_labels_are_not_counted():
    drift = measure_drift(OLD, OLD[:, :2], with_group(12), with_group(12)[:, :2], labels=OLD[:, 0])
    assert (drift.labels, drift.labels_of_group) == ({}, {})
