"""What sets a selection of rows apart from the rest: one effect size and one ranking probability per feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._threads import resolve_n_threads
from gnomon._validation import Integer, Options, check_parameters, message
from gnomon.explain.table import format_number, format_table
from gnomon.geometry.check import check_features
from gnomon.linalg.table import RowTable

__all__ = ["Contrast", "cluster_profiles", "contrast"]

_RULES = {"sort_by": Options("auc", "effect_size")}
_NOTABLE = 0.1  # a caption names only features whose AUC is at least this far from 0.5


@dataclass(frozen=True)
class Contrast:
    """Features by how far they set a selection apart from the rest.

    Sorted by ``|auc - 0.5|`` (or ``|effect_size|``), then by the other, then by column number.

    Attributes
    ----------
    features : list of str
        Names, most distinctive first.
    indices : ndarray of shape (n_features,), int64
        Their column numbers.
    effect_size : ndarray of shape (n_features,), float64
        Difference of the means in pooled standard deviations (Cohen's d), positive if the selection is higher. 0 for
        a constant feature; infinite if the means differ and neither side varies.
    auc : ndarray of shape (n_features,), float64, in [0, 1]
        Probability that a selected row is above a row of the rest, ties counted half. 0.5 for a constant feature.
    mean_selected, mean_rest : ndarray of shape (n_features,), float64
        Means on both sides, in the units of the feature.
    n_selected, n_rest : int
        Number of rows on both sides.
    """

    features: list[str]
    indices: npt.NDArray[np.int64]
    effect_size: npt.NDArray[np.float64]
    auc: npt.NDArray[np.float64]
    mean_selected: npt.NDArray[np.float64]
    mean_rest: npt.NDArray[np.float64]
    n_selected: int
    n_rest: int

    def __len__(self) -> int:
        return len(self.features)

    def head(self, n_top: int) -> Contrast:
        """Return the `n_top` most distinctive features."""
        return Contrast(
            self.features[:n_top],
            self.indices[:n_top],
            self.effect_size[:n_top],
            self.auc[:n_top],
            self.mean_selected[:n_top],
            self.mean_rest[:n_top],
            self.n_selected,
            self.n_rest,
        )

    def caption(self, n_top: int = 3) -> str:
        """Return a phrase such as "more aspect_ratio, less zinc"; only features with an AUC below 0.4 or above 0.6."""
        phrases = [
            f"{'more' if auc > 0.5 else 'less'} {name}"
            for name, auc in zip(self.features[:n_top], self.auc[:n_top].tolist(), strict=True)
            if abs(auc - 0.5) >= _NOTABLE
        ]
        return ", ".join(phrases) or "no feature sets it apart"

    def to_dict(self) -> dict[str, Any]:
        """Return the table with plain Python values; an infinite effect size stays a float."""
        columns = (self.effect_size, self.auc, self.mean_selected, self.mean_rest)
        names = ("effect_size", "auc", "mean_selected", "mean_rest")
        rows = zip(self.features, *(column.tolist() for column in columns), strict=True)
        return {
            "n_selected": self.n_selected,
            "n_rest": self.n_rest,
            "caption": self.caption(),
            "features": [{"feature": row[0], **dict(zip(names, row[1:], strict=True))} for row in rows],
        }

    def __str__(self) -> str:
        shown = self.head(10)
        rows = [
            [name, *(format_number(number) for number in numbers)]
            for name, *numbers in zip(
                shown.features,
                shown.effect_size.tolist(),
                shown.auc.tolist(),
                shown.mean_selected.tolist(),
                shown.mean_rest.tolist(),
                strict=True,
            )
        ]
        table = format_table(["feature", "effect size", "AUC", "mean selected", "mean rest"], rows)
        more = f"\n... and {len(self) - len(shown)} more features" if len(self) > len(shown) else ""
        return f"{self.n_selected} selected, {self.n_rest} in the rest: {self.caption()}\n{table}{more}"


def _as_mask(selection: Any, n: int, name: str) -> npt.NDArray[np.bool_]:
    """Return a boolean mask from a mask or row numbers."""
    given = np.asarray(selection)
    if given.dtype == np.bool_:
        if given.shape != (n,):
            raise ValueError(message("contrast", f"{name} of shape {given.shape}", f"a mask of {n} rows"))
        mask = given
    else:
        if given.size and given.dtype.kind not in "iu":
            raise TypeError(message("contrast", f"{name} of type {given.dtype}", "a mask or row numbers"))
        if given.size and not (-n <= int(given.min()) and int(given.max()) < n):
            raise ValueError(message("contrast", f"{name} with row {int(given.max())}", f"below n_samples={n}"))
        mask = np.zeros(n, dtype=np.bool_)
        mask[given.astype(np.int64)] = True
    if not mask.any():
        raise ValueError(message("contrast", f"{name} with 0 rows", "of at least one row"))
    return mask


def _order(auc: npt.NDArray[np.float64], effect: npt.NDArray[np.float64], sort_by: str) -> npt.NDArray[np.int64]:
    keys = [-np.abs(auc - 0.5), -np.abs(effect)]
    if sort_by == "effect_size":
        keys.reverse()
    order: npt.NDArray[np.int64] = np.lexsort((keys[1], keys[0]))
    return order


def _contrasts(
    X: Any, groups: npt.NDArray[np.int32], n_groups: int, names: list[str], n_threads: int, sort_by: str
) -> list[Contrast]:
    """Contrast every group with all others in one pass over the columns."""
    if hasattr(X, "tocsc"):
        # In CSC form a column is a row of the transposed table.
        table = RowTable.of(X.T)
        arguments = table.arguments[:3]
    else:
        table = RowTable.of(X)
        arguments = table.arguments
    kernel = getattr(_core, "group_contrasts" + table.suffix)
    auc, mean, rest_mean, effect = kernel(*arguments, groups, n_groups, n_threads)
    sizes = np.bincount(groups[groups >= 0], minlength=n_groups)
    found = []
    for g in range(n_groups):
        order = _order(auc[g], effect[g], sort_by)
        found.append(
            Contrast(
                [names[f] for f in order],
                order,
                effect[g, order],
                auc[g, order],
                mean[g, order],
                rest_mean[g, order],
                int(sizes[g]),
                int(sizes.sum() - sizes[g]),
            )
        )
    return found


def contrast(
    X: Any,
    selection: Any,
    rest: Any = None,
    *,
    feature_names: Any = None,
    sort_by: Literal["auc", "effect_size"] = "auc",
    n_jobs: int | None = None,
) -> Contrast:
    """Say what sets a selection of rows apart from the rest, feature by feature.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data; sparse data stay sparse.
    selection : boolean mask of shape (n_samples,) or array of row numbers
        At least one row.
    rest : mask or row numbers, default=None
        The rows to compare with; all that are not selected by default. It must not share rows with the selection.
    feature_names : sequence of n_features str, default=None
        By default the columns of a data frame, else "feature 0" and so on.
    sort_by : {"auc", "effect_size"}, default="auc"
        The AUC depends on ranks alone and so is not swayed by outliers or scales.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    Contrast
        A description of these rows, not a test: a selection made by looking at a map differs by construction.
    """
    check_parameters("contrast", _RULES, {"sort_by": sort_by})
    values, labels = check_features(X, feature_names, who="contrast")
    n = int(values.shape[0])
    inside = _as_mask(selection, n, "selection")
    if rest is None:
        outside = ~inside
        if not outside.any():
            raise ValueError(message("contrast", f"selection with all {n} rows", "smaller than the data"))
    else:
        outside = _as_mask(rest, n, "rest")
    shared = int(np.count_nonzero(inside & outside))
    if shared:
        raise ValueError(message("contrast", f"rest with {shared} selected rows", "apart from the selection"))
    groups = np.where(inside, 0, np.where(outside, 1, -1)).astype(np.int32)
    return _contrasts(values, groups, 2, labels, resolve_n_threads(n_jobs, who="contrast"), sort_by)[0]


def cluster_profiles(
    X: Any,
    labels: Any,
    *,
    n_top: int | None = 10,
    feature_names: Any = None,
    sort_by: Literal["auc", "effect_size"] = "auc",
    n_jobs: int | None = None,
) -> dict[Any, Contrast]:
    """Contrast every cluster with all other rows, in one pass over the features.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data.
    labels : array-like of shape (n_samples,)
        The cluster of each row; at least two different ones. -1 is a cluster like any other.
    n_top : int >= 1 or None, default=10
        Features kept for each cluster; None for all.
    feature_names, sort_by, n_jobs
        As in `contrast`.

    Returns
    -------
    dict of label to Contrast
        In the order of the sorted labels.
    """
    checked = {"n_top": 1 if n_top is None else n_top, "sort_by": sort_by}
    check_parameters("cluster_profiles", {**_RULES, "n_top": Integer(1)}, checked)
    values, feature_labels = check_features(X, feature_names, who="cluster_profiles")
    given = np.asarray(labels)
    if given.shape != (values.shape[0],):
        raise ValueError(
            message("cluster_profiles", f"X with {values.shape[0]} rows and {len(given)} labels", "of the same length")
        )
    found, groups = np.unique(given, return_inverse=True)
    if len(found) < 2:
        raise ValueError(message("cluster_profiles", f"labels with {len(found)} value", "of at least two values"))
    contrasts = _contrasts(
        values,
        groups.ravel().astype(np.int32),
        len(found),
        feature_labels,
        resolve_n_threads(n_jobs, who="cluster_profiles"),
        sort_by,
    )
    return {
        label: profile if n_top is None else profile.head(n_top)
        for label, profile in zip(found.tolist(), contrasts, strict=True)
    }
