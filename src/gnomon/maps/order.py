"""What the order of the rows of a map says against answers that take each row as independent of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon import neighbors

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["order_of_rows", "order_told"]


def order_of_rows(result: Map) -> neighbors.Succession | None:
    """Return whether rows of a map that follow each other are alike; None if not.

    Looked for once, and known from then on to what is asked about the same table within the same call.
    """
    values = result._mapped().values
    if result._order is None:
        result._order = (neighbors.succession_of_rows(values, result.metric),)
    neighbors.keep_succession(values, result.metric, result._order[0])
    return result._order[0]


def order_told(result: Map, consequence: str, *, by_units: bool = False) -> str:
    """Return what the order of the rows says against an answer; empty if nothing.

    Parameters
    ----------
    result : Map
    consequence : str
        What does not hold, as the middle of a sentence.
    by_units : bool, default=False
        Whether the question takes `units`.
    """
    order = order_of_rows(result)
    return "" if order is None else order.told(consequence, by_units=by_units)
