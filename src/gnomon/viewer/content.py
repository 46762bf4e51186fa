"""What a page shows: positions, also several along a parameter, and whatever is known about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Items
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.data.labels import name_of
from gnomon.viewer.levels import CLUSTER, PageLevel, clusters_within_classes, levels_of_clusters

__all__ = ["FrameCodes", "PageContent", "Sequence", "encode_frames", "told_of_ungrouped"]

_LEVELS = 2**14  # a sixteenth of a pixel of a whole view; more bits are noise that does not compress
_MISSING = 65_535
_ELSEWHERE = ("stretch", "anisotropy", "torn", "r2", "label_doubt")
MOST_GROUPED = 10_000
"""Features among which a page looks for groups itself."""

_MOST_CAPTIONS = 60  # more cannot be read
_OF_CLASSES = "Below each class: what tells it from every other one, not only from the rest as a whole."
_OF_CLUSTERS = "Clusters were found in the data. Each is named by what tells it from those beside it."
_PROFILE_FEATURES = 12
_MOST_SUSPECTS = 12
_MOST_ILLUSIONS = 6


@dataclass(frozen=True)
class Sequence:
    """Embeddings of the same points along a parameter, such as exaggeration or epochs of training.

    The page moves every point on a straight line from one embedding to the next, so neighbours should be aligned:
    pass them through `gnomon.linalg.align`, with the main one as its reference.

    Attributes
    ----------
    name : str
        What the parameter is called; not empty.
    labels : tuple of str
        The value of the parameter for each embedding; at least two. Anything is turned to text.
    embeddings : tuple of ndarray of shape (n_samples, 2) or (n_samples, 3)
        As many as labels and all of one shape; rows that are not finite have no position at that value.
    main : int, default=0
        Which of them is the map itself, to which its explanation and evaluation belong; the page opens there. Counted
        from the end if negative; kept as the number from the start.
    explanations, evaluations : tuple, default=None
        One for each embedding, or None where there is none; those of the main one may also be passed to `write_html`.
        Where there are none the page says so and shows none.
    """

    name: str
    labels: tuple[str, ...]
    embeddings: tuple[npt.NDArray[Any], ...]
    main: int = 0
    explanations: tuple[Any, ...] | None = None
    evaluations: tuple[Any, ...] | None = None

    @entrance("Sequence")
    def __post_init__(self) -> None:
        size = len(self.embeddings)
        if not str(self.name).strip():
            raise ValueError(message(f"name={self.name!r}", "the name of the parameter"))
        if size < 2:
            raise ValueError(message(f"{size} embeddings", "at least 2"))
        for name in ("labels", "explanations", "evaluations"):
            given = getattr(self, name)
            if given is not None and len(given) != size:
                raise ValueError(message(f"{len(given)} {name}", f"{size}", fact="one for each embedding"))
            self._set(name, None if given is None else tuple(given))
        self._set("labels", tuple(str(label) for label in self.labels))
        self._set("embeddings", tuple(np.asarray(one) for one in self.embeddings))
        self._check_embeddings()
        if not -size <= self.main < size:
            raise ValueError(message(f"main={self.main}", f"the number of one of {size} embeddings"))
        self._set("main", self.main % size)

    def facts(self, k: int) -> tuple[Any, Any]:
        """Return explanation and evaluation of embedding k, None where there are none."""
        return (
            None if self.explanations is None else self.explanations[k],
            None if self.evaluations is None else self.evaluations[k],
        )

    def _check_embeddings(self) -> None:
        shape = self.embeddings[0].shape
        for k, one in enumerate(self.embeddings):
            if one.ndim != 2 or one.shape[1] not in (2, 3) or one.dtype.kind not in "iuf":
                rule = "numbers of shape (n, 2) or (n, 3)"
            elif one.shape != shape:
                rule = f"of the shape of the first, {shape}"
            else:
                continue
            raise ValueError(message(f"embedding {k} of shape {one.shape}", rule))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # what a frozen dataclass normalises once, when it is made


@dataclass(frozen=True)
class FrameCodes:
    """Embeddings in 14 bits a coordinate.

    Attributes
    ----------
    planes : ndarray of shape (n_frames, d, 2, n), uint8
        Low and high bytes of the codes; each code but those of the first frame is the difference from the code of the
        same coordinate in the frame before, modulo 2**16. Of aligned embeddings the high bytes then are mostly alike,
        and compress.
    low, step : ndarray of shape (n_frames, d), float64
        Code c stands for ``low + step * c``; 65535 for a point without a position.
    """

    planes: npt.NDArray[np.uint8]
    low: npt.NDArray[np.float64]
    step: npt.NDArray[np.float64]


def encode_frames(embeddings: Iterable[npt.NDArray[Any]], *, levels: int = _LEVELS) -> FrameCodes:
    """Quantise embeddings, each over its own range: to 1 / levels of its width and of its height."""
    planes, lows, steps = [], [], []
    before: npt.NDArray[np.uint16] | None = None
    for embedding in embeddings:
        points = np.asarray(embedding, dtype=np.float64).T
        finite = np.isfinite(points).all(axis=0)
        known = points[:, finite] if finite.any() else np.zeros((len(points), 1))
        low, high = known.min(axis=1), known.max(axis=1)
        step = (high - low) / levels
        reached = (np.where(finite, points, low[:, None]) - low[:, None]) / np.where(step > 0, step, 1.0)[:, None]
        codes = np.where(finite, np.round(reached), _MISSING).astype(np.uint16)
        change = codes if before is None else codes - before  # wraps around, as the decoder's sum does
        before = codes
        planes.append(np.stack([change & 255, change >> 8], axis=1).astype(np.uint8))
        lows.append(low)
        steps.append(step)
    return FrameCodes(np.stack(planes), np.stack(lows), np.stack(steps))


@dataclass(frozen=True)
class PageContent:
    """What a page shows, for positions without a `gnomon.Map`: without a table, or explained by other means.

    Attributes
    ----------
    embedding : array of shape (n_samples, 2) or (n_samples, 3)
        Positions; rows that are not finite are listed in a tray. Above 1,000,000 rows, or where the budget of the page
        allows fewer, a sample is shown before the density of all, every class in proportion, and the page says so.
    title, method : str
        Plain text.
    labels : array of shape (n_samples,), default=None
        Classes (text, integers, categories) or measured numbers.
    label_name : str, default=""
        What the labels are.
    feature_names : sequence of n_features str, default=None
        Names of the columns of X.
    X : ndarray or CSR of shape (n_samples, n_features), default=None
        Feature values; those of a dense table of up to 262,144 are stored as they are, of a larger one as one byte each
        (exact for integers in 0..255 and up to 256 distinct values, else 256 quantile levels).
    images : uint8 array of shape (n_samples, height, width) or (n_samples, height, width, 3), default=None
        Thumbnails.
    image_shape : tuple (height, width) or (height, width, channels), default=None
        The features are pixels of such pictures.
    explanation : object, default=None
        Has ``r2``, ``ellipses``, ``global_importance`` and ``top_features(n)`` with ``indices``, ``arrows`` and
        ``importance``, as `gnomon.explain` returns. With its ``jacobians`` and ``graph`` the page can say of all
        features what they do to a pinned point, and find paths through the data; with its ``distortion`` it colours by
        area, anisotropy and tears.
    groups : object, default=None
        What `gnomon.group_features` found in the explanation: features that are collinear along the map are one entry
        each wherever the page says what moves points or sets them apart.
    evaluation : object, default=None
        Has scores (``trustworthiness`` ...) and ``per_point``, as `gnomon.evaluate` returns.
    points : mapping of str to array of shape (n_samples,), default=None
        Diagnostics of each point to colour by, as `gnomon.Map.point_scores` returns; they replace ``per_point`` of the
        evaluation.
    compares_neighbors : bool, default=False
        Whether the page lists the false and the missing neighbours of a point: its nearest points in the map, by
        straight distances, against those of the explanation's graph.
    profiles : dict of label to list of (feature, effect size, AUC[, bool[, bool]]), default=None
        What sets each class apart, with whether it does (by default it does), and whether it differs at least a little
        beyond chance; computed in the page from the feature values if not given.
    class_cautions : dict of label to str, default=None
        What one must know where a class is compared with all other points, by its name.
    captions : dict of label to str, default=None
        A few words that tell each class from the others, shown under its name.
    column_notes : mapping of str to str, default=None
        What is said below the classes of the labels or of a column of the metadata, by its name.
    apart : str, default=""
        Which features tell the classes and the islands of the map apart, shown beside what moves the points.
    levels : sequence of PageLevel, default=()
        Nested groups, the coarsest first, whose names the map bears: the finer ones when one zooms in.
    point_names : sequence of n_samples str, default=None
        Shown on hover and searched.
    metadata : dict of str to array of shape (n_samples,), default=None
        Further columns to show on hover, to search and to colour by.
    suspects : gnomon.explanations.Suspects, default=None
        Rows whose neighbours in the data disagree with their label: those listed are shown, all are coloured by score.
    alone : mapping, default=None
        What the map alone can show, as `gnomon.twins.MapAlone.to_dict` returns: tables that have the same map, and
        whether claims can be read from it. The page tells it below how far to trust the map.
    verdicts : sequence of mapping, default=()
        What was judged in the data of the gaps, sizes and distances that the map shows, each ``about`` something, with
        ``rows`` of question, answer, whether the map misleads and the reason, and the ``count``, ``footing`` and
        ``caution`` of all; told below how far to trust the map.
    caution : str, default=""
        What one must know to read the map, shown above how far to trust it: what steered it, so that labels say less.
    doubts : str, default=""
        What speaks against its neighbours, shown in the same place.
    info : dict, default=None
        Shown under "About this map": parameters, seed, timings.
    all_positions : array of shape (n_all, 2) or (n_all, 3), default=None
        Positions of all rows of a larger map, of which `embedding` is a uniform sample: the page shows their density
        behind the sample, and says how many of how many rows it shows.
    """

    embedding: npt.ArrayLike
    title: str = "gnomon map"
    method: str = ""
    labels: Items[Any] | npt.NDArray[Any] | None = None
    label_name: str = ""
    feature_names: Items[str] | None = None
    X: Any = None
    images: npt.NDArray[np.uint8] | None = None
    image_shape: tuple[int, ...] | None = None
    explanation: Any = None
    groups: Any = None
    evaluation: Any = None
    points: Mapping[str, Any] | None = None
    compares_neighbors: bool = False
    profiles: Mapping[Any, Items[tuple[Any, ...]]] | None = None
    class_cautions: Mapping[str, str] | None = None
    captions: Mapping[str, str] | None = None
    column_notes: Mapping[str, str] | None = None
    apart: str = ""
    levels: Items[PageLevel] = ()
    point_names: Items[object] | None = None
    metadata: Mapping[str, Any] | None = None
    suspects: Any = None
    alone: Mapping[str, Any] | None = None
    verdicts: Items[Mapping[str, Any]] = ()
    caution: str = ""
    doubts: str = ""
    info: Mapping[str, object] | None = None
    all_positions: npt.ArrayLike | None = None

    @classmethod
    def of(cls, map: Any) -> Self:
        """Return what a page shows of a `gnomon.Map`: the map, its explanation, evaluation, dimension and classes."""
        with map._clusters_beside():
            points = _points(map)  # before the evaluation, which then looks at the same distances
        groups = _groups(map)
        found = map._clusters_shown()
        clustered = found is not None and len(found) > 0
        columns, levels = levels_of_clusters(found) if clustered else clusters_within_classes(map)
        captions = _holders(found) if clustered else _captions(map, groups)
        return cls(
            embedding=map.embedding,
            title=map.heading,
            method=map.method if map.surface is None else f"{map.method} {map.surface.view}",
            labels=found.names if clustered else map.labels,
            label_name=CLUSTER if clustered else map.label_name,
            feature_names=map.feature_names,
            X=map._unrolled().values,
            images=map.images,
            image_shape=map.image_shape,
            explanation=map.explain(),
            groups=groups,
            evaluation=map.evaluate(),
            points=points,
            compares_neighbors=_compares_neighbors(map),
            profiles=_profiles(map, groups),
            class_cautions=None if clustered else map._told_of_each_label(),
            captions=captions,
            column_notes=_column_notes(map, levels, captions),
            apart=_told_apart(map),
            point_names=None if map.point_names is None else map.point_names.tolist(),
            levels=levels,
            metadata={**map.metadata, **columns},
            suspects=map._doubts(_MOST_SUSPECTS),
            alone=_alone(map),
            verdicts=_verdicts(map),
            caution=map.caution,
            doubts=map._told_of_neighbors(),
            info=_info(map),
        )

    @classmethod
    def known(cls, map: Any) -> Self:
        """Return what a page shows of a `gnomon.Map` without computing anything: what was asked of it already."""
        return cls(
            embedding=map.embedding,
            title=map.heading,
            method=map.method,
            labels=map.labels,
            label_name=map.label_name,
            feature_names=map.feature_names,
            X=map._unrolled().values,
            images=map.images,
            image_shape=map.image_shape,
            explanation=map._explanation,
            groups=map._groups,
            evaluation=map._evaluation,
            point_names=None if map.point_names is None else map.point_names.tolist(),
            metadata=map.metadata,
            alone=_alone(map),
            verdicts=_verdicts(map),
            caution=map.caution,
            info=_made(map),
        )


def _groups(map: Any) -> Any:
    """Return the groups of features; none of pictures, which are shown by pixel, or of very many that nobody grouped.

    Each feature is compared with each other: of 100,000 in 300 rows it takes half an hour.
    """
    if map.image_shape is not None:
        return None
    return map.feature_groups() if map.n_features <= MOST_GROUPED else map._groups


def told_of_ungrouped(n_features: int) -> list[str]:
    """Return what a page says of features that it has not grouped as they are too many; nothing of fewer."""
    if n_features <= MOST_GROUPED:
        return []
    return [
        f"Which of the {n_features:,} features go together was not looked for: each is explained by itself. In Python "
        "call feature_groups() of the map before the page is written."
    ]


def _told_apart(map: Any) -> str:
    """Return which features tell classes and islands apart; nothing of pictures, whose features are pixels."""
    if map.image_shape:
        return ""
    judged = map._gaps is not None
    return "; ".join(one.told(judged=judged) for one in map._told_apart() if one is not None)


def _verdicts(map: Any) -> list[dict[str, Any]]:
    """Return what was judged in the data already of what the map shows; nothing is computed for a page.

    Of sizes and distances only those are told that are surely other in the data, the worst.
    """
    told = []
    if map._gaps is not None:
        none = not len(map._gaps) and not map._gaps.told_of_clumps
        told.append(_judged(map._gaps, list(map._gaps), "The map shows no gap." if none else ""))
    drawn = map._illusions
    if drawn is not None:
        worst = drawn.worst
        are = "is" if len(worst) == 1 else "are"
        more = f", such as these {_MOST_ILLUSIONS}" if len(worst) > _MOST_ILLUSIONS else ""
        count = f"{len(worst)} of {len(drawn)} {are} surely other in the data{more}."
        told.append(_judged(drawn, worst[:_MOST_ILLUSIONS], count))
    return told


def _judged(found: Any, verdicts: Items[Any], count: str) -> dict[str, Any]:
    """Return verdicts as a page tells them: question, answer, whether the map misleads, and why; and their footing."""
    rows = [[one.question, one.answer, one.is_illusion, one.sentence] for one in verdicts]
    return {
        "about": found.about,
        "count": count,
        "rows": rows,
        "footing": f"{found.footing} {found.told_of_clumps}".strip(),
        "caution": found.caution,
    }


def _alone(map: Any) -> dict[str, Any] | None:
    """Return what was asked of the map alone already; nothing is computed for a page."""
    return map._alone.to_dict() if map._alone else None


def _profiles(map: Any, groups: Any) -> dict[Any, list[tuple[str, float, float, bool, bool]]]:
    """Return for each label its most distinctive features, with effect size and AUC, if notable, if beyond chance."""
    best = {label: profile.head(_PROFILE_FEATURES) for label, profile in map.profiles(groups=groups).items()}
    return {
        label: list(
            zip(
                top.features,
                *(column.tolist() for column in (top.effect_size, top.auc, top.sets_apart, top.beyond_chance)),
                strict=True,
            )
        )
        for label, top in best.items()
    }


def _captions(map: Any, groups: Any) -> dict[str, str]:
    """Return a caption for each label; none without labels, with a single one or with too many to be read."""
    if not 2 <= len(map.profiles()) <= _MOST_CAPTIONS:
        return {}
    return {name_of(label): str(caption) for label, caption in map.captions(groups=groups).items()}


def _column_notes(map: Any, levels: Items[PageLevel], captions: Mapping[str, str]) -> dict[str, str]:
    """Return what is said below the legend of labels with captions, and of clusters, by the names of the columns."""
    notes = {}
    if captions and map.labels is not None:
        told = [_OF_CLASSES, map._told_of_confounded_labels()]
        notes[map.label_name or "label"] = " ".join(filter(None, told))
    for level in levels:
        if level.found:
            default = level.column == CLUSTER or map.labels is not None
            more = [map._clusters.continuum, map._clusters.told] if default else []
            notes[level.column] = " ".join(filter(None, [_OF_CLUSTERS, *more]))
    return notes


def _holders(found: Any) -> dict[str, str]:
    """Return for each cluster within another which one that is."""
    held = {cluster.name: found.within(cluster) for cluster in found.level().clusters}
    return {name: f"within {holder}" for name, holder in held.items() if holder}


def _points(map: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the diagnostics of each point that the page does not have from the explanation or the labels."""
    return {name: values for name, values in map.point_scores().items() if name not in _ELSEWHERE}


