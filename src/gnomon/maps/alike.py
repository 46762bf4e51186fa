"""Metadata that say which rows, such as cells of one donor, are alike: by their names, or as the features tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.data.labels import sort_into_classes
from gnomon.linalg.table import dense_rows, evenly_spaced
from gnomon.maps.found import named_as_clusters

__all__ = ["UNIT_NAMES", "Codes", "SidesOfClasses", "codes_of_units", "plain_name", "told_of_units"]

Codes = npt.NDArray[np.integer[Any]]
Mask = npt.NDArray[np.bool_]

UNIT_NAMES = (
    *("donor", "patient", "participant", "subject", "individual", "animal", "mouse", "replicate", "sample"),
    *("origident", "batch"),
)
"""What metadata of rows that are alike are called."""

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NUMBER = {"id", "ids", "no", "nr", "num", "number", "code", "name", "key", "barcode", "accession"}
_FEWEST = 3  # values of such metadata; of fewer nothing could be told
_ROWS_OF_UNIT = 10  # on the mean
_FEWEST_OF_SIDE = 2  # units: those of a selection that is one unit are no draw of units
_WHOLE = 0.95  # share of the rows of a unit that are on one side, of a whole one
_OF_WHOLE = 0.9  # share of the rows of a side that are of whole units
_LOOKED_AT = (60, 40, 200)  # units of a side, rows of each, and features
_VARIANCE = 2.0  # of the means of units, to what it is of independent rows
_BY_CHANCE = 1e-3
_LEAST = 1e-12  # of the squares of a side: those within units where rows of one are equal


@dataclass(frozen=True)
class SidesOfClasses:
    """Some classes, each beside all others.

    Attributes
    ----------
    codes : ndarray of shape (n_samples,), int
        The class of each row, -1 for none.
    numbers : list of int
        Those classes that are compared.
    """

    codes: Codes
    numbers: list[int]

    def __iter__(self) -> Iterator[tuple[Mask, Mask]]:
        return self.some(self.numbers)

    def some(self, numbers: Iterable[int]) -> Iterator[tuple[Mask, Mask]]:
        """Yield the rows of classes, and those of all others."""
        for number in numbers:
            own = self.codes == number
            yield own, (self.codes >= 0) & ~own

    def of_whole(self, units: Codes) -> Iterator[tuple[Mask, Mask]]:
        """Yield the sides of those classes that are whole units, mostly."""
        known = (units >= 0) & (self.codes >= 0)
        n_classes = int(self.codes.max(initial=0)) + 1
        places = units[known].astype(np.int64) * n_classes + self.codes[known]
        counts = np.bincount(places, minlength=(int(units.max()) + 1) * n_classes).reshape(-1, n_classes)
        whole = np.where(counts >= _WHOLE * counts.sum(axis=1, keepdims=True), counts, 0)
        found = ((whole > 1).sum(axis=0) >= _FEWEST_OF_SIDE) & (whole.sum(axis=0) >= _OF_WHOLE * counts.sum(axis=0))
        return self.some(number for number in self.numbers if found[number])


def told_of_units(
    metadata: Mapping[str, npt.NDArray[Any]],
    sides: Sequence[tuple[Mask, Mask]] | SidesOfClasses,
    features: tuple[Any, Sequence[str]] | None = None,
) -> str:
    """Say which metadata may name units whose rows are alike, a sentence; empty if none do.

    By their names they may, "donor", "Donor_ID" or "mouse"; of several the first of a fixed order of names. Others do
    where the features tell that rows of one value are alike, and what was set apart are sides of whole values, so that
    what these differ in is taken for what the sides differ in.

    Parameters
    ----------
    metadata : mapping of str to ndarray of shape (n_samples,)
        They count if each of three values or more has ten rows on the mean.
    sides : sequence of pairs of ndarray of shape (n_samples,), bool, or SidesOfClasses
        What features were found to set apart, of which one pair at least must hold rows of two units on both sides.
    features : tuple of (ndarray or CSR of shape (n_samples, n_features), sequence of str), default=None
        With the column that each feature was made of; a column is not asked about its own. None asks names alone.

    Notes
    -----
    Ranks of a feature, between units on one side, have a variance that is 2 times or more what that within units makes
    of it, beyond what chance gives in any feature in one table of 1000. A column that orders both sides, such as the
    age of those above 60, tells what was asked, and clusters were found in the features.
    """
    for name in sorted(filter(_is_of_units, metadata), key=lambda name: UNIT_NAMES.index(plain_name(name))):
        codes = codes_of_units(metadata[name])
        if codes is None:
            continue
        for pair in sides:
            if min(len(np.unique(codes[side & (codes >= 0)])) for side in pair) >= _FEWEST_OF_SIDE:
                return f"Pass units={name!r} if rows of one {name} are alike: chance is then judged between these."
    if features is None:
        return ""
    for name, column in metadata.items():
        codes = None if named_as_clusters(name) else codes_of_units(column)
        if codes is None:
            continue
        for pair in sides.of_whole(codes) if isinstance(sides, SidesOfClasses) else sides:
            if not _orders(column, pair) and _are_alike(features, name, codes, pair):
                return (
                    f"Pass units={name!r}: rows of one {name} are alike, and what is compared are whole ones. "
                    "Chance is then judged between these."
                )
    return ""


def codes_of_units(column: npt.NDArray[Any]) -> Codes | None:
    """Return which unit each row is of, -1 for none; None if values are too few, or have too few rows."""
    if column.dtype.kind == "f":
        some = column[evenly_spaced(len(column), 1000)]
        if (some != np.floor(some))[np.isfinite(some)].any():  # measured
            return None
    classes = sort_into_classes(column)
    n_known = np.count_nonzero(classes.codes >= 0)
    return classes.codes if _FEWEST <= len(classes) <= n_known / _ROWS_OF_UNIT else None


def _orders(column: npt.NDArray[Any], pair: tuple[Mask, Mask]) -> bool:
    """Return whether numbers or dates on one side are all above those on the other."""
    if column.dtype.kind not in "iufmM":
        return False
    known = ~np.isnat(column) if column.dtype.kind in "mM" else np.isfinite(column)
    first, second = (column[side & known] for side in pair)
    return not (len(first) and len(second)) or first.max() < second.min() or second.max() < first.min()


def _are_alike(features: tuple[Any, Sequence[str]], name: str, codes: Codes, pair: tuple[Mask, Mask]) -> bool:
    """Return whether two sides are whole units, and rows of one are more alike in a feature than those of a side."""
    known = codes >= 0
    n_units = int(codes.max()) + 1
    counts = [np.bincount(codes[side & known], minlength=n_units) for side in pair]
    if any(2 * own.sum() < np.count_nonzero(side) for own, side in zip(counts, pair, strict=True)):
        return False  # of most rows nobody knows the unit
    rows: list[npt.NDArray[np.intp]] = []
    units: list[npt.NDArray[np.intp]] = []
    sides: list[npt.NDArray[np.intp]] = []
    for number, own in enumerate(counts):
        whole = np.flatnonzero((own > 1) & (own >= _WHOLE * (counts[0] + counts[1])))
        if len(whole) < _FEWEST_OF_SIDE or own[whole].sum() < _OF_WHOLE * own.sum():
            return False
        for unit in whole[evenly_spaced(len(whole), _LOOKED_AT[0])]:
            at = np.flatnonzero(pair[number] & (codes == unit))
            rows.append(at[evenly_spaced(len(at), _LOOKED_AT[1])])
            units.append(np.full(len(rows[-1]), len(units)))
            sides.append(np.full(len(rows[-1]), number))
    X, whose = features
    others = np.array([j for j, column in enumerate(whose) if column != name], dtype=np.intp)
    if not len(others):
        return False
    some = others[evenly_spaced(len(others), _LOOKED_AT[2])]
    values = dense_rows(X[np.concatenate(rows)][:, some])
    return _differ_between(values, np.concatenate(units), np.concatenate(sides))


def _differ_between(values: npt.NDArray[Any], units: Codes, sides: Codes) -> bool:
    """Return whether ranks of a feature differ more between units of one side than those within units let expect."""
    ranks = scipy.stats.rankdata(values, axis=0)
    within, all_of_side = (_sum_of_squares(ranks, codes) for codes in (units, sides))
    n_units, n_sides = len(np.unique(units)), len(np.unique(sides))
    degrees = n_units - n_sides, len(units) - n_units
    between, inside = (all_of_side - within) / degrees[0], within / degrees[1]
    varies = all_of_side > 0.0
    ratios = between[varies] / np.maximum(inside, _LEAST * all_of_side)[varies]
    chances = scipy.special.fdtrc(*degrees, ratios) * max(1, len(ratios))
    return bool(((ratios >= _VARIANCE) & (chances <= _BY_CHANCE)).any())


def _sum_of_squares(values: npt.NDArray[np.float64], codes: Codes) -> npt.NDArray[np.float64]:
    """Return for each column the sum of the squares of the differences from the means of groups."""
    _, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), values.shape[1]))
    np.add.at(sums, places.ravel(), values)
    found: npt.NDArray[np.float64] = np.square(values - (sums / counts[:, None])[places.ravel()]).sum(axis=0)
    return found


def plain_name(name: str) -> str:
    """Return "donor" of "donors", "donor_id", "Donor.ID", "donorName" and "donor no."."""
    words = re.findall(r"[^\W_]+", _CAMEL.sub(" ", name).lower())
    bare = [word for word in words if word not in _NUMBER] or words
    return "".join(bare).removesuffix("id").removesuffix("s")


def _is_of_units(name: str) -> bool:
    return plain_name(name) in UNIT_NAMES
