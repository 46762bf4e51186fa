"""Which features move a point, set a selection apart, drive a direction.

A question that has a module of its own name is asked through it, as in ``from gnomon.explanations.axis import axis``;
all of them are in `gnomon` itself.
"""

from gnomon.explanations.answer import Answer, AnswersByLabel
from gnomon.explanations.axis import Axis, Profile
from gnomon.explanations.blocks import StoredExplanation, explain_by_blocks
from gnomon.explanations.collinear import FeatureGroups, group_features
from gnomon.explanations.contrast import Caption, Contrast, cluster_captions, cluster_profiles
from gnomon.explanations.counterfactual import Counterfactual
from gnomon.explanations.entry import explain
from gnomon.explanations.explanation import Explanation, TopFeatures
from gnomon.explanations.importance import MeanImportance, importance_by_label, mean_importance
from gnomon.explanations.interpretable import encode_features, explain_with_features
from gnomon.explanations.off_directions import OffDirections
from gnomon.explanations.outliers import Outliers
from gnomon.explanations.repeats import Repeats
from gnomon.explanations.saliency import Saliency
from gnomon.explanations.suspects import Suspects
from gnomon.explanations.why import Why

__all__ = [
    "Answer",
    "AnswersByLabel",
    "Axis",
    "Caption",
    "Contrast",
    "Counterfactual",
    "Explanation",
    "FeatureGroups",
    "MeanImportance",
    "OffDirections",
    "Outliers",
    "Profile",
    "Repeats",
    "Saliency",
    "StoredExplanation",
    "Suspects",
    "TopFeatures",
    "Why",
    "cluster_captions",
    "cluster_profiles",
    "encode_features",
    "explain",
    "explain_by_blocks",
    "explain_with_features",
    "group_features",
    "importance_by_label",
    "mean_importance",
]
