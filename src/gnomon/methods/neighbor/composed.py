"""A method of your own: choose affinity, kernel, loss and optimizer."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._validation import (
    Either,
    Having,
    Instance,
    Integer,
    Nothing,
    Options,
    Real,
    Rule,
    check_positions,
    message,
)
from gnomon.affinities import (
    Affinities,
    ConditionalAffinity,
    FuzzyAffinity,
    GaussianAffinity,
    Gram,
    NeighborAffinity,
    UniformAffinity,
)
from gnomon.initialization import rescale, rescale_to_box
from gnomon.methods.forecast import Forecast, passes_over_pairs
from gnomon.methods.neighbor.base import Inputs, Prepared, Recipe
from gnomon.methods.neighbor.blocks import BlockEmbedder
from gnomon.methods.neighbor.kept_structure import DENSITY, FRAMES, density_terms, frame_terms
from gnomon.methods.neighbor.output import OUTPUT_METRIC, OUTPUT_RADIUS, output_surface
from gnomon.methods.parameters import KERNEL, check_perplexity, make_kernel, usual_perplexity
from gnomon.methods.weighted import WeightedRowEmbedder
from gnomon.objectives import LOSSES, Objective, takes_added, takes_seed
from gnomon.optimizers import (
    LBFGS,
    Adam,
    GradientDescent,
    Optimizer,
    SampledDescent,
    SampledSurfaceDescent,
    Solution,
    SurfaceDescent,
)
from gnomon.optimizers.sampled_descent import FLAT_DRAWS, flat_steps

__all__ = ["AFFINITIES", "NeighborEmbedding"]

AFFINITIES: dict[str, Callable[..., NeighborAffinity]] = {
    "fuzzy": FuzzyAffinity,
    "gaussian": GaussianAffinity,
    "conditional": ConditionalAffinity,
    "uniform": UniformAffinity,
}
"""Affinities by name."""

_OPTIMIZERS: dict[str, Callable[..., Any]] = {
    "gradient_descent": GradientDescent,
    "annealed_descent": GradientDescent.annealed,
    "adam": Adam,
    "lbfgs": LBFGS,
    "sampled_descent": SampledDescent,
}
_ON_SURFACE: dict[str, Callable[..., Any]] = {
    "gradient_descent": SurfaceDescent,
    "sampled_descent": SampledSurfaceDescent,
}
_USUAL_NEIGHBORS = 15  # of affinities without a perplexity
_NANOSECONDS = 30.0  # one core's for a pair on a surface
_USUAL_OPTIMIZER = {
    "kl": "annealed_descent",
    "reconstruction": "gradient_descent",
    "cross_entropy": "sampled_descent",
    "info_nce": "adam",
}
_BY_MASS = ("kl", "conditional_kl", "cross_entropy", "linear_attraction", "info_nce")
"""Losses that count pairs of points by the rows that these stand for."""

_ADDED_UP = tuple(name for name in _BY_MASS if name != "conditional_kl")
"""Losses for which given affinities of equal rows are added up."""

_TAKEN: dict[str, tuple[type, ...]] = {"frobenius": (object,), "reconstruction": (object,)}
"""What losses take that do not take `Affinities`; they say so themselves."""

_PARAMETERS = Either(Instance((dict,), "a dict"), Nothing())


@dataclass(eq=False, repr=False)
class NeighborEmbedding(WeightedRowEmbedder, BlockEmbedder):
    """A map from four choices: input affinity, output kernel, loss and optimizer.

    Every neighbour embedding of gnomon is such a choice; with this class any other can be tried. For example t-SNE is
    ``NeighborEmbedding(affinity="gaussian", kernel="cauchy", loss="kl")``, and UMAP is
    ``NeighborEmbedding(affinity="fuzzy", kernel="umap", loss="cross_entropy", init="spectral")``, to the last bit.

    Parameters
    ----------
    n_components : int >= 1, default=2
        Dimension of the map.
    n_neighbors : int >= 1 or None, default=None
        Neighbours of each row, the row itself not counted. None takes three for each unit of the perplexity of
        "gaussian" and "conditional", 15 for other affinities, or all others if there are fewer.
    affinity : {"fuzzy", "gaussian", "conditional", "uniform"}, callable, Affinities, Gram or matrix, default="fuzzy"
        A callable takes an object with ``X``, ``graph`` and ``seed`` and returns what the loss takes; a
        `gnomon.affinities.NeighborAffinity` is one that knows the weights of new rows as well. Affinities, a Gram
        matrix or a matrix of shape (n_samples, n_samples), sparse or dense, are used as they are; they are symmetric
        but for the losses "conditional_kl" and "reconstruction". Of equal rows they are added up, for the losses "kl",
        "cross_entropy", "linear_attraction", "info_nce" and your own; others take those of distinct rows.
    kernel : str or OutputKernel, default="cauchy"
        A name in `gnomon.kernels.KERNELS`, or a kernel, one of your own included (`gnomon.kernels.CustomKernel`).
    loss : str or callable, default="kl"
        A name in `gnomon.objectives.LOSSES`, or a callable (affinities, kernel, ...) -> Objective.
    optimizer : str or object, default="auto"
        "gradient_descent", "annealed_descent", "adam", "lbfgs" or "sampled_descent". "auto" takes t-SNE's annealed
        descent for "kl" (`gnomon.optimizers.GradientDescent.annealed`), gradient descent for "reconstruction", sampled
        descent for "cross_entropy" unless it is evaluated in another way, Adam for "info_nce" and L-BFGS for others.
        Sampled descent takes any loss but "kl", "conditional_kl", "info_nce" and a centred "frobenius" (see
        `gnomon.optimizers.SampledDescent`). An object needs ``minimize(objective, Y0, reporter=...)`` and ``max_iter``.
    affinity_params, kernel_params, loss_params, optimizer_params : dict or None, default=None
        Arguments of the parts chosen by name, and of a loss that is a callable, such as
        ``affinity_params={"perplexity": 30}``; without it, 30 or less for few rows, as in `TSNE`. The kernel "umap"
        takes a and b, or min_dist and spread.
    density, frames : float >= 0, dict or None, default=None
        As in `UMAP`, for losses that take added terms: "cross_entropy". If it is not sampled, "auto" takes Adam.
    start_spread : float > 0 or None, default=None
        Standard deviation of a named start along its first axis; None takes 1e-4 for "kl" and "reconstruction", a
        box of side 10 for "cross_entropy" and 1 for others. Of flat maps.
    output_metric, output_radius : as in `UMAP`
        For losses of edges and all pairs: "cross_entropy", "kl" and others without a logarithm for each row. Then the
        optimizer is "sampled_descent" (`gnomon.optimizers.SampledSurfaceDescent`, of "cross_entropy", "auto" for it) or
        "gradient_descent" (`gnomon.optimizers.SurfaceDescent`, of all pairs). A radius of None takes a spread of 1.
    blocks, join, metric, metric_params, precomputed_knn, init, random_state, n_jobs, callback, verbose : as in `UMAP`
        The default start is "pca".

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32, float64 on a surface
        The map.
    kernel_ : OutputKernel
        The kernel used.
    perplexity_ : float or None
        The perplexity used; None of affinities that have none.
    graph_, affinities_, surface_, solution_, n_iter_, seed_, init_, evaluation_, timings_
        As in `UMAP`.

    Notes
    -----
    `place` puts a new row where its own part of the loss is least. It asks the affinity for the weights of the
    row's neighbours and the objective for the loss of one row, which named affinities, those derived from
    `gnomon.affinities.NeighborAffinity`, all named losses but "frobenius", and sums of terms know, with any kernel; for
    other parts it raises ValueError. Losses of several terms and kernels of one's own are summed in NumPy, slowly.

    References
    ----------
    .. [1] Draganov & Dohn, "Unexplainable explanations: towards interpreting tSNE and UMAP embeddings", 2023 (the
       common form of the gradients).
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = None
    affinity: Any = "fuzzy"
    kernel: Any = "cauchy"
    loss: Any = "kl"
    optimizer: Any = "auto"
    affinity_params: dict[str, Any] | None = None
    kernel_params: dict[str, Any] | None = None
    loss_params: dict[str, Any] | None = None
    optimizer_params: dict[str, Any] | None = None
    density: float | dict[str, Any] | None = None
    frames: float | dict[str, Any] | None = None
    start_spread: float | None = None
    output_metric: str = "euclidean"
    output_radius: float | None = None

    _rules: ClassVar[dict[str, Rule]] = {
        "n_neighbors": Either(Integer(1), Nothing()),
        "affinity": Either(
            Options(*AFFINITIES),
            Instance(
                (Affinities, Gram, np.ndarray, scipy.sparse.sparray, scipy.sparse.spmatrix),
                "Affinities, a Gram or a matrix",
            ),
            Instance((Callable,), "a callable"),  # type: ignore[arg-type]
        ),
        "kernel": KERNEL,
        "loss": Either(Options(*LOSSES), Instance((Callable,), "a callable")),  # type: ignore[arg-type]
        "optimizer": Either(
            Options("auto", *_OPTIMIZERS),
            Having(("minimize",), "an object with minimize(objective, Y0, reporter=...) and max_iter"),
        ),
        "affinity_params": _PARAMETERS,
        "kernel_params": _PARAMETERS,
        "loss_params": _PARAMETERS,
        "optimizer_params": _PARAMETERS,
        "density": DENSITY,
        "frames": FRAMES,
        "start_spread": Either(Real(0.0, low_open=True), Nothing()),
        "output_metric": OUTPUT_METRIC,
        "output_radius": OUTPUT_RADIUS,
    }

    def _forecast(self, n_samples: int, n_features: float, parameters: dict[str, Any]) -> Forecast | None:
        if parameters["output_metric"] == "euclidean":
            return None
        descent = self._make_optimizer(parameters, _ON_SURFACE, n_samples)
        if isinstance(descent, SampledSurfaceDescent):
            return None
        remedy = "Use loss='cross_entropy', whose repulsion is sampled, or fewer rows."
        return passes_over_pairs(n_samples, descent.max_iter, _NANOSECONDS, remedy)

    def _recipe(self, parameters: dict[str, Any], n_samples: int) -> Recipe:
        self.kernel_ = make_kernel(parameters["kernel"], parameters["kernel_params"])
        surface = output_surface(parameters, n_samples)
        affinity, self.perplexity_, n_neighbors = self._take_neighbors(parameters, n_samples)
        return Recipe(
            n_neighbors=n_neighbors,
            affinity=affinity,
            rescale=self._make_start(parameters),
            objective=partial(self._make_objective, parameters=parameters),
            optimizer=self._make_optimizer(parameters, _OPTIMIZERS if surface is None else _ON_SURFACE, n_samples),
            surface=surface,
        )

    def _prepare(self, X: Any, parameters: dict[str, Any]) -> Prepared:
        prepared = super()._prepare(X, parameters)
        affinity, loss, found = parameters["affinity"], parameters["loss"], self.affinities_
        if isinstance(affinity, str | NeighborAffinity) or not callable(affinity):
            return prepared
        what = f"affinity(inputs) of {getattr(affinity, '__name__', type(affinity).__name__)}"
        taken = _TAKEN.get(loss, (Affinities,)) if isinstance(loss, str) else (object,)
        if found is None or not isinstance(found, taken):
            remedy = "Return Affinities(scipy.sparse.csr_array(A), 'membership')."
            fact = f"found {type(found).__name__}"
            raise TypeError(message(what, "gnomon.affinities.Affinities", fact=fact, remedy=remedy))
        n_samples = int(prepared.rows.shape[0])
        if isinstance(found, Affinities) and found.n_samples != n_samples:
            fact = f"there are {n_samples:,} distinct rows"
            raise ValueError(message(f"{what} for {found.n_samples:,} rows", "for inputs.X, one row each", fact=fact))
        return prepared

    def _conclude(self, prepared: Prepared, objective: Any, solution: Any) -> npt.NDArray[Any]:
        optimizer = prepared.recipe.optimizer
        if not isinstance(optimizer, Optimizer):  # whose solutions are known to be ones
            what = f"minimize(...) of {type(optimizer).__name__}"
            if not isinstance(solution, Solution):
                fact, remedy = f"found {type(solution).__name__}", "Return Solution(Y, [], True, reason, n_iter)."
                raise TypeError(message(what, "a gnomon.optimizers.Solution", fact=fact, remedy=remedy))
            shape = int(prepared.rows.shape[0]), prepared.parameters["n_components"]
            check_positions(solution.embedding, f"the embedding of {what}", *shape)
        return super()._conclude(prepared, objective, solution)

    def _why_rows_count_alike(self, parameters: dict[str, Any]) -> str:
        affinity, loss = parameters["affinity"], parameters["loss"]
        if not isinstance(affinity, (str, NeighborAffinity)):
            return "an affinity that is given counts distinct rows"
        if loss not in _BY_MASS:
            return f"loss={loss!r:.40} counts distinct rows"
        return super()._why_rows_count_alike(parameters)

    def _take_neighbors(
        self, parameters: dict[str, Any], n_samples: int
    ) -> tuple[Callable[[Inputs], Any], float | None, int]:
        """Return the affinity for so many distinct rows, its perplexity, if any, and the neighbours to search for."""
        affinity, wanted = self._make_affinity(parameters, n_samples), parameters["n_neighbors"]
        if not isinstance(affinity, GaussianAffinity):
            return affinity, None, min(_USUAL_NEIGHBORS, n_samples - 1) if wanted is None else wanted
        known = {"perplexity": affinity.perplexity, "n_neighbors": wanted}
        perplexity, n_neighbors = check_perplexity(known, n_samples, affinity.perplexity)
        parameters["perplexity"] = perplexity  # which is then among what errors name
        return replace(affinity, perplexity=perplexity), perplexity, n_neighbors

    def _n_searched(self, parameters: dict[str, Any], n_samples: int) -> int:
        return self._take_neighbors(parameters, n_samples)[2]

    def _fewest_neighbors(self, parameters: dict[str, Any], wanted: int) -> int:
        return 1 if self.perplexity_ is None else math.ceil(self.perplexity_)

    def _make_affinity(self, parameters: dict[str, Any], n_samples: int) -> Callable[[Inputs], Any]:
        """Return the affinity as a callable, with `new_rows` if it knows them."""
        affinity: Any = parameters["affinity"]
        if isinstance(affinity, str):
            given = parameters["affinity_params"] or {}
            _check_arguments("affinity_params", given, AFFINITIES[affinity], affinity)
            made = AFFINITIES[affinity](**given)
            if isinstance(made, GaussianAffinity) and "perplexity" not in given:
                made = replace(made, perplexity=usual_perplexity(made.perplexity, n_samples))
            return made
        if parameters["affinity_params"]:
            fact = f"found a {type(affinity).__name__}"
            raise ValueError(message("affinity_params", "None where affinity is an object", fact=fact))
        if isinstance(affinity, np.ndarray | Affinities | Gram | scipy.sparse.sparray | scipy.sparse.spmatrix):
            return partial(self._take, affinity, parameters["loss"], n_samples, parameters.get("copies"))
        if isinstance(affinity, type) and issubclass(affinity, NeighborAffinity):
            name = affinity.__name__
            raise TypeError(message(f"affinity={name}", "an instance of that class", remedy=f"Pass {name}()."))
        return affinity  # type: ignore[no-any-return]

    def _distinct_rows(
        self, values: Any, parameters: dict[str, Any], *, counted: bool
    ) -> tuple[Any, npt.NDArray[np.intp] | None]:
        rows, copies = super()._distinct_rows(values, parameters, counted=counted)
        parameters["copies"] = copies
        return rows, copies

    @staticmethod
    def _take(affinity: Any, loss: Any, n_samples: int, copies: npt.NDArray[np.intp] | None, _inputs: Inputs) -> Any:
        """Return affinities that are given, as the loss takes them; those of equal rows are added up."""
        shape = (affinity.n_samples,) * 2 if isinstance(affinity, Affinities | Gram) else affinity.shape
        n_given = n_samples if copies is None else len(copies)
        if shape not in ((n_samples, n_samples), (n_given, n_given)):
            found = f"affinity of {shape[0]} rows" if shape[0] == shape[-1] else f"affinity of shape {shape}"
            fact = (
                f"there are {n_given:,} rows"
                if copies is None
                else f"there are {n_given:,} rows, {n_samples:,} distinct"
            )
            raise ValueError(message(found, "one row each", fact=fact))
        of_all = shape[0] != n_samples
        if isinstance(affinity, Affinities) or (isinstance(affinity, np.ndarray | Gram) and _takes_array(loss)):
            return _of_distinct_rows(affinity, copies, loss) if of_all else affinity
        if isinstance(affinity, Gram):
            affinity = affinity.dense()
        if loss == "reconstruction":
            return _of_distinct_rows(affinity, copies, loss) if of_all else scipy.sparse.csr_array(affinity)
        given = Affinities(scipy.sparse.csr_array(affinity.astype(np.float32)), "membership")
        return _of_distinct_rows(given, copies, loss) if of_all else given

    def _make_objective(self, affinities: Any, inputs: Inputs, *, parameters: dict[str, Any]) -> Objective:
        loss = LOSSES[parameters["loss"]] if isinstance(parameters["loss"], str) else parameters["loss"]
        given = dict(parameters["loss_params"] or {})
        if isinstance(parameters["loss"], str):
            _check_arguments("loss_params", given, loss, parameters["loss"], n_handed_on=2)
        if takes_seed(loss):
            given.setdefault("seed", inputs.seed)
        if parameters["loss"] == "cross_entropy" and parameters["output_metric"] == "euclidean":
            given.setdefault("n_draws", FLAT_DRAWS)
        if _is_named(parameters["affinity"], "conditional") and _is_named(parameters["loss"], *_ADDED_UP):
            affinities = affinities.of_pairs()
        terms = self._terms(parameters, affinities, inputs, takes_added(loss))
        if terms:
            given["added"] = (*given.get("added", ()), *terms)
        objective: Objective = loss(affinities, self.kernel_, **given)
        if not isinstance(parameters["loss"], str):
            _check_objective(objective, loss, parameters["optimizer"])
        return objective

    def _terms(self, parameters: dict[str, Any], affinities: Any, inputs: Inputs, taken: bool) -> tuple[Any, ...]:
        """Return the terms to add to the loss, or raise ValueError if it takes none."""
        density, frames = parameters["density"], parameters["frames"]
        for name, value in (("density", density), ("frames", frames)):
            if value is not None and not taken:
                fact = f"loss={parameters['loss']!r} takes no added terms"
                raise ValueError(message(f"{name}={value!r}", "None here", fact=fact))
        return (
            *density_terms(density, affinities, self.kernel_, inputs),
            *frame_terms(frames, affinities, self.kernel_, inputs, parameters),
        )

    def _make_optimizer(self, parameters: dict[str, Any], known: dict[str, Callable[..., Any]], n_samples: int) -> Any:
        optimizer, given = parameters["optimizer"], parameters["optimizer_params"] or {}
        flat = known is _OPTIMIZERS
        if isinstance(optimizer, str):
            name = self._usual_optimizer(parameters) if optimizer == "auto" else optimizer
            if not flat and optimizer == "auto" and name != "sampled_descent":
                name = "gradient_descent"
            if name not in known:
                raise _not_on_surface(f"optimizer={name!r}", parameters)
            part = GradientDescent if name == "annealed_descent" else known[name]
            _check_arguments("optimizer_params", given, part, name)
            if flat and name == "sampled_descent":
                given = {"seed": self.seed_, **given}
                if parameters["loss"] == "cross_entropy":
                    given = {**flat_steps(SampledDescent(**given).resolve_max_iter(n_samples)), **given}
            return known[name](**given)
        if given:
            raise ValueError(message("optimizer_params", "None where optimizer is an object"))
        if not hasattr(optimizer, "max_iter"):
            what, fact = f"optimizer={type(optimizer).__name__}", "it has no max_iter"
            rule = "an object with minimize(objective, Y0, reporter=...) and max_iter"
            raise TypeError(message(what, rule, fact=fact, remedy="Give it max_iter, the iterations it does at most."))
        if not flat and not isinstance(optimizer, SurfaceDescent | SampledSurfaceDescent):
            raise _not_on_surface(f"optimizer={type(optimizer).__name__}", parameters)
        return optimizer

    @staticmethod
    def _usual_optimizer(parameters: dict[str, Any]) -> str:
        loss, evaluation = parameters["loss"], (parameters["loss_params"] or {}).get("evaluation", "sampled")
        known = isinstance(loss, str) and not (loss == "cross_entropy" and evaluation != "sampled")
        if not known and (parameters["density"] is not None or parameters["frames"] is not None):
            return "adam"
        return _USUAL_OPTIMIZER.get(loss, "lbfgs") if known else "lbfgs"

    @staticmethod
    def _make_start(parameters: dict[str, Any]) -> Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]:
        spread, loss = parameters["start_spread"], parameters["loss"]
        if spread is None and loss == "cross_entropy":
            return partial(rescale_to_box, size=10.0)
        usual = 1e-4 if loss in ("kl", "reconstruction") else 1.0
        return partial(rescale, standard_deviation=usual if spread is None else spread)


