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
    "SketchMap": "gnomon.methods",
    "SNE": "gnomon.methods",
    "StiefelPCA": "gnomon.methods",
    "SymmetricSNE": "gnomon.methods",
    "TriMap": "gnomon.methods",
    "TSNE": "gnomon.methods",
    "TwoKernelLLE": "gnomon.methods",
    "TwoKernelPCA": "gnomon.methods",
    "UMAP": "gnomon.methods",
    "Map": "gnomon.map",
    "Progress": "gnomon._progress",
    "attraction_repulsion_spectrum": "gnomon.spectrum",
    "cluster_profiles": "gnomon.explain",
    "contrast": "gnomon.explain",
    "embedding_similarity": "gnomon.evaluate",
    "evaluate": "gnomon.evaluate",
    "explain": "gnomon.explain",
    "intrinsic_dimension": "gnomon.geometry",
    "map": "gnomon.map",
    "read_table": "gnomon.data",
    "select_kernel": "gnomon.methods",
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
    from gnomon.explain import cluster_profiles as cluster_profiles
    from gnomon.explain import contrast as contrast
    from gnomon.explain import explain as explain
    from gnomon.geometry import intrinsic_dimension as intrinsic_dimension
    from gnomon.map import Map as Map
    from gnomon.map import map as map
    from gnomon.methods import MDS as MDS
    from gnomon.methods import PCA as PCA
    from gnomon.methods import SNE as SNE
    from gnomon.methods import TSNE as TSNE
    from gnomon.methods import UMAP as UMAP
    from gnomon.methods import ClassicalMDS as ClassicalMDS
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
