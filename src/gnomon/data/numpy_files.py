"""NPY and NPZ files, never with pickles; every size is compared with the file before memory is taken."""

from __future__ import annotations

import math
import os
import re
import struct
import sys
import zipfile
import zlib
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import part
from gnomon._memory import require_memory
from gnomon._validation import message
from gnomon.data.arrays import refuse_kind
from gnomon.data.dataset import Dataset, draw_rows, note, require_name
from gnomon.data.limits import allowed_memory, refuse_unreadable
from gnomon.data.names import clean_names

__all__ = ["read_header", "read_npy", "read_npy_column", "read_npz"]

_MATRIX_KEYS = ("X", "x", "data", "embedding")
_LABEL_KEYS = ("y", "labels")
_NAME_KEYS = ("feature_names", "gene_names", "var_names")
_CSR_KEYS = {"data", "indices", "indptr", "shape"}

_REMEDY = "Write it again with NumPy."
_RECORDS = (
    "it holds records, with fields: numpy.save(path, numpy.lib.recfunctions.structured_to_unstructured("
    "numpy.load(path))) makes a table of numbers of it, also of fields of several numbers; in Python gnomon.map takes "
    "fields of one number each with their names"
)
_LONGEST_HEADER = 2**14
_MOST_DEFLATED = 1032  # deflate cannot write fewer than one byte for 1,032
_MOST_ROWS = _MOST_COLUMNS = 2**31 - 1  # positions are 32-bit integers in the kernels

# A header is a Python dictionary of three entries. Only what NumPy writes for plain arrays is read, by patterns: to
# evaluate the text, as NumPy does, fails in many ways on damaged files.
_DESCR = r"""'[^'\\]*'|"[^"\\]*\""""
_SHAPE = r"\((?:\s*\d{1,19}L?\s*,)*\s*(?:\d{1,19}L?\s*)?\)"
_ENTRY = rf"""\s*['"](descr|fortran_order|shape)['"]\s*:\s*({_DESCR}|True|False|{_SHAPE})\s*"""
_HEADER = re.compile(rf"\{{{_ENTRY},{_ENTRY},{_ENTRY},?\s*\}}\s*")
_PLAIN = re.compile(r"[<>|=]?(?:[biufcSUMm]\d{1,9}(?:\[\w{1,12}\])?|\?)")

# What zipfile raises on damaged archives; it documents the first alone.
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    IndexError,
    KeyError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)


def _dtype(descr: str) -> np.dtype[Any]:
    """Return the type of a plain array, or raise ValueError."""
    if descr.lstrip("<>|=")[:1] == "O":
        raise ValueError("it holds Python objects, which could run code when loaded")
    if _PLAIN.fullmatch(descr) is None:
        raise ValueError(f"its type {descr:.40} is not that of plain numbers or text")
    try:
        dtype = np.dtype(descr)
    except (TypeError, ValueError):
        raise ValueError(f"NumPy knows no type {descr:.40}") from None
    if dtype.itemsize == 0:
        raise ValueError(f"its type {descr:.40} has no size")
    return dtype


def read_header(file: IO[bytes]) -> tuple[np.dtype[Any], bool, tuple[int, ...], int]:
    """Return type, column order, shape and the bytes of the header of an array, or raise ValueError."""
    start = file.read(8)
    if len(start) < 8 or start[:6] != b"\x93NUMPY" or start[6] not in (1, 2, 3):
        raise ValueError("it does not begin as an array of NumPy does")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(file.read(width), "little")
    if length > _LONGEST_HEADER:
        raise ValueError(f"its header has {length:,} bytes; arrays of plain numbers need fewer than 200")
    text = file.read(length).decode("latin1")
    match = _HEADER.fullmatch(text.strip())
    if match is None:
        records = "descr" in text and "[(" in text
        raise ValueError(_RECORDS if records else "its header is not that of an array of plain numbers")
    entries = dict(zip(match.groups()[::2], match.groups()[1::2], strict=True))
    descr, order, shape = (entries.get(key, "") for key in ("descr", "fortran_order", "shape"))
    if descr[:1] not in ("'", '"') or order not in ("True", "False") or shape[:1] != "(":
        raise ValueError("its header is not that of an array of plain numbers")
    return _dtype(descr[1:-1]), order == "True", tuple(map(int, re.findall(r"\d+", shape))), 8 + width + length


def _read_array(file: IO[bytes], n_bytes: int) -> npt.NDArray[Any]:
    """Read an array that is stored in `n_bytes`, or raise ValueError."""
    dtype, by_columns, shape, used = read_header(file)
    needed = math.prod(shape) * dtype.itemsize
    if needed > n_bytes - used:
        raise ValueError(f"its shape {shape} takes {needed:,} bytes and {max(n_bytes - used, 0):,} are stored")
    content = np.empty(needed, np.uint8)
    filled = 0
    while filled < needed:
        piece = np.frombuffer(file.read(min(needed - filled, 2**20)), np.uint8)
        if not piece.size:
            raise ValueError(f"it ends after {filled:,} of {needed:,} bytes")
        content[filled : filled + piece.size] = piece
        filled += piece.size
    array = content.view(dtype)
    if dtype.kind == "U" and array.size and content.view(f"{dtype.byteorder}u4").max() > sys.maxunicode:
        raise ValueError("it holds text with characters that do not exist")
    return array.reshape(shape, order="F" if by_columns else "C")


