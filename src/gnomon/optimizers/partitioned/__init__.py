"""Layouts of which each worker moves some rows: UMAP's epochs and t-SNE's descent, in rounds of messages."""

from gnomon.optimizers.partitioned.parts import OwnedEdges, part_bounds
from gnomon.optimizers.partitioned.sampled import SampledPart, SampledParts, SampledRun, SampledSpec

__all__ = ["OwnedEdges", "SampledPart", "SampledParts", "SampledRun", "SampledSpec", "part_bounds"]
