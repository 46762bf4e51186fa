"""Whether there is a gap between two groups of rows: the fall of density, held against chance and planted gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gnomon.evaluation.gaps.borders import Border
from gnomon.evaluation.gaps.chance import Chance
from gnomon.evaluation.gaps.columns import columns_of_gap, columns_of_one_value
from gnomon.evaluation.gaps.falls import FEWEST_ROWS, Fall, fall_between
from gnomon.evaluation.gaps.lines import Line, PlantedLines, neighbors_in_order
from gnomon.evaluation.gaps.planted import planted_falls
from gnomon.evaluation.gaps.saddles import FEW_NEIGHBORS, N_NEIGHBORS, Landscape, NullDips
from gnomon.evaluation.gaps.sample import SampledRows
from gnomon.evaluation.gaps.sentences import (
    COUNTED,
    MORE_ROWS,
    NARROW,
    NULL,
    ORDER_TELLS,
    SHARP,
    THINNED,
    UNCOUNTED,
    UNIT,
    UNSEEN,
    UNSHARED,
    components_advice,
    part_of,
    sentence,
    told_of_border,
    told_of_columns,
    told_of_counted,
    told_of_leak,
    told_of_order,
    told_of_others,
    told_of_strays,
    told_of_unseen,
)
from gnomon.evaluation.verdict import Verdict
from gnomon.evaluation.wide_rows import n_varying
from gnomon.geometry.check import has_place

__all__ = ["Ground"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_CHOSEN = 0.05  # of a rate: maps draw borders where rows happen to be few
_MORE = 0.1  # of pairs in order, by which neighbours tell more than a line
_FEWER = (8, 5, 3)  # neighbours by which borders are looked at too: they reach less far


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
        limit = -math.log(bridge)
        fall = self.fall(a, b, island=island, bridge=bridge)
        whole, (a, b) = (a[self.rows], b[self.rows]), (fall.a, fall.b)
        chance = Chance.of(
            fall.value, self.nulls.deepest(fall.n_least if n_least is None else n_least), alpha, N_NEIGHBORS
        )
        (low, high), p_value = chance.interval, chance.p_value
        if p_value <= alpha and low >= limit:
            return self._told_apart(blank, fall, chance, whole, names, island, limit)
        if counted := self._by_count(*whole, island, bridge, alpha, n_least):
            return self._told_apart(blank, counted[0], counted[1:], whole, names, island, limit)
        sides, border = (a, _nearest_of(self.X, a, b) if island else b), None
        line = Line.of(self.X, *sides, self.seed)
        if high < limit and self.lattice is not None and not self.lattice.shows(self.as_given, *sides):
            answer, finding, high = "cannot be told", UNSHARED, math.inf
        elif high < limit and (hidden := self._hidden(*sides, line, island, fall.value, limit, alpha)):
            answer, high = "cannot be told", math.inf
            finding = "a dip that may be a gap" if p_value <= alpha and hidden != NARROW else hidden
        elif high < limit and (border := self._unsure_border(a, b, island, bridge, alpha)):
            answer, finding, high = "cannot be told", border[0], math.inf
        elif high < limit:
            answer, finding = "no", "a continuum with a dip" if p_value <= alpha else "one group"
        else:
            answer, finding = "cannot be told", "a dip that may be a gap" if p_value <= alpha else "no sure dip"
        told, more = (part_of(first, whole[0], a), second if island else part_of(second, whole[1], b)), ""
        if answer == "no" and not island:
            more = self._by_way_of_others(a, b, told, fall.value + chance.noise)
        first = "it" if island and told[0] == names[0] and finding != NARROW else told[0]
        advice = ""
        if finding == UNSEEN and self._is_hidden_by_dimensions(*sides, island, fall.value, limit, alpha):
            advice = components_advice(int((self.X if self.wide is None else self.wide).shape[1]), self.metric)
        in_order = line.in_order if answer == "cannot be told" else None
        more += "" if border is None else told_of_border(*border, whole_numbers=self.whole_numbers)
        leaked = columns_of_one_value(self.as_given, *whole, self.columns) if answer == "cannot be told" else []
        if leaked:
            more += told_of_leak(leaked)
        elif in_order is not None:
            more += told_of_order(in_order, sides)
        figures = (chance.estimate, low, high)
        told_as = sentence(finding, first, told[1], figures, bridge, advice, is_leaked=bool(leaked)) + more
        if MORE_ROWS in told_as:
            told_as += told_of_unseen(len(self.rows), self.n_unseen)
        return replace(
            blank,
            answer=answer,
            finding=finding,
            sentence=told_as,
            in_map=self._in_map(a, b, island, limit),
            statistic=chance.estimate,
            interval=(low, high),
            p_value=p_value,
            told_apart=in_order,
        )

    def _told_apart(
        self,
        blank: Verdict,
        fall: Fall,
        by: Chance | tuple[float, Border],
        whole: tuple[Mask, Mask],
        names: tuple[str, str],
        island: bool,
        limit: float,
    ) -> Verdict:
        """Say that there is a gap between two groups, by densities of neighbours or by rows counted at their border."""
        first, alpha = "it" if island else names[0], blank.false_positive_rate
        if isinstance(by, Chance):
            k, p_value, unit, told = N_NEIGHBORS, by.p_value, UNIT, (by.estimate, *by.interval)
            said = sentence("two groups", first, names[1], told, math.exp(-limit), "")
        else:
            k, unit, (p_value, border) = FEW_NEIGHBORS, COUNTED, by
            told = border.fall(alpha)
            said = told_of_counted(first, names[1], border, told)
        return replace(
            blank,
            answer="yes",
            finding="two groups",
            sentence=said + told_of_strays(fall.strays, whole, names) + self._of_columns(*whole, island, limit, k),
            in_map=self._in_map(fall.a, fall.b, island, limit, k),
            statistic=told[0],
            unit=unit,
            interval=told[1:],
            p_value=p_value,
            rests_on=self.basis_of(k),
        )

    def _by_count(
        self, a: Mask, b: Mask, island: bool, bridge: float, alpha: float, n_least: int | None
    ) -> tuple[Fall, float, Border] | None:
        """Return the fall that few neighbours tell, its p-value and the border at which rows are missing, or None.

        Fifteen reach over a gap between groups of few rows, or thin ones, and few tell densities so roughly that their
        interval proves little. So rows are counted: at the border of one group and all others surely fewer than
        `bridge` of those beside it. And the fall is deeper than the deepest of tables without gaps, by twice the
        p-value, as it is the second that is looked at: no path leads round the border.
        """
        limit, k = -math.log(bridge), FEW_NEIGHBORS
        wide = [Border.of(self._radii, group, ~group, k, windows="wide") for group in self._bordered(a, b, island)]
        borders = [border for border in wide if border.is_below(bridge, alpha)]
        if not borders:
            return None
        fall = fall_between(self.fine_landscape, a, b, island=island, limit=limit)
        if fall.value < limit:
            return None
        least = fall.n_least if n_least is None else min(n_least, fall.n_least)
        p_value = min(1.0, 2.0 * Chance.of(fall.value, self.fine_nulls.deepest(least), alpha, k).p_value)
        if p_value > alpha:
            return None
        return fall, p_value, max(borders, key=lambda border: border.fall(alpha)[1])

    def _told_of_few(self, groups: dict[str, Mask]) -> str:
        """Say which groups have too few rows for a density and what can be done; empty if none has."""
        sampled, told, remedies = self.n_unseen > 0, [], []
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
        fall are planted in the same rows, unless neighbours tell the two apart much better than the line; or if planted
        gaps, in as many dimensions as the data have locally, show a deeper dip; both but in a share `alpha` of tables.
        But not where hardly any row lies at one place of that line: densities of neighbours reach over a narrow gap.
        """
        bridge = math.exp(-limit)
        narrow = NARROW if line.is_crossed_by_few(bridge, N_NEIGHBORS, alpha) else ""
        joined = line.joins(bridge, alpha) and self._planted_lines(a, b).are_below(line.level, limit, alpha)
        # Neighbours that tell much more than the line may see groups of several parts, whose gaps it does not cross.
        if joined and neighbors_in_order(self.X, a, b, self.seed) <= line.in_order + _MORE:
            return narrow
        return narrow if dip < self._planted(a, b, island, limit, alpha, round(self.landscape.dimension)) else UNSEEN

    def _is_hidden_by_dimensions(self, a: Mask, b: Mask, island: bool, dip: float, limit: float, alpha: float) -> bool:
        """Return whether so small a dip would tell that density falls by less than `limit` in one dimension."""
        return dip < self._planted(a, b, island, limit, alpha, 1)

    def _planted(self, a: Mask, b: Mask, island: bool, limit: float, alpha: float, dimension: int) -> float:
        """Return the dip that planted gaps of as many rows show at least, but for a share `alpha` of tables."""
        sizes = int(np.count_nonzero(a)), int(np.count_nonzero(b))
        return float(np.quantile(planted_falls(sizes, dimension, limit, island, self.n_nulls, self.seed), alpha))

    def _bordered(self, a: Mask, b: Mask, island: bool) -> list[Mask]:
        """Return the groups whose border with all other rows is looked at: an island, or both; not of too few rows.

        All others, since rows of neither may join the two.
        """
        groups = (a,) if island else (a, b)
        return [group for group in groups if min(np.count_nonzero(group), np.count_nonzero(~group)) >= FEWEST_ROWS]

    def _unsure_border(
        self, a: Mask, b: Mask, island: bool, bridge: float, alpha: float
    ) -> tuple[str, Border, int] | None:
        """Return what speaks against denying a gap at the border of a group and all other rows, if anything does.

        With the border itself and the neighbours that tell it. A fall is held against the densest places of the groups
        alone, and neighbours reach over narrow gaps: so rows must be counted as near to one side as to the other.
        Hardly any may be, by 15 neighbours or by fewer; or surely fewer than beside it; or too few to be sure that they
        are more than `bridge` of those. The latter two, and three neighbours, are not asked along one line or circle:
        there the rows between were counted already, and neither thin sets nor bends hide a gap.
        """
        groups = self._bordered(a, b, island)
        for k in (N_NEIGHBORS, *(_FEWER[:2] if self.is_line else _FEWER)):
            for group in groups:
                border = Border.of(self._radii, group, ~group, k).where_they_meet
                if border.is_sharp(bridge, alpha):
                    return SHARP, border, k
        if self.is_line:
            return None
        for group in groups:
            border = Border.of(self._radii, group, ~group)
            if border.is_thin(_CHOSEN * alpha):
                met = border.where_they_meet
                return THINNED if met.is_thin(_CHOSEN * alpha) else UNCOUNTED, met, N_NEIGHBORS
        for group in groups:
            near = [Border.of(self._radii, group, ~group, k, windows="near") for k in (N_NEIGHBORS, *_FEWER[:2])]
            if not any(border.joins(bridge, alpha) for border in near):
                return UNCOUNTED, near[0], N_NEIGHBORS
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

    def _of_columns(self, a: Mask, b: Mask, island: bool, limit: float, k: int) -> str:
        """Say so where one column, or two or three, make the gap; of very many, or what they share, none is named."""
        if self.wide is not None or self.lattice is not None:
            return ""

        def fall(rest: Floats) -> float:
            return fall_between(Landscape.of(rest, k), a, b, island=island, limit=limit).value

        return told_of_columns(*columns_of_gap(self.X, a, b, self.columns, fall, limit))

    def _in_map(self, a: Mask, b: Mask, island: bool, limit: float, k: int = N_NEIGHBORS) -> str | None:
        """Return what the map alone would say, by as many neighbours as the data where a gap is found by few."""
        if self.Y is None:
            return None
        placed = has_place(self.Y)
        a, b = a[placed], b[placed]
        if min(np.count_nonzero(a), np.count_nonzero(b)) < FEWEST_ROWS:
            return None
        fall = fall_between(self.map_landscape, a, b, island=island, limit=limit).value
        if fall < limit and k != N_NEIGHBORS:
            few = Landscape.of(self.Y[placed], k)
            found = fall_between(few, a, b, island=island, limit=limit)
            nulls = NullDips.of(self.Y[placed], few.dimension, self.n_nulls, self.seed, k)
            fall = found.value - max(float(np.median(kind)) for kind in nulls.deepest(found.n_least))
        return "yes" if fall >= limit else "no"


def _nearest_of(X: Floats, island: Mask, rest: Mask) -> Mask:
    """Return the other rows that an island is held against: as many of them, those nearest to its mean."""
    if np.count_nonzero(rest) <= np.count_nonzero(island):
        return rest
    others = np.flatnonzero(rest)
    squares = np.square(X[others] - X[island].mean(axis=0)).sum(axis=1)
    near = np.zeros_like(rest)
    near[others[np.argsort(squares, kind="stable")[: np.count_nonzero(island)]]] = True
    return near
