"""Eigenproblems, singular vectors, low-rank factors and products that the rooms above share."""

from gnomon.linalg.bottom import BottomEigenpairs, bottom_eigenpairs
from gnomon.linalg.draws import normal_matrix, uniform_matrix
from gnomon.linalg.krylov import Eigenpairs, leading_eigenpairs, spectral_bounds
from gnomon.linalg.laplacian import LaplacianEigenpairs, laplacian_eigenpairs
from gnomon.linalg.low_rank import LowRank, SymmetricAccess
from gnomon.linalg.nystrom import nystrom
from gnomon.linalg.pivoted_cholesky import pivoted_cholesky
from gnomon.linalg.principal import PrincipalComponents, principal_components
from gnomon.linalg.procrustes import Procrustes, align, procrustes, procrustes_error
from gnomon.linalg.randomized import randomized_factor
from gnomon.linalg.sparse import kernel_csr
from gnomon.linalg.spectra import largest_deviation
from gnomon.linalg.spectral import SpectralVectors, connected_components, spectral_vectors
from gnomon.linalg.table import RowTable

__all__ = [
    "BottomEigenpairs",
    "Eigenpairs",
    "LaplacianEigenpairs",
    "LowRank",
    "PrincipalComponents",
    "Procrustes",
    "RowTable",
    "SpectralVectors",
    "SymmetricAccess",
    "align",
    "bottom_eigenpairs",
    "connected_components",
    "kernel_csr",
    "laplacian_eigenpairs",
    "largest_deviation",
    "leading_eigenpairs",
    "normal_matrix",
    "nystrom",
    "pivoted_cholesky",
    "principal_components",
    "procrustes",
    "procrustes_error",
    "randomized_factor",
    "spectral_bounds",
    "spectral_vectors",
    "uniform_matrix",
]
