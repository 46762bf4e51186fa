"""Labels of rows: classes, measured numbers or dates; rows may have none."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._run import made_once
from gnomon._validation import message
from gnomon.data.arrays import floats_from_objects, is_missing, warn_of_rounding, whole_numbers
from gnomon.data.tensors import array_of_tensor, is_tensor

__all__ = [
    "MISSING",
    "TO_CLASSES",
    "Classes",
    "are_names_of_rows",
    "categories_of",
    "check_labels",
    "in_order",
    "measured_labels",
    "name_of",
    "natural_order",
    "of_categories",
    "order_of",
    "sort_into_classes",
    "told_of_numbers",
    "unlike",
]

MISSING = "(missing)"
"""What rows without a value are called among categories, on pages and in figures."""
_ELSE = "(no value)"  # where there is a category of that name

TO_CLASSES = (
    "Sort them into classes, such as numpy.digitize(y, numpy.quantile(y, [0.25, 0.5, 0.75])).astype(str); "
    "numbers of classes pass as texts."
)
"""What to do with labels that are measured where classes are asked for."""

_SEVERAL = "inhomogeneous shape"  # what NumPy says of rows of unlike lengths
_ORDER = "gnomon classes"  # metadata of a dtype, which arrays of some of the rows keep
_MOST_NATURAL = 10_000  # texts that are sorted by the numbers in them
_FEWEST_NAMES = 10  # labels that all differ and are fewer may be classes of one row
_FEW = 12  # numbers of at most so many distinct values are classes
_MANY = 30  # values that lie close and are more are a quantity, unless they count from 0 or 1
_ROWS_OF_CLASS = 20  # classes have so many rows on average
_ROWS_OF_VALUE = 1 / 3  # of the number of values: with fewer rows each these are a quantity


def unlike(names: Sequence[str], name: str = MISSING) -> str:
    """Return a name for rows without a value, or another one where a category has that name."""
    while name in names:
        name = _ELSE if name == MISSING else f"({name})"
    return name


def _is_missing(label: object) -> bool:
    return is_missing(label) or (isinstance(label, str) and (not label or label.isspace()))


def _label_array(labels: Any, name: str) -> npt.NDArray[Any]:
    if isinstance(labels, (str, bytes)) or (not hasattr(labels, "__len__") and np.ndim(labels) == 0):
        raise TypeError(message(f"{name}={labels!r:.40}", "a sequence of labels", fact=type(labels).__name__))
    if is_tensor(labels):
        return array_of_tensor(labels, name=name)
    if isinstance(labels, np.ma.MaskedArray):
        return np.array(labels.tolist(), dtype=object)  # None where it is masked
    to_numpy = getattr(labels, "to_numpy", None)
    if to_numpy is not None:
        values = np.asarray(to_numpy())
        if values.dtype.kind == "f" and "int" in str(getattr(labels, "dtype", "")).lower():  # some are missing
            whole = getattr(labels, "dropna", None) or labels.drop_nulls
            warn_of_rounding(np.asarray(whole().to_numpy()))
        return of_categories(values, categories_of(labels))
    try:
        array = np.asarray(labels)
    except ValueError as error:
        fact = "some rows have several" if _SEVERAL in str(error) else str(error).split(". ")[0]
        remedy = "Join those of a row to one text, or pass a column of 0 and 1 for one of them."
        raise ValueError(message(name, "one label for each row", fact=fact, remedy=remedy)) from error
    if array.dtype.kind == "U" and not isinstance(labels, np.ndarray) and any(not isinstance(v, str) for v in labels):
        return np.asarray(labels, dtype=object)  # NumPy would write None and 1 as text
    return array


def _of_indicators(array: npt.NDArray[Any], name: str) -> str:
    """Return what to make of columns of 0 and 1, each of one label."""
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not ((array == 0) | (array == 1)).all():
        return ""
    if (array.sum(axis=1) == 1).all():
        return f": of indicator columns such as these, {name}.argmax(axis=1)"
    return f": of indicator columns of which a row may have several or none, one at a time, such as {name}[:, 0]"


def categories_of(column: Any) -> tuple[Any, ...]:
    """Return the categories of a column of pandas, or of an Enum of polars, in their order; none of another column."""
    categories: Any = getattr(getattr(column, "dtype", None), "categories", None)
    return tuple(categories) if hasattr(categories, "__len__") else ()


def of_categories(values: npt.NDArray[Any], categories: Sequence[Any]) -> npt.NDArray[Any]:
    """Return the values of a column of categories as labels: dates as they are, numbers if they would be classes by
    themselves, else text in the order of the categories.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
    categories : sequence
        None if the column has none: values stay as they are.
    """
    gone = [is_missing(value) for value in values.tolist()] if categories else []
    if not gone or values.dtype.kind in "mM":
        return values
    if values.dtype.kind in "biuf" and not any(gone) and measured_labels(values) is None:
        return values
    texts = [None if missing else name_of(value) for value, missing in zip(values.tolist(), gone, strict=True)]
    return in_order(np.array(texts), [name_of(one) for one in categories])


def in_order(labels: npt.NDArray[Any], order: Sequence[str]) -> npt.NDArray[Any]:
    """Return a copy of labels that carries the order of their classes; arrays of some of its rows carry it, too."""
    kind: Any = np.dtype(labels.dtype, metadata={_ORDER: tuple(order)}) if order else labels.dtype
    return labels.astype(kind, copy=bool(order))


def order_of(labels: npt.NDArray[Any]) -> tuple[str, ...]:
    """Return the order of classes that labels carry; empty without any."""
    about: Any = labels.dtype.metadata
    return tuple(about.get(_ORDER, ())) if about else ()


def _of_objects(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels of objects as text, numbers or dates if all that are there are of this kind, None or NaN else."""
    values = array.tolist()
    kinds = {*map(type, values)}
    if kinds <= {str, type(None)}:  # mostly few different ones
        gone = {value: _is_missing(value) for value in {*values}}
        missing = np.fromiter(map(gone.__getitem__, values), np.bool_, len(values))
        kinds = {str} if not all(gone.values()) else set()
    else:
        missing = np.fromiter(map(_is_missing, values), np.bool_, len(values))
        kinds = {type(value) for value, gone in zip(values, missing, strict=True) if not gone}
    labels = array.copy()
    labels[missing] = None
    if not missing.any() and kinds and all(issubclass(kind, str) for kind in kinds):
        return array.astype(str)
    if kinds and all(issubclass(kind, (int, float)) and not issubclass(kind, bool) for kind in kinds):
        if missing.any() or float in kinds:
            return floats_from_objects(labels)[0]
        return array.astype(np.int64 if all(abs(value) < 2**63 for value in values) else np.float64)
    if kinds and all(issubclass(kind, datetime.date) for kind in kinds):
        return np.array([_in_utc(value) for value in labels.tolist()], dtype="datetime64[us]")
    return labels


