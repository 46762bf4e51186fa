"""The first iterations, in which attractions count more: a map that ends in them is not one of its loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gnomon._validation import message, warn
from gnomon.exceptions import ConvergenceWarning
from gnomon.optimizers import GradientDescent

__all__ = ["check_first_phase", "warn_of_first_phase"]

_MOST = 1.1  # factor at the end that is not told: with 1.3 the divergence of t-SNE's map is 1.4 times what it could be


def check_first_phase(parameters: Mapping[str, Any], usual: Mapping[str, Any], after: int) -> None:
    """Raise ValueError if a first phase that is given takes all iterations.

    Parameters
    ----------
    parameters : mapping
        With early_exaggeration, early_exaggeration_iter and max_iter, a number.
    usual : mapping
        Their values where none are given, and what the parameters are compared with.
    after : int
        Iterations after the first phase that suit a map, for the remedy.
    """
    n_early, n_all = parameters["early_exaggeration_iter"], parameters["max_iter"]
    given = n_early != usual["early_exaggeration_iter"] and parameters["early_exaggeration"] > 1.0
    if given and 0 < n_all <= n_early:
        rule, fact = f"less than max_iter={n_all}, which counts all iterations", "the map would end exaggerated"
        left_out = ", or leave it out" if usual["max_iter"] is None else ""
        remedy = f"Pass max_iter={n_early + after}{left_out}."
        raise ValueError(message(f"early_exaggeration_iter={n_early}", rule, fact=fact, remedy=remedy))


def warn_of_first_phase(optimizer: Any, objective: Any) -> None:
    """Warn if the iterations end while attractions count more than the loss says; not if there are none."""
    if not isinstance(optimizer, GradientDescent) or optimizer.max_iter == 0:
        return
    factor = optimizer.last_exaggeration(objective)
    if factor <= _MOST:
        return
    n_early, n_falling = optimizer.early_exaggeration_iter, optimizer.annealing_iter
    phases = f"early_exaggeration_iter={n_early}" + (f", annealing_iter={n_falling}" if n_falling else "")
    text = f"max_iter={optimizer.max_iter} ends while attractions count {factor:.2g} times ({phases})"
    remedy = f"Raise max_iter well above {n_early + n_falling}, or shorten what comes before it."
    warn(f"{text}: the map is not one of the loss. {remedy}", ConvergenceWarning)
