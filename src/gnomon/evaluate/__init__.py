"""How far to trust a map, overall and point by point."""

from gnomon.evaluate.agreement import SIMILARITY_METRICS, Agreement, compare_embeddings, embedding_similarity
from gnomon.evaluate.evaluation import Evaluation
from gnomon.evaluate.radii import local_radius_correlation
from gnomon.evaluate.scoring import evaluate

__all__ = [
    "SIMILARITY_METRICS",
    "Agreement",
    "Evaluation",
    "compare_embeddings",
    "embedding_similarity",
    "evaluate",
    "local_radius_correlation",
]
