# The public names of gnomon and where they live; `gnomon` reads this file.
from . import anndata as anndata
from . import datasets as datasets
from . import exceptions as exceptions
from . import plot as plot
from ._progress import Progress as Progress
from ._run import running as running
from .clusters import find_clusters as find_clusters
from .comparison import compare as compare
from .comparison import recommend as recommend
from .completion import complete_missing as complete_missing
from .data import Block as Block
from .data import read_table as read_table
from .data.preprocessor import TablePreprocessor as TablePreprocessor
from .data.stored import open_table as open_table
from .evaluation import embedding_similarity as embedding_similarity
from .evaluation import evaluate as evaluate
from .explanations import cluster_captions as cluster_captions
from .explanations import cluster_profiles as cluster_profiles
from .explanations import encode_features as encode_features
from .explanations import explain as explain
from .explanations import explain_with_features as explain_with_features
from .explanations import group_features as group_features
from .explanations import importance_by_label as importance_by_label
from .explanations import mean_importance as mean_importance
from .explanations.axis import axis as axis
from .explanations.contrast import contrast as contrast
from .explanations.counterfactual import counterfactual as counterfactual
from .explanations.saliency import saliency as saliency
from .explanations.why import why as why
from .extension import AffineAtlas as AffineAtlas
from .geometry import distortion as distortion
from .geometry import intrinsic_dimension as intrinsic_dimension
from .geometry import tangent_frames as tangent_frames
from .maps import LandmarkMap as LandmarkMap
from .maps import Map as Map
from .maps import load as load
from .maps import map as map
from .maps.forecasting import forecast as forecast
from .methods import AlignedMaps as AlignedMaps
from .methods import NeighborEmbedding as NeighborEmbedding
from .methods import select_kernel as select_kernel
from .methods import sensitivity as sensitivity
from .spectrum import attraction_repulsion_spectrum as attraction_repulsion_spectrum
from .twins import blind_spots as blind_spots
from .twins import proves as proves

# begin: methods (written by `make lists`)
# isort: off
from .methods import ClassicalMDS as ClassicalMDS
from .methods import DREAMS as DREAMS
from .methods import DensMAP as DensMAP
from .methods import FeatMAP as FeatMAP
from .methods import ForceAtlas2 as ForceAtlas2
from .methods import GradientPCA as GradientPCA
from .methods import GraphRobustPCA as GraphRobustPCA
from .methods import HuberPCA as HuberPCA
from .methods import InfoNCETSNE as InfoNCETSNE
from .methods import Isomap as Isomap
from .methods import KernelPCA as KernelPCA
from .methods import LandmarkMDS as LandmarkMDS
from .methods import LaplacianEigenmaps as LaplacianEigenmaps
from .methods import LargeVis as LargeVis
from .methods import LocalMAP as LocalMAP
from .methods import LocallyLinearEmbedding as LocallyLinearEmbedding
from .methods import MDS as MDS
from .methods import NegTSNE as NegTSNE
from .methods import PCA as PCA
from .methods import PHATE as PHATE
from .methods import PaCMAP as PaCMAP
from .methods import RandomProjection as RandomProjection
from .methods import RobustPCA as RobustPCA
from .methods import SNE as SNE
from .methods import ScaleMAP as ScaleMAP
from .methods import SketchMap as SketchMap
from .methods import StarMAP as StarMAP
from .methods import StiefelPCA as StiefelPCA
from .methods import SymmetricSNE as SymmetricSNE
from .methods import TSNE as TSNE
from .methods import TriMap as TriMap
from .methods import TwoKernelLLE as TwoKernelLLE
from .methods import TwoKernelPCA as TwoKernelPCA
from .methods import UMAP as UMAP
# isort: on
# end: methods

__version__: str
