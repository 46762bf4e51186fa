"""Time the layout in parts on the workers of a Dask cluster on this machine against one process, and compare bytes.

python -m benchmarks.layout_in_parts --rows 1000000 --workers 1 4 --method umap
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe_machine
from benchmarks.report import table_of
from gnomon._run import running
from gnomon.affinities import fuzzy_simplicial_set, gaussian_affinities
from gnomon.kernels import UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import CrossEntropy, KLDivergence
from gnomon.optimizers import GradientDescent, SampledDescent
from gnomon.scale import DaskExecutor, LocalExecutor

__all__ = ["main", "measure"]

_N_NEIGHBORS = 15


def _problem(method: str, n: int, n_iter: int) -> tuple[Any, Any, Any]:
    """Return objective, optimizer and start: neighbours of points in clusters, in random order."""
    rng = np.random.default_rng(0)
    centres = 8.0 * rng.normal(size=(20, 3))
    X = (centres[rng.integers(0, 20, n)] + rng.normal(size=(n, 3))).astype(np.float32)
    graph = compute_neighbors(X, _N_NEIGHBORS)
    if method == "umap":
        objective: Any = CrossEntropy(fuzzy_simplicial_set(graph), UMAPKernel.from_min_dist(0.1))
        return objective, SampledDescent(max_iter=n_iter), X[:, :2].copy()
    affinities = gaussian_affinities(graph, perplexity=_N_NEIGHBORS / 3)
    optimizer = GradientDescent(max_iter=n_iter, early_exaggeration_iter=n_iter // 2)
    return KLDivergence(affinities, evaluation="interpolated"), optimizer, X[:, :2].copy()


def _time(optimizer: Any, objective: Any, Y0: Any, first: int) -> tuple[float, Any]:
    """Return seconds of an iteration after the first ones, in which parts are sent, and the state at the end."""
    state = optimizer.start(objective, Y0.copy())
    last = optimizer.resolve_max_iter(objective.n_samples)
    began = time.perf_counter()
    while state.iteration < last:
        if state.iteration <= first:
            began, before = time.perf_counter(), state.iteration
        optimizer.step(objective, state, min(optimizer.block_end(state.iteration), last))
    return (time.perf_counter() - began) / (last - before), state


def measure(method: str, n: int, n_iter: int, workers: Sequence[int]) -> list[dict[str, Any]]:
    """Lay out in this process, in parts in this process, and in parts on clusters of so many workers, one thread each.

    Returns
    -------
    list of dict
        `where`, seconds and megabytes of messages an iteration, and whether bytes are those of the parts in this
        process (and for UMAP those of the whole).
    """
    from distributed import Client, LocalCluster

    objective, optimizer, Y0 = _problem(method, n, n_iter)
    first, found = optimizer.block_end(0), list[dict[str, Any]]()

    def add(where: str, executor: Any) -> Any:
        with running(n_threads=1, executor=executor):
            made = optimizer if executor is None else optimizer.in_parts(objective, 2)[0]
            seconds, state = _time(made, objective, Y0, first)
        sent = 0.0 if executor is None else made.parts.n_bytes / n_iter / 1e6
        found.append({"where": where, "seconds": seconds, "megabytes": sent})
        return state.embedding

    whole = add("one thread, whole", None)
    parts = add("one thread, in parts", LocalExecutor())
    found[0]["equal"], found[1]["equal"] = method != "umap" or bool(np.array_equal(whole, parts)), True
    for n_workers in workers:
        settings: dict[str, Any] = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**settings) as cluster, Client(cluster) as client:
            embedding = add(f"{n_workers} workers", DaskExecutor(client))
        found[-1]["equal"] = bool(np.array_equal(embedding, parts))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table, and write the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", choices=["umap", "tsne"], default="umap")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--iterations", type=int, default=50, help="of the whole layout, whose rate falls to its end")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    found = measure(given.method, given.rows, given.iterations, given.workers)
    rows = [
        [one["where"], f"{1e3 * one['seconds']:.1f}", f"{one['megabytes']:.2f}", "yes" if one["equal"] else "no"]
        for one in found
    ]
    print(f"{given.method}, {given.rows:,} rows, {given.iterations} iterations; {describe_machine()}")
    print(table_of(["where", "ms an iteration", "MB an iteration", "equal bytes"], rows))
    if given.json:
        given.json.write_text(json.dumps({"arguments": vars(given) | {"json": None}, "found": found}, indent=1))


if __name__ == "__main__":
    main()
