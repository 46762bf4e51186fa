"""Many small matrices at once, and singular vectors: NumPy's values, definitions, edges, missing numbers, threads."""

import numpy as np
import pytest

from gnomon import _core
from gnomon._run import running
from gnomon.linalg import row_products, singular_values, small_svd, stacked_eigen, stacked_products, stacked_solve


def stack(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def by_threads(compute, *threads: int) -> list[tuple[bytes, ...]]:
    """Return the bytes of what is computed with each number of threads."""
    found = []
    for n_threads in threads:
        with running(n_threads=n_threads):
            result = compute()
        found.append(tuple(part.tobytes() for part in (result if isinstance(result, tuple) else (result,))))
    return found


# Both sides narrow, few terms, few rows, few columns, and panels; with and without rest in every vector.
SHAPES = [(1, 1, 1), (2, 3, 2), (7, 8, 9), (9, 5, 30), (3, 40, 17), (20, 33, 4), (40, 19, 40), (33, 70, 65)]


@pytest.mark.parametrize("count", [1, 5, 40])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_those_of_numpy_and_take_transposes(shape, count):
    n, k, p = shape
    A, B = stack(count, n, k), stack(count, k, p, seed=1)
    turned_a, turned_b = (np.ascontiguousarray(one.swapaxes(1, 2)).swapaxes(1, 2) for one in (A, B))
    for left in (A, turned_a):
        for right in (B, turned_b):
            np.testing.assert_allclose(stacked_products(left, right), A @ B, rtol=0, atol=1e-13 * k)


def test_a_product_does_not_depend_on_those_beside_it():
    A, B = stack(50, 6, 21), stack(50, 21, 30, seed=1)
    together = stacked_products(A, B)
    for i in (0, 17, 49):
        assert stacked_products(A[i : i + 1], B[i : i + 1])[0].tobytes() == together[i].tobytes()
    A[3] = np.nan
    assert np.isnan(stacked_products(A, B)[3]).all()
    assert np.delete(stacked_products(A, B), 3, axis=0).tobytes() == np.delete(together, 3, axis=0).tobytes()


@pytest.mark.parametrize("shapes", [((0, 3, 4), (0, 4, 2)), ((3, 0, 4), (3, 4, 2)), ((3, 2, 4), (3, 4, 0))])
def test_products_without_matrices_rows_or_columns_are_empty(shapes):
    A, B = (np.empty(shape) for shape in shapes)
    assert stacked_products(A, B).shape == (shapes[0][0], shapes[0][1], shapes[1][2])


def test_products_without_terms_are_zero():
    assert np.array_equal(stacked_products(np.empty((3, 2, 0)), np.empty((3, 0, 4))), np.zeros((3, 2, 4)))
    assert np.array_equal(stacked_products(np.empty((3, 20, 0)), np.empty((3, 0, 40))), np.zeros((3, 20, 40)))


@pytest.mark.parametrize("order", [1, 2, 3, 10, 33])
def test_eigenvectors_of_a_stack_solve_the_equation_and_are_orthonormal(order):
    B = stack(23, order, order + 2)
    A = B @ B.swapaxes(1, 2)
    A[4], A[5], A[6] = 0.0, np.eye(order), -A[6]
    values, vectors = stacked_eigen(A)
    assert np.all(np.diff(values, axis=1) <= 0)
    scale = np.abs(A).sum(axis=(1, 2)).max()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[:, ::-1], rtol=0, atol=1e-14 * scale)
    np.testing.assert_allclose(A @ vectors, vectors * values[:, None], rtol=0, atol=1e-14 * scale)
    np.testing.assert_allclose(vectors.swapaxes(1, 2) @ vectors, np.broadcast_to(np.eye(order), A.shape), atol=1e-13)


def test_only_the_part_below_the_diagonal_counts():
    B = stack(6, 4, 5)
    A = B @ B.swapaxes(1, 2)
    for found, whole in zip(stacked_eigen(np.tril(A)), stacked_eigen(A), strict=True):
        np.testing.assert_allclose(found, whole, rtol=0, atol=1e-13)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_values_of_a_stack_are_right_in_any_unit(size):
    B = stack(5, 3, 6)
    A = B @ B.swapaxes(1, 2)
    A[2] = 1.0  # of one direction
    values, vectors = stacked_eigen(A / 100.0 * size)
    expected = np.linalg.eigvalsh(A)[:, ::-1]
    np.testing.assert_allclose(values / size * 100.0, expected, rtol=0, atol=1e-14 * expected.max())
    np.testing.assert_allclose(vectors.swapaxes(1, 2) @ vectors, np.broadcast_to(np.eye(3), A.shape), atol=1e-13)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_matrix_that_is_not_finite_has_values_and_vectors_of_nan_alone(bad):
    B = stack(11, 3, 5)
    A = B @ B.swapaxes(1, 2)
    expected = stacked_eigen(A)
    A[2, 1, 0] = bad
    for found, whole in zip(stacked_eigen(A), expected, strict=True):
        assert np.isnan(found[2]).all()
        assert np.delete(found, 2, axis=0).tobytes() == np.delete(whole, 2, axis=0).tobytes()


