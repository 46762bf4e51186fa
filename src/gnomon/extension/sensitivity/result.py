"""The exact sensitivity of a map to its data, and how it agrees with the slopes between the points of the map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import ShortRepr
from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.extension.sensitivity.stationary import Stationarity
from gnomon.neighbors import NeighborGraph, check_graph, compute_neighbors
from gnomon.objectives.terms.base import Float64

__all__ = ["Agreement", "Sensitivity", "agreement"]

_VARIANCE_SHARE = 0.9  # of the neighbours' displacements that the tangent space holds, as in `explain`


@dataclass(frozen=True)
class Sensitivity(ShortRepr):
    """What would have become of points had their rows been a little different: dY/dX, exactly.

    Displacements are those of least norm: shifts and rotations of the whole map, which no loss of distances decides,
    are left out. PCA is an explicit function, and its displacements are its own.

    Attributes
    ----------
    rows : ndarray of shape (m,), int64
        The rows asked for.
    own : ndarray of shape (m, n_components, n_features), float64
        Displacement of a row's own point per unit of each of its features, all points in balance again.
    fixed : ndarray of shape (m, n_components, n_features), float64
        The same with all other points held where they are, as when a new row is placed in a finished map.
    X : ndarray of shape (n_samples, n_features), float64
        The data, centred.
    embedding : ndarray of shape (n_samples, n_components), float64
        The map that was differentiated: the one given, or where polishing led.
    loss : str
        Which function: "kl", "stress", "principal components" and so on.
    stationarity : Stationarity or None
        How near the map is to a minimum of its loss; None for explicit functions.
    feature_names : list of str
    """

    rows: npt.NDArray[np.int64]
    own: Float64
    fixed: Float64
    X: Float64
    embedding: Float64
    loss: str
    stationarity: Stationarity | None
    feature_names: list[str]
    _respond: Callable[[int], Float64] = field(repr=False, compare=False)
    _respond_along: Callable[[Float64], Float64] = field(repr=False, compare=False)

    @entrance("Sensitivity")
    def others(self, i: int) -> Float64:
        """Return the displacement of every point per unit of each feature of row i.

        Parameters
        ----------
        i : int
            Any row, asked for before or not.

        Returns
        -------
        ndarray of shape (n_samples, n_components, n_features)
            That of point i itself is its `own`.
        """
        n = len(self.embedding)
        if not -n <= i < n:
            raise IndexError(message(f"row {i}", f"below n_samples={n}"))
        return self._respond(int(i) % n)

    @entrance("Sensitivity")
    def along(self, changes: npt.ArrayLike) -> Float64:
        """Return the displacement of every point if rows change together: the derivative along changes of the table.

        Parameters
        ----------
        changes : array-like of shape (n_samples, n_features) or (n_samples, n_features, q)
            How much each value changes, of q changes at once. Rows of zeros cost nothing, q changes q solutions.

        Returns
        -------
        ndarray of shape (n_samples, n_components) or (n_samples, n_components, q)
        """
        given = np.asarray(changes, dtype=np.float64)
        if given.shape[:2] != self.X.shape or given.ndim > 3:
            rule = f"of the shape of the data, {self.X.shape}, or of several such beside each other"
            raise ValueError(message("changes", rule, fact=f"{given.shape}"))
        moved = self._respond_along(given.reshape(*self.X.shape, -1))
        return moved if given.ndim == 3 else moved[:, :, 0]

    def rigidity(self) -> Float64:
        """Return, of each row, the norm of `own` over that of `fixed`: below 1 where the others hold the point back."""
        return np.asarray(np.linalg.norm(self.own, axis=(1, 2)) / np.linalg.norm(self.fixed, axis=(1, 2)))

    def summary(self, n_top: int = 5) -> str:
        """Return the features to which each row's point is most sensitive, and the state of the map, in words."""
        lines = []
        for i, own in zip(self.rows, self.own, strict=True):
            lengths = np.linalg.norm(own, axis=0)
            top = np.argsort(-lengths, kind="stable")[:n_top]
            words = ", ".join(f"{self.feature_names[f]} {lengths[f]:.3g}" for f in top if lengths[f] > 0.0)
            lines.append(f"row {i}: {words or 'no feature moves it'}")
        lines.append("Lengths of displacements per unit of the feature, all points in balance again.")
        if self.stationarity is not None:
            lines.append(self.stationarity.summary())
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and lists, as JSON takes them."""
        facts = self.stationarity
        return {
            "rows": self.rows.tolist(),
            "features": list(self.feature_names),
            "own": self.own.tolist(),
            "fixed": self.fixed.tolist(),
            "loss": self.loss,
            "stationarity": None
            if facts is None
            else {
                "gradient": facts.gradient,
                "step": facts.step,
                "curvature": None if np.isnan(facts.curvature) else facts.curvature,
                "damping": facts.damping,
                "moved": facts.moved,
                "is_minimum": facts.is_minimum,
            },
        }


class _Explained(Protocol):
    n_samples: int
    n_neighbors: int

    def axes(self, i: int) -> Float64: ...


@dataclass(frozen=True)
class Agreement(ShortRepr):
    """The exact sensitivity of rows beside the local linear fit of an explanation, within the local tangent space.

    The fit says how the map varies from point to point across the data; the sensitivity, what would become of this
    point if its data changed. For a linear map both are the same. For t-SNE and UMAP they need not be: a point is held
    by its neighbours, whose positions do not follow it, and scale and rotation of the map are set by all points
    together.

    Attributes
    ----------
    rows : ndarray of shape (m,)
    cosine : ndarray of shape (m,), in [-1, 1]
        Of the two Jacobians as vectors: 1 where all features move the point in the same directions and proportions.
    rotated_cosine : ndarray of shape (m,), in [0, 1]
        The same after the rotation or reflection of the map that brings them closest.
    ratio : ndarray of shape (m,)
        Norm of the sensitivity over that of the fit.
    rank_correlation : ndarray of shape (m,)
        Spearman's, of the lengths of the features' displacements per local standard deviation.
    tangent_share : ndarray of shape (m,), in [0, 1]
        Share of the sensitivity's square that lies in the tangent space, where alone the fit can speak.
    compared : {"own", "fixed"}
    """

    rows: npt.NDArray[np.int64]
    cosine: Float64
    rotated_cosine: Float64
    ratio: Float64
    rank_correlation: Float64
    tangent_share: Float64
    compared: str

    def summary(self) -> str:
        """Return medians over the rows, in words."""
        what = "all points in balance again" if self.compared == "own" else "all other points held"
        return (
            f"Exact sensitivity ({what}) beside the local linear fit, medians of {len(self.rows):,} rows: cosine "
            f"{np.nanmedian(self.cosine):.2f} ({np.nanmedian(self.rotated_cosine):.2f} after a rotation), length "
            f"{np.nanmedian(self.ratio):.2g} times the fit's, rank correlation of features "
            f"{np.nanmedian(self.rank_correlation):.2f}. The fit says how the map varies from point to point across "
            "the data, the sensitivity what would become of this point if its data changed; they need not agree."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return numbers and lists, as JSON takes them."""
        names = ("cosine", "rotated_cosine", "ratio", "rank_correlation", "tangent_share")
        return {"rows": self.rows.tolist(), "compared": self.compared} | {
            name: getattr(self, name).tolist() for name in names
        }


