"""What changes along a line drawn through a map.

Features against the position along the line: slopes with robust errors, ranks, smooth curves, and how well they
predict it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import exp, inner, product
from gnomon._entrance import entrance
from gnomon._false_discoveries import adjusted_p_values, normal_deviations, normal_p_values
from gnomon._printed import ShortRepr
from gnomon._validation import Integer, Options, Real, check_parameters, message, warn
from gnomon.data.column_scales import column_scales
from gnomon.exceptions import DataWarning
from gnomon.explanations.answer import Answer, Column
from gnomon.explanations.axis.points_near import PointsNear, check_path, find_points_near, path_through
from gnomon.explanations.local import each_local_arrows
from gnomon.explanations.mean_errors import error_of_mean
from gnomon.explanations.rows import dense_rows_of
from gnomon.geometry.check import has_place, row_mask
from gnomon.linalg import dense_rows, inner_products, symmetric_eigen
from gnomon.linalg.table import dense_in_stored, evenly_spaced
from gnomon.neighbors.independence import FEATURES, of_independent_rows

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = ["Axis", "Profile", "axis", "held_out_r2", "slopes", "smooth"]

Array = npt.NDArray[np.float64]

_BLOCK = 1 << 21  # numbers made dense at a time
_RIDGES = 10.0 ** np.arange(-3.0, 3.5, 0.5)
_NOTHING = 1e-14  # share of the variance of all columns: rounding
_PUSH_ROWS = 400  # points whose arrows are averaged at most
_BANDWIDTH = 0.12  # of the length of the line
_SORTS = ("change", "push", "rho")
_INTERVAL = 1.96  # standard errors to either side, 95 %
_FALSE = 0.05  # share of chance among the features that are found, on the mean
_WHOLE = 0.995  # of the line: what is covered rounds to all of it
_LITTLE = 0.5  # of the line: where the points cover less, it is warned


def _blocks_of_columns(X: Any, rows: npt.NDArray[np.int64]) -> Iterator[tuple[slice, Array]]:
    """Yield the columns of some rows as dense blocks."""
    n_features = int(X.shape[1])
    step = max(1, _BLOCK // len(rows))
    part = X[rows]
    part = part.tocsc() if hasattr(part, "tocsc") else part
    for start in range(0, n_features, step):
        columns = slice(start, min(start + step, n_features))
        yield columns, dense_rows(part[:, columns])


def slopes(t: Array, values: Array) -> tuple[Array, Array]:
    """Return the least-squares slope of each column on t and its standard error, robust to unequal spread (HC3).

    References
    ----------
    .. [1] MacKinnon & White, "Some heteroskedasticity-consistent covariance matrix estimators with improved finite
       sample properties", Journal of Econometrics 29, 1985.
    """
    s = t - t.mean()
    total = inner(s, s)
    centered = values - values[0]  # exact zeros for a constant column
    centered -= centered.mean(axis=0)
    slope = np.sum(s[:, None] * centered, axis=0) / total
    leverage = 1.0 / len(t) + s**2 / total
    misses = (centered - s[:, None] * slope) / np.maximum(1.0 - leverage, 1e-6)[:, None]
    return slope, np.sqrt(np.sum((s[:, None] * misses) ** 2, axis=0)) / total


def _rank_correlations(t: Array, values: Array) -> Array:
    """Return Spearman's correlation of each column with t; 0 for a constant column."""
    from scipy.stats import rankdata

    order, ranks = rankdata(t), rankdata(values, axis=0)
    a, b = order - order.mean(), ranks - ranks.mean(axis=0)
    scale = np.sqrt(np.sum(a**2) * np.sum(b**2, axis=0))
    return np.asarray(np.divide(np.sum(a[:, None] * b, axis=0), scale, out=np.zeros(len(scale)), where=scale > 0))


