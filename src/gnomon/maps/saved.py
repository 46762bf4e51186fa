"""Whatever gnomon has saved, by what the file says it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from gnomon._archive import read_kind
from gnomon._entrance import entrance
from gnomon.extension import AffineAtlas
from gnomon.extension.atlas.file import KIND as ATLAS
from gnomon.maps.file import KIND as MAP
from gnomon.maps.landmarks.file import KIND as LANDMARK_MAP
from gnomon.maps.landmarks.result import LandmarkMap
from gnomon.maps.result import Map
from gnomon.methods.aligned.file import KIND as ALIGNED
from gnomon.methods.aligned.file import load_aligned
from gnomon.methods.aligned.maps import AlignedMaps
from gnomon.methods.file import KIND as METHOD
from gnomon.methods.file import load_method

__all__ = ["load"]

_READERS: dict[str, Callable[[Any], Any]] = {
    MAP: Map.load,
    LANDMARK_MAP: LandmarkMap.load,
    METHOD: load_method,
    ATLAS: AffineAtlas.load,
    ALIGNED: partial(load_aligned, AlignedMaps),
}


@entrance("load")
def load(path: str | os.PathLike[str]) -> Map | Any:
    """Read a fitted estimator, a map, one with landmarks, aligned maps or an atlas from the file that ``save`` wrote.

    The file holds arrays and text. Loading runs no code from it, so that a file from anybody may be read; a pickle may
    not. What is loaded gives the same bytes as what was saved, with the same version of gnomon on the same machine.

    Parameters
    ----------
    path : str or path-like
        File to read; every entry is checked.

    Returns
    -------
    estimator, Map, LandmarkMap, AlignedMaps or AffineAtlas
        Of the class that was saved.

    Raises
    ------
    OSError
        If there is no such file or it cannot be read.
    ValueError
        If the file is damaged, holds anything that ``save`` does not write, or was written by a newer gnomon.
    """
    return _READERS[read_kind(path, _READERS)](path)