def _in_utc(date: Any) -> Any:
    """Return a time with a zone in UTC, without one; anything else as it is."""
    if getattr(date, "tzinfo", None) is None:
        return date
    return date.astimezone(datetime.UTC).replace(tzinfo=None)


@part("gnomon")
def check_labels(labels: Any, n: int, *, name: str = "labels") -> npt.NDArray[Any]:
    """Check labels, one for each row.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Text, whole numbers, truth values, numbers, dates or a mixture; a column of a data frame. None, NaN, NA, NaT or
        an empty text where a row has no label. Matched to rows by position, whatever the index of a pandas Series says.
        Texts of a column of categories carry their order.
    n : int
        Number of rows.
    name : str, default="labels"
        What errors call the labels.

    Returns
    -------
    ndarray of shape (n,)
        Dtype of text, numbers or dates where all labels are of this kind, object where kinds are mixed. A row without
        a label has NaN among numbers, NaT among dates, else None in an array of objects.
    """
    array = _label_array(labels, name)
    order = order_of(array)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            message(
                name,
                "one-dimensional",
                fact=f"shape={array.shape}",
                remedy=f"Pass one label for each row{_of_indicators(array, name)}.",
            )
        )
    if array.dtype.kind == "c":
        raise ValueError(message(name, "text or real numbers", fact="Complex data not supported"))
    if len(array) != n:
        raise ValueError(message(name, "one for each row", fact=f"{len(array):,} labels, {n:,} rows"))
    if array.dtype.kind == "U" and any(map(_is_missing, {*array.tolist()})):
        array = array.astype(object)
    found = _of_objects(array) if array.dtype.kind == "O" else array
    return found if order_of(found) == order else in_order(found, order)


def name_of(label: object) -> str:
    """Return a label as text: a whole number without a point, a date without an hour of zero."""
    if isinstance(label, float):
        return f"{label:g}"
    if isinstance(label, datetime.datetime) and label.time() == datetime.time():
        return str(label.date())
    return str(label)


