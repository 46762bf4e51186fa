"""Two-kernel LLE: the loss of locally linear embedding with a kernel on the map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from functools import partial
from typing import Any, ClassVar

from gnomon._costs import Cost
from gnomon._validation import Either, Elsewhere, Instance, Integer, Nothing, Options, Real, Rule, message
from gnomon.affinities import ReconstructionAffinity
from gnomon.affinities.reconstruction import pairs_chosen
from gnomon.initialization import rescale
from gnomon.kernels import INPUT_KERNELS, OutputKernel, UMAPKernel
from gnomon.methods.forecast import Forecast, manner_of_repulsion, passes_unless_summed
from gnomon.methods.neighbor.base import NeighborEmbedder, Recipe
from gnomon.methods.neighbor.first_phase import check_first_phase
from gnomon.methods.other_names import INPUT_KERNEL_NAMES
from gnomon.methods.parameters import KERNEL, make_kernel
from gnomon.objectives import ReconstructionTrace
from gnomon.optimizers import GradientDescent

__all__ = ["TwoKernelLLE"]

_START_SPREAD = 1e-4  # as t-SNE starts: under the weak penalty of the first stage every start grows from a point
_AFTER = 500  # iterations after the first stage, where more of it is asked for


@dataclass(eq=False, repr=False)
class TwoKernelLLE(NeighborEmbedder):
    """Locally linear embedding with a kernel on the map in place of the constraint on its scale.

    Input affinity: the weights that reconstruct each row from its neighbours. Output kernel: UMAP's, or any. Loss: how
    badly the same weights reconstruct each point of the map in the kernel's feature space, plus the mean similarity,
    which keeps points apart. Optimizer: gradient descent with momentum, the penalty weak at first: the map stays small
    and is sorted before it spreads, from any start. Descended from a random start without that stage, it is left in
    pieces at nearly twice the loss, because similarities far apart have no slope.

    Parameters
    ----------
    n_neighbors : int >= 1, default=15
        Neighbours of each row, the row itself not counted.
    n_components : int >= 1, default=2
        Dimension of the map.
    weights : {"non_negative", "signed", "membership"}, default="non_negative"
        Weights of the neighbours, see `gnomon.affinities.reconstruction_weights`. Only weights that are not negative
        make every edge an attraction.
    regularization : float >= 0, default=1e-3
        Of the weights; "signed" ones make better maps with 0.1.
    input_kernel : {"linear", "gaussian", "laplacian", "cauchy", "polynomial", "cosine"} or callable, default="linear"
        The similarity of the data, k_x, in whose feature space rows are reconstructed, see `gnomon.affinities.Gram`;
        positive semidefinite. "linear" takes the rows as they are. The neighbours are those of `metric`.
    input_kernel_params : dict or None, default=None
        Of k_x, such as ``{"sigma": 2.0}``; without a sigma the median distance of rows.
    kernel : str or OutputKernel, default="umap"
        "umap" is UMAP's kernel of ``min_dist`` and ``spread``; else a name in `gnomon.kernels.KERNELS` or a kernel.
    min_dist : float in [0, spread], default=0.1
        How close points may come in the map, for kernel="umap".
    spread : float > 0, default=1.0
        Scale of the map, likewise.
    penalty_strength : float >= 0 or None, default=None
        Factor on the sum of similarities; None takes 1 / n_samples, with which attraction and repulsion balance.
    early_exaggeration : float >= 1, default=10.0
        How much weaker the penalty is in the first stage.
    early_exaggeration_iter : int >= 0, default=250
        Iterations of the first stage; if you give them, fewer than max_iter. Where max_iter ends in them a warning says
        so: the map is not one of the loss.
    max_iter : int >= 0, default=750
        Iterations in all.
    learning_rate : "auto" or float > 0, default="auto"
        See `gnomon.optimizers.GradientDescent`.
    evaluation : {"auto", "exact", "interpolated", "tree"}, default="auto"
        How the penalty is summed; "auto" takes the tree from 4000 rows on where it cannot interpolate.
    metric, metric_params, precomputed_knn : as in `UMAP`
        They choose the neighbours. Distances alone ("precomputed") do with weights="membership". Under "periodic" and
        "haversine" neighbours are taken at their nearest images, if the input kernel is "linear"; under every other
        metric rows are reconstructed as their numbers are.
    init, random_state, n_jobs, callback, verbose : as in `TSNE`
        Named starts are scaled to a standard deviation of 1e-4 along the first axis.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    affinities_ : ReconstructionWeights
        Weights between the distinct rows.
    kernel_ : OutputKernel
        The output kernel.
    graph_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `UMAP`.

    Notes
    -----
    `place` puts a new row where its own part of the loss is least: the weights that reconstruct it from its nearest
    fitted rows attract, the mean similarity repels.

    References
    ----------
    .. [1] Draganov & Dohn, "Unexplainable explanations: towards interpreting tSNE and UMAP embeddings", 2023,
       section 3.3.
    """

    n_neighbors: int = 15
    n_components: int = 2
    _: KW_ONLY
    weights: str = "non_negative"
    regularization: float = 1e-3
    input_kernel: Any = "linear"
    input_kernel_params: dict[str, Any] | None = None
    kernel: Any = "umap"
    min_dist: float = 0.1
    spread: float = 1.0
    penalty_strength: float | None = None
    early_exaggeration: float = 10.0
    early_exaggeration_iter: int = 250
    max_iter: int = 750
    learning_rate: float | str = "auto"
    evaluation: str = "auto"

    _rules: ClassVar[dict[str, Rule]] = {
        "n_neighbors": Integer(1),
        "weights": Options("non_negative", "signed", "membership"),
        "regularization": Real(0.0),
        "input_kernel": Either(
            Elsewhere(Options(*INPUT_KERNELS), INPUT_KERNEL_NAMES),
            Instance((Callable,), "a callable"),  # type: ignore[arg-type]
        ),
        "input_kernel_params": Either(Instance((dict,), "a dict"), Nothing()),
        "kernel": KERNEL,
        "min_dist": Real(0.0),
        "spread": Real(0.0, low_open=True),
        "penalty_strength": Either(Real(0.0), Nothing()),
        "early_exaggeration": Real(1.0),
        "early_exaggeration_iter": Integer(0),
        "max_iter": Integer(0),
        "learning_rate": Either(Options("auto"), Real(0.0, low_open=True)),
        "evaluation": Options("auto", "exact", "interpolated", "tree"),
    }

    def _check_parameters(self) -> dict[str, Any]:
        parameters = super()._check_parameters()
        check_first_phase(parameters, {one.name: one.default for one in fields(self)}, _AFTER)
        return parameters

    def _stages_of(self, parameters: dict[str, Any], n_neighbors: int) -> Mapping[str, Cost]:
        return {
            "affinities": Cost(fixed=1e5, row=50.0, neighbor=50.0),
            "initialization": Cost(fixed=2.5e6, row=50.0, neighbor=50.0),
            "layout": Cost(fixed=1e5, row=400.0 + 72.0 * parameters["n_together"]),
        }

    def _manner(self, parameters: dict[str, Any], n_samples: int) -> str:
        return manner_of_repulsion(n_samples, parameters, parameters["evaluation"])

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast | None:
        passes = passes_unless_summed(n_samples, parameters, parameters["evaluation"], 5.6)
        k = self._n_compared(parameters, n_samples)
        together = pairs_chosen(n_samples, n_features, k, parameters["weights"])
        found = super()._forecast(n_samples, n_features, parameters | {"n_together": together})
        return passes if found is None else found.taking(passes)

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        if parameters["metric"] == "precomputed" and parameters["weights"] != "membership":
            what, remedy = f"weights={parameters['weights']!r}", "Use weights='membership'."
            raise ValueError(message(what, "used with rows, not distances alone", remedy=remedy))
        given = parameters["input_kernel"]
        if parameters["weights"] == "membership" and not (isinstance(given, str) and given == "linear"):
            what, rule = f"input_kernel={given!r}", "'linear' for weights='membership', which reconstruct nothing"
            raise ValueError(message(what, rule, remedy="Use weights='non_negative'."))
        self.kernel_ = self._make_kernel(parameters)
        return Recipe(
            n_neighbors=parameters["n_neighbors"],
            affinity=ReconstructionAffinity(
                parameters["weights"],
                parameters["regularization"],
                input_kernel=given,
                input_kernel_params=parameters["input_kernel_params"],
            ),
            rescale=partial(rescale, standard_deviation=_START_SPREAD),
            objective=lambda weights, inputs: ReconstructionTrace(
                weights,
                self.kernel_,
                penalty_strength=parameters["penalty_strength"],
                evaluation=parameters["evaluation"],
            ),
            optimizer=GradientDescent(
                parameters["learning_rate"],
                early_exaggeration=parameters["early_exaggeration"],
                early_exaggeration_iter=parameters["early_exaggeration_iter"],
                max_iter=parameters["max_iter"],
            ),
        )

    @staticmethod
    def _make_kernel(parameters: dict[str, Any]) -> OutputKernel:
        given = parameters["kernel"]
        if not (isinstance(given, str) and given == "umap"):
            return make_kernel(given)
        if parameters["min_dist"] > parameters["spread"]:
            what, rule = f"min_dist={parameters['min_dist']}", f"at most spread={parameters['spread']}"
            raise ValueError(message(what, rule))
        return UMAPKernel.from_min_dist(parameters["min_dist"], parameters["spread"])
