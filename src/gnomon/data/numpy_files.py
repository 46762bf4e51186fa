"""NPY and NPZ files, never with pickles."""

from __future__ import annotations

import os
import zipfile
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import message
from gnomon.data.columns import require_name
from gnomon.data.dataset import Dataset, draw_rows
from gnomon.data.names import clean_names

__all__ = ["read_npy", "read_npz"]

_MATRIX_KEYS = ("X", "x", "data", "embedding")
_LABEL_KEYS = ("y", "labels")
_NAME_KEYS = ("feature_names", "gene_names", "var_names")
_CSR_KEYS = {"data", "indices", "indptr", "shape"}


def _unreadable(path: str, kind: str, error: Exception, *, who: str) -> ValueError:
    reason = str(error).split("\n")[0]
    if "allow_pickle" in reason or "pickle" in reason:
        reason = "it holds Python objects, which could run code when loaded"
    return ValueError(
        message(who, f"file {path!r}", f"a complete {kind} file", fact=reason, remedy="Write it again with NumPy.")
    )


def _as_rows(
    array: npt.NDArray[Any], images: tuple[int, ...] | None, name: str, *, who: str
) -> tuple[npt.NDArray[Any], tuple[int, ...] | None]:
    """Return an array as one row a sample; arrays of pictures are laid out row by row."""
    if array.ndim == 2:
        return array, images
    if array.ndim == 3 or (array.ndim == 4 and array.shape[3] in (1, 3)):
        return array.reshape(len(array), -1), images or array.shape[1:]
    fact = f"{name} has shape {array.shape}"
    raise ValueError(message(who, name, "a table or an array of pictures", fact=fact, remedy="Reshape your data."))


def read_npy(
    path: str | os.PathLike[str],
    *,
    who: str = "read_table",
    labels: str | None = None,
    images: tuple[int, ...] | None = None,
) -> Dataset:
    """Read one array: a table, or pictures of shape (n, height, width) or (n, height, width, 3); see `read_table`."""
    path = os.fspath(path)
    if labels is not None:
        require_name(labels, [], who=who, what="labels")
    try:
        # Mapping compares the shape in the header with the size of the file before anything is allocated.
        array = np.array(np.load(path, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError, OSError) as error:
        raise _unreadable(path, "NPY", error, who=who) from error
    X, images = _as_rows(array, images, "the array", who=who)
    pictures = None if images is None else draw_rows(X, images, who=who)
    return Dataset(X, images=pictures, image_shape=images, source=path)


def _read_members(path: str, *, who: str) -> dict[str, npt.NDArray[Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                _check_member(archive, member)
        with np.load(path, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, KeyError, NotImplementedError) as error:
        raise _unreadable(path, "NPZ", error, who=who) from error


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Raise ValueError if an array claims more bytes than are stored, before they are allocated."""
    if not member.filename.endswith(".npy"):
        return
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(file)
        size = dtype.itemsize
        for length in shape:
            size *= int(length)
    if not dtype.hasobject and size > member.file_size:
        raise ValueError(f"array {member.filename!r} has shape {shape} but only {member.file_size} bytes are stored")


def _find_matrix(
    arrays: dict[str, npt.NDArray[Any]], path: str, *, who: str
) -> tuple[npt.NDArray[Any] | sp.csr_array, set[str]]:
    """Return the table and the keys it came from."""
    if set(arrays) >= _CSR_KEYS:
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        layout = arrays["format"].item() if "format" in arrays else b"csr"
        make = {b"csr": sp.csr_array, "csr": sp.csr_array, b"csc": sp.csc_array, "csc": sp.csc_array}.get(layout)
        if make is None:
            raise ValueError(message(who, f"file {path!r}", "a CSR or CSC matrix", fact=f"format {layout!r}"))
        try:
            matrix = make(parts, shape=tuple(int(size) for size in arrays["shape"]))
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(message(who, f"file {path!r}", "a valid sparse matrix", fact=str(error))) from error
        return sp.csr_array(matrix), _CSR_KEYS | {"format"}
    for key in _MATRIX_KEYS:
        if key in arrays and arrays[key].ndim >= 2:
            return arrays[key], {key}
    tables = [key for key, array in arrays.items() if array.ndim >= 2 and array.dtype.kind in "biuf"]
    if len(tables) == 1:
        return arrays[tables[0]], {tables[0]}
    found = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
    rule = "an archive with one table, named X if there are more, or data, indices, indptr, shape of a CSR matrix"
    raise ValueError(message(who, f"file {path!r}", rule, fact=f"found {found or 'nothing'}"))


def _named_labels(labels: npt.NDArray[Any], names: npt.NDArray[Any] | None, *, who: str) -> npt.NDArray[Any]:
    if names is None or labels.dtype.kind not in "iu":
        return labels
    if labels.size and (labels.min() < 0 or labels.max() >= len(names)):
        fact = f"labels from {labels.min()} to {labels.max()}, {len(names)} names"
        raise ValueError(message(who, "target_names", "one name for each label from 0", fact=fact))
    return np.asarray(names[labels])


def read_npz(
    path: str | os.PathLike[str],
    *,
    who: str = "read_table",
    labels: str | None = None,
    images: tuple[int, ...] | None = None,
) -> Dataset:
    """Read an archive of arrays; see `read_table` for the names it looks for."""
    path = os.fspath(path)
    arrays = _read_members(path, who=who)
    matrix, used = _find_matrix(arrays, path, who=who)
    if images is None and "feature_shape" in arrays:
        images = tuple(int(size) for size in arrays["feature_shape"])
    X: npt.NDArray[Any] | sp.csr_array = matrix
    if isinstance(matrix, np.ndarray):
        X, images = _as_rows(matrix, images, "the array", who=who)
    n, width = X.shape
    per_row = {k: a for k, a in arrays.items() if a.ndim == 1 and len(a) == n and k not in used}
    label_key = labels if labels is not None else next((key for key in _LABEL_KEYS if key in arrays), None)
    values = None
    if label_key is not None:
        candidates = [k for k, a in arrays.items() if a.ndim == 1 and k not in used]
        require_name(label_key, candidates, who=who, what="labels")
        if len(arrays[label_key]) != n:
            fact = f"{len(arrays[label_key])} labels, {n} rows"
            raise ValueError(message(who, f"labels {label_key!r}", "one for each row", fact=fact))
        values = _named_labels(per_row.pop(label_key), arrays.get("target_names"), who=who)
    name_key = next((key for key in _NAME_KEYS if key in arrays and len(arrays[key]) == width), None)
    special = {"target_names", "feature_shape", *_NAME_KEYS}
    return Dataset(
        X,
        feature_names=None if name_key is None else clean_names(arrays[name_key].tolist()),
        labels=values,
        label_name=label_key,
        metadata={key: array for key, array in per_row.items() if key not in special},
        images=None if images is None else draw_rows(X, images, who=who),
        image_shape=images,
        source=path,
    )
