"""How similar two points are: output kernels of the embedding and laws of them, input kernels of the data."""

from gnomon.kernels.base import CurvedKernel, OutputKernel
from gnomon.kernels.cauchy import Cauchy
from gnomon.kernels.choice import INPUT_KERNELS, input_kernel
from gnomon.kernels.custom import CustomKernel
from gnomon.kernels.custom_law import CustomLaw
from gnomon.kernels.distance import Distance
from gnomon.kernels.gaussian import Gaussian
from gnomon.kernels.inputs import InputKernel
from gnomon.kernels.inverse_power import InversePower
from gnomon.kernels.laws import LAWS, curvature_of_law, evaluate_law
from gnomon.kernels.linear import Linear
from gnomon.kernels.logarithmic import Logarithmic
from gnomon.kernels.noise_contrast import NoiseContrast
from gnomon.kernels.registry import EXAMPLES, KERNELS
from gnomon.kernels.sketch_map import SketchMapKernel
from gnomon.kernels.student_t import StudentT
from gnomon.kernels.umap import UMAPKernel

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
    "SketchMapKernel",
    "StudentT",
    "UMAPKernel",
    "curvature_of_law",
    "evaluate_law",
    "input_kernel",
]
