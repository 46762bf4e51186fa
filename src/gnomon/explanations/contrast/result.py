"""What sets a selection of rows apart: the table of features, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._validation import Boolean, Integer, Rule, check_parameters
from gnomon.explanations.answer import Column, GroupedAnswer, format_number, format_table
from gnomon.explanations.contrast.errors import FEW_ROWS
from gnomon.explanations.contrast.units import FEWEST_UNITS, told_of_too_few
from gnomon.explanations.contrast.without_spread import EffectColumn

__all__ = ["FALSE", "JUDGED_AS", "NOTHING_APART", "NOTHING_STRONGLY_APART", "Contrast"]

NOTHING_APART = "no feature sets it apart"
"""The caption of what no feature tells from the rest beyond chance."""
NOTHING_STRONGLY_APART = "no feature sets it strongly apart"
"""How the caption begins of what features tell from the rest beyond chance, but only a little."""
FALSE = 0.05
"""Share of chance among the features that are found, on the mean."""

JUDGED_AS = "; chance is judged as of independent rows, chosen by something else than their features"
"""What a contrast that finds differences takes for granted."""

_TABLE_RULES: dict[str, Rule] = {"n_top": Integer(1), "log2": Boolean()}
_NOTABLE = 0.1  # features whose AUC is at least this far from 0.5 set rows apart; weaker ones are said to be weak


@dataclass(frozen=True, kw_only=True)
class Contrast(GroupedAnswer):
    """Features by how far they set a selection apart from the rest.

    Sorted by ``|auc - 0.5|`` (or ``|effect_size|``), then by the other, then by column number.

    Attributes
    ----------
    features : list of str
        Names, most distinctive first.
    indices : ndarray of shape (n_features,), int64
        Their column numbers.
    effect, effect_size : ndarray of shape (n_features,), float64
        Difference of the means in pooled standard deviations (Cohen's d), positive if the selection is higher. 0 for
        a constant feature; infinite if the means differ and neither side varies, which is printed in words, such as
        "in all, no other" of a yes or no.
    error : ndarray of shape (n_features,), float64
        Standard error of the effect size, for sides that may vary differently (Bonett); NaN where that is infinite. It
        takes rows as independent draws, and few rows to vary at least as the rest makes them: 1.96 errors to both sides
        held the true effect size in 91 to 100 % of draws of 20 against 200 rows and more, in 87 to 100 % with 5 rows.
    auc : ndarray of shape (n_features,), float64, in [0, 1]
        Probability that a selected row is above a row of the rest, ties counted half. 0.5 for a constant feature.
    auc_error : ndarray of shape (n_features,), float64
        Standard error of the AUC, whatever the distributions (DeLong), of few rows as that of the effect; 0 where the
        sides do not overlap.
    false_discovery_rate : ndarray of shape (n_features,), float64, in [0, 1]
        Share of chance, on the mean, among this feature and those that are set apart more (Benjamini and Hochberg, by
        the test of Mann and Whitney, exact where a side has two to four rows, and where it is less sure by that of
        Brunner and Munzel, for sides that vary differently): above 0.05 no caption names it. Those of
        `cluster_profiles` are over all clusters. It takes
        rows as independent draws, which cells of one donor or repeated measurements are not; with `units` it is judged
        between these, by Student's test of their means, and 1 where they are too few or differ the other way than the
        rows.
    mean_selected, mean_rest : ndarray of shape (n_features,), float64
        Means on both sides, in the units of the feature; for a group of features those of the member most correlated
        with it.
    difference : ndarray of shape (n_features,), float64
        Difference of the means, selected less rest, in the units of the feature. With `units` it is that of the means
        of the units that are compared, and NaN where these are too few.
    difference_low, difference_high : ndarray of shape (n_features,), float64
        Ends of its 95 % interval, by Student's distribution with Welch's degrees of freedom; the sides vary as in the
        error of the effect size. That of shares, of a yes or no, is Agresti and Caffo's. It is of each feature alone,
        not corrected for their number as the rate of false discoveries is. With `units` it is that of Student's test
        between these.
    n_selected, n_rest : int
        Number of rows on both sides.
    n_units : tuple (int, int) or None
        Units, such as donors, that are compared on both sides; None where rows are taken as independent.
    n_beyond_chance : int
        Features whose rate of false discoveries is 0.05 or less, of all that were compared (`beyond_chance`), however
        little they differ; those of them that differ notably are `sets_apart`.
    caution : str, default=""
        What the answer leaves out, such as weights of rows that made the map, or metadata of it that may be units by
        their name; empty if nothing.
    n_repeats : int
        Rows, about, that repeat others of their side, in sets of two to ten, where a tenth of the rows or more could be
        spared: equal rows, and those that lie as near to others, for how far the rest is, as repeated measurements do.
        Errors and rates of false discoveries count each set once.
    fidelity : float in [0, 1], or NaN
        How well the features that are named first tell the two sides apart: AUC of a linear discriminant of the ten
        most distinctive ones, chosen and fitted in one half of the rows, taken in the other. Units, or else sets of
        repeated rows, are in one half as a whole. 0.5 says nothing. NaN if a side has fewer than two of them.
    """

    _question: ClassVar[str] = "contrast"
    _per_feature: ClassVar[tuple[str, ...]] = (
        "effect_size",
        "auc",
        "auc_error",
        "false_discovery_rate",
        "beyond_chance",
        "sets_apart",
        "mean_selected",
        "mean_rest",
        "difference",
        "difference_low",
        "difference_high",
    )
    _facts: ClassVar[tuple[str, ...]] = ("n_selected", "n_rest", "n_units", "n_beyond_chance", "n_repeats")
    _columns: ClassVar[tuple[Column, ...]] = (
        EffectColumn("effect size", "effect", "error"),
        Column("AUC", "auc", "auc_error"),
        Column("mean selected", "mean_selected", of_features=True),
        Column("mean rest", "mean_rest", of_features=True),
    )

    auc: npt.NDArray[np.float64]
    auc_error: npt.NDArray[np.float64]
    false_discovery_rate: npt.NDArray[np.float64]
    mean_selected: npt.NDArray[np.float64]
    mean_rest: npt.NDArray[np.float64]
    difference: npt.NDArray[np.float64]
    difference_low: npt.NDArray[np.float64]
    difference_high: npt.NDArray[np.float64]
    n_selected: int
    n_rest: int
    n_beyond_chance: int
    n_units: tuple[int, int] | None = None
    n_repeats: int = 0

    @property
    def effect_size(self) -> npt.NDArray[np.float64]:
        """Another name of the effect."""
        return self.effect

    def caption(self, n_top: int = 3) -> str:
        """Return a phrase such as "more aspect_ratio, less zinc".

        Only features with an AUC below 0.4 or above 0.6 that is no chance: at most one in twenty of the features found
        is, on the mean. If there is none, but features that differ less are no chance: "no feature sets it strongly
        apart; 2 differ beyond chance: more hue, less ash". If there are none of these: "no feature sets it apart".
        """
        apart = self._phrases(self.sets_apart, n_top)
        if apart:
            return apart
        if not self.n_beyond_chance:
            return NOTHING_APART
        weak = self._phrases(self.beyond_chance, n_top)
        count = f"{self.n_beyond_chance:,} differ{'s' if self.n_beyond_chance == 1 else ''} beyond chance"
        most = ", most" if self.n_beyond_chance > n_top else ""
        return f"{NOTHING_STRONGLY_APART}; {count}{f'{most}: {weak}' if weak else ''}"

    def _phrases(self, which: npt.NDArray[np.bool_], n_top: int) -> str:
        """Say of the first of some features in which direction they differ."""
        named = np.flatnonzero(which)[:n_top]
        return ", ".join(f"{'more' if self.auc[k] > 0.5 else 'less'} {self.features[k]}" for k in named)

    @property
    def beyond_chance(self) -> npt.NDArray[np.bool_]:
        """Which features differ beyond chance, (n_features,)."""
        found: npt.NDArray[np.bool_] = self.false_discovery_rate <= FALSE
        return found

    @property
    def sets_apart(self) -> npt.NDArray[np.bool_]:
        """Which features differ beyond chance and notably, with an AUC below 0.4 or above 0.6, (n_features,)."""
        found: npt.NDArray[np.bool_] = (np.abs(self.auc - 0.5) >= _NOTABLE) & self.beyond_chance
        return found

    def table(self, n_top: int | None = 10, *, log2: bool = False) -> str:
        """Return a wider table as text: means on both sides, their difference with its 95 % interval, and more.

        Differences are in the units of the features, with `units` those between the means of units. Beside them stand
        the AUC and the rate of false discoveries, under "q". For a data frame take `columns()`.

        Parameters
        ----------
        n_top : int >= 1 or None, default=10
            Features that are listed; None for all.
        log2 : bool, default=False
            Whether the features are logarithms to base 2, so that a difference is a logarithm of a ratio: it is then
            called "log2 fold". Nothing is computed differently.
        """
        check_parameters(_TABLE_RULES, {"n_top": 1 if n_top is None else n_top, "log2": log2})
        shown = self if n_top is None else self.head(n_top)
        selected, rest = (Column("", name, of_features=True).cells(shown) for name in ("mean_selected", "mean_rest"))
        auc = Column("", "auc").cells(shown)
        ends = zip(*(getattr(shown, f"difference{end}").tolist() for end in ("", "_low", "_high")), strict=True)
        differences = [
            "nan" if np.isnan(d) else f"{format_number(d)} ({format_number(low)} to {format_number(high)})"
            for d, low, high in ends
        ]
        rates = [f"{rate:.2g}" for rate in shown.false_discovery_rate.tolist()]
        header = ["feature", "mean selected", "mean rest", "log2 fold" if log2 else "difference", "AUC", "q"]
        header[3] += " (95 %)"
        rows = [*zip(shown.features, selected, rest, differences, auc, rates, strict=True)]
        left = len(self) - len(shown)
        more = f"\n... and {left:,} more feature{'' if left == 1 else 's'}" if left else ""
        return f"{self.headline()}\n{format_table(header, rows)}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Return the table with plain Python values; an infinite effect size stays a float."""
        return {**super().to_dict(), "caption": self.caption()}

    def headline(self) -> str:
        """Return what sets the selection apart, on one line, and the caution on a second."""
        return self._with_caution(self._told)

    @property
    def _told(self) -> str:
        """Return what is said of the selection as a whole."""
        text = f"{self.n_selected} selected, {self.n_rest} in the rest: "
        told = f"; up to ten features tell them apart with AUC {self.fidelity:.2f} on"
        if self.n_units is not None:
            of = f"{self.n_units[0]} and {self.n_units[1]} units"
            if min(self.n_units) < FEWEST_UNITS:
                return f"{text}{told_of_too_few(self.n_units)}"
            text += self.caption()
            text += (
                f"{told} units held out"
                if np.isfinite(self.fidelity)
                else "; too few units to hold out how well features tell them apart"
            )
            return f"{text}; chance is judged between {of}"
        text += self.caption()
        fewest = min(self.n_selected, self.n_rest)
        if np.isfinite(self.fidelity) and fewest >= FEW_ROWS:
            text += f"{told} rows held out"
            text += "" if self.sets_apart.any() else ", where chance has 0.50"
        if self.n_beyond_chance:
            text += "" if self.n_repeats else JUDGED_AS
        if self.n_repeats:
            text += (
                f"; {self.n_repeats:,} rows repeat others of their side, or nearly, and each set is held out whole and "
                "counts as one row"
            )
        if fewest == 1:
            text += "; what chance gives cannot be told of a single row"
        elif fewest < FEW_ROWS:
            text += f"; fewer than {FEW_ROWS} rows are too few for errors and to hold any out"
        return text
