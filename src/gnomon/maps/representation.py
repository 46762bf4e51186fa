"""The coordinates in which a map is made: principal components or given ones, and what they are of new rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import length, product
from gnomon._validation import message
from gnomon.data import Table, check_table
from gnomon.data.column_scales import column_scales
from gnomon.data.representation import Reduction, Representation
from gnomon.data.scaling import reads_values
from gnomon.linalg import principal_components, project_rows
from gnomon.linalg.table import evenly_spaced
from gnomon.methods.linear.row_lengths import unit_rows

__all__ = [
    "check_representation",
    "compute_representation",
    "coordinates_of",
    "in_features",
    "leading",
    "resolve",
    "rows_of",
    "told_of_coordinates",
    "with_directions",
    "with_formula",
]

Float64Array = npt.NDArray[np.float64]

_TOLERANCE = 1e-3  # of the coordinates, and of orthonormal directions: what float32 leaves of them
_CHECKED_ROWS = 1000
_COMPONENTS = "X_pca"  # the name of principal components in AnnData objects


def compute_representation(X: Any, reduction: Reduction, *, metric: str = "euclidean", seed: int) -> Representation:
    """Return the principal components of a table; for the cosine those of the directions of its rows, about the origin.

    About a mean, rows have other directions: of texts, those of few words lie near the mean, away from all others.

    Parameters
    ----------
    X : ndarray of float32 or float64, or csr_array, of shape (n_samples, n_features)
    reduction : Reduction
        How many, and of which columns; the others get weights of 0.
    metric : str, default="euclidean"
        In which the coordinates will be compared.
    seed : int
        Used for tables with more than 2,000 rows and columns only.
    """
    columns = reduction.columns
    if columns is not None and columns.shape != (X.shape[1],):
        fact = f"{columns.size} entries, {X.shape[1]} features"
        raise ValueError(message("columns of the reduction", "one entry for each feature", fact=fact))
    used = X if columns is None else X[:, np.flatnonzero(columns)]
    if reduction.n_components > min(used.shape):
        fact = f"n_samples={used.shape[0]}, n_features={used.shape[1]}"
        raise ValueError(message(f"n_pcs={reduction.n_components}", f"at most {min(used.shape)}", fact=fact))
    of_directions = metric == "cosine"
    found = principal_components(_both_ways(used) if of_directions else used, reduction.n_components, seed=seed)
    center, components = found.mean, found.components
    if columns is not None:
        center, components = column_scales(X).mean, np.zeros((len(components), X.shape[1]))
        components[:, columns] = found.components
    if of_directions:
        center = np.zeros(X.shape[1])
    return Representation("principal components", project_rows(X, center, components), center, components)


def _both_ways(X: Any) -> Any:
    """Return rows of length 1 and their opposites, with the components of the rows about 0."""
    unit = unit_rows(X).astype(X.dtype, copy=False)
    return np.vstack([unit, -unit]) if isinstance(X, np.ndarray) else scipy.sparse.vstack([unit, -unit], format="csr")


def with_formula(given: Representation, X: Any) -> Representation:
    """Return given coordinates with the formula that makes them of the features, or without if none does.

    Parameters
    ----------
    given : Representation
        With the directions that belong to it, if they are known, and no center.
    X : ndarray or csr_array of shape (n_samples, n_features)
        The features. They may be others than those that the coordinates were made of, such as counts.
    """
    directions = given.components
    if directions is None or given.has_formula:
        return given
    if directions.shape[1] == X.shape[1]:
        products = product(directions, directions.T)
        orthonormal = np.abs(products - np.eye(len(products))).max() < _TOLERANCE
        rows = evenly_spaced(X.shape[0], _CHECKED_ROWS)
        some, wanted = X[rows], np.asarray(given.values[rows], dtype=np.float64)
        mean = column_scales(X).mean
        for center in (mean, np.zeros(X.shape[1])):
            gap = project_rows(some, center, directions) - wanted
            if orthonormal and length(gap) <= _TOLERANCE * length(wanted):
                return replace(given, center=center)
        gap = project_rows(some, mean, directions) - wanted
        offset = gap.mean(axis=0)  # that of rows taken out of more, whose mean is another one
        if orthonormal and length(gap - offset) <= _TOLERANCE * length(wanted - wanted.mean(axis=0)):
            return replace(given, center=mean + product(offset[None], directions)[0])
    return replace(given, components=None)


def told_of_coordinates(wanted: Representation | Reduction | None, found: Representation | None) -> list[str]:
    """Say that directions came with given coordinates which do not make them of the features."""
    if not isinstance(wanted, Representation) or wanted.components is None or found is None or found.has_formula:
        return []
    return [
        f"The directions that belong to {found} do not make them of these features: the map does not grow, and its "
        "function is an atlas of the features. Explain by the table that the coordinates were made of."
    ]


def resolve(
    wanted: Representation | Reduction | None, X: Any, mapped: Any, *, metric: str = "euclidean", seed: int
) -> Representation | None:
    """Return the coordinates of the rows that a data set asks for.

    Parameters
    ----------
    wanted : Representation, Reduction or None
        Given ones get their formula if they have one; those asked for are computed.
    X : ndarray or csr_array of shape (n_samples, n_features)
        The features.
    mapped : ndarray or csr_array of shape (n_samples, n_features)
        The features, standardised if the map is; of these the components are computed.
    metric : str, default="euclidean"
        In which the coordinates will be compared.
    seed : int

    Raises
    ------
    ValueError
        If they are principal components and the metric reads what the values of the features are.
    """
    if wanted is not None and reads_values(metric) and _are_components(wanted):
        fact = f"the map is made of {wanted if isinstance(wanted, Representation) else 'principal components'}"
        remedy = "Leave n_pcs out; of an AnnData object pass use_rep='X' or a table of such values."
        rule = "a metric that only compares numbers, where coordinates are mixed of columns"
        raise ValueError(message(f"metric={metric!r:.60}", rule, fact=fact, remedy=remedy))
    if isinstance(wanted, Reduction):
        return compute_representation(mapped, wanted, metric=metric, seed=seed)
    if wanted is not None:
        _refuse_gaps(wanted)
    return None if wanted is None else with_formula(wanted, X)


def _refuse_gaps(given: Representation) -> None:
    """Raise ValueError if a coordinate is NaN or infinite; the text says where, and how to leave the rows out."""
    values = np.asarray(given.values)
    gaps = ~np.isfinite(values)
    if not gaps.any():
        return
    row, column = (int(place) for place in np.argwhere(gaps)[0])
    n = int(gaps.any(axis=1).sum())
    where = f"NaN or infinite in {n:,} {'row' if n == 1 else 'rows'}, the first at row {row}, column {column}"
    key = f"adata.obsm[{given.name!r}]"
    remedy = f"Of an AnnData object leave these rows out, adata[np.isfinite({key}).all(axis=1)], or compute {key} anew."
    raise ValueError(message(f"values of representation {given.name!r}", "finite", fact=where, remedy=remedy))


def _are_components(wanted: Representation | Reduction) -> bool:
    """Say whether coordinates mix the columns of a table; others that are given may mean what a metric reads."""
    return isinstance(wanted, Reduction) or wanted.components is not None or wanted.name == _COMPONENTS


def leading(given: Representation, n: int) -> Representation:
    """Return the first n coordinates."""
    if n > given.n_coordinates:
        raise ValueError(message(f"n_pcs={n}", "at most the coordinates there are", fact=str(given)))
    components = None if given.components is None else given.components[:n]
    return replace(given, values=np.ascontiguousarray(given.values[:, :n]), components=components)


def coordinates_of(representation: Representation, rows: Any) -> npt.NDArray[Any]:
    """Return the coordinates of rows (n, n_features) by the formula; each is a function of its row alone."""
    assert representation.center is not None
    assert representation.components is not None
    return project_rows(rows, representation.center, representation.components)


def with_directions(table: Table, representation: Representation | None, metric: str) -> Table:
    """Return a table of what was mapped whose rows have the directions that their features have, for the cosine.

    Coordinates about a mean, as given ones often are, have other directions than the rows: of a continuum through the
    mean they are two opposite ones. So the mean is added to them, and what of it no component spans is one more column.

    Parameters
    ----------
    table : Table
        What was mapped.
    representation : Representation or None
    metric : str
        Under others than the cosine, and of coordinates without a formula, the table is returned as it is.
    """
    if metric != "cosine" or representation is None or not representation.has_formula:
        return table
    assert representation.center is not None
    assert representation.components is not None
    if not representation.center.any():
        return table
    used = np.where((representation.components != 0.0).any(axis=0), representation.center, 0.0)
    mean = product(representation.components, used[:, None])[:, 0]
    beyond = length(used - product(mean[None], representation.components)[0])
    values = np.column_stack([representation.values + mean, np.full(len(representation.values), beyond)])
    return check_table(values.astype(representation.values.dtype))


def in_features(representation: Representation, jacobian: Float64Array) -> Float64Array:
    """Return a derivative by the coordinates as one by the features, by the chain rule."""
    assert representation.components is not None
    return product(jacobian.reshape(-1, jacobian.shape[-1]), representation.components).reshape(
        *jacobian.shape[:-1], representation.components.shape[1]
    )


def rows_of(representation: Representation, coordinates: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the rows of features, of those that the components span, with given coordinates."""
    assert representation.center is not None
    assert representation.components is not None
    rows = product(coordinates, representation.components) + representation.center
    return rows.astype(coordinates.dtype, copy=False)


