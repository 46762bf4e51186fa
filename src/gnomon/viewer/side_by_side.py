"""Several maps of the same rows as one page: what the pointer or a lasso marks in one is marked in all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gnomon._entrance import entrance
from gnomon._files import atomic_write
from gnomon._validation import message
from gnomon.viewer.document import Document
from gnomon.viewer.write import page_parts, preview_png

__all__ = ["write_side_by_side"]


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
) -> None:
    """Write several maps of the same rows as one HTML file that opens from disk and asks the network for nothing.

    Parameters
    ----------
    path : str or path-like
        Written atomically: a reader sees the old file or the whole new one.
    maps : mapping of str to array of shape (n_samples, 2) or (n_samples, 3)
        Positions by the names of the maps; the first two coordinates are drawn, rows with NaN left out.
    captions : sequence of n_maps str, default=None
        A line below each name.
    labels : array-like of shape (n_samples,), default=None
        Classes or numbers to colour by.
    label_name : str, default="label"
        What the labels are.
    point_names : sequence of n_samples objects, default=None
        A name for each row; None numbers them from 0.
    title : str, default="Maps side by side"
        Heading.

    Raises
    ------
    ValueError
        If there is no map, or a part does not fit the others; nothing is written then.
    """
    if not maps:
        raise ValueError(message("0 maps", "at least 1"))
    if captions is not None and len(captions) != len(maps):
        raise ValueError(message(f"{len(captions)} captions", f"{len(maps)}", fact="one for each map"))
    positions = [np.asarray(one) for one in maps.values()]
    for name, one in zip(maps, positions, strict=True):
        if one.ndim != 2 or one.shape[1] not in (2, 3) or one.dtype.kind not in "iuf":
            raise ValueError(message(f"map {name!r} of shape {one.shape}", "numbers of shape (n, 2) or (n, 3)"))
        if len(one) != len(positions[0]):
            rule, fact = f"of {len(positions[0])}", "maps are of the same rows"
            raise ValueError(message(f"map {name!r} of {len(one)} rows", rule, fact=fact))
    document = Document(positions[0][:, :2], labels, label_name)
    document.add_point_names(point_names)
    for k, one in enumerate(positions):
        document.add_plane(f"map{k}", one[:, :2])
    told = captions or [""] * len(maps)
    document.payload.header["maps"] = [
        {"name": str(name), "caption": str(caption)} for name, caption in zip(maps, told, strict=True)
    ]
    subtitle = " ".join([f"{len(maps)} maps · {document.n_samples:,} points", *document.notes])
    preview = preview_png(document.embedding, document.colors)
    with atomic_write(path, "w") as page:
        page.writelines(
            page_parts(document.payload.parts(), title=title, subtitle=subtitle, preview=preview, page="side_by_side")
        )
