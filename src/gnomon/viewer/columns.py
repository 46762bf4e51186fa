"""Columns about the points: labels, metadata, explanation and evaluation, checked before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._palette import OTHER, class_colors, step_colors
from gnomon._validation import message
from gnomon.data import check_labels
from gnomon.data.arrays import EXACT_UP_TO
from gnomon.data.circles import Circle, circle_of
from gnomon.data.columns import n_steps_first
from gnomon.data.labels import MISSING, Classes, measured_labels, sort_into_classes, unlike
from gnomon.evaluation.words import grade, in_words, title_of, verdict

__all__ = [
    "Column",
    "Facts",
    "encode_column",
    "evaluation_facts",
    "explanation_facts",
    "local_facts",
    "stratified_rows",
]

_FEW = 12  # integers with at most so many distinct values are shown as categories

_SCORES = (
    "trustworthiness",
    "continuity",
    "neighborhood_preservation",
    "knn_accuracy",
    "knn_r2",
    "triplet_accuracy",
    "shepard",
)
_USUAL_NEIGHBORS = 15
_BLOCK = 8192  # rows
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Column:
    """One value a point, as categories or as numbers.

    Attributes
    ----------
    codes : ndarray of shape (n,), uint8, uint16 or uint32, or None
        Index into `categories`; None for numbers.
    categories : list of str
        Names in the order of `sort_into_classes`, then that of missing values if there are any.
    missing : bool
        Whether the last category is that of missing values.
    numbers : ndarray of shape (n,), float64, or None
        The values if they are numbers; dates in seconds since 1970.
    dates : bool
        Whether the numbers are dates.
    circle : gnomon.data.circles.Circle or None
        What the numbers lie around, such as angles; None where they do not start again.
    n_steps : int
        How many of the first categories are steps of a scale, in order.
    """

    codes: npt.NDArray[Any] | None = None
    categories: list[str] = field(default_factory=list)
    missing: bool = False
    numbers: npt.NDArray[np.float64] | None = None
    dates: bool = False
    circle: Circle | None = None
    n_steps: int = 0

    @property
    def colors(self) -> list[str]:
        """A colour for each category, those of steps of a scale along a ramp; grey for missing values."""
        n_classes = len(self.categories) - self.missing
        steps = step_colors(self.n_steps) + [OTHER] * (n_classes - self.n_steps)
        return (steps if self.n_steps else class_colors(n_classes)) + [OTHER] * self.missing

    @classmethod
    def of_classes(cls, classes: Classes, missing_name: str = MISSING, *, name: str = "") -> Self:
        """Return categories in the order of the classes; classes of one name are one. Their column may have a name."""
        names = classes.names
        categories = list(dict.fromkeys(names))
        place = {name: code for code, name in enumerate(categories)}
        codes = np.array([*(place[name] for name in names), len(categories)])[classes.codes]  # -1 is the last
        n_steps = n_steps_first(name, categories)
        missing = not bool(classes.labelled.all())
        categories += [unlike(categories, missing_name)] * missing
        size = len(categories)
        narrow = codes.astype(np.uint8 if size <= 256 else np.uint16 if size <= 65_536 else np.uint32)
        return cls(narrow, categories, missing, n_steps=n_steps)


def _measured(values: npt.NDArray[Any], *, as_label: bool) -> npt.NDArray[np.float64] | None:
    """Return a column that is coloured by a ramp: measured labels, and of other columns all but a few numbers."""
    if as_label or values.dtype.kind not in "iuf":
        return measured_labels(values)
    return values.astype(np.float64) if np.unique(values[np.isfinite(values)]).size > _FEW else None


def encode_column(
    values: object,
    n_samples: int,
    *,
    name: str,
    as_label: bool = False,
    missing_name: str = MISSING,
    title: str = "",
) -> Column:
    """Check a column given by the user and encode it.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        Numbers, text, categories, dates; a missing entry becomes the category `missing_name` or NaN.
    n_samples : int
        Required length.
    name : str
        How the caller knows the column; used in the error text.
    as_label : bool, default=False
        Integers are categories however many there are.
    missing_name : str, default="(missing)"
        What rows without a value are called.
    title : str, default=""
        What the page calls the column, which may tell that its numbers are angles or hours.

    Raises
    ------
    ValueError
        If the column is missing or has another length.
    """
    if values is None:
        raise ValueError(message(f"{name}=None", f"{n_samples} values", remedy="Pass an existing column."))
    column = np.asarray(values)
    if column.ndim != 1 or column.shape[0] != n_samples:
        raise ValueError(
            message(
                f"{name} of shape {column.shape}",
                f"of shape ({n_samples},)",
                fact="one value for each row of the embedding",
                remedy="Check that the rows match.",
            )
        )
    column = check_labels(column, n_samples)
    if (
        column.dtype.kind in "iu"
        and column.size
        and not -EXACT_UP_TO <= int(column.min()) <= int(column.max()) <= EXACT_UP_TO
    ):
        column = column.astype(str)
    numbers = _measured(column, as_label=as_label)
    if numbers is None:
        return Column.of_classes(sort_into_classes(column), missing_name, name=name)
    dates = column.dtype.kind == "M"
    return Column(numbers=numbers, dates=dates, circle=None if dates else circle_of(numbers, title))


def stratified_rows(codes: npt.NDArray[Any] | None, n_samples: int, limit: int) -> npt.NDArray[np.int64]:
    """Choose rows so that every class keeps its share (and at least one row).

    Parameters
    ----------
    codes : ndarray of shape (n_samples,) or None
        Classes; None draws from all rows alike.
    n_samples, limit : int
        Rows there are, and about how many to keep.

    Returns
    -------
    ndarray of int64
        Ascending row numbers, the same for the same input.
    """
    rng = np.random.default_rng(0)
    order = rng.permutation(n_samples)
    if codes is None:
        return np.sort(order[:limit])
    chosen = []
    for k in np.unique(codes):
        members = order[codes[order] == k]
        chosen.append(members[: max(1, members.size * limit // n_samples)])
    return np.sort(np.concatenate(chosen))


@dataclass
class Facts:
    """Columns, one row a shown point unless the name says otherwise, and the entries of the header with them."""

    columns: dict[str, Array] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)


def explanation_facts(
    explanation: Any,
    shape: tuple[int, int],
    shown: Callable[[Array], Array],
    *,
    name: str,
    n_top: int = 8,
    groups: Any = None,
) -> Facts:
    """Per point: fidelity, distortion ellipse, and the features that move it most.

    Parameters
    ----------
    explanation : object
        Has ``r2``, ``ellipses``, ``global_importance`` and ``top_features(n)``.
    shape : (n_samples, n_components)
        Of the embedding that is explained.
    shown : callable
        Picks the rows that are in the page.
    name : str
        What errors call the explanation.
    n_top : int, default=8
        Features a point.
    groups : object, default=None
        What `gnomon.group_features` found in the explanation. Then what is said is that of the explanation by groups,
        each in the place of its representative.
    """
    n, d = shape
    n_features = len(np.asarray(explanation.global_importance))
    grouped = groups is not None and len(groups.groups) > 0
    explanation = groups.explanation if grouped else explanation
    lines = groups.representatives if grouped else np.arange(n_features)
    r2 = _checked(explanation.r2, (n,), f"{name}.r2")
    ellipses = _checked(explanation.ellipses, (n, d, d), f"{name}.ellipses")
    top = explanation.top_features(n_top)
    k = np.asarray(top.indices).shape[1]
    indices = _checked(top.indices, (n, k), f"{name}.top_features().indices")
    arrows = _checked(top.arrows, (n, k, d), f"{name}.top_features().arrows")
    importance = _checked(top.importance, (n, k), f"{name}.top_features().importance")
    total = np.zeros(n_features, dtype=np.float32)
    total[lines] = np.nan_to_num(np.asarray(explanation.global_importance, dtype=np.float32))
    upper = np.triu_indices(d)
    columns = {
        "r2": shown(r2).astype(np.float32),
        "ellipses": shown(ellipses)[:, upper[0], upper[1]].astype(np.float32),
        "top": shown(lines[indices]).astype(np.uint16 if total.size <= 65_536 else np.uint32),
    }
    columns["arrows"], columns["arrows_scale"] = _fixed_point(shown(arrows).reshape(-1, k * d))
    if not _are_lengths(importance, arrows):
        columns["importance"], columns["importance_scale"] = _fixed_point(shown(importance))
    columns["global_importance"] = total
    header: dict[str, Any] = {"explanation": {"top": k}}
    if grouped:
        header["featureGroups"] = group_entries(groups)
    distortion = getattr(explanation, "distortion", None)
    if distortion is not None:
        columns["log_area"] = shown(_checked(distortion.log_area, (n,), f"{name}.distortion.log_area")).astype(
            np.float32
        )
        columns["anisotropy"] = shown(distortion.anisotropy).astype(np.float32)
        if distortion.tear is not None:
            columns["torn"] = shown(distortion.tear).astype(np.uint8)
        header["explanation"]["distortion"] = True
    return Facts(columns, header)


def group_entries(groups: Any) -> list[dict[str, Any]]:
    """Return each group of collinear features as the page takes it: in whose place it stands, and what its score is."""
    facts = zip(groups.representatives, groups.explanation.feature_names, groups.members, groups.weights, strict=True)
    return [
        {"feature": int(place), "name": name, "members": members.tolist(), "weights": weights.tolist()}
        for place, name, members, weights in facts
        if len(members) > 1
    ]


def local_facts(explanation: Any, n_samples: int) -> Facts | None:
    """Per point: its neighbours in the data and the coefficients of its local fit, from which the page expands axes.

    None if the explanation does not say them, or weighs neighbours unequally.

    Parameters
    ----------
    explanation : object
        May have ``jacobians`` with ``indices``, ``weights``, ``coefficients``, ``mask`` and ``pooling``, ``graph``
        with ``distances`` and ``scale`` with ``spread``, as `gnomon.explain` returns.
    n_samples : int
    """
    fits, graph = getattr(explanation, "jacobians", None), getattr(explanation, "graph", None)
    if fits is None or graph is None or len(fits.rows) != n_samples or not np.isin(fits.weights, (0.0, 1.0)).all():
        return None
    n, k, d = fits.coefficients.shape
    used = fits.weights > 0
    near = np.where(used, fits.indices, np.arange(n)[:, None])
    distances = np.where(used, graph.distances[:, :k], 0.0)
    columns: dict[str, Array] = {"near": near.astype(np.uint16 if n <= 65_536 else np.uint32)}
    columns["coefficients"], columns["coefficients_scale"] = _fixed_point(fits.coefficients.reshape(n, k * d))
    columns["distances"], columns["distances_scale"] = _fixed_point(distances)
    columns["fitted"] = fits.mask.astype(np.uint8)
    scale = getattr(explanation, "scale", None)
    if scale is not None:
        columns["spread"] = scale.spread
    return Facts(columns, {"local": {"neighbors": k, "pooling": int(fits.pooling)}})


def evaluation_facts(
    evaluation: Any, n_samples: int, shown: Callable[[Array], Array], *, name: str, points: Any = None
) -> Facts:
    """Scores of the whole embedding and diagnostics of each point: `points`, or those of the evaluation."""
    scores = {score: getattr(evaluation, score, None) for score in _SCORES}
    known = {k: float(v) for k, v in scores.items() if v is not None and np.isfinite(v)}
    facts = Facts(header={"evaluation": known, "trust": _told(known, evaluation)})
    diagnostics = getattr(evaluation, "per_point", None) if points is None else points
    origin = f"{name}.per_point" if points is None else "points"
    for metric, values in (diagnostics or {}).items():
        column = _checked(values, (n_samples,), f"{origin}[{metric!r}]")
        key = f"trust{len(facts.header.setdefault('diagnostics', []))}"
        facts.header["diagnostics"].append({"name": str(metric), "key": key})
        facts.columns[key] = shown(column).astype(np.float32)
    return facts


def _told(scores: dict[str, float], evaluation: Any) -> dict[str, Any]:
    """Return the verdict and the grade and sentence of each score, which the page shows as they are."""
    chance = getattr(evaluation, "random_map", {})
    k = getattr(evaluation, "n_neighbors", _USUAL_NEIGHBORS)
    rows = [
        {"name": name, "title": title_of(name), "grade": grade(name, v, chance.get(name)), "says": in_words(name, v, k)}
        for name, v in scores.items()
    ]
    told = verdict(scores, chance, k, getattr(evaluation, "group_distances", None))
    return {"verdict": [[one.grade, one.text] for one in told], "scores": rows}


def _checked(values: Any, shape: tuple[int, ...], name: str) -> Array:
    array = np.asarray(values)
    if array.shape != shape:
        raise ValueError(message(f"{name} of shape {array.shape}", f"of shape {shape}"))
    return array


def _are_lengths(importance: Array, arrows: Array) -> bool:
    """Return whether importances are the lengths of arrows, from which the page then has them: to 1/1000 of a row's."""
    for start in range(0, len(arrows), _BLOCK):
        rows = slice(start, start + _BLOCK)
        lengths = np.sqrt(np.square(arrows[rows]).sum(axis=2))
        off = np.abs(lengths - importance[rows]) > 1e-3 * lengths.max(axis=1, initial=0.0)[:, None]
        if off.any() or (np.isnan(lengths) != np.isnan(importance[rows])).any():
            return False
    return True


def _fixed_point(values: Array) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.float32]]:
    """16-bit fractions of each row's largest entry: half the bytes of float32, and they compress better."""
    fractions = np.empty(values.shape, dtype=np.int16)
    largest = np.empty(len(values))
    for start in range(0, len(values), _BLOCK):  # that stay in the cache
        rows = slice(start, start + _BLOCK)
        block = values[rows].astype(np.float64)
        block[~np.isfinite(block)] = 0.0
        largest[rows] = scale = np.abs(block).max(axis=1, initial=0.0)
        block *= (32767.0 / np.where(scale > 0, scale, 1.0))[:, None]
        fractions[rows] = np.rint(block, out=block)
    return fractions, (largest / 32767.0).astype(np.float32)
