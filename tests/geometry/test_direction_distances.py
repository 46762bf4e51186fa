"""Rows off the directions in which columns go together, and far out within them: Q and T squared of other rows."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from gnomon.geometry.direction_distances import FAMILY, Directions, direction_distances

SIZES = [(100, 5), (300, 10), (100, 50), (300, 100), (1000, 30)]


def factors(rng, n, p, *, k=3, noise=0.5, scores=None):
    scores = rng.normal(size=(n, k)) if scores is None else scores
    return scores @ rng.normal(size=(k, p)) + noise * rng.normal(size=(n, p))


def standing_out(X):
    found = direction_distances(X)
    return np.flatnonzero(np.minimum(found.off_chance, found.within_chance) <= FAMILY / 2)


def test_distances_from_a_known_subspace_in_closed_form():
    """The plane of the first two of four coordinates, with variances 4 and 9 along them, about (1, 1, 1, 1)."""
    plane = Directions(np.ones(4), np.eye(4)[:2], np.array([4.0, 9.0]), 100)
    X = np.array([[3.0, 4.0, 1.0, 1.0], [1.0, 1.0, 4.0, 5.0], [1.0, 4.0, 2.0, 1.0]])
    off, within = plane.distances(X)
    np.testing.assert_allclose(off, [0.0, 25.0, 1.0])
    np.testing.assert_allclose(within, [2.0, 0.0, 1.0])
    parts = plane.contributions(X)
    np.testing.assert_allclose(parts[0], [[0, 0, 0, 0], [0, 0, 9, 16], [0, 0, 1, 0]], atol=1e-12)
    np.testing.assert_allclose(parts[1], [[1, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]], atol=1e-12)


def test_contributions_sum_to_the_distances():
    X = factors(np.random.default_rng(0), 200, 30)
    directions = Directions.learn(X, 3)
    for parts, distances in zip(directions.contributions(X), directions.distances(X), strict=True):
        np.testing.assert_allclose(parts.sum(axis=1), distances)
        assert parts.min() >= 0.0


def test_all_directions_give_the_distance_of_mahalanobis():
    X = factors(np.random.default_rng(1), 400, 6)
    directions = Directions.learn(X, 6)
    covariance = (directions.components.T * directions.variance) @ directions.components
    rows = X - directions.mean
    off, within = directions.distances(X)
    np.testing.assert_allclose(within, np.einsum("ij,jk,ik->i", rows, np.linalg.inv(covariance), rows))
    np.testing.assert_allclose(off, 0.0, atol=1e-12)


def test_rows_odd_alike_do_not_turn_the_directions():
    rng = np.random.default_rng(2)
    loadings = rng.normal(size=(3, 60))
    X = rng.normal(size=(300, 3)) @ loadings + 0.5 * rng.normal(size=(300, 60))
    X[:7] += 100.0 * rng.normal(size=60)
    found = Directions.learn(X, 3)
    assert np.degrees(subspace_angles(found.components.T, loadings.T).max()) < 5.0
    usual = np.linalg.svd(X - X.mean(axis=0))[2][:3]
    assert np.degrees(subspace_angles(usual.T, loadings.T).max()) > 45.0


def test_a_row_is_measured_by_directions_without_it():
    X = factors(np.random.default_rng(3), 120, 25)
    one = direction_distances(X, 3)
    X[17] += 1e3 * np.random.default_rng(4).normal(size=25)
    other = direction_distances(X, 3)
    mine, still = one.parts[one.part[17]], other.parts[other.part[17]]
    np.testing.assert_array_equal(mine.components, still.components)
    axes, rest = mine.components, X[17] - mine.mean
    rest = rest - axes.T @ np.linalg.lstsq(axes.T, rest, rcond=None)[0]
    loose = 1.0 + (1.0 + other.within[17]) / mine.n_samples
    assert other.off[17] == pytest.approx(rest @ rest / loose)
    off, within = other.contributions(X, 17)
    assert (off.sum(), within.sum()) == (pytest.approx(other.off[17]), pytest.approx(other.within[17]))


@pytest.mark.parametrize(("n", "p"), SIZES)
def test_normal_tables_have_hardly_ever_a_row_that_stands_out(n, p):
    """At most in one of twenty tables: in none of ten of either kind but by much bad luck."""
    for make in (lambda rng: rng.normal(size=(n, p)), lambda rng: factors(rng, n, p)):
        assert sum(len(standing_out(make(np.random.default_rng(seed)))) > 0 for seed in range(10)) <= 1


def test_heavy_tailed_columns_have_few():
    """A value far out in one of a hundred columns of Student's t of 3 is what such columns have."""
    told = [len(standing_out(np.random.default_rng(seed).standard_t(3, size=(300, 100)))) for seed in range(12)]
    assert np.count_nonzero(told) <= 1


