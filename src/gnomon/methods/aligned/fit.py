"""The maps of several tables as one descent: springs between the places of the same row, and where all start."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import SparseTimes
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.affinities import Affinities
from gnomon.initialization.spectral import spectral_start
from gnomon.linalg import connected_components, procrustes
from gnomon.methods.aligned.relations import appearances
from gnomon.methods.neighbor.anchors import join_terms
from gnomon.methods.neighbor.base import NeighborEmbedder, Prepared
from gnomon.objectives import Springs
from gnomon.optimizers import Descent, minimize_together

__all__ = ["fit_together"]

Float64Array = npt.NDArray[np.float64]
_ROUNDS = 5  # of bringing starts to their common mean


def fit_together(
    estimators: Sequence[NeighborEmbedder],
    tables: Sequence[Any],
    found: list[npt.NDArray[np.int64]],
    *,
    weight: float,
    window: int,
    seeds: Sequence[int] | None = None,
    jitter: float = 0.0,
) -> None:
    """Fit an estimator to each table, in one descent.

    Parameters
    ----------
    estimators : sequence of NeighborEmbedder
        Of equal parameters; fitted in place.
    tables : sequence of array-like, one for each
    found : list of ndarray
        Which row each row is, of `identities`.
    weight : float >= 0 or inf
        Stiffness of the springs; 0 fits each map by itself and turns and moves it to the others afterwards, inf puts
        the same rows in one place.
    window : int >= 1
        How many appearances apart the same row is tied.
    seeds : sequence of int or None, default=None
        A seed for each table; None gives all that of the run.
    jitter : float >= 0, default=0.0
        Normal noise added to the starts, in units of their spread.
    """
    begun = [one._begin(X, None) for one, X in zip(estimators, tables, strict=True)]
    prepared = []
    for t, (one, (rows, _, parameters)) in enumerate(zip(estimators, begun, strict=True)):
        if rows.shape[0] < 2:
            raise ValueError(message(f"table {t}", "of two distinct rows at least"))
        one.seed_ = one.seed_ if seeds is None else seeds[t]
        prepared.append(one._prepare(rows, parameters))
    points = _Points([rows.shape[0] for rows, _, _ in begun], [copies for _, copies, _ in begun], found, window)
    current_run().reporter.begin("initialization")
    starts = [one._start(own) for one, own in zip(estimators, prepared, strict=True)] if weight == 0 else None
    starts = _joint_start(estimators, prepared, points) if starts is None else starts
    if jitter > 0.0:
        starts = [_jittered(start, jitter, one.seed_) for one, start in zip(estimators, starts, strict=True)]
    current_run().reporter.begin("layout")
    objectives = [one._objective(own) for one, own in zip(estimators, prepared, strict=True)]
    springs = points.springs(weight, starts[0].shape[1]) if 0 < weight < math.inf else []
    for objective, spring in zip(objectives, springs, strict=False):
        join_terms(objective, spring)
    couple = points.merge if weight == math.inf else partial(points.pull, springs)
    descents = [
        Descent(own.recipe.optimizer, objective, start)
        for own, objective, start in zip(prepared, objectives, starts, strict=True)
    ]
    solutions = minimize_together(descents, couple, reporter=current_run().reporter)
    if weight == 0:
        aligned = points.aligned([solution.embedding for solution in solutions])
        solutions = [replace(one, embedding=Y, state=None) for one, Y in zip(solutions, aligned, strict=True)]
    for one, own, objective, solution, (_, copies, _) in zip(
        estimators, prepared, objectives, solutions, begun, strict=True
    ):
        one._finish(one._conclude(own, objective, solution), copies)


class _Points:
    """The distinct rows of all tables, and which of them are the same row.

    Parameters
    ----------
    sizes : list of int
        Distinct rows of each table.
    copies : list of ndarray or None
        The distinct row of each row; None where all are distinct.
    found : list of ndarray
        Which row each row is.
    window : int
    """

    def __init__(self, sizes: list[int], copies: list[Any], found: list[npt.NDArray[np.int64]], window: int) -> None:
        self.offsets = np.concatenate([[0], np.cumsum(sizes)])
        n = int(self.offsets[-1])
        of_rows = np.concatenate(
            [
                offset + (np.arange(size) if copy is None else copy)
                for offset, size, copy in zip(self.offsets, sizes, copies, strict=False)
            ]
        )
        first, second = (of_rows[side] for side in appearances(found, window))
        copied = np.bincount(of_rows, minlength=n)
        shares = 1.0 / (window * np.maximum(copied[first], copied[second]))  # equal rows together pull as one
        links = scipy.sparse.csr_array((shares, (first, second)), shape=(n, n))
        links = scipy.sparse.csr_array(links + links.T)
        self.sums = SparseTimes(links)  # of the places that each point is tied to
        self.strengths = np.asarray(links.sum(axis=1)).ravel()
        self.tied = self.strengths > 0
        self.group = connected_components(links)  # points that stand for one row

    def split(self, values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Return the part of each table."""
        return np.split(values, self.offsets[1:-1])

    def springs(self, weight: float, n_components: int) -> list[Springs]:
        """Return a spring for each point that is tied, at rest at the origin."""
        places = np.where(self.tied[:, None], np.zeros((1, n_components)), np.nan)
        return [
            Springs(own, strengths=c, weight=weight)
            for own, c in zip(self.split(places), self.split(self.strengths), strict=True)
        ]

    def pull(self, springs: list[Springs], embeddings: list[npt.NDArray[Any]]) -> None:
        """Tie each point to the mean place of the points it is tied to."""
        if not springs:
            return
        places = np.concatenate(embeddings).astype(np.float64)
        means = self.sums(places)[self.tied] / self.strengths[self.tied, None]
        ends = np.cumsum([len(own.rows) for own in springs])[:-1]
        for own, targets in zip(springs, np.split(means, ends), strict=True):
            own.pull_to(targets)

    def merge(self, embeddings: list[npt.NDArray[Any]]) -> None:
        """Put the points of each group at their mean, in place."""
        means = self.means(np.concatenate(embeddings))[self.group]
        for Y, own in zip(embeddings, self.split(means), strict=True):
            Y[:] = own

    def means(self, places: npt.NDArray[Any]) -> Float64Array:
        """Return the mean place of each group, (n_groups, n_components)."""
        count = np.bincount(self.group)[:, None]
        sums = [np.bincount(self.group, weights=column.astype(np.float64)) for column in places.T]
        means: Float64Array = np.stack(sums, axis=1) / count
        return means

    def joined(self, graphs: Sequence[Affinities]) -> Affinities:
        """Return the affinities of all tables, of a mean degree each, between groups instead of points."""
        parts = [graph.matrix * (graph.n_samples / graph.matrix.sum()) for graph in graphs]
        n, n_groups = len(self.group), int(self.group.max()) + 1
        member = scipy.sparse.csr_array((np.ones(n, dtype=np.float32), (np.arange(n), self.group)), shape=(n, n_groups))
        joint = scipy.sparse.csr_array(member.T @ scipy.sparse.csr_array(scipy.sparse.block_diag(parts)) @ member)
        joint.setdiag(0.0)
        joint.eliminate_zeros()
        scaled = scipy.sparse.csr_array(joint.maximum(joint.T) / joint.max())
        return Affinities(scaled.astype(np.float32), "membership", symmetric=True)

    def aligned(self, embeddings: list[npt.NDArray[np.float32]]) -> list[npt.NDArray[np.float32]]:
        """Turn, reflect and move maps to their common mean; shapes and sizes stay as they are."""
        groups = self.split(self.group)
        placed = np.full((int(self.group.max()) + 1, embeddings[0].shape[1]), np.nan)
        moved: list[Float64Array] = []
        for Y, own in zip(embeddings, groups, strict=True):  # each to those before it, then all to their mean
            moved.append(procrustes(Y, placed[own], scaling=False).apply(Y))
            new = np.isnan(placed[own]).any(axis=1)
            placed[own[new]] = moved[-1][new]
        shared = self.split(self.tied)
        for _ in range(_ROUNDS):
            means = self.means(np.concatenate(moved))
            moved = [
                procrustes(old, np.where(tied[:, None], means[own], np.nan), scaling=False).apply(old)
                for old, own, tied in zip(moved, groups, shared, strict=True)
            ]
        return [one.astype(np.float32) for one in moved]


