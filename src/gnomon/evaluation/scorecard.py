"""`scorecard`: every measure of a map, sorted by the four qualities, with intervals, chance levels and curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._optional import import_optional
from gnomon._printed import Printed
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Either, Integer, Nothing, Real, Rule, check_parameters
from gnomon.evaluation.anchors import rests_on
from gnomon.evaluation.measures import MEASURES, QUALITIES, Measure, check_measures
from gnomon.evaluation.pairs import ShepardDiagram
from gnomon.evaluation.subject import Subject
from gnomon.evaluation.taking import Taking
from gnomon.neighbors import NeighborGraph

__all__ = ["Curves", "Score", "Scorecard", "scorecard"]

Floats = npt.NDArray[np.float64]

_RULES: dict[str, Rule] = {
    "n_neighbors": Either(Integer(1), Nothing()),
    "n_anchors": Either(Integer(2), Nothing()),
    "n_pairs": Either(Integer(1), Nothing()),
    "confidence": Real(0.0, 1.0, low_open=True, high_open=True),
}


@dataclass(frozen=True)
class Score:
    """One measure of a map.

    Attributes
    ----------
    measure : Measure
        Its name, quality, definition, source, range, and which values are better.
    value : float
        nan where it is undefined for these rows.
    interval : tuple of (low, high), or None
        Holds the value of all rows at the confidence of the scorecard; None if the value is exact, or if an interval
        is not known.
    chance : float or None
        What a map that knows nothing of the data is expected to get; None if that is not defined.
    n_rows : int
        Rows that the value rests on.
    n_pairs : int or None
        Pairs or triplets of rows that it rests on, where it is about these.
    exact : bool
        Whether it rests on all there are.
    by_row : ndarray of shape (n_rows,), float64, or None
        What the value is the mean of, one number for each row that it rests on, by row number; NaN for a row that does
        not count. None if it is no mean over rows.
    """

    measure: Measure
    value: float
    interval: tuple[float, float] | None
    chance: float | None
    n_rows: int
    n_pairs: int | None
    exact: bool
    by_row: Floats | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Name of the measure."""
        return self.measure.name

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values."""
        one = self.measure
        low, high = self.interval or (None, None)
        return {
            "quality": one.quality,
            "value": self.value,
            "low": low,
            "high": high,
            "chance": self.chance,
            "best": one.best,
            "direction": one.direction,
            "n_rows": self.n_rows,
            "n_pairs": self.n_pairs,
            "exact": self.exact,
            "definition": one.definition,
            "source": one.source,
        }


@dataclass(frozen=True)
class Curves:
    """Measures over sizes of neighbourhoods.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,), int64
        Numbers of neighbours k, ascending: every one of few rows, else about a hundred.
    q_nx, r_nx : ndarray of shape (n_sizes,), float64
        Share of common neighbours, and beyond chance.
    trustworthiness, continuity : ndarray of shape (n_sizes,), float64
        NaN from n / 2 neighbours on.
    mrre_false, mrre_missing : ndarray of shape (n_sizes,), float64
        1 - the mean relative rank errors.
    half_widths : dict of str to ndarray of shape (n_sizes,), float64
        Half of the interval of each of them at each size; 0 where all rows are looked at.
    """

    sizes: npt.NDArray[np.int64]
    q_nx: Floats
    r_nx: Floats
    trustworthiness: Floats
    continuity: Floats
    mrre_false: Floats
    mrre_missing: Floats
    half_widths: dict[str, Floats] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as lists; None for NaN."""
        columns = {name: getattr(self, name) for name in ("sizes", *self.half_widths)}
        return {name: [v if v == v else None for v in column.tolist()] for name, column in columns.items()}


