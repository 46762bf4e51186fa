"""Sampled repulsion with weights of points and of draws, for every similarity."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon import _core
from gnomon.kernels import EXAMPLES, Cauchy, evaluate_law
from gnomon.linalg import kernel_graph
from gnomon.objectives.pairs import compile_kernel

SIMILARITIES = [kernel for kernel in EXAMPLES.values() if kernel.bounded and kernel.compiled]
UNLIMITED = 1e30


def lattice():
    Y = np.stack(np.meshgrid(np.arange(6), 1.3 * np.arange(7)), axis=-1).reshape(-1, 2).astype(np.float32)
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((42, 42)) < 0.2, rng.random((42, 42)), 0.0)
    matrix = sp.csr_array((dense + dense.T).astype(np.float32))
    return Y, kernel_graph(matrix), matrix.toarray()


@pytest.mark.parametrize("kernel", SIMILARITIES, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_attraction_is_exact_and_repulsion_right_on_average(kernel, weighted, relative_error):
    Y, edges, dense = lattice()
    u, v = (np.random.default_rng(seed).uniform(0.5, 2.0, 42).astype(np.float32) for seed in (1, 2))
    parameters = _core.SamplingParameters(3, 0.7, 2.5, 40, UNLIMITED)  # more draws than a tile holds
    away = Y[:, None].astype(np.float64) - Y[None]
    s = np.square(away).sum(-1)
    mean = np.zeros(Y.shape)
    for epoch in range(600):
        drawn = v if weighted else np.empty(0, np.float32)
        attraction, repulsion = _core.sampled_forces(edges, u, drawn, compile_kernel(kernel), parameters, epoch, Y, 2)
        mean += repulsion / 600
    _, pull = evaluate_law("log", kernel, s)
    assert relative_error(attraction, np.einsum("ij,ijc->ic", -4 * dense * pull, away)) < 1e-5
    _, push = evaluate_law("log_deficit", kernel, s)
    weights = 2 * 2.5 / 42 * np.outer(u, v if weighted else np.ones(42))
    assert relative_error(mean, np.einsum("ij,ijc->ic", -weights * push, away)) < 0.06


@pytest.mark.parametrize("d", [2, 4])
def test_two_turns_of_the_edges_are_all_of_them_on_average(d):
    rng, n = np.random.default_rng(4), 200
    dense = np.where(rng.random((n, n)) < np.outer(np.arange(n), np.arange(n)) / 2 / n**2, rng.random((n, n)), 0.0)
    matrix = sp.csr_array((dense + dense.T).astype(np.float32))
    assert {0, 1, 2, 3, 4, 5} <= set(np.diff(matrix.indptr) // 16)
    Y, ones, none = rng.normal(size=(n, d)).astype(np.float32), np.ones(n, np.float32), np.empty(0, np.float32)
    kernel, sampling = compile_kernel(Cauchy()), _core.SamplingParameters(0, 1.0, 0.0, 1, UNLIMITED)
    schedule, added = _core.SampledSchedule(1.0, 9), np.empty((0, d), np.float32)
    halves = []
    for epoch in (0, 1):
        place, first, second = Y.copy(), np.zeros_like(Y), np.zeros_like(Y)
        arguments = (kernel, sampling, schedule, epoch, epoch + 1, place, first, second, added, 1)
        _core.sampled_epochs(kernel_graph(matrix), ones, none, *arguments)
        halves.append(2 * first)  # Adam's first moment is half of the first force
    whole, _ = _core.sampled_forces(kernel_graph(matrix), ones, none, kernel, sampling, 0, Y, 1)
    np.testing.assert_allclose(np.mean(halves, axis=0), whole, rtol=0, atol=2e-6 * np.abs(whole).max())
    few = np.diff(matrix.indptr) <= 16
    assert np.array_equal(halves[0][few], halves[1][few])
    assert not np.array_equal(halves[0], halves[1])


def test_draws_are_even_over_the_table_and_every_row_is_as_likely():
    n, n_draws, words = 100, 32, np.zeros(2, np.uint64)
    counts = np.zeros(n)
    for epoch in range(4000):
        words[:] = 0
        _core.mark_draws(_core.SamplingParameters(1, 1.0, 5.0, n_draws, 4.0), epoch, 16, 32, n, words, 1)
        drawn = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")[:n])
        assert np.diff(drawn, prepend=-1, append=n).max() <= 2 * n / n_draws + 1  # no piece of the table is left out
        counts[drawn] += 1
    assert np.abs(counts / 4000 - counts.mean() / 4000).max() < 0.05  # rows of two pieces may be drawn twice


def test_weights_of_one_are_no_weights():
    Y, edges, _ = lattice()
    ones, none = np.ones(42, np.float32), np.empty(0, np.float32)
    parameters = _core.SamplingParameters(0, 1.0, 5.0, 16, 4.0)
    kernel = compile_kernel(Cauchy())
    with_ones = _core.sampled_forces(edges, ones, ones, kernel, parameters, 0, Y, 1)
    without = _core.sampled_forces(edges, ones, none, kernel, parameters, 0, Y, 1)
    np.testing.assert_array_equal(with_ones, without)


def test_no_component_of_a_pair_exceeds_its_limit():
    Y, edges, dense = lattice()
    parameters = _core.SamplingParameters(0, 1.0, 1.0, 16, 0.01)
    ones, none = np.ones(42, np.float32), np.empty(0, np.float32)
    attraction, repulsion = _core.sampled_forces(edges, ones, none, compile_kernel(Cauchy()), parameters, 0, 0.1 * Y, 1)
    assert np.all(np.abs(attraction) <= 2 * 0.01 * dense.sum(1)[:, None] * (1 + 1e-5))
    assert np.abs(repulsion).max() <= 0.01 * (1 + 1e-5)


@pytest.mark.parametrize("kernel", [EXAMPLES["noise_contrast"], EXAMPLES["gaussian"]], ids=str)
def test_equal_bytes_for_any_number_of_threads(kernel):
    rng = np.random.default_rng(5)
    n = 901
    graph = sp.random_array((n, n), density=0.02, rng=rng, dtype=np.float32, format="csr")
    edges = kernel_graph(graph)
    weights = rng.random(n).astype(np.float32)
    parameters = _core.SamplingParameters(0, 1.0, 5.0, 16, 4.0)
    for d in (2, 5):
        Y = rng.normal(size=(n, d)).astype(np.float32)
        results = []
        for n_threads in (1, 2, 3, 5):
            found = _core.sampled_forces(edges, weights, weights, compile_kernel(kernel), parameters, 4, Y, n_threads)
            results.append(b"".join(one.tobytes() for one in found))
        assert results.count(results[0]) == 4


def test_kernels_that_are_no_similarities_are_refused():
    Y, edges, _ = lattice()
    parameters = _core.SamplingParameters(0, 1.0, 5.0, 16, 4.0)
    ones = np.ones(42, np.float32)
    with pytest.raises(ValueError, match="this law needs a kernel with values in"):
        _core.sampled_forces(edges, ones, ones, _core.OutputKernel("distance"), parameters, 0, Y, 1)
