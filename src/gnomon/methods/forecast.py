"""What a fit will take, told before it begins: a table too large is refused at once, not after an hour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from gnomon._costs import Cost
from gnomon._memory import in_bytes, require_memory
from gnomon._printed import Printed
from gnomon._validation import message

__all__ = [
    "FEWER_ROWS",
    "GAUSSIAN_STAGES",
    "JOINED_IN_PARTS",
    "SPECTRAL_START",
    "STRIPS",
    "Forecast",
    "dense_eigenvectors_memory",
    "manner_of_repulsion",
    "mesh_memory",
    "ordered_edges_memory",
    "passes_over_pairs",
    "passes_unless_summed",
    "share_of_edges",
    "written_out_memory",
]

FEWER_ROWS = "Use fewer rows."

STRIPS = 16_384.0
"""Bytes for each row that work in strips of some hundred rows against all rows takes: four of 512 rows in float64."""

_WRITTEN_OUT, _ROTATIONS = 70.0, 50.0  # bytes of an entry of a matrix: at most, and of large ones, whose rotations
_FEW_ROTATIONS = 3.5e7  # are kept in memory that doubles, beside this
_RESERVE = 6e6  # bytes: heaps that other fits left in pieces took up to 2.7e6 more than fresh ones
_LONGEST = 1e4  # seconds of one core, about three hours


@dataclass(frozen=True)
class Forecast(Printed):
    """What a fit takes at its peak, beyond the table it is given and the libraries that are loaded.

    Attributes
    ----------
    n_bytes : float
        Memory.
    fact : str
        What needs it, as the beginning of "... take 160 GB".
    remedy : str
        What to do where it is too much.
    passes : float, default=0.0
        Seconds of one core, where all pairs of rows are gone through many times; 0 where time is no reason to refuse.
    work : str, default=""
        What takes them, as the beginning of "... take about 5 hours".
    stages : mapping of str to float
        Bytes at the peak of each stage, by the names of ``timings_``; empty where the stages are not told apart.
    durations : mapping of str to float
        Seconds of one core of each stage: what all threads take together.
    spread : float >= 1, default=2.0
        The time is most likely between `seconds` divided by this and times this.
    n_threads : int, default=1
        Threads that may share the time.
    """

    n_bytes: float
    fact: str
    remedy: str
    passes: float = 0.0
    work: str = ""
    stages: Mapping[str, float] = field(default_factory=dict)
    durations: Mapping[str, float] = field(default_factory=dict)
    spread: float = 2.0
    n_threads: int = 1

    @property
    def seconds(self) -> float:
        """Seconds of one core: what all stages and threads take together."""
        return sum(self.durations.values())

    @property
    def between(self) -> tuple[float, float]:
        """Least and most seconds of one core to expect."""
        return self.seconds / self.spread, self.seconds * self.spread

    @property
    def elapsed(self) -> tuple[float, float]:
        """Least and most seconds by the clock to expect on an idle machine: work shared by all threads, and by none."""
        least, most = self.between
        return least / self.n_threads, most

    def at_pace(self, pace: float) -> Self:
        """Return the forecast for a machine that takes so many times as long as the reference machine.

        Parameters
        ----------
        pace : float > 0
        """
        return replace(self, durations={name: pace * seconds for name, seconds in self.durations.items()})

    def then(self, stages: Mapping[str, tuple[float, float]]) -> Self:
        """Return the forecast with stages that follow.

        Parameters
        ----------
        stages : mapping of str to (float, float)
            Bytes at the peak, and seconds of one core, of each.
        """
        peaks = {**self.stages, **{name: n_bytes for name, (n_bytes, _) in stages.items()}}
        durations = {**self.durations, **{name: seconds for name, (_, seconds) in stages.items()}}
        greatest = max(stages, key=lambda name: stages[name][0])
        found = replace(self, stages=peaks, durations=durations)
        if stages[greatest][0] <= self.n_bytes:
            return found
        return replace(found, n_bytes=stages[greatest][0], fact=f"arrays of the {greatest} of the map")

    @classmethod
    def of_stages(cls, stages: Mapping[str, float], fact: str, remedy: str = FEWER_ROWS) -> Self:
        """Return the forecast of a fit whose stages follow each other.

        Parameters
        ----------
        stages : mapping of str to float
            Bytes at the peak of each.
        fact, remedy : str
        """
        return cls(max(stages.values()), fact, remedy, stages=stages)

    def beside(self, n_bytes: float, what: str) -> Self:
        """Return the forecast with memory that is held all the time.

        Parameters
        ----------
        n_bytes : float
        what : str
            What holds it.
        """
        stages = {name: held + n_bytes for name, held in self.stages.items()}
        return replace(self, n_bytes=self.n_bytes + n_bytes, fact=f"{self.fact} and {what}", stages=stages)

    def with_reserve(self) -> Self:
        """Return the forecast with what every fit takes beside its arrays: small objects, and what allocators keep."""
        stages = {name: n_bytes + _RESERVE for name, n_bytes in self.stages.items()}
        return replace(self, n_bytes=self.n_bytes + _RESERVE, stages=stages)

    def taking(self, passes: Forecast | None) -> Self:
        """Return the forecast with the time, and the remedy, of passes over all pairs.

        Parameters
        ----------
        passes : Forecast or None
            None if there are none.
        """
        if passes is None:
            return self
        return replace(self, passes=passes.passes, work=passes.work, remedy=passes.remedy)

    def check(self, n_samples: int) -> None:
        """Raise MemoryError if there is less memory, ValueError if the work takes more than three hours of one core.

        Parameters
        ----------
        n_samples : int
            Rows to be fitted.
        """
        what = f"X of {n_samples:,} rows"
        require_memory(what, self.n_bytes, fact=self.fact, remedy=self.remedy)
        if self.passes > _LONGEST:
            rule = f"one whose fit takes at most {_LONGEST / 3600:.0f} hours of one core"
            fact = f"{self.work} take about {_rounded(self.passes / 3600)} hours"
            raise ValueError(message(what, rule, fact=fact, remedy=self.remedy))

    def __str__(self) -> str:
        lines = [f"{in_bytes(self.n_bytes)} beyond the table at the peak: {self.fact}"]
        names = dict.fromkeys((*self.stages, *self.durations))
        width = max(map(len, names), default=0)
        for name in names:
            memory = in_bytes(self.stages[name]) if name in self.stages else ""
            seconds = f"{_rounded(self.durations[name])} s" if name in self.durations else ""
            lines.append(f"  {name:{width}}  {memory:>8}  {seconds:>8}".rstrip())
        if self.durations:
            least, most = map(_rounded, self.elapsed)
            threads = f"{self.n_threads} thread{'s' if self.n_threads > 1 else ''}"
            lines.append(
                f"about {_rounded(self.seconds)} seconds of one core, {least} to {most} by the clock on {threads}"
            )
        return "\n".join(lines)


SPECTRAL_START = Cost(fixed=1e5, row=200.0, neighbor=38.0)
"""Bytes of eigenvectors of joined affinities, beside these and the graph."""

GAUSSIAN_STAGES: Mapping[str, Cost] = {
    "affinities": Cost(fixed=1e5, neighbor=34.0),
    "initialization": Cost(fixed=1e5, row=50.0, neighbor=20.0),
    "layout": Cost(fixed=1e5, row=150.0, neighbor=20.0),
}
"""Bytes of probabilities that are joined, a start by components, and descent with repulsion by tree or of all pairs."""

_MESH, _WIDER = 6.3e6, 0.2  # bytes of a mesh, and the power of the points by which it grows as their map does
_WIDEST_MESH = 1e8
_JOINED = 1.4  # edges for each neighbour of a row, both directions joined
_JOINED_ON_A_LINE, _JOINED_BY_FEATURE = 1.02, 0.053  # and in narrow tables, where most neighbours are mutual
_ORDERED_EDGE, _ORDERED_ROW = 2.5, 40.0  # bytes by which edges are read in the order of a map

JOINED_IN_PARTS = Cost(fixed=7e7, row=100.0, neighbor=19.1)
"""Bytes of affinities of many neighbours, whose directions are joined a part of the rows at a time."""


def dense_eigenvectors_memory(n_samples: int) -> float:
    """Return the bytes of the matrix of a graph, and what its eigenvectors take, where it is written out.

    Parameters
    ----------
    n_samples : int

    Returns
    -------
    float
        0 of more rows than those whose matrix is.
    """
    from gnomon.linalg.eigen.base import LARGEST_DENSE

    return written_out_memory(n_samples) if n_samples <= LARGEST_DENSE else 0.0


def written_out_memory(n_samples: float) -> float:
    """Return the bytes of a symmetric matrix that is written out and of what its eigenvectors take.

    Parameters
    ----------
    n_samples : float
        Its rows.

    Returns
    -------
    float
    """
    return min(_WRITTEN_OUT * n_samples**2, _ROTATIONS * n_samples**2 + _FEW_ROTATIONS)


def mesh_memory(n_samples: int) -> float:
    """Return the bytes of the grid by which the repulsion of many points is interpolated.

    Parameters
    ----------
    n_samples : int

    Returns
    -------
    float
    """
    return float(min(_MESH * n_samples**_WIDER, _WIDEST_MESH))


def ordered_edges_memory(n_samples: int, n_neighbors: int) -> float:
    """Return the bytes by which the edges of t-SNE in the plane are read in the order of the map, where they are.

    Parameters
    ----------
    n_samples, n_neighbors : int
        Rows and the neighbours of each.

    Returns
    -------
    float
    """
    from gnomon.objectives.terms.edges import are_ordered

    n_edges = round(_JOINED * n_samples * n_neighbors)
    return _ORDERED_EDGE * n_edges + _ORDERED_ROW * n_samples if are_ordered(n_samples) else 0.0


def share_of_edges(n_features: float) -> float:
    """Return how many edges joined neighbours have in a table, relative to a wide one, where fewer are mutual.

    Parameters
    ----------
    n_features : float

    Returns
    -------
    float
        At most 1.
    """
    return min(1.0, (_JOINED_ON_A_LINE + _JOINED_BY_FEATURE * n_features) / _JOINED)


def _rounded(number: float) -> str:
    return f"{number:.2g}" if number < 100 else f"{number:,.0f}"


def passes_over_pairs(n_samples: int, passes: int, nanoseconds: float, remedy: str) -> Forecast:
    """Return the forecast of a loss that goes through all pairs in each iteration and keeps none of them.

    Parameters
    ----------
    n_samples : int
    passes : int
        Iterations.
    nanoseconds : float
        One core's for a pair.
    remedy : str
    """
    pairs = f"{n_samples} x {n_samples} pairs"
    seconds = 1e-9 * nanoseconds * passes * float(n_samples) ** 2
    return Forecast(STRIPS * n_samples, f"strips of {pairs}", remedy, seconds, f"{passes} passes over {pairs}")


def manner_of_repulsion(n_samples: int, parameters: dict[str, Any], evaluation: str) -> str:
    """Return ", all pairs" where a repulsion is summed over all of them, as `TIMES` calls it; else nothing.

    Parameters
    ----------
    n_samples : int
    parameters : dict
        Checked; n_components.
    evaluation : {"auto", "exact", "interpolated", "tree"}
        Of the repulsion.

    Returns
    -------
    str
    """
    from gnomon.objectives.terms.all_pairs import TREE_FROM

    few = evaluation == "auto" and n_samples < TREE_FROM
    return ", all pairs" if few or evaluation == "exact" or parameters["n_components"] > 3 else ""


def passes_unless_summed(
    n_samples: int, parameters: dict[str, Any], evaluation: str, nanoseconds: float
) -> Forecast | None:
    """Return the forecast of a repulsion summed over all pairs; None where far points are summed together.

    Parameters
    ----------
    n_samples : int
    parameters : dict
        Checked; n_components and max_iter.
    evaluation : {"auto", "exact", "interpolated", "tree"}
        Of the repulsion; beyond three components all are "exact".
    nanoseconds : float
        One core's for a pair.
    """
    if evaluation != "exact" and parameters["n_components"] <= 3:
        return None
    remedy = "Use at most 3 components without exact sums, or fewer rows."
    return passes_over_pairs(n_samples, parameters["max_iter"], nanoseconds, remedy)
