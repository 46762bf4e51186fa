"""How good an explanation is: against known drivers, against pushed rows, against shuffled data, against itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._random import RandomState
from gnomon._run import current_run
from gnomon._validation import Real, Rule, check_parameters, message
from gnomon.evaluation.scores import spearman

__all__ = [
    "DriverRecovery",
    "FeatureRemoval",
    "PushTest",
    "Stability",
    "push_test",
    "recovery_of_drivers",
    "remove_features",
    "shuffle_columns",
    "sign_agreement",
    "stability",
]

_STREAM = 311
_RULES: dict[str, Rule] = {"shares": Real(0.0, 1.0, low_open=True)}
_TABLE = ("n_samples", "n_features")
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def _numbers(name: str, given: Any, *shapes: tuple[int | str, ...]) -> Floats:
    """Return an array of one of some shapes, in which a word stands for any length but 0."""
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(message(name, "an array of numbers", fact=f"found {type(given).__name__}")) from None
    if not any(_fits(found.shape, shape) for shape in shapes):
        rule = " or ".join(str(shape).replace("'", "") for shape in shapes)
        raise ValueError(message(f"{name} of shape {found.shape}", f"of shape {rule}"))
    return found


def _fits(found: tuple[int, ...], wanted: tuple[int | str, ...]) -> bool:
    return len(found) == len(wanted) and all(
        length == want or (isinstance(want, str) and length > 0) for length, want in zip(found, wanted, strict=True)
    )


def _mask(name: str, given: Any, *shapes: tuple[int | str, ...]) -> Bools:
    return _numbers(name, given, *shapes).astype(np.bool_)


def _placed(transform: Callable[[Any], Any], rows: Any, shape: tuple[int | str, ...], *, name: str = "X") -> Floats:
    """Return where a function places rows."""
    if not callable(transform):
        raise TypeError(message("transform", "a function of rows", fact=f"found {type(transform).__name__}"))
    return _numbers(f"transform({name})", transform(rows), shape)


def _listed(name: str, given: Any, rule: str) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(message(name, rule, fact=f"found {type(given).__name__}"))
    return list(given)


@dataclass(frozen=True)
class DriverRecovery:
    """How well the importance of features points out the ones that drive each point.

    Attributes
    ----------
    auc : float in [0, 1]
        Mean over the points of the probability that a driving feature is ranked above another; 0.5 is chance.
    top_precision : float in [0, 1]
        Mean share of drivers among the k most important features, k the number of drivers of the point.
    n_points : int
        Points that have both drivers and others.
    per_point : dict of str to ndarray of shape (n_samples,), float64
        "auc" and "top_precision"; NaN where the point has no drivers or no others.
    """

    auc: float
    top_precision: float
    n_points: int
    per_point: dict[str, Floats] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the means with plain Python values."""
        return {"auc": self.auc, "top_precision": self.top_precision, "n_points": self.n_points}

    def summary(self) -> str:
        """Return the means in words."""
        return f"drivers: AUC {self.auc:.3f}, top precision {self.top_precision:.3f} ({self.n_points} points)"


def _point_recovery(scores: Floats, drivers: Bools) -> tuple[float, float]:
    """Return AUC (ties count half) and top precision of one point."""
    n_drivers = int(drivers.sum())
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse.ravel()]
    auc = (ranks[drivers].sum() - n_drivers * (n_drivers + 1) / 2) / (n_drivers * (len(scores) - n_drivers))
    top = np.argsort(-scores, kind="stable")[:n_drivers]
    return float(auc), float(np.mean(drivers[top]))


