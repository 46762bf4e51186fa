"""Scores of the leave-one-out map beside those of tables without structure, mapped alike: thresholds for both."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Integer, Options, Rule, check_parameters
from gnomon.data import check_table
from gnomon.evaluation.baselines import PointNulls, beside_nulls
from gnomon.evaluation.perturbation import perturbations
from gnomon.evaluation.singularities import singularities

__all__ = ["continuity_nulls"]

Floats = npt.NDArray[np.float64]

_RULES: dict[str, Rule] = {"score": Options("perturbation", "singularity"), "n_nulls": Integer(1)}


@entrance("continuity_nulls", seeded=True)
def continuity_nulls(
    estimator: Any,
    X: Any,
    embedding: npt.ArrayLike | None = None,
    *,
    score: Literal["perturbation", "singularity"] = "perturbation",
    n_nulls: int = 1,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> PointNulls:
    """Say which points a step of their row, or chance, moves farther than points of data without structure.

    The score of `perturbations` (as a share of the map's size) or of `singularities`, beside those of tables whose
    columns are shuffled, each by itself, mapped by the same method. "dubious" in `PointNulls.verdicts` is a point whose
    score is above the 95 % quantile of the null, so that of data without structure 5 % of the points are.

    Parameters
    ----------
    estimator : neighbour embedding
        As in `perturbations` and `singularities`; fitted to the table if `embedding` is given.
    X : array-like of shape (n_samples, n_features)
        The table, dense, without equal rows.
    embedding : array-like of shape (n_samples, n_components), default=None
        The map of the table by this method, fitted; None makes it.
    score : {"perturbation", "singularity"}, default="perturbation"
        Which score.
    n_nulls : int >= 1, default=1
        Shuffled tables to map.
    random_state : int, Generator, RandomState or None, default=0
        Shuffles columns and draws the rows of a large table; the seed of the maps too where the method has none.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    PointNulls
        ``p_values``: share of null scores at most the point's; NaN for rows that were not moved.

    Raises
    ------
    TypeError, ValueError
        As those of the score.

    Notes
    -----
    The published score has no null: [1]_ looks at the largest scores, as `Perturbations.largest` returns them, and
    takes the mean of the largest 5 % of the singularity scores to compare perplexities. A singularity score is one of a
    map at a minimum of its loss: `Singularities.pull` says how far points are from it.

    References
    ----------
    .. [1] Liu, Ma & Zhong, "Assessing and improving reliability of neighbor embedding methods: a map-continuity
       perspective", Nature Communications 16, 2025.
    """
    checked = check_parameters(_RULES, {"score": score, "n_nulls": n_nulls})
    values = np.asarray(check_table(X, accept_sparse=False).values, dtype=np.float64)
    seed = current_run().seed

    def judge(table: Any, Y: Floats, method: Any) -> Floats:
        if checked["score"] == "singularity":
            return singularities(method, table, embedding=Y).scores
        found = perturbations(method, table, embedding=Y, random_state=seed % 2**31)
        return found.scores / found.size

    return beside_nulls(checked["score"], judge, estimator, values, embedding, checked["n_nulls"], low_is_good=True)
