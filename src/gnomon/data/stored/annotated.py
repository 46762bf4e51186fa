"""What belongs to the rows and columns of a stored array: arrays beside it, or the annotations of single cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._optional import import_optional
from gnomon.data.cells import annotation, is_part, key_of_coordinates
from gnomon.data.dataset import text_array
from gnomon.data.names import clean_names
from gnomon.data.stored.nodes import Node, is_array

__all__ = ["arrays_beside", "coordinates_of", "gene_names", "part_of", "texts"]


def texts(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers as they are, everything else as text, None where it is missing."""
    if values.dtype.kind in "biuf":
        return values
    plain = (value.decode(errors="replace") if isinstance(value, bytes) else value for value in values.tolist())
    return text_array([None if value is None or value != value else str(value) for value in plain])


def _is_cells(root: Any) -> bool:
    return not is_array(root) and "obs" in root and "var" in root


def _read(node: Any) -> Any:
    io = import_optional("anndata.io", package="anndata", extra="anndata")
    return io.read_elem(node)


def _array(node: Node, name: str) -> npt.NDArray[Any]:
    return texts(np.asarray(node.around()[name][...]))


def _annotation(node: Node, name: str) -> npt.NDArray[Any]:
    found = _read(node.root()["obs"][name])
    return annotation(found if hasattr(found, "isna") else _series(found))


def _series(values: Any) -> Any:
    return import_optional("pandas", package="pandas", extra="frames").Series(values)


def arrays_beside(node: Node, n_samples: int) -> Mapping[str, Callable[[], npt.NDArray[Any]]]:
    """Return how to read what belongs to the rows of an array.

    Parameters
    ----------
    node : Node
        The array, or the group of a sparse matrix.
    n_samples : int
        Its rows.

    Returns
    -------
    mapping of str to callable
        In a file of AnnData the columns of `obs`, elsewhere the arrays of one dimension and `n_samples` values that
        lie in the same group.
    """
    around = node.around()
    if around is None:
        return {}
    if _is_cells(node.root()):
        about = node.root()["obs"]
        names = [str(name) for name in about.attrs.get("column-order", [])]
        return {name: partial(_annotation, node, name) for name in names if name in about}
    return {
        name: partial(_array, node, name)
        for name in sorted(around)
        if is_array(around[name]) and tuple(around[name].shape or ()) == (n_samples,)
    }


def gene_names(node: Node, n_features: int) -> list[str] | None:
    """Return the names of the columns of a matrix in a file of AnnData; None elsewhere."""
    root = node.root()
    if not _is_cells(root) or node.key.startswith("obsm"):
        return None
    genes = root["raw/var" if node.key.startswith("raw/") else "var"]
    names = _read(genes[str(genes.attrs.get("_index", "_index"))])
    return clean_names(np.asarray(names).tolist()) if len(names) == n_features else None


def part_of(node: Node) -> str:
    """Return which table of an AnnData object a node is, by its place in the file; empty elsewhere."""
    return node.key if is_part(node.key) and _is_cells(node.root()) else ""


def coordinates_of(root: Any) -> str:
    """Return the key of `obsm` in which cells of a file are neighbours, as `key_of_coordinates` does; "X" for genes.

    Parameters
    ----------
    root : h5py.File or zarr.Group
        Of AnnData.
    """
    genes, about = root["var"], root.get("uns/neighbors/params")
    said = {} if about is None else {name: _read(about[name]) for name in ("use_rep", "n_pcs") if name in about}
    n_vars = genes[str(genes.attrs.get("_index", "_index"))].shape[0]
    uns = {"neighbors": {"params": said}}
    return key_of_coordinates(SimpleNamespace(obsm=root.get("obsm", {}), uns=uns, n_vars=n_vars))
