"""In how many directions the columns of a map go together, said beside the dimension of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.geometry.common_directions import common_directions

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["directions_together", "directions_told"]


def directions_together(result: Map) -> int | None:
    """Return in how many directions the features of a map go together; None of few features or rows."""
    return common_directions(result._unrolled().values)


def directions_told(number: int | None, dimension: float) -> str:
    """Say that columns go together in fewer directions than the dimension that rows show; empty if they do not.

    Parameters
    ----------
    number : int or None
        What `directions_together` returned.
    dimension : float
        The intrinsic dimension.
    """
    if number is None or not number + 1 < dimension:
        return ""
    how = "by principal components of their ranks, against columns that are shuffled"
    if number == 0:
        return f"Columns go together in no direction ({how}): all is what each has by itself, as noise has."
    many = "1 direction" if number == 1 else f"{number} directions"
    return f"Columns go together in about {many} ({how}): much of the rest is what each has by itself, as noise has."
