"""The explanation of a map of a table that is read in blocks."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import Printed, prints_harmlessly
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Either, Integer, Nothing, Rule, check_parameters, message
from gnomon.data import check_labels
from gnomon.data.labels import sort_into_classes
from gnomon.data.scaling import Scaling
from gnomon.data.stored import RowBlock, StoredTable, TransformedTable
from gnomon.explanations.answer import format_number, format_table
from gnomon.explanations.explanation import N_TOP, Explanation, explain_in_memory
from gnomon.explanations.reference_fits import ReferenceFits, RowEffects, stacked
from gnomon.explanations.rows import find_row
from gnomon.explanations.summary import summary_of
from gnomon.explanations.why import Why
from gnomon.geometry.check import check_places, has_place
from gnomon.neighbors import NeighborGraph, as_sets, reads_sets
from gnomon.scale import Journal, ResultColumn, StoredResults, current_executor, open_results
from gnomon.scale.costs import most_references

__all__ = ["MeansByLabel", "StoredExplanation", "explain_by_blocks"]

_STREAM = 315

_SHOWN, _LABELS = 10, 8  # features and labels that are printed

Arrays = dict[str, npt.NDArray[Any]]


class MeansByLabel(Printed, dict[Any, npt.NDArray[np.float64] | None]):
    """A dict of the mean importance of every feature for each label, which prints as a table.

    Attributes
    ----------
    feature_names : list of str
        Names of the features, in the order of the means.
    """

    def __init__(self, means: Iterable[tuple[Any, npt.NDArray[np.float64] | None]], *, feature_names: list[str]):
        super().__init__(means)
        self.feature_names = feature_names

    def __str__(self) -> str:
        known = [(str(label), means) for label, means in self.items() if means is not None]
        shown = known[:_LABELS]
        if not shown:
            return "no labels of points that have an explanation"
        table = np.stack([means for _, means in shown], axis=1)
        order = np.argsort(-table.max(axis=1), kind="stable")[:_SHOWN]
        rows = [[self.feature_names[j], *map(format_number, table[j].tolist())] for j in order]
        text = format_table(["mean importance", *(label for label, _ in shown)], rows)
        for left, what in ((len(table) - len(order), "feature"), (len(known) - len(shown), "label")):
            text += f"\n... and {left} more {what}{'' if left == 1 else 's'}" if left else ""
        return text


@dataclass(frozen=True)
class _PlacedBlock(RowBlock):
    """Rows with their places in the map, and the groups that their importances are added to."""

    places: npt.NDArray[np.float64]
    groups: npt.NDArray[np.int64]


def _placed(table: StoredTable, Y: npt.NDArray[np.float64], groups: npt.NDArray[np.int64]) -> list[_PlacedBlock]:
    return [
        _PlacedBlock(one.number, one.start, one.stop, Y[one.start : one.stop], groups[one.start : one.stop])
        for one in table.blocks()
    ]


def _effects(block: _PlacedBlock, table: StoredTable, fits: ReferenceFits, n_groups: int, weighted: bool) -> RowEffects:
    return fits.explain_rows(
        table.read(block.start, block.stop),
        np.arange(block.start, block.stop, dtype=np.int64),
        block.places,
        n_top=N_TOP,
        groups=block.groups,
        n_groups=n_groups,
        weighted=weighted,
    )


def _explain_block(block: _PlacedBlock, table: StoredTable, fits: ReferenceFits) -> Arrays:
    found = _effects(block, table, fits, 1, False)
    return {
        "r2": found.r2,
        "top": found.top.astype(_feature_type(table.n_features)),
        "importance": found.importance,
        "neighbors_kept": found.kept,
        "sums": found.sums[0],
        "weight": found.weights,
    }


def _sum_block(
    block: _PlacedBlock, table: StoredTable, fits: ReferenceFits, n_groups: int, weighted: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    found = _effects(block, table, fits, n_groups, weighted)
    return found.sums, found.weights


def _add(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    return left[0] + right[0], left[1] + right[1]


def _feature_type(n_features: int) -> Any:
    return np.int16 if n_features <= np.iinfo(np.int16).max else np.int32


class StoredExplanation:
    """Which features move each point of a map of a table that is read in blocks; made by `explain_by_blocks`.

    The fit of a row is made over its nearest reference rows, which are in memory; with all rows as reference rows it is
    that of `gnomon.explain` with ``fit="forward"``. Single rows are read from the table when they are asked about.

    Attributes
    ----------
    n_samples, n_features, n_components : int
        Sizes of the table and the map.
    feature_names : list of str
    r2 : ndarray of shape (n_samples,), float32, in [0, 1]
        As `Explanation.r2`; NaN where `mask` is False.
    mask : ndarray of shape (n_samples,), bool
        False where nothing can be said.
    global_importance : ndarray of shape (n_features,), float64
        Mean importance of each feature over all points with an explanation, in units of the map.
    median_r2 : float
    neighbors_kept : ndarray of shape (n_samples,), float32, in [0, 1]
        Share of a row's nearest reference rows in the data that are among its nearest reference rows in the map: how
        far to trust the place of the row. NaN without a place.
    reference : Explanation
        Of the reference rows.
    landmarks : ndarray of shape (m,), int64
        Row numbers of the reference rows, ascending.
    seams : gnomon.neighbors.circles.Seams or None
        Where columns that have a period under the metric were cut, by the reference rows. None without any.
    results : StoredResults or None
        What was written: arrays "y", "r2", "top", "importance" and "neighbors_kept".
    """

    def __init__(
        self,
        table: StoredTable,
        Y: npt.NDArray[np.float64],
        fits: ReferenceFits,
        arrays: Arrays | StoredResults,
        global_importance: npt.NDArray[np.float64],
    ) -> None:
        self._table, self._fits, self._arrays = table, fits, arrays
        self.results = arrays if isinstance(arrays, StoredResults) else None
        self.places = Y
        self.n_samples, self.n_features = table.shape
        self.n_components = int(Y.shape[1])
        self.reference = fits.explanation
        self.feature_names = self.reference.feature_names
        self.scale, self.seams = self.reference.scale, self.reference.seams
        self.landmarks = fits.rows
        self.global_importance = global_importance
        self.r2: npt.NDArray[np.float32] = self._column("r2", 0, self.n_samples)
        self.mask: npt.NDArray[np.bool_] = np.isfinite(self.r2)
        self.neighbors_kept: npt.NDArray[np.float32] = self._column("neighbors_kept", 0, self.n_samples)

    @property
    def median_r2(self) -> float:
        """Median of `r2` over the points with an explanation; NaN without any."""
        return float(np.median(self.r2[self.mask])) if self.mask.any() else float("nan")

    def _column(self, name: str, start: int, stop: int) -> npt.NDArray[Any]:
        held = self._arrays
        return held.read(name, start, stop) if isinstance(held, StoredResults) else held[name][start:stop]

    def top_features(
        self, start: int = 0, stop: int | None = None
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Return the most important features of rows [start, stop), all by default.

        Returns
        -------
        indices : ndarray of shape (stop - start, n_top), int32
            Column numbers, most important first; the 8 first, or all if there are fewer.
        importance : ndarray of shape (stop - start, n_top), float32
            In units of the map; NaN where nothing can be said.
        """
        stop = self.n_samples if stop is None else min(stop, self.n_samples)
        return self._column("top", start, stop).astype(np.int32), self._column("importance", start, stop)

    def _around(self, i: int) -> tuple[Explanation, int]:
        """Return an explanation of the reference rows that has row i among them, and its number there."""
        i = find_row(i, self.n_samples)
        at = int(np.searchsorted(self.landmarks, i))
        if at < len(self.landmarks) and self.landmarks[at] == i:
            return self.reference, at
        known, fits = self.reference, self.reference.jacobians
        row = self._table.read(i, i + 1)
        fitted = row if self.scale is None else self.scale.apply(row)
        near, place = self._fits.nearest(fitted, np.array([i])), self.places[i : i + 1]
        own = self._fits.extended(fitted, near, place)
        names = ("coefficients", "r2", "predicted_r2", "ellipses", "dimension", "mask", "r2_error", "predicted_square")
        both: dict[str, Any] = {name: np.concatenate([getattr(fits, name), getattr(own, name)]) for name in names}
        rows = np.arange(len(self.landmarks) + 1)
        jacobians = replace(own, rows=rows, pooling=fits.pooling, **both)
        graph = NeighborGraph(jacobians.indices, np.zeros(jacobians.indices.shape, np.float32))
        effects = replace(known._effects, ellipses=None)
        around = Explanation(
            stacked(known._X, row),
            jacobians,
            effects,
            self.feature_names,
            graph=graph,
            ridge=known.ridge,
            scale=self.scale,
            seams=self.seams,
            representatives=np.append(known.representatives, len(self.landmarks)) if known.n_repeats else None,
        )
        around.r2[-1] = self.r2[i]
        return around, len(self.landmarks)

    def axes(self, i: int) -> npt.NDArray[np.float64]:
        """Return the displacement of point i in the map per unit of each feature, (n_components, n_features)."""
        around, at = self._around(i)
        return around.axes(at)

    def why(self, i: int, n_top: int = 5) -> Why:
        """Return the features that move point i most, with values, arrows and R2; `print` shows a table.

        The ranks of its values are those among the reference rows.
        """
        around, at = self._around(i)
        return replace(around.why(at, n_top), index=find_row(i, self.n_samples))

    @entrance("importance_by_label")
    def importance_by_label(self, labels: Any, *, weighted: bool = True, executor: Any = None) -> MeansByLabel:
        """Return the mean importance of every feature over the points of each label; the table is read once more.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            None, NaN or an empty text where a row has no label.
        weighted : bool, default=True
            Whether points count by their R2.
        executor : Executor, distributed.Client, str or None, default=None
            Who works; None is who works in the run around the call.

        Returns
        -------
        MeansByLabel
            A dict of label to ndarray of shape (n_features,), float64, in the order of the sorted labels, None for a
            label none of whose points has an explanation; `print` shows a table.
        """
        classes = sort_into_classes(check_labels(labels, self.n_samples))
        executor = current_executor()
        shared = (executor.broadcast(self._table), executor.broadcast(self._fits))
        blocks = _placed(self._table, self.places, classes.codes.astype(np.int64))
        sums, weights = executor.reduce(
            _sum_block, _add, blocks, *shared, len(classes), weighted, needed=self._fits.needed(self._table)
        )
        means = [total / weight if weight > 0 else None for total, weight in zip(sums, weights, strict=True)]
        return MeansByLabel(zip(classes.values, means, strict=True), feature_names=self.feature_names)

    def describe_fit(self) -> str:
        """Return in words what the fits are, a clause without a full stop."""
        return f"{self.reference.describe_fit()}, of {len(self.landmarks)} reference rows"

    @prints_harmlessly
    def summary(self, n_top: int = 10) -> str:
        """Return the features of largest mean importance as a table, with the R2 over all points."""
        return summary_of(self, n_top)

    def __repr__(self) -> str:
        n, m = self.n_samples, len(self.landmarks)
        return f"StoredExplanation(n_samples={n}, n_features={self.n_features}, n_landmarks={m})"


