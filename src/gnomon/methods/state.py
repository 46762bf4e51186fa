"""A fitted method as arrays and a description that JSON can hold, and back; never a pickle.

What is stored are the parameters and the fitted attributes of the estimator, with the objects of gnomon in them. Only
the classes named in `gnomon.storage` are made again, each by its own constructor and from values of the types that its
arguments declare.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon._entrance import VERBOSE
from gnomon._validation import Either, Integer, Nothing, check_parameters
from gnomon.exceptions import NeighborsWarning
from gnomon.methods.registry import METHODS
from gnomon.neighbors import read_graph
from gnomon.storage import Arrays, NotStorableError, Parts, Reader, Writer, checksum
from gnomon.surfaces import Surface

if TYPE_CHECKING:
    from gnomon.methods.base import Embedder

__all__ = ["check_fit", "describe_method", "make_method", "pack_method", "unpack_method"]

_METHODS = frozenset({card.estimator for card in METHODS} | {"NeighborEmbedding"})
_OF_A_METHOD = ("method", "parameters", "fitted")
_ENTRIES = (*_OF_A_METHOD, "n_arrays", "sha256")
_MADE_ANEW = frozenset({"_atlas", "_preimages"})  # on first use, to the same bytes
_REPORTS = frozenset(
    {"advice_", "affinities_", "convergence_", "frames_", "gram_", "low_rank_", "solution_", "sparse_", "timings_"}
)  # what a fit tells, or keeps to go on; neither places rows, and the file of a map does without
# Parameters that the file of a map does without.
_OF_THE_CALL = frozenset({"callback", "n_jobs", "precomputed_knn", "verbose"})
# What parameters without a rule of the method may be in a file.
_FREE = {
    "callback": Nothing(),
    "n_jobs": Either(Integer(), Nothing()),
    "random_state": Either(Integer(0), Nothing()),
    "verbose": VERBOSE,
}
_ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]*_|_[a-z][a-z0-9_]*[a-z0-9]", re.ASCII)


def pack_method(estimator: Any, parts: Parts | None = None) -> tuple[Arrays, dict[str, Any]]:
    """Return the arrays of a fitted method and its description.

    Parameters
    ----------
    estimator : Embedder
        Fitted.
    parts : Parts or None, default=None
        The map in whose file the method is stored: it refers to them, and what does not place rows is left out. None
        stores everything.

    Raises
    ------
    NotStorableError
        If it is not a method of gnomon, or holds a function or an object of another library.
    """
    writer = Writer(Parts() if parts is None else parts)
    left_out = _MADE_ANEW if parts is None else {*_MADE_ANEW, *_REPORTS, *_OF_THE_CALL}
    description = {**describe_method(estimator, writer, left_out), "n_arrays": len(writer.arrays)}
    return writer.arrays, {**description, "sha256": checksum(writer.arrays, description)}


def describe_method(estimator: Any, writer: Writer, left_out: Collection[str] = _MADE_ANEW) -> dict[str, Any]:
    """Return the description of a method, fitted or not, whose arrays the writer collects.

    Parameters
    ----------
    estimator : Embedder
    writer : Writer
    left_out : collection of str
        Parameters and fitted attributes that are not stored.

    Raises
    ------
    NotStorableError
        As by `pack_method`.
    """
    name = type(estimator).__name__
    if name not in _METHODS or type(estimator) is not _method(name):
        raise NotStorableError(f"{type(estimator).__module__}.{name} is no method of gnomon")
    parameters = estimator.get_params(deep=False)
    if not isinstance(parameters.get("random_state"), (int, type(None))):
        parameters["random_state"] = getattr(estimator, "seed_", None)
    parameters |= _given_neighbors(parameters, estimator)
    fitted = {key: value for key, value in vars(estimator).items() if key not in parameters}
    return {
        "method": name,
        "parameters": {key: writer.pack(value, key) for key, value in parameters.items() if key not in left_out},
        "fitted": {key: writer.pack(value, key) for key, value in fitted.items() if key not in left_out},
    }


def _given_neighbors(parameters: dict[str, Any], estimator: Any) -> dict[str, Any]:
    """Return neighbours that were given as the graph they were read as, which a file can hold in any case."""
    given = parameters.get("precomputed_knn")
    if given is None:
        return {}
    with warnings.catch_warnings():  # the fit has said it
        warnings.simplefilter("ignore", NeighborsWarning)
        return {"precomputed_knn": read_graph(given, len(estimator.embedding_), "precomputed_knn")}


def unpack_method(description: Any, arrays: Arrays, parts: Parts | None = None) -> Embedder:
    """Return the fitted method; the inverse of `pack_method`.

    Raises
    ------
    ValueError
        If the description or an array is not what `pack_method` gives, or does not fit the parts. The text is a bare
        fact.
    """
    if not isinstance(description, dict) or description.keys() != set(_ENTRIES):
        raise ValueError(f"its description of the method is not {', '.join(_ENTRIES[:-1])} and {_ENTRIES[-1]}")
    rest = {key: value for key, value in description.items() if key != "sha256"}
    if description["sha256"] != checksum(arrays, rest):
        raise ValueError("the method has another checksum than when it was written")
    reader = Reader(arrays, Parts() if parts is None else parts)
    made = make_method({name: rest[name] for name in _OF_A_METHOD}, reader, () if parts is None else _OF_THE_CALL)
    check_fit(made, parts)
    if reader.left:
        raise ValueError(f"it holds arrays that no method has: {', '.join(sorted(reader.left)):.200}")
    return made


def make_method(description: Any, reader: Reader, left_out: Collection[str] = ()) -> Embedder:
    """Return the method that `describe_method` described; raise ValueError as `unpack_method` does.

    Whether what was fitted fits together is for `check_fit` to say.
    """
    if not isinstance(description, dict) or description.keys() != set(_OF_A_METHOD):
        raise ValueError(f"its description of a method is not {', '.join(_OF_A_METHOD)}")
    name, given, fitted = (description[key] for key in _OF_A_METHOD)
    if not isinstance(name, str) or name not in _METHODS:
        raise ValueError(f"{name!r:.60} is no method of gnomon")
    if not isinstance(given, dict) or not isinstance(fitted, dict):
        raise ValueError("parameters or fitted of the method is not a dict")
    cls: type[Embedder] = _method(name)
    try:
        known = cls().get_params(deep=False).keys()
        if not given.keys() <= known - set(left_out):
            raise ValueError(f"parameters of {name} are {', '.join(sorted(given)):.200}")
        made = cls(
            **{key: reader.unpack(node) for key, node in given.items()}
        )  # the rest, of a newer gnomon, by default
        free = {key: rule for key, rule in _FREE.items() if key in known}
        rules = {**free, **getattr(cls, "_common_rules", {}), **getattr(cls, "_rules", {})}
        check_parameters(rules, made.get_params(deep=False), who=name)
        for key, node in fitted.items():
            if not _ATTRIBUTE.fullmatch(key) or key in known or _is_code(cls, key):
                raise ValueError(f"{key!r:.60} is no fitted attribute of {name}")
            setattr(made, key, reader.unpack(node))
    except (AttributeError, KeyError, IndexError, ArithmeticError) as error:
        raise ValueError(f"the method cannot be made again: {type(error).__name__} {error}") from error
    return made


def check_fit(estimator: Any, parts: Parts | None = None) -> None:
    """Raise ValueError unless what was fitted is of one width, one dimension and, in a map, those of the map."""
    try:
        _check_fit(estimator, parts)
    except (AttributeError, KeyError, IndexError, ArithmeticError) as error:
        raise ValueError(f"the method cannot be made again: {type(error).__name__} {error}") from error


def _check_fit(estimator: Any, parts: Parts | None) -> None:
    places, n_features = getattr(estimator, "embedding_", None), getattr(estimator, "n_features_in_", None)
    if places is None and estimator._fits_blocks:
        directions = estimator.components_
        if directions.ndim != 2 or directions.shape[1] != n_features:
            raise ValueError("the method has directions of other features")
        places = np.empty((0, directions.shape[0]))  # those of a table in blocks are not kept
    if not isinstance(places, np.ndarray) or places.ndim != 2 or places.dtype.kind != "f":
        raise ValueError("the method has no positions")
    if type(n_features) is not int or n_features < 1:
        raise ValueError(f"the method has {n_features!r:.40} features")
    surface = estimator.surface_
    if surface is not None and (places.shape[1] != 2 or not isinstance(surface, Surface)):
        raise ValueError("the method lies on a surface without coordinates there")
    drawn = places.shape[1] if surface is None else surface.width
    if parts is not None and parts.embedding is not None and drawn != parts.embedding.shape[1]:
        raise ValueError("the method maps to places of another dimension than the map has")
    if parts is not None and n_features != parts.X.shape[1]:
        raise ValueError("the method maps rows of other features than the map has")
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and (not isinstance(names, np.ndarray) or names.shape != (n_features,)):
        raise ValueError("the method has not one name for each feature")
    rows = getattr(estimator, "_fitted_rows", None)
    present = getattr(estimator, "_present", None)
    n_fitted = len(places) if present is None else len(present)
    if present is not None and not (present.ndim == 1 and present.dtype.kind == "i" and n_fitted <= len(places)):
        raise ValueError("the method has no numbers of the rows that were fitted")
    if present is not None and not ((present >= 0) & (present < len(places))).all():
        raise ValueError("the method names rows that it did not map")
    if rows is not None and rows.shape != (n_fitted, n_features):
        raise ValueError("the method keeps other rows than it mapped")
    placement, columns = (getattr(estimator, name, None) for name in ("placement_", "columns_"))
    if columns is not None and not _are_columns(columns, n_features):
        raise ValueError("the method uses columns that there are not")
    width = n_features if columns is None else len(columns)
    if placement is not None and (
        placement.Y.ndim != 2
        or placement.rows.shape != (len(placement.Y), width)
        or placement.Y.shape[1] != places.shape[1]
    ):
        raise ValueError("the method places rows among others than it mapped")


def _are_columns(columns: Any, n_features: int) -> bool:
    plain = isinstance(columns, np.ndarray) and columns.dtype == np.int64 and columns.ndim == 1 and columns.size > 0
    return plain and bool(((columns >= 0) & (columns < n_features)).all())


def _method(name: str) -> Any:
    from gnomon import methods

    return getattr(methods, name)


def _is_code(cls: type, name: str) -> bool:
    """Say whether a class has a method, property or descriptor of this name."""
    found = getattr(cls, name, None)
    return callable(found) or isinstance(found, property) or hasattr(found, "__get__")
