"""Which features move a point, set a selection apart, drive a direction."""

from gnomon.explain.contrasts import Contrast, cluster_profiles, contrast
from gnomon.explain.explanation import Explanation, TopFeatures, explain
from gnomon.explain.why import Why

__all__ = ["Contrast", "Explanation", "TopFeatures", "Why", "cluster_profiles", "contrast", "explain"]
