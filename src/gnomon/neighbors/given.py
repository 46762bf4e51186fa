"""Neighbours found elsewhere: tables and graphs of other libraries, checked and put in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import entrance
from gnomon._validation import Options, check_parameters, message, unsaid, warn
from gnomon.exceptions import GnomonWarning, NeighborsWarning
from gnomon.linalg.table import evenly_spaced
from gnomon.neighbors.distances import pair_distances
from gnomon.neighbors.graph import NeighborGraph, check_graph
from gnomon.neighbors.library import learned_params
from gnomon.neighbors.metrics import metric_name
from gnomon.neighbors.precomputed import clip_distances, graph_of_entries
from gnomon.neighbors.similarities import refuse_similarities

__all__ = ["GivenNeighbors", "as_neighbor_graph", "read_graph", "read_neighbors"]

_FORMS = (
    "a tuple (indices, distances), a sparse matrix of distances, an object with neighbor_graph or a gnomon "
    "NeighborGraph"
)
_HOW_TO_TELL = "Pass as_neighbor_graph(indices, values, values={!r}) of gnomon.neighbors."
_ROWS = 200  # whose nearest and farthest neighbour are measured
_PRECISION = 1e-3  # of a distance, and of the median distance: what other programs' single precision leaves
_AGREEING = 0.95  # share of the distances measured
_LONGEST_COSINE = 1.0 + 1e-4


@dataclass(frozen=True)
class GivenNeighbors:
    """Neighbours found elsewhere, in no order and as many as there are.

    Attributes
    ----------
    rows, columns : ndarray of shape (n_entries,), int
        Who has whom for a neighbour: no pair twice, no row itself.
    distances : ndarray of shape (n_entries,), float64
        True (not squared) and finite, >= 0.
    n_samples : int
    n_neighbors : int
        Neighbours that a row has at most.
    metric, method, recall, recall_error
        What a graph made of them says about itself, see `NeighborGraph`.
    """

    rows: npt.NDArray[np.integer]
    columns: npt.NDArray[np.integer]
    distances: npt.NDArray[np.float64]
    n_samples: int
    n_neighbors: int
    metric: str = "precomputed"
    method: str = "precomputed"
    recall: float = 1.0
    recall_error: float = 0.0

    def graph(self, n_neighbors: int) -> NeighborGraph:
        """Return the graph of the nearest n_neighbors, or of all if there are fewer; a warning names short rows."""
        found = graph_of_entries(
            self.rows,
            self.columns,
            self.distances,
            n_samples=self.n_samples,
            n_neighbors=min(n_neighbors, self.n_neighbors),
            metric=self.metric,
            method=self.method,
        )
        return replace(found, recall=self.recall, recall_error=self.recall_error)

    def forgotten(self) -> GivenNeighbors:
        """Return what is known of them without the neighbours themselves, which take much memory."""
        return replace(self, rows=self.rows[:0], columns=self.columns[:0], distances=self.distances[:0])

    def of_distinct_rows(self, copies: npt.NDArray[np.intp]) -> GivenNeighbors:
        """Return the neighbours of distinct rows: those of all copies, at the smallest of their distances.

        Parameters
        ----------
        copies : ndarray of shape (n_samples,)
            Which distinct row each row is.

        Raises
        ------
        ValueError
            If rows have no neighbours but their copies.
        """
        n = int(copies.max()) + 1
        rows, columns = copies[self.rows], copies[self.columns]
        others = np.flatnonzero(rows != columns)
        order = others[np.lexsort((self.distances[others], columns[others], rows[others]))]
        pairs = rows[order].astype(np.int64) * n + columns[order]
        order = order[np.concatenate([[True], pairs[1:] != pairs[:-1]])[: len(order)]]
        counts = np.bincount(rows[order], minlength=n)
        if not counts.any() and n > 1:
            fact, remedy = "rows have no neighbours but their copies", "Search more neighbours, or drop the copies."
            raise ValueError(message("precomputed_knn", "of rows that differ", fact=fact, remedy=remedy))
        return replace(
            self,
            rows=rows[order],
            columns=columns[order],
            distances=self.distances[order],
            n_samples=n,
            n_neighbors=max(1, min(self.n_neighbors, int(counts.max(initial=1)))),
        )

    def in_metric(
        self, X: Any, metric: str | Callable[..., float], metric_params: Mapping[str, Any] | None
    ) -> GivenNeighbors:
        """Return them in the name of a metric, if a sample of their distances is that of the rows in it.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features) or CSR matrix
        metric, metric_params
            As for `compute_neighbors`; nothing is measured for "precomputed".

        Returns
        -------
        GivenNeighbors
            With the name of the metric, or "precomputed" where the distances are others.

        Raises
        ------
        ValueError
            If they are the squares of the distances, similarities, or all 1.

        Warns
        -----
        NeighborsWarning
            If they are other distances.
        """
        name = metric if isinstance(metric, str) else getattr(metric, "__name__", "callable")
        if len(self.rows) == 0 or name == "precomputed":
            return self
        given, true = self._sample(X, metric, metric_params)
        if _agree(given, true):
            return replace(self, metric=metric_name(metric, metric_params) or name)
        if _agree(given, true**2):
            fact = "they are the squares of those in X, as faiss returns them"
            raise _of_another_kind(f"true distances for metric={name!r}", fact, "squared")
        if _agree(given, 1.0 - true) or _agree(given, 1.0 - true**2 / 2.0):  # of rows of length 1
            raise _of_another_kind(f"distances for metric={name!r}", "they are the cosines of rows of X", "cosine")
        if (self.distances == 1.0).all():
            remedy = "Make the graph with mode='distance'."
            raise ValueError(message("precomputed_knn", "of distances", fact="all are 1", remedy=remedy))
        worst = int(np.argmax(np.abs(given - true)))
        warn(
            f"precomputed_knn holds other distances than metric={name!r} gives for X: {given[worst]:.4g} for a pair "
            f"of rows {true[worst]:.4g} apart. The map is made of those given; new rows are compared in X. Check that "
            "both have the same order of rows and the same coordinates.",
            NeighborsWarning,
        )
        return replace(self, metric="precomputed")

    def _sample(
        self, X: Any, metric: Any, metric_params: Mapping[str, Any] | None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return some of the distances given, and those of the same pairs in X."""
        some = evenly_spaced(len(self.rows), 2 * _ROWS)
        m = len(some)
        metric_params = learned_params(metric, metric_params, X)
        pairs = X[np.concatenate([self.rows[some], self.columns[some]])]
        partners = np.concatenate([np.arange(m, 2 * m), np.arange(m)])[:, None].astype(np.int32)
        with unsaid(GnomonWarning):  # the fit says what there is to say of rows
            measured = pair_distances(pairs, partners, metric=metric, metric_params=metric_params)
        return self.distances[some], measured[:m, 0].astype(np.float64)


