"""The rules by which columns become features, as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from gnomon._entrance import entrance
from gnomon._estimator import check_is_fitted
from gnomon._validation import Integer, check_parameters, message
from gnomon.data.absent import warn_of_absent
from gnomon.data.columns import (
    MOST_CATEGORIES,
    check_lists,
    check_ordered,
    encode_rows,
    find_rules,
    raw_columns,
    spreads_of,
    warn_of_copies,
    warn_of_repeated_names,
)
from gnomon.data.floors import warn_of_filled_floors
from gnomon.data.mixed_units import warn_of_mixed_units
from gnomon.data.sentinels import warn_of_sentinels
from gnomon.data.table import check_same_length, check_shape
from gnomon.data.target import check_unused_target
from gnomon.data.wild_cell_warnings import warn_of_wild_columns

__all__ = ["TablePreprocessor"]


class TablePreprocessor(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn the columns of a table as people have it into numbers, by stated rules.

    - Numbers stay as they are; True and False, also as texts in any case, become 1 and 0.
    - Texts of which nine tenths are numbers become these, if they are alike in currency, percent sign or unit and in
      their decimal sign: "$1,200.50", "12 %", "1.200,5", "5 kg", "1.2M". The others are missing, as a warning says;
      one or two words, such as "don't know", may be half of the texts, and more where another column has these words;
      signs such as "-" and "unknown" may be half of the texts. Digits with a zero in front, such as 01001, are codes.
    - Texts and categories, also those that are numbers, of at most `max_categories` different values become one
      indicator each, named "country = DE"; of two values one indicator is enough. A row without a value, or with one
      that was not there in fit, which is warned of, has zeros, or one half. "NA", "n/a", "NaN", "null" and "?" are no
      values.
    - One text, category or truth value in two rows or more, such as "x", in any case and with any space, beside blanks
      in at least one row of 20 becomes 1, and a blank 0, with a warning; beside fewer blanks texts are left out.
    - Cells that plainly list several answers, such as "email; phone", become one indicator for each answer, "contact =
      email" (`lists`): at most `max_categories` of them, each in five cells on the mean, in another number and at other
      places from cell to cell, between ";", "|" or ",". An empty cell is missing; what fewer than two rows list counts
      as none, with a warning, as do answers that were not there in fit. So do lists of texts, also written as "['a',
      'b']", of which an empty one is not missing.
    - Vectors of as many numbers in each row, also written as texts such as "[0.1, 0.2]", become a feature for each
      number, "embedding[0]"; the name of their column stands for all of them in `features` and `drop`.
    - Ordered categories become their ranks 0, 1, 2, ..., and so do texts of three different values or more that plainly
      are steps of one scale (`ordered`): bands of numbers ("<10k", "10k-20k", "60+"); answers of common English scales
      ("never" to "always", "strongly disagree" to "strongly agree", "low risk" to "high risk", also after numbers, as
      in "1 = never"); sizes XS to XL; I, II, III, T1, T2 and marks A to F where a word such as "stage" or "grade" is in
      the name of the column or before them. "don't know", "refused" and the like are missing there, with a warning.
    - Dates, also whole numbers such as 20240531 and 202405, and texts such as 2024-05-31, 31.5.2024, 5/31/2024 or 31
      May 2024, with or without a time and its zone, become the years, months, days or hours since the first, by the
      span that they cover. Those that rise or fall with the rows, in 50 rows or more, evenly or not, are when the rows
      were written down: they are left out, beside other columns, and so are seconds since 1970, or thousandths and less
      of them, and numbers called "time", "timestamp" or the like. Dates in another order, as of births, stay.
    - Identifiers are left out: integers that count the rows or are called an id or a zip code, some missing or not;
      texts that all differ. So are whole numbers that all differ, in 50 rows or more, and have no rank correlation
      with any other column, if they are called customer, order, phone or the like, fill half of their range, rise
      evenly from row to row and fill a twentieth of it, or lie evenly in all numbers of seven digits or more or from
      0 to a power of 2; others, such as incomes, are kept. Left out are whole numbers that come again in a column
      called "unit", "user", "device" or the like, from 10,000 on or if another column counts the rows of each;
      numbers that rise by equal steps over all of 50 rows or more beside other columns, such as times of frames, or
      in the same way over each of several equal stretches of as many, such as times of replicas, or that count each
      of several stretches of unlike length, as cycles of engines; texts of too many different values, and texts in a
      column called "label", "class", "species" or the like. Numbers, and texts that look like numbers, times or
      dates, are left out with a warning.

    Parameters
    ----------
    features : sequence of str or None, default=None
        Columns to use, in this order, by name, or by number where they have none; they are used even if they look like
        identifiers, few texts of a column called an id, a zip code or "label" as categories, and up to 300 different
        texts of any. None takes all.
    drop : sequence of str or None, default=None
        Columns to leave out.
    ordered : bool or mapping of str to sequence of str or False, default=True
        Whether texts that plainly are steps of one scale become ranks; False leaves them categories. A mapping names
        the values of columns from low to high, others of them being missing, or has False for a category, also one of
        numbers; texts of other columns are read as by True. Ordered categories of a data frame are ranks anyway, unless
        it has False.
    lists : bool or mapping of str to {";", "|", ",", "[]"} or False, default=True
        Whether cells that plainly list several answers become an indicator for each; False takes combinations for
        categories. A mapping names what divides the answers of columns, or has False; others are read as by True.
    max_categories : int >= 2, default=30
        More different texts than this are no categories, unless `features` names their column.

    Attributes
    ----------
    rules_ : list of ColumnRule
        What becomes of each column.
    spreads_ : ndarray of shape (n_features_out,), float64
        What features are divided by where a table is standardised: NaN for numbers, ranks and dates, which are divided
        by their own spread; for indicators the square root of the sum of their variances over the categories, so that
        a category makes as much of the mean squared distance as a number.
    feature_names_in_ : ndarray of shape (n_columns,), object
    n_features_in_ : int
    """

    def __init__(
        self,
        *,
        features: Sequence[str] | None = None,
        drop: Sequence[str] | None = None,
        ordered: bool | Mapping[str, Sequence[str] | Literal[False]] = True,
        lists: bool | Mapping[str, str | Literal[False]] = True,
        max_categories: int = MOST_CATEGORIES,
    ) -> None:
        self.features = features
        self.drop = drop
        self.ordered = ordered
        self.lists = lists
        self.max_categories = max_categories

    @entrance()
    def fit(self, X: Any, y: object = None) -> Self:
        """Find out what becomes of each column.

        Parameters
        ----------
        X : DataFrame, mapping of str to array-like, list of records, or array-like of shape (n_samples, n_features)
            Records are mappings, or the rows of a structured array. One may lack entries, which are missing then.
        y : array-like of n_samples values or None, default=None
            Not used, as a SupervisionWarning says if it is given.

        Warns
        -----
        DataWarning
            Names columns that are left out though they hold numbers or look like them or may be categories, columns
            without any value, features that number or name units such as machines, numbers that by the name of their
            column stand for kinds, such as "race" or "port", columns of one value and blanks,
            columns of the same name, columns that are as others are, values such as -1 and 999 far from all others,
            which may stand for missing ones, columns in two units and cells a decimal point away, columns that are 0 in
            the same rows, columns filled in by their least value, and a few cells that lie so far out, as in another
            unit, that they make the standard deviation of their column.
        """
        most = check_parameters({"max_categories": Integer(2)}, {"max_categories": self.max_categories})[
            "max_categories"
        ]
        ordered, lists = check_ordered(self.ordered), check_lists(self.lists)
        warn_of_repeated_names(X)
        columns = raw_columns(X)
        _check_lengths({name: raw.values for name, raw in columns.items()})
        self.rules_ = find_rules(columns, self.features, self.drop, most, ordered=ordered, lists=lists)
        values = encode_rows(columns, self.rules_)
        warn_of_copies(self.rules_, values)
        self.spreads_ = spreads_of(self.rules_, values)
        warn_of_sentinels(values, [*self.get_feature_names_out()], self.rules_)
        warn_of_mixed_units(values, [*self.get_feature_names_out()], self.rules_)
        warn_of_absent(values, [*self.get_feature_names_out()], self.rules_)
        warn_of_filled_floors(values, [*self.get_feature_names_out()])
        own = np.isnan(self.spreads_)
        warn_of_wild_columns(values[:, own], [*self.get_feature_names_out()[own]])
        self.feature_names_in_ = np.array(list(columns), dtype=object)
        self.n_features_in_ = len(columns)
        check_unused_target(next(iter(columns.values())).values, y)
        return self

    @entrance()
    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the features of rows with the columns of `fit`, each row the same alone as beside any others.

        Parameters
        ----------
        X : DataFrame, mapping of str to array-like, list of records, or array-like of shape (n_samples, n_features)
            Columns with names may come in any order, with others beside them, which are left out. Columns without
            names are as many as in `fit`. Where only these or only those in `fit` have names, columns are taken by
            their place, with the warning that scikit-learn gives.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            float32 if all columns used are, else float64.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a column that is used is not there, columns taken by their place are more or fewer than in `fit`, or one
            of them has values of another kind alone, such as numbers where categories belong.

        Warns
        -----
        DataWarning
            Says that X or what was fitted has no names of columns, and names values that cannot be read, and numbers
            within -1 to 1 in a column of percent, which are taken as percent and may be shares.
        """
        check_is_fitted(self)
        return encode_rows(X, self.rules_, fitted=[str(name) for name in self.feature_names_in_])

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[Any]:
        """Return the names of the features."""
        check_is_fitted(self)
        return np.array([name for rule in self.rules_ for name in rule.features], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags


def _check_lengths(columns: dict[str, npt.NDArray[Any]]) -> None:
    """Raise ValueError unless columns are of one length, of one row at least."""
    for name, values in columns.items():
        if values.ndim != 1:
            raise ValueError(message(f"column {name!r} of shape {values.shape}", "one value for each row"))
    check_same_length(**columns)
    check_shape((max(map(len, columns.values()), default=0), len(columns)))
