"""Measure what long fits tell while they run: when the lines come, and how right the time left is.

python -m benchmarks.progress --seconds 8
python -m benchmarks.progress --methods tsne densmap pacmap --seconds 10 --threads 1 --clock processor
GNOMON_DATA=FOLDER python -m benchmarks.progress --data mnist --pca 50 --methods tsne dreams

Each fit has a process of its own, `verbose=True`, and as many rows, drawn ones or those of a table, as are forecast to
take so many seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.forecast import CASES, drawn_table
from benchmarks.tables import load_table

__all__ = [
    "MOMENTS",
    "Told",
    "first_line",
    "left_of_fit",
    "left_of_stage",
    "longest_gap",
    "main",
    "measure",
    "table_for",
]

MOMENTS = (0.25, 0.5, 0.75)
"""Shares of the time, of a stage or of the fit, at which what is told to be left is looked at."""

_SILENT = ("pca", "random_projection")  # they have no `verbose`
_COLUMNS = 50
_MOST_ROWS = 500_000
_WITHIN, _GAP = 0.3, 2.0  # share of the time left, seconds
_LIMIT = 600


@dataclass
class Told:
    """What a fit told: seconds since its beginning.

    Attributes
    ----------
    seconds : float
        Of the fit.
    lines : list of float
        When a line was written.
    states : list of (float, str, float or None, float or None)
        When a callback was called, the stage, and the seconds that are left of the stage and of the fit.
    """

    rows: int
    seconds: float = 0.0
    lines: list[float] = field(default_factory=list)
    states: list[tuple[float, str, float | None, float | None]] = field(default_factory=list)


class _Lines:
    """Stands for standard error and notes when each line comes."""

    def __init__(self, told: Told, clock: Any, began: float) -> None:
        self.told, self.clock, self.began = told, clock, began

    def write(self, text: str) -> int:
        if text.strip():
            self.told.lines.append(self.clock() - self.began)
            print(f"{self.told.lines[-1]:8.2f}  {text.rstrip()}", flush=True)
        return len(text)

    def flush(self) -> None:
        pass


def _rows_for(estimator: Any, seconds: float, most: int, n_columns: int) -> int:
    """Return how many rows are forecast to take so many seconds of one core; no more than are there."""
    few, many = min(200, most), min(most, _MOST_ROWS)
    if estimator.foresee(many, n_columns).seconds <= seconds:
        return many
    while many - few > few // 50:
        between = (few + many) // 2
        few, many = (between, many) if estimator.foresee(between, n_columns).seconds < seconds else (few, between)
    return few


def table_for(
    estimator: Any, seconds: float, most: int, *, data: str = "drawn", pca: int | None = None
) -> npt.NDArray[np.float32]:
    """Return as many rows as are forecast to take so many seconds of one core, if there are as many.

    Parameters
    ----------
    estimator : Estimator
    seconds : float
    most : int
        Rows at most.
    data : str, default="drawn"
        "drawn", or what `load_table` takes.
    pca : int or None, default=None
        Reduce a table that is not drawn to so many principal components first.
    """
    if data == "drawn":
        return drawn_table(_rows_for(estimator, seconds, most, _COLUMNS), _COLUMNS)
    whole = load_table(data, pca=pca)[0]
    rows = _rows_for(estimator, seconds, min(most, len(whole)), whole.shape[1])
    return whole if rows == len(whole) else whole[np.sort(np.random.default_rng(0).permutation(len(whole))[:rows])]


def measure(
    case: str,
    seconds: float,
    *,
    threads: int | None = None,
    clock: str = "wall",
    data: str = "drawn",
    pca: int | None = None,
) -> Told:
    """Fit in this process and return what was told meanwhile.

    Parameters
    ----------
    case : str
        Of `benchmarks.forecast.CASES`.
    seconds : float
        That the fit should take of one core, by forecast.
    threads : int or None, default=None
        None for all.
    clock : {"wall", "processor"}, default="wall"
        What times are taken by; the processor's, with one thread, are those of a machine that does nothing else.
    data, pca : str, int or None
        See `table_for`.
    """
    import gnomon
    from gnomon import _progress

    ticks = time.process_time if clock == "processor" else time.perf_counter
    if clock == "processor":
        _progress.time.perf_counter = ticks
    warnings.simplefilter("ignore")
    name, parameters, most = CASES[case]
    estimator = getattr(gnomon, name)(random_state=0, n_jobs=threads, **parameters)
    getattr(gnomon, name)(random_state=0, **parameters).fit(drawn_table(300, _COLUMNS))  # loads libraries
    X = table_for(estimator, seconds, most, data=data, pca=pca)
    told = Told(len(X))

    def note(state: Any) -> None:
        left = getattr(state, "seconds_left_of_fit", None)
        told.states.append((ticks() - began, state.stage, state.seconds_left, left))

    estimator.set_params(verbose=True, callback=note)
    began = ticks()
    before, sys.stderr = sys.stderr, _Lines(told, ticks, began)
    try:
        estimator.fit(X)
    finally:
        sys.stderr = before
    told.seconds = ticks() - began
    return told


def first_line(told: Told) -> float:
    """Return the seconds to the first line."""
    return min([*told.lines, told.seconds])


def longest_gap(told: Told) -> float:
    """Return the longest time without a line, beginning and end of the fit included."""
    moments = [0.0, *told.lines, told.seconds]
    return max(later - earlier for earlier, later in pairwise(moments))


def _stages(told: Told) -> list[tuple[str, float, float]]:
    """Return stages with begin and end."""
    found: list[tuple[str, float, float]] = []
    for when, stage, *_ in told.states:
        if not found or found[-1][0] != stage:
            found.append((stage, when, told.seconds))
            if len(found) > 1:
                found[-2] = (*found[-2][:2], when)
    return found


def _error(claims: list[tuple[float, float | None]], moment: float, end: float) -> float | None:
    """Return by what share the last claim before a moment misses the time to the end; None where there is none."""
    known = [(when, left) for when, left in claims if when <= moment and left is not None]
    return None if not known or known[-1][0] >= end else known[-1][1] / (end - known[-1][0]) - 1.0


def left_of_stage(told: Told) -> tuple[str, list[float | None]]:
    """Return the longest stage, and the errors of what was told to be left of it at `MOMENTS` of its time."""
    stage, begin, end = max(_stages(told), key=lambda one: one[2] - one[1])
    claims = [(when, left) for when, own, left, _ in told.states if own == stage and begin <= when <= end]
    return stage, [_error(claims, begin + share * (end - begin), end) for share in MOMENTS]


def left_of_fit(told: Told) -> list[float | None]:
    """Return the errors of what was told to be left of the fit at `MOMENTS` of its time."""
    claims = [(when, left) for when, _, _, left in told.states]
    return [_error(claims, share * told.seconds, told.seconds) for share in MOMENTS]


def _run(case: str, options: argparse.Namespace) -> Told | str:
    command = [sys.executable, "-m", "benchmarks.progress", "--one", case, "--seconds", str(options.seconds)]
    command += ["--clock", options.clock, "--data", options.data]
    command += [] if options.pca is None else ["--pca", str(options.pca)]
    command += [] if options.threads is None else ["--threads", str(options.threads)]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LIMIT)
    except subprocess.TimeoutExpired:
        return f"stopped after {_LIMIT} seconds"
    if answer.returncode != 0:
        return f"failed: {answer.stderr.strip().splitlines()[-1:]}"
    *lines, found = answer.stdout.splitlines()
    if options.lines:
        print("\n".join(lines))
    return Told(**json.loads(found))


def _errors(errors: list[float | None]) -> str:
    return "".join(f"{'-' if error is None else f'{error:+.0%}':>7}" for error in errors)


def main(arguments: list[str] | None = None) -> int:
    """Print a table; return 1 if a gap is longer than two seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cases = [case for case in CASES if case not in _SILENT]
    parser.add_argument("--methods", nargs="+", choices=cases, default=cases, metavar="NAME")
    parser.add_argument("--seconds", type=float, default=8.0, help="that a fit should take of one core")
    parser.add_argument("--data", default="drawn", help="drawn, digits, mnist (in GNOMON_DATA) or an .npz file")
    parser.add_argument("--pca", type=int, help="reduce a table that is not drawn to so many components first")
    parser.add_argument("--threads", type=int, help="of the fits; by default all")
    parser.add_argument("--clock", choices=["wall", "processor"], default="wall")
    parser.add_argument("--lines", action="store_true", help="print what the fits told")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        given = {"threads": options.threads, "clock": options.clock, "data": options.data, "pca": options.pca}
        told = measure(options.one, options.seconds, **given)
        print(json.dumps(asdict(told)))
        return 0
    print(f"{'':26}{'':8}{'':7}{'':7}{'':7}{'left of the longest stage at':>35}{'left of the fit at':>21}")
    moments = "".join(f"{share:>7.0%}" for share in MOMENTS)
    print(f"{'method':26}{'rows':>8}{'s':>7}{'first':>7}{'gap':>7}{'stage':>14}{moments}{moments}")
    gaps = []
    for case in options.methods:
        told = _run(case, options)
        if isinstance(told, str):
            print(f"{case:26}  {told}", flush=True)
            continue
        stage, of_stage = left_of_stage(told)
        gaps.append(longest_gap(told))
        print(
            f"{case:26}{told.rows:8}{told.seconds:7.1f}{first_line(told):7.2f}{gaps[-1]:7.2f}"
            f"{stage:>14}{_errors(of_stage)}{_errors(left_of_fit(told))}",
            flush=True,
        )
    return int(any(gap > _GAP for gap in gaps))


if __name__ == "__main__":
    sys.exit(main())