def _as_rows(
    array: npt.NDArray[Any], images: tuple[int, ...] | None, notes: list[str]
) -> tuple[npt.NDArray[Any], tuple[int, ...] | None]:
    """Return an array of numbers as one row a sample; arrays of pictures are laid out row by row, which is noted."""
    refuse_kind(array)
    if array.ndim == 2:
        return array, images
    if array.ndim == 3 or (array.ndim == 4 and array.shape[3] in (1, 3)):
        count, height, width = array.shape[:3]
        pictures = "one picture" if count == 1 else f"{count:,} pictures"
        text = f"the array of shape {array.shape} is read as {pictures} of {height} x {width} pixels"
        note(notes, f"{text}; if it holds something else, store X.reshape(len(X), -1), with the rows to map first")
        return array.reshape(count, math.prod(array.shape[1:])), images or array.shape[1:]
    rule, fact = "a table or an array of pictures", f"the array has shape {array.shape}"
    raise ValueError(message("the array", rule, fact=fact, remedy="Reshape your data."))


@part("read_table")
def read_npy(
    path: str | os.PathLike[str], *, labels: str | None = None, images: tuple[int, ...] | None = None
) -> Dataset:
    """Read one array: a table, or pictures of shape (n, height, width) or (n, height, width, 3); see `read_table`."""
    path = os.fspath(path)
    if labels is not None:
        require_name(labels, [], what="labels")
    notes: list[str] = []
    X, images = _as_rows(_read_file(path), images, notes)
    pictures = None if images is None else draw_rows(X, images)
    return Dataset(X, images=pictures, image_shape=images, source=path, notes=notes)


@part("read_table")
def read_npy_column(path: str) -> npt.NDArray[Any]:
    """Read one column: an array of numbers, texts or dates with a value for each row."""
    array = _read_file(path)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1 or array.dtype.kind not in "biufUMm":
        rule = "an array of numbers, texts or dates, one for each row"
        fact = f"shape {array.shape}, dtype {array.dtype}"
        raise ValueError(message(f"file {path!r}", rule, fact=fact))
    return array


def _read_file(path: str) -> npt.NDArray[Any]:
    what, errors = f"file {path!r}", (ValueError, OSError)
    with (
        refuse_unreadable(what, "a complete NPY file of plain numbers", errors=errors, remedy=_REMEDY),
        open(path, "rb") as file,
    ):
        return _read_array(file, os.path.getsize(path))


def _read_members(path: str) -> dict[str, npt.NDArray[Any]]:
    arrays: dict[str, npt.NDArray[Any]] = {}
    what, rule = f"file {path!r}", "a complete NPZ file"
    with refuse_unreadable(what, rule, errors=_ZIP_ERRORS, remedy=_REMEDY), zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        _check_sizes(members, os.path.getsize(path))
    total = sum(member.file_size for member in members)
    require_memory(what, total, fact="its arrays", remedy="Read its arrays one by one with numpy.load.")
    with refuse_unreadable(what, rule, errors=_ZIP_ERRORS, remedy=_REMEDY), zipfile.ZipFile(path) as archive:
        for member in members:
            key = member.filename.removesuffix(".npy")
            if key in arrays:
                raise ValueError(f"array {key!r} is stored twice")
            with archive.open(member) as file:
                try:
                    arrays[key] = _read_array(file, member.file_size)
                except ValueError as error:
                    raise ValueError(f"array {key!r}: {error}") from error
                if file.read(1):  # also compares the checksum
                    raise ValueError(f"array {key!r} has more bytes than its shape takes")
    return arrays


def _check_sizes(members: list[zipfile.ZipInfo], n_bytes: int) -> None:
    """Raise ValueError if the members of an archive cannot have the sizes that its directory states."""
    for member in members:
        stored = member.compress_type == zipfile.ZIP_STORED
        if not stored and member.compress_type != zipfile.ZIP_DEFLATED:
            raise ValueError(f"member {member.filename!r} is compressed as NumPy never does")
        most = member.compress_size if stored else _MOST_DEFLATED * (member.compress_size + 1)
        if member.file_size > most:
            raise ValueError(f"member {member.filename!r} states more bytes than can be stored in it")
    if sum(member.compress_size for member in members) > n_bytes:
        raise ValueError("its members take more bytes than the file has")


def _integers(array: npt.NDArray[Any], name: str, lengths: tuple[int, ...]) -> tuple[int, ...]:
    """Return a few whole numbers, such as a shape."""
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) not in lengths:
        rule = f"{' or '.join(map(str, lengths))} whole numbers"
        raise ValueError(message(name, rule, fact=f"found dtype {array.dtype} of shape {array.shape}"))
    return tuple(int(value) for value in array)


