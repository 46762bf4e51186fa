"""Answers that take the rows of a table as independent, and what their order says against that."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

from gnomon._run import current_run
from gnomon.data import check_table
from gnomon.neighbors.succession import succession_of_rows

__all__ = ["ERRORS", "FEATURES", "NULLS", "PAIRS", "of_independent_rows"]

ERRORS = "errors of means are those of as many independent rows, and too small"
FEATURES = "features may set apart stretches of one way through a single cloud"
NULLS = "neighbours are those next in order, which structureless tables lack"
PAIRS = "rows are fewer than they seem, and chance is judged as of all"

_P = ParamSpec("_P")
_R = TypeVar("_R")


def of_independent_rows(
    consequence: str, *, by_units: bool = False, when: Callable[[Any], bool] = lambda found: True
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let the answer of a function begin its caution with what the order of the rows of its table says against it.

    The table is the first argument, or the one that an explanation, given first, is of. Within another call, such as
    one of a map, which knows the order of its own rows, nothing is added, nor where `units` are given.

    Parameters
    ----------
    consequence : str
        What does not hold, as the middle of a sentence.
    by_units : bool, default=False
        Whether the function takes `units`.
    when : callable, default=always
        Whether an answer depends on independent rows.

    Returns
    -------
    callable
        The decorator, for a function in an `entrance`.
    """

    def cautioned(found: Any, given: Any, metric: Any) -> Any:
        X = getattr(given, "_X", None)
        order = succession_of_rows(check_table(given, accept_sparse=True).values if X is None else X, metric)
        if order is None:
            return found
        told = " ".join(filter(None, [order.told(consequence, by_units=by_units), found.caution]))
        if not isinstance(found, dict):
            return replace(found, caution=told)
        found.caution = told  # type: ignore[attr-defined]
        return found

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            found = function(*args, **kwargs)
            if current_run().within or kwargs.get("units") is not None or not when(found):
                return found
            given = args[0] if args else next(iter(kwargs.values()))
            changed: _R = cautioned(found, given, kwargs.get("metric", "euclidean"))
            return changed

        return call

    return decorate
