"""A map as a function: places of new rows, rows of new places, derivatives, and a map that grows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._entrance import entrance
from gnomon._validation import message, warn
from gnomon.data import Dataset, Representation, Table, check_feature_count, check_labels, check_table
from gnomon.data.arrays import LARGEST_SQUARED, whole_numbers
from gnomon.data.cells import annotation, genes_like, is_cells, read_part
from gnomon.data.columns import ColumnRule, encode_rows, features_of, named_as_time, raw_columns, unknown_categories
from gnomon.data.columns.dates import told_date
from gnomon.data.columns.raw import RawColumn
from gnomon.data.columns.values import plain_column
from gnomon.data.dataset import listed, require_name, text_array
from gnomon.data.frames import holds_other_kinds, is_frame, names_of_rows
from gnomon.data.labels import in_order, measured_labels, order_of
from gnomon.data.names import default_names, names_beside
from gnomon.data.records import are_records, read_records
from gnomon.data.stored import StoredTable
from gnomon.exceptions import DataWarning
from gnomon.geometry.check import has_place
from gnomon.maps.cautions import cautioned
from gnomon.maps.matching import refuse_other_order
from gnomon.maps.missing import fill_new_rows
from gnomon.maps.order import order_of_rows
from gnomon.neighbors import succession_of_rows

if TYPE_CHECKING:
    from gnomon.completion import Completion
    from gnomon.extension import AffineAtlas, Drift, HeldOutRows, UnknownShift
    from gnomon.maps.result import Map

__all__ = [
    "check_rows",
    "columns_of_rows",
    "extend",
    "hold_out_rows",
    "make_atlas",
    "own_names",
    "told_beyond",
    "warn_of_others",
]

_N_NEIGHBORS = 15
_BEYOND = 3  # columns that are named of rows out of range
_SOURCE = "fitted"


def make_atlas(result: Map) -> AffineAtlas:
    """Return the atlas of the data and the positions of a map; of those before it grew, if it has grown."""
    from gnomon.extension import AffineAtlas

    n = result._n_fitted
    known = result.representation is None or result.representation.has_formula
    table = result._mapped() if known else result._standardised()
    return AffineAtlas(
        table if n is None else table.values[:n],
        result.embedding[:n],
        graph=result.neighbors() if n is None and known else None,
        n_neighbors=_N_NEIGHBORS,
        metric=result.metric,
        n_jobs=result.n_jobs,
    )


def hold_out_rows(result: Map, n: int | None) -> HeldOutRows | None:
    """Return what tells how unlike the first n rows of a map new ones are, all for None.

    None for a map that was made of its features, where its atlas tells it, or of fewer than 3 rows with a place.
    """
    from gnomon.extension import FEWEST_ROWS, HeldOutRows

    known = result.representation
    if known is None or known.components is None or not known.has_formula:
        return None
    placed = np.flatnonzero(has_place(result.embedding[:n]))
    if len(placed) < FEWEST_ROWS:
        return None
    rows = result._checked().values[placed]
    columns = np.flatnonzero((known.components != 0.0).any(axis=0))
    return HeldOutRows.draw(
        rows if result.scale is None else result.scale.apply(rows),
        known.n_coordinates,
        columns=None if len(columns) == result.n_features else columns,
        n_neighbors=_N_NEIGHBORS,
    )


def check_rows(result: Map, X_new: Any) -> Any:
    """Return new rows in the form of the map's data, or raise an error about their columns.

    Of a map whose table had columns that are no numbers they may be a data frame of such columns. Of a data set that
    was read from a file, a data frame and an AnnData object the columns of the map are taken, by name.
    """
    return _new_rows(result, X_new).values


class _NewRows(NamedTuple):
    """New rows.

    Attributes
    ----------
    values : ndarray or CSR
        In the form of the map's data.
    missing : ndarray of bool, or None
        Which values they lacked, if any may be missing.
    unknown : dict
        As of `unknown_categories`.
    """

    values: Any
    missing: npt.NDArray[np.bool_] | None
    unknown: dict[str, tuple[str, int]]


def _new_rows(result: Map, X_new: Any) -> _NewRows:
    """Return new rows in the form of the map's data, what they lacked, and what the map does not know of them."""
    unknown: dict[str, tuple[str, int]] = {}
    if are_records(X_new):
        X_new = read_records(X_new)
    if isinstance(X_new, Dataset):
        result._check_part(X_new.part)
        X_new, unknown = _rows_of_file(result, X_new)
    elif isinstance(X_new, StoredTable):
        result._check_part(X_new.part)
    elif is_cells(X_new):
        symbols = genes_like(X_new, result._part, own_names(result))
        if result._reads_part:
            X, columns = read_part(X_new, result._part)
            X_new = _checked(X, symbols or (None if own_names(result) is None else columns))
        elif symbols is not None:
            X_new = _checked(X_new, symbols)
    if is_frame(X_new) and _is_as_it_came(result, X_new):
        X_new, unknown = _encoded(result, X_new)
    names = own_names(result)
    table, missing = fill_new_rows(result.completion, _by_name(X_new, names, result.feature_names), names)
    check_feature_count(table, result.n_features, names, kept_as="m.feature_names")
    values: Any = table.values
    if sp.issparse(result.X):
        return _NewRows(values if table.is_sparse else sp.csr_array(values), missing, unknown)
    return _NewRows(values.toarray() if table.is_sparse else values, missing, unknown)


