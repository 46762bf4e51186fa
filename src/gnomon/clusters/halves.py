"""The rows that clusters are learned from and those held out to check them, and where both lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._run import current_run
from gnomon._validation import warn
from gnomon.clusters.sets import OF_SETS, SetPlaces, has_many_members
from gnomon.clusters.steps import noise_of_steps
from gnomon.exceptions import DataWarning
from gnomon.linalg import PrincipalComponents, principal_components, project_rows
from gnomon.neighbors import alike_by_chance, find_repeats
from gnomon.neighbors.circles import find_seams
from gnomon.neighbors.straight import DIRECTIONS, direction_lengths, straight_rows

__all__ = ["MOST_ROWS", "Halves", "PlacedHalves"]

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

MOST_ROWS = 20_000
"""Rows that are learned from at most, and as many that are held out."""
_COMPONENTS = 50  # principal components in which groups are compared and checked


@dataclass(frozen=True)
class Halves:
    """Row numbers, ascending: those learned from, and those held out."""

    learned: Labels
    held_out: Labels

    @classmethod
    def of(cls, rows: Labels, seed: int) -> Halves:
        """Part rows by chance."""
        n = len(rows)
        order = rows[np.random.default_rng(seed).permutation(n)]
        size = min(n // 2, MOST_ROWS)
        return cls(np.sort(order[:size]), np.sort(order[size : 2 * size + n % 2]))


@dataclass(frozen=True)
class PlacedHalves:
    """The halves, and where their rows lie in principal components of the data, or principal coordinates of sets.

    Attributes
    ----------
    halves : Halves
    learned, held_out : ndarray of shape (n_rows, n_components), float64
    n_counted : int
        Rows of the table, each set of repeated ones taken for one.
    n_repeats : int
        Rows looked at that repeat others and have no part.
    """

    halves: Halves
    learned: Floats
    held_out: Floats
    n_counted: int
    n_repeats: int = 0

    @classmethod
    def of(cls, X: Any, metric: str) -> PlacedHalves:
        """Part the rows; of a set of rows that repeat each other only the first is in a half, and a warning says so."""
        n, seed = int(X.shape[0]), current_run().seed
        ground, places = cls._of(X, Halves.of(np.arange(n), seed), metric, n)
        rows = np.concatenate([ground.halves.learned, ground.halves.held_out])
        order = np.argsort(rows)
        kept, _ = find_repeats(np.concatenate(places)[order], seed=seed)
        n_repeats = len(rows) - len(kept)
        if not n_repeats or alike_by_chance(X[rows], n_repeats):
            return ground
        warn(
            f"{n_repeats:,} of {len(rows):,} rows lie as near to others as if they were measured or copied several "
            "times. Rows held out must know nothing of those learned from, so one row of each set counts. Where you "
            "know the sets, pass one row of each",
            DataWarning,
        )
        parted, _ = cls._of(X, Halves.of(rows[order[kept]], seed), metric, round(n * len(kept) / len(rows)))
        return replace(parted, n_repeats=n_repeats)

    @classmethod
    def _of(cls, X: Any, halves: Halves, metric: str, n_counted: int) -> tuple[PlacedHalves, list[Floats]]:
        """Return the ground, and where rows lie without the noise that parts those with the same values."""
        rows, unseen = X[halves.learned], X[halves.held_out]
        seams = find_seams(rows, metric)
        if seams is not None:
            rows, unseen = seams.apply(rows), seams.apply(unseen)
        if metric in OF_SETS and has_many_members(rows):
            of_sets = SetPlaces.of(rows, metric, _COMPONENTS)
            learned, held_out = (of_sets.transform(part) for part in (rows, unseen))
            return cls(halves, learned, held_out, n_counted), [learned, held_out]
        found, sides = _straight((rows, unseen), metric)
        places = [project_rows(part, found.mean, found.components).astype(np.float64) for part in sides]
        learned, held_out = places
        noise = _noise((rows, unseen), found.components, metric)
        if noise is not None:
            learned, held_out = learned + noise[0], held_out + noise[1]
        return cls(halves, learned, held_out, n_counted), places


def _straight(parts: tuple[Any, Any], metric: str) -> tuple[PrincipalComponents, list[Any]]:
    """Return rows by whose straight distances groups are checked, and the components of the first part of them.

    Straight distances are those of the metric where rows are directions, see `gnomon.neighbors.straight`. Columns with
    a period are numbers, cut before; under metrics without such places rows are as given. Sparse rows are not written
    out: under "correlation" the components are centred, and so stand for rows that are.
    """
    sides = list(parts)
    if metric in DIRECTIONS:
        dtype = np.result_type(parts[0].dtype, np.float32)
        sides = [straight_rows(part, metric, dtype=dtype, written_out=False) for part in parts]
    found = principal_components(sides[0], min(_COMPONENTS, *sides[0].shape), seed=current_run().seed)
    if metric == "correlation":  # also of a component without variance
        found = replace(found, components=found.components - found.components.mean(axis=1, keepdims=True))
    return found, sides


def _noise(parts: tuple[Any, ...], components: Floats, metric: str) -> list[Floats] | None:
    """Return the noise of values that lie in steps, see `noise_of_steps`, in rows that are laid as a metric has them.

    Values lie in steps before rows are brought to one length, which divides the noise as well; under "hellinger" their
    roots do. By what rows are centred plays no part, as directions are then orthogonal to it.
    """
    values = parts
    if metric == "hellinger":
        values = tuple(np.sqrt(part) if isinstance(part, np.ndarray) else part.sqrt() for part in parts)
    noise = noise_of_steps(values, components, current_run().seed)
    if noise is None or metric not in DIRECTIONS:
        return noise
    return [one / direction_lengths(part, metric)[:, None] for one, part in zip(noise, parts, strict=True)]
