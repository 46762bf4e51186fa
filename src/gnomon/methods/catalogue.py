"""The methods and the four choices that make each of them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["METHODS", "MethodCard", "find_method"]


@dataclass(frozen=True)
class MethodCard:
    """What makes a method.

    Attributes
    ----------
    name : str
        As `gnomon.map` and the command line call it.
    affinity, kernel, loss, optimizer : str
        The four choices in words; d is the distance in the map.
    paper : str
        Where it was proposed.
    estimator : str
        Its class in `gnomon`.
    """

    name: str
    affinity: str
    kernel: str
    loss: str
    optimizer: str
    paper: str
    estimator: str


_SAMPLED = "Adam, repulsion sampled"
_MOMENTUM = "gradient descent with momentum"
_CROSS_ENTROPY = "cross-entropy"

METHODS = (
    MethodCard(
        name="umap",
        affinity="fuzzy simplicial set",
        kernel="1 / (1 + a d^2b)",
        loss=_CROSS_ENTROPY,
        optimizer=_SAMPLED,
        paper="McInnes, Healy & Melville, arXiv:1802.03426, 2018",
        estimator="UMAP",
    ),
    MethodCard(
        name="tsne",
        affinity="Gaussian with a perplexity",
        kernel="1 / (1 + d^2)",
        loss="Kullback-Leibler divergence",
        optimizer=_MOMENTUM,
        paper="van der Maaten & Hinton, JMLR 9, 2008",
        estimator="TSNE",
    ),
    MethodCard(
        name="pca",
        affinity="Gram matrix",
        kernel="inner product",
        loss="Frobenius norm",
        optimizer="eigenproblem",
        paper="Pearson, Philosophical Magazine 2, 1901; Hotelling, J. Educ. Psychol. 24, 1933",
        estimator="PCA",
    ),
    MethodCard(
        name="sne",
        affinity="each row's Gaussian with a perplexity",
        kernel="exp(-d^2)",
        loss="Kullback-Leibler divergence of each row",
        optimizer=_MOMENTUM,
        paper="Hinton & Roweis, NeurIPS 2002",
        estimator="SNE",
    ),
    MethodCard(
        name="symmetric_sne",
        affinity="Gaussian with a perplexity",
        kernel="exp(-d^2)",
        loss="Kullback-Leibler divergence",
        optimizer=_MOMENTUM,
        paper="Cook, Sutskever, Mnih & Hinton, AISTATS 2007",
        estimator="SymmetricSNE",
    ),
    MethodCard(
        name="largevis",
        affinity="Gaussian with a perplexity",
        kernel="1 / (1 + d^2)",
        loss=f"{_CROSS_ENTROPY}, noise by degree^0.75",
        optimizer=_SAMPLED,
        paper="Tang, Liu, Zhang & Mei, WWW 2016",
        estimator="LargeVis",
    ),
    MethodCard(
        name="force_atlas2",
        affinity="nearest neighbours",
        kernel="-d^2 / 2 and -log d",
        loss="springs against repulsion of degrees",
        optimizer=_MOMENTUM,
        paper="Jacomy, Venturini, Heymann & Bastian, PLoS ONE 9, 2014",
        estimator="ForceAtlas2",
    ),
    MethodCard(
        name="neg_tsne",
        affinity="nearest neighbours",
        kernel="1 / (1 + c (1 + d^2))",
        loss=_CROSS_ENTROPY,
        optimizer=_SAMPLED,
        paper="Damrich, Bohm, Hamprecht & Kobak, ICLR 2023",
        estimator="NegTSNE",
    ),
    MethodCard(
        name="info_nce_tsne",
        affinity="nearest neighbours",
        kernel="1 / (1 + d^2)",
        loss="InfoNCE",
        optimizer="Adam",
        paper="Damrich, Bohm, Hamprecht & Kobak, ICLR 2023",
        estimator="InfoNCETSNE",
    ),
    MethodCard(
        name="two_kernel_pca",
        affinity="similarities of all pairs",
        kernel="1 / (1 + d^2), or any other",
        loss="Frobenius norm",
        optimizer="L-BFGS",
        paper="Draganov & Dohn, 2023",
        estimator="TwoKernelPCA",
    ),
    MethodCard(
        name="two_kernel_lle",
        affinity="weights that rebuild each row",
        kernel="1 / (1 + a d^2b), or any other",
        loss="reconstruction in feature space",
        optimizer=_MOMENTUM,
        paper="Draganov & Dohn, 2023",
        estimator="TwoKernelLLE",
    ),
    MethodCard(
        name="pacmap",
        affinity="near, mid-near and further pairs",
        kernel="1 / (1 + c (1 + d^2)), a c for each kind of pair",
        loss="sum over the pairs",
        optimizer="Adam",
        paper="Wang, Huang, Rudin & Shaposhnik, JMLR 22, 2021",
        estimator="PaCMAP",
    ),
    MethodCard(
        name="trimap",
        affinity="weighted triplets",
        kernel="1 + d^2",
        loss="ratio of distances",
        optimizer=_MOMENTUM,
        paper="Amid & Warmuth, arXiv:1910.00204, 2019",
        estimator="TriMap",
    ),
)
"""All methods, the default first."""


def find_method(name: str) -> MethodCard | None:
    """Return the card of a method.

    Parameters
    ----------
    name : str
        As `gnomon.map` and the command line call it.

    Returns
    -------
    MethodCard or None
        None for a name that is none.
    """
    return next((card for card in METHODS if card.name == name), None)