def _sparse_matrix(arrays: dict[str, npt.NDArray[Any]], path: str) -> scipy.sparse.csr_array:
    """Put the parts of a CSR or CSC matrix together."""
    what = f"file {path!r}"
    layout = arrays["format"].tolist() if "format" in arrays else "csr"
    layout = layout.decode("latin1") if isinstance(layout, bytes) else layout
    if layout not in ("csr", "csc"):
        raise ValueError(message(what, "a CSR or CSC matrix", fact=f"format {layout!r:.40}"))
    n_rows, n_columns = _integers(arrays["shape"], "shape", (2,))
    data, indices, indptr = (arrays[key] for key in ("data", "indices", "indptr"))
    refuse_kind(data)
    fact = ""
    if any(part.ndim != 1 for part in (data, indices, indptr)):
        fact = "data, indices and indptr have more or fewer dimensions than one"
    elif indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
        fact = "indices and indptr are not whole numbers"
    elif not (0 <= n_rows <= _MOST_ROWS and 0 <= n_columns <= _MOST_COLUMNS):
        fact = f"shape ({n_rows}, {n_columns})"
    elif layout == "csc" and 8 * n_rows > allowed_memory(path):  # a row without entries takes no bytes in the file
        fact = f"{n_rows:,} rows and {len(data):,} entries"
    if fact:
        raise ValueError(message(what, "a valid sparse matrix", fact=fact))
    make = scipy.sparse.csr_array if layout == "csr" else scipy.sparse.csc_array
    with refuse_unreadable(what, "a valid sparse matrix", errors=(ValueError, TypeError, OverflowError)):
        matrix = make((data, indices, indptr), shape=(n_rows, n_columns))
        matrix.check_format(full_check=True)
        return scipy.sparse.csr_array(matrix)


def _find_matrix(
    arrays: dict[str, npt.NDArray[Any]], path: str
) -> tuple[npt.NDArray[Any] | scipy.sparse.csr_array, set[str]]:
    """Return the table and the keys it came from."""
    if set(arrays) >= _CSR_KEYS:
        return _sparse_matrix(arrays, path), _CSR_KEYS | {"format"}
    for key in _MATRIX_KEYS:
        if key in arrays and arrays[key].ndim >= 2:
            return arrays[key], {key}
    tables = [key for key, array in arrays.items() if array.ndim >= 2 and array.dtype.kind in "biuf"]
    if len(tables) == 1:
        return arrays[tables[0]], {tables[0]}
    found = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
    rule = "an archive with one table, named X if there are more, or data, indices, indptr, shape of a CSR matrix"
    raise ValueError(message(f"file {path!r}", rule, fact=f"found {found or 'nothing'}"))


def _named_labels(labels: npt.NDArray[Any], names: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    if names is None or labels.dtype.kind not in "iu":
        return labels
    if names.ndim != 1:
        raise ValueError(message("target_names", "a list of names", fact=f"found shape {names.shape}"))
    if labels.size and (labels.min() < 0 or labels.max() >= len(names)):
        fact = f"labels from {labels.min()} to {labels.max()}, {len(names)} names"
        raise ValueError(message("target_names", "one name for each label from 0", fact=fact))
    return np.asarray(names[labels])


@part("read_table")
def read_npz(
    path: str | os.PathLike[str], *, labels: str | None = None, images: tuple[int, ...] | None = None
) -> Dataset:
    """Read an archive of arrays; see `read_table` for the names it looks for."""
    path = os.fspath(path)
    arrays = _read_members(path)
    matrix, used = _find_matrix(arrays, path)
    if images is None and "feature_shape" in arrays:
        images = _integers(arrays["feature_shape"], "feature_shape", (2, 3))
    X: npt.NDArray[Any] | scipy.sparse.csr_array = matrix
    notes: list[str] = []
    if isinstance(matrix, np.ndarray):
        X, images = _as_rows(matrix, images, notes)
    n, width = X.shape
    if images is not None and not isinstance(X, np.ndarray):
        require_memory(f"file {path!r}", 2.0 * n * width, fact=f"{n} pictures of {width} pixels", remedy="")
    per_row = {k: a for k, a in arrays.items() if a.ndim == 1 and len(a) == n and k not in used}
    label_key = labels if labels is not None else next((key for key in _LABEL_KEYS if key in arrays), None)
    values = None
    if label_key is not None:
        candidates = [k for k, a in arrays.items() if a.ndim == 1 and k not in used]
        require_name(label_key, candidates, what="labels")
        if len(arrays[label_key]) != n:
            fact = f"{len(arrays[label_key]):,} labels, {n:,} rows"
            raise ValueError(message(f"labels {label_key!r}", "one for each row", fact=fact))
        values = _named_labels(per_row.pop(label_key), arrays.get("target_names"))
    name_key = next((key for key in _NAME_KEYS if key in arrays and arrays[key].shape == (width,)), None)
    special = {"target_names", "feature_shape", *_NAME_KEYS}
    return Dataset(
        X,
        feature_names=None if name_key is None else clean_names(arrays[name_key].tolist()),
        labels=values,
        label_name=label_key,
        metadata={key: array for key, array in per_row.items() if key not in special},
        images=None if images is None else draw_rows(X, images),
        image_shape=images,
        source=path,
        notes=notes,
    )
