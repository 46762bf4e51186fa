"""A data set as a stream of bytes, from the process that reads a file to the one that asked for it."""

from __future__ import annotations

import io
import json
import math
import sys
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon.data.dataset import Dataset, draw_rows

__all__ = ["receive_dataset", "send_dataset"]

_KINDS = "biufcSUMm"


def send_dataset(dataset: Dataset, out: IO[bytes]) -> None:
    """Write a line of JSON that describes the data set, then the bytes of its arrays. Pictures are not sent."""
    arrays: list[npt.NDArray[Any]] = []

    def put(values: npt.NDArray[Any] | None) -> Any:
        """Return where an array is found: a number of an array, or the texts of an array of objects themselves."""
        if values is None or values.dtype.hasobject:
            return None if values is None else {"texts": values.tolist()}
        arrays.append(np.ascontiguousarray(values))
        return len(arrays) - 1

    X = dataset.X
    description = {
        "X": put(X) if isinstance(X, np.ndarray) else [put(X.data), put(X.indices), put(X.indptr), list(X.shape)],
        "feature_names": dataset.feature_names,
        "labels": put(dataset.labels),
        "label_name": dataset.label_name,
        "metadata": [[name, put(values)] for name, values in dataset.metadata.items()],
        "point_names": put(dataset.point_names),
        "image_shape": dataset.image_shape,
        "source": dataset.source,
        "notes": dataset.notes,
    }
    description["arrays"] = [[values.dtype.str, list(values.shape)] for values in arrays]
    out.write(json.dumps(description).encode() + b"\n")
    for values in arrays:
        out.write(values.reshape(-1).view(np.uint8).data)
    out.flush()


def receive_dataset(description: dict[str, Any], stream: io.BufferedReader, *, most_bytes: int) -> Dataset:
    """Read what `send_dataset` wrote, its first line already parsed.

    The sender has read a file that may be hostile, so it is believed no more than the file: sizes, types and indices
    are checked.

    Raises
    ------
    ValueError, KeyError, TypeError, EOFError
        If the stream is not what `send_dataset` writes, ends early, or has arrays of more than `most_bytes`.
    """
    arrays: list[npt.NDArray[Any]] = []
    for kind, shape in description["arrays"]:
        array = _receive_array(np.dtype(kind), tuple(shape), stream, most_bytes)
        most_bytes -= array.nbytes
        arrays.append(array)

    def take(place: Any) -> Any:
        if place is None or isinstance(place, int):
            return None if place is None else arrays[place]
        return np.array(place["texts"], dtype=object)

    X: Any = description["X"]
    if isinstance(X, list):
        matrix = sp.csr_array((take(X[0]), take(X[1]), take(X[2])), shape=tuple(X[3]))
        matrix.check_format(full_check=True)
        X = matrix
    else:
        X = take(X)
    shape = None if description["image_shape"] is None else tuple(description["image_shape"])
    return Dataset(
        X,
        feature_names=description["feature_names"],
        labels=take(description["labels"]),
        label_name=description["label_name"],
        metadata={name: take(place) for name, place in description["metadata"]},
        point_names=take(description["point_names"]),
        images=None if shape is None else draw_rows(X, shape),
        image_shape=shape,
        source=description["source"],
        notes=description["notes"],
    )


def _receive_array(
    dtype: np.dtype[Any], shape: tuple[int, ...], stream: io.BufferedReader, most_bytes: int
) -> npt.NDArray[Any]:
    n_bytes = math.prod(shape) * dtype.itemsize
    if dtype.kind not in _KINDS or min(shape, default=0) < 0 or n_bytes > most_bytes:
        raise ValueError(f"an array of type {dtype} and shape {shape}")
    content = np.empty(n_bytes, np.uint8)
    filled = 0
    while filled < n_bytes:
        piece = stream.readinto(content.data[filled:])
        if not piece:
            raise EOFError(f"{filled} of {n_bytes} bytes")
        filled += piece
    if dtype.kind == "U" and n_bytes and content.view(f"{dtype.byteorder}u4").max() > sys.maxunicode:
        raise ValueError("text with characters that do not exist")
    return content.view(dtype).reshape(shape)
