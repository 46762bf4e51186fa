"""Aligned maps in a file: the method of each table, the tables, and which of their rows are the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._archive import damaged_file, read_archive, write_archive
from gnomon._validation import message
from gnomon.data import check_table
from gnomon.methods.state import check_fit, describe_method, make_method
from gnomon.storage import Arrays, NotStorableError, Parts, Reader, Writer, check_names, checksum

if TYPE_CHECKING:
    from gnomon.methods.aligned.maps import AlignedMaps

__all__ = ["KIND", "load_aligned", "save_aligned"]

KIND = "gnomon-aligned-maps"
_VERSION = 1
_ENTRIES = ("parameters", "method", "given", "tables", "seed", "timings", "n_arrays", "sha256")
_OF_A_TABLE = ("values", "identities", "method")
_OWN = ("alignment_weight", "window", "random_state", "n_jobs", "callback")


def save_aligned(maps: AlignedMaps, path: str | os.PathLike[str]) -> None:
    """Write fitted aligned maps to a file; see `AlignedMaps.save`."""
    arrays: Arrays = {}
    names: dict[str, str] = {}

    def writer() -> Writer:
        """Return one that shares the arrays, so that equal ones are stored once."""
        return Writer(Parts(), arrays, names)

    try:
        tables = [
            {
                "values": writer().pack(check_table(X, **maps._reading).values, f"table {number}"),
                "identities": writer().pack(own, f"identities_[{number}]"),
                "method": describe_method(estimator, writer()),
            }
            for number, (X, own, estimator) in enumerate(
                zip(maps._tables, maps.identities_, maps.estimators_, strict=True)
            )
        ]
        own = {name: getattr(maps, name) for name in _OWN}
        if not isinstance(own["random_state"], int | None):
            own["random_state"] = maps.seed_
        description = {
            "parameters": {name: writer().pack(value, name) for name, value in own.items()},
            "method": describe_method(maps._estimator, writer()),
            "given": {"name": maps.method, "parameters": [*maps._parameters]} if isinstance(maps.method, str) else None,
            "tables": tables,
            "seed": maps.seed_,
            "timings": writer().pack(maps.timings_, "timings_"),
            "n_arrays": len(arrays),
        }
    except NotStorableError as error:
        fact = f"{error}, and a file holds no code"
        remedy = "Give the method by name or as one of gnomon, callback=None."
        raise TypeError(message("the maps", "ones that a file can hold", fact=fact, remedy=remedy)) from None
    sealed = {**description, "sha256": checksum(arrays, description)}
    write_archive(path, kind=KIND, version=_VERSION, arrays=arrays, description=sealed)


def load_aligned(cls: type[AlignedMaps], path: str | os.PathLike[str]) -> AlignedMaps:
    """Read maps of a class that `save_aligned` wrote; raise ValueError if the file is anything else."""
    arrays, description = read_archive(path, kind=KIND, version=_VERSION, check=check_names)
    about = {name: value for name, value in description.items() if name not in ("kind", "version")}
    try:
        return _unpack(cls, about, arrays)
    except (TypeError, ValueError, OverflowError, AttributeError, LookupError) as error:
        raise damaged_file(path, str(error).rstrip("."), kind=KIND) from error


def _unpack(cls: type[AlignedMaps], about: dict[str, Any], arrays: Arrays) -> AlignedMaps:
    """Return the maps; a ValueError or one of those that `load_aligned` expects has a bare fact as text."""
    if about.keys() != set(_ENTRIES):
        raise ValueError(f"its description of the maps is not {', '.join(_ENTRIES)}")
    rest = {key: value for key, value in about.items() if key != "sha256"}
    if about["sha256"] != checksum(arrays, rest):
        raise ValueError("the maps have another checksum than when they were written")
    reader = Reader(arrays)
    own = {name: reader.unpack(node) for name, node in about["parameters"].items()}
    if own.keys() != set(_OWN) or own["callback"] is not None:
        raise ValueError("the parameters of the maps are not those of aligned maps")
    made = cls(**_method(make_method(about["method"], reader), about["given"]), **own)
    tables, seed, timings = about["tables"], about["seed"], reader.unpack(about["timings"])
    if type(seed) is not int or seed < 0:
        raise ValueError(f"their seed is {seed!r:.40}")
    if not isinstance(timings, dict) or not all(type(seconds) is float for seconds in timings.values()):
        raise ValueError("their timings are no seconds by stage")
    if not isinstance(tables, list) or len(tables) < 2:
        raise ValueError("they are not maps of two tables or more")
    found = [_table(one, reader, type(made._estimator)) for one in tables]
    if reader.left:
        raise ValueError(f"it holds arrays that no map has: {', '.join(sorted(reader.left)):.200}")
    made._tables, made.identities_, made.estimators_ = (list(column) for column in zip(*found, strict=True))
    made.embeddings_ = [one.embedding_ for one in made.estimators_]
    if len({Y.shape[1] for Y in made.embeddings_}) > 1:
        raise ValueError("the maps are not of one dimension")
    numbers = np.unique(np.concatenate(made.identities_))
    if not np.array_equal(numbers, np.arange(len(numbers))):
        raise ValueError("their rows are not numbered without gaps")
    made.seed_, made.timings_ = seed, timings
    return made


def _method(estimator: Any, given: Any) -> dict[str, Any]:
    """Return the method and its parameters as they were given: by name, or as an object."""
    if given is None:
        return {"method": estimator}
    name, parameters = given["name"], given["parameters"]
    known = estimator.get_params(deep=False)
    if not isinstance(name, str) or not isinstance(parameters, list) or not known.keys() >= set(parameters):
        raise ValueError(f"the method is given as {given!r:.100}")
    return {"method": name, **{one: known[one] for one in parameters}}


def _table(about: Any, reader: Reader, kind: type) -> tuple[Any, npt.NDArray[np.int64], Any]:
    """Return a table, which row each of its rows is, and the method that was fitted to it."""
    if not isinstance(about, dict) or about.keys() != set(_OF_A_TABLE):
        raise ValueError(f"its description of a table is not {', '.join(_OF_A_TABLE)}")
    values, rows = reader.unpack(about["values"]), reader.unpack(about["identities"])
    estimator: Any = make_method(about["method"], reader)
    check_fit(estimator)
    shape = (len(estimator.embedding_), estimator.n_features_in_)
    if type(estimator) is not kind:
        raise ValueError("the method fitted to a table is another than that of the maps")
    plain = isinstance(values, np.ndarray) and values.dtype.kind == "f"
    if not (plain or (isinstance(values, sp.csr_array) and values.dtype.kind == "f")) or values.shape != shape:
        raise ValueError("a table has other rows or features than were mapped")
    whole = isinstance(rows, np.ndarray) and rows.dtype == np.int64 and rows.shape == shape[:1]
    if not whole or (rows < 0).any() or len(np.unique(rows)) < len(rows):
        raise ValueError("the rows of a table are not numbered, each by another number")
    return values, rows, estimator
