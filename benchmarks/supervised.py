"""Maps that follow classes, beside those of umap-learn: rows kept from the fit are placed, and their classes told.

python -m benchmarks.supervised --sets digits wine breast_cancer pbmc68k_reduced --seeds 3
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/supervised.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.quality import compare_neighborhoods
from benchmarks.summary import table_of
from gnomon.datasets import load_dataset
from gnomon.exceptions import SupervisionWarning

__all__ = ["judge", "labelled_table", "main"]

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]
SETS = ("digits", "wine", "breast_cancer", "pbmc68k_reduced")
_NEIGHBORS = 15
_TEST = 0.3


def labelled_table(name: str) -> tuple[Floats, Labels]:
    """Return a table and its classes; wine and breast_cancer, of unlike units, standardised."""
    import sklearn.datasets

    if name in ("digits", "wine", "breast_cancer"):
        found = getattr(sklearn.datasets, f"load_{name}")()
        X, y = np.asarray(found.data, dtype=np.float64), found.target
    else:
        dataset: Any = load_dataset(name)
        values = dataset.X.toarray() if hasattr(dataset.X, "toarray") else dataset.X
        X, y = np.asarray(values, dtype=np.float64), dataset.labels
    if name in ("wine", "breast_cancer"):
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, np.unique(np.asarray(y), return_inverse=True)[1].astype(np.int64)


def _umap_learn(seed: int) -> Any:
    from umap import UMAP

    return UMAP(n_neighbors=_NEIGHBORS + 1, random_state=seed, n_jobs=1)  # it counts the row itself


def _following(name: str) -> Callable[[int], Any]:
    """Return what makes a method of the t-SNE family, which follows a target only if it is asked to."""
    return lambda seed: getattr(gnomon, name)(target_weight=0.5, random_state=seed, n_jobs=1)


TOOLS: dict[str, tuple[Callable[[int], Any], str]] = {
    "gnomon, transform": (lambda seed: gnomon.UMAP(n_neighbors=_NEIGHBORS, random_state=seed, n_jobs=1), "transform"),
    "gnomon, place": (lambda seed: gnomon.UMAP(n_neighbors=_NEIGHBORS, random_state=seed, n_jobs=1), "place"),
    "umap-learn": (_umap_learn, "transform"),
    "TSNE, transform": (_following("TSNE"), "transform"),
    **{name: (_following(name), "place") for name in ("TSNE", "SymmetricSNE", "SNE", "NegTSNE", "InfoNCETSNE")},
}


def judge(
    make: Callable[[int], Any], place: str, X: Floats, y: Labels, *, supervision: str, seed: int
) -> dict[str, float]:
    """Fit seven tenths of a table and place the rest.

    Parameters
    ----------
    make : callable
        Seed -> estimator.
    place : str
        The method that places rows.
    X, y : ndarray
        Rows and their classes.
    supervision : {"none", "classes", "shuffled"}
        What the fit is told; "shuffled" permutes the classes of the rows that are fitted.
    seed : int
        Of the split, the shuffling and the fit.

    Returns
    -------
    dict
        "held out": share of the rows placed whose true class is that of most of the 15 fitted rows nearest in the map,
        by their true classes. "told": the same by the classes that the fit was told. "trust": trustworthiness of the
        map of the rows fitted. "warned": whether a SupervisionWarning was given.
    """
    from sklearn.model_selection import train_test_split
    from sklearn.neighbors import KNeighborsClassifier

    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=_TEST, stratify=y, random_state=seed)
    told = np.random.default_rng(seed).permutation(y_train) if supervision == "shuffled" else y_train
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fitted = make(seed).fit(X_train, None if supervision == "none" else told)
        placed = getattr(fitted, place)(X_test)
    classify = KNeighborsClassifier(_NEIGHBORS)
    return {
        "held out": float(classify.fit(fitted.embedding_, y_train).score(placed, y_test)),
        "told": float(classify.fit(fitted.embedding_, told).score(fitted.embedding_, told)),
        "trust": compare_neighborhoods(X_train, np.asarray(fitted.embedding_, dtype=np.float64)).trustworthiness,
        "warned": float(any(issubclass(one.category, SupervisionWarning) for one in said)),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table of means over seeds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--tools", nargs="+", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", help="a JSON file for all figures")
    options = parser.parse_args(arguments)
    found: list[dict[str, Any]] = []
    for name in options.sets:
        X, y = labelled_table(name)
        for supervision in ("none", "classes", "shuffled"):
            for tool in options.tools:
                runs = [judge(*TOOLS[tool], X, y, supervision=supervision, seed=s) for s in range(options.seeds)]
                means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
                found.append({"set": name, "target": supervision, "tool": tool, **means})
    header = list(found[0])
    rows = [[f"{value:.3f}" if isinstance(value, float) else str(value) for value in one.values()] for one in found]
    print(table_of(header, rows))
    if options.out:
        Path(options.out).write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
