"""Verdicts about gaps: are two groups apart, is an island real, is it a continuum; judged by saddles of density."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import squared_lengths
from gnomon._cached import cached_property
from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import in_order
from gnomon._validation import Integer, Real, Rule, check_parameters, message
from gnomon.evaluation.borders import Border, Radii
from gnomon.evaluation.falls import FEWEST_ROWS, Fall, fall_between
from gnomon.evaluation.gap_columns import check_columns, columns_of_gap
from gnomon.evaluation.lines import Line, PlantedLines
from gnomon.evaluation.saddles import N_NEIGHBORS, Landscape, NullDips
from gnomon.evaluation.verdict import Verdict
from gnomon.evaluation.wide_rows import are_wide, few_coordinates, n_varying
from gnomon.evaluation.words import percent
from gnomon.geometry.check import check_features, check_places, has_place, row_mask
from gnomon.linalg import dense_rows
from gnomon.neighbors import Succession, metric_name, succession_of_rows
from gnomon.neighbors.circles import on_circles

__all__ = [
    "BRIDGE",
    "METRICS",
    "ORDER_TELLS",
    "RULES",
    "Ground",
    "JudgedMetric",
    "are_apart",
    "can_judge",
    "check_groups",
    "check_names",
    "components_advice",
    "is_continuum",
    "is_real",
    "rows_with_direction",
    "straightened",
    "told_without",
]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

BRIDGE = 0.25
"""Density between two groups, over that of the sparser, from which they are joined where nobody says another."""
METRICS = ("euclidean", "cosine", "haversine", "periodic")
"""Distances in which groups are judged."""


def can_judge(metric: str) -> bool:
    """Return whether groups are judged in a distance, by its name."""
    return metric.strip().partition("(")[0] in METRICS and metric_name(metric) is not None


class JudgedMetric:
    """The name of a distance in which groups are judged, "periodic" with its periods in brackets."""

    text = "'euclidean', 'cosine', 'haversine' or 'periodic(...)' with its periods, such as 'periodic(360)'"

    def check(self, value: object) -> str:
        """Return the name."""
        if not isinstance(value, str):
            raise TypeError
        if not can_judge(value):
            raise ValueError
        return str(metric_name(value))


RULES: dict[str, Rule] = {
    "metric": JudgedMetric(),
    "bridge": Real(0.0, 1.0, low_open=True, high_open=True),
    "n_nulls": Integer(19),
    "max_rows": Integer(60),
    "alpha": Real(0.0, 0.5, low_open=True, high_open=True),
}
ORDER_TELLS = "gaps may part stretches of one way through a single cloud"
"""What the order of the rows says against verdicts, which are of independent rows."""
_MANY_COLUMNS = 100  # from which on principal components are named as one would ask for them
_ALL = 0.99  # of a group is called by its name
_STRAYS = 0.02  # of a group in clouds of the other are told
_NARROW = "a gap too narrow for densities"
_SHARP = "hardly a row as near to both"
_UNIT = f"fall of log density between the groups as {N_NEIGHBORS} neighbours tell it"
_NULL = "the deepest dip anywhere in tables without gaps, so that groups may be chosen by eye"


def check_groups(n: int, **groups: Any) -> list[Mask]:
    """Return the masks of groups of rows without common rows."""
    masks = {name: row_mask(rows, n, name=name) for name, rows in groups.items()}
    found = list(masks.items())
    for number, (name, mask) in enumerate(found):
        for other, rows in found[:number]:
            if common := int(np.count_nonzero(mask & rows)):
                rule = f"without rows of {other}"
                raise ValueError(message(f"{name} with {common} rows of {other}", rule, remedy="Remove them from one."))
    return list(masks.values())


def check_names(names: Any, count: int) -> tuple[str, ...]:
    """Return what groups are called in an answer, as texts."""
    rule = f"{count} texts, one for each group"
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(message(f"names={names!r:.60}", rule, fact=f"found {type(names).__name__}"))
    given = tuple(str(name) for name in names)
    if len(given) != count:
        raise ValueError(message(f"names={names!r:.60}", rule, fact=f"found {len(given)}"))
    return given


def straightened(X: Any, metric: str) -> Any:
    """Return rows in double whose straight distances order pairs as a metric does, or, of several angles, nearly so.

    Under the cosine they are divided by their lengths, 0 stays 0; columns with a period are circles, places on a
    sphere points of it: chords are the shorter way round as far as near rows go, and grow with it. Rows of a sparse
    table stay sparse, but for those of angles.
    """
    if metric not in ("euclidean", "cosine"):
        return np.asarray(on_circles(dense_rows(X), metric), dtype=np.float64)
    found = X.astype(np.float64, copy=metric == "cosine")
    if metric == "cosine":
        lengths = np.sqrt(squared_lengths(found))
        lengths[lengths == 0.0] = 1.0
        if isinstance(found, np.ndarray):
            found /= lengths[:, None]
        else:
            found.data /= np.repeat(lengths, np.diff(found.indptr))
    return found


def rows_with_direction(X: Any, metric: str) -> npt.NDArray[np.int64]:
    """Return the rows that a verdict can be about: under the cosine those that are not all zeros.

    A row of zeros is at cosine distance 1 from all others, so that in many dimensions it is the nearest row of most,
    and would join groups that it has no part in.
    """
    n = int(X.shape[0])
    if metric != "cosine":
        return np.arange(n)
    return np.flatnonzero(X.any(axis=1) if isinstance(X, np.ndarray) else np.asarray((X != 0).sum(axis=1)).reshape(n))


def components_advice(n_columns: int) -> str:
    """Return what helps where a gap might not be seen in so many columns."""
    plain = "ask about principal components"
    return f"{plain} (a map with n_pcs=20)" if n_columns >= _MANY_COLUMNS else plain


def told_without(n_zero: int) -> str:
    """Say that so many rows of zeros are left out, to go on a text; empty for none."""
    if not n_zero:
        return ""
    which = "1 row of zeros, which has" if n_zero == 1 else f"{n_zero:,} rows of zeros, which have"
    return f", without {which} no direction"


@dataclass(frozen=True)
class Ground:
    """The rows that questions about gaps are judged by: all of few, a random sample of many.

    Attributes
    ----------
    X : ndarray of shape (n, n_features), float64
        Of more columns than rows and than 1,000, as many coordinates as rows, with the same distances.
    Y : ndarray of shape (n, n_components), float64, or None
        Their places; NaN where a row has none.
    rows : ndarray of shape (n,), int64
        Their numbers among the rows given.
    n_given, n_nulls, seed : int
    n_zero : int
        Rows of zeros that are left out, as they have no cosine distance to speak of.
    succession : Succession or None
        What says that rows that follow each other in the table are alike, if it was looked for.
    columns : mapping of str to ndarray of int
        The features of each column by its name, of which one or a few may make a gap; empty if none is to be named.
    wide : ndarray or sparse matrix of shape (n, n_features), float64, or None
        The rows themselves where X has coordinates in their place.
    """

    X: Floats
    Y: Floats | None
    rows: npt.NDArray[np.int64]
    n_given: int
    n_nulls: int
    seed: int
    n_zero: int = 0
    succession: Succession | None = None
    columns: Mapping[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    wide: Any = None

    @classmethod
    def of(
        cls,
        X: Any,
        Y: Any,
        *,
        metric: str,
        max_rows: int,
        n_nulls: int,
        seed: int,
        placed: bool = False,
        ordered: bool = False,
        columns: Any = None,
    ) -> Self:
        """Check table and map, and draw the sample.

        `placed` leaves out rows without a place in the map; `ordered` looks whether rows that follow each other are
        alike. Columns are known in straight distances alone: others depend on all of them together.
        """
        values, names = check_features(X, None)
        known = check_columns(columns, names)
        n = int(values.shape[0])
        places = None if Y is None else check_places(Y, n)
        rows = rows_with_direction(values, metric)
        n_zero = n - len(rows)
        if placed and places is not None:
            rows = rows[has_place(places)[rows]]
        if len(rows) < 2 * FEWEST_ROWS:
            what = f"X with {len(rows)} rows{told_without(n_zero)}"
            raise ValueError(message(what, f"of at least {2 * FEWEST_ROWS} rows"))
        if len(rows) > max_rows:
            rows = rows[np.sort(np.random.default_rng(seed).choice(len(rows), max_rows, replace=False))]
        looked_at = straightened(values[rows], metric)
        wide = looked_at if are_wide(looked_at) else None
        sample = dense_rows(looked_at) if wide is None else few_coordinates(wide)
        sample = sample - sample.mean(axis=0)
        order = succession_of_rows(values, metric) if ordered else None
        own = None if places is None else places[rows]
        named = known if metric == "euclidean" and wide is None else {}
        return cls(sample, own, rows, n, n_nulls, seed, n_zero, order, named, wide)

    @cached_property
    def landscape(self) -> Landscape:
        """Peaks and saddles in the data."""
        return Landscape.of(self.X)

    @cached_property
    def map_landscape(self) -> Landscape:
        """Peaks and saddles in the map, of its rows that have a place."""
        assert self.Y is not None
        return Landscape.of(self.Y[has_place(self.Y)])

    @cached_property
    def nulls(self) -> NullDips:
        """Dips of tables without gaps."""
        return NullDips.of(self.X, self.landscape.dimension, self.n_nulls, self.seed)

    @property
    def basis(self) -> str:
        """What a verdict rests on, in words."""
        return f"{self._seen}, densities of {N_NEIGHBORS} neighbours, {2 * self.n_nulls} tables without gaps"

    @property
    def _seen(self) -> str:
        """How many rows were looked at, in words."""
        seen = (
            f"{len(self.rows)} rows" if len(self.rows) == self.n_given else f"{len(self.rows)} of {self.n_given} rows"
        )
        return f"{seen}{told_without(self.n_zero)}"

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
            unit=_UNIT,
            interval=(math.nan, math.nan),
            p_value=math.nan,
            null=_NULL,
            false_positive_rate=alpha,
            rests_on=self._seen if few else self.basis,
            caution="" if self.succession is None else self.succession.told(ORDER_TELLS),
        )
        if few:
            return blank
        fall = self.fall(a, b, island=island, bridge=bridge)
        dip, whole, (a, b) = fall.value, (a[self.rows], b[self.rows]), (fall.a, fall.b)
        kinds = self.nulls.deepest(fall.n_least if n_least is None else n_least)
        p_value = max((1 + np.count_nonzero(kind >= dip)) / (1 + len(kind)) for kind in kinds)
        chance = max(kinds, key=np.median)
        center = float(np.median(chance))
        noise = float(-scipy.special.ndtri(alpha) * math.sqrt(scipy.special.polygamma(1, N_NEIGHBORS)))
        low = max(0.0, dip - max(center + noise, *(float(np.quantile(kind, 1.0 - alpha)) for kind in kinds)))
        high = max(low, dip - min(center - noise, float(np.quantile(chance, alpha))))
        limit = -math.log(bridge)
        line, sides, border = None, (a, b), None
        if not (p_value <= alpha and low >= limit):
            sides = a, _nearest_of(self.X, a, b) if island else b
            line = Line.of(self.X, *sides, self.seed)
        if line is None:
            answer, finding = "yes", "two groups"
        elif high < limit and (hidden := self._hidden(*sides, line, island, dip, limit, alpha)):
            answer, high = "cannot be told", math.inf
            finding = "a dip that may be a gap" if p_value <= alpha and hidden != _NARROW else hidden
        elif high < limit and (border := self._sharp_border(a, b, island, bridge, alpha)):
            answer, finding, high = "cannot be told", _SHARP, math.inf
        elif high < limit:
            answer, finding = "no", "a continuum with a dip" if p_value <= alpha else "one group"
        else:
            answer, finding = "cannot be told", "a dip that may be a gap" if p_value <= alpha else "no sure dip"
        estimate = max(0.0, dip - center)
        if answer == "yes":  # each part falls as deep: the groups do
            told = names
            more = _told_of_strays(fall.strays, whole, names) + self._of_columns(*whole, island, limit)
        else:
            told, more = (_part_of(first, whole[0], a), second if island else _part_of(second, whole[1], b)), ""
        if answer == "no" and not island:
            more = self._by_way_of_others(a, b, told, dip + noise)
        first = "it" if island and told[0] == names[0] and finding != _NARROW else told[0]
        advice = components_advice(int((self.X if self.wide is None else self.wide).shape[1]))
        in_order = line.in_order if line is not None and answer == "cannot be told" else None
        more += "" if border is None else _told_of_border(border)
        more += "" if in_order is None else _told_of_order(in_order, sides)
        sentence = _sentence(finding, first, told[1], (estimate, low, high), bridge, advice) + more
        return replace(
            blank,
            answer=answer,
            finding=finding,
            sentence=sentence,
            in_map=self._in_map(a, b, island, limit),
            statistic=estimate,
            interval=(low, high),
            p_value=float(p_value),
            told_apart=in_order,
        )

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
        narrow = _NARROW if line.is_crossed_by_few(bridge, N_NEIGHBORS, alpha) else ""
        if line.joins(bridge, alpha) and self._planted_lines(a, b).are_below(line.level, limit, alpha):
            return narrow
        sizes = int(np.count_nonzero(a)), int(np.count_nonzero(b))
        planted = _planted_dips(sizes, round(self.landscape.dimension), limit, island, self.n_nulls, self.seed)
        return narrow if dip < float(np.quantile(planted, alpha)) else "a gap might not be seen"

    @cached_property
    def _radii(self) -> Radii:
        """How far rows have to go for neighbours in a group."""
        return Radii(self.X)

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
        return (
            f" Rows of neither lie between: among those of {names[0]} and {names[1]} alone it falls to "
            f"{percent(math.exp(-alone))} %."
        )

    def _of_columns(self, a: Mask, b: Mask, island: bool, limit: float) -> str:
        """Say so where one column, or two or three, make the gap; of very many none is named."""
        if self.wide is not None:
            return ""

        def is_gap(rest: Floats) -> bool:
            return fall_between(Landscape.of(rest), a, b, island=island, limit=limit).value >= limit

        named = columns_of_gap(self.X, a, b, self.columns, is_gap)
        if not named:
            return ""
        which = f"{named[0]} alone" if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]} alone"
        return f" It is that of {which}: without {'this column' if len(named) == 1 else 'these columns'} none is seen."

    def _in_map(self, a: Mask, b: Mask, island: bool, limit: float) -> str | None:
        """Return what the map alone would say."""
        if self.Y is None:
            return None
        placed = has_place(self.Y)
        a, b = a[placed], b[placed]
        if min(np.count_nonzero(a), np.count_nonzero(b)) < FEWEST_ROWS:
            return None
        return "yes" if fall_between(self.map_landscape, a, b, island=island, limit=limit).value >= limit else "no"


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


def _told_of_border(border: Border) -> str:
    """Say how few rows lie at a border, and what would tell."""
    count = "none is" if border.between == 0 else "1 is" if border.between == 1 else f"{border.between} are"
    return (
        f" ({count}, for {border.peak} beside). Density differs too much with the place to find or deny a gap: ask "
        "of a table where it differs less, such as logarithms of counts divided by their totals."
    )


def _told_of_order(in_order: float, sides: tuple[Mask, Mask]) -> str:
    """Say how well a line tells held-out rows apart, and that this says nothing of a gap."""
    first, second = (int(np.count_nonzero(side)) for side in sides)
    return (
        f" A line tells held-out rows of the two ({first} and {second}) apart in {100.0 * in_order:.3g} % of pairs "
        "(chance: 50 %), as it may halves of a continuum."
    )


def _part_of(name: str, rows: Mask, part: Mask) -> str:
    """Return what a part of a group is called: the group itself if it is as good as all of it."""
    share = np.count_nonzero(part) / np.count_nonzero(rows)
    return name if share > _ALL else f"{percent(share)} % of {name}"


def _told_of_strays(strays: tuple[int, int], groups: tuple[Mask, Mask], names: tuple[str, str]) -> str:
    """Say which share of a group lies in the other's cloud, where it is more than one in fifty."""
    told = [
        f"{percent(share)} % of {name} lies in one cloud with {other}"
        for count, rows, name, other in zip(strays, groups, names, names[::-1], strict=True)
        if (share := count / np.count_nonzero(rows)) > _STRAYS
    ]
    return f" But {' and '.join(told)}." if told else ""


