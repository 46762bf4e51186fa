"""Which kernel for kernel PCA: spectra and fidelity of many, and the Pareto front of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import ThreadPool, single_threaded_blas
from gnomon._validation import Either, Integer, Nothing, Options, Rule, check_parameters, message
from gnomon.affinities.gram_sources import check_symmetric
from gnomon.data import check_table
from gnomon.evaluation.scores import neighbor_ranks, rank_agreement
from gnomon.kernels import INPUT_KERNELS, InputKernel, input_kernel
from gnomon.kernels.choice import median_distance
from gnomon.kernels.inputs import CustomInput, LinearInput, PolynomialInput, squared_distances
from gnomon.linalg import uniform_matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["KernelCandidate", "KernelSelection", "select_kernel"]

Float64Array = npt.NDArray[np.float64]

_RULES: dict[str, Rule] = {
    "n_components": Either(Integer(1), Nothing()),
    "rule": Options("constrained", "product"),
    "n_neighbors": Integer(1),
    "n_values": Integer(1),
    "max_rows": Either(Integer(20), Nothing()),
}
_FAMILIES = ("linear", "polynomial", "cosine", "gaussian", "laplacian", "cauchy")
_DIMENSION_NEIGHBORS = 15
_STREAM_ROWS = 131
_SAME = 1e-9  # two fidelities within it are equal


@dataclass(frozen=True)
class KernelCandidate:
    """A kernel and what its leading components are worth.

    Attributes
    ----------
    label : str
        Names it in tables and figures.
    kernel : InputKernel
        For `KernelPCA`.
    ratio : float in [0, 1]
        Sum of the n_components largest eigenvalues of the centred Gram matrix over that of all positive ones.
    fidelity : float
        Area under R_NX: how far the scores keep neighbourhoods of every size, 1 at best and about 0 for random ones.
    trustworthiness, neighborhood_preservation : float
        As in `gnomon.Evaluation`, of the scores.
    negative_inertia : float
        Share of the negative eigenvalues in the sum of all magnitudes.
    on_front : bool
        Whether no other candidate has both a higher ratio and a higher fidelity.
    spectrum : ndarray of shape (n_values,)
        Largest eigenvalues over the sum of the positive ones.
    """

    label: str
    kernel: InputKernel
    ratio: float
    fidelity: float
    trustworthiness: float
    neighborhood_preservation: float
    negative_inertia: float
    on_front: bool
    spectrum: npt.NDArray[np.float64] = field(repr=False)

    @property
    def product(self) -> float:
        """Ratio times fidelity."""
        return self.ratio * self.fidelity


@dataclass(frozen=True, repr=False)
class KernelSelection:
    """Kernels for one table, by spectrum and by fidelity. Made by `select_kernel`.

    Attributes
    ----------
    table : tuple of KernelCandidate
        All candidates in the order they were asked for.
    best : KernelCandidate
        The one to take by `rule`; ``KernelPCA(selection.n_components, kernel=selection.best.kernel)`` takes it.
    pca : KernelCandidate
        Ordinary PCA, whether it was among the candidates or not.
    rule : {"constrained", "product"}
        How the best was chosen.
    n_components : int
        Components whose eigenvalues and scores were judged.
    intrinsic_dimension : float
        Estimated from the distances to the nearest 15 rows.
    n_samples, n_rows : int
        Rows given, and rows looked at.
    n_neighbors : int
        For trustworthiness and neighbourhood preservation.
    seed : int
        Chose the rows.
    """

    table: tuple[KernelCandidate, ...]
    best: KernelCandidate
    pca: KernelCandidate
    rule: str
    n_components: int
    intrinsic_dimension: float
    n_samples: int
    n_rows: int
    n_neighbors: int
    seed: int

    def __repr__(self) -> str:
        return f"KernelSelection({self.best.label!r} of {len(self.table)}, n_components={self.n_components})"

    @property
    def pareto(self) -> tuple[KernelCandidate, ...]:
        """The candidates on the Pareto front, by falling ratio."""
        return tuple(sorted((one for one in self.table if one.on_front), key=lambda one: -one.ratio))

    @property
    def spectra(self) -> dict[str, npt.NDArray[np.float64]]:
        """The spectrum of each candidate by its label."""
        return {one.label: one.spectrum for one in self.table}

    def plot(self, **options: Any) -> Figure:
        """Draw the spectra and the Pareto front, see `gnomon.plot.plot_spectra`."""
        from gnomon.plot import plot_spectra

        return plot_spectra(self, **options)

    def summary(self) -> str:
        """Return the candidates as a table, and which is recommended by what rule."""
        width = max(len(one.label) for one in self.table) + 3
        lines = [f"{'':{width}}{'ratio':>8}{'AUC':>8}{'product':>9}{'trust':>8}{'kept':>7}{'negative':>10}"]
        for one in self.table:
            mark = "* " if one is self.best else "+ " if one.on_front else "  "
            lines.append(
                f"{mark + one.label:{width}}{one.ratio:8.3f}{one.fidelity:8.3f}{one.product:9.3f}"
                f"{one.trustworthiness:8.3f}{one.neighborhood_preservation:7.3f}{one.negative_inertia:10.3f}"
            )
        rule = "the highest product of ratio and fidelity"
        if self.rule == "constrained":
            rule = f"the highest ratio among those that keep neighbourhoods as PCA does ({self.pca.fidelity:.3f})"
        lines.append(f"* {rule}; + not surpassed in both")
        rows = "all rows" if self.n_rows == self.n_samples else f"{self.n_rows} of {self.n_samples} rows"
        lines.append(
            f"{self.n_components} components; intrinsic dimension about {self.intrinsic_dimension:.1f}; {rows}; "
            f"{self.n_neighbors} neighbours; random_state={self.seed}"
        )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


@dataclass(frozen=True)
class _Task:
    """What every candidate is judged by."""

    rows: Any
    ranks: npt.NDArray[np.int32]
    n_components: int
    n_values: int
    n_neighbors: int


@entrance("select_kernel", seeded=True)
def select_kernel(
    X: Any,
    *,
    kernels: Sequence[Any] = _FAMILIES,
    n_components: int | None = None,
    scales: Sequence[float] = (0.25, 0.5, 1.0, 2.0, 4.0),
    degrees: Sequence[int] = (2, 3, 4),
    rule: str = "constrained",
    n_neighbors: int = 15,
    n_values: int = 30,
    max_rows: int | None = 1000,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> KernelSelection:
    """Compare kernels for kernel PCA by their spectrum together with what their scores keep of the data.

    The share of the leading eigenvalues alone is no criterion: one row far from all others drives it to 1 under a high
    power of the inner product, and under the Gaussian kernel it grows with sigma towards that of PCA. So each
    candidate is also judged by how far its scores keep the neighbourhoods of the data.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        Finite numbers; 20 rows at least.
    kernels : sequence of str, callable or InputKernel, default=all but "sketch_map" and "umap"
        Families by name, or kernels as they are.
    n_components : int >= 1 or None, default=None
        Eigenvalues and scores to judge by. None takes the intrinsic dimension, rounded up.
    scales : sequence of float > 0, default=(0.25, 0.5, 1, 2, 4)
        Candidates of kernels of the distance have these times the median distance as sigma.
    degrees : sequence of int >= 1, default=(2, 3, 4)
        "polynomial" stands for (1 + x . z / scale)^degree of centred rows, with their mean squared length as scale.
    rule : {"constrained", "product"}, default="constrained"
        "constrained": the highest ratio among the candidates whose fidelity is not below that of PCA. "product": the
        highest product of ratio and fidelity.
    n_neighbors : int >= 1, default=15
        For trustworthiness and neighbourhood preservation, which do not enter the choice.
    n_values : int >= 1, default=30
        Eigenvalues to report.
    max_rows : int >= 20 or None, default=1000
        Rows to look at, drawn at random where there are more; None takes all. Time grows with its third power.
    random_state : int, Generator, RandomState or None, default=0
        Chooses the rows.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    KernelSelection
    """
    given = {"n_components": n_components, "rule": rule, "n_neighbors": n_neighbors}
    checked = check_parameters(_RULES, given | {"n_values": n_values, "max_rows": max_rows})
    table = check_table(X, accept_sparse=True, min_samples=20, dtype=np.float64)
    seed = current_run().seed
    rows = _sample(table.values, checked["max_rows"], seed)
    n = int(rows.shape[0])
    if checked["n_neighbors"] > (n - 1) // 2:
        what, fact = f"n_neighbors={checked['n_neighbors']}", f"{n} rows are looked at"
        raise ValueError(message(what, f"at most {(n - 1) // 2}", fact=fact))
    with single_threaded_blas():
        squared = squared_distances(rows, rows)
        dimension = _intrinsic_dimension(squared)
        wanted = checked["n_components"] or max(1, int(np.ceil(dimension)))
        if wanted >= n:
            raise ValueError(message(f"n_components={wanted}", f"less than the rows looked at, {n}"))
        task = _Task(
            rows, neighbor_ranks(squared), wanted, max(wanted, min(checked["n_values"], n)), checked["n_neighbors"]
        )
        named = _candidates(kernels, scales, degrees, rows)
        pca = _judge("linear", LinearInput(), task)
        alone = any(isinstance(kernel, CustomInput) for _, kernel in named)  # a user's function may not like threads
        with ThreadPool(1 if alone else current_run().n_threads) as pool:
            found = list(pool.map(lambda one: pca if one[0] == "linear" else _judge(one[0], one[1], task), named))
    judged = _mark_front(found)
    return KernelSelection(
        table=judged,
        best=_choose(judged, pca, checked["rule"]),
        pca=pca,
        rule=checked["rule"],
        n_components=wanted,
        intrinsic_dimension=dimension,
        n_samples=int(table.values.shape[0]),
        n_rows=n,
        n_neighbors=checked["n_neighbors"],
        seed=seed,
    )


def _sample(X: Any, max_rows: int | None, seed: int) -> Any:
    """Return at most max_rows rows, from their mean if they are dense."""
    if max_rows is not None and X.shape[0] > max_rows:
        keys = uniform_matrix(seed, _STREAM_ROWS, (X.shape[0], 1)).ravel()
        X = X[np.sort(np.argsort(keys, kind="stable")[:max_rows])]
    return X - X.mean(axis=0) if isinstance(X, np.ndarray) else X


def _intrinsic_dimension(squared: Float64Array) -> float:
    """Return the estimate of MacKay and Ghahramani from each row's nearest others at a distance above 0; 1 without."""
    n_neighbors = min(_DIMENSION_NEIGHBORS, len(squared) - 1)
    apart = np.where(squared > 0.0, squared, np.inf)
    nearest = np.sort(np.partition(apart, n_neighbors - 1, axis=1)[:, :n_neighbors], axis=1)
    nearest = nearest[np.isfinite(nearest[:, -1])]
    growth = 0.5 * np.log(nearest[:, -1:] / nearest[:, :-1])
    mean = float(growth.mean()) if growth.size else 0.0
    return 1.0 / mean if mean > 0.0 else 1.0


