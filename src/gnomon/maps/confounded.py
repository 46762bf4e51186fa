"""Metadata that go with what is compared, such as the plate of each sample, so that differences may be theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon.data.dataset import LABEL_WORDS, first_few
from gnomon.data.labels import Classes, sort_into_classes
from gnomon.maps.beside import columns_beside
from gnomon.maps.found import named_as_clusters

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = [
    "CountedBeside",
    "confounded_share",
    "told_of_confounded_labels",
    "told_of_confounded_sides",
    "told_of_each_label",
]

Codes = npt.NDArray[np.integer[Any]]
Counts = npt.NDArray[np.integer[Any]]
Mask = npt.NDArray[np.bool_]

_LEAST = 0.3  # share of a side, beyond chance, that would need another value for both to have the same
_ALL = 0.95
_BY_CHANCE, _NONE_BY_CHANCE = 5.0, 4.0  # standard deviations; where no value is on both sides
_WHOLE = 0.95  # share of the rows of a value that are on one side, of a unit
_OF_WHOLE = 0.9  # share of the rows of a side that are of such units
_FEWEST_UNITS = 2  # of a side, between which chance can be judged
_MOST = 0.5  # of the rows of its labels that a side has, else it was chosen by something beside
_NAMED = 3
_LONG_NAME = 4  # letters with which another name of the same begins
_LEVELS = re.compile(r"ids?|names?|codes?|labels?|fine|finer|coarse|broad|detailed|levels?|(l|v|level)?\d+")
_HALF_NORMAL = float(np.sqrt(2.0 / np.pi))  # mean of the distance from the mean, in standard deviations


def confounded_share(first: Counts, second: Counts) -> float | None:
    """Return how far the values of a column differ between two sides, 1 where they have none in common.

    That is half of the sum of the differences of their shares, less what is so by chance. The column is of units, and
    no such share is told, where both sides are two values or more of their own each: chance is then judged between
    these.

    Parameters
    ----------
    first, second : ndarray of shape (n_values,), int
        Rows of each value on either side.

    Returns
    -------
    float or None
        None for a column that is not told: a share below 0.3, or one that five standard deviations of chance make, four
        where no value is on both sides.

    Notes
    -----
    By chance the rows of a value on a side are hypergeometric, the distance from their mean that of a half normal one.
    """
    n, n_first, n_second = int(first.sum() + second.sum()), int(first.sum()), int(second.sum())
    if min(n_first, n_second) == 0 or _are_units(first, second):
        return None
    found = 0.5 * float(np.abs(first / n_first - second / n_second).sum())
    share = (first + second) / n
    variances = share * (1.0 - share) * n * n / ((n - 1.0) * n_first * n_second)
    mean = 0.5 * _HALF_NORMAL * float(np.sqrt(variances).sum())
    spread = 0.5 * float(np.sqrt(2.0 * (1.0 - _HALF_NORMAL**2) * variances.sum()))  # exact of two values
    limit = _BY_CHANCE if (np.minimum(first, second) > 0).any() else _NONE_BY_CHANCE
    if found < mean + limit * spread or mean >= 1.0:
        return None
    beyond = (found - mean) / (1.0 - mean)
    return None if beyond < _LEAST else beyond


def _are_units(first: Counts, second: Counts) -> bool:
    whole = _WHOLE * (first + second)
    own = [np.where((side >= whole) & (side > 0), side, 0) for side in (first, second)]
    return all(
        np.count_nonzero(units) >= _FEWEST_UNITS and units.sum() >= _OF_WHOLE * side.sum()
        for units, side in zip(own, (first, second), strict=True)
    )


def told_of_confounded_sides(result: Map, inside: Mask, outside: Mask) -> str:
    """Say which metadata go with the sides of a comparison of labels; empty if none do.

    Nor of sides that have rows of one label both, or fewer than half of those of their labels: rows that were chosen by
    metadata go with these by choice.

    Parameters
    ----------
    result : Map
    inside, outside : ndarray of shape (n_samples,), bool
    """
    if len(result._classes()) < 2:
        return ""
    known = _counted(result)
    if not _are_of_labels(known.classes.codes, inside, outside):
        return ""
    sides = np.where(inside, 0, np.where(outside, 1, -1))
    return _told_of_sides((name, _count(codes, sides, 2)) for name, codes in known.columns)


def told_of_confounded_labels(result: Map) -> str:
    """Say which metadata go with the labels of a map, one of them against the others; empty if none do."""
    if len(result._classes()) < 2:
        return ""
    found = []
    for name, counts in _counted(result).counts:
        labelled = counts[:-1]
        shares = [confounded_share(own, labelled.sum(axis=0) - own) for own in labelled]
        known = [share for share in shares if share is not None]
        if known:
            found.append((max(known), name))
    return _told(found, repr(result.label_name))


def told_of_each_label(result: Map) -> dict[str, str]:
    """Say for each label, by its name, which metadata go with it against all other rows, where some do.

    As `told_of_confounded_sides` says of the rows of the label and the rest.
    """
    if len(result._classes()) < 2:
        return {}
    known = _counted(result)
    told = {
        name: _told_of_sides((column, np.stack([own[k], own.sum(axis=0) - own[k]])) for column, own in known.counts)
        for k, name in enumerate(known.classes.names)
    }
    return {name: text for name, text in told.items() if text}


@dataclass(frozen=True)
class CountedBeside:
    """The metadata that could go with labels, as classes of rows, and how many rows of each label have each of them.

    Attributes
    ----------
    origin : tuple
        The table, the labels, their name and the metadata that were counted.
    classes : Classes
        Of the labels.
    columns : tuple of (str, ndarray of shape (n_samples,), int8)
        Names of metadata and the class of each row, -1 for none.
    counts : tuple of (str, ndarray of shape (n_labels + 1, n_values), int)
        Rows by label and class; the last line is of rows without a label.
    """

    origin: tuple[Any, Any, str, dict[str, Any]]
    classes: Classes
    columns: tuple[tuple[str, Codes], ...]
    counts: tuple[tuple[str, Counts], ...]

    def is_of(self, result: Map) -> bool:
        """Return whether a map still has what was counted."""
        table, labels, name, metadata = self.origin
        same = table is result.X and labels is result.labels and name == result.label_name
        if not same or metadata.keys() != result.metadata.keys():
            return False
        return all(column is result.metadata[name] for name, column in metadata.items())


def _counted(result: Map) -> CountedBeside:
    """Return the metadata that could go with the labels of a map, counted once for each of its labels."""
    known = result._counted_beside
    if known is None or not known.is_of(result):
        result._counted_beside = known = _count_beside(result)
    return known


def _count_beside(result: Map) -> CountedBeside:
    from gnomon.clusters.agreeing import classes_of_column  # with clusters, when first asked for

    given = columns_beside(result)  # with the table as it is checked
    classes = sort_into_classes(result.labels)
    columns = []
    for name, column in given.items():
        own = name == result.label_name or named_as_clusters(name)
        codes = None if own else classes_of_column(column, len(classes.codes))
        if codes is not None and not _say_the_same(name, column, result.label_name, classes):
            columns.append((name, codes.astype(np.int8)))
    sides = np.where(classes.codes < 0, len(classes), classes.codes)
    return CountedBeside(
        (result.X, result.labels, result.label_name, dict(result.metadata)),
        classes,
        tuple(columns),
        tuple((name, _count(codes, sides, len(classes) + 1)) for name, codes in columns),
    )


def _count(codes: Codes, sides: Codes, n_sides: int) -> Counts:
    """Return how many rows of each side have each value of a column."""
    both = (codes >= 0) & (sides >= 0)
    n_values = int(codes.max()) + 1
    places = sides[both].astype(np.int64) * n_values + codes[both]
    return np.bincount(places, minlength=n_sides * n_values).reshape(n_sides, n_values)


def _told_of_sides(tables: Iterable[tuple[str, Counts]]) -> str:
    shares = [(confounded_share(counts[0], counts[1]), name) for name, counts in tables]
    return _told([(share, name) for share, name in shares if share is not None], "the two sides")


def _are_of_labels(codes: Codes, inside: Mask, outside: Mask) -> bool:
    """Return whether labels tell two sides apart, of whose labels each has most of the rows."""
    mostly = (
        np.count_nonzero(side) >= _MOST * np.count_nonzero(np.isin(codes, codes[side])) for side in (inside, outside)
    )
    return all(mostly) and not np.isin(codes[inside], codes[outside]).any()


def _say_the_same(name: str, column: Any, own: str, classes: Classes) -> bool:
    """Return whether a column has labels under another name, coarser or finer: by its name, or by its values."""
    first, second = sorted((_plain(name), _plain(own)), key=len)
    if first == second or (len(first) >= _LONG_NAME and second.startswith(first)):
        return True
    values = sort_into_classes(column)
    both = (values.codes >= 0) & (classes.codes >= 0)
    found = np.unique(values.codes[both].astype(np.int64) * len(classes) + classes.codes[both])
    if not len(found) == len(values) == len(classes):
        return False
    pairs = [divmod(pair, len(classes)) for pair in found.tolist()]
    texts = [(values.names[a].lower(), classes.names[b].lower()) for a, b in pairs]
    return name.lower() in LABEL_WORDS or all(a in b or b in a for a, b in texts)


def _plain(name: str) -> str:
    """Return "celltype" of "Cell_type", "cell type id", "celltype_fine" and "cell.type_l2"."""
    words = re.split(r"[\W_]+", name.lower())
    kept = [word for word in words if word and not _LEVELS.fullmatch(word)]
    return "".join(kept or words)


def _told(found: list[tuple[float, str]], sides: str) -> str:
    if not found:
        return ""
    found.sort(key=lambda one: (-one[0], one[1]))
    whole = [repr(name) for share, name in found if share >= _ALL]
    partly = [f"{name!r} ({100.0 * share:.0f} %)" for share, name in found if share < _ALL]
    told = []
    if whole:
        names = first_few(whole, _NAMED, of="column")
        told.append(f"{names} and {sides} cannot be told apart: each difference may be that of {names}.")
    if partly:
        names = first_few(partly, _NAMED, of="column")
        told.append(
            f"{names} {'goes' if len(partly) == 1 else 'go'} with {sides}, by the share of a side that would need "
            "another value for both to have the same, so that differences may partly be those of it: compare rows of "
            "one value."
        )
    return " ".join(told)
