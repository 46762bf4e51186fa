"""Do the parts of a map belong together? One check for maps that are made, saved and loaded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon import neighbors
from gnomon._validation import message
from gnomon.completion import Completion
from gnomon.data import check_labels
from gnomon.data.arrays import unmasked
from gnomon.data.names import default_names
from gnomon.data.scaling import SCALINGS, Scaling
from gnomon.data.tensors import is_tensor
from gnomon.maps.representation import check_representation
from gnomon.surfaces import Hyperboloid, Surface

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["check_metadata", "check_parts", "check_picture"]

_COLUMN_KINDS = "biufcSUTMmO"


def check_parts(result: Map) -> None:
    """Bring the parts of a map into their form, or raise an error about the first that does not fit the table.

    Parameters
    ----------
    result : Map
        `X` is checked already.

    Raises
    ------
    TypeError, ValueError
        If a part has a wrong type, shape or value.
    """
    n, m = result.n_samples, result.n_features
    result.embedding = _places(result.embedding, n)
    if result.surface is not None:
        _check_surface(result.surface, result.embedding)
    for name in ("method", "label_name", "name", "metric"):
        if not isinstance(getattr(result, name), str):
            fact = f"found {type(getattr(result, name)).__name__}"
            raise TypeError(message(name, "text", fact=fact))
    if neighbors.native_metric(result.metric) is None:
        neighbors.check_metric(result.metric, not isinstance(result.X, np.ndarray))
    if result.image_shape is not None:
        result.image_shape = check_picture(result.image_shape, m)
    names = [str(name) for name in result.feature_names]
    result.feature_names = names or default_names(m, result.image_shape)
    if len(result.feature_names) != m:
        fact = f"{len(result.feature_names)} names, {m} features"
        raise ValueError(message("feature_names", "one for each feature", fact=fact))
    if result.images is not None:
        result.images = _check_images(result.images, n)
    if result.labels is not None:
        result.labels = check_labels(result.labels, n)
    if result.point_names is not None:
        result.point_names = _column(result.point_names, n, "point_names")
    result.metadata = {
        str(name): _column(column, n, f"metadata {name!r:.60}") for name, column in check_metadata(result.metadata)
    }
    if result.completion is not None:
        _check_completion(result.completion, (n, m))
    if result.scale is not None:
        _check_scaling(result.scale, m)
    if result.representation is not None:
        check_representation(result.representation, n, m)
    if result.graph is not None:
        result.graph = neighbors.read_graph(result.graph, n)


def _places(embedding: Any, n: int) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):  # a place beyond float32 becomes infinite: no place
        places = np.ascontiguousarray(embedding, dtype=np.float32)
    if places.ndim != 2 or places.shape[0] != n:
        what = f"embedding of shape {places.shape}"
        raise ValueError(message(what, f"of {n:,} rows, one for each of X"))
    if places.shape[1] == 0:
        raise ValueError(message(f"embedding of shape {places.shape}", "of at least one column"))
    return places


def _check_surface(surface: Any, places: npt.NDArray[np.float32]) -> None:
    if not isinstance(surface, Surface):
        raise TypeError(message("surface", "a gnomon.surfaces.Surface or None", fact=f"found {type(surface).__name__}"))
    remedy = f"Give {type(surface).__name__}.drawn of the coordinates."
    if places.shape[1] != surface.width:
        what, rule = f"embedding of shape {places.shape}", f"of {surface.width} columns on a {surface.name}"
        raise ValueError(message(what, rule, remedy=remedy))
    if isinstance(surface, Hyperboloid) and (outside := np.flatnonzero(np.square(places).sum(axis=1) >= 1.0)).size:
        raise ValueError(message("embedding", "inside the unit circle", fact=f"row {outside[0]} is not", remedy=remedy))


def check_metadata(metadata: Any) -> Iterable[tuple[Any, Any]]:
    """Return names and columns, tensors as arrays; raise TypeError if they are not those of a mapping."""
    if not callable(getattr(metadata, "items", None)):
        fact = f"found {type(metadata).__name__}"
        remedy = "Pass {'age': ages}; columns of a table that drop names are kept as metadata without it."
        raise TypeError(message("metadata", "a mapping of names to columns", fact=fact, remedy=remedy))
    return [(name, unmasked(column, name=f"metadata[{name!r:.60}]")) for name, column in metadata.items()]


def check_picture(shape: Any, n_features: int | None = None) -> tuple[int, ...]:
    """Return the shape of a picture, of as many pixels as there are features if that is known."""
    rule = "(height, width) or (height, width, channels) of as many pixels as features"
    if not isinstance(shape, Iterable):
        raise TypeError(message(f"image_shape={shape!r:.60}", rule, fact=f"found {type(shape).__name__}"))
    sizes = tuple(shape)
    whole = all(isinstance(size, (int, np.integer)) and not isinstance(size, bool) and size > 0 for size in sizes)
    fits = whole and n_features in (None, np.prod([float(size) for size in sizes]))
    if len(sizes) not in (2, 3) or not fits:
        fact = "" if n_features is None else f"{n_features} features"
        raise ValueError(message(f"image_shape={sizes!r:.60}", rule, fact=fact))
    return tuple(int(size) for size in sizes)


def _check_scaling(scale: Any, n_features: int) -> None:
    if not isinstance(scale, Scaling):
        raise TypeError(message("scale", "a gnomon.data.Scaling or None", fact=f"found {type(scale).__name__}"))
    if scale.name not in SCALINGS:
        raise ValueError(message(f"scale of name {scale.name!r:.40}", f"one of {', '.join(map(repr, SCALINGS))}"))
    weight = np.ones(n_features) if scale.weight is None else np.asarray(scale.weight)
    for name, column in (
        ("weight", weight),
        ("center", np.asarray(scale.center)),
        ("spread", np.asarray(scale.spread)),
    ):
        counting = weight > 0.0 if name == "spread" else slice(None)  # what counts for nothing has an infinite spread
        if column.shape != (n_features,) or column.dtype != np.float64 or not np.isfinite(column[counting]).all():
            fact = f"shape {column.shape}, type {column.dtype}, {n_features} features"
            raise ValueError(message(f"{name} of scale", "one finite float64 for each feature", fact=fact))
    if not (weight >= 0.0).all():
        raise ValueError(message("weight of scale", ">= 0", fact=f"smallest {weight.min():.3g}"))
    if not np.isposinf(scale.spread[weight == 0.0]).all():
        raise ValueError(message("spread of scale", "infinite for a feature of weight 0"))
    if not (scale.spread > 0.0).all():
        raise ValueError(message("spread of scale", "> 0", fact=f"smallest {scale.spread.min():.3g}"))


def _check_completion(completion: Any, shape: tuple[int, int]) -> None:
    if not isinstance(completion, Completion):
        fact = f"found {type(completion).__name__}"
        raise TypeError(message("completion", "a gnomon.completion.Completion or None", fact=fact))
    if completion.missing.shape != shape or completion.missing.dtype != np.bool_:
        fact = f"its missing values have shape {completion.missing.shape} and type {completion.missing.dtype}"
        raise ValueError(message("completion", f"of a table of shape {shape}", fact=fact))


def _check_images(given: Any, n: int) -> Any:
    images = unmasked(given, name="images")
    shape: tuple[int, ...] = getattr(images, "shape", ())
    dtype = getattr(images, "dtype", None)
    fits = len(shape) == 3 or (len(shape) == 4 and shape[3] in (1, 3))
    if dtype != np.uint8 or not fits or shape[0] != n or 0 in shape:
        what, remedy = f"images of shape {shape} and type {dtype}", ""
        if len(shape) == 4 and shape[1] in (1, 3) and not fits:  # as torch has them
            remedy = f"Pass images.{'permute' if is_tensor(given) else 'transpose'}(0, 2, 3, 1)."
        rule = f"uint8 of shape ({n}, height, width) or ({n}, height, width, 3)"
        raise ValueError(message(what, rule, remedy=remedy))
    return images


def _column(values: Any, n: int, what: str) -> npt.NDArray[Any]:
    column = np.asarray(values)
    if column.shape != (n,) or column.dtype.kind not in _COLUMN_KINDS:
        fact = f"shape {column.shape}, type {column.dtype}"
        raise ValueError(message(what, f"one plain value for each of {n:,} rows", fact=fact))
    return column