def test_no_matrices_and_matrices_of_no_rows_have_no_values():
    assert [one.shape for one in stacked_eigen(np.empty((0, 3, 3)))] == [(0, 3), (0, 3, 3)]
    assert [one.shape for one in stacked_eigen(np.empty((4, 0, 0)))] == [(4, 0), (4, 0, 0)]


@pytest.mark.parametrize("shape", [(1, 1, 1), (30, 2, 2), (30, 2, 9), (7, 5, 1), (3, 12, 4)])
def test_systems_are_solved_as_numpy_solves_them(shape):
    m, d, p = shape
    A, B = stack(m, d, d), stack(m, d, p, seed=1)
    kept = A.copy(), B.copy()
    np.testing.assert_allclose(stacked_solve(A, B), np.linalg.solve(A, B), rtol=1e-9, atol=1e-11)
    assert np.array_equal(A, kept[0])
    assert np.array_equal(B, kept[1])


def test_systems_take_the_largest_pivot():
    A = np.array([[[0.0, 2.0], [3.0, 1.0]], [[1e-20, 1.0], [1.0, 1.0]]])
    np.testing.assert_allclose(stacked_solve(A, np.array([[[2.0], [4.0]], [[1.0], [2.0]]]))[:, :, 0], [[1, 1], [1, 1]])


def test_a_singular_system_has_no_finite_solution_and_harms_no_other():
    A, B = stack(4, 2, 2), stack(4, 2, 1)
    expected = stacked_solve(A, B)
    A[1] = 0.0
    found = stacked_solve(A, B)
    assert not np.isfinite(found[1]).any()
    assert np.delete(found, 1, axis=0).tobytes() == np.delete(expected, 1, axis=0).tobytes()
    assert stacked_solve(np.empty((0, 2, 2)), np.empty((0, 2, 1))).shape == (0, 2, 1)


def assert_decomposes(A: np.ndarray, tolerance: float = 1e-14) -> np.ndarray:
    """Return the singular values, after what must hold of all three factors."""
    U, s, V = small_svd(A)
    least = min(A.shape)
    assert U.shape == (A.shape[0], least)
    assert V.shape == (A.shape[1], least)
    assert np.all(s >= 0)
    assert np.all(np.diff(s) <= 0)
    size = max(1e-300, np.linalg.norm(A))
    np.testing.assert_allclose((U * s) @ V.T / size, A / size, rtol=0, atol=10 * tolerance)
    for vectors in (U, V):
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(least), rtol=0, atol=10 * tolerance)
    np.testing.assert_allclose(s / size, np.linalg.svd(A, compute_uv=False) / size, rtol=0, atol=tolerance)
    return s


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (5, 1), (1, 5), (300, 2), (3, 200), (40, 40), (90, 17)])
def test_singular_vectors_make_up_the_matrix_and_are_orthonormal(shape):
    assert_decomposes(stack(*shape), 1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_left_vectors_are_orthonormal_where_columns_depend_on_each_other(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 40)), int(rng.integers(2, 7))
    rank = int(rng.integers(1, d))
    A = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))
    assert np.count_nonzero(assert_decomposes(A, 1e-13) > 1e-12 * np.linalg.norm(A)) == rank
    assert_decomposes(A.T, 1e-13)
    A[:, 0] = A[:, -1]
    assert_decomposes(A, 1e-13)
    A[:, 0] = 0.0
    assert_decomposes(A, 1e-13)


@pytest.mark.parametrize("A", [np.zeros((4, 2)), np.zeros((3, 3)), np.eye(4), np.ones((6, 3)), np.ones((2, 5))])
def test_matrices_of_zeros_and_ones_have_orthonormal_vectors(A):
    s = assert_decomposes(A)
    assert np.count_nonzero(s > 1e-14) == np.linalg.matrix_rank(A)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_singular_values_are_right_in_any_unit(size):
    A = stack(12, 3)
    U, s, V = small_svd(A * size)
    expected = small_svd(A)
    np.testing.assert_allclose(s / size, expected[1], rtol=1e-13)
    np.testing.assert_allclose(np.abs(U), np.abs(expected[0]), atol=1e-12)
    np.testing.assert_allclose(np.abs(V), np.abs(expected[2]), atol=1e-12)