def _sentence(
    finding: str, first: str, second: str, dip: tuple[float, float, float], bridge: float, advice: str
) -> str:
    estimate, low, high = (percent(math.exp(-value)) for value in dip)
    figures = f"{estimate} % [{high} %, {low} %]" if math.isfinite(dip[2]) else f"between 0 % and {low} %"
    share = f"{figures} of that of the sparser of the two"
    between = f"Between {first} and {second} the density that {N_NEIGHBORS} neighbours tell falls to {share}"
    if finding == "two groups":
        return f"{between}: a gap."
    if finding == "one group":
        return f"Rows lie between {first} and {second} as densely as in one cloud: the data have no gap there."
    if finding == "a continuum with a dip":
        return f"{between}: thinner, but above {100 * bridge:g} % and so joined."
    if finding == "a gap might not be seen":
        return (
            f"No gap is seen between {first} and {second}, but so few rows in so many dimensions might not show one "
            f"where density falls to {100 * bridge:g} %: {advice}, or find clusters."
        )
    if finding == _SHARP:
        return (
            f"Between {first} and {second} a path leads through places as dense, but there they come near each other "
            "without mixing: hardly any row is as near to one side as to the other"
        )
    if finding == _NARROW:
        return (
            f"Along the line that tells {first} and {second} apart best hardly any row lies at one place between. The "
            f"{N_NEIGHBORS} neighbours of a density reach over it, so that a narrow gap is neither seen nor denied: "
            "more rows would tell, or a table of fewer columns."
        )
    reason = f"on both sides of {100 * bridge:g} %" if finding == "a dip that may be a gap" else "as chance alone may"
    return f"{between}, {reason}: more rows would tell."


