"""How an objective is descended: one loop for each kind of step."""

from gnomon.optimizers.gradient_descent import DescentState, GradientDescent
from gnomon.optimizers.safe_descent import SafeDescent, SafeDescentState
from gnomon.optimizers.sampled_descent import SampledDescent, SampledState
from gnomon.optimizers.solution import Solution

__all__ = [
    "DescentState",
    "GradientDescent",
    "SafeDescent",
    "SafeDescentState",
    "SampledDescent",
    "SampledState",
    "Solution",
]