def smooth(t: Array, values: Array, at: Array, bandwidth: float) -> tuple[Array, Array, Array]:
    """Return local linear means of one column at places on t, their standard errors and the effective counts.

    Weights are Gaussian; the standard error is that of a weighted mean with independent rows. NaN where fewer than
    two rows lie near.
    """
    mean, error, count = (np.full(len(at), np.nan) for _ in range(3))
    for number, place in enumerate(at):
        s = (t - place) / bandwidth
        w = exp(-0.5 * s**2)
        w[np.abs(s) > 3.0] = 0.0
        zero, one, two = w.sum(), inner(w, s), inner(w, s**2)
        count[number] = zero**2 / max(inner(w, w), np.finfo(float).tiny)
        determinant = zero * two - one**2
        if count[number] < 2.0 or determinant <= 1e-9 * zero**2:
            continue
        pull = w * (two - one * s) / determinant  # weights of the local line at the place; they sum to 1
        fit_slope = (zero * inner(w, s * values) - one * inner(w, values)) / determinant
        mean[number] = inner(pull, values)
        misses = values - mean[number] - fit_slope * s
        error[number] = np.sqrt(inner(pull**2, misses**2) * count[number] / (count[number] - 1.0))
    return mean, error, count


def held_out_r2(X: Any, rows: npt.NDArray[np.int64], t: Array, n_most: int = 1000) -> float:
    """Return the share of the variance of t that all features predict together for a row left out.

    Ridge regression on the features, each divided by its standard deviation in these rows; leaving one out in closed
    form, the damping chosen so that it is largest. At most `n_most` rows, evenly spaced along t, are used.
    """
    if len(rows) > n_most:
        chosen = np.argsort(t, kind="stable")[evenly_spaced(len(rows), n_most)]
        rows, t = rows[chosen], t[chosen]
    values, _ = dense_in_stored(X[rows])  # columns that no row stores do not vary
    values = values[:, values.min(axis=0) < values.max(axis=0)]
    if not values.shape[1]:
        return 0.0
    values -= values.mean(axis=0)
    scaled = values / values.std(axis=0)
    target = t - t.mean()
    vectors, variances = _directions(scaled)
    moments = product(vectors.T, target)
    scores = []
    for ridge in _RIDGES:
        shrink = variances / (variances + ridge)
        fitted = product(vectors, shrink * moments)
        own = product(vectors**2, shrink) + 1.0 / len(t)  # the mean is fitted too
        misses = (target - fitted) / np.maximum(1.0 - own, 1e-9)
        scores.append(1.0 - inner(misses, misses) / inner(target, target))
    return max(0.0, *scores)


def _directions(scaled: Array) -> tuple[Array, Array]:
    """Return orthonormal directions (n, rank) in which rows differ, and the mean square of the columns along each."""
    n, n_features = scaled.shape
    if n <= n_features:
        values, vectors = symmetric_eigen(product(scaled, scaled.T) / n_features, least=0.0)
        return vectors, values[: vectors.shape[1]]
    scatter = inner_products(scaled) / n_features
    values, axes = symmetric_eigen(scatter, least=_NOTHING * float(np.trace(scatter)))
    kept = values[: axes.shape[1]]
    return product(scaled, axes) / np.sqrt(n_features * kept), kept


@dataclass(frozen=True)
class Profile(ShortRepr):
    """The smoothed mean of a feature along a line.

    Attributes
    ----------
    feature : str
    t : ndarray of shape (n_places,)
        Distance along the line, in units of the map.
    mean, error : ndarray of shape (n_places,)
        Mean of the feature there and its standard error, in units of the feature; NaN where too few points lie near.
    n : ndarray of shape (n_places,)
        Number of points that the mean rests on, effectively.
    """

    feature: str
    t: Array
    mean: Array
    error: Array
    n: Array

    def to_dict(self) -> dict[str, Any]:
        """Return the curve with plain Python values."""
        curve = {name: getattr(self, name).tolist() for name in ("t", "mean", "error", "n")}
        return {"feature": self.feature, **curve}


