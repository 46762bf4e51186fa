"""Maps on a sphere and on the hyperbolic plane, beside flat ones and those of umap-learn.

python -m benchmarks.surfaces --rows 2000 10000
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

if __package__ in (None, ""):  # started as `python benchmarks/surfaces.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnomon
from benchmarks.summary import table_of

__all__ = ["TABLES", "judge", "main", "noisy_sphere", "noisy_tree"]

Floats = npt.NDArray[np.float64]
_NEIGHBORS = 15
_JUDGED = 2000  # rows whose ranks against all others are looked at
_DIMENSION = 10
_NOISE = 0.05
_WARM = 300  # rows of a first fit, which is not counted


def noisy_sphere(n: int, seed: int = 0) -> npt.NDArray[np.float32]:
    """Return n points all over a unit sphere in ten dimensions, with noise of 0.05 in each."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    basis, _ = np.linalg.qr(rng.normal(size=(_DIMENSION, 3)))
    return np.asarray(points @ basis.T + _NOISE * rng.normal(size=(n, _DIMENSION)), dtype=np.float32)


def noisy_tree(n: int, seed: int = 0, levels: int = 7) -> npt.NDArray[np.float32]:
    """Return n points along the branches of a binary tree that grows in random directions of thirty dimensions."""
    rng = np.random.default_rng(seed)
    tips, branches = [np.zeros(30)], []
    for _ in range(levels):
        grown = []
        for tip in tips:
            for step in rng.normal(size=(2, 30)):
                grown.append(tip + 3.0 * step / np.linalg.norm(step))
                branches.append((tip, grown[-1]))
        tips = grown
    which, along = rng.integers(len(branches), size=n), rng.uniform(size=(n, 1))
    ends = np.array(branches)[which]
    rows = ends[:, 0] + along * (ends[:, 1] - ends[:, 0]) + 0.08 * rng.normal(size=(n, 30))
    return np.asarray(rows, dtype=np.float32)


TABLES: dict[str, tuple[Callable[[int], npt.NDArray[np.float32]], str, str]] = {
    "sphere": (noisy_sphere, "sphere", "haversine"),
    "tree": (noisy_tree, "hyperboloid", "hyperboloid"),
}
"""What makes the rows, and what gnomon and umap-learn call the surface."""


def _on_sphere(one: Floats, other: Floats) -> Floats:
    return np.asarray(np.arccos(np.clip(one @ other.T, -1.0, 1.0)))


def _on_hyperboloid(one: Floats, other: Floats) -> Floats:
    product = one[:, 2:] @ other[:, 2:].T - one[:, :2] @ other[:, :2].T
    return np.asarray(np.arccosh(np.maximum(product, 1.0)))


def _straight(one: Floats, other: Floats) -> Floats:
    squares = np.square(one).sum(axis=1)[:, None] + np.square(other).sum(axis=1) - 2.0 * one @ other.T
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _gnomon(surface: str) -> tuple[Callable[[], Any], Callable[[Any, Floats], Floats]]:
    def places(fitted: Any, Y: Floats) -> Floats:
        return Y if surface == "euclidean" else np.asarray(fitted.surface_.ambient(Y) / fitted.surface_.radius)

    return lambda: gnomon.UMAP(n_neighbors=_NEIGHBORS, output_metric=surface, random_state=0), places


def _umap_learn(surface: str) -> tuple[Callable[[], Any], Callable[[Any, Floats], Floats]]:
    def places(_: Any, Y: Floats) -> Floats:
        if surface == "haversine":  # as its documentation draws it
            polar, azimuth = Y.T
            return np.stack([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)], axis=1)
        if surface == "hyperboloid":
            return np.column_stack([Y, np.sqrt(1.0 + np.square(Y).sum(axis=1))])
        return Y

    def make() -> Any:
        from umap import UMAP

        return UMAP(n_neighbors=_NEIGHBORS + 1, output_metric=surface)  # it counts the row; no seed: parallel

    return make, places


_DISTANCES = {"sphere": _on_sphere, "haversine": _on_sphere, "hyperboloid": _on_hyperboloid, "euclidean": _straight}


