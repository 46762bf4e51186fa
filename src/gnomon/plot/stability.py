"""Maps that were made several times: how far points move, which clusters touch, and what moved between tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Integer, check_parameters, message
from gnomon.linalg.table import evenly_spaced
from gnomon.plot.colors import colors_of
from gnomon.plot.display import Display, GridDisplay, draws
from gnomon.plot.map import MapDisplay, positions_of
from gnomon.plot.marks import Arrows, Ellipses
from gnomon.plot.matrix import MatrixDisplay

if TYPE_CHECKING:
    from gnomon.evaluation import MapStability

__all__ = ["plot_movement", "plot_stability"]

_OPACITY = 0.45  # of the outlines of ellipses, which wide spreads lay over the points
_NUMBERED = 20  # clusters; with more, numbers would overlap


@draws("MapStability")
@entrance("plot_stability")
def plot_stability(
    found: MapStability, *, n_ellipses: int = 60, ax: Any = None, title: str | None = None, **style: Any
) -> GridDisplay:
    """Draw how far the points of a map move from run to run, and in how many runs clusters touch.

    Parameters
    ----------
    found : gnomon.evaluation.MapStability
        Maps of two dimensions, or of three, of which the first two coordinates are drawn.
    n_ellipses : int >= 0, default=60
        Points that get an ellipse at most, spread evenly over the rows: it holds the places within one standard
        deviation over runs, around the mean place.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    title : str, default=None
        Title of the figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    GridDisplay
        Left the mean map, points coloured by `MapStability.spread`; right, if there are clusters, the share of the runs
        in which two of them touch.

    Raises
    ------
    MissingDependencyError
        If matplotlib cannot be imported.
    ValueError
        If the maps have one dimension or more than three.
    """
    if found.mean.shape[1] not in (2, 3):
        raise ValueError(message(f"maps of {found.mean.shape[1]} dimensions", "of two or three"))
    Y = found.mean[:, :2]
    layers = (_ellipses(found.runs[:, :, :2], Y, n_ellipses),)
    words, label = f"{found.n_runs} runs, varied: {found.vary}", "spread over runs / size of the map"
    parts: list[Display] = [MapDisplay(Y, colors_of(None, found.spread, len(Y)), words, label=label, layers=layers)]
    if found.clusters is not None and len(found.clusters.names) > 1:
        share, names = found.clusters.touch_share, found.clusters.names
        shown = np.where(np.eye(len(share), dtype=np.bool_), np.nan, share)
        form = ".0%" if len(names) <= _NUMBERED else ""
        together = "share of the runs in which they touch"
        parts.append(MatrixDisplay(shown, names, names, together, limits=(0.0, 1.0), form=form))
    size = (7.6, 6.0) if len(parts) == 1 else (13.0, 6.0)
    return GridDisplay(parts, [[*range(len(parts))]], size, title).plot(ax, **style)


def _ellipses(runs: npt.NDArray[np.float64], mean: npt.NDArray[np.float64], most: int) -> Ellipses:
    """Return the covariance over runs of some points."""
    rows = np.flatnonzero(np.isfinite(runs).all(axis=(0, 2)))
    rows = rows[evenly_spaced(len(rows), most)]
    moved = runs[:, rows] - mean[rows]
    covariances = np.einsum("rni,rnj->nij", moved, moved) / max(len(runs) - 1, 1)
    variances, vectors = np.linalg.eigh(covariances)
    widths, heights = (2.0 * np.sqrt(np.maximum(variances[:, k], 0.0)) for k in (1, 0))
    angles = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
    return Ellipses(mean[rows], widths, heights, angles, rows, _OPACITY)


@entrance("plot_movement")
def plot_movement(
    first: npt.ArrayLike, second: npt.ArrayLike, movement: Any, *, n_arrows: int = 300, ax: Any = None, **style: Any
) -> MapDisplay:
    """Draw which rows moved between the maps of two tables, beyond what chance moves.

    Parameters
    ----------
    first, second : array of shape (n_samples, 2) or (n_samples, 3)
        The maps of both tables.
    movement : gnomon.methods.Movement
        Of these two, made by ``AlignedMaps.movement``.
    n_arrows : int >= 0, default=300
        Arrows at most, those of the rows that moved farthest.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.
    **style
        As for `Display.plot`.

    Returns
    -------
    MapDisplay
        The second map, coloured by how far each row came, grey for rows that the first has not; an arrow from the old
        place to the new one for rows that moved.

    Raises
    ------
    ValueError
        If the maps lack rows that the movement has.
    """
    n_arrows = check_parameters({"n_arrows": Integer(0)}, {"n_arrows": n_arrows})["n_arrows"]
    before, after = positions_of(first)[0], positions_of(second)[0]
    old, new = movement.rows.T
    if len(old) and (old.max() >= len(before) or new.max() >= len(after)):
        what = f"maps of {len(before):,} and {len(after):,} rows"
        raise ValueError(message(what, f"those of tables {movement.tables}", fact="the movement has rows beyond them"))
    values = np.full(len(after), np.nan)
    values[new] = movement.distances
    moved = np.flatnonzero(movement.moved)
    moved = moved[np.argsort(-movement.distances[moved], kind="stable")[:n_arrows]]
    layers = (Arrows(before[old[moved]].astype(float), after[new[moved]].astype(float)),) if len(moved) else ()
    title = f"{int(movement.moved.sum()):,} of {len(old):,} rows moved"
    label = "how far, units of the map"
    return MapDisplay(after, colors_of(None, values, len(after)), title, label=label, layers=layers).plot(ax, **style)