def _compares_neighbors(map: Any) -> bool:
    """Say whether the page knows the neighbours in the data, and straight distances have the order of the map's."""
    if map.surface is not None and map.surface.name != "sphere":
        return False
    graph, own = map.explain().graph, map.neighbors()
    return graph is not None and own is not None and np.array_equal(graph.indices, own.indices[:, : graph.n_neighbors])


def _made(map: Any) -> dict[str, Any]:
    """Return how the map was made, but in what time, which would make each page another."""
    return {"method": map.method, **map.parameters}


def _info(map: Any) -> dict[str, Any]:
    info = _made(map)
    dimension = map.intrinsic_dimension()
    if np.isfinite(dimension.value):
        number = round(dimension.value, 1)
        info["intrinsic dimension"] = number if dimension.n_common is None else f"{number}, with the noise of columns"
    if told := map._told_of_order():
        info["order of rows"] = told
    if told := map._told_of_labels():
        info["labels"] = told
    if told := map._told_of_confounded_labels():
        info["columns beside"] = told
    if told := map._told_of_units_of_labels(map._classes()):
        info["units"] = told
    if map.scale is not None:
        info["columns"] = f"standardised ({map.scale.name})"
    if map.representation is not None:
        info["neighbours in"] = str(map.representation)
    if map.notes:
        info["notes"] = "; ".join(map.notes)
    return info
