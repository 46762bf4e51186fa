"""The methods and the four choices that make each of them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["METHODS", "MethodCard"]


@dataclass(frozen=True)
class MethodCard:
    """What makes a method.

    Attributes
    ----------
    name : str
        As `gnomon.map` and the command line call it.
    affinity, kernel, loss, optimizer : str
        The four choices in words; d is the squared distance in the map.
    paper : str
        Where it was proposed.
    """

    name: str
    affinity: str
    kernel: str
    loss: str
    optimizer: str
    paper: str


METHODS = (
    MethodCard(
        name="umap",
        affinity="fuzzy simplicial set",
        kernel="1 / (1 + a d^b)",
        loss="cross-entropy",
        optimizer="sampled gradient descent",
        paper="McInnes, Healy & Melville, arXiv:1802.03426, 2018",
    ),
    MethodCard(
        name="tsne",
        affinity="Gaussian with a perplexity",
        kernel="1 / (1 + d)",
        loss="Kullback-Leibler divergence",
        optimizer="gradient descent with momentum",
        paper="van der Maaten & Hinton, JMLR 9, 2008",
    ),
    MethodCard(
        name="pca",
        affinity="Gram matrix",
        kernel="inner product",
        loss="Frobenius norm",
        optimizer="eigenproblem",
        paper="Pearson, Philosophical Magazine 2, 1901; Hotelling, J. Educ. Psychol. 24, 1933",
    ),
)
"""All methods, the default first."""
