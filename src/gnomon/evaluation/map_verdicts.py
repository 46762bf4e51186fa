"""`judge_gaps`: verdicts on the gaps that a map shows, between its classes and around its islands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import Printed
from gnomon._random import RandomState
from gnomon._run import current_run, running
from gnomon._validation import Integer, Rule, check_parameters, message
from gnomon.data.dataset import listed
from gnomon.data.labels import Classes, check_labels, sort_into_classes
from gnomon.evaluation.gaps.clumps import Clumps
from gnomon.evaluation.gaps.falls import BRIDGE, FEWEST_ROWS
from gnomon.evaluation.gaps.judgement import Ground
from gnomon.evaluation.gaps.saddles import N_NEIGHBORS
from gnomon.evaluation.groups import RULES
from gnomon.evaluation.paths import straight_distances
from gnomon.evaluation.verdict import Verdict
from gnomon.evaluation.words import percent
from gnomon.geometry.check import check_places, has_place
from gnomon.neighbors import compute_neighbors, graph_components

__all__ = ["MapVerdicts", "judge_gaps"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Question = tuple[Mask, Mask, tuple[str, str], bool]  # two groups, what they are called, whether the first is an island

_RULES: dict[str, Rule] = {**RULES, "n_pairs": Integer(0), "n_islands": Integer(0)}
_TOGETHER = "over all of these questions together, as p-values compare with the deepest dip anywhere"
_MOSTLY = 0.5  # share of an island's rows that a class must have to be named


@dataclass(frozen=True)
class MapVerdicts(Sequence[Verdict], Printed):
    """Verdicts on several things that one map shows; a sequence of them.

    Attributes
    ----------
    verdicts : list of Verdict
    about : str
        What they are about, as a heading.
    together : str
        How false alarms are held down over all of them: of gaps where there is none, or of illusions where a map is
        right.
    left_out : str
        Classes that no verdict is about because of their rows, and what can be done; empty if there are none.
    caution : str
        Of a map, what the order of its rows says against the verdicts, which are of independent rows, and what they
        leave out, such as weights of rows that made the map; empty if nothing.
    clumps : Clumps or None
        Of gaps, parts of the map that are too small for a verdict, with as many as the data have.
    """

    verdicts: list[Verdict]
    about: str
    together: str
    left_out: str = ""
    caution: str = ""
    clumps: Clumps | None = None

    def __len__(self) -> int:
        return len(self.verdicts)

    def __getitem__(self, which: Any) -> Any:
        return self.verdicts[which]

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    @property
    def illusions(self) -> list[Verdict]:
        """Those where the map alone would have said otherwise."""
        return [one for one in self.verdicts if one.is_illusion]

    @property
    def worst(self) -> list[Verdict]:
        """The illusions, those of the largest statistics first."""
        return sorted(self.illusions, key=lambda one: -abs(one.statistic))

    @property
    def told_of_clumps(self) -> str:
        """What is to be said of parts of the map too small for a verdict; empty if nothing."""
        return "" if self.clumps is None else self.clumps.sentence

    @property
    def footing(self) -> str:
        """What the verdicts rest on, how often they are false alarms, and what was left out; empty of none."""
        if not self.verdicts:
            return self.left_out
        first = self.verdicts[0]
        rate = f"at most {100 * first.false_positive_rate:g} %"
        return f"False alarms: {rate}, {self.together}. Judged on {first.rests_on}. {self.left_out}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values."""
        told = [one.to_dict() for one in self.verdicts]
        cautioned = {"caution": self.caution} if self.caution else {}
        clumped = {"clumps": self.told_of_clumps} if self.told_of_clumps else {}
        return {"about": self.about, "verdicts": told, "together": self.together, **cautioned, **clumped}

    def summary(self) -> str:
        """Return a line for each verdict, and one on what they rest on."""
        if not self.verdicts:
            return f"{self.told_of_clumps or 'The map shows no gap.'} {self.left_out}".rstrip()
        return "\n".join([*(one.line for one in self.verdicts), self.footing, *filter(None, [self.told_of_clumps])])

    def __str__(self) -> str:
        return "\n".join([self.about, self.summary(), *filter(None, [self.caution])])


