"""The loss of UMAP, LargeVis and negative sampling, and the cross-entropy that the UMAP paper states."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import log, log1p, power
from gnomon._cached import cached_property
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import Integer, Options, Real, Rule, check_parameters, message
from gnomon.objectives.base import Embedding
from gnomon.objectives.pair_objective import PairObjective, PairTerm, Repulsion, RowLoss
from gnomon.objectives.pairs import Edges, check_embedding, refuse_masses, stiffness
from gnomon.objectives.terms import AllPairs, ByDegree, EdgePairs

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel
    from gnomon.objectives.added import AddedTerm

__all__ = ["CrossEntropy", "StatedCrossEntropy"]

_RULES: dict[str, Rule] = {
    "negative_sample_rate": Real(low=0.0, low_open=True),
    "repulsion_strength": Real(low=0.0),
    "noise_exponent": Real(low=0.0),
    "evaluation": Options("exact", "interpolated", "sampled", "tree"),
    "spacing": Real(low=0.0, high=2.0, low_open=True),
    "theta": Real(low=0.0, high=1.0),
    "n_draws": Integer(low=1),
}

_FORCE_LIMIT = 4.0  # umap-learn's bound on each component of a pair's force
_STEEPER = 1.5  # slope of -log k where a row's neighbours lie, relative to that where points are close together


class CrossEntropy(PairObjective):
    """The cross-entropy that sampling descends: UMAP's, LargeVis's and negative sampling's.

    With similarities k_ij, memberships mu_ij, degrees d_i = sum_j mu_ij, m = negative_sample_rate,
    g = repulsion_strength and noise probabilities q_j proportional to d_j^noise_exponent, summed over ordered pairs,

        loss = sum_ij [ -mu_ij log k_ij - g m (d_i q_j + d_j q_i) / 4 log(1 - k_ij) ],
        gradient_i = 4 sum_j [ mu_ij (-k'/k)_ij - g m (d_i q_j + d_j q_i) / 4 (-k'/(1 - k))_ij ] (y_i - y_j).

    UMAP draws m points (q_j = 1 / n) for each visit of an edge and moves only the edge's head away from them. Its mean
    force is this gradient with d_i in place of (d_i + d_j) / 2, the only change that makes it the gradient of anything.
    If the drawn points moved as well, repulsion would be twice as strong: that loss, the effective loss of [2]_, is
    this one with repulsion_strength=2. Points of masses m stand for so many rows: mu_ij is the sum over their pairs,
    and q_j is proportional to m_j (d_j / m_j)^noise_exponent. Both differ from the cross-entropy printed in [1]_, whose
    repulsive weight 1 - mu_ij is far larger (`StatedCrossEntropy`). Below a squared distance of 0.001, -log(1 - k),
    infinite at 0, goes on as a straight line.

    Parameters
    ----------
    affinities : Affinities
        Memberships in (0, 1], or probabilities.
    kernel : OutputKernel
        Similarity of two points of the embedding between 0 and 1, such as `UMAPKernel.from_min_dist(0.1)`.
    negative_sample_rate : float > 0, default=5
        Repulsive weight of a point for each unit of its attractive weight.
    repulsion_strength : float >= 0, default=1.0
        Factor on the repulsion.
    noise_exponent : float >= 0, default=0.0
        0 draws all points alike (UMAP), 0.75 in proportion to degree^0.75 (LargeVis).
    evaluation : {"sampled", "exact", "interpolated", "tree"}, default="sampled"
        "exact" sums over all pairs, "interpolated" through a mesh, for one or two components, "tree" takes far groups
        of points as one. "sampled" estimates forces from a few random points, with each component of a pair's force cut
        to [-4, 4] as in umap-learn; the loss is the exact one.
    spacing : float in (0, 2], default=0.2
        Spacing of the mesh in units of the distance at which the kernel is one half, as in `KLDivergence`. Pairs that
        are closer repel as they would at that distance, in proportion to it: they are few, and each weighs little.
    theta : float in [0, 1], default=0.8
        Width of a group over its distance below which the tree takes it as one; 0 is exact.
    n_draws : int >= 1, default=16
        Points drawn for each point in an epoch, weighted to the mean that negative_sample_rate asks for; more lower
        the noise, multiples of 16 are the fastest. Sixteen consecutive rows share their draws, one from each of
        n_draws equal pieces of the table.
    added : sequence of AddedTerm, default=()
        Further terms, such as `DensityCorrelation`: weight * sum_ij mu_ij * (the term's loss) joins the loss, its
        gradient the gradient and the forces, sampled ones included.
    seed : int, default=0
        Decides the sample.

    Attributes
    ----------
    repulsion : float
        m g.
    epoch : int, default 0
        Which sample `gradient` and `forces` take when sampled.
    pull : ndarray of shape (n_samples,), float32
        How stiff the attractions of each point are where points are close together: its degree, or half of the mean
        where that is more, times 1.5 n_samples and the slope of -log k. An optimizer may divide the gradient by it.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection", 2018.
    .. [2] Damrich & Hamprecht, "On UMAP's true loss function", NeurIPS 2021.
    .. [3] Tang, Liu, Zhang & Mei, "Visualizing large-scale and high-dimensional data", WWW 2016, eq. 6.
    """

    name = "cross_entropy"

    @entrance("CrossEntropy")
    def __init__(
        self,
        affinities: Affinities,
        kernel: OutputKernel,
        *,
        negative_sample_rate: float = 5.0,
        repulsion_strength: float = 1.0,
        noise_exponent: float = 0.0,
        evaluation: str = "sampled",
        spacing: float = 0.2,
        theta: float = 0.8,
        n_draws: int = 16,
        added: Sequence[AddedTerm] = (),
        seed: int = 0,
    ) -> None:
        given = {
            "negative_sample_rate": negative_sample_rate,
            "repulsion_strength": repulsion_strength,
            "noise_exponent": noise_exponent,
            "evaluation": evaluation,
            "spacing": spacing,
            "theta": theta,
            "n_draws": n_draws,
        }
        checked = check_parameters(_RULES, given)
        self.kernel = kernel
        self.epoch = 0
        self.requested_evaluation: str = checked["evaluation"]
        self.edges = Edges.from_affinities(affinities)
        degrees = self.edges.degrees_in(affinities.matrix)
        exponent: float = checked["noise_exponent"]
        masses = affinities.masses
        noise = power(degrees, exponent) if masses is None else masses * power(degrees / masses, exponent)
        noise /= noise.sum()
        repulsion = checked["negative_sample_rate"] * checked["repulsion_strength"]
        self.repulsion: float = repulsion
        sampled = checked["evaluation"] == "sampled"
        attraction = EdgePairs(affinities.matrix, kernel, "log", symmetric=affinities.symmetric)
        all_pairs = partial(
            AllPairs,
            affinities.n_samples,
            kernel,
            "log_deficit",
            weights=(degrees * repulsion / 4.0, noise),
            by_degree=ByDegree(
                repulsion / 4.0,
                shares=noise if exponent else None,
                relative=exponent * noise / np.maximum(degrees, 1e-300) if exponent else None,
            ),
            dtype=affinities.matrix.dtype.type,
            spacing=checked["spacing"],
            theta=checked["theta"],
        )
        super().__init__(
            [attraction],
            [all_pairs(evaluation="exact" if sampled else checked["evaluation"])],
            added=added,
            added_unit=float(self.edges.values.sum(dtype=np.float64)),
            masses=masses,
        )
        self.sampling = _core.SamplingParameters(
            seed, 1.0 / float(self.edges.values.max()), repulsion, checked["n_draws"], _FORCE_LIMIT
        )
        drawn = noise * len(noise) if exponent or masses is not None else np.empty(0)
        self.sampling_weights = (self.edges.degrees, drawn.astype(np.float32))
        self.zoom: npt.NDArray[np.float32] | None = None
        self._compiled_kernel = attraction.compiled_kernel
        self._by_tree = all_pairs(evaluation="tree") if sampled and self._compiled_kernel is not None else None
        if sampled and self._compiled_kernel is None:
            raise ValueError(message("evaluation='sampled'", "'exact' for a kernel of your own", fact=f"{kernel}"))

    @property
    def has_compiled_epochs(self) -> bool:
        """Whether `SampledDescent` may run its epochs in compiled code; a kernel of one's own has none."""
        return self._compiled_kernel is not None

    @property
    def compiled_kernel(self) -> _core.OutputKernel:
        """The kernel as the sampled sums take it."""
        assert self._compiled_kernel is not None
        return self._compiled_kernel

    def evaluation_for(self, n_components: int) -> str:
        """Return how forces are evaluated: "exact", "interpolated", "sampled" or "tree"."""
        return self.requested_evaluation

    @cached_property
    def pull(self) -> npt.NDArray[np.float32]:
        """How stiff the attractions of each point are."""
        degrees = self.edges.degrees.astype(np.float64)
        pulls, slope = stiffness(degrees, degrees.sum(), self.masses, self.kernel)
        return np.asarray(pulls * (self.n_samples * _STEEPER * slope), dtype=np.float32)

    @property
    def scheduled(self) -> bool:
        """Whether the sample or an added term changes from iteration to iteration."""
        return self.requested_evaluation == "sampled" or self.added.scheduled

    def sampling_at(self, exaggeration: float) -> _core.SamplingParameters:
        """Return how an epoch is sampled in which attractions count so many times as much against the repulsions."""
        seed, edge_scale, repulsion, n_draws, limit = self.sampling.__getstate__()
        return _core.SamplingParameters(seed, edge_scale, repulsion / exaggeration, n_draws, limit)

    @property
    def takes_samples_alone(self) -> bool:
        """Whether `at` does nothing but take a sample, which compiled epochs take for themselves."""
        own = getattr(self.at, "__func__", None) is CrossEntropy.at
        return own and self.has_compiled_epochs and not self.added.terms

    def at(self, iteration: int, max_iter: int) -> None:
        """Take the sample of this iteration, and the added terms that act in it."""
        self.epoch = iteration
        self.added.at(iteration, max_iter)

    def gradient(self, Y: Embedding) -> Embedding:
        """Return the gradient, or its estimate when sampled."""
        if self.requested_evaluation != "sampled":
            return super().gradient(Y)
        attraction, repulsion = self.forces(Y)
        return np.asarray(-(attraction + repulsion))

    @entrance("CrossEntropy")
    def forces(self, Y: Embedding) -> tuple[Embedding, Embedding]:
        """Return the attraction, added terms included, and the repulsion; their sum is minus the gradient."""
        if self.requested_evaluation != "sampled":
            return super().forces(Y)
        points = check_embedding(Y, self.n_samples)
        attraction, repulsion = _core.sampled_forces(
            self.edges.graph,
            *self.sampling_weights,
            self.compiled_kernel,
            self.sampling,
            self.epoch,
            points,
            current_run().n_threads,
            self.zoom,
        )
        return attraction + self.added.force(points) if self.added.acting else attraction, repulsion

    @entrance("CrossEntropy")
    def unsampled_force(self, Y: Embedding) -> Embedding | None:
        """Return minus the gradient with the repulsion of all pairs, uncut, by the tree if `evaluation` is "sampled".

        None if it is and there is no tree: above three components.
        """
        points = check_embedding(Y, self.n_samples)
        repulsion = self.repulsions[0] if self._by_tree is None else self._by_tree
        if points.shape[1] > 3 and repulsion is self._by_tree:
            return None
        force = repulsion.force(points, self.attractions[0].force(points))
        return force + self.added.force(points) if self.added.acting else force

    def row_loss(self, Y: npt.ArrayLike, *, degree: float | None = None) -> RowLoss:
        """Return that of a new row, sum_j p_j (-log k_j) + m / (2 n) sum_l v_l (-log(1 - k_l)).

        The repulsion of a point grows with the sum of its affinities, so that their normalised values suffice. v is how
        often a point is drawn, 1 on average; of the sum over all pairs the mean of that and of its relative degree.
        """
        n, charges = self.n_samples, None
        if len(self.sampling_weights[1]):
            charges = self.sampling_weights[1].astype(np.float64)
        if self.requested_evaluation != "sampled":
            degrees = self.sampling_weights[0].astype(np.float64)  # of all the rows that a point stands for
            charges = 0.5 * (degrees / degrees.mean() + (1.0 if charges is None else self.sampling_weights[1]))
        repulsion = Repulsion(self.kernel, "log_deficit", self.repulsion / (2.0 * n), charges=charges)
        return RowLoss((PairTerm(self.kernel, "log"),), (repulsion,))


class StatedCrossEntropy(PairObjective):
    """The cross-entropy of fuzzy sets with every pair counted, summed over ordered pairs.

        loss = sum_ij [ mu_ij log(mu_ij / k_ij) + (1 - mu_ij) log((1 - mu_ij) / (1 - k_ij)) ],
        gradient_i = 4 sum_j [ -mu_ij / k_ij + (1 - mu_ij) / (1 - k_ij) ] k'_ij (y_i - y_j).

    UMAP's sampling does not descend it: its repulsion is far weaker (see `CrossEntropy`). Maps of this loss are
    diffuse, which is a property of the loss. Below a squared distance of 0.001, -log(1 - k) goes on as a straight line.

    Parameters
    ----------
    affinities : Affinities
        Memberships in [0, 1].
    kernel : OutputKernel
        Similarity of two points of the embedding, between 0 and 1.
    evaluation : {"auto", "exact", "tree"}, default="auto"
        How the repulsion is summed; "auto" takes the tree from 4000 points on where it can.
    theta : float in [0, 1], default=0.8
        Width of a group over its distance below which the tree takes it as one; 0 is exact.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection", 2018, definition 10.
    .. [2] Damrich & Hamprecht, "On UMAP's true loss function", NeurIPS 2021.
    """

    name = "stated_cross_entropy"

    @entrance("StatedCrossEntropy")
    def __init__(
        self, affinities: Affinities, kernel: OutputKernel, *, evaluation: str = "auto", theta: float = 0.8
    ) -> None:
        self.kernel = kernel
        refuse_masses(affinities, self.name)
        values = Edges.from_affinities(affinities).values.astype(np.float64)
        if values.max() > 1:
            raise ValueError(message("affinities", "memberships in [0, 1]", fact=f"the largest is {values.max()}"))
        inside = values[(values > 0) & (values < 1)]
        constant = float(np.sum(inside * log(inside) + (1 - inside) * log1p(-inside)))
        n = affinities.n_samples
        half = np.full(n, 0.5, dtype=np.float32)
        super().__init__(
            [EdgePairs(affinities.matrix, kernel, "log", symmetric=affinities.symmetric)],
            [
                AllPairs(
                    n, kernel, "log_deficit", weights=(half, np.ones_like(half)), evaluation=evaluation, theta=theta
                ),
                EdgePairs(affinities.matrix, kernel, "log_deficit", scale=-1.0, symmetric=affinities.symmetric),
            ],
            constant=constant,
        )
