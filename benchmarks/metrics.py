"""Time the search for neighbours in every metric, and measure its recall.

python -m benchmarks.metrics --out metrics.json
GNOMON_DATA=FOLDER python -m benchmarks.metrics --data mnist pbmc4k --rows 5000 20000

Every time is that of one call in this process, best of some; scikit-learn's and pynndescent's searches run on as many
threads, pynndescent's after a warm-up on 500 rows, which leaves out the time of its compiler.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.machine import describe_machine
from benchmarks.tables import load_table

__all__ = ["METRICS", "main", "measure", "rows_for"]

METRICS = (
    "euclidean",
    "cosine",
    "correlation",
    "hellinger",
    "haversine",
    "manhattan",
    "chebyshev",
    "periodic",
    "hamming",
    "rogerstanimoto",
    "jaccard",
    "dice",
    "sokalsneath",
    "ruzicka",
)
_OF_SETS = ("rogerstanimoto", "jaccard", "dice", "sokalsneath")
_UNKNOWN_TO_PYNNDESCENT = ("periodic", "ruzicka")
_PERIOD = 7.0  # of the columns of "periodic", whose values it wraps
_NEIGHBORS = 15
_SAMPLE = 300  # rows whose true neighbours are known
_WARM = 500
_PEER_WORK = 1e11  # coordinates of pairs above which scikit-learn's search of all pairs is left out


def clusters(n: int, d: int, density: float = 1.0) -> np.ndarray:
    """Return rows around 30 centres; of each centre a share of the columns is not 0, and its rows keep these."""
    rng = np.random.default_rng(0)
    centres = 3.0 * rng.normal(size=(30, d))
    kind = rng.integers(0, 30, n)
    kept = rng.random((30, d)) < density
    return (np.where(kept[kind], centres[kind] + rng.normal(size=(n, d)), 0.0)).astype(np.float32)


def rows_for(metric: str, X: np.ndarray) -> np.ndarray:
    """Return what a metric is defined for, made of a table: amounts, angles, sets or grades."""
    if metric == "haversine":
        angles = X[:, :2] / np.abs(X[:, :2]).max() if X[:, :2].any() else X[:, :2]
        return np.ascontiguousarray(1.5 * angles)
    if metric in ("hellinger", "ruzicka"):
        return np.abs(X)
    if metric in _OF_SETS:
        threshold = np.median(X[X != 0.0])
        return np.greater(X, threshold).astype(np.float32)
    if metric == "hamming":
        return np.round(X / X.std()).clip(-3, 3).astype(np.float32)
    if metric == "correlation":
        return X[X.max(axis=1) > X.min(axis=1)]
    return X


def _seconds(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return best, result


def _peers(metric: str, rows: Any, peers: Sequence[str]) -> dict[str, float]:
    """Return the seconds of other libraries that know the metric and take such rows."""
    found = {}
    dense = isinstance(rows, np.ndarray)
    as_asked = rows.astype(bool) if metric in _OF_SETS and dense else rows
    work = float(rows.shape[0]) ** 2 * rows.shape[1]
    if "scikit-learn" in peers and work <= _PEER_WORK:
        from sklearn.neighbors import VALID_METRICS, VALID_METRICS_SPARSE, NearestNeighbors

        if metric in (VALID_METRICS if dense else VALID_METRICS_SPARSE)["brute"]:
            search = NearestNeighbors(n_neighbors=_NEIGHBORS, metric=metric, n_jobs=-1)
            found["scikit-learn"] = _seconds(lambda: search.fit(as_asked).kneighbors(), 1)[0]
    if "pynndescent" in peers and metric not in _UNKNOWN_TO_PYNNDESCENT and (dense or metric != "haversine"):
        from pynndescent import NNDescent

        def descend(table: Any) -> Any:
            table = table if dense else sp.csr_matrix(table)
            return NNDescent(table, metric=metric, n_neighbors=_NEIGHBORS + 1, random_state=0).neighbor_graph

        descend(rows[:_WARM])
        found["pynndescent"] = _seconds(lambda: descend(rows), 1)[0]
    return found


def measure(metric: str, rows: Any, *, method: str, peers: Sequence[str] = (), repeats: int = 2) -> dict[str, Any]:
    """Time one search and compare a sample of its rows with the exact one.

    Parameters
    ----------
    metric : str
        One of METRICS.
    rows : ndarray or CSR of shape (n_samples, n_features)
    method : {"auto", "exact", "approximate"}
    peers : sequence of {"scikit-learn", "pynndescent"}
    repeats : int
        The best counts.

    Returns
    -------
    dict
        Seconds, how the neighbours were found, the share of true ones among them, and the seconds of peers.
    """
    from gnomon.neighbors import compute_neighbors, query_neighbors

    params = {"period": _PERIOD} if metric == "periodic" else None
    given = {"metric": metric, "metric_params": params}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, graph = _seconds(lambda: compute_neighbors(rows, _NEIGHBORS, method=method, **given), repeats)
        some = np.arange(0, rows.shape[0], max(1, rows.shape[0] // _SAMPLE))
        true = query_neighbors(rows, rows[some], _NEIGHBORS + 1, **given)[1]
        others = _peers(metric, rows, peers)
    recall = float((graph.distances[some] <= np.nextafter(true[:, -1:], np.inf, dtype=np.float32)).mean())
    return {"seconds": seconds, "method": graph.method, "recall": recall, "peers": others}


def _tables(names: Sequence[str], sizes: Sequence[int], columns: Sequence[int]) -> Any:
    for name in names:
        for n in sizes:
            if name == "clusters":
                for d in columns:
                    yield f"clusters {n} x {d}", clusters(n, d), clusters(n, 20 * d, density=0.05)
            else:
                X = load_table(name, n)[0]
                yield f"{name} {X.shape[0]} x {X.shape[1]}", X, X


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its tables.

    Returns
    -------
    int
        0
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", default=["clusters"], help="clusters, or tables as for benchmarks.run")
    parser.add_argument("--rows", nargs="*", type=int, default=[5000, 20_000])
    parser.add_argument(
        "--columns", nargs="*", type=int, default=[50, 300], help="of clusters; sparse ones have 20 times"
    )
    parser.add_argument("--metrics", nargs="*", default=list(METRICS), choices=METRICS)
    parser.add_argument("--forms", nargs="*", default=["dense", "sparse"], choices=["dense", "sparse"])
    parser.add_argument("--methods", nargs="*", default=["auto"], choices=["auto", "exact", "approximate"])
    parser.add_argument("--peers", nargs="*", default=["scikit-learn"], choices=["scikit-learn", "pynndescent"])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path, help="a JSON file")
    given = parser.parse_args(arguments)
    report: list[dict[str, Any]] = []
    for name, dense, wide in _tables(given.data, given.rows, given.columns):
        for form in given.forms:
            for method in given.methods:
                print(f"\n{name}, {form}, {method}")
                print(f"{'metric':<14} {'seconds':>8} {'/ cosine':>9} {'method':>6} {'recall':>7}  times faster than")
                cosine = np.nan
                for metric in sorted(given.metrics, key=lambda one: (one != "cosine", METRICS.index(one))):
                    rows = rows_for(metric, dense if form == "dense" else wide)
                    rows = rows if form == "dense" else sp.csr_array(rows)
                    found = measure(metric, rows, method=method, peers=given.peers, repeats=given.repeats)
                    cosine = found["seconds"] if metric == "cosine" else cosine
                    times = ", ".join(f"{peer} {s / found['seconds']:.1f}" for peer, s in found["peers"].items())
                    ratio = found["seconds"] / cosine
                    print(
                        f"{metric:<14} {found['seconds']:8.2f} {ratio:9.2f} {found['method']:>6} "
                        f"{found['recall']:7.3f}  {times}",
                        flush=True,
                    )
                    report.append({"table": name, "form": form, "asked": method, "metric": metric, **found})
    if given.out is not None:
        given.out.write_text(json.dumps({"machine": describe_machine(), "found": report}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
