"""A map as a function of the data: new rows, the way back, derivatives, and maps that grow."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message, warn
from gnomon.data import check_feature_count, check_one_row, check_table, plain_row
from gnomon.data.cells import told_part
from gnomon.data.stored import StoredTable, with_features
from gnomon.exceptions import DataWarning
from gnomon.maps.representation import coordinates_of, in_features, rows_of
from gnomon.scale import by_blocks

if TYPE_CHECKING:
    from gnomon.completion import Completion
    from gnomon.data import Representation
    from gnomon.data.scaling import Scaling
    from gnomon.extension import AffineAtlas, Drift, HeldOutRows
    from gnomon.maps.result import Map
    from gnomon.surfaces import Surface

__all__ = ["MapFunction"]


class MapFunction:
    """What `gnomon.Map` is as a function of the data."""

    X: Any
    metric: str
    scale: Scaling | None
    representation: Representation | None
    completion: Completion | None
    surface: Surface | None
    _estimator: Any
    _atlas: AffineAtlas | None
    _known: tuple[Any, npt.NDArray[np.bool_] | None] | None
    _held_out: HeldOutRows | None
    _n_fitted: int | None
    _part: str

    @property
    def extension_kind(self) -> str:
        """What function of the data the map is: "method" for the method's formula, "atlas" for `gnomon.AffineAtlas`.

        PCA and the other methods with a differentiable formula are functions of themselves; every other map, and one
        that was made from given positions, is the atlas of its data and positions. `transform`, `inverse_transform`
        and `jacobian` are of this one function. A formula with a function of yours in it, such as a kernel, is stored
        in no file; then `notes` of the loaded map say so, and it is an atlas.

        The features of a map that was made in other coordinates go through the formula of these first; where there is
        none, the map is the atlas of its features.
        """
        known = self.representation is None or self.representation.has_formula
        return "method" if known and getattr(self._estimator, "_is_own_function", False) else "atlas"

    @property
    def _one(self) -> Any:
        """What holds the function of the map: the fitted method or an atlas."""
        self._refuse_surface("a function with a derivative")
        return self._estimator if self.extension_kind == "method" else self._function()

    def _refuse_surface(self, what: str, *, remedy: str = "Place new rows with place.") -> None:
        """Raise ValueError if the map does not lie in flat space, of which an atlas is."""
        if self.surface is not None:
            rule = f"in flat space for {what}"
            raise ValueError(message(f"a map on a {self.surface.name}", rule, remedy=remedy))

    @property
    def _allows_missing(self) -> bool:
        """Whether NaN may stand for what is not known of a new row."""
        return self.completion is not None

    @property
    def _reads_part(self) -> bool:
        """Whether of new cells another table is taken than their `X`."""
        return self._part not in ("", "X")

    def _check_part(self, part: str) -> None:
        """Raise ValueError if rows are of the matrix X of cells, and the map of another table of such an object."""
        if part == "X" and self._reads_part:
            rule, fact = f"read from {told_part(self._part)}, of which the map is made", "it is of X"
            remedy = f"Pass key={self._part!r} to gnomon.read_table or gnomon.open_table."
            raise ValueError(message("X_new", rule, fact=fact, remedy=remedy))

    def _of_features(self, table: StoredTable) -> StoredTable:
        """Return a table that is read in blocks with the features of the map alone, if it has others beside them."""
        from gnomon.maps.growing import own_names, warn_of_others

        narrowed = with_features(table, own_names(self))  # type: ignore[arg-type]
        if narrowed is not table and not table.has_columns:  # of columns some were left out of the map, too
            known = {*(narrowed.feature_names or ())}
            warn_of_others([name for name in table.feature_names or () if name not in known])
        return narrowed

    @entrance()
    @by_blocks
    def transform(self, X_new: Any) -> npt.NDArray[Any]:
        """Place rows in the map, each as a smooth function of the row alone; see `extension_kind` for which.

        Whether rows together have shifted, as where a laboratory measures higher, no row tells by itself: `extend` says
        how all of them differ from those of the map, column by column.

        Parameters
        ----------
        X_new : array-like, sparse matrix, DataFrame or stored table of shape (n_rows, n_features), Dataset or records
            A stored table or memory map is read in blocks, by who works in the run. Of a Dataset, such as
            `gnomon.read_table` returns, a data frame, an AnnData object and Parquet files the columns of the map are
            taken, by name in any order; rows that lack one are refused. Of an AnnData object the table is read that the
            map was made of: its `layer`, or `raw` if that explains the map, and not `X` then.
            NaN is filled in as in the map if that was made of a table with missing values, else refused; see `filling`.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            A row of the map gets its place, up to rounding.

        Warns
        -----
        DataWarning
            If an atlas is asked for rows that are out of its range, see `novelty`, naming columns in which they lie
            beyond all values of the map; if most rows, ten at least, are less like those of the map than 99 % of these
            are like each other, as where they are of another kind or in other units; if a data frame or an AnnData
            object has columns that the map does not have, which are left out; if under "cosine" or "hellinger" rows are
            all zeros in the columns where rows of the map are not, as texts without any of its words are: they get
            places, which say nothing of them.
        """
        from gnomon.maps.growing import check_rows

        rows = check_rows(self, X_new)  # type: ignore[arg-type]
        with self._telling_of_blank(rows), self._naming_columns(rows):
            return np.asarray(self._one.transform(self._as_mapped(rows)))

    @entrance()
    @by_blocks
    def place(self, X_new: Any) -> npt.NDArray[Any]:
        """Place rows in the fitted method's own way, such as by its loss; see ``place`` of the method.

        Such places may jump from one row to a similar one; `transform` is smooth. The two differ by about the distance
        between neighbours in the map. Whether rows together have shifted, neither tells; `extend` does.

        Parameters
        ----------
        X_new : array-like, sparse matrix, DataFrame or stored table of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_components)

        Raises
        ------
        ValueError
            If the map has no fitted method that places rows.

        Warns
        -----
        DataWarning
            Of rows out of range or unlike those of the map, by methods that look for a row's neighbours, and of rows
            that are all zeros, as for `transform`.
        """
        from gnomon.maps.growing import check_rows

        given = check_rows(self, X_new)  # type: ignore[arg-type]
        own = self._way_to_place
        if own is None:
            remedy = "Ask for transform."
            raise ValueError(message("the map", "one with a fitted method that places rows", remedy=remedy))
        with self._telling_of_blank(given), self._naming_columns(given):
            places = np.asarray(own(self._as_mapped(given)))
        return places if self.surface is None else self.surface.drawn(places)

    @property
    def _way_to_place(self) -> Any:
        """The function of the fitted method that places rows; None if it has none, or is not known."""
        placer = self._estimator if self.representation is None or self.representation.has_formula else None
        own = getattr(placer, "place", None)
        if own is None and (self.extension_kind == "method" or not hasattr(placer, "_has_formula")):
            own = getattr(placer, "transform", None)  # a formula, or an estimator of another library
        return own

    @entrance()
    def inverse_transform(self, Y: Any) -> npt.NDArray[Any]:
        """Return rows of the data at places of the map (n_rows, n_components), each a function of the place alone.

        By the method's formula or by the `gnomon.AffineAtlas` of the map, whose `round_trip` tells how far to believe
        it; see `extension_kind`.
        """
        rows = np.asarray(self._one.inverse_transform(Y))
        if self.representation is not None and self.representation.has_formula:
            rows = rows_of(self.representation, rows)
        return rows if self.scale is None else np.asarray(self.scale.undo(rows))

    @entrance()
    def jacobian(self, x: Any) -> npt.NDArray[np.float64]:
        """Return the derivative of `transform` at rows x: (n_components, n_features), or one for each row."""
        from gnomon.maps.growing import check_rows

        row = plain_row(x, int(self.X.shape[1]))
        if row is not None:
            return np.asarray(self._in_features(self._one.jacobian(self._as_mapped(row))))
        one = not hasattr(x, "tocsr") and np.ndim(x) == 1
        rows = self._as_mapped(check_rows(self, np.asarray(x)[None] if one else x))  # type: ignore[arg-type]
        found = np.asarray(self._in_features(self._one.jacobian(rows)))
        return found[0] if one else found

    def linearize(self, x: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return the place of one row and the derivative there, for a loop that asks often.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            For speed an array of float64.

        Returns
        -------
        place : ndarray of shape (n_components,)
            That of `transform`, up to rounding, without its warning.
        jacobian : ndarray of shape (n_components, n_features), float64
        """
        row = plain_row(x, int(self.X.shape[1]))
        checked = self._checked_row(x) if row is None else row
        place, jacobian = self._one.linearize(self._as_mapped(checked))
        return place, self._in_features(jacobian)

    @entrance()
    def _checked_row(self, x: Any) -> npt.NDArray[Any]:
        from gnomon.maps.growing import own_names

        table = check_table(check_one_row(x), known_as=own_names(self))  # type: ignore[arg-type]
        check_feature_count(table, int(self.X.shape[1]), None)
        return np.asarray(table.values[0], dtype=np.float64)

    @entrance()
    def novelty(self, X_new: Any) -> npt.NDArray[np.float64]:
        """Say how far rows lie out of range, in [0, 1]. See `gnomon.AffineAtlas.novelty`.

        In a map that was made in principal components a third of its rows, at most 1000, are held out, components are
        learned from others, at most 4000, and new rows are compared with those held out: in how far they lie from
        the rows of the components along these, and how far off them, where more than usual and less both count. So what
        no component shows is seen, and the novelty is uniform for rows like those of the map here as well. Distances
        are Euclidean then, whatever the metric of the map. The range of `transform`, which warns, is that of the
        components of the map alone.

        Parameters
        ----------
        X_new : array-like, sparse matrix, DataFrame or stored table of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,), float64, in [0, 1]
            Above 0.95 a row is unusual.
        """
        from gnomon.maps.growing import check_rows

        self._refuse_surface("an atlas")
        rows, held_out = check_rows(self, X_new), self._held_out_rows()  # type: ignore[arg-type]
        if held_out is None:
            return self._function().novelty(self._as_mapped(rows))
        return held_out.compare(self._as_scaled(rows)).novelty

    @entrance()
    def filling(self, missing: str = "distance") -> Map:
        """Return the same map, which fills in what new rows lack.

        A map of a table without gaps refuses NaN in new rows, categories and dates that are missing, and texts that it
        cannot read. The map that is returned takes them, in `transform`, `place`, `novelty` and `extend`: each row is
        filled in by itself from its known values and the rows of the map, as by `gnomon.complete_missing`, in the
        features that the map has; the indicators of a missing category then say how likely each is. A row without any
        value is filled with the means, and a warning says that its place says nothing of it. Positions and answers stay
        as they are, and a file keeps how to fill in.

        Parameters
        ----------
        missing : {"distance", "median"}, default="distance"
            "median" fills in the median of the column.

        Returns
        -------
        Map
            This one if it was made of a table with missing values: it fills new rows in as its own.
            ``completion.held_out.error`` says how well known values of its rows were found again that were hidden at
            random, one in eight of a row.

        Raises
        ------
        ValueError
            If the map is of a sparse table.
        """
        if self.completion is not None:
            return self  # type: ignore[return-value]
        from gnomon.maps.missing import learn_of_map

        made: Map = copy.copy(self)  # type: ignore[assignment]
        made.completion = learn_of_map(made, missing)
        return made

    def extend(
        self,
        X_new: Any,
        *,
        labels: npt.ArrayLike | str | None = None,
        metadata: Mapping[str, npt.ArrayLike] | None = None,
        point_names: npt.ArrayLike | None = None,
        images: npt.NDArray[np.uint8] | None = None,
    ) -> tuple[Map, Drift]:
        """Return a map with new rows added, where the old ones keep their positions, and how the new ones differ.

        Parameters
        ----------
        X_new : array-like, sparse matrix, DataFrame, AnnData or Dataset of shape (n_rows, n_features)
            Placed by `transform`.
        labels : array-like of shape (n_rows,), str or None, default=None
            Also the name of a column of X_new. None takes those of a Dataset, or the column of a data frame, records or
            Dataset that is called as the map's labels; else the new rows have none, are of no class, and are in no
            score of the labels.
        metadata, point_names, images : as for `gnomon.map`, of the new rows, default=None
            None takes names and columns of X_new. What is missing becomes NaN or empty text and is told, and columns
            that the map has not are left out; pictures are, unless all rows have one.

        Returns
        -------
        larger : Map
            Old rows first, their positions equal in every bit; the metadata have a column "fitted". It places further
            rows as this map does.
        drift : gnomon.extension.Drift
            Its `summary` says whether the map should be fitted again. Features of dates, or called "time" or the like,
            that all lie after, or before, those of the map are not compared, and told.
        """
        from gnomon.maps.growing import extend

        given = {"labels": labels, "metadata": metadata, "point_names": point_names, "images": images}
        return extend(self, X_new, **given)  # type: ignore[arg-type]

    def _as_mapped(self, rows: Any) -> Any:
        """Return rows of features, or one row, in the form that the function of the map takes."""
        rows = self._as_scaled(rows)
        if self.representation is None or not self.representation.has_formula:
            return rows
        if rows.ndim == 1:
            return coordinates_of(self.representation, rows[None])[0]
        return coordinates_of(self.representation, rows)

    def _as_scaled(self, rows: Any) -> Any:
        return rows if self.scale is None else self.scale.apply(rows)

    def _in_features(self, jacobian: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return a derivative by what was mapped as one by the features."""
        if self.representation is not None and self.representation.has_formula:
            jacobian = in_features(self.representation, jacobian)
        return jacobian if self.scale is None else self.scale.per_unit(jacobian)

    def _function(self) -> AffineAtlas:
        """Return the atlas, made when it is first asked for."""
        self._refuse_surface("an atlas")
        if self._atlas is None:
            from gnomon.maps.growing import make_atlas

            self._atlas = make_atlas(self)  # type: ignore[arg-type]
        return self._atlas

    def _known_columns(self) -> npt.NDArray[np.bool_] | None:
        """Return in which columns the fitted rows hold values; None if the metric places rows of zeros."""
        from gnomon.extension import known_columns

        table = self._standardised()  # type: ignore[attr-defined]
        if self._known is None or self._known[0] is not table:
            self._known = table, known_columns(table.values[: self._n_fitted], self.metric)
        return self._known[1]

    @contextmanager
    def _telling_of_blank(self, rows: Any) -> Iterator[None]:
        """Warn of rows that say nothing to the map, which are placed in the block, and of nothing else of theirs."""
        from gnomon.extension import blank_rows, told_blank, untold_blank

        known = self._known_columns()
        blank = blank_rows(rows if known is None else self._as_scaled(rows), known)
        if not len(blank):
            yield
            return
        told = told_blank(len(blank), int(rows.shape[0]), self.metric)
        warn(f"{told}: their places say nothing of them.", DataWarning)
        with untold_blank(blank, int(rows.shape[0])):
            yield

    def _naming_columns(self, rows: Any) -> AbstractContextManager[None]:
        """Let warnings of rows out of range in the block name columns in which they lie beyond all rows of the map."""
        from gnomon.extension import explaining_far
        from gnomon.maps.growing import told_beyond

        return explaining_far(lambda far: told_beyond(self, rows, far))  # type: ignore[arg-type]

    def _held_out_rows(self) -> HeldOutRows | None:
        """Return what the novelty of a map in principal components is told by, made when it is first asked for."""
        if self._held_out is None:
            from gnomon.maps.growing import hold_out_rows

            self._held_out = hold_out_rows(self, self._n_fitted)  # type: ignore[arg-type]
        return self._held_out

    def _take_function_of(self, other: Map) -> None:
        self._estimator, self._part = other._estimator, other._part
        if self.extension_kind == "atlas":
            self._n_fitted = other._n_fitted or other.n_samples
