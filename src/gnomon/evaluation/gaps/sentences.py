"""What a verdict on a gap says, in words."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gnomon.data.dataset import first_few
from gnomon.data.scaling import reads_values
from gnomon.evaluation.gaps.borders import Border
from gnomon.evaluation.gaps.saddles import N_NEIGHBORS
from gnomon.evaluation.words import percent

__all__ = [
    "COUNTED",
    "MANY_COLUMNS",
    "MORE_ROWS",
    "NARROW",
    "NULL",
    "ORDER_TELLS",
    "SHARP",
    "THINNED",
    "UNCOUNTED",
    "UNIT",
    "UNSEEN",
    "UNSHARED",
    "components_advice",
    "map_of_components",
    "part_of",
    "sentence",
    "told_of_border",
    "told_of_columns",
    "told_of_counted",
    "told_of_leak",
    "told_of_order",
    "told_of_others",
    "told_of_strays",
    "told_of_unseen",
]

Mask = npt.NDArray[np.bool_]

ORDER_TELLS = "gaps may part stretches of one way through a single cloud"
"""What the order of the rows says against verdicts, which are of independent rows."""
_FEW_COLUMNS = 3  # up to which principal components are no help
_COMPONENTS = 20  # that a verdict advises to ask about
_OF_SETS = ("jaccard", "dice", "sokalsneath", "ruzicka", "tanimoto")
_NAMED = 3  # columns that tell groups apart by themselves
_NO_LINE = 0.6  # of pairs in order: fewer are told as none
MANY_COLUMNS = 100
"""From so many columns on principal components are named as one would ask for them."""
MORE_ROWS = "more rows would tell"
"""The remedy where the rows looked at are too few."""
NARROW = "a gap too narrow for densities"
SHARP = "hardly a row as near to both"
THINNED = "fewer rows as near to both"
UNCOUNTED = "too few rows as near to both"
UNSEEN = "a gap might not be seen"
UNSHARED = "a difference in values that columns do not share"
UNIT = f"fall of log density between the groups as {N_NEIGHBORS} neighbours tell it"
COUNTED = "fall of log density between the groups as rows counted at their border tell it"
NULL = "the deepest dip anywhere in tables without gaps, so that groups may be chosen by eye"
_ALL = 0.99  # of a group is called by its name
_STRAYS = 0.02  # of a group in clouds of the other are told


def map_of_components(n_pcs: int, metric: str) -> str:
    """Return which map is made of principal components where columns are compared by a metric; empty where none is.

    Maps by a metric that reads what values are refuse to take components of the columns.
    """
    made = f"a map with n_pcs={n_pcs}"
    if metric == "hellinger":
        return f"{made} of the roots of shares, numpy.sqrt(X / X.sum(axis=1, keepdims=True))"
    if metric in _OF_SETS:
        return f"{made} and metric='cosine', which takes sets for alike nearly as {metric!r} does"
    return "" if reads_values(metric) else made


def components_advice(n_columns: int, metric: str = "euclidean") -> str:
    """Return what helps where a gap might not be seen in so many columns; empty of so few that none can be spared.

    So it is under metrics that have no principal components.
    """
    how = map_of_components(_COMPONENTS, metric)
    if n_columns <= _FEW_COLUMNS or not how:
        return ""
    plain = "ask about principal components"
    return f"{plain} ({how})" if n_columns >= MANY_COLUMNS or reads_values(metric) else plain


def told_of_counted(first: str, second: str, border: Border, fall: tuple[float, float, float]) -> str:
    """Say that there is a gap since rows are missing at a border; `fall` is that of log density, with its interval."""
    few = "no row is" if border.between == 0 else "1 row is" if border.between == 1 else f"{border.between} rows are"
    low, high = (percent(math.exp(-end)) for end in fall[1:])
    return (
        f"Between {first} and {second} {few} as near to one side as to the other, where {border.peak} lie beside the "
        f"border, so that density falls there to between {high} % and {low} %: a gap."
    )


def told_of_border(finding: str, border: Border, k: int, *, whole_numbers: bool) -> str:
    """Say how few rows lie at a border that k neighbours tell, and what would tell."""
    count = "none is" if border.between == 0 else "1 is" if border.between == 1 else f"{border.between} are"
    counted = f" ({count}, where {border.peak} lie beside the border)"
    if finding != SHARP:
        return f"{counted}: {MORE_ROWS}."
    if k < N_NEIGHBORS:
        return (
            f"{counted}. The {N_NEIGHBORS} neighbours of a density may reach over a gap there, which is neither found "
            f"nor denied: {MORE_ROWS}."
        )
    such = ", such as, if these are counts, their logarithms after division by the totals of rows"
    return (
        f"{counted}. Density differs too much with the place to find or "
        f"deny a gap: ask of a table where it differs less{such if whole_numbers else ''}."
    )


def told_of_leak(columns: list[str]) -> str:
    """Say which columns tell the groups apart by themselves, one value on a side, and what to do about it."""
    which, it = (f"{columns[0]!r} alone", "it is") if len(columns) == 1 else ("Each of the columns", "they are")
    listed = "" if len(columns) == 1 else f" {first_few(map(repr, columns), _NAMED)}"
    return (
        f" {which}{listed} tells the two apart, by a value that all rows of one and none of the other have: if {it} "
        "what the groups were chosen by, leave out such columns and ask again."
    )


def told_of_order(in_order: float, sides: tuple[Mask, Mask]) -> str:
    """Say how well a line tells held-out rows apart, and that this says nothing of a gap."""
    first, second = (int(np.count_nonzero(side)) for side in sides)
    rows, share = f"held-out rows of the two ({first} and {second}) apart", f"{100.0 * in_order:.3g} % of pairs"
    if in_order < _NO_LINE:
        return f" No line tells {rows}: the best does in {share} (chance: 50 %)."
    return f" A line tells {rows} in {share} (chance: 50 %); so it may tell two halves of one cloud."


def part_of(name: str, rows: Mask, part: Mask) -> str:
    """Return what a part of a group is called: the group itself if it is as good as all of it."""
    share = np.count_nonzero(part) / np.count_nonzero(rows)
    return name if share > _ALL else f"{percent(share)} % of {name}"


def told_of_strays(strays: tuple[int, int], groups: tuple[Mask, Mask], names: tuple[str, str]) -> str:
    """Say which share of a group lies in the other's cloud, where it is more than one in fifty."""
    told = [
        f"{percent(share)} % of {name} lies in one cloud with {other}"
        for count, rows, name, other in zip(strays, groups, names, names[::-1], strict=True)
        if (share := count / np.count_nonzero(rows)) > _STRAYS
    ]
    return f" But {' and '.join(told)}." if told else ""