def _agree(given: npt.NDArray[np.float64], true: npt.NDArray[np.float64]) -> bool:
    bound = _PRECISION * (np.abs(true) + float(np.median(np.abs(true))))
    return bool(np.mean(np.abs(given - true) <= bound) >= _AGREEING)


def _of_another_kind(rule: str, fact: str, values: str) -> ValueError:
    return ValueError(message("precomputed_knn", f"of {rule}", fact=fact, remedy=_HOW_TO_TELL.format(values)))


@entrance("as_neighbor_graph")
def as_neighbor_graph(
    indices: npt.ArrayLike,
    distances: npt.ArrayLike,
    *,
    values: Literal["distances", "squared", "cosine"] = "distances",
    metric: str = "precomputed",
    recall: float = 1.0,
) -> NeighborGraph:
    """Turn a table of neighbours into a graph, checked and put in order.

    Parameters
    ----------
    indices : array-like of shape (n_samples, n_columns), integer
        Row numbers of the neighbours in any order; -1 where there is none. A row may contain itself; it is taken out.
    distances : array-like of shape (n_samples, n_columns)
        What `values` says; inf where there is no neighbour.
    values : {"distances", "squared", "cosine"}, default="distances"
        What the distances are. "distances": true distances, >= 0. "squared": their squares, as ``IndexFlatL2`` of faiss
        returns them; the root is taken. "cosine": cosines, as ``IndexFlatIP`` returns for rows of length 1; 1 less the
        cosine is taken.
    metric : str, default="precomputed"
        Name of the metric of the distances.
    recall : float in [0, 1], default=1.0
        Share of the true neighbours among those given, if known.

    Returns
    -------
    NeighborGraph
        With n_columns neighbours, or n_columns - 1 if any row contains itself. `mask` is False where a row has fewer.

    Raises
    ------
    ValueError
        If shapes differ, an index is out of range, a neighbour occurs twice in a row, a distance is negative or NaN, a
        cosine is above 1, or most rows are farther from themselves than from all others: those are similarities.
    TypeError
        If indices are not integers.

    Warns
    -----
    NeighborsWarning
        If some rows have fewer neighbours than columns; they are named.
    """
    check_parameters({"values": Options("distances", "squared", "cosine")}, {"values": values})
    found = _of_table(_array(indices, "indices"), _array(distances, "distances"), values)
    return replace(found, metric=metric, recall=recall).graph(found.n_neighbors)


