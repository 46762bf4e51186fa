"""Sensitivity of a map: by implicit differentiation at a minimum of a loss, by a formula for principal components."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import entrance
from gnomon._threads import single_threaded_blas
from gnomon._validation import Boolean, Either, Integer, Nothing, Options, Real, Rule, check_parameters, message
from gnomon.extension.sensitivity.data_loss import DataLoss
from gnomon.extension.sensitivity.result import Sensitivity
from gnomon.extension.sensitivity.solve import System, hessian_system
from gnomon.extension.sensitivity.stationary import polished, stationarity, warn_unless_stationary
from gnomon.linalg.eigen.base import column_signs
from gnomon.objectives.expansion import Expansion, flat, unflat
from gnomon.objectives.terms import Float64

__all__ = ["principal_sensitivity", "sensitivity"]

_RULES: dict[str, Rule] = {
    "polish": Boolean(),
    "max_iter": Integer(0),
    "damping": Either(Real(0.0), Nothing()),
    "solver": Options("auto", "dense", "iterative"),
}
_BATCH = 32  # rows solved for at a time
_LEAST = 1e-12  # variance, relative to the largest, that counts as none
_GAP = 1e-9  # relative distance of two variances below which their directions are not determined


@entrance("sensitivity")
def sensitivity(
    loss: DataLoss,
    Y: npt.ArrayLike,
    *,
    rows: Sequence[int] | npt.NDArray[np.integer] | None = None,
    polish: bool = False,
    max_iter: int = 500,
    damping: float | None = None,
    solver: str = "auto",
    feature_names: Sequence[str] | None = None,
) -> Sensitivity:
    """Differentiate a map at a minimum of its loss by its data, exactly.

    Where the gradient g(Y, X) of the loss by the map is 0 it stays 0 when the data change and the map follows, so that
    H dY + (dg/dX) dX = 0 with the Hessian H: dY/dX = -H^+ dg/dX. The pseudo-inverse leaves out shifts and rotations of
    the map, along which H is 0. For each row asked for, H is solved for n_components right sides. Neighbours are held
    fixed; the calibration of their weights is not.

    Parameters
    ----------
    loss : DataLoss
        The loss of the data that the map is a minimum of.
    Y : array-like of shape (n_samples, n_components)
        The map.
    rows : sequence of int or None, default=None
        Rows whose points are asked about, one at least; None takes all, which costs as many solutions.
    polish : bool, default=False
        Go on from the map to a minimum first, by L-BFGS and Newton's method on the exact loss in float64. How far the
        points move is ``stationarity.moved``.
    max_iter : int >= 0, default=500
        Iterations of L-BFGS in polishing.
    damping : float >= 0 or None, default=None
        Added to the Hessian's diagonal. None adds nothing at a minimum, and where there is negative curvature twice
        the most negative one, with a warning.
    solver : {"auto", "dense", "iterative"}, default="auto"
        "dense" factorises the Hessian, of n_samples * n_components rows. "iterative" takes MINRES with products that
        sum over all pairs: slow, and blind to negative curvature. "auto" is dense up to 10,000 unknowns.
    feature_names : sequence of str or None, default=None
        Of the data's columns.

    Returns
    -------
    Sensitivity

    Raises
    ------
    ValueError
        If there are no rows, the damping given leaves negative curvature, MINRES does not converge, or a graph of
        several pieces is to be polished.
    MemoryError
        If the Hessian does not fit in memory.

    Warns
    -----
    ConvergenceWarning
        If the map is not at a minimum of the loss: what a new fit would do may then differ.

    References
    ----------
    .. [1] Krantz & Parks, "The Implicit Function Theorem", Birkhauser, 2002.
    .. [2] Koh & Liang, "Understanding black-box predictions via influence functions", ICML 2017.
    """
    given = {"polish": polish, "max_iter": max_iter, "damping": damping, "solver": solver}
    checked = check_parameters(_RULES, given)
    points = np.array(Y, dtype=np.float64, ndmin=2)
    if points.ndim != 2 or len(points) != loss.n_samples or not np.isfinite(points).all():
        what, rule = f"Y of shape {points.shape}", f"finite, of shape ({loss.n_samples}, n_components)"
        raise ValueError(message(what, rule))
    wanted = _check_rows(rows, loss.n_samples)
    names = _names_of(feature_names, loss.X.shape[1])
    moved, reason = 0.0, ""
    if checked["polish"]:
        _check_pieces(loss)
        points, moved, reason = polished(loss, points, max_iter=checked["max_iter"], solver=checked["solver"])
    system = hessian_system(loss, points, solver=checked["solver"], damping=checked["damping"])
    facts = stationarity(loss, points, system, moved=moved, reason=reason)
    warn_unless_stationary(facts, polishing=checked["polish"])
    pairs = loss.expand(points)

    def respond(i: int) -> Float64:
        with single_threaded_blas():
            return unflat(-system.solve(flat(loss.push(pairs.Y, i))), points.shape[1])

    def respond_along(changes: Float64) -> Float64:
        with single_threaded_blas():
            pushed = np.zeros((*points.shape, changes.shape[2]))
            for i in np.flatnonzero(changes.any(axis=(1, 2))):
                pushed += loss.push(pairs.Y, int(i)) @ changes[i]
            return unflat(-system.solve(flat(pushed)), points.shape[1])

    with single_threaded_blas():
        own = _own(loss, pairs, system, wanted)
        fixed = _fixed(loss, pairs, wanted)
    return Sensitivity(
        rows=wanted,
        own=own,
        fixed=fixed,
        X=loss.X,
        embedding=points,
        loss=loss.kind,
        stationarity=facts,
        feature_names=names,
        _respond=respond,
        _respond_along=respond_along,
    )


def _check_pieces(loss: DataLoss) -> None:
    """Raise ValueError where polishing has nowhere to go."""
    pieces = loss.n_pieces
    if pieces > 1:
        fact = f"they leave {pieces} pieces, which repel each other without end: the loss has no minimum"
        remedy = "Take more neighbours, or polish=False."
        raise ValueError(message("affinities", "enough to connect all points", fact=fact, remedy=remedy))


def _own(loss: DataLoss, pairs: Expansion, system: System, rows: npt.NDArray[np.int64]) -> Float64:
    """Return dy_i/dx_i with all points in balance: minus the products of H^+ e_i with dg/dx_i."""
    d = pairs.Y.shape[1]
    return -np.concatenate(
        [_pulled(loss, pairs, unflat(system.solve(flat(_units(pairs, batch))), d), batch) for batch in _batches(rows)]
    )


def _fixed(loss: DataLoss, pairs: Expansion, rows: npt.NDArray[np.int64]) -> Float64:
    """Return dy_i/dx_i with all other points held: minus the inverse of the own block of H times dg_i/dx_i."""
    inverse = np.linalg.pinv(pairs.own_blocks()[rows], hermitian=True)
    own = np.concatenate([_pulled(loss, pairs, _units(pairs, batch), batch) for batch in _batches(rows)])
    return np.asarray(-np.einsum("iab,ibf->iaf", inverse, own))


def _batches(rows: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    return [rows[first : first + _BATCH] for first in range(0, len(rows), _BATCH)]


def _units(pairs: Expansion, rows: npt.NDArray[np.int64]) -> Float64:
    """Return unit displacements of single points, (n_samples, n_components, len(rows) * n_components)."""
    n, d = pairs.Y.shape
    units = np.zeros((n, d, len(rows) * d))
    for place, i in enumerate(rows):
        units[i, :, place * d : (place + 1) * d] = np.eye(d)
    return units


def _pulled(loss: DataLoss, pairs: Expansion, Z: Float64, rows: npt.NDArray[np.int64]) -> Float64:
    """Return the derivatives by each row's data of its own n_components products: (len(rows), d, n_features)."""
    d = pairs.Y.shape[1]
    share = loss.share(pairs.Y, Z)
    found = np.empty((len(rows), d, loss.X.shape[1]))
    for place, i in enumerate(rows):
        found[place] = loss.pull(pairs.Y, Z, int(i), share, slice(place * d, (place + 1) * d))
    return found


