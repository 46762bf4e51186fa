"""Which features move a point, set a selection apart, drive a direction."""

from gnomon.explain.answer import Answer
from gnomon.explain.axis import Axis, Profile, axis
from gnomon.explain.captions import Caption, cluster_captions
from gnomon.explain.contrasts import Contrast, cluster_profiles, contrast
from gnomon.explain.counterfactual import counterfactual
from gnomon.explain.counterfactual_answer import Counterfactual
from gnomon.explain.explanation import Explanation, TopFeatures, explain
from gnomon.explain.importance import MeanImportance, importance_by_label, mean_importance
from gnomon.explain.interpretable import encode_features, explain_with_features
from gnomon.explain.saliency import Saliency, saliency
from gnomon.explain.why import Why, why

__all__ = [
    "Answer",
    "Axis",
    "Caption",
    "Contrast",
    "Counterfactual",
    "Explanation",
    "MeanImportance",
    "Profile",
    "Saliency",
    "TopFeatures",
    "Why",
    "axis",
    "cluster_captions",
    "cluster_profiles",
    "contrast",
    "counterfactual",
    "encode_features",
    "explain",
    "explain_with_features",
    "importance_by_label",
    "mean_importance",
    "saliency",
    "why",
]