def _candidates(
    kernels: Sequence[Any], scales: Sequence[float], degrees: Sequence[int], rows: Any
) -> list[tuple[str, InputKernel]]:
    """Return labels and kernels of all families and of kernels that were given."""
    found: list[tuple[str, InputKernel]] = []
    unit = median_distance(rows)
    for one in kernels:
        if not isinstance(one, str):
            kernel = input_kernel(one, rows)
            found.append((getattr(one, "__name__", repr(one)) if callable(one) else repr(one), kernel))
        elif one == "polynomial":
            found += [(f"polynomial degree {degree}", _power(degree, rows)) for degree in degrees]
        elif one in ("linear", "cosine"):
            found.append((one, input_kernel(one, rows)))
        elif one in INPUT_KERNELS:
            for scale in scales:
                sigma = float(scale) * unit
                label = f"{one} sigma {sigma:.3g} ({scale:g} x)"
                found.append((label, input_kernel(one, rows, parameters={"sigma": sigma})))
        else:
            rule = "names among " + ", ".join(map(repr, INPUT_KERNELS)) + " or kernels"
            raise ValueError(message(f"kernels with {one!r}", rule))
    if not found:
        raise ValueError(message("0 kernels", "at least 1"))
    return found


def _power(degree: Any, rows: Any) -> PolynomialInput:
    """Return the kernel (1 + x . z / scale)^degree with the mean squared length of rows as scale."""
    degree = check_parameters({"degrees": Integer(1)}, {"degrees": degree})["degrees"]
    scale = float(LinearInput().diagonal(rows).mean())
    coefficients = tuple(float(comb(degree, power)) for power in range(degree + 1))
    return PolynomialInput(coefficients, scale if scale > 0.0 else 1.0)


