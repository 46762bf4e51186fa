"""`gnomon map` of a table that is read in blocks: landmarks are fitted, all other rows placed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from gnomon._memory import available_memory
from gnomon._validation import message, warn
from gnomon.cli.outputs import destination, write_coordinates

__all__ = ["is_stored", "open_large", "refuse_options", "require_readable", "told", "why_in_blocks", "write_large"]

_ONLY_STORED = (".zarr", ".h5", ".hdf5")
_BY_SIZE = (".npy", ".parquet", ".h5ad")
_SHARE = 0.25  # of the memory; a smaller file is read whole


def is_stored(data: str, *, asked: bool) -> bool:
    """Say whether DATA are read in blocks: what only blocks can read, and files that would fill the memory.

    Parameters
    ----------
    data : str
    asked : bool
        Whether landmarks, a cluster or a folder are asked for: then every file that can be is read in blocks.
    """
    path = data.rstrip("/").lower()
    if path.endswith(_ONLY_STORED) or "://" in path:
        return True
    is_parquet = bool(_parquet_files(data))
    if not path.endswith(_BY_SIZE) and not is_parquet:
        return False
    return asked or is_parquet or _file_bytes(data) > _SHARE * available_memory()


def why_in_blocks(data: str, *, asked: bool) -> str:
    """Say why DATA are read in blocks, a clause."""
    if files := _parquet_files(data):
        return (
            f"the {len(files):,} .parquet files of the folder {data!r} are one table; one of them by itself is "
            f"{os.path.join(data, files[0])!r}"
        )
    if asked:
        return "--n-fitted, --cluster and --folder ask for it"
    path = data.rstrip("/").lower()
    if path.endswith(_ONLY_STORED) or "://" in path:
        return "such stores always are"
    return f"{data!r} takes more than a quarter of the memory"


def _parquet_files(data: str) -> list[str]:
    return sorted(name for name in os.listdir(data) if name.endswith(".parquet")) if os.path.isdir(data) else []


def _file_bytes(path: str) -> float:
    return float(os.path.getsize(path)) if os.path.isfile(path) else 0.0


def require_readable(data: str) -> None:
    """Raise if an HDF5 file is broken or no such file, whose own fault is told before that of options."""
    if data.lower().endswith(_ONLY_STORED[1:]) and os.path.isfile(data):
        from gnomon.data.stored.nodes import HDF5Node

        HDF5Node(data, "").root().close()


def open_large(data: str, labels: str | None, *, obsm: str | None = None, n_pcs: int | None = None) -> tuple[Any, Any]:
    """Open a stored table, and read labels that are in a file of their own.

    Parameters
    ----------
    data : str
        A path that `gnomon.open_table` takes.
    labels : str or None
        A column that is stored with the table, or an .npy file of one value a row.
    obsm : str or None, default=None
        Of an .h5ad file the coordinates, or "X"; None takes those of scanpy's neighbours, or X_pca, or the genes where
        there are none.
    n_pcs : int or None, default=None
        Where components are asked for, they are of the genes unless `obsm` is given.

    Returns
    -------
    StoredTable, and an ndarray, the name of the column or None
    """
    import numpy as np

    from gnomon.data import stored

    table = stored.open_stored(data, key=_key_of_cells(data, obsm, n_pcs))
    if labels is None or not labels.lower().endswith(".npy"):
        return table, labels
    values = np.load(labels, allow_pickle=False)
    if len(values) != table.n_samples:
        rule, fact = f"of {table.n_samples:,} values, one for each row", f"it has {len(values):,}"
        raise ValueError(message(f"--labels={labels!r}", rule, fact=fact))
    return table, values


def _key_of_cells(data: str, obsm: str | None, n_pcs: int | None) -> str | None:
    """Return the place of the coordinates of cells in an .h5ad file; None for the table itself."""
    if not data.lower().endswith(".h5ad") or not os.path.isfile(data):
        if obsm is not None:
            remedy = "Leave it out, or store the coordinates as a table."
            raise ValueError(message(f"--obsm={obsm!r}", "given for an .h5ad file", fact=repr(data), remedy=remedy))
        return None
    from gnomon.data.cells import told_part
    from gnomon.data.stored import coordinates_in_file
    from gnomon.exceptions import DataWarning

    found = coordinates_in_file(data, obsm)
    if found is not None and obsm is None and n_pcs is not None:
        left = told_part(found)
        warn(f"--n-pcs takes the genes, not {left}, where landmarks are fitted; --obsm takes that", DataWarning)
        return None
    return found


def refuse_options(given: Mapping[str, Any], why: str) -> None:
    """Raise ValueError for an option that a table read in blocks has no use for.

    Parameters
    ----------
    given : mapping of str to object
        Options by name, None or empty where they are not given.
    why : str
        Why the table is read in blocks, a clause.
    """
    for name, value in given.items():
        if value:
            rule = "left out for a table that is read in blocks"
            remedy = "Prepare the columns before they are stored, or map a sample of the rows."
            if name == "layer":
                key = "raw/X" if value == "raw" else f"layers/{value}"
                remedy = f"In Python: gnomon.map(gnomon.open_table(path, key={key!r}), n_fitted=...)."
            raise ValueError(message(f"--{name.replace('_', '-')}", rule, fact=why, remedy=remedy))


def write_large(result: Any, kind: str, path: str, *, title: str | None) -> None:
    """Write a map of landmarks as a page, a file of its own or its positions.

    Parameters
    ----------
    result : LandmarkMap
    kind : {"html", "map", "coordinates"}
    path : str
    title : str or None
        Of a page.
    """
    if kind == "coordinates":
        if path.lower().endswith((".parquet", ".zarr")):
            result.write(path)
        else:
            write_coordinates(path, result.embedding, None)
        return
    with destination(kind, path) as file:
        if kind == "html":
            result.write_html(file, title=title)
        else:
            result.save(file)


def told(result: Any, seconds: float) -> dict[str, Any]:
    """Return what was made, for programs: sizes, and the seconds of each stage and of all."""
    return {
        "map": {
            "method": result.method,
            "n_samples": result.n_samples,
            "n_landmarks": len(result.landmarks),
            "notes": list(result.notes),
        },
        "timings": dict(result.timings),
        "seconds": seconds,
    }