def _joint_start(
    estimators: Sequence[NeighborEmbedder], prepared: Sequence[Prepared], points: _Points
) -> list[npt.NDArray[np.float32]]:
    """Return where the points start: those of one row in one place.

    A spectral start is that of all tables' affinities, the points of one row taken as one. Others, or where that graph
    has none, are each table's own, turned, reflected and moved to each other; points of one row start at their mean.
    """
    found = [one._start_affinities(own.inputs, own.parameters) for one, own in zip(estimators, prepared, strict=True)]
    graphs = [graph for graph in found if graph is not None]
    parameters = prepared[0].parameters
    if estimators[0].init == "spectral" and len(graphs) == len(found):
        joint = spectral_start(points.joined(graphs), parameters["n_components"], seed=estimators[0].seed_)
        if joint.embedding is not None:
            means = prepared[0].recipe.rescale(joint.embedding)
            for one in estimators:
                one.init_ = "spectral"
            return points.split(means[points.group])
    starts = points.aligned([one._start(own) for one, own in zip(estimators, prepared, strict=True)])
    common = points.means(np.concatenate(starts))[points.group]
    return [np.asarray(own, dtype=np.float32) for own in points.split(common)]


def _jittered(start: npt.NDArray[np.float32], jitter: float, seed: int) -> npt.NDArray[np.float32]:
    noise = np.random.default_rng(seed).standard_normal(start.shape)
    return (start + jitter * float(start.std()) * noise).astype(np.float32)
