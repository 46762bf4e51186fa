"""Single-cell tables (h5ad) through anndata."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._optional import import_optional
from gnomon._validation import message
from gnomon.data.columns import require_name
from gnomon.data.dataset import Dataset
from gnomon.data.names import clean_names

__all__ = ["read_h5ad"]


def _annotation(series: Any) -> npt.NDArray[Any]:
    """Return an annotation of cells: numbers as they are, everything else as text, None where it is missing."""
    values = np.asarray(series)
    if values.dtype.kind in "biuf":
        return values
    missing = np.asarray(series.isna())
    if missing.any():
        return np.array([None if gone else str(v) for v, gone in zip(values, missing, strict=True)], dtype=object)
    return np.array([str(value) for value in values])


def _rows(matrix: Any) -> npt.NDArray[Any] | sp.csr_array:
    return sp.csr_array(matrix) if hasattr(matrix, "tocsr") else np.asarray(matrix)


def read_h5ad(
    path: str | os.PathLike[str], *, who: str = "read_table", labels: str | None = None, layer: str | None = None
) -> Dataset:
    """Read the matrix (or a layer), the annotations of cells and the names of genes; see `read_table`."""
    anndata = import_optional("anndata", package="anndata", extra="anndata", who=who)
    path = os.fspath(path)
    try:
        cells = anndata.read_h5ad(path)
    except (OSError, KeyError, ValueError, TypeError) as error:
        reason = str(error).split("\n")[0]
        raise ValueError(message(who, f"file {path!r}", "a complete h5ad file", fact=reason)) from error
    if layer is not None:
        require_name(layer, list(cells.layers), who=who, what="layer")
    matrix: Any = cells.X if layer is None else cells.layers[layer]
    if matrix is None:
        layers = ", ".join(cells.layers) or "none"
        raise ValueError(
            message(who, f"file {path!r}", "with a matrix X", fact=f"layers: {layers}", remedy="Pass layer.")
        )
    annotations = {str(name): _annotation(cells.obs[name]) for name in cells.obs.columns}
    if labels is not None:
        require_name(labels, list(annotations), who=who, what="labels")
    values = None if labels is None else annotations.pop(labels)
    return Dataset(
        _rows(matrix),
        feature_names=clean_names(cells.var_names),
        labels=values,
        label_name=labels,
        metadata=annotations,
        point_names=np.array([str(name) for name in cells.obs_names]),
        source=path,
    )
