"""The columns of a table as they came, and those that a person names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.arrays import unmasked
from gnomon.data.dataset import require_name
from gnomon.data.frames import Frame, is_frame, read_frame
from gnomon.data.labels import of_categories
from gnomon.data.names import default_names

__all__ = ["RawColumn", "asked_columns", "columns_of_frame", "raw_columns"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class RawColumn:
    """A column as it came: its values, its categories if they are ordered, what it was said to hold, all categories."""

    values: Array
    ordered: tuple[Any, ...] = ()
    boolean: bool = False
    category: bool = False
    categories: tuple[Any, ...] = ()

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.values.dtype.kind in "biuf"

    @property
    def labels(self) -> Array:
        """Its values, with the order of their categories if it has some."""
        return of_categories(self.values, self.categories)


def raw_columns(X: Any) -> dict[str, RawColumn]:
    """Return the columns of a data frame, a mapping or an array by name, as they came."""
    if isinstance(X, Mapping):
        arrays = {str(name): np.asarray(unmasked(values, name=f"X[{name!r}]")) for name, values in X.items()}
        return {name: RawColumn(values, boolean=values.dtype.kind == "b") for name, values in arrays.items()}
    if not is_frame(X):
        values = np.asarray(X)
        if values.ndim != 2:
            raise ValueError(message(f"X of shape {values.shape}", "two-dimensional"))
        return {name: RawColumn(values[:, j]) for j, name in enumerate(default_names(values.shape[1]))}
    return columns_of_frame(read_frame(X))


def columns_of_frame(frame: Frame) -> dict[str, RawColumn]:
    """Return the columns of a data frame that was read, by name or by number."""
    names = frame.names or [str(j) for j in range(len(frame.columns))]
    unordered = [kind.startswith("Categorical") for kind in frame.kinds]
    parts = zip(frame.columns, frame.orders, frame.booleans, unordered, frame.categories, strict=True)
    return {name: RawColumn(*part) for name, part in zip(names, parts, strict=True)}


def asked_columns(what: str, names: Sequence[Any] | None, columns: Iterable[str]) -> list[str] | None:
    """Return columns that are asked for by their names, or by their number where they have no names."""
    if names is None:
        return None
    if isinstance(names, str):
        raise TypeError(message(f"{what}={names!r}", "a sequence of names", remedy=f"Pass {what}=[{names!r}]."))
    available = list(columns)
    numbered = {str(j): name for j, name in enumerate(available)} if available == default_names(len(available)) else {}
    found = [numbered.get(str(name), str(name)) for name in names]
    for name in found:
        require_name(name, available, what=what)
    return found
