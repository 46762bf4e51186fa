"""How an objective is descended: one loop, and a rule for the step in each file."""

from gnomon.optimizers.adam import Adam, AdamState
from gnomon.optimizers.admm import ADMM, ADMMState, Residuals, SplitObjective
from gnomon.optimizers.base import Optimizer, Step, minimize_in_stages
from gnomon.optimizers.gradient_descent import DescentState, GradientDescent
from gnomon.optimizers.lbfgs import LBFGS, LBFGSState
from gnomon.optimizers.loop import Exaggerable, Scheduled, minimize
from gnomon.optimizers.majorization import Majorizable, Majorization, MajorizationState
from gnomon.optimizers.newton import Newton, NewtonState
from gnomon.optimizers.placement import move_points, place_by_distances, place_points
from gnomon.optimizers.polar_descent import PolarDescent, PolarObjective, PolarState
from gnomon.optimizers.safe_descent import SafeDescent, SafeObjective, SafeState
from gnomon.optimizers.sampled_descent import CompiledEpochs, SampledDescent, SampledObjective, SampledState
from gnomon.optimizers.state import Solution, State, Stopping
from gnomon.optimizers.surface_descent import (
    SampledSurfaceDescent,
    SampledSurfaceState,
    SurfaceDescent,
    SurfaceState,
)
from gnomon.optimizers.together import Descent, minimize_together

__all__ = [
    "ADMM",
    "LBFGS",
    "ADMMState",
    "Adam",
    "AdamState",
    "CompiledEpochs",
    "Descent",
    "DescentState",
    "Exaggerable",
    "GradientDescent",
    "LBFGSState",
    "Majorizable",
    "Majorization",
    "MajorizationState",
    "Newton",
    "NewtonState",
    "Optimizer",
    "PolarDescent",
    "PolarObjective",
    "PolarState",
    "Residuals",
    "SafeDescent",
    "SafeObjective",
    "SafeState",
    "SampledDescent",
    "SampledObjective",
    "SampledState",
    "SampledSurfaceDescent",
    "SampledSurfaceState",
    "Scheduled",
    "Solution",
    "SplitObjective",
    "State",
    "Step",
    "Stopping",
    "SurfaceDescent",
    "SurfaceState",
    "minimize",
    "minimize_in_stages",
    "minimize_together",
    "move_points",
    "place_by_distances",
    "place_points",
]