def read_neighbors(given: Any, n_samples: int, name: str) -> GivenNeighbors:
    """Read neighbours in any form that other libraries give them.

    Parameters
    ----------
    given : tuple, sparse matrix, object or NeighborGraph
        ``(indices, distances)`` as `as_neighbor_graph` takes them, also with a third entry, an index, as umap-learn has
        it; an object with such a tuple as ``neighbor_graph``, as pynndescent's ``NNDescent``; a sparse matrix of shape
        (n_samples, n_samples) with the distances of neighbours, as scikit-learn's ``kneighbors_graph`` and scanpy's
        ``obsp["distances"]``, where what is stored off the diagonal is a neighbour, a zero too.
    n_samples : int
        Rows of the data.
    name : str
        Of the argument, for error texts.

    Returns
    -------
    GivenNeighbors

    Raises
    ------
    TypeError
        If it is none of these.
    ValueError
        If it is of other rows, or breaks a rule of `as_neighbor_graph`.
    """
    if isinstance(given, NeighborGraph):
        check_graph(given, n_samples)
        return _of_graph(given)
    found = _of_matrix(given, name) if scipy.sparse.issparse(given) else _of_pair(given, name)
    if found.n_samples != n_samples:
        what = f"X with {n_samples:,} rows and {name} with {found.n_samples:,}"
        raise ValueError(message(what, "of the same length"))
    return found


def _of_pair(given: Any, name: str) -> GivenNeighbors:
    """Read a tuple of row numbers and distances, or an object that holds one."""
    if not isinstance(given, (tuple, list)):
        given = _neighbor_graph_of(given, name)
    if len(given) not in (2, 3):
        fact = f"found a tuple of {len(given)}"
        raise ValueError(message(name, "a tuple (indices, distances)", fact=fact))
    if given[0] is None or given[1] is None:
        remedy = f"Leave {name} out to have neighbours searched."
        raise ValueError(message(f"{name} with None in it", "a tuple (indices, distances)", remedy=remedy))
    indices, distances = _array(given[0], f"indices of {name}"), _array(given[1], f"distances of {name}")
    if indices.dtype.kind == "f" and distances.dtype.kind in "iu":
        fact = "the first entry holds fractions, the second whole numbers"
        remedy = "scikit-learn and faiss return distances first: swap them."
        raise ValueError(message(name, "a tuple (indices, distances)", fact=fact, remedy=remedy))
    return _of_table(indices, distances, "distances")


