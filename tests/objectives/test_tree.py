"""Barnes-Hut sums: theta = 0 is the sum over all pairs, the error grows with theta as stated, no layout breaks it."""

import numpy as np
import pytest

from gnomon import _core
from gnomon.kernels import Cauchy, UMAPKernel

NONE = np.empty(0, np.float32)
THETA = 0.8
KERNELS = [Cauchy(), UMAPKernel(1.577, 0.895)]
LAWS = ["value", "log_deficit"]


def tree_sums(law, Y, weights=None, kernel=None, theta=THETA, n_threads=2):
    kernel = kernel or Cauchy()
    u, v = (NONE, NONE) if weights is None else weights
    return _core.tree_sums(law, Y, u, v, _core.OutputKernel(kernel.name, *kernel.parameters), theta, n_threads)


def all_pairs(law, Y, weights=None, kernel=None, rows=slice(None)):
    """Forces on `rows` and the energy of their pairs, written down in float64."""
    kernel = kernel or Cauchy()
    n = len(Y)
    away = [column[rows, None] - column for column in Y.T.astype(np.float64)]
    s = sum(np.square(gaps) for gaps in away)
    off = np.arange(n)[rows, None] != np.arange(n)
    u, v = (np.full(n, 0.5), np.ones(n)) if weights is None else (w.astype(np.float64) for w in weights)
    pairs = np.where(off, u[rows, None] * v + v[rows, None] * u, 0.0)
    if law == "value":
        energy, slope = kernel.value(s), kernel.derivative(np.where(off, s, 1.0))
    else:
        held = np.maximum(s, 1e-3)
        deficit = 1 - kernel.value(held)
        slope = kernel.derivative(held) / deficit
        energy = -np.log(deficit) + slope * (s - held)
    pulls = pairs * slope
    return np.stack([np.einsum("ij,ij->i", pulls, gaps) for gaps in away], axis=1), np.sum(pairs * energy)


@pytest.fixture(scope="module")
def weights_of():
    def make(n, seed=3):
        rng = np.random.default_rng(seed)
        return rng.lognormal(size=n).astype(np.float32), rng.normal(size=n).astype(np.float32)

    return make


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("law", LAWS)
def test_theta_0_sums_over_all_pairs(law, kernel, weighted, n_components, random_embedding, weights_of, relative_error):
    Y = random_embedding(700, n_components, scale=3.0)
    weights = weights_of(700) if weighted else None
    force, energy = tree_sums(law, Y, weights, kernel, theta=0.0)
    expected_force, expected_energy = all_pairs(law, Y, weights, kernel)
    assert force.dtype == np.float32
    assert relative_error(force, expected_force) < 2e-6
    scale = all_pairs(law, Y, [np.abs(w) for w in weights], kernel)[1] if weighted else expected_energy
    assert energy == pytest.approx(expected_energy, abs=2e-6 * scale)


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("law", LAWS)
def test_error_at_the_default_theta(law, weighted, n_components, random_embedding, weights_of, relative_error):
    Y, rows = random_embedding(6000, n_components, scale=8.0), slice(0, None, 40)
    weights = (weights_of(6000)[0], np.ones(6000, np.float32)) if weighted else None
    force, energy = tree_sums(law, Y, weights)
    expected, _ = all_pairs(law, Y, weights, rows=rows)
    assert relative_error(force[rows], expected) < 4e-3
    assert energy == pytest.approx(tree_sums(law, Y, weights, theta=0.0)[1], rel=5e-4)


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_error_falls_with_theta(n_components, random_embedding, relative_error):
    Y = random_embedding(4000, n_components, scale=8.0)
    exact, _ = tree_sums("value", Y, theta=0.0)
    errors = [relative_error(tree_sums("value", Y, theta=theta)[0], exact) for theta in (1.2, 0.6, 0.3)]
    assert errors[1] < errors[0] / 4
    assert errors[2] < errors[1] / 4


def test_a_far_cell_has_the_right_count_mean_and_covariance(relative_error):
    """k = 1 / (1 + s) of 60 points seen from a distance of r = 200: what is left is of order (1 / r)^3."""
    rng = np.random.default_rng(0)
    cluster = rng.normal(size=(60, 3)) * [1.0, 0.5, 0.1]
    Y = np.concatenate([cluster, [[200.0, 0, 0]]]).astype(np.float32)
    force, _ = tree_sums("value", Y)
    expected, _ = all_pairs("value", Y)
    assert relative_error(force[60], expected[60]) < 1e-6


def test_theta_decides_how_much_is_approximated(random_embedding):
    Y = random_embedding(2000, 3, scale=8.0)
    assert not np.array_equal(tree_sums("value", Y, theta=0.5)[0], tree_sums("value", Y, theta=1.0)[0])


@pytest.mark.parametrize("law", LAWS)
def test_a_shift_of_all_points_changes_nothing(law, random_embedding, relative_error):
    Y = np.round(random_embedding(3000, 3, scale=8.0) * 64) / 64  # coordinates that a shift does not round
    shift = np.array([512.0, -1024.0, 256.0], np.float32)
    (force, energy), (shifted_force, shifted_energy) = tree_sums(law, Y), tree_sums(law, Y + shift)
    assert relative_error(shifted_force, force.astype(np.float64)) < 1e-4
    assert shifted_energy == pytest.approx(energy, rel=1e-5)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_any_extent(scale, n_components, random_embedding, relative_error):
    Y = random_embedding(800, n_components, scale=scale)
    force, energy = tree_sums("value", Y)
    expected_force, expected_energy = all_pairs("value", Y)
    assert relative_error(force, expected_force) < 4e-3
    assert energy == pytest.approx(expected_energy, rel=2e-3)


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("law", LAWS)
def test_points_that_coincide(law, n_components, random_embedding, relative_error):
    rng = np.random.default_rng(2)
    Y = random_embedding(40, n_components, scale=4.0)[rng.integers(0, 40, 1000)]
    Y[:400] = Y[0]  # more than one group of points in one place
    expected_force, expected_energy = all_pairs(law, Y)
    for theta in (0.0, THETA):
        force, energy = tree_sums(law, Y, theta=theta)
        assert relative_error(force, expected_force) < (2e-6 if theta == 0 else 1e-2)
        assert energy == pytest.approx(expected_energy, rel=1e-6 if theta == 0 else 1e-3)


