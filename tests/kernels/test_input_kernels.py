"""Input kernels: closed forms, agreement with scikit-learn, scales from the data, errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise

from gnomon.kernels import INPUT_KERNELS, input_kernel
from gnomon.kernels.choice import median_distance
from gnomon.kernels.inputs import squared_distances


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(20, 5)), np.random.default_rng(1).normal(size=(30, 5))


def test_two_points_have_the_values_of_the_formulas():
    a, b = np.array([[1.0, 2.0]]), np.array([[4.0, 6.0]])  # inner product 16, distance 5
    values = {
        "linear": 16.0,
        "polynomial": 16.0 + 256.0,
        "gaussian": np.exp(-25 / 8),
        "laplacian": np.exp(-2.5),
        "cauchy": 1 / (1 + 25 / 4),
        "cosine": 16 / np.sqrt(5 * 52),
        "sketch_map": (1 + (2 ** (2 / 3) - 1) * 25 / 4) ** -1.5,
        "umap": 1 / (1 + 1.577 * (25 / 4) ** 0.895),
    }
    assert set(values) == set(INPUT_KERNELS)
    for name, expected in values.items():
        parameters = {"sigma": 2.0} if name not in ("linear", "polynomial", "cosine") else {}
        kernel = input_kernel(name, a, parameters=parameters)
        np.testing.assert_allclose(kernel.block(a, b), [[expected]], rtol=1e-14)
    kernel = input_kernel("polynomial", a, parameters={"coefficients": (1.0, 0.0, 0.0, 2.0), "scale": 4.0})
    np.testing.assert_allclose(kernel.block(a, b), [[1 + 2 * 4.0**3]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_near_rows_far_from_the_origin_keep_the_digits_of_their_distance(form):
    """1e6 away from the origin, squared lengths leave 1e-4 of a squared distance of 1."""
    rows = np.round(64 * np.random.default_rng(0).normal(size=(40, 3))) / 64
    exact = np.square(rows[:, None] - rows[None]).sum(axis=2)
    far = form(rows + 2.0**20)
    np.testing.assert_allclose(squared_distances(far, far), exact, rtol=1e-12)


def test_a_gaussian_beside_an_outlier_is_positive_semidefinite():
    rows = np.random.default_rng(0).normal(size=(50, 2))
    rows[0] *= 1e7
    rows -= rows.mean(axis=0)  # 2e5 from the origin, most of them
    K = input_kernel("gaussian", rows, parameters={"sigma": 1.0}).block(rows, rows)
    assert np.linalg.eigvalsh(K).min() > -1e-12


def test_agrees_with_scikit_learn(rows):
    A, B = rows
    cases = {
        "linear": (pairwise.linear_kernel(A, B), {}),
        "gaussian": (pairwise.rbf_kernel(A, B, gamma=0.5 / 1.3**2), {"sigma": 1.3}),
        "cosine": (pairwise.cosine_similarity(A, B), {}),
        "polynomial": (
            pairwise.polynomial_kernel(A, B, degree=3, gamma=0.2, coef0=1),
            {"coefficients": (1, 3, 3, 1), "scale": 5.0},
        ),
    }
    for name, (expected, parameters) in cases.items():
        kernel = input_kernel(name, A, parameters=parameters)
        np.testing.assert_allclose(kernel.block(A, B), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", INPUT_KERNELS)
def test_blocks_are_symmetric_semidefinite_and_agree_with_their_diagonal(name, rows):
    A, B = rows
    kernel = input_kernel(name, A)
    values = kernel.block(A, A)
    np.testing.assert_allclose(kernel.block(B, A), kernel.block(A, B).T, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(A), np.diag(values), rtol=1e-13)
    assert kernel.semidefinite
    assert np.linalg.eigvalsh(values)[0] > -1e-10 * np.abs(values).max()


@pytest.mark.parametrize("name", INPUT_KERNELS)
def test_sparse_rows_have_the_same_similarities(name, rows):
    A, B = np.where(rows[0] > 0, rows[0], 0), np.where(rows[1] > 0, rows[1], 0)
    kernel = input_kernel(
        name, A, parameters={"sigma": 1.0} if name not in ("linear", "polynomial", "cosine") else None
    )
    thin = kernel.block(sp.csr_array(A), sp.csr_array(B))
    np.testing.assert_allclose(thin, kernel.block(A, B), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(sp.csr_array(A)), kernel.diagonal(A), rtol=1e-13)


@pytest.mark.parametrize("name", ["polynomial", "cosine"])
def test_a_center_is_where_rows_are_measured_from(name, rows):
    A, B = rows
    center = np.arange(5.0)
    kernel, plain = input_kernel(name, A, parameters={"center": center}), input_kernel(name, A)
    weights = np.random.default_rng(2).normal(size=(30, 2))
    for first, second in ((A, B), (sp.csr_array(A), sp.csr_array(B))):
        np.testing.assert_allclose(kernel.block(first, second), plain.block(A - center, B - center), rtol=1e-12)
        np.testing.assert_allclose(kernel.diagonal(first), plain.diagonal(A - center), rtol=1e-12)
    np.testing.assert_allclose(
        kernel.gradients(A, B, weights), plain.gradients(A - center, B - center, weights), rtol=1e-12
    )
    center[:] = 0.0
    np.testing.assert_array_equal(kernel.center, np.arange(5.0))


def test_equal_rows_are_at_distance_zero():
    A = np.repeat(np.random.default_rng(0).normal(size=(3, 50)) * 1e3, 2, axis=0)
    values = input_kernel("laplacian", A, parameters={"sigma": 1e-4}).block(A, A)
    np.testing.assert_array_equal(values, np.kron(np.eye(3), np.ones((2, 2))))


def test_the_scale_is_the_median_distance():
    X = np.array([[0.0], [1.0], [3.0], [3.0]])  # distances 1, 3, 3, 2, 2 and one of zero
    assert median_distance(X) == pytest.approx(2.0)
    assert input_kernel("gaussian", X).sigma == pytest.approx(2.0)
    assert input_kernel("cauchy", X, parameters={"sigma": None}).sigma == pytest.approx(2.0)
    assert median_distance(np.zeros((5, 2))) == 1.0
    assert median_distance(X + 1e6) == pytest.approx(2.0)


def test_a_row_of_zeros_has_no_direction():
    A = np.array([[0.0, 0.0], [1.0, 0.0]])
    kernel = input_kernel("cosine", A)
    np.testing.assert_array_equal(kernel.block(A, A), [[0, 0], [0, 1]])
    np.testing.assert_array_equal(kernel.diagonal(A), [0, 1])


def test_a_callable_takes_blocks(rows):
    A, B = rows
    kernel = input_kernel(lambda a, b: np.maximum(a @ b.T, 0.0), A)
    np.testing.assert_array_equal(kernel.block(A, B), np.maximum(A @ B.T, 0.0))
    np.testing.assert_allclose(kernel.diagonal(A), np.square(A).sum(1))
    assert kernel.semidefinite is None
    with pytest.raises(ValueError, match=r"similarity\(A, B\) of shape \(\) must be of shape \(len\(A\), len\(B\)\)"):
        input_kernel(lambda a, b: 1.0, A).block(A, B)
    with pytest.raises(ValueError, match=r"similarity\(A, B\) must be finite"):
        input_kernel(lambda a, b: np.full((20, 30), np.nan), A).block(A, B)


@pytest.mark.parametrize(
    ("similarity", "parameters", "error", "text"),
    [
        ("gausian", None, ValueError, "kernel='gausian' must be one of 'linear', .* or a callable"),
        (3, None, TypeError, "kernel=3 must be one of .*found int"),
        ("gaussian", {"gamma": 1}, ValueError, "parameters gamma of kernel='gaussian' must be among sigma"),
        (
            "cosine",
            {"center": [[0.0]]},
            ValueError,
            r"CosineInput: center of shape \(1, 1\) must be a vector of finite",
        ),
        ("polynomial", {"center": [np.nan]}, ValueError, r"center of shape \(1,\) must be a vector of finite numbers"),
        ("linear", {"sigma": 1}, ValueError, "parameters sigma .* must be left out: this kernel has none"),
        ("gaussian", {"sigma": -1.0}, ValueError, r"GaussianInput: sigma=-1.0 must be a number > 0"),
        ("polynomial", {"coefficients": (0, -1)}, ValueError, r"coefficients=\(0.0, -1.0\) must be numbers >= 0"),
        (np.dot, {"sigma": 1}, ValueError, "parameters must be left out unless kernel is a name"),
    ],
)
def test_errors_name_the_argument_and_the_rule(similarity, parameters, error, text, rows):
    with pytest.raises(error, match=text):
        input_kernel(similarity, rows[0], parameters=parameters)


def test_further_parameters_have_the_values_of_the_formulas():
    a, b = np.array([[0.0]]), np.array([[3.0]])
    cases = [
        ("cauchy", {"sigma": 2.0, "exponent": 0.5}, (1 + 9 / 4) ** -0.5),
        ("sketch_map", {"sigma": 2.0, "a": 4.0, "b": 6.0}, (1 + (2 ** (4 / 6) - 1) * (3 / 2) ** 4) ** -1.5),
        ("umap", {"sigma": 1.0, "a": 0.5, "b": 1.3}, 1 / (1 + 0.5 * 9**1.3)),
    ]
    for name, parameters, expected in cases:
        kernel = input_kernel(name, a, parameters=parameters)
        np.testing.assert_allclose(kernel.block(a, b), [[expected]], rtol=1e-14)
    half = input_kernel("sketch_map", a, parameters={"sigma": 3.0, "a": 5.0, "b": 2.0})
    np.testing.assert_allclose(half.block(a, b), [[0.5]], rtol=1e-14)


@pytest.mark.parametrize("name", ["gaussian", "laplacian", "cauchy", "sketch_map", "umap"])
def test_slopes_are_the_differences_of_the_values(name):
    kernel = input_kernel(name, np.zeros((1, 1)), parameters={"sigma": 1.3})
    s = np.array([0.1, 0.7, 2.0, 9.0])
    step = 1e-6
    expected = (kernel.of_squares(s + step) - kernel.of_squares(s - step)) / (2 * step)
    np.testing.assert_allclose(kernel.slope(s), expected, rtol=1e-6)
    assert np.isfinite(kernel.slope(np.zeros(1))).all()


def test_kernels_that_can_be_indefinite_say_so_and_are():
    line = np.linspace(0.0, 2.0, 40)[:, None]
    for name, parameters in (("sketch_map", {"sigma": 1.0, "a": 4.0, "b": 4.0}), ("umap", {"sigma": 1.0, "b": 1.6})):
        kernel = input_kernel(name, line, parameters=parameters)
        assert kernel.semidefinite is None
        assert np.linalg.eigvalsh(kernel.block(line, line))[0] < -1e-3
    assert input_kernel("sketch_map", line, parameters={"a": 2.0, "b": 9.0}).semidefinite
    assert input_kernel("umap", line, parameters={"b": 1.0}).semidefinite
