"""Rows that follow each other: a series is told from rows in random order, and from classes that are sorted."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.stats import binom

from gnomon._entrance import entrance
from gnomon.neighbors import Succession, succession, succession_of_rows
from gnomon.neighbors.succession import _apart, _chance, _chance_in_groups, _chance_of_pairs


def _series(n, d, tau, seed=0):
    """Return an Ornstein-Uhlenbeck process in one well, of a correlation time of tau rows."""
    rng, kept = np.random.default_rng(seed), np.exp(-1.0 / tau)
    X = rng.normal(size=(n, d))
    for i in range(1, n):
        X[i] = kept * X[i - 1] + np.sqrt(1.0 - kept**2) * X[i]
    return X


@pytest.mark.parametrize("d", [1, 4, 20])
def test_a_series_is_seen_and_its_step_is_about_three_correlation_times(d):
    found = succession_of_rows(_series(1500, d, 10.0))
    assert found.p_value < 1e-6
    assert 12 <= found.step <= 80
    assert found.n_independent == round(1500 / found.step)


@pytest.mark.parametrize(("step", "nth"), [(21, "21st"), (32, "32nd"), (43, "43rd"), (54, "54th"), (1011, "1,011th")])
def test_the_remedy_is_to_take_the_rows_that_are_not_alike_where_sixty_remain(step, nth):
    enough = Succession(0.0, step, 60 * step).told("nothing holds")
    assert enough.endswith(f"nothing holds: take every {nth} row, about 60 in all, and look again.")
    few = Succession(0.0, step, 59 * step).told("nothing holds")
    assert f"nothing holds: every {nth} row, about 59 in all, would be independent, too few to look again." in few
    needed = int(few.removesuffix(" such rows or more.").rpartition(" ")[2].replace(",", ""))
    assert 60 * step <= needed < 1.1 * 60 * step
    turns = Succession(0.0, 160, 900, 16).told("nothing holds")
    assert "of every 160 rows the first 16, about 90 in all" not in turns
    assert "of every 160 rows take the first 16, about 90 in all, and look again." in turns


@pytest.mark.parametrize("d", [1, 3, 20])
def test_rows_in_random_order_have_p_values_that_are_no_smaller_than_chance(d):
    p = [
        _chance(_apart(np.random.default_rng(seed).standard_t(2, size=(200, d)), np.arange(1, 4), "euclidean"))
        for seed in range(150)
    ]
    assert np.mean(np.array(p) < 0.1) < 0.18
    assert min(p) > 1e-4


def _taking_turns(count, rows, tau):
    return np.stack([_series(rows, 4, tau, seed) for seed in range(count)], axis=1).reshape(-1, 4)


@pytest.mark.parametrize("count", [2, 7, 16, 64])
def test_series_that_take_turns_are_seen_with_their_number(count):
    X = _taking_turns(count, 120, 6.0)
    found = succession_of_rows(X)
    assert found.p_value < 1e-6
    assert found.turns == count
    assert found.step % count == 0
    assert 5 <= found.step // count <= 40
    kept = round(len(X) * count / found.step)
    said = f"of every {found.step:,} rows {'take ' if kept >= 60 else ''}the first {count}, about {kept:,} in all"
    assert f"Rows {count} apart" in found.told("nothing holds")
    assert said in found.told("nothing holds")
    assert succession_of_rows(X[np.arange(len(X)) % found.step < count]) is None
    assert succession_of_rows(np.random.default_rng(0).permutation(X)) is None


def test_series_that_take_turns_are_seen_where_neighbours_in_the_table_are_alike_too():
    """Of four series the first two lie together and the last two: each four rows in a row are alike as they stand."""
    X = _taking_turns(4, 200, 8.0) + np.tile([[0.0], [0.0], [9.0], [9.0]], (200, 4))
    assert _chance(_apart(X, np.arange(1, 4), "euclidean")) < 1e-6
    assert succession_of_rows(X).turns == 4


@pytest.mark.parametrize("turns", [2, 5, 8])
def test_turns_of_rows_in_random_order_have_p_values_that_are_no_smaller_than_chance(turns):
    p = []
    for seed in range(150):
        X = np.random.default_rng(seed).standard_t(2, size=(240, 2))
        apart = _apart(X, np.arange(1, 3 * turns + 1), "euclidean")
        p.append([_chance(apart[:, turns - 1 :: turns], turns), _chance_of_pairs(apart, turns)])
    assert np.all(np.mean(np.array(p) < 0.1, axis=0) < 0.18)
    assert np.min(p) > 1e-4


def test_quadruples_of_turns_are_those_that_are_laid_out():
    """The distances of quadruples counted one by one."""
    X = np.random.default_rng(1).normal(size=(100, 2))
    apart, between = _apart(X, np.arange(1, 16), "euclidean"), cdist(X, X)

    def chance(four):
        a, b, c, d = np.transpose(four)
        sums = np.stack([between[a, b] + between[c, d], between[a, c] + between[b, d], between[a, d] + between[b, c]])
        hits = int((sums.argmin(axis=0) == 0).sum())
        return binom.sf(hits - 1, len(four), 1 / 3)

    rows = [i for i in range(100) if i % 20 < 5]
    assert _chance(apart[:, 4::5], 5) == pytest.approx(chance([(i, i + 5, i + 10, i + 15) for i in rows]))
    two = [(10 * b + r, 10 * b + 4 - r) for b in range(10) for r in range(2)]
    assert _chance_of_pairs(apart, 5) == pytest.approx(chance([(i, i + 5, j, j + 5) for i, j in two]))


@pytest.mark.parametrize("classes", [2, 10, 15, 30, 36])
def test_classes_are_no_turns_sorted_or_one_after_another(classes):
    rng = np.random.default_rng(classes)
    y = np.arange(1200) % classes
    X = 5.0 * rng.normal(size=(classes, 3))[y] + rng.normal(size=(1200, 3))
    assert succession_of_rows(X) is None
    assert succession_of_rows(X[np.argsort(y, kind="stable")]) is None


@pytest.mark.parametrize(("classes", "seed"), [(6, 5), (15, 10), (36, 14)])
def test_classes_far_apart_that_take_turns_are_no_turns_of_another_number(classes, seed):
    """Four rows some other number apart are of classes that come again and again: one table shows nothing by them."""
    rng = np.random.default_rng(seed)
    X = 10.0 * rng.normal(size=(classes, 1))[np.arange(1200) % classes] + rng.normal(size=(1200, 1))
    apart = _apart(X, np.arange(1, 193), "euclidean")
    chances = [(_chance(apart[:, i - 1 : 3 * i : i], i), _chance_of_pairs(apart, i)) for i in range(2, 65)]
    assert min(max(two) for two in chances) < 1e-8
    assert succession_of_rows(X) is None


def test_a_series_that_is_thinned_or_shuffled_is_none():
    X = _series(4000, 6, 10.0)
    assert succession_of_rows(X) is not None
    assert succession_of_rows(X[:: succession_of_rows(X).step]) is None
    assert succession_of_rows(np.random.default_rng(0).permutation(X)) is None
    assert succession_of_rows(X[:39]) is None


@pytest.mark.parametrize("sizes", ["five", "ten", "some less than ten", "about ten", "one to twenty"])
def test_groups_of_ten_rows_one_after_another_are_no_series(sizes):
    """The ends of groups of ten fall into the middle of every fifth four of rows, and of sizes that differ of fewer."""
    draw = {
        "five": lambda rng: np.full(300, 5),
        "ten": lambda rng: np.full(200, 10),
        "some less than ten": lambda rng: np.r_[6, np.full(200, 8)],
        "about ten": lambda rng: 1 + rng.poisson(9, 250),
        "one to twenty": lambda rng: rng.integers(1, 21, 200),
    }[sizes]
    for seed in range(2):
        rng = np.random.default_rng(seed)
        rows = draw(rng)
        X = np.repeat(6.0 * rng.normal(size=(len(rows), 6)), rows, axis=0) + rng.normal(size=(rows.sum(), 6))
        assert _chance_in_groups(_apart(X, np.arange(1, 4), "euclidean"), max(5, int(rows.mean()))) > 1e-3
        assert succession_of_rows(X) is None


def test_fast_series_are_more_alike_than_groups_as_long():
    for seed in range(3):
        X = _series(600, 3, 5.0, seed)
        apart = _apart(X, np.arange(1, 4), "euclidean")
        assert succession_of_rows(X).step < 60
        assert _chance_in_groups(apart, succession_of_rows(X).step) < 1e-3
        assert _chance_in_groups(apart, 1) == 1.0  # each quadruple might be cut in the middle


def test_tables_that_are_sorted_by_their_classes_are_no_series(iris_and_digits):
    for X, y in iris_and_digits:
        assert succession_of_rows(X) is None
        assert succession_of_rows(X[np.argsort(y, kind="stable")]) is None


@pytest.fixture(scope="module")
def iris_and_digits():
    from sklearn.datasets import load_digits, load_iris

    return [load_iris(return_X_y=True), load_digits(return_X_y=True)]


def test_distances_and_sparse_tables_tell_what_the_rows_tell():
    X = _series(300, 5, 8.0)
    found = succession_of_rows(X)
    assert succession_of_rows(sparse.csr_array(X)).step == found.step
    assert succession_of_rows(cdist(X, X), "precomputed").step == found.step
    assert succession_of_rows(sparse.csr_array(cdist(X, X)), "precomputed") is None
    assert succession_of_rows(X, "cosine") is not None
    X = _taking_turns(5, 60, 6.0)
    assert succession_of_rows(X).turns == 5
    assert succession_of_rows(cdist(X, X), "precomputed") == succession_of_rows(X)


def test_equal_rows_are_no_likeness():
    X = np.repeat([[0.0, 1.0]], 200, axis=0)
    assert succession_of_rows(X) is None
    assert succession_of_rows(np.random.default_rng(0).integers(0, 2, size=(400, 1)).astype(float)) is None


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_answers_of_one_call_look_at_the_order_of_a_table_once(stored, monkeypatch):
    looked = []
    monkeypatch.setattr(succession, "_look", lambda X, metric, seed: looked.append((metric, seed)))

    @entrance("ask")
    def ask(*asked):
        for X, metric, seed in asked:
            succession_of_rows(X, metric, seed=seed)

    X = stored(_series(50, 3, 8.0))
    ask((X, "euclidean", 0), (X, "euclidean", 0), (X, "cosine", 0), (X, "euclidean", 1), (X, "cosine", 0))
    assert looked == [("euclidean", 0), ("cosine", 0), ("euclidean", 1)]
    other = X[::-1] if stored is np.asarray else sparse.csr_array((X.data, X.indices[::-1].copy(), X.indptr), X.shape)
    ask((X, "euclidean", 0), (other, "euclidean", 0))
    assert len(looked) == 5  # the next call begins anew, and another table is another
