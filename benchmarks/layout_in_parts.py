"""Lay out in parts on the workers of Dask clusters on this machine and in one process; compare costs and bytes.

python -m benchmarks.layout_in_parts --method umap --rows 1000000 --workers 1 2 4 --neighbors neighbors.npz
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.machine import describe_machine
from benchmarks.summary import table_of
from gnomon._run import running
from gnomon.affinities import fuzzy_simplicial_set, gaussian_affinities
from gnomon.kernels import UMAPKernel
from gnomon.neighbors import NeighborGraph, compute_neighbors
from gnomon.objectives import CrossEntropy, KLDivergence
from gnomon.optimizers import GradientDescent, SampledDescent
from gnomon.scale import DaskExecutor, LocalExecutor

__all__ = ["Cost", "main", "measure"]

Usages = Sequence[tuple[float, float]]  # CPU seconds and the largest resident megabytes of processes

_N_NEIGHBORS = 15
_IDLE = 3.0  # seconds for which a cluster is watched before it works


@dataclass(frozen=True)
class Cost:
    """What a layout took, and what came of it.

    Attributes
    ----------
    where : str
    seconds : float
        From the start to the last iteration, the sending of parts included.
    ms : float
        Milliseconds of an iteration, after the first block.
    cpu_ms : float
        CPU milliseconds of an iteration, likewise: of the client and all workers.
    idle_ms : float
        CPU milliseconds that they take in as much time when nothing is done: heartbeats, profiles, reports.
    megabytes : float
        Of the messages between parts in an iteration.
    peak : float
        Largest resident memory of a worker so far, in MB; NaN in this process.
    sha256 : str
        Of the positions.
    equal : bool
        Whether these are the bytes of one process: of the whole where repulsion is sampled, in parts on a mesh.
    loss : float
        Of the map on a mesh; NaN where repulsion is sampled.
    """

    where: str
    seconds: float
    ms: float
    cpu_ms: float
    idle_ms: float
    megabytes: float
    peak: float
    sha256: str
    equal: bool
    loss: float


def _usage() -> tuple[float, float]:
    """Return CPU seconds and the largest resident megabytes of a process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024.0


def _usages_on(client: Any) -> Usages:
    return [_usage(), *client.run(_usage).values()]


def _spent(before: Usages, after: Usages) -> float:
    """Return the CPU seconds of all processes between two looks."""
    return sum(cpu for cpu, _ in after) - sum(cpu for cpu, _ in before)


def _neighbors(X: npt.NDArray[np.float32], path: Path | None) -> NeighborGraph:
    """Return the neighbours kept in a file, or find them and keep them there."""
    if path is not None and path.exists():
        with np.load(path) as kept:
            graph = NeighborGraph(kept["indices"], kept["distances"])
        if len(graph.indices) != len(X):
            raise SystemExit(f"{path} holds neighbours of {len(graph.indices):,} rows, not of {len(X):,}.")
        return graph
    graph = compute_neighbors(X, _N_NEIGHBORS)
    if path is not None:
        np.savez(path, indices=graph.indices, distances=graph.distances)
    return graph


