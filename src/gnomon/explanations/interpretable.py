"""Features that people can read: metadata as numbers, and explanations in their terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Integer, check_parameters, message
from gnomon.data.arrays import is_missing
from gnomon.data.columns import MOST_CATEGORIES, ColumnRule, find_rules, raw_columns
from gnomon.data.columns.raw import RawColumn
from gnomon.data.columns.values import plain_column, texts_of
from gnomon.data.labels import sort_into_classes
from gnomon.data.scaling import fit_scaling
from gnomon.explanations.explanation import explain_in_memory
from gnomon.geometry.check import check_features
from gnomon.linalg.table import float_rows
from gnomon.neighbors import NeighborGraph, compute_neighbors

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = ["N_NEIGHBORS", "encode_features", "explain_with_features", "read_features", "texts_and_categories"]

N_NEIGHBORS = 60
"""Neighbours that `explain_with_features` takes by default."""

_TOKEN = r"(?u)\b\w\w+\b"  # two or more letters, digits or underscores
_MAX_WORDS = 200
_MIN_ROWS = 5
_RULES = {"max_categories": Integer(2), "max_words": Integer(1), "min_rows": Integer(1)}


@entrance("encode_features")
def encode_features(
    metadata: Any, *, max_categories: int = MOST_CATEGORIES, max_words: int = _MAX_WORDS, min_rows: int = _MIN_ROWS
) -> tuple[Any, list[str]]:
    """Turn columns about the rows into numbers with names that can be read, to explain a map with.

    Columns become what they become in `gnomon.map`, under the same names, but that none is left out:

    - Numbers stay as they are, in their units. True or False becomes 1 or 0, a date the time since the first, a rank
      its place.
    - A column of texts with at most `max_categories` different ones, and two rows for each on the mean, becomes one
      feature for each, "NAME = text", 1 where the row has it; of two texts the second alone.
    - A column of one text or truth value and blanks, in at least one row of 20, becomes 1 and 0.
    - Any other column of texts becomes a bag of words: one feature for each word, "NAME: word", 1 where the text
      has it. Texts are put in lower case; a word is two or more letters, digits or underscores in a row. The words of
      most rows are kept, at most `max_words`, each in at least `min_rows` rows and not in all.
    - Where a number, date or category is missing, its features are at their means, and one more, "NAME missing", is 1.

    Parameters
    ----------
    metadata : mapping of str to array-like of shape (n_samples,), or data frame
        For instance ``Map.metadata``.
    max_categories : int >= 2, default=30
        Different texts up to which a column is one of categories.
    max_words : int >= 1, default=200
        Words kept of a column of texts.
    min_rows : int >= 1, default=5
        Rows that a word must be in.

    Returns
    -------
    Z : ndarray or csr_array of shape (n_samples, n_features), float64
        Sparse if there are words.
    names : list of str
    """
    given = {"max_categories": max_categories, "max_words": max_words, "min_rows": min_rows}
    checked = check_parameters(_RULES, given)
    columns = _columns_of(metadata)
    parts: list[Any] = []
    names: list[str] = []
    for rule in find_rules(columns, None, None, checked["max_categories"], allow_none=True):
        part, own = _encode(rule, columns[rule.name], checked)
        parts.append(part)
        names += own
    if not names:
        raise ValueError(message(f"metadata with {len(columns)} columns", "such that a feature comes of it"))
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts, axis=1), names
    import scipy.sparse as sp

    return sp.csr_array(sp.hstack([sp.csr_array(part) for part in parts])), names


def read_features(features: Any, feature_names: Any = None) -> tuple[Any, list[str]]:
    """Return a table of features and their names from what people have about the rows.

    Parameters
    ----------
    features : array-like, sparse matrix or data frame of shape (n_samples, n_features), mapping, or sequence of str
        Numbers stay as they are. One text for each row becomes a bag of words, named by the words alone; a mapping, and
        a data frame with columns that are no numbers, become features as by `encode_features`.
    feature_names : sequence of n_features str, default=None
        Names of columns of numbers; None takes those of a data frame.

    Returns
    -------
    Z : ndarray or csr_array of shape (n_samples, n_features)
    names : list of str
    """
    texts = _texts_of(features)
    if texts is None and not isinstance(features, Mapping) and not _has_other_columns(features):
        return check_features(features, feature_names, name="features")
    if feature_names is not None:
        fact = "words and columns name themselves"
        raise ValueError(message("feature_names", "None for texts and columns of several kinds", fact=fact))
    if texts is None:
        return encode_features(features)
    counts, words = _words("", texts, _MAX_WORDS, _MIN_ROWS)
    if not words:
        fact = f"no word is in {_MIN_ROWS} of them and not in all"
        raise ValueError(message(f"features of {len(texts)} texts", "texts with words in common", fact=fact))
    return counts, words


def _texts_of(features: Any) -> list[str] | None:
    """Return one text for each row if that is what was given, empty where it is missing; else None."""
    if isinstance(features, (str, Mapping)) or hasattr(features, "columns") or np.ndim(features) != 1:
        return None
    values = np.asarray(features, dtype=object).tolist()
    texts = ["" if is_missing(value) else value for value in values]
    return texts if all(isinstance(text, str) for text in texts) and any(texts) else None


def _has_other_columns(features: Any) -> bool:
    """Say whether it is a data frame of which a column is neither of numbers nor of truth values."""
    if not hasattr(features, "columns"):
        return False
    return any(np.asarray(features[name]).dtype.kind not in "biuf" for name in features.columns)


def texts_and_categories(features: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a mapping or a data frame that are no numbers, as they came; of anything else none."""
    if not isinstance(features, Mapping) and not _has_other_columns(features):
        return {}
    columns = {name: raw for name, raw in _columns_of(features).items() if not raw.numeric}
    return {name: plain_column(raw.labels) for name, raw in columns.items()}


