"""What a missing entry is expected to be: by linear relations between columns, and by rows that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.linalg import first_columns, principal_components, share

__all__ = [
    "LowRankNormal",
    "Rows",
    "all_shared_distances",
    "blocks",
    "mean_of_nearest",
    "shared_distances",
    "squared_distances",
]

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]

_BLOCK = 512  # rows computed together
_LEAST_NOISE = 1e-3  # of the mean variance of a column: no linear relation is taken to be exact
_PRIOR = 0.3  # rows with the column's mean that are counted with the nearest ones


def blocks(n_rows: int) -> list[slice]:
    """Return slices of at most 512 rows, which do not depend on the number of threads."""
    return [slice(begin, min(begin + _BLOCK, n_rows)) for begin in range(0, n_rows, _BLOCK)]


@dataclass(frozen=True)
class Rows:
    """Some rows of a centred table.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features), float32
        0 where an entry is missing.
    known : ndarray of shape (n_rows, n_features), float32
        1 where an entry is known, else 0.
    """

    values: Float32Array
    known: Float32Array

    def __getitem__(self, rows: slice | npt.NDArray[np.intp]) -> Rows:
        return Rows(self.values[rows], self.known[rows])

    def without(self, rows: npt.NDArray[np.intp], hidden: npt.NDArray[np.bool_]) -> Rows:
        """Return all rows, of which some have lost the hidden entries (len(rows), n_features)."""
        values, known = self.values.copy(), self.known.copy()
        values[rows], known[rows] = values[rows] * ~hidden, known[rows] * ~hidden
        return Rows(values, known)

    def completed(self, expected: npt.NDArray[np.floating]) -> Float32Array:
        """Return the rows with what is expected where an entry is missing."""
        found: Float32Array = np.where(self.known > 0, self.values, expected).astype(np.float32, copy=False)
        return found


@dataclass(frozen=True)
class LowRankNormal:
    """Rows as ``W z`` and equal noise, z standard normal: principal components as a distribution.

    Attributes
    ----------
    loadings : ndarray of shape (n_features, n_components), float64
    noise : float > 0
        Variance of the noise.
    """

    loadings: Float64Array
    noise: float

    @classmethod
    def fit(cls, complete: Float32Array, ranks: list[int], *, seed: int) -> list[LowRankNormal]:
        """Return the distribution of a complete table of columns of mean about 0, for each number of components."""
        found = principal_components(complete, max(1, *ranks), seed=seed)
        models = []
        for rank in ranks:
            variances = found.explained_variance[:rank]
            left = (found.total_variance - float(variances.sum())) / max(complete.shape[1] - rank, 1)
            noise = max(left, _LEAST_NOISE * found.total_variance / complete.shape[1]) or 1.0  # of constant columns
            spread = np.sqrt(np.maximum(variances - noise, 0.0))
            models.append(cls(found.components[:rank].T * spread, noise))
        return models

    def expected(self, rows: Rows) -> Float32Array:
        """Return the conditional mean of all entries given the known ones, (n_rows, n_features).

        The scores of a row are ``(s I + W_o' W_o)^-1 W_o' x_o`` over its known entries o, s being the noise.

        References
        ----------
        .. [1] Tipping & Bishop, "Probabilistic principal component analysis", JRSS B 61, 1999, eq. 6 and section 4.2.
        """
        W = self.loadings.astype(np.float32)
        scores = np.linalg.solve(self._systems(rows.known), (rows.values @ W).astype(np.float64)[:, :, None])[:, :, 0]
        found: Float32Array = scores.astype(np.float32) @ W.T
        return found

    def variances(self, known: Float32Array) -> Float64Array:
        """Return the conditional variance of all entries given the known ones, each as if it were not known itself.

        That of entry j is ``s + s w_j' (s I + W_o' W_o)^-1 w_j``, as in `expected`.
        """
        W = self.loadings
        first, second = np.triu_indices(W.shape[1])
        inverse = np.linalg.inv(self._systems(known))[:, first, second]
        return np.asarray(
            self.noise * (1.0 + (inverse * np.where(first == second, 1.0, 2.0)) @ (W[:, first] * W[:, second]).T)
        )

    def deviations(self, known: Float32Array, normal: Float32Array) -> Float32Array:
        """Return draws of what the entries that are not known deviate by from what is expected of them.

        Whole rows are drawn from the distribution; each less what is expected of it given the known entries is a draw
        from the conditional distribution, which does not depend on their values (Matheron's rule).

        Parameters
        ----------
        known : ndarray of shape (n_rows, n_features), float32
        normal : ndarray of shape (n_rows, n_features + n_components), float32
            Independent standard normal numbers.

        Returns
        -------
        ndarray of shape (n_rows, n_features), float32
            Those of known entries mean nothing.
        """
        n_features = len(self.loadings)
        drawn = normal[:, n_features:] @ self.loadings.T.astype(np.float32)
        drawn += np.float32(np.sqrt(self.noise)) * normal[:, :n_features]
        drawn -= self.expected(Rows(drawn * known, known))
        return drawn

    def _systems(self, known: Float32Array) -> Float64Array:
        """Return ``s I + W_o' W_o`` of each row, (n_rows, n_components, n_components)."""
        rank = self.loadings.shape[1]
        first, second = np.triu_indices(rank)
        W = self.loadings.astype(np.float32)
        products = known @ (W[:, first] * W[:, second])
        systems = np.empty((len(products), rank, rank))
        systems[:, first, second] = systems[:, second, first] = products
        systems[:, np.arange(rank), np.arange(rank)] += self.noise
        return systems


def shared_distances(rows: Rows, donors: Rows, variance: Float32Array) -> Float32Array:
    """Return squared distances over the features that two rows share, with the expected rest, (n_rows, n_donors).

    A feature that either row lacks counts with its variance: half of what it adds between two rows that have nothing
    to do with each other, since rows that are near in the others differ less. The sum of the variances is left out.

    References
    ----------
    .. [1] Eirola, Doquire, Verleysen & Lendasse, "Distance estimation in numerical data sets with missing values",
       Information Sciences 240, 2013.
    """
    left = np.concatenate([rows.values**2 - variance * rows.known, rows.known, -2.0 * rows.values], axis=1)
    right = np.concatenate([donors.known, donors.values**2, donors.values], axis=1)
    found: Float32Array = left @ right.T
    return found


def all_shared_distances(rows: Rows, variance: Float32Array) -> Float32Array:
    """Return `shared_distances` of all pairs of rows, (n_rows, n_rows), in two thirds of the time."""
    right = np.concatenate([rows.known, rows.values], axis=1)

    def half(block: slice) -> Float32Array:
        values, known = rows.values[block], rows.known[block]
        found: Float32Array = np.concatenate([values**2 - 0.5 * variance * known, -values], axis=1) @ right.T
        return found

    halves = np.concatenate(share(half, blocks(len(right))))
    halves += halves.T.copy()
    return halves


def squared_distances(rows: Float32Array, others: Float32Array) -> Float32Array:
    """Return squared distances of complete rows, (n_rows, n_others), without a constant of each row."""
    found: Float32Array = np.sum(others**2, axis=1) - 2.0 * (rows @ others.T)
    return found


def mean_of_nearest(distances: Float32Array, n_neighbors: Sequence[int], donors: Rows) -> list[Float32Array]:
    """Return the mean of the known entries of the nearest donors, for each number of neighbours.

    Parameters
    ----------
    distances : ndarray of shape (n_rows, n_donors)
    n_neighbors : sequence of int
        Ascending.
    donors : Rows

    Returns
    -------
    list of ndarray of shape (n_rows, n_features), float32
    """
    most = min(n_neighbors[-1], distances.shape[1])
    nearest = first_columns(distances, most)
    total = np.zeros((len(distances), donors.values.shape[1]), dtype=np.float32)
    count = np.full_like(total, _PRIOR)
    found: list[Float32Array] = []
    for k in range(most):
        total += donors.values[nearest[:, k]]
        count += donors.known[nearest[:, k]]
        if k + 1 in n_neighbors or k + 1 == most:
            found.append(total / count)
    return found + found[-1:] * (len(n_neighbors) - len(found))
