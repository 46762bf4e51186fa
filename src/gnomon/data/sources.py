"""A path or the name of a built-in data set becomes a data set."""

from __future__ import annotations

import difflib
import os

from gnomon._validation import message
from gnomon.data.dataset import Dataset
from gnomon.data.datasets import dataset_names, load_dataset
from gnomon.data.readers import read_table

__all__ = ["open_dataset"]

_WHO = "open_dataset"


def open_dataset(
    name_or_path: str | os.PathLike[str], *, labels: str | None = None, images: tuple[int, ...] | None = None
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

    Returns
    -------
    Dataset
        See `read_table` and `load_dataset`.
    """
    text = os.fspath(name_or_path)
    name = text.replace("-", "_")
    if not os.path.exists(text) and name in dataset_names():
        dataset = load_dataset(name)
        for option, given, own in (("labels", labels, dataset.label_name), ("images", images, dataset.image_shape)):
            if given is not None and given != own:
                raise ValueError(
                    message(_WHO, f"{option}={given!r}", f"{own!r} or left out", fact=f"data set {name!r}")
                )
        return dataset
    try:
        return read_table(text, labels=labels, images=images)
    except FileNotFoundError as error:
        near = difflib.get_close_matches(name.lower(), dataset_names(), 1, 0.6)
        hint = f"A data set {near[0]!r} is built in. " if near else ""
        raise FileNotFoundError(f"{error} {hint}Data sets by name: {', '.join(dataset_names())}.") from error
