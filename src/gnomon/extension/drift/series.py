"""New rows where rows are a time series: all are counted, and those are judged that are hardly alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gnomon.extension.drift.result import Drift
from gnomon.linalg.table import evenly_spaced
from gnomon.neighbors import Succession

__all__ = ["measure_series"]

_OF_INDEPENDENT = (  # what says by shares and chances of rows how new ones differ
    "unusual",
    "out_of_range",
    "shift",
    "shift_by_chance",
    "shift_p_value",
    "preserved_new",
    "preserved_old",
    "lost_by_chance",
    "regions",
    "region_p_values",
    "columns",
    "missing",
    "group",
    "by_shares",
)
_FEWEST_OLD = 8  # rows of a map of a series
_FEW_STEPS = 4  # new rows of fewer steps of the series of a map do not show whether they are one


def measure_series(
    orders: tuple[Succession | None, Succession | None],
    measure: Callable[..., Drift],
    tables: tuple[Any, Any, Any, Any],
    known: dict[str, Any],
) -> Drift:
    """Return counts of all rows, and what those of a series say that are hardly alike, by which they are judged."""
    X, Y, X_new, Y_new = tables
    old, new = (
        np.arange(rows.shape[0]) if order is None else order.independent
        for order, rows in zip(orders, (X, X_new), strict=True)
    )
    first, second = orders
    unseen = first is not None and second is None and len(new) < _FEW_STEPS * first.step
    if first is not None and unseen:
        new = np.arange(0, len(new), first.step)
    if len(old) < _FEWEST_OLD:
        old = evenly_spaced(int(X.shape[0]), _FEWEST_OLD)
    labels, unlikeness, features, missing = (known[name] for name in ("labels", "unlikeness", "features", "missing"))
    if unlikeness is not None:
        share = len(old) / int(X.shape[0])
        unlikeness = unlikeness.of(new)._replace(n_compared=max(1, round(share * unlikeness.n_compared)))
    few = measure(
        X[old],
        np.asarray(Y)[old],
        X_new[new],
        np.asarray(Y_new)[new],
        labels=None if labels is None else labels[old],
        unlikeness=unlikeness,
        features=None if features is None else (features[0][old], features[1][new]),
        missing=None if missing is None else (missing[0][old], missing[1][new]),
    )
    few = replace(few, group=new[few.group], blank=new[few.blank])
    one, whose = (second, "the new rows") if first is None else (first, "the map")
    assert one is not None
    caution = f"Of {whose}: {one.told('rows are nearer to those before and after them than to others')}"
    if first is not None and second is not None:
        caution += f" The same holds of the new rows, of which about {second.n_independent:,} are independent."
    if unseen:
        caution += " The new rows are too few to show their order: they are taken for rows of such a series."
    whole = measure(*tables, **known)
    judged = {name: getattr(few, name) for name in _OF_INDEPENDENT}
    return replace(whole, caution=caution, independent=few, labels_of_group={}, **judged)
