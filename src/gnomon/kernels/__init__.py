"""How similar two points are: output kernels of the embedding and laws of them, input kernels of the data."""

from gnomon.kernels.base import CurvedKernel, OutputKernel
from gnomon.kernels.choice import INPUT_KERNELS, input_kernel
from gnomon.kernels.custom import CustomKernel, CustomLaw
from gnomon.kernels.inputs import InputKernel
from gnomon.kernels.laws import LAWS, curvature_of_law, evaluate_law
from gnomon.kernels.potentials import Distance, InversePower, Linear, Logarithmic, ShortReach, SketchMapKernel
from gnomon.kernels.registry import EXAMPLES, KERNELS
from gnomon.kernels.similarities import Cauchy, Gaussian, NoiseContrast, StudentT, UMAPKernel

__all__ = [
    "EXAMPLES",
    "INPUT_KERNELS",
    "KERNELS",
    "LAWS",
    "Cauchy",
    "CurvedKernel",
    "CustomKernel",
    "CustomLaw",
    "Distance",
    "Gaussian",
    "InputKernel",
    "InversePower",
    "Linear",
    "Logarithmic",
    "NoiseContrast",
    "OutputKernel",
    "ShortReach",
    "SketchMapKernel",
    "StudentT",
    "UMAPKernel",
    "curvature_of_law",
    "evaluate_law",
    "input_kernel",
]
