"""Two-kernel PCA: PCA's loss with a kernel on either side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._validation import Boolean, Either, Elsewhere, Instance, Integer, Nothing, Options, Real, Rule
from gnomon.affinities import Gram
from gnomon.extension import SimilarityPlacement
from gnomon.initialization import rescale
from gnomon.kernels import INPUT_KERNELS
from gnomon.methods.forecast import STRIPS, Forecast
from gnomon.methods.neighbor.base import Inputs, NeighborEmbedder, Recipe
from gnomon.methods.other_names import INPUT_KERNEL_NAMES
from gnomon.methods.parameters import KERNEL, make_kernel
from gnomon.objectives import Frobenius
from gnomon.optimizers import LBFGS

__all__ = ["TwoKernelPCA"]

_START_SPREAD = 0.1  # standard deviation of the start along its first axis; points that start far out feel no slope


@dataclass(eq=False, repr=False)
class TwoKernelPCA(NeighborEmbedder):
    """PCA's loss with one kernel on the data and another on the map.

    Input affinity: the similarities k_x of all pairs of rows. Output kernel: any. Loss: the Frobenius norm of the
    difference between the two, |K_X - K_Y|^2. Optimizer: L-BFGS. With linear kernels on both sides and ``centered`` it
    is PCA (see `GradientPCA`, which does that without a matrix of all pairs).

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map.
    input_kernel : {"gaussian", "laplacian", "cauchy", "polynomial", "cosine", "linear"} or callable, default="gaussian"
        The similarity of the data, k_x, see `gnomon.affinities.Gram.from_kernel`.
    input_kernel_params : dict or None, default=None
        Of k_x, such as ``{"sigma": 2.0}``; without a sigma the median distance of rows.
    kernel : str or OutputKernel, default="cauchy"
        The similarity of the map, k_y: a name in `gnomon.kernels.KERNELS` or a kernel.
    kernel_params : dict or None, default=None
        Of a kernel given by name, such as ``{"dof": 2.0}`` for "student_t".
    centered : bool, default=True
        Compare double-centred similarities.
    max_iter : int >= 0, default=300
        Iterations.
    tol : float >= 0, default=1e-5
        Relative gradient at which to stop.
    metric : {"euclidean"}, default="euclidean"
        Distances are those of k_x.
    precomputed_knn : None
        It looks for no neighbours.
    metric_params : dict or None, default=None
        Not used.
    init, random_state, n_jobs, callback, verbose : as in `TSNE`
        Named starts are scaled to a standard deviation of 0.1 along the first axis.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    affinities_ : Gram
        Similarities of the distinct rows.
    kernel_ : OutputKernel
        k_y.
    solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `UMAP`.

    Notes
    -----
    `place` puts a new row where its similarities to the fitted points match best those of the data, each
    centred as in the fit. It compares with all fitted rows.

    References
    ----------
    .. [1] Draganov & Dohn, "Unexplainable explanations: towards interpreting tSNE and UMAP embeddings", 2023,
       section 5.
    """

    n_components: int = 2
    _: KW_ONLY
    input_kernel: Any = "gaussian"
    input_kernel_params: dict[str, Any] | None = None
    kernel: Any = "cauchy"
    kernel_params: dict[str, Any] | None = None
    centered: bool = True
    max_iter: int = 300
    tol: float = 1e-5

    _rules: ClassVar[dict[str, Rule]] = {
        "input_kernel": Either(
            Elsewhere(Options(*INPUT_KERNELS), INPUT_KERNEL_NAMES),
            Instance((Callable,), "a callable"),  # type: ignore[arg-type]
        ),
        "input_kernel_params": Either(Instance((dict,), "a dict"), Nothing()),
        "kernel": KERNEL,
        "kernel_params": Either(Instance((dict,), "a dict"), Nothing()),
        "metric": Options("euclidean"),
        "precomputed_knn": Nothing(),
        "centered": Boolean(),
        "max_iter": Integer(0),
        "tol": Real(0.0),
    }

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast:
        n = float(n_samples)
        compiled = make_kernel(parameters["kernel"], parameters["kernel_params"]).compiled
        # All similarities in float64 twice, and the places of one half of them; or those of the map beside the data's.
        whole = (24.0 if compiled else 64.0) * n**2
        return Forecast(
            Gram.bytes_kept(n_samples) + whole + (STRIPS + 6.0 * n_features) * n,
            f"similarities of {n_samples} x {n_samples} pairs",
            "Use KernelPCA, or fewer rows.",
            1.1e-8 * parameters["max_iter"] * n**2,
            f"{parameters['max_iter']} passes over {n_samples} x {n_samples} pairs",
        )

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        self.kernel_ = make_kernel(parameters["kernel"], parameters["kernel_params"])
        return Recipe(
            n_neighbors=0,
            affinity=lambda inputs: Gram.from_kernel(
                parameters["input_kernel"], inputs.X, parameters=parameters["input_kernel_params"]
            ),
            rescale=partial(rescale, standard_deviation=_START_SPREAD),
            objective=lambda gram, inputs: Frobenius(gram, self.kernel_, centered=parameters["centered"]),
            optimizer=LBFGS(max_iter=parameters["max_iter"], tol=parameters["tol"]),
            placement=partial(self._placement_by_similarity, centered=parameters["centered"]),
        )

    def _placement_by_similarity(
        self, _inputs: Inputs, _objective: Any, positions: npt.NDArray[np.float32], *, centered: bool
    ) -> Callable[..., SimilarityPlacement] | None:
        if not self.kernel_.compiled:
            return None
        gram: Gram = self.affinities_
        means = None
        if centered:
            points = positions.astype(np.float64)
            in_map = [self.kernel_.value(np.square(points - point).sum(axis=1)).mean() for point in points]
            means = np.array(in_map) - gram.matvec(np.ones((len(points), 1)))[:, 0] / len(points)
        return partial(
            SimilarityPlacement, input_kernel=gram.kernel, kernel=self.kernel_, centered=centered, means=means
        )