@entrance("agreement")
def agreement(
    sensitivity: Sensitivity, explanation: _Explained, *, graph: NeighborGraph | None = None, compared: str = "own"
) -> Agreement:
    """Compare the exact sensitivity of rows with an explanation of the same map.

    Parameters
    ----------
    sensitivity : Sensitivity
        Of some rows.
    explanation : Explanation
        Of the same data and ``sensitivity.embedding``, which is not the map given where it was polished.
    graph : NeighborGraph of n_samples rows, default=None
        Neighbours that span the tangent spaces; by default as many as the explanation used, Euclidean.
    compared : {"own", "fixed"}, default="own"
        Which displacement: with all points in balance again, or with all other points held.

    Returns
    -------
    Agreement
        NaN for rows without an explanation.

    Raises
    ------
    ValueError
        If the two are of different data.
    """
    n = len(sensitivity.X)
    if explanation.n_samples != n:
        what = f"an explanation of {explanation.n_samples:,} rows"
        raise ValueError(message(what, f"of the sensitivity's {n}"))
    if compared not in ("own", "fixed"):
        raise ValueError(message(f"compared={compared!r}", "'own' or 'fixed'"))
    if graph is None:
        values = np.ascontiguousarray(sensitivity.X, dtype=np.float32)
        graph = compute_neighbors(values, min(explanation.n_neighbors, n - 1))
    else:
        check_graph(graph, n)
    found = np.full((5, len(sensitivity.rows)), np.nan)
    exact = sensitivity.own if compared == "own" else sensitivity.fixed
    with single_threaded_blas():
        for place, i in enumerate(sensitivity.rows):
            near = graph.indices[i] if graph.mask is None else graph.indices[i][graph.mask[i]]
            displacements = sensitivity.X[near[: explanation.n_neighbors]] - sensitivity.X[i]
            found[:, place] = _compare(exact[place], explanation.axes(int(i)), displacements)
    cosine, rotated, ratio, ranks, share = found
    return Agreement(sensitivity.rows, cosine, rotated, ratio, ranks, share, compared)


def _compare(exact: Float64, fit: Float64, displacements: Float64) -> tuple[float, float, float, float, float]:
    """Return cosine, cosine after a rotation, ratio, rank correlation and share in the tangent space."""
    _, singular, directions = np.linalg.svd(displacements, full_matrices=False)
    total = float(np.square(singular).sum())
    if total == 0.0 or not np.isfinite(fit).all() or not fit.any() or not exact.any():
        return (np.nan,) * 5
    m = int(np.searchsorted(np.cumsum(np.square(singular)), _VARIANCE_SHARE * total)) + 1
    frame = directions[:m].T
    ours, theirs = exact @ frame, fit @ frame
    size, other = float(np.linalg.norm(ours)), float(np.linalg.norm(theirs))
    if size == 0.0 or other == 0.0:
        return (np.nan,) * 5
    deviations = np.sqrt(np.square(displacements).mean(axis=0))
    varied = deviations > 0.0
    lengths = [np.linalg.norm(J @ frame.T, axis=0)[varied] * deviations[varied] for J in (ours, theirs)]
    return (
        float((ours * theirs).sum()) / (size * other),
        float(np.linalg.svd(ours @ theirs.T, compute_uv=False).sum()) / (size * other),
        size / other,
        _rank_correlation(*lengths),
        size**2 / float(np.square(exact).sum()),
    )


def _rank_correlation(a: Float64, b: Float64) -> float:
    from scipy.stats import rankdata

    ranks = np.stack([rankdata(a), rankdata(b)])
    ranks -= ranks.mean(axis=1, keepdims=True)
    size = float(np.linalg.norm(ranks[0]) * np.linalg.norm(ranks[1]))
    return float(ranks[0] @ ranks[1]) / size if size else np.nan
