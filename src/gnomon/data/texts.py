"""Texts where a table of numbers is asked for: what they are told by, and how they become one."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from typing import Any

from gnomon._validation import message

__all__ = ["TEXTS_TO_NUMBERS", "are_sentences", "are_texts", "refuse_texts"]

TEXTS_TO_NUMBERS = (
    "Make numbers of texts first: vectorizer = sklearn.feature_extraction.text.TfidfVectorizer(), then "
    "gnomon.map(vectorizer.fit_transform(texts), feature_names=vectorizer.get_feature_names_out(), metric='cosine'); "
    "or map their embeddings by a language model."
)
"""A remedy, to go on an error."""

_LOOKED_AT = 100
_WORDS = 3
_ENDINGS = (".npy", ".npz", ".zarr", ".h5", ".hdf5", ".h5ad", ".parquet", ".csv", ".tsv", ".txt", ".dat", ".xvg", ".gz")


def are_texts(values: Iterable[Any]) -> bool:
    """Return whether the first of some values are str or bytes, and any of them of several words."""
    first = list(itertools.islice(values, _LOOKED_AT))
    return all(isinstance(one, (str, bytes)) for one in first) and any(len(one.split()) > 1 for one in first)


def are_sentences(values: Iterable[Any]) -> bool:
    """Return whether most of the first of some values are str of several words, unlike names, numbers and dates."""
    first = list(itertools.islice(values, _LOOKED_AT))
    return 2 * sum(isinstance(one, str) and len(one.split()) >= _WORDS for one in first) > len(first)


def refuse_texts(X: Any) -> None:
    """Raise TypeError if strings that stand where paths may stand are texts.

    Parameters
    ----------
    X : str, path-like, or list of these
        Texts are a string with a blank, or several strings, of which none is a file or is named as one.
    """
    several = not isinstance(X, (str, os.PathLike))
    first = list(itertools.islice(X, _LOOKED_AT)) if several else [X]
    if not all(isinstance(one, str) for one in first) or any(map(_may_be_path, first)):
        return
    if not any(len(one.split()) > 1 for one in first) and len(first) < 2:
        return
    found = f"a list of {len(X)} that begins with {first[0]!r:.40}" if several else f"{X!r:.40}"
    raise TypeError(
        message("X", "a table of numbers, or the path of one", fact=f"found texts: {found}", remedy=TEXTS_TO_NUMBERS)
    )


def _may_be_path(text: str) -> bool:
    return "://" in text or text.rstrip("/").lower().endswith(_ENDINGS) or os.path.exists(text)
