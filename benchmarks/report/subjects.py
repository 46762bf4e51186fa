"""The tables of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.large.data import recipe_of
from benchmarks.tables import Labels, is_there, load_table

__all__ = ["GROWTH", "SUBJECTS", "Subject"]


@dataclass(frozen=True)
class Subject:
    """A table: a name that `load_table` knows, or "drawn", rows drawn between near neighbours of MNIST.

    Attributes
    ----------
    data : str
    rows : int or None
        A fixed random sample of so many; None for all.
    pca : int or None
        Principal components to reduce it to; None for the table as it is.
    """

    data: str
    rows: int | None = None
    pca: int | None = None

    @property
    def name(self) -> str:
        """What the table is called in file names and on the page."""
        parts = [self.data, *([str(self.rows)] if self.rows else []), "raw" if self.pca is None else f"pca{self.pca}"]
        return "-".join(parts)

    def load(self) -> tuple[npt.NDArray[np.float32], Labels]:
        """Read or draw the table and its labels."""
        if self.data != "drawn":
            return load_table(self.data, self.rows, self.pca)
        blocks = list(recipe_of("mnist", self.pca, 0).blocks(self.rows or 1_000_000))
        return np.concatenate([rows for rows, _ in blocks]), np.concatenate([own for _, own in blocks])

    def exists(self) -> bool:
        """Whether what it is made of is there, in GNOMON_DATA or with scikit-learn."""
        return is_there("mnist" if self.data == "drawn" else self.data)

    def file(self, folder: Path, method: str) -> Path:
        """Where the runs of a method on it are kept."""
        return folder / f"{self.name}-{method}.json"


GROWTH: Sequence[Subject] = (
    *(Subject("mnist", rows, 50) for rows in (1_800, 6_000, 20_000, 70_000)),
    Subject("drawn", 1_000_000, 50),
)
"""The same kind of table, longer and longer: what a time grows with."""

SUBJECTS: Sequence[Subject] = (
    *(Subject(data, None, pca) for data in ("digits", "paul15", "pbmc4k", "cifar10_5k") for pca in (None, 50)),
    Subject("mnist", 70_000, None),
    *GROWTH,
)
"""All tables, those of the fewest rows first."""
