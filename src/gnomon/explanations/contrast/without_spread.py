"""Differences of which neither side varies, whose effect size is infinite, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.explanations.answer import Column

__all__ = ["WITHOUT_EXCEPTION", "EffectColumn", "without_spread"]

WITHOUT_EXCEPTION = "without exception"
"""What is said of a difference of which neither side varies, beside words that say in which direction it goes."""


def without_spread(effect: float, selected: float, rest: float) -> str:
    """Say an infinite effect size as a person would.

    Parameters
    ----------
    effect : float
        Infinite: every row of each side has its mean.
    selected, rest : float
        The means; 1 and 0 are what all rows of one side have and none of the other.

    Returns
    -------
    str
        "in all, no other", "in none, all others", or which side has more.
    """
    if (selected, rest) == (1.0, 0.0):
        return "in all, no other"
    if (selected, rest) == (0.0, 1.0):
        return "in none, all others"
    return f"{'more' if effect > 0 else 'less'} {WITHOUT_EXCEPTION}"


@dataclass(frozen=True)
class EffectColumn(Column):
    """A column of effect sizes with errors, of which those that are infinite are told in words, by the means."""

    def cells(self, answer: Any) -> list[str]:
        """Return one text a row."""
        sides = zip(getattr(answer, self.name), answer.mean_selected, answer.mean_rest, strict=True)
        words = [without_spread(*map(float, one)) if np.isinf(one[0]) else "" for one in sides]
        return [word or cell for word, cell in zip(words, super().cells(answer), strict=True)]