@dataclass(frozen=True, kw_only=True)
class Axis(Answer):
    """Features by how much they change along a line through the map.

    Changes are those over the part of the line that points cover: beyond it nothing is known.

    Attributes
    ----------
    effect : ndarray of shape (n_features,), float64
        Change of the fitted trend over the covered part of the line, in standard deviations of the feature over all
        rows; at most the range of the feature's values near the line.
    error : ndarray of shape (n_features,), float64
        Standard error of that change, robust to unequal spread; it takes rows as independent draws.
    change : ndarray of shape (n_features,), float64
        The same change in units of the feature.
    false_discovery_rate : ndarray of shape (n_features,), float64
        Least rate of false discoveries at which the feature is among those that change: by the trend and its error
        and by the rank correlation, of which the larger p-value counts. For lines not drawn by looking at the feature.
    beyond_chance : ndarray of shape (n_features,), bool
        Whether that rate is at most 0.05.
    slope : ndarray of shape (n_features,), float64
        Change per unit of length in the map.
    rho : ndarray of shape (n_features,), float64, in [-1, 1]
        Spearman's correlation with the distance along the line: +1 or -1 for a feature that only rises or falls.
    push, push_error : ndarray of shape (n_features,), float64
        Mean displacement along the line for one local standard deviation of the feature, from the arrows of the
        points, in units of the map, and its standard error over draws of the rows, the map taken as given. A feature
        can change along a line without pushing along it: it then only goes along with one that does.
    fidelity : float in [0, 1]
        Share of the variance of the points' positions along the line that all features together predict by ridge
        regression, each point from the others.
    r2 : float
        Mean local R2 of the points, on which the pushes rest.
    covered : ndarray of shape (2,), float64
        From where to where along the line points lie, but for single stray ones, in units of the map.
    covered_share : float in (0, 1]
        Its share of the length of the line. Gaps between the first and the last points count as covered.
    near : PointsNear
        The line, its width and the points on it.
    all_features : list of str
        Names of the columns of the data, in their order.
    """

    _question: ClassVar[str] = "axis"
    _per_feature: ClassVar[tuple[str, ...]] = (
        "change",
        "slope",
        "rho",
        "push",
        "push_error",
        "false_discovery_rate",
        "beyond_chance",
    )
    _facts: ClassVar[tuple[str, ...]] = ("path", "width", "length", "covered", "covered_share", "n_points", "r2")
    _columns: ClassVar[tuple[Column, ...]] = (
        Column("change (SD)", "effect", "error"),
        Column("beyond chance", "beyond_chance"),
        Column("change", "change"),
        Column("slope", "slope"),
        Column("rho", "rho"),
        Column("push", "push", "push_error"),
    )

    change: Array
    slope: Array
    rho: Array
    push: Array
    push_error: Array
    false_discovery_rate: Array
    r2: float
    near: PointsNear
    all_features: list[str] = field(repr=False)
    _X: Any = field(repr=False)

    @property
    def path(self) -> Array:
        """Vertices of the line."""
        return self.near.path

    @property
    def width(self) -> float:
        """Largest distance of a point from the line."""
        return self.near.width

    @property
    def length(self) -> float:
        """Length of the line, in units of the map."""
        return self.near.length

    @property
    def covered(self) -> Array:
        """From where to where along the line points lie."""
        return np.array(self.near.covered)

    @property
    def covered_share(self) -> float:
        """Share of the line that points cover."""
        start, end = self.near.covered
        return (end - start) / self.near.length

    @property
    def beyond_chance(self) -> npt.NDArray[np.bool_]:
        """Which features change along the line beyond chance."""
        found: npt.NDArray[np.bool_] = self.false_discovery_rate <= _FALSE
        return found

    @property
    def n_points(self) -> int:
        """Number of points near the line."""
        return len(self.near.rows)

    def headline(self) -> str:
        """Return what is said of the line as a whole."""
        text = (
            f"{self.n_points} points within {self.width:.3g} of a line of length {self.length:.3g}; "
            f"the features predict {self.fidelity:.0%} of where they lie along it (local R2 {self.r2:.2f})"
        )
        if self.covered_share < _WHOLE:
            text += f"; {_cover_words(self.near)}, and changes are over this part"
        text += "" if self.beyond_chance.any() else "; no feature changes beyond chance"
        return self._with_caution(text)

    @entrance("profile")
    def profile(self, feature: int | str, n_places: int = 50, bandwidth: float | None = None) -> Profile:
        """Return the smoothed mean of a feature along the line.

        Parameters
        ----------
        feature : str or int
            Its name or its column number.
        n_places : int >= 2, default=50
            Places along the line, evenly spaced.
        bandwidth : float > 0, default=None
            Standard deviation of the Gaussian weights, in units of the map; None takes 0.12 of the length.
        """
        if isinstance(feature, str):
            if feature not in self.all_features:
                raise ValueError(message(f"feature={feature!r}", "the name of a feature"))
            column = self.all_features.index(feature)
        else:
            rule = {"feature": Integer(0, len(self.all_features) - 1)}
            column = check_parameters(rule, {"feature": feature})["feature"]
        n_places = check_parameters({"n_places": Integer(2)}, {"n_places": n_places})["n_places"]
        if bandwidth is None:
            bandwidth = _BANDWIDTH * self.length
        rule_of_width = {"bandwidth": Real(0.0, low_open=True)}
        bandwidth = float(check_parameters(rule_of_width, {"bandwidth": bandwidth})["bandwidth"])
        at = np.linspace(0.0, self.length, n_places)
        values = dense_rows_of(self._X, self.near.rows, [column])[:, 0]
        return Profile(self.all_features[column], at, *smooth(self.near.t, values, at, bandwidth))


