"""How far the arrows of a point foretell where it goes when its row is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import product, weighted_sums
from gnomon.explanations.rows import dense_rows_of
from gnomon.geometry.effects import foretold_steps

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = ["push_fidelity"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def _steps(explanation: Explanation, rows: Ints) -> tuple[Floats, Floats]:
    """Return the steps in the map from rows to their neighbours, 0 where there is none, and weights that sum to 1."""
    fits = explanation.jacobians
    weights = fits.weights[rows].astype(np.float64)
    weights /= weights.sum(axis=1, keepdims=True)
    steps = fits.places[fits.indices[rows]] - fits.places[rows][:, None]
    return np.where(weights[:, :, None] > 0, steps, 0.0), weights


def _foretold(explanation: Explanation, i: int) -> Floats:
    """Return the steps to the neighbours of point i that its arrows foretell, (n_neighbors, n_components)."""
    fits = explanation.jacobians
    values = dense_rows_of(explanation._X, np.append(fits.indices[i], i))
    steps: Floats = product(values[:-1] - values[-1], explanation.axes(i).T)
    return np.where(fits.weights[i][:, None] > 0, steps, 0.0)


def _shares(explanation: Explanation, rows: Ints, foretold: Floats) -> Floats:
    """Return of each row the products of steps and foretold steps, and the squares of these, over those of the steps.

    (n_rows, 2); NaN where nothing is foretold, or all neighbours lie at the place of the point.
    """
    steps, weights = _steps(explanation, rows)
    whole = weighted_sums(weights, steps**2).sum(axis=1)
    whole[whole == 0] = np.nan
    product = weighted_sums(weights, steps * foretold).sum(axis=1) / whole
    return np.column_stack([product, weighted_sums(weights, foretold**2).sum(axis=1) / whole])


def push_fidelity(explanation: Explanation, i: int | None = None) -> tuple[Floats, Floats]:
    """Return `Explanation.push_scale` and `Explanation.push_r2` of all points, or of point i alone.

    The scale of a point is found by least squares over the steps to the neighbours, of the point and of these
    neighbours; each of these points counts alike, however long its steps are.

    Returns
    -------
    scale, r2 : ndarray of shape (n_samples,) or (1,), float64
    """
    fits = explanation.jacobians
    n = explanation.n_samples
    shares = np.full((n, 2), np.nan)
    asked = np.arange(n) if i is None else np.array([i])
    used = fits.weights[asked] > 0
    if i is None and explanation.direction == "forward":
        rows, foretold = foretold_steps(explanation._fitted, fits)
        shares[rows] = _shares(explanation, rows, foretold)
    else:
        rows = np.unique(np.append(asked, fits.indices[asked][used]))
        rows = rows[explanation.mask[rows] & fits.mask[rows]]
        if len(rows):
            shares[rows] = _shares(explanation, rows, np.stack([_foretold(explanation, int(row)) for row in rows]))
    around = np.where(used[:, :, None], shares[fits.indices[asked]], np.nan)
    product, square = np.nansum(np.concatenate([shares[asked][:, None], around], axis=1), axis=1).T
    scale = np.maximum(np.divide(product, square, out=np.ones_like(square), where=square > 0), 0.0)
    own_product, own_square = np.nan_to_num(shares[asked]).T
    r2 = np.clip(scale * (2.0 * own_product - scale * own_square), 0.0, 1.0)
    known = explanation.mask[asked] & fits.mask[asked]
    return np.where(known, scale, np.nan), np.where(known, r2, np.nan)
