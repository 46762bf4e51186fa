"""A data set, a table with its names, labels and pictures; and how columns of mixed kinds become one."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import part
from gnomon._printed import ShortRepr, isolated
from gnomon._validation import message
from gnomon.data.arrays import may_be_rounded, whole_numbers
from gnomon.data.names import nearest_name
from gnomon.data.representation import Reduction, Representation
from gnomon.data.written import is_missing_text, read_dates

if TYPE_CHECKING:
    from gnomon.data.columns import ColumnRule

__all__ = [
    "LABEL_WORDS",
    "TEXT_NOTE",
    "Dataset",
    "as_dates",
    "assemble",
    "draw_rows",
    "first_few",
    "listed",
    "note",
    "refuse_gaps",
    "require_name",
    "require_names",
    "text_array",
]

_logger = logging.getLogger("gnomon.data")
_SHOWN = 8  # names listed in a note or an error
_MISSING = 5  # missing names listed in an error
_DRAWN = 256  # pictures drawn at a time, so that they stay in a cache
LABEL_WORDS = {"label", "labels", "class", "target", "y", "cluster", "species", "category"}
"""Names of columns that hold labels more often than features."""
TEXT_NOTE = "columns without numbers are kept as metadata"


@dataclass(frozen=True)
class Dataset(ShortRepr):
    """A table read from a file or fetched.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The numbers as stored (uint8 pictures stay uint8).
    feature_names : list of str, or None
        Names of the columns of `X`.
    labels : ndarray of shape (n_samples,), or None
        A label for each row.
    label_name : str or None
        What the labels are called in the source.
    metadata : dict of str to ndarray of shape (n_samples,)
        Columns that are not features: text, dates, annotations.
    point_names : ndarray of shape (n_samples,), or None
        A name for each row, such as a file name or a cell's bar code.
    images : ndarray of shape (n_samples, height, width) or (n_samples, height, width, 3), uint8, or None
        A picture of each row.
    image_shape : tuple of int, or None
        Shape of one picture if the features of a row are its pixels.
    source : str
        Where the data came from.
    notes : list of str
        What was decided in reading, such as columns left out of `X`.
    text_columns : list of str, or None
        Columns of the table that hold no numbers, which are in `metadata` until `gnomon.map` has told what becomes of
        them. None where the features are final.
    text_places : list of int
        The place of each of `text_columns` among all columns of the source, in whose order features come.
    columns : list of ColumnRule, or None
        What became of the columns of the source, if some are no numbers; see `gnomon.TablePreprocessor`.
    representation : Representation, Reduction or None
        In which neighbours are found and a map is made instead of `X`, such as the principal components of single
        cells; or that they are to be computed.
    target : ndarray of shape (n_samples,), or None
        What a map is to follow beside the features.
    target_name : str
        What the target is called.
    distances : csr_array of shape (n_samples, n_samples) or None
        Distances to the neighbours of each row, if a map is to be made of them.
    metric : str
        That of `distances`.
    decimal : str
        The decimal sign of the numbers in the source, "." or ","; empty if it is not told.
    truth_columns : list of str
        Those of the features that are True and False in the source.
    part : str
        The part of an AnnData object that `X` is, by its place in an h5ad file: "X", "layers/counts", "raw/X" or
        "obsm/protein". Empty where the source is none.
    integers : dict of str to ndarray of shape (n_samples,)
        Columns of `X` of whole numbers beyond 2^53, such as identifiers, as they came: floating point rounds them.
    depth : ndarray of shape (n_samples,), float64, or None
        Counts that were read of each cell, if an AnnData object tells them: a map that shows little else is warned of.
    """

    X: npt.NDArray[Any] | scipy.sparse.csr_array
    feature_names: list[str] | None = None
    labels: npt.NDArray[Any] | None = None
    label_name: str | None = None
    metadata: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    point_names: npt.NDArray[Any] | None = None
    images: npt.NDArray[np.uint8] | None = None
    image_shape: tuple[int, ...] | None = None
    source: str = ""
    notes: list[str] = field(default_factory=list)
    text_columns: list[str] | None = None
    text_places: list[int] = field(default_factory=list)
    columns: list[ColumnRule] | None = None
    representation: Representation | Reduction | None = None
    target: npt.NDArray[Any] | None = None
    target_name: str = ""
    distances: scipy.sparse.csr_array | None = None
    metric: str = "euclidean"
    decimal: str = ""
    truth_columns: list[str] = field(default_factory=list)
    part: str = ""
    integers: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    depth: npt.NDArray[np.float64] | None = None

    @property
    def name(self) -> str:
        """Short name: the last part of the source."""
        return os.path.basename(os.path.normpath(self.source)) if self.source else ""

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def in_order(self, names: Sequence[str]) -> list[str]:
        """Return names of the columns of `X` and those of `text_columns` in the order of the source.

        Parameters
        ----------
        names : sequence of str
            Names of the columns of `X`.
        """
        ordered, texts = list(names), self.text_columns or []
        if len(self.text_places) != len(texts):
            return [*ordered, *texts]
        for place, name in sorted(zip(self.text_places, texts, strict=True)):
            ordered.insert(place, name)
        return ordered


@part("read_table")
def draw_rows(X: npt.NDArray[Any] | scipy.sparse.csr_array, shape: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """Show every row as a picture.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        Pixels row by row, the three colours of a pixel together. The smallest value of the table becomes black and
        the largest white; uint8 is shown as it is. Missing values are black, infinite ones black or white.
    shape : tuple (height, width) or (height, width, 3)
        Shape of a picture, with n_features pixels.

    Returns
    -------
    ndarray of shape (n_samples, height, width) or (n_samples, height, width, 3), uint8
        A view of `X` where it is uint8.
    """
    shape = tuple(int(size) for size in shape)
    text = " x ".join(map(str, shape))
    if len(shape) not in (2, 3) or min(shape) < 1 or (len(shape) == 3 and shape[2] not in (1, 3)):
        raise ValueError(message(f"image shape {text}", "height x width or height x width x 3"))
    if math.prod(shape) != X.shape[1]:
        fact = f"{math.prod(shape)} pixels, {X.shape[1]} features"
        raise ValueError(message(f"image shape {text}", "that of a row", fact=fact))
    if len(shape) == 3 and shape[2] == 1:
        shape = shape[:2]
    if isinstance(X, np.ndarray) and X.dtype == np.uint8:
        return X.reshape(len(X), *shape)
    low, high = _range(X if isinstance(X, np.ndarray) else X.data)
    if not isinstance(X, np.ndarray) and X.nnz < math.prod(X.shape):
        low, high = min(low, 0.0), max(high, 0.0)
    scale = 255.0 / (high - low) if high > low else 0.0
    pictures = np.empty(X.shape, np.uint8)
    for start in range(0, len(pictures), _DRAWN):
        rows = X[start : start + _DRAWN]
        grey = np.multiply(rows if isinstance(rows, np.ndarray) else rows.toarray(), 0.5, dtype=np.float64)
        grey -= low
        grey *= scale
        if not np.isfinite(grey.sum()):
            np.nan_to_num(grey, copy=False, nan=0.0, posinf=255.0, neginf=0.0)
        np.rint(np.clip(grey, 0.0, 255.0, out=grey), out=grey)
        pictures[start : start + _DRAWN] = grey
    return pictures.reshape(len(pictures), *shape)


def _range(values: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the smallest and the largest of the finite values, halved: the difference of two halves is finite."""
    if not values.size:
        return 0.0, 0.0
    low, high = float(values.min()), float(values.max())
    if math.isfinite(low) and math.isfinite(high):  # then all are: NaN would be both
        return low / 2, high / 2
    low, high = np.inf, -np.inf
    flat = values.reshape(-1)  # a view, for tables in row order
    for start in range(0, len(flat), 2**20):
        block = flat[start : start + 2**20].astype(np.float64) / 2
        finite = block[np.isfinite(block)]
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    return (low, high) if low <= high else (0.0, 0.0)