def _check_arguments(
    what: str, given: dict[str, Any], part: Callable[..., Any], name: str, *, n_handed_on: int = 0
) -> None:
    """Raise ValueError if a part that was chosen by name has no such arguments behind those that are handed on."""
    known = list(inspect.signature(part).parameters)[n_handed_on:]
    unknown = [one for one in given if one not in known]
    if unknown:
        rule, fact = f"arguments of {name!r}: {', '.join(known)}", f"found {', '.join(unknown)}"
        raise ValueError(message(what, rule, fact=fact))


def _not_on_surface(what: str, parameters: dict[str, Any]) -> ValueError:
    """Return the error about an optimizer whose steps would leave a surface."""
    rule = f"one of auto, {', '.join(_ON_SURFACE)}, or a SurfaceDescent or SampledSurfaceDescent"
    return ValueError(message(what, rule, fact=f"output_metric={parameters['output_metric']!r}"))


def _check_objective(objective: Any, loss: Any, optimizer: Any) -> None:
    """Raise TypeError if what a loss of the user's own made has not all that a fit asks for."""
    asked = ["n_samples", "loss", "evaluation_for"]
    if isinstance(optimizer, str):  # one of the user's own may do without
        asked.insert(2, "gradient")
    lacking = [name for name in asked if not hasattr(objective, name)]
    if lacking:
        name = getattr(loss, "__name__", type(loss).__name__)
        what = f"loss(affinities, kernel) of {name}"
        rule = "an objective with n_samples, loss(Y), gradient(Y) and evaluation_for(n_components)"
        fact = f"found {type(objective).__name__} without {', '.join(lacking)}"
        raise TypeError(message(what, rule, fact=fact, remedy="See gnomon.objectives.Objective, or PairObjective."))


