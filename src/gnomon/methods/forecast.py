"""What a fit will take, told before it begins: a table too large is refused at once, not after an hour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gnomon._memory import require_memory
from gnomon._validation import message

__all__ = ["STRIPS", "Forecast", "passes_over_pairs", "passes_unless_summed"]

STRIPS = 16_384.0
"""Bytes for each row that work in strips of some hundred rows against all rows takes: four of 512 rows in float64."""

_LONGEST = 1e4  # seconds of one core, about three hours


@dataclass(frozen=True)
class Forecast:
    """What a fit takes at its peak, beyond the table it is given.

    The figures bound what was measured at some thousand rows, and are at most about twice that.

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
    """

    n_bytes: float
    fact: str
    remedy: str
    seconds: float = 0.0
    work: str = ""

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
