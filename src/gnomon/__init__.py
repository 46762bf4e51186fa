"""gnomon: maps of high-dimensional data that say what they mean and how far to trust them."""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives. Modules are imported when a name is first used, which keeps `import gnomon` cheap.
_PUBLIC: dict[str, str] = {
    "ClassicalMDS": "gnomon.methods",
    "DensMAP": "gnomon.methods",
    "FeatMAP": "gnomon.methods",
    "ForceAtlas2": "gnomon.methods",
    "GradientPCA": "gnomon.methods",
    "GraphRobustPCA": "gnomon.methods",
    "HuberPCA": "gnomon.methods",
    "InfoNCETSNE": "gnomon.methods",
    "Isomap": "gnomon.methods",
    "KernelPCA": "gnomon.methods",
    "LandmarkMDS": "gnomon.methods",
    "LaplacianEigenmaps": "gnomon.methods",
    "LargeVis": "gnomon.methods",
    "LocallyLinearEmbedding": "gnomon.methods",
    "MDS": "gnomon.methods",
    "NegTSNE": "gnomon.methods",
    "NeighborEmbedding": "gnomon.methods",
    "PaCMAP": "gnomon.methods",
    "PCA": "gnomon.methods",
    "RandomProjection": "gnomon.methods",
    "RobustPCA": "gnomon.methods",
    "select_kernel": "gnomon.methods",
    "sensitivity": "gnomon.methods",
    "SketchMap": "gnomon.methods",
    "SNE": "gnomon.methods",
    "StiefelPCA": "gnomon.methods",
    "SymmetricSNE": "gnomon.methods",
    "TriMap": "gnomon.methods",
    "TSNE": "gnomon.methods",
    "TwoKernelLLE": "gnomon.methods",
    "TwoKernelPCA": "gnomon.methods",
    "UMAP": "gnomon.methods",
    "AffineAtlas": "gnomon.extension",
    "Map": "gnomon.map",
    "Progress": "gnomon._progress",
    "attraction_repulsion_spectrum": "gnomon.spectrum",
    "axis": "gnomon.explain",
    "cluster_captions": "gnomon.explain",
    "cluster_profiles": "gnomon.explain",
    "contrast": "gnomon.explain",
    "counterfactual": "gnomon.explain",
    "distortion": "gnomon.geometry",
    "embedding_similarity": "gnomon.evaluate",
    "encode_features": "gnomon.explain",
    "evaluate": "gnomon.evaluate",
    "explain": "gnomon.explain",
    "explain_with_features": "gnomon.explain",
    "importance_by_label": "gnomon.explain",
    "intrinsic_dimension": "gnomon.geometry",
    "map": "gnomon.map",
    "mean_importance": "gnomon.explain",
    "read_table": "gnomon.data",
    "saliency": "gnomon.explain",
    "tangent_frames": "gnomon.geometry",
}
_MODULES = ("datasets", "exceptions")

__all__ = ["__version__", *sorted(_PUBLIC), *_MODULES]

if TYPE_CHECKING:
    from gnomon import datasets as datasets
    from gnomon import exceptions as exceptions
    from gnomon._progress import Progress as Progress
    from gnomon.data import read_table as read_table
    from gnomon.evaluate import embedding_similarity as embedding_similarity
    from gnomon.evaluate import evaluate as evaluate
    from gnomon.explain import cluster_captions as cluster_captions
    from gnomon.explain import cluster_profiles as cluster_profiles
    from gnomon.explain import contrast as contrast
    from gnomon.explain import encode_features as encode_features
    from gnomon.explain import explain as explain
    from gnomon.explain import explain_with_features as explain_with_features
    from gnomon.explain import importance_by_label as importance_by_label
    from gnomon.explain import mean_importance as mean_importance
    from gnomon.explain.axis import axis as axis
    from gnomon.explain.counterfactual import counterfactual as counterfactual
    from gnomon.explain.saliency import saliency as saliency
    from gnomon.extension import AffineAtlas as AffineAtlas
    from gnomon.geometry import intrinsic_dimension as intrinsic_dimension
    from gnomon.geometry import tangent_frames as tangent_frames
    from gnomon.geometry.distortion import distortion as distortion
    from gnomon.map import Map as Map
    from gnomon.map import map as map
    from gnomon.methods import MDS as MDS
    from gnomon.methods import PCA as PCA
    from gnomon.methods import SNE as SNE
    from gnomon.methods import TSNE as TSNE
    from gnomon.methods import UMAP as UMAP
    from gnomon.methods import ClassicalMDS as ClassicalMDS
    from gnomon.methods import DensMAP as DensMAP
    from gnomon.methods import FeatMAP as FeatMAP
    from gnomon.methods import ForceAtlas2 as ForceAtlas2
    from gnomon.methods import GradientPCA as GradientPCA
    from gnomon.methods import GraphRobustPCA as GraphRobustPCA
    from gnomon.methods import HuberPCA as HuberPCA
    from gnomon.methods import InfoNCETSNE as InfoNCETSNE
    from gnomon.methods import Isomap as Isomap
    from gnomon.methods import KernelPCA as KernelPCA
    from gnomon.methods import LandmarkMDS as LandmarkMDS
    from gnomon.methods import LaplacianEigenmaps as LaplacianEigenmaps
    from gnomon.methods import LargeVis as LargeVis
    from gnomon.methods import LocallyLinearEmbedding as LocallyLinearEmbedding
    from gnomon.methods import NegTSNE as NegTSNE
    from gnomon.methods import NeighborEmbedding as NeighborEmbedding
    from gnomon.methods import PaCMAP as PaCMAP
    from gnomon.methods import RandomProjection as RandomProjection
    from gnomon.methods import RobustPCA as RobustPCA
    from gnomon.methods import SketchMap as SketchMap
    from gnomon.methods import StiefelPCA as StiefelPCA
    from gnomon.methods import SymmetricSNE as SymmetricSNE
    from gnomon.methods import TriMap as TriMap
    from gnomon.methods import TwoKernelLLE as TwoKernelLLE
    from gnomon.methods import TwoKernelPCA as TwoKernelPCA
    from gnomon.methods import select_kernel as select_kernel
    from gnomon.methods import sensitivity as sensitivity
    from gnomon.spectrum import attraction_repulsion_spectrum as attraction_repulsion_spectrum


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"gnomon.{name}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'gnomon' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


class _Package(types.ModuleType):
    """Keeps the functions `map`, `explain` and `evaluate` visible: importing a room does not bind its own name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PUBLIC and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
