"""The classes whose objects a file may hold: none but these is made again."""

from __future__ import annotations

import importlib
import inspect
import math
import types
import typing
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from gnomon.kernels import CustomLaw, OutputKernel

__all__ = ["CLASSES", "find_class", "fits", "hints_of", "names_of", "required_of"]

_MODULES = {
    "gnomon.affinities": ("Affinities", "Gram", "PacmapPairs", "Triplets"),
    "gnomon.affinities.affinity": ("OwnRows", "RowsByMass"),
    "gnomon.affinities.blocks": ("BlockRows",),
    "gnomon.affinities.fuzzy": ("FuzzyAffinity", "MembershipRows"),
    "gnomon.affinities.gaussian": ("ConditionalAffinity", "GaussianAffinity"),
    "gnomon.affinities.geodesics": ("PathGraph",),
    "gnomon.affinities.heat": ("EdgeWeights",),
    "gnomon.affinities.kernel_components": ("KernelComponents",),
    "gnomon.affinities.local_radii": ("LocalRadii",),
    "gnomon.affinities.pacmap": ("ScaledRows",),
    "gnomon.affinities.reconstruction": ("ReconstructionAffinity", "ReconstructionRows", "ReconstructionWeights"),
    "gnomon.affinities.sketch_map": ("SketchMapAdvice",),
    "gnomon.affinities.uniform": ("UniformAffinity",),
    "gnomon.extension.placement.by_similarity": ("SimilarityPlacement",),
    "gnomon.extension.placement.by_triplets": ("TripletPlacement",),
    "gnomon.data": ("Block",),
    "gnomon.extension.placement.on_surface": ("SurfacePlacement",),
    "gnomon.extension.placement.placement": ("BlockPlacement", "RowPlacement"),
    "gnomon.extension.placement.scaled": ("ScaledPlacement",),
    "gnomon.geometry.frames": ("TangentFrames",),
    "gnomon.kernels": (
        "Cauchy",
        "Distance",
        "Gaussian",
        "InversePower",
        "Linear",
        "Logarithmic",
        "NoiseContrast",
        "ShortReach",
        "SketchMapKernel",
        "StudentT",
        "UMAPKernel",
    ),
    "gnomon.kernels.inputs": (
        "CauchyInput",
        "CosineInput",
        "GaussianInput",
        "LaplacianInput",
        "LinearInput",
        "PolynomialInput",
        "SketchMapInput",
        "UMAPInput",
    ),
    "gnomon.linalg.distance_scaling": ("ClassicalScaling",),
    "gnomon.linalg.low_rank": ("LowRank",),
    "gnomon.linalg.principal.components": ("PrincipalComponents",),
    "gnomon.linalg.proximal": ("ThresholdedSVD",),
    "gnomon.methods.linear.decomposition": ("Convergence",),
    "gnomon.methods.neighbor.supervised": ("Supervision",),
    "gnomon.methods.spectral.laplacian_eigenmaps": ("EigenmapExtension",),
    "gnomon.neighbors": ("BlockPart", "Bridges", "Landmarks", "NeighborGraph"),
    "gnomon.objectives.low_rank_sparse": ("Optimality",),
    "gnomon.objectives.pair_objective": ("PairTerm", "Repulsion", "RowLoss"),
    "gnomon.optimizers": (
        "LBFGS",
        "ADMMState",
        "Adam",
        "AdamState",
        "DescentState",
        "GradientDescent",
        "LBFGSState",
        "MajorizationState",
        "PolarState",
        "Residuals",
        "SafeState",
        "SampledDescent",
        "SampledState",
        "SampledSurfaceDescent",
        "SampledSurfaceState",
        "Solution",
        "SurfaceDescent",
        "SurfaceState",
    ),
    "gnomon.optimizers.fenchel.game": ("GameState", "Round"),
    "gnomon.surfaces": ("Hyperboloid", "Sphere"),
}
CLASSES = {name: module for module, names in _MODULES.items() for name in names}
"""Module of each class."""

_LATER = frozenset({"many", "symmetric"})  # arguments, of placements and affinities, that earlier builds did not know

_PROTOCOLS = {
    "InputKernel": _MODULES["gnomon.kernels.inputs"],
    "NewRows": ("BlockRows", "MembershipRows", "OwnRows", "ReconstructionRows", "RowsByMass", "ScaledRows"),
    "OutputKernel": _MODULES["gnomon.kernels"],
}


def find_class(name: str) -> Any:
    """Return one of the classes."""
    return getattr(importlib.import_module(CLASSES[name]), name)


def names_of(cls: Any) -> list[str]:
    """Return the arguments that an object is made from; each is an attribute of it."""
    return list(inspect.signature(cls).parameters)


def required_of(cls: Any) -> set[str]:
    """Return those arguments of an object that files of earlier builds have, too; the others have a default."""
    return set(names_of(cls)) - _LATER


def hints_of(cls: Any) -> dict[str, Any]:
    """Return the type of each argument."""
    declares = cls if is_dataclass(cls) or issubclass(cls, tuple) else cls.__init__
    return typing.get_type_hints(declares, localns={"CustomLaw": CustomLaw, "OutputKernel": OutputKernel})


def fits(value: Any, hint: Any) -> bool:
    """Say whether a value has the type that an argument declares."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    stated = getattr(hint, "__value__", None)  # of a name for a type, as NumPy's NDArray is on new Pythons
    if stated is not None:
        return fits(value, stated[arguments] if arguments else stated)
    if origin in (types.UnionType, typing.Union):
        return any(fits(value, one) for one in arguments)
    if origin is tuple and arguments[1:] == (...,):
        return isinstance(value, tuple) and all(fits(one, arguments[0]) for one in value)
    if origin is typing.Literal:
        return value in arguments
    if hint is float:
        return isinstance(value, (float, int, np.floating)) and not isinstance(value, bool) and not math.isnan(value)
    if hint is int:
        return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if origin is np.ndarray:
        wanted = typing.get_args(arguments[1])[0]
        return isinstance(value, np.ndarray) and (wanted is Any or np.issubdtype(value.dtype, wanted))
    if getattr(hint, "_is_protocol", False):
        return type(value).__name__ in _PROTOCOLS[hint.__name__]
    return isinstance(value, origin or hint)
