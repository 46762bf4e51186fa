"""Whether there is a gap between two groups of rows: the fall of density, held against chance and planted gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._threads import in_order
from gnomon.evaluation.gaps.borders import Border
from gnomon.evaluation.gaps.columns import columns_of_gap, columns_of_one_value
from gnomon.evaluation.gaps.falls import FEWEST_ROWS, Fall, fall_between
from gnomon.evaluation.gaps.lines import Line, PlantedLines
from gnomon.evaluation.gaps.saddles import N_NEIGHBORS, Landscape
from gnomon.evaluation.gaps.sample import SampledRows
from gnomon.evaluation.gaps.sentences import (
    NARROW,
    NULL,
    ORDER_TELLS,
    SHARP,
    UNIT,
    components_advice,
    part_of,
    sentence,
    told_of_border,
    told_of_columns,
    told_of_leak,
    told_of_order,
    told_of_others,
    told_of_strays,
)
from gnomon.evaluation.verdict import Verdict
from gnomon.evaluation.wide_rows import n_varying
from gnomon.geometry.check import has_place

__all__ = ["Ground"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Ground(SampledRows):
    """What a sample of rows says about gaps between groups of them."""

    def fall(self, a: Mask, b: Mask, *, island: bool, bridge: float) -> Fall:
        """Return the fall of density between the rows looked at of two groups."""
        return fall_between(self.landscape, a[self.rows], b[self.rows], island=island, limit=-math.log(bridge))

    def judge(
        self,
        a: Mask,
        b: Mask,
        names: tuple[str, str],
        *,
        island: bool,
        bridge: float,
        alpha: float,
        n_least: int | None = None,
    ) -> Verdict:
        """Say whether density falls below `bridge` of the lower peak between two groups.

        Of an island `b` are all other rows, and it is enough that the island joins with some of them. Chance is that of
        dips between parts of at least `n_least` rows; None takes as many as the groups hold at least.
        """
        first, second = names
        question = f"Is {first} a group of its own?" if island else f"Are {first} and {second} apart?"
        few = self._told_of_few(dict(zip(names, (a, b), strict=True)))
        blank = Verdict(
            question=question,
            answer="cannot be told",
            finding="too few rows",
            sentence=few,
            in_map=None,
            statistic=math.nan,
            unit=UNIT,
            interval=(math.nan, math.nan),
            p_value=math.nan,
            null=NULL,
            false_positive_rate=alpha,
            rests_on=self._seen if few else self.basis,
            caution="" if self.succession is None else self.succession.told(ORDER_TELLS),
        )
        if few:
            return blank
        fall = self.fall(a, b, island=island, bridge=bridge)
        dip, whole, (a, b) = fall.value, (a[self.rows], b[self.rows]), (fall.a, fall.b)
        estimate, low, high, p_value = self._beside_chance(dip, fall.n_least if n_least is None else n_least, alpha)
        limit = -math.log(bridge)
        line, sides, border = None, (a, b), None
        if not (p_value <= alpha and low >= limit):
            sides = a, _nearest_of(self.X, a, b) if island else b
            line = Line.of(self.X, *sides, self.seed)
        if line is None:
            answer, finding = "yes", "two groups"
        elif high < limit and (hidden := self._hidden(*sides, line, island, dip, limit, alpha)):
            answer, high = "cannot be told", math.inf
            finding = "a dip that may be a gap" if p_value <= alpha and hidden != NARROW else hidden
        elif high < limit and (border := self._sharp_border(a, b, island, bridge, alpha)):
            answer, finding, high = "cannot be told", SHARP, math.inf
        elif high < limit:
            answer, finding = "no", "a continuum with a dip" if p_value <= alpha else "one group"
        else:
            answer, finding = "cannot be told", "a dip that may be a gap" if p_value <= alpha else "no sure dip"
        if answer == "yes":  # each part falls as deep: the groups do
            told = names
            more = told_of_strays(fall.strays, whole, names) + self._of_columns(*whole, island, limit)
        else:
            told, more = (part_of(first, whole[0], a), second if island else part_of(second, whole[1], b)), ""
        if answer == "no" and not island:
            more = self._by_way_of_others(a, b, told, dip + _noise(alpha))
        first = "it" if island and told[0] == names[0] and finding != NARROW else told[0]
        advice = components_advice(int((self.X if self.wide is None else self.wide).shape[1]))
        in_order = line.in_order if line is not None and answer == "cannot be told" else None
        more += "" if border is None else told_of_border(border, whole_numbers=self.whole_numbers)
        leaked = columns_of_one_value(self.X, *whole, self.columns) if answer == "cannot be told" else []
        if leaked:
            more += told_of_leak(leaked)
        elif in_order is not None:
            more += told_of_order(in_order, sides)
        figures = (estimate, low, high)
        told_as = sentence(finding, first, told[1], figures, bridge, advice, is_leaked=bool(leaked)) + more
        return replace(
            blank,
            answer=answer,
            finding=finding,
            sentence=told_as,
            in_map=self._in_map(a, b, island, limit),
            statistic=estimate,
            interval=(low, high),
            p_value=p_value,
            told_apart=in_order,
        )

    def _beside_chance(self, dip: float, n_least: int, alpha: float) -> tuple[float, float, float, float]:
        """Return a fall less what tables without gaps show, the ends of its interval, and its p-value."""
        kinds = self.nulls.deepest(n_least)
        p_value = max((1 + np.count_nonzero(kind >= dip)) / (1 + len(kind)) for kind in kinds)
        chance = max(kinds, key=np.median)
        center, noise = float(np.median(chance)), _noise(alpha)
        low = max(0.0, dip - max(center + noise, *(float(np.quantile(kind, 1.0 - alpha)) for kind in kinds)))
        high = max(low, dip - min(center - noise, float(np.quantile(chance, alpha))))
        return max(0.0, dip - center), low, high, float(p_value)

    def _told_of_few(self, groups: dict[str, Mask]) -> str:
        """Say which groups have too few rows for a density and what can be done; empty if none has."""
        sampled = len(self.rows) < self.n_given - self.n_zero
        told, remedies = [], []
        for name, rows in groups.items():
            seen, given = int(np.count_nonzero(rows[self.rows])), int(np.count_nonzero(rows))
            if seen >= FEWEST_ROWS:
                continue
            more = sampled and given >= FEWEST_ROWS
            told.append(
                f"{name} has {seen} of the rows looked at" if more else f"{name} has {given if sampled else seen} rows"
            )
            remedies.append("Raise max_rows." if more else "Join it with rows beside it, or gather more of its kind.")
        if not told:
            return ""
        return f"{' and '.join(told)}, fewer than the {FEWEST_ROWS} of a density. {' '.join(dict.fromkeys(remedies))}"

    def _hidden(self, a: Mask, b: Mask, line: Line, island: bool, dip: float, limit: float, alpha: float) -> str:
        """Return why so small a dip does not tell that density falls by less than `limit`; empty where it does.

        It does where rows of both groups lie along the line between them too, and more of them than where gaps of that
        fall are planted in the same rows; or if planted gaps, in as many dimensions as the data have locally, show a
        deeper dip; both but in a share `alpha` of tables. But not where hardly any row lies at one place of that line:
        densities of neighbours reach over a narrow gap.
        """
        bridge = math.exp(-limit)
        narrow = NARROW if line.is_crossed_by_few(bridge, N_NEIGHBORS, alpha) else ""
        if line.joins(bridge, alpha) and self._planted_lines(a, b).are_below(line.level, limit, alpha):
            return narrow
        sizes = int(np.count_nonzero(a)), int(np.count_nonzero(b))
        planted = _planted_dips(sizes, round(self.landscape.dimension), limit, island, self.n_nulls, self.seed)
        return narrow if dip < float(np.quantile(planted, alpha)) else "a gap might not be seen"

    def _sharp_border(self, a: Mask, b: Mask, island: bool, bridge: float, alpha: float) -> Border | None:
        """Return the border at which hardly any row is as near to both of its sides, if one parts the groups.

        It is that of one of them and all other rows: rows of neither may join the two. Such a border says against a
        fall that is not seen, since that is held against the densest places of the groups alone.
        """
        for group in (a,) if island else (a, b):
            if min(np.count_nonzero(group), np.count_nonzero(~group)) < FEWEST_ROWS:
                continue
            border = Border.of(self._radii, group, ~group)
            if border.is_sharp(bridge, alpha):
                return border
        return None

    def _planted_lines(self, a: Mask, b: Mask) -> PlantedLines:
        """Return what the line between two groups would show if there were a gap, in as many columns as vary."""
        n_columns = None if self.wide is None else n_varying(self.wide[np.flatnonzero(a | b)])
        return PlantedLines.of(self.X, a, b, self.seed, n_columns=n_columns)

    def _by_way_of_others(self, a: Mask, b: Mask, names: tuple[str, str], least: float) -> str:
        """Say so where rows of neither group join the two, which alone would have a fall of `least` between them."""
        both = a | b
        if both.all():
            return ""
        alone = fall_between(Landscape.of(self.X[both]), a[both], b[both], limit=math.inf).value
        if alone < least:
            return ""
        return told_of_others(names, alone)

    def _of_columns(self, a: Mask, b: Mask, island: bool, limit: float) -> str:
        """Say so where one column, or two or three, make the gap; of very many none is named."""
        if self.wide is not None:
            return ""

        def is_gap(rest: Floats) -> bool:
            return fall_between(Landscape.of(rest), a, b, island=island, limit=limit).value >= limit

        return told_of_columns(columns_of_gap(self.X, a, b, self.columns, is_gap))

    def _in_map(self, a: Mask, b: Mask, island: bool, limit: float) -> str | None:
        """Return what the map alone would say."""
        if self.Y is None:
            return None
        placed = has_place(self.Y)
        a, b = a[placed], b[placed]
        if min(np.count_nonzero(a), np.count_nonzero(b)) < FEWEST_ROWS:
            return None
        return "yes" if fall_between(self.map_landscape, a, b, island=island, limit=limit).value >= limit else "no"


def _noise(alpha: float) -> float:
    """Return by how much the logarithm of a density of neighbours is off in a share `alpha` of draws."""
    return float(-scipy.special.ndtri(alpha) * math.sqrt(scipy.special.polygamma(1, N_NEIGHBORS)))


@lru_cache(maxsize=16)
def _planted_dips(
    sizes: tuple[int, int], dimension: int, limit: float, island: bool, n_nulls: int, seed: int
) -> Floats:
    """Return the falls between two normal clouds, half-way between whose peaks the logarithm is lower by `limit`."""
    a = np.arange(sum(sizes)) < sizes[0]
    apart = math.sqrt(8.0 * (limit + math.log(2.0)))

    def one(number: int) -> float:
        drawn = np.random.default_rng((seed, 3, number)).normal(size=(len(a), dimension))
        drawn[a, 0] += apart
        return fall_between(Landscape.of(drawn.astype(np.float32)), a, ~a, island=island, limit=limit).value

    return np.array(list(in_order(one, range(n_nulls))))


def _nearest_of(X: Floats, island: Mask, rest: Mask) -> Mask:
    """Return the other rows that an island is held against: as many of them, those nearest to its mean."""
    if np.count_nonzero(rest) <= np.count_nonzero(island):
        return rest
    others = np.flatnonzero(rest)
    squares = np.square(X[others] - X[island].mean(axis=0)).sum(axis=1)
    near = np.zeros_like(rest)
    near[others[np.argsort(squares, kind="stable")[: np.count_nonzero(island)]]] = True
    return near
