"""Pairs of points as the sums over them take them: affinities in compressed rows, compiled kernels, and the force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.kernels.laws import evaluate_law
from gnomon.linalg import kernel_csr

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel
    from gnomon.objectives.base import Embedding

__all__ = [
    "Edges",
    "check_embedding",
    "compile_kernel",
    "pair_force",
    "refuse_masses",
    "repulsive_stiffness",
    "stiffness",
]

_LEAST_PULL = 0.5  # of a row, relative to the mean: joint affinities of t-SNE have no less
_CLOSE = 0.01  # squared distance of points that are close together: at 0 some kernels are infinitely steep
_FAR = 100.0  # squared distance, in units of the slope close together, at which tails are looked at
_STEADY, _TAIL = (
    0.3,
    0.8,
)  # of the steps that the Cauchy kernel's forces take: of the lightest tails, and what others add


@dataclass(frozen=True)
class Edges:
    """A symmetric sparse matrix of affinities in compressed rows.

    Attributes
    ----------
    offsets : ndarray of shape (n_samples + 1,), int64
    columns : ndarray of shape (n_edges,), int32
    values : ndarray of shape (n_edges,), float32
    degrees : ndarray of shape (n_samples,), float32
        Sums of the rows.
    """

    offsets: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    degrees: npt.NDArray[np.float32]

    @classmethod
    def from_affinities(cls, affinities: Affinities) -> Edges:
        """Convert once, refusing what is not finite or negative."""
        edges = cls.from_matrix(affinities.matrix)
        if edges.values.min() < 0:
            raise ValueError(message("affinities", "finite and not negative"))
        return edges

    @classmethod
    def from_matrix(cls, matrix: Any) -> Edges:
        """Convert a sparse matrix with weights of either sign."""
        offsets, columns, values = kernel_csr(matrix)
        if values.size == 0:
            raise ValueError(message("affinities", "a matrix with at least one entry"))
        if not (np.isfinite(values.min()) and np.isfinite(values.max())):  # without an array of the size of the graph
            raise ValueError(message("affinities", "finite and not negative"))
        return cls(offsets, columns, values, _core.edge_degrees(offsets, values, current_run().n_threads))

    def degrees_in(self, matrix: Any) -> npt.NDArray[np.float64]:
        """Return the degrees of the matrix that was converted, in its precision."""
        if matrix.dtype == np.float64:
            return np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
        return self.degrees.astype(np.float64)

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return len(self.offsets) - 1

    @cached_property
    def graph(self) -> _core.Graph:
        """The edges as the compiled kernels take them, checked once."""
        return _core.Graph(self.offsets, self.columns, self.values)


def refuse_masses(affinities: Affinities, loss: str) -> None:
    """Raise ValueError if points stand for several rows each, which the loss does not count."""
    if affinities.masses is not None:
        remedy = "Use the loss 'kl', 'conditional_kl', 'cross_entropy', 'linear_attraction' or 'info_nce'."
        raise ValueError(message("affinities", f"without masses for the loss {loss!r}", remedy=remedy))


def compile_kernel(kernel: OutputKernel) -> _core.OutputKernel | None:
    """Return the compiled kernel that an output kernel stands for, None for a kernel in Python alone."""
    if not kernel.compiled:
        return None
    return _core.OutputKernel(kernel.name, *kernel.parameters)


def check_embedding(Y: npt.ArrayLike, n_samples: int) -> Embedding:
    """Return Y as a row-major float32 array of n_samples rows, or raise ValueError."""
    points = np.ascontiguousarray(Y, dtype=np.float32)
    if points.ndim != 2 or points.shape[0] != n_samples or not 1 <= points.shape[1] <= _core.max_components:
        rule = f"of shape (n_samples={n_samples}, n_components) with 1 to {_core.max_components} components"
        raise ValueError(message(f"Y of shape {points.shape}", rule))
    return points


def stiffness(
    pulls: npt.NDArray[np.float64], total: float, masses: npt.NDArray[np.float64] | None, kernel: OutputKernel
) -> tuple[npt.NDArray[np.float64], float]:
    """Return the pull of each point, a share of the mean one at least, and the slope of -log k close together.

    Parameters
    ----------
    pulls : ndarray of shape (n_samples,)
        Sums of the affinities of points.
    total : float
        Of the pulls.
    masses : ndarray of shape (n_samples,) or None
    kernel : OutputKernel
        k.
    """
    rows = np.ones(len(pulls)) if masses is None else masses
    least = _LEAST_PULL * rows * (total / rows.sum())
    slope = float(evaluate_law("log", kernel, np.array([_CLOSE]))[1][0])
    return np.maximum(pulls, least), abs(slope)


def repulsive_stiffness(kernel: OutputKernel, slope: float) -> float:
    """Return how many times as stiff as with the Cauchy kernel a sum of log Z is, relative to its attractions.

    Attractions of kernels with light tails do not give way as points move apart, and repulsions change more steeply
    there. With e = -d log k / d log s far out, half of one more than the degrees of freedom of Student's t, steps of
    t-SNE's descent in units of the attractions are stable up to 1.2 times the Cauchy kernel's at e = 2, .9 at 3, .6 at
    5.5, .5 at 10 and .4 of the Gaussian, at 400 and 1,500 rows of pictures. What is returned stays below that by a
    third: 1 / (0.3 + 0.8 / (e - 0.5)), at least 1.

    Parameters
    ----------
    kernel : OutputKernel
        k.
    slope : float
        Of -log k where points are close together, which is the unit of squared distances.
    """
    if slope == 0.0:  # flat close together: it has no unit
        return 1.0
    s = _FAR / slope
    value, derivative = float(kernel.value(s)), float(kernel.derivative(s))
    if value <= 0.0:  # lighter than can be told
        return 1.0 / _STEADY
    fall = -s * derivative / value
    return 1.0 if fall <= 0.5 else max(1.0, 1.0 / (_STEADY + _TAIL / (fall - 0.5)))


def pair_force(coefficients: Any, Y: npt.ArrayLike, sources: npt.ArrayLike | None = None) -> npt.NDArray[np.float64]:
    """Return sum_j C_ij (y_i - z_j) for each row i, in float64.

    Parameters
    ----------
    coefficients : array or sparse matrix of shape (n_rows, n_sources)
        C; its cost is its number of entries times n_components.
    Y : array-like of shape (n_rows, n_components)
        Points that feel the force.
    sources : array-like of shape (n_sources, n_components) or None, default=None
        Points z_j that exert it; None takes Y.

    Returns
    -------
    ndarray of shape (n_rows, n_components), float64
    """
    points = np.asarray(Y, dtype=np.float64)
    others = points if sources is None else np.asarray(sources, dtype=np.float64)
    middle = others.mean(axis=0)  # the two parts nearly cancel where the map lies far from the origin
    totals = np.asarray(coefficients.sum(axis=1)).reshape(-1, 1)
    return np.asarray(totals * (points - middle) - coefficients @ (others - middle))
