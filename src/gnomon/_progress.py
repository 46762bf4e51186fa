"""What a long computation tells while it runs, and how it is asked to stop."""

from __future__ import annotations

import bisect
import logging
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

__all__ = ["Callback", "Progress", "ProgressLines", "Reporter"]

_INTERVAL = 1.0  # seconds between two lines of one stage
_SILENCE = 1.5  # seconds without a line after which one is written whatever the stage says
_BREATH = 0.05


@dataclass(frozen=True)
class Progress:
    """The state of a running computation, passed to a callback after each block of work.

    Attributes
    ----------
    stage : str
        What is being done, such as "neighbors" or "layout".
    done, total : int
        Units of work finished and in all in this stage, in the stage's own unit (rows, iterations).
    seconds : float
        Seconds since the stage began.
    loss : float or None
        Value of the loss, where the stage has one and has just evaluated it.
    embedding : ndarray of shape (n_samples, n_components) or None
        The present embedding, read-only and valid during the call; copy what should stay.
    pace : float or None
        Seconds that each unit of work that is left is expected to take; None takes the mean of the stage.
    at_most : bool
        Whether the stage may end before `total`, as a descent does that ends by a tolerance.
    end : int or None
        Units after which such a stage is expected to end; None while that cannot be known.
    """

    stage: str
    done: int
    total: int
    seconds: float
    loss: float | None = None
    embedding: npt.NDArray[np.float32] | None = None
    pace: float | None = field(default=None, compare=False, repr=False)
    at_most: bool = False
    end: int | None = None

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until the stage ends; None before the first unit of work, and where no end is known."""
        end = self.end if self.at_most else self.total
        if self.done == 0 or end is None:
            return None
        return (self.seconds / self.done if self.pace is None else self.pace) * (end - self.done)

    @property
    def is_over(self) -> bool:
        """Whether the work of the stage is done."""
        return 0 < self.done == (self.end if self.at_most else self.total)

    @property
    def work(self) -> str:
        """What is done of how much, such as "20 of 100", or "20 of at most 100" where the stage may end before."""
        return f"{self.done} of {'at most ' if self.at_most and not self.is_over else ''}{self.total}"


Callback = Callable[[Progress], bool | None]
"""Called with a Progress after each block of work; returning True ends the stage with what has been reached."""


class ProgressLines:
    """A callback that writes a line when a stage begins, each second of it, and at its end.

    Inside ``with`` it also writes where a stage tells nothing for long: what runs, and for how long. Lines go to
    standard error or, where `logging` is set up to take what the logger "gnomon" says at level INFO, to that.

    Parameters
    ----------
    name : str
        What is computed, with which every line begins.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._last = 0.0
        self._now = Progress("checks", 0, 1, 0.0)
        self._since = self._written = time.perf_counter()  # the last word of a stage, the last line
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self, progress: Progress) -> None:
        """Write a line, unless the last one of the stage is less than a second old."""
        self._now, self._since = progress, time.perf_counter()
        if progress.done and not progress.is_over and progress.seconds - self._last < _INTERVAL:
            return
        self._last = progress.seconds
        words = [progress.stage]
        if progress.done:
            words.append(progress.work)
        if progress.loss is not None:
            words.append(f"loss {progress.loss:.4g}")
        if progress.seconds_left is not None:
            left = f"{progress.seconds_left:.0f} s left"
            words.append(f"{progress.seconds:.1f} s" if progress.is_over else left)
        self._write(words)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._fill_silence, name="gnomon-progress", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _fill_silence(self) -> None:
        """Write a line whenever there was none for long, until the computation is over."""
        while not self._over.wait(max(self._written + _SILENCE - time.perf_counter(), _BREATH)):
            if time.perf_counter() - self._written >= _SILENCE:
                self._write(self._meanwhile())

    def _meanwhile(self) -> list[str]:
        """Return what a stage would say that says nothing now."""
        progress, silent = self._now, time.perf_counter() - self._since
        if progress.is_over:
            return [f"after {progress.stage}", f"{silent:.0f} s so far"]
        words = [progress.stage]
        if progress.done:
            words.append(progress.work)
        left = progress.seconds_left
        if left is not None and left > silent:
            return [*words, f"{left - silent:.0f} s left"]
        return [*words, f"{progress.seconds + silent:.0f} s so far"]

    def _write(self, words: list[str]) -> None:
        self._written = time.perf_counter()
        line = f"{self.name}: {', '.join(words)}"
        logger = logging.getLogger("gnomon")
        if logger.isEnabledFor(logging.INFO) and logger.hasHandlers():
            logger.info(line)
        else:
            sys.stderr.write(line + "\n")


