"""How well a map keeps the spread of the data along each of its tangent directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import log
from gnomon._entrance import entrance
from gnomon._run import current_run
from gnomon._validation import Integer, Real, Rule, check_parameters, message
from gnomon.geometry import EmbeddingFrames
from gnomon.linalg import check_symmetric
from gnomon.objectives.added import AddedTerm
from gnomon.objectives.pairs import Edges, check_embedding, compile_kernel

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.geometry import TangentFrames
    from gnomon.kernels import OutputKernel

__all__ = ["FrameCorrelation"]

Float64Array = npt.NDArray[np.float64]

_SMALLEST = 1e-8  # added to a mean square before its logarithm, as for the radii of densMAP
_AS_MANY = 2  # directions that count in full; more count as much together
_EQUAL = 1e-6  # singular values that agree to this share belong to directions that cannot be told apart


class FrameCorrelation(AddedTerm):
    """Minus the correlations of log spreads in the map with those in the data, summed over the tangent directions.

    For direction l at point i, with frame vector q_il in the map, similarities k_ij on the graph's edges and singular
    value S_il of the data's local second moment,

        rad_il = sum_j k_ij (q_il . (y_j - y_i))^2 / sum_j k_ij,
        loss = -sum_l cov_i(R_l, log(eps + rad_l)) / sqrt(var_i(log(eps + rad_l)) + shift),

    where R_l is log S_l^2, standardised over the points, and eps = 1e-8. An orthonormal frame splits the radius of
    densMAP: sum_l rad_il is its mean squared distance. Frames are held fixed between two calls of `refresh`, and loss
    and gradient are those with the frames fixed. Directions at a point with equal singular values, which cannot be told
    apart, share the mean of their spreads, so the loss does not depend on how the tangent frame was chosen. A direction
    that a point has not takes no part there.

    Parameters
    ----------
    affinities : Affinities
        Their edges, of weight above 0, are those of the spreads; the matrix is symmetric.
    singular_values : array-like of shape (n_samples, n_directions)
        S, falling in each row; 0 where a point has no such direction.
    kernel : OutputKernel
        Similarity in the map.
    frames : callable or array-like of shape (n_samples, n_components, n_directions)
        Y -> frames, such as `EmbeddingFrames.of`, or frames that stay. A column of 0 is no direction.
    weight : float >= 0, default=0.5
        Share of the term in the loss of one edge.
    begins : float in [0, 1], default=0.7
        Share of the iterations after which the term acts.
    every : int >= 1, default=10
        Iterations between two estimates of the frames.
    variance_shift : float >= 0, default=0.1
        Keeps the slope finite where all spreads are alike.

    References
    ----------
    .. [1] Yang, Sun, Gong & Yu, "Interpretable dimensionality reduction by feature preserving manifold approximation
       and projection", 2022, eqs. 13-17. There, and in the authors' program, the axes of the map stand for the frames.
    .. [2] Narayan, Berger & Cho, "Assessing single-cell transcriptomic variability through density-preserving data
       visualization", Nature Biotechnology 39, 2021 (the correlation and its shift).
    """

    rules: ClassVar[dict[str, Rule]] = {**AddedTerm.rules, "every": Integer(low=1), "variance_shift": Real(low=0.0)}
    cost = 5.0

    @entrance("FrameCorrelation")
    def __init__(
        self,
        affinities: Affinities,
        singular_values: npt.ArrayLike,
        kernel: OutputKernel,
        *,
        frames: Callable[[Any], npt.NDArray[Any]] | npt.ArrayLike,
        weight: float = 0.5,
        begins: float = 0.7,
        every: int = 10,
        variance_shift: float = 0.1,
    ) -> None:
        rules: dict[str, Rule] = {**self.rules}
        given = {name: value for name, value in locals().items() if name in rules}
        checked = check_parameters(rules, given)
        self.weight: float = checked["weight"]
        self.begins: float = checked["begins"]
        self.every: int = checked["every"]
        self.variance_shift: float = checked["variance_shift"]
        self.edges = Edges.from_affinities(affinities)
        if not affinities.symmetric:
            check_symmetric(affinities.matrix, "affinities")
        self.kernel = kernel
        self._compiled = compile_kernel(kernel)
        self.singular_values = np.asarray(singular_values, dtype=np.float64)
        if self.singular_values.ndim != 2 or len(self.singular_values) != self.n_samples:
            rule = f"of shape (n_samples={self.n_samples}, n_directions)"
            raise ValueError(message(f"singular_values of shape {self.singular_values.shape}", rule))
        with np.errstate(divide="ignore"):
            self._log_spreads = 2.0 * log(self.singular_values)
        self._sharing = _sharing(self.singular_values)
        self.tangent_frames: TangentFrames | None = None
        self._find: Callable[[Any], npt.NDArray[Any]] | None = None
        self.frames: Float64Array | None = None
        if callable(frames):
            self._find = frames
        else:
            self.frames = np.asarray(frames, dtype=np.float64)

    @classmethod
    def following(
        cls,
        affinities: Affinities,
        tangent_frames: TangentFrames,
        kernel: OutputKernel,
        *,
        n_components: int,
        **given: Any,
    ) -> Self:
        """Return the term whose frames are those of the data, as the Jacobian of the map carries them.

        Parameters
        ----------
        affinities, kernel, begins, every, variance_shift
            As above.
        weight
            As above for one and two directions; of n > 2 each counts 2 / n of it. In full, the sum of many correlations
            would outweigh the edges, and maps of more components would keep fewer neighbours.
        tangent_frames : TangentFrames
            Those of all points, in their order; kept as the attribute of this name.
        n_components : int >= 1
            Number of components of the map. The term takes as many tangent directions, or all if there are fewer.
        """
        frames = EmbeddingFrames.following(tangent_frames, n_components)
        values = np.where(tangent_frames.mask[:, None], tangent_frames.values[:, : frames.n_directions], 0.0)
        term = cls(affinities, values, kernel, frames=frames.of, **given)
        term.tangent_frames = tangent_frames
        term.weight *= min(1.0, _AS_MANY / max(frames.n_directions, 1))
        return term

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self.edges.n_samples

    def refresh(self, Y: npt.NDArray[Any], iteration: int) -> None:
        """Estimate the frames from an embedding and hold them until the next call."""
        if self._find is not None:
            self.frames = np.asarray(self._find(Y), dtype=np.float64)

    def correlations(self, Y: npt.ArrayLike) -> Float64Array:
        """Return the correlation of each direction, (n_directions,), without the shift; NaN where nothing varies."""
        sums = self._sums(np.asarray(Y))
        return self._compare(self._shared(sums), 0.0)[0]

    def loss(self, Y: npt.NDArray[Any]) -> float:
        """Return minus the sum of the correlations."""
        return -float(np.nansum(self._compare(self._shared(self._sums(Y)), self.variance_shift)[0]))

    def gradient(self, Y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the gradient of the loss, frames held fixed, (n_samples, n_components)."""
        sums = self._sums(Y)
        slopes = -self._compare(self._shared(sums), self.variance_shift)[1]
        return sums.gradient(np.ascontiguousarray(slopes))

    def reference(self, Y: npt.ArrayLike) -> tuple[float, Float64Array]:
        """Return loss and gradient in float64 by plain sums over the edges."""
        points, compiled = np.asarray(Y, dtype=np.float64), self._compiled
        try:
            self._compiled = None
            return self.loss(points), self.gradient(points)
        finally:
            self._compiled = compiled

    def learned(self, Y: npt.NDArray[Any], copies: npt.NDArray[np.intp] | None = None) -> dict[str, Any]:
        """Return ``frames_`` of the points, ``embedding_frames_`` of the rows and ``frame_correlation_``.

        Nothing if no tangent frames are known. The frames in the map are estimated anew, and held.
        """
        if self.tangent_frames is None:
            return {}
        self.refresh(Y, 0)
        frames = self._frames(Y)
        return {
            "frames_": self.tangent_frames,
            "embedding_frames_": frames if copies is None else frames[copies],
            "frame_correlation_": self.correlations(Y),
        }

    def _frames(self, Y: npt.NDArray[Any]) -> Float64Array:
        """Return the frames that are held, or those of Y if none are yet."""
        if self.frames is None:
            assert self._find is not None
            return np.asarray(self._find(Y), dtype=np.float64)
        return self.frames

    def _sums(self, Y: npt.NDArray[Any]) -> _Compiled | _Pairs:
        """Return the sums over the edges of a map."""
        frames = self._frames(Y)
        if self._compiled is None:
            return _Pairs(self.edges, self.kernel, np.asarray(Y, dtype=np.float64), frames)
        points = check_embedding(Y, self.n_samples)
        return _Compiled(self.edges, self._compiled, points, frames)

    def _shared(self, sums: _Compiled | _Pairs) -> Float64Array:
        """Return rad, (n_samples, n_directions), NaN where there is no direction."""
        spreads = sums.spreads
        if self._sharing is not None:
            spreads = np.einsum("ilm,im->il", self._sharing, spreads)
        there = np.any(sums.frames != 0, axis=1) & (self.singular_values > 0)
        return np.where(there, spreads, np.nan)

    def _compare(self, spreads: Float64Array, shift: float) -> tuple[Float64Array, Float64Array]:
        """Return the correlations, NaN where nothing varies, and their slopes by the frames' mean squares, then 0."""
        correlations, slopes = np.full(spreads.shape[1], np.nan), np.zeros(spreads.shape)
        for direction in range(spreads.shape[1]):
            there = np.flatnonzero(np.isfinite(spreads[:, direction]))
            of_data, of_map = self._log_spreads[there, direction], log(_SMALLEST + spreads[there, direction])
            if len(there) < 2 or not of_data.std() > _EQUAL:
                continue
            standard = (of_data - of_data.mean()) / of_data.std()
            centered = of_map - of_map.mean()
            deviation = np.sqrt(np.mean(centered**2) + shift)
            if not deviation > 0:
                continue
            covariance = np.mean(standard * centered)
            correlations[direction] = covariance / deviation
            by_log = (standard / deviation - covariance * centered / (deviation * deviation * deviation)) / len(there)
            slopes[there, direction] = by_log / (_SMALLEST + spreads[there, direction])
        if self._sharing is not None:
            slopes = np.einsum("ilm,il->im", self._sharing, slopes)
        return correlations, slopes


