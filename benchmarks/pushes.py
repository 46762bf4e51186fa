"""Push rows of real tables halfway to a neighbour, and compare where they go with where the arrows said.

python -m benchmarks.pushes --sets digits wine breast_cancer mnist cifar10_sample paul15 pbmc4k pbmc68k_reduced
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/pushes.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.summary import table_of
from gnomon.datasets import load_dataset

__all__ = ["Pushes", "main", "push", "score", "table"]

Floats = npt.NDArray[np.float64]
SETS = ("digits", "wine", "breast_cancer", "mnist", "cifar10_sample", "paul15", "pbmc4k", "pbmc68k_reduced")
_ROWS = 3000
_NEIGHBORS = 15
_PUSHES = 3  # of each row
_TRUSTED = 0.5
_BINS = 10
_UNSEEN = 5  # one row in so many is kept from the map, to push others towards it


def table(name: str, rows: int = _ROWS) -> Floats:
    """Return at most so many rows of a table that scikit-learn or `gnomon.datasets` has, as they are."""
    if name in ("wine", "breast_cancer"):
        import sklearn.datasets

        return np.asarray(getattr(sklearn.datasets, f"load_{name}")().data, dtype=np.float64)
    values: Any = load_dataset(name).X
    if rows < values.shape[0]:
        values = values[np.sort(np.random.default_rng(0).choice(values.shape[0], rows, replace=False))]
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)


@dataclass(frozen=True)
class Pushes:
    """Rows pushed halfway to others.

    Attributes
    ----------
    rows : ndarray of shape (m,), int64
        Rows of the map.
    stated : dict of str to ndarray of shape (m,), float64
        Fidelities that the explanation states there, by their names.
    foretold : ndarray of shape (m, 3, 2), float64
        Three displacements of each, as `Explanation.foretell` says.
    placed, smooth : ndarray of shape (m, 3, 2), float64
        Where the pushed rows lie, from the row's place: by the method (`Map.place`), and by the map's smooth function.
    scale : ndarray of shape (m,), float64
        Mean squared distance of the row's neighbours in the map.
    """

    rows: npt.NDArray[np.int64]
    stated: dict[str, Floats]
    foretold: Floats
    placed: Floats
    smooth: Floats
    scale: Floats


def push(X: Floats, method: str, *, unseen: bool = False, n_rows: int = 800, seed: int = 0) -> Pushes:
    """Map a table and push random rows halfway to three of their 15 neighbours each.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    method : str
    unseen : bool, default=False
        Push towards rows that the map was made without, a fifth of all: to the three nearest.
    n_rows : int
    seed : int
        Of the choice of rows.
    """
    from sklearn.neighbors import NearestNeighbors

    rng = np.random.default_rng(seed)
    kept = np.zeros(len(X), dtype=bool)
    if unseen:
        kept[rng.permutation(len(X))[: len(X) // _UNSEEN]] = True
    mine, other = X[~kept], X[kept] if unseen else X
    made = gnomon.map(mine, method, random_state=0)
    explanation = made.explain()
    places = np.asarray(made.embedding, dtype=np.float64)
    scaled = [rows if made.scale is None else made.scale.apply(rows) for rows in (mine, other)]
    rows = np.sort(rng.choice(len(mine), size=min(n_rows, len(mine)), replace=False))
    k = _NEIGHBORS // _UNSEEN if unseen else _NEIGHBORS
    near = NearestNeighbors(n_neighbors=k + (not unseen)).fit(scaled[1]).kneighbors(scaled[0][rows])[1][:, -k:]
    chosen = rng.permuted(near, axis=1)[:, :_PUSHES]
    steps = (other[chosen] - mine[rows][:, None]) / 2
    targets = mine[rows][:, None] + steps
    pushed = targets.reshape(-1, X.shape[1])
    names = ("r2", "push_r2")
    stated = {name: np.asarray(getattr(explanation, name), dtype=np.float64)[rows] for name in names}
    foretold = np.stack([explanation.foretell(i, target) for i, target in zip(rows.tolist(), targets, strict=True)])
    placed, smooth = (
        np.asarray(place(pushed), dtype=np.float64).reshape(foretold.shape) - places[rows][:, None]
        for place in (made.place, made.transform)
    )
    around = places[explanation.graph.indices[rows]] - places[rows][:, None]
    scale = np.mean(np.sum(around**2, axis=2), axis=1)
    return Pushes(rows, stated, foretold, placed, smooth, np.maximum(scale, 1e-3 * np.median(scale)))


def score(foretold: Floats, actual: Floats, stated: Floats, scale: Floats) -> dict[str, float]:
    """Return cosines, R2 and calibration of pushes; each row counts alike.

    Returns
    -------
    dict
        cosine, r2: over all pushes. share: of the rows whose stated fidelity is at least 0.5; trusted cosine, trusted
        r2: over these. slope: of the actual R2 by the stated fidelity, over ten bins with the same number of rows; what
        is below 0 counts as 0, as in what is stated.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        lengths = np.linalg.norm(foretold, axis=2) * np.linalg.norm(actual, axis=2)
        cosine = np.sum(foretold * actual, axis=2) / lengths
    left = np.mean(np.sum((actual - foretold) ** 2, axis=2), axis=1) / scale
    whole = np.mean(np.sum(actual**2, axis=2), axis=1) / scale
    trusted = stated >= _TRUSTED
    bins = np.array_split(np.argsort(stated, kind="stable"), _BINS)
    said = [float(np.mean(stated[part])) for part in bins]
    found = [max(1.0 - float(left[part].sum() / whole[part].sum()), 0.0) for part in bins]
    return {
        "cosine": float(np.nanmean(cosine)),
        "r2": 1.0 - float(left.sum() / whole.sum()),
        "share": float(np.mean(trusted)),
        "trusted cosine": float(np.nanmean(cosine[trusted])) if trusted.any() else float("nan"),
        "trusted r2": 1.0 - float(left[trusted].sum() / whole[trusted].sum()) if trusted.any() else float("nan"),
        "slope": float(np.polyfit(said, found, 1)[0]),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pushes", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--maps", nargs="+", default=["umap", "tsne"])
    parser.add_argument("--rows", type=int, default=_ROWS)
    parser.add_argument("--unseen", action="store_true", help="push towards rows that the map was made without")
    parser.add_argument("--json", type=Path, help="also write all scores here")
    options = parser.parse_args(arguments)
    results: list[dict[str, Any]] = []
    for name in options.sets:
        X = table(name, options.rows)
        for method in options.maps:
            found = push(X, method, unseen=options.unseen)
            for stated in found.stated:
                for actual in ("placed", "smooth"):
                    parts = (found.foretold, getattr(found, actual), found.stated[stated], found.scale)
                    results.append({"set": name, "map": method, "stated": stated, "actual": actual, **score(*parts)})
            print(f"{name} {method}", file=sys.stderr)
    names = list(results[0])
    print(table_of(names, [[f"{r[c]:.2f}" if isinstance(r[c], float) else r[c] for c in names] for r in results]))
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
