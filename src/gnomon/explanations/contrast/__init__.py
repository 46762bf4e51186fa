"""What sets groups of rows apart."""

from gnomon.explanations.contrast.captions import Caption, cluster_captions
from gnomon.explanations.contrast.groups import cluster_profiles, contrast
from gnomon.explanations.contrast.result import Contrast

__all__ = ["Caption", "Contrast", "cluster_captions", "cluster_profiles", "contrast"]
