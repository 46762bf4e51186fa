"""Names of clusters, level by level, from rows that had no part in finding them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.explanations import Caption, cluster_captions

__all__ = ["name_level"]

Labels = npt.NDArray[np.int64]


def name_level(
    X: Any,
    labels: Labels,
    parents: Sequence[int | None],
    parent_names: Sequence[tuple[str, Caption | None]],
    *,
    alpha: float,
    n_phrases: int,
    feature_names: list[str],
    image_shape: tuple[int, ...] | None,
    known: npt.NDArray[np.bool_] | None = None,
) -> list[tuple[str, Caption | None]]:
    """Name the clusters of a level, each against those within the same cluster of the next coarser level.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
        Rows held out.
    labels : ndarray of shape (n_rows,), int64
        Their clusters, -1 for none.
    parents : sequence of n_clusters int or None
    parent_names : sequence of (str, Caption or None)
        Names and captions of the coarser level.
    alpha, n_phrases, feature_names, image_shape, known : as of `gnomon.cluster_captions`

    Returns
    -------
    list of (str, Caption or None)
        All names differ. A cluster without siblings keeps the name of the one that holds it. Other names that two
        clusters share, or that one of the coarser level has, begin with that of the cluster that holds them.
    """
    found: list[tuple[str, Caption | None]] = [("", None)] * len(parents)
    for parent in dict.fromkeys(parents):
        siblings = [k for k, of in enumerate(parents) if of == parent]
        inside = np.flatnonzero(np.isin(labels, siblings))
        present = np.unique(labels[inside])
        if len(siblings) == 1 and parent is not None:
            found[siblings[0]] = parent_names[parent]
        elif len(present) > 1:
            captions = cluster_captions(
                X[inside],
                labels[inside],
                n_phrases=n_phrases,
                feature_names=feature_names,
                image_shape=image_shape,
                alpha=alpha,
                known=None if known is None else known[inside],
            )
            for k, caption in captions.items():
                if len(caption):
                    found[int(k)] = (caption.text, caption)
    return _made_unique(found, parents, [name for name, _ in parent_names])


def _made_unique(
    named: list[tuple[str, Caption | None]], parents: Sequence[int | None], coarser: list[str]
) -> list[tuple[str, Caption | None]]:
    """Name what has no name, put the parent's before names that are taken, and number those that still are shared."""
    names = [name or f"cluster {k + 1}" for k, (name, _) in enumerate(named)]
    shared, siblings = Counter(names), Counter(parents)
    for k, (name, parent) in enumerate(zip(names, parents, strict=True)):
        if parent is None or (siblings[parent] == 1 and name == coarser[parent]):
            continue
        if name in coarser or shared[name] > 1:
            names[k] = f"{coarser[parent]}: {name}"
    shared, seen = Counter(names), Counter[str]()
    for k, name in enumerate(names):
        seen[name] += 1
        names[k] = f"{name} ({seen[name]})" if shared[name] > 1 else name
    return [(name, caption) for name, (_, caption) in zip(names, named, strict=True)]
