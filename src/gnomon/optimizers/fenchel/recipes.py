"""Classical methods of convex minimisation as games; each reproduces the method's own iterates."""

from __future__ import annotations

from typing import Any

from gnomon.optimizers.fenchel.domains import Domain
from gnomon.optimizers.fenchel.game import FenchelGame
from gnomon.optimizers.fenchel.players import FTL, OMD, BestRespPlus, OMDPlus, OptimisticFTL

__all__ = ["averaged_gradient_descent", "frank_wolfe", "heavy_ball", "nesterov"]


def averaged_gradient_descent(step: float, *, domain: Domain | None = None, **options: Any) -> FenchelGame:
    """Return the game of gradient descent with averaging: x_t = x_{t-1} - step grad f(x_{t-1}), x_1 = x_0.

    Parameters
    ----------
    step : float > 0
        R / (G sqrt T) for a distance R to the minimum, gradients of norm at most G and T rounds; 1 / (2 L) where the
        gradient has the Lipschitz constant L.
    domain : Domain or None, default=None
        Points are projected on it.
    **options
        Further parameters of `FenchelGame`.

    Notes
    -----
    f(average) - f(x*) <= R^2 / (2 step T) + step G^2 / 2, and <= 2 L R^2 / T for the step 1 / (2 L).
    """
    return FenchelGame(OMD(step), BestRespPlus(), domain=domain, weights="uniform", **options)


def frank_wolfe(domain: Domain, **options: Any) -> FenchelGame:
    """Return the game of Frank and Wolfe's method with the step 2 / (t + 1): points of the domain are only averaged.

    Parameters
    ----------
    domain : Domain
        Bounded; only its linear oracle is asked.
    **options
        Further parameters of `FenchelGame`.

    Notes
    -----
    f(average) - min f <= 2 L diameter^2 / (T + 1) where the gradient has the Lipschitz constant L.
    """
    return FenchelGame(BestRespPlus(), FTL(), domain=domain, weights="linear", **options)


def heavy_ball(smoothness: float, *, domain: Domain | None = None, **options: Any) -> FenchelGame:
    """Return the game of Polyak's heavy ball.

    The averages w_t follow w_t = w_{t-1} - eta_t grad f(w_{t-1}) + beta_t (w_{t-1} - w_{t-2}) with
    eta_t = t / (2 (t + 1) L) and beta_t = (t - 2) / (t + 1), 0 for t <= 2.

    Parameters
    ----------
    smoothness : float > 0
        L, the Lipschitz constant of the gradient.
    domain : Domain or None, default=None
        Points are projected on it.
    **options
        Further parameters of `FenchelGame`.
    """
    return FenchelGame(OMDPlus(1.0 / (4.0 * smoothness)), FTL(), domain=domain, weights="linear", **options)


def nesterov(smoothness: float, *, domain: Domain | None = None, **options: Any) -> FenchelGame:
    """Return the game of Nesterov's accelerated gradient.

    The averages w_t follow z_t = w_{t-1} + beta_t (w_{t-1} - w_{t-2}), w_t = z_t - eta_t grad f(z_t) with
    eta_t = t / (2 (t + 1) L) and beta_t = (t - 2) / (t + 1), 0 for t <= 2.

    Parameters
    ----------
    smoothness : float > 0
        L, the Lipschitz constant of the gradient.
    domain : Domain or None, default=None
        Points are projected on it.
    **options
        Further parameters of `FenchelGame`.

    Notes
    -----
    f(average) - f(x*) <= 4 L R^2 / (T (T + 1)) for a start of distance R from the minimum x*.
    """
    return FenchelGame(OMDPlus(1.0 / (4.0 * smoothness)), OptimisticFTL(), domain=domain, weights="linear", **options)