@entrance("judge_gaps", seeded=True)
def judge_gaps(
    X: Any,
    Y: Any,
    labels: Any = None,
    *,
    n_pairs: int = 5,
    n_islands: int = 3,
    metric: str = "euclidean",
    bridge: float = BRIDGE,
    alpha: float = 0.05,
    max_rows: int = 1000,
    n_nulls: int = 39,
    columns: Any = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> MapVerdicts:
    """Judge the gaps that a map shows: between classes that lie nearest to each other in it, and around its islands.

    Each is judged in the data as `are_apart` and `is_real` do, on the same rows and beside the same tables without
    gaps. A p-value compares with the deepest dip anywhere in these tables, between any parts of as many rows as the
    smallest group asked about. So `alpha` bounds the chance that any of the verdicts claims a gap in such a table,
    however many are asked (the distribution of the maximum [1]_).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), at least 60 rows
        The data that were mapped.
    Y : array-like of shape (n_samples, n_components)
        The map: it chooses the questions. A row of NaN has no place in it.
    labels : array-like of shape (n_samples,), default=None
        A class for each row; None asks about islands alone.
    n_pairs : int >= 0, default=5
        Pairs of classes asked about, those nearest to each other in the map: by the distance at which half of the rows
        of one have a row of the other.
    n_islands : int >= 0, default=3
        Islands asked about, of the deepest gaps of the map, if they are gaps: falls of density below `bridge`. And as
        many small ones, of 30 rows and more but fewer than 30 of a sample, which are pieces of the graph of 15
        neighbours of the map; each is judged on its rows and those nearest to it, `alpha` shared by them.
    metric : {"euclidean", "cosine", "correlation", "hellinger", "haversine"} or "periodic(...)", default="euclidean"
        Distances in the data: of directions those of rows of length 1, centred under "correlation", roots of shares
        under "hellinger". Rows of zeros have no direction and are left out under the cosine and "hellinger". Columns
        with a period, such as "periodic(360)", are circles as long as the period, and places of "haversine" points of a
        sphere, whose chords are the distances: so there is no seam.
    bridge : float in (0, 1), default=0.25
        From which share of the sparser core's density on two groups count as joined.
    alpha : float in (0, 0.5), default=0.05
        How often a gap may be claimed, of all asked about together, where there is none.
    max_rows : int >= 60, default=1000
        Rows looked at: a random sample of more. Classes of fewer than 30 of them are left out.
    n_nulls : int >= 19, default=39
        Tables without gaps, of each of both kinds.
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
    MapVerdicts
        Of pairs of classes, nearest first, then of islands, deepest gap first, then of small ones, largest first.

    Raises
    ------
    ValueError
        If X, Y and labels differ in rows, or fewer than 60 rows have a place in the map.

    References
    ----------
    .. [1] Westfall & Young, "Resampling-based multiple testing", 1993, section 2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import judge_gaps
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> X[:100, 0] += 12
    >>> found = judge_gaps(X, X[:, :2], np.repeat(["a", "b"], 100), n_nulls=19)
    >>> [verdict.answer for verdict in found][:1]
    ['yes']
    """
    given = {"n_pairs": n_pairs, "n_islands": n_islands, "metric": metric, "bridge": bridge, "alpha": alpha}
    given |= {"max_rows": max_rows, "n_nulls": n_nulls}
    checked = check_parameters({name: _RULES[name] for name in given}, given)
    size = {name: checked[name] for name in ("metric", "max_rows", "n_nulls")}
    ground = Ground.of(X, Y, seed=current_run().seed, placed=True, columns=columns, **size)
    if ground.Y is None:
        raise ValueError(message("Y=None", "a map", remedy="Ask are_apart about groups of your own."))
    classes = None if labels is None else sort_into_classes(check_labels(labels, ground.n_given))
    asked = _islands(ground, classes, checked["n_islands"], -math.log(checked["bridge"]))
    if classes is not None:
        asked = _nearest_pairs(ground, classes, checked["n_pairs"]) + asked
    bridge = checked["bridge"]
    least = min((ground.fall(a, b, island=island, bridge=bridge).n_least for a, b, _, island in asked), default=1)
    options = {"bridge": bridge, "alpha": checked["alpha"], "n_least": least}
    found = [ground.judge(a, b, names, island=island, **options) for a, b, names, island in asked]
    small = _small_islands(ground, check_places(Y, ground.n_given), checked["n_islands"], checked["max_rows"])
    for island in small:
        size["n_nulls"] = (checked["n_nulls"] + 1) * len(small) - 1  # p-values as far below the rate
        around = Ground.of(X, Y, seed=current_run().seed, placed=True, columns=columns, around=island, **size)
        names = (_called(around, np.flatnonzero(island), classes), "the rest")
        rate = checked["alpha"] / len(small)
        found.append(around.judge(island, ~island, names, island=True, bridge=bridge, alpha=rate))
    left_out = "" if classes is None else _classes_left_out(ground, classes, checked["max_rows"])
    return MapVerdicts(
        found, "Gaps in the map, judged in the data", _TOGETHER, left_out, clumps=Clumps.of(ground, bridge)
    )


def _classes_left_out(ground: Ground, classes: Classes, max_rows: int) -> str:
    """Say which classes have too few rows in the sample, and which too few whatever is sampled."""
    given, seen = (
        np.bincount(codes[codes >= 0], minlength=len(classes)) for codes in (classes.codes, classes.codes[ground.rows])
    )
    most = given if len(ground.rows) >= max_rows else seen  # without a sample, no more rows can be looked at
    told = []
    if rare := [classes.names[at] for at in np.flatnonzero((most >= FEWEST_ROWS) & (seen < FEWEST_ROWS))]:
        told.append(
            f"Left out are classes of fewer than {FEWEST_ROWS} of the {len(ground.rows):,} rows looked at: "
            f"{listed(rare)}. Raise max_rows."
        )
    if few := [classes.names[at] for at in np.flatnonzero(most < FEWEST_ROWS)]:
        told.append(
            f"Too few to judge, and left out, are classes of fewer than {FEWEST_ROWS} rows that have a place: "
            f"{listed(few)}."
        )
    return " ".join(told)


def _nearest_pairs(ground: Ground, classes: Classes, n_pairs: int) -> list[Question]:
    """Return the pairs of classes that are nearest to each other in the map."""
    assert ground.Y is not None
    codes = classes.codes[ground.rows]
    members = [np.flatnonzero(codes == code) for code in range(len(classes.names))]
    enough = [code for code, rows in enumerate(members) if len(rows) >= FEWEST_ROWS]
    distances = straight_distances(ground.Y)
    ranked = []
    for place, i in enumerate(enough):
        for j in enough[place + 1 :]:
            between = distances[np.ix_(members[i], members[j])]
            ranked.append((min(float(np.median(between.min(axis=side))) for side in (0, 1)), i, j))
    return [
        (classes.codes == i, classes.codes == j, (classes.names[i], classes.names[j]), False)
        for _, i, j in sorted(ranked)[:n_pairs]
    ]


def _islands(ground: Ground, classes: Classes | None, n_islands: int, limit: float) -> list[Question]:
    """Return the smaller sides of the deepest gaps of the map, and all other rows."""
    landscape = ground.map_landscape
    smaller, falls = landscape.dips()
    deepest = [at for at in np.argsort(-falls, kind="stable") if smaller[at] >= FEWEST_ROWS and falls[at] >= limit]
    found = []
    for at in sorted(deepest[:n_islands], key=lambda at: -falls[at]):
        sides = [landscape.members(part) for part in landscape.merges[at][:2]]
        rows = ground.rows[min(sides, key=len)]
        island = np.zeros(ground.n_given, dtype=np.bool_)
        island[rows] = True
        rest = np.zeros(ground.n_given, dtype=np.bool_)
        rest[np.setdiff1d(ground.rows, rows)] = True
        found.append((island, rest, (_called(ground, rows, classes), "the rest"), True))
    return found


def _small_islands(ground: Ground, Y: Floats, n_islands: int, max_rows: int) -> list[Mask]:
    """Return islands of the map that a sample holds too few rows of: by themselves in all of the map, largest first.

    They are pieces of the graph of 15 neighbours: no row of one is near any other row.
    """
    placed = np.flatnonzero(has_place(Y))
    if n_islands == 0 or len(ground.rows) < max_rows or len(placed) <= max_rows:
        return []
    with running(warned=[]):  # that the graph falls apart is what is asked
        piece = graph_components(compute_neighbors(Y[placed], N_NEIGHBORS))
    seen = np.isin(placed, ground.rows)
    sizes, held = np.bincount(piece), np.bincount(piece[seen], minlength=int(piece.max()) + 1)
    few = np.flatnonzero((sizes >= FEWEST_ROWS) & (held < FEWEST_ROWS))
    found = []
    for one in few[np.argsort(-sizes[few], kind="stable")][:n_islands]:
        island = np.zeros(ground.n_given, dtype=np.bool_)
        island[placed[piece == one]] = True
        found.append(island)
    return found


def _called(ground: Ground, rows: npt.NDArray[np.int64], classes: Classes | None) -> str:
    """Return what an island is called: by its share of the rows, its place and its commonest class."""
    assert ground.Y is not None
    place = ", ".join(f"{one:.3g}" for one in np.median(ground.Y[np.isin(ground.rows, rows)], axis=0))
    share = len(rows) / (ground.n_given if ground.near else len(ground.rows))
    text = f"the island at ({place}; {percent(share)} % of the rows"
    if classes is None:
        return f"{text})"
    counts = np.bincount(classes.codes[rows][classes.codes[rows] >= 0], minlength=len(classes.names))
    if counts.max(initial=0) < _MOSTLY * len(rows):
        return f"{text}, of several classes)"
    return f"{text}, mostly {classes.names[int(counts.argmax())]})"
