"""Single-cell tables (h5ad) through anndata."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._entrance import part
from gnomon._optional import import_optional
from gnomon._validation import message
from gnomon.data.arrays import refuse_kind
from gnomon.data.dataset import Dataset, require_name, text_array
from gnomon.data.limits import refuse_unreadable
from gnomon.data.names import clean_names

__all__ = ["import_h5ad", "read_h5ad"]


def import_h5ad(path: str | os.PathLike[str]) -> Any:
    """Import what reads a file, or raise MissingDependencyError."""
    return import_optional("anndata", package="anndata", extra="anndata")


def _annotation(series: Any) -> npt.NDArray[Any]:
    """Return an annotation of cells: numbers as they are, everything else as text, None where it is missing."""
    values = np.asarray(series)
    if values.dtype.kind in "biuf":
        return values
    missing = np.asarray(series.isna())
    return text_array([None if gone else str(v) for v, gone in zip(values, missing, strict=True)])


def _rows(matrix: Any) -> npt.NDArray[Any] | sp.csr_array:
    if not hasattr(matrix, "tocsr"):
        return np.asarray(matrix)
    matrix.check_format(full_check=True)  # conversion trusts the indices
    return sp.csr_array(matrix)


@part("read_table")
def read_h5ad(path: str | os.PathLike[str], *, labels: str | None = None, layer: str | None = None) -> Dataset:
    """Read the matrix (or a layer), the annotations of cells and the names of genes; see `read_table`.

    HDF5 may crash or not return on a damaged file: `gnomon.data.isolated` calls this in a process of its own.
    """
    anndata = import_h5ad(path)
    path = os.fspath(path)
    what, rule = f"file {path!r}", "a complete h5ad file"
    # Whatever anndata, h5py or pandas raise on the way from a file to arrays means that the file cannot be read; none
    # of them names the classes.
    with refuse_unreadable(what, rule, errors=(Exception,)):
        cells = anndata.read_h5ad(path)
        layers = [str(name) for name in cells.layers]
    if layer is not None:
        require_name(layer, layers, what="layer")
    with refuse_unreadable(what, rule, errors=(Exception,)):
        matrix = cells.X if layer is None else cells.layers[layer]
        X = None if matrix is None else _rows(matrix)
        annotations = {str(name): _annotation(cells.obs[name]) for name in cells.obs.columns}
        genes = [str(name) for name in cells.var_names]
        names = text_array([str(name) for name in cells.obs_names])
    if X is None:
        fact = f"layers: {', '.join(layers) or 'none'}"
        raise ValueError(message(what, "with a matrix X", fact=fact, remedy="Pass layer."))
    refuse_kind(X if isinstance(X, np.ndarray) else X.data)
    if X.shape != (len(names), len(genes)):
        fact = f"a matrix of shape {X.shape}, {len(names)} cells, {len(genes)} genes"
        raise ValueError(message(what, rule, fact=fact))
    if labels is not None:
        require_name(labels, list(annotations), what="labels")
    values = None if labels is None else annotations.pop(labels)
    return Dataset(
        X,
        feature_names=clean_names(genes),
        labels=values,
        label_name=labels,
        metadata=annotations,
        point_names=names,
        source=path,
    )
