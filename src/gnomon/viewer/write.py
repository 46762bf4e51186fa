"""write_html: the one function of the room."""

from __future__ import annotations

import os
from collections.abc import Mapping
from collections.abc import Sequence as Items
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._files import atomic_write
from gnomon.viewer.document import Document
from gnomon.viewer.page import page_parts
from gnomon.viewer.preview import preview_png
from gnomon.viewer.sequence import Sequence

__all__ = ["write_html"]


def write_html(
    path: str | os.PathLike[str],
    *,
    embedding: npt.ArrayLike,
    title: str = "gnomon map",
    method: str = "",
    labels: Items[Any] | npt.NDArray[Any] | None = None,
    label_name: str = "",
    feature_names: Items[str] | None = None,
    X: Any = None,
    images: npt.NDArray[np.uint8] | None = None,
    image_shape: tuple[int, ...] | None = None,
    explanation: Any = None,
    evaluation: Any = None,
    profiles: Mapping[Any, Items[tuple[Any, float, float]]] | None = None,
    captions: Mapping[str, str] | None = None,
    point_names: Items[object] | None = None,
    metadata: Mapping[str, Any] | None = None,
    info: Mapping[str, object] | None = None,
    sequence: Sequence | None = None,
    byte_budget: int = 64 << 20,
) -> None:
    """Write a map as one HTML file that opens from disk and asks the network for nothing.

    Parameters
    ----------
    path : str or path-like
        Written atomically: a reader sees the old file or the whole new one.
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions; rows that are not finite are listed in a tray. Above 1,000,000 rows a sample is shown, every class
        in proportion, and the page says so.
    title, method : str
        Plain text.
    labels : array of shape (n_samples,), default=None
        Classes (text, integers, categories) or measured numbers.
    label_name : str, default=""
        What the labels are.
    feature_names : sequence of n_features str, default=None
        Names of the columns of X.
    X : ndarray or CSR of shape (n_samples, n_features), default=None
        Feature values; stored as one byte each (exact for integers in 0..255, else 256 quantile levels).
    images : uint8 array of shape (n_samples, height, width) or (n_samples, height, width, 3), default=None
        Thumbnails.
    image_shape : tuple (height, width) or (height, width, channels), default=None
        The features are pixels of such pictures.
    explanation : object, default=None
        Has ``r2``, ``ellipses``, ``global_importance`` and ``top_features(n)`` with ``indices``, ``arrows`` and
        ``importance``, as `gnomon.explain` returns. With its ``jacobians`` and ``graph`` the page can say of all
        features what they do to a pinned point, and find ways through the data; with its ``distortion`` it colours by
        area, anisotropy and tears.
    evaluation : object, default=None
        Has scores (``trustworthiness`` ...) and ``per_point``, as `gnomon.evaluate` returns.
    profiles : dict of label to list of (feature, effect size, AUC), default=None
        What sets each class apart; computed in the page from the feature values if not given.
    captions : dict of label to str, default=None
        A few words that tell each class from the others, shown under its name.
    point_names : sequence of n_samples str, default=None
        Shown on hover and searched.
    metadata : dict of str to array of shape (n_samples,), default=None
        Further columns to show on hover, to search and to colour by.
    info : dict, default=None
        Shown under "About this map": parameters, seed, timings.
    sequence : gnomon.viewer.Sequence, default=None
        Embeddings of the same points along a parameter, of which ``sequence.main`` is `embedding`: the page gets a
        slider that moves the points from one to the next.
    byte_budget : int, default=64 MiB
        Bytes for feature values; over it the most important features are kept.

    Raises
    ------
    ValueError
        If an argument does not fit the embedding; nothing is written then.
    """
    if sequence is not None:
        of_main = sequence.facts(sequence.main)
        explanation = of_main[0] if explanation is None else explanation
        evaluation = of_main[1] if evaluation is None else evaluation
    document = Document(embedding, labels, label_name)
    document.add_metadata(metadata)
    document.add_point_names(point_names)
    importance = None if explanation is None else np.asarray(explanation.global_importance)
    table = _as_table(X)
    complete = document.add_features(table, feature_names, image_shape, importance=importance, byte_budget=byte_budget)
    document.add_images(images, table, image_shape, values_included=complete)
    document.add_explanation(explanation)
    document.add_evaluation(evaluation)
    document.add_sequence(sequence, embedding)
    document.add_profiles(profiles)
    document.payload.header["captions"] = {str(label): str(text) for label, text in (captions or {}).items()}
    subtitle = " · ".join(filter(None, [method, f"{document.n_samples:,} points"]))
    document.payload.header |= {
        "title": title,
        "method": method,
        "samples": document.n_samples,
        "info": [[str(name), str(value)] for name, value in (info or {}).items()],
        "notes": document.notes,
    }
    picture = preview_png(document.embedding, document.colors)
    with atomic_write(path, "w") as page:
        page.writelines(page_parts(document.payload.parts(), title=title, subtitle=subtitle, preview=picture))


def _as_table(X: Any) -> Any:
    if X is None or hasattr(X, "tocsc"):
        return X
    table = np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "biuf":
        raise ValueError(
            f"write_html: X of shape {table.shape} and type {table.dtype} must be a table of numbers. Pass a 2-D array."
        )
    return table.view(np.uint8) if table.dtype == np.bool_ else table
