"""How an objective is descended: one loop, and a rule for the step in each file."""

from gnomon.optimizers.adam import Adam, AdamState
from gnomon.optimizers.base import Optimizer, Step
from gnomon.optimizers.gradient_descent import DescentState, GradientDescent
from gnomon.optimizers.lbfgs import LBFGS, LBFGSState
from gnomon.optimizers.loop import minimize
from gnomon.optimizers.polar_descent import PolarDescent, PolarObjective, PolarState
from gnomon.optimizers.safe_descent import SafeDescent, SafeObjective, SafeState
from gnomon.optimizers.sampled_descent import SampledDescent, SampledObjective, SampledState
from gnomon.optimizers.schedules import Exaggerable, Scheduled
from gnomon.optimizers.solution import Solution
from gnomon.optimizers.state import State
from gnomon.optimizers.stopping import Stopping

__all__ = [
    "LBFGS",
    "Adam",
    "AdamState",
    "DescentState",
    "Exaggerable",
    "GradientDescent",
    "LBFGSState",
    "Optimizer",
    "PolarDescent",
    "PolarObjective",
    "PolarState",
    "SafeDescent",
    "SafeObjective",
    "SafeState",
    "SampledDescent",
    "SampledObjective",
    "SampledState",
    "Scheduled",
    "Solution",
    "State",
    "Step",
    "Stopping",
    "minimize",
]