def _order(value: Any) -> tuple[bool, Any]:
    """Order labels of mixed kinds: numbers by value, then the rest by their text."""
    is_text, plain = _plain_order(value)
    return is_text, natural_order(plain) if is_text else plain


def _plain_order(value: Any) -> tuple[bool, Any]:
    """Order labels of mixed kinds as `_order` does, but texts by their characters."""
    is_text = not isinstance(value, (int, float))
    return is_text, str(value) if is_text else value


def natural_order(text: str) -> tuple[list[tuple[float, str]], str]:
    """Order texts by the numbers in them: c2 before c10, and 9 before 10 and those before other texts."""
    try:
        whole = float(text)
    except ValueError:
        whole = math.nan
    if math.isfinite(whole):
        return [(whole, "")], text
    pieces = re.split(r"(\d+)", text)
    return [(float(piece), "") if k % 2 else (math.inf, piece) for k, piece in enumerate(pieces)], text


@dataclass(frozen=True)
class Classes:
    """Rows by class.

    Attributes
    ----------
    values : list
        The distinct labels, sorted: numbers by value, then everything else by its text and the numbers in it (c2
        before c10; by its characters where there are more than 10,000); or in the order of the categories that the
        labels were.
    codes : ndarray of shape (n_samples,), int64
        Where in `values` the label of each row is; -1 for a row without a label.
    """

    values: list[Any]
    codes: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def names(self) -> list[str]:
        """The classes as text."""
        return [name_of(value) for value in self.values]

    def most_frequent(self, rows: Any) -> Any:
        """Return the label that most of some rows have, the first of equals; None if none has one."""
        codes = self.codes[rows]
        counts = np.bincount(codes[codes >= 0])
        return self.values[int(counts.argmax())] if counts.any() else None

    @property
    def labelled(self) -> npt.NDArray[np.bool_]:
        """Which rows have a label."""
        return self.codes >= 0


def sort_into_classes(labels: Any) -> Classes:
    """Sort rows by their labels.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        As `check_labels` takes and returns them.
    """
    array = _label_array(labels, "labels")
    order = order_of(array)
    if array.dtype.kind == "U":
        return made_once(f"classes {order}", array, lambda: _in_given_order(_sorted_classes(array), order))
    return _in_given_order(_sorted_classes(array), order)


def _in_given_order(classes: Classes, order: Sequence[str]) -> Classes:
    """Return classes in an order of names, those that it lacks last."""
    if not order:
        return classes
    place = {name: rank for rank, name in enumerate(order)}
    ranks = [place.get(name, len(place)) for name in classes.names]
    new = sorted(range(len(classes)), key=ranks.__getitem__)
    codes = np.full(len(classes) + 1, -1, dtype=np.int64)  # the last is that of rows without a label
    codes[new] = np.arange(len(classes))
    return Classes([classes.values[code] for code in new], codes[classes.codes])


def _sorted_classes(array: npt.NDArray[Any]) -> Classes:
    if array.ndim != 1 or array.dtype.kind in "Oc":
        array = check_labels(array, len(array))
    if array.dtype.kind == "O":
        given = array.tolist()
        values = [value for value in dict.fromkeys(given) if value is not None]
        values.sort(key=_order if len(values) <= _MOST_NATURAL else _plain_order)
        place = {value: code for code, value in enumerate(values)} | {None: -1}
        return Classes(values, np.fromiter(map(place.__getitem__, given), np.int64, len(given)))
    known = np.ones(len(array), dtype=np.bool_)
    if array.dtype.kind in "fmM":
        known = ~(np.isnan(array) if array.dtype.kind == "f" else np.isnat(array))
    distinct, found = _distinct_texts(array) if array.dtype.kind == "U" else _distinct(array[known])
    there = np.array(
        [not _is_missing(value) for value in distinct.tolist()], dtype=np.bool_
    )  # empty texts are no class
    codes = np.full(len(array), -1, dtype=np.int64)
    codes[known] = np.where(there, np.cumsum(there) - 1, -1)[found]
    return Classes(whole_numbers(distinct[there]).tolist(), codes)


