"""The loss of t-SNE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon import _core
from gnomon._validation import Options, Real, Rule, check_parameters, message
from gnomon.kernels import Cauchy
from gnomon.objectives.base import Embedding
from gnomon.objectives.edges import Edges, check_embedding, compile_kernel

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["INTERPOLATION_FROM", "KLDivergence"]

INTERPOLATION_FROM = 4000
"""Points from which "auto" interpolates. On two cores both cost the same at about 2,000 points; up to here all pairs
add less than half a millisecond to an iteration, and have no error."""

_RULES: dict[str, Rule] = {
    "evaluation": Options("auto", "exact", "interpolated"),
    "spacing": Real(low=0.0, high=2.0, low_open=True),
}


class KLDivergence:
    """The Kullback-Leibler divergence of normalised similarities from affinities.

    With k_ij = k(|y_i - y_j|^2), Z = sum over i != j of k_ij and affinities p_ij that sum to 1,

        loss = sum_ij p_ij log(p_ij Z / k_ij),
        gradient_i = 4 sum_j (-p_ij / k_ij + 1 / Z) k'_ij (y_i - y_j),

    the true gradient, with its factor of 4 (openTSNE leaves it out).

    Parameters
    ----------
    affinities : Affinities
        Values that sum to 1 (normalization "total"); other sums are divided out.
    kernel : OutputKernel, default=Cauchy()
        Similarity of two points of the embedding.
    evaluation : {"auto", "exact", "interpolated"}, default="auto"
        "exact" sums over all pairs, for any number of components. "interpolated" sums through a mesh, for one or two
        components and a smooth kernel. "auto" interpolates from 4000 points on where it can.
    spacing : float in (0, 2], default=0.5
        Spacing of the mesh in units of the distance at which the kernel is one half. Forces of a dense map have a
        relative error of about 1.5 % at 0.5, 0.1 % at 0.25, 4 % at 0.7; more where points lie tens of units apart. A
        mesh is at most 4096 nodes wide (two components; 32768 for one), half of them padding: embeddings wider than
        about 2000 spacings get a coarser one.
    n_threads : int, default=1
        Does not change the result.

    Attributes
    ----------
    exaggeration : float, default 1.0
        Factor on the attraction in `gradient` and `forces`, which an optimizer may set for a while ("early
        exaggeration"). `loss` is always that of the affinities as given.

    References
    ----------
    .. [1] van der Maaten & Hinton, "Visualizing data using t-SNE", JMLR 9, 2008.
    .. [2] Linderman et al., "Fast interpolation-based t-SNE for improved visualization of single-cell RNA-seq data",
       Nature Methods 16, 2019.
    """

    def __init__(
        self,
        affinities: Affinities,
        kernel: OutputKernel | None = None,
        *,
        evaluation: str = "auto",
        spacing: float = 0.5,
        n_threads: int = 1,
    ) -> None:
        checked = check_parameters("KLDivergence", _RULES, {"evaluation": evaluation, "spacing": spacing})
        self.kernel: OutputKernel = Cauchy() if kernel is None else kernel
        self.requested_evaluation: str = checked["evaluation"]
        self.spacing: float = checked["spacing"]
        self.n_threads = n_threads
        self.exaggeration = 1.0
        self._edges = Edges.from_affinities(affinities, who="KLDivergence")
        self._kernel = compile_kernel(self.kernel)
        self._mesh: _core.ParticleMesh | None = None
        values = self._edges.values.astype(np.float64)
        total = float(values.sum())
        if total <= 0:
            raise ValueError(message("KLDivergence", "affinities", "positive somewhere"))
        self._scale = 1.0 / total
        positive = values[values > 0] * self._scale
        self._negative_entropy = float(np.sum(positive * np.log(positive)))
        if self.requested_evaluation == "interpolated" and not self.kernel.smooth:
            raise ValueError(
                message(
                    "KLDivergence",
                    "evaluation='interpolated'",
                    "used with a kernel of bounded slope",
                    fact=f"{self.kernel}",
                    remedy="Use evaluation='exact'.",
                )
            )

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self._edges.n_samples

    @property
    def evaluation(self) -> str:
        """How a two-dimensional embedding is evaluated: "exact" or "interpolated"."""
        return self.evaluation_for(2)

    def evaluation_for(self, n_components: int) -> str:
        """Return how an embedding of n_components dimensions is evaluated."""
        if self.requested_evaluation != "auto":
            return self.requested_evaluation
        if n_components <= 2 and self.kernel.smooth and self.n_samples >= INTERPOLATION_FROM:
            return "interpolated"
        return "exact"

    def loss(self, Y: Embedding) -> float:
        """Return the divergence, in nats; never counts exaggeration."""
        points = self._check(Y)
        _, partition = self._repulsion(points)
        energy = _core.edge_energy(*self._edges.csr, points, self._kernel, "log", self.n_threads)
        with np.errstate(all="ignore"):  # a diverged embedding gives NaN, which the optimizers look for
            return float(self._negative_entropy + self._scale * energy + np.log(partition))

    def gradient(self, Y: Embedding) -> Embedding:
        """Return the gradient, attraction multiplied by `exaggeration`."""
        points = self._check(Y)
        repulsion, partition = self._repulsion(points)
        return _core.edge_sums(
            *self._edges.csr,
            points,
            self._kernel,
            "log",
            4.0 * self.exaggeration * self._scale,
            repulsion,
            -4.0 / partition if partition else 0.0,
            self.n_threads,
        )

    def forces(self, Y: Embedding) -> tuple[Embedding, Embedding]:
        """Return the attraction and the repulsion on each point; their sum is minus the gradient."""
        points = self._check(Y)
        repulsion, partition = self._repulsion(points)
        nothing = np.empty((0, points.shape[1]), dtype=np.float32)
        scale = -4.0 * self.exaggeration * self._scale
        attraction = _core.edge_sums(*self._edges.csr, points, self._kernel, "log", scale, nothing, 0.0, self.n_threads)
        return attraction, np.asarray(repulsion * np.float32(4.0 / partition if partition else 0.0))

    def _check(self, Y: Embedding) -> Embedding:
        points = check_embedding(Y, self.n_samples, who="KLDivergence")
        if self.requested_evaluation == "interpolated" and points.shape[1] > 2:
            raise ValueError(
                message(
                    "KLDivergence",
                    f"n_components={points.shape[1]}",
                    "1 or 2 for evaluation='interpolated'",
                    remedy="Use evaluation='exact'.",
                )
            )
        return points

    def _repulsion(self, points: Embedding) -> tuple[Embedding, float]:
        """Return sum_j -k'_ij (y_i - y_j) and Z."""
        if self.evaluation_for(points.shape[1]) == "interpolated":
            if self._mesh is None:
                self._mesh = _core.ParticleMesh(self._kernel, self.spacing)
            return self._mesh.evaluate(points, self.n_threads)
        nothing = np.empty(0, dtype=np.float32)
        slopes, partition = _core.pair_sums("value", points, nothing, nothing, self._kernel, self.n_threads)
        return -slopes, partition
