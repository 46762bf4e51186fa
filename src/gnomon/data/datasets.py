"""Data sets by name: two small ones that come with scikit-learn, larger ones from a folder, a cache or OpenML."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._files import atomic_write
from gnomon._validation import Instance, check_parameters, message
from gnomon.data.dataset import Dataset, draw_rows, require_name
from gnomon.data.names import default_names
from gnomon.data.numpy_files import read_npz

__all__ = [
    "dataset_names",
    "fetch_cifar10_sample",
    "fetch_fashion_mnist",
    "fetch_mnist",
    "fetch_paul15",
    "fetch_pbmc4k",
    "fetch_pbmc68k_reduced",
    "load_dataset",
    "load_digits",
    "load_iris",
]

_logger = logging.getLogger("gnomon.data")
_CLOTHES = ("T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")


@dataclass(frozen=True)
class _Source:
    """Where a data set can be had: a file name and, if OpenML has it, its name there."""

    file: str
    label_name: str
    openml: str | None = None
    target_names: tuple[str, ...] = ()
    shape: tuple[int, ...] = ()


_SOURCES = {
    "mnist": _Source("mnist.npz", "digit", "mnist_784", tuple("0123456789"), (28, 28)),
    "fashion_mnist": _Source("fashion_mnist.npz", "article", "Fashion-MNIST", _CLOTHES, (28, 28)),
    "paul15": _Source("paul15.npz", "cluster"),
    "pbmc4k": _Source("pbmc4k.npz", "group"),
    "pbmc68k_reduced": _Source("pbmc68k_reduced.npz", "cell type"),
    "cifar10_sample": _Source("cifar10_5k.npz", "class"),
}


def _cache_folder() -> Path | None:
    """Return where downloads are kept: GNOMON_CACHE, else the platform's place; None without a home."""
    given = os.environ.get("GNOMON_CACHE")
    if given:
        return Path(given)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "gnomon" / "Cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "gnomon"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "gnomon"


def _download(source: _Source) -> dict[str, Any]:
    """Return the arrays of a data set from OpenML."""
    from sklearn.datasets import fetch_openml

    _logger.info("downloading %s from OpenML", source.openml)
    # The parser that needs no pandas; no cache of scikit-learn's, because ours is smaller.
    bunch = fetch_openml(source.openml, version=1, as_frame=False, parser="liac-arff", cache=False)
    return {
        "X": bunch.data.astype(np.uint8),
        "y": bunch.target.astype(np.int64),
        "target_names": np.array(source.target_names),
        "feature_shape": np.array(source.shape),
    }


