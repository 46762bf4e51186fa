"""A map as a table of its points, for other programs."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._files import atomic_write, check_writable
from gnomon._optional import import_optional
from gnomon._validation import message
from gnomon.data.names import clean_names
from gnomon.data.writers import texts_of, write_columns

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["SUFFIXES", "export", "is_folder", "point_columns", "position_columns"]

Columns = dict[str, npt.NDArray[Any]]

SUFFIXES = (".csv", ".parquet", ".h5ad")
"""Endings of the files that `export` writes; a folder is for TensorBoard's projector."""
_CONFIG = 'embeddings {\n  tensor_path: "tensors.tsv"\n  metadata_path: "metadata.tsv"\n}\n'


def position_columns(places: npt.NDArray[Any], point_names: npt.NDArray[Any] | None) -> Columns:
    """Return "point", the name or number of each row, and the coordinates "x", "y", "z", beyond three "x0", "x1" ..."""
    n, n_components = places.shape
    axes = ["x", "y", "z"][:n_components] if n_components <= 3 else [f"x{j}" for j in range(n_components)]
    points = np.arange(n) if point_names is None else point_names
    return {"point": points, **{axis: places[:, j] for j, axis in enumerate(axes)}}


def point_columns(result: Map) -> Columns:
    """Return what a map knows of each point.

    Returns
    -------
    dict of str to ndarray of shape (n_samples,)
        Name or number, position, label, metadata and the columns of `Map.point_scores`. A name that occurs again gets
        a number in brackets.
    """
    columns = list(position_columns(result.embedding, result.point_names).items())
    if result.labels is not None:
        columns.append((result.label_name, result.labels))
    columns += result.metadata.items()
    columns += result.point_scores().items()
    names = clean_names(name for name, _ in columns)
    return {name: values for name, (_, values) in zip(names, columns, strict=True)}


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Say whether a path is that of a folder, which is there or whose name ends in a slash."""
    return os.fspath(path).endswith(("/", os.sep)) or os.path.isdir(path)


@entrance("Map.export")
def export(result: Map, path: str | os.PathLike[str]) -> list[str]:
    """Write the points of a map for other programs; see `Map.export`."""
    if is_folder(path):
        return _write_projector(result, Path(path))
    suffix = os.path.splitext(path)[1]
    if suffix.lower() not in SUFFIXES:
        fact = f"it ends in {suffix!r}" if suffix else "its name has no ending"
        rule = f"a file that ends in {', '.join(SUFFIXES)}, or a folder"
        remedy = "End the name of a new folder with a slash."
        raise ValueError(message(f"path {os.fspath(path)!r}", rule, fact=fact, remedy=remedy))
    check_writable(path)
    if suffix.lower() == ".h5ad":
        _write_cells(result, path)
    else:
        write_columns(path, point_columns(result))
    return [os.fspath(path)]


def _write_cells(result: Map, path: str | os.PathLike[str]) -> None:
    anndata = import_optional("anndata", package="anndata", extra="anndata")
    import pandas as pd

    columns = point_columns(result)
    names = texts_of(columns.pop("point"))
    for axis in list(columns)[: result.embedding.shape[1]]:
        del columns[axis]  # they are in obsm
    obs = {name: texts_of(values) if values.dtype.kind in "OSUMm" else values for name, values in columns.items()}
    cells = anndata.AnnData(
        result.X,
        obs=pd.DataFrame(obs, index=pd.Index(names, dtype=object)),
        var=pd.DataFrame(index=pd.Index(result.feature_names, dtype=object)),
        obsm={f"X_{result.method}": result.embedding},
    )
    with tempfile.TemporaryDirectory() as folder:  # anndata needs a path, and may die half way
        part = Path(folder) / "map.h5ad"
        cells.write_h5ad(part)
        with open(part, "rb") as written, atomic_write(path) as file:
            shutil.copyfileobj(written, file)


def _write_projector(result: Map, folder: Path) -> list[str]:
    """Write positions and metadata as TensorBoard's projector reads them."""
    columns = point_columns(result)
    folder.mkdir(parents=True, exist_ok=True)
    axes = [column.astype(str) for column in result.embedding.T]
    # Fields have no quotes there, so that tabs and line breaks become spaces.
    fields = [[" ".join((text or "").split()) for text in texts_of(values)] for values in columns.values()]
    lines = {
        "tensors.tsv": zip(*axes, strict=True),
        "metadata.tsv": [[" ".join(name.split()) for name in columns], *zip(*fields, strict=True)],
    }
    for name, rows in lines.items():
        with atomic_write(folder / name, "w") as file:
            file.writelines("\t".join(row) + "\n" for row in rows)
    with atomic_write(folder / "projector_config.pbtxt", "w") as file:
        file.write(_CONFIG)
    return [str(folder / name) for name in (*lines, "projector_config.pbtxt")]
