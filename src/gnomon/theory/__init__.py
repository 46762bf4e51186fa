"""Claims of the papers as functions that check them on data."""

from gnomon.theory.low_rank import LowRankAlignment, lowrank_alignment
from gnomon.theory.pca import PCACertificate, pca_certificate

__all__ = ["LowRankAlignment", "PCACertificate", "lowrank_alignment", "pca_certificate"]