def _columns_of(metadata: Any) -> dict[str, RawColumn]:
    if not isinstance(metadata, Mapping) and not hasattr(metadata, "columns"):
        raise TypeError(message(f"metadata of type {type(metadata).__name__}", "a mapping or a data frame"))
    columns = raw_columns(metadata)
    shapes = {name: raw.values.shape for name, raw in columns.items()}
    lengths = {shape[0] if len(shape) == 1 else -1 for shape in shapes.values()}
    if len(lengths) != 1 or -1 in lengths or 0 in lengths:
        found = ", ".join(f"{name!r} {shape}" for name, shape in shapes.items())
        raise ValueError(message("metadata", "columns of one length", fact=found or "there are none"))
    return {name: replace(raw, values=_numbers_or_texts(raw.values)) for name, raw in columns.items()}


def _numbers_or_texts(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a column of objects as numbers if all that are known are; else lists and the like become texts."""
    if values.dtype.kind == "O":
        present = [value for value in values.tolist() if not is_missing(value)]
        if present and all(isinstance(value, (int, float)) for value in present):
            return np.array([np.nan if is_missing(value) else float(value) for value in values.tolist()])
    return plain_column(values)


def _encode(rule: ColumnRule, raw: RawColumn, limits: dict[str, int]) -> tuple[Any, list[str]]:
    name = rule.name
    if not rule.features and raw.numeric:  # an identifier in a table, but asked for here
        rule = ColumnRule(name, "number", (name,))
    elif not rule.features:
        classes = sort_into_classes(raw.values)
        many = len(classes) > limits["max_categories"]
        if many or 2 * len(classes) > int(classes.labelled.sum()) + 2:
            counts, words = _words(name, texts_of(raw.values), limits["max_words"], limits["min_rows"])
            if many or words:
                return counts, words
        shown = classes.names[1:] if len(classes) == 2 else classes.names
        rule = ColumnRule(name, "category", tuple(f"{name} = {text}" for text in shown), tuple(classes.values))
    table = rule.encode(raw.values, keep_missing=True).astype(np.float64)
    known = np.isfinite(table)
    if rule.kind == "category" and len(rule.categories) == 1:
        table[known] = 1.0
    for j in range(table.shape[1]):
        table[~known[:, j], j] = table[known[:, j], j].mean() if known[:, j].any() else 0.0
    missing = ~known.all(axis=1) if rule.features else np.ones(len(table), dtype=np.bool_)
    if not missing.any():
        return table, list(rule.features)
    return np.column_stack([table, missing.astype(np.float64)]), [*rule.features, f"{name} missing"]


def _words(name: str, texts: list[str], max_words: int, min_rows: int) -> tuple[Any, list[str]]:
    from sklearn.feature_extraction.text import CountVectorizer

    try:
        counter = CountVectorizer(token_pattern=_TOKEN, binary=True, min_df=min_rows)
        counts = counter.fit_transform(texts).astype(np.float64)
    except ValueError:  # no word is in enough texts
        return np.zeros((len(texts), 0)), []
    rows = np.asarray(counts.sum(axis=0)).ravel()
    order = np.argsort(-rows, kind="stable")
    kept = np.sort(order[rows[order] < len(texts)][:max_words])
    words = counter.get_feature_names_out()[kept]
    return counts.tocsr()[:, kept], [f"{name}: {word}" if name else word for word in words.tolist()]


@entrance("explain_with_features")
def explain_with_features(
    X: Any,
    Y: Any,
    features: Any,
    *,
    feature_names: Any = None,
    n_neighbors: int = N_NEIGHBORS,
    graph: NeighborGraph | None = None,
    metric: str = "euclidean",
    n_jobs: int | None = None,
) -> Explanation:
    """Explain an embedding of data whose features mean nothing by other features of the same rows.

    The neighbours, and so what counts as near, come from the data; the displacements in the map are fitted by the
    given features: metadata, categories, words (see `encode_features`). All questions can then be asked in their terms.
    Of the features the map has never seen, so a high R2 says that they tell what the map shows, not what made it.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_columns)
        The data that were mapped, such as embeddings of texts.
    Y : array-like of shape (n_samples, n_components)
        The map.
    features : array-like, sparse matrix or data frame of shape (n_samples, n_features), mapping, or sequence of str
        What to explain with. A mapping, and a data frame with columns that are no numbers, become features as by
        `encode_features`; one text for each row becomes a bag of words. They are fitted in standard deviations, so that
        units do not matter; values and axes of the answer are in units of the features.
    feature_names, graph, metric, n_jobs
        As in `gnomon.explain`; the graph is of the neighbours in X.
    n_neighbors : int >= 2, default=60
        More than `gnomon.explain` takes: among a few near rows metadata and words are mostly chance.

    Returns
    -------
    Explanation
        Of the map by `features`.
    """
    values, _ = check_features(X, None)
    given, names = read_features(features, feature_names)
    given = given.astype(np.float64)
    if given.shape[0] != values.shape[0]:
        raise ValueError(
            message(f"X with {values.shape[0]:,} rows and features with {given.shape[0]:,}", "of the same length")
        )
    if graph is None:
        graph = compute_neighbors(float_rows(values), min(n_neighbors, values.shape[0] - 1), metric=metric)
    scale = fit_scaling(given, "standard")
    return explain_in_memory(
        given, Y, n_neighbors=n_neighbors, graph=graph, feature_names=names, scale=scale, n_jobs=n_jobs
    )
