"""Eigenproblems, singular vectors, low-rank factors and products that the rooms above share."""

from gnomon.linalg.classical_scaling import ClassicalScaling, classical_scaling
from gnomon.linalg.draws import normal_matrix, random_directions, uniform_matrix
from gnomon.linalg.eigen.base import Eigenpairs, column_signs, with_signs
from gnomon.linalg.eigen.eigenpairs import MAX_FACTOR_ENTRIES, eigenpairs, symmetric_operator
from gnomon.linalg.eigen.krylov import spectral_bounds
from gnomon.linalg.eigen.laplacian import MAX_SPECTRAL_VECTORS, GraphLaplacian, connected_components
from gnomon.linalg.low_rank import LowRank, SymmetricAccess, nystrom, pivoted_cholesky, randomized_factor
from gnomon.linalg.principal.components import (
    PrincipalComponents,
    principal_components,
    principal_components_in_basis,
    principal_components_of_factor,
    principal_components_of_moments,
    project_rows,
)
from gnomon.linalg.principal.merged import CentredFactor, CentredProduct
from gnomon.linalg.principal.probabilistic import draw_rows_of_model, log_likelihood, model_covariance, model_precision
from gnomon.linalg.principal.robust_coordinates import huber_coordinates, robust_coordinates, robust_derivative
from gnomon.linalg.principal.scatter import Moments
from gnomon.linalg.principal.spectra import largest_deviation
from gnomon.linalg.principal.subspace import CentredProducts, centred_products
from gnomon.linalg.principal.weighted import Reflection, reflected_rows
from gnomon.linalg.procrustes import MeanShape, Procrustes, align, mean_shape, procrustes, procrustes_error
from gnomon.linalg.products import inner_products, product, share
from gnomon.linalg.proximal import Smoothing, ThresholdedSVD, singular_value_threshold
from gnomon.linalg.table import RowTable, dense_rows, kernel_csr, kernel_graph

__all__ = [
    "MAX_FACTOR_ENTRIES",
    "MAX_SPECTRAL_VECTORS",
    "CentredFactor",
    "CentredProduct",
    "CentredProducts",
    "ClassicalScaling",
    "Eigenpairs",
    "GraphLaplacian",
    "LowRank",
    "MeanShape",
    "Moments",
    "PrincipalComponents",
    "Procrustes",
    "Reflection",
    "RowTable",
    "Smoothing",
    "SymmetricAccess",
    "ThresholdedSVD",
    "align",
    "centred_products",
    "classical_scaling",
    "column_signs",
    "connected_components",
    "dense_rows",
    "draw_rows_of_model",
    "eigenpairs",
    "huber_coordinates",
    "inner_products",
    "kernel_csr",
    "kernel_graph",
    "largest_deviation",
    "log_likelihood",
    "mean_shape",
    "model_covariance",
    "model_precision",
    "normal_matrix",
    "nystrom",
    "pivoted_cholesky",
    "principal_components",
    "principal_components_in_basis",
    "principal_components_of_factor",
    "principal_components_of_moments",
    "procrustes",
    "procrustes_error",
    "product",
    "project_rows",
    "random_directions",
    "randomized_factor",
    "reflected_rows",
    "robust_coordinates",
    "robust_derivative",
    "share",
    "singular_value_threshold",
    "spectral_bounds",
    "symmetric_operator",
    "uniform_matrix",
    "with_signs",
]