def _reference_rows(landmarks: Any, Y: npt.NDArray[np.float64], n_features: int) -> npt.NDArray[np.int64]:
    """Return the numbers of the reference rows, ascending: those given that have a place, or some at random."""
    placed = np.flatnonzero(has_place(Y)).astype(np.int64)
    if landmarks is None or isinstance(landmarks, (int, np.integer)):
        rules: dict[str, Rule] = {"landmarks": Either(Integer(3), Nothing())}
        asked = check_parameters(rules, {"landmarks": landmarks})["landmarks"]
        count = asked or most_references(n_features, Y.shape[1])
        if count < len(placed):
            drawn = np.random.default_rng((current_run().seed, _STREAM)).choice(len(placed), count, replace=False)
            placed = placed[np.sort(drawn)]
        rows = placed
    else:
        rows = np.unique(np.asarray(landmarks))
        if rows.dtype.kind not in "iu" or not len(rows) or rows[0] < 0 or rows[-1] >= len(Y):
            raise ValueError(message("landmarks", f"row numbers in [0, n_samples={len(Y)})"))
        rows = np.intersect1d(rows.astype(np.int64), placed, assume_unique=True)
    if len(rows) < 3:
        raise ValueError(message(f"landmarks with {len(rows):,} rows that have a place in the map", "3 at least"))
    return rows


