"""What an affinity is: weights of the rows of a table, and of new rows among them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.affinities.base import (
    Affinities,
    fuzzy_union,
    mean_of_directions,
    rows_as_matrix,
    sums_to_one,
    usable_distances,
)
from gnomon.affinities.derivatives import AffinityDerivative, DataAffinities, JacobianWeights, RowWeights
from gnomon.affinities.masses import joined_by_mass
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["Inputs", "NeighborAffinity", "NewRows", "OwnRows", "RowsByMass", "sums_to_one"]

Float32Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Inputs:
    """What an affinity is made from.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The distinct rows, or their distances with metric="precomputed".
    graph : NeighborGraph or None
        Their neighbours, None if the method asked for none.
    seed : int
    masses : ndarray of shape (n_samples,), float64, or None
        How many rows each row stands for, of mean 1; None for 1.
    of_blocks : tuple of NeighborGraph
        Their neighbours in each block of columns, where the affinities of blocks are joined.
    """

    X: Any
    graph: NeighborGraph | None
    seed: int = 0
    masses: npt.NDArray[np.float64] | None = None
    of_blocks: tuple[NeighborGraph, ...] = ()

    @property
    def neighbors(self) -> NeighborGraph:
        """The graph of a method that asked for one."""
        assert self.graph is not None
        return self.graph


class NewRows(Protocol):
    """A rule that weighs the nearest fitted rows of each new row; rows of weights sum to 1."""

    def __call__(self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array) -> Float32Array:
        """Return weights of shape (n_new, n_neighbors), each row a function of itself alone."""
        ...


class NeighborAffinity(ABC):
    """An affinity of one's own: weights of each row's neighbours by their distances, both directions joined.

    A subclass gives the weights in `of_rows`; what a method asks beyond them follows from it: the affinities of a
    table, the weights of new rows, and the derivatives by the data.

    Attributes
    ----------
    join : {"total", "rows", "membership"}
        "total": rows are divided by their sums, (W + W') / 2 by the number of rows; all entries sum to 1. "rows": each
        row divided by its sum is its own distribution, as the loss "conditional_kl" takes. "membership": weights in
        [0, 1], joined as `set_op_mix_ratio` says.
    set_op_mix_ratio : float in [0, 1]
        r in r (W + W' - W W') + (1 - r) W W' of "membership".
    power : float >= 1
        Of the distance in the logarithm of a weight, 1 by default: distances in blocks of columns are added in it.
    """

    join: ClassVar[Any] = "total"
    set_op_mix_ratio: Any = 1.0
    power: ClassVar[float] = 1.0

    @abstractmethod
    def of_rows(self, distances: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return weights >= 0 of the shape of the distances, each row a function of its own distances alone.

        Distances are float32, or float64 where derivatives are asked for, ascending, and inf where a row has no such
        neighbour; it weighs nothing.
        """

    def of_new_rows(self, distances: Float32Array) -> Float32Array:
        """Return the weights of new rows, which sum to 1."""
        return sums_to_one(np.asarray(self.of_rows(distances), dtype=np.float32))

    @entrance()
    def weights(self, graph: NeighborGraph) -> Affinities:
        """Return the affinities of a table, given its neighbours."""
        found = self._checked(usable_distances(graph))
        return self.joined(graph.indices, found)

    def joined(
        self,
        indices: npt.NDArray[np.int32],
        weights: Float32Array,
        masses: npt.NDArray[np.float64] | None = None,
    ) -> Affinities:
        """Return the affinities of rows whose neighbours have such weights, as ``join`` says.

        Parameters
        ----------
        indices : ndarray of shape (n_samples, n_neighbors), int32
        weights : ndarray of shape (n_samples, n_neighbors), float32
            A neighbour may stand twice where all but one of its weights are 0.
        masses : ndarray of shape (n_samples,), float64, or None, default=None
            How many rows each row stands for, of mean 1; None for 1.
        """
        if masses is not None:
            return joined_by_mass(indices, weights, masses, self.join, self.set_op_mix_ratio)
        if self.join == "membership":
            matrix = fuzzy_union(indices, weights, set_op_mix_ratio=self.set_op_mix_ratio)
            return Affinities(matrix, "membership", symmetric=True)
        if self.join == "rows":
            return Affinities(rows_as_matrix(indices, sums_to_one(weights)), "rows")
        return Affinities(mean_of_directions(indices, sums_to_one(weights)), "total", symmetric=True)

    def _checked(self, distances: Float32Array) -> Float32Array:
        """Return the weights of all neighbours, or raise ValueError."""
        found = np.ascontiguousarray(self.of_rows(distances), dtype=np.float32)
        if found.shape != distances.shape or not (np.isfinite(found).all() and (found >= 0.0).all()):
            what, rule = f"weights of shape {found.shape}", f"finite, >= 0 and of shape {distances.shape}"
            raise ValueError(message(what, rule))
        return found

    def degree(self, inputs: Inputs) -> float | None:
        """Return the sum of a new row's affinities before it is divided out; None for that of a mean row."""
        return None

    def __call__(self, inputs: Inputs) -> Affinities:
        """Return the affinities of a table."""
        graph, masses = inputs.neighbors, inputs.masses
        if masses is None:
            return self.weights(graph)
        return self.joined(graph.indices, self._checked(usable_distances(graph)), masses)

    def new_rows(self, inputs: Inputs) -> NewRows:
        """Return the rule for new rows among those of a table."""
        return OwnRows(self)

    def calibrated(self, squared: npt.NDArray[np.float64], mask: npt.NDArray[np.bool_]) -> RowWeights:
        """Return the weights in float64 with their derivatives by squared distances, both (n_rows, n_neighbors).

        By central differences of `of_rows`, which have some nine digits; a subclass that knows them gives its own.
        """

        def shares(distances: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
            weights = np.asarray(self.of_rows(distances), dtype=np.float64)
            return weights if self.join == "membership" else sums_to_one(weights)

        return JacobianWeights.of(shares, squared, mask)

    def derivative(self, inputs: Inputs) -> AffinityDerivative:
        """Return the affinities of a table as functions of it."""
        return DataAffinities(inputs.X, inputs.neighbors, self)


@dataclass(frozen=True)
class OwnRows:
    """New rows weigh their neighbours as the rows of a table do.

    Parameters
    ----------
    affinity : NeighborAffinity
    """

    affinity: NeighborAffinity

    def __call__(self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array) -> Float32Array:
        """Return weights that sum to 1."""
        return self.affinity.of_new_rows(distances)


@dataclass(frozen=True)
class RowsByMass:
    """The weights of the nearest fitted rows of each new row, each times the mass of the fitted row.

    Parameters
    ----------
    rule : NewRows
        Weights without masses.
    masses : ndarray of shape (n_samples,), float64
        How many rows each fitted row stands for.
    """

    rule: NewRows
    masses: npt.NDArray[np.float64]

    def __call__(self, rows: Any, X_new: Any, indices: npt.NDArray[np.int32], distances: Float32Array) -> Float32Array:
        """Return weights that sum to 1."""
        weights = self.rule(rows, X_new, indices, distances)
        return np.asarray(sums_to_one(weights * self.masses[indices]), dtype=np.float32)