def note(notes: list[str], text: str) -> None:
    """Record a decision taken in reading, and log it."""
    notes.append(text)
    _logger.info(text)


def listed(names: Iterable[object]) -> str:
    """Join the first few names."""
    return first_few(repr(str(name)) for name in names)


def first_few(
    texts: Iterable[str], most: int = _SHOWN, *, of: str = "", between: str = ", ", before: str = " and"
) -> str:
    """Join the first few texts, and say how many more there are.

    Of several each that has letters written from the right keeps its direction to itself, so that the first stands
    first.

    Parameters
    ----------
    texts : iterable of str
    most : int, default=8
        How many are shown.
    of : str, default=""
        What they are, for the others: "column" for "1 more column" and "2 more columns".
    between, before : str
        What stands between texts, and before the number of others.
    """
    shown = [*texts]
    if len(shown) > 1:
        shown[:most] = map(isolated, shown[:most])
    n_others = len(shown) - most
    if n_others <= 0:
        return between.join(shown)
    unit = f" {of}{'' if n_others == 1 else 's'}" if of else ""
    return f"{between.join(shown[:most])}{before} {n_others:,} more{unit}"


def refuse_gaps(path: str, fact: str) -> NoReturn:
    """Raise ValueError for a file with empty cells among numbers, and say how a map is made of it all the same."""
    remedy = (
        f"Pass missing='keep', and gnomon.map fills them in: gnomon.map(gnomon.read_table({path!r}, missing='keep'))"
    )
    remedy += ", as `gnomon map` does by itself; or leave these rows or columns out."
    raise ValueError(message(f"file {path!r}", "without missing values", fact=fact, remedy=remedy))