@entrance("recovery_of_drivers")
def recovery_of_drivers(importance: Any, drivers: Any, *, counted: Any = None) -> DriverRecovery:
    """Compare the importance of features with the features known to drive each point.

    Parameters
    ----------
    importance : array-like of shape (n_samples, n_features) or (n_features,)
        Any scores whose order says what matters; one row holds for all points. Points with NaN are left out.
    drivers : array-like of shape (n_samples, n_features), bool
        The truth. Points without drivers are left out.
    counted : array-like of shape (n_samples, n_features), bool, default=None
        False where a feature is neither driver nor not and takes no part; all take part by default.

    Returns
    -------
    DriverRecovery

    Raises
    ------
    ValueError
        If shapes differ, or no point has both drivers and others.
    """
    truth = _mask("drivers", drivers, _TABLE)
    scores = np.broadcast_to(_numbers("importance", importance, truth.shape, truth.shape[1:]), truth.shape)
    part = np.ones(truth.shape, bool) if counted is None else _mask("counted", counted, truth.shape)
    found = np.full((len(truth), 2), np.nan)
    for i in range(len(truth)):
        own, labels = scores[i, part[i]], truth[i, part[i]]
        if labels.any() and not labels.all() and np.isfinite(own).all():
            found[i] = _point_recovery(own, labels)
    defined = np.isfinite(found[:, 0])
    if not defined.any():
        raise ValueError(message("drivers", "some but not all features of some point"))
    means = found[defined].mean(axis=0)
    per_point = {"auc": found[:, 0], "top_precision": found[:, 1]}
    return DriverRecovery(float(means[0]), float(means[1]), int(defined.sum()), per_point)


@entrance("sign_agreement")
def sign_agreement(arrows: Any, true_arrows: Any, drivers: Any) -> float:
    """Return the share of driving features whose arrow points to the side to which the point truly moves.

    The sign is right if the inner product of the arrow and of the true displacement in the map for the same change of
    the feature is positive; 0.5 is chance. Every driving feature of every point counts once.

    Parameters
    ----------
    arrows, true_arrows : array-like of shape (n_samples, n_features, n_components)
        In any units; points with NaN are left out.
    drivers : array-like of shape (n_samples, n_features), bool
        The features that count.

    Returns
    -------
    float in [0, 1]

    Raises
    ------
    ValueError
        If shapes differ, or no driving feature has arrows.
    """
    given = _numbers("arrows", arrows, (*_TABLE, "n_components"))
    product = np.sum(given * _numbers("true_arrows", true_arrows, given.shape), axis=2)
    counted = _mask("drivers", drivers, product.shape) & np.isfinite(product)
    if not counted.any():
        raise ValueError(message("drivers", "some features of points with arrows"))
    return float(np.mean(product[counted] > 0))


