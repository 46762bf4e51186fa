"""Whether dense places of the data are dense in the map."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import exp, log
from gnomon._entrance import entrance
from gnomon._validation import Integer, check_parameters, message
from gnomon.data import check_table
from gnomon.evaluation.intervals import Sampling
from gnomon.neighbors import compute_neighbors

__all__ = ["local_radius_correlation", "unevenness_of_areas"]


@entrance("local_radius_correlation")
def local_radius_correlation(X: Any, Y: npt.ArrayLike, *, n_neighbors: int = 15, n_jobs: int | None = None) -> float:
    """Return the correlation between the log radii of neighbourhoods in the data and in the map.

    The radius of a row is the root of the mean squared Euclidean distance to its nearest neighbours, found in the data
    and in the map each for itself. Near 1, dense places of the data are dense in the map; UMAP and t-SNE, which give
    all places about the same density, come out between 0 and 0.6.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The data.
    Y : array-like of shape (n_samples, n_components)
        The map.
    n_neighbors : int in [1, n_samples - 1], default=15
        Neighbours of each row, the row itself not counted.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the result.

    Returns
    -------
    float in [-1, 1]
        Pearson's correlation over the rows of which neither radius is 0; nan where one of the two does not vary.

    Raises
    ------
    ValueError
        If X and Y differ in rows, or have too few.

    References
    ----------
    .. [1] Narayan, Berger & Cho, "Assessing single-cell transcriptomic variability through density-preserving data
       visualization", Nature Biotechnology 39, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluation import local_radius_correlation
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> round(local_radius_correlation(X, 5 * X), 6)
    1.0
    """
    k = check_parameters({"n_neighbors": Integer(1)}, {"n_neighbors": n_neighbors})["n_neighbors"]
    rows = check_table(X, accept_sparse=True, min_samples=3).values
    points = check_table(Y, min_samples=3).values
    if rows.shape[0] != points.shape[0]:
        raise ValueError(message(f"Y with {points.shape[0]:,} rows", f"of as many rows as X, {rows.shape[0]:,}"))
    if k >= rows.shape[0]:
        raise ValueError(message(f"n_neighbors={k}", f"less than n_samples={rows.shape[0]}"))
    first, second = (_mean_squares(values, k) for values in (rows, points))
    known = (first > 0) & (second > 0)
    return Sampling(len(first), len(first)).of_correlation(log(first[known]), log(second[known])).value


def unevenness_of_areas(X: Any, Y: npt.NDArray[Any], n_neighbors: int) -> float:
    """Return by how much more the map stretches areas in one place than in another, over nine rows in ten.

    The area around a row is told by the squared radius of its neighbourhood, in the map over that in the data: 1 where
    the map only changes the unit, nan where there are no radii to compare.
    """
    first, second = (_mean_squares(values, n_neighbors) for values in (X, Y))
    known = (first > 0) & (second > 0)
    if not known.any():
        return float("nan")
    low, high = np.quantile(log(second[known]) - log(first[known]), [0.05, 0.95])
    return float(exp(np.array([high - low]))[0])


def _mean_squares(values: Any, n_neighbors: int) -> npt.NDArray[np.float64]:
    """Return the mean squared distance of each row to its neighbours."""
    distances = compute_neighbors(values, n_neighbors).distances.astype(np.float64)
    return np.asarray(np.square(distances).mean(axis=1))
