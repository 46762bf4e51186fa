"""What one computation carries from the call of a user to the kernels, so that nothing between hands it on."""

from __future__ import annotations

import math
import numbers
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from gnomon._machine import usable_cpus
from gnomon._progress import Reporter

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Engagement", "Run", "current_run", "enter", "leave", "made_once", "running"]

_T = TypeVar("_T")


class Engagement:
    """Who is asked to work for the length of a call: opened when first needed, closed with the call.

    Parameters
    ----------
    asked : object
        What `gnomon.scale.as_executor` takes, such as the address of a scheduler.
    """

    def __init__(self, asked: Any) -> None:
        self.asked = asked
        self._opened: Any = None
        self._lock = threading.Lock()

    def opened(self, make: Callable[[Any], Any]) -> Any:
        """Return what `make` makes of what was asked for, made once."""
        with self._lock:
            if self._opened is None:
                self._opened = make(self.asked)
            return self._opened

    def close(self) -> None:
        """Close what was made here; what the user gave stays open."""
        if self._opened is not None and self._opened is not self.asked:
            self._opened.close()


@dataclass(frozen=True)
class Run:
    """Name, seed, threads, memory and progress of one computation.

    Attributes
    ----------
    name : str, default=""
        The class or function that the user called; opens the text of errors and warnings. Empty outside any call.
    seed : int in [0, 2**63), default=0
        Where a method's random numbers come from. Functions that draw still take a seed of their own, since their
        result depends on it.
    n_threads : int >= 1
        Threads of the kernels, by default as many as there are usable CPUs; no result depends on it.
    memory : float, default=inf
        Bytes that a computation may take, if the machine has more.
    reporter : Reporter
        What times the stages and passes on their progress; silent by default.
    executor : object, default=None
        Who works on the blocks of a table, see `gnomon.scale.as_executor`; None is this process. No result depends on
        who it is. Inside a call it is an `Engagement`.
    journal : gnomon.scale.Journal or None, default=None
        Keeps the states of a layout every 50 iterations, so that one that was cut goes on; None keeps nothing.
    warned : list of (str, type of Warning), default=None
        Where the texts of warnings are collected for another process to give; None gives them here.
    within : bool, default=False
        Whether this call was made inside of another one of gnomon, which has checked what it passes on.
    made : dict, default=None
        What parts of the call have made of its arrays, for parts that need the same; it ends with the call of the user,
        in which no array changes. None outside any.
    """

    name: str = ""
    seed: int = 0
    n_threads: int = field(default_factory=usable_cpus)
    memory: float = math.inf
    reporter: Reporter = field(default_factory=Reporter)
    executor: Any = None
    journal: Any = None
    warned: list[tuple[str, type[Warning]]] | None = None
    within: bool = False
    made: dict[Any, Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.n_threads, numbers.Integral) or self.n_threads < 1:
            raise ValueError(
                f"running: n_threads={self.n_threads!r} must be an integer >= 1. Leave it out to use all CPUs."
            )
        if not isinstance(self.memory, numbers.Real) or not self.memory > 0:
            raise ValueError(
                f"running: memory={self.memory!r} must be a number of bytes > 0. Leave it out for no limit."
            )

    def but(self, **changes: Any) -> Run:
        """Return this run with other values, unchecked: a tenth of the time of `dataclasses.replace`."""
        changed = object.__new__(Run)
        changed.__dict__.update(self.__dict__, **changes)
        return changed


_RUN: ContextVar[Run] = ContextVar("gnomon_run")
_OUTSIDE = Run()


def current_run() -> Run:
    """Return the run of the present call; the defaults of `Run` outside any."""
    try:
        return _RUN.get()
    except LookupError:
        return _OUTSIDE.but(n_threads=usable_cpus(), reporter=Reporter())  # CPUs may have been taken or given since


def made_once(kind: str, array: npt.NDArray[Any], make: Callable[[], _T]) -> _T:
    """Return what `make` makes of an array, made once within the call of a user and dropped with the call or the array.

    Parameters
    ----------
    kind : str
        What is made, the same for all that hold it to be the same.
    array : ndarray
        No buffer: its numbers stay as they are while it lives.
    make : callable
    """
    made = current_run().made
    if made is None:
        return make()
    key = kind, array.ctypes.data, array.shape, array.strides, array.dtype
    if key not in made:
        made[key] = make()
        weakref.finalize(array, made.pop, key, None).atexit = False
    found: _T = made[key]
    return found


def enter(run: Run) -> Token[Run]:
    """Make a run the present one until `leave` is called with what is returned."""
    return _RUN.set(run)


def leave(token: Token[Run]) -> None:
    """Go back to the run that was present before."""
    _RUN.reset(token)


@contextmanager
def running(**changes: Any) -> Iterator[Run]:
    """Say for all calls inside a block how many threads and how much memory they take, and who works.

    Parameters
    ----------
    **changes : object
        ``n_threads``, for whatever has no ``n_jobs`` of its own; ``memory``, in bytes; ``executor``, such as a client
        of Dask; ``journal``, a `gnomon.scale.Journal`. What is left out stays as it is around the block.

    Yields
    ------
    Run
        The run inside the block.

    Examples
    --------
    >>> import gnomon
    >>> with gnomon.running(n_threads=4) as run:
    ...     print(run.n_threads)
    4
    """
    asked = changes.get("executor")
    if asked is not None and not isinstance(asked, Engagement):
        changes["executor"] = Engagement(asked)
    run = replace(current_run(), **changes)
    token = enter(run)
    try:
        yield run
    finally:
        leave(token)
        opened = changes.get("executor")
        if opened is not None and opened is not asked:
            opened.close()
