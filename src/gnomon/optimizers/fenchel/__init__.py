"""Convex minimisation as a game of two learners: players, domains, the game, and classical methods as recipes."""

from gnomon.optimizers.fenchel.domains import Domain, EuclideanBall, L1Ball, NuclearBall, Simplex, WholeSpace
from gnomon.optimizers.fenchel.game import (
    FenchelGame,
    GameState,
    Round,
    averaged_gradient_descent,
    frank_wolfe,
    heavy_ball,
    nesterov,
)
from gnomon.optimizers.fenchel.players import (
    FTL,
    FTRL,
    OMD,
    BestRespPlus,
    FTLPlus,
    OMDPlus,
    OptimisticFTL,
    Player,
)

__all__ = [
    "FTL",
    "FTRL",
    "OMD",
    "BestRespPlus",
    "Domain",
    "EuclideanBall",
    "FTLPlus",
    "FenchelGame",
    "GameState",
    "L1Ball",
    "NuclearBall",
    "OMDPlus",
    "OptimisticFTL",
    "Player",
    "Round",
    "Simplex",
    "WholeSpace",
    "averaged_gradient_descent",
    "frank_wolfe",
    "heavy_ball",
    "nesterov",
]