@dataclass(frozen=True)
class Scorecard(Printed, Mapping[str, Score]):
    """All measures taken of a map; a mapping from their names to scores.

    Attributes
    ----------
    scores : dict of str to Score
    skipped : dict of str to str
        Why a measure that was asked for could not be taken.
    curves : Curves or None
        None where no measure that was asked for looks at the ranks of all rows; so are `shepard` and `local_size`.
    shepard : ShepardDiagram or None
        Distances of some pairs in data and map.
    n_samples, n_anchors, n_neighbors, n_left_out : int
        Rows in the map, rows whose ranks against all rows were found, size of the neighbourhoods, and rows without a
        place in the map, which take no part.
    local_size : int or None
        Size of the neighbourhoods up to which `q_local` looks.
    confidence : float
        Of the intervals.
    random_state : int
        Seed of all samples.
    caution : str, default=""
        What the order of the rows says against their dimension and measures of labels, where these were asked for, and
        what the scores leave out, such as weights of rows that made the map; empty if nothing.
    """

    scores: dict[str, Score]
    skipped: dict[str, str]
    curves: Curves | None = field(repr=False)
    shepard: ShepardDiagram | None = field(repr=False)
    n_samples: int
    n_anchors: int
    n_neighbors: int
    n_left_out: int
    local_size: int | None
    confidence: float
    random_state: int
    caution: str = ""

    def __getitem__(self, name: str) -> Score:
        return self.scores[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def by_quality(self) -> dict[str, dict[str, Score]]:
        """Return the scores sorted by quality, a key of `gnomon.evaluation.QUALITIES`; only qualities with scores."""
        found = {
            quality: {name: one for name, one in self.items() if one.measure.quality == quality}
            for quality in QUALITIES
        }
        return {quality: scores for quality, scores in found.items() if scores}

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the Shepard diagram, with plain Python values."""
        counts = ["n_samples", "n_anchors", "n_neighbors", "n_left_out", "local_size", "confidence", "random_state"]
        return {
            "scores": {name: one.to_dict() for name, one in self.items()},
            "skipped": dict(self.skipped),
            "curves": None if self.curves is None else self.curves.to_dict(),
            **{name: getattr(self, name) for name in counts},
            "caution": self.caution,
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each measure and the columns of `Score.to_dict`.

        Raises
        ------
        MissingDependencyError
            If pandas cannot be imported.
        """
        pandas = import_optional("pandas", package="pandas", extra="frames")
        return pandas.DataFrame.from_dict({name: one.to_dict() for name, one in self.items()}, orient="index")

    def summary(self) -> str:
        """Return the scores by quality, beside their intervals and chance levels, and what they rest on."""
        lines = [f"{'':28}{'value':>9}  {'interval':19}{'chance':>7}  best"]
        for quality, scores in self.by_quality().items():
            lines.append(QUALITIES[quality])
            lines += [_line(one) for one in scores.values()]
        for reason in dict.fromkeys(self.skipped.values()):
            names = [name.replace("_", " ") for name, why in self.skipped.items() if why == reason]
            lines.append(f"left out: {', '.join(names)} ({reason})")
        lines += [self.caution] if self.caution else []
        lines += rests_on(self, f"intervals of {100 * self.confidence:g} %")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


def _line(one: Score) -> str:
    interval = "exact" if one.exact else "" if one.interval is None else "[{:.3f}, {:.3f}]".format(*one.interval)
    chance = "" if one.chance is None else f"{one.chance:.3f}"
    best = "-" if one.measure.best is None else f"{one.measure.best:g}"
    return f"  {one.name.replace('_', ' '):26}{one.value:9.3f}  {interval:19}{chance:>7}  {best:>4}"


@entrance("scorecard", seeded=True)
def scorecard(
    X: Any,
    Y: Any,
    labels: Any = None,
    *,
    metric: str = "euclidean",
    n_neighbors: int | None = None,
    graph: NeighborGraph | None = None,
    measures: str | Sequence[str] = "all",
    n_anchors: int | None = None,
    n_pairs: int | None = 2_000_000,
    confidence: float = 0.95,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Scorecard:
    """Take every measure of a map of the data, made anywhere.

    Up to 5000 rows the ranks of all rows are compared and most measures are exact. Of more rows 2000 random ones,
    the anchors, are compared with all rows, and each measure comes with an interval that holds its exact value at the
    stated confidence.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data; square distances for ``metric="precomputed"``.
    Y : array-like of shape (n_samples, n_components)
        The map. Rows with NaN are left out and counted.
    labels : array-like of shape (n_samples,), default=None
        Classes, for the measures that ask whether these keep together, or dates, fractions of more than twelve distinct
        values, or whole numbers such as ages for `knn_r2`: many of few rows each, or close to each other, that do not
        count from 0 or 1. None, NaN or an empty text where a row has no label.
    metric : str, default="euclidean"
        Metric in the data: "euclidean", "cosine", "precomputed" or one of scikit-learn's. In the map it is Euclidean.
    n_neighbors : int >= 1, below n_samples / 2, or None, default=None
        Size of the neighbourhoods, the row itself not counted. None takes 15, and of fewer than 31 rows in the map the
        most that is allowed.
    graph : NeighborGraph of n_samples rows, default=None
        Neighbours in the data. With it `neighborhood_preservation` covers all rows, otherwise the anchors.
    measures : "all", a name or a sequence of names, default="all"
        Names as in `gnomon.evaluation.MEASURES`. Only what these need is found: distance consistency alone takes no
        ranks, and then there are no curves and no Shepard diagram.
    n_anchors : int >= 2 or None, default=None
        Rows whose ranks against all rows are found: all up to 5000 rows by default, else 2000 random ones. As many as
        there are rows makes every measure of ranks exact.
    n_pairs : int >= 1 or None, default=2_000_000
        Pairs that `shepard`, `non_metric_stress` and the Shepard diagram rest on, about, if there are more. None takes
        all pairs where all rows are anchors, and else draws n - 1 of each anchor.
    confidence : float in (0, 1), default=0.95
        Of the intervals.
    random_state : int, Generator, RandomState or None, default=0
        Chooses all samples; the seed is stored in the result.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Scorecard

    Raises
    ------
    ValueError
        If X, Y and labels differ in rows, a measure does not exist, or neighbourhoods are too large.

    See Also
    --------
    gnomon.evaluate : Six of the measures, with the scores of single points.

    References
    ----------
    .. [1] Jeon, Cho, Jang, Lee, Hong, Ko, Jo & Seo, "ZADU: a Python library for evaluating the reliability of
       dimensionality reduction embeddings", IEEE VIS 2023. Each score names its own source.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import scorecard
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> round(scorecard(X, 3 * X, measures="stress")["stress"].value, 6)
    0.0
    """
    given = {"n_neighbors": n_neighbors, "n_anchors": n_anchors, "n_pairs": n_pairs, "confidence": confidence}
    checked = check_parameters(_RULES, given)
    names = check_measures(measures)
    subject = Subject.of(X, Y, labels, graph, checked["n_neighbors"], metric)
    taking = Taking(
        subject,
        metric=metric,
        graph=graph,
        n_anchors=checked["n_anchors"],
        n_pairs=checked["n_pairs"],
        confidence=checked["confidence"],
        seed=current_run().seed,
    )
    scores, skipped = {}, {}
    for name in names:
        taken = taking.take(name)
        if isinstance(taken, str):
            skipped[name] = taken
            continue
        interval = taken.estimate.interval
        if interval is not None:
            low, high = (float(np.clip(end, MEASURES[name].low, MEASURES[name].high)) for end in interval)
            interval = (low, high)
        scores[name] = Score(
            MEASURES[name],
            taken.estimate.value,
            interval,
            taken.chance,
            taken.n_rows,
            taken.n_pairs,
            taken.exact,
            taken.by_row,
        )
    return Scorecard(
        scores=scores,
        skipped=skipped,
        curves=Curves(**taking.curves()) if taking.has_ranked else None,
        shepard=taking.shepard() if taking.has_ranked else None,
        n_samples=len(subject.kept),
        n_anchors=len(taking.anchors),
        n_neighbors=subject.n_neighbors,
        n_left_out=subject.n_given - len(subject.kept),
        local_size=taking.local_size if taking.has_ranked else None,
        confidence=checked["confidence"],
        random_state=current_run().seed,
        caution=taking.caution_of_order(scores),
    )