def _by_name(X_new: Any, own: list[str] | None, default: list[str]) -> Any:
    """Return the columns of these names in this order, and say which others are left out; what lacks any as it is.

    Those of the map's own names, and if it has none of its names by default where new rows have no others.
    """
    if not (isinstance(X_new, Table) or is_frame(X_new) or is_cells(X_new)):
        return X_new
    table = X_new if isinstance(X_new, Table) else _checked(X_new, None, known_as=own)
    found = table.feature_names
    names = default if own is None else own
    if own is None and sorted(found or ()) != sorted(default):
        return table
    if found is None or list(found) == names or len({*found}) < len(found) or not {*names} <= {*found}:
        return X_new
    warn_of_others([name for name in found if name not in {*names}])
    place = {name: j for j, name in enumerate(found)}
    return _checked(table.values[:, [place[name] for name in names]], names)


def warn_of_others(names: list[str]) -> None:
    """Warn of columns of new rows that are not in the map, if there are any."""
    if names:
        warn(f"columns of the new rows that the map does not have are left out: {listed(names)}", DataWarning)


def told_beyond(result: Map, rows: Any, far: npt.NDArray[np.bool_]) -> str:
    """Say in which columns most of some new rows lie beyond all rows of a map; empty if they do in none.

    Parameters
    ----------
    result : Map
    rows : ndarray or CSR of shape (n_rows, n_features)
        In the form of the map's data.
    far : ndarray of shape (n_rows,), bool
        Which are told of.
    """
    if sp.issparse(rows) or sp.issparse(result.X):
        return ""
    old, new = result.X[: result._n_fitted], rows[far]
    low, high = old.min(axis=0), old.max(axis=0)
    beyond = (new < low) | (new > high)
    counts = beyond.sum(axis=0)
    most = [int(j) for j in np.argsort(-counts, kind="stable")[: _BEYOND + 1] if counts[j]]
    if not most:
        return ""
    names = _names_as_they_came(result)

    def value(j: int, number: float) -> str:
        return str(told_date(result.feature_names[j], number) or f"{number:.4g}")

    told = [
        f"{counts[j]:,} in {names[j]!r} (around {value(j, float(np.median(new[beyond[:, j], j])))}, the map has "
        f"{value(j, float(low[j]))} to {value(j, float(high[j]))})"
        for j in most[:_BEYOND]
    ]
    more = " and others" if len(most) > _BEYOND else ""
    return f"Beyond all rows of the map lie {', '.join(told)}{more}."


