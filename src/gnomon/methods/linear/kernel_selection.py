"""Which kernel for kernel PCA: families searched over their parameters, judged by spectrum and by fidelity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log
from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import ThreadPool, single_threaded_blas
from gnomon._validation import Either, Integer, Nothing, Options, Rule, check_parameters, message
from gnomon.data import check_table
from gnomon.data.arrays import LARGEST_SQUARED
from gnomon.kernels import InputKernel
from gnomon.kernels.inputs import CustomInput, LinearInput, squared_distances
from gnomon.linalg import uniform_matrix
from gnomon.methods.linear.kernel_candidates import KernelCandidate, KernelSelection
from gnomon.methods.linear.kernel_families import Family, Trial, kernel_families, search
from gnomon.methods.linear.kernel_fidelity import (
    Fold,
    geodesics_of_rows,
    make_fold,
    measure_fidelity,
    spectrum_of,
    standard_error,
)
from gnomon.methods.linear.row_lengths import lengths_say_nothing, unit_rows

__all__ = ["KernelCandidate", "KernelSelection", "select_kernel"]

Float64Array = npt.NDArray[np.float64]

_RULES: dict[str, Rule] = {
    "n_components": Either(Integer(1), Nothing()),
    "rule": Options("simplest", "product"),
    "n_neighbors": Integer(1),
    "n_values": Integer(1),
    "max_rows": Either(Integer(20), Nothing()),
}
_NAMES = ("linear", "polynomial", "cosine", "gaussian", "laplacian", "cauchy", "umap")
_DIMENSION_NEIGHBORS = 15
_FOLDS = 3
_SEARCH_ROWS = 450  # that parameters are searched on
_LEAST_GAIN = 0.01  # of fidelity, below which no kernel is worth its parameters
_STREAM_ROWS, _STREAM_SEARCH, _STREAM_FOLDS = 131, 132, 133


@dataclass(frozen=True)
class _Task:
    """What every family is judged by. `moved` are dense rows as they lie from their mean."""

    rows: Any
    moved: Any
    searched: tuple[Fold, ...]
    folds: tuple[Fold, ...]
    n_components: int
    n_values: int
    n_neighbors: int
    rule: str

    def rows_for(self, kernel: InputKernel) -> Any:
        """Return the rows as `KernelPCA` hands them to a kernel."""
        return self.moved if kernel.of_differences or kernel.name == "linear" else self.rows

    def try_kernel(self, kernel: InputKernel, folds: Sequence[Fold]) -> Trial:
        """Judge a kernel by rows held out."""
        rows = self.rows_for(kernel)
        return Trial(kernel, measure_fidelity(kernel, rows, folds, self.n_components, self.n_neighbors))


@entrance("select_kernel", seeded=True)
def select_kernel(
    X: Any,
    *,
    kernels: Sequence[Any] = _NAMES,
    n_components: int | None = None,
    degrees: Sequence[int] = (2, 3, 4),
    rule: str = "simplest",
    n_neighbors: int = 10,
    n_values: int = 30,
    max_rows: int | None = 1000,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> KernelSelection:
    """Choose a kernel for kernel PCA, and its parameters, by spectrum and by fidelity to geodesic neighbourhoods.

    The share of the leading eigenvalues alone is no criterion: one row far from all others drives it to 1 under a high
    power of the inner product, and under the Gaussian kernel it grows with sigma towards that of PCA. So each kernel
    is judged by its fidelity to geodesic distances [1]_: components are found from two thirds of the rows, and the
    others are placed among them. Fidelity is the mean of two numbers. One is how far the order of distances in the map
    is that of geodesic distances, the area under R_NX [2]_. The other is how much of the variance of the rows'
    geodesic positions, their distances to all others, the mean of their nearest rows in the map explains; it is low
    where a map lays parts of the data over each other, which the order alone may forgive.

    Of tables without negative entries, such as counts, the lengths of rows may be a nuisance: rows of like direction
    tell nothing of each other's lengths, and one half of the features is told better by the other half from rows of
    like direction than from near ones. Where both are found, geodesic distances are those of the rows scaled to length
    1. Rows measured from their mean keep their lengths.

    The parameters of each family are searched over their logarithms, on at most 450 rows: a grid and then a simplex
    seek the highest fidelity, each row held out once. Of all parameters tried whose fidelity is within one standard
    error of that (of the difference, row by row), the ones with the highest share of the leading eigenvalues are taken.
    The families are then compared over other thirds of all rows looked at. A kernel is chosen over one with fewer free
    parameters only if its fidelity is clearly higher, see `rule` [3]_; so PCA stays where nothing else clearly pays.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        Finite numbers; 20 rows at least.
    kernels : sequence of str, callable or InputKernel, default=all but "sketch_map"
        Families by name, or kernels as they are. Searched are sigma of "gaussian" and "laplacian" (0.05 to 10 times
        the median distance), sigma and exponent (0.1 to 10) of "cauchy", a (0.05 to 50) and b (0.2 to 1) of "umap",
        sigma, a (0.5 to 2) and b (0.5 to 10) of "sketch_map", and the scale of "polynomial". "cosine" stands for two,
        measured from the origin and from the mean of the rows.
    n_components : int >= 1 or None, default=None
        Eigenvalues and scores to judge by. None takes the intrinsic dimension, rounded up, as far as there are rows.
    degrees : sequence of int >= 1, default=(2, 3, 4)
        "polynomial" stands for (1 + (x - mean) . (z - mean) / scale)^degree, scale from 0.05 to 20 times the mean
        squared distance from the mean.
    rule : {"simplest", "product"}, default="simplest"
        "simplest": of the kernels whose fidelity is within one standard error of the highest, at least 0.01, those
        with the fewest free parameters ("linear" before all others), and of these the highest ratio. "product": the
        highest product of ratio and fidelity, which is then also what the search of parameters maximises.
    n_neighbors : int >= 1, default=10
        Neighbours of each row in the graph along which geodesic distances run, whose pieces are joined by their
        shortest edges, and in the map, where they tell the position of a row.
    n_values : int >= 1, default=30
        Eigenvalues to report.
    max_rows : int >= 20 or None, default=1000
        Rows to look at, drawn at random where there are more; None takes all. Time grows with its third power; with
        1000 it is some seconds.
    random_state : int, Generator, RandomState or None, default=0
        Chooses the rows, and which are held out.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    KernelSelection

    Raises
    ------
    ValueError
        If X or a parameter is refused, or there are not enough rows for n_components or n_neighbors.

    References
    ----------
    .. [1] Tenenbaum, de Silva & Langford, "A global geometric framework for nonlinear dimensionality reduction",
       Science 290, 2000.
    .. [2] Lee, Peluffo-Ordonez & Verleysen, "Multi-scale similarities in stochastic neighbour embedding",
       Neurocomputing 169, 2015 (area under R_NX).
    .. [3] Breiman, Friedman, Olshen & Stone, "Classification and regression trees", 1984, section 3.4.3 (the rule of
       one standard error).
    """
    given = {"n_components": n_components, "rule": rule, "n_neighbors": n_neighbors}
    checked = check_parameters(_RULES, given | {"n_values": n_values, "max_rows": max_rows})
    table = check_table(X, accept_sparse=True, min_samples=20, dtype=np.float64, largest=LARGEST_SQUARED)
    seed = current_run().seed
    rows = _sample(table.values, checked["max_rows"], seed)
    n = int(rows.shape[0])
    if checked["n_neighbors"] >= n:
        what, fact = f"n_neighbors={checked['n_neighbors']}", f"{n:,} rows are looked at"
        raise ValueError(message(what, f"at most {n - 1}", fact=fact))
    families = kernel_families(kernels, degrees, rows)
    moved = rows - rows.mean(axis=0) if isinstance(rows, np.ndarray) else rows
    with single_threaded_blas():
        by_direction = lengths_say_nothing(rows, checked["n_neighbors"], seed)
    judged_by = unit_rows(rows) if by_direction else moved
    geodesics = geodesics_of_rows(judged_by, checked["n_neighbors"])
    with single_threaded_blas():
        dimension = _intrinsic_dimension(squared_distances(judged_by, judged_by))
        searched = _split(_shuffled(n, seed, _STREAM_SEARCH)[:_SEARCH_ROWS], geodesics)
        folds = _split(_shuffled(n, seed, _STREAM_FOLDS), geodesics)
        fewest = min(len(fold.fitted) for fold in searched)
        wanted = checked["n_components"] or min(max(1, math.ceil(dimension)), fewest - 1)
        if wanted >= fewest:
            rule_of, fact = f"less than the rows fitted at a time, {fewest}", f"{n:,} rows are looked at"
            raise ValueError(message(f"n_components={wanted}", rule_of, fact=fact))
        n_shown = max(wanted, min(checked["n_values"], n))
        task = _Task(
            rows, moved, searched, folds, wanted, n_shown, min(checked["n_neighbors"], fewest), checked["rule"]
        )
        alone = any(isinstance(one.make(), CustomInput) for one in families if not one.intervals)
        pca = _judge(Family("linear", LinearInput), task)
        with ThreadPool(1 if alone else current_run().n_threads) as pool:  # a user's function may not like threads
            found = list(pool.map(lambda one: pca if one.name == "linear" else _judge(one, task), families))
    judged = _mark_front(found)
    tolerance = max(_LEAST_GAIN, max(judged, key=lambda one: one.fidelity).fidelity_error)
    return KernelSelection(
        table=judged,
        best=_choose(judged, checked["rule"], tolerance),
        pca=pca,
        rule=checked["rule"],
        tolerance=tolerance,
        n_components=wanted,
        intrinsic_dimension=dimension,
        n_samples=int(table.values.shape[0]),
        n_rows=n,
        n_neighbors=checked["n_neighbors"],
        by_direction=by_direction,
        seed=seed,
    )


def _sample(X: Any, max_rows: int | None, seed: int) -> Any:
    """Return at most max_rows rows, in their order."""
    if max_rows is None or X.shape[0] <= max_rows:
        return X
    return X[np.sort(_shuffled(X.shape[0], seed, _STREAM_ROWS)[:max_rows])]


def _shuffled(n: int, seed: int, stream: int) -> npt.NDArray[np.intp]:
    return np.argsort(uniform_matrix(seed, stream, (n, 1)).ravel(), kind="stable")


def _split(rows: npt.NDArray[np.intp], geodesics: Float64Array) -> tuple[Fold, ...]:
    """Return folds of shuffled rows, each of which holds out another third."""
    parts = [np.sort(rows[k::_FOLDS]) for k in range(_FOLDS)]
    return tuple(make_fold(np.setdiff1d(rows, held), held, geodesics) for held in parts)


def _intrinsic_dimension(squared: Float64Array) -> float:
    """Return the estimate of MacKay and Ghahramani from each row's nearest others at a distance above 0; 1 without."""
    n_neighbors = min(_DIMENSION_NEIGHBORS, len(squared) - 1)
    apart = np.where(squared > 0.0, squared, np.inf)
    nearest = np.sort(np.partition(apart, n_neighbors - 1, axis=1)[:, :n_neighbors], axis=1)
    nearest = nearest[np.isfinite(nearest[:, -1])]
    growth = 0.5 * log(nearest[:, -1:] / nearest[:, :-1])
    mean = float(growth.mean()) if growth.size else 0.0
    return 1.0 / mean if mean > 0.0 else 1.0


