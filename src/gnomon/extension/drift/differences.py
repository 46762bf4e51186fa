"""Sentences on what new rows differ in, and on what of it speaks for fitting the map again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon.data.dataset import first_few
from gnomon.extension.drift.judgement import (
    MOST_LOST,
    MOST_SHIFT,
    MOST_UNUSUAL,
    differs,
    is_held_out,
    is_of_copies,
    is_slight,
    lies_nearer_in,
    lies_too_far_out,
    loses_neighbors,
    unknown_columns,
)

if TYPE_CHECKING:
    from gnomon.extension.drift.columns import ColumnShift, MissingShift
    from gnomon.extension.drift.result import Drift

__all__ = ["NAMED", "differences", "reasons", "slight", "told_unknown"]

NAMED = 3
"""Columns of which shares are told."""
_ROWS_NAMED = 5


def reasons(drift: Drift) -> list[str]:
    """Say why the map should be fitted again; empty if nothing speaks for it."""
    found = []
    if lies_too_far_out(drift):
        how = "lie farther out than 95 % of the old"
        if is_held_out(drift):
            how = "are less like the old than 95 % of these"
        share = f"{drift.unusual:.0%} of the new rows {how}"
        found.append(f"{share} (more than {MOST_UNUSUAL:.0%}, and than chance)")
    if len(drift.group) > MOST_UNUSUAL * drift.n_new:
        found.append(
            f"{len(drift.group) / drift.n_new:.0%} of the new rows lie together, unlike the old "
            f"(more than {MOST_UNUSUAL:.0%})"
        )
    if loses_neighbors(drift):
        lost = drift.preserved_old - drift.preserved_new
        found.append(f"new rows keep {lost:.0%} of their neighbours less than old rows (more than {MOST_LOST:.0%})")
    return found + told_unknown(drift, for_refit=True)


def differences(drift: Drift) -> list[str]:
    """Say in what new rows differ from the old more than chance allows."""
    found = []
    if differs(drift.shift, drift.shift_p_value) and not is_of_copies(drift):
        nearer = lies_nearer_in(drift)
        share = float(np.mean(drift.novelty < 0.5 if nearer else drift.novelty > 0.5))
        found.append(
            f"{share:.0%} lie {'nearer in' if nearer else 'farther out'} than half of the old "
            f"(a shift of {drift.shift:.2f}, by chance up to {drift.shift_by_chance:.2f})"
        )
    if drift.missing is not None and len(drift.missing.columns):
        found.append(_told_missing(drift, drift.missing))
    found += told_unknown(drift)
    columns = drift.columns
    if columns is not None and len(columns.constant):
        count = len(columns.constant)
        what = "a column has" if count == 1 else f"{count:,} columns have"
        found.append(f"{what} one value in all new rows ({_names(drift, columns.constant)})")
    if columns is not None and len(columns.shifts) and differs(float(columns.shifts[0]), columns.p_value):
        far = columns.columns[columns.shifts > max(MOST_SHIFT, columns.by_chance)]
        what = "a column differs" if len(far) == 1 else f"{len(far):,} columns differ"
        found.append(
            f"{what} in distribution ({_names(drift, far)}: by {columns.shifts[0]:.2f}, by chance up to "
            f"{columns.by_chance:.2f})"
        )
    if columns is not None and differs(abs(columns.together), columns.together_p_value):
        found.append(
            f"the mean of {columns.n_together:,} columns differs in distribution ({_lower(columns)} in new rows: "
            f"by {abs(columns.together):.2f}, by chance up to {columns.together_by_chance:.2f})"
        )
    if len(drift.group):
        found.append(
            f"{len(drift.group):,} of the new rows are unlike the old and lie together ({_rows_of_group(drift)}): "
            "perhaps a group that the map has not seen"
        )
    return found


def slight(drift: Drift) -> list[str]:
    """Say in what new rows have shifted surely, though by less than `differences` asks for."""
    found, columns = [], drift.columns
    if is_slight(drift.shift, drift.shift_p_value) and not is_of_copies(drift):
        where = "nearer in" if lies_nearer_in(drift) else "farther out"
        by_chance = f"by chance up to {drift.shift_by_chance:.2f}"
        found.append(f"how far out they lie by {drift.shift:.2f} ({where}; {by_chance})")
    if columns is not None and len(columns.shifts) and is_slight(float(columns.shifts[0]), columns.p_value):
        far = columns.columns[columns.shifts > columns.by_chance]
        what = "a column" if len(far) == 1 else f"{len(far):,} columns"
        upto = "" if len(far) == 1 else "up to "
        found.append(
            f"{what} by {upto}{columns.shifts[0]:.2f} ({_names(drift, far)}; by chance up to {columns.by_chance:.2f})"
        )
    if columns is not None and is_slight(abs(columns.together), columns.together_p_value):
        found.append(
            f"the mean of {columns.n_together:,} columns by {abs(columns.together):.2f} ({_lower(columns)}; by "
            f"chance up to {columns.together_by_chance:.2f})"
        )
    return found


def told_unknown(drift: Drift, *, for_refit: bool = False) -> list[str]:
    """Say of which columns more new rows than chance gives have unknown categories, or enough to fit again."""
    unknown = drift.unknown
    if unknown is None:
        return []
    return [
        f"{unknown.of_new[j]:.0%} of the new rows have a {unknown.names[j]!r} that the map does not know "
        f"({unknown.values[j]})"
        for j in unknown_columns(drift, for_refit=for_refit)[:NAMED]
    ]


def _lower(columns: ColumnShift) -> str:
    return "lower" if columns.together < 0.0 else "higher"


def _names(drift: Drift, columns: npt.NDArray[np.int64]) -> str:
    first = int(columns[0])
    name = drift.column_names[first] if first < len(drift.column_names) else f"column {first}"
    return name if len(columns) == 1 else f"first {name}"


def _rows_of_group(drift: Drift) -> str:
    rows, count = ", ".join(str(row) for row in drift.group[:_ROWS_NAMED]), len(drift.group)
    return f"rows {rows}" + (f" and {count - _ROWS_NAMED:,} more" if count > _ROWS_NAMED else "")


def _told_missing(drift: Drift, missing: MissingShift) -> str:
    """Say of which columns values are missing more often; features of one column as it came are one."""
    shares: dict[str, str] = {}
    for column, old, new in zip(missing.columns, missing.of_old, missing.of_new, strict=True):
        name = drift.missing_names[column] if column < len(drift.missing_names) else f"column {column}"
        shares.setdefault(name, f"{name} in {new:.0%} of the new rows and {old:.0%} of the old")
    told = list(shares.values())
    listed = first_few(told, NAMED, of="column", before=", and")
    return f"values are missing more often ({listed}), and what was filled in was not measured"
