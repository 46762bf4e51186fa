"""What a map of landmarks takes of a table of any length, told before it is begun, and where each part ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gnomon._costs import Cost
from gnomon._memory import in_bytes
from gnomon._validation import Integer, check_parameters, message
from gnomon.data.stored import row_blocks

__all__ = ["LIMITS", "Limit", "ScaleForecast", "forecast_landmarks"]

_FIT = Cost(row=7e4, entry=150.0)  # nanoseconds of one core, of each landmark: its map, and what explains it
_STAGES: Mapping[str, Cost] = {  # of each row; sums at 50 columns as measured, their split by columns assumed
    "read and scale": Cost(entry=6.0),
    "place": Cost(row=1.8e4, entry=200.0),
    "explain": Cost(row=1.1e4, entry=200.0),
    "evaluate": Cost(row=8e3, entry=200.0),
    "write": Cost(row=500.0),
}
_BLOCK_COPIES = 8.0  # of a block of rows while it is placed: as read, scaled, its neighbours and their places
_LANDMARK_BYTES = 900.0  # of each landmark beside its features: graph, affinities, layout and search
_POSITION, _ANSWERS = 8.0, 80.0  # bytes of each row: two float32; r2, eight features and their weights, scores


@dataclass(frozen=True)
class Limit:
    """Where something that is not distributed ends.

    Attributes
    ----------
    what : str
    n_samples : float
        Rows at which it ends.
    why : str
    """

    what: str
    n_samples: float
    why: str


LIMITS: tuple[Limit, ...] = (
    Limit("rows that are fitted together", 2.0**31, "row numbers in graphs are of 32 bits"),
    Limit("positions in the memory of the client", 1e9, "two float32 a row are 8 GB"),
    Limit("the graph of a fit of all rows, 15 neighbours", 1e9, "32-bit numbers and distances are 120 GB"),
)
"""What the memory or the numbers of one process bound. Rows that are placed are only counted in 64 bits."""


@dataclass(frozen=True)
class ScaleForecast:
    """What a map of landmarks takes.

    Attributes
    ----------
    n_samples, n_landmarks, n_workers : int
    durations : mapping of str to float
        Seconds of one core of the reference machine, by stage.
    worker_bytes : float
        Memory of a worker at its peak: the landmarks with their search, and one block.
    client_bytes : float
        Memory of the process that calls: positions of all rows and the fit of the landmarks; answers about rows are
        counted if they are kept in memory and not written.
    messages : mapping of str to float
        Bytes that a worker receives or sends, by what they are.
    ends : tuple of Limit
        What ends below so many rows.
    """

    n_samples: int
    n_landmarks: int
    n_workers: int
    durations: Mapping[str, float]
    worker_bytes: float
    client_bytes: float
    messages: Mapping[str, float]
    ends: tuple[Limit, ...]

    @property
    def seconds(self) -> float:
        """Seconds of one core, all stages together."""
        return sum(self.durations.values())

    def elapsed(self, cores_per_worker: int = 1) -> float:
        """Return the seconds by the clock if the blocks are shared evenly; the fit is that of one worker.

        Parameters
        ----------
        cores_per_worker : int >= 1, default=1
        """
        fit = self.durations["fit"]
        return (fit + (self.seconds - fit) / self.n_workers) / cores_per_worker

    def __str__(self) -> str:
        lines = [
            f"{self.n_samples:,} rows, {self.n_landmarks:,} of them landmarks, {self.n_workers} workers: "
            f"{in_bytes(self.worker_bytes)} a worker, {in_bytes(self.client_bytes)} of the client"
        ]
        lines += [f"  {name:16} {seconds:>12,.1f} s" for name, seconds in self.durations.items()]
        lines.append(f"about {self.seconds:,.0f} seconds of one core, {self.elapsed():,.0f} by the clock")
        lines += [f"ends at {limit.n_samples:,.0f} rows: {limit.what}, {limit.why}" for limit in self.ends]
        return "\n".join(lines)


def forecast_landmarks(
    n_samples: int, n_features: int, n_landmarks: int, *, n_workers: int = 1, keep_answers: bool = True
) -> ScaleForecast:
    """Tell what a map of landmarks takes, with explanation and evaluation, without reading a row.

    Each stage but the fit is proportional to the rows. Slopes were measured at 50 columns with fits of up to 100,000
    rows; how they grow with the columns is an estimate. ``python -m benchmarks.large slopes`` measures them anew.

    Parameters
    ----------
    n_samples, n_features : int
        Of the table.
    n_landmarks : int in [2, n_samples]
    n_workers : int >= 1, default=1
    keep_answers : bool, default=True
        Whether answers about each row stay in the client's memory.

    Returns
    -------
    ScaleForecast

    Raises
    ------
    ValueError
        If there are more landmarks than rows, or as many as 32-bit row numbers cannot count.
    """
    bounds = {"n_samples": Integer(2), "n_features": Integer(1), "n_landmarks": Integer(2), "n_workers": Integer(1)}
    given = {"n_samples": n_samples, "n_features": n_features, "n_landmarks": n_landmarks, "n_workers": n_workers}
    check_parameters(bounds, given)
    if n_landmarks > n_samples:
        raise ValueError(message(f"n_landmarks={n_landmarks}", f"at most n_samples={n_samples}"))
    if n_landmarks >= LIMITS[0].n_samples:
        raise ValueError(message(f"n_landmarks={n_landmarks}", "below 2^31", fact=LIMITS[0].why))
    durations = {"fit": 1e-9 * _FIT.of(n_landmarks, n_features)}
    durations |= {name: 1e-9 * cost.of(n_samples, n_features) for name, cost in _STAGES.items()}
    of_landmarks = n_landmarks * (4.0 * n_features + _LANDMARK_BYTES)
    block = 4.0 * n_features * _rows_of_block(n_samples, n_features)
    rows = n_samples / n_workers
    return ScaleForecast(
        n_samples,
        n_landmarks,
        n_workers,
        durations,
        worker_bytes=of_landmarks + _BLOCK_COPIES * block,
        client_bytes=of_landmarks + n_samples * (_POSITION + (_ANSWERS if keep_answers else 0.0)),
        messages={"landmarks": of_landmarks, "rows": 4.0 * n_features * rows, "positions": _POSITION * rows},
        ends=tuple(limit for limit in LIMITS if limit.n_samples <= n_samples),
    )


def _rows_of_block(n_samples: int, n_features: int) -> int:
    return len(row_blocks(min(n_samples, 131_072), n_features)[0])
