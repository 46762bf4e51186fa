"""Where a user's call enters: it opens a run, under the name that errors begin with."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from gnomon._memory import check_budget
from gnomon._progress import Callback, ProgressLines, Reporter
from gnomon._random import resolve_seed
from gnomon._run import Engagement, current_run, enter, leave
from gnomon._threads import resolve_n_threads
from gnomon._validation import Boolean, Either, Integer, Rule, check_parameters, message

__all__ = ["VERBOSE", "check_callback", "entrance", "part"]

VERBOSE: Rule = Either(Boolean(), Integer(0))
"""Whether progress is written to standard error."""

_P = ParamSpec("_P")
_R = TypeVar("_R")
_HOLDERS = ("self", "explanation", "result")  # first arguments whose attributes say what a call does not


def check_callback(callback: Any) -> Callback | None:
    """Return what is called with the progress; raise TypeError if it cannot be called."""
    if callback is not None and not callable(callback):
        rule, fact = "a function of a gnomon.Progress, or None", f"found {type(callback).__name__}"
        raise TypeError(message(f"callback={callback!r:.60}", rule, fact=fact))
    found: Callback | None = callback
    return found


def _reporter(callback: Any) -> Reporter:
    return Reporter(check_callback(callback))


_SEEDED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "random_state": ("seed", resolve_seed),
    "callback": ("reporter", _reporter),
}


def _executor(given: Any) -> Any:
    return current_run().executor if given is None else Engagement(given)


_OF_FUNCTIONS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "memory_budget": ("memory", check_budget),
    "executor": ("executor", _executor),
}


def entrance(
    name: str = "", *, seeded: bool = False, keeps_name: bool = False
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Open a run for each call of a function or method.

    Its memory is bounded by ``memory_budget`` and its blocks are worked on by ``executor``, where the function has
    these parameters. Its threads are those that
    ``n_jobs`` asks for, a parameter of the function or else an attribute of the object that it belongs to or explains;
    without either they are those of the run around the call.

    Parameters
    ----------
    name : str, default=""
        What errors begin with. Empty takes the class of the object whose method is called.
    seeded : bool, default=False
        Whether the run has a seed and a reporter of its own, from ``random_state`` and ``callback``; with ``verbose``
        it also writes lines.
    keeps_name : bool, default=False
        Whether errors and warnings begin with the name of the run around the call, if there is one: of an answer that
        others are made of, which the user did not ask for by its name.

    Returns
    -------
    callable
        The decorator.
    """
    wanted = {"n_jobs": ("n_threads", resolve_n_threads), **(_SEEDED if seeded else {})}

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        taken = inspect.signature(function).parameters
        wordy = _finder(taken, "verbose", default=False) if seeded else None
        lacks_params = "metric" in taken and "metric_params" not in taken and not _takes_any(taken)
        own = {parameter: setting for parameter, setting in _OF_FUNCTIONS.items() if parameter in taken}
        settings = [
            (attribute, make, find)
            for parameter, (attribute, make) in {**wanted, **own}.items()
            if (find := _finder(taken, parameter)) is not None
        ]

        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            around = current_run()
            made = around.made if around.name else {}
            called = around.name if keeps_name and around.name else name or type(args[0]).__name__
            run = around.but(name=called, made=made, within=bool(around.name))
            token = enter(run)  # errors about the settings have the name too
            try:
                if lacks_params and "metric_params" in kwargs:
                    raise TypeError(_told_metric_params(kwargs["metric_params"]))
                if settings:
                    enter(run.but(**{attribute: make(find(args, kwargs)) for attribute, make, find in settings}))
                if wordy and check_parameters({"verbose": VERBOSE}, {"verbose": wordy(args, kwargs)})["verbose"]:
                    with ProgressLines(run.name) as lines:
                        current_run().reporter.listen(lines)
                        return function(*args, **kwargs)
                return function(*args, **kwargs)
            finally:
                used = current_run().executor
                leave(token)
                if used is not run.executor:
                    used.close()

        return call

    return decorate


def _takes_any(parameters: Mapping[str, inspect.Parameter]) -> bool:
    return any(one.kind is one.VAR_KEYWORD for one in parameters.values())


def _told_metric_params(given: Any) -> str:
    """Say how a function whose metric is a name alone is given the period of one."""
    periods = given.get("period") if isinstance(given, Mapping) else None
    listed = list(periods) if isinstance(periods, (list, tuple)) else [periods]
    named = ["inf" if one is None and len(listed) > 1 else f"{one:.16g}" for one in listed if _is_period(one, listed)]
    name = f"periodic({', '.join(named)})" if len(named) == len(listed) else "periodic(360)"
    return message(
        "metric_params",
        "left out",
        fact="the metric here is a name, with its periods in brackets",
        remedy=f"Pass metric={name!r}; 'periodic(360, inf)' is of two columns, the second without a period.",
    )


def _is_period(value: Any, listed: list[Any]) -> bool:
    return isinstance(value, (int, float)) or (value is None and len(listed) > 1)


def part(name: str = "") -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Open a run for each call that no run surrounds, so that a part used by itself has a name in its errors.

    Parameters
    ----------
    name : str, default=""
        What errors begin with. Empty takes the class of the object whose method is called.

    Returns
    -------
    callable
        The decorator.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            run = current_run()
            if run.name:
                return function(*args, **kwargs)
            token = enter(run.but(name=name or type(args[0]).__name__, made={}))
            try:
                return function(*args, **kwargs)
            finally:
                leave(token)

        return call

    return decorate


def _finder(
    parameters: Mapping[str, inspect.Parameter], name: str, *, default: Any = None
) -> Callable[[tuple[Any, ...], dict[str, Any]], Any] | None:
    """Return how to find a setting in a call: a parameter, else an attribute of what the call is about."""
    if name in parameters:
        at, of_call = list(parameters).index(name), parameters[name].default
        return lambda args, kwargs: args[at] if len(args) > at else kwargs.get(name, of_call)
    if next(iter(parameters), "") in _HOLDERS:
        return lambda args, kwargs: getattr(args[0] if args else next(iter(kwargs.values())), name, default)
    return None
