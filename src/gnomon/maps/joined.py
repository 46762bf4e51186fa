"""What repeated columns of a map say against answers that take each row as independent of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.data import find_join

if TYPE_CHECKING:
    from gnomon.data import Join
    from gnomon.maps.result import Map

__all__ = ["join_of_rows", "join_told"]


def join_of_rows(result: Map) -> Join | None:
    """Return of which owners the rows of a map repeat columns; None of none, of pictures and of given distances.

    Looked for once.
    """
    if result._join is None:
        own = result.image_shape is None and result.metric != "precomputed"
        columns = (
            result.columns if sum(len(rule.features) for rule in result.columns or []) == result.n_features else None
        )
        result._join = (find_join(result.X, result.feature_names, columns) if own else None,)
    return result._join[0]


def join_told(result: Map) -> str:
    """Return what repeated columns say against an answer; empty if there are none."""
    join = join_of_rows(result)
    return "" if join is None else join.told
