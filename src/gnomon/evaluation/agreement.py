"""How far two embeddings of the same rows agree, whatever their scale, rotation and place.

Measures of all pairs of rows take a random sample of many rows, whose error is estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import Printed
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas
from gnomon._validation import Boolean, Either, Integer, Nothing, Options, Rule, check_parameters, message
from gnomon.evaluation.anchors import choose_anchors
from gnomon.evaluation.similarities import (
    ALL_PAIRS,
    MEASURES,
    Positions,
    Settings,
    check_embedding,
    correct_for_chance,
    placed_rows,
)

__all__ = [
    "SIMILARITY_METRICS",
    "Agreement",
    "PairMeasure",
    "check_common_rows",
    "check_metrics",
    "compare_embeddings",
    "embedding_similarity",
    "measure_pair",
]

_PARTS = 5  # disjoint parts of a sample, whose values show how much the value of a sample varies
SIMILARITY_METRICS = tuple(MEASURES)
"""Names of the measures."""

_RULES: dict[str, Rule] = {
    "n_neighbors": Integer(1),
    "chance_corrected": Boolean(),
    "whiten": Boolean(),
    "n_permutations": Integer(1),
    "max_rows": Either(Integer(20), Nothing()),
}


@dataclass(frozen=True)
class PairMeasure:
    """A similarity, its chance level, its standard error (0 if it rests on all rows) and the rows it rests on."""

    value: float
    chance: float
    standard_error: float
    n_rows: int


def check_metrics(metrics: Sequence[str]) -> None:
    """Raise ValueError for a measure that does not exist, or if there is none."""
    if len(metrics) == 0:
        raise ValueError(message("metrics", "at least one name"))
    for metric in metrics:
        check_parameters({"metric": Options(*MEASURES)}, {"metric": metric})


def check_common_rows(metrics: Sequence[str], n_neighbors: int, n_rows: int) -> None:
    """Raise ValueError if too few rows have a place in all embeddings that are to be compared."""
    if n_rows < 4:
        raise ValueError(message(f"embeddings with {n_rows:,} rows in common", "of at least 4 rows"))
    if n_neighbors > n_rows - 2 and {"knn", "jaccard"} & set(metrics):
        fact = f"{n_rows:,} rows have a place; with more neighbours than that all rows would be neighbours"
        raise ValueError(message(f"n_neighbors={n_neighbors}", f"at most {n_rows - 2}", fact=fact))


def measure_pair(
    a: Positions, b: Positions, metric: str, settings: Settings, max_rows: int | None, *, errors: bool
) -> PairMeasure:
    """Compare two embeddings by one measure.

    Parameters
    ----------
    a, b : Positions of the same rows
    metric : str
        A name in `MEASURES`.
    settings : Settings
    max_rows : int or None
        Measures of all pairs take a random sample if there are more rows.
    errors : bool
        Whether to estimate the standard error of a sample; about a fifth more work.
    """
    measure, n = MEASURES[metric], a.n_samples
    if max_rows is None or n <= max_rows or metric not in ALL_PAIRS:
        return PairMeasure(*measure(a, b, settings), 0.0, n)
    rows = choose_anchors(n, max_rows, settings.seed)
    value, chance = measure(a.subset(rows), b.subset(rows), settings)
    if not errors:
        return PairMeasure(value, chance, np.nan, max_rows)
    shuffled: npt.NDArray[np.int64] = np.random.default_rng(settings.seed).permutation(rows)
    values = [measure(a.subset(part), b.subset(part), settings)[0] for part in np.array_split(shuffled, _PARTS)]
    return PairMeasure(value, chance, float(np.std(values, ddof=1) / np.sqrt(_PARTS)), max_rows)


@dataclass(frozen=True)
class Agreement(Printed):
    """How alike two embeddings are by several measures, each in [0, 1].

    Attributes
    ----------
    value : dict of str to float
        The measures; 1 if one embedding is a scaled, rotated, reflected, shifted copy of the other.
    chance : dict of str to float
        What unrelated embeddings get: the mean over permutations of the rows of one.
    corrected : dict of str to float
        (value - chance) / (1 - chance), at least 0.
    standard_error : dict of str to float
        Of the value, where it rests on a sample of rows; 0 where it rests on all.
    n_rows : dict of str to int
        Rows that each measure rests on.
    n_samples, n_left_out : int
        Rows compared, and rows without a place (NaN) in one of the embeddings.
    n_neighbors : int
        Neighbours of "knn" and "jaccard".
    whitened : bool
        Whether the principal axes of both were brought to the same length first.
    random_state : int
        Seed of sample and permutations.
    """

    value: dict[str, float]
    chance: dict[str, float]
    corrected: dict[str, float]
    standard_error: dict[str, float]
    n_rows: dict[str, int]
    n_samples: int
    n_left_out: int
    n_neighbors: int
    whitened: bool
    random_state: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything with plain Python values."""
        return {name: dict(v) if isinstance(v, dict) else v for name, v in vars(self).items()}

    def summary(self) -> str:
        """Return the measures beside their chance levels, and what they rest on."""
        lines = [f"{'':22}{'value':>8}{'chance':>8}{'corrected':>11}{'std. error':>12}"]
        for name in self.value:
            error = self.standard_error[name]
            lines.append(
                f"{name.replace('_', ' '):22}{self.value[name]:8.3f}{self.chance[name]:8.3f}"
                f"{self.corrected[name]:11.3f}{f'{error:.4f}' if error else '-':>12}"
            )
        lines.append(f"{self.n_samples:,} rows; {self.n_neighbors} neighbours; random_state={self.random_state}")
        sampled = {name: rows for name, rows in self.n_rows.items() if rows < self.n_samples}
        if sampled:
            names = ", ".join(name.replace("_", " ") for name in sampled)
            lines.append(f"{names}: from {max(sampled.values())} random rows")
        if self.n_left_out:
            lines.append(f"{self.n_left_out} rows have no place in one of the embeddings and are left out")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


