"""Nested groups whose names a map bears at its levels of zoom: clusters of the data, or clusters within classes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.labels import MISSING, sort_into_classes
from gnomon.explanations.contrast.without_spread import WITHOUT_EXCEPTION

__all__ = ["CLUSTER", "PageLevel", "clusters_within_classes", "levels_of_clusters"]

CLUSTER = "cluster"
"""What the labels of a page are called that are the clusters of its map."""

_IN_NO_CLUSTER = "in no cluster"
_MOSTLY = 0.8  # share of a cluster's rows that lie in a class when it is said to be within the class
Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class PageLevel:
    """Groups whose names a map bears at one level of zoom; those of the next level lie within them.

    Attributes
    ----------
    column : str
        The name of the labels or of a column of the metadata with a group for each row.
    captions : dict of str to str, default={}
        What sets a group apart, by its name.
    parents : dict of str to str, default={}
        Name of the group of the level before that holds a group.
    unlabelled : str, default="(missing)"
        What rows without a group are called.
    found : bool, default=False
        Whether the groups were found in the data and named for that, and are no labels that the reader knows: a name
        that stands on several islands of the map then says that it is one group, "low price (1 of 2)".
    """

    column: str
    captions: Mapping[str, str] = field(default_factory=dict)
    parents: Mapping[str, str] = field(default_factory=dict)
    unlabelled: str = MISSING
    found: bool = False


def levels_of_clusters(found: Any) -> tuple[Columns, list[PageLevel]]:
    """Return all levels of `gnomon.Clusters`, the coarsest first, and columns with those that are not the default."""
    columns: Columns = {}
    levels: list[PageLevel] = []
    holders: list[str] = []
    for number, level in enumerate(found.levels):
        column = CLUSTER if number == found.default else f"{len(level)} clusters"
        if number != found.default:
            columns[column] = level.names
        captions = {one.name: _drivers(one) for one in level.clusters if one.caption is not None}
        parents = {one.name: holders[one.parent] for one in level.clusters if one.parent is not None}
        levels.append(PageLevel(column, captions, parents, _IN_NO_CLUSTER, found=True))
        holders = [one.name for one in level.clusters]
    return columns, levels


def clusters_within_classes(map: Any) -> tuple[Columns, list[PageLevel]]:
    """Return the clusters that lie within classes, as a column, and the classes and these as levels.

    Nothing if the map has no labels, or has not been asked for its clusters; told are those of which a class holds two
    at least.
    """
    found = map._clusters
    if map.labels is None or not found:
        return {}, []
    classes = sort_into_classes(map.labels)
    inside: dict[int, list[Any]] = {}
    for cluster in found.level().clusters:
        codes = classes.codes[(found.labels == cluster.number) & (classes.codes >= 0)]
        counts = np.bincount(codes, minlength=1)
        if counts.max() >= _MOSTLY * cluster.size:
            inside.setdefault(int(counts.argmax()), []).append(cluster)
    names = np.full(len(found.labels), "", dtype=object)
    captions: dict[str, str] = {}
    parents: dict[str, str] = {}
    for k, clusters in inside.items():
        for cluster in clusters if len(clusters) > 1 else ():
            names[(found.labels == cluster.number) & (classes.codes == k)] = cluster.name
            parents[cluster.name] = classes.names[k]
            captions |= {cluster.name: _drivers(cluster)} if cluster.caption is not None else {}
    if not parents:
        return {}, []
    kind = map.label_name or "label"
    column = f"clusters within {kind}"
    return {column: names}, [PageLevel(kind), PageLevel(column, captions, parents, _IN_NO_CLUSTER, found=True)]


def _drivers(cluster: Any) -> str:
    """Return the features that set a cluster apart, and by how many standard deviations at least."""
    effects = zip(cluster.caption.features, cluster.caption.effect.tolist(), strict=True)
    told = ", ".join(_driver(name, effect) for name, effect in effects)
    return told if any(cluster.caption.against) else f"{told} against all together"


def _driver(name: str, effect: float) -> str:
    if math.isinf(effect):
        return f"{'more' if effect > 0 else 'less'} {name} {WITHOUT_EXCEPTION}"
    return f"{name} {effect:+.1f} SD".replace("-", "\u2212")