def test_small_values_keep_their_digits_where_columns_differ_in_size():
    A = np.linalg.qr(stack(30, 3))[0] * [1.0, 1e-7, 1e-13]
    np.testing.assert_allclose(small_svd(A)[1], [1.0, 1e-7, 1e-13], rtol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_has_singular_values_and_vectors_of_nan(bad):
    A = stack(5, 2)
    A[3, 1] = bad
    for factor in (*small_svd(A), *small_svd(A.T)):
        assert np.isnan(factor).all()


def test_a_matrix_without_rows_or_columns_has_no_singular_values():
    for shape in ((0, 0), (0, 3), (3, 0)):
        U, s, V = small_svd(np.empty(shape))
        assert (U.shape, s.shape, V.shape) == ((shape[0], 0), (0,), (shape[1], 0))


def test_the_matrix_given_is_left_as_it_is():
    A = stack(6, 6)
    kept = A.copy()
    small_svd(A)
    small_svd(np.asfortranarray(A))
    assert np.array_equal(A, kept)


def test_bits_do_not_depend_on_threads():
    A, B, C = stack(700, 5, 40), stack(700, 40, 40, seed=1), stack(500, 6, 6)
    for compute in (
        lambda: stacked_products(A, B),
        lambda: stacked_products(B, A.swapaxes(1, 2)),
        lambda: stacked_products(B[:60], B[60:120]),
        lambda: stacked_eigen(C @ C.swapaxes(1, 2)),
        lambda: small_svd(A[0].T),
    ):
        assert len(set(by_threads(compute, 1, 3, 5))) == 1


@pytest.mark.parametrize("shape", [(0, 5), (1, 1), (40, 33), (1100, 70), (3000, 3)])
def test_inner_products_are_symmetric_and_of_the_type_asked_for(shape):
    A = stack(*shape).astype(np.float32)
    exact = A.astype(np.float64).T @ A.astype(np.float64)
    for dtype in (np.float32, np.float64):
        bits = set()
        for n_threads in (1, 3):
            found = np.full(exact.shape, np.nan, dtype)
            _core.inner_products(A, found, n_threads)
            bits.add(found.tobytes())
        assert len(bits) == 1
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-6 * max(1, len(A)))
        assert np.array_equal(found, found.T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_rows_are_symmetric_and_equal_for_equal_rows(dtype):
    X = stack(70, 9).astype(dtype)
    X[40] = X[3]
    found = row_products(X)
    assert found.dtype == dtype
    assert np.array_equal(found, found.T)
    assert np.array_equal(found[40], found[3])
    np.testing.assert_allclose(found, X @ X.T, atol=1e-5 if dtype is np.float32 else 1e-13)


def test_kernels_refuse_shapes_that_do_not_fit():
    out = np.empty((6, 4))
    with pytest.raises(ValueError, match="terms of B"):
        _core.products(2, np.ones((6, 5)), False, np.ones((8, 4)), False, out, 1)
    with pytest.raises(ValueError, match="whole matrices"):
        _core.products(2, np.ones((6, 5)), False, np.ones((9, 4)), False, out, 1)
    with pytest.raises(ValueError, match="number of columns"):
        _core.small_svd(np.ones((3, 2)), np.empty(3), np.empty((3, 3)))
    with pytest.raises(ValueError, match="matrices"):
        _core.eigen_each(np.ones((5, 2)), np.empty((2, 2)), np.empty((5, 2)), 1)


@pytest.mark.parametrize("shape", [(5, 3), (3, 40), (40, 40), (90, 40), (40, 90)])
def test_singular_values_alone_are_those_of_numpy(shape):
    rng = np.random.default_rng(0)
    A = rng.normal(size=shape) * np.exp(-np.arange(shape[1]) / 3)
    A[:, 1] = A[:, 0]  # a value is zero
    expected = np.linalg.svd(A, compute_uv=False)
    found = []
    for threads in (1, 2, 5):
        with running(n_threads=threads):
            found.append(singular_values(A))
            rough = singular_values(A, by_squares=True)
    np.testing.assert_allclose(found[0], expected, atol=1e-14 * expected[0] * len(expected))
    np.testing.assert_allclose(rough, expected, atol=1e-7 * expected[0])
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    assert (np.diff(found[0]) <= 0).all()
    assert found[0].min() >= 0.0
    A[0, 0] = np.nan
    for by_squares in (False, True):
        assert np.isnan(singular_values(A, by_squares=by_squares)).all()
