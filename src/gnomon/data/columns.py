"""Named columns of mixed kinds become a data set: numbers are features, the rest goes beside them."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.dataset import Dataset, draw_rows

__all__ = ["assemble", "narrowest", "note", "require_name", "text_array"]

_logger = logging.getLogger("gnomon.data")
_SHOWN = 8  # names listed in a note or an error
_LABEL_WORDS = {"label", "labels", "class", "target", "y", "cluster", "species", "category"}


def note(notes: list[str], text: str) -> None:
    """Record a decision taken in reading, and log it."""
    notes.append(text)
    _logger.info(text)


def listed(names: Iterable[object]) -> str:
    """Join the first few names."""
    shown = [repr(str(name)) for name in names]
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "")


def require_name(name: str, available: Sequence[str], *, who: str, what: str) -> None:
    """Raise ValueError unless `name` is available; the text proposes a name that is near."""
    if name in available:
        return
    near = difflib.get_close_matches(name, available, 1, 0.6)
    near = near or [other for other in available if other.lower() == name.lower()]
    remedy = f"Did you mean {near[0]!r}?" if near else ""
    fact = f"available: {listed(available)}" if available else "there are none"
    raise ValueError(message(who, f"{what}={name!r}", "one of those in the data", fact=fact, remedy=remedy))


def narrowest(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the values as float32 if that is exact, which halves the memory of counts and pixels."""
    if values.dtype != np.float64:
        return values
    with np.errstate(over="ignore"):  # what overflows differs below
        narrow = values.astype(np.float32)
    # float32 holds integers below 2**24; larger values may agree by chance but gain nothing.
    return narrow if bool((narrow == values).all()) and bool((np.abs(narrow) <= 2**24).all()) else values


def text_array(values: Sequence[str | None]) -> npt.NDArray[Any]:
    """Return texts as an array: of objects if one is missing, or if a few long ones would make all others as wide."""
    lengths = [len(value) for value in values if value is not None]
    width = max(lengths, default=0)
    uneven = width * len(values) > 2**20 + 64 * sum(lengths)
    return np.array(values, dtype=object if uneven or len(lengths) < len(values) else None)


def _whole(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numeric labels as integers if they are whole numbers."""
    if values.dtype.kind == "f" and (np.abs(values) <= 2**53).all() and (values == np.rint(values)).all():
        return values.astype(np.int64)
    return values


def assemble(
    columns: dict[str, npt.NDArray[Any]],
    *,
    who: str,
    labels: str | None,
    images: tuple[int, ...] | None,
    source: str,
    notes: list[str] | None = None,
    blocks: npt.NDArray[Any] | None = None,
    point_names: npt.NDArray[Any] | None = None,
) -> Dataset:
    """Sort columns into features, labels and metadata.

    Parameters
    ----------
    columns : dict of str to ndarray of shape (n_samples,)
        In the order of the source; float columns without missing values are features.
    who : str
        Opens an error text.
    labels : str or None
        Name of the column of labels.
    images : tuple of int or None
        Shape of a picture, if a row is one.
    source : str
        Where the columns came from.
    notes : list of str, default=None
        Decisions taken so far.
    blocks : ndarray of shape (n_samples, n_numeric), default=None
        The values of the numeric columns, in their order, if they are already side by side.
    point_names : ndarray of shape (n_samples,), default=None
        A name for each row.
    """
    notes = [] if notes is None else notes
    if labels is not None:
        require_name(labels, list(columns), who=who, what="labels")
    numeric = [name for name, values in columns.items() if values.dtype.kind in "biuf"]
    features = [name for name in numeric if name != labels]
    text = [name for name, values in columns.items() if values.dtype.kind not in "biuf" and name != labels]
    if not features:
        raise ValueError(
            message(who, f"data {source!r}", "a table with columns of numbers", fact=f"columns: {listed(columns)}")
        )
    if blocks is None:
        X = np.column_stack([columns[name] for name in features])
    else:
        keep = [j for j, name in enumerate(numeric) if name != labels]
        X = blocks if len(keep) == blocks.shape[1] else np.ascontiguousarray(blocks[:, keep])
    if text:
        note(notes, f"columns without numbers are kept as metadata: {listed(text)}")
    suspects = [name for name in features if name.lower() in _LABEL_WORDS] if labels is None else []
    if suspects:
        note(notes, f"column {suspects[0]!r} is read as a feature; if it holds labels, pass it as labels")
    X = narrowest(X)
    return Dataset(
        X,
        feature_names=features,
        labels=None if labels is None else _whole(columns[labels]),
        label_name=labels,
        metadata={name: columns[name] for name in text},
        point_names=point_names,
        images=None if images is None else draw_rows(X, images, who=who),
        image_shape=images,
        source=source,
        notes=notes,
    )