def _sharing(values: Float64Array) -> Float64Array | None:
    """Return for each point the matrix that averages over directions of equal singular value, None if none are."""
    drops = values[:, :-1] - values[:, 1:] > _EQUAL * values[:, :-1]
    groups = np.cumsum(np.column_stack([np.zeros(len(values), dtype=bool), drops | (values[:, 1:] <= 0)]), axis=1)
    same: npt.NDArray[np.bool_] = groups[:, :, None] == groups[:, None, :]
    if values.shape[1] < 2 or (same.sum(axis=2) == 1).all():
        return None
    averages: Float64Array = same / same.sum(axis=2, keepdims=True)
    return averages


class _Compiled:
    """Spreads of a map along frames, and the gradient of a function of them."""

    def __init__(
        self, edges: Edges, kernel: _core.OutputKernel, Y: npt.NDArray[np.float32], frames: Float64Array
    ) -> None:
        self.frames = frames
        self._map = (edges.graph, Y, kernel, np.ascontiguousarray(frames).reshape(len(Y), -1))
        self.spreads, self._sums = _core.edge_spreads(*self._map, current_run().n_threads)

    def gradient(self, slopes: Float64Array) -> npt.NDArray[np.float32]:
        """Return the gradient, given the slopes by the spreads."""
        return _core.edge_spread_gradient(*self._map, self.spreads, self._sums, slopes, current_run().n_threads)


