"""The methods as scikit-learn estimators, each a choice of parts."""

from gnomon.methods.catalogue import METHODS, MethodCard
from gnomon.methods.gradient_pca import GradientPCA
from gnomon.methods.pca import PCA
from gnomon.methods.tsne import TSNE
from gnomon.methods.umap import UMAP

__all__ = ["METHODS", "PCA", "TSNE", "UMAP", "GradientPCA", "MethodCard"]
