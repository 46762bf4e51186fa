"""How new rows are judged: from which numbers on they differ, more than chance gives, and speak for fitting again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon.extension.drift.chance import chance_of_farther, counts_beyond
from gnomon.extension.drift.regions import CROWDED_BY_CHANCE

if TYPE_CHECKING:
    from gnomon.extension.drift.result import Drift

__all__ = [
    "MOST_LOST",
    "MOST_SHIFT",
    "MOST_UNUSUAL",
    "OUTSIDE",
    "differs",
    "has_copies",
    "is_crowded",
    "is_held_out",
    "is_of_copies",
    "is_slight",
    "judged_by",
    "lies_nearer_in",
    "lies_too_far_out",
    "loses_neighbors",
    "may_be_chance",
    "unknown_columns",
]

OUTSIDE = 0.95
"""A row is unusual if more of the map's rows than this share have a lower score of novelty."""
MOST_UNUSUAL = 0.15
"""Share of unusual rows up to which nothing speaks for fitting again: three times what rows like the old ones give."""
MOST_LOST = 0.15
"""Share of the neighbours in the data that new rows may keep less than the old; rows like these lose up to 0.11."""
MOST_SHIFT = 0.3
"""Of distributions; rows in other shares of the same groups mostly differ less in novelty."""
_MOST_UNKNOWN = 0.05  # of the new rows, that have categories of a column which the map has no feature for
_FEWEST_UNKNOWN = 3  # rows
_NOVEL_BY_CHANCE = 0.0075  # how often at most rows like those of the map are said to lie too far out
_MANY_BY_CHANCE = 0.0025  # of which by their number, whatever the others are; the rest is left to all of them together
_LOST_BY_CHANCE = 0.0025  # and how often they are said to be placed worse
_SHIFT_BY_CHANCE = 0.0025  # how often at most rows like those of the map are said to differ in novelty, or in columns
_COPIED_BY_CHANCE = 0.0025  # how often at most copies are told where rows are like the old ones


def judged_by(drift: Drift) -> Drift:
    """Return what new rows are judged by: those of a series that are hardly alike, or all."""
    return drift if drift.independent is None else drift.independent


def is_held_out(drift: Drift) -> bool:
    """Return whether new rows are compared with old ones that are held out of the components of others."""
    return drift.n_compared < drift.n_old


def lies_too_far_out(drift: Drift) -> bool:
    """Return whether so many rows lie so far out that it speaks for fitting again."""
    return drift.unusual > MOST_UNUSUAL and _is_beyond_chance(drift)


def _is_beyond_chance(drift: Drift) -> bool:
    """Return whether so many rows lie so far out as rows like the old ones hardly ever do."""
    n = drift.n_compared
    chances = counts_beyond(n, drift.n_new, _rank(n))
    if chances[np.count_nonzero(drift.novelty > OUTSIDE)] <= _MANY_BY_CHANCE:
        return True
    rare = chances[chances <= _MANY_BY_CHANCE]
    left = _NOVEL_BY_CHANCE - (float(rare[0]) if len(rare) else 0.0)
    return chance_of_farther(np.rint(drift.novelty * n).astype(np.int64), n) <= left


def _rank(n_old: int) -> int:
    """Return the rank of the old row, from the one that lies least far out, beyond which a new one is unusual."""
    rank = int(OUTSIDE * n_old)
    return rank if rank / n_old > OUTSIDE else rank + 1


def loses_neighbors(drift: Drift) -> bool:
    """Return whether new rows keep so many neighbours less than the old that it speaks for fitting again."""
    return drift.preserved_old - drift.preserved_new > MOST_LOST and drift.lost_by_chance <= _LOST_BY_CHANCE


def unknown_columns(drift: Drift, *, for_refit: bool = False) -> npt.NDArray[np.intp]:
    """Return of which unknown categories more new rows than chance gives have one, or so many that it speaks for it."""
    if drift.unknown is None:
        return np.empty(0, dtype=np.intp)
    beyond, fewest = (_MOST_UNKNOWN, _FEWEST_UNKNOWN) if for_refit else (0.0, 1)
    shares = drift.unknown.of_new
    told = ~drift.unknown.by_chance & (shares > beyond) & (np.rint(shares * drift.n_new) >= fewest)
    return np.flatnonzero(told)


def differs(shift: float, p_value: float) -> bool:
    """Return whether distributions are surely so far apart that rows count as unlike the old."""
    return shift > MOST_SHIFT and p_value <= _SHIFT_BY_CHANCE


def is_slight(shift: float, p_value: float) -> bool:
    """Return whether distributions are surely apart, though less than of rows that count as unlike the old."""
    return shift <= MOST_SHIFT and p_value <= _SHIFT_BY_CHANCE


def lies_nearer_in(drift: Drift) -> bool:
    """Return whether most new rows lie nearer in than half of the old."""
    return float(np.median(drift.novelty)) < 0.5


def has_copies(drift: Drift) -> bool:
    """Return whether more new rows are rows of the map than the map's own rows let expect."""
    return len(drift.copies) > 0 and drift.copies_p_value <= _COPIED_BY_CHANCE


def is_of_copies(drift: Drift) -> bool:
    """Return whether new rows lie nearer in than old ones as copies of these do, which are their own neighbours."""
    return has_copies(drift) and lies_nearer_in(drift)


def is_crowded(drift: Drift) -> bool:
    """Return whether the first region holds more new rows than chance gives anywhere."""
    return bool(len(drift.region_p_values) and drift.region_p_values[0] <= CROWDED_BY_CHANCE)


def may_be_chance(drift: Drift) -> bool:
    """Return whether something would speak for fitting again if chance did not give as much."""
    return drift.unusual > MOST_UNUSUAL or drift.preserved_old - drift.preserved_new > MOST_LOST