@entrance("axis")
@of_independent_rows(FEATURES, when=lambda found: bool(found.beyond_chance.any()))
def axis(
    explanation: Explanation,
    path: Any = None,
    *,
    direction: Any = None,
    at: Any = None,
    width: float | None = None,
    sort_by: Literal["change", "push", "rho"] = "change",
) -> Axis:
    """Say what changes along a line drawn through the map.

    Parameters
    ----------
    explanation : Explanation
        Of the map.
    path : array-like of shape (n_vertices, n_components), default=None
        Corners of the line, in coordinates of the map; or give a `direction`.
    direction : array-like of shape (n_components,), default=None
        The line runs in this direction through the middle of `at`, from its 5th to its 95th percentile.
    at : int, mask or row numbers, default=None
        With `direction`: the region, all points by default. A single row takes its neighbours with it.
    width : float > 0, default=None
        Points at most so far from the line count. None takes twice the median, over places on the line, of the
        distance to the 15th nearest point; of a line through empty space at most half its length, but no less than the
        same median at points of the map.
    sort_by : {"change", "push", "rho"}, default="change"
        Sort by the least absolute change in standard deviations that its 95 % interval leaves, so that features whose
        interval covers 0 come last; by the absolute push; or by the absolute rank correlation.

    Returns
    -------
    Axis

    Raises
    ------
    ValueError
        If fewer than ten points lie near the line.

    Warns
    -----
    DataWarning
        If the points cover less than half of the line.
    """
    check_parameters({"sort_by": Options(*_SORTS)}, {"sort_by": sort_by})
    if (path is None) == (direction is None):
        raise ValueError(message("path and direction", "one given, the other None"))
    if at is not None and direction is None:
        raise ValueError(message("at", "None when a path is given"))
    if path is None:
        path = _straight(explanation, direction, at)
    near = find_points_near(explanation.places, check_path(path, explanation.n_components), width)
    if near.covered[1] - near.covered[0] < _LITTLE * near.length:
        warn(f"{_cover_words(near)}: draw it through them.", DataWarning)
    table = _trend_table(explanation, near)
    table["push"], table["push_error"] = _pushes(explanation, near)
    least, ahead = table.pop("least"), table.pop("ahead")
    chosen = least if sort_by == "change" else np.abs(table[sort_by])
    order = np.lexsort((-ahead, -least, -chosen))
    columns: dict[str, Any] = {name: column[order] for name, column in table.items()}
    return Axis(
        features=[explanation.feature_names[f] for f in order],
        indices=order.astype(np.int64),
        **columns,
        fidelity=held_out_r2(explanation._X, near.rows, near.t),
        r2=_mean_or_nan(explanation.r2[near.rows]),
        near=near,
        all_features=explanation.feature_names,
        _X=explanation._X,
    )


