"""The choice among maps: every value once, the better half again, the winner with seeds that had no part in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.comparison.candidates import with_value
from gnomon.comparison.recommendation import Curve
from gnomon.comparison.rule import TRUST, Made, Rule
from gnomon.comparison.trials import Request, Trial, Trials

__all__ = ["Choice"]

_HELD_OUT = 2  # seeds that confirm the trustworthiness of the winner


class Choice:
    """Maps along lines of parameters, and which of them is taken.

    Parameters
    ----------
    trials : Trials
    defaults : sequence of Request
        One for each method, the simplest first.
    lines : mapping of method to mapping of parameter to values
        From `gnomon.comparison.candidates.lines_of`.
    criterion : str
    """

    def __init__(
        self,
        trials: Trials,
        defaults: Sequence[Request],
        lines: Mapping[str, Mapping[str, Sequence[Any]]],
        criterion: str,
    ) -> None:
        self._trials, self._defaults, self._lines, self._criterion = trials, defaults, lines, criterion
        self._made: dict[str, Made] = {}
        self._unconfirmed: dict[str, str] = {}
        trials.share([one for first in defaults for one in (first, *self._largest(first))])
        trusts = [trial.scores["trustworthiness"] for _, trial in self._make(defaults, trials.n_seeds)]
        self._safest = defaults[int(np.argmax(trusts))]
        self._rule = Rule(criterion, tuple(one.method for one in defaults), max(trusts) - TRUST)

    @property
    def trials(self) -> list[Trial]:
        """All maps, in the order in which they were made."""
        return [trial for _, trial in self._made.values()]

    @property
    def refused(self) -> tuple[str, ...]:
        """Names of the maps that are not trustworthy enough."""
        return tuple(one.name for one in self.trials if one.name in self._unconfirmed or not self._rule.trusts(one))

    def curves(self) -> list[Curve]:
        """Search each parameter of each method, with those before it as they were chosen."""
        found = []
        for default in self._defaults:
            base = default
            for parameter, values in self._lines[default.method].items():
                line = [with_value(base, parameter, value, self._trials.n_samples) for value in values]
                again = self._rule.better_half(self._make(line, 1))
                self._make(again, self._trials.n_seeds)
                made = [self._made[one.name] for one in line]
                taken = self._rule.simplest(self._settled(made), self._rule.seed_error(self.trials))
                base = base if taken is None else taken[0]
                found.append(
                    Curve.of(self._criterion, parameter, values, [trial for _, trial in made], line.index(base))
                )
        return found

    def take(self) -> Made:
        """Return the simplest of the best maps whose trustworthiness further seeds confirm."""
        left, seed_error = self._settled(list(self._made.values())), self._rule.seed_error(self.trials)
        while True:
            taken = self._rule.simplest(left, seed_error)
            assert taken is not None  # the default of most trustworthiness is never refused
            doubt = self._doubt(taken[0])
            if doubt is None:
                return taken
            self._unconfirmed[taken[0].name] = doubt
            left.remove(taken)

    def runner_ups(self, chosen: Trial) -> tuple[Trial, ...]:
        """Return the other maps that are trustworthy enough, the best first."""
        others = [one for one in self.trials if one is not chosen and one.name not in self.refused]
        return tuple(sorted(others, key=lambda one: -one.scores[self._criterion]))

    def tolerance(self, chosen: Trial) -> float:
        """Return the difference of the criterion that counts as none between the best map and the chosen one."""
        return self._rule.tolerance(self._best(), chosen, self._rule.seed_error(self.trials))

    def reasons(self, chosen: Trial) -> list[str]:
        """Return in sentences what was measured, and why this map was taken."""
        told = self._rule.reasons(self.trials, self._best(), chosen, self.tolerance(chosen))
        return [*told, *self._unconfirmed.values()]

    def _best(self) -> Trial:
        """Return the best of the maps that could have been taken."""
        settled = self._settled([one for one in self._made.values() if one[1].name not in self._unconfirmed])
        best = self._rule.best(settled)
        assert best is not None  # the chosen map is one of them
        return best[1]

    def _make(self, requests: Sequence[Request], n_seeds: int) -> list[Made]:
        made = list(zip(requests, self._trials.make(requests, n_seeds), strict=True))
        self._made |= {request.name: (request, trial) for request, trial in made}
        return made

    def _settled(self, made: Sequence[Made]) -> list[Made]:
        """Return those of some maps that were made with all seeds."""
        return [one for one in made if one[1].n_seeds >= self._trials.n_seeds]

    def _doubt(self, winner: Request) -> str | None:
        """Return in a sentence that seeds which chose nothing find a map less trustworthy than the safest default."""
        if winner == self._safest:
            return None
        own, best = (float(self._trials.held_out_trust(one, _HELD_OUT).mean()) for one in (winner, self._safest))
        if own >= best - TRUST:
            return None
        return (
            f"{winner.name} is refused: with {_HELD_OUT} further seeds its trustworthiness is {own:.3f}, and "
            f"{best:.3f} that of {self._safest.name}."
        )

    def _largest(self, default: Request) -> list[Request]:
        """Return the maps of a method's lines that ask for more neighbours than others."""
        lines, n = self._lines[default.method], self._trials.n_samples
        names = [name for name in ("n_neighbors", "perplexity") if name in lines]
        return [with_value(default, name, max(lines[name]), n) for name in names]
