"""What a map of landmarks takes of a table of any length, told before it is begun, and where each part ends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from gnomon._costs import Cost
from gnomon._memory import in_bytes
from gnomon._printed import Printed
from gnomon._validation import Integer, check_parameters, message
from gnomon.data.stored import row_blocks

__all__ = [
    "ANSWERS",
    "BY_BLOCKS",
    "LIMITS",
    "PEAKS",
    "STAGES",
    "Limit",
    "PeakCost",
    "ScaleForecast",
    "StageCost",
    "forecast_landmarks",
    "most_references",
    "rows_held",
]

BY_BLOCKS = ("scaling", "landmarks", "positions", "explanation", "evaluation")
"""Stages that go through the rows block by block, which workers share."""

_REFERENCES, _NUMBERS = 100_000, 2.0**27  # rows that an explanation fits at most, and numbers of their fits
_SHOWN = 50_000  # rows of a page


@dataclass(frozen=True)
class StageCost:
    """Nanoseconds of one core of the reference machine.

    Attributes
    ----------
    rows : Cost
        Of the rows of the table; of "positions" only those that are placed.
    held : Cost
        Of the rows that the stage holds in memory, see `rows_held`.
    doubling : float, default=0.0
        Of each row and each doubling of the landmarks, among which it is searched.
    """

    rows: Cost
    held: Cost = field(default_factory=Cost)
    doubling: float = 0.0

    def seconds(self, n_samples: float, n_features: float, n_landmarks: float, n_held: float) -> float:
        """Return seconds for a table.

        Parameters
        ----------
        n_samples : float
            Rows that are gone through.
        n_features : float
            Numbers stored for a row.
        n_landmarks : float >= 2
        n_held : float
        """
        searched = self.doubling * n_samples * math.log2(n_landmarks)
        return 1e-9 * (self.rows.of(n_samples, n_features) + self.held.of(n_held, n_features) + searched)


# What `python -m benchmarks.large constants` prints. Landmarks were fitted by UMAP in two dimensions; in three,
# rows are placed with the repulsion of each of them, which takes longer.
STAGES: Mapping[str, StageCost] = {
    "scaling": StageCost(Cost(entry=0.427)),
    "landmarks": StageCost(Cost(entry=0.989), Cost(row=425, entry=5.69)),
    "fit": StageCost(Cost(), Cost(row=4.82e4, entry=46.7)),
    "positions": StageCost(Cost(row=1.57e4, entry=7.26), Cost(row=8.43e3, entry=97)),
    "explanation": StageCost(Cost(row=2.22e4, entry=42.3), Cost(row=2.14e4, entry=654)),
    "evaluation": StageCost(Cost(fixed=1.07e9, row=8.15e3, entry=102)),
    "page": StageCost(Cost(row=420), Cost(row=1.9e5)),
    "file": StageCost(Cost(row=210)),
}
"""Costs by stage, in the order in which a map goes through them; those from "explanation" on are what may follow it."""


@dataclass(frozen=True)
class PeakCost:
    """Bytes that a stage holds where its blocks are worked on, beside the answers that are kept of all rows.

    Attributes
    ----------
    fixed : float
    row : float
        For each row of the table, in the process that calls.
    held : float
        For each row that it holds in memory, see `rows_held`.
    copies : float
        Of the features of these rows.
    block : float
        Copies of a block of rows.
    """

    fixed: float = 0.0
    row: float = 0.0
    held: float = 0.0
    copies: float = 0.0
    block: float = 0.0

    def of(self, n_samples: int, n_features: float, n_held: float) -> float:
        """Return bytes for a table.

        Parameters
        ----------
        n_samples : int
        n_features : float
            Numbers stored for a row.
        n_held : float
        """
        row, rows = 4.0 * n_features, _rows_of_block(n_samples, n_features)
        return self.fixed + self.row * n_samples + n_held * (self.held + self.copies * row) + self.block * row * rows


PEAKS: Mapping[str, PeakCost] = {
    "positions": PeakCost(fixed=1.58e8, held=976, copies=0.914, block=1.37),
    "explanation": PeakCost(fixed=9.08e7, held=1480, copies=25.7),
    "evaluation": PeakCost(fixed=1.26e7, row=184, held=2180, copies=9.01, block=4.97),
}
"""What the same command prints: peaks of one process that goes through all stages, so that an evaluation has what an
explanation left."""

_SENT = 560.0  # bytes of each landmark beside its features, as a map of UMAP is sent: graph, affinities, layout, search
_FITS = 670.0  # of each row that is fitted for an explanation, beside its features, as the fits are sent
ANSWERS = 73.0
"""Bytes that an explanation keeps of each row: the position in float64, R2, eight features with their weights."""

_POSITION = 8.0  # bytes of each row: two float32


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
class ScaleForecast(Printed):
    """What a map of landmarks takes.

    Attributes
    ----------
    n_samples, n_landmarks, n_workers : int
    durations : mapping of str to float
        Seconds of one core of the reference machine, by stage: those of `STAGES`.
    worker_bytes : float
        Memory of a worker at its peak: the landmarks with their search and field, or the fits of an explanation, and
        one block.
    client_bytes : float
        Memory of the process that calls: positions of all rows and the landmarks; answers about rows are counted if
        they are kept in memory and not written.
    messages : mapping of str to float
        Bytes that a worker receives, reads or sends, by what they are.
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
        """Return the seconds by the clock if blocks are shared evenly; what has no blocks is done by one worker.

        Parameters
        ----------
        cores_per_worker : int >= 1, default=1
        """
        shared = sum(self.durations[name] for name in BY_BLOCKS)
        return (self.seconds - shared + shared / self.n_workers) / cores_per_worker

    def __str__(self) -> str:
        lines = [
            f"{self.n_samples:,} rows, {self.n_landmarks:,} of them landmarks, {self.n_workers} workers: "
            f"{in_bytes(self.worker_bytes)} a worker, {in_bytes(self.client_bytes)} of the client"
        ]
        lines += [f"  {name:16} {seconds:>12,.1f} s" for name, seconds in self.durations.items()]
        lines.append(f"about {self.seconds:,.0f} seconds of one core, {self.elapsed():,.0f} by the clock")
        lines += [f"ends at {limit.n_samples:,.0f} rows: {limit.what}, {limit.why}" for limit in self.ends]
        return "\n".join(lines)


