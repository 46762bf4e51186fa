"""attraction_repulsion_spectrum: one graph, maps from Laplacian eigenmaps to t-SNE and beyond."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._progress import Callback
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Integer, Rule, check_parameters, message, warn
from gnomon.affinities import Affinities, uniform_affinities
from gnomon.data import check_table, find_duplicate_rows
from gnomon.data.blocks import METRIC
from gnomon.exceptions import DataWarning, NeighborsWarning
from gnomon.initialization import initialize, rescale
from gnomon.linalg import GraphLaplacian, align, connected_components, eigenpairs
from gnomon.neighbors import NeighborGraph, compute_neighbors
from gnomon.objectives import KLDivergence
from gnomon.optimizers import GradientDescent
from gnomon.spectrum.marks import METHODS, fit_methods
from gnomon.spectrum.result import Spectrum

__all__ = ["attraction_repulsion_spectrum"]

_DISCONNECTED_FROM = 100.0  # where a spectrum begins that has no critical exaggeration
_SHARE = 2.0 / 3.0  # of the critical exaggeration: nearer to it, maps grow too slowly from their collapse
_LEAST = 4.0
_TOWARDS_ONE = 11  # values down to 1
_BEYOND = (0.7, 0.5)
_TOLERANCE = 1e-2  # of eigenvectors: angles of about 1e-3 between the spaces found and exact
_RULES: dict[str, Rule] = {
    "n_neighbors": Integer(2),
    "n_components": Integer(1),
    "max_iter": Integer(1),
    "metric": METRIC,
}
_REST = 3e-5  # share of the map's size that points move in an iteration when they count as at rest
_START_SPREAD = 1.0  # of the Laplacian eigenmaps the descent starts from: about that of a strongly exaggerated map


@dataclass(frozen=True)
class _Limit:
    """Laplacian eigenmaps of a graph, and where t-SNE with exaggeration collapses towards them.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components), float64
        Eigenvectors of the random walk on the graph, the trivial one left out.
    critical : float
        The exaggeration from which on the last component collapses; infinite for a graph in several pieces.
    note : str or None
        What is out of the ordinary.
    """

    embedding: npt.NDArray[np.float64]
    critical: float
    note: str | None = None


def _laplacian_limit(affinities: Affinities, n_components: int, *, X: Any = None, seed: int) -> _Limit:
    """Find the Laplacian eigenmaps of a graph.

    While all points are close together, all output similarities are 1 and the forces are linear: a displacement along
    an eigenvector of the Laplacian grows if the exaggeration is below 1 / (n_samples * eigenvalue), else it shrinks.
    """
    if connected_components(affinities.matrix).max() > 0:
        start = initialize("spectral", X=X, affinities=affinities, n_components=n_components, seed=seed)
        return _Limit(start.embedding.astype(np.float64), math.inf, start.note)
    laplacian = GraphLaplacian(affinities.matrix)
    found = eigenpairs(laplacian, n_components, tol=_TOLERANCE, seed=seed)
    degrees = np.asarray(affinities.matrix.sum(axis=1, dtype=np.float64)).ravel()
    eigenvalue = float(found.values[-1])
    critical = 1.0 / eigenvalue if eigenvalue > 0 else math.inf
    return _Limit(found.vectors / np.sqrt(degrees)[:, None], critical)


def _default_exaggerations(critical: float) -> list[float]:
    """Return the values of a spectrum: evenly on a logarithmic scale down to 1, then a little below it."""
    top = max(_SHARE * critical, _LEAST) if math.isfinite(critical) else _DISCONNECTED_FROM
    return [float(f"{value:.2g}") for value in np.geomspace(top, 1.0, _TOWARDS_ONE)] + list(_BEYOND)


@entrance("attraction_repulsion_spectrum", seeded=True)
def attraction_repulsion_spectrum(
    X: Any,
    exaggerations: npt.ArrayLike | None = None,
    *,
    n_neighbors: int = 15,
    n_components: int = 2,
    max_iter: int = 500,
    metric: Any = "euclidean",
    metric_params: dict[str, Any] | None = None,
    locate: bool | Sequence[str] = False,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> Spectrum:
    """Lay out one neighbour graph at every balance of attraction and repulsion.

    All neighbour embeddings pull neighbours together and push all points apart. With the attraction multiplied by an
    exaggeration, one family of maps leads from Laplacian eigenmaps (attraction prevails: few long strands, which show
    continuous change) through maps like those of ForceAtlas2 and UMAP to t-SNE, at 1 (more repulsion: separate
    clusters), and a little beyond. Each map starts from the one before, so points can be followed through all of them.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        Finite numbers, or with metric="precomputed" the distances.
    exaggerations : array-like of float > 0 or None, default=None
        Factors on the attraction, in any order. None takes thirteen, evenly on a logarithmic scale from two thirds of
        the critical exaggeration (see `Spectrum.critical`) to 1, then 0.7 and 0.5.
    n_neighbors : int >= 2, default=15
        Neighbours of each row, all of equal weight, the row itself not counted.
    n_components : int >= 1, default=2
        Dimension of the maps; 2 or 3 for pages and pictures.
    max_iter : int >= 1, default=500
        Iterations for each exaggeration; fewer where the points come to rest before.
    metric : str or callable, default="euclidean"
        The names in the table of `gnomon.neighbors.compute_neighbors` run natively; other names, and callables,
        are those of scikit-learn's ``NearestNeighbors``; "precomputed" takes distances.
    metric_params : dict or None, default=None
        Further arguments of the metric, such as ``{"period": 360}`` of "periodic".
    locate : bool or sequence of {"ForceAtlas2", "UMAP", "NegTSNE"}, default=False
        Fit these methods (True: all) on the same graph and find for each the exaggeration whose map is most like its
        own; kept in ``marks``.
    random_state : int, Generator, RandomState or None, default=0
        The seed used is ``seed``.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.
    callback : callable or None, default=None
        Called with a `gnomon.Progress` after each block of work; returning True during a layout ends the spectrum
        there.

    Returns
    -------
    Spectrum

    References
    ----------
    .. [1] Böhm, Berens & Kobak, "Attraction-repulsion spectrum in neighbor embeddings", JMLR 23, 2022.
    .. [2] Linderman & Steinerberger, "Clustering with t-SNE, provably", SIAM J. Math. Data Sci. 1, 2019 (strong
       exaggeration is a power iteration).

    Examples
    --------
    >>> import gnomon
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> spectrum = gnomon.attraction_repulsion_spectrum(X, [30, 4, 1], max_iter=50)
    >>> spectrum.exaggerations
    array([30.,  4.,  1.])
    """
    given = {"n_neighbors": n_neighbors, "n_components": n_components, "max_iter": max_iter, "metric": metric}
    checked = check_parameters(_RULES, given)
    values = None if exaggerations is None else _checked_values(exaggerations)
    names = _checked_names(locate)
    seed = current_run().seed
    precomputed = isinstance(metric, str) and metric == "precomputed"
    table = check_table(X, accept_sparse=True, min_samples=4, keep_zeros=precomputed)
    rows, copies = (table.values, None) if precomputed else _distinct_rows(table.values)
    _check_size(checked["n_components"], int(rows.shape[0]))
    reporter = current_run().reporter
    graph = _neighbors(rows, checked, metric_params, seed)
    reporter.begin("affinities")
    affinities = uniform_affinities(graph)
    reporter.begin("initialization")
    limit = _laplacian_limit(affinities, checked["n_components"], X=None if precomputed else rows, seed=seed)
    wanted = _default_exaggerations(limit.critical) if values is None else values
    start = rescale(limit.embedding, standard_deviation=_START_SPREAD)
    maps, losses = _descend(affinities, start, wanted, checked["max_iter"])
    methods = fit_methods(names, graph, checked["n_components"], seed=seed)
    reporter.end()
    reached = np.asarray(wanted[: len(maps)])
    spreads = np.asarray([float(np.sqrt(one.var(axis=0, dtype=np.float64).sum())) for one in maps])
    frames = align([rescale(limit.embedding), *maps], reference=1 + int(np.abs(np.log(reached)).argmin()))
    found = Spectrum(
        exaggerations=reached,
        embeddings=tuple(frames[1:]),
        laplacian_eigenmap=frames[0],
        losses=np.asarray(losses),
        seconds=np.asarray([reporter.timings[_stage(value)] for value in wanted[: len(maps)]]),
        spreads=spreads,
        critical=limit.critical,
        n_neighbors=graph.n_neighbors,
        seed=seed,
        timings=reporter.timings,
        notes=() if limit.note is None else (limit.note,),
    )
    marks = tuple(found.locate(embedding, name) for name, embedding in methods.items())
    found = replace(found, marks=marks)
    return found if copies is None else found.take(copies)


def _stage(value: float) -> str:
    return f"exaggeration {value:g}"


def _descend(
    affinities: Affinities, start: npt.NDArray[np.float32], exaggerations: list[float], max_iter: int
) -> tuple[list[npt.NDArray[np.float32]], list[float]]:
    """Return the map at each value, each started from the one before, and its loss; fewer if asked to end."""
    reporter = current_run().reporter
    objective = KLDivergence(affinities)
    maps: list[npt.NDArray[np.float32]] = []
    losses: list[float] = []
    for value in exaggerations:
        reporter.begin(_stage(value), max_iter)
        objective.exaggeration = value
        rate = objective.n_samples / (4.0 * value)  # "auto" has a least value, too large for a strong pull
        size = float(np.linalg.norm(start - start.mean(axis=0)))
        optimizer = GradientDescent(
            learning_rate=rate,
            max_iter=max_iter,
            early_exaggeration_iter=0,
            min_grad_norm=_REST * size / rate,
            n_iter_without_progress=max_iter + 1,  # it judges by the loss without exaggeration
        )
        solution = optimizer.minimize(objective, start, reporter=reporter)
        start = np.asarray(solution.embedding, dtype=np.float32)
        maps.append(start)
        losses.append(solution.loss[-1][1])
        if not solution.converged:
            break
    return maps, losses


def _neighbors(rows: Any, checked: dict[str, Any], metric_params: dict[str, Any] | None, seed: int) -> NeighborGraph:
    reporter = current_run().reporter
    wanted, possible = checked["n_neighbors"], int(rows.shape[0]) - 1
    if wanted > possible:
        warn(
            f"{wanted} neighbours were asked for and a row has only {possible} others; {possible} are used.",
            NeighborsWarning,
        )
    reporter.begin("neighbors", int(rows.shape[0]))
    return compute_neighbors(
        rows, min(wanted, possible), metric=checked["metric"], metric_params=metric_params, seed=seed, reporter=reporter
    )


def _distinct_rows(values: Any) -> tuple[Any, npt.NDArray[np.intp] | None]:
    representatives, copies = find_duplicate_rows(values)
    if len(representatives) == values.shape[0]:
        return values, None
    warn(
        f"{values.shape[0]:,} rows hold {len(representatives):,} distinct "
        f"row{'s' if len(representatives) > 1 else ''}; equal rows share one position.",
        DataWarning,
    )
    return values[representatives], copies


def _checked_values(exaggerations: npt.ArrayLike) -> list[float]:
    try:
        values = np.atleast_1d(np.asarray(exaggerations, dtype=np.float64))
    except (TypeError, ValueError):
        what = f"exaggerations of type {type(exaggerations).__name__}"
        raise TypeError(message(what, "numbers > 0")) from None
    if values.ndim != 1 or not values.size:
        raise ValueError(message(f"exaggerations of shape {values.shape}", "a list of one or more numbers"))
    wrong = values[~(np.isfinite(values) & (values > 0))]
    if wrong.size:
        raise ValueError(message("exaggerations", "finite numbers > 0", fact=f"one is {wrong[0]:g}"))
    return [float(value) for value in np.unique(values)[::-1]]


def _checked_names(locate: bool | Sequence[str]) -> list[str]:
    if isinstance(locate, bool | np.bool_):
        return list(METHODS) if locate else []
    known = ", ".join(repr(name) for name in METHODS)
    if isinstance(locate, str) or not isinstance(locate, Sequence):
        raise TypeError(message(f"locate={locate!r}", f"True, False or a list of {known}"))
    for name in locate:
        if name not in METHODS:
            raise ValueError(message(f"locate with {name!r}", f"a list of {known}"))
    return list(dict.fromkeys(locate))


def _check_size(n_components: int, n_samples: int) -> None:
    if n_components > n_samples - 2:
        rule = f"at most the number of distinct rows less two, {n_samples - 2}"
        raise ValueError(message(f"n_components={n_components}", rule, fact=f"n_samples={n_samples}"))
