"""What a page shows: positions, and whatever is known about them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Items
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

__all__ = ["PageContent"]

_LOCAL_DIMENSION = "local dimension"
_MOST_CAPTIONS = 60  # more cannot be read
_PROFILE_FEATURES = 12


@dataclass(frozen=True)
class PageContent:
    """What a page shows, for positions without a `gnomon.Map`: without a table, or explained by other means.

    Attributes
    ----------
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions; rows that are not finite are listed in a tray. Above 1,000,000 rows a sample is shown, every class
        in proportion, and the page says so.
    title, method : str
        Plain text.
    labels : array of shape (n_samples,), default=None
        Classes (text, integers, categories) or measured numbers.
    label_name : str, default=""
        What the labels are.
    feature_names : sequence of n_features str, default=None
        Names of the columns of X.
    X : ndarray or CSR of shape (n_samples, n_features), default=None
        Feature values; stored as one byte each (exact for integers in 0..255, else 256 quantile levels).
    images : uint8 array of shape (n_samples, height, width) or (n_samples, height, width, 3), default=None
        Thumbnails.
    image_shape : tuple (height, width) or (height, width, channels), default=None
        The features are pixels of such pictures.
    explanation : object, default=None
        Has ``r2``, ``ellipses``, ``global_importance`` and ``top_features(n)`` with ``indices``, ``arrows`` and
        ``importance``, as `gnomon.explain` returns. With its ``jacobians`` and ``graph`` the page can say of all
        features what they do to a pinned point, and find ways through the data; with its ``distortion`` it colours by
        area, anisotropy and tears.
    evaluation : object, default=None
        Has scores (``trustworthiness`` ...) and ``per_point``, as `gnomon.evaluate` returns.
    profiles : dict of label to list of (feature, effect size, AUC), default=None
        What sets each class apart; computed in the page from the feature values if not given.
    captions : dict of label to str, default=None
        A few words that tell each class from the others, shown under its name.
    point_names : sequence of n_samples str, default=None
        Shown on hover and searched.
    metadata : dict of str to array of shape (n_samples,), default=None
        Further columns to show on hover, to search and to colour by.
    info : dict, default=None
        Shown under "About this map": parameters, seed, timings.
    """

    embedding: npt.ArrayLike
    title: str = "gnomon map"
    method: str = ""
    labels: Items[Any] | npt.NDArray[Any] | None = None
    label_name: str = ""
    feature_names: Items[str] | None = None
    X: Any = None
    images: npt.NDArray[np.uint8] | None = None
    image_shape: tuple[int, ...] | None = None
    explanation: Any = None
    evaluation: Any = None
    profiles: Mapping[Any, Items[tuple[Any, float, float]]] | None = None
    captions: Mapping[str, str] | None = None
    point_names: Items[object] | None = None
    metadata: Mapping[str, Any] | None = None
    info: Mapping[str, object] | None = None

    @classmethod
    def of(cls, map: Any) -> Self:
        """Return what a page shows of a `gnomon.Map`: the map, its explanation, evaluation, dimension and classes."""
        return cls(
            embedding=map.embedding,
            title=map.name,
            method=map.method,
            labels=map.labels,
            label_name=map.label_name,
            feature_names=map.feature_names,
            X=map.X,
            images=map.images,
            image_shape=map.image_shape,
            explanation=map.explain(),
            evaluation=map.evaluate(),
            profiles=_profiles(map),
            captions=_captions(map),
            point_names=None if map.point_names is None else map.point_names.tolist(),
            metadata={**map.metadata, **_local_dimension(map)},
            info=_info(map),
        )


def _profiles(map: Any) -> dict[Any, list[tuple[str, float, float]]]:
    """Return for each label its most distinctive features with effect size and AUC."""
    best = {label: profile.head(_PROFILE_FEATURES) for label, profile in map.profiles().items()}
    return {
        label: list(zip(top.features, top.effect_size.tolist(), top.auc.tolist(), strict=True))
        for label, top in best.items()
    }


def _captions(map: Any) -> dict[str, str]:
    """Return a caption for each label; none without labels, with a single one or with too many to be read."""
    if map.labels is None or not 2 <= len(np.unique(map.labels)) <= _MOST_CAPTIONS:
        return {}
    return {str(label): caption.text for label, caption in map.captions().items()}


def _local_dimension(map: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the dimension around each point as a column, nothing if it is not known."""
    local = map.intrinsic_dimension().local
    if not np.isfinite(local).any() or _LOCAL_DIMENSION in map.metadata:
        return {}
    return {_LOCAL_DIMENSION: np.round(local, 2)}


def _info(map: Any) -> dict[str, Any]:
    info: dict[str, Any] = {"method": map.method, **map.parameters}
    info.update({f"seconds for {stage}": round(seconds, 2) for stage, seconds in map.timings.items()})
    dimension = map.intrinsic_dimension()
    if np.isfinite(dimension.value):
        info["intrinsic dimension"] = round(dimension.value, 1)
    if map.notes:
        info["notes"] = "; ".join(map.notes)
    return info
