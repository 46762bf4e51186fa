"""A map told in other features of its rows than those that were mapped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.data import Representation
from gnomon.data.scaling import fit_scaling
from gnomon.explanations.interpretable import read_features, texts_and_categories

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["with_features"]


@entrance("Map")
def with_features(result: Map, features: Any, feature_names: Any) -> Map:
    """Return the map told in other features. See `Map.with_features`."""
    if result.metric == "precomputed":
        raise ValueError(message("a map of distances", "one of rows of numbers", remedy="Use explain(features=...)."))
    table, names = read_features(features, feature_names)
    if table.shape[0] != result.n_samples:
        fact = f"{table.shape[0]:,} rows, {result.n_samples:,} in the map"
        raise ValueError(message("features", "one row for each of the map", fact=fact))
    mapped = result._mapped()
    if mapped.is_sparse:
        remedy = "Map it in principal components (n_pcs=50)."
        raise ValueError(message("a map of a sparse table", "one of dense rows", remedy=remedy))
    values = table.astype(np.float64)
    known = result.representation
    if known is None:
        known = Representation("the table that was mapped", np.ascontiguousarray(mapped.values))
    return type(result)(
        X=values,
        embedding=result.embedding.copy(),
        method=result.method,
        parameters=dict(result.parameters),
        labels=result.labels,
        label_name=result.label_name,
        feature_names=names,
        images=result.images,
        metadata={**texts_and_categories(features), **result.metadata},
        point_names=result.point_names,
        metric=result.metric,
        scale=fit_scaling(values, "standard"),
        representation=replace(known, center=None, components=None),
        graph=result.neighbors(),
        timings=dict(result.timings),
        notes=list(result.notes),
        name=result.name,
        n_jobs=result.n_jobs,
        surface=result.surface,
    )