def told_of_unseen(n_seen: int, n_unseen: int) -> str:
    """Say that a sample left rows out, which are at hand; empty if it left none out."""
    return f" {n_seen:,} of {n_seen + n_unseen:,} rows were looked at: raise max_rows." if n_unseen else ""


def sentence(
    finding: str,
    first: str,
    second: str,
    dip: tuple[float, float, float],
    bridge: float,
    advice: str,
    *,
    is_leaked: bool = False,
) -> str:
    """Say what was found between two groups; `dip` is the fall of log density with the ends of its interval.

    Nothing is advised where columns tell the groups apart by themselves.
    """
    estimate, low, high = (percent(math.exp(-value)) for value in dip)
    figures = f"{estimate} % [{high} %, {low} %]" if math.isfinite(dip[2]) else f"between 0 % and {low} %"
    share = f"{figures} of that of the sparser of the two"
    between = f"Between {first} and {second}, the density that {N_NEIGHBORS} neighbours tell falls to {share}"
    if finding == "two groups":
        return f"{between}: a gap."
    if finding == "one group":
        return f"Rows lie between {first} and {second} as densely as in one cloud: the data have no gap there."
    if finding == "a continuum with a dip":
        return f"{between}: thinner, but above {100 * bridge:g} % and so joined."
    if finding == UNSEEN:
        few, remedy = ("so few rows in so many dimensions", advice) if advice else ("so few rows", MORE_ROWS)
        return (
            f"No gap is seen between {first} and {second}, but {few} might not show one where density falls to "
            f"{100 * bridge:g} %{'' if is_leaked else f': {remedy}, or find clusters'}."
        )
    if finding == UNSHARED:
        return (
            f"No gap is seen between {first} and {second} in what the columns of few values share, but mostly they "
            "differ in columns by themselves, where no row lies between two values of one group either."
        )
    if finding == SHARP:
        return (
            f"Between {first} and {second}, a path leads through places as dense, but there the two come near each "
            "other without mixing: hardly any row is as near to one side as to the other"
        )
    if finding == THINNED:
        return (
            f"Between {first} and {second}, a path leads through places nearly as dense, but there surely fewer rows "
            "are as near to one side as to the other"
        )
    if finding == UNCOUNTED:
        return (
            f"No gap is seen between {first} and {second}, but too few rows are as near to one side as to the other to "
            f"be sure that none falls to {100 * bridge:g} %"
        )
    if finding == NARROW:
        return (
            f"Along the line that tells {first} and {second} apart best, hardly any row lies at one place between. The "
            f"{N_NEIGHBORS} neighbours of a density reach over it, so that a narrow gap is neither seen nor denied"
            f"{'' if is_leaked else f': {MORE_ROWS}, or a table of fewer columns'}."
        )
    reason = f"on both sides of {100 * bridge:g} %" if finding == "a dip that may be a gap" else "as chance alone may"
    return f"{between}, {reason}{'' if is_leaked else f': {MORE_ROWS}'}."


def told_of_others(names: tuple[str, str], fall: float) -> str:
    """Say that rows of neither group join the two, and how far density falls without them."""
    return (
        f" Rows of neither lie between: among those of {names[0]} and {names[1]} alone it falls to "
        f"{percent(math.exp(-fall))} %."
    )


def told_of_columns(named: list[str], alone: bool) -> str:
    """Say which columns make a gap, or without which none can be shown; empty for none."""
    if not named:
        return ""
    which = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    if not alone:
        return f" Without {which} it could not be shown."
    return (
        f" It is that of {which} alone: without {'this column' if len(named) == 1 else 'these columns'} none is seen."
    )