@entrance("explain_by_blocks", seeded=True)
def explain_by_blocks(
    table: StoredTable,
    Y: Any,
    *,
    landmarks: Any = None,
    n_neighbors: int | Literal["auto"] = "auto",
    pooling: int | Literal["auto"] = "auto",
    metric: str = "euclidean",
    scale: Literal["auto", "standard", "robust"] | Scaling | None = None,
    feature_names: Any = None,
    out: str | os.PathLike[str] | None = None,
    journal: Journal | None = None,
    executor: Any = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> StoredExplanation:
    """Explain a map of a table that is read in blocks: which features move each point, and how far to believe it.

    The fits are those of `gnomon.explain` with ``fit="forward"``, over neighbours among reference rows that are held in
    memory. Damping, averaging and the numbers of neighbours are chosen by the reference rows.

    Parameters
    ----------
    table : StoredTable of shape (n_samples, n_features)
        The data.
    Y : array-like of shape (n_samples, n_components)
        The map. Rows with NaN have no place; nothing is said about them.
    landmarks : array-like of row numbers, int >= 3 or None, default=None
        The reference rows, such as the landmarks of the map, or how many are drawn. None: 100,000, of wide tables as
        many as have fits of half a gigabyte, but at least 1000; all rows if there are no more.
    n_neighbors, pooling, metric, scale, feature_names
        As for `gnomon.explain`; "auto" is decided by the reference rows. Names are those of the table by default.
    out : path-like, default=None
        Where positions, R2, features and importances are written, NAME.zarr or NAME.parquet, see
        `gnomon.scale.open_results`; a run that was cut goes on there. None keeps them in memory, 57 bytes a row.
    journal : Journal, default=None
        Where the blocks of the stage "explain" are kept if they are not written to `out`.
    executor : Executor, distributed.Client, str or None, default=None
        Who works; None is who works in the run around the call.
    random_state : int, Generator, RandomState or None, default=0
        Draws reference rows.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    StoredExplanation
        The same whoever works.
    """
    places = check_places(Y, table.n_samples)
    executor = current_executor()
    rows = _reference_rows(landmarks, places, table.n_features)
    values = table.take(rows)
    names = table.feature_names if feature_names is None else feature_names
    reference = explain_in_memory(
        values,
        places[rows],
        n_neighbors=n_neighbors,
        pooling=pooling,
        metric=metric,
        scale=scale,
        feature_names=names,
        fit="forward",
        cut=True,
    )
    if reference.seams is not None and len(reference.seams.moved):
        key = f"cut {reference.seams.begins.tolist()}"
        table = TransformedTable(table, reference.seams.apply, key=key, feature_names=table.feature_names)
        values = reference.seams.apply(values)
    if reference.scale is None and reads_sets(reference.graph.metric):
        read = partial(as_sets, metric=reference.graph.metric)
        key = f"sets of {reference.graph.metric}"
        table, values = TransformedTable(table, read, key=key, feature_names=table.feature_names), read(values)
    fitted = values if reference.scale is None else reference.scale.apply(values)
    stand = reference.representatives if reference.n_repeats else None
    fits = ReferenceFits(rows, fitted, reference, metric, table.n_samples, stand)
    shared = (executor.broadcast(table), executor.broadcast(fits))
    blocks, needed = _placed(table, places, np.zeros(table.n_samples, np.int64)), fits.needed(table)
    if out is None:
        kept = Journal(None, {}) if journal is None else journal
        found = kept.blocks("explain", executor, _explain_block, blocks, *shared, needed=needed)
        arrays, parts = _collect(found, table.n_samples)
        return StoredExplanation(table, places, fits, arrays, _mean(parts))
    run = {
        "table": table.fingerprint,
        "places": _checksum(places),
        "landmarks": _checksum(rows),
        "n_neighbors": reference.n_neighbors,
        "pooling": reference.pooling,
        "ridge": reference.ridge,
        "metric": metric,
    }
    writer = open_results(out, _columns(reference, table.n_features), blocks, run)
    missing = {block.number for block in writer.missing()}
    todo = [block for block in blocks if block.number in missing]
    for block, found in zip(todo, executor.map(_explain_block, todo, *shared, needed=needed), strict=True):
        notes = {name: found.pop(name) for name in ("sums", "weight")}
        writer.write(block, {"y": block.places, **found}, notes)
    importance = _mean(list(writer.notes()))
    return StoredExplanation(table, places, fits, writer.finish(), importance)


def _collect(found: Iterator[Arrays], n_samples: int) -> tuple[Arrays, list[Arrays]]:
    """Return the arrays of all rows, and the sums of each block."""
    arrays: Arrays = {}
    sums, start = [], 0
    for one in found:
        sums.append({name: one.pop(name) for name in ("sums", "weight")})
        for name, part in one.items():
            whole = arrays.setdefault(name, np.empty((n_samples, *part.shape[1:]), part.dtype))
            whole[start : start + len(part)] = part
        start += len(one["r2"])
    return arrays, sums


def _mean(parts: list[Arrays]) -> npt.NDArray[np.float64]:
    """Return the mean importance of each feature, 0 without any point that has an explanation."""
    total, weight = parts[0]["sums"].copy(), float(parts[0]["weight"][0])
    for part in parts[1:]:
        total += part["sums"]
        weight += float(part["weight"][0])
    mean: npt.NDArray[np.float64] = total / weight if weight > 0 else np.zeros(len(total))
    return mean


def _columns(reference: Explanation, n_features: int) -> list[ResultColumn]:
    n_top = min(N_TOP, n_features)
    top = np.dtype(_feature_type(n_features)).name
    return [
        ResultColumn("y", "float64", reference.n_components),
        ResultColumn("r2", "float32"),
        ResultColumn("top", top, n_top, tuple(reference.feature_names)),
        ResultColumn("importance", "float32", n_top),
        ResultColumn("neighbors_kept", "float32"),
    ]


def _checksum(values: npt.NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(values).view(np.uint8).data)
