# The public names of the methods and where they live; `gnomon.methods` reads this file.
from .aligned.maps import AlignedMaps as AlignedMaps
from .aligned.movement import Movement as Movement
from .linear.kernel_selection import select_kernel as select_kernel
from .neighbor.composed import NeighborEmbedding as NeighborEmbedding
from .registry import METHODS as METHODS
from .registry import MethodCard as MethodCard
from .registry import find_method as find_method
from .sensitivities import sensitivity as sensitivity

# begin: methods (written by `make lists`)
# isort: off
from .distance.classical_mds import ClassicalMDS as ClassicalMDS
from .distance.isomap import Isomap as Isomap
from .distance.landmark_mds import LandmarkMDS as LandmarkMDS
from .distance.mds import MDS as MDS
from .distance.phate import PHATE as PHATE
from .distance.sketch_map import SketchMap as SketchMap
from .linear.gradient_pca import GradientPCA as GradientPCA
from .linear.graph_robust_pca import GraphRobustPCA as GraphRobustPCA
from .linear.huber_pca import HuberPCA as HuberPCA
from .linear.kernel_pca import KernelPCA as KernelPCA
from .linear.pca import PCA as PCA
from .linear.random_projection import RandomProjection as RandomProjection
from .linear.robust_pca import RobustPCA as RobustPCA
from .linear.stiefel_pca import StiefelPCA as StiefelPCA
from .neighbor.contrastive import InfoNCETSNE as InfoNCETSNE
from .neighbor.contrastive import NegTSNE as NegTSNE
from .neighbor.densmap import DensMAP as DensMAP
from .neighbor.dreams import DREAMS as DREAMS
from .neighbor.featmap import FeatMAP as FeatMAP
from .neighbor.force_atlas2 import ForceAtlas2 as ForceAtlas2
from .neighbor.large_vis import LargeVis as LargeVis
from .neighbor.local_map import LocalMAP as LocalMAP
from .neighbor.pacmap import PaCMAP as PaCMAP
from .neighbor.scale_map import ScaleMAP as ScaleMAP
from .neighbor.sne import SNE as SNE
from .neighbor.sne import SymmetricSNE as SymmetricSNE
from .neighbor.star_map import StarMAP as StarMAP
from .neighbor.trimap import TriMap as TriMap
from .neighbor.tsne import TSNE as TSNE
from .neighbor.two_kernel_lle import TwoKernelLLE as TwoKernelLLE
from .neighbor.two_kernel_pca import TwoKernelPCA as TwoKernelPCA
from .neighbor.umap import UMAP as UMAP
from .spectral.laplacian_eigenmaps import LaplacianEigenmaps as LaplacianEigenmaps
from .spectral.locally_linear import LocallyLinearEmbedding as LocallyLinearEmbedding
# isort: on
# end: methods
