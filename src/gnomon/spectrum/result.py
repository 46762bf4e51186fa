"""A spectrum: maps of the same rows from strong to weak attraction, and what to do with them."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import prints_harmlessly
from gnomon._validation import message
from gnomon.linalg import align
from gnomon.spectrum.marks import Mark, likeness

if TYPE_CHECKING:
    from gnomon.plot import GridDisplay
    from gnomon.viewer import Sequence

__all__ = ["Spectrum"]

_TITLE = "Attraction-repulsion spectrum"


@dataclass(frozen=True, repr=False)
class Spectrum:
    """Maps of one neighbour graph, from Laplacian eigenmaps to t-SNE and beyond.

    Made by `gnomon.attraction_repulsion_spectrum`.

    Attributes
    ----------
    exaggerations : ndarray of shape (n_values,), float64
        Factors on the attraction, falling; 1 is t-SNE.
    embeddings : tuple of n_values ndarray of shape (n_samples, n_components), float32
        The map at each value. All are rotated, reflected and shifted to follow from one another and brought to the
        spread of the one nearest to t-SNE; their own spreads are in `spreads`.
    laplacian_eigenmap : ndarray of shape (n_samples, n_components)
        What the maps tend to as attraction grows, aligned likewise.
    losses : ndarray of shape (n_values,), float64
        Kullback-Leibler divergence of each map, attraction counted once. At rest it is lowest at 1; of tens of
        thousands of rows, whose maps still grow when the iterations end, a little below.
    seconds : ndarray of shape (n_values,), float64
        Time spent on each map.
    spreads : ndarray of shape (n_values,), float64
        Root mean square distance from the mean before alignment: maps shrink as attraction grows.
    critical : float
        The exaggeration from which on the last component of the map collapses, 1 over the eigenvalue of its
        Laplacian; infinite for a graph in several pieces.
    n_neighbors : int
        Neighbours in the graph.
    seed : int
        Of all random numbers.
    marks : tuple of Mark
        Where other methods lie, if they were asked for.
    timings : dict of str to float
        Seconds by stage.
    notes : tuple of str
        What a reader should know.
    """

    exaggerations: npt.NDArray[np.float64]
    embeddings: tuple[npt.NDArray[np.float32], ...]
    laplacian_eigenmap: npt.NDArray[np.float32]
    losses: npt.NDArray[np.float64]
    seconds: npt.NDArray[np.float64]
    spreads: npt.NDArray[np.float64]
    critical: float
    n_neighbors: int
    seed: int
    marks: tuple[Mark, ...] = ()
    timings: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        values = f"{len(self.embeddings)} exaggerations from {self.exaggerations[0]:g} to {self.exaggerations[-1]:g}"
        return f"Spectrum({values}, n_samples={self.n_samples})"

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.laplacian_eigenmap)

    @property
    def main(self) -> int:
        """Number of the value nearest to 1, t-SNE."""
        return int(np.abs(np.log(self.exaggerations)).argmin())

    @property
    def frames(self) -> tuple[npt.NDArray[np.float32], ...]:
        """All maps, the Laplacian eigenmaps first."""
        return (self.laplacian_eigenmap, *self.embeddings)

    @property
    def titles(self) -> list[str]:
        """For each of `frames` its exaggeration, and what it is or is most like."""
        names: dict[float, list[str]] = {math.inf: ["eigenmaps"], 1.0: ["t-SNE"]}
        for mark in self.marks:
            names.setdefault(mark.exaggeration, []).append(f"≈ {mark.name}")
        return [
            " · ".join(["∞" if math.isinf(value) else f"{value:g}", *names.get(value, [])])
            for value in (math.inf, *self.exaggerations.tolist())
        ]

    def take(self, rows: npt.ArrayLike) -> Spectrum:
        """Return the spectrum of some of the rows, or of rows repeated."""
        chosen = np.asarray(rows)
        return replace(
            self,
            embeddings=tuple(one[chosen] for one in self.embeddings),
            laplacian_eigenmap=self.laplacian_eigenmap[chosen],
            marks=tuple(replace(mark, embedding=mark.embedding[chosen]) for mark in self.marks),
        )

    @entrance("Spectrum.locate")
    def locate(self, embedding: npt.ArrayLike, name: str = "map", *, n_jobs: int | None = None) -> Mark:
        """Find the map of the spectrum that resembles another map of the same rows most.

        Parameters
        ----------
        embedding : array-like of shape (n_samples, n_components)
            Made by any method.
        name : str, default="map"
            What to call it.
        n_jobs : int or None, default=None
            Threads; None or -1 for all. Does not change the result.

        Returns
        -------
        Mark
            By the mean of distance correlation and neighbour overlap.
        """
        given = np.asarray(embedding)
        if given.shape != self.laplacian_eigenmap.shape:
            shape = self.laplacian_eigenmap.shape
            raise ValueError(message(f"embedding of shape {given.shape}", f"of shape {shape}"))
        correlations, overlaps = likeness(given, self.frames)
        similarities = (correlations + overlaps) / 2.0
        best = int(similarities.argmax())
        aligned = align([self.frames[best], given])[1]
        value = math.inf if best == 0 else float(self.exaggerations[best - 1])
        return Mark(name, value, float(similarities[best]), correlations, overlaps, aligned.astype(np.float32))

    def sequence(self) -> Sequence:
        """Return the maps as the viewer's slider takes them, open at t-SNE."""
        from gnomon.viewer import Sequence

        return Sequence("exaggeration", tuple(self.titles), self.frames, main=1 + self.main)

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        labels: npt.ArrayLike | None = None,
        title: str = _TITLE,
        **page: Any,
    ) -> None:
        """Write the maps as one HTML file with a slider that moves the points from one to the next.

        Parameters
        ----------
        path : str or path-like
            File to write; it opens from disk and asks nothing of the network.
        labels : array-like of shape (n_samples,) or None, default=None
            Classes or numbers to colour by.
        title : str
            Of the page.
        **page
            Shown besides on the page, such as ``X``, ``feature_names`` or ``images``: see `gnomon.viewer.PageContent`.
        """
        from gnomon.viewer import PageContent, write_html

        content = PageContent(
            self.embeddings[self.main],
            title=title,
            method="attraction-repulsion spectrum",
            labels=None if labels is None else np.asarray(labels),
            **{"info": self._info(), **page},
        )
        write_html(path, content, sequence=self.sequence())

    def plot(
        self,
        *,
        labels: npt.ArrayLike | None = None,
        n_panels: int | None = None,
        methods: bool = True,
        **options: Any,
    ) -> GridDisplay:
        """Draw the maps side by side with matplotlib.

        Parameters
        ----------
        labels : array-like of shape (n_samples,) or None, default=None
            Classes to colour by.
        n_panels : int >= 2 or None, default=None
            Maps to choose from the spectrum, both ends, t-SNE and those like other methods first; None draws all.
        methods : bool, default=True
            Draw the maps of the methods that were located after those of the spectrum.
        **options
            As for `gnomon.plot.plot_panels`, such as ``n_columns`` or ``values``.
        """
        from gnomon.plot import plot_panels

        maps, titles = self._panels(n_panels, methods)
        return plot_panels(maps, labels=labels, titles=titles, **options)

    def to_png(self, path: str | os.PathLike[str], *, dpi: int = 120, **options: Any) -> None:
        """Save `plot` as a picture; its suffix may be any that matplotlib writes.

        Parameters
        ----------
        path : str or path-like
            File to write.
        dpi : int, default=120
            Pixels per inch.
        **options
            As for `plot`.
        """
        from gnomon.plot.files import save_figure

        save_figure(self.plot(**options).figure_, path, dpi=dpi)

    @prints_harmlessly
    def report(self) -> str:
        """Say in words what was computed and where the methods lie."""
        lines = [f"{self!r}, {self.n_neighbors} neighbours, random_state={self.seed}"]
        lines.append(f"{'exaggeration':>14}{'divergence':>12}{'spread':>10}{'seconds':>9}")
        columns = (self.exaggerations, self.losses, self.spreads, self.seconds)
        lines += ["{:>14g}{:>12.3f}{:>10.3g}{:>9.1f}".format(*row) for row in zip(*columns, strict=True)]
        if math.isfinite(self.critical):
            lines.append(f"Above {self.critical:.3g} attraction draws the map together into fewer dimensions.")
        for mark in self.marks:
            place = "the Laplacian eigenmaps" if math.isinf(mark.exaggeration) else f"{mark.exaggeration:g}"
            lines.append(f"{mark.name} is most like {place} ({_measures(mark)}).")
        return "\n".join([*lines, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the positions as plain numbers and text, ready for JSON."""
        return {
            "n_samples": self.n_samples,
            "n_neighbors": self.n_neighbors,
            "random_state": self.seed,
            "critical": self.critical,
            "exaggerations": self.exaggerations.tolist(),
            "losses": self.losses.tolist(),
            "spreads": self.spreads.tolist(),
            "seconds": self.seconds.tolist(),
            "marks": [
                {
                    "name": mark.name,
                    "exaggeration": None if math.isinf(mark.exaggeration) else mark.exaggeration,
                    "similarity": mark.similarity,
                    "distance_correlations": mark.distance_correlations.tolist(),
                    "neighbor_overlaps": mark.neighbor_overlaps.tolist(),
                }
                for mark in self.marks
            ],
            "notes": list(self.notes),
        }

    def _panels(self, n_panels: int | None, methods: bool) -> tuple[list[npt.NDArray[Any]], list[str]]:
        size = len(self.frames)
        if n_panels is not None and n_panels < 2:
            raise ValueError(message(f"n_panels={n_panels}", "at least 2", who="Spectrum.plot"))
        chosen = list(range(size)) if n_panels is None or n_panels >= size else self._spaced(n_panels)
        titles = self.titles
        maps: list[npt.NDArray[Any]] = [self.frames[k] for k in chosen]
        names = [titles[k] for k in chosen]
        for mark in self.marks if methods else ():
            place = "∞" if math.isinf(mark.exaggeration) else f"{mark.exaggeration:g}"
            maps.append(mark.embedding)
            names.append(f"{mark.name} (like {place}: {mark.similarity:.2f})")
        return maps, names

    def _spaced(self, n_panels: int) -> list[int]:
        """Return numbers of frames: both ends, t-SNE, those that methods are like, then whichever fill the gaps."""
        values = [math.inf, *self.exaggerations.tolist()]
        wanted = [0, len(values) - 1, 1 + self.main, *(values.index(mark.exaggeration) for mark in self.marks)]
        chosen = list(dict.fromkeys(wanted))[:n_panels]
        while len(chosen) < n_panels:
            gaps = [min(abs(k - one) for one in chosen) for k in range(len(values))]
            chosen.append(int(np.argmax(gaps)))
        return sorted(chosen)

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"n_neighbors": self.n_neighbors, "random_state": self.seed}
        for mark in self.marks:
            place = "Laplacian eigenmaps" if math.isinf(mark.exaggeration) else f"exaggeration {mark.exaggeration:g}"
            info[f"{mark.name} is most like"] = f"{place} ({_measures(mark)})"
        if self.notes:
            info["notes"] = "; ".join(self.notes)
        return info


def _measures(mark: Mark) -> str:
    best = int(mark.similarities.argmax())
    correlation, overlap = mark.distance_correlations[best], mark.neighbor_overlaps[best]
    return f"distance correlation {correlation:.2f}, common neighbours {overlap:.0%}"
