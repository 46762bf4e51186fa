"""What sets groups of rows apart."""

from gnomon.explanations.contrast.captions import Caption, cluster_captions
from gnomon.explanations.contrast.groups import Contrast, cluster_profiles, contrast

__all__ = ["Caption", "Contrast", "cluster_captions", "cluster_profiles", "contrast"]