@pytest.mark.parametrize("law", LAWS)
def test_forces_are_the_same_without_the_energy(law, random_embedding, weights_of):
    Y, (u, v), kernel = random_embedding(500, 3), weights_of(500), _core.OutputKernel("cauchy")
    force, energy = _core.tree_sums(law, Y, u, v, kernel, THETA, 2, with_energy=False)
    np.testing.assert_array_equal(force, tree_sums(law, Y, (u, v))[0])
    assert energy == 0


@pytest.mark.parametrize("n", [1, 2, 3, 17, 1000])
def test_all_points_equal(n):
    Y = np.full((n, 3), 0.1, np.float32)
    force, energy = tree_sums("value", Y)
    np.testing.assert_array_equal(force, 0)
    assert energy == pytest.approx(n * (n - 1), rel=1e-6)


def test_no_points_and_two_points():
    force, energy = tree_sums("value", np.empty((0, 2), np.float32))
    assert (force.shape, energy) == ((0, 2), 0.0)
    force, energy = tree_sums("value", np.array([[0.0, 0.0], [2.0, 0.0]], np.float32))
    np.testing.assert_allclose(force, [[2 / 25, 0], [-2 / 25, 0]], rtol=1e-6)
    assert energy == pytest.approx(2 / 5)


def test_outliers_cost_no_accuracy(random_embedding, relative_error):
    Y = random_embedding(2000, 3, scale=4.0)
    Y[:3] = [[1e6, 0, 0], [0, -1e7, 0], [3e4, 3e4, 3e4]]
    force, _ = tree_sums("value", Y)
    assert relative_error(force, all_pairs("value", Y)[0]) < 4e-3


def test_points_at_all_scales_make_a_deep_tree():
    Y = np.ldexp(np.float32(1), -np.arange(120)).astype(np.float32)[:, None] * np.ones((1, 3), np.float32)
    force, energy = tree_sums("value", Y)
    expected_force, expected_energy = all_pairs("value", Y)
    np.testing.assert_allclose(force, expected_force, rtol=1e-3, atol=1e-6)
    assert energy == pytest.approx(expected_energy, rel=1e-5)


def test_neighbouring_floats_are_parted():
    steps = np.random.default_rng(0).integers(1, 4, (500, 2))  # half-way from 1 to 2 is rounded up
    Y = (np.float32(1e6) + np.float32(0.0625) * steps).astype(np.float32)
    assert len(np.unique(Y, axis=0)) == 9
    force, energy = tree_sums("value", Y, theta=0.0)
    expected_force, expected_energy = all_pairs("value", Y)
    np.testing.assert_allclose(force, expected_force, rtol=1e-4, atol=1e-4)
    assert energy == pytest.approx(expected_energy, rel=1e-6)


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("law", LAWS)
def test_equal_bytes_for_any_number_of_threads(law, n_components, random_embedding, weights_of):
    Y, weights = random_embedding(3000, n_components, scale=8.0), weights_of(3000)
    force, energy = tree_sums(law, Y, weights)
    for n_threads in (2, 3, 5):
        other_force, other_energy = tree_sums(law, Y, weights, n_threads=n_threads)
        np.testing.assert_array_equal(other_force, force)
        assert other_energy == energy


def test_a_tree_that_is_used_again_gives_what_a_new_one_gives(random_embedding, weights_of):
    kernel = _core.OutputKernel("cauchy")
    tree = _core.Tree(THETA)
    for n, d, scale in ((1500, 3, 1.0), (40, 1, 9.0), (1500, 3, 0.01), (2500, 2, 4.0), (1500, 3, 1.0)):
        Y = random_embedding(n, d, scale=scale)
        for u, v in ((NONE, NONE), weights_of(n)):
            kept, energy = tree.evaluate("value", Y, u, v, kernel, 2)
            fresh, fresh_energy = _core.tree_sums("value", Y, u, v, kernel, THETA, 2)
            np.testing.assert_array_equal(kept, fresh)
            assert energy == fresh_energy


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e19])
def test_points_that_are_not_finite_give_nan(value, random_embedding):
    Y = random_embedding(300, 3)
    Y[7, 1] = value
    force, energy = tree_sums("value", Y)
    assert np.isnan(force).all()
    assert np.isnan(energy)


def test_what_a_tree_cannot_do_is_refused(random_embedding):
    Y = random_embedding(10, 3)
    ones = np.ones(10, np.float32)
    with pytest.raises(ValueError, match="one, two or three"):
        tree_sums("value", random_embedding(10, 4))
    with pytest.raises(ValueError, match="n values"):
        tree_sums("value", Y, (ones, ones[:9]))
    with pytest.raises(ValueError, match="n values"):
        tree_sums("value", Y, (ones, NONE))
    with pytest.raises(ValueError, match="theta"):
        tree_sums("value", Y, theta=-0.1)
    with pytest.raises(ValueError, match="theta"):
        tree_sums("value", Y, theta=np.nan)
    with pytest.raises(ValueError, match="law"):
        tree_sums("cubic", Y)
