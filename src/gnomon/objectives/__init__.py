"""What a good map minimises: losses of the embedding and their forces."""

from gnomon.objectives.base import Objective
from gnomon.objectives.cross_entropy import CrossEntropy
from gnomon.objectives.kl_divergence import KLDivergence
from gnomon.objectives.strain import SafeStep, Strain

__all__ = ["CrossEntropy", "KLDivergence", "Objective", "SafeStep", "Strain"]
