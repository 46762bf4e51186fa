"""The density term: reference values, compiled sums against float64, finite differences, points without edges."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon._run import running
from gnomon.affinities import Affinities, fuzzy_simplicial_set
from gnomon.kernels import EXAMPLES, Cauchy, CustomKernel, Distance, UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import CrossEntropy, DensityCorrelation, gradient_error

KERNEL = UMAPKernel(1.5769, 0.8951)
BOUNDED = {name: kernel for name, kernel in EXAMPLES.items() if kernel.bounded}
# Of an independent program, for the eight points of the fixture `reference` and no variance shift.
LOG_RADII = [0.857307174, 0.3127016906, 0.6132202067, 0.6511894694, 0.172526501, -0.07700204259, 0.9972885028]
LOG_MAP_RADII = [0.3513237522, 0.1581298905, -0.4365625268, 0.1568513953, -0.1615611051, 1.124539257, 0.1844157867]
CORRELATION = -0.3928352696


def squared_along(affinities, X):
    edges = sp.csr_array(affinities.matrix).tocoo()
    return np.square(X[edges.row] - X[edges.col]).sum(1)


@pytest.mark.parametrize("unit", [2.0**-40, 1e-6, 1e9])
def test_in_other_units_all_radii_of_the_data_move_alike(unit, random_affinities):
    affinities = random_affinities(50, normalization="membership")
    X = np.random.default_rng(2).normal(size=(50, 3)) * np.random.default_rng(3).uniform(0.2, 2, size=(50, 1))
    here, there = (DensityCorrelation(affinities, squared_along(affinities, Z), KERNEL) for Z in (X, X * unit))
    np.testing.assert_allclose(there.radii - 2 * np.log(unit), here.radii, atol=1e-9)
    Y = np.random.default_rng(4).normal(size=(50, 2))
    assert there.loss(Y) == pytest.approx(here.loss(Y), abs=1e-6)


@pytest.fixture(scope="module")
def make(random_affinities):
    """A term of n points with random edges and data of three columns."""

    def term(n=133, kernel=KERNEL, **given):
        affinities = random_affinities(n, normalization="membership")
        X = np.random.default_rng(2).normal(size=(n, 3)) * np.random.default_rng(3).uniform(0.2, 2, size=(n, 1))
        return DensityCorrelation(affinities, squared_along(affinities, X), kernel, **given)

    return term


def test_radii_and_correlation_are_those_of_another_program(reference):
    given, X, Y = reference["umap"], np.array(reference["X8"]), np.array(reference["Y8"])
    affinities = Affinities(sp.csr_array(np.array(given["mu"])), "membership")
    kernel = UMAPKernel(given["a"], given["b"])
    term = DensityCorrelation(affinities, squared_along(affinities, X), kernel, variance_shift=0.0)
    np.testing.assert_allclose(term.radii[:7], LOG_RADII, atol=1e-4)
    np.testing.assert_allclose(term.map_radii(Y)[:7], LOG_MAP_RADII, atol=1e-4)
    assert term.loss(Y) == pytest.approx(-CORRELATION, abs=1e-4)


@pytest.mark.parametrize("kernel", BOUNDED)
@pytest.mark.parametrize("n_components", [1, 2, 3, 5])
def test_compiled_sums_equal_the_float64_ones(kernel, n_components, make, relative_error):
    term = make(kernel=BOUNDED[kernel])
    Y = np.random.default_rng(7).normal(size=(133, n_components)).astype(np.float32)
    loss, gradient = term.reference(Y)
    assert term.loss(Y) == pytest.approx(loss, abs=1e-5)
    assert relative_error(term.gradient(Y), gradient) < 1e-4


@pytest.mark.parametrize("kernel", BOUNDED)
@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_the_gradient_is_the_finite_difference(kernel, shift, make):
    term = make(40, kernel=BOUNDED[kernel], variance_shift=shift)
    assert gradient_error(term, np.random.default_rng(4).normal(size=(40, 2))) < 1e-6


def test_the_sum_with_the_cross_entropy_has_its_gradient_too(random_affinities):
    n = 40
    affinities = random_affinities(n, normalization="membership")
    X, Y = (np.random.default_rng(seed).normal(size=(n, 3)) for seed in (1, 2))
    term = DensityCorrelation(affinities, squared_along(affinities, X), KERNEL, weight=5.0)
    for evaluation in ("exact", "tree"):
        both = CrossEntropy(affinities, KERNEL, added=(term,), evaluation=evaluation)
        plain = CrossEntropy(affinities, KERNEL, evaluation=evaluation)
        assert gradient_error(both, Y) < 1e-6
        gain = 5.0 * affinities.matrix.sum() * term.loss(Y)
        points = Y.astype(np.float32)
        assert both.loss(points) - plain.loss(points) == pytest.approx(gain, rel=1e-3)
        assert gain == pytest.approx(both.added.loss(points), rel=1e-5)


def epoch_of_umap_learn(mu, squared, a, b, weight, Y):
    """The mean step of one epoch of umap-learn's program along its edges, over the learning rate, without its cut.

    Each orientation of an edge comes up mu / max(mu) times and moves both ends, by the attraction and by the term.
    """
    n, (j, k) = len(Y), (mu.row, mu.col)
    s = np.square(Y[j] - Y[k]).sum(1)
    phi = 1 / (1 + a * s**b)

    def radii(values, lengths):  # sums over both orientations and both ends, so each is twice the row's own
        total = np.bincount(j, values, n) + np.bincount(k, values, n)
        return np.log(1e-8 + (np.bincount(j, values * lengths, n) + np.bincount(k, values * lengths, n)) / total), total

    original, mu_sum = radii(mu.data, squared)
    R = (original - original.mean()) / original.std()
    re, phi_sum = radii(phi, s)
    std, cov = np.sqrt(re.var() + 0.1), re @ R / n  # the program divides by n - 1 here and by n in the variance
    slope = a * b * s ** (b - 1) / (1 + a * s**b)
    by_end = [
        (R[e] - cov * (re[e] - re.mean()) / std**2) * (phi / phi_sum[e]) * ((1 - b * (1 - phi)) / np.exp(re[e]) + slope)
        for e in (j, k)
    ]
    term = 2 * weight * (mu_sum.sum() / 2) * sum(by_end) / (mu.data * std) / n
    steps = []
    for factor in (-2 * slope, term):
        move = (mu.data / mu.data.max() * factor)[:, None] * (Y[j] - Y[k])
        step = np.zeros_like(Y)
        np.add.at(step, j, move)
        np.add.at(step, k, -move)
        steps.append(step)
    return steps


def test_attraction_and_term_are_in_the_ratio_of_umap_learns_mean_step(random_affinities, relative_error):
    affinities = random_affinities(120, normalization="membership")
    X = np.random.default_rng(1).normal(size=(120, 3)) * np.random.default_rng(3).uniform(0.2, 2, size=(120, 1))
    Y = np.random.default_rng(2).normal(size=(120, 2))
    squared, mu = squared_along(affinities, X), sp.csr_array(affinities.matrix).astype(np.float64).tocoo()
    attraction, term = epoch_of_umap_learn(mu, squared, KERNEL.a, KERNEL.b, 2.0, Y)
    added = DensityCorrelation(affinities, squared, KERNEL, weight=2.0)
    objective = CrossEntropy(affinities, KERNEL, added=(added,), evaluation="exact")
    points, scale = Y.astype(np.float32), objective.sampling.edge_scale
    assert relative_error(scale * objective.attractions[0].force(points), attraction) < 1e-4
    assert relative_error(objective.added.force(points, scale), term) < 1e-4


def test_the_weight_rises_over_the_first_half_of_the_terms_iterations(random_affinities):
    affinities = random_affinities(40, normalization="membership")
    X, Y = (np.random.default_rng(seed).normal(size=(40, 3)) for seed in (1, 2))
    points = Y.astype(np.float32)
    for begins, shares in ((0.6, {59: 0, 60: 0.05, 69: 0.5, 78: 0.95, 79: 1, 99: 1}), (0.0, {0: 1, 99: 1})):
        term = DensityCorrelation(affinities, squared_along(affinities, X), KERNEL, weight=5.0, begins=begins)
        added = CrossEntropy(affinities, KERNEL, added=(term,)).added
        loss, force, reference = added.loss(points), added.force(points), added.reference(Y)
        assert loss == pytest.approx(5.0 * affinities.matrix.sum() * term.loss(points))
        for iteration, share in shares.items():
            added.at(iteration, 100)
            assert added.loss(points) == pytest.approx(share * loss)
            np.testing.assert_allclose(added.force(points), share * force, rtol=1e-5)
            np.testing.assert_allclose(added.reference(Y)[1], share * reference[1])


def test_a_kernel_in_python_gives_the_same(make, relative_error):
    compiled, python = (
        make(kernel=Cauchy()),
        make(kernel=CustomKernel(Cauchy().value, Cauchy().derivative, bounded=True)),
    )
    Y = np.random.default_rng(7).normal(size=(133, 2)).astype(np.float32)
    assert python.loss(Y) == pytest.approx(compiled.loss(Y), abs=1e-6)
    assert relative_error(python.gradient(Y), compiled.gradient(Y).astype(np.float64)) < 1e-5
    np.testing.assert_allclose(python.map_radii(Y), compiled.map_radii(Y), rtol=1e-5)


def test_equal_bytes_for_any_number_of_threads(make):
    Y = np.random.default_rng(7).normal(size=(1500, 2)).astype(np.float32)
    results = set()
    for n_threads in (1, 2, 3, 5):
        with running(n_threads=n_threads):
            term = make(1500)
            results.add((term.gradient(Y).tobytes(), np.float64(term.loss(Y)).tobytes(), term.map_radii(Y).tobytes()))
    assert len(results) == 1


def test_a_map_that_is_the_data_has_correlation_near_one(make, random_affinities):
    affinities = random_affinities(500, normalization="membership")
    X = np.random.default_rng(2).normal(size=(500, 2)) * np.random.default_rng(3).uniform(0.01, 1, size=(500, 1))
    wide = UMAPKernel(1e-6, 1.0)  # nearly constant weights, as the memberships below
    ones = Affinities(sp.csr_array((affinities.matrix > 0).astype(np.float32)), "membership")
    term = DensityCorrelation(ones, squared_along(ones, X), wide, variance_shift=0.0)
    assert term.loss(7 * X) == pytest.approx(-1.0, abs=1e-3)


def test_moving_and_turning_the_map_changes_nothing(make):
    term, Y = make(), np.random.default_rng(7).normal(size=(133, 2))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert term.loss(Y @ turn + 3) == pytest.approx(term.loss(Y), abs=1e-5)
    np.testing.assert_allclose(term.gradient(Y @ turn + 3), term.gradient(Y) @ turn, atol=1e-5)
    np.testing.assert_allclose(term.gradient(Y).sum(axis=0), 0, atol=1e-5)


def test_points_at_one_place_and_far_apart_have_finite_gradients(make):
    term = make()
    for Y in (np.zeros((133, 2)), 1e12 * np.random.default_rng(0).normal(size=(133, 2))):
        assert np.isfinite(term.loss(Y))
        assert np.isfinite(term.gradient(Y)).all()


def test_points_without_edges_have_no_radius_and_feel_nothing(random_affinities):
    inner = random_affinities(60, normalization="membership").matrix
    X, Y = np.random.default_rng(1).normal(size=(60, 3)), np.random.default_rng(2).normal(size=(62, 2))
    outer = Affinities(sp.csr_array(sp.block_diag([inner, sp.csr_array((2, 2))])).astype(np.float32), "membership")
    part = Affinities(inner, "membership")
    all_points = DensityCorrelation(outer, squared_along(part, X), KERNEL)
    known = DensityCorrelation(part, squared_along(part, X), KERNEL)
    assert np.isnan(all_points.radii[60:]).all()
    assert np.isnan(all_points.map_radii(Y)[60:]).all()
    assert all_points.loss(Y) == pytest.approx(known.loss(Y[:60]), abs=1e-12)
    np.testing.assert_allclose(all_points.gradient(Y), np.vstack([known.gradient(Y[:60]), np.zeros((2, 2))]), atol=1e-9)
    assert gradient_error(all_points, Y) < 1e-6


def test_data_of_one_density_ask_for_nothing(random_affinities):
    affinities = random_affinities(60, normalization="membership")
    term = DensityCorrelation(affinities, np.full(affinities.matrix.nnz, 2.0), KERNEL)
    assert abs(term.loss(np.random.default_rng(0).normal(size=(60, 2)))) < 1e-6


def test_distances_are_those_of_the_neighbours():
    X = np.random.default_rng(0).normal(size=(200, 4))
    graph = compute_neighbors(X, 12)
    affinities = fuzzy_simplicial_set(graph)
    found = DensityCorrelation.from_neighbors(affinities, graph, KERNEL)
    np.testing.assert_allclose(
        found.radii, DensityCorrelation(affinities, squared_along(affinities, X), KERNEL).radii, atol=1e-6
    )
    with pytest.raises(ValueError, match="DensityCorrelation: affinities must be affinities between neighbours"):
        DensityCorrelation.from_neighbors(affinities, compute_neighbors(X, 5), KERNEL)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"weight": -1.0}, r"weight=-1\.0 must be a number >= 0"),
        ({"begins": 2.0}, r"begins=2\.0 must be a number >= 0 and <= 1"),
        ({"variance_shift": np.nan}, r"variance_shift=nan must be a number >= 0"),
        ({"kernel": Distance()}, r"kernel=Distance\(\) must be a similarity"),
    ],
)
def test_wrong_parameters_are_refused_by_name(change, text, make):
    with pytest.raises(ValueError, match=f"DensityCorrelation: {text}"):
        make(**change)


def test_edges_stored_from_one_end_and_too_few_distances_are_refused(random_affinities):
    affinities = random_affinities(20, normalization="membership")
    half = Affinities(sp.csr_array(sp.triu(affinities.matrix)), "membership")
    with pytest.raises(ValueError, match="affinities must be symmetric"):
        DensityCorrelation(half, np.ones(half.matrix.nnz), KERNEL)
    with pytest.raises(ValueError, match=r"squared_distances of shape \(3,\) must be"):
        DensityCorrelation(affinities, np.ones(3), KERNEL)


def test_stored_zeros_are_no_edges_and_the_affinities_stay_as_they_were(random_affinities):
    inner = random_affinities(30, normalization="membership")
    matrix = sp.coo_array(inner.matrix)
    ends = (np.append(matrix.row, [0, 15]), np.append(matrix.col, [15, 0]))
    zeros = sp.csr_array((np.append(matrix.data, [0, 0]).astype(np.float32), ends), shape=(30, 30))
    before = zeros.copy()
    padded, X, Y = Affinities(zeros, "membership"), *np.random.default_rng(0).normal(size=(2, 30, 2))
    found = DensityCorrelation(padded, squared_along(padded, X), KERNEL)
    assert found.loss(Y) == pytest.approx(DensityCorrelation(inner, squared_along(inner, X), KERNEL).loss(Y), abs=1e-6)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(padded.matrix, name), getattr(before, name))