def _distinct(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Return the distinct values, ascending, and which of them each entry is."""
    distinct, found = np.unique(values, return_inverse=True)
    return distinct, found.ravel()


def _distinct_texts(texts: npt.NDArray[np.str_]) -> tuple[npt.NDArray[np.str_], npt.NDArray[np.int64]]:
    """Return the same of texts, by the numbers in them; to look each up takes a tenth of the time to sort them all."""
    given = texts.tolist()
    distinct = sorted(set(given))
    if len(distinct) <= _MOST_NATURAL:
        distinct.sort(key=natural_order)
    place = {text: code for code, text in enumerate(distinct)}
    return np.array(distinct, texts.dtype), np.fromiter(map(place.__getitem__, given), np.int64, len(given))


def are_names_of_rows(labels: npt.NDArray[Any]) -> bool:
    """Return whether labels name no classes, as all of them are different: identifiers of ten rows or more.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        As `check_labels` returns them.
    """
    some = [label for label in labels[:1000].tolist() if not _is_missing(label)]
    if len(set(some)) < len(some):
        return False
    classes = sort_into_classes(labels)
    return len(classes) >= _FEWEST_NAMES and len(classes) == int(classes.labelled.sum())


def measured_labels(labels: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Return labels that are measured, not classes, as numbers; None if they are classes.

    Measured are dates, and fractions of more than twelve distinct values. Whole numbers of more than twelve are classes
    if they count from 0 or 1 with at most as many gaps as values, as class numbers do, if the lowest is -1, which
    stands for none of the classes, or if all differ, as numbers of rows do. Else they are measured if more than thirty
    lie as close, as ages do, or if each has few rows: fewer than twenty on average, and fewer than a third of the
    number of values.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        As `check_labels` returns them.

    Returns
    -------
    ndarray of shape (n_samples,), float64, or None
        Dates in seconds since 1970; NaN for rows without a label.
    """
    if labels.dtype.kind == "M":
        seconds = labels.astype("datetime64[us]").astype(np.int64) / 1e6
        return np.where(np.isnat(labels), np.nan, seconds)
    if labels.dtype.kind in "iu":
        return labels.astype(np.float64) if _is_quantity(labels) else None
    if labels.dtype.kind != "f":
        return None
    finite = labels[np.isfinite(labels)]
    whole = bool((finite == np.floor(finite)).all())
    if not (_is_quantity(finite) if whole else len(np.unique(finite)) > _FEW):
        return None
    return np.where(np.isfinite(labels), labels, np.nan).astype(np.float64)


def _is_quantity(numbers: npt.NDArray[Any]) -> bool:
    """Return whether whole numbers are a quantity, by the rule of `measured_labels`."""
    n_different = _count_different(numbers)
    if not _FEW < n_different < len(numbers):
        return False
    low, high = int(numbers.min()), int(numbers.max())
    close = 2 * n_different > high - low
    if low == -1 or (close and 0 <= low <= 1):
        return False
    n_each = len(numbers) / n_different
    return (close and n_different > _MANY) or n_each < min(_ROWS_OF_CLASS, _ROWS_OF_VALUE * n_different)


def _count_different(numbers: npt.NDArray[Any]) -> int:
    """Return how many different whole numbers there are, up to twelve without counting them all."""
    if not len(numbers):
        return 0
    low, span = numbers.min(), int(numbers.max()) - int(numbers.min())
    if span < _FEW:
        return span + 1
    if span > 4 * len(numbers):
        return len(np.unique(numbers))
    return int(np.count_nonzero(np.bincount((numbers - low).astype(np.int64))))


def told_of_numbers(labels: npt.NDArray[Any]) -> str:
    """Say whether whole numbers are taken as a quantity or as classes, where that may be doubted; empty elsewhere.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        As `check_labels` returns them.
    """
    if labels.dtype.kind not in "iuf":
        return ""
    known = labels[np.isfinite(labels)]
    if not bool((known == np.floor(known)).all()) or (n_different := _count_different(known)) <= _FEW:
        return ""
    told = f"the labels are {n_different:,} different whole numbers in {len(known):,} rows"
    if measured_labels(labels) is not None:
        remedy = "for classes pass texts or a column of categories, in a file numbers after a letter, such as c12"
        return f"{told} and are taken as a measured quantity: {remedy}"
    counts = np.unique(known, return_counts=True)[1]
    even, few = bool((counts == counts[0]).all()), len(known) < _ROWS_OF_CLASS * n_different
    if even or not few or n_different <= _MANY:
        return ""
    return f"{told} and are taken as classes: a quantity belongs in metadata, which colours the map as well"