def own_names(result: Map) -> list[str] | None:
    """Return the names that the columns of a map's table had, None if they had none."""
    named = result.feature_names != default_names(result.n_features, result.image_shape)
    return result.feature_names if named else None


def _rows_of_file(result: Map, data: Dataset) -> tuple[Any, dict[str, tuple[str, int]]]:
    """Return the columns of a data set that are those of the map, in its order; encoded if the map has such rules."""
    if data.feature_names is None and not data.text_columns:
        return data.X, {}
    names = data.feature_names or names_beside(data.n_features, data.text_columns or [])
    if set(result.feature_names) <= set(names):
        values = data.X[:, [names.index(name) for name in result.feature_names]]
        return _checked(values, result.feature_names), {}
    if result.columns is None and not set(_column_names(result)) <= {*names, *data.metadata}:
        own, known = own_names(result), [*names, *(name for name in data.metadata if name not in names)]
        if own is not None:  # a text is no column that is not there
            check_feature_count(Table(np.empty((0, len(known))), known), result.n_features, own)
        return _checked(data.X, names), {}
    columns = {name: data.X[:, j] for j, name in enumerate(names)}
    return _encoded(result, {**columns, **data.metadata}, decimal=data.decimal)


def _encoded(result: Map, X_new: Any, *, decimal: str = "") -> tuple[Table, dict[str, tuple[str, int]]]:
    """Return the features of the map of columns as they came, and unknown categories; texts of numbers are read."""
    rules = result.columns or [ColumnRule(name, "number", (name,)) for name in _column_names(result)]
    can_lack = result.completion is not None
    values = encode_rows(X_new, rules, keep_missing=True, can_lack=can_lack, decimal=decimal)
    return _checked(values, result.feature_names), unknown_categories(X_new, rules)


def _column_names(result: Map) -> list[str]:
    """Return the names of the columns of a map whose features they are; where they had none, their numbers."""
    return own_names(result) or [str(j) for j in range(result.n_features)]


def _checked(X: Any, names: list[str] | None, *, known_as: list[str] | None = None) -> Table:
    """Return new rows, which may be none and lack values, under the names of their columns, None for those of X."""
    return check_table(
        X,
        accept_sparse=True,
        min_samples=0,
        feature_names=names,
        allow_missing=True,
        known_as=known_as,
        largest=LARGEST_SQUARED,
    )


def _is_as_it_came(result: Map, frame: Any) -> bool:
    """Return whether a data frame has the columns of the map before they became features."""
    names = _names_of(frame)
    if result.columns is None:
        return set(_column_names(result)) <= set(names) and holds_other_kinds(frame)
    used = {rule.name for rule in result.columns or () if rule.features}
    return used <= set(names) or set(names) != set(result.feature_names)


def _names_of(frame: Any) -> list[str]:
    return [str(name) for name in getattr(frame, "column_names", None) or frame.columns]