def _store(arrays: dict[str, Any], path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            np.savez_compressed(file, **arrays)
    except OSError as error:  # a full disk or a read-only home must not lose the download
        _logger.warning("%s cannot be kept in the cache (%s)", path.name, error)


def _fetch(name: str) -> Dataset:
    source = _SOURCES[name]
    given, cache = os.environ.get("GNOMON_DATA"), _cache_folder()
    places = [folder / source.file for folder in (Path(given) if given else None, cache) if folder is not None]
    for place in places:
        if place.is_file():
            return replace(read_npz(place), source=name, label_name=source.label_name)
    failure = "OpenML does not have it"
    if source.openml is not None:
        try:
            arrays = _download(source)
        except Exception as error:  # no network, a proxy's page, a broken file: all end in the same advice
            failure = (
                f"OpenML cannot be reached ({type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''})"
            )
        else:
            if cache is not None:
                _store(arrays, cache / source.file)
            X, labels = arrays["X"], arrays["target_names"][arrays["y"]]
            pictures = draw_rows(X, source.shape)
            return Dataset(
                X,
                labels=labels,
                label_name=source.label_name,
                images=pictures,
                image_shape=source.shape,
                source=name,
            )
    looked = ", ".join(str(place) for place in places) or "nowhere: GNOMON_DATA is not set and there is no home folder"
    raise FileNotFoundError(
        message(
            f"file {source.file!r}",
            "in the folder GNOMON_DATA or in the cache",
            fact=f"looked for {looked}; {failure}",
            remedy=f"Set the environment variable GNOMON_DATA to a folder that holds {source.file}.",
        )
    )


def _beside_scikit_learn(name: str, file: str, *, n_headers: int) -> npt.NDArray[np.float64]:
    """Return a table that comes with scikit-learn, which takes seconds to import; the numbers of classes are last."""
    package = find_spec("sklearn")
    for folder in (package.submodule_search_locations if package else None) or ():
        path = Path(folder, "datasets", "data", file)
        if path.is_file():
            return np.loadtxt(path, delimiter=",", skiprows=n_headers)
    from sklearn import datasets

    bunch = getattr(datasets, name)()
    return np.column_stack([bunch.data, bunch.target])


def load_digits() -> Dataset:
    """Return 1,797 pictures of handwritten digits, 8 x 8 pixels of 0 to 16; needs no network."""
    table = _beside_scikit_learn("load_digits", "digits.csv.gz", n_headers=0)
    X = table[:, :-1]
    return Dataset(
        X,
        feature_names=default_names(64, (8, 8)),
        labels=table[:, -1].astype(np.int64).astype(str),
        label_name="digit",
        images=draw_rows(X, (8, 8)),
        image_shape=(8, 8),
        source="digits",
    )


def load_iris() -> Dataset:
    """Return four lengths in cm of 150 flowers of three kinds; needs no network."""
    table = _beside_scikit_learn("load_iris", "iris.csv", n_headers=1)
    labels = np.array(["setosa", "versicolor", "virginica"])[table[:, -1].astype(np.int64)]
    names = [f"{part} {size} (cm)" for part in ("sepal", "petal") for size in ("length", "width")]
    return Dataset(np.ascontiguousarray(table[:, :-1]), names, labels=labels, label_name="species", source="iris")


def fetch_mnist() -> Dataset:
    """Return 70,000 pictures of handwritten digits, 28 x 28 pixels; 60,000 for training come first."""
    return _fetch("mnist")


def fetch_fashion_mnist() -> Dataset:
    """Return 70,000 pictures of articles of clothing, 28 x 28 pixels; 60,000 for training come first."""
    return _fetch("fashion_mnist")


def fetch_paul15() -> Dataset:
    """Return 2,730 mouse blood progenitors by 2,000 genes in 19 clusters (Paul et al. 2015); a file is needed."""
    return _fetch("paul15")


def fetch_pbmc4k() -> Dataset:
    """Return 4,271 human blood cells by 2,000 genes in 8 groups (10x Genomics); a file is needed."""
    return _fetch("pbmc4k")


def fetch_pbmc68k_reduced() -> Dataset:
    """Return 700 human blood cells by 765 genes of 10 cell types (Zheng et al. 2017); a file is needed."""
    return _fetch("pbmc68k_reduced")


def fetch_cifar10_sample() -> Dataset:
    """Return 5,000 colour pictures of 10 classes, 32 x 32 pixels; a file is needed."""
    return _fetch("cifar10_sample")


_LOADERS: dict[str, Callable[[], Dataset]] = {
    "digits": load_digits,
    "iris": load_iris,
    "mnist": fetch_mnist,
    "fashion_mnist": fetch_fashion_mnist,
    "paul15": fetch_paul15,
    "pbmc4k": fetch_pbmc4k,
    "pbmc68k_reduced": fetch_pbmc68k_reduced,
    "cifar10_sample": fetch_cifar10_sample,
}


def dataset_names() -> list[str]:
    """Return the names that `load_dataset` knows."""
    return list(_LOADERS)


@entrance("load_dataset")
def load_dataset(name: str) -> Dataset:
    """Return a data set by name.

    Parameters
    ----------
    name : str
        One of `dataset_names`, such as "digits" or "mnist"; hyphens count as underscores.

    Returns
    -------
    Dataset

    Raises
    ------
    TypeError, ValueError
        If `name` is no text, or not one of `dataset_names`.
    """
    name = check_parameters({"name": Instance((str,), "a text")}, {"name": name})["name"].replace("-", "_")
    require_name(name, dataset_names(), what="name")
    return _LOADERS[name]()
