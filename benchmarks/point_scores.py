"""Plant points that a map shows in the wrong place, and look for them by scores of single points.

python -m benchmarks.point_scores
python -m benchmarks.point_scores --data mixed torn --rows 400 --seeds 20 --nulls
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/point_scores.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.summary import table_of
from benchmarks.suspects import plant_rows
from benchmarks.tables import load_table
from gnomon.evaluation import continuity_nulls, embedr, perturbations, scdeed, singularities, stability_of_maps
from gnomon.neighbors import compute_neighbors

__all__ = ["far_neighbors", "find_planted", "main", "mixed", "plant_moves", "sphere", "torn_rows"]

Floats = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
_SHARE = 0.05  # of the points that are moved
_N_NEIGHBORS = 15


def plant_moves(Y: Floats, labels: Any, seed: int) -> tuple[Floats, Bools]:
    """Return a map of which 5 % of the points lie beside a random point of another class, and which do."""
    rng = np.random.default_rng(seed)
    moved, wrong = Y.astype(np.float64), np.zeros(len(Y), dtype=np.bool_)
    wrong[rng.choice(len(Y), int(_SHARE * len(Y)), replace=False)] = True
    beside = np.median(compute_neighbors(np.ascontiguousarray(moved), 1).distances)
    for i in np.flatnonzero(wrong):
        moved[i] = Y[rng.choice(np.flatnonzero(labels != labels[i]))] + beside * rng.normal(size=Y.shape[1])
    return moved, wrong


def sphere(rows: int, seed: int) -> Floats:
    """Return random points of the unit sphere in space with a little noise, which no flat map shows untorn."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rows, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points + 0.01 * rng.normal(size=points.shape)


def torn_rows(X: Floats, Y: Floats) -> Bools:
    """Say of which rows a fifth or more of the 15 nearest lie farther in the map than half of all pairs do."""
    graph = compute_neighbors(X, _N_NEIGHBORS)
    distances = np.linalg.norm(Y[:, None] - Y[graph.indices], axis=2)
    rng = np.random.default_rng(0)
    some = rng.integers(len(Y), size=(2, 20_000))
    far = np.median(np.linalg.norm(Y[some[0]] - Y[some[1]], axis=1))
    torn: Bools = np.mean(distances > far, axis=1) >= 0.2
    return torn


def mixed(rows: int, seed: int) -> tuple[Floats, Bools]:
    """Return two Gaussian clusters, eight deviations apart in ten dimensions, and 5 % of rows between; and which."""
    rng = np.random.default_rng(seed)
    way = np.zeros(10)
    way[0] = 8.0
    n_between, half = int(_SHARE * rows), (rows - int(_SHARE * rows)) // 2
    between = rng.normal(size=(n_between, 10)) + way * rng.uniform(0.35, 0.65, (n_between, 1))
    X = np.vstack([rng.normal(size=(half, 10)), way + rng.normal(size=(half, 10)), between])
    return X, np.arange(len(X)) >= 2 * half


def far_neighbors(X: Floats, Y: Floats) -> Bools:
    """Say of which rows one of the 5 nearest lies 8 times as far in the map as such neighbours do in the median."""
    edges = np.linalg.norm(Y[:, None] - Y[compute_neighbors(X, 5).indices], axis=2)
    far: Bools = edges.max(axis=1) > 8 * np.median(edges)
    return far


def find_planted(X: Floats, Y: Floats, wrong: Bools, method: Any, n_runs: int) -> dict[str, tuple[float, float]]:
    """Return the AUC of the wrong points and the seconds taken, by the name of the score.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, 2)
        The map that is looked at.
    wrong : ndarray of shape (n_samples,), bool
    method : fitted estimator
        What made the map.
    n_runs : int
        Bootstraps.
    """
    from sklearn.metrics import roc_auc_score

    found: dict[str, tuple[float, float]] = {}

    def judge(scores: Callable[[], dict[str, Floats]]) -> None:
        start = time.perf_counter()
        told = scores()
        seconds = time.perf_counter() - start
        for name, values in told.items():
            known = np.isfinite(values) | np.isposinf(values)
            ranks = np.argsort(np.argsort(values[known], kind="stable"), kind="stable")
            found[name] = float(roc_auc_score(wrong[known], ranks)), seconds

    def trust() -> dict[str, Floats]:
        told = gnomon.evaluate(X, Y, random_state=0).per_point
        return {name: -told[name] for name in ("trustworthiness", "continuity", "neighborhood_preservation")}

    def stay() -> dict[str, Floats]:
        told = stability_of_maps(method, X, vary="bootstrap", n_runs=n_runs, reference=Y)
        runs.append(told)
        return {"spread": told.spread, "displacement": told.displacement, "neighbors kept": -told.neighbors_kept}

    runs: list[Any] = []
    judge(trust)
    judge(lambda: {"R2 of the explanation": -gnomon.explain(X, Y).r2})
    judge(stay)
    judge(lambda: {"DynamicViz (of the same runs)": runs[0].dynamicviz()})
    judge(lambda: {"EMBEDR": embedr(method, X, Y).scores})
    judge(lambda: {"scDEED": -scdeed(method, X, Y).scores})
    judge(lambda: {"singularity (Liu et al.)": singularities(method, X, embedding=Y).scores})
    judge(lambda: {"perturbation (Liu et al.)": perturbations(method, X, embedding=Y).scores})
    return found


