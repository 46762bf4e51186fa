"""A region of the map given by its points, and whether a place lies in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data import check_labels
from gnomon.data.labels import Classes, measured_labels, sort_into_classes
from gnomon.geometry.check import has_place, row_mask

__all__ = ["Membership", "Region", "target_rows"]

_ASKED = 5  # nearest points that say where a place lies
_AROUND = 15  # points that make the region around a place
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Membership:
    """Where a changed row comes to lie, and whether that is in the region.

    Attributes
    ----------
    place : ndarray of shape (n_components,)
    inside : bool
        Whether most of the nearest points belong to the region, and it is no emptier here than elsewhere.
    distance : float
        To the nearest point of the region, in units of the map; inf if the row has no place.
    label : object or None
        Label of most of the nearest points, the smallest of several.
    plausible : bool
        Whether a row in the region is like the data and like those of the region, if that was asked.
    """

    place: Array
    inside: bool
    distance: float
    label: Any
    plausible: bool = True

    @property
    def arrived(self) -> bool:
        """Whether the row is in the region and plausible."""
        return self.inside and self.plausible


def target_rows(places: Array, target: Any, position: Any, labels: Any) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows that a target names: a label, rows, or those nearest to a position."""
    n = len(places)
    placed = has_place(places)
    if (target is None) == (position is None):
        raise ValueError(message("target and position", "one given, the other None"))
    if position is not None:
        spot = np.asarray(position, dtype=np.float64)
        if spot.shape != (places.shape[1],) or not np.isfinite(spot).all():
            raise ValueError(message(f"position={position!r}", f"{places.shape[1]} finite numbers"))
        distance = np.where(placed, np.sum((places - spot) ** 2, axis=1), np.inf)
        wanted = np.zeros(n, dtype=np.bool_)
        wanted[np.argsort(distance, kind="stable")[: min(_AROUND, int(placed.sum()))]] = True
        return wanted
    if np.ndim(target) == 0:
        if labels is None:
            remedy = "Pass labels, or rows as a list or mask."
            raise ValueError(message(f"target={target!r}", "rows where there are no labels", remedy=remedy))
        classes = sort_into_classes(check_labels(labels, n))
        known = classes.values if target in classes.values else classes.names  # a number may be written as text
        if target not in known:
            shown = ", ".join(map(repr, classes.values[:3])) + (", ..." if len(classes) > 3 else "")
            raise ValueError(message(f"target={target!r}", "one of the labels", fact=shown))
        wanted = np.asarray(classes.codes == known.index(target))
    else:
        wanted = row_mask(target, n, name="target")
    if not (wanted & placed).any():
        raise ValueError(message("target", "rows with a place in the map"))
    return wanted & placed


@dataclass(frozen=True)
class Region:
    """Points of the map, told from the others by their neighbours in it.

    Attributes
    ----------
    places : ndarray of shape (n_samples, n_components)
    rows : ndarray of int64
        Rows with a place.
    wanted : ndarray of shape (n_samples,), bool
        Rows of the region.
    classes : Classes or None
        Labels of the rows, unless they have none or measured ones.
    tree, own_tree : KDTree
        Over the places of `rows`, and of those of the region.
    reach : float
        Farthest that a place of the region may lie from its points: as far as one of these from its fifth neighbour.
    """

    places: Array
    rows: npt.NDArray[np.int64]
    wanted: npt.NDArray[np.bool_]
    classes: Classes | None
    tree: Any
    own_tree: Any
    reach: float

    @classmethod
    def of(cls, places: Array, wanted: npt.NDArray[np.bool_], labels: Any) -> Region:
        """Prepare the search."""
        from scipy.spatial import KDTree

        rows = np.flatnonzero(has_place(places))
        known = None if labels is None else check_labels(labels, len(places))
        classes = None if known is None or measured_labels(known) is not None else sort_into_classes(known)
        tree = KDTree(places[rows])
        asked = min(_ASKED + 1, len(rows))  # a point is its own nearest
        reach = float(np.max(tree.query(places[wanted], k=[asked])[0]))
        return cls(places, rows, wanted, classes, tree, KDTree(places[wanted]), reach)

    def _nearest(self, at: Array, without: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the nearest rows of each place, leaving out one row each."""
        asked = min(_ASKED, int(self.wanted.sum()), len(self.rows) - 1)
        _, found = self.tree.query(at, k=list(range(1, asked + 2)))
        near = self.rows[np.minimum(found, len(self.rows) - 1)]
        fits = near != without[:, None]
        order = np.argsort(~fits, axis=1, kind="stable")[:, :asked]  # the others first, in their order
        return np.asarray(np.take_along_axis(near, order, axis=1))

    def core(self) -> npt.NDArray[np.int64]:
        """Return the rows of the region that lie among others of it; all rows if none does."""
        rows = np.flatnonzero(self.wanted)
        inside = self.wanted[self._nearest(self.places[rows], rows)].mean(axis=1) > 0.5
        return rows[inside] if inside.any() else rows

    def memberships(self, at: Array, without: int) -> list[Membership]:
        """Say of each place where it lies; the row `without` is not asked."""
        found: list[Membership] = []
        placed = np.atleast_1d(np.isfinite(at).all(axis=1))
        near = np.zeros((len(at), 0), dtype=np.int64)
        if placed.any():
            filled = np.where(placed[:, None], at, self.places[self.rows[0]])
            near = self._nearest(filled, np.full(len(at), without, dtype=np.int64))
            distances = self.own_tree.query(filled)[0]
        for j, place in enumerate(at):
            if not placed[j]:
                found.append(Membership(place, False, float("inf"), None))
                continue
            inside = bool(self.wanted[near[j]].mean() > 0.5 and distances[j] <= self.reach)
            found.append(Membership(place, inside, float(distances[j]), self._label(near[j])))
        return found

    def _label(self, rows: npt.NDArray[np.int64]) -> Any:
        return None if self.classes is None else self.classes.most_frequent(rows)
