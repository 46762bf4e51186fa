"""What a report is of: a map, and all that was found out about it, each computed when a section first asks for it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from gnomon._cached import cached_property
from gnomon._files import file_checksum
from gnomon.evaluation.words import Statement, verdict

__all__ = ["Section", "Subject"]

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes
    ----------
    title : str
    body : Markup
        What it says.
    """

    title: str
    body: str


@dataclass
class Subject:
    """A map and what is to be said of it.

    Attributes
    ----------
    map : gnomon.Map
    card : gnomon.evaluation.Scorecard or None
        Its scorecard; None takes it, unless the map lies on a surface.
    stability : gnomon.evaluation.MapStability or None
    verdicts : sequence of gnomon.evaluation.Verdict
    nulls : gnomon.evaluation.NullScores or None
    files : sequence of str
        Files to name with their checksum.
    command : str
        By which the map was made, if one is known.
    """

    map: Any
    card: Any = None
    stability: Any = None
    verdicts: Sequence[Any] = ()
    nulls: Any = None
    files: Sequence[str | os.PathLike[str]] = field(default=())
    command: str = ""

    @cached_property
    def scorecard(self) -> Any:
        """The scorecard; None on a surface, where distances are not straight."""
        if self.card is not None or self.map.surface is not None:
            return self.card
        return self.map.scorecard()

    @cached_property
    def explanation(self) -> Any:
        """What moves points: by groups of collinear features, by pixel where rows are pictures."""
        return self.map.explain() if self.groups is None else self.groups.explanation

    @cached_property
    def groups(self) -> Any:
        """Groups of collinear features; None where rows are pictures."""
        return self.map.feature_groups() if self.map.image_shape is None else None

    @cached_property
    def scores(self) -> dict[str, float]:
        """All measures by name: those of the scorecard, else of the evaluation."""
        if self.scorecard is None:
            found: dict[str, float] = self.map.evaluate().scores()
            return found
        return {name: one.value for name, one in self.scorecard.items()}

    @cached_property
    def chances(self) -> dict[str, float | None]:
        """What a map that knows nothing gets, by the names of `scores`."""
        if self.scorecard is None:
            return dict(self.map.evaluate().random_map)
        return {name: one.chance for name, one in self.scorecard.items()}

    @cached_property
    def verdict(self) -> list[Statement]:
        """How far the map can be believed, in sentences."""
        taken = self.map.evaluate() if self.scorecard is None else self.scorecard
        return verdict(self.scores, self.chances, taken.n_neighbors, self.group_distances)

    @property
    def group_distances(self) -> float | None:
        """How much longer one distance between groups is drawn than another as long; None if that is not known."""
        found: float | None = self.map.evaluate().group_distances
        return found

    @cached_property
    def table_checksum(self) -> str:
        """SHA-256 of the table: its shape and its values as little-endian float64, row by row, none left out."""
        X = self.map.X
        digest = hashlib.sha256(f"{X.shape[0]},{X.shape[1]};".encode())
        step = max(1, _CHUNK // max(1, X.shape[1]))
        for start in range(0, X.shape[0], step):
            rows = X[start : start + step]
            dense = rows.toarray() if hasattr(rows, "toarray") else rows
            digest.update(np.ascontiguousarray(dense, dtype="<f8").tobytes())
        return digest.hexdigest()

    @cached_property
    def n_duplicates(self) -> int:
        """Rows that are equal to an earlier one."""
        X = self.map.X
        if hasattr(X, "tocsr"):
            rows = X.tocsr()
            rows.sort_indices()
            ends = rows.indptr
            seen = {(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in pairwise(ends)}
            return int(X.shape[0]) - len(seen)
        return int(X.shape[0]) - len({row.tobytes() for row in np.ascontiguousarray(X)})

    def checksums(self) -> list[tuple[str, str]]:
        """Return the names of `files` and the SHA-256 of each."""
        return [(os.path.basename(os.fspath(path)), file_checksum(path)) for path in self.files]
