"""Claims of the papers as functions that check them on data."""

from gnomon.theory.effective_loss import EffectiveLoss, effective_loss
from gnomon.theory.gradient_alignment import (
    Alignment,
    FieldAgreement,
    expected_umap_gradient,
    field_agreement,
    gradient_alignment,
)
from gnomon.theory.low_rank import LowRankAlignment, lowrank_alignment
from gnomon.theory.metric_separation import MetricSeparation, metric_separation
from gnomon.theory.pca import PCACertificate, pca_certificate

__all__ = [
    "Alignment",
    "EffectiveLoss",
    "FieldAgreement",
    "LowRankAlignment",
    "MetricSeparation",
    "PCACertificate",
    "effective_loss",
    "expected_umap_gradient",
    "field_agreement",
    "gradient_alignment",
    "lowrank_alignment",
    "metric_separation",
    "pca_certificate",
]