def _check_rows(rows: Sequence[int] | npt.NDArray[np.integer] | None, n_samples: int) -> npt.NDArray[np.int64]:
    """Return row numbers from 0 on."""
    if rows is None:
        return np.arange(n_samples)
    wanted = np.atleast_1d(np.asarray(rows))
    if not wanted.size:
        raise ValueError(message("rows", "at least one row number", remedy="Leave rows out to ask for all."))
    if wanted.ndim != 1 or not np.issubdtype(wanted.dtype, np.integer):
        raise TypeError(message("rows", "a sequence of row numbers", fact=f"found {wanted.dtype}"))
    wanted = wanted.astype(np.int64)
    outside = (wanted < -n_samples) | (wanted >= n_samples)
    if outside.any():
        raise ValueError(message(f"row {wanted[outside][0]}", f"below n_samples={n_samples}"))
    return np.where(wanted < 0, wanted + n_samples, wanted)


def _names_of(feature_names: Sequence[str] | None, n_features: int) -> list[str]:
    """Return the names given, or numbers."""
    if feature_names is None:
        return [f"feature {f}" for f in range(n_features)]
    names = [str(name) for name in feature_names]
    if len(names) != n_features:
        raise ValueError(message(f"{len(names)} feature_names", f"n_features={n_features} of them"))
    return names


