"""Sensitivity of principal components, an explicit function of the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.linalg

from gnomon._threads import single_threaded_blas
from gnomon._validation import Integer, check_parameters, message
from gnomon.extension.sensitivity.implicit import check_rows, names_of
from gnomon.extension.sensitivity.result import Sensitivity
from gnomon.linalg.signs import column_signs
from gnomon.objectives.terms.base import Float64

__all__ = ["principal_sensitivity"]

_LEAST = 1e-12  # variance, relative to the largest, that counts as none
_GAP = 1e-9  # relative distance of two variances below which their directions are not determined


def principal_sensitivity(
    X: npt.ArrayLike,
    n_components: int = 2,
    *,
    rows: Sequence[int] | npt.NDArray[np.integer] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Sensitivity:
    """Differentiate the scores of PCA, or the map of classical scaling of Euclidean distances, by the data.

    A row that moves shifts the mean and turns the directions: for the eigenpairs (l_a, v_a) of the scatter matrix S,
    dv_a = sum over b != a of v_b (v_b' dS v_a) / (l_a - l_b). ``fixed`` holds mean and directions: it is the linear
    map itself, what ``transform`` does to a new row.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    n_components : int >= 1, default=2
        Components, at most the rank of the centred data.
    rows : sequence of int or None, default=None
        Rows whose points are asked about; None takes all.
    feature_names : sequence of str or None, default=None
        Of the data's columns.

    Returns
    -------
    Sensitivity
        With the signs of components of `gnomon.PCA`.

    Raises
    ------
    ValueError
        If the data have fewer components, or two of equal variance: their directions are not determined.

    References
    ----------
    .. [1] Magnus, "On differentiating eigenvalues and eigenvectors", Econometric Theory 1, 1985.
    """
    kept = check_parameters("sensitivity", {"n_components": Integer(1)}, {"n_components": n_components})["n_components"]
    data = np.array(X, dtype=np.float64, ndmin=2)
    data -= data.mean(axis=0)
    n = len(data)
    with single_threaded_blas():
        U, singular, V = scipy.linalg.svd(data, full_matrices=False, check_finite=True)
        values = singular**2
        rank = int((values > _LEAST * values[0]).sum())
        if kept > rank:
            raise ValueError(message("sensitivity", f"n_components={kept}", f"at most {rank}", fact="the data's rank"))
        signs = column_signs(V[:rank].T)
        U, V, values = U[:, :rank] * signs, signs[:, None] * V[:rank], values[:rank]
        scores = U * singular[:rank]
    gaps = values[:kept, None] - values[None, :]
    close = np.abs(gaps) + np.eye(kept, rank) * values[0] <= _GAP * values[0]
    if close.any():
        a = int(np.argwhere(close)[0, 0])
        raise ValueError(message("sensitivity", f"component {a}", "of a variance of its own", fact="another equals it"))
    inverse = np.divide(1.0, gaps, out=np.zeros_like(gaps), where=~np.eye(kept, rank, dtype=bool))

    def respond(i: int) -> Float64:
        t = scores[i]
        with single_threaded_blas():
            turned = np.stack([(scores * inverse[a]) @ V for a in range(kept)], axis=1) * t[None, :kept, None]
            along = (scores * t) @ inverse.T  # of the component's own direction
            found = turned + along[:, :, None] * V[None, :kept]
            found -= V[:kept] / n
            found[i] += V[:kept]
        return np.asarray(found)

    wanted = check_rows(rows, n)
    own = np.empty((len(wanted), kept, data.shape[1]))
    for place, i in enumerate(wanted):
        t = scores[i]
        turned = t[:kept, None] * ((t * inverse) @ V)
        own[place] = (1.0 - 1.0 / n + (t * t) @ inverse.T)[:, None] * V[:kept] + turned
    return Sensitivity(
        rows=wanted,
        own=own,
        fixed=np.repeat(V[None, :kept], len(wanted), axis=0),
        X=data,
        embedding=scores[:, :kept].copy(),
        loss="principal components",
        stationarity=None,
        feature_names=names_of(feature_names, data.shape[1]),
        _respond=respond,
    )
