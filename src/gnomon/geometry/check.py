"""A table and the places of its rows in a map, checked against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data import Table, check_table
from gnomon.data.arrays import unmasked
from gnomon.data.cells import is_cells
from gnomon.data.frames import is_frame
from gnomon.data.names import default_names

__all__ = ["check_features", "check_places", "check_values", "has_place", "row_mask"]


def check_values(X: Any, *, name: str = "X") -> Any:
    """Return a 2-D array of real numbers or a CSR matrix without NaN and infinity; nothing is copied without need.

    Parameters
    ----------
    X : array-like, SciPy sparse matrix or AnnData of shape (n_samples, n_features)
    name : str, default="X"
        What errors call it.
    """
    if isinstance(X, np.ma.MaskedArray) or not (isinstance(X, np.ndarray) or hasattr(X, "tocsr")):
        X = check_table(X, accept_sparse=True).values
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        stored = X.data
    else:
        stored = X = np.asarray(X)
    if X.ndim != 2 or X.shape[1] == 0:
        raise ValueError(message(f"{name} of shape {X.shape}", "2-D with at least one feature"))
    if stored.dtype.kind not in "buif":
        raise TypeError(message(f"{name} of type {stored.dtype}", "of real numbers"))
    # A finite sum means that all are finite; the count is needed only for the error.
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = stored.dtype.kind == "f" and not np.isfinite(np.sum(stored, dtype=np.float64))
    if suspicious and (bad := int(np.count_nonzero(~np.isfinite(stored)))):
        fact = f"{bad} values are NaN or infinite"
        if isinstance(X, np.ndarray):
            row, column = np.argwhere(~np.isfinite(X))[0]
            fact += f", the first in row {row}, column {column}"
        raise ValueError(message(name, "finite", fact=fact, remedy="Impute the missing values or leave them out."))
    return X


def check_places(Y: Any, n_samples: int) -> npt.NDArray[np.float64]:
    """Return the embedding as float64 of shape (n_samples, n_components).

    A row with NaN or infinity has no place in the map: the whole row becomes NaN. Some row must have a place.
    """
    try:
        places = np.array(unmasked(Y, name="Y"), dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        if hasattr(Y, "__dlpack__"):
            raise  # it says what to do
        fact = f"{type(Y).__name__}: {str(error).rstrip('.')}"
        raise type(error)(message("Y", "an array of numbers", fact=fact)) from None
    if places.ndim != 2 or places.shape[1] == 0:
        raise ValueError(message(f"Y of shape {places.shape}", "2-D with at least one component"))
    if places.shape[0] != n_samples:
        raise ValueError(message(f"X with {n_samples:,} rows and Y with {places.shape[0]:,}", "of the same length"))
    unplaced = ~np.isfinite(places).all(axis=1)
    if unplaced.all():
        raise ValueError(message("Y", "finite in some rows", fact=f"all {n_samples:,} rows hold NaN or infinity"))
    places[unplaced] = np.nan
    return places


def has_place(places: npt.NDArray[np.floating]) -> npt.NDArray[np.bool_]:
    """Return which rows have a place in the map, of places as `check_places` returns them."""
    found: npt.NDArray[np.bool_] = np.isfinite(places[:, 0])
    return found


def check_features(X: Any, feature_names: Any, *, name: str = "X") -> tuple[Any, list[str]]:
    """Return the values of a table and one name for each feature: those given, else those of a data frame.

    Data frames and AnnData objects are read and refused by the check that the estimators use,
    `gnomon.data.check_table`; a table that was checked is taken as it is. Errors call it `name`.
    """
    checked = isinstance(X, Table)
    cells = is_cells(X)
    if checked or cells or is_frame(X):
        table = check_table(X, accept_sparse=checked or cells)
        X = table.values
        feature_names = table.feature_names if feature_names is None else feature_names
    values = X if checked else check_values(X, name=name)
    return values, _check_names(feature_names, values.shape[1])


def _check_names(feature_names: Any, n_features: int) -> list[str]:
    """Return one name for each feature; "feature 0", "feature 1", ... by default."""
    if feature_names is None:
        return default_names(n_features)
    names = [str(name) for name in feature_names]
    if len(names) != n_features:
        raise ValueError(
            message(f"feature_names of length {len(names)}", f"one name for each feature ({n_features} features)")
        )
    return names


def row_mask(selection: Any, n: int, *, name: str) -> npt.NDArray[np.bool_]:
    """Return a mask of at least one row from a mask or row numbers."""
    given = np.asarray(selection)
    if given.dtype.kind == "O" and given.ndim == 1 and all(isinstance(one, bool | np.bool_) for one in given.tolist()):
        given = given.astype(np.bool_)  # such as the nullable truth values of pandas
    if given.dtype == np.bool_:
        if given.shape != (n,):
            raise ValueError(message(f"{name} of shape {given.shape}", f"a mask of {n:,} rows"))
        mask = given
    else:
        if given.size and given.dtype.kind not in "iu":
            raise TypeError(message(f"{name} of type {given.dtype}", "a mask or row numbers"))
        if given.size and not (-n <= int(given.min()) and int(given.max()) < n):
            raise ValueError(message(f"{name} with row {int(given.max())}", f"below n_samples={n}"))
        if n > 2 and given.shape == (n,) and bool(((given == 0) | (given == 1)).all()):
            fact = f"{n} times 0 or 1, one for each row"
            remedy = f"Pass {name}.astype(bool) if it is a mask."
            raise ValueError(message(name, "a mask of truth values, or row numbers", fact=fact, remedy=remedy))
        mask = np.zeros(n, dtype=np.bool_)
        mask[given.astype(np.int64)] = True
    if not mask.any():
        remedy = "See whether labels are numbers: 0 equals no '0'." if given.dtype == np.bool_ else ""
        raise ValueError(message(f"{name} with 0 rows", "of at least one row", remedy=remedy))
    return mask
