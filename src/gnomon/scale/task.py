"""What is sent to a worker with each task, and what comes back."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gnomon._memory import in_bytes
from gnomon._progress import Reporter
from gnomon._run import current_run, running
from gnomon._validation import message, pass_on
from gnomon.scale.verbs import Shared

__all__ = ["Call", "Done", "Fixed", "Packed", "Task", "Value", "combine_done", "work"]

Warned = tuple[tuple[str, type[Warning]], ...]


@dataclass(frozen=True)
class Opened:
    """A function, and the values that follow the item; None stands where a shared value comes."""

    function: Callable[..., Any]
    constants: tuple[Any, ...]
    is_shared: tuple[bool, ...]

    def __call__(self, item: Any, shared: Sequence[Any]) -> Any:
        """Call the function with all its values."""
        given = iter(shared)
        values = [next(given) if sent else value for value, sent in zip(self.constants, self.is_shared, strict=True)]
        return self.function(item, *values)


def _name(function: Any) -> str:
    """Return the name of the function that does the work, also inside a partial of one that calls it."""
    if isinstance(function, partial):
        inner = next((one for one in function.args if callable(one)), function.func)
        return _name(inner)
    return str(getattr(function, "__name__", type(function).__name__)).strip("_<>")


@dataclass(frozen=True)
class Fixed:
    """What all tasks of a call have in common, packed once.

    Attributes
    ----------
    name : str
        Of the function, for the dashboard and for errors.
    packed : bytes
        An `Opened`.
    """

    name: str
    packed: bytes

    @classmethod
    def of(cls, function: Callable[..., Any], shared: Sequence[Any]) -> Fixed:
        """Pack a function and those of its values that are not on the workers yet."""
        from distributed.protocol.pickle import dumps  # also functions that no module holds

        constants = tuple(None if isinstance(one, Shared) else one for one in shared)
        opened = Opened(function, constants, tuple(isinstance(one, Shared) for one in shared))
        return cls(_name(function), dumps(opened))

    def open(self) -> Opened:
        """Return what was packed."""
        opened = pickle.loads(self.packed)
        assert isinstance(opened, Opened)
        return opened


class Packed:
    """What crosses between processes as one piece.

    Dask hands out arrays at the addresses where they arrived, which need not be multiples of their items' size: NumPy
    then rounds products otherwise. Here they are copied to where new arrays lie.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        from distributed.protocol.pickle import dumps

        return _unpack, (type(self), dumps(self.__dict__))

    def __sizeof__(self) -> int:
        """Tell Dask what the contents take: it spills, and chooses where to work, by that."""
        from dask.sizeof import sizeof

        return int(sum(map(sizeof, self.__dict__.values())))


def _unpack(kind: type[Packed], packed: bytes) -> Packed:
    made = object.__new__(kind)
    made.__dict__.update(pickle.loads(packed))
    return made


@dataclass(frozen=True)
class Value(Packed):
    """A shared value."""

    value: Any


@dataclass(frozen=True)
class Task(Packed):
    """One item, in an object of its own, so that Dask looks for none of its names in it."""

    item: Any
    fixed: Fixed | None
    name: str
    seed: int


@dataclass(frozen=True)
class Done(Packed):
    """A result and the warnings on the way to it."""

    result: Any
    warned: Warned = ()


@dataclass
class Call:
    """One use of a verb.

    Attributes
    ----------
    stage : str
        Name of the function.
    fixed : Fixed or None
        Sent with each task; None if it is the first of the shared values.
    shared : list
        What the executor knows them by.
    needed : float
        Bytes that a task takes by forecast; 0 if unknown.
    """

    stage: str
    fixed: Fixed | None
    shared: list[Any]
    needed: float
    name: str
    seed: int
    began: float = field(default_factory=time.time)
    warned: set[tuple[str, type[Warning]]] = field(default_factory=set)

    @classmethod
    def of_current_run(cls, fixed: Fixed, shared: list[Any], needed: float) -> Call:
        """Return a call with the name and seed of the run."""
        run = current_run()
        return cls(fixed.name, fixed, shared, needed, run.name, run.seed)

    def task(self, item: Any) -> Task:
        """Return what is sent for an item."""
        return Task(item, self.fixed, self.name, self.seed)

    def open(self, done: Done) -> Any:
        """Return a result, after the warnings that no other task of the call has given."""
        for one in done.warned:
            if one not in self.warned:
                self.warned.add(one)
                pass_on(*one)
        return done.result


def work(task: Task, *shared: Value) -> Done:
    """Do a task, on a worker."""
    opened, values = _open(task, shared)
    return _inside(task, lambda: opened(task.item, values))


def combine_done(task: Task, left: Done, right: Done, *shared: Value) -> Done:
    """Combine two results, on a worker."""
    opened, _ = _open(task, shared)
    done = _inside(task, lambda: opened.function(left.result, right.result))
    return Done(done.result, tuple(dict.fromkeys(left.warned + right.warned + done.warned)))


def _open(task: Task, shared: tuple[Value, ...]) -> tuple[Opened, list[Any]]:
    values = [one.value for one in shared]
    return (values[0], values[1:]) if task.fixed is None else (task.fixed.open(), values)


def _inside(task: Task, do: Callable[[], Any]) -> Done:
    """Work inside a run like the caller's, with this worker's threads and memory, and keep the warnings."""
    from distributed import get_worker

    worker = get_worker()
    threads = int(worker.state.nthreads)
    limit = float(worker.memory_manager.memory_limit or "inf") / threads
    warned: list[tuple[str, type[Warning]]] = []
    each = max(1, threads // max(1, len(worker.state.executing)))
    own = {"name": task.name, "seed": task.seed, "reporter": Reporter(), "executor": None, "warned": warned}
    with running(n_threads=each, memory=limit, **own):
        try:
            return Done(do(), tuple(dict.fromkeys(warned)))
        except MemoryError as error:
            if type(error) is MemoryError and error.args:  # gnomon's own; NumPy's is a subclass, Python's has no text
                raise
            fact, remedy = str(error).rstrip("."), "Give workers more memory or fewer threads, or take fewer landmarks."
            rule = f"one whose tasks fit in {in_bytes(limit)}, what this worker has for each"
            raise MemoryError(message("the stage", rule, fact=fact, remedy=remedy)) from error