@entrance("Map")
def extend(
    result: Map,
    X_new: Any,
    *,
    labels: npt.ArrayLike | str | None,
    metadata: Mapping[str, npt.ArrayLike] | None,
    point_names: npt.ArrayLike | None,
    images: npt.NDArray[np.uint8] | None,
) -> tuple[Map, Drift]:
    """Return the map with new rows added, and what these say about it. See `Map.extend`."""
    from gnomon.extension import measure_drift

    if labels is None and isinstance(X_new, Dataset) and result.labels is not None:
        labels = X_new.labels
    if are_records(X_new):
        X_new = read_records(X_new)
    labels, metadata, point_names = _what_is_known(result, X_new, labels, metadata, point_names)
    rows, missing, unknown = _new_rows(result, X_new)
    m = int(rows.shape[0])
    if m == 0:
        raise ValueError(message("X_new", "a table of at least 1 row", fact="Found array with 0 sample(s)"))
    if result.representation is not None and not result.representation.has_formula:
        fact = f"{result.representation} are no known function of the features"
        remedy = "Map all rows together, or in principal components (n_pcs=...)."
        raise ValueError(message("a map that grows", "one whose coordinates new rows have", fact=fact, remedy=remedy))
    places = np.ascontiguousarray(result.transform(rows), dtype=np.float32)
    mapped = result._as_mapped(rows)
    times = _times_that_go_on(result, rows)
    held_out = result._held_out_rows() if result._n_fitted is None else hold_out_rows(result, None)
    orders = (order_of_rows(result), succession_of_rows(mapped, result.metric))
    drift = measure_drift(
        result._mapped().values,
        result.embedding,
        mapped,
        places,
        labels=result.labels,
        metric=result.metric,
        unlikeness=None if held_out is None else held_out.compare(result._as_scaled(rows)),
        features=None if result.representation is None else (result._standardised().values, result._as_scaled(rows)),
        column_names=list(result.feature_names),
        missing=_gaps(result, rows, missing),
        missing_names=_names_as_they_came(result),
        unknown=_unknown_to(result, unknown, m),
        orders=orders,
        n_together=0 if result.representation is None else int(result.representation.values.shape[1]),
        without=times,
    )
    if not any(orders):
        drift = replace(drift, off_directions=result._new_off_directions(rows))
    drift = cautioned(result, drift, joined=True, more=[_told_times(result, times)])
    columns = {name: _longer(column, metadata.get(name), m, name) for name, column in result.metadata.items()}
    source = columns.pop(_SOURCE, np.array(["yes"] * result.n_samples + ["no"] * m))
    source[result.n_samples :] = "no"
    lacking = _told_lacking(result, X_new, metadata)
    notes = [*result.notes, *lacking, f"{m} rows were added after the fit. {drift.summary().splitlines()[-1]}"]
    stack = sp.vstack if sp.issparse(rows) else np.concatenate
    larger = type(result)(
        X=stack([result.X, rows]),
        embedding=np.concatenate([result.embedding, places]),
        method=result.method,
        parameters=dict(result.parameters),
        labels=_more_labels(result, labels, m),
        label_name=result.label_name,
        feature_names=list(result.feature_names),
        images=None if result.images is None or images is None else np.concatenate([result.images, images]),
        image_shape=result.image_shape,
        metadata={**columns, _SOURCE: source},
        point_names=None if result.point_names is None else _longer(result.point_names, point_names, m, "point_names"),
        metric=result.metric,
        scale=result.scale,
        representation=_longer_representation(result, mapped),
        completion=_longer_completion(result, rows, missing),
        timings=dict(result.timings),
        notes=notes,
        columns=result.columns,
        name=result.name,
        n_jobs=result.n_jobs,
    )
    larger._take_function_of(result)
    return larger, drift


def _times_that_go_on(result: Map, rows: Any) -> list[int]:
    """Return the features of dates, or called times, of which all new rows lie after, or before, all rows of a map."""
    if sp.issparse(rows):
        return []
    dates = {rule: at.start for rule, at in features_of(result.columns or ()).items() if rule.kind == "date"}
    times = [at for rule, at in dates.items() if not rule.of_durations or named_as_time(rule.name)]
    times += [j for j, name in enumerate(own_names(result) or ()) if named_as_time(name)]
    found = []
    for j in dict.fromkeys(times):
        old, new = (np.asarray(one[:, j]) for one in (result.X, rows))
        if float(new.min()) > float(old.max()) or float(new.max()) < float(old.min()):
            found.append(j)
    return found


def _told_times(result: Map, times: list[int]) -> str:
    """Say that features of times are not compared; empty if there are none."""
    if not times:
        return ""
    whose = {feature: rule.name for rule in result.columns or () for feature in rule.features}
    names = [whose.get(result.feature_names[j], result.feature_names[j]) for j in times]
    told = listed(names)
    return (
        f"All new rows are of another time than those of the map ({told}), as new rows are: that is no drift, and not "
        f"compared, but such features set new rows apart. A map with drop={names!r} has none."
    )


