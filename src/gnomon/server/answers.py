"""Questions of a page to the map itself, in JSON: all rows, exact values, and the map as a function."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.data.labels import name_of
from gnomon.exceptions import GnomonWarning
from gnomon.neighbors import cross_distances

__all__ = ["Answers"]

_NEAREST = 5  # rows named beside a place of the map
_NEIGHBORS = 15
_MOST_FEATURES = 50  # of an answer about all features
_MOST_CORNERS = 100_000
_LARGEST = float(np.finfo(np.float32).max)
_BLOCK = 1 << 18  # pairs of a row and an edge at a time


class Answers:
    """What a map answers to the page that shows it.

    Parameters
    ----------
    map : gnomon.Map
        It is asked for the place of its first row at once, to know whether it is a function of a row.

    Attributes
    ----------
    refusal : str
        Why rows cannot be moved, as of a map on a sphere; empty if they can.
    """

    def __init__(self, map: Any) -> None:
        self.map = map
        self.refusal = _refusal(map)
        self._questions = {
            "feature": self._feature,
            "row": self._of_row,
            "neighbors": self._neighbors,
            "move": self._move,
            "contrast": self._contrast,
        }

    @entrance("server")
    def answer(self, asked: Any) -> dict[str, Any]:
        """Answer one question.

        Parameters
        ----------
        asked : mapping
            With "question" one of:

            - "feature": ``row`` and ``feature``, its number. Value of the row, least and largest of all rows.
            - "row": ``row``. All its values, those farthest from their means first, and its neighbours.
            - "neighbors": ``row``, and ``n``, 15 by default. The nearest rows in the data, by comparing with all, with
              distances in the metric of the map and the units in which it was made.
            - "move": ``row`` and ``values``, a list of (feature, value). Where `Map.transform` places the changed row,
              what lies there, and the `Map.novelty` of the row.
            - "contrast": ``rows``, or ``path``, corners of a polygon in the map: what sets all rows inside apart.

        Returns
        -------
        dict
            Plain values for JSON; a number that is not finite is None.

        Raises
        ------
        TypeError, ValueError
            If the question is not known or not well formed; in words for the page.
        """
        name = asked.get("question") if isinstance(asked, Mapping) else None
        if not isinstance(name, str) or name not in self._questions:
            raise ValueError(message(f"question={name!r}", f"one of {', '.join(self._questions)}"))
        return self._questions[name](asked)

    def _row(self, asked: Mapping[str, Any]) -> int:
        return _index(asked.get("row"), self.map.n_samples, "row")

    def _column(self, feature: Any) -> npt.NDArray[np.float64]:
        column = self.map._unrolled().values[:, [feature]]
        return np.asarray(column.toarray() if hasattr(column, "toarray") else column, dtype=np.float64).ravel()

    def _values(self, row: int) -> npt.NDArray[np.float64]:
        values = self.map._unrolled().values[[row]]
        return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64).ravel()

    def _feature(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        row, feature = self._row(asked), _index(asked.get("feature"), self.map.n_features, "feature")
        column = self._column(feature)
        return {
            "feature": self.map.feature_names[feature],
            "value": _number(column[row]),
            "low": _number(column.min()),
            "high": _number(column.max()),
            "whole": bool((column == np.round(column)).all()),
        }

    def _of_row(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        row = self._row(asked)
        values = self._values(row)
        table = self.map._unrolled().values
        mean = np.asarray(table.mean(axis=0), dtype=np.float64).ravel()
        square = table.multiply(table) if hasattr(table, "multiply") else np.square(table, dtype=np.float64)
        spread = np.sqrt(np.maximum(np.asarray(square.mean(axis=0)).ravel() - mean**2, 0.0))
        away = np.abs(values - mean) / np.where(spread > 0, spread, np.inf)
        order = np.argsort(-away, kind="stable")[:_MOST_FEATURES]
        names = self.map.feature_names
        return {
            "row": row,
            "features": [{"name": names[j], "value": _number(values[j])} for j in order],
            "n_features": self.map.n_features,
            "place": [_number(one) for one in self.map.embedding[row]],
            "neighbors": self._neighbors({"row": row})["neighbors"],
        }

    def _neighbors(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        row, n = self._row(asked), asked.get("n", min(_NEIGHBORS, self.map.n_samples - 1))
        most = self.map.n_samples - 1
        if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= most:
            raise ValueError(message(f"n={n!r}", f"a whole number in [0, {most}]"))
        table = self.map._mapped().values
        if self.map.metric == "precomputed":
            distances = np.asarray(table[row], dtype=np.float64).ravel()
        else:
            distances = cross_distances(table[[row]], table, metric=self.map.metric)[0]
        distances[row] = np.inf  # the row itself comes last
        return {"row": row, "neighbors": self._named(distances, n)}

    def _named(self, distances: npt.NDArray[np.float64], n: int) -> list[dict[str, Any]]:
        """Return the nearest rows, ascending by distance and number."""
        near = np.argsort(distances, kind="stable")[:n].tolist()
        return [{"row": i, "name": self._name(i), "distance": _number(distances[i])} for i in near]

    def _name(self, row: int) -> str:
        if self.map.point_names is not None:
            return str(self.map.point_names[row])
        labels = self.map.labels
        return f"row {row}" if labels is None else f"{name_of(labels[row])} (row {row})"

    def _move(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        row, changes = self._row(asked), asked.get("values")
        if self.refusal:
            raise ValueError(self.refusal)
        if not isinstance(changes, Sequence) or isinstance(changes, str) or len(changes) > self.map.n_features:
            raise ValueError(message("values", "a list of (feature, value)"))
        values = self._values(row)
        for change in changes:
            if not isinstance(change, Sequence) or isinstance(change, str) or len(change) != 2:
                raise ValueError(message(f"values with {change!r}", "a list of (feature, value)"))
            values[_index(change[0], self.map.n_features, "feature")] = _finite(change[1])
        start = np.asarray(self.map.embedding[row], dtype=np.float64)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", GnomonWarning)
            place = np.asarray(self.map.transform(values[None]), dtype=np.float64)[0]
            novelty = float(self.map.novelty(values[None])[0])
        everywhere = self.map.embedding[np.isfinite(self.map.embedding).all(axis=1)]
        width = float(np.ptp(everywhere, axis=0).max()) or 1.0
        distances = np.linalg.norm(self.map.embedding - place, axis=1).astype(np.float64)
        distances[row] = np.inf
        return {
            "start": [_number(one) for one in start],
            "place": [_number(one) for one in place],
            "share": _number(np.linalg.norm(place - start) / width),
            "nearest": self._named(np.nan_to_num(distances, nan=np.inf), min(_NEAREST, self.map.n_samples - 1)),
            "novelty": _number(novelty),
            "warnings": [" ".join(str(one.message).split()) for one in caught],
        }

    def _contrast(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        if asked.get("path") is not None:
            chosen = _inside(self.map.embedding, asked["path"])
            if not chosen.any():
                raise ValueError(message("path", "around one row at least", fact="no row lies inside"))
        else:
            rows = asked.get("rows")
            if not isinstance(rows, list) or not rows:
                raise ValueError(message("rows", "a list of row numbers that is not empty"))
            chosen = np.zeros(self.map.n_samples, dtype=np.bool_)
            chosen[[_index(one, self.map.n_samples, "rows") for one in rows]] = True
        found = self.map.contrast(chosen)
        order = np.argsort(-np.abs(found.effect), kind="stable")[:_MOST_FEATURES]
        return {
            "selected": int(found.n_selected),
            "rest": int(found.n_rest),
            "caption": found.caption(),
            "features": [
                {
                    "name": found.features[k],
                    "feature": int(found.indices[k]),
                    "effect": _number(found.effect[k]),
                    "auc": _number(found.auc[k]),
                    "mean": _number(found.mean_selected[k]),
                    "mean_rest": _number(found.mean_rest[k]),
                }
                for k in order
            ],
        }


def _refusal(map: Any) -> str:
    """Say why the map is no function of a row, by placing one; empty if it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GnomonWarning)
            map.transform(map.X[:1])
            map.novelty(map.X[:1])
    except (TypeError, ValueError) as error:
        return f"This map cannot place changed rows. {error}"
    return ""


