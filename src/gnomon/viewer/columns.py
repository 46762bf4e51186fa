"""Columns about the points (labels, metadata): categories or numbers, checked before anything is written."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message

__all__ = ["Column", "encode_column", "stratified_rows"]

_FEW = 12  # integers with at most so many distinct values are shown as categories
_MISSING = "(missing)"


class Column:
    """One value a point, as categories or as numbers.

    Attributes
    ----------
    codes : ndarray of shape (n,), uint8, uint16 or uint32, or None
        Index into `categories`; None for numbers.
    categories : list of str
        Names in natural order (numbers by value, the rest by text).
    numbers : ndarray of shape (n,), float64, or None
        The values if they are numbers.
    """

    def __init__(self, values: npt.NDArray[Any], *, as_label: bool) -> None:
        self.codes: npt.NDArray[Any] | None = None
        self.categories: list[str] = []
        self.numbers: npt.NDArray[np.float64] | None = None
        if values.dtype.kind in "iuf" and _is_measured(values, as_label=as_label):
            self.numbers = values.astype(np.float64)
        else:
            self._categorize(values)

    def _categorize(self, values: npt.NDArray[Any]) -> None:
        if values.dtype.kind in "iuf":
            known = np.isfinite(values.astype(np.float64))
            distinct, codes = np.unique(np.where(known, values, 0), return_inverse=True)
            self.categories = [f"{v:g}" if isinstance(v, float) else str(v) for v in distinct.tolist()]
        else:
            known = np.array([not _is_missing(v) for v in values.tolist()], dtype=bool)
            text = np.array([str(v) if k else "" for v, k in zip(values.tolist(), known, strict=True)], dtype=object)
            distinct, codes = np.unique(text.astype(str), return_inverse=True)
            self.categories = [str(v) for v in distinct]
            codes = self._sort_numerically(codes)
        if not known.all():
            present = np.unique(codes[known])
            self.categories = [self.categories[k] for k in present] + [_MISSING]
            codes = np.where(known, np.searchsorted(present, codes), present.size)
        size = len(self.categories)
        self.codes = codes.astype(np.uint8 if size <= 256 else np.uint16 if size <= 65_536 else np.uint32)

    def _sort_numerically(self, codes: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        try:
            order = np.argsort([float(name) for name in self.categories], kind="stable")
        except ValueError:
            return codes
        self.categories = [self.categories[k] for k in order]
        return np.argsort(order)[codes]


def _is_missing(value: object) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def _is_measured(values: npt.NDArray[Any], *, as_label: bool) -> bool:
    finite = values[np.isfinite(values)]
    distinct = np.unique(finite).size
    if values.dtype.kind in "iu":
        return distinct > _FEW and not as_label
    return distinct > _FEW and bool((finite != np.floor(finite)).any() or not as_label)


def encode_column(values: object, n_samples: int, *, name: str, as_label: bool = False) -> Column:
    """Check a column given by the user and encode it.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Numbers, text, categories, dates; a missing entry becomes the category "(missing)" or NaN.
    n_samples : int
        Required length.
    name : str
        How the caller knows the column; used in the error text.
    as_label : bool, default=False
        Integers are categories however many there are.

    Raises
    ------
    ValueError
        If the column is missing or has another length.
    """
    if values is None:
        raise ValueError(message("write_html", f"{name}=None", f"{n_samples} values", remedy="Pass an existing column."))
    column = np.asarray(values)
    if column.dtype.kind == "M":
        column = np.where(np.isnat(column), None, column.astype(str).astype(object))  # type: ignore[call-overload]
    if column.ndim != 1 or column.shape[0] != n_samples:
        raise ValueError(
            message(
                "write_html",
                f"{name} of shape {column.shape}",
                f"of shape ({n_samples},)",
                fact="one value for each row of the embedding",
                remedy="Check that the rows match.",
            )
        )
    return Column(column, as_label=as_label)


def stratified_rows(codes: npt.NDArray[Any] | None, n_samples: int, limit: int) -> npt.NDArray[np.int64]:
    """Choose rows so that every class keeps its share (and at least one row).

    Parameters
    ----------
    codes : ndarray of shape (n_samples,) or None
        Classes; None draws from all rows alike.
    n_samples, limit : int
        Rows there are, and about how many to keep.

    Returns
    -------
    ndarray of int64
        Ascending row numbers, the same for the same input.
    """
    rng = np.random.default_rng(0)
    order = rng.permutation(n_samples)
    if codes is None:
        return np.sort(order[:limit])
    chosen = []
    for k in np.unique(codes):
        members = order[codes[order] == k]
        chosen.append(members[: max(1, members.size * limit // n_samples)])
    return np.sort(np.concatenate(chosen))