def _judge(label: str, kernel: InputKernel, task: _Task) -> KernelCandidate:
    n, known = int(task.rows.shape[0]), kernel.semidefinite
    # Not through Gram, whose threads would wait for each other's turn with BLAS.
    matrix = check_symmetric(kernel.block(task.rows, task.rows))
    matrix = (matrix + matrix.T) / 2.0
    np.fill_diagonal(matrix, kernel.diagonal(task.rows))
    means = matrix.mean(axis=0)
    matrix -= means[:, None] + (means - means.mean())
    trace = float(np.trace(matrix))
    span = (n - task.n_values, n - 1)
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=span, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    every = values if known else scipy.linalg.eigvalsh(matrix, check_finite=False)
    negative = 0.0 if known else float(-every[every < -1e-12 * np.abs(every).max()].sum())
    positive = trace + negative
    total = positive if positive > 0.0 else 1.0
    spectrum = np.maximum(values, 0.0) / total
    kept = slice(0, task.n_components)
    scores = vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0))
    agreement = rank_agreement(task.ranks, neighbor_ranks(squared_distances(scores, scores)), task.n_neighbors)
    return KernelCandidate(
        label=label,
        kernel=kernel,
        ratio=min(float(spectrum[kept].sum()), 1.0),
        fidelity=agreement.auc_rnx,
        trustworthiness=agreement.trustworthiness,
        neighborhood_preservation=agreement.neighborhood_preservation,
        negative_inertia=negative / (total + negative),
        on_front=False,
        spectrum=spectrum,
    )


def _mark_front(found: Sequence[KernelCandidate]) -> tuple[KernelCandidate, ...]:
    def surpassed(one: KernelCandidate) -> bool:
        return any(
            other.ratio >= one.ratio
            and other.fidelity >= one.fidelity
            and (other.ratio > one.ratio or other.fidelity > one.fidelity)
            for other in found
        )

    return tuple(replace(one, on_front=not surpassed(one)) for one in found)


def _choose(judged: Sequence[KernelCandidate], pca: KernelCandidate, rule: str) -> KernelCandidate:
    """Return the candidate that the rule prefers; the most faithful one if none is as faithful as PCA."""
    if rule == "product":
        return max(judged, key=lambda one: one.product)
    faithful = [one for one in judged if one.fidelity >= pca.fidelity - _SAME]
    if faithful:
        return max(faithful, key=lambda one: (one.ratio, one.fidelity))
    return max(judged, key=lambda one: one.fidelity)
