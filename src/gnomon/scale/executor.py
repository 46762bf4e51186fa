"""Three verbs, map, reduce and broadcast, whose results do not depend on who does the work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gnomon._run import current_run
from gnomon._validation import message

__all__ = ["Executor", "LocalExecutor", "Shared", "as_executor", "current_executor"]

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Shared(Generic[_Value]):
    """A value that every worker has, made by `Executor.broadcast`; given to functions as what it stands for.

    Attributes
    ----------
    held : object
        The value itself, or what the workers of an executor know it by.
    """

    held: Any


class Executor(ABC):
    """Who works on the blocks of a table.

    Functions are those of a module, or `functools.partial` of them, so that they can be sent to other processes. They
    are called as ``function(item, *shared)``, with the values that ``shared`` stand for, inside a run with the name and
    seed of the caller's and the threads of the worker; no result may depend on the latter.

    Attributes
    ----------
    n_workers : int
        That work at the same time, for forecasts; no result depends on it.
    """

    n_workers: int = 1

    @abstractmethod
    def map(self, function: Callable[..., Any], items: Iterable[Any], *shared: Any) -> Iterator[Any]:
        """Yield function(item, *shared) of all items, in their order; only some results are held at a time."""

    @abstractmethod
    def reduce(
        self,
        function: Callable[..., Any],
        combine: Callable[[Any, Any], Any],
        items: Sequence[Any],
        *shared: Any,
    ) -> Any:
        """Return the combination of function(item, *shared) over all items, one at least, along a fixed tree.

        The tree of m items joins that of the first 2^k, the largest power of two below m, with that of the rest, so
        that sums are rounded alike whoever forms them.
        """

    @abstractmethod
    def broadcast(self, value: _Value) -> Shared[_Value]:
        """Give a value to all workers, once; pass what is returned as a shared argument of `map` and `reduce`."""


class LocalExecutor(Executor):
    """Work in this process: one item after the other, each by all threads of the run."""

    def map(self, function: Callable[..., Any], items: Iterable[Any], *shared: Any) -> Iterator[Any]:
        """Yield the results one by one, as they are asked for."""
        values = [one.held if isinstance(one, Shared) else one for one in shared]
        for item in items:
            yield function(item, *values)

    def reduce(
        self,
        function: Callable[..., Any],
        combine: Callable[[Any, Any], Any],
        items: Sequence[Any],
        *shared: Any,
    ) -> Any:
        """Combine as soon as both parts are there; at most about log2 of the number of items are held."""
        waiting: list[tuple[int, Any]] = []  # sizes of complete trees, descending, and their results
        for found in self.map(function, items, *shared):
            size = 1
            while waiting and waiting[-1][0] == size:
                found = combine(waiting.pop()[1], found)
                size *= 2
            waiting.append((size, found))
        total = waiting.pop()[1]
        while waiting:
            total = combine(waiting.pop()[1], total)
        return total

    def broadcast(self, value: _Value) -> Shared[_Value]:
        """Return the value as it is."""
        return Shared(value)


def as_executor(executor: Any) -> Executor:
    """Return who is to work.

    Parameters
    ----------
    executor : None, Executor, distributed.Client or str
        None is this process; a Client, or the address of a scheduler, the workers of that Dask cluster.

    Returns
    -------
    Executor

    Raises
    ------
    TypeError
        If it is anything else.
    """
    if executor is None:
        return LocalExecutor()
    if isinstance(executor, Executor):
        return executor
    what, rule = f"executor of type {type(executor).__name__}", "None, a distributed.Client or the address of one"
    raise TypeError(message(what, rule))


def current_executor() -> Executor:
    """Return who works on the blocks of a table in the run of the present call."""
    return as_executor(current_run().executor)