def test_rows_far_out_within_are_not_off_for_directions_that_are_not_known_exactly():
    """Factors with very heavy tails: Student's t of 1.5."""
    told = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        found = direction_distances(factors(rng, 300, 100, scores=rng.standard_t(1.5, size=(300, 3))), 3)
        told.append((found.off_chance <= FAMILY / 2).any())
    assert np.count_nonzero(told) <= 1


def test_heavy_tails_along_a_few_of_many_directions_have_few():
    """Three of fifteen directions are factors of Student's t of 3, which the others do not show."""
    told = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        told.append(len(standing_out(factors(rng, 1000, 15, scores=rng.standard_t(3, size=(1000, 3))))))
    assert np.count_nonzero(told) <= 2


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3])
def test_a_cluster_of_one_in_twenty_rows_or_more_is_no_row_out_of_place(share):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 60))
        X[: int(share * 400)] += 3.0 * rng.normal(size=60)
        assert len(standing_out(X)) == 0


def spectra(seed, height, n=300, p=200):
    """Mixtures of three bands; the first five have a small foreign peak, in units of the noise."""
    rng, w = np.random.default_rng(seed), np.linspace(0.0, 1.0, p)
    bands = np.exp(-0.5 * np.square((w - np.array([[0.2], [0.45], [0.7]])) / 0.05))
    X = rng.uniform(0.5, 1.5, size=(n, 3)) @ bands + 0.02 * rng.normal(size=(n, p))
    X[:5] += height * 0.02 * np.exp(-0.5 * np.square((w - 0.88) / 0.01))
    return X


@pytest.mark.parametrize("height", [10.0, 50.0])
def test_spectra_with_a_foreign_peak_stand_out_and_no_others(height):
    for seed in range(2):
        X = spectra(seed, height)
        assert standing_out(X).tolist() == [0, 1, 2, 3, 4]
        found = direction_distances(X)
        assert found.n_directions == 3
        peak = np.argsort(-found.contributions(X, 0)[0])[:3]
        assert np.abs(peak / 199 - 0.88).max() < 0.02


def test_faults_in_one_row_of_five_hundred_stand_out():
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = factors(rng, 3000, 40, k=4, noise=0.3)
        for row in range(6):
            X[row, rng.choice(40, 3, replace=False)] += 3.0
        assert standing_out(X).tolist() == list(range(6))


def test_a_row_that_breaks_a_correlation_stands_out_though_each_value_is_usual():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(500, 1)) + 0.1 * rng.normal(size=(500, 4))
        X[0] = X.mean(axis=0) + X.std(axis=0) * [1.5, -1.5, 1.5, -1.5]
        assert (np.abs(X[0] - X.mean(axis=0)) < 2.0 * X.std(axis=0)).all()
        assert standing_out(X).tolist() == [0]


def test_a_row_that_breaks_an_exact_relation_stands_out_off_the_directions():
    X = np.random.default_rng(5).dirichlet(np.ones(6), size=200)  # columns sum to 1
    assert len(standing_out(X)) == 0
    X[9, 2] += 0.05
    found = direction_distances(X)
    assert np.flatnonzero(found.off_chance <= FAMILY / 2).tolist() == [9]
    assert found.off[9] == pytest.approx(0.05**2 / 6.0, rel=0.05)


def test_columns_of_one_or_two_values_say_nothing():
    X = factors(np.random.default_rng(6), 200, 8)
    padded = np.column_stack([np.full(200, 3.0), X, np.arange(200) < 15, np.arange(200) % 2])
    found = direction_distances(padded)
    assert found.columns.tolist() == list(range(1, 9))
    np.testing.assert_array_equal(found.within, direction_distances(X).within)
    assert direction_distances(padded[:, [0, 1, 9]]) is None
    assert direction_distances(X[:49]) is None
    assert direction_distances(X[:50]) is not None