@entrance("sensitivity")
def principal_sensitivity(
    X: npt.ArrayLike,
    n_components: int = 2,
    *,
    rows: Sequence[int] | npt.NDArray[np.integer] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Sensitivity:
    """Differentiate the scores of PCA, or the map of classical scaling of Euclidean distances, by the data.

    A row that moves shifts the mean and rotates the directions: for the eigenpairs (l_a, v_a) of the scatter matrix S,
    dv_a = sum over b != a of v_b (v_b' dS v_a) / (l_a - l_b). ``fixed`` holds mean and directions: it is the linear
    map itself, what ``transform`` does to a new row.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    n_components : int >= 1, default=2
        Components, at most the rank of the centred data.
    rows : sequence of int or None, default=None
        Rows whose points are asked about, one at least; None takes all.
    feature_names : sequence of str or None, default=None
        Of the data's columns.

    Returns
    -------
    Sensitivity
        With the signs of components of `gnomon.PCA`.

    Raises
    ------
    ValueError
        If there are no rows, or the data have fewer components, or two of equal variance: their directions are not
        determined.

    References
    ----------
    .. [1] Magnus, "On differentiating eigenvalues and eigenvectors", Econometric Theory 1, 1985.
    """
    kept = check_parameters({"n_components": Integer(1)}, {"n_components": n_components})["n_components"]
    data = np.array(X, dtype=np.float64, ndmin=2)
    data -= data.mean(axis=0)
    n = len(data)
    with single_threaded_blas():
        U, singular, V = scipy.linalg.svd(data, full_matrices=False, check_finite=True)
        values = singular**2
        rank = int((values > _LEAST * values[0]).sum())
        if kept > rank:
            raise ValueError(message(f"n_components={kept}", f"at most {rank}", fact="the data's rank"))
        signs = column_signs(V[:rank].T)
        U, V, values = U[:, :rank] * signs, signs[:, None] * V[:rank], values[:rank]
        scores = U * singular[:rank]
    gaps = values[:kept, None] - values[None, :]
    close = np.abs(gaps) + np.eye(kept, rank) * values[0] <= _GAP * values[0]
    if close.any():
        a = int(np.argwhere(close)[0, 0])
        raise ValueError(message(f"component {a}", "of a variance of its own", fact="another equals it"))
    inverse = np.divide(1.0, gaps, out=np.zeros_like(gaps), where=~np.eye(kept, rank, dtype=bool))

    def respond(i: int) -> Float64:
        t = scores[i]
        with single_threaded_blas():
            rotated = np.stack([(scores * inverse[a]) @ V for a in range(kept)], axis=1) * t[None, :kept, None]
            along = (scores * t) @ inverse.T  # of the component's own direction
            found = rotated + along[:, :, None] * V[None, :kept]
            found -= V[:kept] / n
            found[i] += V[:kept]
        return np.asarray(found)

    def respond_along(changes: Float64) -> Float64:
        moved = np.zeros((n, kept, changes.shape[2]))
        for i in np.flatnonzero(changes.any(axis=(1, 2))):
            moved += respond(int(i)) @ changes[i]
        return moved

    wanted = _check_rows(rows, n)
    own = np.empty((len(wanted), kept, data.shape[1]))
    for place, i in enumerate(wanted):
        t = scores[i]
        rotated = t[:kept, None] * ((t * inverse) @ V)
        own[place] = (1.0 - 1.0 / n + (t * t) @ inverse.T)[:, None] * V[:kept] + rotated
    return Sensitivity(
        rows=wanted,
        own=own,
        fixed=np.repeat(V[None, :kept], len(wanted), axis=0),
        X=data,
        embedding=scores[:, :kept].copy(),
        loss="principal components",
        stationarity=None,
        feature_names=_names_of(feature_names, data.shape[1]),
        _respond=respond,
        _respond_along=respond_along,
    )
