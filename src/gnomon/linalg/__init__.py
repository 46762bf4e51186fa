"""Eigenproblems, singular vectors and products that the rooms above share."""

from gnomon.linalg.draws import normal_matrix, uniform_matrix
from gnomon.linalg.principal import PrincipalComponents, principal_components
from gnomon.linalg.procrustes import Procrustes, align, procrustes
from gnomon.linalg.sparse import kernel_csr
from gnomon.linalg.spectra import largest_deviation
from gnomon.linalg.spectral import SpectralVectors, connected_components, spectral_vectors

__all__ = [
    "PrincipalComponents",
    "Procrustes",
    "SpectralVectors",
    "align",
    "connected_components",
    "kernel_csr",
    "largest_deviation",
    "normal_matrix",
    "principal_components",
    "procrustes",
    "spectral_vectors",
    "uniform_matrix",
]
