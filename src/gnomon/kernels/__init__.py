"""How similar two points are: output kernels of the embedding, and input kernels of the data for Gram matrices."""

from gnomon.kernels.base import OutputKernel
from gnomon.kernels.cauchy import Cauchy
from gnomon.kernels.choice import INPUT_KERNELS, input_kernel
from gnomon.kernels.inputs import InputKernel
from gnomon.kernels.umap import UMAPKernel

__all__ = ["INPUT_KERNELS", "Cauchy", "InputKernel", "OutputKernel", "UMAPKernel", "input_kernel"]
