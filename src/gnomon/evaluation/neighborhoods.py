"""Whose neighbours in the map are no neighbours in the data, and the other way round."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log
from gnomon.evaluation.layout import Layout
from gnomon.evaluation.scores import entries_among
from gnomon.neighbors import NeighborGraph, pair_distances

__all__ = ["Neighborhoods", "compare_neighborhoods"]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Neighborhoods:
    """The nearest rows of each of n rows on both sides, and where the two lists differ.

    Attributes
    ----------
    in_data, in_map : ndarray of shape (n, k), int32
        Nearest rows in the data and in the map, the nearest first.
    known : ndarray of shape (n, k), bool
        False where the data have fewer neighbours than k; the entry of `in_data` then means nothing.
    missing : ndarray of shape (n, k), bool
        Entries of `in_data` that are not in the row's `in_map`.
    false : ndarray of shape (n, k), bool
        Entries of `in_map` that are not in the row's `in_data`.
    data_distances : ndarray of shape (n, k, 2), float64
        Distances in the data to `in_data` and to `in_map`; inf where unknown.
    map_distances : ndarray of shape (n, k, 2), float64
        Distances in the map to the same rows.
    """

    in_data: npt.NDArray[np.int32]
    in_map: npt.NDArray[np.int32]
    known: Flags
    missing: Flags
    false: Flags
    data_distances: Floats
    map_distances: Floats

    @property
    def n_neighbors(self) -> int:
        """Neighbours of each row."""
        return int(self.in_data.shape[1])

    def counts(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return how many neighbours of each row are false, and how many are missing."""
        return self.false.sum(axis=1), self.missing.sum(axis=1)

    def reaches(self) -> tuple[Floats, Floats]:
        """Return how far away the farthest false and the farthest missing neighbour lie; NaN where there is none.

        The first in the data, in radii of the row's neighbourhood there; the second in the map, in radii of the
        neighbourhood in the map. More than 1 by definition, but for ties and neighbours that the search overlooked.
        """
        own = np.where(self.known, self.data_distances[:, :, 0], -np.inf).max(axis=1)
        return (
            _reach(self.data_distances[:, :, 1], self.false, own),
            _reach(self.map_distances[:, :, 0], self.missing, self.map_distances[:, :, 1].max(axis=1)),
        )

    def radius_ratio(self) -> Floats:
        """Return log2 of the radius of each neighbourhood in the map over that in the data, less the median.

        The radius is the root mean square distance to the nearest rows, found on each side for itself. Above 0 the map
        is thinner there than elsewhere, compared with the data; -1 is half the radius. NaN where a radius is 0.
        """
        radii = [
            _root_mean_square(self.map_distances[:, :, 1], np.ones_like(self.known)),
            _root_mean_square(self.data_distances[:, :, 0], self.known),
        ]
        with np.errstate(invalid="ignore"):
            ratio: Floats = (log(radii[0]) - log(radii[1])) / math.log(2.0)
        ratio[~np.isfinite(ratio)] = np.nan
        return ratio - np.nanmedian(ratio) if np.isfinite(ratio).any() else ratio


def compare_neighborhoods(X: Any, layout: Layout, graph: NeighborGraph, *, metric: str) -> Neighborhoods:
    """Find the neighbours in a map and set them against those in the data.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features), or (n, n) of distances
    layout : Layout of n rows
    graph : NeighborGraph of n rows
        Of the data; the map is asked for as many neighbours.
    metric : str
        That of the graph.
    """
    in_data, in_map = graph.indices, layout.nearest(graph.n_neighbors)
    known = np.ones(in_data.shape, dtype=np.bool_) if graph.mask is None else graph.mask
    data_distances, map_distances = np.empty((2, *in_data.shape, 2))
    data_distances[:, :, 0] = graph.distances
    data_distances[~known, 0] = np.inf
    data_distances[:, :, 1] = pair_distances(X, in_map, metric=metric)
    for side, rows in enumerate((in_data, in_map)):
        map_distances[:, :, side] = layout.pair_distances(rows)
    return Neighborhoods(
        in_data=in_data,
        in_map=in_map,
        known=known,
        missing=known & ~entries_among(in_data, in_map),
        false=~entries_among(in_map, in_data if known.all() else np.where(known, in_data, -1)),
        data_distances=data_distances,
        map_distances=map_distances,
    )


def _reach(distances: Floats, counted: Flags, radius: Floats) -> Floats:
    farthest = np.where(counted, distances, -np.inf).max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach: Floats = np.where(counted.any(axis=1), farthest / radius, np.nan)
    return reach


def _root_mean_square(distances: Floats, counted: Flags) -> Floats:
    squares = np.square(np.where(counted, distances, 0.0)).sum(axis=1)
    with np.errstate(invalid="ignore"):
        root: Floats = np.sqrt(squares / counted.sum(axis=1))
    return root