def _problem(method: str, n: int, n_iter: int | None, path: Path | None) -> tuple[Any, Any, Any]:
    """Return objective, optimizer and start: neighbours of points in clusters, in random order."""
    rng = np.random.default_rng(0)
    centres = 8.0 * rng.normal(size=(20, 3))
    X = (centres[rng.integers(0, 20, n)] + rng.normal(size=(n, 3))).astype(np.float32)
    graph, Y0 = _neighbors(X, path), X[:, :2].copy()
    if method != "tsne":
        evaluation = "interpolated" if method == "umap-mesh" else "sampled"
        objective = CrossEntropy(fuzzy_simplicial_set(graph), UMAPKernel.from_min_dist(0.1), evaluation=evaluation)
        if method == "umap":
            return objective, SampledDescent(max_iter="auto" if n_iter is None else n_iter), Y0
        return objective, GradientDescent.annealed(**_schedule(150 if n_iter is None else n_iter)), Y0
    affinities = gaussian_affinities(graph, perplexity=_N_NEIGHBORS / 3)
    optimizer = (
        GradientDescent() if n_iter is None else GradientDescent(max_iter=n_iter, early_exaggeration_iter=n_iter // 3)
    )
    return KLDivergence(affinities, evaluation="interpolated"), optimizer, Y0


def _schedule(n_iter: int) -> dict[str, Any]:
    """Return that of UMAP on a mesh, see `gnomon.UMAP`."""
    stages = {"early_exaggeration_iter": 10, "annealing_iter": 60, "settling_iter": 20}  # percent
    return {"max_iter": n_iter, **{name: n_iter * share // 100 for name, share in stages.items()}}


def _laid_out(where: str, problem: tuple[Any, Any, Any], executor: Any, usages: Callable[[], Usages]) -> Cost:
    """Do all iterations of a layout; usages: of this process, and of each worker."""
    objective, optimizer, Y0 = problem
    with running(n_threads=1, executor=executor):
        began, at_first = time.perf_counter(), usages()
        time.sleep(0.0 if executor is None else _IDLE)
        idle = _spent(at_first, usages()) / (time.perf_counter() - began)
        began = time.perf_counter()
        made = optimizer if executor is None else optimizer.in_parts(objective, 2)[0]
        state, last = made.start(objective, Y0.copy()), made.resolve_max_iter(objective.n_samples)

        def advance(to: int) -> tuple[float, Usages]:
            while state.iteration < to:
                made.step(objective, state, min(made.block_end(state.iteration), to))
            return time.perf_counter(), usages()

        first = min(made.block_end(0), last // 2)
        (after, used), (ended, found) = advance(first), advance(last)
        ms, sent = 1e3 * (ended - after) / (last - first), 0.0 if executor is None else made.parts.n_bytes / last
        return Cost(
            where,
            seconds=ended - began,
            ms=ms,
            cpu_ms=1e3 * _spent(used, found) / (last - first),
            idle_ms=0.0 if len(found) == 1 else ms * idle,
            megabytes=sent / 1e6,
            peak=max((peak for _, peak in found[1:]), default=float("nan")),
            sha256=hashlib.sha256(state.embedding.tobytes()).hexdigest(),
            equal=True,
            loss=float("nan") if isinstance(optimizer, SampledDescent) else objective.loss(state.embedding),
        )


def measure(problem: tuple[Any, Any, Any], workers: Sequence[int]) -> Iterator[Cost]:
    """Lay out in this process, in parts in this process, and in parts on clusters of so many workers, one thread each.

    Parameters
    ----------
    problem : tuple
        Objective, optimizer and start.
    workers : sequence of int

    Yields
    ------
    Cost
    """
    from distributed import Client, LocalCluster

    whole = _laid_out("one process, whole", problem, None, lambda: [_usage()])
    parts = _laid_out("one process, in parts", problem, LocalExecutor(), lambda: [_usage()])
    one = whole if isinstance(problem[1], SampledDescent) else parts
    for cost in (whole, parts):
        yield replace(cost, equal=cost.sha256 == one.sha256)
    for n_workers in workers:
        settings: dict[str, Any] = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**settings) as cluster, Client(cluster) as client:
            usages = partial(_usages_on, client)
            cost = _laid_out(f"{n_workers} worker{'s' * (n_workers > 1)}", problem, DaskExecutor(client), usages)
        yield replace(cost, equal=cost.sha256 == one.sha256)


def _table(costs: Sequence[Cost]) -> str:
    """Return the costs as a table in Markdown."""
    header = ["where", "seconds", "ms an iteration", "CPU ms an iteration", "idle cluster", "MB of messages"]
    header += ["peak MB of a worker", "SHA-256", "bytes of one process"]
    rows = [
        [
            cost.where,
            f"{cost.seconds:.1f}",
            f"{cost.ms:.1f}",
            f"{cost.cpu_ms:.1f}",
            f"{cost.idle_ms:.1f}",
            f"{cost.megabytes:.2f}",
            "" if np.isnan(cost.peak) else f"{cost.peak:.0f}",
            cost.sha256[:12],
            "yes" if cost.equal else "no",
        ]
        for cost in costs
    ]
    if not np.isnan(costs[0].loss):
        header.append("loss")
        rows = [[*row, f"{cost.loss:.7g}"] for row, cost in zip(rows, costs, strict=True)]
    return table_of(header, rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table, and write the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", choices=["umap", "umap-mesh", "tsne"], default="umap")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--iterations", type=int, help="at least 2; the default schedule where it is left out")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--neighbors", type=Path, help="file, .npz, of the neighbours; written if it is not there")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    problem = _problem(given.method, given.rows, given.iterations, given.neighbors)
    n_iter, machine = problem[1].resolve_max_iter(given.rows), describe_machine()
    costs = []
    for cost in measure(problem, given.workers):
        print(f"{cost.where}: {cost.seconds:.1f} s", file=sys.stderr)
        costs.append(cost)
    print(f"{given.method}, {given.rows:,} rows, {n_iter} iterations; {machine['cpu']}, {machine['cores']} cores\n")
    print(_table(costs))
    if given.json:
        arguments_given = {
            name: str(value) if isinstance(value, Path) else value for name, value in vars(given).items()
        }
        found = {"arguments": arguments_given, "machine": machine, "costs": [asdict(cost) for cost in costs]}
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