@dataclass(frozen=True)
class PushTest:
    """Where rows went when they were pushed, beside where the explanation said they would go.

    Attributes
    ----------
    cosine : float in [-1, 1]
        Mean cosine of predicted and actual displacement; 0 is chance.
    r2 : float at most 1
        Share of the actual squared displacement that is predicted.
    scale : float
        Factor by which the predictions would have to be stretched to fit best.
    n_points : int
        Rows that moved and whose move was predicted.
    per_point : dict of str to ndarray of shape (m,), float64
        "cosine"; NaN where either displacement is zero or NaN.
    """

    cosine: float
    r2: float
    scale: float
    n_points: int
    per_point: dict[str, Floats] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the means with plain Python values."""
        return {"cosine": self.cosine, "r2": self.r2, "scale": self.scale, "n_points": self.n_points}

    def summary(self) -> str:
        """Return the means in words."""
        return f"pushes: cosine {self.cosine:.3f}, R2 {self.r2:.3f}, scale {self.scale:.2f} ({self.n_points} rows)"


@entrance("push_test")
def push_test(X: Any, X_pushed: Any, predicted: Any, transform: Callable[[Any], Any]) -> PushTest:
    """Push rows of the data, place them anew, and compare with the displacement that was predicted.

    Both the rows and the pushed rows are placed by `transform`, so that what it does to rows that have not moved
    cancels. It must not be made from the explanation itself: take the method's own placement or a known map.

    Parameters
    ----------
    X, X_pushed : array-like of shape (m, n_features)
        Rows before and after, for instance moved along the tangent in the direction in which one feature grows.
    predicted : array-like of shape (m, n_components)
        ``axes @ (x_pushed - x)`` for each row.
    transform : callable
        Maps (m, n_features) to places (m, n_components).

    Returns
    -------
    PushTest

    Raises
    ------
    ValueError
        If shapes differ, or no row moves and was said to move.
    """
    places = _placed(transform, X, ("m", "n_components"))
    actual = _placed(transform, X_pushed, places.shape, name="X_pushed") - places
    wanted = _numbers("predicted", predicted, actual.shape)
    lengths = np.linalg.norm(actual, axis=1) * np.linalg.norm(wanted, axis=1)
    moved = np.isfinite(lengths) & (lengths > 0)
    if not moved.any():
        raise ValueError(message("X_pushed", "rows that move in the map, with a prediction other than 0"))
    cosine = np.full(len(actual), np.nan)
    cosine[moved] = np.sum(actual[moved] * wanted[moved], axis=1) / lengths[moved]
    a, b = actual[moved], wanted[moved]
    r2 = 1.0 - float(np.sum((a - b) ** 2) / np.sum(a**2))
    scale = float(np.sum(a * b) / np.sum(b**2))
    return PushTest(float(np.mean(cosine[moved])), r2, scale, int(moved.sum()), {"cosine": cosine})


@dataclass(frozen=True)
class FeatureRemoval:
    """How far rows move when features are set to a reference, the important ones first and last.

    Attributes
    ----------
    shares : ndarray of shape (s,), float64
        Shares of the features that were set.
    deletion, random, insertion : ndarray of shape (s,), float64
        Mean distance in the map from the row's place, over that with all features set: the most important first, in
        random order, and the least important first. An explanation is good if deletion rises early, insertion late.
    gain : float
        Mean over the shares of deletion - insertion; 0 for an order that knows nothing.
    """

    shares: Floats
    deletion: Floats
    random: Floats
    insertion: Floats
    gain: float

    def to_dict(self) -> dict[str, Any]:
        """Return the curves with plain Python values."""
        curves = {name: getattr(self, name).tolist() for name in ("shares", "deletion", "random", "insertion")}
        return {**curves, "gain": self.gain}

    def summary(self) -> str:
        """Return the gain and where it comes from."""
        means = [float(np.mean(curve)) for curve in (self.deletion, self.random, self.insertion)]
        return "removal: moved {:.3f} important first, {:.3f} at random, {:.3f} important last".format(*means)


@entrance("remove_features", seeded=True)
def remove_features(
    X: Any,
    importance: Any,
    reference: Any,
    transform: Callable[[Any], Any],
    *,
    shares: Sequence[float] = (0.05, 0.1, 0.2, 0.4),
    random_state: RandomState = 0,
) -> FeatureRemoval:
    """Set features of rows to a reference in the order of their importance and see how far the rows move.

    Parameters
    ----------
    X : array-like of shape (m, n_features)
        The rows.
    importance : array-like of shape (m, n_features)
        The order of each row's features.
    reference : array-like of shape (n_features,) or (m, n_features)
        What stands for the absence of a feature, for instance the mean of the row's neighbours or of the table.
    transform : callable
        Maps (m, n_features) to places (m, n_components); the judge, not made from the explanation.
    shares : sequence of float in (0, 1], default=(0.05, 0.1, 0.2, 0.4)
        Shares of the features to set.
    random_state : int, Generator, RandomState or None, default=0
        Of the random order.

    Returns
    -------
    FeatureRemoval

    Raises
    ------
    ValueError
        If shapes differ, or `shares` are none or outside (0, 1].
    """
    parts = _check_shares(shares)
    rows = _numbers("X", X, ("m", "n_features"))
    goal = np.broadcast_to(_numbers("reference", reference, rows.shape[1:], rows.shape), rows.shape)
    rng = np.random.default_rng((current_run().seed, _STREAM))
    scores = _numbers("importance", importance, rows.shape)
    orders = {
        "deletion": np.argsort(-scores, axis=1, kind="stable"),
        "random": np.argsort(rng.random(rows.shape), axis=1),
        "insertion": np.argsort(scores, axis=1, kind="stable"),
    }
    start = _placed(transform, rows, (len(rows), "n_components"))
    whole = float(np.mean(np.linalg.norm(_placed(transform, goal, start.shape) - start, axis=1)))
    curves: dict[str, Floats] = {}
    for name, order in orders.items():
        curve = []
        for share in parts:
            count = max(1, round(share * rows.shape[1]))
            changed = rows.copy()
            np.put_along_axis(changed, order[:, :count], np.take_along_axis(goal, order[:, :count], axis=1), axis=1)
            curve.append(float(np.mean(np.linalg.norm(_placed(transform, changed, start.shape) - start, axis=1))))
        curves[name] = np.array(curve) / (whole if whole > 0 else 1.0)
    gain = float(np.mean(curves["deletion"] - curves["insertion"]))
    return FeatureRemoval(np.array(parts), **curves, gain=gain)


def _check_shares(shares: Sequence[float]) -> list[float]:
    """Return the shares as floats in (0, 1], at least one."""
    given = _listed("shares", shares, "a sequence of numbers")
    if not given:
        raise ValueError(message(f"shares={shares!r}", "at least one number"))
    return [check_parameters(_RULES, {"shares": share})["shares"] for share in given]


@dataclass(frozen=True)
class Stability:
    """How far explanations of the same rows agree.

    Attributes
    ----------
    rank_correlation : float in [-1, 1]
        Mean over pairs of explanations and points of the rank correlation of the importances of a point's features.
    lowest : float in [-1, 1]
        Least mean over the points among the pairs.
    n_pairs : int
    per_point : ndarray of shape (n_samples,), float64
        Mean over the pairs; NaN where an explanation says nothing.
    """

    rank_correlation: float
    lowest: float
    n_pairs: int
    per_point: Floats = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the means with plain Python values."""
        return {"rank_correlation": self.rank_correlation, "lowest": self.lowest, "n_pairs": self.n_pairs}

    def summary(self) -> str:
        """Return the means in words."""
        return f"stability: rank correlation {self.rank_correlation:.3f}, at least {self.lowest:.3f}"


