"""The figure of a game shows the regrets, the gap they certify, and a bound."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.optimizers.fenchel import EuclideanBall, averaged_gradient_descent, frank_wolfe
from gnomon.plot import plot_regrets


class Bowl:
    """Half the squared distance from a point."""

    n_samples, dtype, evaluation = 3, np.float64, "exact"
    center = np.array([[0.5, 0.0], [0.0, 0.3], [0.1, 0.1]])

    def loss(self, Y):
        return 0.5 * float(np.square(Y - self.center).sum())

    def gradient(self, Y):
        return Y - self.center

    def evaluation_for(self, n_components):
        return self.evaluation


def lines(ax):
    return {line.get_label(): line.get_xydata().T for line in ax.get_lines()}


def test_regrets_gap_and_bound_are_drawn_by_rounds():
    solution = frank_wolfe(EuclideanBall(1.0), max_iter=40).minimize(Bowl(), np.zeros((3, 2)))
    figure = plot_regrets(solution, bound=lambda rounds: 8.0 / (rounds + 1), title="Frank and Wolfe").figure_
    left, right = figure.axes
    rounds = solution.state.rounds
    np.testing.assert_allclose(lines(left)["first player"][1], [one.regret_x for one in rounds])
    np.testing.assert_allclose(lines(left)["second player"][1], [one.regret_y for one in rounds])
    number, gap = lines(right)["certified gap"]
    np.testing.assert_array_equal(number, np.arange(1, 41))
    np.testing.assert_allclose(gap, [one.gap for one in rounds])
    assert (lines(right)["bound"][1] >= gap).all()
    assert figure.get_suptitle() == "Frank and Wolfe"


def test_what_is_infinite_is_not_drawn():
    solution = averaged_gradient_descent(0.1, max_iter=5).minimize(Bowl(), np.zeros((3, 2)))
    left, right = plot_regrets(solution).axes_
    assert np.isnan(lines(right)["certified gap"][1]).all()
    assert np.isnan(lines(left)["first player"][1]).all()
    assert np.isfinite(lines(left)["second player"][1]).all()


def test_a_game_without_certified_rounds_is_refused():
    solution = frank_wolfe(EuclideanBall(1.0), max_iter=0).minimize(Bowl(), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="a game with certified rounds"):
        plot_regrets(solution)
