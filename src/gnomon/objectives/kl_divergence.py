"""Kullback-Leibler divergences, the losses of t-SNE and of SNE: of all pairs and of the distribution of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import log
from gnomon._cached import cached_property
from gnomon._entrance import entrance
from gnomon._threads import in_order
from gnomon._validation import Options, Real, Rule, check_parameters, message
from gnomon.kernels import Cauchy, Gaussian, StudentT, UMAPKernel
from gnomon.objectives.pair_objective import PairObjective, PairTerm, Repulsion, RowLoss
from gnomon.objectives.pairs import Edges, repulsive_stiffness, stiffness
from gnomon.objectives.terms import AllPairs, EdgePairs

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["ConditionalDivergence", "KLDivergence"]

_RULES: dict[str, Rule] = {
    "evaluation": Options("auto", "exact", "interpolated", "tree"),
    "spacing": Real(low=0.0, high=2.0, low_open=True),
    "theta": Real(low=0.0, high=1.0),
    "attraction_weight": Real(low=0.0, low_open=True),
}
_BLOCK = 1 << 18  # values brought to double at a time: a graph may hold ten million


class KLDivergence(PairObjective):
    """The Kullback-Leibler divergence of normalised similarities from affinities.

    With k_ij = k(|y_i - y_j|^2), Z = sum over i != j of k_ij and affinities p_ij that sum to 1,

        loss = sum_ij p_ij log(p_ij Z / k_ij),
        gradient_i = 4 sum_j (-p_ij / k_ij + 1 / Z) k'_ij (y_i - y_j),

    the true gradient, with its factor of 4 (openTSNE leaves it out). Points of masses m stand for m_i m_j pairs of
    rows: Z = sum over i != j of m_i m_j k_ij, and p_ij in the logarithm is that of one pair, p_ij / (m_i m_j). With the
    Cauchy kernel it is t-SNE's, with the Gaussian symmetric SNE's.

    Parameters
    ----------
    affinities : Affinities
        Values that sum to 1 (normalization "total"); other sums are divided out.
    kernel : OutputKernel, default=Cauchy()
        Similarity of two points of the embedding, between 0 and 1.
    evaluation : {"auto", "exact", "interpolated", "tree"}, default="auto"
        "exact" sums over all pairs, for any number of components. "interpolated" sums through a mesh, for one or two
        components and a smooth kernel. "tree" (Barnes & Hut) takes far groups of points as one, for up to three
        components. "auto" is exact up to 4000 points and then takes the tree where it can; from 20000 points on (of one
        component from 4000 on) it interpolates where it can.
    spacing : float in (0, 2], default=0.28
        Spacing of the mesh in units of the distance at which the kernel is one half. Forces of a finished map have a
        relative error of about 0.1 % at 0.3, 2 % at 0.5, 4 % at 0.6 and 10 % at 0.8; it changes its sign as a point
        moves from node to node, and a descent averages it out: maps of 20,000 and 70,000 pictures end at the same
        divergence at 0.3 and at 0.6. But attraction and repulsion nearly cancel there: of what is left of them, the
        gradient, the error is 7 % at 0.28 and 340 % at 0.6. So t-SNE takes twice the spacing until it settles, see
        `coarsening` of `gnomon.optimizers.GradientDescent`. A mesh is at most 4096 nodes wide (two components; 32768
        for one), half of them padding: embeddings wider than about 2000 spacings get a coarser one.
    theta : float in [0, 1], default=0.8
        Width of a group over its distance below which the tree takes it as one; 0 is exact. Forces of a clustered map
        have a relative error of about 0.1 % at 0.8, 0.03 % at 0.5.
    attraction_weight : float > 0, default=1.0
        Factor on the attraction sum_ij p_ij log k_ij in the loss itself: t-SNE with exaggeration. 1 is the divergence.
        With less than 1 and a kernel that falls like d^-m (Cauchy: m = 2, `StudentT`: dof + 1, `UMAPKernel`: 2 b) the
        loss has no minimum: c times as large, a large map has (1 - attraction_weight) m log c less of it.

    Attributes
    ----------
    exaggeration : float, default 1.0
        Factor on the attraction in `gradient` and `forces`, which an optimizer may set for a while ("early
        exaggeration"). `loss` is always that of the affinities as given.
    pull : ndarray of shape (n_samples,), float32
        How stiff the attractions of each point are where points are close together: the sum of its affinities times
        the slope of -log k, relative to a row whose affinities are the mean and whose slope is 1; a row that has less
        than half of the mean counts half; and all of it times `stiffness_apart`. An optimizer may divide the gradient
        by it.
    stiffness_apart : float >= 1
        How many times as stiff as with the Cauchy kernel repulsions are, relative to attractions: 1 of it and of
        heavier tails, 1.2 at three degrees of freedom, 3.2 of the Gaussian.

    References
    ----------
    .. [1] van der Maaten & Hinton, "Visualizing data using t-SNE", JMLR 9, 2008.
    .. [2] Linderman et al., "Fast interpolation-based t-SNE for improved visualization of single-cell RNA-seq data",
       Nature Methods 16, 2019.
    .. [3] van der Maaten, "Accelerating t-SNE using tree-based algorithms", JMLR 15, 2014.
    """

    name = "kl"

    @entrance("KLDivergence")
    def __init__(
        self,
        affinities: Affinities,
        kernel: OutputKernel | None = None,
        *,
        evaluation: str = "auto",
        spacing: float = 0.28,
        theta: float = 0.8,
        attraction_weight: float = 1.0,
    ) -> None:
        given = {"evaluation": evaluation, "spacing": spacing, "theta": theta, "attraction_weight": attraction_weight}
        checked = check_parameters(_RULES, given)
        self.attraction_weight: float = checked.pop("attraction_weight")
        self.kernel: OutputKernel = Cauchy() if kernel is None else kernel
        values, total = _positive_total(affinities)
        attraction = EdgePairs(
            affinities.matrix,
            self.kernel,
            "log",
            scale=self.attraction_weight / total,
            normalized=self.attraction_weight,
            fixed_total=affinities.normalization == "total",
            symmetric=affinities.symmetric,
        )
        masses = affinities.masses
        dtype = affinities.matrix.dtype.type
        repulsion = AllPairs(
            affinities.n_samples, self.kernel, "value", link="log", masses=masses, dtype=dtype, **checked
        )
        constant = _negative_entropy(values, total)
        if masses is not None:  # of the pairs of rows that points stand for, not of the pairs of points
            ends = sum(np.asarray(affinities.matrix.sum(axis=axis, dtype=np.float64)).ravel() for axis in (0, 1))
            constant -= float((log(masses) * ends).sum()) / total
        super().__init__([attraction], [repulsion], constant=constant, masses=masses)

    @property
    def falls_without_end(self) -> bool:
        """Whether the loss of ever larger maps is known to fall without a bound."""
        return self.attraction_weight < 1.0 and isinstance(self.kernel, Cauchy | StudentT | UMAPKernel)

    @cached_property
    def stiffness_apart(self) -> float:
        """How many times as stiff as with the Cauchy kernel repulsions are, relative to attractions."""
        return repulsive_stiffness(self.kernel, stiffness(np.ones(1), 1.0, None, self.kernel)[1])

    @cached_property
    def pull(self) -> npt.NDArray[np.float32]:
        """How stiff the attractions of each point are, relative to a mean row."""
        (attraction,) = self.attractions
        assert isinstance(attraction, EdgePairs)
        shares = attraction.edges.degrees.astype(np.float64)
        shares *= self.n_samples / shares.sum()
        pulls, slope = stiffness(shares, self.n_samples, self.masses, self.kernel)
        return np.asarray(pulls * (slope * self.stiffness_apart), dtype=np.float32)


class ConditionalDivergence(PairObjective):
    """The sum over points of the Kullback-Leibler divergences of their neighbour distributions.

    With affinities p_j|i whose rows sum to 1 and Z_i = sum over j != i of k_ij,

        loss = sum_i sum_j p_j|i log(p_j|i Z_i / k_ij),
        gradient_i = 2 sum_j [ -(p_j|i + p_i|j) / k_ij + 1 / Z_i + 1 / Z_j ] k'_ij (y_i - y_j).

    Points of masses m stand for so many rows: Z_i = sum over j != i of m_j k_ij, the sum over i is weighted by m_i, and
    p_j|i in the logarithm is that of one row, p_j|i / m_j.

    Parameters
    ----------
    affinities : Affinities
        Rows that sum to 1 (normalization "rows"), not symmetric.
    kernel : OutputKernel, default=Gaussian()
        Similarity of two points of the embedding, between 0 and 1.

    References
    ----------
    .. [1] Hinton & Roweis, "Stochastic neighbor embedding", NeurIPS 2002, eq. 3-5.
    """

    name = "conditional_kl"

    @entrance("ConditionalDivergence")
    def __init__(self, affinities: Affinities, kernel: OutputKernel | None = None) -> None:
        self.kernel: OutputKernel = Gaussian() if kernel is None else kernel
        if affinities.normalization != "rows":
            raise ValueError(
                message(
                    f"affinities with normalization {affinities.normalization!r}",
                    'conditional, with normalization "rows"',
                    remedy="Use conditional_affinities(graph).",
                )
            )
        values, _ = _positive_total(affinities)
        matrix, masses = scipy.sparse.csr_array(affinities.matrix), affinities.masses
        rows, charges = np.asarray(matrix.sum(axis=1, dtype=np.float64)).ravel(), np.ones(matrix.shape[0])
        constant = _negative_entropy(values, 1.0)
        if masses is not None:
            constant = _entropy_by_mass(matrix, masses)
            matrix = scipy.sparse.csr_array(scipy.sparse.diags_array(masses) @ matrix).astype(matrix.dtype)
            rows, charges = rows * masses, masses
        both = scipy.sparse.csr_array(matrix + matrix.T)
        super().__init__(
            [EdgePairs(both, self.kernel, "log", scale=0.5, symmetric=True)],
            [
                AllPairs(
                    matrix.shape[0],
                    self.kernel,
                    "value",
                    weights=(rows, charges),
                    dtype=matrix.dtype.type,
                    link="row_log",
                )
            ],
            constant=constant,
            masses=masses,
            added_unit=float(rows.sum()),
        )

    def row_loss(self, Y: npt.ArrayLike, *, degree: float | None = None) -> RowLoss:
        """Return the divergence of a new row's own distribution, sum_j p_j (-log k_j) + log sum_l k_l."""
        repulsion = Repulsion(self.kernel, "value", 1.0, "log", self.masses)
        return RowLoss((PairTerm(self.kernel, "log"),), (repulsion,))


def _positive_total(affinities: Affinities) -> tuple[npt.NDArray[np.float32], float]:
    """Return the values and their sum in double, or raise ValueError unless all are finite and the sum is positive."""
    values = Edges.from_affinities(affinities).values
    exact = affinities.matrix.data if affinities.matrix.dtype == np.float64 else values
    total = float(exact.sum(dtype=np.float64))
    if total <= 0:
        raise ValueError(message("affinities", "positive somewhere"))
    return values, total


def _entropy_by_mass(matrix: scipy.sparse.csr_array, masses: npt.NDArray[np.float64]) -> float:
    """Return sum_ij m_i p_ij log(p_ij / m_j) over the entries."""
    entries = matrix.astype(np.float64).tocoo()
    shares = entries.data[entries.data > 0]
    heads, tails = entries.row[entries.data > 0], entries.col[entries.data > 0]
    return float(np.sum(masses[heads] * shares * log(shares / masses[tails])))


def _negative_entropy(values: npt.NDArray[np.float32], total: float) -> float:
    """Return the sum of p log p over the shares p = value / total, in double; shares of 0 add nothing."""

    def of_block(first: int) -> float:
        shares = values[first : first + _BLOCK].astype(np.float64) / total
        shares = shares[shares > 0]
        return float(np.sum(shares * log(shares)))

    result = 0.0
    for part in in_order(of_block, range(0, values.size, _BLOCK)):
        result += part
    return result