@entrance("embedding_similarity", seeded=True)
def embedding_similarity(
    A: npt.ArrayLike,
    B: npt.ArrayLike,
    metric: str = "procrustes",
    *,
    n_neighbors: int = 10,
    chance_corrected: bool = False,
    whiten: bool = False,
    n_permutations: int = 50,
    max_rows: int | None = 20_000,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> float:
    """Say how alike two embeddings of the same rows are, by one measure.

    Each measure is symmetric, lies in [0, 1], is 1 for an embedding and itself, and does not change if either of the
    two is scaled, rotated or reflected, or shifted, each by its own amount. The embeddings may have different numbers
    of components.

    Parameters
    ----------
    A, B : array-like of shape (n_samples, n_components of each)
        Row i of both is the same thing. Rows with NaN in one of them are left out.
    metric : str, default="procrustes"
        "procrustes": variance that one explains of the other after the best rotation and scaling (1 - SciPy's
        disparity). "cka": linear centred kernel alignment. "distance_correlation": Székely's, of the distances.
        "knn": mean share of common nearest neighbours. "jaccard": common neighbours over all that are neighbours in
        one of them. "spearman": (1 + rank correlation of the distances) / 2.
    n_neighbors : int in [1, n_samples - 2], default=10
        For "knn" and "jaccard", the row itself not counted.
    chance_corrected : bool, default=False
        Return (f - c) / (1 - c), at least 0, with c the level of unrelated embeddings.
    whiten : bool, default=False
        Bring all principal axes of each embedding to the same length first. Without it an embedding whose axes are
        scaled by hand, as spectral methods often are, counts as different.
    n_permutations : int >= 1, default=50
        For the chance level of "procrustes", each taken forth and back, so twice as many are compared; the levels of
        the others are exact.
    max_rows : int >= 20 or None, default=20_000
        Rows that "distance_correlation" and "spearman", which look at all pairs, rest on: a random sample if there
        are more. None takes all, in memory of a few megabytes.
    random_state : int, Generator, RandomState or None, default=0
        Chooses the sample and the permutations.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    float in [0, 1]

    See Also
    --------
    compare_embeddings : All measures at once, with chance levels and errors of sampling.

    References
    ----------
    .. [1] Draganov & Dohn, "Unexplainable explanations: towards interpreting tSNE and UMAP embeddings", 2023,
       section 6; its invariances are required here of each argument alone.
    .. [2] Kornblith et al., "Similarity of neural network representations revisited", ICML 2019 (CKA).

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import embedding_similarity
    >>> A = np.random.default_rng(0).normal(size=(100, 2))
    >>> round(embedding_similarity(A, 3 * A[:, ::-1] + 1), 6)
    1.0
    """
    alone = {"chance_corrected": chance_corrected, "n_permutations": n_permutations}
    corrected = check_parameters(_RULES, alone, list(alone))["chance_corrected"]
    request = _Request((metric,), n_neighbors, whiten, n_permutations if corrected else 0, max_rows, errors=False)
    found = _compare(A, B, request)
    return (found.corrected if corrected else found.value)[metric]


@entrance("compare_embeddings", seeded=True)
def compare_embeddings(
    A: npt.ArrayLike,
    B: npt.ArrayLike,
    metrics: Sequence[str] = SIMILARITY_METRICS,
    *,
    n_neighbors: int = 10,
    whiten: bool = False,
    n_permutations: int = 50,
    max_rows: int | None = 20_000,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Agreement:
    """Say how alike two embeddings of the same rows are, by several measures beside their chance levels.

    Parameters
    ----------
    A, B : array-like of shape (n_samples, n_components of each)
        Row i of both is the same thing. Rows with NaN in one of them are left out and counted.
    metrics : sequence of str, default=all
        Names as in `embedding_similarity`, whose further parameters apply.
    n_neighbors, whiten, n_permutations, max_rows, random_state, n_jobs : as in `embedding_similarity`
        For every measure.

    Returns
    -------
    Agreement
    """
    check_parameters(_RULES, {"n_permutations": n_permutations}, ["n_permutations"])
    request = _Request(tuple(metrics), n_neighbors, whiten, n_permutations, max_rows, errors=True)
    return _compare(A, B, request)


@dataclass(frozen=True)
class _Request:
    """What was asked for, as it was given; no permutations where no chance level is wanted."""

    metrics: tuple[str, ...]
    n_neighbors: int
    whiten: bool
    n_permutations: int
    max_rows: int | None
    errors: bool


def _compare(A: npt.ArrayLike, B: npt.ArrayLike, request: _Request) -> Agreement:
    checked = check_parameters(_RULES, vars(request), ["n_neighbors", "whiten", "max_rows"])
    check_metrics(request.metrics)
    a, b = check_embedding(A, "A"), check_embedding(B, "B")
    if len(a) != len(b):
        raise ValueError(message(f"A with {len(a):,} rows and B with {len(b):,}", "of the same length"))
    kept = placed_rows(a, b)
    k, n = checked["n_neighbors"], len(kept)
    check_common_rows(request.metrics, k, n)
    seed = current_run().seed
    settings = Settings(k, request.n_permutations, seed)
    with single_threaded_blas():
        left, right = (Positions(Y[kept], name=name, whiten=checked["whiten"]) for name, Y in (("A", a), ("B", b)))
        found = {
            metric: measure_pair(left, right, metric, settings, checked["max_rows"], errors=request.errors)
            for metric in request.metrics
        }
    return Agreement(
        value={metric: one.value for metric, one in found.items()},
        chance={metric: one.chance for metric, one in found.items()},
        corrected={metric: correct_for_chance(one.value, one.chance) for metric, one in found.items()},
        standard_error={metric: one.standard_error for metric, one in found.items()},
        n_rows={metric: one.n_rows for metric, one in found.items()},
        n_samples=n,
        n_left_out=len(a) - n,
        n_neighbors=k,
        whitened=checked["whiten"],
        random_state=seed,
    )