def read_graph(given: Any, n_samples: int, name: str = "graph") -> NeighborGraph:
    """Return neighbours in any form that `read_neighbors` takes as a graph.

    Parameters
    ----------
    given : tuple, sparse matrix, object or NeighborGraph
        As for `read_neighbors`. A NeighborGraph, once checked, is returned as it is.
    n_samples : int
        Rows of the data.
    name : str, default="graph"
        Of the argument, for error texts.

    Returns
    -------
    NeighborGraph
        With all neighbours given.
    """
    if isinstance(given, NeighborGraph):
        check_graph(given, n_samples)
        return given
    found = read_neighbors(given, n_samples, name)
    return found.graph(found.n_neighbors)


def _neighbor_graph_of(given: Any, name: str) -> tuple[Any, ...]:
    """Return the table of neighbours that an index of another library holds."""
    try:
        found = getattr(given, "neighbor_graph", None)
    except ValueError as error:  # a compressed index of pynndescent has lost it
        remedy = "Make the index with compressed=False."
        raise ValueError(message(name, "an index that knows its graph", fact=str(error), remedy=remedy)) from error
    if isinstance(found, tuple):
        return found
    remedy = ""
    if isinstance(given, Mapping) or hasattr(given, "obsp"):
        remedy = 'Of an AnnData object pass adata.obsp["distances"].'
    elif isinstance(given, np.ndarray):
        remedy = "For the distances of all pairs use metric='precomputed'."
    raise TypeError(message(name, _FORMS, fact=f"found {type(given).__name__}", remedy=remedy))


def _array(given: Any, name: str) -> npt.NDArray[Any]:
    """Return one half of a table as an array of numbers."""
    try:
        found = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        remedy = "Bring arrays of a device to the host first."
        raise TypeError(message(name, "a table of numbers", fact=str(error), remedy=remedy)) from error
    if found.dtype.kind not in "iuf":
        raise TypeError(message(name, "a table of numbers", fact=f"found {type(given).__name__} of {found.dtype}"))
    return found


def _of_graph(graph: NeighborGraph) -> GivenNeighbors:
    mask = np.ones(graph.indices.shape, dtype=bool) if graph.mask is None else graph.mask
    rows, places = np.nonzero(mask)
    return GivenNeighbors(
        rows.astype(np.int32),
        graph.indices[rows, places],
        graph.distances[rows, places].astype(np.float64),
        graph.n_samples,
        graph.n_neighbors,
        graph.metric,
        graph.method,
        graph.recall,
        graph.recall_error,
    )


def _of_matrix(matrix: Any, name: str) -> GivenNeighbors:
    """Read the entries off the diagonal of a sparse matrix."""
    n = int(matrix.shape[0])
    if matrix.shape != (n, n):
        raise ValueError(message(f"{name} of shape {matrix.shape}", "square, one row and column a sample"))
    entries = matrix.tocoo()
    rows, columns = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    rows, columns = rows.astype(np.int64), columns.astype(np.int64)
    distances = clip_distances(entries.data.astype(np.float64))
    keys = np.sort(rows * n + columns)
    if (keys[1:] == keys[:-1]).any():
        fact = f"row {int(keys[1:][keys[1:] == keys[:-1]][0]) // n} stores an entry twice"
        raise ValueError(message(name, "of one entry for each pair", fact=fact))
    refuse_similarities(scipy.sparse.csr_array((distances, (rows, columns)), shape=(n, n)), name)
    others = (rows != columns) & np.isfinite(distances)
    most = int(np.bincount(rows, minlength=n).max(initial=0)) - int((rows == columns).any())
    if not others.any():
        raise ValueError(message(name, "of the neighbours of rows", fact="it stores none"))
    return GivenNeighbors(rows[others], columns[others], distances[others], n, max(1, min(most, n - 1)))