@entrance("stability")
def stability(importances: Sequence[Any]) -> Stability:
    """Compare the importances that several explanations give the features of the same points.

    Importances do not change when a map is rotated, mirrored or shifted, and ranks not when it is stretched, so maps
    of different seeds compare without being aligned.

    Parameters
    ----------
    importances : sequence of two or more array-likes of shape (n_samples, n_features)
        Of maps of other seeds, or of explanations with other numbers of neighbours.

    Returns
    -------
    Stability

    Raises
    ------
    ValueError
        If there are not two tables of one shape, or two explanations say nothing of the same points.
    """
    given = _listed("importances", importances, "two or more tables")
    tables = [_numbers(f"importances[{number}]", table, _TABLE) for number, table in enumerate(given)]
    if len(tables) < 2 or len({table.shape for table in tables}) != 1:
        fact = "found " + (", ".join(str(table.shape) for table in tables) or "none")
        raise ValueError(message("importances", "two or more tables of one shape", fact=fact))
    pairs = [(a, b) for a in range(len(tables)) for b in range(a)]
    found = np.full((len(pairs), len(tables[0])), np.nan)
    for p, (a, b) in enumerate(pairs):
        for i in np.flatnonzero(np.isfinite(tables[a]).all(axis=1) & np.isfinite(tables[b]).all(axis=1)):
            found[p, i] = spearman(tables[a][i], tables[b][i])
    for (a, b), none in zip(pairs, np.isnan(found).all(axis=1), strict=True):
        if none:
            raise ValueError(message(f"importances[{b}] and importances[{a}]", "without NaN in some common row"))
    means = np.nanmean(found, axis=1)
    defined = np.isfinite(found).all(axis=0)
    per_point = np.where(defined, np.where(defined, found, 0.0).mean(axis=0), np.nan)
    return Stability(float(means.mean()), float(means.min()), len(pairs), per_point)


@entrance("shuffle_columns", seeded=True)
def shuffle_columns(X: Any, *, random_state: RandomState = 0) -> Floats:
    """Return the table with each column permuted on its own: same features one by one, nothing that joins them.

    An explanation of a map of real data, made from this table, must lose its fidelity: if `r2` or the recovery of
    drivers stays, it comes from the features' distributions and not from the rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table.
    random_state : int, Generator, RandomState or None, default=0
        Of the permutations.

    Returns
    -------
    ndarray of shape (n_samples, n_features), float64
    """
    rng = np.random.default_rng((current_run().seed, _STREAM))
    shuffled: Floats = rng.permuted(_numbers("X", X, _TABLE), axis=0)
    return shuffled
