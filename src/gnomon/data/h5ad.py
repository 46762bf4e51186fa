"""Single-cell tables (h5ad) through anndata."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gnomon._entrance import part
from gnomon._optional import import_optional
from gnomon._validation import caller
from gnomon.data.cells import read_cells
from gnomon.data.dataset import Dataset
from gnomon.data.limits import refuse_unreadable

__all__ = ["import_h5ad", "read_h5ad"]


def import_h5ad(path: str | os.PathLike[str]) -> Any:
    """Import what reads a file, or raise MissingDependencyError."""
    return import_optional("anndata", package="anndata", extra="anndata")


@part("read_table")
def read_h5ad(
    path: str | os.PathLike[str],
    *,
    labels: str | None = None,
    layer: str | None = None,
    obsm: str | None = None,
    key: str | None = None,
    feature_names: str | Sequence[str] | None = None,
) -> Dataset:
    """Read the matrix (or a layer), the annotations of cells and the names of genes; see `read_table`.

    HDF5 may crash or not return on a damaged file: `gnomon.data.isolated` calls this in a process of its own.
    """
    anndata = import_h5ad(path)
    path = os.fspath(path)
    refusal: Exception
    # Whatever anndata, h5py or pandas raise on the way from a file to arrays means that the file cannot be read; none
    # of them names the classes.
    with refuse_unreadable(f"file {path!r}", "a complete h5ad file", errors=(Exception,)):
        cells = anndata.read_h5ad(path)
        try:
            explain, layer = ("raw", None) if _means_raw(cells, layer) else (None, layer)
            chosen: dict[str, Any] = {"use_rep": obsm, "explain": explain, "layer": layer, "part": key}
            found = read_cells(cells, labels=labels, feature_names=feature_names, **chosen)
            return replace(found, source=path)
        except (TypeError, ValueError) as error:
            if not str(error).startswith(f"{caller()}: "):  # it is not ours
                raise
            refusal = error
    raise refusal


def _means_raw(cells: Any, layer: str | None) -> bool:
    """Return whether a layer is `raw`, which is told so where no layer is of that name."""
    return layer == "raw" and cells.raw is not None and layer not in cells.layers
