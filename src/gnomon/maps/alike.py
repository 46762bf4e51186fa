"""Metadata whose names say that rows of one value, such as cells of one donor, may be alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.labels import sort_into_classes

__all__ = ["told_of_units"]

Mask = npt.NDArray[np.bool_]

_NAMES = ("donor", "patient", "participant", "subject", "individual", "animal", "mouse", "replicate", "sample", "batch")
_FEWEST = 3  # values of such metadata; of fewer nothing could be told
_ROWS_OF_UNIT = 10  # on the mean
_FEWEST_OF_SIDE = 2  # units: those of a selection that is one unit are no draw of units


def told_of_units(metadata: Mapping[str, npt.NDArray[Any]], sides: Iterable[tuple[Mask, Mask]]) -> str:
    """Say which metadata may name units whose rows are alike, a sentence; empty if none do by their names.

    Parameters
    ----------
    metadata : mapping of str to ndarray of shape (n_samples,)
        They count if they are named as donors are, "donor", "Donor_ID" or "mouse", and each of three values or more has
        ten rows on the mean; of several the first of a fixed order of names.
    sides : iterable of pairs of ndarray of shape (n_samples,), bool
        What features were found to set apart, of which one pair at least must hold rows of two units on both sides.
    """
    pairs = list(sides)
    for name in sorted(filter(_is_of_units, metadata), key=lambda name: _NAMES.index(_plain(name))):
        classes = sort_into_classes(metadata[name])
        known = classes.codes >= 0
        if not _FEWEST <= len(classes) <= np.count_nonzero(known) / _ROWS_OF_UNIT:
            continue
        for pair in pairs:
            if min(len(np.unique(classes.codes[side & known])) for side in pair) >= _FEWEST_OF_SIDE:
                return f"Pass units={name!r} if rows of one {name} are alike: chance is then judged between these."
    return ""


def _plain(name: str) -> str:
    """Return "donor" of "donor", "donors", "donor_id" and "Donor.ID"."""
    return re.sub(r"[\W_]+", "", name.lower()).removesuffix("id").removesuffix("s")


def _is_of_units(name: str) -> bool:
    return _plain(name) in _NAMES
