"""Layouts of which each worker moves some rows: UMAP's epochs and t-SNE's descent, in rounds of messages."""

from gnomon.optimizers.partitioned.mesh import MeshPart, MeshParts, MeshSpec, Phase, n_mesh_parts
from gnomon.optimizers.partitioned.parts import OwnedEdges, PartsRun, part_bounds
from gnomon.optimizers.partitioned.sampled import SampledPart, SampledParts, SampledSpec

__all__ = [
    "MeshPart",
    "MeshParts",
    "MeshSpec",
    "OwnedEdges",
    "PartsRun",
    "Phase",
    "SampledPart",
    "SampledParts",
    "SampledSpec",
    "n_mesh_parts",
    "part_bounds",
]
