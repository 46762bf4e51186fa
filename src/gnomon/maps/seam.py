"""What a map of angles says of its explanations, which take differences of features as numbers."""

from __future__ import annotations

from gnomon._validation import warn
from gnomon.exceptions import DataWarning

__all__ = ["told_of_seam", "warn_of_seam"]


def told_of_seam(metric: str) -> list[str]:
    """Say where features start again and differences of them as numbers mislead; nothing in other metrics."""
    if not metric.startswith("periodic"):
        return []
    return [
        f"The metric is {metric}, while explanations take differences of features as numbers: near the seam, where "
        "the values start again, they are not to be trusted. Give sine and cosine of each angle as features to have "
        "them right everywhere."
    ]


def warn_of_seam(metric: str) -> None:
    """Warn of the same."""
    for text in told_of_seam(metric):
        warn(text, DataWarning)