def _cover_words(near: PointsNear) -> str:
    """Return which part of a line its points cover."""
    start, end = near.covered
    return f"points cover {(end - start) / near.length:.0%} of the line, from {start:.3g} to {end:.3g}"


def _mean_or_nan(values: npt.NDArray[Any]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _straight(explanation: Explanation, direction: Any, at: Any) -> Array:
    places = explanation.places
    if at is None:
        region = places
    elif np.ndim(at) == 0:
        i = explanation._row(at)
        region = places[np.append(i, explanation._jacobians.indices[i])]
    else:
        region = places[row_mask(at, len(places), name="at")]
    known = region[has_place(region)]
    if not len(known):
        raise ValueError(message("at", "a region with a place in the map"))
    return path_through(region, direction, np.median(known, axis=0))


def _trend_table(explanation: Explanation, near: PointsNear) -> dict[str, Array]:
    """Return change and slope with errors and the rank correlation of every feature, and by what it is ranked.

    "least" is the least absolute change that the interval leaves, "ahead" the change in standard errors.
    """
    n_features, covered = explanation.n_features, near.covered[1] - near.covered[0]
    names = ("effect", "error", "change", "least", "slope", "rho", "ahead")
    table = {name: np.zeros(n_features) for name in names}
    scales = column_scales(explanation._X)
    for columns, values in _blocks_of_columns(explanation._X, near.rows):
        slope, error = slopes(near.t, values)
        largest = np.ptp(values, axis=0)
        table["slope"][columns] = slope
        table["change"][columns] = np.clip(slope * covered, -largest, largest)
        table["error"][columns] = error * covered
        table["least"][columns] = np.clip((np.abs(slope) - _INTERVAL * error) * covered, 0.0, largest)
        table["ahead"][columns] = _ratio(np.abs(slope), error)
        table["rho"][columns] = _rank_correlations(near.t, values)
    for name, of in (("effect", "change"), ("error", "error"), ("least", "least")):
        table[name] = scales.in_deviations(table[of])
    table["false_discovery_rate"] = _rates_of_chance(table["ahead"], table["rho"], len(near.rows))
    return table


def _ratio(size: Array, error: Array) -> Array:
    """Return sizes in their errors: 0 for 0, infinite for more without an error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(size == 0.0, 0.0, size / error)


def _rates_of_chance(ahead: Array, rho: Array, n: int) -> Array:
    """Return the least rates of false discoveries at which trends are found.

    By Student's test of the slope and of the rank correlation; the larger p-value counts, so that a few large values
    make no discovery.
    """
    degrees = float(n - 2)
    by_ranks = _ratio(np.abs(rho) * np.sqrt(degrees), np.sqrt(np.maximum(1.0 - rho**2, 0.0)))
    deviations = np.fmin(normal_deviations(ahead, degrees), normal_deviations(by_ranks, degrees))
    return adjusted_p_values(normal_p_values(deviations))


def _pushes(explanation: Explanation, near: PointsNear) -> tuple[Array, Array]:
    """Return the mean of the arrows along the line over its points and the standard error of the mean.

    Points near each other share neighbours: see `error_of_mean`.
    """
    known = np.flatnonzero(explanation.mask[near.rows])
    known = known[np.argsort(near.t[known], kind="stable")]
    known = known[evenly_spaced(len(known), _PUSH_ROWS)]
    if len(known) < 2:
        nothing = np.full(explanation.n_features, np.nan)
        return nothing, nothing
    rows, tangents = near.rows[known], near.tangents[known]
    push = np.zeros(explanation.n_features)
    for tangent, arrows in zip(tangents, each_local_arrows(explanation, rows), strict=True):
        push += np.sum(tangent[:, None] * arrows, axis=0)
    push /= len(rows)
    return push, error_of_mean(explanation, rows, np.full(len(rows), 1.0 / len(rows)), push, tangents)
