"""Eigenproblems, singular vectors, low-rank factors and products that the rooms above share."""

from gnomon.linalg.classical_scaling import ClassicalScaling, classical_scaling
from gnomon.linalg.directions import random_directions
from gnomon.linalg.draws import normal_matrix, uniform_matrix
from gnomon.linalg.eigen.block_krylov import SpectrumEnds, block_eigenpairs
from gnomon.linalg.eigen.krylov import Eigenpairs, leading_eigenpairs, spectral_bounds
from gnomon.linalg.eigen.laplacian import LaplacianEigenpairs, laplacian_eigenpairs
from gnomon.linalg.eigen.multilevel import SpectralVectors, connected_components, spectral_vectors
from gnomon.linalg.eigen.smallest import MAX_FACTOR_ENTRIES, BottomEigenpairs, bottom_eigenpairs
from gnomon.linalg.eigen.smoothing import Smoothing
from gnomon.linalg.low_rank.factor import LowRank, SymmetricAccess
from gnomon.linalg.low_rank.nystrom import nystrom
from gnomon.linalg.low_rank.pivoted_cholesky import pivoted_cholesky
from gnomon.linalg.low_rank.randomized import randomized_factor
from gnomon.linalg.low_rank.thresholding import ThresholdedSVD, singular_value_threshold
from gnomon.linalg.principal.components import (
    PrincipalComponents,
    principal_components,
    principal_components_of_moments,
    project_rows,
)
from gnomon.linalg.principal.huber_coordinates import huber_coordinates
from gnomon.linalg.principal.probabilistic import draw_rows_of_model, log_likelihood, model_covariance, model_precision
from gnomon.linalg.principal.robust_coordinates import robust_coordinates
from gnomon.linalg.principal.scatter import Moments
from gnomon.linalg.principal.spectra import largest_deviation
from gnomon.linalg.principal.subspace import CentredProducts, centred_products
from gnomon.linalg.procrustes import Procrustes, align, procrustes, procrustes_error
from gnomon.linalg.products import inner_products, product, share
from gnomon.linalg.signs import column_signs, with_signs
from gnomon.linalg.sparse import dense_rows, kernel_csr, kernel_graph
from gnomon.linalg.table import RowTable

__all__ = [
    "MAX_FACTOR_ENTRIES",
    "BottomEigenpairs",
    "CentredProducts",
    "ClassicalScaling",
    "Eigenpairs",
    "LaplacianEigenpairs",
    "LowRank",
    "Moments",
    "PrincipalComponents",
    "Procrustes",
    "RowTable",
    "Smoothing",
    "SpectralVectors",
    "SpectrumEnds",
    "SymmetricAccess",
    "ThresholdedSVD",
    "align",
    "block_eigenpairs",
    "bottom_eigenpairs",
    "centred_products",
    "classical_scaling",
    "column_signs",
    "connected_components",
    "dense_rows",
    "draw_rows_of_model",
    "huber_coordinates",
    "inner_products",
    "kernel_csr",
    "kernel_graph",
    "laplacian_eigenpairs",
    "largest_deviation",
    "leading_eigenpairs",
    "log_likelihood",
    "model_covariance",
    "model_precision",
    "normal_matrix",
    "nystrom",
    "pivoted_cholesky",
    "principal_components",
    "principal_components_of_moments",
    "procrustes",
    "procrustes_error",
    "product",
    "project_rows",
    "random_directions",
    "randomized_factor",
    "robust_coordinates",
    "share",
    "singular_value_threshold",
    "spectral_bounds",
    "spectral_vectors",
    "uniform_matrix",
    "with_signs",
]
