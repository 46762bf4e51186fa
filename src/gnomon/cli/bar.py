"""A progress bar on the terminal, one line for each stage."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TextIO

from gnomon._progress import Progress

__all__ = ["ProgressBar"]

_WIDTH = 30
_INTERVAL = 0.1  # seconds between two drawings


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class ProgressBar:
    """A callback that draws what it is told; a context manager that leaves the terminal at the start of a line.

    Parameters
    ----------
    stream : text file
        Where to draw.
    enabled : bool
        Whether to draw at all.
    """

    def __init__(self, stream: TextIO, *, enabled: bool) -> None:
        self.stream = stream
        self.enabled = enabled
        self._stage: str | None = None
        self._drawn = 0.0
        self._line = ""

    def __call__(self, progress: Progress) -> None:
        """Draw the state of a computation."""
        if not self.enabled:
            return
        now = time.monotonic()
        new_stage = progress.stage != self._stage
        if new_stage:
            self._end_line()
        if new_stage or progress.done >= progress.total or now - self._drawn >= _INTERVAL:
            self._stage, self._drawn = progress.stage, now
            self._draw(self._text(progress))

    def _text(self, progress: Progress) -> str:
        share = min(1.0, progress.done / progress.total) if progress.total > 0 else 0.0
        bar = ("#" * round(share * _WIDTH)).ljust(_WIDTH, ".")
        left = progress.seconds_left
        if progress.done >= progress.total:
            clock = f"{_clock(progress.seconds)} taken"
        else:
            clock = "" if left is None else f"{_clock(left)} left"
        return f"{progress.stage:<16} [{bar}] {share:4.0%}  {clock}"

    def _draw(self, text: str) -> None:
        # Spaces wipe what a longer line left behind; every terminal understands them.
        self.stream.write("\r" + text.ljust(len(self._line)))
        self.stream.flush()
        self._line = text

    def _end_line(self) -> None:
        if self._line:
            self.stream.write("\n")
            self.stream.flush()
        self._line = ""

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end_line()
