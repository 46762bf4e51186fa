"""Whole numbers that stand for kinds, as the names of their columns tell: a 2 does not lie between 1 and 3."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from gnomon.data.arrays import FloatArray
from gnomon.data.dataset import first_few

__all__ = ["named_as_kinds", "told_of_codes"]

_KINDS = re.compile(
    r"(?i:(^|[\s_\-.])(race|ethnicity|ethnic|ethnic[\s_\-.]?group|gender|sex|(sexual[\s_\-.]?)?orientation|religion|"
    r"nationality|citizenship|country|state|province|region|county|district|language|lang|occupation|profession|"
    r"industry|sector|department|dept|branch|diagnosis|species|breed|genus|colou?r|brand|manufacturer|port|protocol|"
    r"proto|warehouse|campaign|tariff|genre|"
    r"(marital|civil|employment|work|job|insurance|housing|http|response|order|loan)[\s_\-.]?status|"
    r"payment[\s_\-.]?method|cluster|cluster[\s_\-.]?label|segment)$|[\s_\-.](code|type|kind|category)$|"
    r"^(status|type|kind|code|category|cat|mode|channel|plan)$)"
)
_FEWEST, _MOST = 3, 30  # different numbers: of two one indicator is the same column
_ROWS_OF_EACH = 2  # on the mean
_SHOWN = 5  # of the numbers of a column


def named_as_kinds(name: str) -> bool:
    """Return whether a column is called as what has kinds and no amounts is, such as "race" or "port"."""
    return _KINDS.search(name.strip()) is not None


def told_of_codes(numbers: Mapping[str, FloatArray]) -> str:
    """Say which columns of numbers may be of kinds; empty if none may.

    They are called so and have 3 to 30 different whole numbers, each in two rows on the mean.

    Parameters
    ----------
    numbers : mapping of str to ndarray
        Columns taken as amounts, by name.
    """
    told = {}
    for name, values in numbers.items():
        if not named_as_kinds(name):
            continue
        different, counts = np.unique(values[np.isfinite(values)], return_counts=True)
        if _FEWEST <= len(different) <= min(_MOST, counts.sum() / _ROWS_OF_EACH) and (different % 1.0 == 0.0).all():
            told[name] = f"{name!r} ({first_few((f'{one:.15g}' for one in different.tolist()), _SHOWN)})"
    if not told:
        return ""
    said = dict.fromkeys(told, False)
    return (
        f"columns of numbers that by their names may stand for kinds: {'; '.join(told.values())}. They are taken as "
        f"amounts, as if the second lay between the first and the third. Pass ordered={said!r}, or a column of "
        "categories, if they are kinds."
    )
