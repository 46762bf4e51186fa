"""Own exp, log, powers, angles and products: those of NumPy up to rounding, whatever lies beside a number."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon._arithmetic import (
    SparseTimes,
    arctan2,
    dense_product,
    exp,
    expm1,
    geometric,
    inner,
    isotonic_levels,
    log,
    log1p,
    pair_distances,
    power,
    product,
    row_distances,
    softplus,
    sparse_product,
    squared_lengths,
    weighted_sums,
)
from gnomon._run import running


def _numbers(n: int = 5000) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.concatenate([rng.uniform(-700, 700, n), rng.normal(size=n), 1e-9 * rng.normal(size=50)])


def _units(found, wanted):
    """Largest difference, in units in the last place."""
    return float(np.max(np.abs(found - wanted) / np.spacing(np.abs(wanted))))


def test_functions_are_those_of_numpy_to_a_few_units_in_the_last_place():
    x = _numbers()
    positive = np.exp(x)
    assert _units(exp(x), positive) <= 2
    assert _units(expm1(x), np.expm1(x)) <= 6
    assert _units(log(positive), np.log(positive)) <= 2
    assert _units(log1p(positive), np.log1p(positive)) <= 2
    near = positive[5000:]
    assert _units(power(near, 0.7), near**0.7) <= 8


def test_angles_are_those_of_numpy_in_every_quadrant():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20000)) * 10.0 ** rng.uniform(-8, 8, size=(2, 20000))
    assert _units(arctan2(y, x), np.arctan2(y, x)) <= 6
    axes = np.array([0.0, -0.0, 1.0, -1.0, 1e-300, -1e300])
    y, x = (one.ravel() for one in np.meshgrid(axes, axes))
    found, wanted = arctan2(y, x), np.arctan2(y, x)
    np.testing.assert_allclose(found, wanted, rtol=1e-15)
    assert np.array_equal(np.signbit(found), np.signbit(wanted))
    assert np.isnan(arctan2([np.nan, 1.0], [1.0, np.nan])).all()
    assert arctan2([1.0, 2.0], -1.0).shape == (2,)
    assert arctan2(1.0, 1.0) == pytest.approx(np.pi / 4, rel=1e-15)


def test_geometric_sequences_are_those_of_numpy():
    for start, stop, number in ((0.4, 400.0, 121), (1e5, 0.05, 7), (3.0, 3.0, 2), (1.0, 1798, 100)):
        found = geometric(start, stop, number)
        assert (found[0], found[-1]) == (start, stop)
        np.testing.assert_allclose(found, np.geomspace(start, stop, number), rtol=1e-14)


def test_softplus_is_the_logarithm_of_one_and_the_exponential():
    x = np.concatenate([_numbers(500), [0.0, -740.0, 800.0]])
    assert _units(softplus(x), np.logaddexp(0.0, x)) <= 4
    np.testing.assert_array_equal(softplus([-np.inf, np.inf, np.nan]), [0.0, np.inf, np.nan])


def test_ends_of_the_range():
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(exp([0.0, -np.inf, np.inf, 1e4, np.nan]), [1.0, 0.0, np.inf, np.inf, np.nan])
        np.testing.assert_array_equal(log([1.0, 0.0, np.inf, -1.0, np.nan]), [0.0, -np.inf, np.inf, np.nan, np.nan])
        ends = [-1.0, 0.0, np.inf, -2.0, np.nan]
        np.testing.assert_array_equal(log1p(ends), [-np.inf, 0.0, np.inf, np.nan, np.nan])
        np.testing.assert_array_equal(expm1([-np.inf, 0.0, np.inf, np.nan]), [-1.0, 0.0, np.inf, np.nan])
        np.testing.assert_array_equal(power([0.0, 2.0], 0.0), [1.0, 1.0])
        np.testing.assert_array_equal(power([0.0, 4.0], 1.0), [0.0, 4.0])
    assert log(5e-324) == np.log(5e-324)
    assert exp(-745.0) == 5e-324


def test_a_number_has_the_same_bits_wherever_it_stands():
    x = _numbers(300)
    for function in (exp, expm1, lambda v: power(np.abs(v), 1.3)):
        alone = np.array([function(one) for one in x])
        assert function(x).tobytes() == alone.tobytes()
        assert function(x.reshape(2, -1).T).T.ravel().tobytes() == alone.tobytes()


def test_shapes_types_and_places_of_the_result():
    x = np.ones((3, 2), np.float32)
    assert exp(x).dtype == np.float32
    assert exp(x).shape == (3, 2)
    assert log(2).dtype == np.float64
    out = np.ones((4, 3))
    assert exp(out, out=out) is out
    np.testing.assert_allclose(out, np.e)
    turned = np.ones((4, 3)).T
    np.testing.assert_allclose(log(turned * np.e, out=turned), 1.0)


@pytest.mark.parametrize(("m", "k", "p"), [(70, 300, 40), (5, 40, 2), (40, 5, 1), (3, 0, 4), (0, 3, 2), (1100, 2, 9)])
def test_products_are_those_of_numpy_and_take_transposes(m, k, p):
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(m, k)), rng.normal(size=(k, p))
    for left in (A, np.asfortranarray(A), A[:, ::-1][:, ::-1]):
        for right in (B, np.asfortranarray(B)):
            np.testing.assert_allclose(product(left, right), A @ B, atol=1e-12)
    found = []
    for n_threads in (1, 3):
        with running(n_threads=n_threads):
            found.append(product(A, B).tobytes() + product(A, B[:, 0]).tobytes())
    assert found[0] == found[1]
    np.testing.assert_allclose(product(A, B[:, 0]), A @ B[:, 0], atol=1e-12)
    np.testing.assert_allclose(inner(A, A), np.vdot(A, A))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(5, 0), (0, 3), (70, 1), (9, 40_000), (3000, 37)])
def test_squared_lengths_are_those_of_each_row_alone(dtype, shape):
    A = np.random.default_rng(0).normal(size=shape).astype(dtype)
    expected = np.array([np.square(row).sum() for row in A], dtype=dtype)
    for given in (A, np.asfortranarray(A)):
        found = squared_lengths(given)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
        in_double = squared_lengths(given, np.float64)
        np.testing.assert_array_equal(in_double, squared_lengths(given.astype(np.float64)))
    if shape[1]:
        sparse = squared_lengths(sp.csr_array(A))
        assert sparse.dtype == dtype
        np.testing.assert_allclose(sparse, expected, rtol=1e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 2, 3, 7, 8, 13, 20])
@pytest.mark.parametrize("n_rows", [90, 600])  # of so many the columns of X are laid apart
def test_terms_of_a_sparse_product_are_added_one_by_one_in_the_order_of_the_columns(dtype, width, n_rows):
    rng = np.random.default_rng(0)
    A = sp.random_array((n_rows, 40), density=0.2, rng=rng, format="csr").astype(dtype)
    A.sort_indices()
    X = rng.normal(size=(40, width))
    wanted = np.zeros((n_rows, width))
    for i in range(n_rows):
        for e in range(A.indptr[i], A.indptr[i + 1]):
            wanted[i] = wanted[i] + float(A.data[e]) * X[A.indices[e]]
    times = SparseTimes(A)
    with running(n_threads=3):
        assert np.array_equal(times(X), wanted)
    assert np.array_equal(times(np.asfortranarray(X)), wanted)
    assert np.array_equal(sparse_product(A.tocsc(), X), wanted)
    assert np.array_equal(times(X[:, 0]), wanted[:, 0])
    assert np.array_equal(pickle.loads(pickle.dumps(times))(X), wanted)


def test_the_product_of_sparse_matrices_is_that_of_each_row_alone():
    rng = np.random.default_rng(0)
    A, B = (sp.random_array(shape, density=0.1, rng=rng, format="csr") for shape in ((700, 50), (50, 60)))
    with running(n_threads=3):
        found = sparse_product(A, B)
    assert np.array_equal(found.toarray(), sparse_product(A, B.toarray()))
    with running(n_threads=3):
        assert np.array_equal(dense_product(A, B), found.toarray())
    assert found.has_sorted_indices
    assert found.nnz == sp.csr_array((A != 0).astype(float) @ (B != 0).astype(float)).nnz
    empty = sparse_product(sp.csr_array((3, 4)), sp.csr_array((4, 2)))
    assert empty.shape == (3, 2)
    assert empty.nnz == 0


def test_a_sparse_product_takes_unsorted_repeated_and_whole_numbers():
    A = sp.csr_array((np.array([1, 2, 4]), np.array([2, 0, 2]), np.array([0, 3, 3])), shape=(2, 3))
    assert np.array_equal(sparse_product(A, np.array([1, 10, 100])), [502.0, 0.0])
    assert np.array_equal(A.indices, [2, 0, 2])
    with pytest.raises(ValueError, match="sparse_product"):
        sparse_product(A, np.ones(2))


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 3), (4, 6, 2, 5)])
def test_weighted_sums_add_products_that_are_rounded_by_themselves(shape):
    rng = np.random.default_rng(0)
    weights, values = rng.normal(size=shape[:2]), rng.normal(size=shape)
    found = weighted_sums(weights, values)
    for i in range(4):
        parts = [weights[i, j] * values[i, j] for j in range(6)]
        assert np.array_equal(found[i], np.sum(parts, axis=0))


@pytest.mark.parametrize("width", [1, 2, 5, 30])
def test_squares_of_distances_are_added_one_by_one_in_the_order_of_the_columns(width):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(37, width)), rng.normal(size=(21, width))
    wanted = np.zeros((37, 21))
    for k in range(width):
        wanted = wanted + np.square(A[:, None, k] - B[None, :, k])
    with running(n_threads=3):
        assert np.array_equal(row_distances(A, B, squared=True), wanted)
    assert np.array_equal(row_distances(A, B), np.sqrt(wanted))
    above = np.triu_indices(37, 1)
    assert np.array_equal(pair_distances(A), row_distances(A, A)[above])
    assert np.array_equal(pair_distances(A, squared=True), row_distances(A, A, squared=True)[above])
    assert pair_distances(A[:1]).shape == (0,)
    many = rng.normal(size=(257, width))  # a row beyond two blocks
    assert np.array_equal(pair_distances(many), row_distances(many, many)[np.triu_indices(257, 1)])
    with pytest.raises(ValueError, match="row_distances"):
        row_distances(A, rng.normal(size=(3, width + 1)))


def _pooled(values, weights):
    """Pool neighbours that are out of order, later ones first; Python rounds each product by itself."""
    blocks = []
    later = list(zip(values.tolist(), weights.tolist(), strict=True))[::-1]
    while later:
        level, weight = later.pop()
        size = 1
        if blocks and blocks[-1][0] >= level:
            last, last_weight, last_size = blocks.pop()
            total = last_weight * last + weight * level
            weight, size = weight + last_weight, size + last_size
            level = total / weight
            while later and level >= later[-1][0]:
                value, share = later.pop()
                total, weight, size = total + share * value, weight + share, size + 1
                level = total / weight
            while blocks and blocks[-1][0] >= level:
                value, share, count = blocks.pop()
                total, weight, size = total + share * value, weight + share, size + count
                level = total / weight
        blocks.append((level, weight, size))
    return np.concatenate([np.full(size, level) for level, _, size in blocks])


@pytest.mark.parametrize("rise", [-1.0, 0.0, 3.0])
def test_isotonic_levels_pool_numbers_one_by_one_and_round_each_product_by_itself(rise):
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=1000) + rise * np.linspace(0.0, 1.0, 1000), rng.uniform(0.1, 3.0, 1000)
    kept = values.copy(), weights.copy()
    np.testing.assert_array_equal(isotonic_levels(values, weights), _pooled(values, weights))
    np.testing.assert_array_equal(isotonic_levels(values), _pooled(values, np.ones(1000)))
    np.testing.assert_array_equal((values, weights), kept)


def test_isotonic_levels_are_the_highest_of_the_least_means():
    rng = np.random.default_rng(1)
    values, weights = rng.normal(size=30), rng.uniform(0.1, 3.0, 30)
    sums, masses = (np.concatenate([[0.0], np.cumsum(one)]) for one in (values * weights, weights))
    mean = (sums[None, 1:] - sums[:-1, None]) / np.where(
        masses[None, 1:] > masses[:-1, None], masses[None, 1:] - masses[:-1, None], np.nan
    )  # of begin, last
    wanted = [max(mean[begin, i:].min() for begin in range(i + 1)) for i in range(30)]
    np.testing.assert_allclose(isotonic_levels(values, weights), wanted, rtol=1e-12)


def test_isotonic_levels_of_few_equal_and_ordered_numbers():
    assert isotonic_levels(np.empty(0)).shape == (0,)
    np.testing.assert_array_equal(isotonic_levels(np.array([2.0])), [2.0])
    np.testing.assert_array_equal(isotonic_levels(np.array([1, 1, 4, 3])), [1.0, 1.0, 3.5, 3.5])
    np.testing.assert_array_equal(isotonic_levels(np.array([3.0, 1.0]), np.array([1, 3])), [1.5, 1.5])
    ascending = np.arange(9.0)
    np.testing.assert_array_equal(isotonic_levels(ascending), ascending)
    np.testing.assert_array_equal(isotonic_levels(ascending[::-1]), np.full(9, 4.0))
