"""`Verdict`: the answer to a question about groups of rows, in plain words and with its error rate."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from gnomon._printed import Printed

__all__ = ["Verdict"]


@dataclass(frozen=True)
class Verdict(Printed):
    """The answer to a question that a map raises, judged in the data.

    Attributes
    ----------
    question : str
    answer : {"yes", "no", "cannot be told"}
    finding : str
        What was found, in a few words: more than the answer where there are several ways to "no".
    sentence : str
        The answer in plain words, with its figures.
    in_map : str or None
        What the map alone would have one answer, "yes" or "no"; None without a map.
    statistic : float
        Estimate that the answer rests on; nan if there are too few rows.
    unit : str
        What the statistic is.
    interval : tuple of (low, high)
        Of what `unit` names. By chance of the rows alone each end is missed about at `false_positive_rate`. Of a gap it
        is that of the fall as neighbours tell it among as many rows, no interval of the density itself or of a barrier
        of free energy; see `are_apart`.
    p_value : float
        How often the null gives a statistic as large.
    null : str
        What the p-value compares with.
    false_positive_rate : float
        How often the null, where it is true, is denied.
    rests_on : str
        Rows, neighbours and draws behind the figures.
    caution : str, default=""
        What the order of the rows says against the answer, which is that of independent rows, or weights of rows that
        made the map, which have no part in it; empty if nothing.
    told_apart : float or None
        Of groups of which it cannot be told whether there is a gap: in how many pairs of a row of each, held out, the
        line that tells the groups apart best has them in order (AUC; chance has 0.5). It is no part of the answer:
        halves of a continuum are told apart too. None of other answers.
    """

    question: str
    answer: str
    finding: str
    sentence: str
    in_map: str | None
    statistic: float
    unit: str
    interval: tuple[float, float]
    p_value: float
    null: str
    false_positive_rate: float
    rests_on: str
    caution: str = ""
    told_apart: float | None = None

    @property
    def is_illusion(self) -> bool:
        """Whether the map alone would have said otherwise: "yes" where the data say "no", or the reverse."""
        return self.in_map is not None and "cannot be told" != self.answer != self.in_map

    @property
    def is_computed(self) -> bool:
        """Whether there were rows enough for a statistic, with its interval and p-value."""
        return not math.isnan(self.statistic)

    @property
    def figures(self) -> str:
        """Statistic and interval, in three digits; "not computed" of too few rows."""
        low, high = self.interval
        return f"{self.statistic:.3g} [{low:.3g}, {high:.3g}]" if self.is_computed else "not computed"

    @property
    def line(self) -> str:
        """Question, answer and reason in one line."""
        return f"{self._head} {self.sentence}"

    @property
    def _head(self) -> str:
        illusion = " (the map misleads here)" if self.is_illusion else ""
        return f"{self.question} {self.answer.capitalize()}{illusion}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values; None for NaN, and for an end that is infinite."""
        found = {**asdict(self), "interval": list(self.interval), "is_illusion": self.is_illusion}
        for name in ("statistic", "p_value"):
            found[name] = found[name] if found[name] == found[name] else None
        found["interval"] = [end if math.isfinite(end) else None for end in self.interval]
        return found

    def __str__(self) -> str:
        shown = "" if self.in_map is None else f"in the map alone: {self.in_map}\n"
        cautioned = f"{self.caution}\n" if self.caution else ""
        said = f"{self._head}\n{self.sentence}\n{cautioned}{shown}"
        if not self.is_computed:
            return f"{said}rests on {self.rests_on}"
        return (
            f"{said}{self.unit}: {self.figures}; p = {self.p_value:.3g} against {self.null}\n"
            f"false-positive rate {self.false_positive_rate:g}; rests on {self.rests_on}"
        )
