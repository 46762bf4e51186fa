"""What is said of an explanation as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.explanations.answer import format_number, format_table
from gnomon.explanations.why import LOW_R2

__all__ = ["summary_of"]


def summary_of(explanation: Any, n_top: int) -> str:
    """Return the features of largest mean importance as a table, with the R2 over all points.

    Parameters
    ----------
    explanation : Explanation or StoredExplanation
    n_top : int
    """
    order = np.argsort(-explanation.global_importance, kind="stable")[:n_top]
    total = float(explanation.global_importance.sum())
    rows = [
        [explanation.feature_names[f], format_number(value), f"{value / total if total > 0 else 0.0:.1%}"]
        for f, value in zip(order, explanation.global_importance[order].tolist(), strict=True)
    ]
    n = explanation.n_samples
    defined = explanation.r2[explanation.mask]
    head = f"{n:,} points, {explanation.n_features} features, {explanation.describe_fit()}"
    if len(defined):
        low = float(np.mean(defined < LOW_R2))
        head += f"; median R2 {np.median(defined):.2f}, below {LOW_R2:g} at {low:.0%} of the points"
    if explanation.scale is not None:
        head += "; features standardised"
    if len(defined) < n:
        head += f"; nothing can be said about {n - len(defined)} points"
    return head + "\n" + format_table(["feature", "mean importance", "share"], rows)
