"""How similar two points of the embedding are: output kernels, functions of the squared distance."""

from gnomon.kernels.base import OutputKernel
from gnomon.kernels.cauchy import Cauchy
from gnomon.kernels.noise_contrast import NoiseContrast
from gnomon.kernels.umap import UMAPKernel

__all__ = ["Cauchy", "NoiseContrast", "OutputKernel", "UMAPKernel"]
