"""New rows placed among the fixed points of a map, each where its own part of the map's loss is least.

By compiled sums, or in NumPy for losses of kernels that are not compiled or of several terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._arithmetic import log
from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon.affinities import NewRows
from gnomon.extension.placement.repulsion_table import RepulsionTable, tabulate_repulsion, tabulation_bytes
from gnomon.kernels import CustomLaw, OutputKernel
from gnomon.kernels.laws import evaluate_law
from gnomon.neighbors import BlockPart, BlockSearch, RowSearch
from gnomon.objectives import RowLoss
from gnomon.objectives.pairs import compile_kernel

__all__ = ["EXACT_UP_TO", "MAX_ITER", "BlockPlacement", "PlacementField", "RowPlacement", "same_rows", "step_tolerance"]

_STARTS = 15  # nearest rows whose places are tried as a start

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
EXACT_UP_TO = 4096
"""Points of a map whose repulsion is summed one by one for every new row; above, "auto" tabulates or samples it."""

MAX_ITER = 100
"""Most steps of a new row."""
_SEARCH_COPIES, _SEARCH_ROW = 2.0, 200.0  # of the fitted rows in a search made ready, and bytes of each beside them
_TOLERANCE = 1e-4  # of the distances between a point's neighbours in the map, a step at which it rests


class _PlainPlacer:
    """What the compiled placer does, in float64 and row by row.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_components), float32
        The map.
    loss : RowLoss
    sources : ndarray of int
        Points that stand for all in the repulsion, their charges raised to the sum of all.
    max_iter : int
    """

    def __init__(self, points: Float32Array, loss: RowLoss, sources: npt.NDArray[np.intp], max_iter: int) -> None:
        self._points = points.astype(np.float64)
        self._loss = loss
        self._sources = self._points[sources]
        self._zoom = np.ones(len(points)) if loss.zoom is None else loss.zoom
        self._zoom_of_sources = self._zoom[sources]
        charges = [np.ones(len(points)) if part.charges is None else part.charges for part in loss.repulsions]
        self._charges = [v[sources] * (v.sum() / v[sources].sum()) for v in charges]
        self._max_iter = max_iter

    def losses(
        self,
        indices: npt.NDArray[np.int32],
        weights: Float32Array,
        places: Float32Array,
        n_threads: int,
        zoom: Float64Array | None = None,
    ) -> tuple[Float64Array, Float64Array]:
        """Return the loss of rows at given places, and its gradient; threads are for the compiled twin."""
        with single_threaded_blas():
            found = [
                self._evaluate(y, *self._neighbors(i, p, z))
                for y, i, p, z in zip(places.astype(np.float64), indices, weights, _zooms(zoom, indices), strict=True)
            ]
        return np.array([loss for loss, _ in found]), np.array([slope for _, slope in found]).reshape(places.shape)

    def place(
        self,
        indices: npt.NDArray[np.int32],
        weights: Float32Array,
        n_threads: int,
        zoom: Float64Array | None = None,
    ) -> tuple[Float32Array, Float64Array]:
        """Return places of rows, and their losses at the weighted mean of their neighbours and at the end."""
        places = np.empty((len(indices), self._points.shape[1]), dtype=np.float32)
        losses = np.empty((len(indices), 2))
        with single_threaded_blas():
            for row, (i, p, z) in enumerate(zip(indices, weights, _zooms(zoom, indices), strict=True)):
                places[row], losses[row] = self._place(*self._neighbors(i, p, z))
        return places, losses

    def _neighbors(
        self, indices: npt.NDArray[np.int32], weights: Float32Array, zoom: float
    ) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array]:
        """Return places and weights of neighbours, and what squared distances to them and to all sources count."""
        near, far = np.square(zoom * self._zoom[indices]), np.square(zoom * self._zoom_of_sources)
        return self._points[indices], weights.astype(np.float64), near, far

    def _place(
        self, near: Float64Array, weights: Float64Array, *zooms: Float64Array
    ) -> tuple[Float64Array, tuple[float, float]]:
        middle = weights @ near
        starts = [middle, *near[:_STARTS]]
        values = [self._evaluate(y, near, weights, *zooms)[0] for y in starts]
        best = int(np.argmin(values))
        found: Any = scipy.optimize.minimize(
            self._evaluate,
            starts[best],
            args=(near, weights, *zooms),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self._max_iter, "ftol": 1e-14, "gtol": 1e-9},
        )
        better = found.fun <= values[best]
        return (found.x if better else starts[best]), (values[0], float(found.fun if better else values[best]))

    def _evaluate(
        self, y: Float64Array, near: Float64Array, weights: Float64Array, zoom: Float64Array, zoom_far: Float64Array
    ) -> tuple[float, Float64Array]:
        """Return loss and gradient of a point at y."""
        across, away = y - near, y - self._sources
        squares, far = zoom * np.square(across).sum(axis=1), zoom_far * np.square(away).sum(axis=1)
        loss, gradient = 0.0, np.zeros_like(y)
        for term in self._loss.attractions:
            energies, slopes = evaluate_law(term.law, term.kernel, squares)
            loss += term.scale * float(weights @ energies)
            gradient += (2.0 * term.scale) * ((weights * slopes * zoom) @ across)
        for part, charges in zip(self._loss.repulsions, self._charges, strict=True):
            energies, slopes = evaluate_law(part.law, part.kernel, far)
            total = part.strength * float(charges @ energies)
            slope = (2.0 * part.strength) * ((charges * slopes * zoom_far) @ away)
            if part.link == "log":
                loss, gradient = loss + float(log(total)), gradient + slope / total
            elif part.link == "contrast":
                kernel = self._loss.attractions[0].kernel
                sums = kernel.value(squares) + total
                shares = weights / sums
                loss += float((weights * log(sums)).sum())
                gradient += 2.0 * ((shares * kernel.derivative(squares) * zoom) @ across) + shares.sum() * slope
            else:
                loss, gradient = loss + total, gradient + slope
        return loss, gradient


def _zooms(zoom: Float64Array | None, rows: npt.NDArray[Any]) -> Float64Array:
    return np.ones(len(rows)) if zoom is None else zoom


def _evaluation(n: int, d: int, loss: RowLoss, *, many: bool) -> str:
    """Return how the repulsion of n points is summed where nobody says."""
    if d <= 2 and loss.compiled and (many or n > EXACT_UP_TO):
        return "table"
    return "exact" if n <= EXACT_UP_TO else "sample"


class PlacementField:
    """The fixed points of a map, made ready to place others among them.

    Parameters
    ----------
    Y : array-like of shape (n_samples, n_components)
        The map.
    loss : RowLoss
        What a new point minimises. One that the compiled sums do not know is summed in NumPy, row by row and slowly.
    evaluation : {"auto", "exact", "table", "sample"}, default="auto"
        How the repulsion of all points is summed: one by one, read off a table (one or two components), or by 4096
        points taken evenly from the map and weighted to stand for all. "auto" is exact up to 4096 points, takes the
        table above them where it can, and else the sample.

    Attributes
    ----------
    evaluation : str
        The choice made.
    """

    def __init__(self, Y: npt.ArrayLike, loss: RowLoss, *, evaluation: str = "auto") -> None:
        points = np.ascontiguousarray(Y, dtype=np.float32)
        n, d = points.shape
        if evaluation == "auto":
            evaluation = _evaluation(n, d, loss, many=False)
        self.evaluation = evaluation
        some = np.arange(n) if evaluation == "exact" else np.arange(EXACT_UP_TO) * n // EXACT_UP_TO
        if not loss.compiled:
            self._core: Any = _PlainPlacer(points, loss, some, MAX_ITER)
            return
        (attraction,), (repulsion,) = loss.attractions, loss.repulsions
        charges = np.ones(n) if repulsion.charges is None else repulsion.charges
        table = RepulsionTable(np.empty((0, 0)), (0.0, 0.0), 1.0)
        sources, weights = np.empty((0, d), dtype=np.float32), np.empty(0, dtype=np.float32)
        if evaluation == "table":
            table = tabulate_repulsion(points, repulsion)
        else:
            sources = np.ascontiguousarray(points[some])
            weights = np.asarray(charges[some] * (charges.sum() / charges[some].sum()), dtype=np.float32)
        self._core = _core.RowPlacer(
            points,
            _term(attraction.kernel, attraction.law, attraction.scale),
            _term(repulsion.kernel, repulsion.law, 1.0),
            repulsion.link,
            repulsion.strength,
            sources,
            weights,
            table.coefficients,
            table.low,
            table.spacing,
            MAX_ITER,
            step_tolerance(points),
        )

    def place(
        self, indices: npt.NDArray[np.int32], weights: Float32Array, zoom: Float64Array | None = None
    ) -> tuple[Float32Array, npt.NDArray[np.float64]]:
        """Place rows by their affinities to fitted ones.

        The loss is taken at the weighted mean of the neighbours' places and at the places of the nearest 15; from the
        best of these it is lowered by BFGS steps.

        Parameters
        ----------
        indices : ndarray of shape (n_rows, n_neighbors), int32
            In [0, n_samples).
        weights : ndarray of shape (n_rows, n_neighbors), float32
        zoom : ndarray of shape (n_rows,), float64, or None, default=None
            Of the new rows, where the loss has one; see `RowLoss`.

        Returns
        -------
        positions : ndarray of shape (n_rows, n_components), float32
            Each a function of its own neighbours and weights alone.
        losses : ndarray of shape (n_rows, 2), float64
            At the weighted mean and at the end; the second is never higher.
        """
        own = () if zoom is None else (zoom,)
        positions, losses = self._core.place(indices, weights, current_run().n_threads, *own)
        return positions, losses

    def losses(
        self,
        indices: npt.NDArray[np.int32],
        weights: Float32Array,
        positions: npt.ArrayLike,
        zoom: Float64Array | None = None,
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the loss of rows at given positions, (n_rows,), and its gradient, (n_rows, n_components)."""
        places = np.ascontiguousarray(positions, dtype=np.float32)
        own = () if zoom is None else (zoom,)
        losses, gradients = self._core.losses(indices, weights, places, current_run().n_threads, *own)
        return losses, gradients