def _what_is_known(
    result: Map, X_new: Any, labels: Any, metadata: Mapping[str, npt.ArrayLike] | None, point_names: Any
) -> tuple[Any, dict[str, Any], Any]:
    """Return labels, metadata and names of new rows, those that their table brings if none are given.

    Labels that are a name are the column of that name; None is the column that is called as the map's labels.
    """
    refuse_other_order(X_new, labels=labels, metadata=metadata, point_names=point_names)
    known = columns_of_rows(result, X_new, labels if isinstance(labels, str) else result.label_name)
    names = None
    if is_cells(X_new):
        names = text_array([str(name) for name in X_new.obs_names])
    elif isinstance(X_new, Dataset):
        names = X_new.point_names
    elif found := names_of_rows(X_new):
        names = text_array(found[1])
    if isinstance(labels, str):
        if not known:
            rule = "the labels themselves, where new rows have no columns by name"
            raise TypeError(
                message(f"labels={labels!r:.60}", rule, remedy=f"Pass the column, such as X_new[{labels!r}].")
            )
        require_name(labels, list(known), what="labels")
        labels = known[labels]
    elif labels is None and result.labels is not None and result.label_name and not is_cells(X_new):
        labels = known.get(result.label_name)
    known.pop(_SOURCE, None)
    given = {} if metadata is None else raw_columns(metadata) if is_frame(metadata) else metadata
    own = {name: column.labels if isinstance(column, RawColumn) else column for name, column in given.items()}
    return labels, {**known, **own}, names if point_names is None else point_names


def columns_of_rows(result: Map, X_new: Any, labels: str | None = None) -> dict[str, npt.NDArray[Any]]:
    """Return the columns that new rows bring by name, as a map keeps them; of a table of numbers only those it needs.

    Parameters
    ----------
    result : Map
    X_new : Any
        As of `Map.extend`; of records what `read_records` returns.
    labels : str or None, default=None
        A column that is needed beside the map's metadata.

    Returns
    -------
    dict of str to ndarray of shape (n_rows,)
    """
    if is_cells(X_new):
        return {str(name): annotation(X_new.obs[name]) for name in X_new.obs.columns}
    needed = {*result.metadata, *([] if labels is None else [labels])}
    if isinstance(X_new, Dataset):
        found = {} if X_new.label_name is None or X_new.labels is None else {X_new.label_name: X_new.labels}
        if X_new.feature_names is not None and isinstance(X_new.X, np.ndarray):
            untyped = X_new.text_columns is not None
            for j, name in enumerate(X_new.feature_names):
                if name in needed:
                    values = X_new.integers.get(name, X_new.X[:, j])
                    found[name] = whole_numbers(values) if untyped else values
        return {**found, **X_new.metadata}
    if is_frame(X_new) and needed & {*_names_of(X_new)}:
        return {name: plain_column(raw.labels) for name, raw in raw_columns(X_new).items()}
    return {}


def _told_lacking(result: Map, X_new: Any, metadata: Mapping[str, Any]) -> list[str]:
    """Return a note of the metadata that new rows lack, if they lack any; warn if they have columns by name.

    What steered the map new rows need not have.
    """
    lacking = [name for name in result.metadata if name != _SOURCE and metadata.get(name) is None]
    if not lacking:
        return []
    told = f"metadata that the new rows lack are empty there: {listed(lacking)}"
    needed = {*lacking} - {result.parameters.get("target")}
    if needed and (is_frame(X_new) or isinstance(X_new, Dataset)):
        warn(told, DataWarning)
    return [told]


def _longer_representation(result: Map, mapped: npt.NDArray[Any]) -> Representation | None:
    if result.representation is None:
        return None
    return replace(result.representation, values=np.concatenate([result.representation.values, mapped]))


def _longer_completion(result: Map, rows: Any, missing: npt.NDArray[np.bool_] | None) -> Completion | None:
    if result.completion is None:
        return None
    both = _gaps(result, rows, missing)
    assert both is not None
    return replace(result.completion, X=np.concatenate([result.X, rows]), missing=np.concatenate(both))


