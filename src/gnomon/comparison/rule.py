"""The rule by which a map is taken: no invented neighbours, noise is no reason, the simplest of the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.comparison.trials import Request, Trial
from gnomon.evaluation import MEASURES

__all__ = ["TRUST", "Made", "Rule"]

TRUST = 0.005
"""Trustworthiness that the chosen map may lie below the best of the methods' own defaults."""
_LEAST_DIFFERENCE = 0.01  # of the criterion; less is seen in no picture

Made = tuple[Request, Trial]


@dataclass(frozen=True)
class Rule:
    """Which of several maps is taken.

    Attributes
    ----------
    criterion : str
        A measure of which 1 is best.
    methods : tuple of str
        The simplest first.
    least_trust : float
        Of maps that are not refused.
    """

    criterion: str
    methods: tuple[str, ...]
    least_trust: float

    def trusts(self, trial: Trial) -> bool:
        """Say whether a map is trustworthy enough."""
        return trial.scores["trustworthiness"] >= self.least_trust

    def better_half(self, made: Sequence[Made]) -> list[Request]:
        """Return the maps that are worth another seed: of those trustworthy enough the better half by the criterion."""
        order = sorted((one for one in made if self.trusts(one[1])), key=self._worth)
        return [request for request, _ in order[: math.ceil(len(made) / 2)]]

    def seed_error(self, trials: Sequence[Trial]) -> float:
        """Return the standard error that seeds leave in a difference of the criterion of two maps.

        The variance over seeds is pooled over the maps that were made with several seeds and differ between them.
        """
        noises = [one.noise[self.criterion] for one in trials if one.n_seeds > 1]
        squares = [noise**2 for noise in noises if noise > 0]
        n_seeds = max(one.n_seeds for one in trials)
        return math.sqrt(2.0 * float(np.mean(squares)) / n_seeds) if squares else 0.0

    def tolerance(self, one: Trial, other: Trial, seed_error: float) -> float:
        """Return twice the standard error of the difference of two maps, from rows and seeds; at least what is seen."""
        a, b = (trial.scorecard[self.criterion].by_row for trial in (one, other))
        assert a is not None  # every criterion is a mean over rows
        assert b is not None
        differences = (a - b)[np.isfinite(a) & np.isfinite(b)]
        row_error = float(np.std(differences, ddof=1)) / math.sqrt(len(differences)) if len(differences) > 1 else 0.0
        return max(2.0 * math.hypot(seed_error, row_error), _LEAST_DIFFERENCE)

    def best(self, made: Sequence[Made]) -> Made | None:
        """Return the trustworthy map that is best by the criterion; None if none is trustworthy."""
        return min((one for one in made if self.trusts(one[1])), key=self._worth, default=None)

    def simplest(self, made: Sequence[Made], seed_error: float) -> Made | None:
        """Return the simplest of the trustworthy maps within the tolerance of their best; None if there is none."""
        best = self.best(made)
        if best is None:
            return None
        top = best[1].scores[self.criterion]
        near = [
            one
            for one in made
            if self.trusts(one[1])
            and top - one[1].scores[self.criterion] <= self.tolerance(best[1], one[1], seed_error)
        ]
        return min(near, key=self._cost)

    def reasons(self, made: Sequence[Trial], best: Trial, chosen: Trial, tolerance: float) -> list[str]:
        """Return in sentences what was measured, and why this map was taken and not the best."""
        measure, found = MEASURES[self.criterion], chosen.scores[self.criterion]
        name = measure.name.replace("_", " ")
        told = [f"{len(made)} maps were compared by {name} ({measure.definition}); {chosen.name} has {found:.3f}."]
        if best.scores[self.criterion] > found:
            told.append(
                f"{best.name} has {best.scores[self.criterion]:.3f}, above it by less than the tolerance of "
                f"{tolerance:.3f}: the simpler of the two is taken."
            )
        refused = sum(not self.trusts(one) for one in made)
        if refused:
            maps = "1 map is refused: its" if refused == 1 else f"{refused} maps are refused: their"
            told.append(
                f"{maps} trustworthiness is below {self.least_trust:.3f}, which is {TRUST} below the best of the "
                "methods' defaults."
            )
        return told

    def _worth(self, one: Made) -> float:
        return -one[1].scores[self.criterion]

    def _cost(self, one: Made) -> tuple[int, int, float]:
        request, _ = one
        return len(request.parameters), self.methods.index(request.method), self._worth(one)