def _is_named(given: Any, *names: str) -> bool:
    """Return whether a part is given by one of some names."""
    return isinstance(given, str) and given in names


def _of_distinct_rows(affinities: Any, copies: Any, loss: Any) -> Affinities:
    """Return affinities of all rows as those of the distinct ones, which stand for several, or raise ValueError.

    Sums over the pairs of rows that two distinct rows stand for, in units of memberships whose masses have a mean of 1;
    rows of one point do not pull at each other.
    """
    counts = np.bincount(copies).astype(np.float64)
    n, n_distinct = len(copies), len(counts)
    added = loss in _ADDED_UP if isinstance(loss, str) else True
    if not (added and isinstance(affinities, Affinities)) or affinities.normalization == "rows":
        names = ", ".join(map(repr, _ADDED_UP))
        fact = f"{n:,} rows hold {n_distinct:,} distinct rows; those of equal rows are added up for {names} alone"
        remedy = "Fit the distinct rows, X[first] with first = np.sort(np.unique(X, axis=0, return_index=True)[1])."
        what, rule = f"affinity of {n:,} rows", f"one of the distinct rows for loss={loss!r:.40}"
        raise ValueError(message(what, rule, fact=fact, remedy=remedy))
    groups = scipy.sparse.csr_array((np.ones(n), (copies, np.arange(n))), shape=(n_distinct, n))
    merged = scipy.sparse.csr_array(groups @ affinities.matrix @ groups.T)
    merged.setdiag(0.0)
    merged.eliminate_zeros()
    merged.sort_indices()
    if affinities.normalization != "total":
        merged.data /= (n / n_distinct) ** 2
    matrix = scipy.sparse.csr_array(merged.astype(affinities.matrix.dtype))
    masses = None if (counts == counts[0]).all() else counts * (n_distinct / n)
    return Affinities(matrix, affinities.normalization, masses=masses)


def _takes_array(loss: Any) -> bool:
    """Return whether a loss takes a dense array: "frobenius", and any of one's own."""
    return loss == "frobenius" or not isinstance(loss, str)
