"""What a map alone can show, in words and small pictures: what its page tells and its file keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._printed import ShortRepr
from gnomon.linalg import principal_components, procrustes, project_rows
from gnomon.linalg.table import evenly_spaced
from gnomon.twins.changes import Floats
from gnomon.twins.proof import Proof
from gnomon.twins.result import BlindSpots, Twin

__all__ = ["MapAlone", "TwinPicture"]

_MOST_ROWS = 400  # of a picture, beside the changed ones where these are few
_FEW = 20
_MOST_PICTURES = 3  # of blind spots
_MOST_CHANGES = 24  # told of blind spots
_LEVELS = 255
_PLANES = ("table", "other", "map", "other_map")


@dataclass(frozen=True)
class TwinPicture:
    """A table, another with the same map, and both maps, as positions of some rows in whole numbers to 255.

    Attributes
    ----------
    told : str
        How the other table differs, in words.
    disparity : float
        Of the two maps.
    table, other : list of int
        x and y of each row in turn, along the two principal components of both tables together, in one scale.
    map, other_map : list of int
        The same of the maps, the second laid over the first.
    changed : list of int
        Which rows of the picture differ between the tables.
    """

    told: str
    disparity: float
    table: list[int]
    other: list[int]
    map: list[int]
    other_map: list[int]
    changed: list[int]

    @classmethod
    def of(cls, X: Floats, embedding: npt.NDArray[Any], twin: Twin) -> Self:
        """Draw a table and its map beside a twin."""
        differs = (twin.table != X).any(axis=1)
        rows = evenly_spaced(len(X), _MOST_ROWS)
        if differs.sum() <= _FEW:
            rows = np.union1d(rows, np.flatnonzero(differs))
        both = np.vstack([X, twin.table])
        axes = principal_components(both, min(2, both.shape[1]))
        placed = project_rows(both, axes.mean, axes.components)
        tables = _whole(_two_columns(placed).reshape(2, len(X), 2)[:, rows])
        laid = procrustes(twin.embedding, embedding).apply(twin.embedding)
        maps = _whole(np.stack([_two_columns(one)[rows] for one in (np.asarray(embedding, dtype=np.float64), laid)]))
        return cls(
            told=twin.told,
            disparity=twin.disparity,
            table=tables[0],
            other=tables[1],
            map=maps[0],
            other_map=maps[1],
            changed=np.flatnonzero(differs[rows]).tolist(),
        )


def _two_columns(Y: Floats) -> Floats:
    return np.pad(Y[:, :2], ((0, 0), (0, max(0, 2 - Y.shape[1]))))


def _whole(planes: Floats) -> list[list[int]]:
    """Return planes as whole numbers, all in one scale, each around the middle of all."""
    low, high = planes.min(axis=(0, 1)), planes.max(axis=(0, 1))
    scale = _LEVELS / (float((high - low).max()) or 1.0)
    placed = np.rint((planes - 0.5 * (low + high)) * scale + 0.5 * _LEVELS)
    return [[int(one) for one in plane.ravel()] for plane in np.clip(placed, 0, _LEVELS)]


@dataclass(frozen=True)
class MapAlone(ShortRepr):
    """Answers that look at the map and not at the data: which tables share it, and whether it proves claims.

    Attributes
    ----------
    threshold : float or None
        Disparity up to which maps count as the same in the search for blind spots; None if there was none.
    n_changes, n_unseen : int
        Changes that were tried in it, and how many of them the map does not show.
    unseen, seen : list of str
        Those that the map does not show, the largest first, and those that it does, in words; 24 of each at most.
    pictures : list of TwinPicture
        Of what it does not show, the largest of each kind, three at most.
    claims : list of dict
        What was asked of `proves`, in order: "claim", "refuted", "unreadable", the answer in words as "told", and
        "picture", a TwinPicture or None.
    """

    threshold: float | None = None
    n_changes: int = 0
    n_unseen: int = 0
    unseen: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    pictures: tuple[TwinPicture, ...] = ()
    claims: tuple[dict[str, Any], ...] = ()

    def with_spots(self, found: BlindSpots) -> MapAlone:
        """Return the same with what a search has found in place of an earlier one."""
        kinds: dict[Any, Twin] = {}
        for twin in found.found:
            kinds.setdefault(type(twin.change), twin)  # those of one kind look alike
        shown = list(kinds.values())[:_MOST_PICTURES]
        return replace(
            self,
            threshold=found.threshold,
            n_changes=len(found.twins),
            n_unseen=len(found.found),
            unseen=tuple(twin.told for twin in found.found[:_MOST_CHANGES]),
            seen=tuple(twin.told for twin in found.shown[:_MOST_CHANGES]),
            pictures=tuple(TwinPicture.of(found.X, found.embedding, twin) for twin in shown),
        )

    def with_proof(self, proof: Proof, X: Floats, embedding: npt.NDArray[Any]) -> MapAlone:
        """Return the same with one more claim, in place of what was said of the same one before."""
        told = {
            "claim": proof.claim,
            "refuted": proof.refuted,
            "unreadable": proof.unreadable,
            "told": proof.summary(),
            "picture": None if proof.twin is None else TwinPicture.of(X, embedding, proof.twin),
        }
        return replace(self, claims=(*(one for one in self.claims if one["claim"] != proof.claim), told))

    def __bool__(self) -> bool:
        return self.threshold is not None or bool(self.claims)

    def to_dict(self) -> dict[str, Any]:
        """Return numbers, text and lists, as JSON takes them."""
        return {
            "threshold": self.threshold,
            "n_changes": self.n_changes,
            "n_unseen": self.n_unseen,
            "unseen": list(self.unseen),
            "seen": list(self.seen),
            "pictures": [dict(vars(one)) for one in self.pictures],
            "claims": [
                {**one, "picture": None if one["picture"] is None else dict(vars(one["picture"]))}
                for one in self.claims
            ],
        }

    @classmethod
    def from_dict(cls, entries: Any) -> Self:
        """Return what `to_dict` was called of.

        Raises
        ------
        ValueError
            If anything is missing, is there without need or is of another type.
        """
        expected = {"threshold", "n_changes", "n_unseen", "unseen", "seen", "pictures", "claims"}
        if not isinstance(entries, dict) or entries.keys() != expected:
            raise ValueError(f"alone is not {', '.join(sorted(expected))}")
        threshold, counts = entries["threshold"], [entries["n_changes"], entries["n_unseen"]]
        if not (threshold is None or _is_size(threshold)):
            raise ValueError("alone has no threshold")
        if any(type(one) is not int for one in counts) or not 0 <= counts[1] <= counts[0]:
            raise ValueError("alone has no numbers of changes")
        for name in ("unseen", "seen"):
            if not isinstance(entries[name], list) or not all(isinstance(one, str) for one in entries[name]):
                raise ValueError(f"{name} is not a list of text")
        if not isinstance(entries["pictures"], list) or not isinstance(entries["claims"], list):
            raise ValueError("pictures and claims are not lists")
        return cls(
            threshold=threshold,
            n_changes=counts[0],
            n_unseen=counts[1],
            unseen=tuple(entries["unseen"]),
            seen=tuple(entries["seen"]),
            pictures=tuple(_picture(one) for one in entries["pictures"]),
            claims=tuple(_claim(one) for one in entries["claims"]),
        )


def _is_size(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 <= value < math.inf


def _picture(entries: Any) -> TwinPicture:
    if not isinstance(entries, dict) or entries.keys() != {"told", "disparity", *_PLANES, "changed"}:
        raise ValueError("a picture is not two tables and two maps")
    if not isinstance(entries["told"], str) or not _is_size(entries["disparity"]):
        raise ValueError("a picture has no words and disparity")
    for name in (*_PLANES, "changed"):
        if not isinstance(entries[name], list) or not all(type(one) is int for one in entries[name]):
            raise ValueError(f"{name} of a picture is not a list of whole numbers")
    sizes = {len(entries[name]) for name in _PLANES}
    n_rows = len(entries["table"]) // 2
    if len(sizes) != 1 or sizes != {2 * n_rows}:
        raise ValueError("the parts of a picture have different lengths")
    if any(not 0 <= one <= _LEVELS for name in _PLANES for one in entries[name]):
        raise ValueError(f"a place in a picture is not between 0 and {_LEVELS}")
    if any(not 0 <= one < n_rows for one in entries["changed"]):
        raise ValueError("a changed row is not in its picture")
    return TwinPicture(**entries)


def _claim(entries: Any) -> dict[str, Any]:
    types = {"claim": str, "refuted": bool, "unreadable": bool, "told": str}
    if not isinstance(entries, dict) or entries.keys() != {*types, "picture"}:
        raise ValueError("a claim is not its words, answer and picture")
    if any(type(entries[name]) is not kind for name, kind in types.items()):
        raise ValueError("a claim has entries of other types")
    return {**entries, "picture": None if entries["picture"] is None else _picture(entries["picture"])}
