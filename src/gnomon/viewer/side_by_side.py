"""Several maps of the same rows as one page: what is marked in one is marked in all, and what moved most is listed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._files import atomic_write, check_writable
from gnomon._validation import message
from gnomon.evaluation.changes import PointChanges, changes_between
from gnomon.viewer.document import Document
from gnomon.viewer.values import as_table, pictures_of
from gnomon.viewer.write import page_parts, preview_png

__all__ = ["write_side_by_side"]

_MOST_PAIRS = 15  # of 6 maps; of more maps each is compared with the first alone
_LISTED = 20
_FEWEST_ROWS = 4


@entrance("write_side_by_side")
def write_side_by_side(
    path: str | os.PathLike[str],
    maps: Mapping[str, Any],
    *,
    captions: Sequence[str] | None = None,
    labels: Any = None,
    label_name: str = "label",
    point_names: Sequence[object] | None = None,
    title: str = "Maps side by side",
    metadata: Mapping[str, Any] | None = None,
    images: Any = None,
    n_neighbors: int | None = None,
    n_jobs: int | None = None,
) -> None:
    """Write several maps of the same rows as one HTML file that opens from disk and asks the network for nothing.

    A row under the pointer, a lasso, a class of the legend and what is searched for show in all maps. The page lists
    the rows that changed most from one map to another, as `gnomon.evaluation.point_changes` measures it: by the share
    of their neighbours that they lost, or by how far they lie from their place once the maps are laid over each other.
    Two methods, two seeds or two epochs of training are compared so.

    Parameters
    ----------
    path : str or path-like
        Written atomically: a reader sees the old file or the whole new one.
    maps : mapping of str to array of shape (n_samples, 2) or (n_samples, 3), or to `gnomon.Map`
        By the names of the maps. Rows that are not finite are left out; those that have no place in some map take no
        part in what moved. Of maps in space a drag changes the side that is seen.
    captions : sequence of n_maps str, default=None
        A line below each name.
    labels : array-like of shape (n_samples,), default=None
        Classes or numbers to colour by. None takes labels and their name from the first `gnomon.Map` that has some.
    label_name : str, default="label"
        What the labels are.
    point_names : sequence of n_samples objects, default=None
        A name for each row; None takes those of the first `gnomon.Map` that has some, or numbers the rows from 0.
    title : str, default="Maps side by side"
        Heading.
    metadata : mapping of str to array-like of shape (n_samples,), default=None
        Further columns to colour by and to show of a row; None takes those of the first `gnomon.Map` that has some.
    images : uint8 array of shape (n_samples, height, width) or (n_samples, height, width, 3), default=None
        A picture of each row; None takes those of the first `gnomon.Map` that has some.
    n_neighbors : int >= 1 or None, default=None
        Neighbours that are compared, as for `gnomon.evaluation.point_changes`.
    n_jobs : int or None, default=None
        Threads; None or -1 for all. Does not change the page.

    Raises
    ------
    ValueError
        If there is no map, or a part does not fit the others; nothing is written then.

    See Also
    --------
    gnomon.evaluation.point_changes : What the page lists, as arrays.
    gnomon.compare : Makes maps of one table, and writes them so by its ``to_html``.
    """
    if not maps:
        raise ValueError(message("0 maps", "at least 1"))
    if captions is not None and len(captions) != len(maps):
        raise ValueError(message(f"{len(captions)} captions", f"{len(maps)}", fact="one for each map"))
    check_writable(path)
    positions = _positions(maps)
    if labels is None:
        labels, label_name = next(
            ((one.labels, one.label_name) for one in maps.values() if getattr(one, "labels", None) is not None),
            (None, label_name),
        )
    document = Document(positions[0], labels, label_name)
    document.add_metadata(_first(maps, "metadata") if metadata is None else metadata)
    names = _first(maps, "point_names") if point_names is None else point_names
    document.add_point_names(None if names is None else list(names))
    _add_images(document, maps, images)
    for k, one in enumerate(positions[1:], start=1):
        document.add_plane(f"map{k}", one)
    told = captions or [""] * len(maps)
    document.payload.header["maps"] = [
        {"name": str(name), "caption": str(caption), "key": f"map{k}" if k else "embedding", "d": one.shape[1]}
        for k, (name, caption, one) in enumerate(zip(maps, told, positions, strict=True))
    ]
    _add_changes(document, positions, n_neighbors)
    counted = f"{len(maps)} maps" if len(maps) > 1 else "1 map"
    subtitle = " ".join([f"{counted} · {document.n_samples:,} points", *document.notes])
    preview = preview_png(document.embedding, document.colors)
    with atomic_write(path, "w") as page:
        page.writelines(
            page_parts(document.payload.parts(), title=title, subtitle=subtitle, preview=preview, page="side_by_side")
        )


def _positions(maps: Mapping[str, Any]) -> list[npt.NDArray[Any]]:
    positions = [np.asarray(getattr(one, "embedding", one)) for one in maps.values()]
    for name, one in zip(maps, positions, strict=True):
        if one.ndim != 2 or one.shape[1] not in (2, 3) or one.dtype.kind not in "iuf":
            raise ValueError(message(f"map {name!r} of shape {one.shape}", "numbers of shape (n, 2) or (n, 3)"))
        if len(one) != len(positions[0]):
            rule, fact = f"of {len(positions[0])}", "maps are of the same rows"
            raise ValueError(message(f"map {name!r} of {len(one):,} rows", rule, fact=fact))
    return positions


def _first(maps: Mapping[str, Any], name: str) -> Any:
    """Return what the first `gnomon.Map` that has some knows of the rows."""
    known = (getattr(one, name, None) for one in maps.values() if hasattr(one, "embedding"))
    return next((one for one in known if one is not None and len(one)), None)


def _add_images(document: Document, maps: Mapping[str, Any], images: Any) -> None:
    given = _first(maps, "images") if images is None else images
    pictured = next((one for one in maps.values() if getattr(one, "image_shape", None) is not None), None)
    if given is None and pictured is not None:
        table = as_table(pictured.X)
        document.add_pictures(pictures_of(table, pictured.image_shape, float(table.min()), float(table.max())))
    else:
        document.add_pictures(given)


def _add_changes(document: Document, positions: list[npt.NDArray[Any]], n_neighbors: int | None) -> None:
    """Add how the rows change between the maps: columns to colour by, and those that changed most."""
    document.payload.header["changes"] = told = []
    floats = [np.ascontiguousarray(one, dtype=np.float64) for one in positions]
    placed = np.logical_and.reduce([np.isfinite(one).all(axis=1) for one in floats]).sum()
    if len(positions) < 2 or placed < _FEWEST_ROWS:
        return
    pairs = list(combinations(range(len(positions)), 2))
    if len(pairs) > _MOST_PAIRS:
        pairs = [(0, k) for k in range(1, len(positions))]
        document.notes.append("What moved is told from the first map to each other one.")
    for (a, b), found in zip(pairs, changes_between(floats, pairs, n_neighbors), strict=True):
        keys = {"neighbors_lost": f"lost{a}_{b}", "shift": f"shift{a}_{b}"}
        for name, key in keys.items():
            document.add_plane(key, getattr(found, name))
        told.append(
            {
                "a": a,
                "b": b,
                "neighbors": found.n_neighbors,
                "chance": found.chance,
                "matrix": found.matrix.tolist(),
                "translation": found.translation.tolist(),
                "lost": {"key": keys["neighbors_lost"], "most": _listed(found, "neighbors_lost", document.rows)},
                "shift": {"key": keys["shift"], "most": _listed(found, "shift", document.rows)},
            }
        )


def _listed(found: PointChanges, by: str, rows: npt.NDArray[np.int64] | None) -> list[int]:
    """Return the rows that changed most and changed at all, as numbers among those that the page shows."""
    order = found.most(len(found.shift), by=by)
    order = order[getattr(found, by)[order] > 0]
    shown = order if rows is None else np.searchsorted(rows, order[np.isin(order, rows)])
    return [int(i) for i in shown[:_LISTED]]
