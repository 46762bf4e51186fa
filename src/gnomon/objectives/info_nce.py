"""The contrastive loss with sampled noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import log
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import Integer, Rule, check_parameters, message
from gnomon.kernels import Cauchy
from gnomon.linalg import check_symmetric
from gnomon.objectives.added import AddedTerms
from gnomon.objectives.base import Embedding
from gnomon.objectives.pair_objective import PairTerm, Repulsion, RowLoss
from gnomon.objectives.pairs import Edges, check_embedding, compile_kernel, pair_force

if TYPE_CHECKING:
    import scipy.sparse as sp

    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["InfoNCE"]

_RULES: dict[str, Rule] = {"n_noise": Integer(low=1)}
_STREAM = 0x696E6365  # "ince"


class InfoNCE:
    """Tell a neighbour from noise: each edge against a few points drawn at random.

    With affinities a_ij and m points drawn in an epoch for each point i,

        loss = sum_ij a_ij [ -log k_ij + log(k_ij + sum_l k_il) ],      l the points drawn for i.

    A point of mass v, which stands for v rows, counts v times in the noise. The points drawn for i are i + r modulo n
    for m random shifts r, the same for all points of an epoch, so that every point can sum its own forces, those it
    exerts as noise included: `gradient` is the exact gradient of the epoch's loss. With growing m the loss nears that
    of t-SNE with rows normalised one by one.

    Parameters
    ----------
    affinities : Affinities
        The weights a_ij. Rows may come in any order: the shifts of one epoch may favour neighbours in the table, those
        of many do not.
    kernel : OutputKernel, default=Cauchy()
        Similarity of two points of the embedding, between 0 and 1.
    n_noise : int >= 1, default=5
        m; at most n_samples - 1 are drawn.
    seed : int, default=0
        Decides the shifts.

    Attributes
    ----------
    epoch : int, default 0
        Which sample is taken; an optimizer sets it to the iteration.
    added : AddedTerms
        Further terms, none at first; their weights are shares of the sum of the affinities.

    References
    ----------
    .. [1] Damrich, Böhm, Hamprecht & Kobak, "From t-SNE to UMAP with contrastive learning", ICLR 2023, section 3.
    """

    evaluation = "sampled"
    dtype = np.float32

    @entrance("InfoNCE")
    def __init__(
        self, affinities: Affinities, kernel: OutputKernel | None = None, *, n_noise: int = 5, seed: int = 0
    ) -> None:
        self.n_noise: int = check_parameters(_RULES, {"n_noise": n_noise})["n_noise"]
        self.kernel: OutputKernel = Cauchy() if kernel is None else kernel
        if not self.kernel.bounded:
            raise ValueError(message(f"kernel={self.kernel}", "a similarity between 0 and 1"))
        self._compiled = compile_kernel(self.kernel)
        self.masses = affinities.masses
        self._charges = np.ascontiguousarray([] if self.masses is None else self.masses, dtype=np.float32)
        self._edges = Edges.from_affinities(affinities)
        if not affinities.symmetric:
            check_symmetric(affinities.matrix, "affinities")
        self._matrix: sp.csr_array = affinities.matrix
        self.seed = seed
        self.epoch = 0
        self.added = AddedTerms((), float(self._edges.values.sum(dtype=np.float64)))

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self._edges.n_samples

    def evaluation_for(self, n_components: int) -> str:
        """Return "sampled"."""
        return self.evaluation

    def at(self, iteration: int, max_iter: int) -> None:
        """Take the sample of this iteration, and the added terms that act in it."""
        self.epoch = iteration
        self.added.at(iteration, max_iter)

    def shifts(self) -> npt.NDArray[np.int64]:
        """Return the distinct shifts of the present epoch, in [1, n_samples)."""
        n = self.n_samples
        rng = np.random.default_rng([_STREAM, self.seed, self.epoch])
        return np.sort(rng.choice(n - 1, size=min(self.n_noise, n - 1), replace=False)).astype(np.int64) + 1

    def loss(self, Y: Embedding) -> float:
        """Return the loss of the present epoch."""
        return self.loss_and_gradient(Y)[0]

    def gradient(self, Y: Embedding) -> Embedding:
        """Return the gradient of the present epoch's loss."""
        return self.loss_and_gradient(Y)[1]

    def loss_and_gradient(self, Y: Embedding) -> tuple[float, Embedding]:
        """Return both."""
        attraction, repulsion, loss = self._evaluate(Y)
        gradient = np.asarray(-(attraction + repulsion))
        if self.added.acting:
            loss, gradient = loss + self.added.loss(Y), gradient - self.added.force(Y)
        return loss, gradient

    def forces(self, Y: Embedding) -> tuple[Embedding, Embedding]:
        """Return the attraction, added terms included, and the repulsion; their sum is minus the gradient."""
        attraction, repulsion, _ = self._evaluate(Y)
        return attraction + self.added.force(Y) if self.added.acting else attraction, repulsion

    def row_loss(self, Y: npt.ArrayLike, *, degree: float | None = None) -> RowLoss:
        """Return that of a new row, sum_j p_j (-log k_j + log(k_j + m mean_l k_l)), the noise replaced by its mean."""
        n = self.n_samples
        repulsion = Repulsion(self.kernel, "value", min(self.n_noise, n - 1) / n, "contrast", self.masses)
        return RowLoss((PairTerm(self.kernel, "log"),), (repulsion,))

    def _evaluate(self, Y: Embedding) -> tuple[Embedding, Embedding, float]:
        points = check_embedding(Y, self.n_samples)
        if self._compiled is None:
            loss, gradient = self.reference(points)
            return np.asarray(-gradient, dtype=np.float32), np.zeros_like(points), loss
        return _core.info_nce(
            self._edges.graph, points, self._compiled, self.shifts(), self._charges, current_run().n_threads
        )

    def reference(self, Y: npt.ArrayLike) -> tuple[float, npt.NDArray[np.float64]]:
        """Return loss and gradient of the present epoch in float64, summed edge by edge: the oracle."""
        import scipy.sparse as sp

        Y = np.asarray(Y, dtype=np.float64)
        n = self.n_samples
        edges = self._matrix.tocoo()
        i, j, a = edges.row, edges.col, edges.data.astype(np.float64)
        drawn = (np.arange(n)[:, None] + self.shifts()[None, :]) % n
        s = np.square(Y[i] - Y[j]).sum(axis=1)
        k, slope = self.kernel.value(s), self.kernel.derivative(s)
        s_noise = np.square(Y[:, None] - Y[drawn]).sum(axis=2)
        charges = (np.ones(n) if self.masses is None else self.masses)[drawn]
        noise = (charges * self.kernel.value(s_noise)).sum(axis=1)
        share = 1.0 / (k + noise[i])
        loss = float((a * (-log(k) - log(share))).sum())
        towards = sp.csr_array((a * slope * (share - 1.0 / k), (i, j)), shape=(n, n))
        weight = np.bincount(i, weights=a * share, minlength=n)
        apart = weight[:, None] * charges * self.kernel.derivative(s_noise)
        rows = np.repeat(np.arange(n), drawn.shape[1])
        away = sp.csr_array((apart.ravel(), (rows, drawn.ravel())), shape=(n, n))
        directed = towards + away  # dE/ds of ordered pairs: each moves both of its ends
        return loss, 2.0 * pair_force(directed + directed.T, Y)
