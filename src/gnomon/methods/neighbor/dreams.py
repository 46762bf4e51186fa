"""DREAMS: t-SNE that stays near a reference map, such as the principal components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._costs import Cost
from gnomon._validation import Either, Options, Real, Rule, message
from gnomon.affinities import Affinities
from gnomon.data.arrays import unmasked
from gnomon.initialization import Initialization, initialize
from gnomon.methods.forecast import GAUSSIAN_STAGES
from gnomon.methods.neighbor.anchors import of_distinct_rows
from gnomon.methods.neighbor.base import Inputs, Prepared, Recipe
from gnomon.methods.neighbor.tsne import TSNE
from gnomon.methods.other_names import DREAMS as NAMES
from gnomon.methods.other_names import other_names
from gnomon.methods.parameters import Rows
from gnomon.objectives import ReferenceDistance, SharedLoss

if TYPE_CHECKING:
    from gnomon.data import Table

__all__ = ["DREAMS"]


@other_names(NAMES)
@dataclass(eq=False, repr=False)
class DREAMS(TSNE):
    """DREAMS: `TSNE` whose points are drawn to a reference map, so that groups lie as they do there.

    Input affinity: Gaussian with a given perplexity. Output kernel: Cauchy, 1 / (1 + d^2). Loss: Kullback-Leibler
    divergence, shared with the mean squared distance from the reference. Optimizer: gradient descent with momentum.

    With the weight w, a reference R of mean 0 and the factor a = |Y| / |R| that gives it the size of the map,

        loss = (1 - w) KL(P, Q) + w / n |Y - a R|^2,

    as the paper states it [1]_; a is estimated before each iteration and held in the gradient.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map.
    reference : "pca" or array-like of shape (n_samples, n_components), default="pca"
        What the map should be like on the large scale, in any unit, turned as it is to be seen: the leading principal
        components, or positions such as a map by `MDS`. Rows that are equal share the mean of their positions.
    reference_weight : float in [0, 1], default=0.001
        w. 0 is t-SNE; 1 is the reference, at the scale of the start. About 0.06 lambda^2 for the authors' program, see
        the notes.
    preset, perplexity, early_exaggeration, early_exaggeration_iter, annealing_iter : as in `TSNE`
        Affinities and the first phases.
    max_iter, exaggeration, dof : as in `TSNE`
        Iterations, the loss and its kernel.
    learning_rate, early_momentum, momentum, max_step_norm, min_grad_norm, n_iter_without_progress : as in `TSNE`
        The descent; with a weight it runs all its iterations.
    blocks, join, metric, metric_params, precomputed_knn, target_weight, target_metric : as in `TSNE`
        Distances and neighbours, and a target y.
    init, evaluation, random_state, n_jobs, callback, verbose : as in `TSNE`
        Start, evaluation, seed, threads, reports.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        The map.
    perplexity_ : float or None
        As in `TSNE`.
    reference_ : ndarray of shape (n_samples, n_components), float64
        The reference at the scale of the map; only with a weight.
    kl_divergence_ : float
        Kullback-Leibler divergence of the map, in nats.
    learning_rate_, graph_, affinities_, supervision_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `TSNE`; the loss of ``solution_`` is the one stated above.

    Notes
    -----
    In the authors' program, a version of openTSNE, the step towards the reference is multiplied by lambda twice and has
    no momentum, which the steps of t-SNE have. Its lambda of 0.1, 0.15 and 0.3 gives maps of 1,000
    digits as wide as those of w = 0.0006, 0.0013 and 0.005 here, with the same scores. Maps shrink as w grows.

    `place` puts a new row where its neighbours draw it, as in `TSNE`: the reference says nothing of it.

    References
    ----------
    .. [1] Kury, Kobak & Damrich, "DREAMS: preserving both local and global structure in dimensionality reduction",
       arXiv:2508.13747, 2025.
    """

    _: KW_ONLY
    reference: Any = "pca"
    reference_weight: float = 0.001

    _rules: ClassVar[dict[str, Rule]] = {
        **TSNE._rules,
        "reference": Either(Options("pca"), Rows("an array of shape (n_samples, n_components)")),
        "reference_weight": Real(0.0, 1.0),
    }

    _stages: ClassVar[Mapping[str, Cost]] = {
        **GAUSSIAN_STAGES,
        "layout": replace(GAUSSIAN_STAGES["layout"], row=GAUSSIAN_STAGES["layout"].row + 150.0),
    }

    def _distinct_rows(
        self, values: Any, parameters: dict[str, Any], *, counted: bool
    ) -> tuple[Any, npt.NDArray[np.intp] | None]:
        reference = _given(parameters["reference"], int(values.shape[0]), parameters["n_components"])
        rows, copies = super()._distinct_rows(values, parameters, counted=counted)
        if reference is not None:
            parameters["reference"] = reference if copies is None else of_distinct_rows(reference, copies)
        return rows, copies

    def _rows_present(self, given: Table, present: npt.NDArray[np.intp], parameters: dict[str, Any]) -> Table:
        reference = _given(parameters["reference"], int(given.values.shape[0]), parameters["n_components"])
        if reference is not None:
            parameters["reference"] = reference[present]
        return super()._rows_present(given, present, parameters)

    def _initialize(self, prepared: Prepared, n_components: int) -> Initialization:
        start, parameters = super()._initialize(prepared, n_components), prepared.parameters
        if start.kind == "pca" and isinstance(parameters["reference"], str):
            parameters["reference"] = start.embedding  # the components need not be computed again
        return start

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        recipe, weight = super()._recipe(parameters, n_samples), parameters["reference_weight"]
        if weight == 0.0:
            return recipe

        def objective(affinities: Affinities, inputs: Inputs) -> SharedLoss:
            reference = self._reference(inputs, parameters)
            distance = ReferenceDistance(reference, masses=inputs.masses)
            base: Any = recipe.objective(affinities, inputs)
            return SharedLoss(base, distance, weight)

        return replace(recipe, objective=objective)

    def _reference(self, inputs: Inputs, parameters: dict[str, Any]) -> npt.NDArray[Any]:
        """Return the reference of the distinct rows, as it is given or by their principal components."""
        if not isinstance(parameters["reference"], str):
            return np.asarray(parameters["reference"])
        if parameters["metric"] == "precomputed":
            fact, remedy = "distances have no principal components", "Pass positions, such as a map by ClassicalMDS."
            raise ValueError(message("reference='pca'", "an array where distances are given", fact=fact, remedy=remedy))
        rows = self._start_rows(inputs.X, parameters)
        return initialize("pca", X=rows, n_components=parameters["n_components"], seed=inputs.seed).embedding


def _given(reference: Any, n_rows: int, n_components: int) -> npt.NDArray[np.float64] | None:
    """Return a reference that is given, checked, or None for a named one."""
    if isinstance(reference, str):
        return None
    try:
        positions = np.asarray(unmasked(reference, name="reference"), dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(message(f"reference of type {type(reference).__name__}", "an array of numbers")) from None
    shape = (n_rows, n_components)
    if positions.shape != shape:
        raise ValueError(
            message(f"reference of shape {positions.shape}", f"of shape (n_samples, n_components)={shape}")
        )
    bad = np.flatnonzero(~np.isfinite(positions).all(axis=1))
    if bad.size:
        raise ValueError(message("reference", "finite", fact=f"{bad.size:,} rows are not, the first is row {bad[0]}"))
    return positions
