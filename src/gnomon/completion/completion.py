"""A table with missing values becomes a complete one, with the error of that measured on values hidden for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._cached import cached_property
from gnomon._entrance import entrance
from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.completion.kept import KEPT_NEIGHBORS, share_kept
from gnomon.completion.predictors import Rows, blocks
from gnomon.completion.recipe import HeldOut, Learned, Recipe, learn
from gnomon.data import check_feature_count, check_table
from gnomon.data.arrays import LARGEST_SQUARED
from gnomon.data.dataset import first_few
from gnomon.data.names import default_names
from gnomon.data.unlike_columns import describe_unlike_columns
from gnomon.linalg import share, uniform_matrix

__all__ = ["Completion", "check_missing", "complete_missing", "learn_to_fill"]

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.floating[Any]]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]

_STREAM_DONORS = 201
_MOST_DONORS = 4096
_DONOR_ENTRIES = 3 * 10**7  # at most
_FEWEST_LACKING = 8  # of them that lack a value
_SHOWN = 5  # columns or rows named


def check_missing(missing: Any) -> str:
    """Return `missing` if it is one of its words, else raise ValueError."""
    if isinstance(missing, str) and missing in ("distance", "median", "drop", "error"):
        return missing
    raise ValueError(message(f"missing={missing!r:.40}", "one of 'distance', 'median', 'drop', 'error'"))


@dataclass(frozen=True, eq=False)
class Completion(ShortRepr):
    """A table whose missing values were filled in, and how well that could be done.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The complete table; known values are as they were.
    missing : ndarray of shape (n_samples, n_features), bool
        Which values were missing.
    how : {"distance", "median"}
        The way they were filled in.
    held_out : HeldOut
        What became of known values that were hidden, each tested row losing what another row lacks on top of what it
        lacks itself, and the share of their neighbours that rows which lack a value keep.
    donors : ndarray of shape (n_donors,), int64
        The rows that were learned from: all, or a random sample of at most 4,096.
    recipe : Recipe
        What was learned.
    feature_names : list of str or None
        Names of the columns, None where they had none.
    """

    X: FloatArray = field(repr=False)
    missing: BoolArray = field(repr=False)
    how: str
    held_out: HeldOut
    donors: npt.NDArray[np.int64] = field(repr=False)
    recipe: Recipe = field(repr=False)
    feature_names: list[str] | None = field(default=None, repr=False)

    @property
    def missing_by_column(self) -> Float64Array:
        """Share of missing values in each column."""
        return np.asarray(self.missing.mean(axis=0))

    @property
    def missing_by_row(self) -> Float64Array:
        """Share of missing values in each row."""
        return np.asarray(self.missing.mean(axis=1))

    @cached_property
    def _learned(self) -> _Donors:
        return _Donors.of(self.recipe, np.where(self.missing[self.donors], np.nan, self.X[self.donors]))

    @entrance("Completion")
    def fill(self, X: Any) -> FloatArray:
        """Return rows with the missing values filled in, each row by itself.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            NaN where a value is missing.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            Known values as they were. A row of `X` gets what it has there, up to rounding.

        Raises
        ------
        ValueError
            If X has other columns than the table that was completed, or the same in another order.
        """
        table = check_table(X, min_samples=0, allow_missing=True, known_as=self.feature_names, largest=LARGEST_SQUARED)
        if table.feature_names is not None:
            check_feature_count(table, self.X.shape[1], self.feature_names, kept_as="feature_names")
        rows = table.values
        if rows.shape[1] != self.X.shape[1]:
            fact = f"{rows.shape[1]} columns, {self.X.shape[1]} before"
            raise ValueError(message("X", "a table with the columns that were completed", fact=fact))
        return _fill(np.asarray(rows), self.recipe, None if self.recipe.model is None else self._learned)

    def summary(self, feature_names: list[str] | None = None, *, columns: Mapping[str, int] | None = None) -> str:
        """Say what was missing, what was done and how well it could be done, without a full stop at the end.

        Parameters
        ----------
        feature_names : list of str or None, default=None
            None takes the names of the table, or numbers the features if it had none.
        columns : mapping of str to int or None, default=None
            Columns that the features were made of, by name, and the first feature of each: these are counted then,
            so that the indicators of a missing category are one value.
        """
        names = feature_names or self.feature_names or default_names(self.X.shape[1])
        missing = self.missing
        if columns is not None:
            names, missing = list(columns), missing[:, list(columns.values())]
        by_column, total = missing.sum(axis=0), int(missing.sum())
        lacking = np.flatnonzero(by_column)
        lacking = lacking[np.argsort(-by_column[lacking], kind="stable")]
        named = _listed([f"{names[j]!r} {by_column[j]:,}" for j in lacking])
        filled = (
            "by rows that are alike and by linear relations of the columns"
            if self.how == "distance"
            else ("with the median of their column")
        )
        text = (
            f"{total:,} of {missing.size:,} values are missing ({total / missing.size:.1%}), in "
            f"{len(lacking):,} of {len(by_column):,} columns ({named}): they are filled in {filled}"
        )
        if self.held_out.n_values and np.isfinite(self.held_out.error):
            text += (
                f". In a test on {self.held_out.n_values:,} known values the squared error was "
                f"{self.held_out.error:.0%} of the variance"
            )
        if self.held_out.n_values and np.isfinite(self.held_out.error) and np.isfinite(self.held_out.kept):
            text += (
                "; if what is missing is like what is known, rows that lack a value keep about "
                f"{self.held_out.kept:.0%} of their {KEPT_NEIGHBORS} nearest neighbours"
            )
        starts = np.arange(len(names)) if columns is None else np.array(list(columns.values()))
        if constant := [told for j in lacking if (told := self._told_constant(names[j], int(starts[j])))]:
            text += f". Columns of which all known values are one are filled with it: {_listed(constant)}; put in what "
            text += "blanks mean if that is another value, such as 0"
        empty = np.flatnonzero(by_column == len(missing))
        if len(empty):
            text += f". Columns without any value are set to 0: {_listed([repr(names[j]) for j in empty])}"
        poor = np.flatnonzero(missing.mean(axis=1) > 0.5)
        if len(poor):
            rows = "row lacks" if len(poor) == 1 else "rows lack"
            text += f". {len(poor):,} {rows} more than half of the values; their places mean little: "
            text += _listed([str(i) for i in poor])
        return text

    def _told_constant(self, name: str, feature: int) -> str:
        """Say which value a column has wherever it has one; empty if it has several or none."""
        known = self.X[~self.missing[:, feature], feature]
        return f"{name!r} {known[0]:.6g}" if len(known) and known.min() == known.max() else ""


def _listed(texts: list[str]) -> str:
    return first_few(texts, _SHOWN)


@dataclass(frozen=True, eq=False)
class _Donors:
    """The rows that others are completed from.

    Attributes
    ----------
    rows : Rows
        With their gaps.
    complete : ndarray of shape (n_donors, n_features), float32
        After the first completion.
    """

    rows: Rows
    complete: Float32Array

    @classmethod
    def of(cls, recipe: Recipe, X: FloatArray) -> _Donors:
        rows = recipe.rows(X)
        found = share(lambda block: recipe.begin(rows[block], rows)[1], blocks(len(X)))
        return cls(rows, np.concatenate(found))


def _fill(X: FloatArray, recipe: Recipe, donors: _Donors | None) -> FloatArray:
    """Return the table with the missing values filled in; donors are None where the center is."""
    found = np.array(X)
    gaps = np.flatnonzero(np.isnan(found).any(axis=1))

    def work(block: slice) -> None:
        some = found[gaps[block]]
        expected = recipe.center
        if donors is not None:
            linear, row = recipe.begin(recipe.rows(some), donors.rows)
            expected = _expected(some, recipe, recipe.end(linear, row, donors.rows, donors.complete))
        found[gaps[block]] = np.where(np.isnan(some), expected, some)

    share(work, blocks(len(gaps)))
    return found


def _expected(some: FloatArray, recipe: Recipe, found: Float32Array) -> Float64Array:
    """Return what is expected of rows, in units of the table; of those that hold nothing the center."""
    empty = np.isnan(some).all(axis=1, keepdims=True)
    return np.asarray(np.where(empty, recipe.center, recipe.center + recipe.spread * found))


def _fill_donors(X: FloatArray, learned: Learned, donors: _Donors) -> FloatArray:
    """Return the rows that were learned from, of which the first steps are known."""
    found, recipe = np.array(X), learned.recipe

    def work(block: slice) -> None:
        expected = recipe.end(learned.linear[block], learned.complete[block], donors.rows, donors.complete)
        some = found[block]
        found[block] = np.where(np.isnan(some), _expected(some, recipe, expected), some)

    share(work, blocks(len(found)))
    return found


@entrance("complete_missing", seeded=True)
def complete_missing(
    X: Any,
    how: str = "distance",
    *,
    feature_names: Any = None,
    standardize: bool | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Completion:
    """Fill in the missing values of a table so that its rows keep their neighbours.

    A missing value is expected in two ways. Linear: the columns are taken as jointly normal with few components, and
    the value is its mean given those that the row has. Local: it is the mean over the row's nearest rows, which are
    found by the distance over shared features with the expected rest, and a second time by the distance of the rows
    completed. How many components and neighbours are used and how the two are weighed is what predicts best known
    values that are hidden for it. The means of columns are those of the completed table. A column whose hidden values
    are missed by more than its mean misses them, or of which few values tell, is drawn to the mean. Each row is
    completed by itself, from a sample of at most 4,096 rows, so that time grows in proportion to the table. A row
    without any value gets the means.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        NaN where a value is missing.
    how : {"distance", "median"}, default="distance"
        "median" fills in the median of the column.
    feature_names : sequence of str or None, default=None
        None takes the column names of a data frame.
    standardize : bool or None, default=None
        Whether columns count alike; None standardises where they have unlike units. Values that come out are in the
        units of the table all the same.
    random_state : int, default=0
        The same seed gives the same bytes for any number of threads.
    n_jobs : int or None, default=None
        Number of threads, None or -1 for all usable CPUs. Does not change the result.

    Returns
    -------
    Completion

    Raises
    ------
    TypeError
        If X is sparse.
    ValueError
        If X holds infinity or has fewer than three rows.

    References
    ----------
    .. [1] Eirola, Doquire, Verleysen & Lendasse, "Distance estimation in numerical data sets with missing values",
       Information Sciences 240, 2013.
    .. [2] Tipping & Bishop, "Probabilistic principal component analysis", JRSS B 61, 1999.
    """
    if how not in ("distance", "median"):
        raise ValueError(message(f"how={how!r:.40}", "'distance' or 'median'"))
    table = check_table(X, min_samples=3, feature_names=feature_names, allow_missing=True, largest=LARGEST_SQUARED)
    values = np.asarray(table.values)
    missing = np.isnan(values)
    seed = current_run().seed
    rows = _draw_donors(missing, seed)
    blank = _units(values, missing, table.feature_names, standardize)
    recipe, held_out, donors = blank, HeldOut(0, np.nan), None
    if not missing.any():
        return Completion(values, missing, how, held_out, rows, blank, table.feature_names)
    if how == "median":
        recipe = replace(blank, center=_medians(values, missing))
        filled = _fill(values, recipe, None)
    else:
        learned = learn(blank, blank.rows(values[rows]), seed)
        recipe = learned.recipe
        own = recipe.rows(values[rows])
        donors = _Donors(own, learned.complete)
        filled = np.array(values)
        others = np.setdiff1d(np.arange(len(values)), rows)
        filled[rows] = _fill_donors(values[rows], learned, donors)
        filled[others] = _fill(values[others], recipe, donors)
        held_out = replace(learned.held_out, kept=share_kept(learned, own, rows, missing, filled, seed))
    filled.flags.writeable = False
    made = Completion(filled, missing, how, held_out, rows, recipe, table.feature_names)
    if donors is not None:
        made.__dict__["_learned"] = donors
    return made


def learn_to_fill(
    X: Any,
    how: str,
    *,
    feature_names: Any = None,
    columns: Sequence[int] | None = None,
    standardize: bool = False,
    random_state: int = 0,
) -> Completion:
    """Learn from a table without gaps how to fill in what other rows lack.

    As `complete_missing` learns from rows with gaps; known values are hidden at random, one in eight of a row.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    how : {"distance", "median"}
    feature_names : sequence of str or None, default=None
    columns : sequence of n_features int or None, default=None
        The number of the column that each feature was made of, as those of a category, which are missing together. None
        takes each feature for a column.
    standardize : bool, default=False
        Whether columns count alike.
    random_state : int in [0, 2**63), default=0

    Returns
    -------
    Completion
        Of which nothing is missing.
    """
    values = np.asarray(X)
    missing = np.zeros(values.shape, dtype=np.bool_)
    rows, blank = _draw_donors(missing, random_state), _units(values, missing, None, standardize)
    together = np.unique(np.arange(values.shape[1]) if columns is None else columns, return_inverse=True)[1].ravel()
    recipe, held_out = blank, HeldOut(0, np.nan)
    if how == "median":
        recipe = replace(blank, center=_medians(values, missing))
    elif together.max() > 0:
        learned = learn(blank, blank.rows(values[rows]), random_state, together=together)
        recipe, held_out = learned.recipe, learned.held_out
    return Completion(values, missing, how, held_out, rows, recipe, feature_names)


def _draw_donors(missing: BoolArray, seed: int) -> npt.NDArray[np.int64]:
    """Draw rows to learn from; eight of them lack a value if so many do, since others then lose what they lack."""
    n_samples, n_features = missing.shape
    most = min(n_samples, _MOST_DONORS, max(256, _DONOR_ENTRIES // n_features))
    if most == n_samples:
        return np.arange(n_samples)
    order = np.argsort(uniform_matrix(seed, _STREAM_DONORS, (n_samples, 1))[:, 0], kind="stable")
    lacks = np.asarray(missing.any(axis=1))
    lacking = order[lacks[order]][:_FEWEST_LACKING]
    if lacks[order[:most]].sum() < len(lacking):
        order = np.concatenate([lacking, order[~np.isin(order, lacking)]])
    return np.sort(order[:most])


def _medians(X: FloatArray, missing: BoolArray) -> Float64Array:
    found = np.zeros(X.shape[1])
    for j in np.flatnonzero(~missing.all(axis=0)):
        found[j] = np.median(X[~missing[:, j], j])
    return found


def _units(X: FloatArray, missing: BoolArray, names: list[str] | None, standardize: bool | None) -> Recipe:
    """Return center, spread and variance of each column; a column without values has center 0."""
    count = np.maximum((~missing).sum(axis=0), 1)
    center, square = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for block in blocks(len(X)):
        center += np.where(missing[block], 0.0, X[block]).sum(axis=0)
    center /= count
    for block in blocks(len(X)):
        square += np.where(missing[block], 0.0, (X[block] - center) ** 2).sum(axis=0)
    deviation = np.sqrt(square / count)
    if standardize is None:
        some = slice(None, None, -(-len(X) // _MOST_DONORS))
        filled = np.where(missing[some], center, X[some])
        standardize = bool(describe_unlike_columns(filled, names or default_names(len(center))))
    spread = np.where(deviation > 0.0, deviation, 1.0) if standardize else np.ones(len(center))
    return Recipe(center, spread, (deviation / spread) ** 2)