class _Pairs:
    """The same edge by edge in float64: the oracle of the compiled sums."""

    def __init__(self, edges: Edges, kernel: OutputKernel, Y: Float64Array, frames: Float64Array) -> None:
        rows = np.repeat(np.arange(edges.n_samples), np.diff(edges.offsets))
        used = edges.values > 0
        self._i, self._j = rows[used], edges.columns[used].astype(np.int64)
        self._away = Y[self._i] - Y[self._j]
        self.frames = frames
        squared = np.square(self._away).sum(axis=1)
        self._k, self._slope = kernel.value(squared), kernel.derivative(squared)
        along = np.square(np.einsum("ec,ecl->el", self._away, frames[self._i]))
        totals, self._sums = np.zeros((len(Y), frames.shape[2])), np.zeros(len(Y))
        np.add.at(totals, self._i, self._k[:, None] * along)
        np.add.at(self._sums, self._i, self._k)
        self.spreads = np.divide(totals, self._sums[:, None], out=np.zeros_like(totals), where=self._sums[:, None] > 0)

    def gradient(self, slopes: Float64Array) -> Float64Array:
        """Return the gradient, given the slopes by the spreads."""
        scaled = np.divide(slopes, self._sums[:, None], out=np.zeros_like(slopes), where=self._sums[:, None] > 0)
        out = np.zeros((len(scaled), self._away.shape[1]))
        for at in (self._i, self._j):  # an edge counts for the spread of its first end and moves both
            along = np.einsum("ec,ecl->el", self._away, self.frames[at])
            ahead = np.einsum("el,ecl->ec", scaled[at] * along, self.frames[at])
            form = np.sum(scaled[at] * (along**2 - self.spreads[at]), axis=1)
            moves = 2.0 * (self._k[:, None] * ahead + (self._slope * form)[:, None] * self._away)
            np.add.at(out, self._i, moves)
        return out
