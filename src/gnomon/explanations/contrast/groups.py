"""What sets a selection of rows apart from the rest: one effect size and one ranking probability per feature.

Each number comes with its standard error, and the contrast with how well the features it names tell the groups apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._entrance import entrance
from gnomon._false_discoveries import adjusted_p_values, normal_p_values
from gnomon._run import current_run
from gnomon._validation import Integer, Options, check_parameters, message
from gnomon.data.names import default_names
from gnomon.data.scaling import choose_scaling
from gnomon.exceptions import GnomonWarning
from gnomon.explanations.answer import AnswersByLabel, Column, GroupedAnswer
from gnomon.explanations.collinear import FeatureGroups, check_groups
from gnomon.explanations.contrast.units import FEWEST_UNITS, UnitSums, check_units, told_of_too_few
from gnomon.explanations.rows import classes_of, dense_rows_of
from gnomon.geometry.check import check_features, row_mask
from gnomon.linalg import inner_products, product, stacked_solve
from gnomon.linalg.table import RowTable, evenly_spaced, float_rows, table_as_bytes
from gnomon.neighbors import alike_by_chance, find_repeats

__all__ = [
    "NOTHING_APART",
    "NOTHING_STRONGLY_APART",
    "Contrast",
    "auc_errors",
    "cluster_profiles",
    "contrast",
    "effect_size_errors",
]

NOTHING_APART = "no feature sets it apart"
"""The caption of what no feature tells from the rest beyond chance."""
NOTHING_STRONGLY_APART = "no feature sets it strongly apart"
"""How the caption begins of what features tell from the rest beyond chance, but only a little."""

Array = npt.NDArray[np.float64]

N_NAMED = 10
"""Features that the discriminant of a contrast uses."""

_ROWS = 1000  # rows of a side that the discriminant sees at most
_DAMPING = 1e-3
_RULES = {"sort_by": Options("auc", "effect_size")}
_FEWEST = 5  # rows of a side, for statistics
_NOTABLE = 0.1  # features whose AUC is at least this far from 0.5 set rows apart; weaker ones are said to be weak
_FALSE = 0.05  # share of chance among the features that are found, on the mean


def effect_size_errors(
    effect: Array, variances: tuple[Array, Array], sizes: tuple[int, int], *, by_rows: bool = True
) -> Array:
    """Return the standard errors of differences of means in deviations, of two sides that may vary differently.

    The difference of the means and the deviation it is divided by both vary from sample to sample: the first by
    ``(s1^2 / n1 + s2^2 / n2) / s^2``, the second, for normal features, by ``d^2 var(s^2) / (4 s^4)``. Where the
    variances are equal this is Hedges & Olkin's ``(n1 + n2) / (n1 n2) + d^2 / (2 (n1 + n2))`` up to terms of relative
    order 1 / n.

    Parameters
    ----------
    effect : ndarray of shape (n_features,), float64
    variances : pair of ndarray of shape (n_features,), float64
        Of both sides, with n - 1 as divisor; NaN of a single row, which is taken to vary as the other side.
    sizes : pair of int
    by_rows : bool, default=True
        Whether s^2 is the variance within sides over all rows (Cohen's d), or the mean of the two variances.

    Returns
    -------
    ndarray of shape (n_features,), float64
        NaN where the effect is infinite, 0 for a constant feature.

    References
    ----------
    .. [1] Bonett, "Confidence intervals for standardized linear contrasts of means", Psychological Methods 13, 2008.
    .. [2] Hedges & Olkin, "Statistical methods for meta-analysis", 1985, chapter 5.
    """
    sides = [np.where(np.isnan(one), other, one) for one, other in (variances, variances[::-1])]
    _, exponents = np.frexp(np.maximum(*sides))
    sides = [np.ldexp(one, -exponents) for one in sides]  # only their ratios count, whose squares stay in range
    freedom = [max(size - 1, 0) for size in sizes]
    total = max(sum(freedom), 1)
    shares = [one / total if by_rows else 0.5 for one in freedom]
    square = shares[0] * sides[0] + shares[1] * sides[1]
    of_means = sides[0] / sizes[0] + sides[1] / sizes[1]
    of_square = sum(2.0 * (w * v) ** 2 / max(f, 1) for w, v, f in zip(shares, sides, freedom, strict=True))
    finite = np.where(np.isfinite(effect), effect, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = of_means / square + finite**2 * of_square / (4.0 * square**2)
    return np.where(effect == 0, np.sqrt(np.where(square > 0, variance, 0.0)), np.sqrt(variance))


def auc_errors(auc: Array, spreads: tuple[Array, Array], sizes: tuple[int, int]) -> Array:
    """Return the standard errors of ranking probabilities, whatever the distributions.

    Parameters
    ----------
    auc : ndarray of shape (n_features,), float64
    spreads : pair of ndarray of shape (n_features,), float64
        Variance, over the rows of each side, of the share of the other side that a row lies above (of the second side:
        that lies above it). NaN of a single row: it is then that of exponential features [2]_.
    sizes : pair of int

    Returns
    -------
    ndarray of shape (n_features,), float64
        0 where the sides do not overlap, and for a constant feature.

    References
    ----------
    .. [1] DeLong, DeLong & Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
       characteristic curves: a nonparametric approach", Biometrics 44, 1988.
    .. [2] Hanley & McNeil, "The meaning and use of the area under a ROC curve", Radiology 143, 1982.
    """
    of_one = (auc / (2.0 - auc) - auc**2, 2.0 * auc**2 / (1.0 + auc) - auc**2)
    sides = [np.where(np.isnan(one), single, one) for one, single in zip(spreads, of_one, strict=True)]
    variance = np.maximum(sides[0], 0.0) / sizes[0] + np.maximum(sides[1], 0.0) / sizes[1]
    return np.where((auc > 0) & (auc < 1), np.sqrt(variance), 0.0)


def _rates_of_chance(auc: Array, sizes: tuple[int, int]) -> Array:
    """Return the least rates of false discoveries at which features are found, by the test of Mann and Whitney.

    Ties are not taken from the variance, so the test finds too few features of few different values, and never too
    many: with the errors of `auc_errors` it finds chance wherever the few rows of a side happen to vary little.

    Parameters
    ----------
    auc : ndarray of shape (n_features,), float64
    sizes : pair of int
    """
    deviation = np.sqrt((sum(sizes) + 1) / (12.0 * sizes[0] * sizes[1]))
    return adjusted_p_values(normal_p_values(np.abs(auc - 0.5) / deviation))


def _split_groups(
    groups: npt.NDArray[np.int32], n_groups: int, sets: npt.NDArray[np.integer[Any]] | None = None
) -> npt.NDArray[np.int8]:
    """Give the rows of each group to two halves at random with a fixed seed; -1 for rows beyond what is needed.

    Rows of one set, by their numbers, come to the same half; rows in none (-1) to no half.
    """
    rng = np.random.default_rng(0)
    half = np.full(len(groups), -1, dtype=np.int8)
    of_set = None if sets is None else np.full(int(sets.max(initial=-1)) + 1, -1, dtype=np.int8)
    for g in range(n_groups):
        rows = rng.permutation(np.flatnonzero(groups == g))
        if sets is None or of_set is None:
            rows = rows[: 2 * _ROWS]
            half[rows] = np.arange(len(rows)) % 2
            continue
        rows = rows[sets[rows] >= 0][: 2 * _ROWS]
        found, first = np.unique(sets[rows], return_index=True)
        new = found[np.argsort(first)]
        new = new[of_set[new] < 0]
        of_set[new] = np.arange(len(new)) % 2
        half[rows] = of_set[sets[rows]]
    return half


@dataclass(frozen=True)
class _Repeats:
    """Rows that were measured or copied several times, among those that are looked at.

    Attributes
    ----------
    sets : ndarray of shape (n_samples,), int64
        Number of the set of each row; -1 for rows that are not looked at.
    """

    sets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, X: Any, groups: npt.NDArray[np.int32], n_groups: int) -> _Repeats | None:
        """Look for repeats among the rows whose halves are compared; None without any.

        Columns of unlike units are standardised for it, as they are to map or to explain them.
        """
        rows = np.flatnonzero(_split_groups(groups, n_groups) >= 0)
        if len(rows) < 2:
            return None
        values = float_rows(X[rows])
        with warnings.catch_warnings():  # numbers are contrasted as they are
            warnings.simplefilter("ignore", GnomonWarning)
            scaling = choose_scaling(values, "auto", names=default_names(int(values.shape[1]))).scaling
            kept, inverse = find_repeats(values if scaling is None else float_rows(scaling.apply(values)), seed=0)
        if len(kept) == len(rows) or alike_by_chance(values, len(rows) - len(kept)):
            return None
        sets = np.full(len(groups), -1, dtype=np.int64)
        sets[rows] = inverse
        return cls(sets)

    def distinct(self, inside: npt.NDArray[np.bool_]) -> int:
        """Return about how many of some rows are distinct."""
        looked_at = self.sets[inside & (self.sets >= 0)]
        n = int(np.count_nonzero(inside))
        return max(round(n * len(np.unique(looked_at)) / len(looked_at)), 1) if len(looked_at) else n


def _side(groups: npt.NDArray[np.int32], g: int, inside: bool) -> npt.NDArray[np.intp]:
    """Return rows of a group, or evenly spaced ones of all other groups."""
    rows = np.flatnonzero(groups == g) if inside else np.flatnonzero((groups >= 0) & (groups != g))
    return rows[evenly_spaced(len(rows), _ROWS)]


def _held_out_auc(
    X: Any,
    groups: npt.NDArray[np.int32],
    n_groups: int,
    rank: Callable[[Any, npt.NDArray[np.int32]], npt.NDArray[np.integer[Any]]],
    sets: npt.NDArray[np.integer[Any]] | None = None,
) -> Array:
    """Return for each group how well the most distinctive features tell it from the others on rows not looked at.

    In one half of the rows `rank` chooses the `N_NAMED` features of every group and a linear discriminant is fitted
    to them; its AUC is taken in the other half; then the halves change places, and the two are averaged. At most
    1,000 rows of a side are used.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    groups : ndarray of shape (n_samples,)
        Group of each row, -1 for none.
    n_groups : int
    rank : callable
        Takes rows of X and their groups, returns (n_groups, n_features) columns, most distinctive first.
    sets : ndarray of shape (n_samples,), default=None
        Rows of one set, by their numbers, are in one half together; those in none (-1) are in no half.

    Returns
    -------
    ndarray of shape (n_groups,)
        About 0.5 if there is nothing to find; NaN for a group or a rest of fewer than two rows or sets.
    """
    halves = _split_groups(groups, n_groups, sets)
    scores = np.full((2, n_groups), np.nan)
    sizes = np.bincount(groups[groups >= 0], minlength=n_groups)
    possible = (sizes >= 2) & (sizes.sum() - sizes >= 2)
    parts = [np.flatnonzero(halves == h) for h in (0, 1)]
    for rows in parts:
        counts = np.bincount(groups[rows], minlength=n_groups)
        possible &= (counts > 0) & (counts.sum() > counts)
    if not possible.any() or any(len(np.unique(groups[rows])) < 2 for rows in parts):
        return np.full(n_groups, np.nan)
    tables = [(X[rows], groups[rows]) for rows in parts]
    for h in (0, 1):
        (known, known_groups), (unseen, unseen_groups) = tables[h], tables[1 - h]
        named = rank(known, known_groups)[:, :N_NAMED]
        for g in np.flatnonzero(possible):
            sides = [
                dense_rows_of(table, _side(of, int(g), inside), named[g])
                for table, of in ((known, known_groups), (unseen, unseen_groups))
                for inside in (True, False)
            ]
            scores[h, g] = _auc_of_discriminant(*sides)
    found: Array = scores.mean(axis=0)
    return found


def _auc_of_discriminant(inside: Array, outside: Array, new_inside: Array, new_outside: Array) -> float:
    """Fit a linear discriminant to two sides and return its AUC on two others."""
    both = np.concatenate([inside - inside.mean(axis=0), outside - outside.mean(axis=0)])
    scale = np.sqrt(np.mean(both**2, axis=0))
    scale[scale == 0] = 1.0
    gap = (inside.mean(axis=0) - outside.mean(axis=0)) / scale
    covariance = inner_products(both / scale) / len(both)
    weights = stacked_solve((covariance + _DAMPING * np.eye(len(gap)))[None], gap[None, :, None])[0, :, 0] / scale
    high, low = product(new_inside, weights), np.sort(product(new_outside, weights))
    below = np.searchsorted(low, high, side="left") + np.searchsorted(low, high, side="right")
    return float(below.mean() / (2 * len(low)))


@dataclass(frozen=True, kw_only=True)
class Contrast(GroupedAnswer):
    """Features by how far they set a selection apart from the rest.

    Sorted by ``|auc - 0.5|`` (or ``|effect_size|``), then by the other, then by column number.

    Attributes
    ----------
    features : list of str
        Names, most distinctive first.
    indices : ndarray of shape (n_features,), int64
        Their column numbers.
    effect, effect_size : ndarray of shape (n_features,), float64
        Difference of the means in pooled standard deviations (Cohen's d), positive if the selection is higher. 0 for
        a constant feature; infinite if the means differ and neither side varies.
    error : ndarray of shape (n_features,), float64
        Standard error of the effect size, for sides that may vary differently (Bonett); NaN where that is infinite. It
        takes rows as independent draws. 1.96 errors to both sides held the true effect size in 91 to 97 % of draws of
        normal features, counts and yes/no features of 20 against 200 rows and more, but in 88 to 97 % with 5 rows
        selected of 55.
    auc : ndarray of shape (n_features,), float64, in [0, 1]
        Probability that a selected row is above a row of the rest, ties counted half. 0.5 for a constant feature.
    auc_error : ndarray of shape (n_features,), float64
        Standard error of the AUC, whatever the distributions (DeLong); 0 where the sides do not overlap. 1.96 errors to
        both sides held the true AUC in 91 to 95 % of draws of 20 against 200 rows and more.
    false_discovery_rate : ndarray of shape (n_features,), float64, in [0, 1]
        Share of chance, on the mean, among this feature and those that are set apart more (Benjamini and Hochberg, by
        the test of Mann and Whitney): above 0.05 no caption names it. It takes rows as independent draws, which
        cells of one donor or repeated measurements are not; with `units` it is judged between these, by Student's test
        of their means, and 1 where they are too few or differ the other way than the rows.
    mean_selected, mean_rest : ndarray of shape (n_features,), float64
        Means on both sides, in the units of the feature; for a group of features those of the member most correlated
        with it.
    n_selected, n_rest : int
        Number of rows on both sides.
    n_units : tuple (int, int) or None
        Units, such as donors, that are compared on both sides; None where rows are taken as independent.
    n_beyond_chance : int
        Features whose rate of false discoveries is 0.05 or less, of all that were compared (`beyond_chance`), however
        little they differ; those of them that differ notably are `sets_apart`.
    caution : str, default=""
        What the answer leaves out, such as weights of rows that made the map, or metadata of it that may be units by
        their name; empty if nothing.
    n_repeats : int
        Rows, about, that repeat others of their side, in sets of two to ten, where a tenth of the rows or more could be
        spared: equal rows, and those that lie as near to others, for how far the rest is, as repeated measurements do.
        Errors and rates of false discoveries count each set once.
    fidelity : float in [0, 1], or NaN
        How well the features that are named first tell the two sides apart: AUC of a linear discriminant of the ten
        most distinctive ones, chosen and fitted in one half of the rows, taken in the other. Units, or else sets of
        repeated rows, are in one half as a whole. 0.5 says nothing. NaN if a side has fewer than two of them.
    """

    _question: ClassVar[str] = "contrast"
    _per_feature: ClassVar[tuple[str, ...]] = (
        "effect_size",
        "auc",
        "auc_error",
        "false_discovery_rate",
        "beyond_chance",
        "sets_apart",
        "mean_selected",
        "mean_rest",
    )
    _facts: ClassVar[tuple[str, ...]] = ("n_selected", "n_rest", "n_units", "n_beyond_chance", "n_repeats")
    _columns: ClassVar[tuple[Column, ...]] = (
        Column("effect size", "effect", "error"),
        Column("AUC", "auc", "auc_error"),
        Column("mean selected", "mean_selected"),
        Column("mean rest", "mean_rest"),
    )

    auc: npt.NDArray[np.float64]
    auc_error: npt.NDArray[np.float64]
    false_discovery_rate: npt.NDArray[np.float64]
    mean_selected: npt.NDArray[np.float64]
    mean_rest: npt.NDArray[np.float64]
    n_selected: int
    n_rest: int
    n_beyond_chance: int
    n_units: tuple[int, int] | None = None
    n_repeats: int = 0

    @property
    def effect_size(self) -> npt.NDArray[np.float64]:
        """Another name of the effect."""
        return self.effect

    def caption(self, n_top: int = 3) -> str:
        """Return a phrase such as "more aspect_ratio, less zinc".

        Only features with an AUC below 0.4 or above 0.6 that is no chance: at most one in twenty of the features found
        is, on the mean. If there is none, but features that differ less are no chance: "no feature sets it strongly
        apart; 2 differ beyond chance: more hue, less ash". If there are none of these: "no feature sets it apart".
        """
        apart = self._phrases(self.sets_apart, n_top)
        if apart:
            return apart
        if not self.n_beyond_chance:
            return NOTHING_APART
        weak = self._phrases(self.beyond_chance, n_top)
        count = f"{self.n_beyond_chance:,} differ{'s' if self.n_beyond_chance == 1 else ''} beyond chance"
        most = ", most" if self.n_beyond_chance > n_top else ""
        return f"{NOTHING_STRONGLY_APART}; {count}{f'{most}: {weak}' if weak else ''}"

    def _phrases(self, which: npt.NDArray[np.bool_], n_top: int) -> str:
        """Say of the first of some features in which direction they differ."""
        named = np.flatnonzero(which)[:n_top]
        return ", ".join(f"{'more' if self.auc[k] > 0.5 else 'less'} {self.features[k]}" for k in named)

    @property
    def beyond_chance(self) -> npt.NDArray[np.bool_]:
        """Which features differ beyond chance, (n_features,)."""
        found: npt.NDArray[np.bool_] = self.false_discovery_rate <= _FALSE
        return found

    @property
    def sets_apart(self) -> npt.NDArray[np.bool_]:
        """Which features differ beyond chance and notably, with an AUC below 0.4 or above 0.6, (n_features,)."""
        found: npt.NDArray[np.bool_] = (np.abs(self.auc - 0.5) >= _NOTABLE) & self.beyond_chance
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the table with plain Python values; an infinite effect size stays a float."""
        return {**super().to_dict(), "caption": self.caption()}

    def headline(self) -> str:
        """Return what sets the selection apart, on one line, and the caution on a second."""
        return self._with_caution(self._told)

    @property
    def _told(self) -> str:
        """Return what is said of the selection as a whole."""
        text = f"{self.n_selected} selected, {self.n_rest} in the rest: "
        told = f"; up to ten features tell them apart with AUC {self.fidelity:.2f} on"
        if self.n_units is not None:
            of = f"{self.n_units[0]} and {self.n_units[1]} units"
            if min(self.n_units) < FEWEST_UNITS:
                return f"{text}{told_of_too_few(self.n_units)}"
            text += self.caption()
            text += (
                f"{told} units held out"
                if np.isfinite(self.fidelity)
                else "; too few units to hold out how well features tell them apart"
            )
            return f"{text}; chance is judged between {of}"
        text += self.caption()
        if np.isfinite(self.fidelity):
            text += f"{told} rows held out"
            text += "" if self.sets_apart.any() else ", where chance has 0.50"
        if self.n_beyond_chance:
            text += "" if self.n_repeats else "; chance is judged as of independent rows"
        if self.n_repeats:
            text += (
                f"; {self.n_repeats:,} rows repeat others of their side, or nearly, and each set is held out whole and "
                "counts as one row"
            )
        if min(self.n_selected, self.n_rest) < _FEWEST:
            text += f"; fewer than {_FEWEST} rows are too few for statistics"
        return text


def _order(auc: npt.NDArray[np.float64], effect: npt.NDArray[np.float64], sort_by: str) -> npt.NDArray[np.int64]:
    keys = [-np.abs(auc - 0.5), -np.abs(effect)]
    if sort_by == "effect_size":
        keys.reverse()
    order: npt.NDArray[np.int64] = np.lexsort((keys[1], keys[0]))
    return order


def _group_contrasts(X: Any, groups: npt.NDArray[np.int32], n_groups: int) -> Any:
    """Return what `_core.group_contrasts` does, each (n_groups, n_features), in one pass over the columns."""
    if hasattr(X, "tocsc"):
        # In CSC form a column is a row of the transposed table.
        X = X.T
    return _core.group_contrasts(RowTable.of(X).core, np.ascontiguousarray(groups), n_groups, current_run().n_threads)


def _contrasts(
    X: Any,
    groups: npt.NDArray[np.int32],
    n_groups: int,
    names: list[str],
    sort_by: str,
    collinear: FeatureGroups | None = None,
    units: npt.NDArray[np.int64] | None = None,
) -> list[Contrast]:
    """Contrast every group of rows with all others; halves hold units, or else sets of repeated rows, whole.

    `units` holds the unit of each row, -1 for none; then chance is judged between these.
    """
    if collinear is not None and collinear.groups:
        joined = _contrasts(collinear.joined(X), groups, n_groups, collinear.explanation.feature_names, sort_by)
        _, mean, rest_mean, *_ = _group_contrasts(X[:, collinear.representatives], groups, n_groups)
        return [
            collinear.label(replace(one, mean_selected=mean[g, one.indices], mean_rest=rest_mean[g, one.indices]))
            for g, one in enumerate(joined)
        ]
    auc, mean, rest_mean, effect, *moments = _group_contrasts(X, groups, n_groups)

    def rank(part: Any, of: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        # A group of one row is in one half only; the kernel takes groups that have rows.
        present, compact = np.unique(of, return_inverse=True)
        part_auc, _, _, part_effect, *_ = _group_contrasts(part, compact.astype(np.int32), len(present))
        orders = np.zeros((n_groups, len(names)), dtype=np.int64)
        orders[present] = [_order(a, e, sort_by) for a, e in zip(part_auc, part_effect, strict=True)]
        return orders

    repeats = _Repeats.of(X, groups, n_groups) if units is None else None
    sets = units if repeats is None else repeats.sets
    fidelity = _held_out_auc(X, groups, n_groups, rank, sets)
    between = None if units is None else UnitSums.of(X, groups, units)
    sizes = np.bincount(groups[groups >= 0], minlength=n_groups)
    found = []
    for g in range(n_groups):
        order = _order(auc[g], effect[g], sort_by)
        n_selected, n_rest = int(sizes[g]), int(sizes.sum() - sizes[g])
        variance, rest_variance, spread, rest_spread = (one[g, order] for one in moments)
        sizes_of_both = n_selected, n_rest
        if repeats is not None:
            sizes_of_both = repeats.distinct(groups == g), repeats.distinct((groups >= 0) & (groups != g))
        if between is None:
            rates, n_units = _rates_of_chance(auc[g, order], sizes_of_both), None
        else:
            chances, n_units = between.chances(g)
            rates = np.ones(len(order)) if chances is None else adjusted_p_values(chances)[order]
        found.append(
            Contrast(
                features=[names[f] for f in order],
                indices=order,
                effect=effect[g, order],
                error=effect_size_errors(effect[g, order], (variance, rest_variance), sizes_of_both),
                fidelity=float(fidelity[g]),
                auc=auc[g, order],
                auc_error=auc_errors(auc[g, order], (spread, rest_spread), sizes_of_both),
                false_discovery_rate=rates,
                mean_selected=mean[g, order],
                mean_rest=rest_mean[g, order],
                n_selected=n_selected,
                n_rest=n_rest,
                n_beyond_chance=int(np.count_nonzero(rates <= _FALSE)),
                n_units=n_units,
                n_repeats=n_selected + n_rest - sum(sizes_of_both),
            )
        )
    return found


@entrance("contrast")
def contrast(
    X: Any,
    selection: Any,
    rest: Any = None,
    *,
    feature_names: Any = None,
    sort_by: Literal["auc", "effect_size"] = "auc",
    groups: FeatureGroups | None = None,
    units: npt.ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Contrast:
    """Say what sets a selection of rows apart from the rest, feature by feature.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data; sparse data stay sparse. Numbers count as they are: of angles ask `gnomon.Map.contrast`, which knows
        where they start again.
    selection : boolean mask of shape (n_samples,) or array of row numbers
        At least one row.
    rest : mask or row numbers, default=None
        The rows to compare with; all that are not selected by default. It must not share rows with the selection.
    feature_names : sequence of n_features str, default=None
        By default the columns of a data frame, else "feature 0" and so on.
    sort_by : {"auc", "effect_size"}, default="auc"
        The AUC depends on ranks alone and so is not swayed by outliers or scales.
    groups : FeatureGroups, default=None
        What `group_features` found in an explanation of the same rows: features that are collinear along the map are
        compared as one, by their score.
    units : array-like of shape (n_samples,), default=None
        What was drawn independently, such as the donor of each cell or the patient of each visit, where rows of one
        unit are alike. What sets the selection apart is then judged between units: by the means of those on either
        side, or of at least 3 with rows on both sides by the difference of their two means (others then take no part).
        With fewer than 3 on a side it cannot be told. Effects and AUC are those of the rows all the same, but nothing
        is named that units differ in the other way than their rows, and units are held out whole. None takes every row
        as independent, and each set of rows that repeat each other as one. Rows without a unit (None, NaN, empty) are
        in no mean. Not with `groups`.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Contrast
        A description of these rows: a selection made by looking at a map differs by construction, also where its
        caption finds features that are no chance for rows drawn at random.
    """
    check_parameters(_RULES, {"sort_by": sort_by})
    values, labels = check_features(X, feature_names)
    n = int(values.shape[0])
    inside = row_mask(selection, n, name="selection")
    if rest is None:
        outside = ~inside
        if not outside.any():
            raise ValueError(message(f"selection with all {n} rows", "smaller than the data"))
    else:
        outside = row_mask(rest, n, name="rest")
    shared = int(np.count_nonzero(inside & outside))
    if shared:
        raise ValueError(message(f"rest with {shared} selected rows", "apart from the selection"))
    sides = np.where(inside, 0, np.where(outside, 1, -1)).astype(np.int32)
    owners = check_units(units, n, groups)
    return _contrasts(table_as_bytes(values), sides, 2, labels, sort_by, check_groups(groups), owners)[0]


@entrance("cluster_profiles")
def cluster_profiles(
    X: Any,
    labels: Any,
    *,
    n_top: int | None = 10,
    feature_names: Any = None,
    sort_by: Literal["auc", "effect_size"] = "auc",
    groups: FeatureGroups | None = None,
    units: npt.ArrayLike | None = None,
    n_jobs: int | None = None,
) -> AnswersByLabel[Contrast]:
    """Contrast every cluster with all other rows, in one pass over the features.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data.
    labels : array-like of shape (n_samples,)
        The cluster of each row; at least two different ones. -1 is a cluster like any other. Rows whose label is
        None, NaN or an empty text are in no cluster and take no part.
    n_top : int >= 1 or None, default=10
        Features kept for each cluster; None for all.
    feature_names, sort_by, groups, n_jobs
        As in `contrast`.
    units : array-like of shape (n_samples,), default=None
        What was drawn independently, such as the donor of each cell, as in `contrast`: what sets a cluster apart is
        judged between these, as `contrast` of its rows and all others in clusters does. A cluster of which it cannot be
        told says so. None takes every row as independent. Not with `groups`.

    Returns
    -------
    AnswersByLabel
        A dict of label to Contrast in the order of the sorted labels; `print` shows tables.
    """
    checked = {"n_top": 1 if n_top is None else n_top, "sort_by": sort_by}
    check_parameters({**_RULES, "n_top": Integer(1)}, checked)
    values, feature_labels = check_features(X, feature_names)
    classes = classes_of(labels, int(values.shape[0]))
    codes = classes.codes.astype(np.int32)
    owners = check_units(units, len(codes), groups)
    table, known = table_as_bytes(values), check_groups(groups)
    contrasts = _contrasts(table, codes, len(classes), feature_labels, sort_by, known, owners)
    kept = contrasts if n_top is None else [profile.head(n_top) for profile in contrasts]
    return AnswersByLabel(zip(classes.values, kept, strict=True))
