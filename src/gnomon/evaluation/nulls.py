"""`null_scores`: the scores of a map beside those of maps of structureless tables, made by the same method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._false_discoveries import adjusted_p_values
from gnomon._printed import Printed
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Integer, Options, Real, Rule, check_parameters, message
from gnomon.evaluation.evaluation import evaluate
from gnomon.evaluation.structureless import KINDS, draw_structureless
from gnomon.geometry.check import check_features, check_places
from gnomon.linalg import dense_rows
from gnomon.neighbors.independence import NULLS, of_independent_rows

__all__ = ["NullScores", "null_scores"]

Floats = npt.NDArray[np.float64]

_RULES: dict[str, Rule] = {
    "kind": Options(*KINDS),
    "n_nulls": Integer(1),
    "alpha": Real(0.0, 1.0, low_open=True, high_open=True),
}
_MEASURES = ("trustworthiness", "continuity", "neighborhood_preservation", "shepard", "triplet_accuracy")


@dataclass(frozen=True)
class NullScores(Printed):
    """Scores of a map, and of maps of structureless tables.

    Attributes
    ----------
    scores : dict of str to float
        Of the map, as `gnomon.evaluate` defines them; 1 is best.
    nulls : dict of str to ndarray of shape (n_nulls,)
        Of the maps of structureless tables.
    p_values : dict of str to float
        How often a structureless table is mapped as well: (1 + as good or better) / (1 + n_nulls).
    point_p_values : ndarray of shape (n_samples,)
        The same for the trustworthiness of each row, among all rows of all structureless maps; NaN where it is unknown.
    point_rates : ndarray of shape (n_samples,)
        The least false-discovery rate at which the row counts as mapped better than structureless rows [1]_.
    trusted : ndarray of shape (n_samples,), bool
        Rows whose rate is at most `alpha`.
    kind : str
        Of the tables.
    alpha : float
    caution : str, default=""
        What the order of the rows says against it, of a map that knows; empty if nothing.

    References
    ----------
    .. [1] Benjamini & Hochberg, "Controlling the false discovery rate", J. R. Stat. Soc. B 57, 1995.
    """

    scores: dict[str, float]
    nulls: dict[str, Floats] = field(repr=False)
    p_values: dict[str, float]
    point_p_values: Floats = field(repr=False)
    point_rates: Floats = field(repr=False)
    trusted: npt.NDArray[np.bool_] = field(repr=False)
    kind: str
    alpha: float
    caution: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the values of single rows, with plain Python values."""
        return {
            "scores": dict(self.scores),
            "nulls": {name: values.tolist() for name, values in self.nulls.items()},
            "p_values": dict(self.p_values),
            "n_trusted": int(np.count_nonzero(self.trusted)),
            "kind": self.kind,
            "alpha": self.alpha,
            **({"caution": self.caution} if self.caution else {}),
        }

    def __str__(self) -> str:
        count = len(next(iter(self.nulls.values())))
        lines = [f"{'':26}{'map':>7}{'structureless':>22}{'p':>8}"]
        for name, value in self.scores.items():
            null = self.nulls[name]
            spread = f"{null.min():.3f} to {null.max():.3f}"
            lines.append(f"{name.replace('_', ' '):26}{value:7.3f}{spread:>22}{self.p_values[name]:8.3g}")
        trusted, known = np.count_nonzero(self.trusted), np.count_nonzero(np.isfinite(self.point_rates))
        lines.append(
            f"{trusted} of {known} rows are mapped better than structureless ones, at a rate of false discoveries of "
            f"{self.alpha:g}; {count} tables of kind {self.kind!r}"
        )
        lines += [self.caution] if self.caution else []
        return "\n".join(lines)


@entrance("null_scores", seeded=True)
@of_independent_rows(NULLS)
def null_scores(
    X: Any,
    Y: Any,
    embed: Callable[[Floats], Any],
    *,
    kind: str = "copula",
    n_nulls: int = 19,
    n_neighbors: int | None = None,
    alpha: float = 0.05,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> NullScores:
    """Compare the scores of a map with those of maps of structureless tables made by the same method.

    A method scores well on some tables because they are easy: of few dimensions, or with wide features. Tables that
    share this with the data and have no structure say what such scores are worth.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data that were mapped.
    Y : array-like of shape (n_samples, n_components)
        The map.
    embed : callable
        Makes a map of a table of shape (n_samples, n_features), such as ``UMAP().fit_transform``: the method of the
        map, with its parameters.
    kind : {"gaussian", "elliptical", "copula", "columns"}, default="copula"
        What the tables share with the data, as for `structureless`.
    n_nulls : int >= 1, default=19
        Tables, each of which is mapped. No p-value of the whole map is below 1 / (n_nulls + 1).
    n_neighbors : int >= 1 or None, default=None
        Size of the neighbourhoods, as for `gnomon.evaluate`.
    alpha : float in (0, 1), default=0.05
        Rate of false discoveries among the rows that are trusted.
    random_state : int, Generator, RandomState or None, default=0
        Chooses the tables.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    NullScores

    Raises
    ------
    ValueError
        If X and Y differ in rows, or a map that `embed` returns has other rows than its table.

    References
    ----------
    .. [1] Johnson, Kath & Mani, "EMBEDR: distinguishing signal from noise in single-cell omics data", Patterns 3, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import null_scores
    >>> X = np.random.default_rng(0).normal(size=(100, 10)) * np.r_[9, 9, np.ones(8)]
    >>> bool(null_scores(X, X[:, :2], lambda X: X[:, :2]).p_values["trustworthiness"] > 0.05)
    True
    """
    checked = check_parameters(_RULES, {"kind": kind, "n_nulls": n_nulls, "alpha": alpha})
    values = dense_rows(check_features(X, None)[0]).astype(np.float64)
    places = check_places(Y, len(values))
    if not callable(embed):
        raise TypeError(message(f"embed={embed!r}", "callable", remedy="Pass for instance UMAP().fit_transform."))
    seed = current_run().seed
    own = evaluate(values, places, n_neighbors=n_neighbors, random_state=seed)
    measured: list[dict[str, float]] = []
    points = []
    for number in range(checked["n_nulls"]):
        table = draw_structureless(values, checked["kind"], np.random.default_rng((seed, number)))
        found = evaluate(table, check_places(embed(table), len(table)), n_neighbors=n_neighbors, random_state=seed)
        measured.append(found.scores())
        points.append(found.per_point["trustworthiness"])
    nulls = {name: np.array([one[name] for one in measured]) for name in _MEASURES}
    scores = {name: own.scores()[name] for name in _MEASURES}
    p_values = {
        name: float((1 + np.count_nonzero(nulls[name] >= scores[name])) / (1 + checked["n_nulls"]))
        for name in _MEASURES
    }
    point_p_values = _point_p_values(own.per_point["trustworthiness"], points)
    rates = adjusted_p_values(point_p_values)
    trusted = np.nan_to_num(rates, nan=1.0) <= checked["alpha"]
    return NullScores(scores, nulls, p_values, point_p_values, rates, trusted, checked["kind"], checked["alpha"])


def _point_p_values(own: Floats, nulls: Sequence[Floats]) -> Floats:
    """Return how many rows of the structureless maps score as well as each row."""
    pooled = np.concatenate(nulls)
    pooled = np.sort(pooled[np.isfinite(pooled)])
    as_good = len(pooled) - np.searchsorted(pooled, own, side="left")
    return np.where(np.isfinite(own), (1 + as_good) / (1 + len(pooled)), np.nan)