def rows_held(stage: str, n_samples: float, n_features: float, n_landmarks: float) -> float:
    """Return how many rows a stage holds in memory: the landmarks, some of them, or those that a page shows.

    Parameters
    ----------
    stage : str
        Of `STAGES`.
    n_samples, n_features, n_landmarks : float
        Of the table, and rows fitted.
    """
    if stage == "page":
        return min(n_samples, _SHOWN)
    if stage == "explanation":
        return min(n_landmarks, most_references(n_features))
    return n_landmarks


def most_references(n_features: float, n_components: int = 2) -> int:
    """Return how many rows an explanation fits at most where nobody says, so that the fits take half a gigabyte.

    Parameters
    ----------
    n_features : float
    n_components : int, default=2
    """
    return min(_REFERENCES, max(1000, int(_NUMBERS / ((n_components + 1) * n_features))))


def forecast_landmarks(
    n_samples: int, n_features: float, n_landmarks: int, *, n_workers: int = 1, keep_answers: bool = True
) -> ScaleForecast:
    """Tell what a map of landmarks and all that follows it takes, without reading a row.

    Stages that go through the rows are proportional to them; see `STAGES` for what was measured, and
    ``python -m benchmarks.large slopes``, which puts measurements beside it. `gnomon.forecast` tells the same of a
    method and its parameters, at the pace of a machine.

    Parameters
    ----------
    n_samples : int
        Of the table.
    n_features : float
        Numbers stored for a row.
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
    bounds = {"n_samples": Integer(2), "n_landmarks": Integer(2), "n_workers": Integer(1)}
    given = {"n_samples": n_samples, "n_landmarks": n_landmarks, "n_workers": n_workers}
    check_parameters(bounds, given)
    if not n_features > 0:
        raise ValueError(message(f"n_features={n_features}", "above 0"))
    if n_landmarks > n_samples:
        raise ValueError(message(f"n_landmarks={n_landmarks}", f"at most n_samples={n_samples}"))
    if n_landmarks >= LIMITS[0].n_samples:
        raise ValueError(message(f"n_landmarks={n_landmarks}", "below 2^31", fact=LIMITS[0].why))
    shape = n_samples, n_features, n_landmarks
    durations = {
        name: cost.seconds(
            n_samples - n_landmarks if name == "positions" else n_samples,
            n_features,
            n_landmarks,
            rows_held(name, *shape),
        )
        for name, cost in STAGES.items()
    }
    row = 4.0 * n_features
    of_landmarks = n_landmarks * (row + _SENT)
    rows = n_samples / n_workers
    return ScaleForecast(
        *(n_samples, n_landmarks, n_workers),
        durations,
        worker_bytes=max(PEAKS["positions"].of(*shape), _explaining(*shape)),
        client_bytes=of_landmarks + n_samples * (_POSITION + (ANSWERS if keep_answers else 0.0)),
        messages={"landmarks": of_landmarks, "rows": row * rows, "positions": _POSITION * rows},
        ends=tuple(limit for limit in LIMITS if limit.n_samples <= n_samples),
    )


def _explaining(n_samples: int, n_features: float, n_landmarks: int) -> float:
    """Return the bytes of a worker that explains blocks: what it is sent of the fits, which the client makes."""
    sent = rows_held("explanation", n_samples, n_features, n_landmarks) * (4.0 * n_features + _FITS)
    return PEAKS["explanation"].of(n_samples, n_features, 0) + sent


def _rows_of_block(n_samples: int, n_features: float) -> int:
    return len(row_blocks(min(n_samples, 131_072), max(1, round(n_features)))[0])