def require_name(name: str, available: Sequence[str], *, what: str, where: str = "in the data") -> None:
    """Raise ValueError unless `name` is available `where`; the text proposes a name that is near."""
    require_names([name], available, what=what, where=where)


def require_names(names: Iterable[str], available: Sequence[str], *, what: str, where: str = "in the data") -> None:
    """Raise ValueError unless all `names` are available `where`; the text has those that are not, and near names."""
    known = {*available}
    gone = [name for name in dict.fromkeys(names) if name not in known]
    if not gone:
        return
    near = {name: other for name in gone[:_MISSING] if (other := nearest_name(name, available))}
    single = len(gone) == 1
    told = [repr(other) if single else f"{other!r} for {name!r}" for name, other in near.items()]
    remedy = f"Did you mean {', '.join(told)}?" if told else ""
    fact = f"available: {listed(available)}" if available else "there are none"
    shown = first_few(map(repr, gone), _MISSING)
    rule = f"{'one of' if single else 'among'} those {where}"
    raise ValueError(message(f"{what}={shown}", rule, fact=fact, remedy=remedy))


def _narrowest(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
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


def as_dates(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return texts as dates where all of them are written so, NaT where one is missing; else what came."""
    if values.dtype.kind not in "OU":
        return values
    dates = read_dates(["" if value is None or is_missing_text(value) else str(value) for value in values.tolist()])
    return values if dates is None else dates


def assemble(
    columns: dict[str, npt.NDArray[Any]],
    *,
    labels: str | None,
    images: tuple[int, ...] | None,
    source: str,
    notes: list[str] | None = None,
    blocks: npt.NDArray[Any] | None = None,
    point_names: npt.NDArray[Any] | None = None,
    typed: bool = False,
    integers: dict[str, npt.NDArray[Any]] | None = None,
) -> Dataset:
    """Sort columns into features, labels and metadata.

    Parameters
    ----------
    columns : dict of str to ndarray of shape (n_samples,)
        In the order of the source; float columns without missing values are features.
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
    typed : bool, default=False
        Whether the columns came with types, which then decide the precision; numbers of texts are float32 if that is
        exact.
    integers : dict of str to ndarray of shape (n_samples,), default=None
        Columns that are floats here and whose whole numbers these round, as they came; those of integers are kept too.
    """
    columns = {name: as_dates(values) for name, values in columns.items()}
    notes = [] if notes is None else notes
    if labels is not None:
        require_name(labels, list(columns), what="labels")
    numeric = [name for name, values in columns.items() if values.dtype.kind in "biuf"]
    features = [name for name in numeric if name != labels]
    text = [name for name, values in columns.items() if values.dtype.kind not in "biuf" and name != labels]
    others = {name: place for place, name in enumerate(name for name in columns if name != labels)}
    if not features and (not text or images is not None):
        raise ValueError(
            message(f"data {source!r}", "a table with columns of numbers", fact=f"columns: {listed(columns)}")
        )
    if not features:
        X = np.empty((len(columns[text[0]]), 0))
    elif blocks is None:
        X = np.column_stack([columns[name] for name in features])
    else:
        keep = [j for j, name in enumerate(numeric) if name != labels]
        X = blocks if len(keep) == blocks.shape[1] else np.ascontiguousarray(blocks[:, keep])
    if text:
        note(notes, f"{TEXT_NOTE}: {listed(text)}")
    suspects = [name for name in features if name.lower() in LABEL_WORDS] if labels is None else []
    if suspects:
        note(notes, f"column {suspects[0]!r} is read as a feature; if it holds labels, pass it as labels")
    X = X if typed else _narrowest(X)
    whole = {name: columns[name] for name in numeric if columns[name].dtype.kind in "iu"}
    whole = {name: values for name, values in whole.items() if may_be_rounded(values)} | (integers or {})
    return Dataset(
        X,
        feature_names=features,
        labels=None if labels is None else whole_numbers(whole.pop(labels, columns[labels])),
        label_name=labels,
        metadata={name: columns[name] for name in text},
        point_names=point_names,
        images=None if images is None else draw_rows(X, images),
        image_shape=images,
        source=source,
        notes=notes,
        text_columns=None if images is not None else text,
        text_places=[] if images is not None else [others[name] for name in text],
        truth_columns=[name for name in features if columns[name].dtype.kind == "b"],
        integers=whole,
    )