class Reporter:
    """Times the stages of one computation and passes their progress on.

    Parameters
    ----------
    callback : callable or None, default=None
        Called with a `Progress`; a true return value asks the running stage to end early.

    Attributes
    ----------
    timings : dict of str to float
        Seconds of the stages that have ended.
    is_asked_to_end : bool
        Whether the running stage has been asked to end early, now or before.
    """

    def __init__(self, callback: Callback | None = None) -> None:
        self.callback = callback
        self.timings: dict[str, float] = {}
        self.is_asked_to_end = False
        self._stage = ""
        self._start = 0.0
        self._told: list[tuple[int, float]] = []  # work done in the stage, and after how many seconds
        self._costs: Sequence[tuple[int, float]] = ()  # of units of the stage that do not cost 1

    def listen(self, callback: Callback) -> None:
        """Pass the progress on to one more callback."""
        first = self.callback
        self.callback = callback if first is None else lambda progress: any([first(progress), callback(progress)])

    def begin(self, stage: str, total: int = 1) -> None:
        """Begin a stage of `total` units of work; the previous stage ends."""
        self.end()
        self._stage, self._start, self._told, self._costs = stage, time.perf_counter(), [], ()
        self.is_asked_to_end = False
        self.update(0, total)

    def expect(self, done: int, costs: Sequence[tuple[int, float]] = ()) -> None:
        """Say that units of the running stage are worked on from now on, for the time that is left.

        Parameters
        ----------
        done : int >= 0
            Units done before.
        costs : sequence of (int, float > 0)
            What units cost relative to the first: from how many units done on, and the factor; in ascending order.
        """
        self._told, self._costs = [(done, time.perf_counter() - self._start)], costs

    def reckon(self, costs: Sequence[tuple[int, float]]) -> None:
        """Say anew what units cost relative to the first, those that are done too; see `expect`."""
        self._costs = costs

    def update(
        self,
        done: int,
        total: int,
        *,
        loss: float | None = None,
        embedding: npt.NDArray[np.float32] | None = None,
        at_most: bool = False,
        end: int | None = None,
    ) -> bool:
        """Report work done in the running stage, see `Progress`; return True if the user asked to end it."""
        if self.callback is None:
            return False
        if embedding is not None:
            embedding = embedding.view()
            embedding.flags.writeable = False
        seconds = time.perf_counter() - self._start
        pace = self._pace(done, end if at_most and end is not None else total, seconds)
        progress = Progress(self._stage, done, total, seconds, loss, embedding, pace, at_most, end)
        asked = bool(self.callback(progress))
        self.is_asked_to_end = self.is_asked_to_end or asked
        return asked

    def _pace(self, done: int, end: int, seconds: float) -> float | None:
        """Return the seconds of each unit that is left until the end, by those since half of the work was done.

        What lies farther back misses: stages prepare, and the units of some grow dearer or cheaper.
        """
        if self._told and (done < self._told[-1][0] or not done):  # counted anew, or nothing but prepared yet
            self._told = []
        half = bisect.bisect_right(self._told, (done // 2, float("inf")))
        before, then = self._told[max(half - 1, 0)] if self._told else (0, 0.0)
        if self._told and done == self._told[-1][0]:  # no more work than when it was measured
            seconds = self._told[-1][1]
        else:
            self._told.append((done, seconds))
        if not before < done < end:
            return None
        return (seconds - then) * self._cost(done, end) / (self._cost(before, done) * (end - done))

    def _cost(self, first: int, last: int) -> float:
        """Return what units cost from one to another, relative to the first of the stage."""
        bounds = [0, *(begin for begin, _ in self._costs), max(last, 0)]
        factors = [1.0, *(factor for _, factor in self._costs)]
        spans = zip(bounds, bounds[1:], factors, strict=False)
        return sum(factor * max(min(end, last) - max(begin, first), 0) for begin, end, factor in spans)

    def end(self) -> None:
        """End the running stage and add its time, in seconds, to `timings`."""
        if self._stage:
            self.timings[self._stage] = self.timings.get(self._stage, 0.0) + time.perf_counter() - self._start
            self._stage = ""
