"""How many neighbours of a full table are kept when values go missing and are filled in, and what that takes.

python -m benchmarks.missing --data wine breast_cancer digits --shares 0.05 0.2 0.5 --json out.json
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon
from benchmarks.machine import describe_machine
from benchmarks.summary import table_of
from benchmarks.tables import load_table
from gnomon import running
from gnomon.exceptions import GnomonWarning

__all__ = ["WAYS", "hide_values", "kept_neighbors", "main"]

_N_NEIGHBORS = 15
_BLOCKS = 10  # groups of rows, each of which lacks a run of columns

Table = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


def hide_values(shape: tuple[int, int], share: float, pattern: str, seed: int) -> Mask:
    """Return which values of a table are taken away.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns.
    share : float in (0, 1)
        Share of the values.
    pattern : {"random", "blocks"}
        Each value by itself; or, in each of ten random groups of rows, a run of columns that begins anywhere.
    seed : int

    Returns
    -------
    ndarray of the shape, bool
        Each row keeps one value at least.
    """
    n, d = shape
    rng = np.random.default_rng(seed)
    hidden = rng.random(shape) < share if pattern == "random" else np.zeros(shape, dtype=bool)
    if pattern == "blocks":
        for rows in np.array_split(rng.permutation(n), _BLOCKS):
            columns = (rng.integers(d) + np.arange(max(1, round(share * d)))) % d
            hidden[np.ix_(rows, columns)] = True
    hidden[hidden.all(axis=1), 0] = False
    return hidden


def kept_neighbors(X: npt.NDArray[Any], Y: npt.NDArray[Any]) -> float:
    """Return the share of the 15 nearest neighbours in X that are among those in Y, by brute force."""
    from sklearn.neighbors import NearestNeighbors

    found = [
        NearestNeighbors(n_neighbors=_N_NEIGHBORS, algorithm="brute", n_jobs=1).fit(rows).kneighbors()[1]
        for rows in (np.asarray(X, dtype=np.float64), np.asarray(Y, dtype=np.float64))
    ]
    return float(np.mean([len(np.intersect1d(a, b)) for a, b in zip(*found, strict=True)]) / _N_NEIGHBORS)


def _imputer(**options: Any) -> Callable[[Table], npt.NDArray[Any]]:
    def fill(X: Table) -> npt.NDArray[Any]:
        from sklearn.impute import SimpleImputer

        return np.asarray(SimpleImputer(keep_empty_features=True, **options).fit_transform(X))

    return fill


def _nearest(X: Table) -> npt.NDArray[Any]:
    from sklearn.impute import KNNImputer

    return np.asarray(KNNImputer(keep_empty_features=True).fit_transform(X))


def _ours(X: Table) -> npt.NDArray[Any]:
    return np.asarray(gnomon.complete_missing(X, random_state=0).X)


WAYS: dict[str, Callable[[Table], npt.NDArray[Any]]] = {
    "mean": _imputer(strategy="mean"),
    "median": _imputer(strategy="median"),
    "KNNImputer": _nearest,
    "gnomon": _ours,
}


def _load(name: str, rows: int | None) -> Table:
    """Return a table; those of scikit-learn are standardised, single cells are their 50 principal components."""
    if name in ("wine", "breast_cancer"):
        from sklearn import datasets

        X = getattr(datasets, f"load_{name}")().data
        return np.asarray((X - X.mean(axis=0)) / X.std(axis=0), dtype=np.float32)
    return load_table(name, rows=rows, pca=50 if name in ("paul15", "pbmc4k", "pbmc68k_reduced") else None)[0]


def _measure(X: Table, hidden: Mask, ways: Sequence[str]) -> Iterator[dict[str, Any]]:
    given = np.where(hidden, np.nan, X).astype(np.float32)
    square = float(np.mean((X - np.nanmean(given, axis=0))[hidden] ** 2))
    for way in ways:
        begin = time.perf_counter()
        filled = WAYS[way](given)
        middle = time.perf_counter()
        places = gnomon.UMAP(random_state=0).fit_transform(filled.astype(np.float32))
        end = time.perf_counter()
        yield {
            "way": way,
            "error": float(np.mean((filled - X)[hidden] ** 2)) / square,
            "kept in the table": kept_neighbors(X, filled),
            "kept in the map": kept_neighbors(X, places),
            "seconds": middle - begin,
            "with UMAP": end - begin,
        }


def _text(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table, and write the measurements to a file if one is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.missing", description=__doc__)
    parser.add_argument("--data", nargs="+", default=["wine", "breast_cancer", "digits"])
    parser.add_argument("--rows", type=int, help="a fixed random sample of so many rows")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.05, 0.2, 0.5])
    parser.add_argument("--patterns", nargs="+", choices=["random", "blocks"], default=["random", "blocks"])
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--threads", type=int, default=1, help="of gnomon")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    found = []
    print(describe_machine())
    with running(n_threads=options.threads), warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        for name in options.data:
            X = _load(name, options.rows)
            gnomon.UMAP(random_state=0).fit(X[:100])  # what is loaded once is not counted
            whole = kept_neighbors(X, gnomon.UMAP(random_state=0).fit_transform(X))
            print(f"\n{name}, {len(X)} rows: a map of the full table keeps {whole:.3f}\n")
            for pattern in options.patterns:
                for share in options.shares:
                    hidden = hide_values(X.shape, share, pattern, options.seed)
                    cases = list(_measure(X, hidden, options.ways))
                    found += [{"data": name, "pattern": pattern, "share": share, **case} for case in cases]
                    print(f"{share:.0%} missing, {pattern}")
                    print(
                        table_of(list(cases[0]), [[_text(value) for value in case.values()] for case in cases]) + "\n"
                    )
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
