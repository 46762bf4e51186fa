"""How far to trust a map, overall and point by point, and how good its explanation is."""

from gnomon.evaluation.agreement import SIMILARITY_METRICS, Agreement, compare_embeddings, embedding_similarity
from gnomon.evaluation.baselines import PointNulls, dynamicviz, embedr, scdeed
from gnomon.evaluation.changes import PointChanges, point_changes
from gnomon.evaluation.cluster_stability import ClusterStability
from gnomon.evaluation.comparisons import is_denser, is_nearer
from gnomon.evaluation.continuity_nulls import continuity_nulls
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
from gnomon.evaluation.gaps.questions import are_apart, is_continuum, is_real
from gnomon.evaluation.illusions import find_illusions
from gnomon.evaluation.map_stability import MapStability, compare_runs, stability_of_maps
from gnomon.evaluation.map_verdicts import MapVerdicts, judge_gaps
from gnomon.evaluation.measures import MEASURES, QUALITIES, Measure
from gnomon.evaluation.nulls import NullScores, null_scores
from gnomon.evaluation.pairs import ShepardDiagram
from gnomon.evaluation.perturbation import Perturbations, perturbations
from gnomon.evaluation.point_columns import POINT_SCORES, PointScore
from gnomon.evaluation.radii import local_radius_correlation
from gnomon.evaluation.scorecard import Curves, Score, Scorecard, scorecard
from gnomon.evaluation.singularities import Singularities, singularities
from gnomon.evaluation.structureless import structureless
from gnomon.evaluation.verdict import Verdict

__all__ = [
    "MEASURES",
    "POINT_SCORES",
    "QUALITIES",
    "SIMILARITY_METRICS",
    "Agreement",
    "ClusterStability",
    "Curves",
    "DriverRecovery",
    "Evaluation",
    "FeatureRemoval",
    "MapStability",
    "MapVerdicts",
    "Measure",
    "NullScores",
    "Perturbations",
    "PointChanges",
    "PointNulls",
    "PointScore",
    "PushTest",
    "Score",
    "Scorecard",
    "ShepardDiagram",
    "Singularities",
    "Stability",
    "Verdict",
    "are_apart",
    "compare_embeddings",
    "compare_runs",
    "continuity_nulls",
    "dynamicviz",
    "embedding_similarity",
    "embedr",
    "evaluate",
    "find_illusions",
    "is_continuum",
    "is_denser",
    "is_nearer",
    "is_real",
    "judge_gaps",
    "local_radius_correlation",
    "null_scores",
    "perturbations",
    "point_changes",
    "push_test",
    "recovery_of_drivers",
    "remove_features",
    "scdeed",
    "scorecard",
    "shuffle_columns",
    "sign_agreement",
    "singularities",
    "stability",
    "stability_of_maps",
    "structureless",
]
