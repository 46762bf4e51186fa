"""What iterations of t-SNE cost while its map grows, and with it the mesh by which repulsions are interpolated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["GrowingMesh"]

_OF_ROW, _OF_TERM, _OF_EDGE, _OF_NODE = 66.0, 37.0, 0.81, 3.4
"""Nanoseconds of one core, of which the ratios count: fitted to single iterations of MNIST in 50 components, 40,000
rows with 42, 125 and 247 edges each; an added term is that of DREAMS. In nine fits of 20,000 to 200,000 rows of four
tables a node took 0.019 to 0.022 times a row of 125 edges."""
_LEFT, _TIME = 0.79, 160.0
"""A map is 1 - _LEFT exp(-t / _TIME) times as wide, t iterations after exaggeration, as it will be: fitted to MNIST,
40,000 rows, 250 to 1000 iterations. In eight other fits of 250 the map was 0.37 to 0.46 times as wide after
exaggeration as at the end, 0.41 by this."""
_WIDEST, _EDGES, _BY_ROWS, _BY_EDGES = 245.0, 125.0, 0.1, -0.2
"""How wide one of a single row of _EDGES edges would be, in units of the kernel, and by which powers of the rows and of
the edges of each: fitted to the same fits, whose maps were 0.9 to 1.1 times as wide, of cells with noise 1.2 and 1.4
times."""
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

    def costs(self, Y: npt.NDArray[np.floating], iteration: int) -> list[tuple[int, float]]:
        """Return what iterations cost relative to the first, see `Reporter.expect`.

        Parameters
        ----------
        Y : ndarray of shape (n_samples, n_components)
            The present embedding.
        iteration : int >= 0
            Iterations done; how wide the map becomes is told from Y once exaggeration is over.
        """
        widest = self._widest(Y, iteration)
        first = max(self.begins + round(_TIME * math.log(_LEFT)), 0)
        steps = range(first, self.settles, max((self.settles - first) // _STEPS, 1))
        spacing = self.coarsening * self.spacing
        growing = [(step, self._cost(widest, step + steps.step / 2, spacing)) for step in steps]
        return [*growing, (self.settles, self._cost(widest, self.settles, self.spacing, grows=False))]

    def _widest(self, Y: npt.NDArray[np.floating], iteration: int) -> npt.NDArray[np.float64]:
        """Return how wide the map would become along each axis if it did not settle."""
        if iteration >= self.begins and len(Y):
            widths: npt.NDArray[np.float64] = np.ptp(Y, axis=0).astype(np.float64)
            return widths / _share(min(iteration, self.settles) - self.begins)
        edges = max(self.n_edges / self.n_samples, 1.0) / _EDGES
        return np.full(Y.shape[1], _WIDEST * self.n_samples**_BY_ROWS * edges**_BY_EDGES)

    def _cost(self, widest: npt.NDArray[np.float64], iteration: float, spacing: float, *, grows: bool = True) -> float:
        """Return what an iteration costs relative to one without a mesh."""
        since = iteration - self.begins
        share, most = _share(since), _MOST_NODES[len(widest)]
        lengths = 2.0 * share * widest / spacing + _MARGIN
        by = (1.0 - share) / (share * _TIME) if grows and share > 0.0 else 0.0  # that it grows in an iteration
        anew = 1.0 if lengths.max() > most else min(len(widest) * by / _NEXT_LENGTH, 1.0)
        on_mesh = _OF_NODE * (1.0 + anew) * float(np.minimum(lengths, most).prod())
        return 1.0 + on_mesh / ((_OF_ROW + _OF_TERM * self.n_terms) * self.n_samples + _OF_EDGE * self.n_edges)


def _share(since: float) -> float:
    """Return which share of its width a map has so many iterations after exaggeration."""
    return max(1.0 - _LEFT * math.exp(-since / _TIME), 0.0)
