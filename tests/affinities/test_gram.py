"""Gram matrices: one operator, whatever it is computed from."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads
from threadpoolctl import threadpool_limits

from gnomon._run import running
from gnomon.affinities import Gram
from gnomon.kernels import INPUT_KERNELS

N = 90
X = np.random.default_rng(0).normal(size=(N, 7)) + 3.0
THIN = sp.csr_array(np.where(X > 3.5, X, 0.0))
B = np.random.default_rng(1).normal(size=(N, 4)) + 1.0
K = (lambda Z: Z + Z.T)(np.random.default_rng(2).normal(size=(N, N)))
GRAPH = sp.csr_array(np.where(np.abs(K) > 2.5, K, 0.0))
WIDE = np.random.default_rng(3).normal(size=(N, 200)) + 1.0

GRAMS = {
    "features": (lambda: Gram.from_features(X), X @ X.T),
    "wide-features": (lambda: Gram.from_features(WIDE), WIDE @ WIDE.T),
    "sparse-features": (lambda: Gram.from_features(THIN), (THIN @ THIN.T).toarray()),
    "factor": (lambda: Gram.from_factor(B), B @ B.T),
    "matrix": (lambda: Gram.from_matrix(K), K),
    "sparse-matrix": (lambda: Gram.from_matrix(GRAPH), GRAPH.toarray()),
}
for name in INPUT_KERNELS:
    kernel = Gram.from_kernel(name, X).kernel
    GRAMS[name] = (lambda name=name: Gram.from_kernel(name, X), kernel.block(X, X))
    GRAMS[name + "-in-blocks"] = (lambda name=name: Gram.from_kernel(name, X, stored=False), kernel.block(X, X))
GRAMS["callable"] = (lambda: Gram.from_kernel(lambda a, b: np.tanh(a @ b.T / 30), X), np.tanh(X @ X.T / 30))
H = np.eye(N) - 1 / N
for name in ("features", "wide-features", "sparse-features", "matrix", "sparse-matrix", "gaussian-in-blocks"):
    make, matrix = GRAMS[name]
    GRAMS["centred-" + name] = (lambda make=make: make().centred(), H @ matrix @ H)
each = pytest.mark.parametrize(("make", "matrix"), GRAMS.values(), ids=GRAMS)


@each
def test_products_entries_and_diagonal_are_those_of_the_matrix(make, matrix):
    gram, size = make(), np.abs(matrix).max()
    Y = np.random.default_rng(4).normal(size=(N, 3)) + 2.0
    assert gram.n_samples == N
    np.testing.assert_allclose(gram.matvec(Y), matrix @ Y, atol=1e-11 * size)
    np.testing.assert_allclose(gram.centred_matvec(Y), H @ matrix @ H @ Y, atol=1e-11 * size)
    np.testing.assert_allclose(gram.dense(), matrix, atol=1e-12 * size)
    np.testing.assert_allclose(gram.diagonal(), np.diag(matrix), atol=1e-12 * size)
    rows, columns = np.array([3, 50, 7]), np.array([7, 0, 3, 89])
    np.testing.assert_allclose(gram.block(rows, columns), matrix[np.ix_(rows, columns)], atol=1e-12 * size)
    np.testing.assert_allclose(gram.block(None, columns), matrix[:, columns], atol=1e-12 * size)
    np.testing.assert_allclose(gram.centred_squared_norm, np.sum((H @ matrix @ H) ** 2), rtol=1e-10)
    np.testing.assert_array_equal(gram.dense(), gram.dense().T)


@each
def test_bounds_and_leading_pairs_are_those_of_the_centred_matrix(make, matrix):
    gram = make()
    eigenvalues = np.linalg.eigvalsh(H @ matrix @ H)
    lowest, highest = gram.centred_bounds
    assert lowest <= eigenvalues[0] + 1e-9 * highest
    assert eigenvalues[-1] <= highest <= 1.1 * eigenvalues[-1]
    found = gram.leading_eigenpairs(3)
    np.testing.assert_allclose(found.values, eigenvalues[-3:][::-1], rtol=1e-10)
    products = gram.centred_matvec(found.vectors)
    np.testing.assert_allclose(products, found.vectors * found.values, atol=1e-9 * eigenvalues[-1])


@pytest.mark.parametrize("name", INPUT_KERNELS)
def test_the_same_bytes_for_any_number_of_threads(name):
    rows = np.random.default_rng(0).normal(size=(530, 9))  # more than one block
    Y = np.random.default_rng(1).normal(size=(530, 2))
    for stored in (False, True):
        found = []
        for threads in (1, 2, 3, 5):
            with threadpool_limits(limits=threads), running(n_threads=threads):
                gram = Gram.from_kernel(name, rows, stored=stored)
                found.append((gram.matvec(Y).tobytes(), gram.centred_squared_norm))
        assert len(set(found)) == 1


@pytest.mark.parametrize("name", INPUT_KERNELS[1:])
def test_stored_and_evaluated_products_agree_and_the_choice_is_told(name):
    rows = np.random.default_rng(0).normal(size=(600, 4)) + 10.0
    Y = np.random.default_rng(1).normal(size=(600, 2))
    stored, evaluated = Gram.from_kernel(name, rows), Gram.from_kernel(name, rows, stored=False)
    assert (stored.stored, evaluated.stored) == (True, False)
    np.testing.assert_allclose(stored.matvec(Y), evaluated.matvec(Y), atol=1e-12 * np.abs(stored.matvec(Y)).max())
    assert stored.centred_squared_norm == pytest.approx(evaluated.centred_squared_norm, rel=1e-11)


@pytest.mark.parametrize("threads", [1, 3])
def test_one_half_of_the_matrix_stands_for_all_of_it(threads, monkeypatch):
    rows = np.random.default_rng(0).normal(size=(600, 4)) + 10.0
    Y = np.random.default_rng(1).normal(size=(600, 2))
    whole = Gram.from_kernel("laplacian", rows)
    monkeypatch.setattr("gnomon.affinities.gram._LARGEST_MATRIX", 100)
    half = on_threads(threads, Gram.from_kernel)("laplacian", rows)
    assert half.stored
    np.testing.assert_allclose(half.matvec(Y), whole.matvec(Y), atol=1e-12 * np.abs(whole.matvec(Y)).max())
    np.testing.assert_array_equal(half.dense(), whole.dense())
    np.testing.assert_array_equal(half.diagonal(), 1.0)
    assert half.centred_squared_norm == pytest.approx(whole.centred_squared_norm, rel=1e-11)
    one = Gram.from_kernel("laplacian", rows)
    assert half.matvec(Y).tobytes() == one.matvec(Y).tobytes()


def test_a_table_far_from_the_origin_keeps_its_digits():
    near, far = Gram.from_features(X - X.mean(0)), Gram.from_features(X - X.mean(0) + 2.0**20)
    Y = np.random.default_rng(1).normal(size=(N, 2))
    np.testing.assert_allclose(far.centred_matvec(Y), near.centred_matvec(Y), atol=1e-7)
    for name in ("gaussian", "laplacian", "cauchy", "sketch_map", "umap"):
        moved = Gram.from_kernel(name, X + 2.0**20).dense()
        np.testing.assert_allclose(moved, Gram.from_kernel(name, X).dense(), atol=1e-7)


@pytest.mark.parametrize("sparse", [False, True])
def test_a_long_table_never_becomes_a_square_matrix(sparse):
    n = 20_000  # its square matrix would take 3.2 GB
    table = np.random.default_rng(0).normal(size=(n, 4))
    tracemalloc.start()
    gram = Gram.from_features(sp.csr_array(table) if sparse else table)
    gram.matvec(table)
    gram.centred_matvec(table)
    gram.centred_squared_norm  # noqa: B018
    gram.centred_bounds  # noqa: B018
    gram.approximate("randomized", rank=4)
    gram.approximate("cholesky", rank=4)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6


def test_kernels_in_blocks_hold_few_rows_at_a_time():
    rows = np.random.default_rng(0).normal(size=(3000, 3))
    gram = Gram.from_kernel("cauchy", rows, stored=False)
    tracemalloc.start()
    gram.matvec(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * 8 * 3000**2


@pytest.mark.parametrize("method", ["randomized", "nystrom", "cholesky"])
def test_approximations_converge_to_the_matrix(method):
    gram = Gram.from_kernel("gaussian", X)
    dense, errors = gram.dense(), []
    for rank in (2, 10, 40, N):
        found = gram.approximate(method, rank=rank, seed=1)
        errors.append(np.linalg.norm(dense - found.B @ found.B.T, 2))
        assert errors[-1] <= found.error_bound + 1e-9
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-8
    again = Gram.from_factor(found)
    assert again.kind == "factor"
    np.testing.assert_allclose(again.matvec(X), gram.matvec(X), atol=1e-7)


def test_options_reach_the_method():
    gram = Gram.from_features(X)
    greedy = gram.approximate("cholesky", rank=1, pivots="greedy")
    assert greedy.landmarks[0] == np.argmax(np.square(X).sum(1))
    with pytest.raises(ValueError, match=r"Gram: method='svd' must be one of 'randomized', 'nystrom', 'cholesky'"):
        gram.approximate("svd", rank=2)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array])
def test_asymmetric_similarities_are_refused_and_rounding_is_not(form):
    bad = K.copy()
    bad[4, 9] += 0.5
    text = r"Gram: the similarity must be symmetric \(.* at row \d, column \d and .*\)\. Pass \(A \+ A\.T\) / 2"
    with pytest.raises(ValueError, match=text):
        Gram.from_matrix(form(bad))
    near = K.copy()
    near[4, 9] += 1e-13
    gram = Gram.from_matrix(form(near))
    np.testing.assert_array_equal(gram.dense(), gram.dense().T)
    np.testing.assert_allclose(gram.dense(), K, atol=1e-12)
    single = K.astype(np.float32)
    single[4, 9] *= np.float32(1 + 3e-7)
    Gram.from_matrix(form(single))
    with pytest.raises(ValueError, match="must be symmetric"):
        Gram.from_matrix(form(single.astype(np.float64)))


def test_other_things_that_are_no_similarity_are_refused():
    with pytest.raises(ValueError, match=r"a similarity of shape \(3, 2\) must be a square matrix"):
        Gram.from_matrix(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="the similarity must be finite"):
        Gram.from_matrix(np.full((3, 3), np.nan))
    with pytest.raises(ValueError, match=r"similarity must be symmetric, f\(A, B\) = f\(B, A\)'"):
        Gram.from_kernel(lambda a, b: a[:, :1] + 0 * b[:, 0], X)
    with pytest.raises(ValueError, match=r"Y of shape \(5, 2\) must be of shape \(n_samples=90, n_columns\)"):
        Gram.from_features(X).matvec(np.zeros((5, 2)))


def test_signatures_are_known_where_they_can_be():
    assert Gram.from_features(X).semidefinite
    assert Gram.from_kernel("gaussian", X).semidefinite
    assert Gram.from_matrix(K).semidefinite is None
    assert Gram.from_kernel(lambda a, b: a @ b.T, X).semidefinite is None
    assert Gram.from_matrix(K).centred_bounds[0] < 0


REFERENCE = {  # reference_values.json, kernel_pca
    ("gaussian", "sigma", 1.2): [
        1.481230429,
        1.363340939,
        0.8231858661,
        0.3071311856,
        0.1844784628,
        0.1422905042,
        0.08070610692,
    ],
    ("polynomial", "coefficients", (0.0, 1.0, 1.0)): [
        10.10073752,
        6.741720734,
        5.42991031,
        1.786439068,
        1.162275424,
        0.7487978758,
        0.2970366918,
    ],
    ("cauchy", "sigma", 1.0): [
        1.283388057,
        1.218067782,
        0.8381572601,
        0.5626019689,
        0.4253059998,
        0.3663083686,
        0.3151731239,
    ],
}


@pytest.mark.parametrize(("case", "eigenvalues"), REFERENCE.items())
def test_agrees_with_stored_reference(case, eigenvalues, eight_points):
    name, parameter, value = case
    found = Gram.from_kernel(name, eight_points, parameters={parameter: value}).leading_eigenpairs(7)
    expected = np.array(eigenvalues)
    np.testing.assert_allclose(found.values[: len(expected)], expected, rtol=1e-6, atol=1e-6)


def test_the_polynomial_is_the_inner_product_of_its_extended_features():
    plane = np.random.default_rng(0).normal(size=(30, 2))
    x, y = plane.T
    extended = np.stack([x, y, x**2, y**2, np.sqrt(2) * x * y], axis=1)
    found = Gram.from_kernel("polynomial", plane).leading_eigenpairs(6)
    np.testing.assert_allclose(found.values[:5], Gram.from_features(extended).leading_eigenpairs(5).values, rtol=1e-9)
    assert abs(found.values[5]) < 1e-12 * found.values[0]