def _runs_of(name: str, rows: int, seed: int, n_runs: int) -> dict[str, dict[str, tuple[float, float]]]:
    """Return what was found, by what was planted."""
    method = gnomon.TSNE(random_state=seed)
    if name == "sphere":
        X = sphere(rows, seed)
        Y = method.fit_transform(X)
        return {"torn": find_planted(X, Y, torn_rows(X, Y), method, n_runs)}
    if name == "mixed":
        X, between = mixed(rows, seed)
        return {"between": find_planted(X, method.fit_transform(X), between, method, n_runs)}
    if name == "torn":
        X = np.random.default_rng(seed).normal(size=(rows, 2))
        method = gnomon.TSNE(perplexity=10, init="random", random_state=seed)
        Y = method.fit_transform(X)
        return {"fractures": find_planted(X, Y, far_neighbors(X, Y), method, n_runs)}
    X, labels = load_table(name, rows)
    moved, wrong = plant_moves(method.fit_transform(X), labels, seed)
    found = {"moved": find_planted(X, moved, wrong, method, n_runs)}
    larger, strange = plant_rows(X, labels, "shuffled", seed)
    Y = method.fit_transform(larger)
    found["noise"] = find_planted(larger, Y, strange, method, n_runs)
    return found


def _flagged(rows: int, seeds: int) -> list[list[str]]:
    """Return how many points `continuity_nulls` calls dubious: of structureless data, and of planted and other rows."""
    table = []
    for score in ("perturbation", "singularity"):
        shares = []
        for seed in range(seeds):
            noise = np.random.default_rng([seed, 1]).normal(size=(rows, 10))
            X, between = mixed(rows, seed)
            ones = [
                continuity_nulls(gnomon.TSNE(random_state=seed), Z, score=score, random_state=seed) for Z in (noise, X)
            ]
            none, some = (one.verdicts() == "dubious" for one in ones)
            shares.append([none.mean(), some[between].mean(), some[~between].mean()])
        table.append(
            [score, *(f"{share:.3f}" for share in np.mean(shares, axis=0)), f"{np.max(shares, axis=0)[0]:.3f}"]
        )
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the AUC of planted points by score, and the seconds of each."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.point_scores", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--data", nargs="+", default=["digits", "sphere"], help="sphere, mixed, torn, or see load_table"
    )
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5, help="bootstraps")
    parser.add_argument("--nulls", action="store_true", help="count dubious points too")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    options = parser.parse_args(arguments)
    columns: dict[str, list[dict[str, tuple[float, float]]]] = {}
    for name in options.data:
        for seed in range(options.seeds):
            for planted, found in _runs_of(name, options.rows, seed, options.runs).items():
                columns.setdefault(f"{name}, {planted}", []).append(found)
    first = next(iter(columns.values()))[0]
    rows = []
    for score in first:
        seconds = np.median([one[score][1] for series in columns.values() for one in series])
        areas = [np.mean([one[score][0] for one in series]) for series in columns.values()]
        rows.append([score, *(f"{area:.2f}" for area in areas), f"{seconds:.2f}"])
    print(table_of(["score", *columns, "seconds"], rows))
    if options.nulls:
        header = ["dubious share", "structureless", "rows between", "other rows", "structureless, highest"]
        print(table_of(header, _flagged(options.rows, options.seeds)))
    if options.json is not None:
        options.json.write_text(json.dumps(columns, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
