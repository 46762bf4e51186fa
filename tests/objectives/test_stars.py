"""The attraction of points to stars."""

import numpy as np
import pytest

from gnomon.affinities import gaussian_affinities
from gnomon.kernels import Cauchy, Distance, UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import CrossEntropy, StarAttraction

STARS = np.array([[0.0, 0.0], [5.0, 1.0], [-3.0, 4.0]])


@pytest.fixture(scope="module")
def placed():
    rng = np.random.default_rng(0)
    return (4 * rng.normal(size=(50, 2))).astype(np.float32), rng.integers(3, size=50)


def test_one_point_by_hand():
    term = StarAttraction(STARS, [1], Cauchy())
    Y = np.array([[5.0, 3.0]])
    assert term.loss(Y) == pytest.approx(np.log(5.0))
    np.testing.assert_allclose(term.gradient(Y), [[0.0, 2 * 2 / 5.0]])


@pytest.mark.parametrize("kernel", [Cauchy(), UMAPKernel(1.577, 0.895)], ids=str)
@pytest.mark.parametrize("by_mass", [False, True])
def test_the_gradient_is_the_finite_difference(kernel, by_mass, placed):
    Y, of_points = placed
    masses = np.random.default_rng(1).uniform(0.5, 3.0, 50) if by_mass else None
    term, Z = StarAttraction(STARS, of_points, kernel, masses=masses), Y.astype(np.float64)
    direction = np.random.default_rng(2).normal(size=Y.shape)
    slope = (term.loss(Z + 1e-5 * direction) - term.loss(Z - 1e-5 * direction)) / 2e-5
    assert np.sum(term.gradient(Z) * direction) == pytest.approx(slope, rel=1e-7)


def test_weight_is_in_units_of_the_affinities(placed, relative_error):
    Y, of_points = placed
    affinities = gaussian_affinities(compute_neighbors(Y, n_neighbors=15), perplexity=5.0)
    term, kernel = StarAttraction(STARS, of_points, Cauchy(), weight=0.3), Cauchy()
    plain = CrossEntropy(affinities, kernel, evaluation="exact")
    starred = CrossEntropy(affinities, kernel, evaluation="exact", added=(term,))
    total = float(affinities.matrix.sum())
    assert starred.loss(Y) == pytest.approx(plain.loss(Y) + 0.3 * total * term.loss(Y), rel=1e-6)
    assert relative_error(starred.gradient(Y), plain.gradient(Y) + 0.3 * total * term.gradient(Y)) < 1e-5


def test_points_on_their_stars_rest(placed):
    term = StarAttraction(STARS, placed[1], UMAPKernel(1.577, 0.895))
    assert term.loss(STARS[placed[1]]) == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(term.gradient(STARS[placed[1]]), 0.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"stars": [1.0, 2.0]}, "stars must be finite positions"),
        ({"of_points": [0, 3]}, "of_points must be the number of a star, below 3"),
        ({"kernel": Distance()}, "must be a similarity between 0 and 1"),
        ({"masses": [1.0, 0.0]}, "masses must be a positive number for each of 2 points"),
        ({"weight": -1.0}, "weight=-1.0 must be"),
    ],
)
def test_bad_parameters_are_refused(given, said):
    with pytest.raises(ValueError, match=said):
        StarAttraction(**{"stars": STARS, "of_points": [0, 1], "kernel": Cauchy(), **given})
