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


class Drawn(Bowl):
    """The loss from 0, of about 300 at the start, drawn anew whenever it is evaluated; the gradient has no noise."""

    def __init__(self, share, noise, seed=0):
        super().__init__(share)
        self.noise, self.rng = noise, np.random.default_rng(seed)

    def loss(self, Y):
        return super().loss(Y) - 1e6

    def gradient(self, Y):
        away = Y - TARGET
        return self.share * (2.0 * away + 0.4 * away**3)


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


@pytest.mark.parametrize("name", ["adam", "gradient", "annealed", "lbfgs", "steps", "backtracking"])
def test_the_wrong_sign_is_told_through_noise_of_a_hundredth_and_no_right_one_is(name):
    for seed in range(10, 13):
        start = np.random.default_rng(seed).normal(size=(30, 2))
        for noise in (0.3, 3.0):
            with pytest.warns(ConvergenceWarning, match="minus the gradient at the start: .*gradient_error"):
                assert not OPTIMIZERS[name].minimize(Drawn(-1.0, noise, seed), start).converged
        for noise in (0.3, 3.0, 100.0):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                OPTIMIZERS[name].minimize(Drawn(1.0, noise, seed), start)
            assert not [one for one in seen if "gradient_error" in str(one.message) or "rose" in str(one.message)]


def test_where_noise_hides_the_fall_of_the_loss_no_descent_has_converged():
    start = np.random.default_rng(0).normal(size=(30, 2))
    for name in ("lbfgs", "backtracking"):
        for share in (1.0, -1.0):
            with pytest.warns(ConvergenceWarning, match="loss of Drawn is drawn anew whenever it is evaluated"):
                found = OPTIMIZERS[name].minimize(Drawn(share, 1e4), start)
            assert not found.converged


def test_a_loss_that_takes_halves_of_its_data_by_turns_is_right():
    class ByTurns(Bowl):
        turn = 0

        def loss(self, Y):
            self.turn += 1
            return super().loss(Y) + (3.0 if self.turn % 2 else -3.0)

    for seed in range(5):
        share = fall_downhill(ByTurns(1.0), np.random.default_rng(seed).normal(size=(30, 2)))
        assert math.isnan(share) or share > 0.3


def test_long_moves_are_compared_with_the_gradients_on_their_way():
    """A valley so narrow that the moves which tell through its noise end far up its sides, the lower one behind."""

    class Valley(Drawn):
        def loss(self, Y):
            x = np.asarray(Y, np.float64)[0, 0]
            return (
                1e3 * (math.sqrt(1.0 + (1e3 * x) ** 2) - 2.0 * math.tanh(1e3 * x - 1.0))
                + self.noise * self.rng.normal()
            )

        def gradient(self, Y):
            x, found = float(Y[0, 0]), np.zeros_like(Y)
            slope = 1e3 * x / math.sqrt(1.0 + (1e3 * x) ** 2) - 2.0 * (1.0 - math.tanh(1e3 * x - 1.0) ** 2)
            found[0, 0] = 1e6 * self.share * slope
            return found

    start = np.random.default_rng(0).normal(size=(30, 2))
    for x in (2e-3, 4e-3, 1e-2):
        start[0, 0] = x
        for seed in range(3):
            share = fall_downhill(Valley(1.0, 30.0, seed), start)
            assert math.isnan(share) or share > 0.3


def test_a_loss_that_noise_lifts_at_the_end_has_not_risen():
    """It is evaluated anew where it seems to have risen."""
    rest = GradientDescent(1e-9, max_iter=60, block=5, early_exaggeration_iter=0, gains=False)
    for seed in range(5):
        start = np.random.default_rng(seed).normal(size=(30, 2))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert rest.minimize(Drawn(1.0, 1e4, seed), start).converged


def test_a_descent_that_ends_above_its_start_before_any_rule_looks_is_told(monkeypatch):
    """Where the gradient's sign cannot be told."""
    monkeypatch.setattr("gnomon.optimizers.loop.fall_downhill", lambda *_: math.nan)
    descent = GradientDescent(1e-3, max_iter=60, gains=False, centered=False)  # of which 250 iterations are early
    start = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(ConvergenceWarning, match="rose from .* at the start .* own, compare"):
        assert not descent.minimize(Drawn(-1.0, 3.0), start).converged
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert descent.minimize(Drawn(1.0, 3.0), start).converged


def test_the_fall_is_the_share_of_the_gradient_that_the_loss_has():
    start = np.random.default_rng(0).normal(size=(30, 2))
    for share in (1.0, 0.5, -1.0, -4.0):
        assert fall_downhill(Bowl(share), start) == pytest.approx(1.0 / share, rel=1e-3)
    assert math.isnan(fall_downhill(Bowl(1.0, noise=1e4), start))  # drowned
    assert math.isnan(fall_downhill(Bowl(0.0), start))
    assert math.isnan(fall_downhill(Bowl(1.0), TARGET.copy()))  # at the minimum


def test_what_the_start_does_not_tell_later_points_do():
    """A start so narrow that no move on its scale changes the loss by more than its noise."""
    start = (TARGET + 1e-12).astype(np.float64)
    start[0] += 1e-12
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
