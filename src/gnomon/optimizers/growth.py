"""What iterations of t-SNE cost while its map grows, and with it the mesh by which repulsions are interpolated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Widths = npt.NDArray[np.float64]

__all__ = ["GrowingMesh"]

_OF_ROW, _OF_TERM, _OF_EDGE = 62.0, 8.0, 1.25
"""Nanoseconds of one core, of which the ratios count, as of all that follow: fitted to iterations before the map grows
in sixteen fits of 20,000 to 200,000 rows of four tables with 42 to 142 edges each, which took 0.9 to 1.2 times as long;
an added term is that of DREAMS."""
_OF_NODE, _OF_KERNEL = (2.6, 3.3), (4.3, 5.8)
"""Of a coarse mesh and of one as fine as where points settle, for an iteration and for a kernel that is made anew:
medians of the same fits, in which nodes of coarse meshes took 0.9 to 3.1 and of fine ones 2.6 to 3.8."""
_DECAY = 180.0
"""Iterations after which a map grows 1 / e as fast: of twelve fits of 75 iterations after exaggeration the speeds at
their begin were 0.82 to 0.88 of the mean with t-SNE, 0.5 to 1.3 with DREAMS; of one of 325 the map was 0.93 as wide."""
_WIDTH, _EDGES, _BY_ROWS, _BY_EDGES, _SPEED = 53.0, 125.0, 0.1, -0.2, 0.021
"""How wide the map of a single row of _EDGES edges would be when exaggeration is over, in units of the kernel, by which
powers of the rows and of the edges of each, and by which share of it a map grows in an iteration then. Of the same fits
the maps were 0.8 to 1.4 times as wide, and grew by 0.016 to 0.028."""
_HELD = 0.88
"""That width where terms are added to the loss: fits of DREAMS had 0.66 to 1.3 times the width of t-SNE, 0.72 by the
median; about halfway, so that the time left is missed by about a third either way."""
_RISE = 0.03  # share by which it grows in an iteration before: between 100 and 150 of the same fits, 0.028 to 0.048
_REST = 3.3  # iterations in which a map would grow, as fast as then, by what it grows while points settle
_RESTS = 5  # iterations until it has
_NEXT_LENGTH = 0.03  # from one length that transforms are fast for to the next; the kernel is made anew there
_MARGIN, _MOST_NODES = 32, {1: 1 << 15, 2: 1 << 12}  # of particle_mesh.cpp, both sides padded
_STEPS = 32


@dataclass(frozen=True)
class GrowingMesh:
    """The mesh below a map of t-SNE that grows once exaggeration is over, until its points settle.

    Attributes
    ----------
    n_samples, n_edges, n_terms : int
        Points, their attractions, and the terms that are added to the loss.
    spacing : float > 0
        Of the mesh where points settle, in units of the kernel.
    coarsening : float >= 1
        Factor on it before.
    begins, settles : int
        Iterations from which on exaggeration is over, and points settle.
    """

    n_samples: int
    n_edges: int
    n_terms: int
    spacing: float
    coarsening: float
    begins: int
    settles: int

    def costs(
        self, Y: npt.NDArray[np.floating], velocity: npt.NDArray[np.floating], iteration: int
    ) -> list[tuple[int, float]]:
        """Return what iterations cost relative to the first, see `Reporter.expect`.

        Parameters
        ----------
        Y, velocity : ndarray of shape (n_samples, n_components)
            The present embedding, and by what it moved in the last iteration. Once exaggeration is over they tell how
            wide the map is and becomes: how far its ends are from each other, and how fast they part.
        iteration : int >= 0
            Iterations done.
        """
        growth = self._growth(Y, velocity, iteration)
        first = max(self.begins - round(math.log(_MOST_NODES[len(growth.width)]) / _RISE), 0)
        steps = range(first, self.settles, max((self.settles - first) // _STEPS, 1))
        growing = [(step, self._cost(*growth.at(step + steps.step / 2))) for step in steps]
        width, speed = growth.at(self.settles)
        moved = _REST * speed  # while points settle
        rested = width + moved
        anew = self._cost(rested, np.maximum(rested, 0.0), settles=True)
        return [
            *growing,
            (self.settles, anew),
            (self.settles + 1, self._cost(rested, moved / _RESTS, settles=True)),
            (self.settles + 1 + _RESTS, self._cost(rested, np.zeros_like(rested), settles=True)),
        ]

    def _growth(self, Y: npt.NDArray[np.floating], velocity: npt.NDArray[np.floating], iteration: int) -> _Growth:
        if iteration >= self.begins and len(Y):
            axes = np.arange(Y.shape[1])
            low, high = Y.argmin(axis=0), Y.argmax(axis=0)
            width, speed = (of[high, axes].astype(np.float64) - of[low, axes] for of in (Y, velocity))
            if iteration > self.settles:  # at rest
                return _Growth(self.begins, self.settles, width, np.zeros_like(width))
            return _Growth(self.begins, iteration, width, speed)
        edges = max(self.n_edges / self.n_samples, 1.0) / _EDGES
        held = _HELD if self.n_terms else 1.0
        width = np.full(Y.shape[1], held * _WIDTH * self.n_samples**_BY_ROWS * edges**_BY_EDGES)
        return _Growth(self.begins, self.begins, width, _SPEED * width)

    def _cost(self, width: Widths, speed: Widths, *, settles: bool = False) -> float:
        """Return what an iteration costs relative to one without a mesh, where the map grows by so much in it."""
        spacing = self.spacing if settles else self.coarsening * self.spacing
        most = _MOST_NODES[len(width)]
        lengths = 2.0 * np.maximum(width, 0.0) / spacing + _MARGIN
        kept = 1.0 - np.minimum(np.abs(speed) / (np.maximum(width, spacing) * _NEXT_LENGTH), 1.0)
        anew = 1.0 if lengths.max() > most else 1.0 - float(kept.prod())
        of_node = _OF_NODE[settles] + _OF_KERNEL[settles] * anew
        on_mesh = of_node * float(np.minimum(lengths, most).prod())
        return 1.0 + on_mesh / ((_OF_ROW + _OF_TERM * self.n_terms) * self.n_samples + _OF_EDGE * self.n_edges)


@dataclass(frozen=True)
class _Growth:
    """How a map grows along each axis: by factors while points are exaggerated, then ever more slowly.

    Attributes
    ----------
    begins : int
        Iteration from which on exaggeration is over.
    since : int
        Iterations done when it was looked at.
    width, speed : ndarray of shape (n_components,), float64
        Its width then, and by what it grew in an iteration.
    """

    begins: int
    since: int
    width: Widths
    speed: Widths

    def at(self, iteration: float) -> tuple[Widths, Widths]:
        """Return width and speed after so many iterations."""
        later = max(iteration, self.begins) - self.since
        left = math.exp(-later / _DECAY)
        width = np.maximum(self.width + self.speed * (_DECAY * (1.0 - left)), 0.0)
        if iteration >= self.begins:
            return width, self.speed * left
        width *= math.exp(_RISE * (iteration - self.begins))
        return width, _RISE * width