def _index(value: Any, size: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(message(f"{name}={value!r}", "a whole number"))
    if not 0 <= value < size:
        raise ValueError(message(f"{name}={value}", f"in [0, {size})"))
    return value


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= _LARGEST:
        raise ValueError(message(f"value {value!r}", "a finite number"))
    return float(value)


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _inside(points: npt.NDArray[Any], path: Any) -> npt.NDArray[np.bool_]:
    """Say which points of a flat map lie inside a polygon, by the even-odd rule, as the page does."""
    if points.shape[1] != 2:
        raise ValueError(message("path", "of a map of two dimensions", fact=f"this one has {points.shape[1]}"))
    if not isinstance(path, list) or not 3 <= len(path) <= _MOST_CORNERS:
        raise ValueError(message("path", f"a list of 3 to {_MOST_CORNERS:,} corners"))
    if not all(isinstance(corner, list) and len(corner) == 2 for corner in path):
        raise ValueError(message("path", "a list of (x, y)"))
    corners = np.array([[_finite(one) for one in corner] for corner in path])
    before = np.roll(corners, 1, axis=0)
    (xa, ya), (xb, yb) = corners.T, before.T
    low, high = corners.min(axis=0), corners.max(axis=0)
    near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    inside = np.zeros(len(points), dtype=np.bool_)
    slope = (xb - xa) / np.where(yb == ya, 1.0, yb - ya)
    for rows in np.array_split(near, max(1, len(near) * len(corners) // _BLOCK)):
        x, y = points[rows, :1].astype(np.float64), points[rows, 1:].astype(np.float64)
        crosses = ((ya > y) != (yb > y)) & (x < slope * (y - ya) + xa)
        inside[rows] = crosses.sum(axis=1) % 2 == 1
    return inside
