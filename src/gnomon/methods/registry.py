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
    limits : str
        What its maps do not show, or what it cannot do, in a sentence.
    """

    name: str
    affinity: str
    kernel: str
    loss: str
    optimizer: str
    paper: str
    estimator: str
    limits: str


_SAMPLED = "Adam, repulsion sampled"
_MOMENTUM = "gradient descent with momentum"
_CROSS_ENTROPY = "cross-entropy"

METHODS = (
    MethodCard(
        name="umap",
        affinity="fuzzy simplicial set",
        kernel="1 / (1 + a d^2b)",
        loss=_CROSS_ENTROPY,
        optimizer="gradient descent with momentum; of few rows Adam, repulsion sampled",
        paper="McInnes, Healy & Melville, arXiv:1802.03426, 2018",
        estimator="UMAP",
        limits="Sizes of groups and the distances between them mean little; few neighbours make clumps out of noise.",
    ),
    MethodCard(
        name="tsne",
        affinity="Gaussian with a perplexity",
        kernel="1 / (1 + d^2)",
        loss="Kullback-Leibler divergence",
        optimizer=_MOMENTUM,
        paper="van der Maaten & Hinton, JMLR 9, 2008",
        estimator="TSNE",
        limits="Sizes of groups and the distances between them mean little; a continuum can be torn into groups.",
    ),
    MethodCard(
        name="pca",
        affinity="Gram matrix",
        kernel="inner product",
        loss="Frobenius norm",
        optimizer="eigenproblem",
        paper="Pearson, Philosophical Magazine 2, 1901; Hotelling, J. Educ. Psychol. 24, 1933",
        estimator="PCA",
        limits="Sees straight directions alone, and the columns of largest variance first: bring them to like units.",
    ),
    MethodCard(
        name="sne",
        affinity="Gaussian of each row with a perplexity",
        kernel="exp(-d^2)",
        loss="Kullback-Leibler divergence of each row",
        optimizer=_MOMENTUM,
        paper="Hinton & Roweis, NeurIPS 2002",
        estimator="SNE",
        limits="Crowds the points in the middle, and sums over all pairs of rows in each iteration.",
    ),
    MethodCard(
        name="symmetric_sne",
        affinity="Gaussian with a perplexity",
        kernel="exp(-d^2)",
        loss="Kullback-Leibler divergence",
        optimizer=_MOMENTUM,
        paper="Cook, Sutskever, Mnih & Hinton, AISTATS 2007",
        estimator="SymmetricSNE",
        limits="Crowds the points in the middle, since similarity falls as fast in the map as in the data.",
    ),
    MethodCard(
        name="dreams",
        affinity="Gaussian with a perplexity",
        kernel="1 / (1 + d^2)",
        loss="Kullback-Leibler divergence and distance from principal components",
        optimizer=_MOMENTUM,
        paper="Kury, Kobak & Damrich, arXiv:2508.13747, 2025",
        estimator="DREAMS",
        limits="The heavier the reference, the fewer neighbourhoods are kept; what is wrong in it is drawn too.",
    ),
    MethodCard(
        name="largevis",
        affinity="Gaussian with a perplexity",
        kernel="1 / (1 + d^2)",
        loss=f"{_CROSS_ENTROPY}, noise by degree^0.75",
        optimizer=_SAMPLED,
        paper="Tang, Liu, Zhang & Mei, WWW 2016",
        estimator="LargeVis",
        limits="Misleads as t-SNE and UMAP do; the 150 neighbours of its default perplexity take much memory.",
    ),
    MethodCard(
        name="force_atlas2",
        affinity="nearest neighbours",
        kernel="-d^2 / 2 and -log d",
        loss="springs and degree-weighted repulsion",
        optimizer=_MOMENTUM,
        paper="Jacomy, Venturini, Heymann & Bastian, PLoS ONE 9, 2014",
        estimator="ForceAtlas2",
        limits="Draws the graph of neighbours, whose edges count alike: no distance in the data is kept.",
    ),
    MethodCard(
        name="neg_tsne",
        affinity="nearest neighbours",
        kernel="1 / (1 + c (1 + d^2))",
        loss=_CROSS_ENTROPY,
        optimizer=_SAMPLED,
        paper="Damrich, Böhm, Hamprecht & Kobak, ICLR 2023",
        estimator="NegTSNE",
        limits="One number decides between the look of UMAP and that of t-SNE; the data do not say which is right.",
    ),
    MethodCard(
        name="info_nce_tsne",
        affinity="nearest neighbours",
        kernel="1 / (1 + d^2)",
        loss="InfoNCE",
        optimizer="Adam",
        paper="Damrich, Böhm, Hamprecht & Kobak, ICLR 2023",
        estimator="InfoNCETSNE",
        limits="Misleads as t-SNE does, which it approaches the more random points it takes.",
    ),
    MethodCard(
        name="two_kernel_pca",
        affinity="similarities of all pairs",
        kernel="1 / (1 + d^2), or any other",
        loss="Frobenius norm",
        optimizer="L-BFGS",
        paper="Draganov & Dohn, 2023",
        estimator="TwoKernelPCA",
        limits="Holds the similarities of all pairs of rows; the width of the kernels decides what is seen.",
    ),
    MethodCard(
        name="two_kernel_lle",
        affinity="reconstruction weights",
        kernel="1 / (1 + a d^2b), or any other",
        loss="reconstruction in feature space",
        optimizer=_MOMENTUM,
        paper="Draganov & Dohn, 2023",
        estimator="TwoKernelLLE",
        limits="Draws groups tighter than they are; distances between them mean little.",
    ),
    MethodCard(
        name="pacmap",
        affinity="near, mid-near and further pairs",
        kernel="1 / (1 + c (1 + d^2)), a c for each kind of pair",
        loss="sum over the pairs",
        optimizer="Adam",
        paper="Wang, Huang, Rudin & Shaposhnik, JMLR 22, 2021",
        estimator="PaCMAP",
        limits="Sizes of groups and gaps mean little; above 100 features distances are those of principal components.",
    ),
    MethodCard(
        name="local_map",
        affinity="near, mid-near and further pairs, adjusted to the map",
        kernel="those of PaCMAP, weaker for near pairs far apart",
        loss="sum over the pairs",
        optimizer="Adam",
        paper="Wang, Sun, Huang & Rudin, AAAI 2025",
        estimator="LocalMAP",
        limits="Parts clusters farther than the data do: a wide gap is its purpose and no evidence.",
    ),
    MethodCard(
        name="trimap",
        affinity="weighted triplets",
        kernel="1 + d^2",
        loss="ratio of distances",
        optimizer=_MOMENTUM,
        paper="Amid & Warmuth, arXiv:1910.00204, 2019",
        estimator="TriMap",
        limits="Keeps fewer of the nearest neighbours than t-SNE and UMAP; outliers can take much of the picture.",
    ),
    MethodCard(
        name="random_projection",
        affinity="none",
        kernel="inner product",
        loss="none",
        optimizer="random directions",
        paper="Johnson & Lindenstrauss, Contemporary Mathematics 26, 1984",
        estimator="RandomProjection",
        limits="Does not look at the table: two directions keep little of many columns.",
    ),
    MethodCard(
        name="gradient_pca",
        affinity="Gram matrix, or any similarity",
        kernel="inner product",
        loss="Frobenius norm",
        optimizer="gradient descent with a safe step",
        paper="Draganov & Dohn, 2023",
        estimator="GradientPCA",
        limits="Finds by steps what PCA or kernel PCA finds at once: to be studied, not to be used in haste.",
    ),
    MethodCard(
        name="stiefel_pca",
        affinity="Gram matrix",
        kernel="inner product",
        loss="projection error",
        optimizer="descent on the Stiefel manifold",
        paper="Tucker, Dimensionality reduction and the Fenchel game",
        estimator="StiefelPCA",
        limits="Finds by steps what PCA finds at once: to be studied, not to be used in haste.",
    ),
    MethodCard(
        name="robust_pca",
        affinity="low-rank part of the table",
        kernel="inner product",
        loss="nuclear norm and absolute errors",
        optimizer="alternating directions (ADMM)",
        paper="Candès, Li, Ma & Wright, Journal of the ACM 58, 2011",
        estimator="RobustPCA",
        limits="Needs many columns of low rank, or it maps next to nothing; errors must be few and without a pattern.",
    ),
    MethodCard(
        name="graph_robust_pca",
        affinity="low-rank part, smooth on the graph",
        kernel="inner product",
        loss="nuclear norm, absolute errors, edge lengths",
        optimizer="alternating directions (ADMM)",
        paper="Shahid, Kalofolias, Bresson, Bronstein & Vandergheynst, ICCV 2015",
        estimator="GraphRobustPCA",
        limits="Needs a low-rank part, as RobustPCA does; rows full of errors have wrong neighbours.",
    ),
    MethodCard(
        name="huber_pca",
        affinity="low-rank fit of the table",
        kernel="inner product",
        loss="Huber's loss under a bound on the nuclear norm",
        optimizer="Frank-Wolfe as a game, with a certified gap",
        paper="Jaggi, ICML 2013; Wang, Abernethy & Levy, Mathematical Programming 205, 2024",
        estimator="HuberPCA",
        limits="Sees straight directions alone; the bound on the nuclear norm decides how much counts as noise.",
    ),
    MethodCard(
        name="kernel_pca",
        affinity="kernel of the rows",
        kernel="inner product",
        loss="Frobenius norm",
        optimizer="eigenproblem",
        paper="Schölkopf, Smola & Müller, Neural Computation 10, 1998",
        estimator="KernelPCA",
        limits="The kernel and its width decide what is seen, and large tables need an approximation.",
    ),
    MethodCard(
        name="classical_mds",
        affinity="squared distances, double-centred",
        kernel="inner product",
        loss="strain",
        optimizer="eigenproblem",
        paper="Torgerson, Psychometrika 17, 1952",
        estimator="ClassicalMDS",
        limits="Keeps large distances at the expense of small ones; of Euclidean distances it is PCA.",
    ),
    MethodCard(
        name="landmark_mds",
        affinity="squared distances to landmarks, double-centred",
        kernel="inner product",
        loss="strain",
        optimizer="eigenproblem",
        paper="de Silva & Tenenbaum, Stanford University, 2004",
        estimator="LandmarkMDS",
        limits="Knows a row by its distances to the landmarks alone; what few of them see is placed poorly.",
    ),
    MethodCard(
        name="mds",
        affinity="distances, or their order",
        kernel="d",
        loss="stress",
        optimizer="majorization",
        paper="Kruskal, Psychometrika 29, 1964; de Leeuw, 1977",
        estimator="MDS",
        limits="Holds the distances of all pairs of rows, and large ones decide: neighbourhoods overlap.",
    ),
    MethodCard(
        name="isomap",
        affinity="squared geodesic distances, double-centred",
        kernel="inner product",
        loss="strain",
        optimizer="eigenproblem",
        paper="Tenenbaum, de Silva & Langford, Science 290, 2000",
        estimator="Isomap",
        limits="One wrong edge, a shortcut between sheets, bends the whole map; holes are drawn too wide.",
    ),
    MethodCard(
        name="phate",
        affinity="potential distances of a diffusion",
        kernel="d",
        loss="stress",
        optimizer="majorization",
        paper="Moon et al., Nature Biotechnology 37, 2019",
        estimator="PHATE",
        limits="Draws branches, also where the data have none; distances between unconnected pieces mean nothing.",
    ),
    MethodCard(
        name="sketch_map",
        affinity="sigmoid of the distances",
        kernel="1 - (1 + c d^a)^(-b/a)",
        loss="squared differences",
        optimizer="L-BFGS, annealed",
        paper="Ceriotti, Tribello & Parrinello, PNAS 108, 2011",
        estimator="SketchMap",
        limits="Its scale decides what is near and what is far: one that does not fit the data shows neither.",
    ),
    MethodCard(
        name="lle",
        affinity="reconstruction weights",
        kernel="inner product",
        loss="reconstruction",
        optimizer="eigenproblem",
        paper="Roweis & Saul, Science 290, 2000",
        estimator="LocallyLinearEmbedding",
        limits="Uneven sampling folds and collapses the map; all axes are drawn equally long.",
    ),
    MethodCard(
        name="laplacian_eigenmaps",
        affinity="weights of neighbours",
        kernel="inner product",
        loss="squared lengths of edges",
        optimizer="eigenproblem",
        paper="Belkin & Niyogi, Neural Computation 15, 2003",
        estimator="LaplacianEigenmaps",
        limits="Groups shrink to points and strings to curves; a later axis can repeat an earlier one.",
    ),
    MethodCard(
        name="densmap",
        affinity="fuzzy simplicial set",
        kernel="1 / (1 + a d^2b)",
        loss="cross-entropy and correlation of local radii",
        optimizer=_SAMPLED,
        paper="Narayan, Berger & Cho, Nature Biotechnology 39, 2021",
        estimator="DensMAP",
        limits="Keeps densities as a correlation, not each radius, and neighbourhoods a little less than UMAP.",
    ),
    MethodCard(
        name="featmap",
        affinity="fuzzy simplicial set",
        kernel="1 / (1 + a d^2b)",
        loss="cross-entropy and correlation of spreads along tangent directions",
        optimizer=_SAMPLED,
        paper="Yang, Sun, Gong & Yu, 2022",
        estimator="FeatMAP",
        limits="Tangent directions come from a few neighbours: noise in many columns hides them.",
    ),
    MethodCard(
        name="star_map",
        affinity="fuzzy simplicial set, and clusters",
        kernel="1 / (1 + a d^2b)",
        loss="cross-entropy and attraction to the means of clusters",
        optimizer=_SAMPLED,
        paper="Watanabe, Maeda, Ogawa & Haseyama, arXiv:2502.03776, 2025",
        estimator="StarMAP",
        limits="Lays groups where two principal components see them: what these draw over each other stays close.",
    ),
    MethodCard(
        name="scale_map",
        affinity="fuzzy simplicial set, and local radii",
        kernel="1 / (1 + a d^2b), d over local radii",
        loss="cross-entropy",
        optimizer=_SAMPLED,
        paper="Poorna & Cicerone, arXiv:2605.30597, 2026",
        estimator="ScaleMAP",
        limits="Dense groups become small: their points are told apart only by zooming in.",
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
        None if there is no such method.
    """
    return next((card for card in METHODS if card.name == name), None)
