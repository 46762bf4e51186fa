"""All output kernels by name."""

from __future__ import annotations

from gnomon.kernels.base import OutputKernel
from gnomon.kernels.custom import CustomKernel
from gnomon.kernels.potentials import Distance, InversePower, Linear, Logarithmic, ShortReach, SketchMapKernel
from gnomon.kernels.similarities import Cauchy, Gaussian, NoiseContrast, StudentT, UMAPKernel

__all__ = ["EXAMPLES", "KERNELS"]

KERNELS: dict[str, type[OutputKernel]] = {
    "linear": Linear,
    "gaussian": Gaussian,
    "cauchy": Cauchy,
    "student_t": StudentT,
    "umap": UMAPKernel,
    "inverse_power": InversePower,
    "logarithmic": Logarithmic,
    "distance": Distance,
    "short_reach": ShortReach,
    "sketch_map": SketchMapKernel,
    "noise_contrast": NoiseContrast,
    "custom": CustomKernel,
}
"""Classes of kernels; the name is that of the compiled kernel."""

EXAMPLES: dict[str, OutputKernel] = {
    "linear": Linear(),
    "gaussian": Gaussian(1.5),
    "cauchy": Cauchy(),
    "student_t": StudentT(2.5),
    "umap": UMAPKernel(1.5769, 0.8951),
    "inverse_power": InversePower(0.75),
    "logarithmic": Logarithmic(),
    "distance": Distance(),
    "short_reach": ShortReach(4.0),
    "sketch_map": SketchMapKernel(1.4, 2.0, 3.0),
    "noise_contrast": NoiseContrast(0.25),
    "custom": CustomKernel(
        lambda s: 1.0 / (1.0 + s) ** 2,
        lambda s: -2.0 / (1.0 + s) ** 3,
        second_derivative=lambda s: 6.0 / (1.0 + s) ** 4,
        bounded=True,
    ),
}
"""One kernel of each class, for tests and demonstrations."""
