"""Several objectives descended at once, whose points pull on each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy.typing as npt

from gnomon._progress import Reporter
from gnomon._validation import message
from gnomon.optimizers.base import Optimizer
from gnomon.optimizers.loop import DescentRun, first_state
from gnomon.optimizers.state import Points, Solution

__all__ = ["Descent", "minimize_together"]

_BLOCK = 10  # iterations between two reports


class Descent(NamedTuple):
    """One of several descents.

    Attributes
    ----------
    optimizer : Optimizer
        One that moves each point by its own force, such as `SampledDescent`, `GradientDescent` or `Adam`.
    objective : Objective
        What it lowers; an added term of it may pull its points towards those of the others.
    start : array-like of shape (n_samples, n_components)
        Where to start.
    """

    optimizer: Optimizer[Any, Any]
    objective: Any
    start: npt.ArrayLike


def minimize_together(
    descents: Sequence[Descent], couple: Callable[[list[Points]], None], *, reporter: Reporter | None = None
) -> list[Solution]:
    """Descend several objectives at once.

    All take an iteration from where all stood before it, so that the order of the descents does not matter: since their
    optimizers move each point by its own force, this is one descent of the sum of the objectives. Each does its own
    number of iterations, spread evenly over the longest; stopping rules rest.

    Parameters
    ----------
    descents : sequence of Descent, one at least
        What is descended.
    couple : callable
        list of embeddings, one for each descent -> None: tells the objectives where the points of the others are.
        Called before each iteration and after the last; it may move the points of all in place.
    reporter : Reporter, default=None
        Told about progress; may ask to end.

    Returns
    -------
    list of Solution
        One for each descent.
    """
    reporter = Reporter() if reporter is None else reporter
    for descent in descents:
        if not descent.optimizer.moves_points_alone:
            rule = "one that moves each point by its own force, such as GradientDescent"
            raise ValueError(message(f"optimizer={type(descent.optimizer).__name__}", rule))
    runs = [DescentRun(descent.optimizer, descent.objective) for descent in descents]
    states = [first_state(descent.optimizer, descent.objective, descent.start) for descent in descents]
    longest = max(range(len(runs)), key=lambda index: runs[index].max_iter)
    last, done, reason = runs[longest].max_iter, 0, ""
    first = descents[longest]
    reporter.expect(0, first.optimizer.costs(first.objective, states[longest]))
    while done < last and not reason:
        couple([state.embedding for state in states])
        done += 1
        for run, state in zip(runs, states, strict=True):
            limit = done * run.max_iter // last
            if state.iteration < limit:
                run.advance(state, limit)
        if done % _BLOCK and done < last:
            continue
        reporter.reckon(first.optimizer.costs(first.objective, states[longest]))
        if reporter.update(done, last, embedding=states[0].embedding):
            reason = f"The callback asked to end after iteration {done} of {last}."
    couple([state.embedding for state in states])
    solutions = []
    for run, state in zip(runs, states, strict=True):
        run.evaluate(state)
        converged, own = run.out_of_iterations(state)
        ended = reason if reason and done < last else own
        solutions.append(Solution(state.embedding, run.history, converged, ended, state.iteration, run.timings, state))
    return solutions