@dataclass
class RowPlacement(ShortRepr):
    """How a fitted map places new rows: their neighbours among the fitted rows, affinities and loss.

    What is made from these at the first question (the search, the table of the repulsion) is kept for later ones, but
    not copied or pickled; it is made again to the same bytes.

    Parameters
    ----------
    rows : ndarray or CSR of shape (n_samples, n_features)
        The distinct fitted rows, not copied; with metric="precomputed" only their number counts.
    Y : ndarray of shape (n_samples, n_components)
        Their positions.
    n_neighbors : int in [1, n_samples]
        Fitted rows that attract a new one.
    affinities : NewRows or None
        Their weights; None in placements that need none.
    loss : RowLoss or None
        Likewise.
    metric : str or callable, default="euclidean"
    metric_params : dict or None, default=None
    seed : int, default=0
        Of an approximate search.
    many : bool, default=False
        Whether so many rows will be placed that a table of the repulsion is worth its making, of few points too.

    Attributes
    ----------
    search : RowSearch
        With the `method` used and the `recall` measured.
    field : PlacementField
        With the `evaluation` used.
    """

    rows: Any
    Y: Float32Array
    n_neighbors: int
    affinities: NewRows | None
    loss: RowLoss | None
    metric: Any = "euclidean"
    metric_params: dict[str, Any] | None = None
    seed: int = 0
    many: bool = False

    def __post_init__(self) -> None:
        self._search: RowSearch | BlockSearch | None = None
        self._field: PlacementField | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be made again."""
        return {**self.__dict__, "_search": None, "_field": None}

    @property
    def search(self) -> RowSearch | BlockSearch:
        """The search for neighbours among the fitted rows, made at the first question."""
        search = self.ready()._search
        assert search is not None
        return search

    @property
    def field(self) -> PlacementField:
        """The fixed points with their repulsion, made at the first question."""
        field = self.ready()._field
        assert field is not None
        return field

    def ready(self) -> RowPlacement:
        """Make search and field if they are not there; returns itself."""
        if self._search is None:
            self._search = self._make_search()
        if self._field is None and self.loss is not None:
            n, d = self.Y.shape
            self._field = PlacementField(self.Y, self.loss, evaluation=_evaluation(n, d, self.loss, many=self.many))
        return self

    @property
    def ready_bytes(self) -> float:
        """Bytes that `ready` takes at its peak, and what was made of them later."""
        rows: Any = self.rows
        values: Any = getattr(rows, "data", rows) if hasattr(rows, "tocsr") else rows
        n, d = self.Y.shape
        searched: float = _SEARCH_COPIES * float(values.nbytes) + _SEARCH_ROW * n
        if self.loss is None or _evaluation(n, d, self.loss, many=self.many) != "table":
            return searched
        return searched + tabulation_bytes(self.Y, self.loss.repulsions[0])

    def _make_search(self) -> RowSearch | BlockSearch:
        return RowSearch.of(
            self.rows,
            min(self.n_neighbors, self.rows.shape[0]),
            metric=self.metric,
            metric_params=self.metric_params,
            many=True,
            seed=self.seed,
        )

    def _positions(self, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array) -> Float32Array:
        """Return positions of rows whose neighbours are known."""
        assert self.affinities is not None
        weights = self.affinities(self.rows, X_new, indices, distances)
        return self.field.place(indices, weights)[0]

    def place(self, X_new: Any) -> Float32Array:
        """Place new rows, each as a function of itself alone; one equal to a fitted row gets its position.

        Parameters
        ----------
        X_new : ndarray or CSR of shape (n_rows, n_features)
            With metric="precomputed" distances to the fitted rows, shape (n_rows, n_samples).

        Returns
        -------
        ndarray of shape (n_rows, n_components), float32
        """
        return self.place_found(X_new, *self.search.find(X_new))

    def place_found(self, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array) -> Float32Array:
        """Place new rows whose neighbours among the fitted rows have been found, see `place`."""
        search = self.ready().search
        positions = self._positions(X_new, indices, distances)
        for column in range(indices.shape[1]):
            near = np.flatnonzero((distances[:, column] == 0.0) | (column == 0))
            if near.size == 0:
                break
            equal = (
                distances[near, column] == 0.0
                if search.method == "precomputed"
                else same_rows(X_new[near], self.rows[indices[near, column]])
            )
            if search.method == "precomputed" and column > 0:
                break  # the first of several fitted rows at distance 0
            positions[near[equal]] = self.Y[indices[near[equal], column]]
        return positions


@dataclass
class BlockPlacement(RowPlacement):
    """How a map of blocks of columns places new rows, which are compared with all fitted ones in each block.

    Parameters
    ----------
    parts : tuple of BlockPart
        Where the blocks stand in `rows`.
    power : float >= 1
        Of the joined distance.
    each : bool
        Whether neighbours in each block attract a row, or those that are near in all.
    """

    parts: tuple[BlockPart, ...] = ()
    power: float = 1.0
    each: bool = False

    def _make_search(self) -> BlockSearch:
        n_neighbors = min(self.n_neighbors, self.rows.shape[0])
        return BlockSearch(self.rows, self.parts, n_neighbors, self.power, self.each)


def same_rows(one: Any, other: Any) -> npt.NDArray[np.bool_]:
    """Return which rows of two tables of one shape are equal."""
    if scipy.sparse.issparse(one) or scipy.sparse.issparse(other):
        tables: list[Any] = [scipy.sparse.csr_array(table) for table in (one, other)]
        different: Any = scipy.sparse.csr_array(tables[0] != tables[1])
        equal: npt.NDArray[np.bool_] = np.diff(different.indptr) == 0
        return equal
    return np.asarray((one == other).all(axis=1))


def _term(kernel: OutputKernel, law: str | CustomLaw, scale: float) -> _core.PairTerm:
    compiled = compile_kernel(kernel)
    assert compiled is not None  # the loss said so
    assert isinstance(law, str)
    return _core.PairTerm(compiled, law, scale)


def step_tolerance(points: Float32Array) -> float:
    """Return the step at which a point rests: a share of about the distance between neighbours in the map."""
    n, d = points.shape
    extent = float((points.max(axis=0) - points.min(axis=0)).max())
    return float(_TOLERANCE * max(extent, 1e-30) / n ** (1.0 / min(d, 2)))
