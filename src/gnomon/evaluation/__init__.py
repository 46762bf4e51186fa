"""How far to trust a map, overall and point by point, and how good its explanation is."""

from gnomon.evaluation.agreement import SIMILARITY_METRICS, Agreement, compare_embeddings, embedding_similarity
from gnomon.evaluation.evaluation import Evaluation, evaluate
from gnomon.evaluation.explanations import (
    DriverRecovery,
    FeatureRemoval,
    PushTest,
    Stability,
    push_test,
    recovery_of_drivers,
    remove_features,
    shuffle_columns,
    sign_agreement,
    stability,
)
from gnomon.evaluation.measures import MEASURES, QUALITIES, Measure
from gnomon.evaluation.pairs import ShepardDiagram
from gnomon.evaluation.radii import local_radius_correlation
from gnomon.evaluation.scorecard import Curves, Score, Scorecard, scorecard

__all__ = [
    "MEASURES",
    "QUALITIES",
    "SIMILARITY_METRICS",
    "Agreement",
    "Curves",
    "DriverRecovery",
    "Evaluation",
    "FeatureRemoval",
    "Measure",
    "PushTest",
    "Score",
    "Scorecard",
    "ShepardDiagram",
    "Stability",
    "compare_embeddings",
    "embedding_similarity",
    "evaluate",
    "local_radius_correlation",
    "push_test",
    "recovery_of_drivers",
    "remove_features",
    "scorecard",
    "shuffle_columns",
    "sign_agreement",
    "stability",
]