def _judge(family: Family, task: _Task) -> KernelCandidate:
    """Search the parameters of a family; judge what was found on all rows."""
    by_product = task.rule == "product"

    def worth(trial: Trial) -> float:
        return trial.fidelity.mean * (trial.fidelity.ratio if by_product else 1.0)

    trials = search(family, lambda kernel: task.try_kernel(kernel, task.searched), worth)
    kernel = (max(trials, key=worth) if by_product else _widest(trials)).kernel
    fidelity = task.try_kernel(kernel, task.folds).fidelity
    spectrum = spectrum_of(kernel, task.rows_for(kernel), task.n_values)
    return KernelCandidate(
        label=_label(family, kernel),
        kernel=kernel,
        n_parameters=family.n_parameters,
        ratio=min(float(spectrum.shares[: task.n_components].sum()), 1.0),
        fidelity=fidelity.mean,
        fidelity_error=fidelity.error,
        order=float(fidelity.order.mean()),
        position=float(fidelity.position.mean()),
        negative_inertia=spectrum.negative_inertia,
        n_trials=len(trials),
        on_front=False,
        spectrum=spectrum.shares,
    )


def _widest(trials: Sequence[Trial]) -> Trial:
    """Return the trial with the highest ratio of those whose fidelity is within one standard error of the highest."""
    top = max(trials, key=lambda one: one.fidelity.mean).fidelity.rows
    lacks = [top - one.fidelity.rows for one in trials]
    level = [one for one, lack in zip(trials, lacks, strict=True) if float(lack.mean()) <= standard_error(lack)]
    return max(level, key=lambda one: (one.fidelity.ratio, one.fidelity.mean))


def _label(family: Family, kernel: InputKernel) -> str:
    """Return the name of a family and the values that were found."""
    values = {name: value for name, value in vars(kernel).items() if isinstance(value, float)}
    shown = values if family.intervals else {}
    return ", ".join([family.name, *(f"{name} {value:.3g}" for name, value in shown.items())])


def _mark_front(found: Sequence[KernelCandidate]) -> tuple[KernelCandidate, ...]:
    def surpassed(one: KernelCandidate) -> bool:
        return any(
            other.ratio >= one.ratio
            and other.fidelity >= one.fidelity
            and (other.ratio > one.ratio or other.fidelity > one.fidelity)
            for other in found
        )

    return tuple(replace(one, on_front=not surpassed(one)) for one in found)


def _choose(judged: Sequence[KernelCandidate], rule: str, tolerance: float) -> KernelCandidate:
    """Return the candidate that the rule prefers."""
    if rule == "product":
        return max(judged, key=lambda one: one.product)
    highest = max(one.fidelity for one in judged)
    level = [one for one in judged if one.fidelity >= highest - tolerance]
    return min(level, key=lambda one: (one.n_parameters, one.name != "linear", -one.ratio))
