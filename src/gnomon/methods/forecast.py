"""What a fit will take, told before it begins: a table too large is refused at once, not after an hour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from gnomon._memory import in_bytes, require_memory
from gnomon._validation import message

__all__ = [
    "FEWER_ROWS",
    "GAUSSIAN_STAGES",
    "SPECTRAL_START",
    "STRIPS",
    "Forecast",
    "Rows",
    "passes_over_pairs",
    "passes_unless_summed",
]

FEWER_ROWS = "Use fewer rows."

STRIPS = 16_384.0
"""Bytes for each row that work in strips of some hundred rows against all rows takes: four of 512 rows in float64."""

_LONGEST = 1e4  # seconds of one core, about three hours
_UNRETURNED = 1.2e7  # bytes at most that are freed and not given back
_ALWAYS = 1e6  # bytes that any stage takes: objects of Python, and pages half filled


@dataclass(frozen=True)
class Rows:
    """The bytes that a stage needs at its peak for each row, what earlier stages left included.

    Attributes
    ----------
    each : float
        Whatever the table.
    neighbor : float, default=0.0
        For each neighbour of the graph.
    freed : float, default=0.0
        For each neighbour, of what earlier stages freed: the allocator gives small arrays back late.
    """

    each: float
    neighbor: float = 0.0
    freed: float = 0.0

    def n_bytes(self, n_samples: int, *, neighbors: float = 0.0) -> float:
        """Return the bytes of all rows.

        Parameters
        ----------
        n_samples : int
        neighbors : float, default=0.0
            Of each row.
        """
        kept = min(n_samples * self.freed * neighbors, _UNRETURNED)
        return n_samples * (self.each + self.neighbor * neighbors) + kept + _ALWAYS


@dataclass(frozen=True)
class Forecast:
    """What a fit takes at its peak, beyond the table it is given and the libraries that are loaded.

    Attributes
    ----------
    n_bytes : float
        Memory.
    fact : str
        What needs it, as the beginning of "... take 160 GB".
    remedy : str
        What to do where it is too much.
    seconds : float, default=0.0
        Of one core, where all pairs of rows are gone through many times; 0 where time is no reason to refuse.
    work : str, default=""
        What takes them, as the beginning of "... take about 5 hours".
    stages : mapping of str to float
        Bytes at the peak of each stage, by the names of ``timings_``; empty where the stages are not told apart.
    """

    n_bytes: float
    fact: str
    remedy: str
    seconds: float = 0.0
    work: str = ""
    stages: Mapping[str, float] = field(default_factory=dict)

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

    def taking(self, passes: Forecast | None) -> Self:
        """Return the forecast with the time, and the remedy, of passes over all pairs.

        Parameters
        ----------
        passes : Forecast or None
            None if there are none.
        """
        if passes is None:
            return self
        return replace(self, seconds=passes.seconds, work=passes.work, remedy=passes.remedy)

    def check(self, n_samples: int) -> None:
        """Raise MemoryError if there is less memory, ValueError if the work takes more than three hours of one core.

        Parameters
        ----------
        n_samples : int
            Rows to be fitted.
        """
        what = f"X of {n_samples} rows"
        require_memory(what, self.n_bytes, fact=self.fact, remedy=self.remedy)
        if self.seconds > _LONGEST:
            rule = f"one whose fit takes at most {_LONGEST / 3600:.0f} hours of one core"
            fact = f"{self.work} take about {_rounded(self.seconds / 3600)} hours"
            raise ValueError(message(what, rule, fact=fact, remedy=self.remedy))

    def __str__(self) -> str:
        lines = [f"{in_bytes(self.n_bytes)} beyond the table at the peak: {self.fact}"]
        width = max(map(len, self.stages), default=0)
        lines += [f"  {name:{width}}  {in_bytes(n_bytes)}" for name, n_bytes in self.stages.items()]
        if self.seconds:
            lines.append(f"about {_rounded(self.seconds)} seconds of one core: {self.work}")
        return "\n".join(lines)


SPECTRAL_START = Rows(200.0, neighbor=76.0)
"""Eigenvectors of joined affinities, beside these and the graph."""

GAUSSIAN_STAGES = {
    "affinities": Rows(0.0, neighbor=41.0),
    "initialization": Rows(50.0, neighbor=31.0),
    "layout": Rows(350.0, neighbor=34.0, freed=15.0),
}
"""Of probabilities that are joined, a start by components, and descent with repulsion on a grid, by a tree or exact."""


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