def test_units_and_the_type_of_the_numbers_do_not_matter():
    X = spectra(0, 50.0)
    one, other = direction_distances(X), direction_distances((1024.0 * X).astype(np.float32))
    np.testing.assert_allclose(other.off, one.off * 1024.0**2, rtol=1e-4)
    np.testing.assert_allclose(other.within, one.within, rtol=1e-3)
    assert other.off_limit == pytest.approx(one.off_limit * 1024.0**2, rel=1e-3)
    assert ((one.off > one.off_limit) == (one.off_chance < FAMILY / 2)).all()


def pictures(seed, n=400, side=28):
    """Blobs about the middle of a picture: its border is 0 in nearly all, and its corners in all."""
    rng = np.random.default_rng(seed)
    y, x = np.indices((side, side)).reshape(2, 1, -1)
    middle, width = side / 2 - 0.5 + rng.normal(size=(2, n, 1)), rng.uniform(0.8, 1.6, size=(n, 1))
    return np.round(9.0 * np.exp(-0.5 * ((x - middle[0]) ** 2 + (y - middle[1]) ** 2) / width**2))


def unusual(X):
    found = direction_distances(X)
    return np.flatnonzero(found.unusual_chance <= FAMILY / found.ways).tolist()


def test_how_unusual_a_row_is_in_closed_form():
    """Of 200 rows 4 have another value in the second column and 1 in the third, and 15 in the last, of two values."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(200, 3)), np.zeros(200), np.full((200, 2), 7.0), np.arange(200) >= 185])
    X[:4, 4], X[0, 5] = [1.0, 2.0, 8.0, 9.0], -1.0
    found = direction_distances(X)
    assert found.steady.columns.tolist() == [3, 4, 5, 6]
    expected = np.zeros(200)
    expected[:4], expected[185:] = np.log(50.0), np.log(200.0 / 15.0)
    expected[0] += np.log(200.0)
    np.testing.assert_allclose(found.unusual, expected)
    np.testing.assert_allclose(found.unusual_parts(X, 0), [0.0, np.log(50.0), np.log(200.0), 0.0])
    assert (found.ways, found.steady.n_vary, found.unusual_chance.min()) == (2, 3, 1.0)
    assert np.isnan(found.unusual_limit)


def test_pictures_of_noise_or_with_a_frame_stand_out_and_no_others():
    for seed in range(3):
        X, rng = pictures(seed), np.random.default_rng(seed)
        assert unusual(X) == []
        X[:3] = rng.integers(0, 10, size=(3, 784))
        framed = X[3:6].reshape(-1, 28, 28)
        framed[:, [0, -1]] = framed[:, :, [0, -1]] = 9.0
        assert unusual(X) == list(range(6))


def test_new_pictures_of_noise_are_more_unusual_than_those_of_the_table():
    X, X_new = pictures(0), pictures(1)
    X_new[:3] = np.random.default_rng(2).integers(0, 10, size=(3, 784))
    found = direction_distances(X)
    new = found.of_new(X_new, 0.0025)
    assert np.flatnonzero(new.unusual_chance <= 0.0025 / 3).tolist() == [0, 1, 2]
    assert (new.unusual > new.unusual_limit).sum() == 3
    np.testing.assert_array_equal(found.of_new(X[:9], 0.0025).unusual, found.unusual[:9])


def test_rare_levels_of_categories_and_rare_numbers_are_nothing_unusual():
    """Thirty categories of ten levels that go together by halves, and a hundred counts of rows of unlike size."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        shared, X = rng.normal(size=300), [rng.normal(size=(300, 3))]
        shares = np.cumsum(1.0 / np.arange(1, 11) ** 1.5) / (1.0 / np.arange(1, 11) ** 1.5).sum()
        for _ in range(30):
            ranks = np.argsort(np.argsort(shared + rng.normal(size=300))) / 300
            X.append(np.eye(11)[np.searchsorted(shares, ranks)])
        X.append(rng.poisson(np.exp(0.6 * rng.normal(size=(300, 1))) * np.exp(rng.normal(-4.0, 1.5, size=100))))
        assert unusual(np.hstack(X)) == []


def test_what_one_rare_level_brings_with_it_is_not_enough():
    """One row has another value in k of 40 columns: of nine it is looked over, of eleven it stands out."""
    X = np.column_stack([np.random.default_rng(1).normal(size=(300, 3)), np.zeros((300, 40))])
    for k, told in ((9, []), (11, [5])):
        X[5, 3 : 3 + k] = 1.0
        assert unusual(X) == told
