"""Local and global quality of the newest maps beside t-SNE, UMAP, PaCMAP and, where installed, the authors' programs.

GNOMON_DATA=FOLDER python -m benchmarks.newest --json newest.json
python -m benchmarks.newest --sets digits wine hierarchy --maps TSNE UMAP "DREAMS(0.001)" --rows 1000
python -m benchmarks.newest --sets digits paul15 --maps UMAP DensMAP ScaleMAP "ScaleMAP(4)" --seeds 2

Each map is made with its defaults, on at most so many rows; scores are means over the seeds. Neighbourhoods are those
of 15 neighbours.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr

if __package__ in (None, ""):  # started as `python benchmarks/newest.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.quality import compare_neighborhoods, label_accuracy
from benchmarks.summary import table_of
from benchmarks.tables import load_table
from gnomon.affinities import fuzzy_simplicial_set
from gnomon.kernels import UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import DensityCorrelation

__all__ = ["MAPS", "SETS", "density_judge", "hierarchy", "main", "quality", "table", "winners"]

Floats = npt.NDArray[np.float64]
Maker = Callable[[Floats, int], Floats]
SETS = ("digits", "wine", "paul15", "pbmc4k", "cifar10_5k", "pbmc68k_reduced", "mnist", "hierarchy")
LOCAL, GLOBAL = ("preservation", "trust", "knn"), ("ranks", "triplets", "centroids")
DENSITY = ("spacing", "density")
_PAIRS = 200_000
_WIDEST = 50  # columns; of wider tables so many principal components


def hierarchy(n_rows: int = 3000) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return rows of 4 groups of 4 groups of 3, each level a third as wide as the one above, in 50 dimensions."""
    rng = np.random.default_rng(0)
    codes = np.arange(n_rows) % 48
    places = np.zeros((n_rows, 50))
    for spread, size in ((27.0, 12), (9.0, 3), (3.0, 1)):
        places += spread * rng.normal(size=(48 // size, 50))[codes // size]
    return places + rng.normal(size=(n_rows, 50)), codes


def table(name: str, n_rows: int) -> tuple[Floats, npt.NDArray[Any]]:
    """Return at most so many rows of a set, and their classes."""
    if name == "hierarchy":
        return hierarchy(n_rows)
    if name == "wine":
        from sklearn.datasets import load_wine

        X, y = load_wine(return_X_y=True)
        return (X - X.mean(axis=0)) / X.std(axis=0), y
    X, labels = load_table(name, rows=n_rows, pca=_WIDEST)
    assert labels is not None
    return X.astype(np.float64), labels


def quality(X: Floats, Y: Floats, labels: npt.NDArray[Any]) -> dict[str, float]:
    """Return how well a map keeps neighbourhoods and the large scale; 1 is perfect.

    Returns
    -------
    dict
        preservation, trust: share of 15 neighbours kept, trustworthiness. knn: share of rows whose class is the
        commonest of their ten neighbours in the map. ranks: rank correlation of the distances of random pairs.
        triplets: share of random triplets in the same order. centroids: rank correlation of the distances between the
        means of classes. spacing: correlation of the logarithms of each row's mean distance to its 15 neighbours in
        the data and to those in the map.
    """
    rng = np.random.default_rng(0)
    near = compare_neighborhoods(X, Y, n_neighbors=15)
    i, j, k = rng.integers(len(X), size=(3, _PAIRS))
    apart = (i != j) & (i != k) & (j != k)
    i, j, k = i[apart], j[apart], k[apart]
    (data, other), (found, others) = ((_lengths(Z, i, j), _lengths(Z, i, k)) for Z in (X, Y))
    classes = np.unique(labels)
    first, second = np.triu_indices(len(classes), 1)
    centres = [np.array([Z[labels == one].mean(axis=0) for one in classes]) for Z in (X, Y)]
    between = [_lengths(Z, first, second) for Z in centres]
    return {
        "preservation": near.preservation,
        "trust": near.trustworthiness,
        "knn": label_accuracy(Y, labels, np.arange(len(Y))),
        "ranks": float(spearmanr(data, found)[0]),
        "triplets": float(np.mean((data < other) == (found < others))),
        "centroids": float(spearmanr(*between)[0]) if len(first) > 2 else float("nan"),
        "spacing": float(np.corrcoef(*(np.log(_spacings(Z)) for Z in (X, Y)))[0, 1]),
    }


def density_judge(X: Floats) -> Callable[[Floats], float]:
    """Return a function from maps of a table to the correlation of local radii that `gnomon.DensMAP` optimizes."""
    graph = compute_neighbors(X.astype(np.float32), n_neighbors=15)
    memberships = fuzzy_simplicial_set(graph)
    term = DensityCorrelation.from_neighbors(memberships, graph, UMAPKernel.from_min_dist(0.1))
    return lambda Y: float(term.learned(Y.astype(np.float32))["density_correlation_"])


def _spacings(Z: Floats) -> Floats:
    found = compute_neighbors(Z.astype(np.float32), n_neighbors=15).distances
    return np.asarray(found.mean(axis=1, dtype=np.float64) + 1e-9)


def _lengths(Z: Floats, i: npt.NDArray[np.int64], j: npt.NDArray[np.int64]) -> Floats:
    return np.concatenate(
        [np.linalg.norm(Z[a] - Z[b], axis=1) for a, b in zip(np.array_split(i, 20), np.array_split(j, 20), strict=True)]
    )


def _ours(name: str, **settings: Any) -> Maker:
    def make(X: Floats, seed: int) -> Floats:
        method = getattr(gnomon, name)(random_state=seed, n_jobs=1, **settings)
        return np.asarray(method.fit_transform(X.astype(np.float32)))

    return make


def _theirs(name: str) -> Maker:
    def make(X: Floats, seed: int) -> Floats:
        import pacmap

        given = {"random_state": seed, "n_neighbors": None}
        return np.asarray(getattr(pacmap, name)(**given).fit_transform(X.astype(np.float32)))

    return make


MAPS: Mapping[str, Maker] = {
    "TSNE": _ours("TSNE"),
    "UMAP": _ours("UMAP"),
    "UMAP, init pca": _ours("UMAP", init="pca"),
    "PaCMAP": _ours("PaCMAP"),
    "LocalMAP": _ours("LocalMAP"),
    **{f"DREAMS({w:g})": _ours("DREAMS", reference_weight=w) for w in (0.0003, 0.001, 0.003, 0.01)},
    "StarMAP": _ours("StarMAP"),
    "StarMAP(0.3)": _ours("StarMAP", star_weight=0.3),
    "DensMAP": _ours("DensMAP"),
    "ScaleMAP": _ours("ScaleMAP"),
    **{f"ScaleMAP({power})": _ours("ScaleMAP", radius_power=float(power)) for power in (2, 4, 6)},
    "PCA": lambda X, seed: gnomon.PCA(2, n_jobs=1).fit_transform(X),
    "pacmap.PaCMAP": _theirs("PaCMAP"),
    "pacmap.LocalMAP": _theirs("LocalMAP"),
}


def winners(results: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, int]]:
    """Return on how many sets a map is at least as good as t-SNE and UMAP, the mean of each three scores taken.

    Returns
    -------
    dict of str to dict
        "local" and "global": sets on which that mean is at least the larger of t-SNE's and UMAP's; "both".
    """
    counted: dict[str, dict[str, int]] = {}
    for maps in results.values():
        for name, scores in maps.items():
            if name in ("TSNE", "UMAP") or not {"TSNE", "UMAP"} <= set(maps):
                continue
            own = counted.setdefault(name, {"local": 0, "global": 0, "both": 0, "sets": 0})
            won = {
                kind: _mean(scores, parts) >= max(_mean(maps[one], parts) for one in ("TSNE", "UMAP"))
                for kind, parts in (("local", LOCAL), ("global", GLOBAL))
            }
            for kind, one in {**won, "both": all(won.values()), "sets": True}.items():
                own[kind] += one
    return counted


def _mean(scores: Mapping[str, float], parts: Sequence[str]) -> float:
    return float(np.nanmean([scores[part] for part in parts]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the maps and print their scores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--maps", nargs="+", choices=list(MAPS), default=list(MAPS))
    parser.add_argument("--rows", type=int, default=3000, help="at most so many rows of a set")
    parser.add_argument("--seeds", type=int, default=1, help="maps of each method")
    parser.add_argument("--json", type=Path, help="also write the scores there")
    options = parser.parse_args(arguments)
    results: dict[str, dict[str, dict[str, float]]] = {}
    for name in options.sets:
        X, labels = table(name, options.rows)
        results[name], density = {}, density_judge(X)
        for made in options.maps:
            found = []
            for seed in range(options.seeds):
                began = time.process_time()
                try:
                    Y = np.asarray(MAPS[made](X, seed), dtype=np.float64)
                except ImportError as error:
                    print(f"{made} is left out: {error}", file=sys.stderr)
                    break
                spent = time.process_time() - began
                found.append({**quality(X, Y, labels), "density": density(Y), "cpu": spent})
            if found:
                results[name][made] = {part: float(np.mean([one[part] for one in found])) for part in found[0]}
        print(f"\n## {name}, {len(X)} rows of {X.shape[1]} columns\n")
        rows = [[made, *(f"{value:.3f}" for value in scores.values())] for made, scores in results[name].items()]
        print(table_of(["map", *LOCAL, *GLOBAL, *DENSITY, "CPU s"], rows), flush=True)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1))
    rows = [[made, *(str(count) for count in counts.values())] for made, counts in winners(results).items()]
    if rows:
        print("\n## Sets on which the mean of the scores is at least the better of t-SNE's and UMAP's\n")
        print(table_of(["map", "local", "global", "both", "of"], rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