def _gaps(
    result: Map, rows: Any, missing: npt.NDArray[np.bool_] | None
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]] | None:
    """Return which values of the map and of new rows were filled in; None if the map took none with gaps."""
    if result.completion is None:
        return None
    return result.completion.missing, np.zeros(rows.shape, dtype=np.bool_) if missing is None else missing


def _unknown_to(result: Map, unknown: dict[str, tuple[str, int]], n_new: int) -> UnknownShift | None:
    """Return how often new rows have categories that the map does not know; None of a map without categories."""
    from gnomon.extension import Unknown, measure_unknown

    columns = {rule: at for rule, at in features_of(result.columns or ()).items() if rule.categories}
    if not columns:
        return None
    found = [
        Unknown(rule.name, *unknown[rule.name], _n_single(rule, np.asarray(result.X[:, at])))
        for rule, at in columns.items()
        if rule.name in unknown
    ]
    return measure_unknown(found, result.n_samples, n_new, len(columns))


def _n_single(rule: ColumnRule, features: npt.NDArray[Any]) -> int:
    """Return how many rows have a category that no other row has."""
    values = np.arange(len(rule.categories)) if features.shape[1] == 1 else np.ones(1)
    return int(((features[:, :, None] == values).sum(axis=0) == 1).sum())


def _names_as_they_came(result: Map) -> list[str]:
    """Return for each feature the name of the column that it was made of."""
    names = list(result.feature_names)
    whose = {feature: rule.name for rule in result.columns or () for feature in rule.features}
    return [whose.get(name, name) for name in names]


def _more_labels(result: Map, labels: npt.ArrayLike | None, m: int) -> npt.NDArray[Any] | None:
    """Return the labels of all rows; new rows have none if there are none for them."""
    if result.labels is None:
        if labels is None:
            return None
        raise ValueError(message("labels", "None for a map without labels"))
    if labels is None and measured_labels(result.labels) is not None:
        blank = np.full(m, np.nan if result.labels.dtype.kind == "f" else np.datetime64("NaT", "us"))
        return np.concatenate([result.labels, blank])
    new = np.full(m, None, dtype=object) if labels is None else check_labels(labels, m)
    both = [result.labels, new]
    kinds = {one.dtype.kind for one in both}
    if len(kinds) > 1 and not kinds <= set("iuf"):  # NumPy would write numbers and NaN as text
        both = [(one.astype("datetime64[us]") if one.dtype.kind == "M" else one).astype(object) for one in both]
    longer = np.concatenate(both)
    return in_order(check_labels(longer, len(longer)), order_of(result.labels))


def _longer(column: npt.NDArray[Any], new: npt.ArrayLike | None, m: int, name: str) -> npt.NDArray[Any]:
    """Return a column with the entries of new rows, NaN or empty text if there are none."""
    old = np.asarray(column)
    if new is not None and old.dtype.kind not in "buif" and _is_blank(np.asarray(new), m):
        new = None  # NumPy would write NaN as text
    if new is None:
        kind = old.dtype.kind
        blank: Any = np.nan if kind in "buif" else np.array("NaT", old.dtype) if kind in "mM" else ""
        longer = np.concatenate([old if old.dtype.kind != "b" else old.astype(float), np.full(m, blank)])
        return in_order(longer, order_of(old))
    added = np.asarray(new)
    if added.shape[:1] != (m,):
        raise ValueError(message(f"{name} of length {len(added)}", f"one entry for each of {m} new rows"))
    if {old.dtype.kind, added.dtype.kind} & set("mM") and old.dtype.kind != added.dtype.kind:
        old, added = old.astype(np.str_), added.astype(np.str_)
    return in_order(np.concatenate([old, added]), order_of(old))


def _is_blank(values: npt.NDArray[Any], m: int) -> bool:
    """Return whether a column of numbers has one entry for each of m rows and none of them is there."""
    return values.shape == (m,) and values.dtype.kind == "f" and bool(np.isnan(values).all())
