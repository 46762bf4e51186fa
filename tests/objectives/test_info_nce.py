"""Contrastive estimation by cyclic shifts: its loss in float64, and its forces against finite differences of it."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon import _core
from gnomon.kernels import Cauchy, Gaussian, StudentT, UMAPKernel
from gnomon.linalg import kernel_graph
from gnomon.objectives.pairs import compile_kernel

NOTHING = np.empty(0, np.float32)
KERNELS = [Cauchy(), Gaussian(2.0), StudentT(3.0), UMAPKernel(1.5769, 0.8951)]


def loss_of(dense, kernel, Y, shifts, charges=1.0):
    """Write the loss down as it reads."""
    charges = np.broadcast_to(charges, len(Y))
    similarities = kernel.value(np.square(Y[:, None] - Y[None]).sum(-1))
    n = len(Y)
    others = [(np.arange(n) + r) % n for r in shifts]
    noise = sum(charges[other] * similarities[np.arange(n), other] for other in others)
    return np.sum(dense * (-np.log(similarities) + np.log(similarities + noise[:, None])))


def gradient_of(dense, kernel, Y, shifts, charges=1.0, step=1e-5):
    gradient = np.zeros(Y.shape)
    for at in np.ndindex(Y.shape):
        moved = np.zeros(Y.shape)
        moved[at] = step
        up, down = (loss_of(dense, kernel, Y + sign * moved, shifts, charges) for sign in (1, -1))
        gradient[at] = (up - down) / (2 * step)
    return gradient


def problem(n, d, *, seed=0):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, n)) < min(6.0 / n, 0.9), rng.random((n, n)), 0.0)
    dense = (dense + dense.T).astype(np.float32)
    np.fill_diagonal(dense, 0.0)
    matrix = sp.csr_array(dense)
    edges = kernel_graph(matrix)
    return dense.astype(np.float64), edges, rng.normal(size=(n, d)).astype(np.float32)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize(("n", "d", "shifts"), [(3, 2, [1]), (17, 1, [3, 16]), (40, 2, [1, 20, 7]), (23, 5, [2])])
def test_forces_are_the_finite_difference_of_the_loss(kernel, n, d, shifts, relative_error):
    dense, edges, Y = problem(n, d)
    attraction, repulsion, loss = _core.info_nce(
        edges, Y, compile_kernel(kernel), np.array(shifts, np.int64), NOTHING, 2
    )
    points = Y.astype(np.float64)
    assert loss == pytest.approx(loss_of(dense, kernel, points, shifts), rel=1e-5)
    assert relative_error(-(attraction + repulsion), gradient_of(dense, kernel, points, shifts)) < 1e-4


def test_shifts_are_taken_modulo_the_number_of_points_and_may_repeat(relative_error):
    dense, edges, Y = problem(300, 3)
    kernel = compile_kernel(Cauchy())
    one = _core.info_nce(edges, Y, kernel, np.array([5, 299, 5]), NOTHING, 1)
    other = _core.info_nce(edges, Y, kernel, np.array([305, -1, -295]), NOTHING, 1)
    np.testing.assert_array_equal(one[1], other[1])
    assert one[2] == pytest.approx(loss_of(dense, Cauchy(), Y.astype(np.float64), [5, 299, 5]), rel=1e-5)


def test_without_noise_nothing_moves():
    _, edges, Y = problem(30, 2)
    attraction, repulsion, loss = _core.info_nce(edges, Y, compile_kernel(Cauchy()), np.empty(0, np.int64), NOTHING, 1)
    assert loss == 0
    assert not attraction.any()
    assert not repulsion.any()


def test_coincident_points_have_finite_forces():
    _, edges, Y = problem(30, 2)
    result = _core.info_nce(edges, np.zeros_like(Y), compile_kernel(KERNELS[3]), np.array([1, 2]), NOTHING, 1)
    assert all(np.isfinite(one).all() for one in result)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_equal_bytes_for_any_number_of_threads(d):
    _, edges, Y = problem(1301, d)
    results = []
    for n_threads in (1, 2, 3, 5):
        found = _core.info_nce(edges, Y, compile_kernel(Cauchy()), np.array([7, 700, 33]), NOTHING, n_threads)
        results.append(b"".join(np.asarray(one).tobytes() for one in found))
    assert results.count(results[0]) == 4


def test_the_kernel_must_be_a_similarity():
    _, edges, Y = problem(30, 2)
    with pytest.raises(ValueError, match="this law needs a kernel with values in"):
        _core.info_nce(edges, Y, _core.OutputKernel("linear"), np.array([1]), NOTHING, 1)
