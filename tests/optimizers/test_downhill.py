"""A loss of one's own that rises along minus its gradient is told by every optimizer that sees it, no right one is."""

import math
import warnings

import numpy as np
import pytest

from gnomon.exceptions import ConvergenceWarning
from gnomon.objectives import AddedTerm, KLDivergence, PairObjective
from gnomon.optimizers import LBFGS, Adam, GradientDescent, Newton, SafeDescent
from gnomon.optimizers.downhill import fall_downhill

TARGET = np.random.default_rng(1).normal(size=(30, 2))


class Bowl:
    """A quartic loss far from 0, which no step of a short descent changes by a tenth, with a share of its gradient."""

    n_samples, evaluation = 30, "exact"

    def __init__(self, share, noise=0.0, dtype=np.float64):
        self.share, self.noise, self.dtype = share, noise, dtype
        self.rng = np.random.default_rng(0)

    def loss(self, Y):
        away = np.asarray(Y, np.float64) - TARGET
        return 1e6 + float((away**2 + 0.1 * away**4).sum()) + self.noise * self.rng.normal()

    def gradient(self, Y):
        away = Y - TARGET.astype(Y.dtype)
        scatter = 1.0 + self.noise * self.rng.normal(size=Y.shape).astype(Y.dtype)
        return Y.dtype.type(self.share) * (2.0 * away + Y.dtype.type(0.4) * away**3) * scatter

    def hessian(self, Y):
        return np.diag((2.0 + 1.2 * (Y - TARGET) ** 2).T.ravel())


OPTIMIZERS = {
    "adam": Adam(0.01, max_iter=60),
    "falling": Adam(0.01, max_iter=60, decay="linear"),
    "gradient": GradientDescent(1e-3, max_iter=60, early_exaggeration_iter=0, gains=False, centered=False),
    "annealed": GradientDescent.annealed(
        learning_rate=1e-3, max_iter=60, early_exaggeration_iter=10, annealing_iter=10
    ),
    "lbfgs": LBFGS(max_iter=60),
    "newton": Newton(),
    "steps": SafeDescent(1e-3, max_iter=60),
    "backtracking": SafeDescent(1.0, backtracking=True, max_iter=60),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_loss_that_rises_along_minus_its_gradient_is_told_once(name):
    start = np.random.default_rng(0).normal(size=(30, 2))
    told = r"does not fall along minus the gradient at the start: .*gradient_error"
    with pytest.warns(ConvergenceWarning, match=told) as seen:
        found = OPTIMIZERS[name].minimize(Bowl(-1.0), start)
    assert len(seen) == 1
    assert not found.converged
    assert found.reason.startswith("The loss does not fall along minus the gradient at the start")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OPTIMIZERS[name].minimize(Bowl(1.0), start)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("noise", [1e-3, 0.3, 30.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_right_loss_with_noise_is_not_told(noise, dtype):
    for seed in range(5):
        start = np.random.default_rng(seed).normal(size=(30, 2))
        Adam(0.01, max_iter=60).minimize(Bowl(1.0, noise, dtype), start)


def test_the_fall_is_the_share_of_the_gradient_that_the_loss_has():
    start = np.random.default_rng(0).normal(size=(30, 2))
    for share in (1.0, 0.5, -1.0, -4.0):
        assert fall_downhill(Bowl(share), start) == pytest.approx(1.0 / share, rel=1e-3)
    assert math.isnan(fall_downhill(Bowl(1.0, noise=1e4), start))  # drowned
    assert math.isnan(fall_downhill(Bowl(0.0), start))
    assert math.isnan(fall_downhill(Bowl(1.0), TARGET.copy()))  # at the minimum


def test_what_the_start_does_not_tell_later_points_do():
    """A start so narrow that no move on its scale changes the loss by more than its noise."""
    start = (TARGET + 1e-9).astype(np.float64)
    start[0] += 1e-9
    with pytest.warns(ConvergenceWarning, match="minus the gradient after iteration"):
        Adam(0.05, max_iter=100, block=10).minimize(Bowl(-1.0), start)


class Pull(AddedTerm):
    """Half the mean square of all coordinates, with its gradient or minus it."""

    def __init__(self, sign):
        self.sign, self.weight = sign, 1e4

    def loss(self, Y):
        return 0.5 * float(np.square(Y, dtype=np.float64).mean())

    def gradient(self, Y):
        return self.sign * Y / Y.size


def test_a_term_of_ones_own_in_a_sum_of_ours_is_compared(clusters):
    own = KLDivergence(clusters["total"])
    start = 1e4 * clusters["start"]
    with pytest.warns(ConvergenceWarning, match="minus the gradient"):
        Adam(0.01, max_iter=2).minimize(PairObjective(own.attractions, own.repulsions, added=[Pull(-1.0)]), start)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Adam(0.01, max_iter=2).minimize(PairObjective(own.attractions, own.repulsions, added=[Pull(1.0)]), start)
