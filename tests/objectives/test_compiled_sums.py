"""The compiled sums of every kernel and law against the master rule in float64."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon import _core
from gnomon.kernels import EXAMPLES, LAWS, Cauchy, Gaussian, StudentT, UMAPKernel, evaluate_law
from gnomon.linalg import kernel_graph
from gnomon.objectives.pairs import compile_kernel
from gnomon.objectives.terms import EdgePairs

COMPILED = [kernel for kernel in EXAMPLES.values() if kernel.compiled]
CASES = [(law, kernel) for law in LAWS for kernel in COMPILED if kernel.bounded or not law.startswith("log")]
NOTHING = np.empty(0, dtype=np.float32)
NO_WEIGHTS = np.empty((0, 0), dtype=np.float32), NOTHING


def points(n, d, *, scale=1.5, seed=0):
    Y = (scale * np.random.default_rng(seed).normal(size=(n, d))).astype(np.float32)
    Y[n // 2] = Y[0]  # two coincide
    return Y


def both_ways(matrix):
    return sp.csr_array(matrix + matrix.T)


def squares(Y):
    Y = Y.astype(np.float64)
    return sum(np.square(column[:, None] - column) for column in Y.T)


@cache
def spread(n, d):
    """Points, the squares of their distances, and weights of all pairs as they are handed over and written out."""
    Y, rng = points(n, d), np.random.default_rng(1)
    u, v = (rng.uniform(0.1, 1.0, n).astype(np.float32) for _ in range(2))
    others = 1.0 - np.eye(n)
    return Y, squares(Y), ((NOTHING, NOTHING, others), (u, v, (np.outer(u, v) + np.outer(v, u)) * others))


def pull(coefficients, Y):
    """Sums over j of c_ij (y_i - y_j), in float64."""
    columns = Y.T.astype(np.float64)
    return np.stack([np.einsum("ij,ij->i", coefficients, y[:, None] - y) for y in columns], axis=1)


def master(law, kernel, Y, weights):
    """Sums over j != i of w_ij dF/ds (y_i - y_j), and of w_ij F over all ordered pairs."""
    energy, slope = evaluate_law(law, kernel, squares(Y))
    weights = np.where(np.eye(len(Y), dtype=bool), 0.0, weights)
    return pull(weights * slope, Y), weights * energy


def assert_close(found, expected, rtol=1e-5):
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * np.abs(expected).max())


@pytest.mark.parametrize(("law", "kernel"), CASES, ids=str)
@pytest.mark.parametrize(("n", "d"), [(2, 2), (33, 1), (1061, 2), (100, 3), (47, 5)])
def test_pair_sums_equal_the_master_rule(law, kernel, n, d):
    Y, squared, weighted = spread(n, d)
    compiled, (energy_of_pairs, slope) = compile_kernel(kernel), evaluate_law(law, kernel, squared)
    slope[squared == 0.0] = 0.0  # nothing is pulled over no distance, and a slope may be large there
    size_of_pairs, places = np.abs(energy_of_pairs), Y.astype(np.float64)
    for a, b, weights in weighted:
        force, energy = _core.pair_sums(law, Y, a, b, compiled, 2)
        coefficients = weights * slope
        assert_close(force, coefficients.sum(axis=1)[:, None] * places - coefficients @ places)
        size = np.vdot(weights, size_of_pairs)
        assert energy == pytest.approx(np.vdot(weights, energy_of_pairs), rel=1e-5, abs=1e-6 * max(size, 1.0))
        alone, nothing = _core.pair_sums(law, Y, a, b, compiled, 2, with_energy=False)
        np.testing.assert_array_equal(alone, force)
        assert nothing == 0


@pytest.mark.parametrize(("law", "kernel"), CASES, ids=str)
@pytest.mark.parametrize(("n", "d"), [(2, 2), (40, 1), (300, 2), (90, 3), (47, 5)])
def test_edge_sums_equal_the_master_rule(law, kernel, n, d):
    Y, rng = points(n, d), np.random.default_rng(2)
    # rows of no edges, of a few, and of more than a tile of 512 holds; weights of both signs
    dense = np.where(rng.random((n, n)) < np.linspace(0, 1, n)[:, None], rng.normal(size=(n, n)), 0.0)
    np.fill_diagonal(dense, 0.0)
    graph = sp.csr_array(dense.astype(np.float32))
    base = rng.normal(size=(n, d)).astype(np.float32)
    edges = kernel_graph(graph)
    force = _core.edge_sums(edges, Y, compile_kernel(kernel), law, 0.5, base, 2.0, 2)
    expected, energies = master(law, kernel, Y, graph.toarray().astype(np.float64))
    size = np.abs(expected).max()
    np.testing.assert_allclose(force, 0.5 * expected + 2.0 * base, rtol=0, atol=1e-5 * max(size, 1.0))
    energy = _core.edge_energy(edges, Y, compile_kernel(kernel), law, 2)
    assert energy == pytest.approx(energies.sum(), abs=1e-6 * max(np.abs(energies).sum(), 1.0))


@pytest.mark.parametrize("kernel", [Cauchy(), UMAPKernel.from_min_dist(0.1)], ids=str)
@pytest.mark.parametrize("densest", [0.01, 0.2, 1.0])
def test_attraction_in_the_plane_has_the_bits_of_the_same_plane_in_space(kernel, densest):
    n, rng = 701, np.random.default_rng(5)
    # rows of no edges and of few, many of which go side by side; of up to more than those of a tile of 512
    dense = np.where(rng.random((n, n)) < np.linspace(0, densest, n)[:, None], rng.normal(size=(n, n)), 0.0)
    edges, compiled = kernel_graph(sp.csr_array(dense.astype(np.float32))), compile_kernel(kernel)
    Y, none = points(n, 2), np.empty((0, 2), np.float32)
    space = np.column_stack([Y, np.zeros(n, np.float32)])
    for n_threads in (1, 2, 5):
        expected = _core.edge_sums(edges, space, compiled, "log", -4.0, space[:0], 1.0, n_threads)
        found = _core.edge_sums(edges, Y, compiled, "log", -4.0, none, 1.0, n_threads)
        np.testing.assert_array_equal(found, expected[:, :2])
    few = _core.edge_sums(edges, Y, compiled, "log", -4.0, none, 1.0, 1, 300)
    np.testing.assert_array_equal(few, found[:300])
    Y[7] = np.nan  # of whose neighbours alone the forces are not finite, whatever lies beside their edges
    lost = np.isnan(_core.edge_sums(edges, Y, compiled, "log", -4.0, none, 1.0, 1)).any(axis=1)
    assert set(np.flatnonzero(lost)) - {7} == set(np.flatnonzero(dense[:, 7])) - {7}


def hub_and_few(n, rng):
    """A graph whose first point has an edge to each other one, as many as a part of an ordered graph may not have."""
    few = sp.random_array((n, n), density=3 / n, rng=rng, dtype=np.float32)
    hub = sp.csr_array((np.ones(n - 1), (np.zeros(n - 1, dtype=int), np.arange(1, n))), shape=(n, n))
    return sp.csr_array(few + hub)


def uneven(n, rng):
    """A graph of rows without edges, of few and of many."""
    return sp.csr_array(np.where(rng.random((n, n)) < np.linspace(0, 0.2, n)[:, None], rng.random((n, n)), 0.0))


def lonely(n, rng):
    """A graph of so few edges that most points have none."""
    return sp.csr_array(sp.random_array((n, n), density=500 / n**2, rng=rng))


def scattered(n, rng):
    """A graph of which a few thousand points have edges to more others than two bytes can number."""
    return sp.csr_array((rng.random(40 * n), rng.integers(0, n, 40 * n), 40 * np.arange(n + 1)), shape=(n, n))


@pytest.mark.parametrize(
    ("graph", "n"),
    [(uneven, 700), (uneven, 3), (hub_and_few, 40_000), (lonely, 80_000), (scattered, 80_000)],
)
def test_edges_in_the_order_of_a_map_give_the_same_bits(graph, n):
    rng = np.random.default_rng(3)
    Y, base = points(n, 2), rng.normal(size=(n, 2)).astype(np.float32)
    edges, kernel = kernel_graph(graph(n, rng).astype(np.float32)), compile_kernel(Cauchy())
    for n_threads in (1, 2):
        ordered = _core.OrderedGraph(edges, points(n, 2)[::-1].copy(), n_threads)  # of any map
        for added in (base, base[:0]):
            expected = _core.edge_sums(edges, Y, kernel, "log", -4.0, added, 0.5, 1)
            np.testing.assert_array_equal(ordered.cauchy_sums(Y, -4.0, added, 0.5, n_threads), expected)


def test_a_point_of_more_edges_than_an_ordered_graph_counts_is_refused():
    n = _core.OrderedGraph.most_edges + 2
    edges = kernel_graph(hub_and_few(n, np.random.default_rng(0)).astype(np.float32))
    with pytest.raises(ValueError, match="edges of a point"):
        _core.OrderedGraph(edges, points(n, 2), 1)


def test_attraction_keeps_its_bits_when_its_edges_are_ordered(monkeypatch):
    monkeypatch.setattr("gnomon.objectives.terms.edges._SCATTERED", 1)
    monkeypatch.setattr("gnomon.objectives.terms.edges._ORDERED_AT", (2, 4))
    Y, rng = points(200, 2), np.random.default_rng(4)
    term = EdgePairs(both_ways(sp.random_array((200, 200), density=0.1, rng=rng, dtype=np.float32)), Cauchy())
    first, second = term.force(Y), term.force(Y, Y)
    once = term._ordered
    assert once is not None
    np.testing.assert_array_equal(term.force(Y), first)
    np.testing.assert_array_equal(term.force(Y, Y), second)
    assert term._ordered is not once


@pytest.mark.parametrize(
    ("kernel", "d"), [(Cauchy(), 3), (UMAPKernel.from_min_dist(0.1), 2)], ids=["three components", "kernel of UMAP"]
)
def test_other_attractions_are_not_ordered(monkeypatch, kernel, d):
    monkeypatch.setattr("gnomon.objectives.terms.edges._SCATTERED", 1)
    monkeypatch.setattr("gnomon.objectives.terms.edges._ORDERED_AT", (1,))
    rng = np.random.default_rng(4)
    term = EdgePairs(both_ways(sp.random_array((50, 50), density=0.1, rng=rng, dtype=np.float32)), kernel)
    term.force(points(50, d))
    assert term._ordered is None


@pytest.mark.parametrize("kernel", [Cauchy(), UMAPKernel.from_min_dist(0.1)], ids=str)
def test_a_row_longer_than_a_tile(relative_error, kernel):
    n = 1300
    Y = points(n, 2)
    weights = np.zeros((n, n))
    weights[[0, 7], 1:] = 1.0
    graph = sp.csr_array(weights.astype(np.float32))
    edges = kernel_graph(graph)
    none = np.empty((0, 2), dtype=np.float32)
    force = _core.edge_sums(edges, Y, compile_kernel(kernel), "log", 1.0, none, 0.0, 1)
    expected, energies = master("log", kernel, Y, weights)
    assert relative_error(force, expected) < 1e-5
    assert _core.edge_energy(edges, Y, compile_kernel(kernel), "log", 1) == pytest.approx(energies.sum(), rel=1e-6)


@pytest.mark.parametrize("kernel", COMPILED, ids=str)
def test_row_sums_equal_the_master_rule(kernel):
    Y = points(1029, 2)
    sums = _core.row_sums(Y, np.empty(0, np.float32), compile_kernel(kernel), 2)
    assert_close(sums, master("value", kernel, Y, 1.0)[1].sum(1))


def centre(matrix):
    return matrix - matrix.mean(0) - matrix.mean(1)[:, None] + matrix.mean()


@pytest.mark.parametrize("kernel", [k for k in COMPILED if k.name not in ("inverse_power", "logarithmic")], ids=str)
@pytest.mark.parametrize(("n", "d"), [(2, 2), (1030, 2), (33, 1), (60, 3), (47, 5)])
@pytest.mark.parametrize("centred", [False, True])
def test_target_sums_equal_the_master_rule(kernel, n, d, centred):
    Y, rng = points(n, d), np.random.default_rng(3)
    target = rng.random((n, n))
    target = (target + target.T).astype(np.float32)
    if centred:
        target = centre(target.astype(np.float64)).astype(np.float32)
    s = squares(Y)
    difference = kernel.value(s) - target
    if centred:
        difference = centre(difference)
    else:
        np.fill_diagonal(difference, 0.0)
    force, energy = _core.target_sums(Y, target, compile_kernel(kernel), centred, *NO_WEIGHTS, 2)
    assert_close(force, pull(2 * difference * kernel.derivative(s), Y))
    assert energy == pytest.approx(np.square(difference).sum(), rel=1e-5)


@pytest.mark.parametrize("centred", [False, True])
def test_target_sums_equal_the_reference_values(centred, reference, relative_error):
    r = reference["two_kernel"]
    X, Y = np.array(reference["X8"]), np.array(reference["Y8"], dtype=np.float32)
    target = np.exp(-0.5 * np.square(X[:, None] - X[None]).sum(-1))
    expected = r["frob_centred" if centred else "frob"]
    target = np.ascontiguousarray(centre(target) if centred else target, dtype=np.float32)
    kernel = compile_kernel(UMAPKernel(r["a"], r["b"]))
    force, energy = _core.target_sums(Y, target, kernel, centred, *NO_WEIGHTS, 1)
    assert energy == pytest.approx(expected["loss"], rel=1e-5)
    assert relative_error(4 * force, np.array(expected["grad"])) < 1e-5


def test_far_points_lose_nothing_to_rounding():
    # 1 - k and log k are smooth where k is next to 1 or next to 0; they must not be computed from a rounded k.
    Y = np.array([[0.0, 0.0], [0.033, 0.0], [300.0, 0.0], [-800.0, 10.0]], dtype=np.float32)
    for kernel in (Cauchy(), Gaussian(1e4), StudentT(30.0), EXAMPLES["umap"], EXAMPLES["noise_contrast"]):
        for law in ("log", "log_deficit"):
            for i, j in ((0, 1), (0, 2), (2, 3)):
                pair = Y[[i, j]]
                force, energy = _core.pair_sums(law, pair, NOTHING, NOTHING, compile_kernel(kernel), 1)
                expected, energies = master(law, kernel, pair, 1.0)
                assert energy == pytest.approx(energies.sum(), rel=2e-5, abs=1e-25), (kernel, law, i, j)
                np.testing.assert_allclose(force, expected, rtol=2e-5, atol=1e-25)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_equal_bytes_for_any_number_of_threads(d):
    n = 700  # many parts of 16 rows, three of 256
    Y, rng = points(n, d), np.random.default_rng(4)
    u = rng.random(n).astype(np.float32)
    target = np.outer(u, u)
    graph = sp.random_array((n, n), density=0.02, rng=rng, dtype=np.float32, format="csr")
    edges = kernel_graph(graph)
    none = np.empty((0, d), dtype=np.float32)
    for kernel in (Cauchy(), StudentT(3.0)):
        compiled = compile_kernel(kernel)
        results = []
        for n_threads in (1, 2, 3, 5):
            found = [
                *_core.pair_sums("log_deficit", Y, u, u, compiled, n_threads),
                _core.row_sums(Y, np.empty(0, np.float32), compiled, n_threads),
                *_core.target_sums(Y, target, compiled, True, *NO_WEIGHTS, n_threads),
                *_core.target_sums(Y, target, compiled, False, target, NOTHING, n_threads),
                _core.edge_sums(edges, Y, compiled, "square", 1.0, none, 0.0, n_threads),
                _core.edge_energy(edges, Y, compiled, "log", n_threads),
            ]
            results.append(b"".join(np.asarray(one).tobytes() for one in found))
        assert results.count(results[0]) == 4


def test_laws_and_kernels_that_do_not_go_together_are_refused():
    Y = points(4, 2)
    with pytest.raises(ValueError, match=r"this law needs a kernel with values in \(0, 1\]"):
        _core.pair_sums("log", Y, NOTHING, NOTHING, _core.OutputKernel("linear"), 1)
    with pytest.raises(ValueError, match="unknown pair law"):
        _core.pair_sums("cube", Y, NOTHING, NOTHING, _core.OutputKernel("linear"), 1)
    with pytest.raises(ValueError, match="unknown output kernel"):
        _core.OutputKernel("cube")
    with pytest.raises(ValueError, match="a mesh needs a kernel that decays"):
        _core.ParticleMesh(_core.OutputKernel("logarithmic"), 0.5)
