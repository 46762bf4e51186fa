"""A map of a table larger than memory: the map of its landmarks, and the positions of all rows."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._memory import require_memory
from gnomon._printed import Printed
from gnomon._validation import message
from gnomon.data.stored import StoredTable, as_stored, with_features
from gnomon.maps.landmarks.loss import LandmarkLoss, measure_loss
from gnomon.maps.landmarks.source import MemoryTable
from gnomon.maps.result import Map
from gnomon.scale.costs import most_references

if TYPE_CHECKING:
    from gnomon.evaluation import Evaluation
    from gnomon.explanations.blocks import StoredExplanation
    from gnomon.viewer import PageContent

__all__ = ["LandmarkMap"]

_INSTEAD = {  # of what a map of all rows answers
    "to_html": "write_html",
    "report": "summary",
    "extend": "place",
    "export": "write",
}
_OF_WHOLE = 4.0  # times the table that a map of all rows takes


@dataclass(repr=False)
class LandmarkMap(Printed):
    """A map whose landmarks were fitted and whose other rows were placed; made by `gnomon.map` with ``n_fitted``.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components), float32
        The positions of all rows, in their order.
    landmarks : ndarray of shape (n_landmarks,), int64
        Row numbers of the landmarks, ascending.
    landmark_map : Map
        The map of the landmarks, which explains, contrasts and answers questions as any map does.
    table : gnomon.data.stored.StoredTable or None
        All rows, read where they are needed; None in a map that was loaded, until `attach` is called.
    labels : ndarray of shape (n_samples,) or None
        A class for each row.
    notes : list of str
        What a reader should know: how many landmarks there are, how the other rows were placed.
    timings : dict of str to float
        Seconds by stage.
    random_state : int
        The seed that drew the landmarks.
    fingerprint : str
        Tells the table from others.
    out_of_range : ndarray of int64
        Numbers of the placed rows that lie out of the range of the landmarks, ascending: farther from the nearest of
        them than 1.5 times what is found among these, where a few landmarks far from all others, not more than a row
        has neighbours, do not count. What the map shows of such rows is no finding. Empty of methods that look for no
        neighbours.
    """

    embedding: npt.NDArray[np.float32]
    landmarks: npt.NDArray[np.int64]
    landmark_map: Map
    table: StoredTable | None
    labels: npt.NDArray[Any] | None = None
    notes: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    random_state: int = 0
    fingerprint: str = ""
    out_of_range: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        if self.table is not None and not self.fingerprint:
            self.fingerprint = self.table.fingerprint
        self._loss: LandmarkLoss | None = None
        self._explanation: StoredExplanation | None = None
        self._evaluation: Evaluation | None = None

    def __repr__(self) -> str:
        shape = f"n_samples={self.n_samples}, n_landmarks={len(self.landmarks)}, n_features={self.n_features}"
        return f"LandmarkMap(name={self.name!r}, method={self.method!r}, {shape})"

    def __getattr__(self, name: str) -> Any:
        """Say what to ask instead of what only a map of all rows answers."""
        if name.startswith("_") or not hasattr(Map, name):
            raise AttributeError(f"'LandmarkMap' object has no attribute {name!r}")
        instead = _INSTEAD.get(name, f"as_map().{name}, which reads all rows into memory")
        raise AttributeError(f"LandmarkMap has no {name!r}, which a Map of all rows has. Take {instead}.")

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.embedding)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.landmark_map.n_features

    @property
    def method(self) -> str:
        """Name of the method."""
        return self.landmark_map.method

    @property
    def name(self) -> str:
        """Heading of the page."""
        return self.landmark_map.name

    @property
    def label_name(self) -> str:
        """What the classes are, such as "species"."""
        return self.landmark_map.label_name

    @property
    def n_jobs(self) -> int | None:
        """Threads for what is asked; None takes all."""
        return self.landmark_map.n_jobs

    @property
    def _rows(self) -> StoredTable:
        if self.table is None:
            rule, fact = "one that has its table", "a file holds the positions alone"
            raise ValueError(message("the map", rule, fact=fact, remedy="Call attach(X) first."))
        return self.table

    @entrance("LandmarkMap.attach")
    def attach(self, X: Any) -> Self:
        """Give a map that was loaded its table again.

        Parameters
        ----------
        X : array-like, sparse matrix or table that is read in blocks, of shape (n_samples, n_features)
            The table that was mapped: of one in memory the numbers, in the same type, are compared, of one on disk the
            place, size and time of its files.

        Returns
        -------
        LandmarkMap
            Itself.

        Raises
        ------
        ValueError
            If it is another table.
        """
        from gnomon.data import check_table

        table = as_stored(X)
        if table is None:
            table = MemoryTable(check_table(X, accept_sparse=True))
        table = with_features(table, self.landmark_map.feature_names)
        if table.fingerprint != self.fingerprint:
            fact = f"it is {table.fingerprint:.100}, and was {self.fingerprint:.100}"
            raise ValueError(message("X", "the table that was mapped", fact=fact))
        self.table = table
        return self

    @entrance("LandmarkMap.landmark_loss")
    def landmark_loss(self) -> LandmarkLoss:
        """Estimate how much less the places of rows that were placed can be trusted than those of landmarks.

        A thousand landmarks and a thousand other rows are ranked among the same 50,000 rows, or as many as have 2^26
        numbers, which are read into memory. The difference of their mean trustworthiness is what a row loses by being
        placed; nothing is fitted for it. Computed once.

        Returns
        -------
        gnomon.maps.landmarks.loss.LandmarkLoss
            ``value`` with its ``standard_error``, and what they rest on. Exactly 0 if all rows are landmarks.
        """
        if self._loss is None:
            self._loss = measure_loss(self)
        return self._loss

    @entrance("LandmarkMap.explain")
    def explain(self, *, executor: Any = None, out: str | os.PathLike[str] | None = None) -> StoredExplanation:
        """Say which features move each point of all rows, block by block. See `gnomon.explain`.

        The fits are over neighbours among the landmarks: of more than 100,000, or of wide tables as many as have fits
        of half a gigabyte, evenly spaced ones.

        Parameters
        ----------
        executor : Executor, distributed.Client, str or None, default=None
            Who works; None is who works in the run around the call.
        out : path-like or None, default=None
            Where the results are written, NAME.zarr or NAME.parquet. None keeps them in memory, and the explanation for
            later calls.
        """
        if self._explanation is not None and out is None:
            return self._explanation
        from gnomon.explanations.blocks import explain_by_blocks

        fitted, table = self.landmark_map, self._rows
        most = most_references(table.n_features, self.embedding.shape[1])
        found = explain_by_blocks(
            table,
            self.embedding,
            landmarks=self.landmarks[:: -(-len(self.landmarks) // most)],
            metric=fitted._metric_of_explanation(),
            scale=fitted._scale_of_explanation(),
            feature_names=fitted.feature_names or None,
            out=out,
            n_jobs=self.n_jobs,
        )
        self._explanation = found if out is None else self._explanation
        return found

    @entrance("LandmarkMap.evaluate")
    def evaluate(self, *, executor: Any = None) -> Evaluation:
        """Say how far to trust the positions of all rows, block by block; computed once. See `gnomon.evaluate`.

        Parameters
        ----------
        executor : Executor, distributed.Client, str or None, default=None
            Who works; None is who works in the run around the call.
        """
        if self._evaluation is None:
            from gnomon.evaluation import evaluate

            self._evaluation = evaluate(
                self._mapped_table(),
                self._layout(slice(None)),
                labels=self.labels,
                metric=self.landmark_map.metric,
                surface=self.landmark_map.surface,
                n_jobs=self.n_jobs,
            )
        return self._evaluation

    def transform(self, X_new: Any) -> npt.NDArray[Any]:
        """Place rows, each as a smooth function of the row alone.

        A landmark gets its place, up to rounding. The other rows of the table were placed by `place`, and their smooth
        places lie beside those: of 3,000 digits of MNIST with 500 landmarks half lie within 0.12 and 1 in 20 beyond
        1.2, in a map whose points lie 4.9 from its middle in the root mean square.

        Parameters
        ----------
        X_new : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            As for `gnomon.Map.transform`.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
        """
        return self.landmark_map.transform(X_new)

    def place(self, X_new: Any) -> npt.NDArray[Any]:
        """Place rows as the rows beside the landmarks were placed.

        Parameters
        ----------
        X_new : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_components)
        """
        fitted = self.landmark_map
        return fitted.transform(X_new) if fitted._way_to_place is None else fitted.place(X_new)

    def summary(self, *, loss: bool = True, notes: bool = True) -> str:
        """Say what was mapped, how, how long it took, and how much trust was lost by placing rows.

        Parameters
        ----------
        loss : bool, default=True
            Whether to estimate `landmark_loss` if it is not known yet, which reads up to 50,000 rows of the table.
        notes : bool, default=True
            Whether to tell `notes`.
        """
        seconds = ", ".join(f"{stage} {value:.1f}" for stage, value in self.timings.items())
        lines = [
            f"{self.name}: {self.n_samples:,} rows with {self.n_features:,} features, mapped by {self.method} with "
            f"{len(self.landmarks):,} landmarks",
            *([f"  in {sum(self.timings.values()):.1f} s ({seconds})"] if seconds else []),
        ]
        if self._loss is not None or (loss and self.table is not None):
            lines.append(f"  {self.landmark_loss()}")
        if self._evaluation is not None:
            lines += ["", "How far to trust it", *(f"  {line}" for line in self._evaluation.summary().splitlines())]
        if notes and self.notes:
            lines += ["", "Notes", *(f"  {note}" for note in self.notes)]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary(loss=False)

    @entrance("LandmarkMap.as_map")
    def as_map(self) -> Map:
        """Return an ordinary map of all rows, with the table in memory.

        Raises
        ------
        MemoryError
            If the table, and three times as much to work with, does not fit in memory.
        """
        table = self._rows
        fact = f"{table.n_samples:,} x {table.n_features:,} numbers, and three times as much to work with,"
        remedy = "Ask landmark_map, or explain and evaluate by blocks."
        require_memory(table.name, _OF_WHOLE * table.n_bytes, fact=fact, remedy=remedy)
        return self._map_of(np.arange(self.n_samples, dtype=np.int64))

    def _map_of(self, rows: npt.NDArray[np.int64]) -> Map:
        """Return a map of some rows with the positions that they have here, as the map of the landmarks was made."""
        fitted = self.landmark_map
        values = self._rows.take(rows)
        made = Map(
            X=values,
            embedding=self.embedding[rows],
            method=fitted.method,
            parameters={**fitted.parameters, "n_fitted": len(self.landmarks)},
            labels=None if self.labels is None else self.labels[rows],
            label_name=fitted.label_name,
            feature_names=list(fitted.feature_names),
            image_shape=fitted.image_shape,
            metadata={"fitted": self._how_found(rows)},
            metric=fitted.metric,
            scale=fitted.scale,
            representation=self._representation_of(values),
            timings=dict(self.timings),
            notes=list(self.notes),
            name=fitted.name,
            n_jobs=fitted.n_jobs,
            surface=fitted.surface,
        )
        made._estimator = fitted._estimator
        return made

    def _how_found(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Return of rows whether they were fitted or placed, and among the latter which lie out of range."""
        placed = np.where(np.isin(rows, self.out_of_range), "placed, out of range", "placed")
        return np.where(np.isin(rows, self.landmarks), "landmark", placed)

    def _representation_of(self, values: Any) -> Any:
        """Return the coordinates of rows in which the landmarks were mapped; None if these are the features."""
        known = self.landmark_map.representation
        return None if known is None else replace(known, values=self.landmark_map._as_mapped(values))

    def _mapped_rows(self, rows: npt.NDArray[np.int64]) -> Any:
        return self.landmark_map._as_mapped(self._rows.take(rows))

    def _mapped_table(self) -> StoredTable:
        """Return all rows as they were mapped, standardised and in other coordinates, when they are read."""
        fitted, table = self.landmark_map, self._rows
        if fitted.scale is None and fitted.representation is None:
            return table
        from gnomon.data.stored import TransformedTable

        return TransformedTable(table, fitted._as_mapped, key=f"mapped {len(self.landmarks)} {self.random_state}")

    def _layout(self, rows: Any) -> npt.NDArray[Any]:
        """Return positions as scores look at them: on a surface its coordinates."""
        surface = self.landmark_map.surface
        return self.embedding[rows] if surface is None else surface.read(self.embedding[rows])

    @entrance("LandmarkMap.write_html")
    def write_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        n_shown: int = 50_000,
        byte_budget: int | None = None,
        metadata: bool = False,
    ) -> None:
        """Write the page of a sample of the rows, before the density of all of them.

        Parameters
        ----------
        path : str or path-like
            File to write; it opens from disk and asks nothing of the network.
        title : str or None, default=None
            Heading; None takes the name of the map. The page says how many of how many rows are shown.
        n_shown : int >= 100, default=50_000
            Rows that are drawn uniformly, landmarks and placed ones alike, read into memory, explained and evaluated
            among each other.
        byte_budget : int >= 1,000,000 or None, default=None
            Bytes of the page, as for `gnomon.Map.to_html`.
        metadata : False, default=False
            The page is of rows that are read from the table, and holds no metadata but how each was found.

        Raises
        ------
        ValueError
            If `metadata` asks for some.
        """
        from gnomon.viewer import write_html

        _refuse_metadata(metadata, "landmark_map.to_html")
        write_html(path, self.page(n_shown), title=title, byte_budget=byte_budget)

    def page(self, n_shown: int = 50_000) -> PageContent:
        """Return what the page shows; see `write_html`."""
        from gnomon.maps.landmarks.page import page_of

        return page_of(self, n_shown)

    @entrance("LandmarkMap.write")
    def write(self, path: str | os.PathLike[str], *, metadata: bool = False) -> None:
        """Write the positions of all rows, and their labels, block by block.

        Parameters
        ----------
        path : str or path-like
            - ``.npy``: the positions alone.
            - ``.zarr``: arrays "y" and "label". Needs zarr.
            - ``.parquet``: a folder with a file for each block and columns y1, y2, ... and label. Needs pyarrow.
        metadata : False, default=False
            No metadata are written.

        Raises
        ------
        ValueError
            If `path` ends in something else, or `metadata` asks for some.
        FileExistsError
            If something else is there.
        """
        from gnomon.maps.landmarks.file import write_positions

        _refuse_metadata(metadata, "landmark_map.export")
        write_positions(self, path)

    @entrance("LandmarkMap.without_metadata")
    def without_metadata(self, columns: Sequence[str] | None = None) -> LandmarkMap:
        """Return the same map without metadata of its landmarks. See `gnomon.Map.without_metadata`.

        Of other rows it keeps no metadata, and its page and its table of positions hold none.

        Parameters
        ----------
        columns : sequence of str or None, default=None
            Names of metadata of `landmark_map`. None leaves out all of them, and names of rows too.

        Returns
        -------
        LandmarkMap
            A new one; this one stays as it is.

        Raises
        ------
        ValueError
            If a name is none of the metadata.
        """
        from gnomon.maps.forgetting import without_metadata

        return self._with_landmarks(without_metadata(self.landmark_map, columns))

    def _with_landmarks(self, fitted: Map) -> LandmarkMap:
        """Return the same with another map of its landmarks, that has fewer metadata."""
        from gnomon.maps.forgetting import retold

        made = copy.copy(self)
        made.landmark_map, made.timings = fitted, dict(self.timings)
        made.notes = retold(self.notes, self.landmark_map.metadata.keys() - fitted.metadata.keys())
        return made

    @entrance("LandmarkMap.save")
    def save(self, path: str | os.PathLike[str], *, metadata: bool | Sequence[str] = True) -> None:
        """Write the map to one file that `gnomon.load` reads: the map of the landmarks, and all positions and labels.

        The table stays where it is: call `attach` after loading to explain and evaluate.

        Parameters
        ----------
        path : str or path-like
            File to write; what was there stays until the new file is complete.
        metadata : bool or sequence of str, default=True
            Which metadata of the landmarks the file holds; False, and names alone, leave out names of rows too.
        """
        from gnomon.maps.forgetting import with_metadata
        from gnomon.maps.landmarks.file import save

        save(self._with_landmarks(with_metadata(self.landmark_map, metadata)), path)

    @classmethod
    @entrance("LandmarkMap.load")
    def load(cls, path: str | os.PathLike[str]) -> LandmarkMap:
        """Read a map written by `save`; loading runs no code from the file.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        OSError
            If there is no such file or it cannot be read.
        ValueError
            If the file is damaged, or was written by a newer gnomon.
        """
        from gnomon.maps.landmarks.file import load

        return load(path, cls)


def _refuse_metadata(metadata: object, instead: str) -> None:
    if metadata is not False:
        fact, remedy = "a map with landmarks has metadata of these alone", f"Call {instead} for them."
        raise ValueError(message(f"metadata={metadata!r:.60}", "False", fact=fact, remedy=remedy))
