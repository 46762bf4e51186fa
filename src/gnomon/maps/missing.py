"""What a map does about missing values: of the rows it is made of, and of rows that come later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon._validation import message, warn
from gnomon.completion import Completion, check_missing, complete_missing, learn_to_fill
from gnomon.data import Dataset, Representation, Table, check_table
from gnomon.data.arrays import IMPUTE, LARGEST_SQUARED, all_finite
from gnomon.data.columns import ColumnRule, features_of, first_features
from gnomon.data.dataset import first_few
from gnomon.data.names import default_names
from gnomon.exceptions import DataWarning
from gnomon.maps.unasked import told_where_missing

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["fill_new_rows", "learn_of_map", "parameters_of_kept", "settle_missing", "told_missing"]

_LEAST_ROWS = 3
_SHOWN = 5  # rows named
_BY_THE_MAP = (
    "Fill them in by the rows of the map: m = m.filling() (--missing distance of commands), then m.transform, m.place "
    "and m.extend take such rows; or impute numbers beforehand, as gnomon.complete_missing does, or leave the rows out."
)
_SAY_NOTHING = "their places say nothing of them"
_OF_ROWS = {"init": 1, "reference": 1, "weights": 2}
"""Parameters of methods that may have an entry for each row, along so many axes."""


class Settled(NamedTuple):
    """Data without missing values.

    Attributes
    ----------
    data : Dataset
    table : Table
        Its numbers.
    completion : Completion or None
        How missing values were filled in.
    kept : ndarray of int, or None
        The rows that were not left out; None where all are kept.
    """

    data: Dataset
    table: Table
    completion: Completion | None = None
    kept: npt.NDArray[np.intp] | None = None


def settle_missing(data: Dataset, missing: Any, *, scale: Any, random_state: int) -> Settled:
    """Fill missing values in, or leave their rows out.

    Parameters
    ----------
    data : Dataset
    missing : {"distance", "median", "drop", "error"}
    scale : {"auto", "standard", "robust"} or None
        How the columns will be standardised.
    random_state : int
    """
    how = check_missing(missing)
    table = check_table(
        data.X,
        accept_sparse=True,
        min_samples=3,
        feature_names=data.feature_names,
        allow_missing=how != "error",
        largest=LARGEST_SQUARED,
    )
    if how == "error":
        return Settled(data, table)
    values: Any = table.values
    if all_finite(values if isinstance(values, np.ndarray) else values.data):
        return Settled(data, replace(table, plain=True))
    if table.is_sparse:
        fact = "a sparse table with NaN"
        remedy = "Zeros that are not stored are known values; fill in the others, or leave their rows or columns out."
        raise ValueError(message("X", "without missing values where it is sparse", fact=fact, remedy=remedy))
    if how == "drop":
        return _drop(data, values, table)
    standardize = None if scale == "auto" and data.image_shape is None else scale in ("standard", "robust")
    completion = complete_missing(
        values, how, feature_names=table.feature_names, standardize=standardize, random_state=random_state
    )
    warn(told_missing(completion, table.feature_names, data.columns), DataWarning)
    whole = check_table(completion.X, feature_names=table.feature_names)
    return Settled(data, replace(whole, index=table.index), completion)


def told_missing(completion: Completion, names: list[str] | None, rules: Sequence[ColumnRule] | None) -> str:
    """Say what was missing in a table and what was done, wherever it is told: values of columns, not of indicators.

    Parameters
    ----------
    completion : Completion
    names : list of str or None
        Of the features.
    rules : sequence of ColumnRule or None
        Of the columns that the features were made of; None where features are columns.
    """
    told = completion.summary(names, columns=None if rules is None else first_features(rules))
    known = names or completion.feature_names or default_names(completion.X.shape[1])
    columns = {name: j for j, name in enumerate(known)} if rules is None else first_features(rules)
    where = told_where_missing(completion, known, columns)
    return f"{told}{_categories_told(rules or (), completion.missing, completion.how)}{where}."


def _categories_told(rules: Sequence[ColumnRule], missing: npt.NDArray[np.bool_], how: str) -> str:
    """Say how many of the missing values are categories and what becomes of them, to follow another sentence."""
    first = first_features(rules)
    n = sum(int(missing[:, first[rule.name]].sum()) for rule in rules if rule.kind in ("category", "answers"))
    if not n:
        return ""
    filled = "how likely each is" if how == "distance" else "1 where most rows have it, else 0"
    which = "value is a category" if n == 1 else "values are categories"
    return f". {n:,} missing {which}, whose indicators say {filled}"


def _drop(data: Dataset, values: npt.NDArray[Any], table: Table) -> Settled:
    """Leave rows with a missing value out, with what goes with them."""
    gaps = np.isnan(values)
    lost = gaps.any(axis=1)
    rows, n = np.flatnonzero(~lost), len(lost)
    if len(rows) < _LEAST_ROWS:
        fact = f"{n - len(rows):,} of {n:,} rows lack a value"
        rule = f"a table of which {_LEAST_ROWS} rows lack none"
        raise ValueError(message("X with missing='drop'", rule, fact=fact, remedy="Pass missing='distance'."))
    gone = np.flatnonzero(lost)
    if data.distances is not None:
        _refuse_gaps("neighbors_key", len(gone), "Leave the rows out before neighbours are searched for.")
    n_lacking = int((gaps if data.columns is None else gaps[:, list(first_features(data.columns).values())]).sum())
    named = first_few(map(str, gone), _SHOWN)
    warn(
        f"{len(gone):,} of {n:,} rows lack {n_lacking:,} values and are left out: {named}. Rows of the map are "
        "numbered anew.",
        DataWarning,
    )
    kept = {
        name: _rows_of(getattr(data, name), rows, n) for name in ("labels", "target", "point_names", "images", "depth")
    }
    metadata = {name: _rows_of(column, rows, n) for name, column in data.metadata.items()}
    whole = check_table(values[rows], min_samples=3, feature_names=table.feature_names)
    index = None if table.index is None else table.index[rows]
    given = data.representation
    if isinstance(given, Representation):
        kept["representation"] = replace(given, values=given.values[rows])
    data = replace(data, X=whole.values, metadata=metadata, **kept)
    return Settled(data, replace(whole, index=index), kept=rows)


def parameters_of_kept(parameters: Mapping[str, Any], kept: npt.NDArray[np.intp], n_given: int) -> dict[str, Any]:
    """Return a method's parameters for the rows that are kept of so many.

    Raises
    ------
    ValueError
        For anchors, which may name rows by their numbers.
    """
    if parameters.get("anchors") is not None:
        _refuse_gaps("anchors", n_given - len(kept), "Leave the rows and their anchors out before.")
    found = dict(parameters)
    for name, n_axes in _OF_ROWS.items():
        value = parameters.get(name)
        if value is None or isinstance(value, str) or np.shape(value)[:n_axes] != (n_given,) * n_axes:
            continue
        found[name] = np.asarray(check_table(value, allow_missing=True).values)[np.ix_(*[kept] * n_axes)]
    return found


def _refuse_gaps(name: str, n_lost: int, remedy: str) -> None:
    rows = "1 row is" if n_lost == 1 else f"{n_lost:,} rows are"
    rule, fact = "of rows that all stay", f"{rows} left out"
    raise ValueError(message(f"{name} with missing='drop'", rule, fact=fact, remedy=remedy))


def _rows_of(column: Any, rows: npt.NDArray[np.intp], n_samples: int) -> Any:
    """Return the entries of some rows; what has another length is left for the check of the map."""
    values = None if column is None else np.asarray(column)
    return values if values is None or values.shape[:1] != (n_samples,) else values[rows]


def learn_of_map(result: Map, missing: str) -> Completion:
    """Return what fills in new rows of a map whose own rows lack nothing."""
    if missing not in ("distance", "median"):
        raise ValueError(message(f"missing={missing!r:.40}", "'distance' or 'median'"))
    if not isinstance(result.X, np.ndarray):
        remedy = "Zeros that are not stored are known values; leave rows that lack others out."
        raise ValueError(message("the map", "of a dense table to fill in new rows", fact="sparse", remedy=remedy))
    columns = np.arange(result.n_features)
    for number, of_rule in enumerate(features_of(result.columns or ()).values()):
        columns[of_rule] = number
    return learn_to_fill(
        result.X,
        missing,
        feature_names=list(result.feature_names),
        columns=columns.tolist(),
        standardize=result.scale is not None,
    )


def fill_new_rows(
    completion: Completion | None, X_new: Any, names: Sequence[str] | None = None
) -> tuple[Table, npt.NDArray[np.bool_] | None]:
    """Return new rows completed as those of the map, and what they lacked; without a completion NaN is refused.

    The names are what errors call the columns of rows that have none. Rows without any value are warned of.
    """
    try:
        table = check_table(
            X_new,
            accept_sparse=True,
            min_samples=0,
            allow_missing=completion is not None,
            known_as=names,
            largest=LARGEST_SQUARED,
        )
    except ValueError as error:
        raise ValueError(str(error).replace(IMPUTE, _BY_THE_MAP)) from None
    if completion is None or table.is_sparse:
        return table, None
    missing = np.isnan(np.asarray(table.values))
    if not missing.any() or table.n_features != completion.missing.shape[1]:
        return table, missing
    n_empty = int(missing.all(axis=1).sum())
    if n_empty:
        which, whose = ("row has", "its place says nothing of it") if n_empty == 1 else ("rows have", _SAY_NOTHING)
        warn(f"{n_empty:,} of {len(missing):,} new {which} no value at all: {whose}.", DataWarning)
    return replace(table, values=completion.fill(table.values)), missing