def judge(X: npt.NDArray[Any], places: Floats, surface: str, seed: int = 0) -> dict[str, float]:
    """Score a map by NumPy alone: neither tool's distances or ranks are used.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    places : ndarray of shape (n_samples, d)
        Unit vectors of a "sphere", points of a "hyperboloid" of radius 1, or places of a "euclidean" map.
    surface : str
        Of these.
    seed : int
        Chooses at most 2000 rows that are judged against all.

    Returns
    -------
    dict of str to float
        "trust": trustworthiness at 15 neighbours. "kept": share of a row's 15 neighbours that are among its 15 in the
        map. "torn": share of them that are farther in the map than half of all rows.
    """
    n, k = len(X), _NEIGHBORS
    rows = np.sort(np.random.default_rng(seed).permutation(n)[:_JUDGED])
    penalties, kept, torn = 0.0, 0.0, 0.0
    wide, where = X.astype(np.float64), places.astype(np.float64)
    for part in np.array_split(rows, max(1, len(rows) // 100)):
        own = np.arange(len(part)), part
        in_data, in_map = _straight(wide[part], wide), _DISTANCES[surface](where[part], where)
        in_data[own], in_map[own] = -1.0, -1.0
        order, near = np.argsort(in_data, axis=1, kind="stable"), np.argsort(in_map, axis=1, kind="stable")
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(n)[None, :].repeat(len(part), axis=0), axis=1)
        penalties += float(np.maximum(np.take_along_axis(ranks, near[:, 1 : k + 1], axis=1) - k, 0).sum())
        kept += float((np.take_along_axis(ranks, near[:, 1 : k + 1], axis=1) <= k).sum())
        middle = np.median(in_map, axis=1, keepdims=True)
        torn += float((np.take_along_axis(in_map, order[:, 1 : k + 1], axis=1) > middle).sum())
    m = len(rows)
    scale = 2.0 / (m * k * (2.0 * n - 3.0 * k - 1.0))
    return {"trust": 1.0 - scale * penalties, "kept": kept / (m * k), "torn": torn / (m * k)}


def _contenders(ours: str, theirs: str) -> dict[str, tuple[str, Any]]:
    found: dict[str, tuple[str, Any]] = {
        "gnomon, flat": ("euclidean", _gnomon("euclidean")),
        f"gnomon, {ours}": (ours, _gnomon(ours)),
    }
    try:
        import umap  # noqa: F401
    except ImportError:
        print("umap-learn is not installed and left out")
        return found
    return {
        **found,
        "umap-learn, flat": ("euclidean", _umap_learn("euclidean")),
        f"umap-learn, {theirs}": (theirs, _umap_learn(theirs)),
    }


def _draw(path: Path) -> None:
    """Draw a map of 2,000 rows of each table, coloured by the first feature."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from gnomon.plot import plot_map

    figure = Figure(figsize=(11.0, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, 2, width_ratios=(2.1, 1.3))
    for ax, (name, (make_rows, surface, _)) in zip(axes, TABLES.items(), strict=True):
        X = make_rows(2000)
        fitted = gnomon.UMAP(output_metric=surface, random_state=0).fit(X)
        plot_map(fitted.embedding_, values=X[:, 0], ax=ax, surface=fitted.surface_, legend=False, title=f"a {name}")
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.surfaces", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, default=[2000, 10000])
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write all figures here")
    parser.add_argument("--figure", type=Path, help="draw maps of both tables here, and nothing else")
    options = parser.parse_args(arguments)
    if options.figure is not None:
        _draw(options.figure)
        return 0
    results: list[dict[str, Any]] = []
    for name in options.tables:
        make_rows, ours, theirs = TABLES[name]
        contenders = _contenders(ours, theirs)
        for n in options.rows:
            X = make_rows(n)
            costs: dict[str, list[tuple[float, float]]] = {label: [] for label in contenders}
            scores: dict[str, list[dict[str, float]]] = {label: [] for label in contenders}
            for repeat in range(-1, options.repeats):  # turn and turn about, the first fit of each on few rows
                for label, (surface, (make, places)) in contenders.items():
                    rows = X[:_WARM] if repeat < 0 else X
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        began = time.perf_counter(), time.process_time()
                        fitted = make()
                        Y = np.asarray(fitted.fit_transform(rows), dtype=np.float64)
                    if repeat >= 0:
                        costs[label].append((time.perf_counter() - began[0], time.process_time() - began[1]))
                        scores[label].append(judge(X, places(fitted, Y), surface))
            base = np.median(costs[f"gnomon, {ours}"], axis=0)
            for label in contenders:
                wall, cpu = np.median(costs[label], axis=0)
                middle = {key: statistics.median(one[key] for one in scores[label]) for key in scores[label][0]}
                cost = {"s": wall, "CPU s": cpu, "ratio": wall / base[0], "CPU ratio": cpu / base[1]}
                results.append({"table": name, "rows": n, "map": label, **middle, **cost})
                print(results[-1], file=sys.stderr, flush=True)
    digits = {"trust": 4, "kept": 3, "torn": 4, "s": 2, "CPU s": 2, "ratio": 2, "CPU ratio": 2}
    columns = ["table", "rows", "map", *digits]
    table = [[f"{r[c]:.{digits[c]}f}" if c in digits else str(r[c]) for c in columns] for r in results]
    print(table_of(columns, table))
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
