"""Eigenproblems, singular vectors and products that the rooms above share."""

from gnomon.linalg.draws import normal_matrix, uniform_matrix
from gnomon.linalg.principal import PrincipalComponents, principal_components

__all__ = ["PrincipalComponents", "normal_matrix", "principal_components", "uniform_matrix"]
