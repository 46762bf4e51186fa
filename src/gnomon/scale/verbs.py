"""Three verbs, map, reduce and broadcast, whose results do not depend on who does the work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gnomon._memory import require_memory

__all__ = ["Executor", "LocalExecutor", "Shared"]

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
    seed of the caller's and the threads of the worker; no result may depend on the latter, so products of matrices by
    NumPy stand inside `gnomon._threads.single_threaded_blas`.

    Attributes
    ----------
    n_workers : int
        That work at the same time, for forecasts; no result depends on it.
    """

    n_workers: int = 1

    def close(self) -> None:  # noqa: B027 # most have nothing to close
        """Let go of what was opened for the work."""

    @abstractmethod
    def map(
        self, function: Callable[..., Any], items: Iterable[Any], *shared: Any, needed: float = 0.0
    ) -> Iterator[Any]:
        """Yield function(item, *shared) of all items, in their order; only some results are held at a time.

        With `needed`, the bytes that one task takes, a MemoryError refuses the work before it starts where no worker
        has as much for a task.
        """

    @abstractmethod
    def reduce(
        self,
        function: Callable[..., Any],
        combine: Callable[[Any, Any], Any],
        items: Sequence[Any],
        *shared: Any,
        needed: float = 0.0,
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

    def map(
        self, function: Callable[..., Any], items: Iterable[Any], *shared: Any, needed: float = 0.0
    ) -> Iterator[Any]:
        """Yield the results one by one, as they are asked for."""
        if needed:
            require_memory("the table", needed, fact="one block and what is made of it", remedy="Give more memory.")
        values = [one.held if isinstance(one, Shared) else one for one in shared]
        return (function(item, *values) for item in items)

    def reduce(
        self,
        function: Callable[..., Any],
        combine: Callable[[Any, Any], Any],
        items: Sequence[Any],
        *shared: Any,
        needed: float = 0.0,
    ) -> Any:
        """Combine as soon as both parts are there; at most about log2 of the number of items are held."""
        waiting: list[tuple[int, Any]] = []  # sizes of complete trees, descending, and their results
        for found in self.map(function, items, *shared, needed=needed):
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
