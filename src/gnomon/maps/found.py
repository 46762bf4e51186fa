"""Groups that were found in the rows that they are compared in, by their names, the features or the map."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon import neighbors
from gnomon.data.labels import sort_into_classes
from gnomon.maps.partition import found_as_cells, told_of_cut_column
from gnomon.neighbors.graph import ANSWER_NEIGHBORS

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["follows_map", "named_as_clusters", "told_of_labels", "told_of_selection"]

Codes = npt.NDArray[np.integer[Any]]

_NAMES = re.compile(r"leiden|louvain|clust|k_?means|dbscan|phenograph|walktrap|infomap|communit|(^|_)(snn|gmm)(_|$)")
_FEWEST = 10  # rows without the label of their neighbours in the data, to compare with the map
_OTHERS = 0.05  # share of such neighbours: with fewer the groups are apart in the data
_CLOSER = 0.4  # share of the others among neighbours on the map, to that in the data
_OF_ROWS = 0.5  # the same of rows whose neighbours mostly are others
_BY_CHANCE = 2.0  # standard deviations


def follows_map(in_data: Codes, on_map: Codes, codes: Codes) -> tuple[float, float] | None:
    """Return how many rows neighbours in the data and on the map tell, if groups follow the map far more closely.

    A map cannot tell groups of the data much better than the data do. Of known groups of 30 tables and
    simulations those that the neighbours on the map do not tell were at least 0.67 times as many as those that the
    neighbours in the data do not; of groups by k-means on the map at most 0.37 times.

    Parameters
    ----------
    in_data, on_map : ndarray of shape (n_samples, n_neighbors), int
        The neighbours of every row.
    codes : ndarray of shape (n_samples,), int
        The group of each row, -1 for none.

    Returns
    -------
    (float, float) or None
        Shares of the rows most of whose neighbours are of their group, in the data and on the map.
    """
    shares = []
    for near in (in_data, on_map):
        known = codes[near] >= 0
        same = (codes[near] == codes[:, None]) & known
        with np.errstate(invalid="ignore"):
            shares.append(same.sum(axis=1) / known.sum(axis=1))
    judged = (codes >= 0) & np.isfinite(shares).all(axis=0)
    data, shown = (share[judged] for share in shares)
    untold, missed = (int(np.count_nonzero(share <= 0.5)) for share in (data, shown))
    if untold < _FEWEST or untold - missed < _BY_CHANCE * float(np.sqrt(untold + missed)):
        return None
    others, shown_others = 1.0 - float(data.mean()), 1.0 - float(shown.mean())
    if others < _OTHERS or shown_others > _CLOSER * others or missed > _OF_ROWS * untold:
        return None
    return 1.0 - untold / len(data), 1.0 - missed / len(data)


def told_of_labels(result: Map) -> str:
    """Say that the labels of a map may have been found in its rows; empty if nothing speaks for it."""
    if len(result._classes()) < 2:
        return ""
    if result._found is None or result._found[0] is not result.labels:
        codes = sort_into_classes(result.labels).codes
        result._found = result.labels, _named(result.label_name) or _of_codes(result, codes)
    return result._found[1]


def _of_codes(result: Map, codes: Codes) -> str:
    if cut := told_of_cut_column(result, codes):
        return cut
    cells = found_as_cells(result, codes)
    return _sentence(cells) if cells else _of_map(result, codes, "The labels follow")


def told_of_selection(result: Map, selected: npt.NDArray[np.bool_]) -> str:
    """Say that selected rows may have been found by looking at the map, or by clustering; empty if nothing does."""
    columns: Mapping[str, Any] = result.metadata
    if len(result._classes()) > 1:
        columns = {result.label_name: result.labels, **columns}
    for name, column in columns.items():
        if named_as_clusters(name) and _is_of_classes(column, selected):
            return _named(name)
    if len(result._classes()) > 1 and _is_of_classes(result.labels, selected) and (told := told_of_labels(result)):
        return told
    return _of_map(result, selected.astype(np.int64), "The selection follows")


def named_as_clusters(name: str) -> bool:
    """Return whether a column is called as clusters that were found are, such as "leiden" or "kmeans_5"."""
    return bool(_NAMES.search(re.sub(r"[\W_]+", "_", name.lower())))


def _is_of_classes(column: Any, selected: npt.NDArray[np.bool_]) -> bool:
    """Return whether a selection is of whole classes of a column."""
    codes = sort_into_classes(column).codes + 1
    inside = np.unique(codes[selected])
    return not np.isin(codes[~selected], inside).any()


def _named(name: str) -> str:
    return _sentence(f"{name} is named as clusters are") if named_as_clusters(name) else ""


def _of_map(result: Map, codes: Codes, what: str) -> str:
    """Say that groups follow the map far more closely than the data; of a map that a target has drawn, nothing."""
    graph = result.neighbors()
    if graph is None or result.caution or result.surface is not None or not np.isfinite(result.embedding).all():
        return ""
    known = result._beside
    if known is None or known[0] is not result.embedding:
        n_neighbors = min(ANSWER_NEIGHBORS, graph.n_neighbors)
        known = result.embedding, neighbors.compute_neighbors(result.embedding, n_neighbors)
        result._beside = known
    n_neighbors = known[1].n_neighbors
    found = follows_map(graph.nearest(n_neighbors).indices, known[1].indices, codes)
    if found is None:
        return ""
    return _sentence(
        f"{what} the map more closely than the data (of {100 * found[1]:.0f} % of the rows most neighbours on the map "
        f"are of their own, in the data of {100 * found[0]:.0f} %)"
    )


def _sentence(why: str) -> str:
    return (
        f"{why}: groups found in these rows differ in them by construction, also where there are none, so test them in "
        "new rows, or ask clusters(), which tests in rows held out."
    )
