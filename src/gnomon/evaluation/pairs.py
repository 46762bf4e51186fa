"""One measure of one pair of embeddings, of all rows or of a sample whose error is estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._validation import Options, check_parameters, message
from gnomon.evaluation.anchors import choose_anchors
from gnomon.evaluation.positions import Positions
from gnomon.evaluation.similarities import ALL_PAIRS, MEASURES, Settings

__all__ = ["PairMeasure", "check_common_rows", "check_metrics", "measure_pair"]

_PARTS = 5  # disjoint parts of a sample, whose values show how much the value of a sample varies


@dataclass(frozen=True)
class PairMeasure:
    """A similarity, its chance level, its standard error (0 if it rests on all rows) and the rows it rests on."""

    value: float
    chance: float
    standard_error: float
    n_rows: int


def check_metrics(who: str, metrics: Sequence[str]) -> None:
    """Raise ValueError for a measure that does not exist, or if there is none."""
    if len(metrics) == 0:
        raise ValueError(message(who, "metrics", "at least one name"))
    for metric in metrics:
        check_parameters(who, {"metric": Options(*MEASURES)}, {"metric": metric})


def check_common_rows(who: str, metrics: Sequence[str], n_neighbors: int, n_rows: int) -> None:
    """Raise ValueError if too few rows have a place in all embeddings that are to be compared."""
    if n_rows < 4:
        raise ValueError(message(who, f"embeddings with {n_rows} rows in common", "of at least 4 rows"))
    if n_neighbors > n_rows - 2 and {"knn", "jaccard"} & set(metrics):
        fact = f"{n_rows} rows have a place; with more neighbours than that all rows would be neighbours"
        raise ValueError(message(who, f"n_neighbors={n_neighbors}", f"at most {n_rows - 2}", fact=fact))


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
