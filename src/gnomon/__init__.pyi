# The public names of gnomon and where they live; `gnomon` reads this file.
from . import datasets, exceptions
from ._progress import Progress
from ._run import running
from .data import read_table
from .evaluation import embedding_similarity, evaluate
from .explanations import (
    cluster_captions,
    cluster_profiles,
    encode_features,
    explain,
    explain_with_features,
    importance_by_label,
    mean_importance,
)
from .explanations.axis import axis
from .explanations.contrast import contrast
from .explanations.counterfactual import counterfactual
from .explanations.saliency import saliency
from .explanations.why import why
from .extension import AffineAtlas
from .geometry import intrinsic_dimension, tangent_frames
from .geometry.distortion import distortion
from .maps import Map, map
from .methods import (
    MDS,
    PCA,
    PHATE,
    SNE,
    TSNE,
    UMAP,
    ClassicalMDS,
    DensMAP,
    FeatMAP,
    ForceAtlas2,
    GradientPCA,
    GraphRobustPCA,
    HuberPCA,
    InfoNCETSNE,
    Isomap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    LargeVis,
    LocallyLinearEmbedding,
    NegTSNE,
    NeighborEmbedding,
    PaCMAP,
    RandomProjection,
    RobustPCA,
    SketchMap,
    StiefelPCA,
    SymmetricSNE,
    TriMap,
    TwoKernelLLE,
    TwoKernelPCA,
    select_kernel,
    sensitivity,
)
from .spectrum import attraction_repulsion_spectrum

__all__ = [
    "MDS",
    "PCA",
    "PHATE",
    "SNE",
    "TSNE",
    "UMAP",
    "AffineAtlas",
    "ClassicalMDS",
    "DensMAP",
    "FeatMAP",
    "ForceAtlas2",
    "GradientPCA",
    "GraphRobustPCA",
    "HuberPCA",
    "InfoNCETSNE",
    "Isomap",
    "KernelPCA",
    "LandmarkMDS",
    "LaplacianEigenmaps",
    "LargeVis",
    "LocallyLinearEmbedding",
    "Map",
    "NegTSNE",
    "NeighborEmbedding",
    "PaCMAP",
    "Progress",
    "RandomProjection",
    "RobustPCA",
    "SketchMap",
    "StiefelPCA",
    "SymmetricSNE",
    "TriMap",
    "TwoKernelLLE",
    "TwoKernelPCA",
    "__version__",
    "attraction_repulsion_spectrum",
    "axis",
    "cluster_captions",
    "cluster_profiles",
    "contrast",
    "counterfactual",
    "datasets",
    "distortion",
    "embedding_similarity",
    "encode_features",
    "evaluate",
    "exceptions",
    "explain",
    "explain_with_features",
    "importance_by_label",
    "intrinsic_dimension",
    "map",
    "mean_importance",
    "read_table",
    "running",
    "saliency",
    "select_kernel",
    "sensitivity",
    "tangent_frames",
    "why",
]

__version__: str
