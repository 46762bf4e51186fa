"""The loss of UMAP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._validation import Options, Real, Rule, check_parameters
from gnomon.objectives.base import Embedding
from gnomon.objectives.edges import Edges, check_embedding, compile_kernel

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["CrossEntropy"]

_RULES: dict[str, Rule] = {
    "negative_sample_rate": Real(low=0.0, low_open=True),
    "repulsion_strength": Real(low=0.0),
    "evaluation": Options("exact", "sampled"),
}

_DRAWS = 16  # points drawn for each point in an epoch: one vector of draws; more only lowers the noise
_FORCE_LIMIT = 4.0  # umap-learn's bound on each component of a pair's force


class CrossEntropy:
    """The cross-entropy that UMAP's sampling descends.

    With similarities k_ij, memberships mu_ij, degrees d_i = sum_j mu_ij, m = negative_sample_rate and
    g = repulsion_strength, summed over ordered pairs,

        loss = sum_ij [ -mu_ij log k_ij - g m (d_i + d_j) / (4 n) log(1 - k_ij) ],
        gradient_i = 4 sum_j [ mu_ij (-k'/k)_ij - g m (d_i + d_j) / (4 n) (-k'/(1 - k))_ij ] (y_i - y_j).

    UMAP draws m points for each visit of an edge and moves only the edge's head away from them. Its mean force is this
    gradient with d_i in place of (d_i + d_j) / 2, the only change that makes it the gradient of anything. If the drawn
    points moved as well, repulsion would be twice as strong: that loss, the effective loss of [2]_, is this one with
    repulsion_strength=2. Both differ from the cross-entropy printed in [1]_, whose repulsive weight 1 - mu_ij is far
    larger. Below a squared distance of 0.001, -log(1 - k), infinite at 0, goes on as a straight line.

    Parameters
    ----------
    affinities : Affinities
        Memberships in (0, 1].
    kernel : OutputKernel
        Similarity of two points of the embedding, such as `UMAPKernel.from_min_dist(0.1)`.
    negative_sample_rate : float > 0, default=5
        Repulsive weight of a point for each unit of its attractive weight.
    repulsion_strength : float >= 0, default=1.0
        Factor on the repulsion.
    evaluation : {"sampled", "exact"}, default="sampled"
        "exact" sums over all pairs. "sampled" estimates forces from a few random points, with each component of a
        pair's force cut to [-4, 4] as in umap-learn; the loss is the exact one either way.
    seed : int, default=0
        Decides the sample.
    n_threads : int, default=1
        Does not change the result.

    Attributes
    ----------
    epoch : int, default 0
        Which sample `gradient` and `forces` take when sampled.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection", 2018.
    .. [2] Damrich & Hamprecht, "On UMAP's true loss function", NeurIPS 2021.
    """

    def __init__(
        self,
        affinities: Affinities,
        kernel: OutputKernel,
        *,
        negative_sample_rate: float = 5.0,
        repulsion_strength: float = 1.0,
        evaluation: str = "sampled",
        seed: int = 0,
        n_threads: int = 1,
    ) -> None:
        checked = check_parameters(
            "CrossEntropy",
            _RULES,
            {
                "negative_sample_rate": negative_sample_rate,
                "repulsion_strength": repulsion_strength,
                "evaluation": evaluation,
            },
        )
        self.kernel = kernel
        self.evaluation: str = checked["evaluation"]
        self.n_threads = n_threads
        self.epoch = 0
        self.edges = Edges.from_affinities(affinities, who="CrossEntropy")
        self.compiled_kernel = compile_kernel(kernel)
        repulsion = checked["negative_sample_rate"] * checked["repulsion_strength"]
        self.sampling = _core.SamplingParameters(
            seed, 1.0 / float(self.edges.values.max()), repulsion, _DRAWS, _FORCE_LIMIT
        )
        self._pair_weights = (self.edges.degrees * (repulsion / (4.0 * self.n_samples))).astype(np.float32)

    @property
    def sampling_weights(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Weights of the points pushed and of the points drawn when sampled; no weights count as 1."""
        return self.edges.degrees, np.empty(0, dtype=np.float32)

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self.edges.n_samples

    def loss(self, Y: Embedding) -> float:
        """Return the loss, summed over all pairs."""
        points = check_embedding(Y, self.n_samples, who="CrossEntropy")
        _, repulsion = self._all_pairs(points, with_energy=True)
        return repulsion + _core.edge_energy(*self.edges.csr, points, self.compiled_kernel, "log", self.n_threads)

    def gradient(self, Y: Embedding) -> Embedding:
        """Return the gradient, or its estimate when sampled."""
        attraction, repulsion = self.forces(Y)
        return np.asarray(-(attraction + repulsion))

    def forces(self, Y: Embedding) -> tuple[Embedding, Embedding]:
        """Return the attraction and the repulsion on each point; their sum is minus the gradient."""
        points = check_embedding(Y, self.n_samples, who="CrossEntropy")
        kernel, n_threads = self.compiled_kernel, self.n_threads
        if self.evaluation == "sampled":
            return _core.sampled_forces(
                *self.edges.csr, *self.sampling_weights, kernel, self.sampling, self.epoch, points, n_threads
            )
        slopes, _ = self._all_pairs(points, with_energy=False)
        nothing = np.empty((0, points.shape[1]), dtype=np.float32)
        attraction = _core.edge_sums(*self.edges.csr, points, kernel, "log", -4.0, nothing, 0.0, n_threads)
        return attraction, np.asarray(np.float32(-4.0) * slopes)

    def _all_pairs(self, points: Embedding, *, with_energy: bool) -> tuple[Embedding, float]:
        kernel, ones = self.compiled_kernel, np.ones_like(self._pair_weights)
        return _core.pair_sums("log_deficit", points, self._pair_weights, ones, kernel, self.n_threads, with_energy)
