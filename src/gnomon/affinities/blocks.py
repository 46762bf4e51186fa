"""Affinities in blocks of columns, joined by fuzzy union or as a mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import expm1, log1p
from gnomon.affinities.affinity import Inputs, NeighborAffinity, NewRows, sums_to_one
from gnomon.affinities.base import Affinities, usable_distances

__all__ = ["BlockAffinity", "BlockRows", "join_blocks"]

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int32]

_ROWS = 4096  # joined at a time


def join_blocks(indices: Indices, values: npt.NDArray[Any], weights: tuple[float, ...], join: str) -> Float32Array:
    """Join weights that a row's neighbours have in several blocks.

    Parameters
    ----------
    indices : ndarray of shape (n_rows, n_blocks n_neighbors), int32
        Neighbours in one block after the other, different within a block.
    values : ndarray of shape (n_rows, n_blocks n_neighbors)
        v_b in [0, 1]; a row that is no neighbour in a block has 0 there.
    weights : tuple of n_blocks float in (0, 1]
        w_b, the largest of them 1.
    join : {"union", "mean"}
        Union: 1 - prod_b (1 - w_b v_b), the probabilistic sum. Mean: sum_b w_b v_b / sum_b w_b.

    Returns
    -------
    ndarray of shape (n_rows, n_blocks n_neighbors), float32
        The joined value of each neighbour where it stands first, 0 where it stands again.
    """
    found = np.zeros(indices.shape, dtype=np.float32)
    factors = np.repeat(weights, indices.shape[1] // len(weights))
    if join == "mean":
        factors = factors / sum(weights)
    for begin in range(0, len(indices), _ROWS):
        some = slice(begin, begin + _ROWS)
        found[some] = _joined(indices[some], values[some].astype(np.float64) * factors, join)
    return found


def _joined(indices: Indices, terms: Float64Array, join: str) -> Float64Array:
    with np.errstate(divide="ignore"):
        terms = log1p(-np.minimum(terms, 1.0)) if join == "union" else terms
    order = np.argsort(indices, axis=1, kind="stable")
    first = np.ones(indices.shape, dtype=bool)
    ordered = np.take_along_axis(indices, order, axis=1)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    sums = np.zeros(indices.shape)
    sums[first] = np.add.reduceat(np.take_along_axis(terms, order, axis=1).ravel(), np.flatnonzero(first))
    found = np.zeros(indices.shape)
    np.put_along_axis(found, order, np.where(first, -expm1(sums) if join == "union" else sums, 0.0), axis=1)
    return found


@dataclass(frozen=True)
class BlockAffinity:
    """The fuzzy union, or the mean, of a table's affinities in several blocks of columns.

    Each block has its own neighbours and its own weights v_b of them, calibrated by distances in the block alone. They
    are joined row by row before both directions are, so that what the affinity promises of pairs holds.

    Parameters
    ----------
    affinity : NeighborAffinity
        Of the neighbours in each block.
    weights : tuple of float in (0, 1]
        w_b, the largest of them 1.
    join : {"union", "mean"}
        Union: 1 - prod_b (1 - w_b v_b), near in one block at least. Mean: sum_b w_b v_b / sum_b w_b, for distributions.

    References
    ----------
    .. [1] McInnes, Healy & Melville, "UMAP: uniform manifold approximation and projection for dimension reduction",
       arXiv:1802.03426, 2018 (fuzzy simplicial sets and their operations).
    """

    affinity: NeighborAffinity
    weights: tuple[float, ...]
    join: Literal["union", "mean"]

    def __call__(self, inputs: Inputs) -> Affinities:
        """Return the affinities of a table."""
        graphs = inputs.of_blocks
        values = [np.asarray(self.affinity.of_rows(usable_distances(graph))) for graph in graphs]
        indices = np.concatenate([graph.indices for graph in graphs], axis=1)
        joined = join_blocks(indices, np.concatenate(values, axis=1), self.weights, self.join)
        return self.affinity.joined(indices, joined)

    def degree(self, inputs: Inputs) -> float | None:
        """Return that of the affinity, if it knows one."""
        return self.affinity.degree(inputs)

    def new_rows(self, inputs: Inputs) -> NewRows:
        """Return the rule for new rows, searched for in each block."""
        rules = [self.affinity.new_rows(Inputs(inputs.X, graph, inputs.seed)) for graph in inputs.of_blocks]
        return BlockRows(tuple(rules), self.weights, self.join, self.affinity.join == "membership")


@dataclass(frozen=True)
class BlockRows:
    """Weights of new rows in several blocks, joined.

    Parameters
    ----------
    rules : tuple of NewRows
        One for each block.
    weights : tuple of float in (0, 1]
    join : {"union", "mean"}
    membership : bool
        Whether the largest weight of a row is 1 in each block; else its weights sum to 1.
    """

    rules: tuple[NewRows, ...]
    weights: tuple[float, ...]
    join: str
    membership: bool

    def __call__(self, rows: Any, X_new: Any, indices: Indices, distances: Float32Array) -> Float32Array:
        """Return weights that sum to 1, of neighbours in one block after the other."""
        k = indices.shape[1] // len(self.rules)
        values = []
        for number, rule in enumerate(self.rules):
            some = slice(number * k, (number + 1) * k)
            near = np.ascontiguousarray(distances[:, some])
            own = rule(rows, X_new, np.ascontiguousarray(indices[:, some]), near)
            largest = own.max(axis=1, keepdims=True)
            values.append(own / np.where(self.membership & (largest > 0.0), largest, 1.0))
        return sums_to_one(join_blocks(indices, np.concatenate(values, axis=1), self.weights, self.join))
