"""The methods as scikit-learn estimators, each a choice of parts."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gnomon.methods.catalogue import METHODS, MethodCard, find_method

# Where each estimator, and the choice of a kernel, lives; modules are imported when one is first used, so that the
# catalogue alone stays cheap.
_ESTIMATORS = {
    "ClassicalMDS": "classical_mds",
    "DensMAP": "densmap",
    "FeatMAP": "featmap",
    "ForceAtlas2": "force_atlas2",
    "GradientPCA": "gradient_pca",
    "GraphRobustPCA": "graph_robust_pca",
    "HuberPCA": "huber_pca",
    "InfoNCETSNE": "contrastive",
    "Isomap": "isomap",
    "KernelPCA": "kernel_pca",
    "LandmarkMDS": "landmark_mds",
    "LaplacianEigenmaps": "laplacian_eigenmaps",
    "LargeVis": "large_vis",
    "LocallyLinearEmbedding": "locally_linear",
    "MDS": "mds",
    "NegTSNE": "contrastive",
    "NeighborEmbedding": "neighbor_embedding",
    "PaCMAP": "pacmap",
    "PCA": "pca",
    "RandomProjection": "random_projection",
    "RobustPCA": "robust_pca",
    "select_kernel": "kernel_choice",
    "sensitivity": "sensitivities",
    "SketchMap": "sketch_map",
    "SNE": "sne",
    "StiefelPCA": "stiefel_pca",
    "SymmetricSNE": "sne",
    "TriMap": "trimap",
    "TSNE": "tsne",
    "TwoKernelLLE": "two_kernel_lle",
    "TwoKernelPCA": "two_kernel_pca",
    "UMAP": "umap",
}

__all__ = ["METHODS", "MethodCard", "find_method", *_ESTIMATORS]

if TYPE_CHECKING:
    from gnomon.methods.classical_mds import ClassicalMDS as ClassicalMDS
    from gnomon.methods.contrastive import InfoNCETSNE as InfoNCETSNE
    from gnomon.methods.contrastive import NegTSNE as NegTSNE
    from gnomon.methods.densmap import DensMAP as DensMAP
    from gnomon.methods.featmap import FeatMAP as FeatMAP
    from gnomon.methods.force_atlas2 import ForceAtlas2 as ForceAtlas2
    from gnomon.methods.gradient_pca import GradientPCA as GradientPCA
    from gnomon.methods.graph_robust_pca import GraphRobustPCA as GraphRobustPCA
    from gnomon.methods.huber_pca import HuberPCA as HuberPCA
    from gnomon.methods.isomap import Isomap as Isomap
    from gnomon.methods.kernel_choice import select_kernel as select_kernel
    from gnomon.methods.kernel_pca import KernelPCA as KernelPCA
    from gnomon.methods.landmark_mds import LandmarkMDS as LandmarkMDS
    from gnomon.methods.laplacian_eigenmaps import LaplacianEigenmaps as LaplacianEigenmaps
    from gnomon.methods.large_vis import LargeVis as LargeVis
    from gnomon.methods.locally_linear import LocallyLinearEmbedding as LocallyLinearEmbedding
    from gnomon.methods.mds import MDS as MDS
    from gnomon.methods.neighbor_embedding import NeighborEmbedding as NeighborEmbedding
    from gnomon.methods.pacmap import PaCMAP as PaCMAP
    from gnomon.methods.pca import PCA as PCA
    from gnomon.methods.random_projection import RandomProjection as RandomProjection
    from gnomon.methods.robust_pca import RobustPCA as RobustPCA
    from gnomon.methods.sensitivities import sensitivity as sensitivity
    from gnomon.methods.sketch_map import SketchMap as SketchMap
    from gnomon.methods.sne import SNE as SNE
    from gnomon.methods.sne import SymmetricSNE as SymmetricSNE
    from gnomon.methods.stiefel_pca import StiefelPCA as StiefelPCA
    from gnomon.methods.trimap import TriMap as TriMap
    from gnomon.methods.tsne import TSNE as TSNE
    from gnomon.methods.two_kernel_lle import TwoKernelLLE as TwoKernelLLE
    from gnomon.methods.two_kernel_pca import TwoKernelPCA as TwoKernelPCA
    from gnomon.methods.umap import UMAP as UMAP


def __getattr__(name: str) -> Any:
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'gnomon.methods' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"gnomon.methods.{_ESTIMATORS[name]}"), name)
    globals()[name] = value
    return value
