"""What is known of the rows of a map against an answer: order, owners, weights, said in one order everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from gnomon.maps.joined import join_told
from gnomon.maps.order import order_of_rows, order_told
from gnomon.maps.shifted import told_of_shift
from gnomon.maps.votes import told_of_votes
from gnomon.maps.weights import rows_count_once
from gnomon.neighbors import VOTES

if TYPE_CHECKING:
    from gnomon.evaluation import Evaluation, Scorecard
    from gnomon.maps.result import Map

__all__ = [
    "ANSWERS",
    "cautioned",
    "cautioned_evaluation",
    "cautioned_scorecard",
    "of_neighbors",
    "of_order",
    "with_votes",
    "without_cautions",
]

ANSWERS = (
    "gaps, clusters, dimension and what sets groups apart may be those of one way through the data, and chance is "
    "judged as of more rows than there are"
)
_OF_VOTES = {"knn_accuracy", "neighborhood_hit"}  # measures of how well neighbours tell labels
_Answer = TypeVar("_Answer")


def cautioned(
    result: Any,
    answer: _Answer,
    order: str = "",
    *,
    by_units: bool = False,
    joined: bool = False,
    more: Iterable[str] = (),
    field: str = "caution",
) -> _Answer:
    """Return an answer with all that is known of the rows of its map against it.

    First what their order says, then what the answer says by itself, then columns that they repeat, then `more`, last
    that weights do not count. Every answer of a map about more than single rows comes through here.

    Parameters
    ----------
    result : Map
    answer : dataclass or AnswersByLabel
        One that says itself what the order tells against it begins with that.
    order : str, default=""
        What does not hold if rows that follow each other are alike, as of `order_told`; empty if the answer does not
        depend on it, or says so itself.
    by_units : bool, default=False
        Whether the question takes `units`.
    joined : bool, default=False
        Whether the answer depends on independent rows though `order` is empty, as it says itself what order tells.
    more : iterable of str, default=()
        Further sentences; empty ones are left out.
    field : str, default="caution"
        Which field of the answer has the texts.
    """
    known = getattr(answer, field)
    first = order_told(result, order, by_units=by_units) if order else ""
    owners = join_told(result) if order or joined else ""
    told = " ".join(filter(None, [first, known, owners, *more, rows_count_once(result.parameters)]))
    if told == known:
        return answer
    if isinstance(answer, dict):
        answer.caution = told  # type: ignore[attr-defined]
        return answer
    changed: _Answer = replace(answer, **{field: told})  # type: ignore[type-var]
    return changed


def cautioned_evaluation(result: Map, found: Evaluation) -> Evaluation:
    """Return scores with what is known against them but for metadata: of positions of other rows, of order."""
    known = replace(found, caution="")  # the order of its own rows is told of a map
    order = "" if found.knn_accuracy is None and found.knn_r2 is None else VOTES
    return cautioned(result, known, order, more=[told_of_shift(result)])


def cautioned_scorecard(result: Map, found: Scorecard, *, own_labels: bool) -> Scorecard:
    """Return measures with what is known against them, of metadata too where neighbours tell the labels of the map."""
    votes = told_of_votes(result) if own_labels and not found.scores.keys().isdisjoint(_OF_VOTES) else ""
    return cautioned(result, found, joined=True, more=[votes])


def with_votes(result: Map, found: Evaluation) -> Evaluation:
    """Return scores with what metadata say against `knn_accuracy`, which is told anew as metadata come and go."""
    told = "" if found.knn_accuracy is None else told_of_votes(result)
    return replace(found, caution=" ".join(filter(None, [found.caution, told]))) if told else found


def of_order(result: Map) -> str:
    """Return what is known against the answers of a report of independent rows, which says it once; empty if nothing.

    Notes of the map say of its own table that rows repeat columns.
    """
    owners = join_told(result)
    return " ".join(
        filter(None, [order_told(result, ANSWERS), owners if owners not in "\n".join(result.notes) else ""])
    )


def of_neighbors(result: Map) -> str:
    """Return what is known against neighbours: positions that are those of other rows, and labels told by units."""
    return " ".join(filter(None, [told_of_shift(result), told_of_votes(result)]))


def without_cautions(result: Map, answer: _Answer) -> _Answer:
    """Return an answer with `counting` for a report, which says once of its map that weights do not count.

    Nor does it repeat what `of_order` says.
    """
    known: Any = answer
    order = known.succession if order_of_rows(result) is None else None
    changed: _Answer = replace(known, counting="", succession=order)
    return changed