def check_representation(given: Any, n_samples: int, n_features: int) -> None:
    """Raise an error unless a representation is one of a table of such a shape."""
    if not isinstance(given, Representation):
        fact = f"found {type(given).__name__}"
        raise TypeError(message("representation", "a gnomon.data.Representation or None", fact=fact))
    values = np.asarray(given.values)
    if values.dtype not in (np.float32, np.float64) or values.ndim != 2 or 0 in values.shape[1:]:
        fact = f"found shape {values.shape} and type {values.dtype}"
        raise ValueError(message("values of representation", "a table of float32 or float64", fact=fact))
    if len(values) != n_samples:
        fact = f"{len(values):,} rows, {n_samples:,} rows of features"
        raise ValueError(message("values of representation", "one row for each of X", fact=fact))
    if (given.center is None) != (given.components is None):
        raise ValueError(message("center and components of representation", "both given or both None"))
    for name, shape in (("center", (n_features,)), ("components", (values.shape[1], n_features))):
        part = getattr(given, name)
        if part is not None and (part.shape != shape or part.dtype != np.float64 or not np.isfinite(part).all()):
            fact = f"found shape {part.shape} and type {part.dtype}"
            raise ValueError(message(f"{name} of representation", f"finite float64 of shape {shape}", fact=fact))
    _refuse_gaps(given)
