"""A file, a folder or the name of a built-in data set becomes a data set."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gnomon._entrance import entrance
from gnomon._files import require_existing
from gnomon._validation import message
from gnomon.data.cells import is_part
from gnomon.data.dataset import Dataset
from gnomon.data.datasets import dataset_names, load_dataset
from gnomon.data.other_programs import remedy_for

__all__ = ["open_dataset", "read_table"]

_TEXT = tuple(f"{end}{packed}" for packed in ("", ".gz") for end in (".csv", ".tsv", ".txt", ".dat", ".xvg", ".colvar"))
_OF_PLUMED = re.compile(r"(colvar|hills)([._-]?\d+)?(\.gz)?")  # names of files that it writes
_ARROW = (".parquet", ".feather", ".arrow")
_SUPPORTED = (*_TEXT, ".npy", ".npz", *_ARROW, ".h5ad")


def _refuse(given: Mapping[str, object], kind: str) -> None:
    """Raise if an option was given that has no meaning for a kind of file."""
    for option, value in given.items():
        if value is not None:
            raise ValueError(message(f"{option}={value!r}", "left out", fact=f"it has no meaning for {kind}"))


def _check_key(key: str | None, others: Mapping[str, object]) -> None:
    if key is None:
        return
    _refuse(others, "a table that is named by key")
    if not is_part(key):
        raise ValueError(message(f"key={key!r:.60}", "'X', 'raw/X', 'layers/NAME' or 'obsm/KEY'"))


@entrance("read_table")
def read_table(
    path: str | os.PathLike[str],
    *,
    labels: str | None = None,
    images: tuple[int, ...] | None = None,
    delimiter: str | None = None,
    layer: str | None = None,
    obsm: str | None = None,
    key: str | None = None,
    feature_names: str | Sequence[str] | None = None,
    missing: str = "error",
) -> Dataset:
    """Read a table of numbers from a file or folder.

    A damaged or hostile file ends in one of the errors below. Parquet, Feather and h5ad files are read in a process of
    their own, since the libraries that read them can crash, hang or fill the memory on such files: it may take 1 GB
    and 40 times the size of the file, and 5 s of processor time and one for each megabyte. Where Python is part of
    another program there is no interpreter to start, and they are read in this process, without limits.

    Parameters
    ----------
    path : str or path-like
        - ``.csv``, ``.tsv``, ``.txt``, ``.dat``, ``.xvg``, ``COLVAR`` (also ``.gz``): delimiter, header and, of numbers
          with blanks between them, comments and the names that these give are found by looking. Columns without
          numbers become metadata. A first column without a name becomes the names of the points.
        - ``.npy``: a table, or pictures of shape (n, height, width) or (n, height, width, 3).
        - ``.npz``: the array ``X`` or the only two-dimensional one, or the parts ``data``, ``indices``, ``indptr``,
          ``shape`` of a CSR matrix; labels from ``y`` or ``labels`` with their ``target_names``; ``feature_names`` or
          ``gene_names``; ``feature_shape``, the shape of a picture. Files with pickled objects are refused.
        - ``.parquet``, ``.feather``: columns of numbers, also of vectors. Needs pyarrow.
        - ``.h5ad``: cells by genes with annotations, and the coordinates in which neighbours are to be found, by the
          rules of `gnomon.map` for an AnnData object. Needs anndata.
        - a folder: every picture in it is a row, its sub-folder the label. Needs pillow. PNG, JPEG, BMP, GIF, TIFF
          and WebP.
    labels : str, default=None
        Column that holds labels and is no feature.
    images : tuple (height, width) or (height, width, 3), default=None
        Each row is a picture of this shape; pictures in a folder are resized to it.
    delimiter : str, default=None
        Character between the fields of a text file; None finds comma, semicolon, tab or blanks.
    layer : str, default=None
        Layer of an h5ad file to read instead of X; "raw" is its ``raw`` where no layer is called so.
    obsm : str, default=None
        Key of ``obsm`` in an h5ad file, such as "X_pca", whose coordinates a map is made of, while the genes explain
        it; "X" for the genes themselves. None takes "X_pca", or principal components, where there are more than 50
        genes.
    key : str, default=None
        The table of an h5ad file to read instead of X, with no other coordinates: "layers/counts", "raw/X" or
        "obsm/protein". In place of `layer` and `obsm`.
    feature_names : str or sequence of str, default=None
        A column of ``var`` in an h5ad file, such as "symbol", that names the genes, as in `gnomon.map`; or names, of
        which the column is taken that has them all, ``var_names`` where none has. None takes ``var_names``.
    missing : {"error", "keep"}, default="error"
        Whether empty cells in columns of numbers, and what stands for them, are refused or become NaN, which
        `gnomon.map` fills in. Empty texts are kept in any case.

    Returns
    -------
    Dataset
        The numbers, names, labels and whatever else was found; `notes` say what was decided.

    Raises
    ------
    FileNotFoundError
        If nothing is there; the text proposes names that are near.
    ValueError
        If the file is of no supported kind or broken, takes more than a file of its size may, holds missing values
        that are not kept, or has no such column.
    OSError
        If the file cannot be opened.
    MissingDependencyError
        If reading this kind of file needs a package that is not installed.
    """
    if missing not in ("error", "keep"):
        raise ValueError(message(f"missing={missing!r}", "'error' or 'keep'"))
    where = Path(path)
    of_cells = {"layer": layer, "obsm": obsm, "key": key, "feature_names": feature_names}
    require_existing(where)
    name = where.name.lower()
    if where.is_dir():
        from gnomon.data.pictures import read_pictures

        _refuse({"labels": labels, "delimiter": delimiter, **of_cells}, "a folder of pictures")
        return read_pictures(where, images=images)
    if name.endswith(_TEXT) or _OF_PLUMED.fullmatch(name):
        from gnomon.data.delimited import read_delimited

        _refuse(of_cells, "a text file")
        return read_delimited(where, labels=labels, images=images, delimiter=delimiter, missing=missing)
    _refuse({"delimiter": delimiter}, "this kind of file")
    if name.endswith(".h5ad"):
        from gnomon.data.isolated import read_isolated

        _refuse({"images": images}, "an h5ad file")
        _check_key(key, {"layer": layer, "obsm": obsm})
        return read_isolated("h5ad", where, labels=labels, **of_cells)
    _refuse(of_cells, "this kind of file")
    if name.endswith((".npy", ".npz")):
        from gnomon.data.numpy_files import read_npy, read_npz

        return (read_npy if name.endswith(".npy") else read_npz)(where, labels=labels, images=images)
    if name.endswith(_ARROW):
        from gnomon.data.isolated import read_isolated

        return read_isolated("arrow", where, labels=labels, images=images, missing=missing)
    kinds = ", ".join(_SUPPORTED)
    fact = f"it ends in {where.suffix!r}" if where.suffix else "its name has no ending"
    remedy = remedy_for(where.suffix)
    raise ValueError(
        message(f"file {str(path)!r}", f"one of {kinds} or a folder of pictures", fact=fact, remedy=remedy)
    )


@entrance("open_dataset")
def open_dataset(
    name_or_path: str | os.PathLike[str],
    *,
    labels: str | None = None,
    images: tuple[int, ...] | None = None,
    layer: str | None = None,
    obsm: str | None = None,
    key: str | None = None,
    feature_names: str | Sequence[str] | None = None,
    missing: str = "error",
) -> Dataset:
    """Open a file, a folder, or a data set by its name.

    Parameters
    ----------
    name_or_path : str or path-like
        What exists as a file or folder is read; else it is the name of a built-in data set, such as "digits".
    labels : str, default=None
        Column that holds labels; a built-in data set has its own.
    images : tuple of int, default=None
        Shape of a picture; a built-in data set knows its own.
    layer, obsm, key : str, default=None
        Parts of an h5ad file.
    feature_names : str or sequence of str, default=None
        What names the genes of an h5ad file.
    missing : {"error", "keep"}, default="error"
        Whether missing values in columns of numbers are refused or become NaN.

    Returns
    -------
    Dataset
        See `read_table` and `load_dataset`.
    """
    text = os.fspath(name_or_path)
    of_cells: dict[str, Any] = {"layer": layer, "obsm": obsm, "key": key, "feature_names": feature_names}
    name = text.replace("-", "_")
    if not os.path.exists(text) and name in dataset_names():
        dataset = load_dataset(name)
        _refuse(of_cells, "a built-in data set")
        for option, given, own in (("labels", labels, dataset.label_name), ("images", images, dataset.image_shape)):
            if given is not None and given != own:
                raise ValueError(message(f"{option}={given!r}", f"{own!r} or left out", fact=f"data set {name!r}"))
        return dataset
    try:
        return read_table(text, labels=labels, images=images, missing=missing, **of_cells)
    except FileNotFoundError as error:
        near = difflib.get_close_matches(name.lower(), dataset_names(), 1, 0.6)
        hint = f"A data set {near[0]!r} is built in. " if near else ""
        raise FileNotFoundError(f"{error} {hint}Data sets by name: {', '.join(dataset_names())}.") from error
