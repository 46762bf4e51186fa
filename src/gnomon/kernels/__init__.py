"""How two points of the embedding relate: output kernels, functions of the squared distance, and laws of them."""

from gnomon.kernels.base import OutputKernel
from gnomon.kernels.cauchy import Cauchy
from gnomon.kernels.custom import CustomKernel
from gnomon.kernels.distance import Distance
from gnomon.kernels.gaussian import Gaussian
from gnomon.kernels.inverse_power import InversePower
from gnomon.kernels.laws import LAWS, evaluate_law
from gnomon.kernels.linear import Linear
from gnomon.kernels.logarithmic import Logarithmic
from gnomon.kernels.noise_contrast import NoiseContrast
from gnomon.kernels.registry import EXAMPLES, KERNELS
from gnomon.kernels.student_t import StudentT
from gnomon.kernels.umap import UMAPKernel

__all__ = [
    "EXAMPLES",
    "KERNELS",
    "LAWS",
    "Cauchy",
    "CustomKernel",
    "Distance",
    "Gaussian",
    "InversePower",
    "Linear",
    "Logarithmic",
    "NoiseContrast",
    "OutputKernel",
    "StudentT",
    "UMAPKernel",
    "evaluate_law",
]
