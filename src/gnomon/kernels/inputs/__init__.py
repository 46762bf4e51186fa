"""How similar two rows of the data are: input kernels, which make Gram matrices."""

from gnomon.kernels.inputs.base import InputKernel, squared_distances
from gnomon.kernels.inputs.custom import CustomInput
from gnomon.kernels.inputs.products import CosineInput, LinearInput, PolynomialInput
from gnomon.kernels.inputs.radial import (
    CauchyInput,
    GaussianInput,
    LaplacianInput,
    RadialInput,
    SketchMapInput,
    UMAPInput,
)

__all__ = [
    "CauchyInput",
    "CosineInput",
    "CustomInput",
    "GaussianInput",
    "InputKernel",
    "LaplacianInput",
    "LinearInput",
    "PolynomialInput",
    "RadialInput",
    "SketchMapInput",
    "UMAPInput",
    "squared_distances",
]
