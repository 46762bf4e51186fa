# The methods and where they live; `gnomon.methods` reads this file.
from .distance.classical_mds import ClassicalMDS
from .distance.isomap import Isomap
from .distance.landmark_mds import LandmarkMDS
from .distance.mds import MDS
from .distance.phate import PHATE
from .distance.sketch_map import SketchMap
from .linear.gradient_pca import GradientPCA
from .linear.graph_robust_pca import GraphRobustPCA
from .linear.huber_pca import HuberPCA
from .linear.kernel_pca import KernelPCA
from .linear.kernel_search import select_kernel
from .linear.pca import PCA
from .linear.random_projection import RandomProjection
from .linear.robust_pca import RobustPCA
from .linear.stiefel_pca import StiefelPCA
from .neighbor.composed import NeighborEmbedding
from .neighbor.contrastive import InfoNCETSNE, NegTSNE
from .neighbor.densmap import DensMAP
from .neighbor.featmap import FeatMAP
from .neighbor.force_atlas2 import ForceAtlas2
from .neighbor.large_vis import LargeVis
from .neighbor.pacmap import PaCMAP
from .neighbor.sne import SNE, SymmetricSNE
from .neighbor.trimap import TriMap
from .neighbor.tsne import TSNE
from .neighbor.two_kernel_lle import TwoKernelLLE
from .neighbor.two_kernel_pca import TwoKernelPCA
from .neighbor.umap import UMAP
from .registry import METHODS, MethodCard, find_method
from .sensitivities import sensitivity
from .spectral.laplacian_eigenmaps import LaplacianEigenmaps
from .spectral.locally_linear import LocallyLinearEmbedding

__all__ = [
    "MDS",
    "METHODS",
    "PCA",
    "PHATE",
    "SNE",
    "TSNE",
    "UMAP",
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
    "MethodCard",
    "NegTSNE",
    "NeighborEmbedding",
    "PaCMAP",
    "RandomProjection",
    "RobustPCA",
    "SketchMap",
    "StiefelPCA",
    "SymmetricSNE",
    "TriMap",
    "TwoKernelLLE",
    "TwoKernelPCA",
    "find_method",
    "select_kernel",
    "sensitivity",
]
