"""An atlas in a file of its own: the points and neighbours it is made from, of which it is made again bit by bit."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from gnomon._archive import damaged_file, read_archive, write_archive
from gnomon.data import check_table
from gnomon.extension.atlas.points import MapPoints
from gnomon.neighbors import NeighborGraph, check_graph
from gnomon.storage import Arrays, Reader, Writer, check_names, checksum

__all__ = ["KIND", "Sources", "read_sources", "write_sources"]

KIND = "gnomon-atlas"
_VERSION = 1
_ENTRIES = ("X", "Y", "members", "graph", "feature_names", "n_jobs")


class Sources(NamedTuple):
    """What an atlas is made from.

    Attributes
    ----------
    points : MapPoints
    graph : NeighborGraph
        Of the points.
    feature_names : list of str or None
    n_jobs : int or None
    """

    points: MapPoints
    graph: NeighborGraph
    feature_names: list[str] | None
    n_jobs: int | None


def write_sources(path: str | os.PathLike[str], sources: Sources) -> None:
    """Write the sources of an atlas to a file."""
    points, graph, names, n_jobs = sources
    values = (points.X, points.Y, points.members, graph, None if names is None else np.array(names, object), n_jobs)
    writer = Writer()
    about = {name: writer.pack(value, name) for name, value in zip(_ENTRIES, values, strict=True)}
    description = {"atlas": about, "n_arrays": len(writer.arrays)}
    sealed = {**description, "sha256": checksum(writer.arrays, description)}
    write_archive(path, kind=KIND, version=_VERSION, arrays=writer.arrays, description=sealed)


def read_sources(path: str | os.PathLike[str]) -> Sources:
    """Read what `write_sources` wrote; raise ValueError if the file is anything else."""
    arrays, description = read_archive(path, kind=KIND, version=_VERSION, check=check_names)
    try:
        return _sources(arrays, {name: one for name, one in description.items() if name not in ("kind", "version")})
    except (AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
        raise damaged_file(path, str(error).rstrip("."), kind=KIND) from error


def _sources(arrays: Arrays, description: dict[str, Any]) -> Sources:
    about = description.get("atlas")
    if description.keys() != {"atlas", "n_arrays", "sha256"} or not isinstance(about, dict):
        raise ValueError("its description is not atlas, n_arrays and sha256")
    if description.pop("sha256") != checksum(arrays, description):
        raise ValueError("the atlas has another checksum than when it was written")
    if about.keys() != set(_ENTRIES):
        raise ValueError(f"the atlas is described by {', '.join(sorted(about)):.200}")
    reader = Reader(arrays)
    X, Y, members, graph, names, n_jobs = (reader.unpack(about[name]) for name in _ENTRIES)
    X = check_table(X, accept_sparse=True, min_samples=2).values
    n, n_features = X.shape
    if not isinstance(Y, np.ndarray) or Y.dtype != np.float64 or Y.ndim != 2 or len(Y) != n or not Y.shape[1]:
        raise ValueError("the places are not one of float64 for each row")
    if not np.isfinite(Y).all():
        raise ValueError("a place is not finite")
    if not isinstance(members, np.ndarray) or members.dtype != np.int64 or members.ndim != 1 or len(members) < n:
        raise ValueError("the numbers of the points are not int64, one for each row")
    if members.min() < -1 or members.max() >= n:
        raise ValueError(f"a number of a point is outside of [-1, {n})")
    check_graph(graph, n, ordered=False)
    if names is not None and (not isinstance(names, np.ndarray) or names.shape != (n_features,)):
        raise ValueError("there is not one name for each feature")
    if n_jobs is not None and type(n_jobs) is not int:
        raise ValueError(f"n_jobs is {n_jobs!r:.40}")
    if reader.left:
        raise ValueError(f"it holds arrays that no atlas has: {', '.join(sorted(reader.left)):.200}")
    return Sources(MapPoints(X, Y, members), graph, None if names is None else names.tolist(), n_jobs)