@entrance("are_apart", seeded=True)
def are_apart(
    X: Any,
    Y: Any,
    a: Any,
    b: Any,
    *,
    metric: str = "euclidean",
    bridge: float = BRIDGE,
    alpha: float = 0.05,
    max_rows: int = 1000,
    n_nulls: int = 99,
    names: tuple[str, str] = ("A", "B"),
    columns: Any = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Verdict:
    """Say whether two groups of rows, chosen in a map or otherwise, are apart in the data.

    They are apart if every path from the core of one to that of the other, by steps from row to row, crosses a place
    whose density is below `bridge` times that of the sparser core. Straight lines play no part: rings around each other
    are apart. The map only chooses the question.

    A group may hold several clouds, as the rest of a map does beside an island. Where as many rows of one as an eighth
    of the smaller group, and at least 15, lie in clouds of the other, these clouds decide, and the sentence says which
    shares of the groups they hold. Fewer rows, more than a fiftieth of a group, are told beside a gap. Groups whose
    clouds are all apart are, in whatever order these join; the fall told is that between the two that come nearest.

    The p-value compares the fall of density with the deepest one anywhere in tables without gaps, between any parts of
    as many rows: normal clouds with the covariance of the data, and tables of even density in as many dimensions as
    the data have locally; the larger p-value counts. So it holds for groups chosen by eye, whatever the
    choice. The interval is that of the fall as 15 neighbours tell it among as many rows. It is none of the density at a
    place, nor of a barrier of free energy, which it may miss on either side; see Notes.

    "No" is answered where a gap would have been seen. Either rows of both groups lie between them along the line that
    tells them apart best, and more of them than in tables of the same rows with a planted gap, whose line must tell. Or
    gaps planted between normal clouds of as many rows, in as many dimensions as the data have locally, show a deeper
    dip. Both hold but for `alpha` of tables. Else it cannot be told, and the interval has no upper end. Nor can it
    where hardly any row lies at one place along that line: a gap there is too narrow for densities of neighbours. Nor
    where surely fewer rows, and fewer than `bridge`, are as near to a group as to all other rows than lie beside that
    border: groups may meet without mixing in a place far denser than the rest of them.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), at least 60 rows
        The data that were mapped.
    Y : array-like of shape (n_samples, n_components), or None
        The map: what it alone would say is told beside the verdict, and has no part in it.
    a, b : array-like
        Row numbers, or masks of shape (n_samples,), without common rows. A group of fewer than 30 rows cannot be told.
    metric : {"euclidean", "cosine", "haversine"} or "periodic(...)", default="euclidean"
        Distances in the data. Rows of zeros have no direction and are left out under the cosine. Columns with a period,
        such as "periodic(360)", are circles as long as the period, and places of "haversine" points of a sphere, whose
        chords are the distances: so there is no seam.
    bridge : float in (0, 1), default=0.25
        From which share of the sparser core's density on two groups count as joined.
    alpha : float in (0, 0.5), default=0.05
        How often "yes" may be answered where there is no gap.
    max_rows : int >= 60, default=1000
        Rows looked at: a random sample of more. Time and memory grow with its square.
    n_nulls : int >= 19, default=99
        Tables without gaps, of each of both kinds. No p-value is below 1 / (n_nulls + 1).
    names : tuple of two str, default=("A", "B")
        What the groups are called in the answer.
    columns : mapping of str to numbers of features, default=None
        The features of each column of the table by its name, such as all indicators of a category. Where up to three of
        them make a gap, the answer names them: each helps to tell its sides apart, and without them there is none.
        Features of none count by themselves, as all do for None; {} names none. Only under "euclidean".
    random_state : int, Generator, RandomState or None, default=0
        Chooses sample and tables.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Verdict
        Its statistic is the fall of log density. `finding` is "two groups", "a continuum with a dip", "one group", or
        what keeps it from being told; then `told_apart` says how well a line tells held-out rows of the two apart,
        which is another question. Rows are taken as independent; `caution` says so where those that follow each
        other in the table are alike, as frames of a trajectory are.

    Raises
    ------
    ValueError
        If X, Y and the groups differ in rows, a row is in both groups, or `names` are not two.

    Notes
    -----
    The statistic is the logarithm of the distances to the 15th neighbour at the saddle over those at the lower peak,
    times one dimension for both, less the median fall of the tables without gaps. The interval has the width of the
    falls of these tables, or of the noise of one density where that is more.

    That is not the fall of the density itself. Where few rows lie between, 15 neighbours reach over to both sides, and
    what chance makes deepest anywhere is taken off: both make the figure too low. Columns of noise make it too high:
    near the peaks neighbours lie in all columns, at the saddle, where they are farther, in fewer, but the dimension of
    the whole table counts for both. For a rotor of 1,000 rows, in cosine and sine, whose barrier is 4 kT the statistic
    is 2.4, with three columns of noise of 0.1 beside them 5.2, and hardly any interval holds 4. What is held is the
    median of the statistic of such tables: each end missed it in 0 to 5 of 40 draws of eleven kinds of tables (rotors,
    and two normal clouds in 2 to 10 columns).

    References
    ----------
    .. [1] Chazal, Guibas, Oudot & Skraba, "Persistence-based clustering in Riemannian manifolds", J. ACM 60, 2013.
    .. [2] Campello, Moulavi & Sander, "Density-based clustering based on hierarchical density estimates", PAKDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import are_apart
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> X[:100, 0] += 12
    >>> are_apart(X, None, range(100), range(100, 200), n_nulls=19).answer
    'yes'
    """
    one, other = check_names(names, 2)
    options = {"metric": metric, "bridge": bridge, "alpha": alpha, "max_rows": max_rows, "n_nulls": n_nulls}
    checked, ground = _prepare(X, Y, columns, options)
    first, second = check_groups(ground.n_given, a=a, b=b)
    return ground.judge(first, second, (one, other), island=False, bridge=checked["bridge"], alpha=checked["alpha"])


@entrance("is_real", seeded=True)
def is_real(
    X: Any,
    Y: Any,
    island: Any,
    *,
    metric: str = "euclidean",
    bridge: float = BRIDGE,
    alpha: float = 0.05,
    max_rows: int = 1000,
    n_nulls: int = 99,
    name: str = "the island",
    columns: Any = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Verdict:
    """Say whether an island of a map is a group of its own in the data: apart from all other rows.

    It is judged as `are_apart` judges two groups; the other is whatever comes nearest of the rest.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), at least 60 rows
        The data that were mapped.
    Y : array-like of shape (n_samples, n_components), or None
        The map, for what it alone would say.
    island : array-like
        Row numbers, or a mask of shape (n_samples,); not all rows.
    metric : {"euclidean", "cosine", "haversine"} or "periodic(...)", default="euclidean"
        Distances in the data. Rows of zeros have no direction and are left out under the cosine. Columns with a period,
        such as "periodic(360)", are circles as long as the period, and places of "haversine" points of a sphere, whose
        chords are the distances: so there is no seam.
    bridge : float in (0, 1), default=0.25
        From which share of the sparser core's density on it counts as joined.
    alpha : float in (0, 0.5), default=0.05
        How often "yes" may be answered where there is no gap.
    max_rows : int >= 60, default=1000
        Rows looked at: a random sample of more.
    n_nulls : int >= 19, default=99
        Tables without gaps, of each of both kinds.
    name : str, default="the island"
        What the island is called in the answer.
    columns : mapping of str to numbers of features, default=None
        The features of each column of the table by its name, such as all indicators of a category. Where up to three of
        them make a gap, the answer names them: each helps to tell its sides apart, and without them there is none.
        Features of none count by themselves, as all do for None; {} names none. Only under "euclidean".
    random_state : int, Generator, RandomState or None, default=0
        Chooses sample and tables.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Verdict

    Raises
    ------
    ValueError
        If X, Y and the island differ in rows, or the island holds all rows.
    """
    options = {"metric": metric, "bridge": bridge, "alpha": alpha, "max_rows": max_rows, "n_nulls": n_nulls}
    checked, ground = _prepare(X, Y, columns, options)
    (mask,) = check_groups(ground.n_given, island=island)
    if mask.all():
        raise ValueError(message("island with all rows", "a part of the rows"))
    return ground.judge(mask, ~mask, (name, "the rest"), island=True, bridge=checked["bridge"], alpha=checked["alpha"])


@entrance("is_continuum", seeded=True)
def is_continuum(X: Any, Y: Any, a: Any, b: Any, *, names: tuple[str, str] = ("A", "B"), **options: Any) -> Verdict:
    """Say whether two groups of rows are parts of one continuum, or two groups.

    The same judgement as `are_apart`, asked the other way: "yes" where the data go on from one to the other, evenly
    ("one group") or through a thinner place ("a continuum with a dip"), "no" where there is a gap ("two groups").

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), at least 60 rows
        The data that were mapped.
    Y : array-like of shape (n_samples, n_components), or None
        The map, for what it alone would say.
    a, b : array-like
        Row numbers, or masks of shape (n_samples,), without common rows.
    names : tuple of two str, default=("A", "B")
        What the groups are called in the answer.
    **options
        Further arguments of `are_apart`. Its `alpha` is how often "no" may be answered where there is no gap.

    Returns
    -------
    Verdict

    Raises
    ------
    ValueError
        If X, Y and the groups differ in rows, a row is in both groups, or `names` are not two.
    """
    one, other = check_names(names, 2)
    found = are_apart(X, Y, a, b, names=(one, other), **options)
    turned = {"yes": "no", "no": "yes"}
    return replace(
        found,
        question=f"Are {one} and {other} one continuum?",
        answer=turned.get(found.answer, found.answer),
        in_map=None if found.in_map is None else turned[found.in_map],
    )


def _prepare(X: Any, Y: Any, columns: Any, options: dict[str, Any]) -> tuple[dict[str, Any], Ground]:
    """Check what is common to the questions."""
    checked = check_parameters({name: RULES[name] for name in options}, options)
    size = {name: checked[name] for name in ("metric", "max_rows", "n_nulls")}
    return checked, Ground.of(X, Y, seed=current_run().seed, ordered=True, columns=columns, **size)