def _of_table(indices: npt.NDArray[Any], distances: npt.NDArray[Any], values: str) -> GivenNeighbors:
    """Read a table of neighbours and of what `values` says."""
    table, lengths = _check_shapes(indices, distances)
    n, n_columns = table.shape
    own = table == np.arange(n)[:, None]
    if values != "cosine":
        _refuse_risen(lengths, own)
    lengths = _true_distances(lengths, values)
    table = np.where(np.isfinite(lengths), table, np.int32(-1))
    ordered = np.sort(table, axis=1)
    repeated = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    if repeated.any():
        first = ", ".join(map(str, np.flatnonzero(repeated)[:5]))
        fact = f"{int(repeated.sum())} rows repeat a neighbour, first: {first}"
        raise ValueError(message("the neighbours of a row", "different rows", fact=fact))
    del ordered
    own = table == np.arange(n)[:, None]
    n_neighbors = n_columns - int(own.any())
    rows, columns = np.nonzero((table >= 0) & ~own)
    if n_neighbors < 1 or len(rows) == 0:
        raise ValueError(message("indices", "other rows than the row itself"))
    found = table[rows, columns], lengths[rows, columns]
    return GivenNeighbors(rows.astype(np.int32), *found, n, min(n_neighbors, n - 1))


def _check_shapes(
    indices: npt.NDArray[Any], distances: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return indices and distances of one shape and the right kinds; NaN where there is no neighbour."""
    if indices.ndim != 2 or indices.shape != distances.shape or indices.size == 0:
        what = f"indices of shape {indices.shape} and distances of shape {distances.shape}"
        raise ValueError(message(what, "two tables of one shape (n_samples, n_columns)"))
    if not np.issubdtype(indices.dtype, np.integer):
        raise TypeError(message(f"indices of type {indices.dtype}", "integers"))
    n = len(indices)
    outside = (indices < -1) | (indices >= n)
    if outside.any():
        row = int(np.flatnonzero(outside.any(axis=1))[0])
        fact = f"{int(outside.sum())} are not, first in row {row}"
        raise ValueError(message("indices", f"in [0, {n}), or -1 for none", fact=fact))
    return indices.astype(np.int32), np.where(indices < 0, np.inf, distances.astype(np.float64))


def _true_distances(given: npt.NDArray[np.float64], values: str) -> npt.NDArray[np.float64]:
    """Return distances, inf where there is no neighbour, of what `values` says."""
    if values == "cosine":
        largest = float(np.max(np.abs(given), where=np.isfinite(given), initial=0.0))
        if largest > _LONGEST_COSINE:
            remedy = "Scale rows to length 1 before they are indexed, as faiss.normalize_L2 does."
            raise ValueError(message("cosines", "at most 1", fact=f"the largest is {largest:g}", remedy=remedy))
        given = np.where(np.isposinf(given), np.inf, np.maximum(1.0 - given, 0.0))
    found = clip_distances(given)
    return np.sqrt(found) if values == "squared" else found


def _refuse_risen(lengths: npt.NDArray[np.float64], own: npt.NDArray[np.bool_]) -> None:
    """Raise ValueError if rows are farther from themselves than from all others: what was given rises with likeness."""
    others = np.where(np.isfinite(lengths) & ~own, lengths, -np.inf).max(axis=1)
    themselves = np.where(own, lengths, -np.inf).max(axis=1)
    with_own = own.any(axis=1) & np.isfinite(others)
    count = int((themselves > others)[with_own].sum())
    if count > 0.5 * with_own.sum():
        fact = f"{count} of {int(with_own.sum())} rows are farther from themselves than from their neighbours"
        remedy = f"Are these inner products? {_HOW_TO_TELL.format('cosine')}"
        raise ValueError(message("distances", "smallest between a row and itself", fact=fact, remedy=remedy))
